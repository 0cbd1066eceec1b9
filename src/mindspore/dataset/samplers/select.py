"""The sampler that a source's `shuffle`, `num_samples`, `num_shards`, `sampler` arguments ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore.dataset.samplers.builtin import (
    DistributedSampler,
    IterSampler,
    RandomSampler,
    SequentialSampler,
    SubsetSampler,
)
from mindspore.dataset.samplers.sampler import BuiltinSampler, Sampler


def select_sampler(num_samples, sampler, shuffle, num_shards, shard_id) -> Sampler:
    """One sampler of all the ways to choose rows. By default rows are shuffled."""
    if sampler is not None:
        return _given_sampler(sampler, num_samples)
    shuffle = True if shuffle is None else shuffle
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id, shuffle=bool(shuffle), num_samples=num_samples)
    if shuffle:
        return RandomSampler(replacement=num_samples is not None, num_samples=num_samples)
    return SequentialSampler(num_samples=num_samples)


def _given_sampler(sampler: Any, num_samples: int | None) -> Sampler:
    if isinstance(sampler, BuiltinSampler):
        if num_samples is not None:
            raise ValueError(
                f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, give it to the sampler."
            )
        return sampler
    if isinstance(sampler, Sampler):
        if num_samples is not None and sampler.num_samples is None:
            sampler.num_samples = num_samples
        return sampler
    if isinstance(sampler, (list, tuple, np.ndarray)):
        return SubsetSampler(sampler, num_samples)
    indexed = hasattr(sampler, "__getitem__") and hasattr(sampler, "__len__")
    if not isinstance(sampler, str) and (indexed or isinstance(sampler, Iterable) or callable(sampler)):
        return IterSampler(sampler, num_samples)
    if isinstance(sampler, int):
        return SubsetSampler([sampler])
    raise TypeError(f"Unsupported sampler object of type ({type(sampler)})")
