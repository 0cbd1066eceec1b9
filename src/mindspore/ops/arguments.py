"""Helpers that the public functions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.dtype import DType
from mindspore.common.tensor import Tensor
from mindspore.prims import checks, values
from mindspore.prims.active import ACTIVE
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.elementwise import Cast
from mindspore.prims.measured import measure
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.symbolic import unknown_value
from mindspore.prims.values import SizeUnknownError, SymbolicScalarBase, TensorBase


def require_tensor(op: str, name: str, value: Any) -> Any:
    """`value`, which must be a tensor."""
    if not isinstance(value, TensorBase):
        raise wrong_call(op, name, value, "a Tensor")
    return value


def wrong_call(op: str, name: str, value: Any, allowed: str, shown: str = "") -> TypeError:
    """The error for an argument of the wrong type; `shown` is the name of the operation behind a function."""
    shown = shown or "".join(word[:1].upper() + word[1:] for word in op.split("_"))
    kind = {"str": "string", "NoneType": "None"}.get(type(value).__name__, type(value).__name__)
    return TypeError(
        f"For '{op}', '{name}' must be {allowed}, but got {checks.describe(value)}. "
        f'Failed calling {shown} with "{shown}()({name}={kind})".'
    )


def require_tensors(op: str, **given: Any) -> None:
    """Every argument must be a tensor."""
    for name, value in given.items():
        if not isinstance(value, (TensorBase, SymbolicScalarBase)):
            require_tensor(op, name, value)


def require_rank(op: str, name: str, value: Tensor, low: int, high: int | None = None) -> None:
    """A tensor with at least `low` dimensions (and at most `high`)."""
    require_tensor(op, name, value)
    if not low <= value.ndim <= (value.ndim if high is None else high):
        allowed = f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"
        raise ValueError(f"For '{op}', '{name}' must have {allowed} dimensions, but its shape is {value.shape}.")


def require_float(op: str, name: str, value: Tensor) -> None:
    """A tensor of a float type."""
    if require_tensor(op, name, value).dtype.kind != "f":
        raise TypeError(f"For '{op}', '{name}' must be of a float type, but got {value.dtype}.")


def require_operands(op: str, **given: Any) -> None:
    """Every argument must be a tensor or a number."""
    for name, value in given.items():
        if not isinstance(value, (TensorBase, SymbolicScalarBase)) and not values.is_number(value):
            raise wrong_call(op, name, value, "a Tensor or a number")


def refuse_given(op: str, **given: Any) -> None:
    """Arguments that other devices know and that would change the result: refused, not ignored. None, False, 0: not given."""
    for name, value in given.items():
        if isinstance(value, TensorBase) or value:
            raise ValueError(f"For '{op}', '{name}' is not supported here, but got {checks.describe(value)}: leave it out.")


def require_numbers(op: str, **given: Any) -> None:
    """Every setting must be a number (or a tensor that holds one)."""
    for name, value in given.items():
        if not (values.is_number(value) or isinstance(value, (TensorBase, SymbolicScalarBase))):
            raise TypeError(f"For '{op}', '{name}' must be a number, but got {checks.describe(value)}.")


def as_tensor(value: Any, dtype: DType | None = None) -> Any:
    """A tensor from a tensor or a number (symbolic or not), which takes `dtype` if given. Lists and arrays are for `Tensor`."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, SymbolicScalarBase):
        from mindspore.prims.arrays import ScalarToTensor

        return ScalarToTensor()(value, dtype)
    if not values.is_number(value):
        raise TypeError(f"an operation needs a Tensor or a number, but got {checks.describe(value)}.")
    return Tensor(value, dtype)


def from_values(value: Any, dtype: DType | None = None) -> Any:
    """As `as_tensor`, of arguments that are documented to take lists and arrays, too."""
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return value if isinstance(value, TensorBase) else Tensor(value, dtype)
    return as_tensor(value, dtype)


def is_variable(value: Any) -> bool:
    """Whether only the running graph will know the value."""
    builder = ACTIVE.builder
    return builder is not None and builder.is_variable(value)


def concrete(op: str, value: Any) -> np.ndarray:
    """The data of a tensor whose values decide the shape of the result."""
    require_tensor(op, "input", value)
    if is_variable(value):
        answer = values.answer(value)
        if answer is None:
            node = ACTIVE.builder.node_of(value)
            raise unknown_value(f"ops.{op}", values.from_node(node), SizeUnknownError)
        return answer
    return np.asarray(value._data)


