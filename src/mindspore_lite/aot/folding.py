"""Values of a loop program that depend on constants alone, computed now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.backends.cpu.layout import numpy_dtype
from mindspore.compiler.fuse.loopir import Program, Value

_MOST = 1 << 26  # elements; more are left to the model

_MAPS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "floor": np.floor, "rint": np.rint,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "select": np.where, "not_": np.logical_not, "rsqrt": lambda x: 1 / np.sqrt(x), "cast": lambda x: x,
    "relu": lambda x: np.maximum(x, 0), "floordiv": np.floor_divide, "floormod": np.mod,
}  # fmt: skip


def fold(program: Program) -> None:
    """Replace what is known by constants, in place."""
    known: dict[int, np.ndarray] = {}
    for value in program.values:
        found = _known(value, known)
        if found is None:
            continue
        known[value.id] = found
        if value.op not in ("input", "const") and not value.is_view and value.op != "iota":
            value.op, value.args, value.attr = "input", (), ("constant", np.ascontiguousarray(found))


def _known(value: Value, known: dict[int, np.ndarray]) -> np.ndarray | None:
    if value.size > _MOST:
        return None
    if value.op == "input":
        return value.attr[1] if value.attr[0] == "constant" else None
    if value.op == "const":
        return np.broadcast_to(np.asarray(value.attr, numpy_dtype(value.dtype)), value.shape)
    if value.op == "iota":
        along = [1] * len(value.shape)
        along[value.attr] = -1
        counted = np.arange(value.shape[value.attr], dtype=numpy_dtype(value.dtype)).reshape(along)
        return np.broadcast_to(counted, value.shape)
    if not value.args or any(a.id not in known for a in value.args):
        return None
    operands = [known[a.id] for a in value.args]
    if value.op == "map" and value.attr in _MAPS and value.dtype not in ("float16", "bfloat16"):
        with np.errstate(all="ignore"):
            return np.asarray(_MAPS[value.attr](*operands), numpy_dtype(value.dtype))
    return _view(value, operands[0]) if value.is_view else None


def _view(value: Value, x: np.ndarray) -> np.ndarray:
    if value.op == "reshape":
        return x.reshape(value.shape)
    if value.op == "transpose":
        return x.transpose(value.attr)
    if value.op == "broadcast":
        return np.broadcast_to(x, value.shape)
    picks = []
    for (start, step), count in zip(value.attr, value.shape):
        last = start + step * count
        picks.append(slice(start, last if last >= 0 else None, step))
    return x[tuple(picks)]
