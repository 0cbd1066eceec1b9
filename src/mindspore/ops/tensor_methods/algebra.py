"""Methods that calculate: sums and products of tensors, solvers, activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import from_values
from mindspore.ops.elementwise import scaled
from mindspore.ops.tensor_methods.adapters import renamed, second_name


def _add(self: Tensor, other: Tensor | float, *, alpha: Any = 1) -> Tensor:
    """self + alpha * other.

    Examples:
        >>> print(Tensor([1.0, 2.0]).add(Tensor([10.0, 20.0]), alpha=0.5))
        [ 6. 12.]
    """
    return self + scaled("add", self, other, alpha)


def _sub(self: Tensor, other: Tensor | None = None, *, alpha: Any = 1, y: Any = None) -> Tensor:
    """self - alpha * other.

    Examples:
        >>> print(Tensor([5.0, 7.0]).sub(Tensor([1.0, 2.0]), alpha=3))
        [2. 1.]
    """
    return F.subtract(self, y if other is None else other, alpha=alpha)

_remainder = second_name(F.remainder, "divisor")


def _matmul(self: Tensor, tensor2: Any) -> Tensor:
    """The matrix product.

    Examples:
        >>> print(Tensor([[1.0, 2.0]]).matmul(Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    return F.matmul(self, from_values(tensor2))


def _rmatmul(self: Tensor, other: Any) -> Tensor:
    return F.matmul(from_values(other), self)


def _qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """An orthonormal and an upper triangular factor.

    Examples:
        >>> q, r = Tensor([[3.0, 0.0], [4.0, 5.0]]).qr()
        >>> print((q @ r).round(decimals=4))
        [[3. 0.]
         [4. 5.]]
    """
    return F.qr(self, "reduced" if some else "complete")


def _lu_solve(self: Tensor, LU_data: Any, LU_pivots: Any) -> Tensor:
    """The x with A x = self, from the factors of A.

    Examples:
        >>> packed = Tensor([[4.0, 6.0], [0.25, 0.5]])
        >>> print(Tensor([[5.0], [14.0]]).lu_solve(packed, Tensor([2, 2], ms.int32)))
        [[-1.]
         [ 3.]]
    """
    return F.lu_solve(self, LU_data, LU_pivots)


def _triangular_solve(
    self: Tensor, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """(x, A) with A x = self for triangular A.

    Examples:
        >>> x, _ = Tensor([[2.0], [8.0]]).triangular_solve(Tensor([[1.0, 0.0], [0.0, 4.0]]))
        >>> print(x)
        [[2.]
         [2.]]
    """
    return F.solve_triangular(A, self, 1 if transpose else 0, not upper, unitriangular), A


METHODS: dict[str, Callable] = {
    "approximate_equal": renamed(F.approximate_equal, other="y"),
    "float_power": renamed(F.float_power, other="exponent"),
    "multiply": renamed(F.multiply, value="other"),
    "ormqr": renamed(F.ormqr, input2="tau", input3="other"),
    "add": _add,
    "sub": _sub,
    "matmul": _matmul,
    "__matmul__": _matmul,
    "__rmatmul__": _rmatmul,
    "bitwise_not": F.invert,
    "inv": F.inv,
    "tensor_add": F.add,
    "tensor_mul": F.mul,
    "remainder": _remainder,
    "qr": _qr,
    "lu_solve": _lu_solve,
    "triangular_solve": _triangular_solve,
    "hardshrink": F.hardshrink,
    "relu": F.relu,
}
