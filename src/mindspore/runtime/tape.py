"""The gradient tape of PyNative mode.

Primitive calls whose inputs are tracked are noted in order; the backward pass walks them in reverse and applies the
same `bprop` rules that graph mode uses. Those rules call primitives again, so an outer tape that is still recording sees
them: nesting tapes gives derivatives of any order.

Tapes follow values, not objects. A value has a number (`prims.inplace.value_of`), which the object holds as long as it
stands for that value; an in-place update makes the object stand for another. An entry keeps the numbers and the arrays
of its arguments and results, and a watched input the number it had when it was watched: what happens to the objects later
changes nothing, just as a graph's nodes do not change when a Parameter is written to.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.keys import exact
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import Cast, Real, StopGradient, zeros_like
from mindspore.prims.inplace import new_value, value_of
from mindspore.prims.primitive import Primitive
from mindspore.prims.structural import Identity
from mindspore.prims.structure import with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, eager_kernels, tensor_hooks
from mindspore.runtime.context import current
from mindspore.runtime.operation_graph import read_by_gradient
from mindspore.runtime.passages import Cause, cause_of
from mindspore.runtime.trace import kind_of


class Entry(NamedTuple):
    bprop: Callable  # (*args, out, dout) -> gradients of args
    name: str
    args: tuple
    arg_keys: tuple  # numbers of the values; 0: not a tensor
    arg_data: tuple  # the arrays at the time of the call
    out: Any
    out_keys: tuple
    out_data: tuple
    operation: Any = None  # the deferred operation (runtime/deferred.py) that this is a call of, if it is nothing else


@dataclass(frozen=True)  # no tuple: results that are tuples are told by their type
class Packed:
    """What is kept in the place of a tensor under `saved_tensors_hooks`."""

    kept: Any
    unpack: Callable | None  # None: the gradient rule does not look at the values, and they are not kept
    abstract: Any
    hooks: dict[int, Any]  # the dict in which hooks of the tensor are registered, also later

    def tensor(self, key: int) -> Any:
        if self.unpack is None:
            return snapshot(key, np.zeros(self.abstract.shape, self.abstract.dtype.np))
        with _unpacked():
            found = self.unpack(self.kept)
        if not isinstance(found, TensorBase):
            raise TypeError(
                f"For 'saved_tensors_hooks', 'unpack_hook' must return a Tensor, but got {type(found).__name__}."
            )
        if values.abstract_of(found) != self.abstract:
            raise ValueError(
                f"For 'saved_tensors_hooks', 'unpack_hook' must return what 'pack_hook' was given, a {self.abstract}, "
                f"but returned a {values.abstract_of(found)}."
            )
        return snapshot(key, found._data)


class TakesNone(NamedTuple):
    """A gradient rule that wants None instead of zeros for results that nothing used."""

    rule: Callable

    def __call__(self, *parts: Any) -> tuple:
        return self.rule(*parts)


class Watched(NamedTuple):
    """A tensor to differentiate with respect to, and the number of the value it had then."""

    tensor: Any
    key: int


class Tape:
    """Records primitive calls that depend on watched tensors."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._tracked: set[int] = set()
        self._asked_rules = False  # whether a walk called rules that are not compiled

    # -- forward --------------------------------------------------------------------------------------------------
    def watch(self, tensor: TensorBase, wanted: bool = True) -> Watched:
        """Differentiate with respect to a tensor; if not `wanted`, its gradient is zero."""
        watched = Watched(tensor, value_of(tensor))
        if wanted:
            self._tracked.add(watched.key)
        return watched

    def tracks(self, value: Any) -> bool:
        return isinstance(value, TensorBase) and getattr(value, "_value", 0) in self._tracked

    def record(self, prim: Any, args: tuple, out: Any, operation: Any = None) -> None:
        tracked = self._tracked
        if prim.bprop is None or type(prim) is StopGradient:
            return
        for a in args:
            if isinstance(a, TensorBase) and getattr(a, "_value", 0) in tracked:
                bprop = prim.bprop
                own = operation if getattr(bprop, "__self__", None) is prim else None
                self.add(_entry(bprop, prim.name, args, _keys(args), _arrays(args), out, own))
                return

    def add(self, entry: Entry) -> None:
        """Note a call; its results are tracked from now on."""
        self.entries.append(_packed(entry, *ACTIVE.packing) if ACTIVE.packing else entry)
        self._track_results(entry)

    def _track_results(self, entry: Entry) -> None:
        for out, key in zip(_parts(entry.out), entry.out_keys):
            if key and values.has_gradient(values.dtype_of(out)):
                self._tracked.add(key)

    # -- backward -------------------------------------------------------------------------------------------------
    def gradients(self, outputs: list[Any], douts: list[Any], inputs: list[Watched]) -> list[Any]:
        """The gradient of each input: the sum over outputs of dout * d(output)/d(input); zeros where there is none."""
        wanted = dict.fromkeys(i.key for i in inputs)
        starts = [(value_of(out), dout) for out, dout in zip(outputs, douts) if self.tracks(out)]
        cause = self._cause(starts, wanted)
        grads = None if cause is None else _known(cause, wanted)
        if grads is None:
            grads = self._walk(starts, wanted) if cause is None else self._learn(cause, starts, wanted)
        return [self._finish(grads, i) for i in inputs]

    def _walk(self, starts: list[tuple[int, Any]], input_keys: Collection[int]) -> dict[int, Any]:
        """The gradients of inputs, by their numbers, from those of outputs."""
        grads: dict[int, Any] = {}
        for key, dout in starts:
            _accumulate(grads, key, dout)
        for entry in reversed(self.entries):
            if grads.keys().isdisjoint(entry.out_keys):
                continue
            outs = _as_recorded(_parts(entry.out), entry.out_keys, entry.out_data)
            out = outs if isinstance(entry.out, tuple) else outs[0]
            dout = self._output_gradient(entry, outs, grads, input_keys)
            args = _as_recorded(entry.args, entry.arg_keys, entry.arg_data)
            for arg, key, grad in zip(args, entry.arg_keys, self._pull_back(entry, args, out, dout)):
                if grad is not None and key in self._tracked:
                    _accumulate(grads, key, _fit(grad, arg))
        return grads

    def _pull_back(self, entry: Entry, args: tuple, out: Any, dout: Any) -> tuple:
        """The gradients of an entry's arguments: in one native call where there is one and nobody records it."""
        device = devices.deferring()
        prim = getattr(entry.bprop, "__self__", None)
        watched = current().watch is not None  # every result is to be seen
        if isinstance(prim, Primitive) and not ACTIVE.tapes and not watched:
            grads = None
            needed = tuple([key in self._tracked for key in entry.arg_keys])
            if device is not None:
                grads = device.engine.gradient(prim, args, out, dout, needed)
            elif prim.native_from or prim.native_gradient_from:
                grads = eager_kernels.gradient(prim, args, out, dout, needed)
            if grads is not None:
                return grads
        self._asked_rules = True
        return entry.bprop(*args, out, dout if isinstance(entry.bprop, TakesNone) else _with_zeros(out, dout))

    def _output_gradient(self, entry: Entry, results: tuple, grads: dict[int, Any], inputs: Collection[int]) -> Any:
        """The incoming gradient of an entry; None for outputs that nothing used. Hooks of the outputs run here."""
        collected = []
        for out, result, key in zip(_parts(entry.out), results, entry.out_keys):
            grad = grads.get(key) if key in inputs else grads.pop(key, None)
            hooks = out.hooks.get(key, {}) if isinstance(out, Packed) else {}
            hooks = tensor_hooks.hooks_of(out, key) if isinstance(out, TensorBase) else hooks
            if hooks and not isinstance(out, values.parameter_class()):
                grad = tensor_hooks.run(hooks, zeros_like(result) if grad is None else grad)
            collected.append(grad)
        return tuple(collected) if isinstance(entry.out, tuple) else collected[0]

    # -- backward, where operations are deferred (runtime/passages.py) --------------------------------------------------
    def _cause(self, starts: list[tuple[int, Any]], wanted: Collection[int]) -> Cause | None:
        """What a walk follows from: the operations that were recorded, and which values they share. None where somebody
        watches, or where anything else was recorded."""
        device = devices.deferring()
        if device is None or device.blocking or ACTIVE.tapes or current().watch is not None:
            return None
        tracked = self._tracked
        code: list[Any] = ["gradients"]
        arrays: list[Any] = []
        places: dict[int, int] = {}  # number of a value -> place of its array
        for entry in self.entries:
            if entry.operation is None:
                return None
            code.append(entry.operation)
            for key, array in zip(entry.arg_keys + entry.out_keys, entry.arg_data + entry.out_data):
                if array is None:
                    continue
                place = places.get(key)
                if place is None:
                    place = places[key] = len(arrays)
                    arrays.append(array)
                elif arrays[place] is not array:  # a Parameter that was written to in between
                    return None
                code.append(place if key in tracked else ~place)
            for out in _parts(entry.out):
                if getattr(out, "_hooks", None):
                    return None
        for key, dout in starts:
            if key not in places:  # an input is an output
                return None
            code += (places[key], kind_of(dout._data))
            arrays.append(dout._data)
        code.append(None)
        code += [places.get(key) for key in wanted]
        return cause_of(code, arrays)

    def _learn(self, cause: Cause, starts: list[tuple[int, Any]], wanted: Collection[int]) -> dict[int, Any]:
        """Walk, and keep what was noted on the way."""
        engine = devices.deferring().engine
        begin = engine.trace().mark()
        self._asked_rules = False
        grads = self._walk(starts, wanted)
        if not self._asked_rules:  # they are Python, and may have done anything
            engine.passages.learn(cause, begin, [grads[key]._data if key in grads else None for key in wanted])
        return grads

    def _finish(self, grads: dict[int, Any], watched: Watched) -> Any:
        grad = grads.get(watched.key)
        if isinstance(watched.tensor, values.parameter_class()) and not watched.tensor.requires_grad:
            return zeros_like(watched.tensor)
        hooks = tensor_hooks.hooks_of(watched.tensor, watched.key)
        return tensor_hooks.run(hooks, zeros_like(watched.tensor) if grad is None else grad)


