"""Orders of rows that stand in files: what file-based sources (text, CSV, TFRecord, MindRecord) do with `shuffle`,
`num_samples` and shards. Rows are numbered through all files.

The order is the one of readers that work side by side: the first of w readers takes files 0, w, 2w, …, the next one files
1, w + 1, …, and the rows of an epoch are taken from the readers in turn, skipping those that are done. Our rows come by
number, so this is an order like any other; it costs nothing, mixes files, and gives the rows in the order that programs
written for MindSpore see.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import check_shards
from mindspore.dataset.samplers.builtin import SHUFFLE_MODES, Shuffle
from mindspore.dataset.samplers.mixing import Slots, mixed
from mindspore.dataset.samplers.sampler import BuiltinSampler, Draw
from mindspore.dataset.samplers.std_random import Mt19937, shuffle
from mindspore.dataset.settings import settings


def shuffle_mode(shuffle: Any) -> Shuffle:
    """The mode a `shuffle` argument means: True and None mix all rows, False none."""
    if shuffle is None or shuffle is True:
        return Shuffle.GLOBAL
    if shuffle is False:
        return Shuffle.FALSE
    if not isinstance(shuffle, Shuffle):
        raise TypeError(
            "shuffle must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or 'Shuffle.FILES'."
        )
    return shuffle


class FileSampler(BuiltinSampler):
    """Shuffle rows or files; then take one shard of equal blocks. Within files only MindRecord's rows are shuffled (records.py):
    here `Shuffle.INFILE` leaves all in order, as in official MindSpore.

    The last shards are filled from the start, so that all have as many rows. `by_file` gives whole files to shards
    instead.
    """

    sampler_name = "FileSampler"

    def __init__(self, shuffle=None, num_samples=None, num_shards=None, shard_id=None, by_file=False):
        check_shards(num_shards, shard_id)
        super().__init__(num_samples)
        self.mode = shuffle_mode(shuffle)
        self.num_shards, self.shard_id, self.by_file = num_shards or 1, shard_id or 0, by_file
        self.num_readers: int | None = None  # as many as the setting says
        self.required: int | None = None  # rows that every shard must have; they are read file by file

    def get_shuffle_mode(self):
        return self.mode

    @property
    def shuffle(self) -> bool:
        return self.mode is not Shuffle.FALSE

    def own_length(self, n, reader=None):
        if self.by_file and self.num_shards > 1 and reader is not None:
            return self.at_most(sum(reader.file_sizes()[self.shard_id :: self.num_shards]))
        return self.at_most(math.ceil(n / self.num_shards))

    def draw_positions(self, n, draw):
        files = self._files(n, draw)
        parts = self._chosen_rows(self._ordered_files(files, draw), draw)
        self._check_required(sum(map(len, parts)))
        readers = 1 if self.required else min(self.num_readers or settings().num_parallel_workers, len(files))
        rows = in_turns([concatenated(parts[reader::readers]) for reader in range(readers)])
        rows = rows[: self.own_length(n, draw.reader)]
        if self.mode not in (Shuffle.GLOBAL, Shuffle.ADAPTIVE, Shuffle.PARTIAL):
            return rows
        if draw.seed is None:
            return draw.numpy_rng(salt=1).permutation(rows)
        slots = draw.memory.setdefault("slots", Slots(draw.seed)).for_epoch(draw.epoch, len(rows))
        buffer_size = max(4 * n // max(len(files), 1), 10000)
        return np.fromiter(mixed(iter(rows.tolist()), buffer_size, slots), np.int64, len(rows))

    def _check_required(self, available: int) -> None:
        if self.required is not None and available < self.required:
            raise RuntimeError(
                f"Invalid data, shard {self.shard_id} does not meet minimum rows per shard requirement: {available} rows "
                f"in its files, but num_samples or the schema asks for {self.required}."
            )

    def _files(self, n: int, draw: Draw) -> list[np.ndarray]:
        """For each file the numbers of its rows."""
        sizes = draw.reader.file_sizes() if draw.reader is not None else [n]
        starts = np.cumsum([0, *sizes])
        return [np.arange(start, stop, dtype=np.int64) for start, stop in itertools.pairwise(starts)]

    def _ordered_files(self, files: list[np.ndarray], draw: Draw) -> list[np.ndarray]:
        """The files in the order of the epoch. All shards must agree on it, so theirs does not depend on the seed."""
        if self.mode not in (Shuffle.FILES, Shuffle.GLOBAL):
            return files
        order = list(range(len(files)))
        seeds: Sequence[int]
        if self.num_shards > 1:
            seeds = range(1, draw.epoch + 2)
        elif draw.seed is not None:
            seeds = [draw.seed] * (draw.epoch + 1)
        else:
            return [files[i] for i in draw.numpy_rng().permutation(len(files))]
        for seed in seeds:
            order = shuffle(order, Mt19937(seed))
        return [files[i] for i in order]

    def _chosen_rows(self, files: list[np.ndarray], draw: Draw) -> list[np.ndarray]:
        """The rows of this shard in each file."""
        if self.by_file and self.num_shards > 1:
            files = files[self.shard_id :: self.num_shards]
        return files if self.by_file or self.num_shards == 1 else self._block(files)

    def _block(self, files: list[np.ndarray]) -> list[np.ndarray]:
        """A run of rows through the files, which begin again behind the last one."""
        total = sum(map(len, files))
        left = math.ceil(total / self.num_shards)
        skip = self.shard_id * left % max(total, 1)
        parts: list[np.ndarray] = []
        for rows in itertools.cycle(files):
            if left <= 0:
                return parts
            part = rows[skip : skip + left]
            skip = max(skip - len(rows), 0)
            left -= len(part)
            if len(part):
                parts.append(part)
        return parts

    def to_json(self):
        return {}

    def source_params(self) -> dict[str, Any]:
        """The arguments as they stand in the JSON of file-based sources."""
        return {
            "num_samples": self.num_samples or 0,
            "num_shards": self.num_shards,
            "shard_id": self.shard_id,
            "shuffle": SHUFFLE_MODES[self.mode],
        }


def concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def in_turns(queues: Sequence[np.ndarray]) -> np.ndarray:
    """One of each queue after the other, then the next of each, leaving out those that are empty."""
    if len(queues) < 2:
        return concatenated(queues)
    turn = np.concatenate([np.arange(len(queue)) for queue in queues])
    return concatenated(queues)[np.argsort(turn, kind="stable")]
