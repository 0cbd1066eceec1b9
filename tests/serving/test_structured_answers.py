"""OpenAI's API beyond plain texts: JSON by a schema, tools, embeddings, the best of several answers."""

import base64
import json
import time

import numpy as np
import openai
import pytest
import requests
import tokenizers

from mindspore_serving.llm.cache import PageTable
from mindspore_serving.protocols.tools import Tools

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "size": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "size"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "measure", "description": "…", "parameters": SCHEMA}}
MESSAGES = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def client(service):
    return openai.OpenAI(base_url=f"{service.address}/v1", api_key="none", max_retries=0)


def obeys(value):
    return set(value) == {"name", "size"} and len(value["name"]) <= 5 and 0 <= value["size"] <= 99


def test_json_schema(client):
    form = {"type": "json_schema", "json_schema": {"name": "thing", "schema": SCHEMA}}
    for seed in range(3):
        answer = client.chat.completions.create(
            model="tiny", messages=MESSAGES, response_format=form, max_tokens=150, temperature=1.0, seed=seed
        )
        assert answer.choices[0].finish_reason == "stop" and obeys(json.loads(answer.choices[0].message.content))
    parts = client.chat.completions.create(
        model="tiny", messages=MESSAGES, response_format=form, max_tokens=150, temperature=1.0, seed=2, stream=True
    )
    assert "".join(part.choices[0].delta.content or "" for part in parts) == answer.choices[0].message.content
    with pytest.raises(openai.BadRequestError, match="response_format"):
        client.chat.completions.create(model="tiny", messages=MESSAGES, response_format={"type": "json_schema"})
    with pytest.raises(openai.BadRequestError, match="JSON schema"):
        bad = {"type": "json_schema", "json_schema": {"name": "bad", "schema": {"type": "no such type"}}}
        client.chat.completions.create(model="tiny", messages=MESSAGES, response_format=bad)


def test_an_answer_ends_where_it_is_whole(client, service):
    """The token that ends texts looks like a text here ("<end>"), which could stand within any string."""
    end = service.language_models.find("tiny").engine.shape.end[0]
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "string", "maxLength": 6}}}
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, response_format=form, max_tokens=40, seed=1, logit_bias={str(end): 100}
    ).choices[0]
    assert answer.finish_reason == "stop" and isinstance(json.loads(answer.message.content), str)