class Reads(Tape):
    """Notes which of the values that other tapes track a piece of a program reads; keeps nothing for a backward pass."""

    def __init__(self, others: tuple[Tape, ...]):
        super().__init__()
        self._others = others
        self.values: dict[int, tuple[Any, np.ndarray]] = {}  # by number: the object that had the value, and its array
        self.parameters: list[Any] = []  # all that operations met, tracked or not

    def tracks(self, value: Any) -> bool:
        return super().tracks(value) or any(tape.tracks(value) for tape in self._others)

    def record(self, prim: Any, args: tuple, out: Any, operation: Any = None) -> None:
        self.parameters += [a for a in args if isinstance(a, values.parameter_class()) and not any(a is p for p in self.parameters)]
        if prim.bprop is not None and type(prim) is not StopGradient and any(map(self.tracks, args)):
            self.add(_entry(prim.bprop, prim.name, args, _keys(args), _arrays(args), out))

    def add(self, entry: Entry) -> None:
        for arg, key, data in zip(entry.args, entry.arg_keys, entry.arg_data):
            if key and key not in self._tracked and self.tracks(arg):
                self.values.setdefault(key, (arg, data))
        self._track_results(entry)


class Call:
    """A call whose gradient is given as a whole: a cell with `bprop`, a custom function, a compiled function.

    Made before the call, of the tensors that it depends on; nothing is recorded until `finish`.
    """

    def __init__(self, args: tuple):
        self.tapes = tuple(tape for tape in ACTIVE.tapes if any(map(tape.tracks, args)))
        self.args, self.keys, self.data = args, _keys(args), _arrays(args)

    @classmethod
    def that_read(cls, reads: Reads) -> Call:
        """A call that has been made, of what it was seen to read."""
        call = cls(tuple(snapshot(key, data) for key, (_, data) in reads.values.items()))
        call.args = tuple(tensor for tensor, _ in reads.values.values())
        return call

    def finish(self, bprop: Callable, name: str, out: Any, constants: tuple = ()) -> Any:
        """Note the gradient rule of the result, which is returned; a list of tensors counts as a tuple. No gradient flows
        through results that are among the `constants`.

        An argument among the results is a new value: the same object if the call wrote to it, else another one.
        """
        if not self.tapes:
            return out
        many = isinstance(out, (tuple, list))
        parts = [self._as_result(o) for o in (out if many else (out,))]
        entry = _entry(bprop, name, self.args, self.keys, self.data, tuple(parts) if many else parts[0])
        if constants:
            fixed = [any(o is c for c in constants) for o in (out if many else (out,))]
            entry = entry._replace(out_keys=tuple(0 if f else k for f, k in zip(fixed, entry.out_keys)))
        for tape in self.tapes:
            tape.add(entry)
        return with_parts(out, parts) if many else parts[0]

    def _as_result(self, out: Any) -> Any:
        for arg, data in zip(self.args, self.data):
            if out is arg and isinstance(out, TensorBase):
                if out._data is data:
                    return values.from_array(data)
                new_value(out)
        return out


