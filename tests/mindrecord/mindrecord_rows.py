"""The rows of the official files with all kinds of fields, and how to compare rows."""

from __future__ import annotations

import numpy as np

KINDS = {
    "file_name": {"type": "string"},
    "label": {"type": "int32"},
    "score": {"type": "float32"},
    "score64": {"type": "float64"},
    "id64": {"type": "int64"},
    "data": {"type": "bytes"},
    "mask": {"type": "int64", "shape": [-1]},
    "seg": {"type": "int32", "shape": [2, 3]},
    "emb": {"type": "float32", "shape": [4]},
}


def kinds_row(i: int) -> dict:
    """Row `i` of the official files with all kinds of fields."""
    return {
        "file_name": f"图{i}.jpg",
        "label": i - 2,
        "score": i * 0.5,
        "score64": i / 3,
        "id64": i * 2**40 - 2**39,
        "data": bytes([i % 256]) * (i * 7 + 1),
        "mask": np.arange(i + 1, dtype=np.int64) * 1000 - 3,
        "seg": np.full((2, 3), i * 70000 - 100, np.int32),
        "emb": np.arange(4, dtype=np.float32) * i,
    }


def same_row(found: dict, wanted: dict) -> bool:
    """Equal values of equal types."""
    return found.keys() == wanted.keys() and all(
        type(found[name]) is type(value)
        and np.array_equal(found[name], value)
        and getattr(found[name], "dtype", None) == getattr(value, "dtype", None)
        for name, value in wanted.items()
    )
