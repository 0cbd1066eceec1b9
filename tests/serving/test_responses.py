"""OpenAI's `/v1/responses` with its own client, beside the chat, which says the same in other words."""

import json

import openai
import pydantic
import pytest
import requests

SCHEMA = {"type": "object", "properties": {"c": {"type": "boolean"}}, "required": ["c"], "additionalProperties": False}
TOOL = {"type": "function", "name": "f", "strict": True, "parameters": SCHEMA}
ASKED = {"model": "tiny", "input": "Hello", "max_output_tokens": 8, "temperature": 0}


@pytest.fixture
def client(service):
    return openai.OpenAI(base_url=f"{service.address}/v1", api_key="none", max_retries=0)


def chat(client, messages, **settings):
    settings = {"model": "tiny", "max_tokens": 8, "temperature": 0} | settings
    return client.chat.completions.create(messages=messages, **settings)


def test_texts(client):
    wanted = chat(client, [{"role": "user", "content": "Hello"}])
    answer = client.responses.create(**ASKED)
    assert answer.output_text == wanted.choices[0].message.content
    assert answer.usage.input_tokens == wanted.usage.prompt_tokens and answer.usage.output_tokens == 8
    assert answer.status == "incomplete" and answer.incomplete_details.reason == "max_output_tokens"
    events = list(client.responses.create(**ASKED, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == answer.output_text
    assert events[-1].type == "response.incomplete" and events[-1].response.output_text == answer.output_text


def test_conversations(client):
    call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    items = [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}, call,
             {"type": "function_call_output", "call_id": "1", "output": "b"}]  # fmt: skip
    found = client.responses.create(**{**ASKED, "input": items}, instructions="be brief")
    function = {"name": "f", "arguments": "{}"}
    wanted = chat(client, [
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": "b"},
    ])  # fmt: skip
    assert found.output_text == wanted.choices[0].message.content and found.usage.input_tokens == wanted.usage.prompt_tokens


def test_tools(client):
    settings = {**ASKED, "max_output_tokens": 220, "tools": [TOOL]}
    for choice in ("required", {"type": "function", "name": "f"}):
        [call] = client.responses.create(**settings, tool_choice=choice).output
        assert call.type == "function_call" and call.name == "f" and isinstance(json.loads(call.arguments)["c"], bool)
    with client.responses.stream(**settings, tool_choice="required") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[-1] == "response.completed" and final.output[0].arguments == call.arguments
    plain = client.responses.create(**{**settings, "max_output_tokens": 5})
    streamed = list(client.responses.create(**{**settings, "max_output_tokens": 5}, stream=True))
    assert plain.output_text == streamed[-1].response.output_text == "".join(e.delta for e in streamed if e.type.endswith("text.delta"))


def test_json(client):
    class Found(pydantic.BaseModel):
        a: bool
        b: bool

    assert isinstance(client.responses.parse(**{**ASKED, "max_output_tokens": 220}, text_format=Found).output_parsed, Found)


@pytest.mark.parametrize(("change", "words"), [
    ({"previous_response_id": "resp_1"}, "'previous_response_id' is not possible"), ({"input": []}, "'input' must be a text or a list"),
    ({"input": [{"type": "computer_call"}]}, "'computer_call' are not possible"), ({"tools": [{"type": "web_search"}]}, "'tools' must be"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "http://localhost/"}]}]}, "only texts"),
    ({"text": 5}, "'text' must be an object"), ({"instructions": 5}, "'instructions' must be"), ({"background": True}, "'background'"),
    ({"temperature": -1}, "'temperature' must be"), ({"input": [{"content": "a"}]}, "'role'"), ({"tools": 5}, "'tools' must be"),
])  # fmt: skip
@pytest.mark.parametrize("stream", (False, True))
def test_refusals(change, words, stream, service):
    answer = requests.post(f"{service.address}/v1/responses", json={**ASKED, "stream": stream, **change}, timeout=20)
    assert answer.status_code == 400 and words in answer.json()["error"]["message"]


def test_a_model_that_is_not_there(client):
    with pytest.raises(openai.NotFoundError, match="'other' does not exist"):
        client.responses.create(**{**ASKED, "model": "other"})
