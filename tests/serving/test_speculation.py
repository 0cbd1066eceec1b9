"""Guesses do not change what is drawn: pairs of tokens come as often as the model's probabilities say."""

import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest
import tiny_models
from test_serving_llm import run

from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

LAST = 77
DRAWS = 2000


def tops(engine, prompts, sampling):
    """The most likely tokens behind each prompt with their probabilities, as the model itself says."""
    found = []
    for prompt in prompts:
        events, ended = [], threading.Event()
        engine.submit(prompt, sampling, lambda event, events=events, ended=ended: (events.append(event), ended.set()))
        assert ended.wait(60)
        found.append({token: np.exp(logprob) for token, logprob in events[0].choice.top})
    return found


def likely(engine, prompt):
    """Six tokens that the model itself prefers behind the prompt and behind one another there."""
    one = Sampling(temperature=0.0, max_tokens=1, logprobs=3, ignore_end=True)
    tokens = list(tops(engine, [prompt], one)[0])
    for token in tokens:
        tokens += [t for t in tops(engine, [[*prompt, token]], one)[0] if t not in tokens]
        if len(tokens) >= 6:
            return tokens[:6]
    raise AssertionError("there are too few tokens")


@pytest.mark.parametrize("draft", (False, True))
def test_distribution(draft, tmp_path):
    tiny_models.write(tmp_path / "model", "gpt2")
    if draft:
        tiny_models.write(tmp_path / "draft", "gpt2", lambda arrays: arrays.update({n: 0.97 * a for n, a in arrays.items()}))
    settings = {"guesses": 1, "draft": str(tmp_path / "draft") if draft else ""}
    engine = Engine(str(tmp_path / "model"), Limits(cache_megabytes=4, waiting=DRAWS, **settings))
    if draft:
        prompt = tiny_models.prompt(20)
        tokens = likely(engine, prompt)
    else:  # every pair that begins with LAST stands there before
        tokens = [3, 50, 99, 120, 171, 200]
        prompt = [x for first, second in itertools.product(tokens, tokens[:2]) for x in (LAST, first, second)] + [LAST]
    # no others can come; the second of three tokens is the one that is guessed
    sampling = Sampling(temperature=1.0, max_tokens=3, ignore_end=True, bias=dict.fromkeys(tokens, 40.0))
    asked = replace(sampling, temperature=0.0, max_tokens=1, logprobs=len(tokens))
    first, *second = ([top[token] for token in tokens] for top in tops(engine, [prompt, *([*prompt, t] for t in tokens)], asked))
    expected = (np.array(first)[:, None] * np.array(second)).reshape(-1) * DRAWS
    assert np.isclose(expected.sum(), DRAWS, rtol=1e-6)
    counts = np.zeros(len(expected))
    for (one, _), (other, _), _ in run(engine, [(prompt, replace(sampling, seed=seed)) for seed in range(DRAWS)]):
        counts[tokens.index(one) * len(tokens) + tokens.index(other)] += 1
    assert 0.05 * DRAWS < engine.counts.guessed_right < 0.95 * engine.counts.guessed  # right and wrong guesses are many
    engine.stop()
    order = np.argsort(expected)  # rare pairs are counted together
    groups = np.split(order, np.flatnonzero(np.diff(np.cumsum(expected[order]) // 8)) + 1)
    wanted, found = (np.array([values[group].sum() for group in groups]) for values in (expected, counts))
    statistic = ((found - wanted) ** 2 / wanted).sum()
    assert len(groups) > 8 and statistic < len(groups) + 4 * np.sqrt(2 * len(groups))  # Pearson's test, about 4 deviations
