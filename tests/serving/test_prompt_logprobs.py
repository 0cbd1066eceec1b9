"""Probabilities of the tokens of a prompt (`echo` with `logprobs`), as programs ask for them that compare models."""

import openai
import pytest
import requests
import tiny_models
import tokenizers
from test_serving_llm import run

from mindspore_serving.llm.cache import PageTable
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Choice, Sampling
from mindspore_serving.llm.text import Tokenizer
from mindspore_serving.protocols.logprobs import TextLogprobs


@pytest.fixture
def client(service):
    return openai.OpenAI(base_url=f"{service.address}/v1", api_key="none", max_retries=0)


def test_every_token_of_the_prompt(client):
    text = "Hello, World"
    answer = client.completions.create(model="tiny", prompt=text, max_tokens=0, echo=True, logprobs=20)
    assert answer.choices[0].text == text and answer.choices[0].finish_reason == "length" and answer.usage.completion_tokens == 0
    found = answer.choices[0].logprobs
    assert found.tokens == list(text) and found.text_offset == list(range(len(text)))
    assert found.token_logprobs[0] is None and found.top_logprobs[0] is None
    for end in range(1, len(text)):
        alone = client.completions.create(model="tiny", prompt=text[:end], max_tokens=1, temperature=0, logprobs=20)
        likeliest = alone.choices[0].logprobs.top_logprobs[0]
        assert found.top_logprobs[end] == likeliest, "the same bits as behind the beginning alone"
        if text[end] in likeliest:
            assert found.token_logprobs[end] == likeliest[text[end]]
        else:
            assert found.token_logprobs[end] <= min(likeliest.values())


@pytest.mark.parametrize("stream", (False, True))
def test_prompt_and_answer(client, stream):
    settings = {"model": "tiny", "max_tokens": 5, "temperature": 0, "logprobs": 2, "extra_body": {"ignore_eos": True}}
    prompts = ["Hello", "a" * 100]
    plain = client.completions.create(**settings, prompt=prompts).choices
    if stream:
        parts = [[], []]
        for part in client.completions.create(**settings, prompt=prompts, echo=True, stream=True):
            parts[part.choices[0].index].append(part.choices[0])
        echoed = []
        for mine in parts:
            described = ([item for part in mine for item in getattr(part.logprobs, name)] for name in NAMES)
            echoed.append(("".join(part.text for part in mine), *described))
    else:
        found = client.completions.create(**settings, prompt=prompts, echo=True).choices
        echoed = [(choice.text, *(getattr(choice.logprobs, name) for name in NAMES)) for choice in found]
    for prompt, answer, (text, tokens, logprobs, tops, offsets) in zip(prompts, plain, echoed):
        size = len(prompt)
        assert text == prompt + answer.text and tokens[:size] == list(prompt)
        assert tokens[size:] == answer.logprobs.tokens and logprobs[size:] == answer.logprobs.token_logprobs
        assert tops[size:] == answer.logprobs.top_logprobs and all(isinstance(value, float) and value <= 0 for value in logprobs[1:size])
        assert offsets[: size + 1] == list(range(size + 1)) and sorted(offsets) == offsets


NAMES = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


def reading(prompt):
    return prompt, Sampling(temperature=0.0, max_tokens=3, ignore_end=True, logprobs=1)


@pytest.mark.parametrize("settings", ({}, {"tokens_per_step": 24}, {"sequences": 3}, {"guesses": 3}))
def test_the_same_bits_in_every_batch_and_after_preemption(settings, tmp_path):
    tiny_models.write(tmp_path, "llama")
    prompts = [tiny_models.prompt(length) for length in (1, 2, 40, 100, 130)]
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
    alone = [run(engine, [reading(prompt)], reads=True)[0] for prompt in prompts]
    assert [[token for token, _ in found][:-3] for found in alone] == [prompt[1:] for prompt in prompts]
    assert [run(engine, [reading(prompt)])[0] for prompt in prompts] == [found[-3:] for found in alone]
    assert run(engine, [reading(prompt) for prompt in prompts * 2], reads=True) == alone * 2  # what is cached is read all the same
    engine.stop()
    other = Engine(str(tmp_path), Limits(cache_megabytes=2, **settings))
    other.pages = PageTable(14)  # too few for all: some are preempted
    assert run(other, [reading(prompt) for prompt in prompts], reads=True) == alone
    assert other.pages.used == 0
    other.stop()


def test_no_answer_is_wanted(client, service):
    engine = service.language_models.find("tiny").engine
    made = engine.counts.made_tokens
    answer = client.completions.create(model="tiny", prompt=[7], max_tokens=0, echo=True, logprobs=1).choices[0]
    assert answer.logprobs.token_logprobs == [None] and engine.counts.made_tokens == made and engine.pages.used == 0
    for body in ({"max_tokens": 0}, {"max_tokens": 0, "logprobs": 1}, {"max_tokens": 0, "echo": False}):
        refused = requests.post(f"{service.address}/v1/completions", json={"model": "tiny", "prompt": "a", **body}, timeout=20)
        assert refused.status_code == 400 and "from 1" in refused.json()["error"]["message"]


def test_parts_of_characters_are_told_apart(client):
    answer = client.completions.create(model="tiny", prompt="aé€b", max_tokens=0, echo=True, logprobs=20).choices[0]
    parts = ["a", "bytes:\\xc3", "bytes:\\xa9", "bytes:\\xe2", "bytes:\\x82", "bytes:\\xac", "b"]
    assert answer.logprobs.tokens == parts and answer.logprobs.text_offset == [0, 1, 1, 2, 2, 2, 3]
    assert all(len(top) == 20 for top in answer.logprobs.top_logprobs[1:]), "no two tokens look the same"
    messages = [{"role": "user", "content": "Hi"}]
    chat = client.chat.completions.create(model="tiny", messages=messages, max_tokens=12, temperature=0, logprobs=True, top_logprobs=3)
    content = chat.choices[0].logprobs.content
    text = b"".join(bytes(entry.bytes) for entry in content).decode("utf-8", "replace")
    assert text.removesuffix("<end>") == chat.choices[0].message.content


@pytest.mark.parametrize(
    ("decoder", "pieces", "wanted"),
    [("ByteFallback", ["\u2581Hello", "<0xE2>", "<0x82>", "<0xAC>"], [" Hello", "bytes:\\xe2", "bytes:\\x82", "bytes:\\xac"])],
)
def test_bytes_of_sentencepiece(decoder, pieces, wanted, tmp_path):
    made = tokenizers.Tokenizer(tokenizers.models.BPE({piece: number for number, piece in enumerate(pieces)}, [], byte_fallback=True))
    made.decoder = tokenizers.decoders.Sequence([tokenizers.decoders.Replace("\u2581", " "), getattr(tokenizers.decoders, decoder)()])
    made.save(str(tmp_path / "tokenizer.json"))
    described = TextLogprobs(Tokenizer(str(tmp_path)), 0).of([Choice(n, -1.0, ()) for n in range(1, 4)])
    assert described["tokens"] == wanted and described["text_offset"] == [0, 6, 6, 6]
