"""Functions and Cells compiled per kind of arguments.

A `CompiledFunction` keeps one executable per kind of arguments. The kind is: the structure, the shapes and types of the
tensors, the values of everything else, and the attributes that were read (guards.py). A second call of the same kind
compiles nothing.
"""

from __future__ import annotations

import functools
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import context, log
from mindspore._base import collector, flags, keys
from mindspore.common import memory_report
from mindspore.common.entry import Entry, Past
from mindspore.common.mutable import Mutable, holds_mutable, plain
from mindspore.common.whole_inputs import whole_inputs
from mindspore.compiler import parse
from mindspore.compiler.parse.entry import Traced, tensors_in
from mindspore.compiler.parse.errors import is_located, needs_values
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.structure import parts_of
from mindspore.prims.values import TensorBase
from mindspore.runtime import context as settings
from mindspore.runtime.programs import tick
from mindspore.runtime.staged import OtherAnswers, run_node

#: kinds of arguments a function is compiled for; the oldest is forgotten when there are more
MAX_KINDS = 1024
#: so many that the program probably does not mean it
MANY_KINDS = 100
#: graphs kept per kind of arguments; more come into being only when attributes keep changing
MAX_ENTRIES = 64
#: graphs kept per kind of arguments for different values and shapes that the arguments lead to
MAX_ANSWERS = 8
#: time spent on compiling these; a large network whose shapes keep changing is better run as plain Python
MAX_SECONDS = 20.0
#: stands for an entry that is not a graph: the function needs values that only a run gives
EAGER = object()
#: the same, where the values are those of mutable arguments: it is compiled for each of them
BY_VALUE = object()


