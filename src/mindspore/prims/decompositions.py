"""Factorisations and solutions of linear systems, on matrices in the last two dimensions.

NumPy (LAPACK) evaluates them on the host, jax.numpy under XLA. The gradients are the standard ones (Giles, "An extended
collection of matrix derivative results", 2008; Seeger et al., "Auto-differentiating linear algebra", 2017), written
with matrix products and triangular solves, so that they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import available, require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.arrays import Concat, ExpandDims, GetItem, Transpose
from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.creation import Eye, Tril, Triu
from mindspore.prims.elementwise import (
    Cast,
    Complex,
    Equal,
    Imag,
    Real,
    Reciprocal,
    Select,
    conj,
    ones_like,
    zeros_like,
)
from mindspore.prims.factors import WHOLE, Factors, is_tensor, numbered
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


# -- shared pieces ----------------------------------------------------------------------------------------------------
def matrix(op: str, name: str, x: Any, square: bool = False) -> AbstractTensor:
    """Check a float or complex tensor of matrices."""
    checks.tensor(op, name, x)
    checks.dtype_in(op, name, x.dtype, "fc")
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"For '{op}', '{name}' must hold {kind} in its last two dimensions, but its shape is {x.shape}."
        )
    return x


def lapack(op: str, compute: Callable, failure: Callable[[], BaseException] | None = None) -> Any:
    """Run a LAPACK routine; its failures become errors in the user's terms."""
    try:
        with np.errstate(all="ignore"):
            return compute()
    except np.linalg.LinAlgError as error:
        raise (failure() if failure is not None else _unfit(op, str(error))) from None


def _unfit(op: str, reason: str) -> BaseException:
    return checks.UnfitError(f"For '{op}', the matrix does not allow it: {reason}.")


class _OfMatrices(Primitive):
    """An operation on the last two dimensions: the others are a batch, whose parts devices can work on."""

    def factors(self, *args: Any) -> Factors | None:
        shapes = [a.shape for a in args if is_tensor(a)]
        batch = shapes[0][:-2]
        if any(shape[:-2] != batch for shape in shapes):
            return None
        names, results = numbered(len(batch)), self.infer(*args)
        leaves = results.elements if isinstance(results, AbstractTuple) else (results,)
        inputs = tuple((*names, WHOLE, WHOLE) if is_tensor(a) else None for a in args)
        return Factors(inputs, tuple((*names, *(WHOLE,) * (len(leaf.shape) - len(names))) for leaf in leaves))


class _Regular(_OfMatrices):
    """What works only for matrices that can be inverted. NumPy raises, other libraries return infinities."""

    def failure(self) -> BaseException:
        return _unfit(self.name, "Singular matrix")


def _real(dtype: mstype.DType) -> mstype.DType:
    return {mstype.complex64: mstype.float32, mstype.complex128: mstype.float64}.get(dtype, dtype)


def _complex(dtype: mstype.DType) -> mstype.DType:
    return {mstype.float32: mstype.complex64, mstype.float64: mstype.complex128}.get(dtype, dtype)


def _mm(a: TensorBase, b: TensorBase) -> Any:
    return BatchMatMul()(a, b)


