"""Orders of the rows of MindRecord files: the shards and shuffles of official MindSpore's reader of that format."""

from __future__ import annotations

import copy

import numpy as np

from mindspore._base import flags
from mindspore.dataset.samplers.builtin import (
    DistributedSampler,
    RandomSampler,
    SubsetSampler,
    reshuffled,
    shuffled_again,
)
from mindspore.dataset.samplers.files import FileSampler
from mindspore.dataset.samplers.sampler import Draw, Sampler, Shuffle
from mindspore.dataset.samplers.std_random import MinStd, shuffle
from mindspore.dataset.settings import DEFAULT_SEED


def shards_are_blocks() -> bool:
    """`MS_DEV_MINDRECORD_SHARD_BY_BLOCK`: a shard is a run of rows; else the shards take turns."""
    return flags.switch("MS_DEV_MINDRECORD_SHARD_BY_BLOCK")


class MindRecordSampler(FileSampler):
    """Shuffle rows, files, rows within files, or (PARTIAL) files and then the rows of each shard; then take one shard."""

    def own_length(self, n, reader=None):
        if self.num_shards > 1 and n % self.num_shards and getattr(reader, "padded", False):
            raise RuntimeError(
                f"Invalid data, num_shards: {self.num_shards} should divide the number of rows plus 'num_padded': {n}."
            )
        return super().own_length(n, reader)

    def draw_positions(self, n, draw):
        if not n:
            return np.zeros(0, dtype=np.int64)
        turns = np.arange(self.own_length(n, draw.reader), dtype=np.int64)
        share = -(-n // self.num_shards)
        places = self.shard_id * share + turns if shards_are_blocks() else self.shard_id + self.num_shards * turns
        chosen = self._order(n, draw)[places % n]
        if self.mode is Shuffle.PARTIAL:
            return chosen[self._shuffled(range(len(chosen)), draw, again=False)]
        return chosen

    def _order(self, n: int, draw: Draw) -> np.ndarray:
        """The rows of all shards, who must agree on it, also without a seed."""
        if self.mode is Shuffle.FALSE:
            return np.arange(n, dtype=np.int64)
        files, single = self._files(n, draw), self.num_shards == 1
        if self.mode in (Shuffle.FILES, Shuffle.PARTIAL):
            again = single and self.mode is Shuffle.FILES
            return np.concatenate([files[i] for i in self._shuffled(range(len(files)), draw, again)])
        if self.mode is Shuffle.INFILE:
            spans = [range(int(rows[0]), int(rows[-1]) + 1) for rows in files if len(rows)]
            return np.concatenate([self._shuffled(span, draw, again=single) for span in spans])
        return self._shuffled(range(n), draw, again=single)

    def _shuffled(self, rows: range, draw: Draw, again: bool) -> np.ndarray:
        """`rows` in the order of the epoch: made of the order of the epoch before, or afresh."""
        if draw.seed is None:
            rng = draw.numpy_rng() if self.num_shards == 1 else np.random.default_rng([DEFAULT_SEED, draw.epoch])
            return rng.permutation(np.asarray(rows, dtype=np.int64))
        if again:
            return shuffled_again(rows, draw, draw.seed + 1, _default_shuffle)
        return np.array(_default_shuffle(list(rows), draw.seed + 1 + draw.epoch), dtype=np.int64)

    def to_json(self):
        return {"sampler_name": "MindRecordSampler", **self.source_params()}


def _default_shuffle(items: list[int], seed: int) -> list[int]:
    return shuffle(items, MinStd(seed))


class RecordSubset(SubsetSampler):
    """Row numbers behind the last row begin again at the first one."""

    def __init__(self, of: SubsetSampler):
        super().__init__(of.indices, of.num_samples)
        self.sampler_name, self.shuffle = of.sampler_name, of.get_shuffle_mode() is not Shuffle.FALSE

    def get_shuffle_mode(self):
        return Shuffle.GLOBAL if self.shuffle else Shuffle.FALSE

    def draw_positions(self, n, draw):
        rows = np.array(self.indices_limit, dtype=np.int64) % max(n, 1)
        return reshuffled(rows.tolist(), draw) if self.shuffle else rows


def for_records(sampler: Sampler) -> Sampler:
    """The sampler that does over MindRecord files what `sampler` and the samplers below it ask for."""
    twin = _for_records(sampler)
    if sampler.child_sampler is not None:
        twin = copy.copy(twin)
        twin.child_sampler = for_records(sampler.child_sampler)
    return twin


def _for_records(sampler: Sampler) -> Sampler:
    mode, count = sampler.get_shuffle_mode(), sampler.num_samples
    if isinstance(sampler, RandomSampler) and not sampler.replacement:
        return MindRecordSampler(mode, count)
    if isinstance(sampler, DistributedSampler) and sampler.offset == -1:
        twin = MindRecordSampler(mode, count)
        twin.num_shards, twin.shard_id = sampler.num_shards, sampler.shard_id
        return twin
    if isinstance(sampler, SubsetSampler):
        return RecordSubset(sampler)
    return sampler
