"""Update rules: both array namespaces agree, Parameters are written, sparse rules are the dense ones on some rows."""

from __future__ import annotations

import numpy as np
import pytest
from nn_harness import both_namespaces

import mindspore as ms
from mindspore import Parameter, Tensor, ops
from mindspore.prims import sparse_update as sparse
from mindspore.prims import update as rules

RNG = np.random.default_rng(0)
NUMBERS = {
    "lr": 0.1, "alpha": 0.2, "l1": 0.01, "l2": 0.02, "momentum": 0.9, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-6,
    "beta1_power": 0.81, "beta2_power": 0.98, "decay": 0.9, "rho": 0.9, "lr_power": -0.5, "global_step": 3,
    "sign_decay": 0.5, "beta": 0.9, "logbase": 1.0, "weight_decay": 0.01, "loss_scale": 0.5,
}  # fmt: skip
RULES = [
    rules.ApplyGradientDescent(), rules.ApplyProximalGradientDescent(), rules.ApplyMomentum(), rules.ApplyMomentum(True),
    rules.FusedWeightScaleApplyMomentum(), rules.ApplyKerasMomentum(False, True), rules.SGD(0.1), rules.SGD(0.0, 0.01, True),
    rules.Adam(), rules.Adam(False, True), rules.ApplyAdamWithAmsgrad(), rules.ApplyAdamWithAmsgradV2(),
    rules.AdamWeightDecay(), rules.ApplyAdaMax(), rules.ApplyAddSign(), rules.ApplyPowerSign(), rules.ApplyAdagrad(),
    rules.ApplyAdagradV2(1e-3), rules.ApplyProximalAdagrad(), rules.ApplyAdagradDA(), rules.ApplyAdadelta(),
    rules.ApplyRMSProp(), rules.ApplyCenteredRMSProp(), rules.ApplyFtrl(),
]  # fmt: skip


def arguments(prim, shape=(3, 2)):
    """Arrays for the state (positive: some rules take roots of it) and the gradient, numbers for the rest."""
    out = []
    for name in prim.arguments:
        if name == "grad":
            out.append(RNG.normal(size=shape))
        elif name == "mean_gradient":  # its square must stay below the mean of squares
            out.append(RNG.uniform(0.1, 0.2, shape))
        elif name in prim.state:
            out.append(RNG.uniform(0.5, 1.5, shape))
        else:
            out.append(NUMBERS[name])
    return out


@pytest.mark.parametrize("prim", RULES, ids=lambda p: p.name)
def test_rule(prim):
    args = arguments(prim)
    new = both_namespaces(prim, *args)
    tensors = [Parameter(Tensor(a), name=f"p{i}") if isinstance(a, np.ndarray) else a for i, a in enumerate(args)]
    prim(*tensors)
    for value, name in zip(new, prim.state):
        np.testing.assert_allclose(tensors[prim.arguments.index(name)].asnumpy(), value)
    assert np.abs(new[0] - args[prim.arguments.index(prim.state[0])]).max() > 0


def test_adam_by_hand():
    var, m, v, g = 1.0, 0.2, 0.3, 0.5
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    expected = var - 0.1 * (m / (1 - 0.81)) / (np.sqrt(v / (1 - 0.98)) + 1e-8 / np.sqrt(1 - 0.98))
    found = rules.Adam().eval(np, *map(np.asarray, (1.0, 0.2, 0.3)), 0.81, 0.98, 0.1, 0.9, 0.99, 1e-8, np.asarray(0.5))[
        0
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "prim,dense",
    [
        (sparse.FusedSparseLazyAdam(), rules.Adam()),
        (sparse.SparseApplyProximalAdagrad(), rules.ApplyProximalAdagrad()),
        (sparse.FusedSparseAdam(), rules.Adam()),
    ],
    ids=lambda p: p.name,
)
def test_sparse_rule_adds_up_repeated_rows(prim, dense):
    args = arguments(dense, (4, 2))
    whole = np.zeros((4, 2))
    slices, rows = RNG.normal(size=(3, 2)), np.array([1, 3, 1])
    np.add.at(whole, rows, slices)
    place = dense.arguments.index("grad")
    expected = dense.eval(np, *args[:place], whole, *args[place + 1 :])
    found = both_namespaces(prim, *args[:place], slices, *args[place + 1 :], rows)
    for f, e, name in zip(found, expected, dense.state):
        old = args[dense.arguments.index(name)]
        np.testing.assert_allclose(f[[1, 3]], e[[1, 3]])
        np.testing.assert_allclose(f[[0, 2]], old[[0, 2]] if prim.lazy else e[[0, 2]])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_half_precision_state_is_updated_in_float32(mode):
    from nn_harness import mode as use

    var = Parameter(Tensor(np.ones(2, np.float16)), name="var")
    accum = Parameter(Tensor(np.zeros(2, np.float16)), name="accum")
    with use(mode):
        ops.ApplyMomentum()(var, accum, 0.5, Tensor(np.ones(2, np.float16)), 0.9)
    assert var.dtype is ms.float16 and var.asnumpy().tolist() == [0.5, 0.5] and accum.asnumpy().tolist() == [1, 1]


def test_bad_arguments():
    var = Parameter(Tensor(np.ones(2, np.float32)), name="var")
    with pytest.raises(ValueError, match="shape"):
        ops.ApplyMomentum()(var, Parameter(Tensor(np.ones(3, np.float32)), name="a"), 0.1, Tensor([1.0, 1.0]), 0.9)
    with pytest.raises(TypeError, match="5 arguments"):
        ops.ApplyMomentum()(var)
    with pytest.raises(ValueError, match="nesterov"):
        rules.SGD(0.5, 0.0, True)
