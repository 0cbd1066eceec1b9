"""One share of the rows for each of several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore.dataset.dataloader.sampler import Sampler


class DistributedSampler(Sampler):
    """Every `num_replicas`-th row, beginning with row `rank`; all shares are of the same size.

    Rows are mixed in the same way for all shares, by `seed` and the epoch given to `set_epoch`. Without `drop_last` the
    first rows come again to fill the last round.

    Examples:
        >>> from mindspore.dataset.dataloader import DistributedSampler
        >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        super().__init__(dataset)
        self.num_replicas = int(os.environ.get("RANK_SIZE", 1)) if num_replicas is None else num_replicas
        self.rank = int(os.environ.get("RANK_ID", 0)) if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(f"Invalid rank: {self.rank}, rank must be in the interval [0, {self.num_replicas - 1}]")
        self.dataset, self.shuffle, self.seed, self.drop_last, self.epoch = dataset, shuffle, seed, drop_last, 0
        rounds, rest = divmod(len(dataset), self.num_replicas)
        self.num_samples = rounds if drop_last or not rest else rounds + 1
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        rows = np.arange(len(self.dataset))
        if self.shuffle:
            rows = np.random.default_rng([self.seed, self.epoch]).permutation(rows)
        if len(rows):
            rows = np.resize(rows, self.total_size)  # cut, or begun again
        return iter(rows[self.rank :: self.num_replicas].tolist())

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Mix the rows of the next iteration in another way."""
        self.epoch = epoch
