"""Samplers: which rows of a random-access source an epoch visits, and in what order.

A sampler that comes with the engine is a stateless description. `draw_rows(n, draw)` gives the row numbers of one epoch over
`n` rows, where `draw` says which seed and which epoch. Samplers chain: a child's order is computed first and its parent
chooses among the positions of that order.

A sampler that a user wrote may have state (a generator of random numbers, a counter that `reset` moves on). So a running
pipeline asks a copy, `for_run()`, epoch after epoch; the user's object is left as it was, and every iterator over the
data set begins at the same place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from mindspore.dataset._check import check_num_samples


class Shuffle(StrEnum):
    """How a file-based source mixes its rows.

    Examples:
        >>> [choice.name for choice in ds.Shuffle]
        ['FALSE', 'ADAPTIVE', 'GLOBAL', 'PARTIAL', 'FILES', 'INFILE']
    """

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


@dataclass(frozen=True)
class Draw:
    """Where the random numbers of one epoch come from.

    `seed` is None when the user has set none; then `entropy` (drawn once for each pipeline) takes its place.
    """

    epoch: int
    seed: int | None
    entropy: int = 0
    reader: Any = None  # the source: samplers may ask it for labels or files
    memory: dict = field(default_factory=dict)  # orders of the epoch before, kept by the operator that draws

    def numpy_rng(self, salt: int = 0) -> np.random.Generator:
        return np.random.default_rng([self.entropy if self.seed is None else self.seed, self.epoch, salt])


class Sampler:
    """Base of user-defined samplers: override `__iter__`, which yields row numbers.

    `dataset_size` and `num_samples` are set before `__iter__` is called.

        class Backwards(ds.Sampler):
            def __iter__(self):
                yield from range(self.dataset_size - 1, -1, -1)

    Examples:
        >>> class Backwards(ds.Sampler):
        ...     def __iter__(self):
        ...         return iter(range(self.dataset_size - 1, -1, -1))
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=Backwards())
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [3, 2, 1]
    """

    _epoch = -1  # of a copy that runs: the epoch that `_chosen` belongs to
    _chosen: np.ndarray

    def __init__(self, num_samples: int | None = None):
        check_num_samples(num_samples)
        self.num_samples = num_samples
        self.dataset_size = 0
        self.child_sampler: Sampler | None = None
        self.batch_sizes: list[int] = []

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("Sampler must implement __iter__, which yields the row numbers to visit.")

    def reset(self) -> None:
        """Called before each epoch but the first; for samplers that override it."""

    def parse(self) -> Sampler:
        """The form in which the engine runs a sampler: the sampler itself."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Sampler is not callable: pass the object itself as sampler=...")

    # -- chains -------------------------------------------------------------------------------------------------------
    def add_child(self, sampler: Sampler | None) -> None:
        """Let this sampler choose among the rows that `sampler` gives."""
        if sampler is None:
            return
        if not isinstance(sampler, Sampler):
            raise TypeError(f"A child sampler must be a Sampler, but got {type(sampler)}.")
        if self.child_sampler is not None:
            raise RuntimeError("Cannot add child sampler, this sampler already has a child.")
        check_chain(sampler, self, of_child="input", of_parent="current")
        self.child_sampler = sampler

    def get_child(self) -> Sampler | None:
        return self.child_sampler

    def get_shuffle_mode(self) -> Shuffle:
        """How this sampler mixes rows; its child is not asked."""
        return Shuffle.FALSE

    def get_num_samples(self) -> int | None:
        """The number of rows, as far as the arguments of the chain tell."""
        below = self.child_sampler.get_num_samples() if self.child_sampler is not None else None
        known = [count for count in (self.num_samples, below) if count]
        return min(known) if known else None

    # -- orders -------------------------------------------------------------------------------------------------------
    def draw_rows(self, n: int, draw: Draw) -> np.ndarray:
        """Row numbers of the epoch, children applied."""
        if self.child_sampler is None:
            return self.draw_positions(n, draw)
        below = self.child_sampler.draw_rows(n, draw)
        return below[self.draw_positions(len(below), draw)]

    def count_rows(self, n: int, reader: Any = None) -> int:
        """Rows of an epoch over a source of `n` rows."""
        if self.child_sampler is not None:
            n = self.child_sampler.count_rows(n, reader)
        return self.own_length(n, reader)

    def own_length(self, n: int, reader: Any = None) -> int:
        promised = self._promised()
        if promised is not None:
            return promised if _decides(reader) else min(n, promised)
        return len(self.for_run().draw_positions(n, Draw(0, None, reader=reader)))

    def for_run(self) -> Sampler:
        """The object that gives the orders of one running pipeline, and may change as it does."""
        try:
            return copy.deepcopy(self)
        except TypeError:  # holds what cannot be copied, such as a generator
            return copy.copy(self)

    def draw_positions(self, n: int, draw: Draw) -> np.ndarray:
        while self._epoch < draw.epoch:
            if self._epoch >= 0:
                self.reset()
            self._chosen = self._epoch_positions(n, draw.reader)
            self._epoch += 1
        return self._chosen

    def _promised(self) -> int | None:
        """How many rows an epoch has, as far as the sampler says."""
        if self.num_samples is None and hasattr(self, "__len__"):
            return len(self)
        return self.num_samples or None

    def _epoch_positions(self, n: int, reader: Any) -> np.ndarray:
        self.dataset_size = n
        promised = self._promised()
        limit = promised if promised is not None or _decides(reader) else n
        chosen = []
        for index in self:
            chosen.append(as_index(index))
            if limit is not None and limit <= len(chosen):
                break
        if promised is not None and len(chosen) < promised and _decides(reader):
            raise RuntimeError(
                f"The actual amount of data read from generator {len(chosen)} is different from generator.len "
                f"{promised}, you should adjust generator.len to make them match: the sampler {type(self).__name__} "
                "gives fewer rows than its num_samples or __len__ says."
            )
        return check_positions(np.array(chosen, dtype=np.int64), n, type(self).__name__)

    # -- JSON ---------------------------------------------------------------------------------------------------------
    sampler_name = "PythonSampler"

    def own_params(self) -> dict[str, Any]:
        return {}

    def to_json(self) -> dict[str, Any]:
        form = {"sampler_name": self.sampler_name, "num_samples": self.num_samples or 0, **self.own_params()}
        if self.child_sampler is not None:
            form["child_sampler"] = [self.child_sampler.to_json()]
        return form


