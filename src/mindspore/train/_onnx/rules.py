"""How each primitive is written in ONNX.

A rule gets the graph being written, the node, and the node's arguments: names of tensors, or plain values. It returns
the name of the result, or a list of names for several results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.ir import CNode
from mindspore.prims.arrays import TENSOR_INDEX
from mindspore.train._onnx.messages import BOOL, INT32

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}

_SAME = {
    "Add": "Add", "Sub": "Sub", "Mul": "Mul", "Div": "Div", "RealDiv": "Div", "Pow": "Pow", "Neg": "Neg", "Abs": "Abs",
    "Exp": "Exp", "Log": "Log", "Sqrt": "Sqrt", "Erf": "Erf", "Floor": "Floor", "Ceil": "Ceil", "Round": "Round",
    "Rint": "Round", "Sign": "Sign", "Sin": "Sin", "Cos": "Cos", "Tan": "Tan", "Asin": "Asin", "ACos": "Acos",
    "Atan": "Atan", "Sinh": "Sinh", "Cosh": "Cosh", "Tanh": "Tanh", "Asinh": "Asinh", "Acosh": "Acosh",
    "Atanh": "Atanh", "Sigmoid": "Sigmoid", "ReLU": "Relu", "Softplus": "Softplus", "Softsign": "Softsign",
    "Reciprocal": "Reciprocal", "Maximum": "Max", "Minimum": "Min", "Equal": "Equal", "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual", "Less": "Less", "LessEqual": "LessOrEqual", "LogicalAnd": "And",
    "LogicalOr": "Or", "LogicalNot": "Not", "LogicalXor": "Xor", "IsNan": "IsNaN", "IsInf": "IsInf",
    "Identity": "Identity", "StopGradient": "Identity", "Select": "Where", "HSwish": "HardSwish",
    "GatherNd": "GatherND",
}  # fmt: skip
_REDUCTIONS = {"ReduceSum": "ReduceSum", "ReduceMean": "ReduceMean", "ReduceMax": "ReduceMax", "ReduceMin": "ReduceMin",
               "ReduceProd": "ReduceProd"}  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for primitives."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def _same(op: str) -> Rule:
    return lambda g, node, *inputs: g.emit(op, inputs)


for _ours, _theirs in _SAME.items():
    RULES[_ours] = _same(_theirs)


def _like(g: Any, node: CNode, value: float) -> str:
    """A constant of the type of the node's result."""
    return g.constant(np.asarray(value, node.abstract.dtype.np))


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node.abstract.shape)


# -- elementwise compositions -----------------------------------------------------------------------------------------
@rule("NotEqual")
def _not_equal(g: Any, node: CNode, x: str, y: str) -> str:
    return g.emit("Not", [g.emit("Equal", [x, y])])


@rule("Square")
def _square(g: Any, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, x])


@rule("Rsqrt")
def _rsqrt(g: Any, node: CNode, x: str) -> str:
    return g.emit("Reciprocal", [g.emit("Sqrt", [x])])


@rule("Log1p")
def _log1p(g: Any, node: CNode, x: str) -> str:
    return g.emit("Log", [g.emit("Add", [x, _like(g, node, 1)])])


@rule("Expm1")
def _expm1(g: Any, node: CNode, x: str) -> str:
    return g.emit("Sub", [g.emit("Exp", [x]), _like(g, node, 1)])


@rule("FloorDiv")
def _floor_div(g: Any, node: CNode, x: str, y: str) -> str:
    return g.emit("Floor", [g.emit("Div", [x, y])])


@rule("FloorMod", "Mod")
def _floor_mod(g: Any, node: CNode, x: str, y: str) -> str:
    floor = g.emit("Floor", [g.emit("Div", [x, y])])
    return g.emit("Sub", [x, g.emit("Mul", [floor, y])])


@rule("SquaredDifference")
def _squared_difference(g: Any, node: CNode, x: str, y: str) -> str:
    return _square(g, node, g.emit("Sub", [x, y]))


@rule("IsFinite")
def _is_finite(g: Any, node: CNode, x: str) -> str:
    return g.emit("Not", [g.emit("Or", [g.emit("IsNaN", [x]), g.emit("IsInf", [x])])])


@rule("ZerosLike")
def _zeros_like(g: Any, node: CNode, x: str) -> str:
    return g.constant(np.zeros(_shape(node), node.abstract.dtype.np))


