"""The place where scripts import `Implementation` and the wrapper of plain functions from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.dataset.transforms.compound import run_in_order
from mindspore.dataset.transforms.transform import Implementation, Transform


class FuncWrapper(Transform):
    """A plain function as a transform."""

    random = True

    def __init__(self, transform: Callable):
        if not callable(transform):
            raise ValueError("FuncWrapper only support warping callable python function.")
        self.transform = transform

    def apply(self, *columns: Any) -> Any:
        return self.transform(*columns)


def compose(transforms: list[Callable], *columns: Any) -> Any:
    """Apply the transforms one after the other."""
    result = run_in_order(transforms, columns)
    return result[0] if len(result) == 1 else result


__all__ = ["FuncWrapper", "Implementation", "compose"]
