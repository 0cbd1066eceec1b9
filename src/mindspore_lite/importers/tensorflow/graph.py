"""From TensorFlow's graphs to ONNX messages.

Nodes are followed back from the outputs and written in the order of their needs; calls of functions are followed into their bodies.
Images stay in the form that convolutions want (channels in front) until something asks for TensorFlow's own (`Held`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore._base.protobuf import DecodeError
from mindspore.formats.onnx.writing import ModelWriter
from mindspore_lite.importers.tensorflow.messages import (
    AttrValue,
    FunctionDef,
    NodeDef,
    numpy_type,
)
from mindspore_lite.source import UnsupportedError

TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
_PURPOSE = "Reading a TensorFlow model"
_MAX_DEPTH = 50


@dataclass
class Held:
    """A value in the forms it is known in: TensorFlow's own, with channels in front, as a constant, or a variable (its node's name)."""

    plain: str | None = None
    image: str | None = None
    array: np.ndarray | None = None
    variable: str | None = None


Rule = Callable[["Use"], "Held | list[Held]"]
#: which results of operations with several named ones come first
_RESULTS = {"TopKV2": ("values", "indices"), "FusedBatchNormV3": ("y",), "FusedBatchNormV2": ("y",), "FusedBatchNorm": ("y",)}
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
OWN = ("VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "Placeholder")  # what needs no rule


class Use:
    """One node, with what its rule needs."""

    def __init__(self, importer: Importer, node: NodeDef, inputs: list[Held]):
        self.me, self.node, self.inputs = importer, node, inputs
        self.attributes: dict[str, AttrValue] = {entry.key: entry.value for entry in node.attr if entry.key and entry.value is not None}

    # -- attributes -----------------------------------------------------------------------------------------------
    def number(self, name: str, default: int = 0) -> int:
        found = self.attributes.get(name)
        return default if found is None else int(found.i or 0)

    def real(self, name: str, default: float) -> float:
        found = self.attributes.get(name)
        return default if found is None or found.f is None else float(found.f)

    def flag(self, name: str, default: bool = False) -> bool:
        found = self.attributes.get(name)
        return default if found is None else bool(found.b)

    def text(self, name: str, default: str = "") -> str:
        found = self.attributes.get(name)
        return default if found is None or found.s is None else bytes(found.s).decode("utf-8", "replace")

    def numbers(self, name: str) -> list[int]:
        found = self.attributes.get(name)
        return [int(v) for v in found.list.i] if found is not None and found.list is not None else []

    def dtype(self, name: str) -> np.dtype:
        found = self.attributes.get(name)
        kind = numpy_type(found.type if found is not None else 0)
        if kind is None:
            raise UnsupportedError(f"'{self.node.name}' has elements of a type that is not supported")
        return kind

    # -- inputs ---------------------------------------------------------------------------------------------------
    def array(self, place: int) -> np.ndarray:
        found = self.inputs[place].array if place < len(self.inputs) else None
        if found is None:
            raise UnsupportedError(f"input {place} of '{self.node.name}' ({self.node.op}) must be a constant")
        return found

    def plain(self, place: int) -> str:
        return self.me.plain(self.inputs[place])

    def image(self, place: int) -> str:
        return self.me.image(self.inputs[place])

    def emit(self, op: str, *inputs: str | np.ndarray | None, **attributes: Any) -> str:
        return self.me.writer.emit(op, *inputs, **attributes)


class Importer:
    """Writes the nodes that the outputs need."""

    def __init__(self, rules: Mapping[str, Rule], functions: Mapping[str, FunctionDef], variables: Mapping[str, np.ndarray]):
        self.rules = rules
        self.writer = ModelWriter(_PURPOSE)
        self.functions, self.variables = functions, variables
        self.weights: dict[str, Held] = {}

    # -- forms ----------------------------------------------------------------------------------------------------
    def plain(self, held: Held) -> str:
        if held.plain is None:
            if held.array is not None:
                held.plain = self.writer.constant(held.array)
            elif held.image is not None:
                held.plain = self.writer.emit("Transpose", held.image, perm=TO_NHWC)
            else:
                raise UnsupportedError(f"the variable '{held.variable}' is used as a value")
        return held.plain

    def image(self, held: Held) -> str:
        if held.image is None:
            held.image = self.writer.emit("Transpose", self.plain(held), perm=TO_NCHW)
        return held.image

    # -- graphs ---------------------------------------------------------------------------------------------------
    def follow(self, nodes: Mapping[str, NodeDef], wanted: Iterable[str], known: dict[str, list[Held]], depth: int = 0) -> list[Held]:
        """The values of references (`name`, `name:1`, `name:output:1`), given those of some nodes."""
        if depth > _MAX_DEPTH:
            raise UnsupportedError(f"its functions call each other more than {_MAX_DEPTH} deep")
        wanted = list(wanted)
        for name in order_of(nodes, [node_of(w) for w in wanted], known):
            node = nodes[name]
            inputs = [_pick(known, nodes, i) for i in node.input if not i.startswith("^")]
            known[name] = self._results(node, inputs, depth)
        return [_pick(known, nodes, w) for w in wanted]

    def _results(self, node: NodeDef, inputs: list[Held], depth: int) -> list[Held]:
        use = Use(self, node, inputs)
        if node.op in CALLS:
            return self._call(use, depth)
        if node.op in ("VarHandleOp", "VariableV2", "Variable"):
            return [Held(variable=node.name)] if node.op == "VarHandleOp" else [self._weight(node.name)]
        if node.op == "ReadVariableOp":
            return [self._weight(inputs[0].variable or "?")]
        try:
            found = self.rules[node.op](use)
        except (IndexError, KeyError):  # rules take the inputs that an operation has by definition
            raise ValueError(f"the node '{node.name}' ({node.op}) lacks an input or an attribute that it must have") from None
        return found if isinstance(found, list) else [found]

    def _weight(self, name: str) -> Held:
        if name not in self.variables:
            raise UnsupportedError(f"the variable '{name}' has no value in the file; freeze the graph, or save a SavedModel")
        if name not in self.weights:
            array = self.variables[name]
            self.weights[name] = Held(plain=self.writer.constant(array, name), array=array)
        return self.weights[name]

    def _call(self, use: Use, depth: int) -> list[Held]:
        function = self.function(use.node)
        arguments = [a.name for a in function.signature.input_arg]
        known = {name: [held] for name, held in zip(arguments, use.inputs)}
        returned = {entry.key: entry.value for entry in function.ret}
        wanted = [returned[a.name] for a in function.signature.output_arg]
        return self.follow({n.name: n for n in function.node}, wanted, known, depth + 1)

    def function(self, node: NodeDef) -> FunctionDef:
        named = next((e.value.func for e in node.attr if e.key == "f" and e.value is not None), None)
        found = self.functions.get(named.name if named is not None else "")
        if found is None or found.signature is None:
            raise DecodeError(f"'{node.name}' calls a function that is not there")
        return found


def node_of(reference: str) -> str:
    return reference.lstrip("^").split(":")[0]


def _pick(known: Mapping[str, list[Held]], nodes: Mapping[str, NodeDef], reference: str) -> Held:
    name, *rest = reference.split(":")
    number = int(rest[-1]) if rest and rest[-1].isdigit() else 0
    if len(rest) == 2 and name in nodes:
        names = _RESULTS.get(nodes[name].op or "", ())
        number += names.index(rest[0]) if rest[0] in names else 0
    found = known.get(name, [])
    if number >= len(found):
        raise UnsupportedError(f"result {number} of '{name}' is used, which is not supported")
    return found[number]


def order_of(nodes: Mapping[str, NodeDef], wanted: list[str], known: Mapping[str, Any]) -> list[str]:
    """The nodes that `wanted` need and that are not known, each after its inputs."""
    order: list[str] = []
    state = dict.fromkeys(known, 2)  # 1: being looked at, 2: done
    stack = list(reversed(wanted))
    while stack:
        name = stack[-1]
        if state.get(name) == 2:
            stack.pop()
            continue
        if name not in nodes:
            raise DecodeError(f"a node uses '{name}', which is not there")
        if state.get(name) == 1:
            state[name] = 2
            order.append(stack.pop())
            continue
        state[name] = 1
        needs = [node_of(i) for i in nodes[name].input if not i.startswith("^")]
        if any(state.get(need) == 1 for need in needs):
            raise UnsupportedError(f"'{name}' is part of a loop (tf.while_loop of TensorFlow 1), which is not supported")
        stack += [need for need in reversed(needs) if need not in state]
    return order