def _known(cause: Cause, wanted: Collection[int]) -> dict[int, Any] | None:
    """The gradients, by their numbers, of a walk that has been made before."""
    found = devices.deferring().engine.passages.again(cause)
    return None if found is None else {k: values.from_array(a) for k, a in zip(wanted, found) if a is not None}


def _entry(bprop: Callable, name: str, args: tuple, keys: tuple, data: tuple, out: Any, operation: Any = None) -> Entry:
    outs = _parts(out)
    return Entry(bprop, name, args, keys, data, out, _keys(outs), _arrays(outs), operation)


def _packed(entry: Entry, pack: Callable, unpack: Callable) -> Entry:
    """An entry that keeps what `pack` makes of the tensors that its gradient rule looks at."""
    outs = _parts(entry.out)
    objects, keys = (*entry.args, *outs), (*entry.arg_keys, *entry.out_keys)
    read = _read_by_rule(entry)
    packed: list[Any] = []
    for i, (o, key, data) in enumerate(zip(objects, keys, (*entry.arg_data, *entry.out_data))):
        if data is None:
            packed.append(o)
            continue
        kept = None
        if i in read:
            with _unpacked():
                kept = pack(snapshot(key, data))
        packed.append(Packed(kept, unpack if i in read else None, values.abstract_of(o), tensor_hooks.place_for(o)))
    count = len(entry.args)
    out = tuple(packed[count:]) if isinstance(entry.out, tuple) else packed[count]
    return entry._replace(args=tuple(packed[:count]), arg_data=(None,) * count, out=out, out_data=(None,) * len(outs), operation=None)


