"""How each primitive is written in ONNX.

A rule gets the graph being written, the node, and the node's arguments: names of tensors, or plain values. It returns
the name of the result, or a list of names for several results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.formats.onnx.messages import BOOL, INT32
from mindspore.ir import CNode

if TYPE_CHECKING:
    from mindspore.formats.onnx.export import OnnxGraph

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


def _like(g: OnnxGraph, node: CNode, value: float) -> str:
    """A constant of the type of the node's result."""
    return g.constant(np.asarray(value, node.abstract.dtype.np))


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node.abstract.shape)


@rule("Print")
def _print(g: OnnxGraph, node: CNode, token: str, *tensors: str) -> str:
    """ONNX does not print; the value that keeps prints in order passes through."""
    return token


# -- elementwise compositions -----------------------------------------------------------------------------------------
@rule("NotEqual")
def _not_equal(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    return g.emit("Not", [g.emit("Equal", [x, y])])


@rule("Square")
def _square(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, x])


@rule("Rsqrt")
def _rsqrt(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Reciprocal", [g.emit("Sqrt", [x])])


@rule("Log1p")
def _log1p(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Log", [g.emit("Add", [x, _like(g, node, 1)])])


@rule("Expm1")
def _expm1(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Sub", [g.emit("Exp", [x]), _like(g, node, 1)])


@rule("FloorDiv")
def _floor_div(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    if node.abstract.dtype.kind in "iu":
        return g.emit("Div", [g.emit("Sub", [x, g.emit("Mod", [x, y])]), y])
    return g.emit("Floor", [g.emit("Div", [x, y])])


@rule("FloorMod", "Mod")
def _floor_mod(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    if node.abstract.dtype.kind in "iu":
        return g.emit("Mod", [x, y])
    floor = g.emit("Floor", [g.emit("Div", [x, y])])
    return g.emit("Sub", [x, g.emit("Mul", [floor, y])])


@rule("TruncateMod")
def _truncate_mod(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    return g.emit("Mod", [x, y], fmod=1)


@rule("TruncateDiv")
def _truncate_div(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    quotient = g.emit("Div", [x, y])
    return quotient if node.abstract.dtype.kind in "iu" else _trunc(g, node, quotient)


@rule("Trunc")
def _trunc(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Mul", [g.emit("Sign", [x]), g.emit("Floor", [g.emit("Abs", [x])])])


@rule("Erfc")
def _erfc(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Sub", [_like(g, node, 1), g.emit("Erf", [x])])


@rule("SeLU")
def _selu(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Selu", [x])


@rule("Hypot")
def _hypot(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    return g.emit("Sqrt", [g.emit("Add", [g.emit("Mul", [x, x]), g.emit("Mul", [y, y])])])


@rule("Xlogy")
def _xlogy(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    zero = _like(g, node, 0)
    return g.emit("Where", [g.emit("Equal", [x, zero]), zero, g.emit("Mul", [x, g.emit("Log", [y])])])


@rule("Atan2")
def _atan2(g: OnnxGraph, node: CNode, y: str, x: str) -> str:
    """atan(y / x), moved by π where x is negative."""
    zero = _like(g, node, 0)
    turn = g.emit("Where", [g.emit("Less", [y, zero]), _like(g, node, -math.pi), _like(g, node, math.pi)])
    shift = g.emit("Where", [g.emit("Less", [x, zero]), turn, zero])
    return g.emit("Add", [g.emit("Atan", [g.emit("Div", [y, x])]), shift])


@rule("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def _bitwise(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    if node.abstract.dtype.kind != "b":
        raise RuntimeError(f"{node.op.name} of whole numbers cannot be exported to ONNX of opset 17.")
    return g.emit(node.op.name.removeprefix("Bitwise"), [x, y])


@rule("Tril", "Triu")
def _trilu(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Trilu", [x, g.ints(node.op.diagonal)], upper=int(node.op.name == "Triu"))


@rule("SquaredDifference")
def _squared_difference(g: OnnxGraph, node: CNode, x: str, y: str) -> str:
    return _square(g, node, g.emit("Sub", [x, y]))


@rule("IsFinite")
def _is_finite(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Not", [g.emit("Or", [g.emit("IsNaN", [x]), g.emit("IsInf", [x])])])


@rule("ZerosLike")
def _zeros_like(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.constant(np.zeros(_shape(node), node.abstract.dtype.np))


@rule("OnesLike")
def _ones_like(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.constant(np.ones(_shape(node), node.abstract.dtype.np))


@rule("ReLU6")
def _relu6(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Clip", [x, _like(g, node, 0), _like(g, node, 6)])


@rule("HSigmoid")
def _hard_sigmoid(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("HardSigmoid", [x], alpha=1 / 6, beta=0.5)


@rule("SiLU")
def _silu(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, g.emit("Sigmoid", [x])])


@rule("Mish")
def _mish(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Mul", [x, g.emit("Tanh", [g.emit("Softplus", [x])])])


@rule("LeakyReLU")
def _leaky(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("LeakyRelu", [x], alpha=float(next(iter(node.op.attrs.values()))))


@rule("Elu")
def _elu(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Elu", [x], alpha=float(node.op.attrs.get("alpha", 1.0)))


@rule("GeLUErf")
def _gelu(g: OnnxGraph, node: CNode, x: str) -> str:
    erf = g.emit("Erf", [g.emit("Mul", [x, _like(g, node, 1 / math.sqrt(2))])])
    half = g.emit("Mul", [x, _like(g, node, 0.5)])
    return g.emit("Mul", [half, g.emit("Add", [erf, _like(g, node, 1)])])


@rule("GeLU")
def _gelu_tanh(g: OnnxGraph, node: CNode, x: str) -> str:
    cube = g.emit("Mul", [x, g.emit("Mul", [x, x])])
    inner = g.emit("Add", [x, g.emit("Mul", [cube, _like(g, node, 0.044715)])])
    tanh = g.emit("Tanh", [g.emit("Mul", [inner, _like(g, node, math.sqrt(2 / math.pi))])])
    half = g.emit("Mul", [x, _like(g, node, 0.5)])
    return g.emit("Mul", [half, g.emit("Add", [tanh, _like(g, node, 1)])])


@rule("FastGeLU")
def _fast_gelu(g: OnnxGraph, node: CNode, x: str) -> str:
    """x · sigmoid(1.702 x)"""
    return g.emit("Mul", [x, g.emit("Sigmoid", [g.emit("Mul", [x, _like(g, node, 1.702)])])])


@rule("CeLU")
def _celu(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Celu", [x], alpha=float(node.op.attrs.get("alpha", 1.0)))


@rule("SoftShrink", "HShrink")
def _shrink(g: OnnxGraph, node: CNode, x: str) -> str:
    bound = float(node.op.attrs.get("lambd", 0.5))
    return g.emit("Shrink", [x], lambd=bound, bias=bound if node.op.name == "SoftShrink" else 0.0)


@rule("PReLU")
def _prelu(g: OnnxGraph, node: CNode, x: str, weight: str) -> str:
    rank = len(_shape(node))
    slopes = _shape(node.args[1])
    if slopes and slopes[0] > 1 and rank > 2:
        weight = g.emit("Reshape", [weight, g.ints([-1] + [1] * (rank - 2))])
    return g.emit("PRelu", [x, weight])


# -- numbers and tensors ----------------------------------------------------------------------------------------------
@rule("ScalarToTensor")
def _scalar_to_tensor(g: OnnxGraph, node: CNode, x: Any, dtype: Any = None) -> str:
    if not isinstance(x, str):
        return g.constant(np.asarray(x, node.abstract.dtype.np))
    return g.emit("Cast", [x], to=g.kind(node.abstract.dtype))


@rule("TensorToScalar")
def _tensor_to_scalar(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Reshape", [x, g.ints([])])


# -- casts, shapes ----------------------------------------------------------------------------------------------------
@rule("Cast")
def _cast(g: OnnxGraph, node: CNode, x: str, dtype: Any) -> str:
    return g.emit("Cast", [x], to=g.kind(dtype))


@rule("Reshape")
def _reshape(g: OnnxGraph, node: CNode, x: str, shape: Any) -> str:
    source, target = _shape(node.args[0]), list(_shape(node))
    if source and target and source[0] == target[0]:
        target[0] = 0  # keeps whatever size the first dimension has, so that it may be free
    return g.emit("Reshape", [x, g.ints(target)])


@rule("ExpandDims")
def _expand_dims(g: OnnxGraph, node: CNode, x: str, axis: int) -> str:
    return g.emit("Unsqueeze", [x, g.ints([axis])])


@rule("Squeeze")
def _squeeze(g: OnnxGraph, node: CNode, x: str) -> str:
    return g.emit("Reshape", [x, g.ints(_shape(node))])


@rule("Transpose")
def _transpose(g: OnnxGraph, node: CNode, x: str, perm: Any) -> str:
    rank = len(_shape(node))
    return g.emit("Transpose", [x], perm=[p % rank for p in perm])


@rule("BroadcastTo")
def _broadcast(g: OnnxGraph, node: CNode, x: str, *rest: Any) -> str:
    return g.emit("Expand", [x, g.ints(_shape(node))])


@rule("Concat")
def _concat(g: OnnxGraph, node: CNode, *xs: str) -> str:
    return g.emit("Concat", xs, axis=node.op.axis)


@rule("Stack")
def _stack(g: OnnxGraph, node: CNode, *xs: str) -> str:
    axis = node.op.axis % len(_shape(node))
    return g.emit("Concat", [g.emit("Unsqueeze", [x, g.ints([axis])]) for x in xs], axis=axis)


@rule("Tile")
def _tile(g: OnnxGraph, node: CNode, x: str, multiples: Any) -> str:
    return g.emit("Tile", [x, g.ints(multiples)])


@rule("Pad")
def _pad(g: OnnxGraph, node: CNode, x: str) -> str:
    pairs = node.op.paddings
    return g.emit("Pad", [x, g.ints([p[0] for p in pairs] + [p[1] for p in pairs]), _like(g, node, node.op.value)])


@rule("Fill")
def _fill(g: OnnxGraph, node: CNode, dtype: Any, shape: Any, value: Any) -> str:
    if isinstance(value, str):
        return g.emit("Expand", [value, g.ints(_shape(node))])
    return g.constant(np.full(_shape(node), value, node.abstract.dtype.np))


# -- reductions -------------------------------------------------------------------------------------------------------
def _axes(node: CNode, axis: Any) -> list[int]:
    rank = len(_shape(node.args[0]))
    if axis is None or axis == ():
        return list(range(rank))
    return [a % rank for a in ((axis,) if isinstance(axis, int) else axis)]


@rule(*_REDUCTIONS)
def _reduce(g: OnnxGraph, node: CNode, x: str, axis: Any = ()) -> str:
    axes, keep = _axes(node, axis), int(node.op.keep_dims)
    if node.op.name == "ReduceSum":
        return g.emit("ReduceSum", [x, g.ints(axes)], keepdims=keep) if axes else x
    return g.emit(_REDUCTIONS[node.op.name], [x], axes=axes, keepdims=keep) if axes else x


@rule("ReduceAll", "ReduceAny")
def _reduce_bool(g: OnnxGraph, node: CNode, x: str, axis: Any = ()) -> str:
    op = "ReduceMin" if node.op.name == "ReduceAll" else "ReduceMax"
    numbers = g.emit("Cast", [x], to=INT32)
    reduced = g.emit(op, [numbers], axes=_axes(node, axis), keepdims=int(node.op.keep_dims))
    return g.emit("Cast", [reduced], to=BOOL)


@rule("Argmax", "Argmin")
def _arg(g: OnnxGraph, node: CNode, x: str) -> str:
    op = "ArgMax" if node.op.name == "Argmax" else "ArgMin"
    found = g.emit(op, [x], axis=node.op.axis, keepdims=0)
    return g.emit("Cast", [found], to=g.kind(node.abstract.dtype))


@rule("TopK")
def _top_k(g: OnnxGraph, node: CNode, x: str, k: int) -> list[str]:
    values, indices = g.emit("TopK", [x, g.ints([k])], 2, axis=-1)
    return [values, g.emit("Cast", [indices], to=g.kind(node.abstract.elements[1].dtype))]


@rule("Sort")
def _sort(g: OnnxGraph, node: CNode, x: str) -> list[str]:
    axis = node.op.axis
    size = _shape(node.args[0])[axis]
    values, places = g.emit("TopK", [x, g.ints([size])], 2, axis=axis, largest=int(node.op.descending))
    return [values, g.emit("Cast", [places], to=g.kind(node.abstract.elements[1].dtype))]


@rule("CumSum")
def _cum_sum(g: OnnxGraph, node: CNode, x: str, axis: int) -> str:
    return g.emit(
        "CumSum", [x, g.ints(axis)], exclusive=int(node.op.exclusive), reverse=int(node.op.reverse)
    )  # fmt: skip
