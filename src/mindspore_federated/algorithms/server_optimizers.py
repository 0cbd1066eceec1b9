"""FedAdam and FedYogi: the average change of the clients is a gradient for an adaptive optimizer of the server.

Reddi et al., "Adaptive Federated Optimization", ICLR 2021, algorithm 2.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_BETA1, _BETA2, _TAU = np.float32(0.9), np.float32(0.99), np.float32(1e-3)


def adam_step(weight: Floats, change: Floats, moment: Floats, square: Floats, rate: float
              ) -> tuple[Floats, Floats, Floats]:
    """New weight, first and second moment."""
    square = _BETA2 * square + (1 - _BETA2) * change * change
    return _move(weight, change, moment, square, rate)


def yogi_step(weight: Floats, change: Floats, moment: Floats, square: Floats, rate: float
              ) -> tuple[Floats, Floats, Floats]:
    """As Adam, but the second moment moves by a bounded step: it forgets large changes slowly."""
    squared = change * change
    square = square - (1 - _BETA2) * squared * np.sign(square - squared)
    return _move(weight, change, moment, square, rate)


def _move(weight: Floats, change: Floats, moment: Floats, square: Floats, rate: float
          ) -> tuple[Floats, Floats, Floats]:
    moment = _BETA1 * moment + (1 - _BETA1) * change
    moved: Any = weight + np.float32(rate) * moment / (np.sqrt(square) + _TAU)
    return moved, moment, square
