"""mindspore.numpy and mindspore.scipy against the originals."""

# ruff: noqa: E501 - one case per line

import numpy as onp
import pytest
import scipy.linalg
import scipy.optimize

import mindspore as ms
import mindspore.numpy as np
from mindspore import Tensor
from mindspore.scipy import linalg, optimize

RNG = onp.random.default_rng(5)
A, B, V = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), onp.sort(RNG.normal(size=5))
I = onp.array([3, 1, 2, 3, 0])

CASES = [
    lambda m, a, b, v, i: m.matmul(a, b), lambda m, a, b, v, i: m.tensordot(a, b, 1), lambda m, a, b, v, i: m.kron(a, b),
    lambda m, a, b, v, i: m.concatenate((a, a), 1), lambda m, a, b, v, i: m.stack((a, a), -1), lambda m, a, b, v, i: m.vstack((a, a)),
    lambda m, a, b, v, i: m.split(a, 2, 1)[1], lambda m, a, b, v, i: m.array_split(v, 2)[0], lambda m, a, b, v, i: m.flip(a),
    lambda m, a, b, v, i: m.rot90(a), lambda m, a, b, v, i: m.roll(a, 1), lambda m, a, b, v, i: m.repeat(a, 2, 1), lambda m, a, b, v, i: m.tile(a, 2),
    lambda m, a, b, v, i: m.pad(a, 1, "edge"), lambda m, a, b, v, i: m.pad(a, ((1, 2), (0, 1)), "symmetric"), lambda m, a, b, v, i: m.pad(a, 1, "mean"),
    lambda m, a, b, v, i: m.pad(v, 2, "linear_ramp", end_values=1), lambda m, a, b, v, i: m.pad(v, (1, 2), "constant", constant_values=(3, 4)),
    lambda m, a, b, v, i: m.sum(a, axis=1), lambda m, a, b, v, i: m.mean(a), lambda m, a, b, v, i: m.std(a, axis=0), lambda m, a, b, v, i: m.var(a, ddof=1),
    lambda m, a, b, v, i: m.average(a, axis=1, weights=v[:4] ** 2), lambda m, a, b, v, i: m.cumsum(a), lambda m, a, b, v, i: m.cumprod(a, 1),
    lambda m, a, b, v, i: m.diff(a, axis=0), lambda m, a, b, v, i: m.ediff1d(a), lambda m, a, b, v, i: m.gradient(v), lambda m, a, b, v, i: m.gradient(a)[1],
    lambda m, a, b, v, i: m.cov(a), lambda m, a, b, v, i: m.corrcoef(a), lambda m, a, b, v, i: m.cross(a[:, :3], a[:, 1:]), lambda m, a, b, v, i: m.outer(v, v),
    lambda m, a, b, v, i: m.convolve(v, v[:2]), lambda m, a, b, v, i: m.convolve(v, v[:3], "same"), lambda m, a, b, v, i: m.correlate(v, v[:2], "full"),
    lambda m, a, b, v, i: m.interp(a, v, v**2), lambda m, a, b, v, i: m.digitize(a, v), lambda m, a, b, v, i: m.searchsorted(v, a.ravel()),
    lambda m, a, b, v, i: m.unwrap(v * 4), lambda m, a, b, v, i: m.polyval(v, 2.0), lambda m, a, b, v, i: m.polymul(v, v[:2]), lambda m, a, b, v, i: m.polyint(v),
    lambda m, a, b, v, i: m.polyder(v), lambda m, a, b, v, i: m.polyadd(v, v[:2]), lambda m, a, b, v, i: m.where(a > 0, a, 0), lambda m, a, b, v, i: m.clip(a, -1, 1),
    lambda m, a, b, v, i: m.take_along_axis(a, i[:3, None], 1), lambda m, a, b, v, i: m.histogram(v, 3)[0], lambda m, a, b, v, i: m.histogram(v, 3, density=True)[0],
    lambda m, a, b, v, i: m.histogram2d(v, v**2, 3)[0], lambda m, a, b, v, i: m.bincount(i), lambda m, a, b, v, i: m.argmax(a, 1), lambda m, a, b, v, i: m.isin(i, i[:2]),
    lambda m, a, b, v, i: m.intersect1d(i, i[:2]), lambda m, a, b, v, i: m.setdiff1d(i, i[:1]), lambda m, a, b, v, i: m.ravel_multi_index((i[:2] % 2, i[:2] % 3), (2, 3), mode="clip"),
    lambda m, a, b, v, i: m.unravel_index(i, (2, 2))[1], lambda m, a, b, v, i: m.meshgrid(v, i, sparse=True)[0], lambda m, a, b, v, i: m.mgrid[0:2, 0:3],
    lambda m, a, b, v, i: m.vander(v, 3), lambda m, a, b, v, i: m.tri(3, 4, 1), lambda m, a, b, v, i: m.diag(v, 1), lambda m, a, b, v, i: m.trace(a, 1),
    lambda m, a, b, v, i: m.linspace(0, 1, 5, endpoint=False), lambda m, a, b, v, i: m.geomspace(1, 8, 4), lambda m, a, b, v, i: m.geomspace(m.ones((2, 3)) * 2, m.ones(3) * 8, 4, axis=-1),
    lambda m, a, b, v, i: m.geomspace(m.ones((2, 3)) * 2, m.ones(3) * 8, 4), lambda m, a, b, v, i: m.rollaxis(a, 1),
    lambda m, a, b, v, i: m.expand_dims(a, (0, 2)), lambda m, a, b, v, i: m.hypot(a, 1.0), lambda m, a, b, v, i: m.logaddexp(a, a), lambda m, a, b, v, i: m.cbrt(a),
    lambda m, a, b, v, i: m.fft.fft(v), lambda m, a, b, v, i: m.fft.rfft2(a), lambda m, a, b, v, i: m.heaviside(a, 0.5), lambda m, a, b, v, i: m.nanmax(a, axis=1),
    lambda m, a, b, v, i: m.select([a > 1, a < 0], [a, -a], 5.0), lambda m, a, b, v, i: m.apply_along_axis(lambda r: r[::-1] * 2, 1, a),
]  # fmt: skip


