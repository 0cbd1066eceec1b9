"""The samplers that come with the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mindspore.dataset._check import check_bool, check_type
from mindspore.dataset.samplers.sampler import BuiltinSampler, Draw, Sampler, Shuffle, as_index, check_positions
from mindspore.dataset.samplers.std_random import Mt19937, shuffle
from mindspore.dataset.settings import DEFAULT_SEED, settings

SHUFFLE_MODES = {
    Shuffle.FALSE: 0,
    Shuffle.FILES: 1,
    Shuffle.GLOBAL: 2,
    Shuffle.INFILE: 3,
    Shuffle.ADAPTIVE: 4,
    Shuffle.PARTIAL: 5,
}


def reshuffled(values: Sequence[int], draw: Draw) -> np.ndarray:
    """`values` in the order of the draw's epoch: with a seed, each epoch shuffles the order of the one before."""
    if draw.seed is None:
        return draw.numpy_rng().permutation(np.asarray(values, dtype=np.int64))
    items = list(values)
    for epoch in range(draw.epoch + 1):
        items = _shuffled_once(items, (draw.seed + epoch) & 0xFFFFFFFF)
    return np.array(items, dtype=np.int64)


def _shuffled_once(items: list[int], seed: int) -> list[int]:
    return shuffle(items, Mt19937(seed))


class SequentialSampler(BuiltinSampler):
    """Rows in order, from `start_index`.

    ds.MnistDataset(path, sampler=ds.SequentialSampler(start_index=10, num_samples=5))

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SequentialSampler(start_index=1))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [2, 3]
    """

    sampler_name = "SequentialSampler"

    def __init__(self, start_index: int | None = None, num_samples: int | None = None):
        super().__init__(num_samples)
        if start_index is not None:
            check_type(start_index, int, "start_index")
            if start_index < 0:
                raise RuntimeError(f"SequentialSampler: start_index must be >= 0, but got {start_index}.")
        self.start_index = start_index or 0

    def own_length(self, n, reader=None):
        return self.at_most(max(n - self.start_index, 0))

    def draw_positions(self, n, draw):
        if n and self.start_index >= n:
            raise RuntimeError(
                f"Invalid parameter, start_index must be less than num_rows, but got start_index: {self.start_index} "
                f"of {n} rows."
            )
        return np.arange(self.start_index, self.start_index + self.own_length(n), dtype=np.int64)

    def own_params(self):
        return {"start_index": self.start_index}


class RandomSampler(BuiltinSampler):
    """Rows in random order, with or without replacement.

    ds.MnistDataset(path, sampler=ds.RandomSampler(num_samples=100))

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.RandomSampler(num_samples=2))
        >>> data.get_dataset_size()
        2
    """

    sampler_name = "RandomSampler"

    def __init__(self, replacement: bool = False, num_samples: int | None = None, shuffle: Shuffle = Shuffle.GLOBAL):
        super().__init__(num_samples)
        check_bool(replacement, "replacement")
        check_type(shuffle, Shuffle, "shuffle")
        self.replacement = replacement
        self.shuffle = shuffle
        self.reshuffle_each_epoch = True
        self.seed: int | None = None  # fixed by `split`, whose parts must agree on one order

    def get_shuffle_mode(self):
        return self.shuffle

    def own_length(self, n, reader=None):
        return self.at_most(n)

    def draw_positions(self, n, draw):
        draw = draw if self.seed is None else replace(draw, seed=self.seed)
        epoch_draw = draw if self.reshuffle_each_epoch else replace(draw, epoch=0)
        count = self.own_length(n)
        if not self.replacement:
            return _cached_order(n, epoch_draw)[:count]
        if draw.seed is None:
            return epoch_draw.numpy_rng().integers(0, max(n, 1), count)
        generator = Mt19937((draw.seed + epoch_draw.epoch) & 0xFFFFFFFF)
        return np.array([generator.uniform_int(n - 1) for _ in range(count)], dtype=np.int64)

    def own_params(self):
        return {
            "replacement": self.replacement,
            "reshuffle_each_epoch": self.reshuffle_each_epoch,
            "shuffle_mode": SHUFFLE_MODES[self.shuffle],
        }


def _cached_order(n: int, draw: Draw) -> np.ndarray:
    if draw.seed is None:
        return reshuffled(range(n), draw)
    return shuffled_again(range(n), draw, draw.seed, _shuffled_once)


def shuffled_again(rows: range, draw: Draw, seed: int, once: Callable[[list[int], int], list[int]]) -> np.ndarray:
    """The order of an epoch from the order of the one before, which the draw remembers: epoch k costs one shuffle."""
    epoch, items = draw.memory.get((rows, seed), (-1, None))
    if items is None or epoch > draw.epoch:
        epoch, items = -1, list(rows)
    while epoch < draw.epoch:
        epoch += 1
        items = once(items, (seed + epoch) & 0xFFFFFFFF)
    draw.memory[(rows, seed)] = (epoch, items)
    return np.array(items, dtype=np.int64)


