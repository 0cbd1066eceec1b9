"""Values at the borders of special functions, and settings at the borders of those that make frequencies."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore._base.optional import available


@pytest.mark.parametrize("backend", ["pynative", "interp", "cpu", *(["xla"] if available("jax") else [])])
def test_zeta_at_its_poles_and_far_away(backend):
    """1 / 0**x is infinite, 1 / inf**x nothing; there is no sum for exponents below 1."""
    x = np.array([1.5, 2, 3, 1, 2, 3, 2, 0, np.nan, 2], np.float32)
    q = np.array([0, -1, 0, 2, np.inf, np.inf, 1, 0, 0, np.nan], np.float32)
    zeta, settings = ops.zeta, {"mode": ms.PYNATIVE_MODE}
    if backend != "pynative":
        zeta, settings = ms.jit(lambda x, q: ops.zeta(x, q)), {"mode": ms.GRAPH_MODE, "backend": backend}
    with ms.context.local_context(**settings):
        found = zeta(Tensor(x), Tensor(q)).asnumpy()
    wanted = [np.inf, np.inf, np.inf, np.inf, 0, 0, np.pi**2 / 6, np.nan, np.nan, np.nan]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("make", [ops.fftfreq, ops.rfftfreq])
@pytest.mark.parametrize("given", [(None,), (-1,), (0,), (True,), (3, "x"), (3, 0), (3, None)])
def test_frequencies_of_no_samples(make, given):
    with pytest.raises((TypeError, ValueError), match=rf"For '{make.__name__}', '[nd]' must be"):
        make(*given)
