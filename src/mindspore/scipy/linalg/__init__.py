"""Linear algebra with SciPy's names and arguments. `overwrite_*` and `check_finite` are accepted and have no effect."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops import function as F
from mindspore.prims import checks
from mindspore.prims import decompositions as dec

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "inv", "lstsq", "lu", "lu_factor",
    "solve_triangular",
]  # fmt: skip


def block_diag(*arrs: Any) -> Tensor:
    """A matrix with the given matrices along its diagonal.

    Examples:
        >>> print(ms.scipy.linalg.block_diag(Tensor([[1, 2]]), Tensor([[3], [4]])))
        [[1 2 0]
         [0 0 3]
         [0 0 4]]
    """
    return F.block_diag(*arrs) if arrs else F.zeros((1, 0))


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse.

    Examples:
        >>> print(ms.scipy.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return F.inverse(a)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant.

    Examples:
        >>> print(ms.scipy.linalg.det(Tensor([[2.0, 1.0], [0.0, 3.0]])))
        6.0
    """
    return F.det(a)


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The upper (or lower) triangular factor of a positive definite matrix.

    Examples:
        >>> print(ms.scipy.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 10.0]]), lower=True))
        [[2. 0.]
         [1. 3.]]
    """
    return dec.Cholesky(not lower)(a)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    """The Cholesky factor and which triangle it is, for `cho_solve`.

    Examples:
        >>> factor, lower = ms.scipy.linalg.cho_factor(Tensor([[4.0, 2.0], [2.0, 10.0]]), lower=True)
        >>> print(lower)
        True
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """The x with A x = b from the Cholesky factor of A.

    Examples:
        >>> factor = ms.scipy.linalg.cho_factor(Tensor([[4.0, 0.0], [0.0, 16.0]]))
        >>> print(ms.scipy.linalg.cho_solve(factor, Tensor([4.0, 8.0])))
        [1.  0.5]
    """
    factor, lower = c_and_lower
    right = F.expand_dims(b, -1) if b.ndim == factor.ndim - 1 else b
    out = F.cholesky_solve(right, factor, not lower)
    return F.reshape(out, b.shape)


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    debug: Any = None, check_finite: bool = True,
) -> Tensor:  # fmt: skip
    """The x with a x = b for triangular a.

    Examples:
        >>> print(ms.scipy.linalg.solve_triangular(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([2.0, 9.0]), lower=True))
        [1. 2.]
    """
    return F.solve_triangular(a, b, trans, lower, unit_diagonal)


def eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, turbo: bool = True, eigvals: Any = None, type: int = 1, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Eigenvalues (and vectors) of a Hermitian matrix, or of the pair (a, b) with positive definite b.

    Examples:
        >>> print(ms.scipy.linalg.eigh(Tensor([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True))
        [1. 3.]
    """
    checks.one_of("eigh", "type", type, (1,))
    factor = None
    if b is not None:
        factor = dec.Cholesky()(b)
        half = dec.TriangularSolve(True)(factor, a)
        a = F.adjoint(dec.TriangularSolve(True)(factor, F.adjoint(half)))
    w, v = dec.Eigh(lower)(a)
    if eigvals_only:
        return w
    return w, v if factor is None else dec.TriangularSolve(True, True)(factor, v)


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    """(p, l, u) with p l u = a, or (p l, u).

    Examples:
        >>> order, low, up = ms.scipy.linalg.lu(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(low)
        [[1.   0.  ]
         [0.25 1.  ]]
    """
    p, left, right = F.lu(a)
    return (F.matmul(p, left), right) if permute_l else (p, left, right)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """(packed factors, row interchanges).

    Examples:
        >>> packed, swaps = ms.scipy.linalg.lu_factor(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(packed, swaps)
        [[4.   6.  ]
         [0.25 0.5 ]] [1 1]
    """
    return F.lu_factor(a)


def lstsq(A: Any, B: Any, rcond: Any = None, driver: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(solution, residuals, rank, singular values) of the least-squares problem, by singular values.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([1.0, 3.0, 5.0])
        >>> print(ms.scipy.linalg.lstsq(a, b)[0].round(decimals=4))
        [1. 2.]
    """
    s, u, v = dec.Svd()(A)
    limit = F.amax(s, -1, True) * (max(A.shape[-2:]) * 1.2e-7 if rcond is None else rcond)
    keep = F.greater(s, limit)
    inverse = F.where(keep, F.reciprocal(F.where(keep, s, F.ones_like(s))), F.zeros_like(s))
    right = F.expand_dims(B, -1) if B.ndim == A.ndim - 1 else B
    x = F.matmul(v * F.expand_dims(inverse, -2), F.matmul(F.adjoint(u), right))
    residual = F.sum(F.square(F.matmul(A, x) - right), -2)
    x = F.squeeze(x, -1) if right is not B else x
    return x, residual, F.count_nonzero(keep, -1), s
