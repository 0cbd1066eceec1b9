"""What convolutions and products absorb: the same results as unfused, and only where nobody else needs the values between."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

from tests.backend_cpu.helpers import check

from mindspore._base import dtype as mstype
from mindspore.prims import activation, arrays, conv, linalg, norm
from mindspore.prims import elementwise as ew

RNG = np.random.default_rng(3)
BF16 = mstype.bfloat16.np
RELU, ADD, MUL = ew.ReLU(), ew.Add(), ew.Mul()


def normal(*shape: int, dtype=np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def names(executable) -> list[str]:
    return [s.split(" ")[0] for s in executable.steps()]


def column(b, rank: int):
    return arrays.Reshape()(b, (1, -1) + (1,) * (rank - 2))


CONVOLUTIONS = {
    "1d": (conv.Conv1D(8, 3, pad=1, pad_mode="pad"), (2, 4, 9), (8, 4, 3)),
    "2d": (conv.Conv2D(16, 3, pad=1, pad_mode="pad"), (2, 16, 7, 6), (16, 16, 3, 3)),
    "3d": (conv.Conv3D(8, 2), (1, 4, 4, 4, 4), (8, 4, 2, 2, 2)),
    "groups": (conv.Conv2D(32, 3, pad=1, pad_mode="pad", group=2), (2, 32, 5, 5), (32, 16, 3, 3)),
    "depthwise": (conv.Conv2D(16, 3, pad=1, pad_mode="pad", group=16), (2, 16, 5, 5), (16, 1, 3, 3)),
    "dilated": (conv.Conv2D(16, 3, pad=2, pad_mode="pad", dilation=2), (2, 8, 9, 9), (16, 8, 3, 3)),
    "strided": (conv.Conv2D(16, 1, stride=2), (2, 32, 8, 8), (16, 32, 1, 1)),
    "odd": (conv.Conv2D(5, 3), (1, 3, 6, 6), (5, 3, 3, 3)),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_bias_residual_and_relu(kind):
    layer, x_shape, w_shape = CONVOLUTIONS[kind]
    x, w, b = normal(*x_shape), normal(*w_shape), normal(w_shape[0])
    rank = len(x_shape)
    y = np.asarray(check(lambda a, k: layer(a, k), x, w)(x, w)[0])
    residual = normal(*y.shape)

    def block(a, k, bias, r):
        return RELU(ADD(ADD(layer(a, k), column(bias, rank)), r))

    found = names(check(block, x, w, b, residual))
    assert any(n.startswith("conv+bias") for n in found), found
    check(block, x, w, b, residual, flags="--opt_level=0")


def test_a_whole_block_is_one_step():
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]
    x = normal(*x_shape)

    def block(a, k, bias):
        return RELU(ADD(ADD(layer(a, k), column(bias, 4)), a))

    found = names(check(block, x, normal(*w_shape), normal(16)))
    assert "conv+bias+add+relu" in found
    assert not [n for n in found if n.startswith("fused")]
    off = names(check(block, x, normal(*w_shape), normal(16), flags="--opt_level=0"))
    assert "conv" in off


def test_values_that_others_need_stay():
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]

    def block(a, k, bias):
        before = ADD(layer(a, k), column(bias, 4))
        return RELU(before), before

    assert "conv+bias" in names(check(block, normal(*x_shape), normal(*w_shape), normal(16)))

    def twice(a, k, bias):
        y = layer(a, k)
        return MUL(RELU(y), ADD(y, column(bias, 4)))

    assert "conv" in names(check(twice, normal(*x_shape), normal(*w_shape), normal(16)))
    check(lambda a, k: ADD(y := layer(a, k), y), normal(*x_shape), normal(*w_shape))
    check(lambda a, k: MUL(y := RELU(layer(a, k)), y), normal(*x_shape), normal(*w_shape))


def test_two_convolutions_added():
    """One of them takes the other as its residual."""
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]
    x, v, w = normal(*x_shape), normal(*w_shape), normal(*w_shape)
    found = names(check(lambda a, k, m: RELU(ADD(layer(a, k), layer(a, m))), x, v, w))
    assert sorted(n for n in found if n.startswith("conv")) == ["conv", "conv+add+relu"]
    check(lambda a, k, m: ADD(layer(layer(a, k), m), layer(a, k)), x, v, w, tolerance=1e-4)


def test_a_residual_in_another_layout():
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]

    def block(a, k, r):
        return RELU(ADD(layer(a, k), arrays.Transpose()(r, (0, 3, 1, 2))))

    check(block, normal(*x_shape), normal(*w_shape), normal(2, 7, 6, 16))


@pytest.mark.parametrize("training", [False, True])
def test_normalisation(training):
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]
    batch_norm = norm.BatchNorm(is_training=training)
    statistics = normal(16), normal(16), normal(16), np.abs(normal(16)) + 0.5

    def block(a, k, *others):
        return RELU(batch_norm(layer(a, k), *others)[0])

    found = names(check(block, normal(*x_shape), normal(*w_shape), *statistics, tolerance=1e-4))
    assert ("conv+mul+add+relu" in found) is not training


def test_channels_last():
    layer = conv.Conv2D(16, 3, data_format="NHWC")
    x, w, b = normal(2, 6, 6, 8), normal(16, 3, 3, 8), normal(16)
    found = names(check(lambda a, k, bias, r: RELU(ADD(ADD(layer(a, k), bias), r)), x, w, b, normal(2, 4, 4, 16)))
    assert any(n.startswith("conv+bias+add") for n in found), found


@pytest.mark.parametrize("dtype", [np.float16, BF16], ids=str)
def test_narrow_types(dtype):
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]
    x, w, b = normal(*x_shape, dtype=dtype), normal(*w_shape, dtype=dtype), normal(16, dtype=dtype)
    w = (w * 0.1).astype(dtype)
    check(lambda a, k, bias: RELU(ADD(layer(a, k), column(bias, 4))), x, w, b, tolerance=4e-2)
    m, n = normal(9, 32, dtype=dtype), (normal(32, 16, dtype=dtype) * 0.1).astype(dtype)
    check(lambda a, k, bias: RELU(ADD(linalg.MatMul()(a, k), bias)), m, n, b, tolerance=4e-2)


@pytest.mark.parametrize("act", [ew.ReLU(), activation.GeLU(), activation.GeLUErf()], ids=lambda a: a.name)
def test_products(act):
    x, w, b, r = normal(4, 5, 24), normal(16, 24), normal(16), normal(4, 5, 16)
    product = linalg.MatMul(transpose_b=True)

    def dense(a, k, bias, residual):
        flat = product(arrays.Reshape()(a, (20, 24)), k)
        return ADD(act(ADD(arrays.Reshape()(flat, (4, 5, 16)), bias)), residual)

    found = names(check(dense, x, w, b, r, tolerance=2e-5))
    assert any(n.startswith("matmul+bias") for n in found), found
    assert len([n for n in found if n.startswith("fused")]) == 1, (
        found
    )  # the activation with the residual, or that alone


def test_products_of_batches():
    x, y, r = normal(3, 6, 8), normal(3, 8, 5), normal(3, 6, 5)
    found = names(check(lambda a, k, s: RELU(ADD(linalg.BatchMatMul()(a, k), s)), x, y, r))
    assert "matmul+add+relu" in found
    check(lambda a, k, s: ADD(linalg.BatchMatMul()(a, k), s), x, y, normal(3, 1, 5))  # neither a row nor everything
    check(lambda a, k, s: ADD(linalg.BatchMatMul()(a, k), s), x, y, normal(3, 6, 1))


def test_not_a_number_goes_through_relu():
    layer, x_shape, w_shape = CONVOLUTIONS["2d"]
    x = normal(*x_shape)
    x[0, 3, 2, 2] = np.nan
    found = check(lambda a, k: RELU(layer(a, k)), x, normal(*w_shape))
    assert "conv+relu" in names(found)
    y = found(x, normal(*w_shape))[0]
    assert np.isnan(y).any()
    assert not np.signbit(y[~np.isnan(y)]).any()


def test_empty():
    check(lambda a, k, b: RELU(ADD(linalg.MatMul()(a, k), b)), normal(0, 4), normal(4, 3), normal(3))
    check(lambda a, k, b: RELU(ADD(linalg.MatMul()(a, k), b)), normal(2, 0), normal(0, 3), normal(3))
