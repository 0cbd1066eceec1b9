"""A language model that processes share: the same bits as in one process, also when one of them is killed on the way."""

import os
import signal
import threading
from pathlib import Path

import openai
import pytest
import tiny_models
from test_adapters import write_adapter
from test_distributed import children
from test_serving_llm import GREEDY, run

from mindspore_serving.engine.errors import Lost
from mindspore_serving.llm.checkpoint import read_shape
from mindspore_serving.llm.cut import Share, check
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

SAMPLED = Sampling(temperature=0.9, top_p=0.9, seed=5, max_tokens=12, ignore_end=True)


@pytest.mark.parametrize(("family", "parts", "stages"), [("llama", 2, 1), ("qwen3", 4, 1), ("gpt_pangu", 1, 2), ("gpt2", 2, 2)])
def test_the_same_bits(family, parts, stages, tmp_path):
    """qwen2 has fewer heads of keys and values than parts, PanGu-α questions of its own in the last layer."""
    tiny_models.write(tmp_path, family)
    adapters = ()
    if family == "llama":
        write_adapter(tmp_path / "adapter", family, 1, 4)
        adapters = (str(tmp_path / "adapter"),)
    jobs = [(tiny_models.prompt(length), sampling) for length, sampling in ((5, GREEDY), (20, SAMPLED))]
    jobs += [(tiny_models.prompt(20), GREEDY, 1)] if adapters else []
    limits = Limits(cache_megabytes=2, adapters=adapters, weights="int8" if family == "gpt2" else "float32")
    alone = Engine(str(tmp_path), limits)
    wanted = run(alone, jobs)
    alone.stop()
    limits.parts, limits.stages = parts, stages
    together = Engine(str(tmp_path), limits)
    agents = agents_of(os.getpid())
    assert len(agents) == parts * stages
    assert run(together, jobs) == wanted
    assert together.pages.used == 0
    together.stop()
    assert not set(agents) & set(agents_of(os.getpid()))


def agents_of(pid):
    return [child for child in children(pid) if b"mindspore_serving.llm.agent" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_an_agent_is_killed_while_answers_are_written(serve_model):
    ask = {"prompt": "Hello", "max_tokens": 60, "temperature": 0.8, "seed": 3, "extra_body": {"ignore_eos": True}}
    host = serve_model("llama", name="one")
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none", max_retries=0, timeout=120)
    wanted = client.completions.create(model="one", **ask).choices[0].text
    host = serve_model("llama", name="two", limits=Limits(parts=2))
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none", max_retries=0, timeout=120)
    text, killed = "", False
    for chunk in client.completions.create(model="two", stream=True, **ask):
        text += chunk.choices[0].text
        if not killed:
            os.kill(agents_of(os.getpid())[1], signal.SIGKILL)
            killed = True
    assert text == wanted
    assert host.language_models.find("two").engine.counts.preemptions > 0


def test_what_kills_its_processes_is_given_up(tmp_path, monkeypatch):
    tiny_models.write(tmp_path, "llama")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2))
    forward = engine._network.forward

    def fail(parts):
        if any(len(part.tokens) == 7 for part in parts):
            raise Lost
        return forward(parts)

    monkeypatch.setattr(engine._network, "forward", fail)
    events, ended = [], threading.Event()
    engine.submit(tiny_models.prompt(7), GREEDY, lambda event: (events.append(event), ended.set()))
    assert ended.wait(60) and "died repeatedly" in events[0].error.message
    assert len(run(engine, [(tiny_models.prompt(3), GREEDY)])[0]) == 12  # and the others go on
    engine.stop()


def test_who_has_what():
    layers = [Share.of(rank, 2, 3) for rank in range(6)]
    assert [(share.stage, share.part) for share in layers] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert [share.rank for share in layers] == list(range(6))


@pytest.mark.parametrize(("parts", "stages", "words"), [(3, 1, "4 heads"), (1, 5, "2 layers"), (8, 1, "4 heads")])
def test_what_cannot_be_cut(parts, stages, words, tmp_path):
    tiny_models.write(tmp_path, "llama")
    with pytest.raises(ValueError, match=words):
        check(read_shape(str(tmp_path)), parts, stages)
