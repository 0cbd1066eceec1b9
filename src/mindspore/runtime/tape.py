"""The gradient tape of PyNative mode.

Primitive calls whose inputs are tracked are noted in order; the backward pass walks them in reverse and applies the
same `bprop` rules that graph mode uses. Those rules call primitives again, so an outer tape that is still recording sees
them: nesting tapes gives derivatives of any order.

Values are identified by keys rather than objects because objects can be updated in place: `rebind` says that an object
now stands for another value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import Cast, Real, zeros_like
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import TensorBase
from mindspore.runtime import eager_kernels


class Entry(NamedTuple):
    bprop: Callable  # (*args, out, dout) -> gradients of args
    name: str
    args: tuple
    arg_keys: tuple
    arg_data: tuple  # the arrays at the time of the call
    out: Any
    out_keys: tuple


class Tape:
    """Records primitive calls that depend on watched tensors."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._alias: dict[int, int] = {}  # id(object) -> key of the value it stands for
        self._tracked: set[int] = set()
        self._alive: list[Any] = []  # ids must not be reused while we hold keys

    # -- forward --------------------------------------------------------------------------------------------------
    def watch(self, tensor: Any) -> None:
        self._tracked.add(self.key(tensor))
        self._alive.append(tensor)

    def key(self, tensor: Any) -> int:
        return self._alias.get(id(tensor), id(tensor))

    def tracks(self, value: Any) -> bool:
        return isinstance(value, TensorBase) and self.key(value) in self._tracked

    def rebind(self, target: Any, source: Any) -> None:
        """`target` (an object) now stands for the value of `source`."""
        self._alias[id(target)] = self.key(source)
        self._alive += (target, source)

    def record(self, prim: Any, args: tuple, out: Any) -> None:
        if not any(map(self.tracks, args)):
            return
        if prim.name == "StopGradient" or prim.bprop is None:
            return
        self.record_call(prim.bprop, prim.name, args, out)
        for argument, output in prim.writes:
            self.rebind(args[argument], out[output] if isinstance(out, tuple) else out)

    def record_call(self, bprop: Callable, name: str, args: tuple, out: Any) -> None:
        """Note a call with its own gradient rule (primitives, cells with `bprop`, compiled functions)."""
        outs = out if isinstance(out, tuple) else (out,)
        keys = tuple(self.key(o) if isinstance(o, TensorBase) else 0 for o in outs)
        for o, k in zip(outs, keys):
            if isinstance(o, TensorBase) and values.has_gradient(values.dtype_of(o)):
                self._tracked.add(k)
        arg_keys = tuple(self.key(a) if isinstance(a, TensorBase) else 0 for a in args)
        arg_data = tuple(a._data if isinstance(a, TensorBase) else None for a in args)
        self.entries.append(Entry(bprop, name, args, arg_keys, arg_data, out, keys))

    # -- backward -------------------------------------------------------------------------------------------------
    def gradients(self, outputs: list[Any], douts: list[Any], inputs: list[Any]) -> list[Any]:
        """The gradient of each input: the sum over outputs of dout * d(output)/d(input); zeros where there is none."""
        grads: dict[int, Any] = {}
        for out, dout in zip(outputs, douts):
            if self.tracks(out):
                _accumulate(grads, self.key(out), dout)
        input_keys = {self.key(i): i for i in inputs}
        for entry in reversed(self.entries):
            if not any(k in grads for k in entry.out_keys):
                continue
            dout = self._output_gradient(entry, grads, input_keys)
            args = tuple(self._as_recorded(*item) for item in zip(entry.args, entry.arg_keys, entry.arg_data))
            for arg, key, grad in zip(args, entry.arg_keys, self._pull_back(entry, args, dout)):
                if grad is not None and key in self._tracked:
                    _accumulate(grads, key, _fit(grad, arg))
        return [self._finish(grads, i) for i in inputs]

    def _pull_back(self, entry: Entry, args: tuple, dout: Any) -> tuple:
        """The gradients of an entry's arguments: in one native call where there is one and nobody records it."""
        if entry.name in eager_kernels.GRADIENTS and not ACTIVE.tapes:
            prim = getattr(entry.bprop, "__self__", None)
            if isinstance(prim, Primitive):
                needed = tuple(key in self._tracked for key in entry.arg_keys)
                grads = eager_kernels.gradient(prim, args, entry.out, dout, needed)
                if grads is not None:
                    return grads
        return entry.bprop(*args, entry.out, dout)

    def _output_gradient(self, entry: Entry, grads: dict[int, Any], inputs: dict[int, Any]) -> Any:
        """The incoming gradient of an entry; zeros for outputs that nothing used. Hooks of the outputs run here."""
        outs = entry.out if isinstance(entry.out, tuple) else (entry.out,)
        collected = []
        for out, key in zip(outs, entry.out_keys):
            grad = grads.get(key) if key in inputs else grads.pop(key, None)
            if grad is None:
                grad = zeros_like(out) if isinstance(out, TensorBase) else None
            collected.append(_run_hooks(out, grad))
        return tuple(collected) if isinstance(entry.out, tuple) else collected[0]

    def _as_recorded(self, arg: Any, key: int, data: Any) -> Any:
        """The argument with the value it had when the call was recorded."""
        if data is None or arg._data is data:
            return arg
        snapshot = values.from_array(data)
        for tape in (self, *ACTIVE.tapes):
            tape._alias[id(snapshot)] = key
            tape._alive.append(snapshot)
        return snapshot

    def _finish(self, grads: dict[int, Any], tensor: Any) -> Any:
        grad = grads.get(self.key(tensor))
        return zeros_like(tensor) if grad is None else _run_hooks(tensor, grad)


def _accumulate(grads: dict[int, Any], key: int, grad: Any) -> None:
    known = grads.get(key)
    grads[key] = grad if known is None else known + grad


def _fit(grad: Any, arg: Any) -> Any:
    """A real argument takes the real part of a complex gradient; the type follows the argument."""
    wanted = values.dtype_of(arg)
    if values.dtype_of(grad).kind == "c" and wanted.kind != "c":
        grad = Real()(grad)
    return grad if values.dtype_of(grad) is wanted else Cast()(grad, wanted)


def _run_hooks(tensor: Any, grad: Any) -> Any:
    hooks = getattr(tensor, "__dict__", {}).get("_grad_hooks") if isinstance(tensor, TensorBase) else None
    for hook in list(hooks.values()) if hooks else ():
        replaced = hook(grad)
        grad = grad if replaced is None else replaced
    return grad


@contextlib.contextmanager
def recording(tape: Tape) -> Iterator[Tape]:
    """Record on `tape` as well as on the tapes already active."""
    saved = ACTIVE.tapes
    ACTIVE.tapes = (*saved, tape)
    try:
        yield tape
    finally:
        ACTIVE.tapes = saved


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Record nothing: for code whose gradient is given otherwise."""
    saved = ACTIVE.tapes
    ACTIVE.tapes = ()
    try:
        yield
    finally:
        ACTIVE.tapes = saved


def watched_alias(tensor: Any) -> Any:
    """A distinct object for the same value, so that one tensor passed twice has two gradients. Outer tapes follow it."""
    alias = values.from_array(tensor._data)
    hooks = getattr(tensor, "__dict__", {}).get("_grad_hooks")
    if hooks:
        alias.__dict__["_grad_hooks"] = hooks
    for tape in ACTIVE.tapes:
        tape.rebind(alias, tensor)
    return alias
