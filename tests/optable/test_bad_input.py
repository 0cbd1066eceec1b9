"""Mistakes in calls of the most used names: the kind of error, what it names, and the same words in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
Y = Tensor(np.ones((4, 5), np.float32))
V = Tensor([1.0, 2.0, 3.0])
I = Tensor([0, 1])
FAR = Tensor([0, 9])
B = Tensor([True, False])
IMAGE = Tensor(np.ones((1, 2, 4, 4), np.float32))

#: error, words of the message (besides the name of the operation), call
OPS = [
    # -- axes
    (ValueError, "axis", lambda: ops.sum(X, 5)), (TypeError, "axis", lambda: ops.sum(X, "a")),
    (ValueError, "repeat", lambda: ops.sum(X, (0, 0))), (ValueError, "axis", lambda: ops.ReduceSum()(X, 4)),
    (ValueError, "axis", lambda: ops.ReduceMean(True)(X, -3)), (ValueError, "axis", lambda: ops.mean(X, 2)),
    (ValueError, "axis", lambda: ops.reduce_sum(X, 3)), (ValueError, "axis", lambda: ops.ReduceMax()(X, 2)),
    (ValueError, "axis", lambda: ops.amax(X, 2)), (ValueError, "axis", lambda: ops.max(X, 2)),
    (ValueError, "axis", lambda: ops.min(X, 2)), (ValueError, "axis", lambda: ops.std(X, 2)),
    (ValueError, "axis", lambda: ops.all(X > 0, 2)), (ValueError, "axis", lambda: ops.any(X > 0, -4)),
    (ValueError, "range", lambda: ops.argmax(X, 2)), (ValueError, "axis", lambda: ops.Argmax(2)(X)),
    (ValueError, "axis", lambda: ops.ArgMaxWithValue(2)(X)), (ValueError, "axis", lambda: ops.softmax(X, 2)),
    (ValueError, "axis", lambda: ops.Softmax(2)(X)), (ValueError, "axis", lambda: ops.LogSoftmax(-3)(X)),
    (ValueError, "axis", lambda: ops.log_softmax(X, 2)), (ValueError, "axis", lambda: ops.cumsum(X, 2)),
    (ValueError, "axis", lambda: ops.sort(X, 2)), (ValueError, "axis", lambda: ops.argsort(X, 2)),
    (ValueError, "range", lambda: ops.topk(X, 1, 2)), (ValueError, "k", lambda: ops.topk(X, 4)),
    (ValueError, "k", lambda: ops.TopK()(X, 4)), (ValueError, "k", lambda: ops.top_k(X, 9)),
    (ValueError, "range", lambda: ops.norm(X, 2, 5)), (ValueError, "axis", lambda: ops.L2Normalize(4)(X)),
    (ValueError, "axis", lambda: ops.expand_dims(X, 4)), (TypeError, "axis", lambda: ops.expand_dims(X, 1.5)),
    (ValueError, "axis", lambda: ops.ExpandDims()(X, -4)), (ValueError, "range", lambda: ops.unsqueeze(X, 4)),
    (ValueError, "axis", lambda: ops.squeeze(X, 2)), (ValueError, "axis", lambda: ops.Squeeze(4)(X)),
    (ValueError, "range", lambda: ops.flip(X, (3,))),
    (ValueError, "range", lambda: ops.ReverseV2([2])(X)), (ValueError, "range", lambda: ops.swapaxes(X, 0, 2)),
    (ValueError, "axis", lambda: ops.stack([X, X], 4)), (ValueError, "axis", lambda: ops.Stack(4)([X, X])),
    (ValueError, "axis", lambda: ops.concat((X, X), 2)), (ValueError, "axis", lambda: ops.Concat(2)((X, X))),
    (ValueError, "axis", lambda: ops.split(X, 1, 2)), (ValueError, "axis", lambda: ops.unstack(X, 2)),
    (ValueError, "axis", lambda: ops.gather(X, I, 2)), (ValueError, "axis", lambda: ops.Gather()(X, I, 2)),
    (ValueError, "range", lambda: ops.gather_elements(X, 2, I.reshape(2, 1))),
    (ValueError, "range", lambda: ops.GatherD()(X, 2, I.reshape(2, 1))),
    (ValueError, "axis", lambda: ops.repeat_interleave(X, 2, 2)), (ValueError, "range", lambda: ops.roll(X, 1, 2)),
    (ValueError, "axis", lambda: ops.index_select(X, 2, I)), (ValueError, "range", lambda: ops.logsumexp(X, 2)),
    # -- shapes
    (ValueError, "(7, -1)", lambda: ops.reshape(X, (7, -1))), (ValueError, "(4, 4)", lambda: ops.Reshape()(X, (4, 4))),
    (ValueError, "-1", lambda: ops.reshape(X, (-1, -1))), (TypeError, "shape", lambda: ops.reshape(X, "ab")),
    (ValueError, "(2, 3)", lambda: ops.add(X, Y)), (ValueError, "broadcast", lambda: ops.Add()(X, Y)),
    (ValueError, "broadcast", lambda: X - Y), (ValueError, "broadcast", lambda: ops.Mul()(X, Y)),
    (ValueError, "broadcast", lambda: ops.maximum(X, Y)), (ValueError, "broadcast", lambda: ops.pow(X, Y)),
    (ValueError, "broadcast", lambda: ops.equal(X, Y)), (ValueError, "broadcast", lambda: ops.Less()(X, Y)),
    (ValueError, "broadcast", lambda: ops.logical_and(X > 0, Y > 0)), (ValueError, "broadcast", lambda: ops.RealDiv()(X, Y)),
    (ValueError, "broadcast", lambda: ops.where(X > 0, X, Y)), (ValueError, "broadcast", lambda: ops.select(X > 0, X, Y)),
    (ValueError, "broadcast", lambda: ops.masked_fill(X, Y > 0, 1.0)), (ValueError, "broadcast", lambda: ops.masked_select(X, Y > 0)),
    (ValueError, "shapes (2, 3)", lambda: ops.matmul(X, Y)), (ValueError, "columns", lambda: ops.MatMul()(X, Y)),
    (ValueError, "2", lambda: ops.MatMul()(IMAGE, X)), (ValueError, "", lambda: ops.BatchMatMul()(IMAGE, X)),
    (ValueError, "", lambda: ops.bmm(X, X)), (ValueError, "", lambda: ops.mm(X, V)),
    (ValueError, "", lambda: ops.tensor_dot(X, Y, ((0,), (0,)))), (ValueError, "", lambda: ops.einsum("ij,jk->ik", X, Y)),
    (ValueError, "", lambda: ops.concat((X, Y), 0)), (ValueError, "", lambda: ops.Concat(0)((X, V))),
    (ValueError, "", lambda: ops.stack([X, Y])), (ValueError, "(5,)", lambda: ops.broadcast_to(X, (5,))),
    (ValueError, "(3, 3)", lambda: ops.BroadcastTo((3, 3))(X)), (ValueError, "repeat", lambda: ops.transpose(X, (0, 0))),
    (ValueError, "", lambda: ops.transpose(X, (0,))), (ValueError, "", lambda: ops.Transpose()(X, (0, 1, 2))),
    (ValueError, "", lambda: ops.Split(1, 2)(X)), (ValueError, "", lambda: ops.split(X, [1, 1], 1)),
    (ValueError, "", lambda: ops.addmm(X, Y, X)), (ValueError, "", lambda: ops.BiasAdd()(X, Tensor([1.0]))),
    (ValueError, "", lambda: ops.cross_entropy(X, Tensor([0, 1, 0], ms.int32))),
    (ValueError, "", lambda: ops.mse_loss(X, Y)), (ValueError, "", lambda: ops.SigmoidCrossEntropyWithLogits()(X, Y)),
    (ValueError, "", lambda: ops.SoftmaxCrossEntropyWithLogits()(X, Y)),
    (ValueError, "", lambda: ops.binary_cross_entropy_with_logits(X, Y, X, X)),
    (ValueError, "paddings", lambda: ops.Pad(((1, 1),))(X)), (ValueError, "", lambda: ops.pad(X, (1, 1, 1, 1, 1, 1))),
    (ValueError, "", lambda: ops.tile(X, (-1, 2))), (ValueError, "", lambda: ops.Tile()(X, (2,) * 0 + (-2,))),
    # -- sizes
    (ValueError, "negative", lambda: ops.zeros((-1, 2))), (ValueError, "negative", lambda: ops.ones((2, -3))),
    (ValueError, "negative", lambda: ops.full((-1,), 2.0)), (ValueError, "negative", lambda: ops.Fill()(ms.float32, (-2,), 1)),
    (ValueError, "", lambda: ops.eye(-1)), (ValueError, "", lambda: ops.randn(-2, 3)), (ValueError, "", lambda: ops.Zeros()((-1,), ms.float32)),
    (TypeError, "", lambda: ops.zeros("a")), (TypeError, "", lambda: ops.ones((2.5,))), (ValueError, "", lambda: ops.arange(0, 3, 0)),
    (ValueError, "", lambda: ops.one_hot(I, -3)), (ValueError, "", lambda: ops.linspace(0.0, 1.0, -2)),
    # -- indices
    (IndexError, "", lambda: X[5]), (IndexError, "", lambda: X[0, 4]), (IndexError, "", lambda: X[:, :, 0]), (IndexError, "", lambda: X["a"]),
    (ValueError, "", lambda: ops.gather_nd(X, Tensor([[0, 1, 2]]))), (ValueError, "", lambda: ops.scatter_nd(I, V, (3,))),
    (ValueError, "", lambda: ops.tensor_scatter_update(X, Tensor([[0]]), V[:2])),
    (ValueError, "", lambda: ops.StridedSlice()(X, (0,), (2, 3), (1, 1))), (ValueError, "", lambda: ops.Slice()(X, (0, 2), (2, 2))),
    # -- types
    (TypeError, "input", lambda: ops.exp("a")), (TypeError, "", lambda: ops.Exp()("a")), (TypeError, "", lambda: ops.ReLU()(None)),
    (TypeError, "", lambda: ops.relu([1.0])), (TypeError, "", lambda: ops.sigmoid("x")), (TypeError, "", lambda: ops.tanh(None)),
    (TypeError, "", lambda: ops.matmul(X, "a")), (TypeError, "", lambda: ops.add(X, "a")), (TypeError, "", lambda: ops.concat(5)),
    (TypeError, "", lambda: ops.concat([X, 3])), (TypeError, "", lambda: ops.stack("ab")), (TypeError, "", lambda: ops.reshape([1], (1,))),
    (TypeError, "", lambda: ops.cast("a", ms.float32)), (TypeError, "dtype", lambda: ops.cast(X, "floaty")), (TypeError, "", lambda: ops.gather(X, V, 0)),
    (TypeError, "", lambda: ops.GatherD()(X, 0, X)), (TypeError, "", lambda: ops.logical_not("a")), (TypeError, "", lambda: ops.bitwise_and(X, X)),
    (TypeError, "", lambda: ops.sqrt("a")), (TypeError, "", lambda: ops.log(None)), (TypeError, "", lambda: ops.softmax("a")),
    (TypeError, "", lambda: ops.Softmax("a")), (TypeError, "", lambda: ops.one_hot(V, 3)), (TypeError, "", lambda: ops.transpose(3, (0,))),
    (TypeError, "", lambda: ops.squeeze(None)), (TypeError, "", lambda: ops.masked_fill(X, X, 0.0)), (TypeError, "", lambda: ops.where(X, "a", X)),
    (TypeError, "", lambda: ops.interpolate("a", (2, 2))), (TypeError, "", lambda: ops.conv2d("a", X)), (TypeError, "", lambda: ops.dropout("a")),
    (TypeError, "", lambda: ops.zeros_like(3)), (TypeError, "", lambda: ops.ones_like("a")), (TypeError, "", lambda: ops.clip_by_global_norm(X)),
    (ValueError, "", lambda: ops.dropout(X, 1.5)), (ValueError, "", lambda: ops.Dropout(2.0)(X)), (TypeError, "", lambda: ops.tile(X, "a")),
    (TypeError, "", lambda: ops.pow(X, "a")), (TypeError, "", lambda: ops.maximum(X, None)), (TypeError, "", lambda: ops.square([])),
    (ValueError, "rounding_mode", lambda: ops.div(X, X, rounding_mode="up")), (ValueError, "reduction", lambda: ops.mse_loss(X, X, "avg")),
    (ValueError, "reduction", lambda: ops.cross_entropy(X, Tensor([0, 1], ms.int32), reduction="avg")),
    (ValueError, "mode", lambda: ops.interpolate(IMAGE, (2, 2), mode="cubicle")), (ValueError, "mode", lambda: ops.pad(X, (1, 1), "wrapped")),
    # -- arity
    (TypeError, "2 arguments", lambda: ops.Add()(X)), (TypeError, "1 argument", lambda: ops.Exp()()), (TypeError, "2 arguments", lambda: ops.MatMul()(X)),
    (TypeError, "", lambda: ops.Reshape()(X)), (TypeError, "", lambda: ops.Select()(B)),
    # -- windows
    (ValueError, "", lambda: ops.MaxPool(2, 2)(X)), (ValueError, "", lambda: ops.AvgPool(0, 2)), (ValueError, "pad_mode", lambda: ops.MaxPool(2, 2, "around")),
    (ValueError, "", lambda: ops.Conv2D(3, 3)(IMAGE, Tensor(np.ones((3, 5, 3, 3), np.float32)))),
    (ValueError, "", lambda: ops.conv2d(IMAGE, Tensor(np.ones((3, 2, 9, 9), np.float32)))), (ValueError, "", lambda: ops.max_pool2d(IMAGE, 9)),
    (ValueError, "", lambda: ops.adaptive_avg_pool2d(X[0], 2)), (ValueError, "", lambda: ops.layer_norm(X, (4,))),
    (ValueError, "", lambda: ops.LayerNorm()(X, Y, Y)), (ValueError, "", lambda: ops.ResizeBilinear((2, 2))(X)),
    (ValueError, "", lambda: ops.group_norm(IMAGE, 3)), (ValueError, "", lambda: ops.BatchNorm()(IMAGE, V, V, V, V)),
]  # fmt: skip
NN = [
    (ValueError, "", lambda: nn.Conv2d(0, 3, 3)), (TypeError, "", lambda: nn.Conv2d(3, 2.5, 3)), (ValueError, "pad_mode", lambda: nn.Conv2d(3, 3, 3, pad_mode="x")),
    (ValueError, "", lambda: nn.Conv2d(3, 4, 3, group=2)), (ValueError, "", lambda: nn.Conv2d(2, 3, 3, padding=1)),
    (ValueError, "", lambda: nn.Dense(-1, 2)), (TypeError, "", lambda: nn.Dense("a", 2)), (ValueError, "", lambda: nn.Dense(3, 2)(Y)),
    (ValueError, "", lambda: nn.Dropout(p=1.5)), (ValueError, "", lambda: nn.BatchNorm2d(0)), (ValueError, "", lambda: nn.BatchNorm2d(3)(X)),
    (TypeError, "", lambda: nn.LayerNorm("a")), (ValueError, "", lambda: nn.MaxPool2d(0)), (ValueError, "pad_mode", lambda: nn.AvgPool2d(2, pad_mode="x")),
    (TypeError, "", lambda: nn.Embedding(2.5, 3)), (TypeError, "", lambda: nn.SequentialCell([1])), (TypeError, "", lambda: nn.CellList([X])),
    (ValueError, "", lambda: nn.Adam([])), (ValueError, "", lambda: nn.SGD([ms.Parameter(X, name="p")], -1.0)), (TypeError, "", lambda: nn.Momentum(X, 0.1, 0.9)),
    (ValueError, "reduction", lambda: nn.MSELoss("avg")), (ValueError, "reduction", lambda: nn.CrossEntropyLoss(reduction="x")),
    (TypeError, "", lambda: nn.Softmax("a")), (ValueError, "", lambda: nn.GroupNorm(3, 4)), (ValueError, "", lambda: nn.LSTM(3, 0)),
    (ValueError, "", lambda: nn.Conv2dTranspose(0, 3, 3)), (ValueError, "", lambda: nn.WarmUpLR(0.1, -2)),
    (ValueError, "", lambda: nn.PReLU(0)), (ValueError, "", lambda: nn.Conv1d(3, 0, 3)), (ValueError, "", lambda: nn.MultiheadAttention(5, 2)),
]  # fmt: skip
METHODS = [
    (ValueError, "axis", lambda: X.sum(7)), (ValueError, "axis", lambda: X.mean(3)), (ValueError, "", lambda: X.reshape(4, 4)), (ValueError, "", lambda: X.view(5, -1)),
    (ValueError, "", lambda: X.transpose(0, 1, 2)), (ValueError, "", lambda: X.permute(0)), (ValueError, "", lambda: X.squeeze(4)), (ValueError, "", lambda: X.expand_dims(5)),
    (ValueError, "", lambda: X.unsqueeze(5)), (ValueError, "", lambda: X.swapaxes(0, 3)), (TypeError, "", lambda: X.astype("floaty")), (ValueError, "", lambda: X.broadcast_to((5, 5))),
    (ValueError, "", lambda: X.item()), (ValueError, "", lambda: X.max(axis=4)), (ValueError, "", lambda: X.argmax(4)), (ValueError, "", lambda: X.split(1, 4)),
    (ValueError, "", lambda: X.chunk(2, 4)), (ValueError, "", lambda: X.cumsum(4)), (ValueError, "", lambda: X.repeat(-1)), (ValueError, "", lambda: X.tile((-1,))),
    (ValueError, "", lambda: X.masked_fill(Y > 0, 1.0)), (ValueError, "", lambda: X.to("floaty")), (ValueError, "", lambda: X.expand_as(Y)), (TypeError, "", lambda: X.clip("a")),
    (ValueError, "", lambda: X.flatten(start_dim=4)), (ValueError, "", lambda: X.all(4)), (ValueError, "", lambda: X @ Y), (ValueError, "", lambda: X + Y), (TypeError, "", lambda: X + "a"),
    (TypeError, "", lambda: X.pow("a")), (ValueError, "", lambda: X.gather_elements(3, I)), (ValueError, "", lambda: X.index_select(4, I)), (ValueError, "", lambda: X.sort(4)),
]  # fmt: skip
MINT = [
    (ValueError, "", lambda: mint.sum(X, 4)), (ValueError, "", lambda: mint.cat([X, Y])), (ValueError, "", lambda: mint.stack([X, Y])), (ValueError, "", lambda: mint.split(X, 1, 4)),
    (ValueError, "", lambda: mint.matmul(X, Y)), (ValueError, "negative", lambda: mint.zeros((-1,))), (ValueError, "negative", lambda: mint.ones(-1)), (TypeError, "", lambda: mint.exp("a")),
    (ValueError, "", lambda: mint.arange(0, 3, 0)), (ValueError, "", lambda: mint.softmax(X, 4) if hasattr(mint, "softmax") else mint.nn.functional.softmax(X, 4)),
    (ValueError, "", lambda: mint.mean(X, 4)), (ValueError, "", lambda: mint.max(X, 4)), (ValueError, "", lambda: mint.unsqueeze(X, 5)), (ValueError, "", lambda: mint.permute(X, (0,))),
    (ValueError, "", lambda: mint.reshape(X, (4, 4))), (ValueError, "", lambda: mint.transpose(X, 0, 4)), (ValueError, "", lambda: mint.topk(X, 9)), (ValueError, "", lambda: mint.gather(X, 4, I)),
    (ValueError, "", lambda: mint.nn.Linear(0, 2)), (ValueError, "", lambda: mint.nn.Conv2d(2, 3, 3)(X)), (ValueError, "", lambda: mint.where(X > 0, X, Y)), (TypeError, "", lambda: mint.nn.Embedding("a", 2)),
]  # fmt: skip
EVERY = [
    (family, i, *case)
    for family, cases in (("ops", OPS), ("nn", NN), ("Tensor", METHODS), ("mint", MINT))
    for i, case in enumerate(cases)
]


def message(call, kind):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("family,place,kind,words,call", EVERY, ids=[f"{c[0]}{c[1]}" for c in EVERY])
def test_bad_call(family, place, kind, words, call):
    eager = message(call, kind)
    assert words in eager, eager
    assert eager.startswith(("For ", "The ", "tensors ", "Tensor.")) or "unsupported operand" in eager, (
        eager
    )  # the last are Python's own words
    if family != "nn":  # layers are made before anything is compiled
        compiled = message(ms.jit(call), kind)
        assert compiled.split("\n")[0] == eager.split("\n")[0]


@pytest.mark.parametrize("backend", ["interp"])
def test_index_values_are_checked_when_they_are_known(backend):
    for call in (
        lambda: ops.gather(X, FAR, 0),
        lambda: ops.gather_nd(X, FAR.reshape(2, 1)),
        lambda: X[FAR],
        lambda: ops.GatherD()(X, 1, FAR.reshape(2, 1)),
    ):
        with pytest.raises(IndexError, match="range|bounds"):
            call()