class CompiledFunction:
    """A function or Cell compiled per kind of arguments.

    With the option `for_values=False` it is never compiled for values that its arguments happen to have, with `fullgraph`
    it never runs as plain Python: what cannot be compiled is an error.
    """

    def __init__(self, function: Any, name: str = "", options: dict | None = None):
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.options = options or {}
        self._cache: dict[Any, list[Any]] = {}
        self._bound: dict[int, dict] = {}  # what objects without a __dict__ would keep; `JitMethods.owner` tells whose it is
        self._variable: dict[Any, Any] = {}  # attributes that change between calls and so are inputs: key -> Read
        self._seconds = 0.0  # spent on compiling for different values
        self._by_value = False  # whether the values of mutable arguments are needed when compiling
        self._fixed: dict[Any, Any] = {}  # attributes that must be known when compiling, even if they change: key -> Read
        functools.update_wrapper(self, function, updated=()) if callable(function) and hasattr(
            function, "__name__"
        ) else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.builder is not None:
            return parse.call(self.function, args, kwargs)
        if self._by_value:
            args, kwargs = plain(args), plain(kwargs)
        entry = self.entry(args, kwargs)
        if entry is EAGER:
            return self._run_eagerly(args, kwargs)
        if entry is BY_VALUE:
            self._by_value = True
            return self(*args, **kwargs)
        try:
            return self._run(entry, args, kwargs)
        except OtherAnswers as met:
            return self._run_other(met.answers, args, kwargs)

    def call_as_of(self, past: Past, args: tuple) -> Any:
        """The result with the weights of an earlier time; nothing is stored."""
        if ACTIVE.builder is not None:
            return parse.call(self.function, args, {})
        entry = self.entry(args, {})
        if not isinstance(entry, Entry):
            return self._run_eagerly(args, {}, past)
        try:
            return self._run(entry, args, {}, past)
        except OtherAnswers as met:
            return self._run_other(met.answers, args, {}, past)

    def reading(self, other: CompiledFunction) -> CompiledFunction:
        """This, with the attributes as inputs that are inputs of another function."""
        self._variable.update(other._variable)
        return self

    def _run(self, entry: Entry, args: tuple, kwargs: dict, past: Past | None = None) -> Any:
        tensors = tensors_in(args)
        if kwargs:
            tensors_in(kwargs, tensors)
        if ACTIVE.tapes and any(tape.tracks(t) for tape in ACTIVE.tapes for t in (*tensors, *entry.traced.weights)):
            from mindspore.common.graph_gradient import run_recorded

            return run_recorded(self, entry, args, kwargs, tensors, past)
        return entry.run_plain(tensors, args, kwargs) if past is None else entry.run_as_of(past, tensors)

    def _run_other(self, answers: list[tuple], args: tuple, kwargs: dict, past: Past | None = None) -> Any:
        """Run the graph that is made for the values met on the way; compile it if there is none yet.

        Where there would be too many of them, the function runs as plain Python.
        """
        candidates = self._cache.setdefault(self._key(args, kwargs), [])
        made = [e for e in candidates if isinstance(e, Entry) and e.answers]
        fitting: Any = next((e for e in made if e.answers[: len(answers)] == answers and e.guards.hold()), None)
        if fitting is None and len(made) < MAX_ANSWERS and self._seconds < MAX_SECONDS:
            begin = time.perf_counter()
            fitting = self._build(args, kwargs)
            self._seconds += time.perf_counter() - begin
        if fitting is None and self.options.get("fullgraph"):
            fitting = self._build(args, kwargs)
        if fitting is None:
            warnings.warn(f"'{self.name}' runs as plain Python from now on: its shapes change too often.", stacklevel=3)
            fitting = EAGER
            candidates.clear()
        elif fitting in candidates:
            candidates.remove(fitting)
        candidates.insert(0, fitting)  # the next call probably has the same values
        if not isinstance(fitting, Entry):
            return self._run_eagerly(args, kwargs, past)
        try:
            return self._run(fitting, args, kwargs, past)
        except OtherAnswers as met:
            if len(met.answers) <= len(answers):  # the same arguments give different values each time
                return self._run_eagerly(args, kwargs, past)
            return self._run_other(met.answers, args, kwargs, past)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return interpreter.call(self.function, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a decorated method: one CompiledFunction per object, so that attributes are specialised to."""
        if instance is None:
            return self
        kept = instance.__dict__ if hasattr(instance, "__dict__") else self._bound.setdefault(id(instance), {})
        methods = kept.setdefault("_jit_methods", JitMethods(instance))
        if methods.owner() is not instance:  # a shallow copy has got them
            methods = kept["_jit_methods"] = JitMethods(instance)
        found = methods.get(self)
        if found is None:
            method = self.function.__get__(instance, owner)
            found = methods[self] = CompiledFunction(method, self.name, self.options)
        return found

    def compile(self, *args: Any, **kwargs: Any) -> Entry:
        """Compile for these arguments without running."""
        if self._by_value:
            args, kwargs = plain(args), plain(kwargs)
        entry = self.entry(args, kwargs)
        if entry is BY_VALUE:
            self._by_value = True
            return self.compile(*args, **kwargs)
        return entry

    def entry(self, args: tuple, kwargs: dict) -> Any:
        key = self._key(args, kwargs)
        candidates = self._cache.get(key)
        if candidates is None:
            self._make_room()
            candidates = self._cache[key] = []
        for entry in candidates:
            if entry is EAGER or entry is BY_VALUE:
                return entry
            if entry.guards.hold():
                entry.used = tick()
                return entry
        if not flags.switch("MS_JIT", True):
            return EAGER
        if len(candidates) >= MAX_ANSWERS and candidates[-1].traced.fills and not self.options.get("fullgraph"):
            warnings.warn(
                f"'{self.name}' runs as plain Python from now on: each call changes a list or dict that it is compiled for.",
                stacklevel=4,
            )
            candidates[:] = [EAGER]
            return EAGER
        for entry in candidates[-1:]:
            self._note_variable({(id(r.owner), r.name): r for r in entry.guards.changed() if _may_change(r.value)})
        try:
            with collector.paused():
                entry = self._build(args, kwargs)
        except Exception as error:
            if is_located(error) and not flags.switch("MS_DEV_FULL_TRACEBACK"):
                error.__traceback__ = None  # how the compiler came to it is not the user's concern
            raise
        candidates.append(entry)
        del candidates[:-MAX_ENTRIES]
        return entry

    def _make_room(self) -> None:
        """Forget the kind of arguments met first when there are too many; say so before."""
        if len(self._cache) == MANY_KINDS:
            warnings.warn(
                f"'{self.name}' has been compiled for {MANY_KINDS} kinds of arguments. Numbers that change from call to call should "
                "be Tensors (or mutable), and shapes that change should be padded.",
                stacklevel=5,
            )
        if len(self._cache) >= MAX_KINDS:
            del self._cache[next(iter(self._cache))]

    @staticmethod
    def _key(args: tuple, kwargs: dict) -> tuple:
        """The kind of some arguments."""
        try:
            return (_key(args), _key(kwargs) if kwargs else None, settings.current().key)
        except RecursionError:
            raise RuntimeError("Detect recursion when converting python object. An argument contains itself.") from None

    def _build(self, args: tuple, kwargs: dict) -> Any:
        begin = time.perf_counter()
        log.verbose(1, f"Start compiling '{self.name}'.")
        try:
            traced = self._trace(args, kwargs)
        except values.ValueUnknownError as error:
            is_size = isinstance(error, values.SizeUnknownError)
            if holds_mutable(args) or holds_mutable(kwargs):
                return BY_VALUE
            strict = context.get_context("jit_syntax_level") == context.STRICT and not is_size
            if strict or self.options.get("fullgraph"):
                raise
            warnings.warn(f"'{self.name}' cannot be compiled and runs as plain Python: {error}", stacklevel=4)
            return EAGER
        entry = Entry(traced, self.name)
        log.verbose(1, f"End compiling '{self.name}' after {time.perf_counter() - begin:.3f} s.")
        here, function, key = settings.current(), weakref.ref(self), self._key(args, kwargs)
        here.programs.add(entry, lambda old: _forget(function(), key, old), here.settings["max_compiled_graphs"])
        return entry

    # -- attributes that change from call to call --------------------------------------------------------------------
    def _trace(self, args: tuple, kwargs: dict) -> Traced:
        """Trace; attributes that the function itself changes become inputs, if it can be compiled so."""
        traced = self._trace_with(args, kwargs)
        if not self._note_variable(_changed_by(traced)):
            return traced
        try:
            return self._trace_with(args, kwargs)
        except Exception as error:  # of any type: the user's program may raise for want of a value, too
            if not needs_values(error):
                raise
            return traced  # their values are needed when compiling: it is compiled anew for each

    def _trace_with(self, args: tuple, kwargs: dict) -> Traced:
        """Trace for any values of the arguments or, if that is not possible, for those they have (staging.py)."""
        try:
            return self._trace_for(args, kwargs)
        except values.ValueUnknownError as error:
            if not self._may_need_values(error) or holds_mutable(args) or holds_mutable(kwargs):
                raise  # mutable numbers are simply made constants: BY_VALUE
        try:
            return self._trace_for(args, kwargs, run_node)
        except values.ValueUnknownError:
            return self._trace_for(args, kwargs, run_node, decides=True)

    def _may_need_values(self, error: values.ValueUnknownError) -> bool:
        if not self.options.get("for_values", True):
            return False
        return context.get_context("jit_syntax_level") != context.STRICT or isinstance(error, values.SizeUnknownError)

    def _trace_for(self, args: tuple, kwargs: dict, run_node: Callable | None = None, decides: bool = False) -> Traced:
        """Trace with as many of the changing attributes as inputs as the function allows: all, the tensors, none."""
        depth = context.get_context("max_call_depth")
        args, kwargs = whole_inputs(args), whole_inputs(kwargs)
        tensors = {key: read for key, read in self._variable.items() if isinstance(read.value, TensorBase)}
        for inputs in (self._variable, tensors) if self._variable else ():
            try:
                traced = parse.trace(
                    self.function, args, kwargs, self.name, depth, frozenset(inputs), run_node, decides
                )
            except Exception as error:  # as above
                if not needs_values(error):
                    raise
                continue  # a value was needed, or the program is wrong: the trace without inputs tells
            self._fix(set(self._variable) - set(inputs))
            return traced
        traced = parse.trace(self.function, args, kwargs, self.name, depth, frozenset(), run_node, decides)
        self._fix(set(self._variable))
        return traced

    def _fix(self, names: set[Any]) -> None:
        self._fixed.update({name: self._variable.pop(name) for name in names if name in self._variable})

    def _note_variable(self, reads: dict[Any, Any]) -> bool:
        """Have attributes read anew at each call; whether there are new ones among them."""
        new = {k: r for k, r in reads.items() if k not in self._variable and k not in self._fixed}
        self._variable.update(new)
        return bool(new)

    def _run_eagerly(self, args: tuple, kwargs: dict, past: Past | None = None) -> Any:
        """Run a function that needs the values of tensors while it runs, as PyNative mode would."""
        changed = [w.name for w, array in (past or {}).values() if w._data is not array and not _is_equal(w, array)]
        if changed:
            raise RuntimeError(
                f"'{self.name}' cannot be compiled, and {', '.join(changed)} changed after the call that is differentiated. "
                "Take the gradient before the weights change."
            )
        saved, ACTIVE.eagerly = ACTIVE.eagerly, True
        try:
            return self.function(*args, **kwargs)
        finally:
            ACTIVE.eagerly = saved

    def entries(self) -> list[Entry]:
        """The graphs compiled so far, oldest first."""
        return [e for candidates in self._cache.values() for e in candidates if isinstance(e, Entry)]

    def memory_report(self) -> dict[str, float]:
        """Working memory of the graph compiled last: "peak_bytes", "total_bytes" without reuse, and their "ratio"."""
        return memory_report.report(self.entries(), self.name)

    @property
    def compile_cache_size(self) -> int:
        """How many kinds of arguments have been compiled."""
        return sum(len(entries) for entries in self._cache.values())


def _forget(function: CompiledFunction | None, key: Any, entry: Entry) -> None:
    """Take a graph out of a function's cache."""
    candidates = function._cache.get(key, []) if function is not None else []
    if function is not None and entry in candidates:
        candidates.remove(entry)
        if not candidates:
            function._cache.pop(key, None)


class JitMethods(dict):
    """The compiled methods of one object, kept in the object so that both go together. Copies of it start with none."""

    def __init__(self, owner: Any = None):
        super().__init__()
        try:
            self.owner: Callable[[], Any] = weakref.ref(owner)
        except TypeError:  # None, or a class without weak references
            self.owner = lambda: owner

    def __deepcopy__(self, memo: dict) -> JitMethods:
        return JitMethods()

    def __reduce__(self) -> tuple:
        return JitMethods, ()


def _is_equal(weight: Any, array: Any) -> bool:
    return np.array_equal(np.asarray(weight._data), np.asarray(array), equal_nan=True)


def _may_change(value: Any) -> bool:
    """Whether a changed attribute is worth making an input: other kinds of values shape the graph."""
    return type(value) is float or (isinstance(value, TensorBase) and not isinstance(value, values.parameter_class()))


def _changed_by(traced: Traced) -> dict[Any, Any]:
    """Numbers and tensors in attributes that a function reads and then stores anew."""
    stored = {(id(owner), name): template for owner, name, template in traced.attributes}
    return {
        key: read
        for key, read in traced.reads.items()
        if key in stored and stored[key] is not read.value and (_may_change(read.value) or type(read.value) is int)
    }


def _key(value: Any) -> Any:
    """What the compiled graph depends on, of one argument."""
    if isinstance(value, TensorBase):
        if isinstance(value, values.parameter_class()):
            return keys.ByIdentity(value)
        data = value._data
        hooks = getattr(value, "_hooks", None)
        return (data.dtype, data.shape, *value.hooks()) if hooks else (data.dtype, data.shape)
    if isinstance(value, (tuple, list)):
        kind = (type(value), "mutable") if value and getattr(value[0], "_mutable", False) else type(value)
        return (kind, *map(_key, value))
    if isinstance(value, dict) and any(getattr(part, "_mutable", False) for part in value.values()):
        return ("mutable", keys.exact(value, _key))
    if isinstance(value, Mutable):
        return ("mutable", type(value))
    if not isinstance(value, keys.BY_CONTENTS):
        parts = parts_of(value)
        if parts is not None:
            return (type(value), getattr(value, "shape", None), *map(_key, parts))
    return keys.exact(value, _key)
