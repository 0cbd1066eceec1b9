"""Products, factorisations, systems, transforms and special functions against NumPy and SciPy."""

# ruff: noqa: E501, B023 - one case per line

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from op_harness import check

import mindspore as ms
from mindspore import Tensor, ops

RNG = np.random.default_rng(3)
A = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
SPD = A @ A.T + np.eye(3)
TALL, WIDE = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3))
BATCH = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
V = RNG.normal(size=3)


def symmetric(x):
    return (x + ops.swapaxes(x, -1, -2)) * 0.5


PRODUCTS = [
    ("matmul", ops.matmul, np.matmul, (TALL, A)),
    ("matmul_vector", ops.matmul, np.matmul, (A, V)),
    ("vector_matmul", ops.matmul, np.matmul, (V, A)),
    ("vectors", ops.matmul, np.matmul, (V, V * 2)),
    ("matmul_batch", ops.matmul, np.matmul, (BATCH, A)),
    ("matmul_broadcast", ops.matmul, np.matmul, (A, BATCH)),
    ("bmm", ops.bmm, np.matmul, (BATCH, BATCH)),
    ("outer", ops.outer, np.outer, (V, V)),
    ("inner", ops.inner, np.inner, (A, TALL)),
    ("dot", ops.dot, np.dot, (TALL, A)),
    ("tensor_dot", lambda a, b: ops.tensor_dot(a, b, ((0, 2), (1, 0))), lambda a, b: np.tensordot(a, b, ((0, 2), (1, 0))), (BATCH, RNG.normal(size=(3, 2, 2)))),
    ("kron", ops.kron, np.kron, (WIDE, A)),
    ("cross", lambda a, b: ops.cross(a, b, 1), np.cross, (A, A.T)),
    ("addmm", lambda c, a, b: ops.addmm(c, a, b, beta=0.5, alpha=2), lambda c, a, b: 0.5 * c + 2 * a @ b, (A, A.T, A)),
    ("baddbmm", ops.baddbmm, lambda c, a, b: c + a @ b, (A, BATCH, BATCH)),
    ("einsum_mm", lambda a, b: ops.einsum("ij,jk->ik", a, b), lambda a, b: a @ b, (TALL, A)),
    ("einsum_trace", lambda a: ops.einsum("ii", a), np.trace, (A,)),
    ("einsum_diag", lambda a: ops.einsum("ii->i", a), np.diag, (A,)),
    ("einsum_three", lambda a, b, c: ops.einsum("bij,jk,k->bi", a, b, c), lambda a, b, c: np.einsum("bij,jk,k->bi", a, b, c), (BATCH, A, V)),
    ("einsum_dots", lambda a, b: ops.einsum("...ij,jk->...ki", a, b), lambda a, b: np.einsum("...ij,jk->...ki", a, b), (BATCH, A)),
    ("einsum_outer", lambda a, b: ops.einsum("i,j->ij", a, b), np.outer, (V, V)),
    ("einsum_sum", lambda a: ops.einsum("bij->b", a), lambda a: a.sum((1, 2)), (BATCH,)),
    ("cdist", ops.cdist, lambda a, b: np.linalg.norm(a[:, None] - b, axis=-1), (TALL, A)),
    ("pdist", lambda a: ops.pdist(a, 1.0), lambda a: np.array([np.abs(a[i] - a[j]).sum() for i in range(4) for j in range(i + 1, 4)]), (TALL,)),
    ("cosine", ops.cosine_similarity, lambda a, b: (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), (A, SPD)),
    ("dense", ops.dense, lambda x, w, b: x @ w.T + b, (TALL, WIDE, RNG.normal(size=2))),
    ("renorm", lambda a: ops.renorm(a, 2, 0, 1.0), lambda a: a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1), (TALL,)),
]  # fmt: skip


@pytest.mark.parametrize("name,fn,oracle,args", PRODUCTS, ids=[p[0] for p in PRODUCTS])
def test_product(name, fn, oracle, args):
    check(fn, oracle, *args, tolerance=1e-4, grad=1)


