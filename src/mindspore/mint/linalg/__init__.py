"""Linear algebra with PyTorch's argument names."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]


def inv(input: Tensor) -> Tensor:
    """The inverse of square matrices.

    Examples:
        >>> print(mint.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return F.inverse(input)


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """(q, r): an orthonormal and an upper triangular factor.

    Examples:
        >>> q, r = mint.linalg.qr(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print((q @ r).round(decimals=4))
        [[3. 0.]
         [4. 5.]]
    """
    return F.qr(A, mode)


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over dimensions.

    Examples:
        >>> print(mint.linalg.vector_norm(Tensor([3.0, -4.0]), ord=1))
        7.0
    """
    return F.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A matrix norm over two dimensions.

    Examples:
        >>> print(mint.linalg.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        5.0
    """
    return F.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector or matrix norm.

    Examples:
        >>> print(mint.linalg.norm(Tensor([3.0, 4.0])))
        5.0
    """
    return F.norm(A, ord, dim, keepdim, dtype=dtype)
