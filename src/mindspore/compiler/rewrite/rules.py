"""The rewrite rules, by theme. Every rule keeps values exactly (NaN and infinities included) and types always."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler.builder import FOLD_LIMIT, _nbytes
from mindspore.compiler.rewrite.matcher import Context, Rule, any_, op, rule, var
from mindspore.ir import AbstractOther, AbstractTensor, AbstractTuple, CNode, Node, ValueNode
from mindspore.prims import arrays, broadcasting, elementwise
from mindspore.prims.primitive import Primitive
from mindspore.prims.structural import MakeTuple


# -- structure ----------------------------------------------------------------------------------------------------------
@rule(
    "drop identity",
    op("Identity", var("x")),
    op("Laid", var("x")),
    op("StopGradient", var("x")),
    op("HookBackward", var("x")),
    op("Float8Gradient", var("x")),
)
def drop_identity(context: Context, node: CNode, x: Node) -> Node:
    """They matter to differentiation only, which is done by now."""
    return x


@rule("drop what was replaced", op("Replaced", var("before"), var("x")))
def drop_replaced(context: Context, node: CNode, before: Node, x: Node) -> Node:
    """It says where the gradient goes."""
    return x


@rule("element of a tuple", op("TupleGetItem", op("MakeTuple", capture="whole"), var("index")))
def tuple_element(context: Context, node: CNode, whole: CNode, index: ValueNode) -> Node:
    return whole.args[index.value]


@rule(
    "drop gradient hook",
    op("TupleGetItem", op("GradientHook", capture="hook"), var("index")),
    op("TupleGetItem", op("CustomGradient", capture="hook"), var("index")),
)
def drop_hook(context: Context, node: CNode, hook: CNode, index: ValueNode) -> Node:
    """The backward pass has been made; what is left of a hook is the identity."""
    return hook.args[index.value]


# -- shape and type -------------------------------------------------------------------------------------------------------
@rule("cast to the same type", op("Cast", var("x"), any_))
def same_cast(context: Context, node: CNode, x: Node) -> Node | None:
    return x if x.abstract == node.abstract else None


@rule("cast of a cast", op("Cast", op("Cast", var("x"), any_, capture="inner"), var("dtype")))
def cast_chain(context: Context, node: CNode, x: Node, inner: CNode, dtype: Node) -> Node | None:
    """Through a type that holds every value of the first."""
    before, between = x.abstract.dtype, inner.abstract.dtype
    if not _holds(between, before):
        return None
    return context.make(elementwise.Cast(), x, dtype)


def _holds(wide: mstype.DType, narrow: mstype.DType) -> bool:
    if wide is narrow:
        return True
    if wide.kind == narrow.kind and wide.kind in "iu":
        return wide.bits >= narrow.bits
    exact_bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
    if wide.kind == "f" and narrow.kind == "f":
        return (narrow.name, wide.name) != ("float16", "bfloat16") and exact_bits.get(wide.name, 0) >= exact_bits.get(
            narrow.name, 99
        )
    return narrow.kind == "b"


@rule("reshape to the same shape", op("Reshape", var("x"), any_), op("BroadcastTo", var("x")), op("Squeeze", var("x")))
def same_shape(context: Context, node: CNode, x: Node) -> Node | None:
    return x if x.abstract == node.abstract else None


@rule("reshape of a reshape", op("Reshape", op("Reshape", var("x"), any_), var("shape")))
def reshape_chain(context: Context, node: CNode, x: Node, shape: Node) -> Node:
    return context.make(broadcasting.Reshape(), x, context.constant(node.abstract.shape))


@rule("squeeze or expand as reshape", op("ExpandDims", var("x"), any_), op("Squeeze", var("x")))
def as_reshape(context: Context, node: CNode, x: Node) -> Node:
    return context.make(broadcasting.Reshape(), x, context.constant(node.abstract.shape))


@rule("transpose that moves nothing", op("Transpose", var("x"), var("perm")))
def trivial_transpose(context: Context, node: CNode, x: Node, perm: ValueNode) -> Node | None:
    """Identity orders, and orders that only move dimensions of size 1."""
    shape = x.abstract.shape
    order = [p % max(len(shape), 1) for p in perm.value]
    if order == list(range(len(shape))):
        return x
    if [p for p in order if shape[p] != 1] == [i for i in range(len(shape)) if shape[i] != 1]:
        return context.make(broadcasting.Reshape(), x, context.constant(node.abstract.shape))
    return None


@rule("transpose of a transpose", op("Transpose", op("Transpose", var("x"), var("first")), var("second")))
def transpose_chain(context: Context, node: CNode, x: Node, first: ValueNode, second: ValueNode) -> Node:
    n = len(first.value)
    combined = tuple(first.value[p % n] % n for p in second.value)
    return context.make(arrays.Transpose(), x, context.constant(combined))


@rule("matmul takes the transpose", op("MatMul", var("a"), var("b")))
def matmul_transpose(context: Context, node: CNode, a: Node, b: Node) -> Node | None:
    """A transposed matrix operand becomes the product's own flag."""
    from mindspore.prims.linalg import MatMul

    swap_a, swap_b = _plain_transpose(a), _plain_transpose(b)
    if swap_a is None and swap_b is None:
        return None
    prim = MatMul(node.op.transpose_a ^ (swap_a is not None), node.op.transpose_b ^ (swap_b is not None))
    return context.make(prim, a if swap_a is None else swap_a, b if swap_b is None else swap_b)


