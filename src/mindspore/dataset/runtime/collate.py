"""Rows into batches: stacking, and padding to one shape first where asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.ir.leaf import Row
from mindspore.dataset.runtime.errors import pipeline_error
from mindspore.dataset.runtime.room import BatchRoom


def collate(
    rows: Sequence[Row], columns: Sequence[str], pad_info: dict | None = None, room: BatchRoom | None = None
) -> Row:
    """One array for each column. Rows that were written into `room` are a batch already."""
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise pipeline_error(f"Cannot batch rows with different numbers of columns: {sorted(widths)}.")
    batch = []
    values: Sequence
    for i, values in enumerate(zip(*rows)):
        name = columns[i] if i < len(columns) else str(i)
        if pad_info is not None:
            values = pad_column(values, name, pad_info)
        whole = room.filled(values) if room is not None else None
        batch.append(stack(values, i) if whole is None else whole)
    return tuple(batch)


def stack(values: Sequence, column: int):
    """The values of one column as one array, written straight into the batch's buffer."""
    first = values[0]
    if isinstance(first, dict):
        return _stack_dicts(values, column)
    arrays = [np.asarray(value) for value in values]
    first = arrays[0]
    if first.dtype.kind in "US":
        return _stack_text(arrays, column)
    for other in arrays:
        if other.shape != first.shape:
            raise pipeline_error(
                f"Cannot batch tensors with different shapes in column {column}. First element had shape "
                f"{_shape(first)} and this element had shape {_shape(other)}"
            )
        if other.dtype != first.dtype:
            raise pipeline_error(
                f"Cannot batch tensors with different types in column {column}. First element had type "
                f"{first.dtype} and this element had type {other.dtype}"
            )
    out = np.empty((len(arrays), *first.shape), first.dtype)
    for i, array in enumerate(arrays):
        out[i] = array
    return out


def _stack_text(arrays: list[np.ndarray], column: int) -> np.ndarray:
    for other in arrays:
        if other.shape != arrays[0].shape:
            raise pipeline_error(
                f"Cannot batch tensors with different shapes in column {column}. First element had shape "
                f"{_shape(arrays[0])} and this element had shape {_shape(other)}"
            )
    return np.stack(arrays)


def _stack_dicts(values: Sequence[dict], column: int) -> dict:
    """A dict of arrays; dicts within dicts stay dicts."""
    lists = lists_of_dicts(values, column)
    return {
        key: _stack_dicts(items, column) if isinstance(items[0], dict) else _stack_plain(items, key)
        for key, items in lists.items()
    }


def _stack_plain(items: list, key: Any) -> np.ndarray:
    try:
        array = np.array(items)
    except ValueError as error:
        raise pipeline_error(
            f"Batch: failed to create a NumPy array with primitive types for key {key!r} of the dicts: {error}"
        ) from None
    if array.dtype == object:
        raise pipeline_error(f"Batch: failed to create a NumPy array with primitive types for key {key!r} of the dicts.")
    return array


def lists_of_dicts(values: Sequence, column: int) -> dict[Any, list]:
    """For each key the values of all the dicts."""
    if not all(isinstance(value, dict) for value in values) or any(set(value) != set(values[0]) for value in values):
        raise pipeline_error(f"Cannot batch dictionaries with different keys in column {column}.")
    return {key: [value[key] for value in values] for key in values[0]}


def _shape(array: np.ndarray) -> str:
    return "<" + ",".join(str(side) for side in array.shape) + ">"


def pad_column(values: Sequence, name: str, pad_info: dict) -> Sequence:
    """The column's values padded to the shape `pad_info` gives, or to the largest of them."""
    if pad_info and name not in pad_info:
        return values
    shape, fill = _pad_target(pad_info.get(name))
    arrays = [np.asarray(value) for value in values]
    rank = arrays[0].ndim
    if any(array.ndim != rank for array in arrays):
        raise pipeline_error(f"Invalid data, cannot pad column {name}: its rows differ in their number of dimensions.")
    if shape is not None and len(shape) != rank:
        raise pipeline_error(
            f"Invalid data, rank of pad_shape must be equal to rank of specified column. pad_shapes rank: "
            f"{len(shape)}, column rank: {rank}."
        )
    largest = [max(array.shape[axis] for array in arrays) for axis in range(rank)]
    target = [largest[i] if shape is None or shape[i] in (None, -1) else shape[i] for i in range(rank)]
    return [pad_to(array, target, fill) for array in arrays]


def _pad_target(entry) -> tuple:
    if entry is None:
        return None, None
    shape, fill = entry
    if fill is not None and hasattr(fill, "asnumpy"):
        fill = fill.asnumpy()
    return shape, fill


def pad_to(array: np.ndarray, target: Sequence[int], fill) -> np.ndarray:
    """Cut or fill `array` at the end of each axis."""
    if list(array.shape) == list(target):
        return array
    text = array.dtype.kind in "US"
    if fill is None:
        fill = ("" if array.dtype.kind == "U" else b"") if text else 0
    if text:
        filler = np.asarray(fill)
        if filler.dtype.kind not in "US":
            raise pipeline_error(f"PadOp: the fill value of a string column must be a string, but got {fill!r}.")
        if filler.dtype.kind != array.dtype.kind:
            filler = filler.astype(array.dtype.kind)
        dtype = np.promote_types(array.dtype, filler.dtype)
    else:
        filler, dtype = fill, array.dtype
    out = np.full(target, filler, dtype=dtype)
    common = tuple(slice(0, min(have, want)) for have, want in zip(array.shape, target))
    out[common] = array[common]
    return out
