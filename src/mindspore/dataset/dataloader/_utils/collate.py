"""How rows become a batch.

Rows of one structure (numbers, arrays, tensors, texts, and tuples, lists or mappings of them) become the same structure
of batches: every leaf is stacked along a new first dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindspore._base.tensor_hook import wrap

_TEXT = (str, bytes)


def collate(batch: Sequence, *, collate_fn_map: dict[Any, Callable] | None = None) -> Any:
    """Collate rows: by the function that `collate_fn_map` has for their type, else inside mappings and sequences.

    Examples:
        >>> from mindspore.dataset.dataloader._utils.collate import collate
        >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda numbers, *, collate_fn_map: sum(numbers)})
        [4, 6]
    """
    first = batch[0]
    for kind, function in (collate_fn_map or {}).items():
        if isinstance(first, kind):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        parts = {key: collate([row[key] for row in batch], collate_fn_map=collate_fn_map) for key in first}
        return _like(first, parts)
    if isinstance(first, Sequence) and not isinstance(first, _TEXT):
        if any(len(row) != len(first) for row in batch):
            raise RuntimeError("Each element in list of batch must be of equal size.")
        columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(f"Cannot find the appropriate collate function for type {type(first)} in collate_fn_map.")


def default_collate(batch: Sequence) -> Any:
    """Rows as a batch of tensors; texts stay as they are.

    Examples:
        >>> from mindspore.dataset.dataloader import default_collate
        >>> images, names = default_collate([(1.0, "a"), (2.0, "b")])
        >>> images.tolist(), names
        ([1.0, 2.0], ('a', 'b'))
    """
    return collate(batch, collate_fn_map=_DEFAULT)


def default_convert(data: Any) -> Any:
    """The arrays in a row as tensors; everything else stays as it is.

    Examples:
        >>> import numpy as np
        >>> from mindspore.dataset.dataloader import default_convert
        >>> default_convert({"x": np.array([1, 2])})["x"].tolist()
        [1, 2]
    """
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, _TEXT):
        return data if data.dtype.kind in "USO" else wrap(np.asarray(data))
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, _TEXT):
        parts = [default_convert(value) for value in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    return data


def _like(mapping: Mapping, parts: dict) -> Any:
    """A mapping of the same class, or a dict where that class cannot be made from one."""
    try:
        return type(mapping)(parts)  # type: ignore[call-arg]
    except TypeError:
        return parts


def _stack_arrays(batch: Sequence, *, collate_fn_map: Any = None) -> Any:
    if batch[0].dtype.kind in "USO":
        raise TypeError(f"NumPy arrays with dtype {batch[0].dtype} are not supported for collation.")
    return wrap(np.stack(batch))


def _stack_tensors(batch: Sequence, *, collate_fn_map: Any = None) -> Any:
    return wrap(np.stack([tensor.asnumpy() for tensor in batch]))


def _stack_numbers(batch: Sequence, *, collate_fn_map: Any = None) -> Any:
    array = np.asarray(batch)
    return wrap(array.astype(np.float32) if array.dtype == np.float64 else array)


def _stack_floats(batch: Sequence, *, collate_fn_map: Any = None) -> Any:
    return wrap(np.asarray(batch, np.float64))


def _texts(batch: Sequence, *, collate_fn_map: Any = None) -> Any:
    return batch


class _TensorKind(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return hasattr(type(value), "asnumpy")


class _Tensor(metaclass=_TensorKind):
    """Whatever is a tensor; this package does not import the class."""


#: NumPy's numbers stand before Python's, as np.float64 is a float too
_DEFAULT: dict[Any, Callable] = {
    _Tensor: _stack_tensors,
    _TEXT: _texts,
    (np.ndarray, np.generic): _stack_arrays,
    float: _stack_floats,
    int: _stack_numbers,
}
