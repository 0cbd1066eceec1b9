"""Convolution against its definition, over strides, paddings, dilations, groups and layouts."""

from __future__ import annotations

import numpy as np
import pytest
from nn_harness import both_namespaces, in_both_modes

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops
from mindspore.prims import conv

FORWARD = {1: conv.Conv1D, 2: conv.Conv2D, 3: conv.Conv3D}
INPUT = {1: conv.Conv1DBackpropInput, 2: conv.Conv2DBackpropInput, 3: conv.Conv3DBackpropInput}
FILTER = {1: conv.Conv1DBackpropFilter, 2: conv.Conv2DBackpropFilter, 3: conv.Conv3DBackpropFilter}
LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def direct(x: np.ndarray, w: np.ndarray, stride: int, pads: list, dilation: int, group: int) -> np.ndarray:
    """Convolution as written: a sum over channels and kernel places for every output element (channels first)."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    kernel = w.shape[2:]
    sizes = [(n - (k - 1) * dilation - 1) // stride + 1 for n, k in zip(x.shape[2:], kernel)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    per_group_out, per_group_in = w.shape[0] // group, x.shape[1] // group
    for o in range(w.shape[0]):
        first = (o // per_group_out) * per_group_in
        for place in np.ndindex(*sizes):
            window = tuple(
                slice(p * stride, p * stride + (k - 1) * dilation + 1, dilation) for p, k in zip(place, kernel)
            )
            patch = x[(slice(None), slice(first, first + per_group_in), *window)]
            out[(slice(None), o, *place)] = (patch * w[o]).reshape(x.shape[0], -1).sum(1)
    return out


def same_padding(n: int, k: int, s: int, d: int) -> tuple[int, int]:
    total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
    return total // 2, total - total // 2


MODES = [("same", 0), ("valid", 0), ("pad", 1)]
STEPS = [(1, 1, 1), (2, 1, 2), (1, 2, 4), (2, 2, 1)]
GRID = [(2, *mode, *step, last) for mode in MODES for step in STEPS for last in (False, True)]
GRID += [(rank, *mode, 2, 1, 2, rank == 3) for rank in (1, 3) for mode in MODES] + [(3, "pad", 1, 1, 2, 1, False)]


@pytest.mark.parametrize("rank,pad_mode,pad,stride,dilation,group,last", GRID)
def test_forward_and_gradients(rank, pad_mode, pad, stride, dilation, group, last):
    rng = np.random.default_rng(rank)
    sizes, kernel = (7, 6, 5)[:rank], (3, 2, 2)[:rank]
    x, w = rng.normal(size=(2, 4, *sizes)), rng.normal(size=(4, 4 // group, *kernel))
    pads = {"same": [same_padding(n, k, stride, dilation) for n, k in zip(sizes, kernel)], "valid": [(0, 0)] * rank,
            "pad": [(pad, pad)] * rank}[pad_mode]  # fmt: skip
    expected = direct(x, w, stride, pads, dilation, group)
    move = (lambda a: np.moveaxis(a, 1, -1).copy()) if last else (lambda a: a)
    prim = FORWARD[rank](4, kernel, 1, pad_mode, pad, stride, dilation, group, LAYOUTS[rank][last])
    found = both_namespaces(prim, move(x), move(w))
    np.testing.assert_allclose(found, move(expected), atol=1e-10)
    # The gradients are the transposes of the linear maps: <conv(x, w), d> = <x, gx> = <w, gw>.
    d = rng.normal(size=found.shape)
    gx = both_namespaces(prim.sibling(INPUT[rank]), d, move(w), move(x).shape)
    gw = both_namespaces(prim.sibling(FILTER[rank]), d, move(x), move(w).shape)
    np.testing.assert_allclose((move(x) * gx).sum(), (found * d).sum())
    np.testing.assert_allclose((move(w) * gw).sum(), (found * d).sum())


def test_derivatives_of_second_order():
    rng = np.random.default_rng(0)
    check_gradients(
        conv.Conv2D(4, 3, 1, "same", 0, 2, 1, 2), rng.normal(size=(1, 2, 4, 3)), rng.normal(size=(4, 1, 3, 3))
    )
    check_gradients(conv.Conv1D(2, 2, 1, "pad", 1, 1, 2), rng.normal(size=(1, 2, 4)), rng.normal(size=(2, 2, 2)))


@pytest.mark.parametrize(
    "stride,padding,output_padding,dilation,groups",
    [(1, 0, 0, 1, 1), (2, 1, 1, 1, 2), (3, 1, 2, 1, 1), (2, 0, 0, 2, 1)],
)
def test_transposed_is_the_transpose(stride, padding, output_padding, dilation, groups):
    """<conv_transpose(x), y> = <x, conv(y)>."""
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 4, 3, 4)), rng.normal(size=(4, 4 // groups, 3, 2))
    out = ops.conv_transpose2d(Tensor(x), Tensor(w), None, stride, padding, output_padding, groups, dilation).asnumpy()
    sizes = [
        (n - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1
        for n, k in zip(x.shape[2:], w.shape[2:])
    ]
    assert out.shape == (2, 4, *sizes)
    y = rng.normal(size=out.shape)
    back = ops.conv2d(Tensor(y), Tensor(w), None, stride, "pad", padding, dilation, groups).asnumpy()
    np.testing.assert_allclose((out * y).sum(), (x * back[:, :, : x.shape[2], : x.shape[3]]).sum())


def test_half_precision_accumulates_in_float32():
    x = np.full((1, 4096, 1, 1), 1.0, np.float16)
    w = np.full((1, 4096, 1, 1), 1.0, np.float16)
    assert conv.Conv2D(1, 1).eval(np, x, w).item() == 4096.0  # float16 sums of ones would stop at 2048


@pytest.mark.parametrize(
    "layer,shape,expected",
    [
        (lambda: nn.Conv1d(3, 4, 3, stride=2, has_bias=True), (2, 3, 7), (2, 4, 4)),
        (lambda: nn.Conv2d(3, 4, (3, 2), stride=(2, 1), pad_mode="pad", padding=(1, 0, 2, 1), group=1), (2, 3, 8, 6), (2, 4, 4, 8)),
        (lambda: nn.Conv2d(3, 4, 3, data_format="NHWC", has_bias=True), (2, 8, 6, 3), (2, 8, 6, 4)),
        (lambda: nn.Conv3d(3, 4, 2, pad_mode="valid"), (2, 3, 4, 5, 6), (2, 4, 3, 4, 5)),
        (lambda: nn.Conv1dTranspose(3, 4, 3, stride=2), (2, 3, 5), (2, 4, 10)),
        (lambda: nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode="valid", has_bias=True), (2, 3, 5, 4), (2, 4, 11, 9)),
        (lambda: nn.Conv3dTranspose(3, 4, 2, stride=2, pad_mode="pad", output_padding=1), (1, 3, 2, 3, 2), (1, 4, 5, 7, 5)),
    ],
)  # fmt: skip
def test_layers_in_both_modes(layer, shape, expected):
    net = layer()
    x = Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    assert in_both_modes(lambda: net(x)).shape == expected


def test_layer_parameters():
    net = nn.Conv1d(4, 6, 3, group=2, has_bias=True)
    assert {p.name: p.shape for p in net.get_parameters()} == {"weight": (6, 2, 1, 3), "bias": (6,)}
    bound = 1 / np.sqrt(2 * 3)
    assert np.abs(net.bias.asnumpy()).max() <= bound
    assert np.abs(net.weight.asnumpy()).max() <= bound


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: nn.Conv2d(3, 4, 0), ValueError, "kernel_size"),
        (lambda: nn.Conv2d(3, 4, 3, group=2), ValueError, "group"),
        (lambda: nn.Conv2d(3, 4, 3, padding=1), ValueError, "padding"),
        (lambda: nn.Conv2d(3, 4, 3, pad_mode="full"), ValueError, "pad_mode"),
        (lambda: nn.Conv2d(3.0, 4, 3), TypeError, "in_channels"),
        (lambda: nn.Conv2d(3, 4, 3)(Tensor(np.ones((1, 2, 5, 5), np.float32))), ValueError, "channels"),
        (lambda: nn.Conv2d(3, 4, 3)(Tensor(np.ones((3, 5, 5), np.float32))), ValueError, "4 dimensions"),
        (lambda: ops.conv2d(Tensor(np.ones((1, 1, 2, 2), np.float32)), Tensor(np.ones((1, 1, 3, 3), np.float32))), ValueError, "smaller"),
        (lambda: conv.Conv2D(2, 3, data_format="CHWN"), ValueError, "data_format"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_bad_arguments(call, error, words, mode):
    from nn_harness import mode as use

    with use(mode), pytest.raises(error, match=words):
        call()