class BuiltinSampler(Sampler):
    """Base of the samplers that come with the engine; they cannot be iterated on their own.

    Examples:
        >>> issubclass(ds.RandomSampler, ds.BuiltinSampler)
        True
    """

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(f"{type(self).__name__} is not iterable: pass it as sampler=... to a data set.")

    def for_run(self) -> Sampler:
        """Itself, above a child that may be a user's."""
        if self.child_sampler is None:
            return self
        twin = copy.copy(self)
        twin.child_sampler = self.child_sampler.for_run()
        return twin

    def own_length(self, n: int, reader: Any = None) -> int:
        raise NotImplementedError

    def at_most(self, n: int) -> int:
        return min(n, self.num_samples) if self.num_samples else n


def check_chain(child: Sampler, parent: Sampler, of_child: str, of_parent: str) -> None:
    """RuntimeError for shuffles that depend on files, of which a chain of samplers knows nothing."""
    advice = "When multiple samplers are used, ensure that the shuffle of the"
    if child.get_shuffle_mode() is Shuffle.PARTIAL:
        raise RuntimeError(f"{advice} {of_child} sampler is not Shuffle.PARTIAL.")
    mode = parent.get_shuffle_mode()
    if mode not in (Shuffle.GLOBAL, Shuffle.FALSE):
        raise RuntimeError(f"{advice} {of_parent} sampler is Shuffle.FALSE or Shuffle.GLOBAL, but got: {mode}.")


def _decides(reader: Any) -> bool:
    """Whether a user's sampler may give more rows than there are."""
    return getattr(reader, "samplers_decide", False)


def as_index(value: Any) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iu":
        return int(value.reshape(()))
    raise TypeError(f"Python sampler should return index of type integer, but got {value!r} of type {type(value)}.")


def check_positions(chosen: np.ndarray, n: int, name: str) -> np.ndarray:
    outside = (chosen < 0) | (chosen >= n)
    if outside.any():
        raise RuntimeError(
            f"Sample ID ({int(chosen[outside][0])}) is out of bound, expected range [0, {n - 1}]: {name} chose a row "
            "that the dataset does not have."
        )
    return chosen
