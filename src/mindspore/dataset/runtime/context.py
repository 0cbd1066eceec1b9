"""What all operators of one running pipeline share: seeds, and whether to run everything in the calling thread."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import numpy as np

from mindspore.dataset.samplers import Draw
from mindspore.dataset.settings import DEFAULT_SEED, settings

_DEBUG_SEED = 1  # debugging repeats itself, also for those who set no seed


def _seed() -> int | None:
    if settings().seed != DEFAULT_SEED:
        return settings().seed
    return _DEBUG_SEED if settings().debug_mode else None


@dataclass
class RunContext:
    seed: int | None = field(default_factory=_seed)
    entropy: int = field(default_factory=lambda: secrets.randbits(48))
    synchronous: bool = field(default_factory=lambda: settings().debug_mode)
    num_epochs: int = -1

    @property
    def root_seed(self) -> int:
        """The number all random streams of the run derive from."""
        return self.entropy if self.seed is None else self.seed

    def rng(self, uid: int, epoch: int) -> np.random.Generator:
        return np.random.default_rng([self.root_seed, uid, epoch])

    def draw(self, epoch: int, uid: int, reader=None, memory: dict | None = None) -> Draw:
        return Draw(epoch, self.seed, self.entropy + (uid << 50), reader, {} if memory is None else memory)
