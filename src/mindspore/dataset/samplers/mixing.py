"""Shuffling through a buffer: each step gives a random row of the buffer and takes the next one into its place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore.dataset.samplers.std_random import Mt19937_64


def mixed(items: Iterator[Any], buffer_size: int, choose: Callable[[int], int]) -> Iterator[Any]:
    """The items in mixed order; `choose(n)` gives a random slot of the first `n`."""
    buffer = list(itertools.islice(items, buffer_size))
    for item in items:
        slot = choose(len(buffer))
        chosen = buffer[slot]
        buffer[slot] = buffer[-1]
        buffer[-1] = item
        yield chosen
    while buffer:
        slot = choose(len(buffer))
        chosen = buffer[slot]
        buffer[slot] = buffer[-1]
        buffer.pop()
        yield chosen


class Slots:
    """Random slots from a seed; the numbers run on from one epoch to the next."""

    def __init__(self, seed: int):
        self._seed = seed
        self._twister = Mt19937_64(seed)
        self._next_epoch = 0

    def for_epoch(self, epoch: int, draws: int | None) -> Callable[[int], int]:
        """Slots of an epoch; `draws` is how many every epoch before it has used, where that is known."""
        if epoch != self._next_epoch:
            self._twister = Mt19937_64(self._seed)
            for _ in range(epoch * (draws or 0)):
                self._twister()
        self._next_epoch = epoch + 1
        twister = self._twister
        return lambda n: twister() % n


def uniform_slots(rng: np.random.Generator) -> Callable[[int], int]:
    """Random slots from a NumPy generator."""
    return lambda n: int(rng.random() * n)