@rule("OnesLike")
def _ones_like(g: Any, node: CNode, x: str) -> str:
    return g.constant(np.ones(_shape(node), node.abstract.dtype.np))


@rule("ReLU6")
def _relu6(g: Any, node: CNode, x: str) -> str:
    return g.emit("Clip", [x, _like(g, node, 0), _like(g, node, 6)])


@rule("HSigmoid")
def _hard_sigmoid(g: Any, node: CNode, x: str) -> str:
    return g.emit("HardSigmoid", [x], alpha=1 / 6, beta=0.5)


@rule("SiLU")
def _silu(g: Any, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, g.emit("Sigmoid", [x])])


@rule("Mish")
def _mish(g: Any, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, g.emit("Tanh", [g.emit("Softplus", [x])])])


@rule("LeakyReLU")
def _leaky(g: Any, node: CNode, x: str) -> str:
    return g.emit("LeakyRelu", [x], alpha=float(next(iter(node.op.attrs.values()))))


@rule("Elu")
def _elu(g: Any, node: CNode, x: str) -> str:
    return g.emit("Elu", [x], alpha=float(node.op.attrs.get("alpha", 1.0)))


@rule("GeLUErf")
def _gelu(g: Any, node: CNode, x: str) -> str:
    erf = g.emit("Erf", [g.emit("Mul", [x, _like(g, node, 1 / math.sqrt(2))])])
    half = g.emit("Mul", [x, _like(g, node, 0.5)])
    return g.emit("Mul", [half, g.emit("Add", [erf, _like(g, node, 1)])])


@rule("GeLU")
def _gelu_tanh(g: Any, node: CNode, x: str) -> str:
    cube = g.emit("Mul", [x, g.emit("Mul", [x, x])])
    inner = g.emit("Add", [x, g.emit("Mul", [cube, _like(g, node, 0.044715)])])
    tanh = g.emit("Tanh", [g.emit("Mul", [inner, _like(g, node, math.sqrt(2 / math.pi))])])
    half = g.emit("Mul", [x, _like(g, node, 0.5)])
    return g.emit("Mul", [half, g.emit("Add", [tanh, _like(g, node, 1)])])


@rule("PReLU")
def _prelu(g: Any, node: CNode, x: str, weight: str) -> str:
    rank = len(_shape(node))
    slopes = _shape(node.args[1])
    if slopes and slopes[0] > 1 and rank > 2:
        weight = g.emit("Reshape", [weight, g.ints([-1] + [1] * (rank - 2))])
    return g.emit("PRelu", [x, weight])


# -- casts, shapes ----------------------------------------------------------------------------------------------------
@rule("Cast")
def _cast(g: Any, node: CNode, x: str, dtype: Any) -> str:
    return g.emit("Cast", [x], to=g.kind(dtype))


@rule("Reshape")
def _reshape(g: Any, node: CNode, x: str, shape: Any) -> str:
    source, target = _shape(node.args[0]), list(_shape(node))
    if source and target and source[0] == target[0]:
        target[0] = 0  # keeps whatever size the first dimension has, so that it may be free
    return g.emit("Reshape", [x, g.ints(target)])


@rule("ExpandDims")
def _expand_dims(g: Any, node: CNode, x: str, axis: int) -> str:
    return g.emit("Unsqueeze", [x, g.ints([axis])])


@rule("Squeeze")
def _squeeze(g: Any, node: CNode, x: str) -> str:
    return g.emit("Reshape", [x, g.ints(_shape(node))])


@rule("Transpose")
def _transpose(g: Any, node: CNode, x: str, perm: Any) -> str:
    rank = len(_shape(node))
    return g.emit("Transpose", [x], perm=[p % rank for p in perm])


@rule("BroadcastTo")
def _broadcast(g: Any, node: CNode, x: str, *rest: Any) -> str:
    return g.emit("Expand", [x, g.ints(_shape(node))])


@rule("Concat")
def _concat(g: Any, node: CNode, *xs: str) -> str:
    return g.emit("Concat", xs, axis=node.op.axis)


@rule("Stack")
def _stack(g: Any, node: CNode, *xs: str) -> str:
    axis = node.op.axis % len(_shape(node))
    return g.emit("Concat", [g.emit("Unsqueeze", [x, g.ints([axis])]) for x in xs], axis=axis)


@rule("Tile")
def _tile(g: Any, node: CNode, x: str, multiples: Any) -> str:
    return g.emit("Tile", [x, g.ints(multiples)])