FACTORS = [
    ("inverse", ops.inverse, np.linalg.inv, BATCH),
    ("det", ops.det, np.linalg.det, BATCH),
    ("slogdet", ops.slogdet, lambda x: tuple(np.linalg.slogdet(x)), BATCH),
    ("cholesky", lambda x: ops.cholesky(symmetric(x)), np.linalg.cholesky, SPD),
    ("cholesky_upper", lambda x: ops.cholesky(symmetric(x), True), lambda x: np.linalg.cholesky(x).T, SPD),
    ("cholesky_inverse", lambda x: ops.cholesky_inverse(ops.cholesky(symmetric(x))), np.linalg.inv, SPD),
    ("eigvalsh", lambda x: ops.function.linalg.eigvalsh(symmetric(x)), np.linalg.eigvalsh, SPD),
    ("eigh", lambda x: _rebuilt_eigh(symmetric(x)), lambda x: scipy.linalg.expm(x / 10), SPD),
    ("singular values", lambda x: ops.svd(x, compute_uv=False), lambda x: np.linalg.svd(x, compute_uv=False), TALL),
    ("svd", lambda x: _polar(x), lambda x: scipy.linalg.polar(x)[0], TALL),
    ("svd wide", lambda x: _polar(x), lambda x: scipy.linalg.polar(x)[0], WIDE),
    ("qr r", lambda x: ops.abs(ops.qr(x)[1]), lambda x: np.abs(np.linalg.qr(x)[1]), TALL),
    ("qr q", lambda x: ops.qr(x)[0], lambda x: np.linalg.qr(x)[0], TALL),
    ("qr wide", lambda x: ops.qr(x), lambda x: tuple(np.linalg.qr(x)), WIDE),
    ("pinv", ops.pinv, np.linalg.pinv, TALL),
    ("matrix_exp", ops.matrix_exp, scipy.linalg.expm, A),
    ("matrix_power", lambda x: ops.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5), A / 2),
    ("matrix_power_neg", lambda x: ops.matrix_power(x, -2), lambda x: np.linalg.matrix_power(x, -2), A),
    ("cond", ops.cond, np.linalg.cond, A),
    ("lu", lambda x: ops.function.linalg.lu(x), lambda x: scipy.linalg.lu(x), A),
    ("matrix_norm_2", lambda x: ops.matrix_norm(x, 2), lambda x: np.linalg.norm(x, 2), A),
    ("nuclear", lambda x: ops.matrix_norm(x, "nuc"), lambda x: np.linalg.norm(x, "nuc"), A),
]  # fmt: skip


def _rebuilt_eigh(x):
    """exp(x / 10) through its eigenvectors, which makes their arbitrary signs cancel."""
    w, v = ops.function.linalg.eigh(x)
    return ops.matmul(v * ops.exp(w / 10), ops.swapaxes(v, -1, -2))


def _polar(x):
    _, u, v = ops.svd(x)
    return ops.matmul(u, ops.swapaxes(v, -1, -2))


@pytest.mark.parametrize("name,fn,oracle,x", FACTORS, ids=[f[0] for f in FACTORS])
def test_factorisation(name, fn, oracle, x):
    check(fn, oracle, x, tolerance=2e-3, dtypes=False)


def test_systems():
    check(ops.matrix_solve, np.linalg.solve, BATCH, TALL[:3], tolerance=1e-4, dtypes=False)
    lower = np.tril(A)
    check(lambda a, b: ops.function.linalg.solve_triangular(a, b, lower=True),
          lambda a, b: scipy.linalg.solve_triangular(a, b, lower=True), lower, V, dtypes=False)  # fmt: skip
    check(lambda a, b: ops.cholesky_solve(b, ops.cholesky(symmetric(a))), np.linalg.solve, SPD, TALL[:3], dtypes=False)
    check(lambda a, b: ops.lstsq(a, b), lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], TALL, RNG.normal(size=(4, 2)),
          tolerance=1e-4, dtypes=False)  # fmt: skip
    check(lambda a, b: ops.lstsq(a, b), lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], WIDE, RNG.normal(size=(2, 2)),
          tolerance=1e-4, dtypes=False)  # fmt: skip
    factors, pivots = scipy.linalg.lu_factor(A)
    out = ops.lu_solve(Tensor(TALL[:3]), Tensor(factors), Tensor(pivots.astype(np.int32) + 1))
    np.testing.assert_allclose(out.asnumpy(), np.linalg.solve(A, TALL[:3]), 1e-8)


