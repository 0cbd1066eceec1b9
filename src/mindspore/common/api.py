"""Compiling functions: `jit`, and what Cells use in graph mode.

A `CompiledFunction` keeps one executable per kind of arguments. The kind is: the structure, the shapes and types of the
tensors, the values of everything else, and the attributes that were read (guards.py). A second call of the same kind
compiles nothing.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore import context
from mindspore._base import flags
from mindspore.common import memory_report
from mindspore.common.autograd import _no_grad  # noqa: F401 - programs import it from here
from mindspore.common.executors import _cell_graph_executor, _pynative_executor  # noqa: F401 - likewise
from mindspore.common.guards import Guards
from mindspore.common.mutable_data import Mutable, holds_mutable, plain
from mindspore.compiler import driver, parse
from mindspore.compiler.parse.entry import Place, Traced, tensors_in
from mindspore.compiler.parse.errors import is_located
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.control import Call
from mindspore.prims.structure import parts_of, with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, executor
from mindspore.runtime.staged import OtherAnswers, StagedExecutable, run_node

#: references to a Parameter's array when nobody but the Parameter and the call at hand holds it
_OWN_REFERENCES = 3
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
#: Python calls under way while a graph that calls itself runs: well within the stack of a thread
RECURSION_LIMIT = 10_000
#: stands for an entry that is not a graph: the function needs values that only a run gives
EAGER = object()
#: the same, where the values are those of mutable arguments: it is compiled for each of them
BY_VALUE = object()


class CompiledFunction:
    """A function or Cell compiled per kind of arguments."""

    def __init__(self, function: Any, name: str = "", options: dict | None = None):
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.options = options or {}
        self._cache: dict[Any, list[Any]] = {}
        self._bound: dict[int, dict] = {}  # what objects without a __dict__ would keep
        self._variable: dict[Any, Any] = {}  # attributes that change between calls and so are inputs: key -> Read
        self._seconds = 0.0  # spent on compiling for different values
        self._by_value = False  # whether the values of mutable arguments are needed when compiling
        self._fixed: set[Any] = set()  # attributes that must be known when compiling, even if they change
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

    def _run(self, entry: Entry, args: tuple, kwargs: dict) -> Any:
        tensors = tensors_in(args)
        if kwargs:
            tensors_in(kwargs, tensors)
        if ACTIVE.tapes and any(tape.tracks(t) for tape in ACTIVE.tapes for t in (*tensors, *entry.traced.weights)):
            from mindspore.common.graph_gradient import run_recorded

            return run_recorded(self, entry, args, kwargs, tensors)
        return entry.run_plain(tensors)

    def _run_other(self, answers: list[tuple], args: tuple, kwargs: dict) -> Any:
        """Run the graph that is made for the values met on the way; compile it if there is none yet.

        Where there would be too many of them, the function runs as plain Python.
        """
        candidates = self._cache[self._key(args, kwargs)]
        made = [e for e in candidates if isinstance(e, Entry) and e.answers]
        fitting: Any = next((e for e in made if e.answers[: len(answers)] == answers and e.guards.hold()), None)
        if fitting is None and len(made) < MAX_ANSWERS and self._seconds < MAX_SECONDS:
            begin = time.perf_counter()
            fitting = self._build(args, kwargs)
            self._seconds += time.perf_counter() - begin
        if fitting is None:
            warnings.warn(f"'{self.name}' runs as plain Python from now on: its shapes change too often.", stacklevel=3)
            fitting = EAGER
            candidates.clear()
        elif fitting in candidates:
            candidates.remove(fitting)
        candidates.insert(0, fitting)  # the next call probably has the same values
        if not isinstance(fitting, Entry):
            return self._run_eagerly(args, kwargs)
        try:
            return self._run(fitting, args, kwargs)
        except OtherAnswers as met:
            if len(met.answers) <= len(answers):  # the same arguments give different values each time
                return self._run_eagerly(args, kwargs)
            return self._run_other(met.answers, args, kwargs)

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
        found = methods.get(id(self))
        if found is None:
            method = self.function.__get__(instance, owner)
            found = methods[id(self)] = CompiledFunction(method, self.name, self.options)
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
            if entry is EAGER or entry is BY_VALUE or entry.guards.hold():
                return entry
        for entry in candidates[-1:]:
            self._note_variable({(id(r.owner), r.name): r for r in entry.guards.changed() if _may_change(r.value)})
        try:
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
            return (_key(args), _key(kwargs) if kwargs else None, executor.backend_key())
        except RecursionError:
            raise RuntimeError("Detect recursion when converting python object. An argument contains itself.") from None

    def _build(self, args: tuple, kwargs: dict) -> Any:
        try:
            traced = self._trace(args, kwargs)
        except values.ValueUnknownError as error:
            is_size = isinstance(error, values.SizeUnknownError)
            if holds_mutable(args) or holds_mutable(kwargs):
                return BY_VALUE
            if context.get_context("jit_syntax_level") == context.STRICT and not is_size:
                raise
            warnings.warn(f"'{self.name}' cannot be compiled and runs as plain Python: {error}", stacklevel=4)
            return EAGER
        return Entry(traced, self.name)

    # -- attributes that change from call to call --------------------------------------------------------------------
    def _trace(self, args: tuple, kwargs: dict) -> Traced:
        """Trace; attributes that the function itself changes become inputs, if it can be compiled so."""
        traced = self._trace_with(args, kwargs)
        if not self._note_variable(_changed_by(traced)):
            return traced
        try:
            return self._trace_with(args, kwargs)
        except Exception:  # their values are needed when compiling: it is compiled anew for each
            return traced

    def _trace_with(self, args: tuple, kwargs: dict) -> Traced:
        """Trace for any values of the arguments or, if that is not possible, for those they have (staging.py)."""
        try:
            return self._trace_for(args, kwargs)
        except values.ValueUnknownError as error:
            strict = context.get_context("jit_syntax_level") == context.STRICT
            if (
                (strict and not isinstance(error, values.SizeUnknownError))
                or holds_mutable(args)
                or holds_mutable(kwargs)
            ):
                raise  # mutable numbers are simply made constants: BY_VALUE
        try:
            return self._trace_for(args, kwargs, run_node)
        except values.ValueUnknownError:
            return self._trace_for(args, kwargs, run_node, decides=True)

    def _trace_for(self, args: tuple, kwargs: dict, run_node: Any = None, decides: bool = False) -> Traced:
        """Trace with as many of the changing attributes as inputs as the function allows: all, the tensors, none."""
        depth = context.get_context("max_call_depth")
        tensors = {key: read for key, read in self._variable.items() if isinstance(read.value, TensorBase)}
        for inputs in (self._variable, tensors) if self._variable else ():
            try:
                traced = parse.trace(
                    self.function, args, kwargs, self.name, depth, frozenset(inputs), run_node, decides
                )
            except Exception:
                continue  # a value was needed, or the program is wrong: the trace without inputs tells
            self._fix(set(self._variable) - set(inputs))
            return traced
        traced = parse.trace(self.function, args, kwargs, self.name, depth, frozenset(), run_node, decides)
        self._fix(set(self._variable))
        return traced

    def _fix(self, keys: set[Any]) -> None:
        self._fixed |= keys
        for key in keys:
            self._variable.pop(key, None)

    def _note_variable(self, reads: dict[Any, Any]) -> bool:
        """Have attributes read anew at each call; whether there are new ones among them."""
        new = {k: r for k, r in reads.items() if k not in self._variable and k not in self._fixed}
        self._variable.update(new)
        return bool(new)

    def _run_eagerly(self, args: tuple, kwargs: dict) -> Any:
        """Run a function that needs the values of tensors while it runs, as PyNative mode would."""
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


class Entry:
    """One compiled kind of arguments."""

    def __init__(self, traced: Traced, name: str):
        self.traced = traced
        self.name = name
        level, path = context.dump_options()
        written = {id(p) for p, _ in traced.written}
        first = traced.arguments
        donated = frozenset(first + i for i, w in enumerate(traced.weights) if id(w) in written)
        self.donated = tuple(donated)
        self.scalar_outputs = _scalar_outputs(traced)
        self.guards = Guards(traced)
        self.device = devices.accelerator()
        self.recursive = any(isinstance(n.op, Call) for g in traced.graph.all_graphs() for n in g.nodes())
        options = driver.Options(level, path)
        self.answers = [q.answer for q in traced.questions]  # the values and shapes it is made for
        if traced.questions:  # found unfit half-way it must have changed nothing: no input is given away
            self.donated = ()
            self.executable: Any = StagedExecutable(traced.graph, traced.questions, options)
        else:
            self.executable = executor.compile_graph(traced.graph, donated, options)
        self.kept = getattr(self.executable, "kept_inputs", ())  # weights that the executable keeps copies of

    def run_plain(self, tensors: list[Any]) -> Any:
        """Run the graph on the tensors found in the arguments."""
        arrays = self._arrays(tensors)
        if self.device is not None and np.ndarray in map(type, arrays):
            self._move_to_device(tensors)
            arrays = self._arrays(tensors)
        for i in self.donated:
            if sys.getrefcount(arrays[i]) > _OWN_REFERENCES:  # somebody else holds it: give the graph a copy
                arrays[i] = arrays[i].copy()
        if self.recursive:
            return self.finish(self._run_deep(arrays))
        if self.kept:
            own = all(sys.getrefcount(arrays[i]) <= _OWN_REFERENCES for i in self.kept)
            return self.finish(self.executable(*arrays, own=own))
        return self.finish(self.executable(*arrays))

    def _run_deep(self, arrays: list[Any]) -> Any:
        with _deep_recursion():
            try:
                return self.executable(*arrays)
            except RecursionError:
                raise RuntimeError(
                    f"Exceed function call depth limit: a function in '{self.name}' calls itself too often. Does its recursion end?"
                ) from None

    def _arrays(self, tensors: list[Any]) -> list[Any]:
        """The graph's inputs."""
        arrays = [t._data if isinstance(t, TensorBase) else np.asarray(t.plain()) for t in tensors]
        return arrays + [w._data for w in self.traced.weights]

    def _move_to_device(self, tensors: list[Any]) -> None:
        """Tensors that are still on the host move to the accelerator for good: the next call finds them there."""
        for holder in (*tensors, *self.traced.weights):
            if type(getattr(holder, "_data", None)) is np.ndarray:
                holder._data = self.device.place(holder._data)

    def finish(self, outputs: Any) -> Any:
        """Store new parameter values, raise what the graph reported, and rebuild the result."""
        traced = self.traced
        for parameter, index in traced.written:
            parameter._data = outputs[index]
        if traced.error_output >= 0:
            code = int(np.asarray(outputs[traced.error_output]))
            if code:
                raise traced.errors[code - 1]
        for owner, name, template in traced.attributes:
            setattr(owner, name, rebuild(template, outputs, self))
        return rebuild(traced.result, outputs, self)


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    """Graphs that call themselves may go deeper than Python's usual limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


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


def rebuild(template: Any, outputs: Any, entry: Any) -> Any:
    """A result structure with its tensors filled in."""
    if type(template) is Place:
        return _public(outputs[template.index], entry, template.index)
    if isinstance(template, TensorBase) and type(template) is values.tensor_class():
        return values.from_array(template._data)
    parts = parts_of(template)
    return template if parts is None else with_parts(template, [rebuild(part, outputs, entry) for part in parts])


def _public(array: Any, entry: Any, index: int) -> Any:
    if index in entry.scalar_outputs:
        return np.asarray(array).item()
    return values.from_array(array)


def _scalar_outputs(traced: Traced) -> frozenset[int]:
    from mindspore.ir import AbstractScalar

    return frozenset(i for i, a in enumerate(traced.graph.outputs) if isinstance(a, AbstractScalar))


def _key(value: Any) -> Any:
    """What the compiled graph depends on, of one argument."""
    if isinstance(value, TensorBase):
        if isinstance(value, values.parameter_class()):
            return id(value)
        data = value._data
        return (data.dtype, data.shape)
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_key, value))
    if isinstance(value, dict):
        return tuple((k, _key(v)) for k, v in value.items())
    if isinstance(value, Mutable):
        return ("mutable", type(value))
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        return (type(value), value)
    if isinstance(value, np.ndarray):
        return ("array", value.dtype, value.shape, value.tobytes())
    parts = parts_of(value)
    if parts is not None:
        return (type(value), getattr(value, "shape", None), *map(_key, parts))
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def jit(
    function: Any = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Compile a function into one graph.

    Examples:
        >>> import mindspore as ms
        >>> @ms.jit
        ... def f(x, y):
        ...     return x * y + 1
        >>> f(ms.Tensor([2.0]), ms.Tensor([3.0])).asnumpy().tolist()
        [7.0]
    """
    if capture_mode not in ("ast", "bytecode", "trace"):
        raise ValueError(f"For 'jit', 'capture_mode' must be 'ast', 'bytecode' or 'trace', but got {capture_mode!r}.")
    if not isinstance(fullgraph, bool):
        raise TypeError(f"For 'jit', 'fullgraph' must be a bool, but got {fullgraph!r}.")

    def wrap(target: Any) -> Any:
        if hasattr(target, "run_around"):
            target.__dict__["_jit"] = True
            target.__dict__["_compiled_call"] = True
            return target
        if isinstance(target, CompiledFunction):
            return target
        if not callable(target):
            raise TypeError(f"For 'jit', the argument must be a function or a Cell, but got {type(target).__name__}.")
        return CompiledFunction(target, options={"jit_level": jit_level, **options})

    return wrap if function is None else wrap(function)


