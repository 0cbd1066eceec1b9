"""A graph as rows of JSON, and back.

    graph = {"name", "inputs": [[name, type]], "weights": [[name, array]], "ops": [[module, class, state]], "nodes": [[op, args]],
             "output": arg, "attrs": {…}}
    type  = [element type, shape]
    arg   = ["p", n] parameter | ["n", n] node | ["v", value] constant | ["a", array, element type] | ["g", n] graph

A value is what JSON has, or an object with one key: {"t": tuple}, {"l": list}, {"m": dict as pairs}, {"d": element type}, {"s": slice},
{"e": 0} (an ellipsis), {"c": complex}, {"a": array}, {"r": [module, class, fields]} (a record of `mindspore.prims`).

Reading runs nothing that the file brings along: classes are looked up by name in `mindspore.prims` and must be primitives or
records, and every node's type is inferred again, as it was when the graph was built.
"""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np

from mindspore._base.dtype import DType, type_of_name
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.ir.graph import Parameter
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase
from mindspore_lite.arrays import ArrayReader, ArrayWriter
from mindspore_lite.container import BadModelError

_HOME = "mindspore.prims."


class CannotStoreError(Exception):
    """The graph holds something that rows have no form for."""


# -- writing ------------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, arrays: ArrayWriter):
        self.arrays = arrays
        self.graphs: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}

    def graph(self, graph: FuncGraph) -> int:
        if graph.id not in self._numbers:
            self._numbers[graph.id] = len(self.graphs)
            self.graphs.append({})
            self.graphs[self._numbers[graph.id]] = self._rows(graph)
        return self._numbers[graph.id]

    def _rows(self, graph: FuncGraph) -> dict[str, Any]:
        places: dict[int, list[Any]] = {p.id: ["p", n] for n, p in enumerate(graph.parameters)}
        ops: dict[str, int] = {}
        rows: list[list[Any]] = []
        nodes: list[list[Any]] = []
        for number, node in enumerate(graph.nodes()):
            row = self._op(node.op)
            text = repr(row)
            if text not in ops:
                ops[text] = len(rows)
                rows.append(row)
            nodes.append([ops[text], [self._argument(a, places) for a in node.args]])
            places[node.id] = ["n", number]
        return {
            "name": graph.name,
            "inputs": [[p.name, _type(p.abstract)] for p in graph.parameters],
            "ops": rows,
            "nodes": nodes,
            "output": self._argument(graph.output, places),
            "attrs": self.value(dict(graph.attrs)),
        }

    def _op(self, op: Primitive) -> list[Any]:
        kind = type(op)
        if not kind.__module__.startswith(_HOME):
            raise CannotStoreError(f"operation {op.name}")
        state = {k: v for k, v in vars(op).items() if k != "_cached_key"}
        return [kind.__module__.removeprefix(_HOME), kind.__qualname__, self.value(state)]

    def _argument(self, node: Node, places: dict[int, list[Any]]) -> list[Any]:
        if node.id in places:
            return places[node.id]
        if not isinstance(node, ValueNode):
            raise CannotStoreError("a value of another graph")
        value = node.value
        if isinstance(value, FuncGraph):
            return ["g", self.graph(value)]
        if isinstance(value, (np.ndarray, TensorBase)) and isinstance(node.abstract, AbstractTensor):
            array = np.asarray(value if isinstance(value, np.ndarray) else value._data)
            return ["a", self.arrays.add(array, weight=array.size >= 1024), node.abstract.dtype.name]
        return ["v", self.value(value)]

    def value(self, value: Any) -> Any:
        if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic)):
            return value
        kind = type(value)
        if kind.__module__.startswith(_HOME) and (fields := _fields(kind)) is not None:
            held = [self.value(getattr(value, name)) for name in fields]
            return {"r": [kind.__module__.removeprefix(_HOME), kind.__qualname__, held]}
        if isinstance(value, (tuple, list)):
            return {"t" if isinstance(value, tuple) else "l": [self.value(v) for v in value]}
        if isinstance(value, dict):
            return {"m": [[self.value(k), self.value(v)] for k, v in value.items()]}
        if isinstance(value, DType):
            return {"d": value.name}
        if isinstance(value, slice):
            return {"s": [self.value(v) for v in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"e": 0}
        if isinstance(value, complex):
            return {"c": [value.real, value.imag]}
        if isinstance(value, (np.ndarray, np.generic)):
            return {"a": self.arrays.add(np.asarray(value))}
        raise CannotStoreError(f"a value of type {type(value).__name__}")


def _fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a class of records (named tuples, data classes)."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return getattr(kind, "_fields", None) if issubclass(kind, tuple) else None


def _type(abstract: Any) -> list[Any]:
    if not isinstance(abstract, AbstractTensor):
        raise CannotStoreError("an input that is no tensor")
    return [abstract.dtype.name, list(abstract.shape)]


def write_graph(graph: FuncGraph, arrays: ArrayWriter) -> list[dict[str, Any]]:
    """The rows of a graph and of those it uses, itself first; CannotStoreError if it has no such form."""
    writer = _Writer(arrays)
    writer.graph(graph)
    return writer.graphs


# -- reading ------------------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, rows: list[Any], arrays: ArrayReader):
        self.rows, self.arrays = rows, arrays
        self.made: dict[int, FuncGraph] = {}

    def graph(self, number: Any) -> FuncGraph:
        if not isinstance(number, int) or not 0 <= number < len(self.rows):
            raise BadModelError("it refers to a graph that is not there")
        if number not in self.made:
            graph = self.made[number] = FuncGraph(str(self.rows[number]["name"]))
            self._fill(graph, self.rows[number])
        return self.made[number]

    def _fill(self, graph: FuncGraph, row: dict[str, Any]) -> None:
        for name, (kind, shape) in row["inputs"]:
            graph.add_parameter(str(name), AbstractTensor(_dtype(kind), tuple(int(n) for n in shape)))
        ops = [self._op(*op) for op in row["ops"]]
        builder, nodes = Builder(graph), list[CNode]()
        graph.attrs.update(self.value(row["attrs"]))
        for op, arguments in row["nodes"]:
            made = builder.emit(ops[op], tuple(self._argument(graph, nodes, *a) for a in arguments))
            assert isinstance(made, CNode)
            nodes.append(made)
        graph.output = self._argument(graph, nodes, *row["output"])

    def _argument(self, graph: FuncGraph, nodes: list[CNode], kind: str, what: Any, dtype: Any = None) -> Node:
        if kind in ("p", "n"):
            return _item(graph.parameters if kind == "p" else nodes, what)
        if kind == "g":
            return ValueNode(self.graph(what))
        if kind == "a":
            array = self.arrays.get(what)
            return ValueNode(array, AbstractTensor(_dtype(dtype), array.shape))
        return ValueNode(self.value(what))

    def _op(self, module: str, name: str, state: Any) -> Primitive:
        kind = _class(module, name)
        if not issubclass(kind, Primitive):
            raise BadModelError(f"it names '{name}', which is no operation")
        op: Primitive = object.__new__(kind)
        vars(op).update(self.value(state))
        return op

    def value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind in ("t", "l"):
            items = [self.value(v) for v in content]
            return tuple(items) if kind == "t" else items
        if kind == "m":
            return {self.value(k): self.value(v) for k, v in content}
        if kind == "r":
            module, name, fields = content
            made = _class(module, name)
            if _fields(made) is None:
                raise BadModelError(f"it names '{name}', which is no record")
            return made(*(self.value(v) for v in fields))
        return self._plain(kind, content)

    def _plain(self, kind: str, content: Any) -> Any:
        if kind == "d":
            return _dtype(content)
        if kind == "s":
            return slice(*(self.value(v) for v in content))
        if kind == "e":
            return Ellipsis
        if kind == "c":
            return complex(*content)
        if kind == "a":
            return self.arrays.get(content)
        raise BadModelError(f"it has a value of the unknown kind {kind!r}")


def _item(items: list[Any] | list[Parameter], place: Any) -> Node:
    if not isinstance(place, int) or not 0 <= place < len(items):
        raise BadModelError("a node uses a value that is not there")
    node: Node = items[place]
    return node


def _dtype(name: Any) -> DType:
    found = type_of_name(name) if isinstance(name, str) else None
    if not isinstance(found, DType):
        raise BadModelError(f"it names the unknown element type {name!r}")
    return found


def _class(module: Any, name: Any) -> type:
    """A class of `mindspore.prims`."""
    parts = str(module).split(".")
    if not all(part.isidentifier() for part in parts):
        raise BadModelError(f"it names the unknown module {module!r}")
    try:
        found: Any = importlib.import_module(_HOME + str(module))
        for part in str(name).split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise BadModelError(f"it needs the operation '{name}', which this version does not have") from None
    if not isinstance(found, type) or not found.__module__.startswith(_HOME):
        raise BadModelError(f"it names '{name}', which is no operation")
    return found


def read_graph(rows: Any, arrays: ArrayReader) -> FuncGraph:
    """The graph of rows; BadModelError when they are none."""
    if not isinstance(rows, list) or not rows:
        raise BadModelError("its graph is damaged")
    try:
        return _Reader(rows, arrays).graph(0)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, BadModelError):
            raise
        raise BadModelError(f"its graph is damaged ({error})") from None


__all__ = ["CannotStoreError", "read_graph", "write_graph"]
