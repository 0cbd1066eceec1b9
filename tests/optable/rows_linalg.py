"""Products of matrices, decompositions and solvers."""

import numpy as np
import scipy.fft
import scipy.linalg
from table import COMPLEX, FLOAT, plus, real, row

import mindspore as ms
from mindspore import Tensor

A, B, C, V, W = real(2, 3), real(3, 4), real(2, 4), real(3), real(4)
BATCH, OTHER = real(2, 2, 3), real(2, 3, 4)
SQUARE = real(3, 3) + 3 * np.eye(3)
SPD = SQUARE @ SQUARE.T + np.eye(3)
DOUBLE = "f d"
WIDE = FLOAT + " " + COMPLEX


# -- products ---------------------------------------------------------------------------------------------------------
row("matmul MatMul() mm Tensor.matmul mint.matmul Tensor.mm mint.mm", np.matmul, A, B, dtypes=WIDE, tolerance=2)
row("MatMul(True,False) MatMul(transpose_a=True)", lambda a, b: a.T @ b, real(3, 2), B, tolerance=2)
row("MatMul(False,True)", lambda a, b: a @ b.T, A, real(4, 3), tolerance=2)
row("BatchMatMul() bmm matmul Tensor.bmm mint.bmm", np.matmul, BATCH, OTHER, dtypes=WIDE, tolerance=2)
row(
    "BatchMatMul(True,True)",
    lambda a, b: np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2),
    real(2, 3, 2),
    real(2, 4, 3),
    tolerance=2,
)
row("matmul", np.matmul, real(2, 1, 2, 3), OTHER, tolerance=2)
row("matmul", np.matmul, V, OTHER, tolerance=2)
row("matmul dot", np.dot, V, real(3), tolerance=2)
row("dot", lambda a, b: np.dot(a, b), BATCH, B, tolerance=2, dtypes="e f d")
row("mint.dot Tensor.dot", np.dot, V, real(3), tolerance=2)
row("mv mint.mv", np.matmul, A, V, tolerance=2)
row("inner Tensor.inner", np.inner, A, real(5, 3), tolerance=2)
row("outer ger Ger() mint.outer Tensor.outer Tensor.ger", np.outer, V, W)
row("kron", np.kron, A, B)
row(
    "cross Cross(1) mint.cross Tensor.cross",
    lambda a, b: np.cross(a, b),
    A,
    real(2, 3),
    call=lambda f, a, b: f(a, b) if hasattr(f, "attrs") else f(a, b, 1),
    tolerance=2,
)
row(
    "addmm mint.addmm Tensor.addmm",
    lambda c, a, b: 0.5 * c + 2 * (a @ b),
    C,
    A,
    B,
    call=plus(beta=0.5, alpha=2),
    tolerance=2,
)
row(
    "addmv mint.addmv Tensor.addmv",
    lambda c, a, v: 0.5 * c + 2 * (a @ v),
    real(2),
    A,
    V,
    call=plus(beta=0.5, alpha=2),
    tolerance=2,
)
row("addr", lambda c, u, v: 0.5 * c + 2 * np.outer(u, v), real(3, 4), V, W, call=plus(beta=0.5, alpha=2), tolerance=2)
row(
    "addbmm mint.addbmm Tensor.addbmm",
    lambda c, a, b: 0.5 * c + 2 * (a @ b).sum(0),
    C,
    BATCH,
    OTHER,
    call=plus(beta=0.5, alpha=2),
    tolerance=4,
)
row(
    "baddbmm baddbmm_ext mint.baddbmm Tensor.baddbmm",
    lambda c, a, b: 0.5 * c + 2 * (a @ b),
    real(2, 2, 4),
    BATCH,
    OTHER,
    call=plus(beta=0.5, alpha=2),
    tolerance=4,
)
row("tensor_dot", lambda a, b: np.tensordot(a, b, ((2,), (1,))), BATCH, OTHER, call=plus(((2,), (1,))), tolerance=2)
row("batch_dot", lambda a, b: np.einsum("bij,bjk->bik", a, b), BATCH, OTHER, call=plus((2, 1)), tolerance=2, dtypes="f")
row(
    "einsum einsum_ext Einsum('bij,bjk->bki')",
    lambda a, b: np.einsum("bij,bjk->bki", a, b),
    BATCH,
    OTHER,
    call=lambda f, a, b: f((a, b)) if hasattr(f, "attrs") else f("bij,bjk->bki", a, b),
    tolerance=2,
)
row(
    "mint.einsum",
    lambda a, b: np.einsum("bij,bjk->bki", a, b),
    BATCH,
    OTHER,
    call=lambda f, a, b: f("bij,bjk->bki", a, b),
    tolerance=2,
)
row("einsum", lambda a: np.einsum("ii->i", a), SQUARE, call=lambda f, a: f("ii->i", a))
row("vecdot", lambda a, b: (a * b).sum(1), A, real(2, 3), tolerance=2)
row("dense Dense() linear mint.nn.functional.linear", lambda x, w, b: x @ w.T + b, A, real(4, 3), W, tolerance=2)
row("bidense", lambda x, y, w, b: np.einsum("bi,oij,bj->bo", x, w, y) + b, A, C, real(5, 3, 4), real(5), tolerance=8)
row(
    "cdist Cdist() mint.cdist",
    lambda a, b: np.sqrt(((a[:, None] - b) ** 2).sum(-1)),
    A,
    real(5, 3),
    dtypes=DOUBLE,
    tolerance=4,
)
row("cdist Cdist(1.0)", lambda a, b: np.abs(a[:, None] - b).sum(-1), A, real(5, 3), call=plus(1.0), dtypes=DOUBLE)
row(
    "pdist Pdist()",
    lambda a: np.array([np.linalg.norm(a[i] - a[j]) for i in range(4) for j in range(i + 1, 4)]),
    real(4, 3),
    dtypes=DOUBLE,
    tolerance=4,
)
row(
    "cosine_similarity",
    lambda a, b: (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1),
    A,
    real(2, 3),
    dtypes=DOUBLE,
    tolerance=4,
)
row(
    "tridiagonal_matmul TridiagonalMatMul()",
    lambda u, d, lo, x: (
        d[:, None] * x + u[:, None] * np.vstack([x[1:], x[:1] * 0]) + lo[:, None] * np.vstack([x[:1] * 0, x[:-1]])
    ),
    V,
    real(3),
    real(3),
    B,
    dtypes=DOUBLE,
)
row("matrix_power MatrixPower(3)", lambda a: a @ a @ a, SQUARE, call=plus(3), tolerance=8, dtypes=DOUBLE)