@pytest.mark.parametrize("n", range(len(CASES)))
def test_like_numpy(n):
    data = [A, B, V, I]
    expected = CASES[n](onp, *data)
    found = CASES[n](np, *map(Tensor, data))
    onp.testing.assert_allclose(found.asnumpy(), expected, 2e-5, 1e-6)


def test_default_types_are_32_bit():
    assert np.array([1, 2]).dtype is np.arange(3).dtype is np.full((2,), 3).dtype is ms.int32
    assert np.array([1.5]).dtype is np.zeros((1,)).dtype is np.linspace(0, 1, 3).dtype is ms.float32


def test_numpy_functions_differentiate_and_compile():
    def f(x):
        return np.sum(np.tanh(x) * np.square(x))

    x = onp.array([0.3, -0.2])
    expected = x**2 / onp.cosh(x) ** 2 + 2 * x * onp.tanh(x)
    onp.testing.assert_allclose(ms.grad(f)(Tensor(x)).asnumpy(), expected, 1e-10)
    onp.testing.assert_allclose(ms.jit(f)(Tensor(x)).asnumpy(), onp.sum(onp.tanh(x) * x**2), 1e-6)


def test_scipy_linalg():
    spd = A @ A.T + onp.eye(3)
    t = Tensor(spd)
    onp.testing.assert_allclose(linalg.cholesky(t).asnumpy(), scipy.linalg.cholesky(spd), 1e-8, 1e-10)
    solved = linalg.cho_solve(linalg.cho_factor(t), Tensor(A[:, 0])).asnumpy()
    onp.testing.assert_allclose(solved, onp.linalg.solve(spd, A[:, 0]), 1e-8)
    for found, expected in zip(linalg.lu(t), scipy.linalg.lu(spd)):
        onp.testing.assert_allclose(found.asnumpy(), expected, 1e-8, 1e-10)
    w, _ = linalg.eigh(t, Tensor(onp.diag([1.0, 2.0, 3.0])))
    onp.testing.assert_allclose(w.asnumpy(), scipy.linalg.eigh(spd, onp.diag([1.0, 2.0, 3.0]))[0], 1e-8)
    x = linalg.lstsq(Tensor(A.T), Tensor(V[:4]))[0].asnumpy()
    onp.testing.assert_allclose(x, onp.linalg.lstsq(A.T, V[:4], rcond=None)[0], 1e-7)


@pytest.mark.parametrize("method", ["BFGS", "LBFGS"])
def test_minimize(method):
    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    result = optimize.minimize(rosenbrock, Tensor(onp.array([-1.2, 1.0, 0.5])), method=method)
    assert result.success
    onp.testing.assert_allclose(result.x.asnumpy(), 1, 1e-4)


def test_minimize_with_a_constraint():
    result = optimize.minimize(
        lambda x: ((x - 1) ** 2).sum(), Tensor(onp.zeros(2)), method="LAGRANGE", constraints=[lambda x: x[0] + x[1] - 1]
    )
    onp.testing.assert_allclose(result.x.asnumpy(), 0.5, 1e-4)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5)])
def test_assignment(shape):
    cost = RNG.normal(size=shape)
    for maximize in (False, True):
        rows, columns = optimize.linear_sum_assignment(Tensor(cost), Tensor(maximize))
        expected = scipy.optimize.linear_sum_assignment(cost, maximize)
        assert rows.tolist() == expected[0].tolist() and columns.tolist() == expected[1].tolist()
