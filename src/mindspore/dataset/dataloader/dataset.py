"""What a DataLoader loads: rows by number, or rows one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Dataset:
    """Base of data sets with rows by number: override `__getitem__`, and `__len__` where the number of rows is known.

    Examples:
        >>> from mindspore.dataset.dataloader import Dataset
        >>> class Squares(Dataset):
        ...     def __getitem__(self, index):
        ...         return index**2
        ...     def __len__(self):
        ...         return 4
        >>> Squares()[3]
        9
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement __getitem__ method.")


class IterableDataset(Dataset):
    """Base of data sets whose rows come one after the other: override `__iter__`.

    Every worker process iterates over a copy; `get_worker_info` tells `__iter__` which share is its own.
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must implement __iter__ method.")


class TensorDataset(Dataset):
    """Rows of tensors of the same length.

    Examples:
        >>> from mindspore import Tensor
        >>> from mindspore.dataset.dataloader import TensorDataset
        >>> first, second = TensorDataset(Tensor([1, 2]), Tensor([[3], [4]]))[1]
        >>> first.item(), second.tolist()
        (2, [4])
    """

    def __init__(self, *tensors: Any):
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise ValueError("All tensors must have the same size in the first dimension.")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        if isinstance(index, int) and not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of a data set with {len(self)} rows")
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])