class SubsetSampler(BuiltinSampler):
    """The given row numbers, in the given order.

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetSampler([2, 0]))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [3, 1]
    """

    sampler_name = "SubsetSampler"

    def __init__(self, indices: Iterable[int], num_samples: int | None = None):
        super().__init__(num_samples)
        if not isinstance(indices, Iterable) or isinstance(indices, str):
            raise TypeError(f"indices must be an iterable of integers, but got {type(indices)}.")
        given = list(indices)
        for i, item in enumerate(given):
            if isinstance(item, (bool, np.bool_)) or not isinstance(item, (int, np.integer)):
                raise TypeError(
                    "SubsetSampler: Type of indices element must be int, "
                    f"but got list[{i}]: {item}, type: {type(item)}."
                )
        self.indices = [as_index(item) for item in given]
        self.indices_limit = self.indices[: num_samples or None]

    def own_length(self, n, reader=None):
        return len(self.indices_limit)

    def draw_positions(self, n, draw):
        return check_positions(np.array(self.indices_limit, dtype=np.int64), n, type(self).__name__)

    def get_num_samples(self):
        known = [count for count in (super().get_num_samples(), len(self.indices)) if count is not None]
        return min(known)

    def own_params(self):
        return {"indices": self.indices}


class SubsetRandomSampler(SubsetSampler):
    """The given row numbers in random order, without replacement.

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.SubsetRandomSampler([2, 0]))
        >>> sorted(int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True))
        [1, 3]
    """

    sampler_name = "SubsetRandomSampler"

    def get_shuffle_mode(self):
        return Shuffle.GLOBAL

    def draw_positions(self, n, draw):
        return reshuffled(super().draw_positions(n, draw), draw)


class DistributedSampler(BuiltinSampler):
    """Every `num_shards`-th row, starting at `shard_id`; short shards are filled from the start of the data set.

    ds.MnistDataset(path, sampler=ds.DistributedSampler(num_shards=8, shard_id=0))

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], sampler=ds.DistributedSampler(2, 0, shuffle=False))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 3]
    """

    sampler_name = "DistributedSampler"

    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        for value, name in ((num_shards, "num_shards"), (shard_id, "shard_id")):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer but was: {value}.")
        if not isinstance(shuffle, (bool, Shuffle)):
            raise TypeError(f"shuffle must be a boolean value or a Shuffle mode but was: {shuffle}.")
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise TypeError(f"offset must be an integer but was: {offset}.")
        super().__init__(num_samples)
        if num_shards <= 0:
            raise RuntimeError(f"DistributedSampler: num_shards should be greater than 0, but got {num_shards}.")
        if offset > num_shards:
            raise RuntimeError(
                f"DistributedSampler: offset must be no more than num_shards({num_shards}), but got: {offset}."
            )
        self.num_shards, self.shard_id, self.shuffle, self.offset = num_shards, shard_id, shuffle, offset

    def get_shuffle_mode(self):
        if isinstance(self.shuffle, Shuffle):
            return self.shuffle
        return Shuffle.GLOBAL if self.shuffle else Shuffle.FALSE

    def own_length(self, n, reader=None):
        if not 0 <= self.shard_id < self.num_shards:
            raise RuntimeError(
                f"DistributedSampler: shard_id {self.shard_id} should be within [0, {self.num_shards - 1}]."
            )
        share = math.ceil(n / self.num_shards)
        if self.offset != -1:
            share = math.ceil((n + self.offset) / self.num_shards)
            if self.shard_id < self.offset or self.offset + n <= (share - 1) * self.num_shards + self.shard_id:
                share -= 1
        return self.at_most(share)

    def draw_positions(self, n, draw):
        if not n:
            return np.zeros(0, dtype=np.int64)
        count = self.own_length(n)
        first = self.shard_id
        if self.offset != -1:
            first = self.shard_id - self.offset
            if first < 0:
                first += self.num_shards
        slots = (first + self.num_shards * np.arange(count, dtype=np.int64)) % n
        if self.get_shuffle_mode() is Shuffle.FALSE:
            return slots
        # every shard must see the same permutation, so without a seed the default one is used
        seed = DEFAULT_SEED if draw.seed is None else draw.seed
        return _cached_order(n, replace(draw, seed=seed + 1))[slots]

    def own_params(self):
        return {
            "even_dist": True,
            "num_shards": self.num_shards,
            "offset": self.offset,
            "seed": settings().seed + 1,
            "shard_id": self.shard_id,
            "shuffle_mode": SHUFFLE_MODES[self.get_shuffle_mode()],
        }


