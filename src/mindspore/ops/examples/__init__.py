"""Examples, and words, of operations that factories make: those have no docstring of their own to hold them.

Each module of this package holds a table by subject, as text:

    name: what it computes (left out where the operation says so itself)
        >>> a call
        its result

`attach` puts them into the docstrings, where `help`, the API reference and the doctests find them.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

SUBJECTS = (
    "array_classes", "elementwise", "elementwise_classes", "functions", "math_classes", "network_classes",
    "random_classes", "sparse", "sparse_classes", "tensor", "updates",
)  # fmt: skip


def attach(ops: Any, tensor: type) -> None:
    """Complete the docstrings of the operations in `ops` and of methods of `tensor`."""
    for subject in SUBJECTS:
        for name, words, example in entries(importlib.import_module(f"{__name__}.{subject}").TABLE):
            owner, attribute = (tensor, name[7:]) if name.startswith("Tensor.") else (ops, name)
            target = getattr(owner, attribute)
            target = target.fget if isinstance(target, property) else target
            words = words or (target.__doc__ or "").rstrip()
            if ">>>" not in words:  # else an alias of one that has been completed
                target.__doc__ = f"{words}\n\n    Examples:\n{example}\n    "
    _share_with_aliases(ops)
    _share_with_methods(ops, tensor)


def complete(owner: Any, table: str) -> None:
    """Complete the docstrings of what `owner` holds."""
    for name, words, example in entries(table):
        target = getattr(owner, name)
        target = target.fget if isinstance(target, property) else target
        target.__doc__ = f"{words or (target.__doc__ or '').rstrip()}\n\n    Examples:\n{example}\n    "


def entries(table: str) -> Iterator[tuple[str, str, str]]:
    """The entries of a table: name, words, and the lines of the example."""
    for entry in re.split(r"\n(?=\S)", table.strip("\n")):
        head, _, example = entry.partition("\n")
        name, _, words = head.partition(": ")
        yield name, words, textwrap.indent(example, "    ")


def _share_with_aliases(ops: Any) -> None:
    """The second name of a function (see `function._common.alias`) has the words and the example of the first."""
    for name, target in vars(ops).items():
        first = getattr(target, "__wrapped__", target)
        if first is target or not inspect.isfunction(first) or not first.__doc__:
            continue
        first_name, words = first.__name__, first.__doc__
        if getattr(ops, first_name, None) is first:
            target.__doc__ = words.replace(f"ops.{first_name}(", f"ops.{name}(")


def _share_with_methods(ops: Any, tensor: type) -> None:
    """Methods that are a function, or find it when they are called (see `tensor_methods`), have its words and example."""
    for name, method in vars(tensor).items():
        if not inspect.isfunction(method):
            continue
        function = vars(ops).get(name) if not method.__doc__ else inspect.unwrap(method)
        if inspect.isfunction(function) and (function.__doc__ or "").startswith((method.__doc__ or "").rstrip()):
            method.__doc__ = function.__doc__
            if function is not method:
                method.__wrapped__ = function  # type: ignore[attr-defined]