def _read_by_rule(entry: Entry) -> Container[int]:
    """Which of its arguments and, counted on, results an entry's gradient rule uses; of rules of users: any."""
    outs = _parts(entry.out)
    prim = getattr(entry.bprop, "__self__", None)
    if not isinstance(prim, Primitive) or not all(isinstance(o, TensorBase) for o in outs):
        return range(len(entry.args) + len(outs))
    kinds = tuple(values.abstract_of(a) if isinstance(a, TensorBase) else a for a in (*entry.args, *outs))
    count, is_tuple = len(entry.args), isinstance(entry.out, tuple)
    return _reads(_Rule((prim.cached_key(), count, is_tuple, *map(exact, kinds)), prim, kinds[:count], kinds[count:], is_tuple))


@dataclass(frozen=True)
class _Rule:
    """A primitive's gradient rule for one kind of arguments and results, which `key` tells from others."""

    key: tuple
    prim: Primitive = field(compare=False)
    arguments: tuple = field(compare=False)
    results: tuple = field(compare=False)
    is_tuple: bool = field(compare=False)


@functools.lru_cache(maxsize=1024)
def _reads(rule: _Rule) -> frozenset[int]:
    return read_by_gradient(rule.prim, rule.arguments, rule.results, rule.is_tuple)


@contextlib.contextmanager
def _unpacked() -> Iterator[None]:
    """What hooks compute is neither recorded nor packed."""
    saved, ACTIVE.packing = ACTIVE.packing, ()
    try:
        with paused():
            yield
    finally:
        ACTIVE.packing = saved


