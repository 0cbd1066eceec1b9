"""Pooling against windows taken one by one."""

from __future__ import annotations

import numpy as np
import pytest
from nn_harness import both_namespaces, in_both_modes

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops
from mindspore.prims import pooling

CASES = [(2, 2, 0, 1, False), (3, 2, 1, 1, False), (3, 2, 1, 1, True), (2, 3, 0, 2, True), (3, 1, 1, 1, True)]


def windows(x: np.ndarray, kernel: int, stride: int, pad: int, dilation: int, ceil: bool) -> tuple:
    """For each output place: the slices of x (padding cut off), and how many padded places count."""
    rank = x.ndim - 2
    span = (kernel - 1) * dilation + 1
    counts = []
    for n in x.shape[2:]:
        room = n + 2 * pad - span
        count = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and (count - 1) * stride >= n + pad:
            count -= 1
        counts.append(count)
    for place in np.ndindex(*counts):
        index, padded = [], 1
        for axis in range(rank):
            start = place[axis] * stride - pad
            at = [start + i * dilation for i in range(kernel)]
            index.append([a for a in at if 0 <= a < x.shape[2 + axis]])
            padded *= min(start + kernel, x.shape[2 + axis] + pad) - start
        yield place, tuple(counts), np.ix_(range(x.shape[0]), range(x.shape[1]), *index), padded


@pytest.mark.parametrize(
    "rank,kernel,stride,pad,dilation,ceil", [(2, *c) for c in CASES] + [(1, *CASES[2]), (3, *CASES[3])]
)
def test_maximum(rank, kernel, stride, pad, dilation, ceil):
    rng = np.random.default_rng(rank)
    x = rng.normal(size=(2, 3, 7, 6, 8)[: rank + 2])
    prim = pooling.MaxPoolNd(rank, kernel, stride, pad, dilation, ceil)
    out = both_namespaces(prim, x)
    for place, counts, index, _ in windows(x, kernel, stride, pad, dilation, ceil):
        assert out.shape[2:] == counts
        np.testing.assert_array_equal(out[(..., *place)], x[index].reshape(2, 3, -1).max(-1))
    values, where = both_namespaces(pooling.MaxPoolWithIndices(rank, kernel, stride, pad, dilation, ceil), x)
    np.testing.assert_array_equal(values, out)
    flat = x.reshape(2, 3, -1)
    np.testing.assert_array_equal(np.take_along_axis(flat, where.reshape(2, 3, -1), 2).reshape(out.shape), out)
    both_namespaces(prim.sibling(pooling.MaxPoolGrad), x, out, rng.normal(size=out.shape))
    both_namespaces(prim.sibling(pooling.MaxPoolGradGrad), x, out, rng.normal(size=x.shape))


@pytest.mark.parametrize(
    "rank,kernel,stride,pad,dilation,ceil", [(2, *c) for c in CASES if c[3] == 1] + [(1, *CASES[2]), (3, *CASES[1])]
)
@pytest.mark.parametrize("include,divisor", [(True, None), (False, None), (True, 5)])
def test_mean(rank, kernel, stride, pad, dilation, ceil, include, divisor):
    rng = np.random.default_rng(rank)
    x = rng.normal(size=(2, 3, 7, 6, 8)[: rank + 2])
    prim = pooling.AvgPoolNd(rank, kernel, stride, pad, ceil, include, divisor)
    out = both_namespaces(prim, x)
    for place, _, index, padded in windows(x, kernel, stride, pad, 1, ceil):
        part = x[index].reshape(2, 3, -1)
        count = divisor or (padded if include else part.shape[-1])
        np.testing.assert_allclose(out[(..., *place)], part.sum(-1) / count)
    both_namespaces(prim.sibling(pooling.AvgPoolGrad), rng.normal(size=out.shape), x.shape)


@pytest.mark.parametrize(
    "prim",
    [pooling.MaxPoolNd(2, 2, 1, 1, 1, True), pooling.AvgPoolNd(2, 2, 2, 1, True, False), pooling.AvgPool(2, 2, "same"),
     pooling.MaxPool(2, 2, "same", "NHWC"), pooling.AvgPoolNd(1, 2, 1), pooling.MaxPool3D(2, 1)],
    ids=lambda p: p.name,
)  # fmt: skip
def test_derivatives(prim):
    shape = {1: (1, 2, 5), 2: (1, 2, 4, 3), 3: (1, 1, 3, 2, 3)}[prim.rank]
    check_gradients(prim, np.random.default_rng(0).normal(size=shape))


