"""Language models: answers as transformers gives them, the same bits in every batch, OpenAI's API with its own client."""

import functools
import resource
import threading
import time

import numpy as np
import openai
import pytest
import requests
import tiny_models

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm.cache import BLOCK, Memory, PageTable
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling, Scores, choose

#: greedy continuations by transformers 5.22 and 5.23 (float32, torch 2.13)
EXPECTED = {
    ("gpt2", 3): [182, 114, 114, 114, 182, 251, 114, 182, 114, 114, 114, 114],
    ("gpt2", 40): [147, 51, 44, 104, 182, 61, 141, 53, 182, 118, 43, 118],
    ("gpt2", 150): [86, 251, 104, 118, 251, 51, 251, 191, 114, 118, 152, 145],
    ("llama", 3): [152, 87, 74, 120, 242, 136, 242, 195, 10, 146, 51, 10],
    ("llama", 40): [87, 79, 141, 243, 74, 10, 136, 186, 109, 136, 241, 3],
    ("llama", 150): [250, 135, 100, 151, 145, 195, 253, 23, 79, 105, 149, 107],
    ("qwen2", 3): [7, 151, 95, 99, 157, 209, 89, 62, 180, 135, 248, 248],
    ("qwen2", 40): [109, 109, 62, 180, 221, 32, 174, 250, 127, 11, 171, 7],
    ("qwen2", 150): [248, 112, 160, 45, 45, 45, 45, 45, 30, 127, 25, 115],
    ("qwen3", 3): [253, 18, 253, 114, 114, 92, 92, 113, 31, 160, 139, 62],
    ("qwen3", 40): [45, 45, 145, 6, 198, 114, 114, 114, 114, 114, 114, 114],
    ("qwen3", 150): [224, 180, 151, 211, 84, 3, 121, 243, 138, 231, 47, 254],
    ("mistral", 3): [107, 181, 92, 183, 183, 54, 45, 45, 45, 181, 41, 43],
    ("mistral", 40): [75, 159, 15, 62, 169, 93, 43, 118, 96, 142, 73, 7],
    ("mistral", 150): [132, 139, 1, 142, 142, 43, 250, 166, 142, 142, 142, 7],
    ("phi3", 3): [193, 250, 234, 107, 209, 188, 209, 209, 209, 209, 241, 94],
    ("phi3", 40): [186, 176, 145, 15, 206, 87, 254, 47, 47, 83, 220, 96],
    ("phi3", 150): [171, 145, 250, 250, 82, 209, 209, 78, 145, 69, 209, 73],
}
GREEDY = Sampling(temperature=0.0, max_tokens=12, ignore_end=True)


def run(engine, jobs, **settings):
    """[(token, log-probability)…] for each (prompt, sampling[, number of an adapter]), submitted together; those of the prompt first."""
    found, ends = [[] for _ in jobs], [threading.Event() for _ in jobs]

    def receive(number, event):
        if event.choice is not None or event.read:
            found[number] += ((choice.token, choice.logprob) for choice in (event.choice, *event.read) if choice is not None)
        else:
            assert event.error is None
            ends[number].set()

    for number, (prompt, sampling, *adapter) in enumerate(jobs):
        emit = functools.partial(receive, number)
        engine.submit(prompt, sampling, emit, adapter=adapter[0] if adapter else 0, **settings)
    assert all(end.wait(100) for end in ends)
    return found


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_greedy_as_transformers_and_batch_invariant(family, tmp_path):
    tiny_models.write(tmp_path, family)
    lengths = [length for name, length in EXPECTED if name == family]
    sampled = Sampling(temperature=0.9, top_p=0.9, seed=5, max_tokens=12, ignore_end=True)
    jobs = [(tiny_models.prompt(length), sampling) for length in lengths for sampling in (GREEDY, sampled)]
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
    alone = [run(engine, [job])[0] for job in jobs]
    for length, answer in zip(lengths, alone[::2]):
        assert [token for token, _ in answer] == EXPECTED[family, length]
    hits = engine.pages.hits
    assert run(engine, jobs * 2) == alone * 2
    assert engine.pages.hits > hits
    engine.stop()
    few = Engine(str(tmp_path), Limits(cache_megabytes=2, tokens_per_step=24))
    few.pages = PageTable(14)  # too few pages for all: some are preempted
    assert run(few, jobs) == alone
    assert few.counts.preemptions > 0 and few.pages.used == 0
    few.stop()


