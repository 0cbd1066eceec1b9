"""Convolution, pooling and recurrent layers over grids of settings: results and gradients against direct definitions."""

import itertools

import direct
import numpy as np
import pytest

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops

RNG = np.random.default_rng(9)
MODES = [("valid", 0), ("same", 0), ("pad", 1), ("pad", (2, 0, 1, 1))]
PYNATIVE_AND_GRAPH = [lambda f: f, ms.jit]


@pytest.fixture(autouse=True)
def reference_machine():
    """Compiled by the reference machine: the table compiles these primitives on every backend."""
    before = ms.get_context("backend")
    ms.set_context(backend="interp")
    yield
    ms.set_context(backend=before)


def tensors(*arrays):
    return [Tensor(np.asarray(a)) for a in arrays]


def close(found, expected, tolerance=1e-9):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.asnumpy(), expected, tolerance, tolerance)


# -- convolution ------------------------------------------------------------------------------------------------------
CONV = list(itertools.product([1, 2, (2, 1)], [1, 2], [1, 2], MODES, [(3, 3), (2, 3), (1, 1)]))


@pytest.mark.parametrize("stride,dilation,groups,mode,kernel", CONV)
def test_conv2d(stride, dilation, groups, mode, kernel):
    pad_mode, pad = mode
    strides = stride if isinstance(stride, tuple) else (stride, stride)
    dilations = (dilation, dilation)
    x, w = RNG.normal(size=(2, 4, 7, 6)), RNG.normal(size=(4, 4 // groups, *kernel))
    pads = direct.paddings(pad_mode, x.shape[2:], kernel, strides, dilations, pad)
    expected = direct.conv(x, w, strides, pads, dilations, groups)
    prim = ops.Conv2D(4, kernel, 1, pad_mode, pad, stride, dilation, groups)
    for wrap in PYNATIVE_AND_GRAPH:
        close(wrap(lambda a, b: prim(a, b))(*tensors(x, w)), expected)


@pytest.mark.parametrize(
    "stride,dilation,groups,mode,kernel",
    [
        (1, 1, 1, MODES[0], (3, 3)),
        (2, 1, 2, MODES[1], (3, 2)),
        ((2, 1), 2, 1, MODES[2], (2, 2)),
        (2, 2, 2, MODES[3], (2, 1)),
    ],
)
def test_conv2d_gradients(stride, dilation, groups, mode, kernel):
    prim = ops.Conv2D(2, kernel, 1, *mode, stride, dilation, groups)
    x, w = RNG.normal(size=(1, 2, 5, 4)), RNG.normal(size=(2, 2 // groups, *kernel))
    check_gradients(prim, x, w, order=2)


@pytest.mark.parametrize("pad_mode,pad", [("valid", 0), ("same", 0), ("pad", 1), ("pad", (2, 1))])
@pytest.mark.parametrize("stride,dilation,groups", list(itertools.product([1, 3], [1, 2], [1, 2])))
def test_conv1d(stride, dilation, groups, pad_mode, pad):
    x, w = RNG.normal(size=(2, 4, 9)), RNG.normal(size=(2, 4 // groups, 3))
    pads = direct.paddings(pad_mode, (9,), (3,), (stride,), (dilation,), pad)
    expected = direct.conv(x, w, (stride,), pads, (dilation,), groups)
    layer = nn.Conv1d(4, 2, 3, stride, pad_mode, pad if pad_mode == "pad" else 0, dilation, groups, dtype=ms.float64)
    layer.weight.set_data(Tensor(w.reshape(layer.weight.shape)))
    close(layer(Tensor(x)), expected)


@pytest.mark.parametrize("pad_mode,pad", [("valid", 0), ("same", 0), ("pad", 1), ("pad", (1, 0, 0, 1, 1, 1))])
@pytest.mark.parametrize("stride,dilation,groups", [(1, 1, 1), (2, 1, 2), (1, 2, 1), ((1, 2, 1), 1, 2)])
def test_conv3d(stride, dilation, groups, pad_mode, pad):
    strides = stride if isinstance(stride, tuple) else (stride,) * 3
    x, w = RNG.normal(size=(1, 2, 5, 4, 5)), RNG.normal(size=(4, 2 // groups, 2, 2, 2))
    pads = direct.paddings(pad_mode, x.shape[2:], (2, 2, 2), strides, (dilation,) * 3, pad)
    expected = direct.conv(x, w, strides, pads, (dilation,) * 3, groups)
    layer = nn.Conv3d(2, 4, 2, stride, pad_mode, pad, dilation, groups, dtype=ms.float64)
    layer.weight.set_data(Tensor(w))
    close(layer(Tensor(x)), expected)


@pytest.mark.parametrize(
    "stride,padding,extra,groups,dilation",
    [s for s in itertools.product([1, 2, 3], [0, 1], [0, 1], [1, 2], [1, 2]) if s[2] < max(s[0], s[4])],
)
def test_conv_transpose2d(stride, padding, extra, groups, dilation):
    x, w = RNG.normal(size=(2, 4, 4, 3)), RNG.normal(size=(4, 2, 3, 3))
    expected = direct.conv_transpose(x, w, (stride,) * 2, [(padding,) * 2] * 2, (dilation,) * 2, (extra,) * 2, groups)
    for wrap in PYNATIVE_AND_GRAPH:
        found = wrap(lambda a, b: ops.conv_transpose2d(a, b, None, stride, padding, extra, groups, dilation))(
            *tensors(x, w)
        )
        close(found, expected)


@pytest.mark.parametrize("stride,groups", [(1, 1), (2, 2)])
def test_conv_transpose2d_gradients(stride, groups):
    x, w = RNG.normal(size=(1, 2, 3, 3)), RNG.normal(size=(2, 1, 2, 3))
    check_gradients(lambda a, b: ops.conv_transpose2d(a, b, None, stride, 1, 0, groups), x, w, order=2)


@pytest.mark.parametrize("pad_mode,stride", list(itertools.product(["same", "valid", "pad"], [1, 2])))
def test_transposed_layer_turns_the_convolution_round(pad_mode, stride):
    """A transposed convolution is the gradient of the convolution with the same settings."""
    w = RNG.normal(size=(3, 2, 3, 3))
    layer = nn.Conv2dTranspose(3, 2, 3, stride, pad_mode, 1 if pad_mode == "pad" else 0, dtype=ms.float64)
    layer.weight.set_data(Tensor(w))
    y = Tensor(RNG.normal(size=(1, 3, 3, 3)))
    out = layer(y)
    forward = ops.Conv2D(3, 3, 1, pad_mode, 1 if pad_mode == "pad" else 0, stride)
    grad = ms.grad(lambda x: (forward(x, Tensor(w)) * y).sum())(Tensor(np.zeros(out.shape)))
    close(out, grad.asnumpy())


# -- pooling ----------------------------------------------------------------------------------------------------------
POOL = list(itertools.product([2, 3, (2, 3)], [1, 2, (2, 1)], ["valid", "same"]))


@pytest.mark.parametrize("kernel,stride,mode", POOL)
def test_pooling_primitives(kernel, stride, mode):
    kernels, strides = (v if isinstance(v, tuple) else (v, v) for v in (kernel, stride))
    x = RNG.normal(size=(2, 3, 7, 6))
    pads = direct.paddings(mode, x.shape[2:], kernels, strides, (1, 1))
    for prim, kind in ((ops.MaxPool(kernel, stride, mode), "max"), (ops.AvgPool(kernel, stride, mode), "mean")):
        expected = direct.pool(x, kernels, strides, pads, kind)
        for wrap in PYNATIVE_AND_GRAPH:
            close(wrap(lambda a, p=prim: p(a))(Tensor(x)), expected)
        check_gradients(prim, x[:1, :1, :5, :4], order=1)


@pytest.mark.parametrize(
    "kernel,stride,padding,ceil,counted",
    list(itertools.product([2, 3], [1, 2, 3], [0, 1], [False, True], [False, True])),
)
def test_average_pooling(kernel, stride, padding, ceil, counted):
    x = RNG.normal(size=(2, 2, 7, 6))
    expected = direct.pool(x, (kernel,) * 2, (stride,) * 2, [(padding,) * 2] * 2, "mean", counted, ceil)
    close(ops.avg_pool2d(Tensor(x), kernel, stride, padding, ceil, counted), expected)
    layer = nn.AvgPool2d(kernel, stride, "pad", padding, ceil, counted)
    close(layer(Tensor(x)), expected)


@pytest.mark.parametrize(
    "kernel,stride,padding,ceil", list(itertools.product([2, 3], [1, 2, 3], [0, 1], [False, True]))
)
def test_maximum_pooling(kernel, stride, padding, ceil):
    x = RNG.normal(size=(2, 2, 7, 6))
    expected = direct.pool(x, (kernel,) * 2, (stride,) * 2, [(padding,) * 2] * 2, "max", ceil=ceil)
    found, index = ops.max_pool2d(Tensor(x), kernel, stride, padding, ceil_mode=ceil, return_indices=True)
    close(found, expected)
    flat = x.reshape(2, 2, -1)
    taken = np.take_along_axis(flat, index.asnumpy().reshape(2, 2, -1), 2).reshape(expected.shape)
    np.testing.assert_array_equal(taken, expected)


@pytest.mark.parametrize("rank,divisor", [(1, 0), (2, 5), (3, 3)])
def test_other_ranks_and_divisors(rank, divisor):
    x = RNG.normal(size=(1, 2, *(5, 4, 6)[:rank]))
    expected = direct.pool(x, (2,) * rank, (2,) * rank, [(0, 0)] * rank, "mean", divisor=divisor)
    pool = (ops.avg_pool1d, ops.avg_pool2d, ops.avg_pool3d)[rank - 1]
    close(pool(Tensor(x), 2, 2, **({"divisor_override": divisor} if divisor else {})), expected)
    if rank == 3:
        close(ops.max_pool3d(Tensor(x), 2, 2), direct.pool(x, (2,) * 3, (2,) * 3, [(0, 0)] * 3, "max"))


# -- recurrent layers -------------------------------------------------------------------------------------------------
def weights_of(layer, kind, index, reverse):
    suffix = f"l{index}" + ("_reverse" if reverse else "")
    found = {p.name.rpartition(".")[2]: p.asnumpy().astype(np.float64) for p in layer.get_parameters()}
    size = found[f"weight_hh_{suffix}"].shape[0]
    zero = np.zeros(size)
    return [
        found[f"weight_ih_{suffix}"],
        found[f"weight_hh_{suffix}"],
        found.get(f"bias_ih_{suffix}", zero),
        found.get(f"bias_hh_{suffix}", zero),
    ]


def one_direction(kind, x, h, c, weights, lengths, reverse):
    """The outputs over time of (length, batch, size), and the last state of every sequence."""
    out = np.zeros((*x.shape[:2], h.shape[-1]))
    last_h, last_c = h.copy(), c.copy()
    for b in range(x.shape[1]):
        hb, cb = h[b : b + 1], c[b : b + 1]
        steps = range(lengths[b] - 1, -1, -1) if reverse else range(lengths[b])
        for t in steps:
            if kind == "LSTM":
                hb, cb = direct.lstm_step(x[t, b : b + 1], hb, cb, *weights)
            elif kind == "GRU":
                hb = direct.gru_step(x[t, b : b + 1], hb, *weights)
            else:
                hb = direct.rnn_step(x[t, b : b + 1], hb, *weights)
            out[t, b] = hb
        last_h[b], last_c[b] = hb, cb
    return out, last_h, last_c


def stacked(layer, kind, x, h, c, layers, bidirectional, lengths):
    directions = 2 if bidirectional else 1
    states = []
    for i in range(layers):
        parts = []
        for d in range(directions):
            place = i * directions + d
            out, last_h, last_c = one_direction(
                kind, x, h[place], c[place], weights_of(layer, kind, i, d == 1), lengths, d == 1
            )
            parts.append(out)
            states.append((last_h, last_c))
        x = np.concatenate(parts, -1)
    return x, np.stack([s[0] for s in states]), np.stack([s[1] for s in states])


RECURRENT = list(
    itertools.product(["RNN", "GRU", "LSTM"], [1, 2], [False, True], [False, True], [True, False], [None, [3, 5]])
)


@pytest.mark.parametrize("kind,layers,bidirectional,batch_first,bias,lengths", RECURRENT)
def test_recurrent_layers(kind, layers, bidirectional, batch_first, bias, lengths):
    layer = getattr(nn, kind)(3, 4, layers, has_bias=bias, batch_first=batch_first, bidirectional=bidirectional)
    count = layers * (2 if bidirectional else 1)
    x, h, c = RNG.normal(size=(5, 2, 3)), RNG.normal(size=(count, 2, 4)), RNG.normal(size=(count, 2, 4))
    expected, last_h, last_c = stacked(layer, kind, x, h, c, layers, bidirectional, lengths or [5, 5])
    given = [Tensor(v.astype(np.float32)) for v in (x.swapaxes(0, 1) if batch_first else x, h, c)]
    state = (given[1], given[2]) if kind == "LSTM" else given[1]
    arguments = () if lengths is None else (Tensor(lengths, ms.int32),)
    for wrap in PYNATIVE_AND_GRAPH:
        out, new = wrap(lambda *a: layer(*a))(given[0], state, *arguments)
        found = out.asnumpy().swapaxes(0, 1) if batch_first else out.asnumpy()
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5)
        new_h, new_c = new if kind == "LSTM" else (new, None)
        np.testing.assert_allclose(new_h.asnumpy(), last_h, 1e-4, 1e-5)
        if kind == "LSTM":
            np.testing.assert_allclose(new_c.asnumpy(), last_c, 1e-4, 1e-5)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_gradients(kind, bidirectional):
    layer = getattr(nn, kind)(2, 3, 1, bidirectional=bidirectional, dtype=ms.float64)
    count = 2 if bidirectional else 1
    x, h = RNG.normal(size=(3, 1, 2)), RNG.normal(size=(count, 1, 3))

    def run(a, b):
        return layer(a, (b, b) if kind == "LSTM" else b)[0]

    check_gradients(run, x, h, order=2)