def _parts(out: Any) -> tuple:
    return out if isinstance(out, tuple) else (out,)


def _keys(objects: tuple) -> tuple:
    return tuple([value_of(o) if isinstance(o, TensorBase) else 0 for o in objects])


def _arrays(objects: tuple) -> tuple:
    return tuple([o._data if isinstance(o, TensorBase) else None for o in objects])


def _as_recorded(objects: tuple, keys: tuple, arrays: tuple) -> tuple:
    """Arguments or results with the values they had when the call was recorded."""
    return tuple(
        [
            (o.tensor(key) if isinstance(o, Packed) else o)
            if data is None or (o._data is data and o._value == key)
            else snapshot(key, data)
            for o, key, data in zip(objects, keys, arrays)
        ]
    )


def snapshot(key: int, data: np.ndarray) -> Any:
    """A tensor that stands for the value with this number, whatever has become of others; it has no hooks."""
    tensor = values.from_array(data)
    tensor._value = key
    return tensor


def _accumulate(grads: dict[int, Any], key: int, grad: TensorBase) -> None:
    known = grads.get(key)
    grads[key] = grad if known is None else known + grad


def _fit(grad: TensorBase, arg: TensorBase) -> Any:
    """A real argument takes the real part of a complex gradient; the type follows the argument."""
    wanted, given = values.dtype_of(arg), values.dtype_of(grad)
    if given is wanted:
        return grad
    if given.kind == "c" and wanted.kind != "c":
        grad = Real()(grad)
    return grad if values.dtype_of(grad) is wanted else Cast()(grad, wanted)


def differentiated(frame: FrameType) -> Entry | None:
    """What is being differentiated, if that is what a frame of the Python stack does."""
    return frame.f_locals.get("entry") if frame.f_code is Tape._walk.__code__ else None


def _with_zeros(out: Any, dout: Any) -> Any:
    """The gradients of results with zeros for those that nothing used."""
    if not isinstance(out, tuple):
        return dout
    return tuple([zeros_like(o) if d is None and isinstance(o, TensorBase) else d for o, d in zip(out, dout)])


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
def recording_alone(tape: Tape) -> Iterator[None]:
    """Record on `tape` and on no other."""
    with paused():
        ACTIVE.tapes = (tape,)
        yield


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Record nothing: for code whose gradient is given otherwise."""
    saved = ACTIVE.tapes, ACTIVE.suspended
    ACTIVE.tapes = ACTIVE.suspended = ()
    try:
        yield
    finally:
        ACTIVE.tapes, ACTIVE.suspended = saved


def watched_alias(tensor: TensorBase) -> Any:
    """A distinct value that equals a tensor's, so that one tensor passed twice has two gradients. Outer tapes follow it."""
    alias = values.from_array(tensor._data)
    if ACTIVE.tapes:
        plain = snapshot(value_of(alias), tensor._data)  # without hooks: those of `tensor` see the outer gradient
        for tape in ACTIVE.tapes:
            tape.record(Identity(), (tensor,), plain)
    tensor_hooks.share(tensor, alias)
    return alias
