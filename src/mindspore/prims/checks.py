"""Argument checks shared by inference rules. The same words reach the user in graph and PyNative mode."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mindspore._base.dtype import DType
from mindspore.ir import AbstractScalar, AbstractTensor
from mindspore.prims.values import SizeUnknownError, TensorBase, is_symbolic

TENSOR_LIKE = (AbstractTensor, AbstractScalar)


class OutOfRangeError(IndexError, RuntimeError, ValueError):
    """An index beyond the data. Programs expect any of the three: Python's own error, or one of those that kernels report."""


class UnfitError(ValueError, RuntimeError):
    """An argument of the right type that the operation cannot work with: checks report one, kernels the other."""


def ambiguous_truth(shape: tuple[int, ...]) -> str:
    """Why a tensor of several elements is no condition."""
    return (
        f"The truth value of a tensor of shape {shape} is ambiguous: one element can be converted to bool, but this has "
        f"{prod(shape)}. Use .any() or .all() to reduce it first."
    )


def tensor(op: str, name: str, value: Any) -> AbstractTensor:
    if not isinstance(value, TENSOR_LIKE):
        raise TypeError(f"For '{op}', '{name}' must be a Tensor, but got {describe(value)}.")
    return value  # type: ignore[return-value]


def is_real(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy; truth values are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def describe(value: Any) -> str:
    if isinstance(value, TENSOR_LIKE):
        return f"a Tensor of {value.dtype} with shape {value.shape}"
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of {value.dtype} with shape {value.shape} (make it a Tensor first)"
    text = repr(value)
    return f"{text if len(text) <= 200 else text[:200] + ' …'} of type {type(value).__name__}"


def _not_an_int(op: str, name: str, value: Any) -> TypeError:
    require_known(op, name, value)
    return TypeError(f"For '{op}', '{name}' must be an int, but got {describe(value)}.")


def require_known(op: str, name: str, value: object) -> None:
    """A tensor in the place of a number is one whose value only the running graph knows."""
    if isinstance(value, TENSOR_LIKE) or is_symbolic(value):
        raise SizeUnknownError(
            f"For '{op}', '{name}' decides the shape of the result, but is only known when the compiled graph runs: got "
            f"{describe(value)}. Give it as a number or run in PYNATIVE_MODE."
        )


def dtype_in(op: str, name: str, dtype: DType, kinds: str) -> None:
    """`kinds` is a string of DType.kind letters."""
    if dtype.kind not in kinds:
        words = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
        allowed = ", ".join(words[k] for k in kinds)
        raise TypeError(f"For '{op}', the dtype of '{name}' must be one of ({allowed}), but got {dtype}.")


def broadcast(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape under NumPy broadcasting."""
    out = shapes[0]
    for shape in shapes[1:]:
        if out == shape:
            continue
        rank = max(len(out), len(shape))
        a, b = (1,) * (rank - len(out)) + out, (1,) * (rank - len(shape)) + shape
        merged = []
        for x, y in zip(a, b):
            if x != y and x != 1 and y != 1:
                raise ValueError(
                    f"For '{op}', the shapes of the inputs must broadcast together, but got "
                    f"{' and '.join(str(s) for s in shapes)}: {x} and {y} differ and neither is 1."
                )
            merged.append(y if x == 1 else x)
        out = tuple(merged)
    return out


def same_shape(op: str, name: str, shape: tuple[int, ...], other: str, expected: tuple[int, ...]) -> None:
    """Two arguments that are not stretched to fit one another."""
    if tuple(shape) != tuple(expected):
        raise ValueError(f"For '{op}', '{name}' must have the shape of '{other}', but got {tuple(shape)} and {tuple(expected)}.")


def _int_of(op: str, name: str, value: Any) -> int:
    """An int, or what stands for one: a number of NumPy, a tensor of one integer (which says itself if it is no such)."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _not_an_int(op, name, value)
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind not in "iu"):
        raise _not_an_int(op, name, value)
    return value.__index__()


def axis(op: str, value: Any, ndim: int, name: str = "axis") -> int:
    """One axis, made non-negative."""
    value = _int_of(op, name, value)
    rank = max(ndim, 1)
    if not -rank <= value < rank:
        raise ValueError(f"For '{op}', '{name}' must be in range [{-rank}, {rank}), but got {value}.")
    return value % rank


def axes(op: str, value: Any, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Axes of a reduction: None and () mean all of them."""
    if value is None:
        return tuple(range(ndim))
    if isinstance(value, (tuple, list)):
        if not value:
            return tuple(range(ndim))
        out = tuple(axis(op, v, ndim, name) for v in value)
        if len(set(out)) != len(out):
            raise UnfitError(f"For '{op}', '{name}' must not repeat an axis, but got {tuple(value)}.")
        return out if ndim else ()
    return (axis(op, value, ndim, name),) if ndim else (axis(op, value, ndim, name),)[:0]


def shape(op: str, value: Any, name: str = "shape") -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints."""
    if isinstance(value, (TensorBase, *TENSOR_LIKE)) and value.shape:
        require_known(op, name, value)
    if hasattr(value, "__index__") and not isinstance(value, bool):
        value = (value,)
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"For '{op}', '{name}' must be an int or a tuple of ints, but got {describe(value)}.")
    return tuple(_int_of(op, name, v) for v in value)


def one_of(op: str, name: str, value: Any, allowed: tuple) -> Any:
    """A setting that must be one of a few values."""
    if isinstance(value, (TensorBase, np.ndarray)):
        raise TypeError(f"For '{op}', '{name}' must be one of {allowed}, but got {describe(value)}.")
    if value not in allowed:
        raise ValueError(f"For '{op}', '{name}' must be one of {allowed}, but got {value!r}.")
    return value


def integer(op: str, name: str, value: Any, low: int | None = None) -> int:
    """An int setting, perhaps with a lower bound."""
    value = _int_of(op, name, value)
    if low is not None and value < low:
        raise ValueError(f"For '{op}', '{name}' must be at least {low}, but got {value}.")
    return value


def boolean(op: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{op}', '{name}' must be a bool, but got {describe(value)}.")
    return value


def is_meta(op: str, device: Any) -> bool:
    """Check the name of a device; whether it is the one on which tensors have no values."""
    name = device.partition(":")[0].lower() if isinstance(device, str) else device
    if name not in (None, "cpu", "gpu", "ascend", "npu", "cuda", "meta"):
        raise ValueError(f"For '{op}', 'device' must be one of 'CPU', 'GPU', 'Ascend' and 'meta', but got {device!r}.")
    return name == "meta"
