"""Update rules as published, restated in NumPy (float64), step by step on random gradients."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn

STEPS = 5


def momentum(p, g, s, t, lr=0.1, m=0.9, nesterov=False):
    s["v"] = m * s.get("v", 0) + g
    return p - lr * (g + m * s["v"] if nesterov else s["v"])


def adam(p, g, s, t, lr=0.01, b1=0.9, b2=0.999, eps=1e-8):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    return p - lr * np.sqrt(1 - b2**t) / (1 - b1**t) * s["m"] / (np.sqrt(s["v"]) + eps)


def adam_weight_decay(p, g, s, t, lr=0.01, b1=0.9, b2=0.999, eps=1e-6, decay=0.1):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    return p - lr * (s["m"] / (np.sqrt(s["v"]) + eps) + decay * p)


def adamax(p, g, s, t, lr=0.01, b1=0.9, b2=0.999, eps=1e-8):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["u"] = np.maximum(b2 * s.get("u", 0), abs(g))
    return p - lr / (1 - b1**t) * s["m"] / (s["u"] + eps)


def lamb(p, g, s, t, lr=0.1, b1=0.9, b2=0.999, eps=1e-6, decay=0.1):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    update = s["m"] / (1 - b1**t) / (np.sqrt(s["v"] / (1 - b2**t)) + eps) + decay * p
    return p - lr * np.linalg.norm(p) / np.linalg.norm(update) * update


def adagrad(p, g, s, t, lr=0.1, accum=0.1, grow=True):
    s["a"] = s.get("a", accum) + (g * g if grow else 0)
    return p - lr * g / np.sqrt(s["a"])


def rmsprop(p, g, s, t, lr=0.1, decay=0.9, eps=1e-10):
    s["a"] = decay * s.get("a", 1) + (1 - decay) * g * g
    return p - lr * g / np.sqrt(s["a"] + eps)


def adadelta(p, g, s, t, rho=0.9, eps=1e-6):
    s["a"] = rho * s.get("a", 0) + (1 - rho) * g * g
    step = np.sqrt(s.get("u", 0) + eps) / np.sqrt(s["a"] + eps) * g
    s["u"] = rho * s.get("u", 0) + (1 - rho) * step**2
    return p - step


def ftrl(p, g, s, t, lr=0.1, l1=0.05, l2=0.02, accum=0.1):
    old = s.get("n", accum)
    s["n"] = old + g * g
    s["z"] = s.get("z", 0) + g - (np.sqrt(s["n"]) - np.sqrt(old)) / lr * p
    return np.where(abs(s["z"]) > l1, (np.sign(s["z"]) * l1 - s["z"]) / (np.sqrt(s["n"]) / lr + 2 * l2), 0)


def proximal_adagrad(p, g, s, t, lr=0.1, l1=0.05, l2=0.1):
    s["a"] = s.get("a", 0.1) + g * g
    rate = lr / np.sqrt(s["a"])
    ahead = p - rate * g
    return np.sign(ahead) * np.maximum(abs(ahead) - rate * l1, 0) / (1 + rate * l2)


def lars(p, g, s, t, coefficient=0.02, decay=0.01, eps=1e-5):
    size, slope = np.linalg.norm(p), np.linalg.norm(g)
    ratio = coefficient * size / (slope + decay * size + eps)
    return momentum(p, (g + decay * p) * ratio, s, t)


RULES = {
    "Momentum": (momentum, lambda p: nn.Momentum(p, 0.1, 0.9)),
    "Nesterov": (
        lambda *a: momentum(*a, nesterov=True),
        lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True),
    ),
    "Adam": (adam, lambda p: nn.Adam(p, 0.01)),
    "LazyAdam": (adam, lambda p: nn.LazyAdam(p, 0.01)),
    "AdamOffload": (adam, lambda p: nn.AdamOffload(p, 0.01)),
    "AdamWeightDecay": (adam_weight_decay, lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1)),
    "AdaMax": (adamax, lambda p: nn.AdaMax(p, 0.01)),
    "Lamb": (lamb, lambda p: nn.Lamb(p, 0.1, weight_decay=0.1)),
    "Adagrad": (adagrad, lambda p: nn.Adagrad(p, learning_rate=0.1)),
    "Adagrad fixed": (lambda *a: adagrad(*a, grow=False), lambda p: nn.Adagrad(p, 0.1, 0.1, update_slots=False)),
    "RMSProp": (rmsprop, lambda p: nn.RMSProp(p, 0.1)),
    "Adadelta": (adadelta, lambda p: nn.Adadelta(p)),
    "FTRL": (ftrl, lambda p: nn.FTRL(p, learning_rate=0.1, l1=0.05, l2=0.02)),
    "ProximalAdagrad": (proximal_adagrad, lambda p: nn.ProximalAdagrad(p, learning_rate=0.1, l1=0.05, l2=0.1)),
    "LARS": (lars, lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9, weight_decay=0.01), coefficient=0.02)),
}


@pytest.mark.parametrize("name", RULES)
def test_steps_follow_the_published_rule(name, mode):
    rule, make = RULES[name]
    rng = np.random.default_rng(7)
    values = [rng.normal(size=shape) for shape in ((4, 3), (5,), (2, 1, 2))]
    params = [Parameter(Tensor(v.astype(np.float32)), name=f"p{i}") for i, v in enumerate(values)]
    optimizer, states = make(params), [{} for _ in params]
    for t in range(1, STEPS + 1):
        grads = [rng.normal(size=v.shape) for v in values]
        optimizer(tuple(Tensor(g.astype(np.float32)) for g in grads))
        values = [rule(v, g, s, t) for v, g, s in zip(values, grads, states)]
        for parameter, value in zip(params, values):
            np.testing.assert_allclose(parameter.asnumpy(), value, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("make", [make for _, make in RULES.values()], ids=list(RULES))
def test_half_precision_parameters_keep_their_type(make):
    parameter = Parameter(Tensor(np.ones(4), ms.float16), name="p")
    make([parameter])((Tensor(np.full(4, 0.5), ms.float16),))
    assert parameter.dtype is ms.float16
    assert (parameter.asnumpy() < 1).all()


def test_lamb_takes_the_plain_direction_where_a_norm_is_zero(mode):
    parameter = Parameter(Tensor(np.zeros(3, np.float32)), name="p")
    nn.Lamb([parameter], 0.1)((Tensor(np.array([1.0, -2.0, 0.0], np.float32)),))
    np.testing.assert_allclose(parameter.asnumpy(), [-0.1, 0.1, 0.0], atol=1e-5)


def test_lars_filter_keeps_gradients_and_clip_bounds_the_rate(mode):
    params = [Parameter(Tensor(np.ones(2, np.float32)), name=n) for n in ("weight", "bias")]
    optimizer = nn.LARS(nn.SGD(params, 0.1), coefficient=50.0, use_clip=True)
    optimizer((Tensor(np.ones(2, np.float32)),) * 2)
    np.testing.assert_allclose(params[0].asnumpy(), 0.9, rtol=1e-5)  # 50 / 0.1 clipped to 1
    np.testing.assert_allclose(params[1].asnumpy(), 0.9, rtol=1e-5)
