"""Reading the Python version of CIFAR-10 and CIFAR-100, and what their converters share.

These files are pickles. They are read by an unpickler that builds arrays and containers and refuses everything else, so
that a file cannot run code.
"""

from __future__ import annotations

import abc
import io
import os
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..filewriter import FileWriter
from ..layout import check_filename
from ..status import SUCCESS, MSRStatus
from .converter import jpeg, write_rows


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstruct" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return _empty_array
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if module == "_codecs" and name == "encode":  # how Python 3 stores bytes in the old protocols
            return _latin1
        raise pickle.UnpicklingError(f"it refers to {module}.{name}")


def _empty_array(kind: type, shape: tuple[int, ...], typecode: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise pickle.UnpicklingError("it holds an unknown kind of array")
    return np.ndarray.__new__(np.ndarray, shape, typecode)


def _latin1(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it holds {encoding} text")
    return text.encode("latin1")


def load_batch(path: str) -> dict[bytes, Any]:
    """The content of one file; RuntimeError when it is no CIFAR file."""
    with open(path, "rb") as stream:
        content = stream.read()
    try:
        batch = _ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()
        if not isinstance(batch, dict) or not isinstance(batch[b"data"], np.ndarray):
            raise ValueError("it holds no images")
        batch[b"data"] = batch[b"data"].astype(np.uint8, copy=False).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    except Exception as error:  # whatever a damaged pickle raises
        raise RuntimeError(f"Invalid file, {path} is not a valid Cifar file: {error}.") from None
    return batch


def load_batches(folder: str, names: Sequence[str], labels: Sequence[bytes]) -> tuple[np.ndarray, list[list[int]]]:
    """Images (n, 32, 32, 3) of several files, and one list for each kind of labels."""
    batches = [load_batch(os.path.join(folder, name)) for name in names]
    try:
        columns = [[int(value) for batch in batches for value in batch[label]] for label in labels]
    except (KeyError, TypeError, ValueError) as error:
        raise RuntimeError(f"Invalid file, the Cifar files in {folder} lack labels: {error}.") from None
    images = np.concatenate([batch[b"data"] for batch in batches])
    if any(len(column) != len(images) for column in columns):
        raise RuntimeError(f"Invalid file, the Cifar files in {folder} do not have one label for each image.")
    return images, columns


class CifarToMR(abc.ABC):
    """The common part of `Cifar10ToMR` and `Cifar100ToMR`."""

    label_names: dict[str, bytes] = {}

    def __init__(self, source: str, destination: str):
        check_filename(source)
        self.source = source
        self.train_files, self.test_files = self._find_files(os.listdir(source))
        check_filename(destination)
        self.destination = destination

    @abc.abstractmethod
    def _find_files(self, names: list[str]) -> tuple[list[str], list[str]]:
        """The training and the test files among those of the folder."""

    def run(self, fields: list[str] | None = None) -> MSRStatus:
        """Convert both parts."""
        self._convert(fields)
        return SUCCESS

    def transform(self, fields: list[str] | None = None) -> MSRStatus:
        """Convert both parts.

        Args:
            fields: index fields, see `FileWriter.add_index`.

        Raises:
            RuntimeError: if a file is damaged, or the destination exists.
        """
        return self.run(fields)

    def _convert(self, fields: list[str] | None) -> None:
        if fields and not isinstance(fields, list):
            raise ValueError("The parameter fields should be None or list")
        schema = {"id": {"type": "int64"}, **{name: {"type": "int64"} for name in self.label_names}}
        schema["data"] = {"type": "bytes"}
        parts = ((self.train_files, "", "img_train"), (self.test_files, "_test", "img_test"))
        for names, suffix, desc in parts:
            writer = FileWriter(self.destination + suffix, 1)
            write_rows(writer, schema, desc, fields, self._rows(names))

    def _rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        images, columns = load_batches(self.source, names, list(self.label_names.values()))
        for number, (image, *labels) in enumerate(zip(images, *columns)):
            yield {"id": number, "data": jpeg(image), **dict(zip(self.label_names, labels))}
