"""How many outputs the calls of a method have, read from the statements they stand in (`x1, x2 = call_preprocess(…)`)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_NAMES = ("call_preprocess", "call_preprocess_pipeline", "call_servable", "call_postprocess", "call_postprocess_pipeline")


@dataclass
class Calls:
    """The calls of a method: how many outputs each has, by the source, and which were made."""

    outputs: dict[str, int]
    made: set[str] = field(default_factory=set)


_calls: ContextVar[Calls | None] = ContextVar("calls of the method being defined", default=None)


@contextmanager
def checked_calls(function: Callable[..., Any]) -> Iterator[None]:
    """The decorated function runs within: its source must be what these calls allow."""
    calls = Calls(_outputs_of_calls(function))
    token = _calls.set(calls)
    try:
        yield
    finally:
        _calls.reset(token)


def _outputs_of_calls(function: Callable[..., Any]) -> dict[str, int]:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    outputs: dict[str, int] = {}
    other: ast.stmt | None = None
    for statement in definition.body if isinstance(definition, ast.FunctionDef) else []:
        if isinstance(statement, (ast.Return, ast.Expr)):
            continue
        name = _called(statement)
        if name not in _NAMES:
            other = other or statement
            continue
        assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        if len(statement.value.args) - (name != "call_servable") <= 0:
            raise RuntimeError(f"Invalid '{name}' invoke args")
        target = statement.targets[0]
        outputs[name] = len(target.elts) if isinstance(target, ast.Tuple) else 1
    if outputs and other is not None:
        raise too_complex(function.__name__, ";".join(outputs), f", line {other.lineno}: {ast.unparse(other).splitlines()[0]}")
    if outputs and "call_servable" not in outputs:
        raise RuntimeError("Not find the invoke of 'call_servable'")
    return outputs


def _called(statement: ast.stmt) -> str | None:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    function = statement.value.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def too_complex(method: str, names: str, where: str = "") -> RuntimeError:
    return RuntimeError(
        f"Failed to parse method '{method}', complex statements such as conditions and loops are not supported in "
        f"register_method when the interface '{names}' is used, use 'add_stage' to replace '{names}'{where}"
    )


def calls_of_method() -> Calls | None:
    return _calls.get()