def _plain_transpose(node: Node) -> Node | None:
    if isinstance(node, CNode) and node.op.name == "Transpose" and tuple(p % 2 for p in node.args[1].value) == (1, 0):  # type: ignore[attr-defined]
        return node.args[0]
    return None


@rule(
    "sum over nothing",
    op("ReduceSum", var("x"), any_),
    op("ReduceMean", var("x"), any_),
    op("ReduceMax", var("x"), any_),
)
def trivial_reduction(context: Context, node: CNode, x: Node) -> Node | None:
    if x.abstract.size != node.abstract.size or x.abstract.dtype is not node.abstract.dtype:
        return None
    return context.make(broadcasting.Reshape(), x, context.constant(node.abstract.shape))


# -- algebra --------------------------------------------------------------------------------------------------------------
def repeated_value(node: Node) -> Any:
    """The number that fills a constant tensor, or None."""
    if isinstance(node, ValueNode) and isinstance(node.value, np.ndarray):
        array = node.value
        if array.size == 1 or (array.size > 1 and not any(array.strides)):
            return array.reshape(-1)[0].item()
        return None
    if isinstance(node, CNode):
        if node.op.name == "ZerosLike":
            return 0
        if node.op.name == "OnesLike":
            return 1
        if node.op.name == "Fill" and isinstance(node.args[2].abstract, AbstractOther):
            return node.args[2].value  # type: ignore[attr-defined]
        if node.op.name in ("BroadcastTo", "Reshape", "Cast"):
            return repeated_value(node.args[0])
    return None


def _keeps(node: CNode, x: Node) -> Node | None:
    return x if x.abstract == node.abstract else None


@rule("x + 0", op("Add", var("x"), var("y")))
def add_zero(context: Context, node: CNode, x: Node, y: Node) -> Node | None:
    if repeated_value(y) == 0 and _keeps(node, x):
        return x
    return y if repeated_value(x) == 0 and _keeps(node, y) else None


@rule(
    "x - 0, x / 1, x ** 1",
    op("Sub", var("x"), var("y")),
    op("Div", var("x"), var("y")),
    op("RealDiv", var("x"), var("y")),
    op("Pow", var("x"), var("y")),
)
def neutral_right(context: Context, node: CNode, x: Node, y: Node) -> Node | None:
    neutral = 0 if node.op.name == "Sub" else 1
    return x if repeated_value(y) == neutral and _keeps(node, x) else None


@rule("x * 1", op("Mul", var("x"), var("y")))
def mul_one(context: Context, node: CNode, x: Node, y: Node) -> Node | None:
    if repeated_value(y) == 1 and _keeps(node, x):
        return x
    return y if repeated_value(x) == 1 and _keeps(node, y) else None


@rule("0 * 0", op("Mul", var("x"), var("y")))
def mul_zeros(context: Context, node: CNode, x: Node, y: Node) -> Node | None:
    """Only zero times a known number: 0 * unknown could be NaN."""
    if repeated_value(x) == 0 and repeated_value(y) is not None and np.isfinite(repeated_value(y)):
        return context.make(
            arrays.Fill(), *(context.constant(v) for v in (node.abstract.dtype, node.abstract.shape, 0))
        )
    return None


@rule("-(-x)", op("Neg", op("Neg", var("x"))))
def double_negation(context: Context, node: CNode, x: Node) -> Node:
    return x


@rule("square as product", op("Pow", var("x"), var("y")))
def square(context: Context, node: CNode, x: Node, y: Node) -> Node | None:
    if repeated_value(y) == 2 and _keeps(node, x) and node.abstract.dtype.kind in "fc":
        return context.make(elementwise.Square(), x)
    return None


@rule("sum of zeros", op("ReduceSum", var("x"), any_), op("Transpose", var("x"), any_), op("Neg", var("x")))
def of_zeros(context: Context, node: CNode, x: Node) -> Node | None:
    if repeated_value(x) != 0 or isinstance(x, ValueNode):
        return None
    return context.make(arrays.Fill(), *(context.constant(v) for v in (node.abstract.dtype, node.abstract.shape, 0)))


# -- constants --------------------------------------------------------------------------------------------------------------
def fold_constant(context: Context, node: CNode) -> Node | None:
    """Compute a pure node whose arguments are all constants, unless the result is large."""
    if node.op.effect or node.op.writes or not node.args or isinstance(node.op, MakeTuple):
        return None
    if not all(isinstance(a, ValueNode) and not hasattr(a.value, "parameters") for a in node.args):
        return None
    if (
        isinstance(node.abstract, AbstractTuple)
        or not isinstance(node.abstract, AbstractTensor)
        or _nbytes(node.abstract) > FOLD_LIMIT
    ):
        return None
    if type(node.op).eval is Primitive.eval:
        return None
    with np.errstate(all="ignore"):
        return context.array(np.asarray(node.op.eval(np, *(a.value for a in node.args))))  # type: ignore[attr-defined]


SIMPLIFY: list[Rule] = [
    *drop_identity, *tuple_element, *drop_hook,
    *same_cast, *cast_chain,
    *same_shape, *as_reshape, *reshape_chain, *trivial_transpose, *transpose_chain, *matmul_transpose, *trivial_reduction,
    *add_zero, *neutral_right, *mul_one, *mul_zeros, *double_negation, *square, *of_zeros,
]  # fmt: skip
