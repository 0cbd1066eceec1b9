"""Frames of interpreted functions, and the functions themselves."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from mindspore.ir import Location
from mindspore.prims.values import ValueUnknownError


class Undefined:
    """The value of a name that only one branch of an `if` defined, or that branches gave values that do not fit."""

    def __init__(self, message: str, dynamic: bool = False):
        self.message = message
        self.dynamic = dynamic  # a run that knows the values would have one

    def error(self, kind: type[Exception] = UnboundLocalError) -> Exception:
        return ValueUnknownError(self.message) if self.dynamic else kind(self.message)


class Frame:
    """One call of an interpreted function."""

    __slots__ = (
        "cells",
        "depth",
        "enclosing",
        "file",
        "function",
        "globals",
        "locals",
        "name",
        "node",
        "nonlocals",
        "parent",
        "region",
        "yielded",
    )

    def __init__(
        self,
        name: str,
        file: str,
        global_names: dict,
        enclosing: Frame | None,
        cells: dict[str, Any],
        parent: Frame | None,
    ):
        self.name = name
        self.file = file
        self.globals = global_names
        self.enclosing = enclosing
        self.cells = cells
        self.parent = parent
        self.locals: dict[str, Any] = {}
        self.node: ast.AST | None = None
        self.nonlocals: set[str] = set()
        self.yielded: tuple[list, Any] | None = None  # of a generator: its items so far, and the Builder they belong to
        self.region = "function"  # or "loop": where a jump or fall-through ends
        self.function: Any = None
        self.depth: int = parent.depth + 1 if parent is not None else 1

    # -- names ----------------------------------------------------------------------------------------------------
    def lookup(self, name: str) -> Any:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals:
                value = frame.locals[name]
                if type(value) is Undefined:
                    raise value.error()
                return value
            if name in frame.cells:
                try:
                    return frame.cells[name].cell_contents
                except ValueError:
                    raise NameError(f"free variable '{name}' is used before it has a value") from None
            frame = frame.enclosing
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"The name '{name}' is not defined, or not supported in graph mode.")

    def cell_of(self, name: str) -> Any:
        """The closure cell that a name means, if any."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals and not (frame is self and name in self.nonlocals):
                return None
            if name in frame.cells:
                return frame.cells[name]
            frame = frame.enclosing
        return None

    def is_global(self, name: str) -> bool:
        """Whether a name means the module's global variable."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals or name in frame.cells:
                return False
            frame = frame.enclosing
        return name in self.globals

    def store(self, name: str, value: Any) -> None:
        if name in self.nonlocals:
            frame = self.enclosing
            while frame is not None:
                if name in frame.locals:
                    frame.locals[name] = value
                    return
                frame = frame.enclosing
            if name in self.cells:
                self.cells[name].cell_contents = value
                return
            self.globals[name] = value
            return
        self.locals[name] = value

    # -- position -------------------------------------------------------------------------------------------------
    def location(self) -> Location | None:
        node: Any = self.node
        if node is None or not hasattr(node, "lineno"):
            return None
        cached = getattr(node, "_ms_location", None)
        if cached is None:
            end = node.end_col_offset if node.end_lineno == node.lineno else -1
            cached = Location(self.file, node.lineno, node.col_offset, end if end is not None else -1, self.name)
            node._ms_location = cached
        return cached

    def locations(self) -> tuple[Location, ...]:
        """This frame's position and those of its callers, innermost first."""
        out = []
        frame: Frame | None = self
        while frame is not None:
            place = frame.location()
            if place is not None:
                out.append(place)
            frame = frame.parent
        return tuple(out)


class InterpretedFunction:
    """A function or lambda defined inside interpreted code. It can be called from library code too."""

    def __init__(
        self, node: ast.FunctionDef | ast.Lambda, frame: Frame, defaults: tuple, kw_defaults: dict, interpreter: Any
    ):
        self.node = node
        self.frame = frame
        self.defaults = defaults
        self.kw_defaults = kw_defaults
        self._interpreter = interpreter
        self.__name__ = getattr(node, "name", "<lambda>")
        self.__qualname__ = self.__name__
        self.__module__ = frame.globals.get("__name__", "")
        self.__doc__ = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._interpreter.call(self, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class Return:
    """Flow: the function returns."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class Jump:
    """Flow: `break` or `continue`."""

    def __init__(self, kind: str):
        self.kind = kind


class Mixed:
    """Flow at the end of a loop body whose way out depends on run-time values: flags say which."""

    __slots__ = ("broke", "returned", "value")

    def __init__(self, broke: Any, returned: bool, value: Any):
        self.broke = broke
        self.returned = returned
        self.value = value


BREAK = Jump("break")
CONTINUE = Jump("continue")
