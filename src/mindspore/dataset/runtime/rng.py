"""Random streams of rows: one for each (seed, operation, epoch, row), whatever worker runs it.

Philox is a counter-based generator (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): its output is
a function of a key and a counter, so a stream can be entered anywhere. One generator a thread is enough; entering the
stream of a row only writes its state.
"""

from __future__ import annotations

import numpy as np


class RowRandom:
    """The random streams of one operation of one map."""

    def __init__(self, seed: int, operation: int):
        self._bits = np.random.Philox(key=[seed & (2**64 - 1), operation & (2**64 - 1)])
        self._state = self._bits.state
        self.generator = np.random.Generator(self._bits)

    def at(self, epoch: int, key: int) -> np.random.Generator:
        """The generator, placed at the start of the stream of row `key` in `epoch`."""
        state = self._state
        state["state"]["counter"][:] = (0, 0, key, epoch)
        state["buffer_pos"] = 4
        state["has_uint32"] = 0
        self._bits.state = state
        return self.generator