@pytest.mark.parametrize("wanted", [(2, 3), (4, 4), (1, 1), (5, None), (7, 2)])
def test_adaptive(wanted):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 4))
    mean = ops.adaptive_avg_pool2d(Tensor(x), wanted).asnumpy()
    best, where = (t.asnumpy() for t in ops.adaptive_max_pool2d(Tensor(x), wanted, return_indices=True))
    sizes = [n if w is None else w for n, w in zip(x.shape[2:], wanted)]
    for i, j in np.ndindex(*sizes):
        rows = slice(i * 5 // sizes[0], -(-(i + 1) * 5 // sizes[0]))
        columns = slice(j * 4 // sizes[1], -(-(j + 1) * 4 // sizes[1]))
        part = x[:, :, rows, columns].reshape(2, 3, -1)
        np.testing.assert_allclose(mean[:, :, i, j], part.mean(-1), atol=1e-6)
        np.testing.assert_array_equal(best[:, :, i, j], part.max(-1))
    np.testing.assert_array_equal(
        np.take_along_axis(x.reshape(2, 3, -1), where.reshape(2, 3, -1), 2).reshape(best.shape), best
    )
    check_gradients(lambda t: ops.adaptive_max_pool2d(t, wanted), x[:1, :1], order=1)


def test_unpooling_puts_maxima_back():
    x = np.random.default_rng(0).uniform(1, 2, (2, 3, 6, 4))
    best, where = ops.max_pool2d(Tensor(x), 2, return_indices=True)
    back = ops.max_unpool2d(best, where, 2).asnumpy()
    assert back.shape == x.shape
    assert ((back == 0) | (back == x)).all() and (back != 0).sum() == best.size


@pytest.mark.parametrize(
    "layer,shape,expected",
    [
        (lambda: nn.MaxPool1d(3, 2), (2, 3, 9), (2, 3, 4)),
        (lambda: nn.MaxPool2d(3, 2, "same"), (2, 3, 9, 8), (2, 3, 5, 4)),
        (lambda: nn.MaxPool2d(3, 2, "pad", padding=1, ceil_mode=True), (3, 8, 8), (3, 5, 5)),
        (lambda: nn.AvgPool2d(2, 2, data_format="NHWC"), (2, 8, 6, 3), (2, 4, 3, 3)),
        (lambda: nn.AvgPool3d(2, 2), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
        (lambda: nn.AdaptiveAvgPool2d((None, 3)), (1, 2, 5, 7), (1, 2, 5, 3)),
        (lambda: nn.LPPool2d(2, 2), (1, 2, 4, 4), (1, 2, 2, 2)),
    ],
)  # fmt: skip
def test_layers_in_both_modes(layer, shape, expected):
    net, x = layer(), Tensor(np.random.default_rng(0).uniform(0.1, 1, shape).astype(np.float32))
    assert in_both_modes(lambda: net(x)).shape == expected


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda: nn.MaxPool2d(0), ValueError),
        (lambda: nn.MaxPool2d(2, pad_mode="round"), ValueError),
        (lambda: nn.AvgPool2d(2, padding=1), ValueError),
        (lambda: nn.MaxPool2d(5)(Tensor(np.ones((1, 1, 3, 3), np.float32))), ValueError),
        (lambda: nn.MaxPool2d(2)(Tensor(np.ones((3, 3), np.float32))), ValueError),
        (lambda: ops.adaptive_avg_pool2d(Tensor(np.ones((1, 1, 3, 3), np.float32)), (0, 2)), ValueError),
        (lambda: nn.AdaptiveAvgPool1d("2"), TypeError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_positions_of_nan_and_of_infinities_beside_padding(backend):
    x = Tensor(np.array([[[np.nan, 1, 2, 3, np.nan, 5, -np.inf, -np.inf]]], np.float32))
    layer = nn.MaxPool1d(3, 1, "pad", 1, return_indices=True)
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend=backend):
        compiled = layer(x)
    for value, where in (compiled, layer(x)):
        np.testing.assert_array_equal(value.asnumpy()[0, 0], [np.nan, np.nan, 3, np.nan, np.nan, np.nan, 5, -np.inf])
        assert where.asnumpy()[0, 0].tolist() == [0, 0, 3, 4, 4, 4, 5, 6]
