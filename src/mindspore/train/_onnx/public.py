"""`load_onnx`, importing its machinery on first use."""

from __future__ import annotations

from typing import Any


def load_onnx(file_name: str) -> Any:
    """Read an ONNX file into a trainable Cell (see `mindspore.train._onnx.load`)."""
    from mindspore.train._onnx.load import load_onnx as load

    return load(file_name)
