"""Primitives that file formats do not know, in terms of those they know.

Each function computes what a primitive computes, with other primitives. An exporter that has no rule for a primitive
traces the function for the node's arguments and writes the graph that comes out in the node's place.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.compiler import driver, parse
from mindspore.ir import AbstractTensor, CNode, FuncGraph, ValueNode
from mindspore.prims import values
from mindspore.prims.attention import causal_bias
from mindspore.prims.catalogue import catalogue
from mindspore.prims.update import Update
from mindspore.prims.values import TensorBase

P: Any = types.SimpleNamespace(**catalogue())  # the primitives by name
DECOMPOSITIONS: dict[str, Callable[..., Any]] = {}


def decomposition(*names: str) -> Callable[[Callable], Callable]:
    """Register a function `(primitive, *arguments)`."""

    def register(function: Callable) -> Callable:
        DECOMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return register


def decomposed(node: CNode) -> tuple[FuncGraph, list[int]] | None:
    """The graph that stands for a node, and which of the node's arguments are its inputs; None if there is none."""
    function = DECOMPOSITIONS.get(node.op.name)
    if function is None and isinstance(node.op, Update):
        function = _update
    if function is None:
        return None
    arguments, places = [], []
    for place, argument in enumerate(node.args):
        if isinstance(argument, ValueNode) and not isinstance(argument.abstract, AbstractTensor):
            arguments.append(argument.value)
        else:
            kind: Any = argument.abstract
            arguments.append(values.from_array(np.zeros(kind.shape, kind.dtype.np)))
            places.append(place)
    traced = parse.trace(function, (node.op, *arguments), {}, node.op.name, checked=False)
    driver.optimise(traced.graph)
    return traced.graph, places


# -- update rules -----------------------------------------------------------------------------------------------------
class _TensorNamespace:
    """As much of an array namespace as the update rules use, on Tensors."""

    sqrt, abs, sign = (staticmethod(lambda x, name=name: getattr(P, name)()(x)) for name in ("Sqrt", "Abs", "Sign"))
    exp, log, square = (staticmethod(lambda x, name=name: getattr(P, name)()(x)) for name in ("Exp", "Log", "Square"))
    maximum, minimum, power = (
        staticmethod(lambda x, y, name=name: getattr(P, name)()(x, y)) for name in ("Maximum", "Minimum", "Pow")
    )
    ones_like, zeros_like = (
        staticmethod(lambda x, name=name: getattr(P, name)()(x)) for name in ("OnesLike", "ZerosLike")
    )

    @staticmethod
    def asarray(x: Any) -> Any:
        return x if isinstance(x, TensorBase) else values.from_array(np.asarray(x))

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Any:
        return P.Select()(condition, x, y)


def _update(op: Update, *arguments: Any) -> tuple:
    """The new states, in plain arithmetic: file formats update Parameters by assigning them."""
    named = dict(zip(op.arguments, arguments))
    found = op.step(_TensorNamespace, *arguments)
    return tuple(P.Cast()(new, named[name].dtype) for name, new in zip(op.state, found))


# -- activations and losses -------------------------------------------------------------------------------------------
def _softplus(x: Any) -> Any:
    return P.Maximum()(x, 0) + P.Log1p()(P.Exp()(-P.Abs()(x)))


@decomposition("SoftplusBeta")
def _softplus_beta(op: Any, x: Any) -> Any:
    return _softplus(x * op.beta) / op.beta


@decomposition("LogSigmoid")
def _log_sigmoid(op: Any, x: Any) -> Any:
    return -_softplus(-x)


@decomposition("Hardtanh")
def _hard_tanh(op: Any, x: Any, low: Any = -1.0, high: Any = 1.0) -> Any:
    attrs = op.attrs
    low, high = attrs.get("min_val", low), attrs.get("max_val", high)
    return P.Minimum()(P.Maximum()(x, low), high)


@decomposition("Log2", "Log10")
def _logarithm(op: Any, x: Any) -> Any:
    return P.Log()(x) / math.log(2 if op.name == "Log2" else 10)


@decomposition("SparseCrossEntropy")
def _sparse_cross_entropy(op: Any, logits: Any, labels: TensorBase) -> Any:
    chosen = P.GatherD()(P.LogSoftmax(-1)(logits), 1, labels.reshape(-1, 1))
    return -chosen.reshape(-1)


@decomposition("SmoothL1")
def _smooth_l1(op: Any, x: Any, y: Any) -> Any:
    size = P.Abs()(x - y)
    if op.beta == 0:
        return size
    return P.Select()(size < op.beta, size * size * (0.5 / op.beta), size - 0.5 * op.beta)


# -- pooling ----------------------------------------------------------------------------------------------------------
def _windows(op: Any, x: TensorBase, fill: float) -> tuple[Any, Any]:
    """The padded input with a dimension more where there is but one, and how to undo that."""
    if op.channels_last or set(op.dilation) != {1}:
        raise RuntimeError(f"{op.name} with dilation or the layout {op.data_format} cannot be exported.")
    pads = op.window(x.shape).pads
    if any(lo or hi for lo, hi in pads):
        x = P.Pad(((0, 0), (0, 0), *pads), fill)(x)
    if op.rank == 1:
        return P.ExpandDims()(x, 2), lambda y: P.Squeeze(2)(y)
    return x, lambda y: y


