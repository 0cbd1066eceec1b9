"""MNIST as 1,000 writers hold it, for all simulators alike: 60 digits each, labels by Dirichlet shares (alpha 1).

MNIST's files do not say who wrote a digit, so the writers are made: everybody has favourite digits.
"""
from __future__ import annotations

import gzip
import os

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data", "mnist")


def _read(name, offset):
    with gzip.open(os.path.join(DATA, name + ".gz")) as source:
        return np.frombuffer(source.read(), np.uint8, offset=offset)


def images(part):
    """Images (n, 1, 28, 28) around zero, and labels, of "train" or "t10k"."""
    labels = _read(f"{part}-labels-idx1-ubyte", 8).astype(np.int32)
    values = _read(f"{part}-images-idx3-ubyte", 16).reshape(len(labels), 1, 28, 28)
    return (values.astype(np.float32) / 255 - 0.1307) / 0.3081, labels


def writers(count=1000, each=60, alpha=1.0, seed=0):
    """For each writer the numbers of its digits."""
    labels = images("train")[1]
    rng = np.random.default_rng(seed)
    left = [rng.permutation(np.flatnonzero(labels == digit)).tolist() for digit in range(10)]
    result = []
    for _ in range(count):
        shares = rng.dirichlet(np.full(10, alpha))
        mine = []
        while len(mine) < each:
            open_shares = shares * [bool(digits) for digits in left]
            total = open_shares.sum()
            odds = open_shares / total if total > 0 else np.array([bool(digits) for digits in left]) / sum(map(bool, left))
            mine.append(left[int(rng.choice(10, p=odds))].pop())
        result.append(np.array(mine))
    return result
