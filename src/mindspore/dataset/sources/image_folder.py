"""Images sorted into folders by class, and the data sets that are such folders."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import INT32_MAX, INT32_MIN, check_bool, check_decrypt, check_dir, check_range, check_type
from mindspore.dataset.api.operations import VisionBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.sources.source import MappableDataset, check_extensions, read_image

DEFAULT_EXTENSIONS = [".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"]


class ClassFoldersReader(Reader):
    """Every file below a folder of class folders; the folder's name gives the class."""

    columns = ["image", "label"]

    def __init__(
        self,
        folder: str,
        extensions: Sequence[str] | None,
        class_indexing: dict[str, int] | None,
        decode: bool,
        decrypt: Callable | None = None,
    ):
        wanted = tuple(extension.lower() for extension in extensions or DEFAULT_EXTENSIONS)
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
        if class_indexing:
            missing = [name for name in class_indexing if name not in names]
            if missing:
                raise RuntimeError(f"Invalid class, {missing[0]} doesn't exist in the folders of {folder}.")
            names = [name for name in names if name in class_indexing]
        self._files: list[str] = []
        labels: list[int] = []
        self._classes = dict(class_indexing) if class_indexing else {name: i for i, name in enumerate(names)}
        for name in names:
            found = _files_of_class(os.path.join(folder, name), wanted)
            self._files += found
            labels += [self._classes[name]] * len(found)
        if not self._files:
            raise RuntimeError(
                f"Invalid data, ImageFolderDataset API can't read the data file (interface mismatch or no data "
                f"found). Check file path: {folder}, extensions: {list(wanted)}."
            )
        self._labels = np.array(labels, dtype=np.int32)
        self._decode, self._decrypt = decode, decrypt

    def __len__(self):
        return len(self._files)

    def row(self, index):
        path = self._files[index]
        if self._decrypt is not None:
            image = np.frombuffer(self._decrypt(path), dtype=np.uint8)
            if self._decode:
                from mindspore.dataset.sources.images import decode_rgb

                image = decode_rgb(image, path)
        else:
            image = read_image(path, self._decode)
        return image, np.array(self._labels[index])

    def labels(self, column="label"):
        return self._labels

    def num_classes(self):
        return len(self._classes)

    def class_indexing(self):
        return self._classes

    def path(self, index):
        return self._files[index]


def _files_of_class(folder: str, wanted: tuple[str, ...]) -> list[str]:
    """The image files of a class. Folders within would be taken for part of the class, or forgotten: both would be guesses."""
    with os.scandir(folder) as entries:
        names = []
        for entry in entries:
            if entry.is_dir():
                raise RuntimeError(f"Invalid file found: {entry.path}, should be file, but got directory.")
            if entry.name.lower().endswith(wanted):
                names.append(entry.path)
    return sorted(names)


def check_class_indexing(class_indexing: Any) -> None:
    if class_indexing is None:
        return
    check_type(class_indexing, dict, "class_indexing")
    for name, number in class_indexing.items():
        check_type(name, str, "class_indexing")
        check_type(number, int, f"class_indexing[{name!r}]")
        check_range(number, INT32_MIN, INT32_MAX, f"class_indexing[{name!r}]")


class ImageFolderDataset(MappableDataset, VisionBaseDataset):
    """Images in one folder for each class: columns "image" and "label" (int32).

    ds.ImageFolderDataset("path/to/train", decode=True)

    Examples:
        >>> from pathlib import Path
        >>> for label in ("cat", "dog"):
        ...     Path("images", label).mkdir(parents=True)
        ...     vision.write_png(f"images/{label}/0.png", np.zeros((2, 2, 3), np.uint8))
        >>> ds.ImageFolderDataset("images", decode=True).get_class_indexing()
        {'cat': 0, 'dog': 1}
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler=None,
        extensions: list[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache=None,
        decrypt: Callable | None = None,
    ):
        check_dir(dataset_dir)
        check_bool(decode, "decode")
        check_class_indexing(class_indexing)
        check_decrypt(decrypt)
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir = os.fspath(dataset_dir)
        self.extensions = check_extensions(extensions)
        self.class_indexing, self.decode = class_indexing, decode
        opener = functools.partial(
            ClassFoldersReader, self.dataset_dir, self.extensions, class_indexing, decode, decrypt
        )
        params = {
            "class_indexing": class_indexing or {},
            "dataset_dir": self.dataset_dir,
            "decode": decode,
            "extensions": self.extensions or [],
            "recursive": False,
        }
        self._rows("ImageFolderDataset", opener, params)
