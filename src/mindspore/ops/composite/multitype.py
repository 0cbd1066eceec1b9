"""MultitypeFuncGraph: one name, several functions, chosen by the types of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler import parse
from mindspore.prims.active import ACTIVE
from mindspore.prims.values import SymbolicScalarBase, TensorBase


class MultitypeFuncGraph:
    """A set of functions overloaded by argument types.

    Types are written as strings ("Tensor", "Number", "Bool", "String", "Tuple", "List", "None", "Function", "RowTensor",
    "MapTensor" …) or MindSpore types.

    Examples:
        >>> from mindspore import ops
        >>> add = ops.MultitypeFuncGraph("add")
        >>> @add.register("Number", "Number")
        ... def add_numbers(x, y):
        ...     return x + y
        >>> add(1, 2)
        3
    """

    def __init__(self, name: str, read_value: bool = False, doc_url: str = ""):
        self.name = name
        self.read_value = read_value
        self.entries: list[tuple[tuple, Callable]] = []

    def register(self, *type_names: Any) -> Callable:
        """Decorator: use the function for arguments of these types.

        Examples:
            >>> from mindspore import ops
            >>> add = ops.MultitypeFuncGraph('add')
            >>> @add.register('Number', 'Number')
            ... def add_numbers(x, y):
            ...     return x + y
            >>> add(1, 2)
            3
        """
        kinds = tuple(_normal(t) for t in type_names)

        def decorate(fn: Callable) -> Callable:
            self.entries.append((kinds, fn))
            return fn

        return decorate

    def register_default(self) -> Callable:
        def decorate(fn: Callable) -> Callable:
            self.entries.append(((), fn))
            return fn

        return decorate

    def set_doc_url(self, doc_url: str) -> None:
        """Kept for scripts that call it."""

    def set_need_raise(self) -> None:
        """Kept for scripts that call it."""

    def find(self, args: tuple) -> Callable:
        """The registered function whose types fit; exact kinds before general ones."""
        for kinds, fn in self.entries:
            if len(kinds) == len(args) and all(_matches(k, a) for k, a in zip(kinds, args)):
                return fn
        for kinds, fn in self.entries:
            if not kinds:
                return fn
        given = ", ".join(type(a).__name__ for a in args)
        known = "; ".join("(" + ", ".join(str(k) for k in kinds) + ")" for kinds, _ in self.entries)
        raise TypeError(
            f"For 'MultitypeFuncGraph' '{self.name}', there is no function for the argument types ({given}). Registered: {known}."
        )

    def __call__(self, *args: Any) -> Any:
        fn = self.find(args)
        return parse.call(fn, args) if ACTIVE.builder is not None else fn(*args)

    def __ms_trace__(self, interpreter: Any, args: tuple, kwargs: dict) -> Any:
        return interpreter.call(self.find(args), args, kwargs)


_KINDS: dict[str, Any] = {
    "tensor": lambda v: isinstance(v, TensorBase),
    "number": lambda v: isinstance(v, (int, float, complex, np.number, SymbolicScalarBase)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "string": lambda v: isinstance(v, str),
    "tuple": lambda v: isinstance(v, tuple),
    "list": lambda v: isinstance(v, list),
    "dictionary": lambda v: isinstance(v, dict),
    "dict": lambda v: isinstance(v, dict),
    "none": lambda v: v is None,
    "slice": lambda v: isinstance(v, slice),
    "ellipsis": lambda v: v is Ellipsis,
    "function": callable,
    "func": callable,
    "cell": lambda v: hasattr(v, "run_around"),
    "ref": lambda v: isinstance(v, TensorBase) and hasattr(v, "param_info"),
    "rowtensor": lambda v: type(v).__name__ in ("RowTensor", "RowTensorInner"),
    "cootensor": lambda v: type(v).__name__ == "COOTensor",
    "csrtensor": lambda v: type(v).__name__ == "CSRTensor",
    "maptensor": lambda v: type(v).__name__ == "MapTensor",
    "problem": lambda v: False,
    "any": lambda v: True,
}
_NAMES = {"list_": "list", "tuple_": "tuple", "dict_": "dict", "type_none": "none"}


def _normal(kind: Any) -> str:
    if isinstance(kind, mstype.DType):
        return {"b": "bool", "s": "string"}.get(kind.kind, f"dtype:{kind.name}")
    if isinstance(kind, mstype.Type):
        return _NAMES.get(kind.name, kind.name).lower()
    name = str(kind)
    if name.lower() in _KINDS:
        return name.lower()
    if name.lower() in ("int", "int64", "int32", "float", "float32", "float64"):
        return f"dtype:{name.lower()}"
    raise TypeError(f"For 'MultitypeFuncGraph', {name!r} is not the name of a type; known are {sorted(_KINDS)}.")


def _matches(kind: str, value: Any) -> bool:
    if kind.startswith("dtype:"):
        wanted = float if "float" in kind else int
        return isinstance(value, wanted) and not isinstance(value, bool)
    return bool(_KINDS[kind](value))


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Attach flags to a function or cell, directly or as a decorator; they change no result.

    Examples:
        >>> @ops.add_flags(purpose="encoder")
        ... def double(x):
        ...     return 2 * x
        >>> double(4)
        8
    """
    if fn is None:
        return lambda function: add_flags(function, **flags)
    fn._func_graph_flags = {**getattr(fn, "_func_graph_flags", {}), **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """Mark a function as part of the framework's core; it changes no result.

    Examples:
        >>> @ops.core
        ... def identity(x):
        ...     return x
        >>> identity(5)
        5
    """
    return add_flags(fn, core=True, **flags)
