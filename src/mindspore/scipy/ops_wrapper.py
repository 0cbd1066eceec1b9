"""Functions under the path that scripts import them from, with that path's names of arguments."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F

__all__ = ["matrix_set_diag"]


def matrix_set_diag(input_x: Any, diagonal: Any, k: Any = 0, alignment: str = "RIGHT_LEFT") -> Tensor:
    """A copy of matrices with the diagonals `k` (a number, or the lowest and the highest) replaced."""
    return F.matrix_set_diag(input_x, diagonal, k, alignment)
