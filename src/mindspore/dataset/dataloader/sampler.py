"""In which order a DataLoader visits rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np


class Sampler:
    """Base of samplers: override `__iter__`, which yields row numbers, and `__len__`."""

    def __init__(self, data_source: Any = None):
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must implement __iter__ method.")


class SequentialSampler(Sampler):
    """All rows in their order.

    Examples:
        >>> from mindspore.dataset.dataloader import SequentialSampler
        >>> list(SequentialSampler(["a", "b"]))
        [0, 1]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Rows in random order; with `replacement` each is drawn from all. More samples than rows go through them again."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: np.random.Generator | None = None,
    ):
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be bool, but got: {type(replacement).__name__}")
        if num_samples is not None and (
            isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0
        ):
            raise ValueError(f"num_samples must be a positive integer value, but got num_samples = {num_samples}")
        self.replacement = replacement
        self.generator = generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        return islice(self._endless(), self.num_samples)

    def _endless(self) -> Iterator[int]:
        rows = len(self.data_source)
        generator = np.random.default_rng() if self.generator is None else self.generator
        while rows:
            yield from (
                generator.integers(rows, size=rows) if self.replacement else generator.permutation(rows)
            ).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` row numbers; the last may be shorter, or is left out with `drop_last`.

    Examples:
        >>> from mindspore.dataset.dataloader import BatchSampler
        >>> list(BatchSampler([4, 7, 8], 2, False))
        [[4, 7], [8]]
    """

    def __init__(self, sampler: Sampler | Iterable, batch_size: int, drop_last: bool):
        super().__init__()
        if isinstance(batch_size, bool) or not isinstance(batch_size, int):
            raise TypeError(f"batch_size must be {int}, but got: {type(batch_size).__name__}.")
        if batch_size <= 0:
            raise ValueError(f"batch_size must be positive, but got: {batch_size}.")
        if not isinstance(drop_last, bool):
            raise TypeError(f"drop_last must be {bool}, but got: {type(drop_last).__name__}.")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list]:
        rows = iter(self.sampler)
        while batch := list(islice(rows, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
