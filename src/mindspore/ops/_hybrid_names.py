"""Names that hybrid kernels know without importing them, as Python runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype


def output_tensor(shape: Any, dtype: Any) -> np.ndarray:
    """A new array of zeros."""
    if isinstance(dtype, mstype.Type):
        raise TypeError(
            f"A kernel that is called by itself takes NumPy's arrays, and its array was to be of {dtype}. "
            "For tensors make it an operation: ops.Custom(kernel)(tensor)."
        )
    return np.zeros(shape if isinstance(shape, int) else tuple(shape), dtype)


def grid(shape: Any) -> Iterator[tuple[int, ...]]:
    """All indices of a shape."""
    return np.ndindex(*shape)


@contextlib.contextmanager
def block_realize(_: np.ndarray) -> Iterator[None]:
    """What is written to an array here belongs together: a hint for schedules, which are searched by measurement here."""
    yield


INTRINSICS: dict[str, Any] = {
    "output_tensor": output_tensor, "allocate": output_tensor, "grid": grid, "serial": range, "parallel": range,
    "vectorize": range, "reduce": range, "unroll": range, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
    "tanh": np.tanh, "power": np.power, "block_realize": block_realize, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "sin": np.sin, "cos": np.cos, "atan": np.arctan, "expm1": np.expm1,
    "float16": np.float16, "float32": np.float32, "float64": np.float64, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64,
}  # fmt: skip