@rule("Pad")
def _pad(g: Any, node: CNode, x: str) -> str:
    pairs = node.op.paddings
    return g.emit("Pad", [x, g.ints([p[0] for p in pairs] + [p[1] for p in pairs]), _like(g, node, node.op.value)])


@rule("Fill")
def _fill(g: Any, node: CNode, dtype: Any, shape: Any, value: Any) -> str:
    if isinstance(value, str):
        return g.emit("Expand", [value, g.ints(_shape(node))])
    return g.constant(np.full(_shape(node), value, node.abstract.dtype.np))


@rule("Gather")
def _gather(g: Any, node: CNode, x: str, indices: str, axis: int) -> str:
    if getattr(node.op, "batch_dims", 0):
        raise RuntimeError("Gather with batch_dims cannot be exported to ONNX.")
    return g.emit("Gather", [x, indices], axis=axis)


@rule("GatherD")
def _gather_elements(g: Any, node: CNode, x: str, axis: int, index: str) -> str:
    return g.emit("GatherElements", [x, index], axis=axis)


@rule("GetItem")
def _get_item(g: Any, node: CNode, x: str, *arrays: str) -> str:
    shape = _shape(node.args[0])
    spec: list[Any] = []
    used = sum(s is not None and s is not Ellipsis for s in node.op.spec)
    for item in node.op.spec:
        spec += [slice(None)] * (len(shape) - used) if item is Ellipsis else [item]
    kept = [s for s in spec if s is not None]
    kept += [slice(None)] * (len(shape) - len(kept))
    if len(arrays) > 1 or (arrays and any(s is None or isinstance(s, int) for s in spec)):
        raise RuntimeError("Indexing with several tensors, or tensors beside ints, cannot be exported to ONNX.")
    starts, ends, axes, steps = [], [], [], []
    for axis, (size, item) in enumerate(zip(shape, kept)):
        if isinstance(item, int):
            item = slice(item % size, item % size + 1)
        if item is TENSOR_INDEX or item.indices(size) == (0, size, 1):
            continue
        start, stop, step = item.indices(size)
        starts.append(start)
        ends.append(stop if stop >= 0 else -(1 << 31))
        axes.append(axis)
        steps.append(step)
    if axes:
        x = g.emit("Slice", [x, g.ints(starts), g.ints(ends), g.ints(axes), g.ints(steps)])
    if arrays:
        return g.emit("Gather", [x, arrays[0]], axis=kept.index(TENSOR_INDEX))
    if any(s is None or isinstance(s, int) for s in spec):
        x = g.emit("Reshape", [x, g.ints(_shape(node))])
    return x


# -- reductions -------------------------------------------------------------------------------------------------------
def _axes(node: CNode, axis: Any) -> list[int]:
    rank = len(_shape(node.args[0]))
    if axis is None or axis == ():
        return list(range(rank))
    return [a % rank for a in ((axis,) if isinstance(axis, int) else axis)]


@rule(*_REDUCTIONS)
def _reduce(g: Any, node: CNode, x: str, axis: Any = ()) -> str:
    axes, keep = _axes(node, axis), int(node.op.keep_dims)
    if node.op.name == "ReduceSum":
        return g.emit("ReduceSum", [x, g.ints(axes)], keepdims=keep) if axes else x
    return g.emit(_REDUCTIONS[node.op.name], [x], axes=axes, keepdims=keep) if axes else x


@rule("ReduceAll", "ReduceAny")
def _reduce_bool(g: Any, node: CNode, x: str, axis: Any = ()) -> str:
    op = "ReduceMin" if node.op.name == "ReduceAll" else "ReduceMax"
    numbers = g.emit("Cast", [x], to=INT32)
    reduced = g.emit(op, [numbers], axes=_axes(node, axis), keepdims=int(node.op.keep_dims))
    return g.emit("Cast", [reduced], to=BOOL)


@rule("Argmax", "Argmin")
def _arg(g: Any, node: CNode, x: str) -> str:
    op = "ArgMax" if node.op.name == "Argmax" else "ArgMin"
    found = g.emit(op, [x], axis=node.op.axis, keepdims=0)
    return g.emit("Cast", [found], to=g.kind(node.abstract.dtype))


@rule("TopK")
def _top_k(g: Any, node: CNode, x: str, k: int) -> list[str]:
    values, indices = g.emit("TopK", [x, g.ints([k])], 2, axis=-1)
    return [values, g.emit("Cast", [indices], to=g.kind(node.abstract.elements[1].dtype))]