def ms_function(
    fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Any = None, **_: Any
) -> Any:
    """The 1.x name of `jit`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> ms.ms_function(lambda x: x + 1)(Tensor([1.0])).tolist()
        [2.0]
    """
    return jit(fn) if fn is not None else jit


def jit_class(cls: type) -> type:
    """Mark a class whose objects may be used in compiled functions. Any class may: this only checks its argument."""
    if not isinstance(cls, type):
        raise TypeError("Decorator jit_class can only be used on a class.")
    return cls


def constexpr(
    fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True, check: bool = True
) -> Any:
    """Mark a function that is run when compiling. Its arguments must be known then.

    Examples:
        >>> import mindspore as ms
        >>> size = ms.constexpr(lambda n: n * 2)
        >>> size(3)
        6
    """

    def wrap(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                if values.is_symbolic(value):
                    raise ValueError(
                        f"'{function.__name__}' is run when compiling (constexpr) and needs known values, but got a tensor that is only "
                        "known when the graph runs."
                    )
            return function(*args, **kwargs)

        run.__module__ = "mindspore.constexpr"  # called, never interpreted
        return run

    return wrap(fn) if fn is not None else wrap


def _primexpr(fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True) -> Any:
    """Like constexpr, but run-time values may be passed: then it is interpreted."""
    return fn if fn is not None else (lambda function: function)


class JitConfig:
    """Compilation settings for `Cell.set_jit_config`."""

    def __init__(self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", debug_level: str = "RELEASE",
                 infer_boost: str = "off", **kwargs: Any):  # fmt: skip
        if jit_level not in ("", "O0", "O1", "O2", "O3"):
            raise ValueError(
                f"For 'jit_level' the value must be one of ['O0', 'O1', 'O2', 'O3'], but got {jit_level!r}."
            )
        if exc_mode not in ("auto", "sink", "no_sink"):
            raise ValueError(
                f"For 'exc_mode' the value must be one of ['auto', 'sink', 'no_sink'], but got {exc_mode!r}."
            )
        if jit_syntax_level not in ("", "STRICT", "COMPATIBLE", "LAX"):
            raise ValueError(
                f"For 'jit_syntax_level' the value must be one of ['', 'STRICT', 'LAX'], but got {jit_syntax_level!r}."
            )
        self.jit_config_dict = {
            "jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level, "debug_level": debug_level,
            "infer_boost": infer_boost, **kwargs,
        }  # fmt: skip


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Kept for scripts that decorate `__init__` with it; graphs here are optimised without the hint."""
    if callable(fn) and not inspect.isclass(fn):
        return fn
    return lambda function: function


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep functions may call each other in a compiled graph."""
    context.set_context(max_call_depth=recursion_limit)


def ms_memory_recycle() -> None:
    """Kept for scripts that call it; memory is freed by reference counting."""


def _function_forbid_reuse(fn: Any) -> Any:
    """Kept for libraries that decorate with it: what a function draws at random is drawn anew by every call anyway."""
    return fn


def no_inline(fn: Any = None) -> Any:
    """Kept for scripts that use it; whether a function is inlined changes no result."""
    return fn if fn is not None else (lambda function: function)