def nested(depth):
    return {"type": "integer"} if not depth else {"type": "object", "properties": {"a": nested(depth - 1)}, "required": ["a"]}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "file:///etc/passwd"},
        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(3000)}},
        nested(100),
        nested(330),
        {"not": {"type": "string"}},
        {"enum": []},
        {"type": "integer", "minimum": 3, "maximum": 1},
    ],
    ids=("itself", "file", "wide", "deep", "deepest", "not", "nothing", "no number"),
)
@pytest.mark.parametrize("stream", (False, True))
def test_schemas_that_cannot_be_used(schema, stream, service):
    """They are refused, also those of which this shows only as the answer is written; nothing that looks whole is given."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    body = {"model": "tiny", "messages": MESSAGES, "response_format": form, "max_tokens": 5, "stream": stream}
    answer = requests.post(f"{service.address}/v1/chat/completions", json=body, timeout=60)
    assert "the JSON schema cannot be used" in answer.text or "nested too deeply" in answer.text
    assert '"finish_reason":"stop"' not in answer.text
    assert answer.status_code == 400 or (stream and schema.get("properties", {}).get("p7")), "told in the stream once that has begun"
    plain = requests.post(f"{service.address}/v1/completions", json={"model": "tiny", "prompt": "a", "max_tokens": 2}, timeout=60)
    assert plain.status_code == 200 and service.language_models.find("tiny").engine.pages.used == 0


def test_tools(client):
    settings = {"model": "tiny", "messages": MESSAGES, "tools": [TOOL], "max_tokens": 150, "temperature": 1.0, "seed": 1}
    for choice in ("required", {"type": "function", "function": {"name": "measure"}}):
        answer = client.chat.completions.create(**settings, tool_choice=choice).choices[0]
        assert answer.finish_reason == "tool_calls" and answer.message.content is None
        (call,) = answer.message.tool_calls
        assert call.function.name == "measure" and obeys(json.loads(call.function.arguments))
    streamed = list(client.chat.completions.create(**settings, tool_choice="required", stream=True))
    calls = [call for part in streamed for choice in part.choices for call in choice.delta.tool_calls or []]
    assert [call.function.name for call in calls] == ["measure"] and obeys(json.loads(calls[0].function.arguments))
    assert [part.choices[0].finish_reason for part in streamed] == [None] * len(calls) + ["tool_calls"]
    with client.chat.completions.stream(**settings, tool_choice="required") as events:
        done = [event for event in events if event.type == "tool_calls.function.arguments.done"]
    assert [event.arguments for event in done] == [calls[0].function.arguments]
    plain = client.chat.completions.create(**{**settings, "max_tokens": 5}, tool_choice="auto").choices[0]
    assert plain.message.tool_calls is None and isinstance(plain.message.content, str)
    for tools, choice in (([1], "auto"), ([TOOL], "other"), ([TOOL], {"function": {"name": []}}), ({"a": 1}, None)):
        with pytest.raises(openai.BadRequestError, match="tool"):
            client.chat.completions.create(**{**settings, "tools": tools}, tool_choice=choice)


def test_embeddings(client, service):
    texts = ["Hello", "World", "Hello"]
    found = client.embeddings.create(model="tiny", input=texts)
    vectors = np.array([entry.embedding for entry in found.data])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    assert (vectors[0] == vectors[2]).all() and not np.allclose(vectors[0], vectors[1])
    assert found.usage.prompt_tokens == 15
    body = {"model": "tiny", "input": "World", "encoding_format": "base64"}
    coded = requests.post(f"{service.address}/v1/embeddings", json=body, timeout=20).json()["data"][0]["embedding"]
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(coded), "<f4"), vectors[1].astype(np.float32))
    short = client.embeddings.create(model="tiny", input="World", dimensions=5).data[0].embedding
    np.testing.assert_allclose(short, vectors[1][:5] / np.linalg.norm(vectors[1][:5]), rtol=1e-5)
    wrong = [{"dimensions": 0}, {"dimensions": 1 << 20}, {"encoding_format": "int8"}]
    for change in (*wrong, *({"input": given} for given in ([], "", 3, [1000], "a" * 300))):
        answer = requests.post(f"{service.address}/v1/embeddings", json={**body, **change}, timeout=20)
        assert answer.status_code == 400, change


def test_more_texts_than_may_wait(client, service):
    """A request with many texts takes its turns; clients send all they have by two thousand."""
    assert service.language_models.find("tiny").engine.limits.waiting < 700
    found = client.embeddings.create(model="tiny", input=[f"text {number % 7}" for number in range(700)])
    vectors = [entry.embedding for entry in found.data]
    assert len(vectors) == 700 and vectors == vectors[:7] * 100
    asked = {"model": "tiny", "prompt": [[1, number % 5 + 1] for number in range(200)], "n": 2, "max_tokens": 2, "seed": 1}
    answers = [choice.text for choice in client.completions.create(**asked).choices]
    assert len(answers) == 400 and answers == answers[:10] * 40
    streamed = [""] * 400
    for part in client.completions.create(**asked, stream=True):
        streamed[part.choices[0].index] += part.choices[0].text
    assert streamed == answers
    with pytest.raises(openai.BadRequestError, match="at most 2048"):
        client.embeddings.create(model="tiny", input=["a"] * 2049)


def test_what_fails_for_one_ends_all(client, service):
    """Nobody waits for the other answers of a request that is refused."""
    engine = service.language_models.find("tiny").engine
    prompts = [[1, 2, 3], [4, 5], [6] * 200]
    with pytest.raises(openai.BadRequestError, match="exceed the 256"):
        client.completions.create(model="tiny", prompt=prompts, max_tokens=200, extra_body={"ignore_eos": True})
    while engine.running or engine.waiting:
        time.sleep(0.01)
    assert engine.counts.made_tokens < 400


def test_the_prompt_is_part_of_the_answer(client):
    settings = {"model": "tiny", "prompt": ["Hello", "World"], "max_tokens": 4, "temperature": 0}
    plain = [choice.text for choice in client.completions.create(**settings).choices]
    echoed = [choice.text for choice in client.completions.create(**settings, echo=True).choices]
    assert echoed == ["Hello" + plain[0], "World" + plain[1]]
    parts = client.completions.create(**{**settings, "prompt": "Hello"}, echo=True, stream=True)
    assert "".join(part.choices[0].text for part in parts) == echoed[0]
    with pytest.raises(openai.BadRequestError, match="not possible"):
        client.completions.create(**settings, suffix="!")
    with pytest.raises(openai.BadRequestError, match="use 'tools'"):
        client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "a"}], functions=[{"name": "f"}])


def test_one_call_at_most():
    tools = [{"type": "function", "function": {"name": "f"}}]
    text = '<tool_call>{"name": "f"}</tool_call>' * 3
    assert len(Tools.of({"tools": tools}).calls(text)) == 3
    assert len(Tools.of({"tools": tools, "parallel_tool_calls": False}).calls(text)) == 1


def test_best_of(client):
    settings = {"model": "tiny", "prompt": "Hello", "max_tokens": 6, "seed": 4, "logprobs": 0, "extra_body": {"ignore_eos": True}}
    every = client.completions.create(**settings, n=5).choices
    means = [np.mean(choice.logprobs.token_logprobs) for choice in every]
    best = client.completions.create(**settings, n=2, best_of=5)
    assert [c.text for c in best.choices] == [every[n].text for n in np.argsort(means)[::-1][:2]]
    assert best.usage.completion_tokens == 30
    with pytest.raises(openai.BadRequestError, match="best_of"):
        client.completions.create(**settings, best_of=3, stream=True)


def test_space_in_json_ends(client):
    """A model that prefers space to all else writes a whole answer, too."""
    space = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()).index("\u0120")
    shape = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": False}
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": shape}}
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, response_format=schema, temperature=0, logit_bias={str(space): 100}, max_tokens=200
    ).choices[0]
    assert answer.finish_reason == "stop" and json.loads(answer.message.content)["a"] == 1 and " " * 21 not in answer.message.content


def test_tools_that_are_allowed(client):
    nothing = {"type": "object", "additionalProperties": False}
    tools = [{"type": "function", "function": {"name": name, "parameters": nothing}} for name in "fgh"]

    def asked(**choice):
        settings = {"model": "tiny", "messages": MESSAGES, "max_tokens": 200, "tools": tools, "seed": 1}
        allowed = {"type": "allowed_tools", "allowed_tools": choice}
        return client.chat.completions.create(**settings, tool_choice=allowed).choices[0]

    found = asked(mode="required", tools=[{"type": "function", "function": {"name": "g"}}])
    assert [call.function.name for call in found.message.tool_calls] == ["g"]
    for choice in ({"mode": "any", "tools": tools}, {"mode": "auto"}, {"mode": "auto", "tools": [{"function": {"name": "k"}}]}):
        with pytest.raises(openai.BadRequestError, match="'allowed_tools' must have"):
            asked(**choice)


@pytest.mark.parametrize(("change", "words"), [
    ({"tool_choice": "required"}, "there are no 'tools'"), ({"top_logprobs": 2}, "'top_logprobs' needs 'logprobs'"),
    ({"stream_options": {"include_usage": True}}, "'stream_options' is for 'stream'"),
    ({"extra_body": {"min_tokens": 3}}, "'min_tokens' is not possible here"),
    ({"extra_body": {"guided_json": {"type": "object"}}}, "'guided_json' is not possible here; use 'response_format'"),
])  # fmt: skip
def test_what_would_have_no_effect_is_refused(change, words, client):
    with pytest.raises(openai.BadRequestError, match=words):
        client.chat.completions.create(model="tiny", messages=MESSAGES, max_tokens=3, **change)


def test_a_chat_may_be_as_long_as_the_cache(client, service):
    """Where the model knows more positions than the cache holds tokens, an answer without a limit is not refused."""
    engine = service.language_models.by_name["tiny"].engine
    engine.pages = PageTable(4)
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, extra_body={"ignore_eos": True})
    assert answer.usage.total_tokens == engine.longest == 48