def _pool(op: Any, kind: str) -> Any:
    kernel, strides = tuple(op.kernel_size), tuple(op.strides)
    if op.rank == 1:
        kernel, strides = (1, *kernel), (1, *strides)
    return getattr(P, f"{kind}3D" if op.rank == 3 else kind)(kernel, strides, "valid")


@decomposition("MaxPoolNd")
def _max_pool(op: Any, x: TensorBase) -> Any:
    padded, back = _windows(op, x, -3.4e38 if x.dtype.itemsize > 2 else -65504.0)
    return back(_pool(op, "MaxPool")(padded))


@decomposition("AvgPoolNd")
def _average_pool(op: Any, x: TensorBase) -> Any:
    padded, back = _windows(op, x, 0.0)
    mean = back(_pool(op, "AvgPool")(padded))
    factor = _correction(op, x)
    return mean if factor is None else mean * values.from_array(factor.astype(x.dtype.np))


def _correction(op: Any, x: TensorBase) -> np.ndarray | None:
    """What the mean over whole windows has to be multiplied by, from pooling ones."""
    ones = np.ones((1, 1, *x.shape[2:]), np.float64)
    with np.errstate(all="ignore"):
        right = np.asarray(op.eval(np, ones))
    pads = ((0, 0), (0, 0), *op.window(x.shape).pads)
    padded = np.pad(ones, pads)
    whole = np.lib.stride_tricks.sliding_window_view(padded, op.kernel_size, tuple(range(2, 2 + op.rank)))
    steps = tuple(slice(None, None, s) for s in op.strides)
    plain = whole[(slice(None), slice(None), *steps)].mean(axis=tuple(range(-op.rank, 0)))
    factor = right / np.where(plain == 0, 1, plain)
    return None if np.allclose(factor, 1) else factor


@decomposition("AvgPoolGrad")
def _average_pool_grad(op: Any, dout: TensorBase, shape: tuple[int, ...]) -> Any:
    """Every window's share laid over the image: a transposed convolution with ones."""
    if op.rank != 2 or op.channels_last:
        raise RuntimeError("The gradient of this AvgPool cannot be exported.")
    share = dout / values.from_array(np.asarray(op.divisor(shape), dout.dtype.np))
    rows = share.reshape(dout.shape[0] * dout.shape[1], 1, *dout.shape[2:])
    pads = tuple(v for pair in op.window(shape).pads for v in pair)
    spread = P.Conv2DBackpropInput(1, op.kernel_size, "pad", pads, stride=op.strides)
    ones = values.from_array(np.ones((1, 1, *op.kernel_size), dout.dtype.np))
    return spread(rows, ones, (shape[0] * shape[1], 1, *shape[2:])).reshape(shape)


@decomposition("Conv1D")
def _conv1d(op: Any, x: TensorBase, w: Any) -> Any:
    ((lo, hi),) = op.window(x.shape).pads
    wide = P.Pad(((0, 0), (0, 0), (lo, hi)))(x) if lo or hi else x
    made = P.Conv2D(
        op.out_channel, (1, *op.kernel_size), pad_mode="valid", stride=(1, *op.stride), dilation=(1, *op.dilation),
        group=op.group,
    )  # fmt: skip
    return P.Squeeze(2)(made(P.ExpandDims()(wide, 2), P.ExpandDims()(w, 2)))


# -- sequences --------------------------------------------------------------------------------------------------------
@decomposition("Attention")
def _attention(op: Any, q: TensorBase, k: TensorBase, v: Any, bias: Any) -> Any:
    scores = P.BatchMatMul(False, True)(q, k) * op.scale
    if bias is not None:
        scores = scores + bias
    if op.causal:
        scores = scores + values.from_array(causal_bias(q.shape[-2], k.shape[-2], np.float32))
    return P.BatchMatMul()(P.Softmax(-1)(scores), v)


@decomposition("RecurrentSequence")
def _recurrent(op: Any, gates: TensorBase, h: TensorBase, c: Any, weight: Any, bias: Any, lengths: Any) -> tuple:
    """The recurrence unrolled; the values saved for gradients are left out (zeros)."""
    steps, hidden = gates.shape[0], h.shape[1]
    made: list[Any] = [None] * steps
    for step in op.times(steps):
        share = P.MatMul(False, True)(h, weight)
        share = share if bias is None else share + bias
        fresh_h, fresh_c = _step(op.mode, gates[step], share, h, c, hidden)
        if lengths is None:
            made[step], h, c = fresh_h, fresh_h, fresh_c
            continue
        alive = P.Cast()(P.Greater()(lengths, step), gates.dtype).reshape(-1, 1)
        made[step] = fresh_h * alive
        h, c = h + (fresh_h - h) * alive, c + (fresh_c - c) * alive
    outputs = P.Stack(0)(made)
    return outputs, h, c, P.ZerosLike()(outputs)


def _step(mode: str, gx: Any, gh: Any, h: Any, c: Any, size: int) -> tuple[Any, Any]:
    part = lambda x, i: x[:, i * size : (i + 1) * size]
    if mode == "lstm":
        total = gx + gh
        i, f, o = (P.Sigmoid()(part(total, place)) for place in (0, 1, 3))
        c = f * c + i * P.Tanh()(part(total, 2))
        return o * P.Tanh()(c), c
    if mode == "gru":
        r, z = (P.Sigmoid()(part(gx, place) + part(gh, place)) for place in (0, 1))
        n = P.Tanh()(part(gx, 2) + r * part(gh, 2))
        return n + z * (h - n), c
    return (P.Tanh() if mode == "tanh" else P.ReLU())(gx + gh), c
