"""Half-precision arithmetic: sums, products and exponentials of 8- and 16-bit floats are carried out in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is a float narrower than float32 (bfloat16 and float8 have kind 'V' or 'f')."""
    return dtype.itemsize < 4 and (dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")))


def widen(x: Array) -> Any:
    """float32 for narrow floats; everything else as it is."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def product(xp: Any, a: Array, b: Array) -> Any:
    """A matrix product. Those of float32 keep all of its bits, of which a GPU leaves out 13 unless told on XLA.

    (`matmul_allow_tf32` of `device_context.gpu.op_precision` is the user's word on it, and then counts.)
    """
    if not (hasattr(a, "aval") and a.dtype == np.float32 and b.dtype == np.float32):
        return xp.matmul(a, b)
    jax = require("jax", "xla", "products on XLA")
    return xp.matmul(a, b, precision=None if jax.config.jax_default_matmul_precision else "highest")


def narrow(value: Any, like: Any) -> Any:
    """Back to the element type of `like`."""
    return value.astype(like.dtype) if value.dtype != like.dtype else value
