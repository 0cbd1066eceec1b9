"""Comparison, logic, selection and questions about tensors."""

from __future__ import annotations

import math
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    alias,
    as_tensor,
    binary,
    cast,
    concrete,
    require_numbers,
    require_operands,
    require_tensor,
    require_tensors,
    unary,
)
from mindspore.prims import elementwise as ew
from mindspore.prims import values
from mindspore.prims.requirements import Finite, demand
from mindspore.prims.setting_types import setting_types
from mindspore.prims.structural import Identity
from mindspore.prims.values import TensorBase

__all__ = [
    "allclose", "approximate_equal", "check_numerics", "eq", "equal", "ge", "greater", "greater_equal", "gt",
    "is_complex", "is_floating_point", "is_nonzero", "is_tensor", "isclose", "isconstant", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "lt", "masked_fill", "ne", "not_equal", "same_type_shape", "select", "where",
]  # fmt: skip


eq = binary(ew.Equal, "eq", """Where both are equal.

    Examples:
        >>> print(ops.eq(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
        [ True False  True]
    """)
ne = binary(ew.NotEqual, "ne", """Where both differ.

    Examples:
        >>> print(ops.ne(Tensor([1, 2, 3]), Tensor([1, 5, 3])))
        [False  True False]
    """)
gt = binary(ew.Greater, "gt", """Where input > other.

    Examples:
        >>> print(ops.gt(Tensor([1, 2, 3]), 2))
        [False False  True]
    """)
ge = binary(ew.GreaterEqual, "ge", """Where input >= other.

    Examples:
        >>> print(ops.ge(Tensor([1, 2, 3]), 2))
        [False  True  True]
    """)
lt = binary(ew.Less, "lt", """Where input < other.

    Examples:
        >>> print(ops.lt(Tensor([1, 2, 3]), 2))
        [ True False False]
    """)
le = binary(ew.LessEqual, "le", """Where input <= other.

    Examples:
        >>> print(ops.le(Tensor([1, 2, 3]), 2))
        [ True  True False]
    """)
equal, not_equal, greater = alias(eq, "equal"), alias(ne, "not_equal"), alias(gt, "greater")
greater_equal, less, less_equal = alias(ge, "greater_equal"), alias(lt, "less"), alias(le, "less_equal")
logical_and = binary(ew.LogicalAnd, "logical_and", """Where both hold.

    Examples:
        >>> ops.logical_and(Tensor([True, True]), Tensor([True, False])).tolist()
        [True, False]
    """)
logical_or = binary(ew.LogicalOr, "logical_or", """Where either holds.

    Examples:
        >>> print(ops.logical_or(Tensor([True, False, False]), Tensor([True, True, False])))
        [ True  True False]
    """)
logical_xor = binary(ew.LogicalXor, "logical_xor", """Where exactly one holds.

    Examples:
        >>> print(ops.logical_xor(Tensor([True, False, False]), Tensor([True, True, False])))
        [False  True False]
    """)
logical_not = unary(ew.LogicalNot, "logical_not", """Where it does not hold.

    Examples:
        >>> print(ops.logical_not(Tensor([True, False])))
        [False  True]
    """)
isnan = unary(ew.IsNan, "isnan", """Where an element is NaN.

    Examples:
        >>> print(ops.isnan(Tensor([1.0, float("inf"), float("nan")])))
        [False False  True]
    """)
isinf = unary(ew.IsInf, "isinf", """Where an element is infinite.

    Examples:
        >>> print(ops.isinf(Tensor([1.0, float("-inf"), float("nan")])))
        [False  True False]
    """)
isfinite = unary(ew.IsFinite, "isfinite", """Where an element is neither NaN nor infinite.

    Examples:
        >>> print(ops.isfinite(Tensor([1.0, float("inf"), float("nan")])))
        [ True False False]
    """)


def isposinf(input: Tensor) -> Tensor:
    """Where an element is plus infinity.

    Examples:
        >>> print(ops.isposinf(Tensor([float("-inf"), float("inf")])))
        [False  True]
    """
    require_tensors("isposinf", input=input)
    return ew.Equal()(input, math.inf) if input.dtype.kind == "f" else ew.IsInf()(input)


def isneginf(input: Tensor) -> Tensor:
    """Where an element is minus infinity.

    Examples:
        >>> print(ops.isneginf(Tensor([float("-inf"), float("inf")])))
        [ True False]
    """
    require_tensors("isneginf", input=input)
    return ew.Equal()(input, -math.inf) if input.dtype.kind == "f" else ew.IsInf()(input)


def isreal(input: Tensor) -> Tensor:
    """Where the imaginary part is 0.

    Examples:
        >>> print(ops.isreal(Tensor([1 + 0j, 1 + 2j])))
        [ True False]
    """
    require_tensors("isreal", input=input)
    if input.dtype.kind != "c":
        return cast(ew.ones_like(input), mstype.bool_)
    return ew.Equal()(ew.Imag()(input), 0)


