"""Linear algebra: factorisations, systems, determinants, matrix functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_rank, require_tensor, require_tensors, to_float
from mindspore.ops.norms import matrix_norm
from mindspore.ops.product import matmul
from mindspore.ops.reshaping import swapaxes
from mindspore.prims import checks, values
from mindspore.prims import decompositions as dec
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Concat, ExpandDims, Fill, GetItem, Stack
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.creation import Eye, Range, Tril, Triu
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "geqrf",
    "inverse", "log_matrix_determinant", "logdet", "lstsq", "lu", "lu_factor", "lu_solve", "lu_unpack",
    "matrix_determinant", "matrix_exp", "matrix_power", "matrix_rank", "matrix_solve", "orgqr", "ormqr", "pinv",
    "qr", "slogdet", "solve_triangular", "svd", "svdvals", "tridiagonal_matmul",
]  # fmt: skip


def _adjoint(x: Tensor) -> Any:
    return ew.conj(swapaxes(x, -1, -2))


def inverse(input: Tensor) -> Tensor:
    """The inverse of square matrices.

    Examples:
        >>> print(ops.inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return dec.MatrixInverse()(to_float(require_tensor("inverse", "input", input)))


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """The x with matrix x = rhs.

    Examples:
        >>> print(ops.matrix_solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [2.0]])))
        [[1. ]
         [0.5]]
    """
    return dec.MatrixSolve(adjoint)(matrix, rhs)


def solve_triangular(a: Tensor, b: Tensor, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Tensor:
    """The x with a x = b for triangular a; `trans` 1 or 'T' and 2 or 'C' solve with the (conjugate) transpose.

    Examples:
        >>> print(ops.solve_triangular(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([2.0, 9.0]), lower=True))
        [1. 2.]
    """
    require_tensors("solve_triangular", a=a, b=b)
    mode = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    if mode not in (0, 1, 2):
        raise checks.UnfitError(
            f"For 'solve_triangular', 'trans' must be one of (0, 1, 2, 'N', 'T', 'C'), but got {trans!r}."
        )
    right = ExpandDims()(b, -1) if b.ndim == a.ndim - 1 else b
    if mode == 1 and a.dtype.kind == "c":
        a, mode, lower = swapaxes(a, -1, -2), 0, not lower
    out = dec.TriangularSolve(lower, mode != 0, unit_diagonal)(to_float(a), to_float(right))
    return Reshape()(out, b.shape) if right is not b else out


def det(input: Tensor) -> Tensor:
    """The determinant of square matrices.

    Examples:
        >>> print(ops.det(Tensor([[2.0, 1.0], [0.0, 3.0]])))
        6.0
    """
    require_tensors("det", input=input)
    return dec.MatrixDeterminant()(to_float(input))


matrix_determinant = det


def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """The sign and the logarithm of the magnitude of the determinant.

    Examples:
        >>> sign, size = ops.log_matrix_determinant(Tensor([[0.0, 2.0], [1.0, 0.0]]))
        >>> print(sign, size)
        -1.0 0.6931472
    """
    require_tensors("slogdet", input=input)
    return dec.LogMatrixDeterminant()(to_float(input))


log_matrix_determinant = slogdet


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where it is negative.

    Examples:
        >>> print(ops.logdet(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        2.0794415
    """
    require_tensors("logdet", input=input)
    sign, size = slogdet(input)
    return ew.Select()(ew.Less()(ew.Real()(sign), 0), math.nan, size)


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """The triangular factor of Hermitian positive definite matrices.

    Examples:
        >>> print(ops.cholesky(Tensor([[4.0, 2.0], [2.0, 10.0]])))
        [[2. 0.]
         [1. 3.]]
    """
    return dec.Cholesky(upper)(to_float(input_x))


@setting_types(upper=bool)
def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is given: of x xᵀ, or of xᵀ x for an upper one.

    Examples:
        >>> print(ops.cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.25   0.    ]
         [0.     0.0625]]
    """
    require_rank("cholesky_inverse", "input_x", input_x, 2)
    require_tensors("cholesky_inverse", input_x=input_x)
    inner = inverse(input_x)  # the whole of x counts, also if it is not triangular
    return matmul(inner, swapaxes(inner, -1, -2)) if upper else matmul(swapaxes(inner, -1, -2), inner)


@setting_types(upper=bool)
def cholesky_solve(input: Tensor, input2: Any, upper: bool = False) -> Tensor:
    """The x with A x = input, where input2 is the Cholesky factor of A.

    Examples:
        >>> print(ops.cholesky_solve(Tensor([[4.0], [16.0]]), Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[1.]
         [1.]]
    """
    first = dec.TriangularSolve(not upper, upper)(input2, input)
    return dec.TriangularSolve(not upper, not upper)(input2, first)


def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """(q, r): an orthonormal and an upper triangular factor; `mode` is 'reduced' or 'complete'.

    Examples:
        >>> q, r = ops.qr(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print((q @ r).round(decimals=4))
        [[3. 0.]
         [4. 5.]]
    """
    require_tensors("qr", input=input)
    checks.one_of("qr", "mode", mode, ("reduced", "complete"))
    return dec.Qr(mode == "complete")(to_float(input))


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """(s, u, v) with input = u diag(s) v^H, or s alone.

    Examples:
        >>> s, u, v = ops.svd(Tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> print(s)
        [4. 3.]
    """
    out = dec.Svd(full_matrices, compute_uv)(to_float(require_tensor("svd", "input", input)))
    return out if compute_uv else out[0]


def svdvals(input: Tensor) -> Tensor:
    """The singular values, falling.

    Examples:
        >>> print(ops.svdvals(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        [4. 3.]
    """
    require_tensors("svdvals", input=input)
    return dec.singular_values(to_float(input))


def eigh(A: Tensor, UPLO: str = "L") -> tuple[Tensor, Tensor]:
    """(eigenvalues, eigenvectors) of Hermitian matrices.

    Examples:
        >>> value, vector = ops.eigh(Tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> print(value)
        [1. 3.]
    """
    checks.one_of("eigh", "UPLO", UPLO, ("L", "U"))
    return dec.Eigh(UPLO == "L")(to_float(A))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices, rising.

    Examples:
        >>> print(ops.eigvalsh(Tensor([[2.0, 1.0], [1.0, 2.0]])))
        [1. 3.]
    """
    return eigh(A, UPLO)[0]


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """(eigenvalues, eigenvectors) of square matrices, both complex.

    Examples:
        >>> value, vector = ops.eig(Tensor([[2.0, 0.0], [0.0, 3.0]]))
        >>> print(value)
        [2.+0.j 3.+0.j]
    """
    require_tensors("eig", A=A)
    return dec.Eig(True)(to_float(A))


def eigvals(A: Tensor) -> Tensor:
    """The complex eigenvalues of square matrices.

    Examples:
        >>> print(ops.eigvals(Tensor([[0.0, -1.0], [1.0, 0.0]])))
        [0.+1.j 0.-1.j]
    """
    require_tensors("eigvals", A=A)
    return dec.Eig(False)(to_float(A))[0]


def lu(input: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(p, l, u) with p l u = input.

    Examples:
        >>> p_, low, up = ops.lu(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(low)
        [[1.   0.  ]
         [0.25 1.  ]]
    """
    require_tensors("lu", input=input)
    packed, _, order = dec.Lu()(to_float(input))
    left, right = _unpack_factors(packed)
    return swapaxes(_permutation(order, packed.dtype), -1, -2), left, right


def lu_factor(input: Tensor) -> tuple[Tensor, Tensor]:
    """(packed factors, row interchanges counted from 0).

    Examples:
        >>> packed, swaps = ops.lu_factor(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(packed)
        [[4.   6.  ]
         [0.25 0.5 ]]
    """
    require_tensors("lu_factor", input=input)
    packed, pivots, _ = dec.Lu()(to_float(input))
    return packed, pivots


def _unpack_factors(packed: Tensor) -> tuple[Any, Any]:
    *_, m, n = packed.shape
    k = min(m, n)
    left = Tril(-1)(GetItem((Ellipsis, slice(0, k)))(packed)) + Eye()(m, k, packed.dtype)
    return left, Triu()(GetItem((Ellipsis, slice(0, k), slice(None)))(packed))


def _permutation(order: Tensor, dtype: DType) -> Any:
    """Rows of the identity in the given order."""
    return Gather()(Eye()(order.shape[-1], order.shape[-1], dtype), order, 0)


def pivots_to_order(pivots: Tensor, rows: int) -> Any:
    """The row order that a sequence of interchanges gives."""
    batch = pivots.shape[:-1]
    order = BroadcastTo((*batch, rows))(Range(dtype=mstype.int64)(0, rows, 1))
    steps = Range(dtype=mstype.int64)(0, rows, 1)
    for k in range(pivots.shape[-1]):
        other = cast(pivots[..., k : k + 1], mstype.int64)
        swapped = ew.Select()(ew.Equal()(steps, k), other, steps)
        swapped = ew.Select()(ew.Equal()(steps, other), k, swapped)
        from mindspore.prims.gather_scatter import GatherD

        order = GatherD()(order, -1, BroadcastTo((*batch, rows))(swapped))
    return order


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(p, l, u) from packed factors and row interchanges counted from 1.

    Examples:
        >>> p_, low, up = ops.lu_unpack(Tensor([[4.0, 6.0], [0.25, 0.5]]), Tensor([2, 2], ms.int32))
        >>> print(low, up)
        [[1.   0.  ]
         [0.25 1.  ]] [[4.  6. ]
         [0.  0.5]]
    """
    p = left = right = None
    if unpack_pivots:
        order = pivots_to_order(LU_pivots - 1, LU_data.shape[-2])
        p = swapaxes(_permutation(order, LU_data.dtype), -1, -2)
    if unpack_data:
        left, right = _unpack_factors(LU_data)
    return p, left, right


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The x with A x = b, from packed factors of A and row interchanges counted from 1.

    Examples:
        >>> packed = Tensor([[4.0, 6.0], [0.25, 0.5]])
        >>> print(ops.lu_solve(Tensor([[5.0], [14.0]]), packed, Tensor([2, 2], ms.int32)))
        [[-1.]
         [ 3.]]
    """
    require_tensors("lu_solve", b=b)
    order = pivots_to_order(LU_pivots - 1, LU_data.shape[-2])
    moved = matmul(_permutation(order, b.dtype), b)
    first = dec.TriangularSolve(True, False, True)(LU_data, moved)
    return dec.TriangularSolve(False, False)(LU_data, first)


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """The least-squares (or least-norm) solution x of input x = A.

    Examples:
        >>> a = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> print(ops.lstsq(a, Tensor([[1.0], [3.0], [5.0]])).round(decimals=4))
        [[1.]
         [2.]]
    """
    require_rank("lstsq", "input", input, 2)
    require_tensors("lstsq", input=input, A=A)
    rhs = Reshape()(A, (-1, 1)) if A.ndim == 1 else A
    m, n = input.shape[-2:]
    if m >= n:
        q, r = dec.Qr(False)(input)
        out = dec.TriangularSolve(False, False)(r, matmul(_adjoint(q), rhs))
    else:
        q, r = dec.Qr(False)(_adjoint(input))
        out = matmul(q, dec.TriangularSolve(False, True)(r, rhs))
    return out


@setting_types(hermitian=bool)
def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """The Moore-Penrose inverse; singular values up to max(atol, rtol * largest) count as 0.

    Examples:
        >>> print(ops.pinv(Tensor([[2.0, 0.0], [0.0, 0.0]])))
        [[0.5 0. ]
         [0.  0. ]]
    """
    x = to_float(require_tensor("pinv", "x", x))
    s, u, v = dec.Svd(False, True)(x)
    from mindspore.ops.elementwise import _finfo

    if rtol is None:
        rtol = max(x.shape[-2:]) * float(_finfo(s.dtype).eps) if atol is None else 0.0
    limit = ew.Maximum()(ReduceMax(True)(s, -1) * rtol, 0.0 if atol is None else atol)
    keep = ew.Greater()(s, limit)
    inverted = ew.Select()(keep, ew.Reciprocal()(ew.Select()(keep, s, ew.ones_like(s))), ew.zeros_like(s))
    return matmul(v * cast(ExpandDims()(inverted, -2), v.dtype), _adjoint(u))


def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False) -> Tensor:
    """The number of singular values above the tolerance.

    Examples:
        >>> print(ops.matrix_rank(Tensor([[1.0, 2.0], [2.0, 4.0]])))
        1
    """
    require_tensors("matrix_rank", A=A)
    from mindspore.ops.elementwise import _finfo

    s = svdvals(A)
    if tol is None:
        tol = ReduceMax(True)(s, -1) * (max(A.shape[-2:]) * float(_finfo(s.dtype).eps))
    return ReduceSum()(cast(ew.Greater()(s, tol), mstype.int64), -1)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number in a matrix norm (2 when None).

    Examples:
        >>> print(ops.cond(Tensor([[4.0, 0.0], [0.0, 0.5]])))
        8.0
    """
    A = to_float(require_tensor("cond", "A", A))
    if p in (None, 2, -2):
        s = svdvals(A)
        ratio = s[..., 0] / s[..., -1]
        return 1 / ratio if p == -2 else ratio
    return matrix_norm(A, p) * matrix_norm(inverse(A), p)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of square matrices; negative powers are those of the inverse.

    Examples:
        >>> print(ops.matrix_power(Tensor([[1.0, 1.0], [0.0, 1.0]]), 5))
        [[1. 5.]
         [0. 1.]]
    """
    require_tensors("matrix_power", input=input)
    n = checks.integer("matrix_power", "n", n)
    dec.matrix("matrix_power", "input", values.abstract_of(to_float(input)), True)
    base = inverse(input) if n < 0 else input
    result, power = None, abs(n)
    while power:
        if power & 1:
            result = base if result is None else matmul(result, base)
        power >>= 1
        base = matmul(base, base) if power else base
    if result is None:
        return BroadcastTo(input.shape)(Eye()(input.shape[-1], input.shape[-1], input.dtype))
    return result


def matrix_exp(input: Tensor) -> Tensor:
    """The matrix exponential.

    Examples:
        >>> print(ops.matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])))
        [[1. 1.]
         [0. 1.]]
    """
    require_tensors("matrix_exp", input=input)
    return dec.MatrixExp()(to_float(input))


# -- Householder reflections ------------------------------------------------------------------------------------------
def geqrf(input: Tensor) -> tuple[Tensor, Tensor]:
    """The QR factorisation as LAPACK packs it: r above, reflections below the diagonal, and their factors tau.

    Examples:
        >>> packed, tau = ops.geqrf(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print(abs(packed[0, 0].item()))
        5.0
    """
    require_rank("geqrf", "input", input, 2)
    a = to_float(require_tensor("geqrf", "input", input))
    *_, m, n = a.shape
    taus, steps = [], Range(dtype=mstype.int64)(0, m, 1)
    for k in range(min(m, n)):
        column = a[..., k]
        below = ew.Select()(ew.Greater()(steps, k), column, ew.zeros_like(column))
        alpha = column[..., k : k + 1]
        tail = ReduceSum(True)(ew.Square()(below), -1)
        norm = ew.Sqrt()(alpha * alpha + tail)
        beta = ew.Select()(ew.Less()(alpha, 0), norm, -norm)
        flat = ew.Equal()(tail, 0)
        safe = ew.Select()(flat, ew.ones_like(beta), beta)
        tau = ew.Select()(flat, ew.zeros_like(beta), (beta - alpha) / safe)
        scale = ew.Select()(flat, ew.ones_like(alpha), alpha - beta)
        v = below / scale + cast(ew.Equal()(steps, k), a.dtype)
        w = matmul(Reshape()(v, (*v.shape[:-1], 1, m)), a)
        reflected = a - Reshape()(tau, (*tau.shape, 1)) * Reshape()(v, (*v.shape, 1)) * w
        columns = Range(dtype=mstype.int64)(0, n, 1)
        stored = ew.Select()(ew.Greater()(steps, k), v, ew.Select()(flat, alpha, beta))
        at_column = ew.LogicalAnd()(ew.Equal()(columns, k), Reshape()(ew.GreaterEqual()(steps, k), (m, 1)))
        later = Reshape()(ew.Greater()(columns, k), (1, n))
        a = ew.Select()(at_column, Reshape()(stored, (*stored.shape, 1)), ew.Select()(later, reflected, a))
        taus.append(tau[..., 0])
    return a, Stack(-1)(taus) if taus else Fill()(a.dtype, (*a.shape[:-2], 0), 0)


def _reflect(input: Tensor, tau: Tensor, other: Tensor, order: Any) -> Any:
    """Apply the reflections of `geqrf`, one after the other, from the left."""
    m = input.shape[-2]
    steps = Range(dtype=mstype.int64)(0, m, 1)
    for k in order:
        column = input[..., k]
        v = ew.Select()(ew.Greater()(steps, k), column, ew.zeros_like(column)) + cast(ew.Equal()(steps, k), input.dtype)
        w = matmul(Reshape()(ew.conj(v), (*v.shape[:-1], 1, m)), other)
        factor = Reshape()(tau[..., k : k + 1], (*tau.shape[:-1], 1, 1))
        other = other - factor * Reshape()(v, (*v.shape, 1)) * w
    return other


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first n columns of the product of reflections that `geqrf` gave.

    Examples:
        >>> packed, tau = ops.geqrf(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> q = ops.orgqr(packed, tau)
        >>> print((q.T @ q).round(decimals=4))
        [[ 1. -0.]
         [-0.  1.]]
    """
    m, n = input.shape[-2:]
    eye = BroadcastTo((*input.shape[:-2], m, n))(Eye()(m, n, input.dtype))
    return _reflect(input, input2, eye, list(reversed(range(input2.shape[-1]))))


def ormqr(input: Tensor, tau: Tensor, other: Any, left: bool = True, transpose: bool = False) -> Tensor:
    """The product of the reflections that `geqrf` gave with another matrix, from the left or the right.

    Examples:
        >>> packed, tau = ops.geqrf(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print(ops.ormqr(packed, tau, ops.eye(2, 2, ms.float32)).abs().round(decimals=4))
        [[0.6 0.8]
         [0.8 0.6]]
    """
    k = tau.shape[-1]
    if not left:
        return swapaxes(ormqr(input, tau, swapaxes(other, -1, -2), True, not transpose), -1, -2)
    return _reflect(input, tau, other, range(k) if transpose else list(reversed(range(k))))


def tridiagonal_matmul(superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Tensor:
    """The product of a tridiagonal matrix, given by its diagonals, with a matrix.

    Examples:
        >>> one = ops.ones(2)
        >>> print(ops.tridiagonal_matmul(one, 2 * one, one, Tensor([[1.0], [10.0]])))
        [[12.]
         [21.]]
    """
    require_rank("tridiagonal_matmul", "rhs", rhs, 2)
    require_rank("tridiagonal_matmul", "subdiag", subdiag, 1)
    require_rank("tridiagonal_matmul", "maindiag", maindiag, 1)
    require_rank("tridiagonal_matmul", "superdiag", superdiag, 1)
    require_tensors("tridiagonal_matmul", superdiag=superdiag, maindiag=maindiag, subdiag=subdiag, rhs=rhs)
    main, upper, lower = (Reshape()(d, (*d.shape[:-2], d.shape[-1], 1)) for d in (maindiag, superdiag, subdiag))
    rows = rhs.shape[-2]
    zero = Fill()(rhs.dtype, (*rhs.shape[:-2], 1, rhs.shape[-1]), 0)
    following = Concat(-2)([rhs[..., 1:rows, :], zero])
    previous = Concat(-2)([zero, rhs[..., 0 : rows - 1, :]])
    return main * rhs + upper * following + lower * previous
