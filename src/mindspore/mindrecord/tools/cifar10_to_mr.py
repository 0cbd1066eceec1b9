"""CIFAR-10 to MindRecord."""

from __future__ import annotations

from ..common.exceptions import PathNotExistsError
from .cifar import CifarToMR

__all__ = ["Cifar10ToMR"]


class Cifar10ToMR(CifarToMR):
    """Converts the Python version of CIFAR-10: fields `id`, `label` and `data` (JPEG).

    Args:
        source: folder with `data_batch_*` and `test_batch`.
        destination: name of the training file; that of the test file is this plus `_test`.

    Raises:
        PathNotExistsError: if the files are not there.

    Examples:
        >>> Cifar10ToMR("cifar-10-batches-py", "cifar10.mindrecord").transform(["label"])  # doctest: +SKIP
    """

    label_names = {"label": b"labels"}

    def _find_files(self, names: list[str]) -> tuple[list[str], list[str]]:
        train = sorted(name for name in names if name.startswith("data_batch_"))
        test = sorted(name for name in names if name.startswith("test_batch"))
        if not train:
            raise PathNotExistsError("data_batch_*")
        if not test:
            raise PathNotExistsError("test_batch")
        return train, test
