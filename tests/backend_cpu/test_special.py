"""Special functions that loops compute, against SciPy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from tests.backend_cpu.helpers import check

from mindspore.backends.cpu import available
from mindspore.backends.cpu.steps import HostStep
from mindspore.prims import elementwise as ew
from mindspore.prims import norm, special_functions

special = pytest.importorskip("scipy.special")
pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")

EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -2.0, 0.5, -0.5, 1e-30, 1.5, -7.5, 40.25, -40.25]
INSIDE = np.concatenate([np.linspace(-1, 1, 401), 1 - np.logspace(-1, -15, 60), [1.5, -2.0, np.nan, 1e-30]])
WIDE = np.concatenate([np.linspace(-20.3, 20.1, 801), np.logspace(-8, 8, 50), EDGES])
CASES = {
    "erfinv": (ew.Erfinv, special.erfinv, INSIDE),
    "lgamma": (special_functions.Lgamma, special.gammaln, WIDE),
    "digamma": (special_functions.Digamma, special.digamma, WIDE),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_against_scipy(name, dtype):
    prim, reference, points = CASES[name]
    with np.errstate(over="ignore"):
        x = points.astype(dtype)
    executable = check(lambda a: prim()(a), x, tolerance={8: 1e-11, 4: 2e-5, 2: 4e-3}[x.dtype.itemsize])
    assert not any(isinstance(s, HostStep) for s in executable.blueprint.steps), executable.steps()
    if dtype is np.float64:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(executable(x)[0], reference(x), 2e-13, 2e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=str)
def test_signs(dtype):
    x = np.array([*EDGES, -np.nan], dtype)
    check(lambda a: ew.SignBit()(a), x)


def test_sums_across_channels():
    x = np.random.default_rng(0).standard_normal((2, 7, 3, 5)).astype(np.float32)
    executable = check(lambda a: norm.LRN(2)(a), x)
    assert not any(isinstance(s, HostStep) for s in executable.blueprint.steps), executable.steps()
