"""Sinking: several steps per call give exactly what the steps one by one give, and callbacks see them as one."""

from __future__ import annotations

import types

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore import dataset as ds
from mindspore.profiler.kernels.native import NativeClock
from mindspore.train import Callback, Model
from mindspore.train.sink import SunkSteps

X = np.random.default_rng(0).random((44, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def on_an_accelerator():
    """Official MindSpore does not sink on a CPU; "Ascend" stands for the best device this machine has."""
    mode, target, backend = ms.get_context("mode"), ms.get_context("device_target"), ms.get_context("backend")
    ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
    ms.set_context(backend="xla")
    yield
    ms.set_context(mode=mode, device_target=target)
    ms.set_context(backend=backend)


def data(batch=4):
    return ds.NumpySlicesDataset({"x": X, "y": X.sum(1, keepdims=True)}, shuffle=False).batch(batch)


def make(**options):
    ms.set_seed(7)
    start = Tensor(np.random.default_rng(1).random((6, 3)).astype(np.float32))
    net = nn.SequentialCell([nn.Dense(3, 6, weight_init=start), nn.Dropout(p=0.3), nn.Dense(6, 1, weight_init="ones")])
    return Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.05), **options)


def state(model):
    return {p.name: p.asnumpy() for p in model.train_network.get_parameters()}


class Watch(Callback):
    def __init__(self):
        self.seen = []

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        outputs = params.net_outputs
        loss = outputs[0] if isinstance(outputs, tuple) else outputs
        self.seen.append((params.cur_epoch_num, params.cur_step_num, float(loss.asnumpy())))


@pytest.mark.parametrize("backend", ["xla", "cpu", "interp"])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_same_to_the_bit(backend, scaled):
    ms.set_context(backend=backend)
    options = {"loss_scale_manager": amp.DynamicLossScaleManager(64, 2, 3)} if scaled else {}
    plain, sunk = make(**options), make(**options)
    one_by_one, at_once = Watch(), Watch()
    plain.train(3, data(), one_by_one)
    ms.set_seed(7)
    sunk.train(3, data(), at_once, dataset_sink_mode=True)
    assert at_once.seen == one_by_one.seen[10::11]  # eleven batches an epoch; the loss of the last
    expected = state(plain)
    for name, value in state(sunk).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_sink_size_and_a_last_batch_of_its_own():
    plain, sunk = make(), make()
    whole = Watch()
    plain.train(2, data(7), whole)  # seven batches, the last of two rows
    ms.set_seed(7)
    watch = Watch()
    sunk.train(4, data(7), watch, dataset_sink_mode=True, sink_size=3)
    assert [s[:2] for s in watch.seen] == [(1, 3), (2, 6), (3, 9), (4, 12)]
    assert [s[2] for s in watch.seen] == [whole.seen[i][2] for i in (2, 5, 8, 11)]


@pytest.mark.parametrize("backend", ["xla", "cpu"])
def test_one_executable_serves_many_steps(backend):
    ms.set_context(backend=backend)
    model = make()
    model.train(2, data(), dataset_sink_mode=True)
    [loop] = model._sunk_steps._loops.values()
    assert loop.capacity == 11
    assert loop.function.compile_cache_size == 1
    calls = []
    network = model.train_network
    model._sunk_steps.step = lambda *batch: calls.append(1) or network(*batch)
    model.train(2, data(), dataset_sink_mode=True)
    assert not calls  # every step was made inside the loop


def test_data_sink_compiled_and_not():
    weight = ms.Parameter(Tensor(np.zeros(3, np.float32)), name="w")

    def step(x, y):
        ops.assign_add(weight, x.sum(0))
        return weight.sum() + y.sum() * 0

    expected = [X[: 4 * n].sum(dtype=np.float64) for n in (5, 10)]
    for config in (None, ms.JitConfig()):
        weight.set_data(Tensor(np.zeros(3, np.float32)))
        process = ms.data_sink(step, data(), sink_size=5, jit_config=config)
        got = [float(process().asnumpy()) for _ in range(2)]
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    process()  # the data starts again
    np.testing.assert_allclose(weight.asnumpy().sum(), X.sum() + X[:16].sum(), rtol=1e-5)


def test_steps_that_cannot_be_looped_are_made_one_by_one():
    seen = []
    steps = SunkSteps(lambda x: seen.append(x.shape) or None)
    assert steps.run([(Tensor(X[:2]),), (Tensor(X[:2]),), (Tensor(X[:3]),)], 3) == (3, None)
    assert seen == [(2, 3), (2, 3), (3, 3)]
    assert SunkSteps(lambda x: x).run([], 4) == (0, None)
    empty = ds.NumpySlicesDataset({"x": X[:0]}, shuffle=False)
    with pytest.raises((ValueError, RuntimeError)):
        ms.data_sink(lambda x: x, empty)()


