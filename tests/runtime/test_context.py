"""Settings belong to a context: the default one, or one of a thread's or task's own."""

import asyncio
import threading
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.runtime import choose_backend, context, settings

LOCAL = ms.context.local_context


class Net(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Dense(size, size, weight_init="normal")

    def construct(self, x):
        return ops.dropout(ops.relu(self.fc(x)), 0.5) + ops.standard_normal((3,)).sum()


def train(size, seed, meet=None, rounds=6, **chosen):
    """What a network computes in a context of its own, and what the settings were meanwhile."""
    x = Tensor(np.linspace(-1, 1, 4 * size, dtype=np.float32).reshape(4, size))
    results, seen = [], set()
    with LOCAL(**chosen):
        ms.set_seed(seed)
        net = Net(size)
        gradient = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
        for _ in range(rounds):
            if meet is not None:
                meet.wait()
            loss, grads = gradient(x)
            results.append([loss.asnumpy(), *(g.asnumpy() for g in grads)])
            seen.add((ms.get_context("mode"), choose_backend.current_backend().name, ms.get_seed()))
    return results, seen


def same(a, b):
    return all(np.array_equal(x, y) for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=True))


def test_two_threads_run_two_networks_with_two_settings():
    first = {"size": 5, "seed": 1, "mode": ms.GRAPH_MODE, "backend": "interp"}
    second = {"size": 7, "seed": 2, "mode": ms.PYNATIVE_MODE, "backend": "cpu"}
    alone = [train(**first), train(**second)]
    meet, together = threading.Barrier(2, timeout=60), [None, None]

    def work(number, wanted):
        together[number] = train(**wanted, meet=meet)

    threads = [threading.Thread(target=work, args=item) for item in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (expected, settings_alone), (got, settings_met) in zip(alone, together, strict=True):
        assert same(expected, got)  # the same bits, whatever the other thread did meanwhile
        assert settings_alone == settings_met and len(settings_met) == 1
    assert together[0][1] == {(ms.GRAPH_MODE, "interp", 1)}
    assert ms.get_context("mode") == ms.PYNATIVE_MODE and ms.get_context("backend") == settings.SETTINGS["backend"].default


def test_one_network_compiled_in_two_contexts_draws_from_two_streams():
    draw = ms.jit(lambda: ops.standard_normal((4,)))

    def drawn(seed):
        with LOCAL():
            ms.set_seed(seed)
            return [draw().asnumpy() for _ in range(2)]

    a, b = drawn(1), drawn(2)
    assert same([a], [drawn(1)]) and not np.array_equal(a[0], b[0])


def test_tasks_have_their_own_contexts():
    async def work(backend):
        with LOCAL(mode=ms.GRAPH_MODE, backend=backend):
            for _ in range(3):
                await asyncio.sleep(0)
                assert ms.get_context("backend") == backend
            return float(nn.ReLU()(Tensor(2.0)))

    async def main():
        return await asyncio.gather(*(work(b) for b in ("interp", "cpu", "interp", "cpu")))

    assert asyncio.run(main()) == [2.0] * 4
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


def test_threads_share_the_default_context():
    ms.set_context(mode=ms.GRAPH_MODE)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(ms.get_context("mode")))
    thread.start()
    thread.join()
    assert seen == [ms.GRAPH_MODE]


def test_a_local_context_ends_with_its_block_also_after_an_error():
    with LOCAL(max_call_depth=7):
        ms.set_context(max_call_depth=8)
        with LOCAL(max_call_depth=9):
            assert ms.get_context("max_call_depth") == 9
        assert ms.get_context("max_call_depth") == 8
        ms.set_auto_parallel_context(device_num=2)
    assert ms.get_context("max_call_depth") == 1000 and ms.get_auto_parallel_context("device_num") == 1
    with pytest.raises(ZeroDivisionError), LOCAL(max_call_depth=7):
        raise ZeroDivisionError
    assert ms.get_context("max_call_depth") == 1000


def test_what_belongs_to_the_process_cannot_be_local():
    with pytest.raises(ValueError, match=r"enable_compile_cache.*whole process"):
        LOCAL(enable_compile_cache=True).__enter__()


def test_random_numbers_go_on_where_a_local_context_is_not_seeded():
    ms.set_seed(3)
    expected = [ops.standard_normal((2,)).asnumpy() for _ in range(2)]
    ms.set_seed(3)
    first = ops.standard_normal((2,)).asnumpy()
    with LOCAL(backend="interp"):
        second = ops.standard_normal((2,)).asnumpy()
    assert same([expected], [[first, second]])


