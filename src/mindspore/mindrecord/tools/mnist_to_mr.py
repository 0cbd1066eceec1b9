"""MNIST to MindRecord."""

from __future__ import annotations

import gzip
import logging
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..common.exceptions import PathNotExistsError
from ..filewriter import FileWriter
from ..layout import check_filename
from ..status import SUCCESS, MSRStatus
from .converter import check_partition_number, jpeg, write_rows

__all__ = ["MnistToMR"]

_log = logging.getLogger(__name__)
_PARTS = {"train": "train", "test": "t10k"}
_IMAGES_MAGIC, _LABELS_MAGIC = 2051, 2049


class MnistToMR:
    """Converts MNIST: images become JPEG in field `data`, labels int64 in field `label`.

    Args:
        source: folder with the four files `train-images-idx3-ubyte.gz` and so on.
        destination: the files are named this plus `_train.mindrecord` and `_test.mindrecord`.
        partition_number: number of files of each.

    Raises:
        ValueError: if an argument is not valid.

    Examples:
        >>> MnistToMR("mnist", "mnist_mr").transform()  # doctest: +SKIP
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1):
        check_filename(source)
        check_filename(destination)
        self.source = source
        self.partition_number = check_partition_number(partition_number)
        self.writer_train = FileWriter(f"{destination}_train.mindrecord", self.partition_number)
        self.writer_test = FileWriter(f"{destination}_test.mindrecord", self.partition_number)
        self.mnist_schema_json = {"label": {"type": "int64"}, "data": {"type": "bytes"}}

    def run(self) -> MSRStatus:
        """Convert both parts."""
        for part, writer in (("train", self.writer_train), ("test", self.writer_test)):
            write_rows(writer, self.mnist_schema_json, "mnist_schema", ["label"], self._rows(part))
        return SUCCESS

    def transform(self) -> MSRStatus:
        """Convert both parts.

        Raises:
            PathNotExistsError: if a file is missing.
            RuntimeError: if a file is damaged, or the destination exists.
        """
        return self.run()

    def _rows(self, part: str) -> Iterator[dict[str, Any]]:
        name = _PARTS[part]
        images = self._read(f"{name}-images-idx3-ubyte.gz", _IMAGES_MAGIC)
        labels = self._read(f"{name}-labels-idx1-ubyte.gz", _LABELS_MAGIC)
        for image, label in zip(images, labels):
            yield {"label": int(label), "data": jpeg(image[..., None])}

    def _read(self, name: str, magic: int) -> np.ndarray:
        """An idx file: magic number, sizes (big-endian), bytes."""
        path = os.path.join(self.source, name)
        if not os.path.isfile(path):
            raise PathNotExistsError(path)
        try:
            with gzip.open(path, "rb") as stream:
                content = stream.read()
            rank = magic & 0xFF
            found, count, *shape = struct.unpack_from(f">{rank + 1}I", content)
            if found != magic:
                raise ValueError(f"its magic number is {found}, not {magic}")
            items = np.frombuffer(content, np.uint8, offset=4 * (rank + 1)).reshape(-1, *shape)
        except (OSError, EOFError, ValueError, struct.error, zlib.error) as error:
            raise RuntimeError(f"Invalid file, {path} is no MNIST file: {error}.") from None
        if len(items) != count:  # cut-down copies often keep the old count; gzip itself notices a truncated file
            _log.warning("%s states %d items and holds %d; all of those are taken.", path, count, len(items))
        return items
