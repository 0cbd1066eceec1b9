"""ONNX sequences (Python lists here) and optional values (None when empty)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.formats.onnx.registry import P, as_tensor, ints, operator


@operator("SequenceConstruct", arrays=True)
def _construct(*items: Any) -> list:
    return list(items)


@operator("SequenceEmpty", arrays=True)
def _empty(dtype: int = 1) -> list:
    return []


@operator("SequenceLength", arrays=True)
def _length(sequence: list) -> np.ndarray:
    return np.array(len(sequence), np.int64)


@operator("SequenceAt", arrays=True)
def _at(sequence: list, position: Any) -> Any:
    return sequence[ints(position, "a position")[0]]


@operator("SequenceInsert", arrays=True)
def _insert(sequence: list, item: Any, position: Any = None) -> list:
    made = list(sequence)
    place = len(made) if position is None else ints(position, "a position")[0]
    made.insert(place, item)
    return made


@operator("SequenceErase", arrays=True)
def _erase(sequence: list, position: Any = None) -> list:
    made = list(sequence)
    del made[-1 if position is None else ints(position, "a position")[0]]
    return made


@operator("ConcatFromSequence", arrays=True)
def _concat(sequence: list, axis: int = 0, new_axis: int = 0) -> Any:
    tensors = [as_tensor(item) for item in sequence]
    return P.Stack(axis)(tensors) if new_axis else P.Concat(axis)(tensors)


@operator("SplitToSequence", arrays=True)
def _split(x: Any, sizes: Any = None, axis: int = 0, keepdims: int = 1) -> list:
    x = as_tensor(x)
    axis, whole = axis % x.ndim, x.shape[axis % x.ndim]
    if sizes is None:
        steps = [1] * whole
    elif sizes.ndim == 0:
        each = ints(sizes, "sizes")[0]
        steps = [min(each, whole - at) for at in range(0, whole, each)]
    else:
        steps = list(ints(sizes, "sizes"))
    parts, at = [], 0
    for step in steps:
        part = x[(*(slice(None),) * axis, slice(at, at + step))]
        parts.append(part if keepdims or sizes is not None else P.Squeeze(axis)(part))
        at += step
    return parts


@operator("Optional", arrays=True)
def _optional(value: Any = None, type: Any = None) -> Any:
    return value


@operator("OptionalHasElement", arrays=True)
def _has_element(value: Any = None) -> np.ndarray:
    return np.array(value is not None)


@operator("OptionalGetElement", arrays=True)
def _get_element(value: Any) -> Any:
    if value is None:
        raise ValueError("The ONNX model takes the element of an empty optional value.")
    return value
