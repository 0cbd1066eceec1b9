"""Handwritten digits and their kin: the IDX files of MNIST, Fashion-MNIST, KMNIST, EMNIST and QMNIST."""

from __future__ import annotations

import functools
import gzip
import os
import struct
from collections.abc import Sequence

import numpy as np

from mindspore.dataset._check import check_bool, check_dir, check_valid_str
from mindspore.dataset.api.operations import VisionBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.sources.source import MappableDataset

_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: str) -> np.ndarray:
    """An IDX file (plain or gzip): magic number with type and rank, the shape, then the values."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as stream:
        data = stream.read()
    if len(data) < 4 or data[0] or data[1] or data[2] not in _IDX_TYPES:
        raise RuntimeError(f"Invalid file, {path} is not an IDX file: its magic number is {data[:4].hex()}.")
    rank = data[3]
    start = 4 + 4 * rank
    if len(data) < start:
        raise RuntimeError(f"Invalid file, {path} ends within its header.")
    shape = struct.unpack(f">{rank}I", data[4:start])
    dtype = np.dtype(_IDX_TYPES[data[2]])
    size = int(np.prod(shape)) * dtype.itemsize
    if len(data) - start < size:
        raise RuntimeError(f"Invalid file, {path} holds {len(data) - start} bytes of data, but its header says {size}.")
    return (
        np.frombuffer(data, dtype, count=size // dtype.itemsize, offset=start)
        .reshape(shape)
        .astype(dtype.newbyteorder("="))
    )


class DigitsReader(Reader):
    """Images and labels in memory; whole batches are gathered at once."""

    def __init__(self, pairs: Sequence[tuple[str, str]], kind: str, columns: Sequence[str] = ("image", "label")):
        images, labels = [], []
        for image_file, label_file in pairs:
            image, label = read_idx(image_file), read_idx(label_file)
            if len(image) != len(label):
                raise RuntimeError(
                    f"Invalid data, {image_file} has {len(image)} images but {label_file} {len(label)} labels."
                )
            images.append(image)
            labels.append(label)
        self.row_files = [(pair[0], len(image)) for pair, image in zip(pairs, images)]
        self.columns, self._kind = list(columns), kind
        self._images = np.concatenate(images)[..., np.newaxis]
        self._labels = np.concatenate(labels).astype(np.uint32)

    def __len__(self):
        return len(self._images)

    def row(self, index):
        return self._images[index].copy(), np.array(self._labels[index])

    def gather(self, indices):
        return self._images[indices], self._labels[indices]

    def row_bytes(self):
        return self._images[0].nbytes + 4 if len(self._images) else 0

    def labels(self, column="label"):
        return self._labels if self._labels.ndim == 1 else self._labels[:, 0]


def find_pairs(folder: str, names: Sequence[tuple[str, str]], kind: str) -> list[tuple[str, str]]:
    """Image and label files that exist, plain or gzip."""
    pairs = []
    for image_name, label_name in names:
        image, label = _existing(folder, image_name), _existing(folder, label_name)
        if image and label:
            pairs.append((image, label))
    if not pairs:
        raise RuntimeError(
            f"Invalid data, {kind} API can't read the data file (interface mismatch or no data found). "
            f"Check {kind} file path: {folder}."
        )
    return pairs


def _existing(folder: str, name: str) -> str | None:
    for candidate in (name, name + ".gz"):
        path = os.path.join(folder, candidate)
        if os.path.isfile(path):
            return path
    return None


def open_digits(folder: str, names: Sequence[tuple[str, str]], kind: str) -> DigitsReader:
    return DigitsReader(find_pairs(folder, names, kind), kind)


_TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
_TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
_USAGES = {"train": [_TRAIN], "test": [_TEST], "all": [_TEST, _TRAIN]}


class MnistDataset(MappableDataset, VisionBaseDataset):
    """Handwritten digits: columns "image" (28 x 28 x 1, uint8) and "label" (uint32).

    ds.MnistDataset("path/to/mnist", usage="train", shuffle=True)
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler=None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache=None,
    ):
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "all"], "usage")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage
        kind = type(self).__name__
        opener = functools.partial(open_digits, self.dataset_dir, _USAGES[usage], kind)
        self._rows(kind, opener, {"dataset_dir": self.dataset_dir, "usage": usage})


class FashionMnistDataset(MnistDataset):
    """Pictures of clothes in MNIST's format."""


class KMnistDataset(MnistDataset):
    """Kuzushiji characters in MNIST's format."""


_EMNIST_NAMES = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")


class EMnistDataset(MappableDataset, VisionBaseDataset):
    """Handwritten letters and digits in MNIST's format.

    ds.EMnistDataset("path/to/emnist", name="digits", usage="train")
    """

    def __init__(
        self,
        dataset_dir,
        name,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        check_dir(dataset_dir)
        check_valid_str(name, _EMNIST_NAMES, "name")
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "all"], "usage")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage, self.name = os.fspath(dataset_dir), usage, name
        parts = ["train", "test"] if usage == "all" else [usage]
        names = [
            (f"emnist-{name}-{part}-images-idx3-ubyte", f"emnist-{name}-{part}-labels-idx1-ubyte") for part in parts
        ]
        opener = functools.partial(open_digits, self.dataset_dir, names, "EMnistDataset")
        self._rows("EMnistNode", opener, {"dataset_dir": self.dataset_dir, "name": name, "usage": usage})


_QMNIST_FILES = {
    "train": [("qmnist-train-images-idx3-ubyte", "qmnist-train-labels-idx2-int")],
    "test": [("qmnist-test-images-idx3-ubyte", "qmnist-test-labels-idx2-int")],
    "nist": [("xnist-images-idx3-ubyte", "xnist-labels-idx2-int")],
}


class QMnistReader(DigitsReader):
    """QMNIST has eight numbers for each label; `compat` keeps the first only."""

    def __init__(self, folder: str, usage: str, compat: bool):
        parts = ["train", "test", "nist"] if usage == "all" else ["test"] if usage.startswith("test") else [usage]
        names = [pair for part in parts for pair in _QMNIST_FILES[part]]
        super().__init__(find_pairs(folder, names, "QMnistDataset"), "QMnistDataset")
        if usage == "test10k":
            self._images, self._labels = self._images[:10000], self._labels[:10000]
        elif usage == "test50k":
            self._images, self._labels = self._images[10000:], self._labels[10000:]
            self.row_files = [(self.row_files[0][0], len(self._images))]
        self._labels = self._labels[:, 0] if compat else self._labels


class QMnistDataset(MappableDataset, VisionBaseDataset):
    """The reconstructed full MNIST test set and more.

    ds.QMnistDataset("path/to/qmnist", usage="test10k")
    """

    def __init__(
        self,
        dataset_dir,
        usage=None,
        compat=True,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "test10k", "test50k", "nist", "all"], "usage")
        check_bool(compat, "compat")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage, self.compat = os.fspath(dataset_dir), usage, compat
        opener = functools.partial(QMnistReader, self.dataset_dir, usage, compat)
        self._rows("QMnistDataset", opener, {"dataset_dir": self.dataset_dir, "usage": usage, "compat": compat})