# -- decompositions and solvers ---------------------------------------------------------------------------------------
row("inverse MatrixInverse() Tensor.inverse mint.inverse", np.linalg.inv, SQUARE, dtypes=DOUBLE, tolerance=8)
row("pinv", np.linalg.pinv, real(4, 3), dtypes=DOUBLE, tolerance=40, grad=0)
row("det matrix_determinant MatrixDeterminant() Tensor.det", np.linalg.det, SQUARE, dtypes=DOUBLE, tolerance=8)
row("logdet Tensor.logdet", lambda a: np.log(np.linalg.det(a)), SPD, dtypes=DOUBLE, tolerance=8)
row(
    "slogdet log_matrix_determinant LogMatrixDeterminant() Tensor.slogdet",
    lambda a: tuple(np.linalg.slogdet(a)),
    SQUARE,
    dtypes=DOUBLE + " F D",
    tolerance=8,
)
row(
    "cholesky Cholesky() Tensor.cholesky",
    np.linalg.cholesky,
    SPD,
    call=lambda f, a: f((a + a.swapaxes(-1, -2)) / 2),
    dtypes=DOUBLE,
    tolerance=8,
)
row(
    "cholesky Cholesky(True)",
    lambda a: np.linalg.cholesky(a).T,
    SPD,
    call=lambda f, a: plus(upper=True)(f, (a + a.swapaxes(-1, -2)) / 2),
    dtypes=DOUBLE,
    tolerance=8,
)
row(
    "cholesky_inverse CholeskyInverse()",
    lambda lo: np.linalg.inv(lo @ lo.T),
    np.linalg.cholesky(SPD),
    dtypes=DOUBLE,
    tolerance=40,
    grad=0,
)
row(
    "cholesky_solve CholeskySolve()",
    lambda b, lo: np.linalg.solve(lo @ lo.T, b),
    B,
    np.linalg.cholesky(SPD),
    dtypes=DOUBLE,
    tolerance=40,
    grad=0,
)
row("matrix_solve MatrixSolve()", np.linalg.solve, SQUARE, B, dtypes=DOUBLE, tolerance=8)
LOWER = np.tril(SQUARE)
row("MatrixTriangularSolve()", lambda a, b: np.linalg.solve(np.tril(a), b), LOWER, B, dtypes=DOUBLE, tolerance=40)
row(
    "solve_triangular",
    lambda a, b: np.linalg.solve(np.tril(a), b),
    LOWER,
    B,
    call=plus(lower=True),
    dtypes=DOUBLE,
    tolerance=40,
)
row(
    "lstsq Lstsq() MatrixSolveLs()",
    lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0],
    real(4, 3),
    C.T[:4],
    dtypes=DOUBLE,
    tolerance=80,
    grad=0,
    call=lambda f, a, b: f(a, b, Tensor(0.0, ms.float64)) if type(f).__name__ == "MatrixSolveLs" else f(a, b),
)
row(
    "qr Qr() mint.linalg.qr",
    lambda a: np.linalg.qr(a)[0] @ np.linalg.qr(a)[1],
    real(4, 3),
    call=lambda f, a: ms.ops.matmul(*f(a)),
    dtypes=DOUBLE,
    tolerance=8,
)
row("svdvals", lambda a: np.linalg.svd(a, compute_uv=False), real(4, 3), dtypes=DOUBLE, tolerance=8)
row(
    "svd Tensor.svd",
    lambda a: np.linalg.svd(a, compute_uv=False),
    real(4, 3),
    call=lambda f, a: f(a, compute_uv=False),
    dtypes=DOUBLE,
    tolerance=8,
)
row(
    "Svd()",
    lambda a: np.linalg.svd(a, compute_uv=False),
    real(4, 3),
    call=lambda f, a: f(a)[0],
    dtypes=DOUBLE,
    tolerance=8,
)
row("svd", lambda a: a, real(4, 3), call=lambda f, a: rebuilt(*f(a)), dtypes=DOUBLE, tolerance=8, grad=1)
row(
    "eigh",
    lambda a: np.linalg.eigvalsh(a),
    SPD,
    call=lambda f, a: f((a + a.swapaxes(-1, -2)) / 2)[0],
    dtypes=DOUBLE,
    tolerance=8,
)
row("eigvalsh", np.linalg.eigvalsh, SPD, call=lambda f, a: f((a + a.swapaxes(-1, -2)) / 2), dtypes=DOUBLE, tolerance=8)
row("Eigh()", np.linalg.eigvalsh, SPD, call=lambda f, a: f((a + a.swapaxes(-1, -2)) / 2)[0], dtypes=DOUBLE, tolerance=8)
row(
    "eigvals",
    lambda a: np.sum(np.linalg.eigvals(a) ** 2),
    SQUARE,
    call=lambda f, a: (f(a) * f(a)).sum(),
    dtypes=DOUBLE,
    tolerance=40,
    grad=0,
    keeps=False,
)
row(
    "eig Eig(True)",
    lambda a: a + 0j,
    SQUARE,
    call=lambda f, a: recomposed(*f(a)),
    dtypes=DOUBLE,
    tolerance=80,
    grad=0,
    keeps=False,
)
row(
    "lu_factor Lu()",
    lambda a: scipy.linalg.lu_factor(a)[0],
    SQUARE,
    call=lambda f, a: f(a)[0],
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
)
row(
    "lu",
    lambda a: a,
    SQUARE,
    call=lambda f, a: permuted(*f(a)),
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
    graph=False,
)
row(
    "lu_unpack LuUnpack()",
    lambda a: a,
    SQUARE,
    call=lambda f, a: product(*f(*counted_from_one(a))),
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
    graph=False,
)
row(
    "lu_solve LuSolve()",
    lambda b, a: np.linalg.solve(a, b),
    B,
    SQUARE,
    call=lambda f, b, a: f(b, *counted_from_one(a)),
    dtypes=DOUBLE,
    tolerance=40,
    grad=0,
    graph=False,
)
row(
    "geqrf Geqrf()",
    lambda a: scipy.linalg.lapack.dgeqrf(a)[:2],
    real(4, 3),
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
)
row(
    "orgqr Orgqr()",
    lambda a: np.linalg.qr(a)[0],
    real(4, 3),
    call=lambda f, a: f(*ms.ops.geqrf(a)),
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
)
row(
    "ormqr Ormqr()",
    lambda a, c: np.linalg.qr(a, "complete")[0] @ c,
    real(4, 3),
    real(4, 2),
    call=lambda f, a, c: f(*ms.ops.geqrf(a), c),
    dtypes=DOUBLE,
    tolerance=8,
    grad=0,
)
row("matrix_exp MatrixExp()", scipy.linalg.expm, SQUARE / 4, dtypes=DOUBLE, tolerance=8, grad=1)
row("MatrixLogarithm()", lambda a: scipy.linalg.logm(a), SPD, dtypes=COMPLEX, tolerance=80, grad=0)
row("matrix_norm mint.linalg.matrix_norm", lambda a: np.linalg.norm(a), A, dtypes=DOUBLE)
row("matrix_norm", lambda a: np.linalg.norm(a, "nuc"), A, call=plus("nuc"), dtypes=DOUBLE, tolerance=8, grad=1)
row("NuclearNorm()", lambda a: np.linalg.norm(a, "nuc"), A, dtypes=DOUBLE, tolerance=8, grad=1)
row("matrix_rank", lambda a: 2, A, dtypes=DOUBLE, grad=0)
row("cond", np.linalg.cond, SQUARE, dtypes=DOUBLE, tolerance=40, grad=1)


def rebuilt(s, u, v):
    return (u * s[..., None, :]) @ v.swapaxes(-1, -2)


def recomposed(values, vectors):
    return ms.ops.matmul(vectors * values, ms.ops.inverse(vectors))


def permuted(p, lower, upper):
    return p @ lower @ upper if p.ndim == 2 else (lower @ upper)[ms.ops.argsort(p)]


def counted_from_one(a):
    packed, pivots = ms.ops.lu_factor(a)
    return packed, pivots + 1


def product(p, lower, upper):
    return p @ lower @ upper