@setting_types(equal_nan=bool)
def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where |input - other| <= atol + rtol * |other|. Infinities are close to themselves alone.

    Examples:
        >>> print(ops.isclose(Tensor([1.0, 2.0]), Tensor([1.0 + 1e-7, 2.1])))
        [ True False]
    """
    require_numbers("isclose", rtol=rtol, atol=atol)
    require_tensors("isclose", input=input, other=other)
    x, y = as_tensor(input), as_tensor(other)
    if x.dtype.kind not in "fc":
        x, y = cast(x, mstype.float32), cast(y, mstype.float32)
    near = ew.LessEqual()(ew.Abs()(x - y), atol + rtol * ew.Abs()(y))
    finite = ew.LogicalAnd()(ew.IsFinite()(x), ew.IsFinite()(y))
    close = ew.LogicalOr()(ew.LogicalAnd()(near, finite), ew.Equal()(x, y))
    if equal_nan:
        close = ew.LogicalOr()(close, ew.LogicalAnd()(ew.IsNan()(x), ew.IsNan()(y)))
    return close


def allclose(input: Tensor, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close (see `isclose`).

    Examples:
        >>> bool(ops.allclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.0 + 1e-7])))
        True
    """
    require_numbers("allclose", rtol=rtol, atol=atol)
    require_operands("allclose", input=input, other=other)
    from mindspore.prims.reduction import ReduceAll

    close = ReduceAll()(isclose(input, other, rtol, atol, equal_nan), ())
    return close if values.is_symbolic(close) else bool(close)


@setting_types(tolerance=float)
def approximate_equal(x: Tensor, y: Any, tolerance: float = 1e-05) -> Tensor:
    """Where |x - y| < tolerance.

    Examples:
        >>> print(ops.approximate_equal(Tensor([1.0, 2.0]), Tensor([1.05, 2.5]), tolerance=0.1))
        [ True False]
    """
    require_numbers("approximate_equal", tolerance=tolerance)
    require_operands("approximate_equal", x=x, y=y)
    return ew.Less()(ew.Abs()(x - y), tolerance)


def where(condition: Any, input: Any = None, other: Any = None) -> Tensor:
    """`input` where the condition holds, else `other`, with broadcasting.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.where(Tensor([True, False]), Tensor([1.0, 2.0]), 0.0).tolist()
        [1.0, 0.0]
    """
    require_operands("where", condition=condition)
    if input is None and other is None:
        from mindspore.ops.sorting import nonzero

        return nonzero(condition, as_tuple=True)
    condition = as_tensor(condition)
    if condition.dtype is not mstype.bool_:
        condition = ew.NotEqual()(condition, 0)
    return ew.Select()(condition, input, other)


def select(condition: Any, input: Tensor, other: Any) -> Tensor:
    """`input` where the condition holds, else `other`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.select(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4])).tolist()
        [1, 4]
    """
    require_operands("select", condition=condition)
    return where(condition, input, other)


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` where the mask holds, else the input.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).masked_fill(Tensor([True, False]), 0.0).tolist()
        [0.0, 2.0]
    """
    require_tensor("masked_fill", "input_x", input_x)
    mask = require_tensor("masked_fill", "mask", mask)
    if mask.dtype is not mstype.bool_:
        raise TypeError(f"For 'masked_fill', 'mask' must be of bool type, but got {mask.dtype}.")
    if not isinstance(value, TensorBase):
        value = as_tensor(value, input_x.dtype)
    return ew.Select()(mask, cast(value, input_x.dtype), input_x)


# -- questions ------------------------------------------------------------------------------------------------------
def is_tensor(obj: object) -> bool:
    """Whether it is a Tensor.

    Examples:
        >>> ops.is_tensor(Tensor([1.0])), ops.is_tensor([1.0])
        (True, False)
    """
    return isinstance(obj, Tensor)


def is_complex(input: Tensor) -> bool:
    """Whether the element type is complex.

    Examples:
        >>> ops.is_complex(Tensor([1j]))
        True
    """
    return require_tensor("is_complex", "input", input).dtype.kind == "c"


def is_floating_point(input: Tensor) -> bool:
    """Whether the element type is a float.

    Examples:
        >>> ops.is_floating_point(Tensor([1, 2]))
        False
    """
    return require_tensor("is_floating_point", "input", input).dtype.kind == "f"


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of a tensor is not 0.

    Examples:
        >>> bool(ops.is_nonzero(Tensor([3])))
        True
    """
    if require_tensor("is_nonzero", "input", input).size != 1:
        raise ValueError(f"For 'is_nonzero', the tensor must have one element, but its shape is {input.shape}.")
    return bool(concrete("is_nonzero", input).reshape(()))


def isconstant(x: Any) -> bool:
    """Whether the value is known when the graph is compiled.

    Examples:
        >>> ops.isconstant(3)
        True
    """
    return not values.is_symbolic(x)


def same_type_shape(x: Tensor, y: Tensor) -> Any:
    """x, after checking that both have one type and shape.

    Examples:
        >>> print(ops.same_type_shape(Tensor([1.0, 2.0]), Tensor([5.0, 6.0])))
        [1. 2.]
    """
    require_tensors("same_type_shape", x=x, y=y)
    if x.dtype is not y.dtype:
        raise TypeError(f"For 'same_type_shape', the types must be equal, but got {x.dtype} and {y.dtype}.")
    if x.shape != y.shape:
        raise ValueError(f"For 'same_type_shape', the shapes must be equal, but got {x.shape} and {y.shape}.")
    return x


def check_numerics(x: Tensor) -> Any:
    """x; a tensor that holds NaN or infinity is refused.

    Examples:
        >>> print(ops.check_numerics(Tensor([1.0, 2.0])))
        [1. 2.]
    """
    demand(x, Finite(), lambda _: RuntimeError("For 'CheckNumerics', the tensor holds NaN or infinity."))
    return Identity()(x)
