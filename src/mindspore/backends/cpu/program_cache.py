"""Compiled graphs on disk, beside their kernels (`cache`): a new process need not fuse and lower a graph again.

An entry is a `Blueprint` as rows (`rows.py`) and its constants: the length of the rows (eight bytes), the rows as JSON, the arrays'
bytes. Kernels are named by their objects' keys in the same cache. The key is the value of all that decides: the nodes of the
graph in order with their attributes and constants, what is donated, the settings, threads, CPU, libraries and our own sources.

Not every graph can be kept: control flow, functions of the user's, steps that call Python or other processes, layouts that
oneDNN alone understands. Such graphs are compiled in every process, as without a cache. So is what cannot be read.

Files are trusted as machine code is: only those that nobody but the user can have written (`cache`) are read.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import operator
import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindspore import _base
from mindspore._base.dtype import DType, from_numpy
from mindspore.backends.cpu import cache, dnnl, jit, layout, openmp
from mindspore.backends.cpu.executable import Blueprint
from mindspore.backends.cpu.layout import Buffer
from mindspore.backends.cpu.rows import CannotStore, DoesNotFit, Reader, Writer
from mindspore.backends.cpu.shelf import Shelf
from mindspore.backends.cpu.steps import KernelStep
from mindspore.ir import FuncGraph, Node, Parameter, ValueNode

_LARGEST = 32 << 20  # bytes; beyond, a graph has large constants, and reading them back costs what is saved
_LENGTH = 8
_VARIABLES = ("MS_DEV_", "DNNL_", "ONEDNN_")  # of the environment, that may change what is compiled
_SOURCES = ("backends", "compiler", "prims", "_base")


def blueprint(graph: FuncGraph, settings: tuple, make: Callable[[], Blueprint]) -> Blueprint:
    """The compiled graph, from disk if it is there; else made and, where that is possible, kept."""
    if cache.folder() is None or jit.brings_objects():
        return make()
    key = _key(graph, settings)
    found = _read(key) if key else None
    if found is None:
        found = make()
        if key:
            _write(key, found)
    return found


# -- keys -------------------------------------------------------------------------------------------------------------
class _Unnameable(Exception):
    """Something that has no value to tell it by in another process."""


def _key(graph: FuncGraph, settings: tuple) -> str | None:
    digest = hashlib.sha256()
    try:
        _feed(digest.update, (_circumstances(), openmp.threads(), settings, _contents(graph)))
    except _Unnameable:
        return None
    return "p" + digest.hexdigest()


def _contents(graph: FuncGraph) -> tuple:
    """A graph as nested tuples of plain values."""
    numbers: dict[int, int] = {}
    weights = tuple(p.default is not None for p in graph.parameters)
    inputs = tuple(_number(numbers, p) for p in graph.parameters)
    rows = []
    for node in graph.nodes():
        arguments = tuple(numbers[a.id] if a.id in numbers else _constant(a) for a in node.args)
        rows.append((_number(numbers, node), node.op.key(), arguments))
    output = numbers[graph.output.id] if graph.output.id in numbers else _constant(graph.output)
    updates = tuple(sorted(graph.attrs.get("updates", {}).items()))
    return graph.name, weights, inputs, tuple(rows), output, graph.attrs.get("record"), updates


def _number(numbers: dict[int, int], node: Node) -> tuple:
    numbers[node.id] = len(numbers)
    return (str(node.abstract), isinstance(node, Parameter))


def _constant(node: Node) -> tuple:
    if not isinstance(node, ValueNode) or isinstance(node.value, FuncGraph):
        raise _Unnameable
    return ("constant", node.value, str(node.abstract))


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    """Add a value to a digest: its type, its size, its contents."""
    if isinstance(value, (tuple, list)):
        update(b"(%d" % len(value))
        for part in value:
            _feed(update, part)
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        update(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        update(f"array {value.dtype.str} {value.shape};".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, type) and value.__module__.startswith("mindspore."):
        update(f"class {value.__module__}.{value.__qualname__};".encode())
    elif isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
        update(f"class {value.__qualname__};".encode())
    elif isinstance(value, (DType, np.dtype)):
        update(f"type {value};".encode())
    elif is_dataclass(value):
        _feed(update, (type(value), *(getattr(value, field.name) for field in fields(value))))
    else:
        raise _Unnameable


@functools.cache
def _sources() -> str:
    """What tells one state of the package from another: when which of its files was written."""
    root = Path(_base.__file__).parent.parent
    files = sorted((str(p.relative_to(root)), p.stat()) for name in _SOURCES for p in (root / name).rglob("*.py"))
    digest = hashlib.sha256()
    for name, found in files:
        digest.update(f"{name} {found.st_size} {found.st_mtime_ns};".encode())
    return digest.hexdigest()


def _circumstances() -> tuple:
    """What is the same for all graphs of a process."""
    variables = sorted((k, v) for k, v in os.environ.items() if k.startswith(_VARIABLES))
    return (_sources(), *jit.host(), np.__version__, dnnl.version(), variables)


# -- entries ----------------------------------------------------------------------------------------------------------
class _Stored:
    """A kernel from a stored program: looks like a compiled one."""

    def __init__(self, name: str, key: str):
        self.code = jit.Code.stored(name, key)
        self.address = self.code.address


_SHELF: Shelf[_Stored] = Shelf(256)


def _stored(name: str, key: str) -> _Stored:
    return _SHELF.get((name, key), lambda: _Stored(name, key))


class _Writer(Writer):
    def __init__(self, made: Blueprint):
        super().__init__(made, made.preparation)
        self.constants: list[np.ndarray] = []

    def named(self, buffer: Buffer) -> tuple[str, Any]:
        if buffer.kind != "constant":
            return buffer.kind, buffer.source
        self.constants.append(np.ascontiguousarray(buffer.source))
        return "constant", len(self.constants) - 1

    def code(self, step: KernelStep) -> list[str]:
        code = getattr(step.compiled, "code", None)
        if type(code) is not jit.Code or not code.key:
            raise CannotStore(f"the kernel {step.name}, which is not kept")
        return code.keep()


def _write(key: str, made: Blueprint) -> None:
    writer = _Writer(made)
    try:
        rows = writer.rows()
        rows["constants"] = [[_type_name(c.dtype), c.shape] for c in writer.constants]
    except CannotStore:
        return
    table = json.dumps(rows, separators=(",", ":"), default=operator.index).encode()
    if len(table) + sum(c.nbytes for c in writer.constants) <= _LARGEST:
        arrays = [c.tobytes() for c in writer.constants]
        cache.write(key, b"".join([len(table).to_bytes(_LENGTH, "little"), table, *arrays]))


def _type_name(dtype: np.dtype) -> str:
    try:
        return str(from_numpy(dtype)).lower()
    except TypeError:
        raise CannotStore(f"a constant of {dtype}") from None


def _read(key: str) -> Blueprint | None:
    body = cache.read(key)
    if body is None:
        return None
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    try:
        rows = json.loads(body[_LENGTH:end])
        constants = _constants(body, end, rows["constants"])
        return Reader(rows, lambda code: _stored(*code), constants.__getitem__).blueprint()
    except (DoesNotFit, LookupError, AttributeError, TypeError, ValueError, RuntimeError):  # not ours, or made for another machine
        return None


def _constants(body: bytes, at: int, kinds: list[tuple[str, list[int]]]) -> list[np.ndarray]:
    """The arrays that follow the rows, each in memory of its own: kernels want them aligned."""
    found = []
    for name, shape in kinds:
        dtype = layout.numpy_dtype(name)
        found.append(np.frombuffer(body, dtype, math.prod(shape), at).reshape(shape).copy())
        at += found[-1].nbytes
    return found
