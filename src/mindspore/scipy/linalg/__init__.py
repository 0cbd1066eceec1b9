"""Linear algebra with SciPy's names and arguments, of one matrix at a time; integers count as float64.

`overwrite_*` and `check_finite` are accepted and have no effect.
"""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, require_tensor
from mindspore.prims import checks
from mindspore.prims import decompositions as dec

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "inv", "lstsq", "lu", "lu_factor", "lu_solve",
    "solve_triangular",
]  # fmt: skip


def _matrix(op: str, a: Any, square: bool = True) -> Tensor:
    """The one matrix that a function works on."""
    require_tensor(op, "a", a)
    if a.ndim != 2:
        raise ValueError(f"For '{op}', the dimension of 'a' should be 2, but got {a.ndim}.")
    if square and a.shape[0] != a.shape[1]:
        raise ValueError(f"For '{op}', the matrix 'a' should be a square matrix like (N, N), but got {a.shape}.")
    return cast(a, mstype.float64) if a.dtype.kind in "ui" else a


def _flags(op: str, **flags: Any) -> None:
    for name, value in flags.items():
        checks.boolean(op, name, value)


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
    _flags("inv", overwrite_a=overwrite_a, check_finite=check_finite)
    return F.inverse(_matrix("inv", a))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant.

    Examples:
        >>> print(ms.scipy.linalg.det(Tensor([[2.0, 1.0], [0.0, 3.0]])))
        6.0
    """
    _flags("det", overwrite_a=overwrite_a, check_finite=check_finite)
    return F.det(_matrix("det", a))


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The upper (or lower) triangular factor of a positive definite matrix.

    Examples:
        >>> print(ms.scipy.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 10.0]]), lower=True))
        [[2. 0.]
         [1. 3.]]
    """
    _flags("cholesky", lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return dec.Cholesky(not lower)(_matrix("cholesky", a))


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    """The Cholesky factor and which triangle it is, for `cho_solve`.

    Examples:
        >>> factor, lower = ms.scipy.linalg.cho_factor(Tensor([[4.0, 2.0], [2.0, 10.0]]), lower=True)
        >>> print(lower)
        True
    """
    _flags("cho_factor", lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return cholesky(_matrix("cho_factor", a), lower), lower


def cho_solve(c_and_lower: tuple, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """The x with A x = b from the Cholesky factor of A.

    Examples:
        >>> factor = ms.scipy.linalg.cho_factor(Tensor([[4.0, 0.0], [0.0, 16.0]]))
        >>> print(ms.scipy.linalg.cho_solve(factor, Tensor([4.0, 8.0])))
        [1.  0.5]
    """
    factor, lower = c_and_lower
    _flags("cho_solve", lower=lower, overwrite_b=overwrite_b, check_finite=check_finite)
    factor = _matrix("cho_solve", factor)
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
    _flags(
        "solve_triangular", lower=lower, unit_diagonal=unit_diagonal, overwrite_b=overwrite_b, check_finite=check_finite
    )
    for name, value in (("a", a), ("b", b)):
        require_tensor("solve_triangular", name, value)
    if a.dtype is not b.dtype:
        raise TypeError(f"For 'solve_triangular', 'a' and 'b' must have one type, but got {a.dtype} and {b.dtype}.")
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
    _flags(
        "eigh", lower=lower, eigvals_only=eigvals_only, overwrite_a=overwrite_a, overwrite_b=overwrite_b, turbo=turbo
    )
    _flags("eigh", check_finite=check_finite)
    checks.one_of("eigh", "type", type, (1,) if b is not None else (1, 2, 3))  # kinds of problems with b
    if eigvals is not None:
        raise ValueError(f"For 'eigh', 'eigvals' must be None: all eigenvalues are computed, but got {eigvals}.")
    a, factor = _matrix("eigh", a), None
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
    _flags("lu", permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    p, left, right = F.lu(_matrix("lu", a, square=False))
    return (F.matmul(p, left), right) if permute_l else (p, left, right)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """(packed factors, row interchanges).

    Examples:
        >>> packed, swaps = ms.scipy.linalg.lu_factor(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(packed, swaps)
        [[4.   6.  ]
         [0.25 0.5 ]] [1 1]
    """
    _flags("lu_factor", overwrite_a=overwrite_a, check_finite=check_finite)
    return F.lu_factor(_matrix("lu_factor", a))


def lu_solve(lu_and_piv: tuple, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """The x with A x = b (transposed A for trans 1, adjoint for 2) from `lu_factor(A)`.

    Examples:
        >>> from mindspore import Tensor, scipy
        >>> factors = scipy.linalg.lu_factor(Tensor([[2.0, 0.0], [0.0, 4.0]]))
        >>> scipy.linalg.lu_solve(factors, Tensor([2.0, 4.0])).tolist()
        [1.0, 1.0]
    """
    _flags("lu_solve", overwrite_b=overwrite_b, check_finite=check_finite)
    packed, pivots = lu_and_piv
    packed = _matrix("lu_solve", packed)
    require_tensor("lu_solve", "b", b)
    if b.ndim not in (1, 2) or b.shape[0] != packed.shape[0]:
        raise ValueError(
            f"For 'lu_solve', the rows of 'b' must match the matrix {packed.shape}, but its shape is {b.shape}."
        )
    checks.one_of("lu_solve", "trans", trans, (0, 1, 2))
    p, left, right = F.lu_unpack(packed, pivots + 1)  # which counts from 1
    columns = F.expand_dims(b, -1) if b.ndim == 1 else b
    if trans == 0:
        inner = F.solve_triangular(left, F.matmul(p.T, columns), 0, True, True)
        out = F.solve_triangular(right, inner, 0, False, False)
    else:
        inner = F.solve_triangular(right, columns, trans, False, False)
        out = F.matmul(p, F.solve_triangular(left, inner, trans, True, True))
    return F.reshape(out, b.shape)


def lstsq(A: Any, B: Any, rcond: Any = None, driver: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(solution, residuals, rank, singular values) of the least-squares problem, by singular values.

    As SciPy has it, residuals are empty unless A has more rows than columns, and with `driver` 'gelsy', the default, both they and
    the singular values are. Gradients flow through the solution alone.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([1.0, 3.0, 5.0])
        >>> print(ms.scipy.linalg.lstsq(a, b)[0].round(decimals=4))
        [1. 2.]
    """
    driver = checks.one_of("lstsq", "driver", driver or "gelsy", ("gelsd", "gelss", "gelsy"))
    s, u, v = dec.Svd()(A)
    limit = F.amax(s, -1, True) * (max(A.shape[-2:]) * 1.2e-7 if rcond is None else rcond)
    keep = F.greater(s, limit)
    inverse = F.where(keep, F.reciprocal(F.where(keep, s, F.ones_like(s))), F.zeros_like(s))
    right = F.expand_dims(B, -1) if B.ndim == A.ndim - 1 else B
    x = F.matmul(v * F.expand_dims(inverse, -2), F.matmul(F.adjoint(u), right))
    nothing = F.zeros((0,), s.dtype)
    residual, singular = nothing, nothing
    if driver != "gelsy":  # which computes neither
        singular = s
        if A.shape[-2] > A.shape[-1]:
            residual = F.sum(F.square(F.matmul(A, x) - right), -2)
    x = F.squeeze(x, -1) if right is not B else x
    rank = cast(F.count_nonzero(keep, -1), mstype.int64)
    return x, F.stop_gradient(residual), rank, F.stop_gradient(singular)