def largest(op: str, value: Tensor, empty: int) -> int:
    """The largest element of a tensor of ints, which decides a size; `empty` for none."""
    require_tensor(op, "input", value)
    if not is_variable(value):
        return int(np.asarray(value._data).max(initial=empty))
    return int(ReduceMax()(value, ())) if value.size else empty


def measured(op: str, function: Callable[..., tuple], *inputs: Any) -> tuple:
    """The tensors that `function`, written for NumPy arrays, finds in the values of some tensors.

    How much it finds decides the shapes of the results: a graph with such an operation runs in stages around it.
    """
    for value in inputs:
        require_tensor(op, "input", value)
    return measure(op, function, *inputs)


def cast(x: Any, dtype: Any) -> Any:
    """Convert unless the type is right already (or None)."""
    if dtype is None:
        return x
    dtype = mstype.to_dtype(dtype)
    return x if values.dtype_of(x) is dtype else Cast()(x, dtype)


def at_least_single(x: Tensor) -> Any:
    """Floating point numbers of 16 bits as float32, where sums are taken."""
    return cast(x, mstype.float32) if x.dtype.np.itemsize < 4 else x


def to_float(x: Any) -> Any:
    """Integers and bools as float32; floats and complex numbers as they are."""
    return x if x.dtype.kind in "fc" else Cast()(x, mstype.float32)


def normal_axis(op: str, axis: Any, ndim: int, name: str = "axis") -> int:
    """One axis, counted from the front."""
    return checks.axis(op, values.static_number(axis), ndim, name)


def normal_axes(op: str, axis: Any, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Axes, counted from the front; None means all."""
    return checks.axes(op, values.static_value(axis), ndim, name)


def static_ints(op: str, name: str, value: Any) -> tuple[int, ...]:
    """An int, sequence of ints or concrete int tensor as a tuple."""
    if isinstance(value, TensorBase) and value._node is not None and value.ndim:
        answer = values.answer(value)
        if answer is None:
            raise unknown_value(f"'{name}' of '{op}'", value, SizeUnknownError)
        value = answer.tolist()
    return checks.shape(op, values.static_value(value), name)


def static_int(op: str, name: str, value: Any, low: int | None = None) -> int:
    """An int, or an int tensor of one element whose value is known or can be asked for."""
    if isinstance(value, TensorBase):
        checks.dtype_in(op, name, value.dtype, "iu")
        if value.size != 1:
            raise TypeError(f"For '{op}', '{name}' must hold one int, but got a Tensor of shape {value.shape}.")
        (value,) = static_ints(op, name, Reshape()(value, (1,)))
    return checks.integer(op, name, values.static_number(value), low)


def _named(function: Callable, name: str, doc: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mindspore.ops"  # where pickle finds it
    function.__doc__ = doc
    return function


def unary(prim: Any, name: str, doc: str) -> Callable:
    """The public function of a one-argument primitive."""
    apply = prim()

    def function(input: Tensor) -> Tensor:
        return apply(input)

    return _named(function, name, doc)


def unary_float(prim: Any, name: str, doc: str, argument: str = "input") -> Callable:
    """Like `unary`, for functions that turn integers into float32 first; `argument` is "input" or "x"."""
    apply = prim()

    def function(input: Any) -> Tensor:
        if type(input) is not Tensor:
            if not isinstance(input, (TensorBase, SymbolicScalarBase)):
                raise wrong_call(name, "input", input, "a Tensor", prim.__name__)
            input = as_tensor(input)
        return apply(to_float(input))

    def of_x(x: Tensor) -> Tensor:
        return function(x)

    return _named(of_x if argument == "x" else function, name, doc)


def binary(prim: Any, name: str, doc: str) -> Callable:
    """The public function of a two-argument primitive."""
    apply = prim()

    def function(input: Any, other: Any) -> Tensor:
        return apply(input, other)

    return _named(function, name, doc)


def binary_xy(prim: Any, name: str, doc: str) -> Callable:
    """Like `binary`, with the arguments called x and y."""
    apply = prim()

    def function(x: Tensor, y: Any) -> Tensor:
        return apply(x, y)

    return _named(function, name, doc)


def alias(function: Callable, name: str) -> Callable:
    """The same function under a second public name."""

    def other(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    other.__wrapped__ = function  # type: ignore[attr-defined]
    return _named(other, name, (function.__doc__ or "").replace(f"ops.{function.__name__}(", f"ops.{name}("))