@pytest.mark.parametrize("draft", ("", "gpt2"))
def test_guesses_change_no_bits(draft, tmp_path):
    tiny_models.write(tmp_path / "model", "gpt2")
    if draft:
        tiny_models.write(tmp_path / "draft", draft)
    repeating = tiny_models.prompt(7) * 6
    sampled = Sampling(temperature=0.7, seed=3, max_tokens=40, ignore_end=True)
    greedy = Sampling(temperature=0.0, max_tokens=40, ignore_end=True)
    jobs = [(prompt, sampling) for prompt in (repeating, tiny_models.prompt(40)) for sampling in (greedy, sampled)]
    plain = Engine(str(tmp_path / "model"), Limits(cache_megabytes=2))
    wanted = run(plain, jobs)
    plain.stop()
    settings = {"guesses": 3, "draft": str(tmp_path / "draft") if draft else ""}
    guessing = Engine(str(tmp_path / "model"), Limits(cache_megabytes=2, **settings))
    assert run(guessing, jobs) == wanted
    counts = guessing.counts
    assert 0 < counts.guessed_right < counts.guessed and guessing.pages.used == 0
    if draft:  # the draft is the model itself: greedy guesses are right
        before = counts.steps
        run(guessing, jobs[:1])
        assert counts.steps - before < 15
    guessing.stop()


def test_a_step_that_fails_ends_the_engine(tmp_path, monkeypatch):
    tiny_models.write(tmp_path, "gpt2")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def fail(parts):
        raise ArithmeticError

    monkeypatch.setattr(engine._network, "forward", fail)
    events, ended = [], threading.Event()
    engine.submit([1, 2], GREEDY, lambda event: (events.append(event), ended.set()))
    assert ended.wait(20) and events[0].reason == "error" and events[0].error.message == "internal error"
    engine.stop()
    assert not engine.available
    with pytest.raises(ServingError, match="not available"):
        engine.submit([1], GREEDY, events.append)


@pytest.mark.parametrize("weights", ("int8", "int4"))
def test_few_bits(weights, tmp_path):
    """Nearly the same scores, and the same bits in every batch."""
    tiny_models.write(tmp_path, "llama")
    jobs = [(tiny_models.prompt(length), GREEDY) for length in (3, 40, 100)]
    exact = Engine(str(tmp_path), Limits(cache_megabytes=2))
    wanted = [run(exact, [job])[0][0] for job in jobs]
    exact.stop()
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, weights=weights))
    alone = [run(engine, [job])[0] for job in jobs]
    assert run(engine, jobs) == alone
    engine.stop()
    for (_, logprob), found in zip(wanted, alone):
        assert found[0][1] == pytest.approx(logprob, abs=0.1 if weights == "int8" else 1.0)


def test_graphs_are_compiled_while_nobody_asks(tmp_path):
    tiny_models.write(tmp_path, "llama")
    jobs = [(tiny_models.prompt(40), GREEDY)]
    plain = Engine(str(tmp_path), Limits(cache_megabytes=2))
    wanted = run(plain, jobs)
    plain.stop()
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, warm=((1, False), (48, True), (2, False))))
    assert run(engine, jobs) == wanted
    end = time.monotonic() + 100
    while engine.warming and time.monotonic() < end:
        time.sleep(0.02)
    assert not engine.warming and run(engine, jobs) == wanted and engine.pages.used == 0
    engine.stop()


def test_pages():
    pages = PageTable(5)
    tokens = list(range(2 * BLOCK + 3))
    table = [pages.take() for _ in range(3)]
    for number in range(2):
        pages.note_full(table, number, tokens[number * BLOCK : (number + 1) * BLOCK])
    assert pages.find_prefix(tokens) == table[:2]
    assert pages.find_prefix(tokens[: 2 * BLOCK]) == table[:1]  # a token is left to compute
    assert pages.find_prefix([1, *tokens]) == []
    for used in (table, table[:2], table[:1]):
        pages.release(used)
    assert pages.used == 0 and pages.find_prefix(tokens) == table[:2]
    pages.release(table[:2])
    taken = [pages.take() for _ in range(4)]  # kept prefixes give way
    assert sorted(taken) == [1, 2, 3, 4] and pages.find_prefix(tokens) == []


