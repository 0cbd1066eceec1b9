"""What the exporters share: indexing as arithmetic, free sizes, decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.formats.free_sizes import FreeSize, explain
from mindspore.formats.index_plan import plan
from mindspore.prims.arrays import TENSOR_INDEX

SHAPE = (3, 4, 5, 6)
SLICES = (slice(None), slice(1, None), slice(None, None, -1), slice(0, 2), slice(-2, None), slice(4, 0, -2))


@st.composite
def indices(draw):
    """An index of any kind into a tensor of shape SHAPE."""
    entries = []
    for axis in range(draw(st.integers(0, 4))):
        size = SHAPE[axis]
        kind = draw(st.sampled_from(["int", "slice", "tensor"]))
        if kind == "int":
            entries.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            entries.append(draw(st.sampled_from(SLICES)))
        else:
            shape = draw(st.sampled_from([(), (2,), (1, 2), (3, 2)]))
            flat = draw(st.lists(st.integers(-size, size - 1), min_size=6, max_size=6))
            entries.append(np.array(flat[: int(np.prod(shape))], np.int64).reshape(shape))
    for _ in range(draw(st.integers(0, 2))):
        entries.insert(draw(st.integers(0, len(entries))), None)
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), Ellipsis)
    return tuple(entries)


@settings(max_examples=150, deadline=None)
@given(indices())
def test_positions_are_those_of_numpy(index):
    x = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    tensors = [entry for entry in index if isinstance(entry, np.ndarray)]
    spec = tuple(TENSOR_INDEX if isinstance(entry, np.ndarray) else entry for entry in index)
    chosen = plan(spec, SHAPE, [t.shape for t in tensors])
    total = np.zeros((), np.int64)
    for part in chosen.parts:
        values = part.values if part.values is not None else tensors[part.tensor] % part.size * part.stride
        total = total + values.reshape(part.shape)
    np.testing.assert_array_equal(x.reshape(-1)[np.broadcast_to(total, chosen.shape)], x[index])


BATCH, LENGTH = FreeSize((37, 53), 0, 0), FreeSize((29, 23), 0, 1)


@given(st.integers(1, 9), st.sampled_from([(BATCH,), (LENGTH,), (BATCH, LENGTH)]))
def test_multiples_of_sizes_are_recognised(factor, sizes):
    pair = [factor * int(np.prod([s.values[i] for s in sizes])) for i in (0, 1)]
    found = explain(*pair, [BATCH, LENGTH])
    assert found is not None
    for values in ((37, 29), (53, 23)):
        of = dict(zip((BATCH, LENGTH), values))
        product = int(np.prod([of[s] for s in found.sizes]))
        assert found.factor * product + found.offset == factor * int(np.prod([of[s] for s in sizes]))


def test_what_no_size_explains():
    assert explain(5, 6, [BATCH]) is None


class Rules(nn.Cell):
    """One step of an optimizer on a parameter."""

    def __init__(self, make):
        super().__init__()
        self.w = ms.Parameter(Tensor(np.array([1.0, -2.0, 0.5], np.float32)), name="w")
        self.optimizer = make([self.w])

    def construct(self, gradient):
        self.optimizer((gradient,))
        return self.w * 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda p: nn.SGD(p, 0.1, momentum=0.9), lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True),
        lambda p: nn.Adam(p, 0.1), lambda p: nn.RMSProp(p, 0.1), lambda p: nn.Adagrad(p, 0.1),
        lambda p: nn.AdamWeightDecay(p, 0.1), lambda p: nn.FTRL(p, learning_rate=0.1), lambda p: nn.AdaMax(p, 0.1),
    ],
    ids=["sgd", "momentum", "adam", "rmsprop", "adagrad", "adamw", "ftrl", "adamax"],
)  # fmt: skip
def test_update_rules_survive_a_file(tmp_path, make):
    gradient = Tensor(np.array([0.3, -0.1, 0.7], np.float32))
    net = Rules(make)
    ms.export(net, gradient, file_name=str(tmp_path / "step"), file_format="MINDIR")
    loaded = nn.GraphCell(ms.load(str(tmp_path / "step.mindir")))
    for _ in range(3):
        np.testing.assert_allclose(loaded(gradient).asnumpy(), net(gradient).asnumpy(), rtol=1e-5, atol=1e-6)


class Pooled(nn.Cell):
    """The gradient of average pooling with and without padding."""

    def __init__(self, **options):
        super().__init__()
        self.pool = nn.AvgPool2d(**options)
        self.gradient = ms.grad(lambda x: (self.pool(x) * self.pool(x)).sum())

    def construct(self, x):
        return self.gradient(x)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2, "stride": 2}, {"kernel_size": 3, "stride": 1, "pad_mode": "same"},
        {"kernel_size": 3, "stride": 2, "pad_mode": "pad", "padding": 1, "count_include_pad": False},
    ],
)  # fmt: skip
def test_gradients_of_pooling_survive_a_file(tmp_path, options):
    x = Tensor(np.random.default_rng(0).random((2, 3, 8, 8)).astype(np.float32))
    net = Pooled(**options)
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert "AvgPoolGrad" not in {p.op_type for p in ms.load_mindir(str(tmp_path / "net.mindir")).primitives}
    loaded = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    np.testing.assert_allclose(loaded(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_dropout_of_a_network_in_training(tmp_path):
    x = Tensor(np.ones((64, 64), np.float32))
    ms.export(nn.Dropout(p=0.25).set_train(), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    model = ms.load_mindir(str(tmp_path / "net.mindir"))
    assert not model.graph.parameter and "Dropout" in {p.op_type for p in model.primitives}
    kept = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))(x).asnumpy()
    assert set(np.unique(kept.round(4))) == {0.0, np.float32(1 / 0.75).round(4)} and 0.7 < (kept > 0).mean() < 0.8


def test_operations_without_an_official_name_are_refused(tmp_path):
    class Net(nn.Cell):
        def construct(self, x):
            return ops.fft(x).real()

    with pytest.raises(RuntimeError, match="cannot be exported to MindIR"):
        ms.export(Net(), Tensor(np.ones(4, np.float32)), file_name=str(tmp_path / "a"), file_format="MINDIR")
    assert list(tmp_path.iterdir()) == []