def _t(x: TensorBase) -> Any:
    """The conjugate transpose."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return conj(Transpose()(x, order))


def _eye(n: int, dtype: DType) -> Any:
    return Eye()(n, n, dtype)


def _half_lower(x: TensorBase) -> Any:
    """The lower triangle with half the diagonal."""
    return Tril()(x) - _on_diagonal(x) * 0.5


def _on_diagonal(x: TensorBase) -> Any:
    return x * _eye(x.shape[-1], x.dtype)


def _scale_columns(x: TensorBase, s: TensorBase) -> Any:
    """x diag(s)."""
    return x * ExpandDims()(Cast()(s, x.dtype) if s.dtype is not x.dtype else s, -2)


def _safe_inverse(x: TensorBase) -> Any:
    """1 / x, and 0 where x is 0."""
    zero = Equal()(x, 0)
    return Select()(zero, zeros_like(x), Reciprocal()(Select()(zero, ones_like(x), x)))


# -- systems ----------------------------------------------------------------------------------------------------------
class MatrixInverse(_Regular):
    """The inverse of square matrices (of their conjugate transposes when `adjoint`).

    Examples:
        >>> print(ops.MatrixInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """

    def __init__(self, adjoint: bool = False):
        super().__init__(adjoint=checks.boolean("MatrixInverse", "adjoint", adjoint))

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array) -> Any:
        source = xp.conj(xp.swapaxes(x, -1, -2)) if self.adjoint else x
        return narrow(lapack(self.name, lambda: xp.linalg.inv(widen(source)), self.failure), x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        grad = -_mm(_mm(_t(out), dout), _t(out))
        return (_t(grad) if self.adjoint else grad,)


class MatrixSolve(_Regular):
    """`prim(a, b)`: the x with a x = b (a^H x = b when `adjoint`); batches broadcast.

    Examples:
        >>> print(ops.MatrixSolve()(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [2.0]])))
        [[1. ]
         [0.5]]
    """

    promote = (0, 1)

    def __init__(self, adjoint: bool = False):
        super().__init__(adjoint=checks.boolean("MatrixSolve", "adjoint", adjoint))

    def infer(self, a: AbstractTensor, b: AbstractTensor) -> Any:
        matrix(self.name, "matrix", a, True)
        matrix(self.name, "rhs", b)
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(f"For '{self.name}', {a.shape} and {b.shape} do not fit: the rows must be equally many.")
        return AbstractTensor(a.dtype, (*checks.broadcast(self.name, a.shape[:-2], b.shape[:-2]), *b.shape[-2:]))

    def eval(self, xp: Namespace, a: Array, b: Array) -> Any:
        source = xp.conj(xp.swapaxes(a, -1, -2)) if self.adjoint else a
        return narrow(lapack(self.name, lambda: xp.linalg.solve(widen(source), widen(b)), self.failure), a)

    def bprop(self, a: TensorBase, b: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        db = MatrixSolve(not self.adjoint)(a, dout)
        da = -_mm(db, _t(out))
        return sum_to_shape(_t(da) if self.adjoint else da, a.shape), sum_to_shape(db, b.shape)


class TriangularSolve(_Regular):
    """`prim(a, b)`: the x with op(a) x = b, where only one triangle of `a` counts.

    Examples:
        >>> print(ops.TriangularSolve()(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """

    promote = (0, 1)

    def __init__(self, lower: bool = True, adjoint: bool = False, unit_diagonal: bool = False):
        super().__init__(lower=bool(lower), adjoint=bool(adjoint), unit_diagonal=bool(unit_diagonal))

    def infer(self, a: AbstractTensor, b: AbstractTensor) -> Any:
        return MatrixSolve.infer(self, a, b)  # type: ignore[arg-type]

    def eval(self, xp: Namespace, a: Array, b: Array) -> Any:
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        wide_a = xp.broadcast_to(widen(a), shape + a.shape[-2:])
        wide_b = xp.broadcast_to(widen(b), shape + b.shape[-2:])
        if xp is not np:
            linalg = require("jax.scipy.linalg", "xla", "this operation")
            solve = xp.vectorize(
                lambda m, r: linalg.solve_triangular(
                    m, r, trans=2 if self.adjoint else 0, lower=self.lower, unit_diagonal=self.unit_diagonal
                ),
                signature="(n,n),(n,k)->(n,k)",
            )
            return narrow(solve(wide_a, wide_b), a)
        out = np.empty(wide_b.shape, wide_b.dtype)
        for place in np.ndindex(*shape):
            out[place] = self._solve(wide_a[place], wide_b[place])
        return narrow(out, a)

    def _solve(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if available("scipy"):
            from scipy.linalg import solve_triangular

            return lapack(
                self.name,
                lambda: solve_triangular(
                    a, b, trans=2 if self.adjoint else 0, lower=self.lower, unit_diagonal=self.unit_diagonal,
                    check_finite=False,
                ),
                self.failure,
            )  # fmt: skip
        part = np.tril(a) if self.lower else np.triu(a)
        if self.unit_diagonal:
            np.fill_diagonal(part, 1)
        return lapack(self.name, lambda: np.linalg.solve(part.conj().T if self.adjoint else part, b), self.failure)

    def bprop(self, a: TensorBase, b: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        db = TriangularSolve(self.lower, not self.adjoint, self.unit_diagonal)(a, dout)
        da = -_mm(db, _t(out))
        da = _t(da) if self.adjoint else da
        strict = int(self.unit_diagonal)
        da = Tril(-strict)(da) if self.lower else Triu(strict)(da)
        return sum_to_shape(da, a.shape), sum_to_shape(db, b.shape)


class MatrixDeterminant(_OfMatrices):
    """The determinant of square matrices.

    Examples:
        >>> print(ops.MatrixDeterminant()(Tensor([[2.0, 1.0], [0.0, 3.0]])))
        6.0
    """

    def __init__(self) -> None:
        super().__init__("MatrixDeterminant")

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        return AbstractTensor(x.dtype, x.shape[:-2])

    def eval(self, xp: Namespace, x: Array) -> Any:
        return narrow(xp.asarray(xp.linalg.det(widen(x))), x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        factor = ExpandDims()(ExpandDims()(dout * conj(out), -1), -1)
        return (factor * _t(MatrixInverse()(x)),)


class LogMatrixDeterminant(_OfMatrices):
    """(sign, log|det|) of square matrices.

    Examples:
        >>> sign, size = ops.LogMatrixDeterminant()(Tensor([[0.0, 2.0], [1.0, 0.0]]))
        >>> print(sign, size)
        -1.0 0.6931472
    """

    def __init__(self) -> None:
        super().__init__("LogMatrixDeterminant")

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        shape = x.shape[:-2]
        return AbstractTuple((AbstractTensor(x.dtype, shape), AbstractTensor(_real(x.dtype), shape)))

    def eval(self, xp: Namespace, x: Array) -> Any:
        sign, size = xp.linalg.slogdet(widen(x))
        return xp.asarray(sign).astype(x.dtype), xp.asarray(size).astype(_real(mstype.from_numpy(x.dtype)).np)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        inverse = _t(MatrixInverse()(x))
        factor = dout[1]
        if inverse.dtype.kind == "c":  # the sign turns with the imaginary part of d log det
            factor = Complex()(factor, -Imag()(conj(dout[0]) * out[0]))
        return (ExpandDims()(ExpandDims()(factor, -1), -1) * inverse,)


# -- factorisations ---------------------------------------------------------------------------------------------------
class Cholesky(_OfMatrices):
    """The lower triangular L with L L^H = x (U with U^H U = x when `upper`).

    Examples:
        >>> print(ops.Cholesky()(Tensor([[4.0, 2.0], [2.0, 10.0]])))
        [[2. 0.]
         [1. 3.]]
    """

    def __init__(self, upper: bool = False):
        super().__init__(upper=checks.boolean("Cholesky", "upper", upper))

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        return AbstractTensor(x.dtype, x.shape)

    def failure(self) -> BaseException:
        return _unfit(self.name, "Matrix is not positive definite")

    def eval(self, xp: Namespace, x: Array) -> Any:
        lower = narrow(lapack(self.name, lambda: xp.linalg.cholesky(widen(x)), self.failure), x)
        return xp.conj(xp.swapaxes(lower, -1, -2)) if self.upper else lower

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        lower, grad = (_t(out), _t(dout)) if self.upper else (out, dout)
        inner = _half_lower(_mm(_t(lower), grad))
        left = TriangularSolve(True, True)(lower, inner)  # L^-H inner
        both = _t(TriangularSolve(True, True)(lower, _t(left)))  # … L^-1
        return ((both + _t(both)) * 0.5,)


class Eigh(_OfMatrices):
    """(eigenvalues in rising order, eigenvectors in columns) of Hermitian matrices; the lower triangle counts.

    Examples:
        >>> value, vector = ops.Eigh()(Tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> print(value)
        [1. 3.]
    """

    def __init__(self, lower: bool = True):
        super().__init__(lower=bool(lower))

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        return AbstractTuple((AbstractTensor(_real(x.dtype), x.shape[:-1]), AbstractTensor(x.dtype, x.shape)))

    def eval(self, xp: Namespace, x: Array) -> Any:
        w, v = lapack(self.name, lambda: xp.linalg.eigh(widen(x), UPLO="L" if self.lower else "U"))
        return w.astype(_real(mstype.from_numpy(x.dtype)).np), narrow(v, x)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        w, v = out
        dw, dv = dout
        gap = _safe_inverse(ExpandDims()(w, -2) - ExpandDims()(w, -1))
        gap = gap if gap.dtype is v.dtype else Cast()(gap, v.dtype)
        inner = gap * _mm(_t(v), dv) + _scale_columns(_eye(v.shape[-1], v.dtype), dw)
        grad = _mm(_mm(v, inner), _t(v))
        return (_onto_triangle((grad + _t(grad)) * 0.5, self.lower),)


def _onto_triangle(grad: Any, lower: bool) -> Any:
    """The gradient of a Hermitian matrix as that of the triangle it is given by: the other one is never read."""
    return (Tril() if lower else Triu())(grad) * 2 - _on_diagonal(grad)


class Svd(_OfMatrices):
    """(s, u, v) with x = u diag(s) v^H; s falls. With compute_uv=False, s and two empty placeholders.

    Examples:
        >>> s, u, v = ops.Svd()(Tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> print(s)
        [4. 3.]
    """

    def __init__(self, full_matrices: bool = False, compute_uv: bool = True):
        super().__init__(
            full_matrices=checks.boolean("Svd", "full_matrices", full_matrices),
            compute_uv=checks.boolean("Svd", "compute_uv", compute_uv),
        )

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x)
        *batch, m, n = x.shape
        k = min(m, n)
        s = AbstractTensor(_real(x.dtype), (*batch, k))
        if not self.compute_uv:
            placeholder = AbstractTensor(x.dtype, (1,))
            return AbstractTuple((s, placeholder, placeholder))
        columns = (m, n) if self.full_matrices else (k, k)
        u, v = ((*batch, rows, c) for rows, c in zip((m, n), columns))
        return AbstractTuple((s, AbstractTensor(x.dtype, u), AbstractTensor(x.dtype, v)))

    def eval(self, xp: Namespace, x: Array) -> Any:
        real = _real(mstype.from_numpy(x.dtype)).np
        if not self.compute_uv:
            s = self._factors(xp, x, compute_uv=False)
            return s.astype(real), xp.zeros(1, x.dtype), xp.zeros(1, x.dtype)
        u, s, vh = self._factors(xp, x, full_matrices=self.full_matrices)
        return s.astype(real), narrow(u, x), narrow(xp.conj(xp.swapaxes(vh, -1, -2)), x)

    def _factors(self, xp: Namespace, x: Array, **wanted: bool) -> Any:
        """With an infinity LAPACK would go on for ever: it is refused, and where a program cannot refuse the factors are NaN."""
        wide = widen(x)
        if xp is np:
            if not np.isfinite(wide).all():
                raise _unfit(self.name, "It has values that are not finite")
            return lapack(self.name, lambda: xp.linalg.svd(wide, **wanted))
        bad = ~xp.isfinite(wide).all(axis=(-2, -1), keepdims=True)
        found = xp.linalg.svd(xp.where(bad, 0, wide), **wanted)
        if not wanted.get("compute_uv", True):
            return xp.where(bad[..., 0], np.nan, found)
        u, values_found, vh = found
        return xp.where(bad, np.nan, u), xp.where(bad[..., 0], np.nan, values_found), xp.where(bad, np.nan, vh)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        k = min(x.shape[-2:])
        if not self.compute_uv:
            s, u, v = Svd(False, True)(x)
            return (_mm(_scale_columns(u, dout[0]), _t(v)),)
        s = out[0]
        first = (Ellipsis, slice(0, k))
        u, v, du, dv = (GetItem(first)(t) for t in (out[1], out[2], dout[1], dout[2]))
        return (_svd_gradient(s, u, v, dout[0], du, dv),)


def _svd_gradient(s: TensorBase, u: TensorBase, v: TensorBase, ds: TensorBase, du: TensorBase, dv: TensorBase) -> Any:
    """The gradient through the first k singular vectors."""
    square = s * s
    gap = _safe_inverse(ExpandDims()(square, -2) - ExpandDims()(square, -1))
    gap = gap if gap.dtype is u.dtype else Cast()(gap, u.dtype)
    inverse = _safe_inverse(s)
    eye = _eye(s.shape[-1], u.dtype)
    skew_u, skew_v = gap * _antisymmetric(_mm(_t(u), du)), gap * _antisymmetric(_mm(_t(v), dv))
    rows = ExpandDims()(s, -1)
    rows = rows if rows.dtype is u.dtype else Cast()(rows, u.dtype)
    core = _scale_columns(skew_u, s) + rows * skew_v + _scale_columns(eye, ds)
    grad = _mm(_mm(u, core), _t(v))
    outside_u = du - _mm(u, _mm(_t(u), du))
    outside_v = dv - _mm(v, _mm(_t(v), dv))
    grad = grad + _mm(_scale_columns(outside_u, inverse), _t(v))
    return grad + _mm(_scale_columns(u, inverse), _t(outside_v))


def _antisymmetric(x: TensorBase) -> Any:
    return x - _t(x)


def singular_values(x: TensorBase) -> Any:
    """The singular values, falling."""
    return Svd(False, False)(x)[0]


class Qr(_OfMatrices):
    """(q, r) with q r = x: q has orthonormal columns, r is upper triangular.

    Examples:
        >>> q, r = ops.Qr()(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print((q @ r).round(decimals=4))
        [[3. 0.]
         [4. 5.]]
    """

    def __init__(self, full_matrices: bool = False):
        super().__init__(full_matrices=checks.boolean("Qr", "full_matrices", full_matrices))

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x)
        *batch, m, n = x.shape
        inner = m if self.full_matrices else min(m, n)
        return AbstractTuple((AbstractTensor(x.dtype, (*batch, m, inner)), AbstractTensor(x.dtype, (*batch, inner, n))))

    def eval(self, xp: Namespace, x: Array) -> Any:
        mode = "complete" if self.full_matrices else "reduced"
        q, r = lapack(self.name, lambda: xp.linalg.qr(widen(x), mode=mode))
        return narrow(q, x), narrow(r, x)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        q, r = out
        dq, dr = dout
        *_, m, n = x.shape
        if self.full_matrices and m > n:
            raise ValueError("For 'Qr', the gradient of full matrices with more rows than columns is not defined.")
        if m >= n:
            return (_qr_gradient(q, r, dq, dr),)
        # wide: x = [x1 x2], r = [r1 r2]; q and r1 come from x1, and r2 = q^H x2
        lead = (Ellipsis, slice(0, m))
        tail = (Ellipsis, slice(m, n))
        r1, dr1, dr2, x2 = GetItem(lead)(r), GetItem(lead)(dr), GetItem(tail)(dr), GetItem(tail)(x)
        dx1 = _qr_gradient(q, r1, dq + _mm(x2, _t(dr2)), dr1)
        return (Concat(-1)([dx1, _mm(q, dr2)]),)


def _qr_gradient(q: TensorBase, r: TensorBase, dq: TensorBase, dr: TensorBase) -> Any:
    inner = _mm(r, _t(dr)) - _mm(_t(dq), q)
    lower = Tril(-1)(inner)
    symmetric = lower + _t(lower) + _on_diagonal(inner)
    target = dq + _mm(q, symmetric)
    return _t(TriangularSolve(False, False)(r, _t(target)))


class Lu(_OfMatrices):
    """(lu, pivots, permutation) of matrices: both factors packed in one, row interchanges, and the row order.

    Examples:
        >>> packed, swaps, order = ops.Lu()(Tensor([[1.0, 2.0], [4.0, 6.0]]))
        >>> print(packed)
        [[4.   6.  ]
         [0.25 0.5 ]]
    """

    def __init__(self) -> None:
        super().__init__("Lu")

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x)
        *batch, m, n = x.shape
        return AbstractTuple(
            (
                AbstractTensor(x.dtype, x.shape),
                AbstractTensor(mstype.int32, (*batch, min(m, n))),
                AbstractTensor(mstype.int32, (*batch, m)),
            )
        )

    def eval(self, xp: Namespace, x: Array) -> Any:
        if xp is not np:
            lu, pivots, order = require("jax.lax.linalg", "xla", "this operation").lu(widen(x))
            return narrow(lu, x), pivots, order
        *batch, m, n = x.shape
        lu = np.array(widen(x))
        pivots, order = np.empty((*batch, min(m, n)), np.int32), np.empty((*batch, m), np.int32)
        for place in np.ndindex(*batch):
            pivots[place], order[place] = _lu_in_place(lu[place])
        return narrow(lu, x), pivots, order

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        from mindspore.prims.gather_scatter import Gather

        lu, _, order = out
        if x.shape[-1] != x.shape[-2]:
            raise ValueError(f"For 'Lu', gradients need square matrices, but the shape is {x.shape}.")
        lower = Tril(-1)(lu) + _eye(x.shape[-1], x.dtype)
        inner = Tril(-1)(_mm(_t(lower), Tril(-1)(dout[0]))) + Triu()(_mm(Triu()(dout[0]), _t(Triu()(lu))))
        left = TriangularSolve(True, True, True)(lower, inner)  # L^-H inner
        both = _t(TriangularSolve(False, False)(Triu()(lu), _t(left)))  # … U^-H
        inverse = _inverse_order(order)
        return (Gather(len(x.shape) - 2)(both, inverse, x.ndim - 2),)


def _inverse_order(order: Any) -> Any:
    from mindspore.prims.sorting import Sort

    return Sort(-1)(order)[1]


def _lu_in_place(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LU with partial pivoting of one matrix; returns row interchanges and the final row order."""
    m, n = a.shape
    order, pivots = np.arange(m), np.arange(min(m, n))
    for k in range(min(m, n)):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        pivots[k] = p
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return pivots, order


class Eig(_OfMatrices):
    """(eigenvalues, eigenvectors in columns) of general square matrices, both complex.

    Examples:
        >>> value, vector = ops.Eig(compute_v=True)(Tensor([[2.0, 0.0], [0.0, 3.0]]))
        >>> print(value)
        [2.+0.j 3.+0.j]
    """

    def __init__(self, compute_v: bool = False):
        super().__init__(compute_v=checks.boolean("Eig", "compute_v", compute_v))

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        dtype = _complex(x.dtype)
        vectors = x.shape if self.compute_v else (1,)
        return AbstractTuple((AbstractTensor(dtype, x.shape[:-1]), AbstractTensor(dtype, vectors)))

    def eval(self, xp: Namespace, x: Array) -> Any:
        dtype = _complex(mstype.from_numpy(x.dtype)).np
        x = x.astype(np.float32) if x.dtype.itemsize == 2 else x  # LAPACK knows no halves
        if not self.compute_v:
            return lapack(self.name, lambda: xp.linalg.eigvals(x)).astype(dtype), xp.zeros(1, dtype)
        w, v = lapack(self.name, lambda: xp.linalg.eig(x))
        return w.astype(dtype), v.astype(dtype)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        w, v = out if self.compute_v else Eig(True)(x)
        inner = _scale_columns(_eye(v.shape[-1], v.dtype), dout[0])
        if self.compute_v:
            gap = conj(_safe_inverse(ExpandDims()(w, -2) - ExpandDims()(w, -1)))
            product = _mm(_t(v), dout[1])
            along = Cast()(Real()(_on_diagonal(product)), v.dtype)
            inner = inner + gap * (product - _mm(_mm(_t(v), v), along))
        grad = MatrixSolve(True)(v, _mm(inner, _t(v)))
        return (grad if x.dtype.kind == "c" else Real()(grad),)


class MatrixExp(_OfMatrices):
    """The matrix exponential: Padé approximation of degree 13 with scaling and squaring (Higham, 2005).

    Examples:
        >>> print(ops.MatrixExp()(Tensor([[0.0, 1.0], [0.0, 0.0]])))
        [[1. 1.]
         [0. 1.]]
    """

    def __init__(self) -> None:
        super().__init__("MatrixExp")

    def infer(self, x: AbstractTensor) -> Any:
        matrix(self.name, "x", x, True)
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array) -> Any:
        if xp is np:
            return narrow(_exponential(np.asarray(widen(x))), x)
        expm = require("jax.scipy.linalg", "xla", "this operation").expm
        return narrow(xp.vectorize(expm, signature="(n,n)->(n,n)")(widen(x)), x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        """The upper right block of exp([[x^H, dout], [0, x^H]])."""
        n = x.shape[-1]
        adjoint = _t(x)
        top = Concat(-1)([adjoint, dout])
        bottom = Concat(-1)([zeros_like(adjoint), adjoint])
        return (GetItem((Ellipsis, slice(0, n), slice(n, 2 * n)))(MatrixExp()(Concat(-2)([top, bottom]))),)


_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def _exponential(x: np.ndarray) -> np.ndarray:
    if x.size == 0:
        return x
    norm = np.abs(x).sum(-2).max()
    squarings = max(0, int(np.ceil(np.log2(norm / 5.371920351148152)))) if np.isfinite(norm) and norm > 0 else 0
    a = (x / 2.0**squarings).astype(x.dtype)
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    a2 = a @ a
    a4, a6 = a2 @ a2, a2 @ a2 @ a2
    b = [x.dtype.type(c) for c in _PADE]
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    out = np.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        out = out @ out
    return out