def test_householder_reflections():
    packed, tau = ops.geqrf(Tensor(TALL))
    (expected, expected_tau), _ = scipy.linalg.qr(TALL, mode="raw")
    np.testing.assert_allclose(packed.asnumpy(), expected, 1e-8, 1e-10)
    np.testing.assert_allclose(tau.asnumpy(), expected_tau, 1e-8)
    q = ops.orgqr(packed, tau).asnumpy()
    np.testing.assert_allclose(q, np.linalg.qr(TALL)[0], 1e-8, 1e-10)
    other = RNG.normal(size=(4, 2))
    full = np.linalg.qr(TALL, mode="complete")[0]
    np.testing.assert_allclose(ops.ormqr(packed, tau, Tensor(other)).asnumpy(), full @ other, 1e-8, 1e-10)
    np.testing.assert_allclose(ops.ormqr(packed, tau, Tensor(other), True, True).asnumpy(), full.T @ other, 1e-8, 1e-10)


def test_general_eigenvalues():
    w, v = ops.eig(Tensor(A))
    np.testing.assert_allclose(A @ v.asnumpy(), v.asnumpy() * w.asnumpy(), 1e-6, 1e-8)
    check(lambda x: ops.sum(ops.real(ops.eigvals(x) ** 3)), lambda x: np.trace(x @ x @ x), A, tolerance=1e-3)


@pytest.mark.parametrize(
    "fn,words",
    [
        (lambda: ops.inverse(Tensor(TALL)), "square"),
        (lambda: ops.cholesky(Tensor(-SPD)), "positive definite"),
        (lambda: ops.matmul(Tensor(TALL), Tensor(TALL)), "columns"),
        (lambda: ops.einsum("ij,jk->il", Tensor(A), Tensor(A)), "each once"),
        (lambda: ops.einsum("ij,jk", Tensor(A)), "operands"),
        (lambda: ops.inverse(Tensor(np.zeros((2, 2)))), "ingular"),
        (lambda: ops.bmm(Tensor(A[0]), Tensor(A)), "2 dimensions"),
    ],
)
def test_bad_matrices(fn, words):
    with pytest.raises(ValueError, match=words):
        fn()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("function", [ops.svd, lambda x: ops.svd(x, compute_uv=False), ops.pinv, lambda x: ops.norm(x, "nuc", (0, 1))])
def test_singular_values_of_what_is_not_finite_are_refused(function, value):
    """LAPACK looks for those of infinity for ever."""
    x = Tensor(np.array([[value, 1.0], [2.0, 3.0]], np.float32))
    for run in (function, ms.jit(function)):
        with pytest.raises(ValueError, match="not finite"):
            run(x)


def test_clipping_by_norm():
    a, b = np.full(4, 3.0), np.full(4, 4.0)
    out = ops.clip_by_global_norm((Tensor(a), Tensor(b)), 5.0)
    np.testing.assert_allclose([out[0].asnumpy()[0], out[1].asnumpy()[0]], [1.5, 2.0], 1e-6)
    same = ops.clip_by_global_norm((Tensor(a),), 100.0)[0]
    np.testing.assert_allclose(same.asnumpy(), a)


# -- Fourier ----------------------------------------------------------------------------------------------------------
S = RNG.normal(size=(3, 6))
FOURIER = ["fft", "ifft", "rfft", "ihfft"]


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", FOURIER)
def test_fourier(name, norm):
    for n in (None, 4, 7):
        check(lambda x: getattr(ops, name)(x, n, 1, norm), lambda x: getattr(np.fft, name)(x, n, 1, norm), S, grad=0)
    check(lambda x: ops.view_as_real(getattr(ops, name)(x, 4, 0, norm)),
          lambda x: _parts(getattr(np.fft, name)(x, 4, 0, norm)), S, grad=1)  # fmt: skip


def _parts(z):
    return np.stack([z.real, z.imag], -1)


@pytest.mark.parametrize("name", ["irfft", "hfft"])
def test_fourier_to_real(name):
    for n in (None, 5, 6, 10):
        check(lambda a, b: getattr(ops, name)(ops.complex(a, b), n), lambda a, b: getattr(np.fft, name)(a + 1j * b, n),
              S[:, :4], S[:, 2:], grad=1, tolerance=1e-4)  # fmt: skip