def test_seeding_a_local_context_disturbs_nobody():
    ms.set_seed(3)
    expected = [np.random.rand(), ops.standard_normal((2,)).asnumpy()]
    ms.set_seed(3)
    with LOCAL():
        ms.set_seed(4)
        ms.mint.manual_seed(5)
        ops.standard_normal((2,))
    assert same([expected], [[np.random.rand(), ops.standard_normal((2,)).asnumpy()]]) and ms.get_seed() == 3


def test_reset_context_resets_the_backend():
    ms.set_context(backend="interp", runtime_num_threads=1, graph_kernel_flags="--opt_level=1")
    assert choose_backend.current_backend().name == "interp"
    ms.context.reset_context()
    default = settings.SETTINGS["backend"].default
    assert ms.get_context("backend") == default
    assert choose_backend.current_backend().name == (default or choose_backend.best(context.current()))
    assert context.current().settings == settings.defaults()


def test_a_setting_that_is_refused_changes_nothing():
    with pytest.raises(ValueError, match="runtime_num_threads"):
        ms.set_context(mode=ms.GRAPH_MODE, runtime_num_threads=-1)
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


@pytest.mark.parametrize("name", sorted(settings.SETTINGS))
def test_every_setting_acts_or_says_once_that_it_does_not(name):
    row = settings.SETTINGS[name]
    other = {bool: lambda v: not v, int: lambda v: 1 - v if v in (0, 1) else v + 1, dict: lambda v: {"a": 1}}
    special = {"backend": "interp", "jit_syntax_level": ms.STRICT, "device_target": "Ascend", "deterministic": "ON",
               "memory_optimize_level": "O1", "memory_offload": "ON"}  # fmt: skip
    value = special[name] if name in special else other.get(type(row.default), lambda v: "other")(row.default)
    context._warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            ms.set_context(**{name: row.default})
            ms.set_context(**{name: value})
    assert ms.get_context(name) == value
    assert [name in str(w.message) for w in said] == ([] if row.acts else [True])
    assert not said or said[0].filename == __file__


@pytest.mark.parametrize("name,value", [("runtime_num_threads", 1), ("graph_kernel_flags", "--opt_level=0"),
                                        ("backend", "interp"), ("deterministic", "ON")])  # fmt: skip
def test_settings_that_graphs_depend_on_compile_anew(name, value):
    doubled = ms.jit(lambda x: x * 2)
    doubled(Tensor(1.0))
    ms.set_context(**{name: value})
    assert float(doubled(Tensor(1.0))) == 2 and doubled.compile_cache_size == 2


def test_threads_of_one_context_are_not_those_of_others():
    pytest.importorskip("llvmlite")
    from mindspore.backends.cpu import openmp

    before = openmp.threads()
    with LOCAL(runtime_num_threads=before + 1, backend="cpu"):
        total = ms.jit(lambda x: (x * x).sum())(Tensor(np.ones(1 << 16, np.float32)))
    assert float(total) == 1 << 16 and openmp.threads() == before


def test_a_parameter_server_that_is_not_there_is_named():
    with pytest.warns(UserWarning, match="enable_ps"):
        ms.set_ps_context(enable_ps=True)
    try:
        assert ms.get_ps_context("enable_ps") is True
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ms.set_ps_context(enable_ps=False)
    finally:
        ms.reset_ps_context()


def test_several_processes_do_not_train_copies_of_what_a_server_should_keep():
    from mindspore.prims import world

    weight = ms.Parameter(Tensor([1.0]), name="weight")
    weight.set_param_ps()  # one process trains it itself
    assert weight.is_param_ps
    with world.acting_as(world.Rehearsal(0, 2)):
        with pytest.raises(RuntimeError, match=r"keep 'weight' equal on 2 processes.*data_parallel.*ServedTable"):
            weight.set_param_ps()
        ms.set_auto_parallel_context(parallel_mode="data_parallel")
        try:
            weight.set_param_ps()
        finally:
            ms.reset_auto_parallel_context()


def test_settings_of_parameter_servers_are_checked(monkeypatch):
    for wrong, kind, words in (
        ({"enable_ps": 1}, TypeError, "must be bool, but got 1"),
        ({"servers": 2}, ValueError, "not recognized; known are"),
        ({"config_file_path": None}, TypeError, "must be str"),
    ):
        with pytest.raises(kind, match=words):
            ms.set_ps_context(**wrong)
    monkeypatch.setenv("MS_ROLE", "MS_PSERVER")
    with pytest.raises(RuntimeError, match="Start workers only: msrun"):
        ms.set_ps_context(enable_ps=True)
    assert ms.get_ps_context("enable_ps") is False
