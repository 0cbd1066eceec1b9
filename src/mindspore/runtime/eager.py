"""PyNative mode: one primitive, now.

`dispatch` is where every primitive call arrives. If a graph is being built the call becomes a node; otherwise the
evaluation rule runs on the arrays and, if a tape records, the call is noted for the backward pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive, set_dispatch
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, eager_kernels


def dispatch(prim: Primitive, args: tuple) -> Any:
    """Carry out `prim(*args)` in the mode this thread is in."""
    args = prim.prepare(args)
    builder = ACTIVE.builder
    if builder is not None:
        return builder.apply(prim, args)
    return execute(prim, args)


def execute(prim: Primitive, args: tuple) -> Any:
    """Run a primitive on concrete tensors."""
    arrays = [a._data if isinstance(a, TensorBase) else a for a in args]
    kernel = eager_kernels.forward(prim, arrays) if prim.name in eager_kernels.THRESHOLDS else None
    out = _wrap(kernel(arrays) if kernel is not None else _evaluate(prim, args, arrays))
    for argument, output in prim.writes:
        target = args[argument]
        target._data = (out[output] if isinstance(out, tuple) else out)._data
        target._version = getattr(target, "_version", 0) + 1
    for tape in ACTIVE.tapes:
        tape.record(prim, args, out)
    return out


def _evaluate(prim: Primitive, args: tuple, arrays: list) -> Any:
    """Infer, which checks, and evaluate; light primitives are inferred only to say what is wrong."""
    if not prim.light or _unknown_kind(prim.kinds, arrays):
        prim.infer(*[values.abstract_of(a) if isinstance(a, TensorBase) else a for a in args])
    try:
        return devices.current().evaluate(prim, arrays)
    except Exception:
        if prim.light:  # in the words graph mode uses
            prim.infer(*[values.abstract_of(a) if isinstance(a, TensorBase) else a for a in args])
        raise


def _unknown_kind(kinds: str, arrays: list) -> bool:
    """Whether an element type may be none that the primitive knows: NumPy computes many that graphs refuse."""
    for array in arrays:  # noqa: SIM110 - faster than any()
        if type(array) is np.ndarray and array.dtype.kind not in kinds:
            return True
    return False


def _wrap(result: Any) -> Any:
    if type(result) is np.ndarray:
        return values.from_array(result)
    if isinstance(result, tuple):
        return tuple(_wrap(r) for r in result)
    if result is None:
        return None
    if isinstance(result, (np.generic, bool, int, float)):
        result = np.asarray(result)
    return values.from_array(result)


set_dispatch(dispatch)


def _keep_freed_memory() -> None:
    """Have results of operations reuse the memory of earlier ones.

    The C library gives freed blocks back to the system, and fresh pages cost more than most operations, until it has seen
    one block of a size freed: then it keeps blocks up to that size. 30 MB is just below the largest it learns from.
    """
    np.empty(30 << 20, np.uint8)


_keep_freed_memory()
