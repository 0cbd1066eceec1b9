"""A request has the same bits alone and amid others: random mixtures of prompts with common beginnings, ways of sampling, adapters,
guesses, prompts in pieces, too few pages, and requests whose clients leave."""

import functools
import random
import threading

import pytest
import tiny_models
from test_adapters import write_adapter

from mindspore_serving.llm.cache import PageTable
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

BEGINNINGS = [tiny_models.prompt(90), tiny_models.prompt(7) * 14]


def sampling_of(chance):
    more = chance.choice(
        [{}, {"top_k": 5}, {"top_p": 0.8}, {"min_p": 0.02}, {"repetition_penalty": 1.3}, {"frequency_penalty": 0.7, "logprobs": 3},
         {"presence_penalty": -0.4}, {"bias": {chance.randrange(256): 4.0, 9: -100.0}}, {"logprobs": 2}]
    )  # fmt: skip
    temperature = chance.choice([0.0, 0.0, 0.6, 1.1])
    return Sampling(temperature, seed=chance.randrange(99), max_tokens=chance.randint(1, 28), ignore_end=chance.random() < 0.8, **more)


def job_of(chance, adapters):
    """(prompt, sampling, adapter, whether the prompt's own probabilities are wanted)"""
    beginning = chance.choice(BEGINNINGS)[: chance.choice([0, 15, 16, 17, 48, 80, 90])]
    prompt = beginning + [chance.randrange(256) for _ in range(chance.choice([1, 1, 2, 16, 40]))]
    sampling = sampling_of(chance)
    return prompt, sampling, chance.randint(0, adapters), sampling.logprobs is not None and chance.random() < 0.5


class Client:
    """What comes of a job; after `patience` events the client leaves."""

    def __init__(self, engine, job, patience=1000):
        self.events, self.ended, self.left = [], threading.Event(), patience
        self.engine = engine
        prompt, sampling, adapter, reads = job
        self.sequence = None
        self.sequence = engine.submit(prompt, sampling, functools.partial(self.receive), adapter=adapter, reads=reads)

    def receive(self, event):
        assert event.error is None
        # a prompt's probabilities come in pieces that depend on the others
        self.events += [("read", choice) for choice in event.read] if event.read else [event.choice or event.reason]
        self.left -= 1
        if event.reason is not None or self.left <= 0:
            self.ended.set()
        if self.left <= 0 and self.sequence is not None:
            self.engine.cancel(self.sequence)

    def answer(self):
        assert self.ended.wait(200)
        return self.events


def check(family, folder, chance, limits, rounds):
    """Compares each answer amid others with the one it has alone, in an engine without any of these limits."""
    alone = Engine(str(folder), Limits(cache_megabytes=2, weights=limits.weights, adapters=limits.adapters))
    amid = Engine(str(folder), limits)
    amid.pages = PageTable(24)  # too few for all
    for _ in range(rounds):
        jobs = [job_of(chance, len(limits.adapters)) for _ in range(9)]
        wanted = [Client(alone, job).answer() for job in jobs]
        crowd = jobs + [chance.choice(jobs) for _ in range(5)]
        clients = [Client(amid, job, 1000 if n < len(jobs) else chance.randint(1, 8)) for n, job in enumerate(crowd)]
        for job, client, answer in zip(jobs, clients, wanted):
            assert client.answer() == answer, (family, job)
        for client in clients:
            client.answer()
    counts = amid.counts
    alone.stop()
    amid.stop()
    assert amid.pages.used == 0
    return counts


@pytest.mark.parametrize(
    ("family", "weights", "guesses"),
    [("mistral", "float32", 3), ("qwen3", "int8", 2), ("phi3", "float32", 3), ("llama", "int4", 0), ("gpt2", "float32", 3)],
)
def test_mixtures(family, weights, guesses, tmp_path):
    tiny_models.write(tmp_path / "model", family)
    adapters = ()
    if family in ("mistral", "llama"):
        write_adapter(tmp_path / "adapter", "llama", 1, 4, ("self_attn.q_proj", "mlp.up_proj", "mlp.down_proj"))
        adapters = (str(tmp_path / "adapter"),)
    limits = Limits(cache_megabytes=2, tokens_per_step=40, weights=weights, guesses=guesses, adapters=adapters)
    counts = check(family, tmp_path / "model", random.Random(family), limits, 2)
    assert counts.preemptions > 0 and bool(counts.guessed_right) == bool(guesses)
