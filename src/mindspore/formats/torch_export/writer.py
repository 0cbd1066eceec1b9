"""What rules write with: ONNX nodes, with PyTorch's promotion of types and sizes that may be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.formats.onnx.writing import ModelWriter
from mindspore.formats.torch_export.registry import Value, numpy_type, type_name

Operand = Value | str | np.ndarray | None


class AtenWriter:
    """The writer for one call; `fake` stands for its result."""

    def __init__(self, writer: ModelWriter, fake: Any):
        self.writer, self.fake = writer, fake

    @property
    def dtype(self) -> str:
        """The element type of the (first) result."""
        fake = self.fake[0] if isinstance(self.fake, (list, tuple)) else self.fake
        return type_name(fake.dtype) if hasattr(fake, "dtype") else "int64"

    def op(self, name: str, *inputs: Operand, **attributes: Any) -> str:
        return self.writer.emit(name, *(_plain(i) for i in inputs), **attributes)

    def ops(self, name: str, count: int, *inputs: Operand, **attributes: Any) -> list[str]:
        return self.writer.emit_many(name, count, *(_plain(i) for i in inputs), **attributes)

    # -- numbers and types ----------------------------------------------------------------------------------------
    def number(self, value: Any, dtype: str) -> str:
        return self.writer.constant(np.array(value).astype(numpy_type(dtype)))

    def as_type(self, value: Any, dtype: str) -> str:
        """A tensor, a size or a number as a tensor of this type."""
        if isinstance(value, Value):
            return value.name if value.dtype == dtype else self.cast(value.name, dtype)
        return self.number(value, dtype)

    def cast(self, name: str, dtype: str) -> str:
        helper = self.writer.onnx.helper
        return self.op("Cast", name, to=helper.np_dtype_to_tensor_dtype(numpy_type(dtype)))

    def common(self, *values: Any) -> str:
        """The type that PyTorch computes with where these meet."""
        torch = require("torch", "torch", "Reading a PyTorch model")
        examples = [_example(v) for v in values]
        kind = torch.result_type(examples[0], examples[-1])
        for example in examples[1:-1]:
            kind = torch.promote_types(kind, torch.result_type(example, example))
        return type_name(kind)

    # -- sizes ----------------------------------------------------------------------------------------------------
    def sizes(self, values: Sequence[Any]) -> str | np.ndarray:
        """A list of sizes, some perhaps computed, as a tensor of one dimension."""
        if all(isinstance(v, int) for v in values):
            return np.array(values, np.int64)
        parts = [self.one(v) for v in values]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def one(self, value: Any) -> str:
        """A size as a tensor of one element."""
        if isinstance(value, Value):
            return self.op("Reshape", value, np.array([1], np.int64))
        return self.writer.constant(np.array([int(value)], np.int64))

    def shape(self, value: Value) -> str | np.ndarray:
        """The sizes of a tensor."""
        known = [value.size(axis) for axis in range(value.rank)]
        return self.op("Shape", value) if None in known else np.array(known, np.int64)


def _plain(value: Operand) -> str | np.ndarray | None:
    return value.name if isinstance(value, Value) else value


def _example(value: Any) -> Any:
    if not isinstance(value, Value):
        return value
    return {"int64": 1, "float32": 1.0, "bool": True}[value.dtype] if value.is_number else value.fake


__all__ = ["AtenWriter", "Operand"]