@rule("CumSum")
def _cum_sum(g: Any, node: CNode, x: str, axis: int) -> str:
    return g.emit(
        "CumSum", [x, g.ints(axis)], exclusive=int(node.op.exclusive), reverse=int(node.op.reverse)
    )  # fmt: skip


# -- products ---------------------------------------------------------------------------------------------------------
@rule("MatMul", "BatchMatMul")
def _matmul(g: Any, node: CNode, x: str, y: str) -> str:
    for flag, place in (("transpose_a", 0), ("transpose_b", 1)):
        if getattr(node.op, flag, False):
            rank = len(_shape(node.args[place]))
            turned = g.emit("Transpose", [(x, y)[place]], perm=[*range(rank - 2), rank - 1, rank - 2])
            x, y = (turned, y) if place == 0 else (x, turned)
    return g.emit("MatMul", [x, y])


def _first_channels(node: CNode) -> None:
    if not node.op.data_format.startswith("NC"):
        raise RuntimeError(f"{node.op.name} in the layout {node.op.data_format} cannot be exported to ONNX.")


@rule("Conv1D", "Conv2D", "Conv3D")
def _conv(g: Any, node: CNode, x: str, w: str) -> str:
    _first_channels(node)
    pads = node.op.window(_shape(node.args[0])).pads
    return g.emit(
        "Conv", [x, w], dilations=list(node.op.dilation), group=node.op.group, kernel_shape=list(node.op.kernel_size),
        pads=[p[0] for p in pads] + [p[1] for p in pads], strides=list(node.op.stride),
    )  # fmt: skip


@rule("MaxPool", "MaxPool3D", "MaxPoolNd", "AvgPool", "AvgPoolNd", "AvgPool3D")
def _pool(g: Any, node: CNode, x: str) -> str:
    _first_channels(node)
    op = node.op
    pads = op.window(_shape(node.args[0])).pads
    attributes: dict[str, Any] = {
        "kernel_shape": list(op.kernel_size), "strides": list(op.strides),
        "pads": [p[0] for p in pads] + [p[1] for p in pads],
    }  # fmt: skip
    if op.name.startswith("Max"):
        return g.emit("MaxPool", [x], dilations=list(op.dilation), **attributes)
    if getattr(op, "divisor_override", None):
        raise RuntimeError("AvgPool with divisor_override cannot be exported to ONNX.")
    return g.emit(
        "AveragePool", [x], count_include_pad=int(bool(getattr(op, "count_include_pad", False))), **attributes
    )


# -- normalisation ----------------------------------------------------------------------------------------------------
@rule("BatchNorm")
def _batch_norm(g: Any, node: CNode, x: str, scale: str, bias: str, mean: str, variance: str) -> list[str]:
    if node.op.is_training:
        raise RuntimeError("A network in training mode cannot be exported to ONNX; call set_train(False) first.")
    _first_channels(node)
    out = g.emit("BatchNormalization", [x, scale, bias, mean, variance], epsilon=node.op.epsilon)
    return [out, mean, variance, mean, variance]


@rule("LayerNorm")
def _layer_norm(g: Any, node: CNode, x: str, gamma: str, beta: str) -> list[str]:
    out = g.emit("LayerNormalization", [x, gamma, beta], axis=node.op.begin_norm_axis, epsilon=node.op.epsilon)
    return [out, out, out]  # its mean and deviation are only used in training


@rule("Standardize")
def _standardize(g: Any, node: CNode, x: str) -> list[str]:
    axes = list(node.op.axes)
    dtype = node.abstract.elements[0].dtype.np
    mean = g.emit("ReduceMean", [x], axes=axes, keepdims=1)
    centred = g.emit("Sub", [x, mean])
    variance = g.emit("ReduceMean", [g.emit("Mul", [centred, centred])], axes=axes, keepdims=1)
    deviation = g.emit("Sqrt", [g.emit("Add", [variance, g.constant(np.asarray(node.op.epsilon, dtype))])])
    return [g.emit("Div", [centred, deviation]), mean, variance]


@rule("Softmax", "LogSoftmax")
def _softmax(g: Any, node: CNode, x: str) -> str:
    axis = node.op.axis
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) != 1:
        raise RuntimeError(f"{node.op.name} over several axes cannot be exported to ONNX.")
    return g.emit(node.op.name, [x], axis=axes[0])
