"""What the examples share: MNIST's digits as vectors, and a small network for them."""
import gzip
from pathlib import Path

import numpy as np

from mindspore import nn

_DATA = Path(__file__).resolve().parent.parent / "data" / "mnist"


def _read(name, offset):
    with gzip.open(_DATA / f"{name}.gz") as source:
        return np.frombuffer(source.read(), np.uint8, offset=offset)


def images(part):
    """Images as rows of 784 values, and labels, of "train" or "t10k"."""
    labels = _read(f"{part}-labels-idx1-ubyte", 8).astype(np.int32)
    return _read(f"{part}-images-idx3-ubyte", 16).reshape(len(labels), 784).astype(np.float32) / 255, labels


def network():
    """Two dense layers."""
    return nn.SequentialCell(nn.Dense(784, 64), nn.ReLU(), nn.Dense(64, 10))