def test_fourier_in_several_dimensions():
    check(ops.fft2, np.fft.fft2, S, grad=0, tolerance=1e-4)
    check(lambda x: ops.ifftn(x, (4, 4)), lambda x: np.fft.ifftn(x, (4, 4), (0, 1)), S, grad=0)
    check(ops.rfftn, np.fft.rfftn, S, grad=0, tolerance=1e-4)
    check(lambda x: ops.irfft2(ops.rfft2(x)), lambda x: x, S, grad=0)
    check(ops.fftshift, np.fft.fftshift, S)
    check(lambda x: ops.ifftshift(x, 1), lambda x: np.fft.ifftshift(x, 1), S[:, :5])
    np.testing.assert_allclose(ops.fftfreq(5, 0.5).asnumpy(), np.fft.fftfreq(5, 0.5), 1e-6)


def test_cosine_transform():
    import scipy.fft

    for norm in (None, "ortho"):
        check(lambda x: ops.dct(x, norm=norm), lambda x: scipy.fft.dct(x, norm=norm), S, grad=1, tolerance=1e-4)
        check(lambda x: ops.idct(ops.dct(x, norm=norm), norm=norm), lambda x: x, S, grad=1, tolerance=1e-4)


# -- special functions ------------------------------------------------------------------------------------------------
P = RNG.uniform(0.5, 3, 5)
SPECIAL = [
    ("lgamma", scipy.special.gammaln), ("digamma", scipy.special.digamma), ("bessel_i0", scipy.special.i0),
    ("bessel_i1", scipy.special.i1), ("bessel_i0e", scipy.special.i0e), ("bessel_i1e", scipy.special.i1e),
    ("bessel_j0", scipy.special.j0), ("bessel_j1", scipy.special.j1), ("bessel_y0", scipy.special.y0),
    ("bessel_y1", scipy.special.y1), ("bessel_k0", scipy.special.k0), ("bessel_k1", scipy.special.k1),
    ("bessel_k0e", scipy.special.k0e), ("bessel_k1e", scipy.special.k1e),
]  # fmt: skip


@pytest.mark.parametrize("name,oracle", SPECIAL, ids=[s[0] for s in SPECIAL])
def test_special(name, oracle):
    check(getattr(ops, name), oracle, P, tolerance=1e-4)


def test_special_of_two():
    check(lambda x: ops.polygamma(1, x), lambda x: scipy.special.polygamma(1, x), P, tolerance=1e-4)
    check(
        lambda x: ops.mvlgamma(x, 2),
        lambda x: np.array([scipy.special.multigammaln(v, 2) for v in x]),
        P + 1,
        tolerance=1e-4,
        dtypes=False,
    )
    check(lambda q: ops.zeta(3.0, q), lambda q: scipy.special.zeta(3.0, q), P, tolerance=1e-4)
    check(ops.igamma, scipy.special.gammainc, P, P[::-1].copy(), grad=0, tolerance=1e-4)
    check(lambda x: ops.igammac(2.5, x), lambda x: scipy.special.gammaincc(2.5, x), P, tolerance=1e-4, grad=1)


def test_half_precision_products_accumulate_wide():
    ones = Tensor(np.ones((1, 4096)), ms.float16)
    assert ops.matmul(ones, ones.T).item() == 4096


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_the_gradient_of_eigh_is_that_of_the_triangle_it_reads(lower, mode):
    """As arrays, matrices need not be symmetric: central differences of single elements decide."""
    x = np.random.default_rng(0).random((4, 4))
    eigh = ops.Eigh(True, lower)

    def function(a):
        w, v = eigh(a)
        return (w * Tensor([1.0, 2.0, 3.0, 4.0], ms.float64)).sum() + (v * v * v * v).sum()

    wanted, step = np.zeros_like(x), 1e-6
    for place in np.ndindex(x.shape):
        sides = [function(Tensor(x + sign * step * (place == np.indices(x.shape).T).all(-1).T)).item() for sign in (1, -1)]
        wanted[place] = (sides[0] - sides[1]) / (2 * step)
    ms.set_context(mode=mode)
    np.testing.assert_allclose(ms.grad(function)(Tensor(x)).asnumpy(), wanted, atol=1e-6)
    ms.set_context(mode=ms.PYNATIVE_MODE)
