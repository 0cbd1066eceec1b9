"""The samples of a client: checked, and in batches."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_samples(x: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Samples and labels as arrays, as many of the one as of the other."""
    if len(x) != len(y) or not len(y):
        raise ValueError(f"x and y should have the same number of samples, at least one, but got {len(x)} and {len(y)}")
    return np.asarray(x), np.asarray(y)


def batches(samples: int, batch: int, epochs: int, random: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """For each epoch the samples of its full batches; the rest that fills no batch waits for the next order."""
    batch = min(batch, samples)
    for _ in range(epochs):
        order = random.permutation(samples)
        yield [order[at:at + batch] for at in range(0, samples - batch + 1, batch)]