class PKSampler(BuiltinSampler):
    """`num_val` rows of every class, class after class.

    ds.ImageFolderDataset(path, sampler=ds.PKSampler(num_val=2))

    Examples:
        >>> issubclass(ds.PKSampler, ds.BuiltinSampler)
        True
    """

    sampler_name = "PKSampler"

    def __init__(self, num_val, num_class=None, shuffle=False, class_column="label", num_samples=None):
        if isinstance(num_val, bool) or not isinstance(num_val, int):
            raise TypeError(f"num_val must be an integer but was: {num_val}.")
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be a boolean value but was: {shuffle}.")
        if not isinstance(class_column, str):
            raise TypeError(f"class_column must be a str value but was: {class_column}.")
        super().__init__(num_samples)
        if num_val <= 0:
            raise RuntimeError(f"PKSampler: num_val should be a positive integer value, but got num_val: {num_val}.")
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column

    def get_shuffle_mode(self):
        return Shuffle.GLOBAL if self.shuffle else Shuffle.FALSE

    def _rows_by_class(self, reader) -> list[np.ndarray]:
        """For each class the numbers of its rows, in the order of the classes."""
        if reader is None:
            raise RuntimeError("PKSampler needs a source with class labels, such as ImageFolderDataset.")
        found = np.asarray(reader.labels(self.class_column))
        return [np.flatnonzero(found == label) for label in np.unique(found)]

    def own_length(self, n, reader=None):
        return self.at_most(len(self._rows_by_class(reader)) * self.num_val)

    def draw_positions(self, n, draw):
        rows = self._rows_by_class(draw.reader)
        classes = list(range(len(rows)))
        if self.shuffle:
            classes = [int(i) for i in reshuffled(classes, Draw(0, draw.seed, draw.entropy))]
        rng = draw.numpy_rng(salt=1)
        chosen = []
        for number in classes:
            pool = rows[number]
            chosen.append(rng.choice(pool, self.num_val, replace=len(pool) < self.num_val))
        return np.concatenate(chosen)[: self.num_samples or None] if chosen else np.zeros(0, dtype=np.int64)

    def own_params(self):
        return {"num_val": self.num_val, "shuffle": self.shuffle}


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the given weights.

    ds.MnistDataset(path, sampler=ds.WeightedRandomSampler([0.9, 0.01, 0.4], num_samples=3))

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2], sampler=ds.WeightedRandomSampler([0.0, 1.0], num_samples=2))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [2, 2]
    """

    sampler_name = "WeightedRandomSampler"

    def __init__(self, weights: Any, num_samples: int | None = None, replacement: bool = True):
        if not isinstance(weights, list):
            weights = weights.ravel().tolist() if isinstance(weights, np.ndarray) else [weights]
        for i, weight in enumerate(weights):
            if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
                raise TypeError(
                    f"type of weights element must be number, but got w[{i}]: {weight}, type: {type(weight)}."
                )
        if weights == []:
            raise RuntimeError("WeightedRandomSampler: weights vector must not be empty")
        if any(weight < 0 for weight in weights):
            raise RuntimeError(f"WeightedRandomSampler: weights vector must not contain negative numbers, got: {min(weights)}.")
        if not any(weights):
            raise RuntimeError("WeightedRandomSampler: elements of weights vector must not be all zero")
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        super().__init__(num_samples)
        self.weights, self.replacement = [float(weight) for weight in weights], replacement

    def own_length(self, n, reader=None):
        return min(self.num_samples or len(self.weights), n)

    def draw_positions(self, n, draw):
        count = self.own_length(n)
        weights = np.array(self.weights)
        if len(weights) > n:
            raise RuntimeError(
                f"Invalid parameter, size of sample weights must be less than or equal to num of data, "
                f"otherwise might cause generated id out of bound or other errors, but got weight size: "
                f"{len(weights)}, num of data: {n}."
            )
        if not self.replacement and count > np.count_nonzero(weights):
            raise RuntimeError(
                f"Invalid parameter, without replacement, weight size must be greater than or equal to num_samples, "
                f"but got weight size: {np.count_nonzero(weights)}, num_samples: {count}."
            )
        if self.replacement and draw.seed is not None:
            return self._standard_draws(weights, count, draw.seed)
        return draw.numpy_rng().choice(len(weights), count, replace=self.replacement, p=weights / weights.sum())

    @staticmethod
    def _standard_draws(weights: np.ndarray, count: int, seed: int) -> np.ndarray:
        """`std::discrete_distribution`: the first cumulative weight not below a uniform draw."""
        generator = Mt19937(seed)
        cumulative = np.cumsum(weights / weights.sum())
        cumulative[-1] = 1.0
        draws = [generator.canonical() for _ in range(count)]
        return np.searchsorted(cumulative, draws, side="left").astype(np.int64)

    def own_params(self):
        return {"weights": self.weights, "replacement": self.replacement}


class IterSampler(Sampler):
    """A sampler over anything that gives row numbers: an iterable, a function, an object with `[i]` and a length.

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.IterSampler([2, 1]))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [3, 2]
    """

    def __init__(self, sampler: Any, num_samples: int | None = None):
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        sampler = self.sampler
        if hasattr(sampler, "__iter__"):
            return iter(sampler)
        if hasattr(sampler, "__getitem__") and hasattr(sampler, "__len__"):
            return (sampler[i] for i in range(len(sampler)))
        return iter(sampler())

    def _promised(self):
        if self.num_samples is None and hasattr(self.sampler, "__len__"):
            return len(self.sampler)
        return super()._promised()
