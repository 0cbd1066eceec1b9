"""Samplers of `mindspore.dataset`."""

from mindspore.dataset.samplers.builtin import (
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from mindspore.dataset.samplers.sampler import BuiltinSampler, Draw, Sampler
from mindspore.dataset.samplers.select import select_sampler

__all__ = [
    "BuiltinSampler",
    "DistributedSampler",
    "Draw",
    "IterSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Shuffle",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "select_sampler",
]
