"""Compiled graphs on disk, beside their kernels (`cache`): a new process need not fuse and lower a graph again.

An entry is a `Blueprint`, pickled: steps, views and the plan of memory. Kernels are named by their objects' keys in the same
cache, oneDNN's primitives are made again from their descriptions. The key is the value of all that decides: the nodes of the
graph in order with their attributes and constants, what is donated, the settings, threads, CPU, libraries and our own sources.

Not every graph can be kept: control flow, functions of the user's, steps that call Python or other processes, layouts that
oneDNN alone understands. Such graphs are compiled in every process, as without a cache. So is what cannot be read.

Files are trusted as machine code is: only those that nobody but the user can have written (`cache`) are read, and names in them
may be those of this backend's own classes only.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindspore import _base
from mindspore._base.dtype import DType
from mindspore.backends.cpu import cache, dnnl, jit, openmp
from mindspore.backends.cpu.executable import Blueprint
from mindspore.backends.cpu.shelf import Shelf
from mindspore.backends.cpu.steps import DnnlStep, KernelStep, StopStep
from mindspore.ir import FuncGraph, Node, Parameter, ValueNode

_LARGEST = 32 << 20  # bytes; beyond, a graph has large constants, and reading them back costs what is saved
_STEPS = (KernelStep, DnnlStep, StopStep)
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


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        code = getattr(value, "code", None)
        if type(code) is not jit.Code:
            return NotImplemented
        if not code.key:
            raise pickle.PicklingError("a kernel that is not kept")
        return _stored, (code.name, code.key)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith("mindspore.backends.cpu.") or module == "mindspore.compiler.memory.plan"
        arrays = module.split(".")[0] == "numpy" and name in ("_reconstruct", "_frombuffer", "ndarray", "dtype")
        if not (ours or arrays):
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a compiled graph")
        return super().find_class(module, name)


def _write(key: str, made: Blueprint) -> None:
    if not all(isinstance(step, _STEPS) for step in (*made.preparation, *made.steps)):
        return
    body = io.BytesIO()
    try:
        _Pickler(body, pickle.HIGHEST_PROTOCOL).dump(made)
    except (pickle.PicklingError, TypeError, AttributeError):  # something in it has no form on disk
        return
    if body.tell() <= _LARGEST:
        cache.write(key, body.getvalue())


def _read(key: str) -> Blueprint | None:
    body = cache.read(key)
    if body is None:
        return None
    try:
        found = _Unpickler(io.BytesIO(body)).load()
    except (pickle.UnpicklingError, LookupError, AttributeError, TypeError, ValueError, EOFError, RuntimeError):
        return None
    return found if isinstance(found, Blueprint) else None
