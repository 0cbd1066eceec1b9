"""Functions that stand behind methods in official MindSpore's graphs."""

from __future__ import annotations

from typing import Any

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


def ms_len(data: Any) -> Any:
    """The length of a sequence or tensor."""
    return len(data)


def list_append(data: list, item: Any) -> list:
    """The list with one element more."""
    return [*data, item]


def list_insert(data: list, index: Any, item: Any) -> list:
    """The list with an element more, before a place."""
    return [*data[:index], item, *data[index:]]


def __getattr__(name: str) -> Any:
    """A method of Tensor as a function."""
    from mindspore.common.tensor import Tensor

    method = getattr(Tensor, name, None)
    if name.startswith("_") or not callable(method):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return method
