"""mindspore.scipy.linalg beside SciPy: values, and what is refused."""

import numpy as np
import pytest
import scipy.linalg

import mindspore as ms
import mindspore.scipy.linalg as linalg
from mindspore import Tensor

RNG = np.random.RandomState(3)
A = RNG.randn(4, 4)
SPD = A @ A.T + np.eye(4)


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_lu_solve(trans, columns):
    b = RNG.randn(4, *columns)
    found = linalg.lu_solve(linalg.lu_factor(Tensor(A)), Tensor(b), trans).asnumpy()
    np.testing.assert_allclose(found, scipy.linalg.lu_solve(scipy.linalg.lu_factor(A), b, trans), rtol=1e-8)


@pytest.mark.parametrize("name", ["inv", "det"])
def test_integers_count_as_doubles(name):
    matrix = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]], np.int32)
    found = getattr(linalg, name)(Tensor(matrix))
    assert found.dtype == ms.float64
    np.testing.assert_allclose(found.asnumpy(), getattr(scipy.linalg, name)(matrix))
    np.testing.assert_allclose(linalg.eigh(Tensor(matrix), eigvals_only=True).asnumpy(), scipy.linalg.eigvalsh(matrix))


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "cho_factor", "eigh", "lu_factor"])
def test_one_square_matrix_is_needed(name):
    function = getattr(linalg, name)
    with pytest.raises(ValueError, match="dimension of 'a' should be 2"):
        function(Tensor(np.stack([SPD, SPD])))
    with pytest.raises(ValueError, match="square"):
        function(Tensor(A[:, :3]))
    with pytest.raises(TypeError, match="overwrite_a"):
        function(Tensor(SPD), overwrite_a=1)


def test_settings_that_are_refused():
    b = Tensor(np.ones(4))
    with pytest.raises(ValueError, match="eigvals"):
        linalg.eigh(Tensor(SPD), eigvals=(0, 1))
    with pytest.raises(TypeError, match="one type"):
        linalg.solve_triangular(Tensor(A), Tensor(np.ones(4, np.float32)))
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind, match="trans"):
            linalg.solve_triangular(Tensor(A), b, trans=5)
    with pytest.raises(TypeError, match="lower"):
        linalg.cho_solve((Tensor(SPD), "a"), b)
    with pytest.raises(ValueError, match="rows of 'b'"):
        linalg.lu_solve(linalg.lu_factor(Tensor(A)), Tensor(np.ones(2)))


def test_operations_as_objects():
    from mindspore.scipy import ops as objects

    values, vectors = (t.asnumpy() for t in objects.Eig()(Tensor(A)))
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)
    packed, _, permutation = (t.asnumpy() for t in objects.LU()(Tensor(A)))
    np.testing.assert_allclose(permutation @ (np.tril(packed, -1) + np.eye(4)) @ np.triu(packed), A, atol=1e-12)
    rows, columns = objects.LinearSumAssignment()(Tensor([[4.0, 1.0], [2.0, 0.0]]), Tensor(9), False)
    assert (rows.asnumpy().tolist(), columns.asnumpy().tolist()) == ([0, 1], [1, 0])
    lower = np.tril(A) + 3 * np.eye(4)
    for trans in "NT":
        found = objects.SolveTriangular(lower=True, trans=trans)(Tensor(lower), Tensor(SPD)).asnumpy()
        np.testing.assert_allclose(found, scipy.linalg.solve_triangular(lower, SPD, trans, lower=True), atol=1e-10)


@pytest.mark.parametrize("driver", [None, "gelsd", "gelss", "gelsy"])
@pytest.mark.parametrize("shape", [(5, 5), (4, 5), (6, 3)])
def test_least_squares_gives_what_its_driver_computes(driver, shape):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=(shape[0], 2))
    found = ms.scipy.linalg.lstsq(Tensor(a), Tensor(b), driver=driver)
    wanted = scipy.linalg.lstsq(a, b, lapack_driver=driver or "gelsy")
    residual = wanted[1] if driver in ("gelsd", "gelss") else []
    for x, y in zip(found, (wanted[0], residual, wanted[2], [] if wanted[3] is None else wanted[3])):
        assert np.allclose(x.asnumpy(), y) and x.shape == np.shape(y)
    assert found[2].dtype is ms.int64
    whole = ms.grad(lambda a: ms.scipy.linalg.lstsq(a, Tensor(b), driver="gelss"))(Tensor(a))
    first = ms.grad(lambda a: ms.scipy.linalg.lstsq(a, Tensor(b), driver="gelss")[0])(Tensor(a))
    assert np.allclose(whole.asnumpy(), first.asnumpy())
