"""`Dataset.split`: parts of a data set that do not overlap."""

from __future__ import annotations

import copy
import math
import secrets
from collections.abc import Sequence
from typing import Any

from mindspore.dataset.ir.leaf import MappableNode
from mindspore.dataset.ir.ops import ShuffleNode, SkipNode, TakeNode
from mindspore.dataset.samplers import RandomSampler, SequentialSampler
from mindspore.dataset.settings import DEFAULT_SEED, settings


def split(dataset: Any, sizes: Sequence[int | float], randomize: bool) -> tuple:
    """All parts see the same order, so a fixed seed is drawn where the user has set none."""
    check_sizes(sizes)
    if dataset.is_sharded():
        raise RuntimeError("Dataset should not be sharded before split.")
    counts = absolute_sizes(sizes, dataset.get_dataset_size())
    seed = secrets.randbits(31) if settings().seed == DEFAULT_SEED else settings().seed
    cut = _cut_source if isinstance(dataset._node, MappableNode) and hasattr(dataset, "add_sampler") else _cut_stream
    parts, start = [], 0
    for count in counts:
        parts.append(cut(dataset, start, count, seed if randomize else None))
        start += count
    return tuple(parts)


def _cut_source(dataset: Any, start: int, count: int, seed: int | None) -> Any:
    part = copy.deepcopy(dataset)
    part.dataset_size = None
    if seed is not None:
        mixer = RandomSampler()
        mixer.reshuffle_each_epoch, mixer.seed = False, seed
        part.add_sampler(mixer)
    part.add_sampler(SequentialSampler(start, count))
    # the last sampler is the one `use_sampler` replaces
    return part.add_sampler(SequentialSampler())


def _cut_stream(dataset: Any, start: int, count: int, seed: int | None) -> Any:
    part = dataset
    if seed is not None:
        part = dataset.shuffle(max(min(dataset.get_dataset_size(), 10000), 2))
        part._node = ShuffleNode(dataset._node, part.buffer_size, reset_each_epoch=False)
        part._node.seed = seed
    skipped = part.skip(start) if start else part
    if start:
        skipped._node = SkipNode(part._node, start)
    taken = skipped.take(count)
    taken._node = TakeNode(skipped._node, count)
    return taken


def check_sizes(sizes: Any) -> None:
    if not isinstance(sizes, list):
        raise TypeError(f"Argument sizes with value {sizes} is not of type [<class 'list'>], but got {type(sizes)}.")
    if not sizes:
        raise ValueError("sizes cannot be empty.")
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        if any(size <= 0 for size in sizes):
            raise ValueError("There are int sizes given: there should be no negative or zero numbers.")
        return
    if not all(isinstance(size, float) for size in sizes):
        raise ValueError("sizes should be list of int or list of float.")
    if any(not 0 < size <= 1 for size in sizes):
        raise ValueError("If there are float sizes, there should be no numbers outside the range (0, 1].")
    if not math.isclose(sum(sizes), 1, rel_tol=0, abs_tol=1e-6):
        raise ValueError("The sizes given as percentages do not sum up to 1.")


def absolute_sizes(sizes: Sequence[int | float], total: int) -> list[int]:
    """Row counts. Shares are rounded; the first part gets what is missing, the first that can spare it gives the rest."""
    if total is None or total <= 0:
        raise RuntimeError("dataset_size is unknown, unable to split.")
    if isinstance(sizes[0], int):
        if sum(sizes) != total:
            raise RuntimeError(f"Sum of split sizes {sum(sizes)} is not equal to dataset size {total}.")
        return [int(size) for size in sizes]
    counts = [round(share * total) for share in sizes]
    if any(count == 0 for count in counts):
        raise RuntimeError(f"Split percentage {sizes[counts.index(0)]} is too small.")
    left = total - sum(counts)
    takes = 0 if left > 0 else next((i for i, count in enumerate(counts) if count + left >= 1), None)
    if takes is None:
        raise RuntimeError(f"Sum of calculated split sizes {sum(counts)} is not equal to dataset size {total}.")
    counts[takes] += left
    return counts
