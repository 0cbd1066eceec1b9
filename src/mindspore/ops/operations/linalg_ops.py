"""Classes of linear algebra, Fourier transforms, special functions and windows that are compositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.ops.composition import REQUIRED, Typed, composition, of_tensors, plain
from mindspore.prims import checks
from mindspore.prims import decompositions as dec
from mindspore.prims import elementwise as ew
from mindspore.prims.reduction import ReduceSum

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

MatrixTriangularSolve = composition(
    "MatrixTriangularSolve", lambda self, a, b: dec.TriangularSolve(self.lower, self.adjoint)(a, b),
    """The x with a x = b for triangular a.

    Examples:
        >>> print(ops.MatrixTriangularSolve(lower=True)(Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0], [9.0]])))
        [[1.]
         [2.]]
    """, lower=True,
    adjoint=False,
)  # fmt: skip
Eigh = composition(
    "Eigh", lambda self, x: dec.Eigh(self.lower)(x) if self.compute_eigenvectors else dec.Eigh(self.lower)(x)[0],
    """(eigenvalues in rising order, eigenvectors in columns) of Hermitian matrices, of which one triangle counts; or the former alone.

    Examples:
        >>> print(ops.Eigh(compute_eigenvectors=False)(Tensor([[2.0, 1.0], [1.0, 2.0]])))
        [1. 3.]
    """, compute_eigenvectors=True,
    lower=True,
)  # fmt: skip
CholeskyInverse = composition("CholeskyInverse", lambda self, x: F.cholesky_inverse(x, self.upper),
    """The inverse of the matrix whose Cholesky factor is given.

    Examples:
        >>> print(ops.CholeskyInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.25   0.    ]
         [0.     0.0625]]
    """, upper=False)
CholeskySolve = composition("CholeskySolve", lambda self, x, y: F.cholesky_solve(x, y, self.upper),
    """The x with A x = x1, where x2 is the Cholesky factor of A.

    Examples:
        >>> print(ops.CholeskySolve()(Tensor([[4.0], [16.0]]), Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[1.]
         [1.]]
    """, upper=False)
Geqrf = plain("Geqrf", F.geqrf)
Orgqr = plain("Orgqr", F.orgqr)
Ormqr = composition(
    "Ormqr", lambda self, x, tau, other: F.ormqr(x, tau, other, self.left, self.transpose),
    """The product of the reflections that `geqrf` gave with another matrix.

    Examples:
        >>> packed, tau = ops.geqrf(Tensor([[3.0, 0.0], [4.0, 5.0]]))
        >>> print(ops.Ormqr()(packed, tau, Tensor([[1.0], [0.0]])).abs().round(decimals=4))
        [[0.6]
         [0.8]]
    """, left=True, transpose=False,
)  # fmt: skip
LuSolve = plain("LuSolve", F.lu_solve)
LuUnpack = composition(
    "LuUnpack", lambda self, data, pivots: F.lu_unpack(data, pivots, self.unpack_data, self.unpack_pivots),
    """(p, l, u) from packed factors and row interchanges counted from 1.

    Examples:
        >>> order, low, up = ops.LuUnpack()(Tensor([[4.0, 6.0], [0.25, 0.5]]), Tensor([2, 2], ms.int32))
        >>> print(up)
        [[4.  6. ]
         [0.  0.5]]
    """,
    unpack_data=Typed(bool, True), unpack_pivots=Typed(bool, True),
)  # fmt: skip
def _least_squares(self: Any, a: Any, b: Any, driver: Any = None) -> tuple:
    """The solution by the pseudo-inverse, the squared residuals, the rank and the singular values, of batches of systems."""
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise ValueError(f"For 'LstsqV2', 'driver' must be gels, gelsy, gelsd or gelss, but got {driver!r}.")
    vector = b.ndim == a.ndim - 1
    right = F.expand_dims(b, -1) if vector else b
    values, left, turned = F.svd(a)
    limit = F.amax(values, -1, keepdims=True) * (max(a.shape[-2:]) * float(np.finfo(a.dtype.np).eps))
    kept = values > limit
    inverse = F.expand_dims(F.select(kept, 1.0 / F.select(kept, values, F.ones_like(values)), F.zeros_like(values)), -1)
    x = F.matmul(turned, inverse * F.matmul(left.swapaxes(-1, -2), right))
    residual = ReduceSum()(F.square(F.matmul(a, x) - right), -2)
    return (x.squeeze(-1) if vector else x), residual, ReduceSum()(F.cast(kept, mstype.int64), -1), values


LstsqV2 = composition(
    "LstsqV2", _least_squares, """Least-squares solutions of batches of systems, with residuals, ranks and singular values.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), Tensor([1.0, 4.0, 0.0])
        >>> print(ops.LstsqV2()(a, b)[0].round(decimals=4))
        [1. 2.]
    """,
)
Lstsq = composition("Lstsq", lambda self, x, a: F.lstsq(x, a), """The least-squares solution x of a x = b.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([[1.0], [3.0], [5.0]])
        >>> print(ops.Lstsq()(a, b).round(decimals=4))
        [[1.]
         [2.]]
    """, fast=True, l2_regularizer=0.0)
MatrixPower = composition("MatrixPower", lambda self, x: F.matrix_power(x, self.n),
    """The n-th power of square matrices; negative powers are those of the inverse.

    Examples:
        >>> print(ops.MatrixPower(5)(Tensor([[1.0, 1.0], [0.0, 1.0]])))
        [[1. 5.]
         [0. 1.]]
    """, n=REQUIRED)


def _solve_least_squares(self: Primitive, matrix: Tensor, rhs: Tensor, l2: Tensor) -> Tensor:
    """The x that minimises |matrix x - rhs|² + l2 |x|²."""
    adjoint = F.adjoint(matrix)
    n = matrix.shape[-1]
    gram = F.matmul(adjoint, matrix) + cast(l2, matrix.dtype) * F.eye(n, n, matrix.dtype)
    return dec.MatrixSolve()(gram, F.matmul(adjoint, rhs))


MatrixSolveLs = composition("MatrixSolveLs", _solve_least_squares, """Regularised least squares.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), Tensor([[1.0], [3.0], [5.0]])
        >>> print(ops.MatrixSolveLs()(a, b, Tensor(0.0, ms.float64)).round(decimals=4))
        [[1.]
         [2.]]
    """, fast=True)


def _matrix_logarithm(self: Primitive, x: Tensor) -> Tensor:
    """By eigenvectors: V log(w) V^-1."""
    w, v = dec.Eig(True)(x)
    scaled = v * F.expand_dims(F.log(w), -2)
    return F.matmul(scaled, dec.MatrixInverse()(v))


MatrixLogarithm = composition("MatrixLogarithm", _matrix_logarithm, """The principal logarithm of complex matrices.

    Examples:
        >>> print(ops.MatrixLogarithm()(Tensor(np.eye(2, dtype=np.complex64))).real())
        [[0. 0.]
         [0. 0.]]
    """)
TridiagonalMatMul = plain("TridiagonalMatMul", F.tridiagonal_matmul)
Mvlgamma = composition("Mvlgamma", lambda self, x: F.mvlgamma(x, self.p),
    """The logarithm of the multivariate gamma function of dimension p.

    Examples:
        >>> print(ops.Mvlgamma(p=2)(Tensor([3.0, 5.0])))
        [1.550195 6.204155]
    """, p=REQUIRED)

BartlettWindow = composition(
    "BartlettWindow", of_tensors("n", lambda self, n: F.bartlett_window(n, self.periodic, dtype=self.dtype)),
    """A triangle of the length given by a 0-d tensor; `periodic` leaves out the last of length + 1 points.

    Examples:
        >>> print(ops.BartlettWindow(periodic=False)(Tensor(5, ms.int32)))
        [0.  0.5 1.  0.5 0. ]
    """, periodic=True,
    dtype=mstype.float32,
)  # fmt: skip
BlackmanWindow = composition(
    "BlackmanWindow", of_tensors("n", lambda self, n: F.blackman_window(n, self.periodic, dtype=self.dtype)),
    """Blackman's window of three cosines, of the length given by a 0-d tensor.

    Examples:
        >>> print(ops.BlackmanWindow(periodic=False)(Tensor(5, ms.int32)).round(decimals=2))
        [-0.    0.34  1.    0.34 -0.  ]
    """, periodic=True,
    dtype=mstype.float32,
)  # fmt: skip
HammingWindow = composition(
    "HammingWindow",
    of_tensors("n", lambda self, n: F.hamming_window(F.static_int(n), self.periodic, self.alpha, self.beta, dtype=self.dtype)),
    """alpha - beta * cos, one period, of the length given by a 1-element tensor.

    Examples:
        >>> print(ops.HammingWindow(periodic=False)(Tensor([5], ms.int32)))
        [0.08 0.54 1.   0.54 0.08]
    """,
    periodic=True, alpha=Typed(float, 0.54), beta=Typed(float, 0.46), dtype=mstype.float32,
)  # fmt: skip
STFT = composition(
    "STFT",
    of_tensors("x window", lambda self, x, window: F.stft(
        x, self.n_fft, self.hop_length, self.win_length, window, False, "REFLECT", self.normalized, self.onesided,
        self.return_complex,
    )), """The short-time Fourier transform of a signal with a window: (…, frequency, frame).

    Examples:
        >>> ops.STFT(8, 4, 8, False, True, True)(ops.ones(16), ops.ones(8)).shape
        (5, 3)
    """,
    n_fft=Typed(int), hop_length=Typed(int), win_length=Typed(int), normalized=Typed(bool), onesided=Typed(bool),
    return_complex=Typed(bool),
)  # fmt: skip


def _fft_with_size(self: Primitive, x: Tensor) -> Tensor:
    """Transforms over the last `signal_ndim` dimensions, by direction and kind."""
    if not 0 < checks.integer("FFTWithSize", "signal_ndim", self.signal_ndim) <= x.ndim:
        raise ValueError(f"For 'FFTWithSize', 'signal_ndim' must be in range [1, {x.ndim}], but got {self.signal_ndim}.")
    dims = tuple(range(-self.signal_ndim, 0))
    norm = self.norm
    if not self.real:
        return (F.ifftn if self.inverse else F.fftn)(x, None, dims, norm)
    if not self.inverse:
        return F.rfftn(x, None, dims, norm) if self.onesided else F.fftn(x, None, dims, norm)
    if not self.onesided:
        return ew.Real()(F.ifftn(x, None, dims, norm))
    sizes = tuple(self.signal_sizes) or None
    if sizes is not None and len(sizes) != self.signal_ndim:
        sizes = tuple(sizes)[-self.signal_ndim :]
    return F.irfftn(x, sizes, dims, norm)


FFTWithSize = composition(
    "FFTWithSize", _fft_with_size, """Fourier transforms of all kinds.

    Examples:
        >>> print(ops.FFTWithSize(1, False, True)(Tensor([1.0, 2.0, 3.0, 4.0])))
        [10.+0.j -2.+2.j -2.+0.j]
    """, signal_ndim=REQUIRED, inverse=Typed(bool),
    real=REQUIRED, norm="backward", onesided=Typed(bool, True), signal_sizes=(),
)  # fmt: skip

__all__ = [
    "BartlettWindow", "BlackmanWindow", "CholeskyInverse", "CholeskySolve", "Eigh", "FFTWithSize", "Geqrf", "HammingWindow",
    "Lstsq", "LstsqV2", "LuSolve", "LuUnpack", "MatrixLogarithm", "MatrixPower", "MatrixSolveLs", "MatrixTriangularSolve",
    "Mvlgamma", "Orgqr", "Ormqr", "STFT", "TridiagonalMatMul",
]  # fmt: skip
