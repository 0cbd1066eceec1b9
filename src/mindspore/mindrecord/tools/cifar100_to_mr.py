"""CIFAR-100 to MindRecord."""

from __future__ import annotations

from ..common.exceptions import PathNotExistsError
from .cifar import CifarToMR

__all__ = ["Cifar100ToMR"]


class Cifar100ToMR(CifarToMR):
    """Converts the Python version of CIFAR-100: fields `id`, `fine_label`, `coarse_label` and `data` (JPEG).

    Args:
        source: folder with `train` and `test`.
        destination: name of the training file; that of the test file is this plus `_test`.

    Raises:
        PathNotExistsError: if the files are not there.

    Examples:
        >>> Cifar100ToMR("cifar-100-python", "cifar100.mindrecord").transform(["fine_label"])  # doctest: +SKIP
    """

    label_names = {"fine_label": b"fine_labels", "coarse_label": b"coarse_labels"}

    def _find_files(self, names: list[str]) -> tuple[list[str], list[str]]:
        for name in ("train", "test"):
            if name not in names:
                raise PathNotExistsError(name)
        return ["train"], ["test"]
