"""The step of an accelerator, by XLA on the host: next to the same answers as in float32, the same in every batch, steps begun ahead."""

import numpy as np
import pytest
import tiny_models
from test_serving_llm import GREEDY, run

import mindspore as ms
from mindspore_serving.llm.cache import PageTable
from mindspore_serving.llm.engine import Engine, Limits
from mindspore_serving.llm.sampling import Sampling

pytest.importorskip("jax")


@pytest.fixture
def xla():
    ms.set_context(backend="xla")
    yield
    ms.set_context(backend="")


def same(found, expected):
    """The same tokens. Their probabilities may differ in the last bits: the kernels that add up in order are the GPU's."""
    for answer, wanted in zip(found, expected, strict=True):
        assert [token for token, _ in answer] == [token for token, _ in wanted]
        np.testing.assert_allclose([p for _, p in answer], [p for _, p in wanted], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ("gpt2", "llama", "qwen3", "mistral"))
def test_answers(family, tmp_path, xla):
    tiny_models.write(tmp_path, family)
    sampled = Sampling(temperature=0.8, top_p=0.9, top_k=20, seed=5, max_tokens=12, ignore_end=True)
    penal = Sampling(temperature=0.0, frequency_penalty=0.5, max_tokens=12, ignore_end=True)
    jobs = [(tiny_models.prompt(length), sampling) for length in (3, 40) for sampling in (GREEDY, sampled, penal)]
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, weights="bfloat16", sequences=8))
    alone = [run(engine, [job])[0] for job in jobs]
    same(run(engine, jobs * 2), alone * 2)
    engine.stop()
    few = Engine(str(tmp_path), Limits(cache_megabytes=2, tokens_per_step=24, weights="bfloat16", sequences=8))
    few.pages = PageTable(9)
    same(run(few, jobs), alone)
    assert few.counts.preemptions > 0 and few.pages.used == 0
    few.stop()


def test_every_step_is_begun_while_the_one_before_is_under_way(tmp_path, xla):
    tiny_models.write(tmp_path, "llama")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, weights="bfloat16", sequences=8))
    begin, before = engine._network.begin, []

    def counted(parts):
        before.append(len(engine._under_way))
        return begin(parts)

    engine._network.begin = counted
    [answer] = run(engine, [(tiny_models.prompt(5), GREEDY)])
    engine.stop()
    assert len(answer) == GREEDY.max_tokens
    assert before == [0] + [1] * (GREEDY.max_tokens - 1)


def test_steps_of_all_sizes_have_the_cache_in_one_order(tmp_path, xla, monkeypatch):
    """Where XLA may choose the order of what is overwritten, it does not choose that of pages: a step would copy them for the next."""
    lowering = pytest.importorskip("mindspore.backends.xla.lowering")
    free, compiled = [], lowering.compile_with_own_layouts

    def noted(jax, run, shapes, updates, *others):
        free.append([shapes[n].shape for n in updates])
        return compiled(jax, run, shapes, updates, *others)

    monkeypatch.setattr(lowering, "OWN_LAYOUTS", ("cpu",))
    monkeypatch.setattr(lowering, "compile_with_own_layouts", noted)
    tiny_models.write(tmp_path, "llama")
    engine = Engine(str(tmp_path), Limits(cache_megabytes=2, weights="bfloat16", sequences=8))
    run(engine, [(tiny_models.prompt(20), GREEDY)])
    engine.stop()
    assert len(free) > 1 and not any(free)
