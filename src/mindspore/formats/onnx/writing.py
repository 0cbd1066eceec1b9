"""ONNX messages made node by node: what importers of other formats write, and `load.build` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base.optional import require

OPSET = 21


class ModelWriter:
    """Collects the nodes and constants of a model. Values are known by their names."""

    def __init__(self, purpose: str, opset: int = OPSET):
        self.onnx = require("onnx", "onnx", purpose)
        self.opset = opset
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self._taken: set[str] = set()

    def reserve(self, name: str) -> str:
        """Keep a name for a value that is not made by `emit`."""
        self._taken.add(name)
        return name

    def fresh(self, label: str) -> str:
        """A name that no other value has."""
        number = len(self._taken)
        while f"{label}_{number}" in self._taken:
            number += 1
        return self.reserve(f"{label}_{number}")

    def emit(self, op: str, *inputs: str | np.ndarray | None, label: str = "", **attributes: Any) -> str:
        """The name of the result of one more node; arrays become constants."""
        return self.emit_many(op, 1, *inputs, label=label, **attributes)[0]

    def emit_many(
        self, op: str, count: int, *inputs: str | np.ndarray | None, label: str = "", **attributes: Any
    ) -> list[str]:
        outputs = [self.fresh(label or op.lower()) for _ in range(count)]
        self.node(op, [self.as_name(value) for value in inputs], outputs, **attributes)
        return outputs

    def node(self, op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        """A node whose results have these names."""
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), list(outputs), name=outputs[0], **given))

    def as_name(self, value: str | np.ndarray | None) -> str:
        if value is None:
            return ""
        return value if isinstance(value, str) else self.constant(value)

    def constant(self, array: Any, name: str | None = None) -> str:
        """The name of a constant; one that has a name is a weight and keeps it."""
        array = np.asarray(array)
        name = self.fresh("constant") if name is None else self.reserve(name)
        self.initializers[name] = self.onnx.numpy_helper.from_array(array if array.flags.c_contiguous else array.copy("C"), name)
        return name

    def info(self, name: str, dtype: np.dtype, shape: Sequence[int | str | None] | None) -> Any:
        """What an input or output is; sizes may be names, None is an unknown one."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def model(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The model message."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, list(inputs), list(outputs), list(self.initializers.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])


__all__ = ["ModelWriter"]
