"""Orders of rows that stand in files: what file-based sources (text, CSV, TFRecord, MindRecord) do with `shuffle`,
`num_samples` and shards. Rows are numbered through all files."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mindspore.dataset._check import check_shards
from mindspore.dataset.samplers.base import BuiltinSampler, Draw
from mindspore.dataset.samplers.builtin import SHUFFLE_MODES, Shuffle


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
    """Shuffle rows, files, or rows within files; then take one shard of equal blocks.

    The last shards are filled from the start, so that all have as many rows. `by_file` gives whole files to shards
    instead.
    """

    sampler_name = "FileSampler"

    def __init__(self, shuffle=None, num_samples=None, num_shards=None, shard_id=None, by_file=False):
        check_shards(num_shards, shard_id)
        super().__init__(num_samples)
        self.mode = shuffle_mode(shuffle)
        self.num_shards, self.shard_id, self.by_file = num_shards or 1, shard_id or 0, by_file

    @property
    def shuffle(self) -> bool:
        return self.mode is not Shuffle.FALSE

    def length(self, n, reader=None):
        if self.by_file and self.num_shards > 1 and reader is not None:
            return self.limited(sum(reader.file_sizes()[self.shard_id :: self.num_shards]))
        return self.limited(math.ceil(n / self.num_shards))

    def positions(self, n, draw):
        order = self._mixed(n, draw)
        return order[: self.length(n, draw.reader)]

    def _mixed(self, n: int, draw: Draw) -> np.ndarray:
        rng = self._rng(draw)
        files = self._files(n, draw)
        if self.by_file and self.num_shards > 1:
            files = files[self.shard_id :: self.num_shards]
        if self.mode in (Shuffle.FILES, Shuffle.GLOBAL):
            files = [files[i] for i in rng.permutation(len(files))]
        if self.mode is Shuffle.INFILE:
            files = [rng.permutation(rows) for rows in files]
        rows = np.concatenate(files) if files else np.zeros(0, dtype=np.int64)
        if self.mode in (Shuffle.GLOBAL, Shuffle.ADAPTIVE, Shuffle.PARTIAL):
            rows = rng.permutation(rows)
        return rows if self.by_file or self.num_shards == 1 else self._block(rows)

    def _rng(self, draw: Draw) -> np.random.Generator:
        """All shards must mix alike, so without a seed the default one is used for shards."""
        if self.num_shards > 1 and draw.seed is None:
            return np.random.default_rng([5489, draw.epoch])
        return draw.numpy_rng()

    def _files(self, n: int, draw: Draw) -> list[np.ndarray]:
        sizes = draw.reader.file_sizes() if draw.reader is not None else [n]
        starts = np.cumsum([0, *sizes])
        return [np.arange(start, stop, dtype=np.int64) for start, stop in itertools.pairwise(starts)]

    def _block(self, rows: np.ndarray) -> np.ndarray:
        if not len(rows):
            return rows
        share = math.ceil(len(rows) / self.num_shards)
        first = self.shard_id * share
        return rows[np.arange(first, first + share) % len(rows)]

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
