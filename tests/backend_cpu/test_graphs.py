"""Graphs on the native backend against the reference machine: primitives, types, shapes, layouts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.backend_cpu.helpers import check

import mindspore as ms
from mindspore import Tensor, ops
from mindspore._base import dtype as mstype
from mindspore.backends.cpu import available
from mindspore.prims import (
    activation,
    arrays,
    attention,
    conv,
    dropout,
    gather_scatter,
    linalg,
    loss,
    norm,
    pooling,
    sorting,
    update,
)
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import ReduceSum
from mindspore.prims.reduction import ReduceAll, ReduceAny, ReduceMax, ReduceMean, ReduceMin, ReduceProd

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")

RNG = np.random.default_rng(7)
BF16 = mstype.bfloat16.np


def normal(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def positive(*shape: int, dtype=np.float32) -> np.ndarray:
    return (np.abs(RNG.standard_normal(shape)) + 0.1).astype(dtype)


def integers(low: int, high: int, *shape: int, dtype=np.int32) -> np.ndarray:
    return RNG.integers(low, high, shape).astype(dtype)


# -- element by element -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16], ids=str)
@pytest.mark.parametrize("name", ["Exp", "Tanh", "Sigmoid", "Erf", "Sqrt", "Rsqrt", "Log", "Sin", "Cos", "Softplus"])
def test_functions_in_every_float_type(name, dtype):
    x = positive(37, dtype=dtype)
    check(getattr(ew, name)(), x, tolerance=1e-12 if dtype is np.float64 else 4e-2 if dtype is BF16 else None)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32], ids=str)
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "FloorDiv", "FloorMod", "TruncateMod", "Maximum", "BitwiseAnd"])
def test_integers_as_numpy(name, dtype):
    low = 0 if np.dtype(dtype).kind == "u" else -100
    x, y = integers(low, 100, 67, dtype=dtype), integers(low, 100, 67, dtype=dtype)
    y[::5] = 0  # division by zero gives what NumPy gives, and no trap
    check(lambda a, b: getattr(ew, name)()(a, b), x, y)


def test_smallest_integer_by_minus_one():
    x = np.array([-(2**31), 5, -7], np.int32)
    with np.errstate(over="ignore"):
        check(lambda a, b: (ew.FloorDiv()(a, b), ew.FloorMod()(a, b)), x, np.array([-1, -1, -1], np.int32))


@pytest.mark.parametrize("name", ["Less", "Greater", "Equal", "NotEqual", "LessEqual", "GreaterEqual"])
def test_comparisons_with_nan(name):
    x = np.array([1, np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    check(lambda a, b: getattr(ew, name)()(a, b), x, np.array([1, 1, np.inf, 2, -0.0, 3], np.float32))


def test_extremes_pass_nan_on():
    x = np.array([1, np.nan, 3, np.inf], np.float32)
    y = np.array([np.nan, 2, 2, -np.inf], np.float32)
    check(lambda a, b: (ew.Maximum()(a, b), ew.Minimum()(a, b), ew.ReLU()(a)), x, y)
    check(lambda a: (ReduceMax()(a, ()), ReduceMin()(a, ())), x)


CASTS = [np.float32, np.float64, np.float16, BF16, np.int8, np.uint8, np.int32, np.int64, np.bool_]


@pytest.mark.parametrize("source", CASTS, ids=str)
@pytest.mark.parametrize("target", CASTS, ids=str)
def test_casts(source, target):
    x = np.array([0, 1, 2.75, 100, 3], np.float64).astype(source)
    check(lambda a: ew.Cast()(a, mstype.from_numpy(np.dtype(target))), x)


@pytest.mark.parametrize(
    "shape", [(), (1,), (0,), (3, 0), (1, 1, 1), (7,), (64,), (1000, 3), (3, 1000), (2, 3, 4, 5, 6)]
)
def test_shapes(shape):
    check(lambda a, b: (a * b + 1, ew.Exp()(a)), normal(*shape), normal(*shape))


@pytest.mark.parametrize(
    "left,right", [((3, 1), (1, 4)), ((5,), ()), ((2, 3, 4), (3, 1)), ((1, 33), (8, 1)), ((4, 1, 6), (5, 1))]
)
def test_broadcasting(left, right):
    check(lambda a, b: a * b - b, normal(*left), normal(*right))


def test_arrays_that_are_not_contiguous():
    base = normal(8, 12)
    check(lambda a, b: a + b, base[::2, ::3], base.T[:4, :4])


# -- reductions ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape,axes", [
    ((5,), (0,)), ((4, 33), (1,)), ((4, 33), (0,)), ((3, 5, 7), (0, 2)), ((3, 5, 7), (1,)), ((6, 4, 5, 16), (0, 1, 2)),
    ((100000,), (0,)), ((2, 50000), (1,)), ((50000, 3), (0,)), ((1, 1), (0, 1)), ((4, 0), (1,)),
])  # fmt: skip
@pytest.mark.parametrize("prim", [ReduceSum, ReduceMean, ReduceProd])
def test_sums(prim, shape, axes):
    x = normal(*shape) if prim is not ReduceProd else (1 + 0.001 * normal(*shape))
    check(lambda a: prim()(a, axes), x, tolerance=2e-3)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_logical_and_extreme_reductions(axes):
    x = integers(-5, 5, 9, 70)
    check(lambda a: (ReduceMax()(a, axes), ReduceMin()(a, axes), ReduceSum()(a, axes)), x)
    check(lambda a: (ReduceAll()(a, axes), ReduceAny()(a, axes)), x > 3)


def test_half_sums_accumulate_in_float32():
    check(lambda a: ReduceSum()(a, ()), np.full(5000, 1.0, np.float16))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_positions_of_extremes(axis):
    x = np.round(normal(6, 50) * 2).astype(np.float32)  # ties
    x[2, 3] = np.nan
    check(lambda a: (sorting.Argmax(axis)(a), sorting.Argmin(axis)(a)), x)


# -- compositions -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 10, 33, 1000])
def test_softmax_family_is_one_kernel(n):
    executable = check(lambda a: activation.Softmax(-1)(a), normal(6, n) * 5)
    assert len(executable.steps()) == 1
    check(lambda a: activation.LogSoftmax(-1)(a), normal(6, n) * 5)
    check(lambda a: activation.Softmax(0)(a), normal(6, n) * 5)


def test_normalisations_are_one_kernel():
    x = normal(6, 40) + 3
    executable = check(lambda a, g, b: norm.LayerNorm(1, 1)(a, g, b)[0], x, normal(40), normal(40))
    assert len(executable.steps()) == 1
    executable = check(lambda a, g: norm.RmsNorm()(a, g)[0], x, normal(40))
    assert len(executable.steps()) == 1


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    args = normal(4, 6, 5, 5) + 2, normal(6), normal(6), normal(6), positive(6)
    check(lambda *a: norm.BatchNorm(training)(*a), *args, tolerance=1e-4)


def test_cross_entropy():
    labels = integers(0, 10, 8)
    check(lambda a, y: loss.SparseCrossEntropy()(a, y), normal(8, 10), labels)
    hot = np.eye(10, dtype=np.float32)[labels]
    check(lambda a, y: loss.SoftmaxCrossEntropyWithLogits()(a, y), normal(8, 10), hot)


def test_optimizer_update():
    shape = (9, 5)
    numbers = [np.float32(v).reshape(()) for v in (0.01, 0.9, 0.99, 1e-6, 0.1)]
    args = normal(*shape), normal(*shape), positive(*shape), *numbers, normal(*shape)
    executable = check(lambda *a: _all_results(update.AdamWeightDecay(), a), *args)
    assert len(executable.steps()) == 1


def _all_results(prim, args):
    """All new values; calling the primitive shows the variable alone."""
    from mindspore.prims.primitive import Primitive

    return Primitive.__call__(prim, *args)


def test_parts_of_nothing_are_not_read():
    """The last element of an empty tensor would lie before its memory."""
    empty = np.zeros((0,), np.int64)
    run = check(lambda a, b: (ew.Maximum()(arrays.Concat(0)(a, b)[::-1], 1), a[::-1] + 1), empty, empty)
    assert not [name for name in run.steps() if name.startswith("fused")]
    check(lambda a: (ReduceSum()(a[:, ::-1] * 2, 1), a[::-1, ::-1] + 1), np.zeros((3, 0), np.float32))


# -- picking and joining ------------------------------------------------------------------------------------------------
def test_a_gather_computes_only_what_it_picks():
    """Cross-entropy never writes the probabilities of all classes to memory."""
    logits, labels = normal(6, 40), integers(0, 40, 6)
    run = check(lambda x, y: loss.SparseCrossEntropy()(x, y), logits, labels)
    assert run.memory_report()["total_bytes"] < logits.nbytes
    columns, rows = integers(-40, 40, 3), integers(0, 6, 2, 2)
    check(lambda x, i: gather_scatter.Gather()(ew.Exp()(x) - ReduceSum(True)(x, 0), i, 1), logits, columns)
    check(lambda x, i: gather_scatter.Gather()(x * ReduceSum(True)(x, 1) + 1, i, 0), normal(60, 4), rows)


def test_gather_and_its_gradient():
    table, index = normal(11, 6), integers(-11, 11, 4, 3)
    check(lambda t, i: gather_scatter.Gather()(t, i, 0), table, index)
    check(lambda t, i: gather_scatter.Gather()(t, i, 1), table, integers(0, 6, 5))
    check(lambda t, i: gather_scatter.GatherD()(t, 1, i), table, integers(0, 6, 11, 4, dtype=np.int64))
    spec = (arrays.TENSOR_INDEX,)
    check(lambda z, d, i: arrays.SetItem(spec, True)(z, d, i), np.zeros((11, 6), np.float32), normal(4, 3, 6), index)


def test_slices_joins_and_setting():
    x, y = normal(4, 6), normal(4, 3)
    check(lambda a, b: arrays.Concat(1)(a, b), x, y)
    check(lambda a, b: arrays.Stack(1)(a, b), x, x + 1)
    check(lambda a: (a[1:3, ::2], a[:, 2], a[None, -1], a[::-1]), x)
    check(lambda a, b: arrays.SetItem((slice(None), slice(0, 3)))(a, b), x, y)
    check(lambda a, b: arrays.SetItem((slice(1, 3), slice(0, 3)), True)(a, b), x, normal(3))


def test_reshape_of_a_transposed_tensor():
    check(lambda a: arrays.Reshape()(arrays.Transpose()(a, (1, 0)), (3, 8)) * 2, normal(4, 6))
    check(lambda a: arrays.Reshape()(a, (4, 6)), normal(2, 3, 4))


# -- oneDNN -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_matrix_products(ta, tb):
    a, b = normal(*((7, 5) if ta else (5, 7))), normal(*((9, 7) if tb else (7, 9)))
    check(lambda x, y: linalg.MatMul(ta, tb)(x, y), a, b)
    batch_a, batch_b = np.stack([a, a + 1]), b
    check(lambda x, y: linalg.BatchMatMul(ta, tb)(x, y), batch_a, batch_b)
    check(lambda x, y: linalg.BatchMatMul(ta, tb)(x, y), batch_a[:, None], np.stack([b, b, b])[None])


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_matrix_products_of_other_types(dtype):
    check(lambda x, y: linalg.MatMul()(x, y), integers(0, 5, 4, 6, dtype=dtype), integers(0, 5, 6, 3, dtype=dtype))


def test_products_of_transposed_views():
    """Attention: heads are views of one projection; no copies are made."""
    q = normal(2, 6, 3, 4)

    def scores(x):
        heads = arrays.Transpose()(x, (0, 2, 1, 3))
        return linalg.BatchMatMul(False, True)(heads, heads)

    executable = check(scores, q)
    assert len(executable.steps()) == 1


CONVOLUTIONS = [
    (2, 3, 8, 16, 3, {}), (2, 16, 8, 16, 3, {"pad_mode": "same"}), (1, 6, 9, 10, 5, {"pad_mode": "pad", "pad": 2}),
    (2, 8, 9, 8, 3, {"group": 8}), (2, 4, 9, 8, 3, {"group": 2, "stride": 2}), (2, 4, 11, 5, 3, {"dilation": 2}),
    (2, 32, 7, 48, 1, {"stride": 2}),
]  # fmt: skip


@pytest.mark.parametrize("n,c,size,o,k,options", CONVOLUTIONS)
def test_convolution_and_gradients(n, c, size, o, k, options):
    x, w = normal(n, c, size, size), normal(o, c // options.get("group", 1), k, k)
    prim = conv.Conv2D(o, k, **options)
    check(lambda a, b: prim(a, b), x, w, tolerance=2e-4)
    dy = normal(*prim.output_shape(x.shape, w.shape))
    check(lambda d, b: prim.sibling(conv.Conv2DBackpropInput)(d, b, x.shape), dy, w, tolerance=2e-4)
    check(lambda d, a: prim.sibling(conv.Conv2DBackpropFilter)(d, a, w.shape), dy, x, tolerance=5e-4)


def test_convolution_channels_last_1d_and_3d():
    check(
        lambda a, b: conv.Conv2D(4, 3, data_format="NHWC")(a, b), normal(2, 6, 6, 3), normal(4, 3, 3, 3), tolerance=1e-4
    )
    check(lambda a, b: conv.Conv1D(4, 3)(a, b), normal(2, 3, 9), normal(4, 3, 3), tolerance=1e-4)
    check(lambda a, b: conv.Conv3D(4, 2)(a, b), normal(1, 3, 5, 5, 5), normal(4, 3, 2, 2, 2), tolerance=1e-4)


def test_odd_numbers_of_channels_are_not_padded():
    """Six channels would be padded to a block, which loops cannot walk: channels last needs no reorders in between."""
    first, second = normal(6, 1, 5, 5), normal(16, 6, 3, 3)

    def network(a, f, g):
        y = ew.ReLU()(conv.Conv2D(6, 5)(a, f))
        return conv.Conv2D(16, 3)(pooling.MaxPool(2, 2)(y), g), ReduceSum()(y, (2, 3))

    run = check(network, normal(2, 1, 20, 20), first, second, tolerance=2e-4)
    steps = list(run.steps())
    pool = next(i for i, name in enumerate(steps) if name.startswith("max_pool"))
    relu = next(i for i, name in enumerate(steps) if "relu" in name)
    assert "reorder" not in steps[relu:pool]


def test_blocked_layout_goes_through_the_network():
    """conv, batch norm, relu, residual, pooling: reorders at the borders only."""
    x, w = normal(2, 32, 8, 8), normal(32, 32, 3, 3)
    stats = positive(32), normal(32), normal(32), positive(32)

    def block(a, f, g, b, m, v):
        y = conv.Conv2D(32, 3, pad_mode="same")(a, f)
        y = ew.ReLU()(norm.BatchNorm(True)(y, g, b, m, v)[0])
        y = conv.Conv2D(32, 3, pad_mode="same")(y, f)
        return pooling.MaxPool(2, 2)(ew.ReLU()(y + 1))

    executable = check(block, x, w, *stats, tolerance=2e-3)
    assert sum(name == "reorder" for name in executable.steps()) <= 3


@pytest.mark.parametrize("mode", ["same", "valid"])
def test_pooling_and_gradients(mode):
    x = normal(2, 5, 9, 9)
    prim = pooling.MaxPool(3, 2, mode)

    def both(a, d):
        y = prim(a)
        return y, prim.sibling(pooling.MaxPoolGrad)(a, y, d)

    dy = normal(*prim.pooled_shape(x.shape))
    check(both, x, dy)
    mean = pooling.AvgPool(3, 2, mode)
    check(lambda a: mean(a), x)
    check(lambda d: mean.sibling(pooling.AvgPoolGrad)(d, x.shape), dy)


# -- rules with products and joins inside ---------------------------------------------------------------------------------
def test_attention():
    q, k, v = normal(2, 3, 8, 4), normal(2, 3, 6, 4), normal(2, 3, 6, 5)
    executable = check(lambda a, b, c: attention.Attention(0.5)(a, b, c, None), q, k, v)
    assert not any(name.startswith("host") for name in executable.steps())


def test_dropout_gives_the_same_numbers():
    key = np.array([7, 9], np.uint32)
    executable = check(lambda a, k: dropout.DropoutWithKey(0.7)(a, k), normal(33, 7), key)
    assert not any(name.startswith("host") for name in executable.steps())


# -- element types of whole operations ------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float64, np.int32, np.uint8], ids=str)
def test_products_in_every_type(dtype):
    a, b = (normal(5, 7) * 3).astype(dtype), (normal(7, 3) * 3).astype(dtype)
    tolerance = 5e-2 if np.dtype(dtype).itemsize == 2 else None
    check(lambda x, y: linalg.MatMul()(x, y) + 1, a, b, tolerance=tolerance)
    check(
        lambda x, y: linalg.MatMul(transpose_a=True, transpose_b=True)(x, y),
        a.T.copy(),
        b.T.copy(),
        tolerance=tolerance,
    )


def test_halves_are_multiplied_natively_and_rounded_once():
    """Mixed precision: convolution, pooling and products of float16 run in float32 and never on the host."""
    x, w, d = (
        normal(2, 6, 9, 9, dtype=np.float16),
        normal(16, 6, 3, 3, dtype=np.float16),
        normal(784, 5, dtype=np.float16),
    )

    def network(a, f, e):
        y = pooling.MaxPool(2, 1)(ew.ReLU()(conv.Conv2D(16, 3)(a, f) * 0.1))
        flat = y.reshape(2, 576)
        back = conv.Conv2D(16, 3).sibling(conv.Conv2DBackpropFilter)(conv.Conv2D(16, 3)(a, f), a, f.shape)
        return flat, linalg.MatMul()(flat, e[:576]), back

    run = check(network, x, w, d, tolerance=2e-2)
    assert not [name for name in run.steps() if name.startswith("host")]


def test_kernels_that_would_wait_for_one_another_stay_apart():
    """`later` joins the kernel of `p`, which then waits for `t`; so a product of `t` with what reads `p` must not join t."""

    def f(x, y):
        p = ops.tanh(x)
        q = ops.matmul(p, Tensor(np.eye(5, dtype=np.float32)))
        t = ops.exp(y)
        later = p + t.sum()
        return q, later, t * q.expand_dims(-1)

    rng = np.random.default_rng(5)
    x, y = rng.random((6, 5), np.float32), rng.random((6, 5, 4), np.float32)
    ms.set_context(backend="cpu")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            q, later, product = ms.jit(f)(Tensor(x), Tensor(y))
    finally:
        ms.set_context(backend="")
    np.testing.assert_allclose(q.asnumpy(), np.tanh(x), rtol=1e-5)
    np.testing.assert_allclose(later.asnumpy(), np.tanh(x) + np.exp(y).sum(), rtol=1e-5)
    np.testing.assert_allclose(product.asnumpy(), np.exp(y) * np.tanh(x)[..., None], rtol=1e-5)


def test_a_gather_along_the_channels_of_a_convolution():
    """Channels are kept in blocks, so one stride does not say where a channel is."""
    rng = np.random.default_rng(0)
    image, filters = (rng.standard_normal(s).astype(np.float32) for s in ((2, 16, 12, 12), (32, 16, 3, 3)))
    index = rng.integers(0, 32, 5).astype(np.int32)

    def function(x, w, i):
        y = ops.relu(ops.conv2d(x, w, pad_mode="same"))
        return ops.gather(y, i, 1) * 2.0 + ops.gather(ops.exp(-y), i, 1)

    check(function, image, filters, index)


def test_an_expensive_value_per_channel_is_computed_once():
    """Not anew for every point of the tensor it scales; a number alone stays where it is used."""
    gated = check(lambda x, g: x * ew.Sigmoid()(g), normal(1, 8, 6, 6), normal(1, 8, 1, 1))
    assert sum(name.startswith("fused") for name in gated.steps()) == 2
    scaled = check(lambda x, g: x * ew.Sigmoid()(g), normal(1, 8, 6, 6), normal(1))
    assert sum(name.startswith("fused") for name in scaled.steps()) == 1
