"""What templates of well-known models ask for: templates by name, arguments of calls as values, today's date, marks for training."""

import datetime
import json
import subprocess
import sys

import pytest
import requests

from conftest import write_tokenizer
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm.text import Tokenizer

MESSAGES = [{"role": "user", "content": "Hi"}]
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "é", "n": [1, 2]}'}}


@pytest.fixture
def chat(tmp_path):
    def run(template, messages=MESSAGES, tools=None, options=None):
        write_tokenizer(tmp_path)
        (tmp_path / "chat_template.jinja").unlink()
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "eos_token": {"content": "<end>"}}))
        tokenizer = Tokenizer(str(tmp_path))
        return bytes(b for t in tokenizer.chat(messages, tools, options=options) for b in tokenizer.bytes_of(t)).decode()

    return run


def test_by_name(chat):
    templates = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools {{ tools[0] }}"}]
    assert chat(templates) == chat(templates, tools=[]) == "plain" and chat(templates, tools=["f"]) == "tools f"
    assert chat(templates[:1], tools=["f"]) == "plain"
    for none in ([], [{"name": "rag", "template": "a"}], 3):
        with pytest.raises(ServingError, match="no chat template"):
            chat(none)


def test_files_go_before_settings(tmp_path):
    """As the library has it: `chat_template.jinja`, and others by name in a folder."""
    write_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": "settings"}))
    (tmp_path / "chat_template.jinja").write_text("file")
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "tool_use.jinja").write_text("tools")
    tokenizer = Tokenizer(str(tmp_path))
    assert [tokenizer.decode(tokenizer.chat(MESSAGES, tools)) for tools in (None, ["f"])] == ["file", "tools"]


def test_a_process_that_dies_within_its_answer(tmp_path):
    """What it had written of it counts for nothing; another one is asked."""
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer(str(tmp_path))
    wanted = tokenizer.chat(MESSAGES)
    templates = tokenizer._templates
    templates._close()
    templates._process = subprocess.Popen(
        [sys.executable, "-c", "input(); print('{\"text\": \"a', end='')"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert tokenizer.chat(MESSAGES) == wanted


def test_arguments_are_values(chat):
    template = "{{ messages[0].tool_calls[0].function.arguments | tojson }}"
    assert chat(template, [{"role": "assistant", "content": None, "tool_calls": [CALL]}]) == '{"a": "é", "n": [1, 2]}'
    assert CALL["function"]["arguments"].startswith("{"), "what the client sent is left alone"
    for odd in ("{", "[" * 100_000, 7, None):
        call = {**CALL, "function": {"name": "f", "arguments": odd}}
        assert chat(template, [{"role": "assistant", "tool_calls": [call]}]) == json.dumps(odd)
    for calls in (3, [3], [{}], [{"function": 3}]):
        assert chat("{{ messages[0].role }}", [{"role": "assistant", "tool_calls": calls}]) == "assistant"


def test_names_of_the_library(chat):
    today = datetime.date.today()
    assert chat("{{ strftime_now('%Y') }}") in (str(today.year), str(datetime.date.today().year))
    assert chat("{% generation %}{{ messages[0].content }}{% endgeneration %}{{ eos_token }}") == "Hi<end>"
    assert chat("{{ ['é'] | tojson(ensure_ascii=True) }}{{ {'b': 1} | tojson(indent=1) }}") == '["\\u00e9"]{\n "b": 1\n}'
    assert chat("{% for m in messages %}{% continue %}{% endfor %}a") == "a"


def test_options(chat, service):
    template = "{{ think }}{{ messages[0].content }}{{ add_generation_prompt }}"
    assert chat(template) == "HiTrue" and chat(template, options={"think": 1, "add_generation_prompt": False}) == "1HiFalse"
    assert chat(template, options={"messages": [], "tools": [], "eos_token": ""}) == "HiTrue", "what the request says elsewhere counts"
    body = {"model": "tiny", "messages": MESSAGES, "max_tokens": 1}
    counts = [
        requests.post(f"{service.address}/v1/chat/completions", json={**body, **more}, timeout=60).json()["usage"]["prompt_tokens"]
        for more in ({}, {"chat_template_kwargs": {"add_generation_prompt": False}})
    ]
    assert counts[0] - counts[1] == len("<assistant>")
    wrong = {**body, "chat_template_kwargs": [1]}
    assert requests.post(f"{service.address}/v1/chat/completions", json=wrong, timeout=60).status_code == 400


def test_a_template_that_is_none(chat):
    with pytest.raises(ValueError, match="chat template cannot be read"):
        chat("{% if %}")
