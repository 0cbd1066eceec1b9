"""Linear algebra with PyTorch's argument names."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import function as F

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]


def inv(input: Any) -> Tensor:
    """The inverse of square matrices."""
    return F.inverse(input)


def qr(A: Any, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """(q, r): an orthonormal and an upper triangular factor."""
    return F.qr(A, mode)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over dimensions."""
    return F.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A matrix norm over two dimensions."""
    return F.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector or matrix norm."""
    return F.norm(A, ord, dim, keepdim, dtype=dtype)
