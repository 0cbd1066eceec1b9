"""The update primitives, two steps each in both modes, against the rules as published, restated in NumPy.

Each restatement takes the arguments by name and returns the new values of the state in order.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops

NUMBERS = {
    "lr": 0.1, "alpha": 0.2, "l1": 0.01, "l2": 0.02, "momentum": 0.9, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-6,
    "beta1_power": 0.81, "beta2_power": 0.98, "decay": 0.9, "rho": 0.9, "lr_power": -0.5, "global_step": 3,
    "sign_decay": 0.5, "beta": 0.9, "logbase": 1.0, "weight_decay": 0.01, "loss_scale": 0.5,
}  # fmt: skip


def shrink(x, amount):
    return np.sign(x) * np.maximum(np.abs(x) - amount, 0)


def gradient_descent(var, alpha, grad):
    return (var - alpha * grad,)


def proximal_descent(var, alpha, l1, l2, grad):
    return (shrink(var - alpha * grad, alpha * l1) / (1 + alpha * l2),)


def momentum_rule(var, accum, lr, grad, momentum, nesterov=False):
    accum = momentum * accum + grad
    return var - lr * (grad + momentum * accum if nesterov else accum), accum


def scaled_momentum(weight_decay, loss_scale, var, accum, lr, grad, momentum):
    return momentum_rule(var, accum, lr, grad * loss_scale + weight_decay * var, momentum)


def keras_momentum(var, accum, lr, grad, momentum, nesterov=False):
    accum = momentum * accum - lr * grad
    return var + (momentum * accum - lr * grad if nesterov else accum), accum


def sgd(var, grad, lr, accum, momentum, stat, dampening=0.0, decay=0.0, nesterov=False):
    grad = grad + decay * var
    accum = np.where(stat > 0, grad, momentum * accum + (1 - dampening) * grad)
    return var - lr * (grad + momentum * accum if nesterov else accum), accum, np.zeros_like(stat)


def moments(m, v, grad, beta1, beta2):
    return beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2


def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, nesterov=False):
    m, v = moments(m, v, grad, beta1, beta2)
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    step = beta1 * m + (1 - beta1) * grad if nesterov else m
    return var - rate * step / (np.sqrt(v) + epsilon), m, v


def amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m, v = moments(m, v, grad, beta1, beta2)
    vhat = np.maximum(vhat, v)
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return var - rate * m / (np.sqrt(vhat) + epsilon), m, v, vhat


def adam_decay(var, m, v, lr, beta1, beta2, epsilon, decay, grad):
    m, v = moments(m, v, grad, beta1, beta2)
    return var - lr * (m / (np.sqrt(v) + epsilon) + decay * var), m, v


def adamax(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m, v = beta1 * m + (1 - beta1) * grad, np.maximum(beta2 * v, np.abs(grad))
    return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad, m


def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


def adagrad(var, accum, lr, grad, epsilon=0.0, grow=True):
    accum = accum + grad**2 if grow else accum
    return var - lr * grad / (np.sqrt(accum) + epsilon), accum


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    accum = accum + grad**2
    rate = lr / np.sqrt(accum)
    return shrink(var - rate * grad, rate * l1) / (1 + rate * l2), accum


def adagrad_da(var, accum, squared, grad, lr, l1, l2, global_step):
    accum, squared = accum + grad, squared + grad**2
    slope = shrink(accum, l1 * global_step) if l1 > 0 else accum
    return -lr * slope / (l2 * global_step * lr + np.sqrt(squared)), accum, squared


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = rho * accum + (1 - rho) * grad**2
    step = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    return var - lr * step, accum, rho * accum_update + (1 - rho) * step**2


def rmsprop(var, mean_square, moment, lr, grad, decay, momentum, epsilon):
    mean_square = decay * mean_square + (1 - decay) * grad**2
    moment = momentum * moment + lr * grad / np.sqrt(mean_square + epsilon)
    return var - moment, mean_square, moment


def centered_rmsprop(var, mean_gradient, mean_square, moment, grad, lr, decay, momentum, epsilon):
    mean_gradient = decay * mean_gradient + (1 - decay) * grad
    mean_square = decay * mean_square + (1 - decay) * grad**2
    moment = momentum * moment + lr * grad / np.sqrt(mean_square - mean_gradient**2 + epsilon)
    return var - moment, mean_gradient, mean_square, moment


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    new = accum + grad**2
    linear = linear + grad - (new**-lr_power - accum**-lr_power) / lr * var
    weight = new**-lr_power / lr + 2 * l2
    return np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / weight, 0), new, linear


def bound(rule, **fixed):
    return lambda **given: rule(**given, **fixed)


#: primitive, its rule
DENSE = [
    (ops.ApplyGradientDescent(), gradient_descent), (ops.ApplyProximalGradientDescent(), proximal_descent),
    (ops.ApplyMomentum(), momentum_rule), (ops.ApplyMomentum(True), bound(momentum_rule, nesterov=True)),
    (ops.FusedWeightScaleApplyMomentum(), scaled_momentum), (ops.ApplyKerasMomentum(), keras_momentum),
    (ops.ApplyKerasMomentum(False, True), bound(keras_momentum, nesterov=True)), (ops.SGD(0.1), bound(sgd, dampening=0.1)),
    (ops.SGD(0.0, 0.01, True), bound(sgd, decay=0.01, nesterov=True)), (ops.Adam(), adam),
    (ops.Adam(False, True), bound(adam, nesterov=True)),
    (ops.ApplyAdamWithAmsgrad(0.9, 0.99, 1e-6), bound(amsgrad, beta1=0.9, beta2=0.99, epsilon=1e-6)),
    (ops.ApplyAdamWithAmsgradV2(), amsgrad), (ops.AdamWeightDecay(), adam_decay), (ops.ApplyAdaMax(), adamax),
    (ops.FusedCastAdamWeightDecay(), adam_decay), (ops.ApplyAddSign(), add_sign), (ops.ApplyPowerSign(), power_sign),
    (ops.ApplyAdagrad(), adagrad), (ops.ApplyAdagrad(False), bound(adagrad, grow=False)),
    (ops.ApplyAdagradV2(1e-3), bound(adagrad, epsilon=1e-3)), (ops.ApplyProximalAdagrad(), proximal_adagrad),
    (ops.ApplyAdagradDA(), adagrad_da), (ops.ApplyAdadelta(), adadelta), (ops.ApplyRMSProp(), rmsprop),
    (ops.ApplyCenteredRMSProp(), centered_rmsprop), (ops.ApplyFtrl(), ftrl),
]  # fmt: skip
#: primitive, its rule, whether rows that are not named keep their state
SPARSE = [
    (ops.FusedSparseAdam(), adam, False), (ops.FusedSparseLazyAdam(), adam, True),
    (ops.SparseApplyAdagrad(0.1), bound(adagrad, lr=0.1), True),
    (ops.operations.SparseApplyAdagradDA(), adagrad_da, True),
    (ops.SparseApplyAdagradV2(0.1, 1e-3), bound(adagrad, lr=0.1, epsilon=1e-3), True),
    (ops.SparseApplyFtrl(0.1, 0.01, 0.02, -0.5), bound(ftrl, lr=0.1, l1=0.01, l2=0.02, lr_power=-0.5), True),
    (ops.FusedSparseFtrl(0.1, 0.01, 0.02, -0.5), bound(ftrl, lr=0.1, l1=0.01, l2=0.02, lr_power=-0.5), True),
    (ops.SparseApplyProximalAdagrad(), proximal_adagrad, True), (ops.FusedSparseProximalAdagrad(), proximal_adagrad, True),
    (ops.SparseApplyAdadelta(1e-6), bound(adadelta, epsilon=1e-6), True),
    (ops.SparseApplyRMSProp(0.9, 0.9, 1e-6), lambda var, ms, mom, lr, grad: rmsprop(var, ms, mom, lr, grad, 0.9, 0.9, 1e-6), True),
]  # fmt: skip


def shrunk_ftrl(var, accum, linear, grad, shrinkage=0.03):
    """FTRL whose linear term also sees a shrinkage of the weights."""
    new = accum + grad**2
    linear = linear + grad + 2 * shrinkage * var - (new**0.5 - accum**0.5) / 0.1 * var
    weight = new**0.5 / 0.1 + 2 * 0.02
    return np.where(np.abs(linear) > 0.01, (np.sign(linear) * 0.01 - linear) / weight, 0), new, linear


SPARSE += [
    (ops.SparseApplyFtrlV2(0.1, 0.01, 0.02, 0.03, -0.5), shrunk_ftrl, True),
    (
        ops.SparseApplyCenteredRMSProp(),
        lambda var, mg, ms, mom, lr, rho, momentum, epsilon, grad: centered_rmsprop(
            var, mg, ms, mom, grad, lr, rho, momentum, epsilon
        ),
        True,
    ),
]


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def start(prim, rng, shape):
    """State (positive, since some rules take roots of it), as arrays by name."""
    state = {n: rng.uniform(0.5, 1.5, shape) for n in prim.state}
    if "stat" in state:  # a fresh start
        state["accum"], state["stat"] = np.zeros(shape), np.ones(shape)
    for name in ("mean_gradient", "mg"):  # its square must stay below the mean of squares
        if name in state:
            state[name] = rng.uniform(0.1, 0.2, shape)
    return state


def step_function(prim, mode):
    """One step, compiled in graph mode."""

    def step(*args):
        return prim(*args)

    return ms.jit(step) if mode == ms.GRAPH_MODE else step


def numbers(prim, names):
    return {n: NUMBERS[n] for n in prim.arguments if n not in names}


@pytest.mark.parametrize("prim,rule", DENSE, ids=[p.name for p, _ in DENSE])
def test_dense_rule(prim, rule, mode):
    rng = np.random.default_rng(3)
    state = start(prim, rng, (3, 2))
    params = {n: Parameter(Tensor(v.astype(np.float32)), name=n) for n, v in state.items()}
    fixed = numbers(prim, {*state, "grad"})
    step = step_function(prim, mode)
    for _ in range(2):
        grad = rng.normal(size=(3, 2))
        given = {**fixed, **params, "grad": Tensor(grad.astype(np.float32))}
        step(*(given[n] for n in prim.arguments))
        state = dict(zip(prim.state, rule(**state, **fixed, grad=grad)))
        for name, value in state.items():
            np.testing.assert_allclose(params[name].asnumpy(), value, 2e-5, 2e-6, err_msg=name)


@pytest.mark.parametrize("prim,rule,lazy", SPARSE, ids=[p.name for p, _, _ in SPARSE])
def test_sparse_rule(prim, rule, lazy, mode):
    rng = np.random.default_rng(4)
    state = start(prim, rng, (4, 2))
    params = {n: Parameter(Tensor(v.astype(np.float32)), name=n) for n, v in state.items()}
    fixed = numbers(prim, {*state, "grad", "indices"})
    rows, slices = np.array([1, 3], np.int32), rng.normal(size=(2, 2))
    given = {**fixed, **params, "grad": Tensor(slices.astype(np.float32)), "indices": Tensor(rows)}
    step_function(prim, mode)(*(given[n] for n in prim.arguments))
    whole = np.zeros((4, 2))
    whole[rows] = slices
    for name, new in zip(prim.state, rule(**state, **fixed, grad=whole)):
        expected = new if not lazy else np.where(np.isin(np.arange(4), rows)[:, None], new, state[name])
        np.testing.assert_allclose(params[name].asnumpy(), expected, 2e-5, 2e-6, err_msg=name)


def test_adam_without_update(mode):
    """AdamNoUpdateParam returns the step instead of taking it."""
    rng = np.random.default_rng(5)
    m, v, grad = (rng.uniform(0.5, 1.5, 3) for _ in range(3))
    fixed = {n: NUMBERS[n] for n in ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")}
    states = [Parameter(Tensor(x.astype(np.float32)), name=n) for n, x in (("m", m), ("v", v))]
    found = ops.AdamNoUpdateParam()(
        *states, *(Tensor(x, ms.float32) for x in fixed.values()), Tensor(grad.astype(np.float32))
    )
    expected, new_m, _ = adam(np.zeros(3), m, v, **fixed, grad=grad)
    np.testing.assert_allclose(found.asnumpy(), expected, 2e-5)
    np.testing.assert_allclose(states[0].asnumpy(), new_m, 2e-5)
