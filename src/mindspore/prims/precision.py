"""Half-precision arithmetic: sums, products and exponentials of 8- and 16-bit floats are carried out in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is a float narrower than float32 (bfloat16 and float8 have kind 'V' or 'f')."""
    return dtype.itemsize < 4 and (dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")))


def widen(x: Array) -> Any:
    """float32 for narrow floats; everything else as it is."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def narrow(value: Any, like: Any) -> Any:
    """Back to the element type of `like`."""
    return value.astype(like.dtype) if value.dtype != like.dtype else value
