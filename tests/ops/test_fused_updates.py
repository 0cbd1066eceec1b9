"""Optimizers' steps as one operation: of rows, and Adafactor's."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", ["Momentum", "ProximalGradientDescent"])
def test_sparse_rules_leave_other_rows(name):
    var, grad = RNG.normal(size=(4, 2)).astype(np.float32), RNG.normal(size=(2, 2)).astype(np.float32)
    rows = np.array([1, 3])
    p = Parameter(Tensor(var), name="var")
    if name == "Momentum":
        accum = Parameter(Tensor(np.ones((4, 2), np.float32)), name="accum")
        ops.SparseApplyMomentum()(p, accum, Tensor(0.1), Tensor(grad), Tensor(rows, ms.int32), Tensor(0.9))
        new = var[rows] - 0.1 * (0.9 + grad)
    else:
        ops.SparseApplyProximalGradientDescent()(
            p, Tensor(0.1), Tensor(0.0), Tensor(0.5), Tensor(grad), Tensor(rows, ms.int32)
        )
        new = (var[rows] - 0.1 * grad) / 1.05
    np.testing.assert_allclose(p.asnumpy()[rows], new, rtol=1e-5)
    np.testing.assert_array_equal(p.asnumpy()[[0, 2]], var[[0, 2]])


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5,)])
@pytest.mark.parametrize("scale, moment, decay", [(False, False, False), (True, True, True), (False, True, False)])
def test_fused_ada_factor(shape, scale, moment, decay):
    param, mean, square, grad = (RNG.uniform(0.1, 1, shape).astype(np.float32) for _ in range(4))
    row, col = (RNG.uniform(0.1, 1, s or (1,)).astype(np.float32) for s in (shape[:-1], shape[:-2] + shape[-1:]))
    if len(shape) == 1:
        row, col = np.zeros(1, np.float32), np.zeros(1, np.float32)
    kept = [Parameter(Tensor(v), name=str(i)) for i, v in enumerate((param, mean, row, col, square))]
    for kind, norm in ((ops.FusedAdaFactor, ()), (ops.FusedAdaFactorWithGlobalNorm, (2.0,))):
        before = [p.asnumpy().astype(np.float64) for p in kept]
        kind(scale, moment, decay)((1e-3, 1e-2), 1.0, 0.9, 0.8, 0.1, 0.03, Tensor(grad), *kept, *norm)
        wanted = _adafactor(grad.astype(np.float64) / (norm or (1.0,))[0], *before, scale, moment, decay)
        for p, w in zip(kept, wanted):
            np.testing.assert_allclose(p.asnumpy(), w, rtol=2e-5, atol=1e-6)


def _adafactor(grad, param, mean, row, col, square, scale, moment, decay):
    rms = lambda x: np.sqrt((x**2).mean())
    rate = 0.03 * max(1e-2, rms(param)) if scale else 0.03
    if param.ndim > 1:
        row = 0.8 * row + 0.2 * (grad**2 + 1e-3).mean(-1)
        col = 0.8 * col + 0.2 * (grad**2 + 1e-3).mean(-2)
        second = row[..., :, None] * col[..., None, :] / row.mean(-1)[..., None, None]
    else:
        square = second = 0.8 * square + 0.2 * (grad**2 + 1e-3)
    update = grad / np.sqrt(second)
    update = rate * update / max(1.0, rms(update))
    if moment:
        mean = update = 0.9 * mean + 0.1 * update
    return param * (1 - rate * 0.1 if decay else 1) - update, mean, row, col, square


def test_fused_ada_factor_refuses_wrong_shapes():
    p = [Parameter(Tensor(np.ones(s, np.float32)), name=str(i)) for i, s in enumerate(((2, 3), (2, 3), 2, 2, (2, 3)))]
    with pytest.raises(ValueError, match="exp_avg_sq_col"):
        ops.FusedAdaFactor()((1e-3, 1e-2), 1.0, 0.9, 0.8, 0.1, 0.03, Tensor(np.ones((2, 3), np.float32)), *p)
