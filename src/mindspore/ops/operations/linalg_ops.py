"""Classes of linear algebra, Fourier transforms, special functions and windows that are compositions."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.prims import decompositions as dec
from mindspore.prims import elementwise as ew

MatrixTriangularSolve = composition(
    "MatrixTriangularSolve", lambda self, a, b: dec.TriangularSolve(self.lower, self.adjoint)(a, b), lower=True,
    adjoint=False,
)  # fmt: skip
CholeskyInverse = composition("CholeskyInverse", lambda self, x: F.cholesky_inverse(x, self.upper), upper=False)
CholeskySolve = composition("CholeskySolve", lambda self, x, y: F.cholesky_solve(x, y, self.upper), upper=False)
Geqrf = plain("Geqrf", F.geqrf)
Orgqr = plain("Orgqr", F.orgqr)
Ormqr = composition(
    "Ormqr", lambda self, x, tau, other: F.ormqr(x, tau, other, self.left, self.transpose), left=True, transpose=False,
)  # fmt: skip
LuSolve = plain("LuSolve", F.lu_solve)
LuUnpack = composition(
    "LuUnpack", lambda self, data, pivots: F.lu_unpack(data, pivots, self.unpack_data, self.unpack_pivots),
    unpack_data=True, unpack_pivots=True,
)  # fmt: skip
Lstsq = composition("Lstsq", lambda self, x, a: F.lstsq(x, a), fast=True, l2_regularizer=0.0)
MatrixPower = composition("MatrixPower", lambda self, x: F.matrix_power(x, self.n), n=REQUIRED)


def _solve_least_squares(self: Any, matrix: Any, rhs: Any, l2: Any) -> Tensor:
    """The x that minimises |matrix x - rhs|² + l2 |x|²."""
    adjoint = F.adjoint(matrix)
    n = matrix.shape[-1]
    gram = F.matmul(adjoint, matrix) + cast(l2, matrix.dtype) * F.eye(n, n, matrix.dtype)
    return dec.MatrixSolve()(gram, F.matmul(adjoint, rhs))


MatrixSolveLs = composition("MatrixSolveLs", _solve_least_squares, "Regularised least squares.", fast=True)


def _matrix_logarithm(self: Any, x: Any) -> Tensor:
    """By eigenvectors: V log(w) V^-1."""
    w, v = dec.Eig(True)(x)
    scaled = v * F.expand_dims(F.log(w), -2)
    return F.matmul(scaled, dec.MatrixInverse()(v))


MatrixLogarithm = composition("MatrixLogarithm", _matrix_logarithm, "The principal logarithm of complex matrices.")
TridiagonalMatMul = plain("TridiagonalMatMul", F.tridiagonal_matmul)
Mvlgamma = composition("Mvlgamma", lambda self, x: F.mvlgamma(x, self.p), p=REQUIRED)

BartlettWindow = composition(
    "BartlettWindow", lambda self, n: F.bartlett_window(n, self.periodic, dtype=self.dtype), periodic=True,
    dtype=mstype.float32,
)  # fmt: skip
BlackmanWindow = composition(
    "BlackmanWindow", lambda self, n: F.blackman_window(n, self.periodic, dtype=self.dtype), periodic=True,
    dtype=mstype.float32,
)  # fmt: skip
HammingWindow = composition(
    "HammingWindow",
    lambda self, n: F.hamming_window(F.static_int(n), self.periodic, self.alpha, self.beta, dtype=self.dtype),
    periodic=True, alpha=0.54, beta=0.46, dtype=mstype.float32,
)  # fmt: skip
STFT = composition(
    "STFT",
    lambda self, x, window: F.stft(
        x, self.n_fft, self.hop_length, self.win_length, window, False, "REFLECT", self.normalized, self.onesided,
        self.return_complex,
    ),
    n_fft=REQUIRED, hop_length=REQUIRED, win_length=REQUIRED, normalized=REQUIRED, onesided=REQUIRED,
    return_complex=REQUIRED,
)  # fmt: skip


def _fft_with_size(self: Any, x: Any) -> Tensor:
    """Transforms over the last `signal_ndim` dimensions, by direction and kind."""
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
    "FFTWithSize", _fft_with_size, "Fourier transforms of all kinds.", signal_ndim=REQUIRED, inverse=REQUIRED,
    real=REQUIRED, norm="backward", onesided=True, signal_sizes=(),
)  # fmt: skip

__all__ = [
    "BartlettWindow", "BlackmanWindow", "CholeskyInverse", "CholeskySolve", "FFTWithSize", "Geqrf", "HammingWindow",
    "Lstsq", "LuSolve", "LuUnpack", "MatrixLogarithm", "MatrixPower", "MatrixSolveLs", "MatrixTriangularSolve",
    "Mvlgamma", "Orgqr", "Ormqr", "STFT", "TridiagonalMatMul",
]  # fmt: skip
