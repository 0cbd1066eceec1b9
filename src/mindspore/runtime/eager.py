"""PyNative mode: one primitive, now.

`dispatch` is where every primitive call arrives. If a graph is being built the call becomes a node; otherwise the
evaluation rule runs on the arrays and, if a tape records, the call is noted for the backward pass.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import numpy as np

from mindspore._base.quiet import QUIET
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.inplace import update
from mindspore.prims.primitive import Primitive, set_dispatch
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, eager_kernels
from mindspore.runtime.context import current
from mindspore.runtime.device_kinds import NumpyDevice


def dispatch(prim: Primitive, args: tuple) -> Any:
    """Carry out `prim(*args)` in the mode this thread is in."""
    builder = ACTIVE.builder
    if builder is not None:
        return builder.apply(prim, prim.prepare(args))
    if not prim.light:
        return execute(prim, prim.prepare(args))
    out = _light(prim, args)
    if out is None:
        prepared = prim.prepare(args)
        out = _light(prim, prepared) if prepared is not args else None
        if out is None:
            return execute(prim, prepared)
    return out


def _light(prim: Primitive, args: tuple) -> Any:
    """The common case, told cheaply: tensors of one type on the host, of a primitive that needs no preparation.

    None where it is another case.
    """
    plan = _PLANS.get(type(prim))
    if plan is None:
        plan = _PLANS[type(prim)] = _plan(prim)
    kinds, least, most = plan
    if not kinds or not 0 < len(args) < 3:
        return None
    first, last = args[0], args[-1]
    if not isinstance(first, TensorBase) or not isinstance(last, TensorBase):
        return None
    a, b = first._data, last._data
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype is not b.dtype or a.dtype.kind not in kinds:
        return None
    if least and a.size >= least and a.size * max(b.shape, default=1) > most:
        return None
    if type(current().device) is not NumpyDevice:
        return None
    try:
        evaluate = QUIET.run
        result = evaluate(prim.eval, np, a) if len(args) == 1 else evaluate(prim.eval, np, a, b)
    except _KERNEL_ERRORS:
        _say_why(prim, args)
        raise
    out = values.from_array(result) if type(result) is np.ndarray else _wrap(result)
    for tape in ACTIVE.tapes:
        tape.record(prim, args, out)
    return out


#: what evaluation rules raise about arrays that do not fit
_KERNEL_ERRORS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)

#: class of primitives -> see `_plan`
_PLANS: dict[type[Primitive], tuple[str, int, int]] = {}


def _plan(prim: Primitive) -> tuple[str, int, int]:
    """The kinds of element types a primitive knows ("": its arguments need preparation), and the sizes from which native
    code does it: elements of the first argument (0: never), and then multiplications."""
    cls = type(prim)
    same_way = cls.prepare is Primitive.prepare and not cls.variadic and not cls.writes
    return cls.kinds if same_way else "", cls.native_from, cls.native_beyond


def execute(prim: Primitive, args: tuple) -> Any:
    """Run a primitive on concrete tensors."""
    device = devices.deferring()
    out = None if device is None else device.compute(prim, args)
    operation = None
    if out is not None:
        operation = (out[0] if type(out) is tuple else out)._data.operation
    else:
        arrays = [a._data if isinstance(a, TensorBase) else a for a in args]
        kernel = eager_kernels.forward(prim, arrays) if prim.native_from else None
        out = _wrap(kernel(arrays) if kernel is not None else _evaluate(prim, args, arrays))
    for tape in ACTIVE.tapes:
        tape.record(prim, args, out, operation)
    for argument, output in prim.writes:
        update(args[argument], out[output] if isinstance(out, tuple) else out)
    return out


def _evaluate(prim: Primitive, args: tuple, arrays: list) -> Any:
    """Infer, which checks, and evaluate; light primitives are inferred where NumPy would take what graphs refuse."""
    if not prim.light or _needs_look(prim.kinds, args, arrays):
        prim.infer(*[values.abstract_of(a) if isinstance(a, TensorBase) else a for a in args])
    try:
        return devices.current().evaluate(prim, arrays)
    except _KERNEL_ERRORS:
        if prim.light:
            _say_why(prim, args)
        raise


def _say_why(prim: Primitive, args: tuple) -> None:
    """Raise what is wrong with the arguments in the words graph mode uses, if that is what made an evaluation fail."""
    prim.infer(*[values.abstract_of(a) if isinstance(a, TensorBase) else a for a in args])


def _needs_look(kinds: str, args: tuple, arrays: list) -> bool:
    """Whether an argument is no tensor, or of an element type that may be none the primitive knows."""
    for arg, array in zip(args, arrays):  # noqa: SIM110 - faster than any()
        if arg is array or (type(array) is np.ndarray and array.dtype.kind not in kinds):
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

    The C library gives freed blocks back to the system, and fresh pages cost more than most operations: ResNet-50's step
    took 50 MB of them. It keeps blocks of up to 32 MB, the most it can be told, and 256 MB of what is free at the end of its heap.
    Elsewhere than with GNU's library, or where the environment says how, it is left alone.
    """
    if any(name.startswith("MALLOC_") for name in os.environ) or not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_KEEP_BLOCKS_UP_TO, 32 << 20)
        mallopt(_KEEP_AT_THE_END, 256 << 20)


#: numbers of settings in GNU's malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
_KEEP_BLOCKS_UP_TO, _KEEP_AT_THE_END = -3, -1

_keep_freed_memory()
