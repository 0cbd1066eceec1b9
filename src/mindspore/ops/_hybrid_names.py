"""Names that hybrid kernels know without importing them, as Python runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def output_tensor(shape: Any, dtype: Any) -> np.ndarray:
    """A new array of zeros."""
    return np.zeros(shape if isinstance(shape, int) else tuple(shape), dtype)


def grid(shape: Any) -> Iterator[tuple[int, ...]]:
    """All indices of a shape."""
    return np.ndindex(*shape)


INTRINSICS: dict[str, Any] = {
    "output_tensor": output_tensor, "allocate": output_tensor, "grid": grid, "serial": range, "parallel": range,
    "vectorize": range, "reduce": range, "unroll": range, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
    "tanh": np.tanh, "power": np.power,
}  # fmt: skip