# -- native code ----------------------------------------------------------------------------------------------------------
def table_of(rows):
    """A step that gathers: a wrong index is an error that the graph reports."""
    table = ms.Parameter(Tensor(np.zeros((5, 2), np.float32)), name="table")
    count = ms.Parameter(Tensor(0, ms.int32), name="count")

    @ms.jit
    def step(index):
        picked = ops.gather(table, index, 0)
        ops.assign_add(count, Tensor(1, ms.int32))
        ops.assign(table, table + picked.sum() + 1)
        return count + 0

    return table, count, SunkSteps(step), [(Tensor(row, ms.int32),) for row in rows]


def test_native_steps_before_an_error_count():
    ms.set_context(backend="cpu")
    rows = [[0, 1], [2, 3], [4, 0], [1, 9], [0, 0]]
    plain_table, plain_count, plain, batches = table_of(rows)
    for batch in batches[:3]:
        plain.step(*batch)
    table, count, steps, _ = table_of(rows)
    with pytest.raises(IndexError, match="9"):
        steps.run(batches, 5)
    np.testing.assert_array_equal(table.asnumpy(), plain_table.asnumpy())
    assert int(count) == int(plain_count) == 3


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_native_state_that_is_not_written_in_place(number):
    """A value that is still needed after its successor is known goes to a second array, and back."""
    ms.set_context(backend="cpu")

    def make_step():
        a, b = (ms.Parameter(Tensor(np.arange(4, dtype=np.float32) + n), name=f"p{n}") for n in range(2))

        @ms.jit
        def step(x):
            old = a.value()
            ops.assign(a, b + x)
            ops.assign(b, ops.flip(old, (0,)) * 0.5)
            return a.sum() + b.sum()

        return a, b, step

    batches = [(Tensor(np.full(4, n, np.float32)),) for n in range(number + 1)]
    plain, sunk = make_step(), make_step()
    expected = [plain[2](*batch) for batch in batches][-1]
    made, got = SunkSteps(sunk[2]).run(batches, len(batches))
    assert made == len(batches)
    assert float(got) == float(expected)
    for name in range(2):
        np.testing.assert_array_equal(sunk[name].asnumpy(), plain[name].asnumpy())


def test_a_profile_holds_every_sunk_step():
    ms.set_context(backend="cpu")
    recorder = types.SimpleNamespace(spans=[])
    rows = [[0, 1], [2, 3], [4, 0], [1, 2], [1, 9], [0, 0]]
    _, count, steps, batches = table_of(rows)
    steps.run(batches[:2], 6)  # compiled, and ready to sink
    clock = NativeClock(recorder)
    try:
        steps.run(batches[:3], 6)
        with pytest.raises(IndexError, match="9"):
            steps.run(batches, 6)
    finally:
        clock.stop()
    assert steps._loops
    assert int(count) == 2 + 3 + 4
    stops = [span for span in recorder.spans if span[0] == "stop"]
    assert len(stops) == 3 + 4


def test_native_steps_leave_arrays_that_others_hold():
    ms.set_context(backend="cpu")
    model = make()
    model.train(1, data(), dataset_sink_mode=True)
    held = {p.name: p.asnumpy() for p in model.train_network.get_parameters()}
    copies = {name: array.copy() for name, array in held.items()}
    model.train(1, data(), dataset_sink_mode=True)
    for name, array in held.items():
        np.testing.assert_array_equal(array, copies[name])


def test_a_step_with_python_between_is_made_one_by_one():
    """Steps of the host know the addresses of their own call only."""
    ms.set_context(backend="cpu")
    weight = ms.Parameter(Tensor(np.eye(3, dtype=np.float32)), name="w")

    @ms.jit
    def step(x):
        ops.assign(weight, ops.cholesky(weight @ weight.T + x))
        return weight.sum()

    batches = [(Tensor(np.eye(3, dtype=np.float32) * n),) for n in range(1, 5)]
    steps = SunkSteps(step)
    made, got = steps.run(batches, 4)
    expected = np.eye(3)
    for n in range(1, 5):
        expected = np.linalg.cholesky(expected @ expected.T + np.eye(3) * n)
    np.testing.assert_allclose(float(got), expected.sum(), rtol=1e-5)
    assert made == 4
    assert not steps._loops
