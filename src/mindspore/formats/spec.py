"""What is known of a model's inputs and outputs; light, because models that were compiled before need nothing else of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base.dtype import ARRAY_TYPES, DType

Shape = tuple[int, ...]


class TensorSpec(NamedTuple):
    """What is known of an input or output: -1 stands for a size that the file leaves open."""

    name: str
    dtype: DType
    shape: Shape


def checked(inputs: Sequence[TensorSpec], arrays: Sequence[Any]) -> list[np.ndarray]:
    """What a model was given, as arrays; ValueError if they are not what it takes."""
    if len(arrays) != len(inputs):
        raise ValueError(f"The model takes {len(inputs)} inputs, but got {len(arrays)}.")
    given = [np.asarray(array) for array in arrays]
    for array, spec in zip(given, inputs):
        if array.shape != spec.shape or array.dtype != spec.dtype.np:
            raise ValueError(
                f"The input '{spec.name}' must be of shape {spec.shape} and type {spec.dtype}, but got shape "
                f"{array.shape} and type {array.dtype}."
            )
    return given


def raise_reported(record: Sequence[int] | None, found: Sequence[Any], errors: Sequence[Callable[[float], BaseException]] = ()) -> None:
    """Raise the error that a run has noted: an index out of range, say. Nothing was stored. `record`: which results tell of it."""
    if record is None or not (code := int(found[record[0]])):
        return
    value = float(found[record[1]])
    if code > len(errors):
        raise ValueError(f"A value that the model computes with is not allowed: {value:g}.")
    raise errors[code - 1](value)


def typed(value: Any, dtype: DType) -> np.ndarray:
    """A result; bytes that stand for a type that no tensor can hold are seen as that type."""
    array = np.asarray(value)
    return array.view(dtype.np) if dtype in ARRAY_TYPES else array