def test_memory_of_pages_is_there_before_they_are_used():
    memory = Memory((64, 4096, BLOCK), np.float32)
    memory.array[31, 7] = 1
    memory.prepare(30, 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory.array[30:40, ::1024] += 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 5, "memory was given when it was written to"
    assert memory.array[31].sum() == BLOCK + 4 * BLOCK and memory.array[29].sum() == memory.array[40].sum() == 0


def test_sampling():
    logits = Scores(np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32)), 0, 0.0)

    def frequencies(**settings):
        drawn = [choose(logits, Sampling(seed=7, **settings), [0], [1] * n).token for n in range(4000)]
        return np.bincount(drawn, minlength=4) / len(drawn)

    np.testing.assert_allclose(frequencies(), [0.5, 0.3, 0.15, 0.05], atol=0.03)
    np.testing.assert_allclose(frequencies(top_k=2), [0.625, 0.375, 0, 0], atol=0.03)
    np.testing.assert_allclose(frequencies(top_p=0.7), [0.625, 0.375, 0, 0], atol=0.03)
    np.testing.assert_allclose(frequencies(min_p=0.2), [0.526, 0.316, 0.158, 0], atol=0.03)
    assert choose(logits, Sampling(temperature=0.0, presence_penalty=2.0), [], [0]).token == 1
    assert choose(logits, Sampling(temperature=0.0, bias={3: 9.0}), [], []).token == 3
    found = choose(logits, Sampling(temperature=0.0, logprobs=2), [], [])
    assert [token for token, _ in found.top] == [0, 1] and found.logprob == pytest.approx(np.log(0.5))


def test_openai(service):
    client = openai.OpenAI(base_url=f"{service.address}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["tiny"]
    settings = {"model": "tiny", "prompt": "Hello", "max_tokens": 20, "temperature": 0, "extra_body": {"ignore_eos": True}}
    whole = client.completions.create(**settings, logprobs=2)
    assert whole.usage.prompt_tokens == 5 and whole.usage.completion_tokens == 20 and whole.choices[0].finish_reason == "length"
    assert len(whole.choices[0].logprobs.tokens) == 20 and all(len(top) <= 2 for top in whole.choices[0].logprobs.top_logprobs)
    parts = list(client.completions.create(**settings, stream=True, stream_options={"include_usage": True}))
    assert "".join(part.choices[0].text for part in parts if part.choices) == whole.choices[0].text
    assert parts[-1].usage.completion_tokens == 20
    text = whole.choices[0].text
    stop = text[6:8]
    stopped = client.completions.create(**settings, stop=stop)
    assert stopped.choices[0].text == text[: text.index(stop)] and stopped.choices[0].finish_reason == "stop"
    several = client.completions.create(**{**settings, "temperature": 1.0}, n=3, seed=3)
    again = client.completions.create(**{**settings, "temperature": 1.0}, n=3, seed=3)
    assert [c.text for c in several.choices] == [c.text for c in again.choices] and len({c.text for c in several.choices}) == 3
    assert client.completions.create(**{**settings, "temperature": 1.0}, seed=-3).choices[0].text
    messages = [{"role": "user", "content": "Hi"}]
    chat = client.chat.completions.create(model="tiny", messages=messages, max_tokens=8, temperature=0)
    assert chat.choices[0].message.role == "assistant" and chat.usage.prompt_tokens == len("<user>Hi<assistant>")
    streamed = client.chat.completions.create(model="tiny", messages=messages, max_tokens=8, temperature=0, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in streamed) == chat.choices[0].message.content
    refused(service.address, client)
    cancelled(service)


def refused(address, client):
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.completions.create(model="other", prompt="a")
    for change in (
        {"max_tokens": 0}, {"max_tokens": 10**5}, {"temperature": -1}, {"n": 17}, {"stop": [1]}, {"prompt": []}, {"prompt": ""},
        {"prompt": [999]}, {"top_p": "a"}, {"logit_bias": {"a": 1}}, {"logit_bias": {"²": 1}},
        {"logit_bias": {"1": True}}, {"logit_bias": {"1": 101}}, {"logit_bias": {"999": 1}},
        {"seed": -(2**63) - 1}, {"seed": 2**63}, {"stream": True, "prompt": "a" * 300},
    ):  # fmt: skip
        answer = requests.post(f"{address}/v1/completions", json={"model": "tiny", "prompt": "a", **change}, timeout=20)
        assert answer.status_code == 400 and answer.json()["error"]["type"] == "invalid_request_error", change
    for messages in (None, [], [1], [{"role": 1}], [{"role": "user", "content": [{"type": "image_url"}]}]):
        body = {"model": "tiny", "messages": messages}
        assert requests.post(f"{address}/v1/chat/completions", json=body, timeout=20).status_code == 400


def cancelled(service):
    """A client that leaves gives its pages back."""
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": 240, "ignore_eos": True, "stream": True}
    engine = service.language_models.find("tiny").engine
    made = engine.counts.made_tokens
    with requests.post(f"{service.address}/v1/completions", json=body, stream=True, timeout=20) as answer:
        next(answer.iter_lines())
    end = time.monotonic() + 30
    while engine.running and time.monotonic() < end:
        time.sleep(0.02)
    assert engine.running == 0 and engine.pages.used == 0 and engine.counts.made_tokens - made < 240
