"""What the functions of `mindspore.numpy` share: conversion of array-likes and the extra `dtype` argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as onp

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, to_float
from mindspore.prims import values
from mindspore.prims.values import SymbolicScalarBase, TensorBase

#: what becomes a tensor where one is needed
ArrayLike: TypeAlias = Tensor | onp.ndarray | Sequence[Any] | complex
#: what names an element type
DTypeLike: TypeAlias = mstype.DType | type | str | None

_DEFAULTS = {mstype.int64: mstype.int32, mstype.float64: mstype.float32}


def tensor(a: Any, dtype: DTypeLike = None) -> Tensor:
    """A tensor from anything array-like; Python ints become int32, floats float32."""
    if a is None:
        raise TypeError("an array, a number, a list or a tuple is needed, but got None.")
    if isinstance(a, TensorBase):
        return cast(a, dtype)
    if isinstance(a, SymbolicScalarBase):
        return cast(Tensor(a), dtype)
    if dtype is None and not isinstance(a, (onp.ndarray, onp.generic)):
        made = Tensor(a)
        return cast(made, _DEFAULTS.get(made.dtype)) if not _holds_tensor(a) else made
    return Tensor(a, None if dtype is None else mstype.to_dtype(dtype))


def _holds_tensor(a: Any) -> bool:
    if isinstance(a, (list, tuple)):
        return any(_holds_tensor(v) for v in a)
    return isinstance(a, TensorBase)


def operand(a: Any) -> Any:
    """Numbers stay numbers, so that they bend to the tensors beside them; the rest become tensors."""
    return a if values.is_number(a) or isinstance(a, SymbolicScalarBase) else tensor(a)


def _named(function: Callable, name: str, doc: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = "mindspore.numpy"
    return function


def unary(name: str, apply: Callable, doc: str, floats: bool = False, argument: str = "x") -> Callable:
    """A NumPy function of one array with an optional result type; `floats` turns integers into float32 first.

    The array's name is "x", or "a" or "input" where `argument` says so.
    """

    def function(x: Any, dtype: Any = None) -> Tensor:
        x = tensor(x)
        return cast(apply(to_float(x) if floats else x), dtype)

    def of_a(a: Any, dtype: Any = None) -> Tensor:
        return function(a, dtype)

    def of_input(input: Any, dtype: Any = None) -> Tensor:
        return function(input, dtype)

    return _named({"x": function, "a": of_a, "input": of_input}[argument], name, doc)


def binary(name: str, apply: Callable, doc: str) -> Callable:
    """A NumPy function of two arrays with an optional result type."""

    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        x1, x2 = operand(x1), operand(x2)
        if not isinstance(x1, TensorBase) and not isinstance(x2, TensorBase):
            x1 = tensor(x1)
        return cast(apply(x1, x2), dtype)

    return _named(function, name, doc)


def sequence(arrays: Any) -> list[Tensor]:
    """Several arrays: a list, a tuple, or the slices of one array."""
    if isinstance(arrays, TensorBase):
        return list(arrays)
    return [tensor(a) for a in arrays]
