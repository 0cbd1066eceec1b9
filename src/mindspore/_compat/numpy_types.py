"""`bfloat16` as a NumPy type, for `mindspore.common.np_dtype`. It comes with the small `ml_dtypes` package."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype

__all__ = ["bfloat16"]  # noqa: F822 - made when asked for


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return dtype.bfloat16.np.type
    raise AttributeError(f"module 'mindspore.common.np_dtype' has no attribute {name!r}")
