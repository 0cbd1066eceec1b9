"""`bfloat16` as a NumPy type. It comes with the small `ml_dtypes` package."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as _dtype


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return _dtype.bfloat16.np.type
    raise AttributeError(f"module 'mindspore.common.np_dtype' has no attribute '{name}'")
