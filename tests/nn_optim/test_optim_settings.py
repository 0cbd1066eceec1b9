"""Every optimizer with and without weight decay, loss scale, groups and schedules, against its rule restated in NumPy."""

import numpy as np
import pytest
from test_optim_rules import adadelta, adagrad, adam, adamax, ftrl, momentum, proximal_adagrad, rmsprop

from mindspore import Parameter, Tensor, nn

STEPS = 4
SHAPES = ((3, 2), (4,))


def sgd(p, g, s, t, lr, m=0.0):
    s["v"] = m * s.get("v", 0) + g
    return p - lr * s["v"]


def rprop(p, g, s, t, lr, etas=(0.5, 1.2), sizes=(1e-6, 50.0)):
    """Steps grow while the gradient keeps its sign and shrink when it turns (Riedmiller & Braun 1993)."""
    turn = np.sign(g * s.get("g", np.zeros_like(g)))
    s["step"] = np.clip(s.get("step", lr) * np.select([turn > 0, turn < 0], [etas[1], etas[0]], 1.0), *sizes)
    g = np.where(turn < 0, 0, g)
    s["g"] = g
    return p - np.sign(g) * s["step"]


def asgd(p, g, s, t, lr, lambd=1e-4, alpha=0.75):
    """A step that shrinks with time; the average is kept beside (Polyak & Juditsky 1992)."""
    eta = s.get("eta", lr)
    p = p * (1 - lambd * eta) - eta * g
    s["eta"] = lr / (1 + lambd * lr * t) ** alpha
    return p


#: name: rule(p, g, state, t, lr), how to make it from parameters, rate and keywords
RULES = {
    "SGD": (sgd, lambda p, lr, **k: nn.SGD(p, lr, **k)),
    "SGD momentum": (lambda *a: sgd(*a, m=0.9), lambda p, lr, **k: nn.SGD(p, lr, momentum=0.9, **k)),
    "Momentum": (momentum, lambda p, lr, **k: nn.Momentum(p, lr, 0.9, **k)),
    "Adam": (adam, lambda p, lr, **k: nn.Adam(p, lr, **k)),
    "LazyAdam": (adam, lambda p, lr, **k: nn.LazyAdam(p, lr, **k)),
    "AdaMax": (adamax, lambda p, lr, **k: nn.AdaMax(p, lr, **k)),
    "Adagrad": (adagrad, lambda p, lr, **k: nn.Adagrad(p, learning_rate=lr, **k)),
    "RMSProp": (rmsprop, lambda p, lr, **k: nn.RMSProp(p, lr, **k)),
    "ProximalAdagrad": (
        lambda *a: proximal_adagrad(*a, l1=0.0, l2=0.0), lambda p, lr, **k: nn.ProximalAdagrad(p, learning_rate=lr, **k),
    ),
}  # fmt: skip
SETTINGS = {
    "plain": {}, "decay": {"weight_decay": 0.1}, "scale": {"loss_scale": 4.0},
    "both": {"weight_decay": 0.05, "loss_scale": 2.0},
}  # fmt: skip
SCHEDULES = {
    "constant": (lambda: 0.05, lambda t: 0.05),
    "list": (lambda: [0.1, 0.05, 0.02, 0.01], lambda t: [0.1, 0.05, 0.02, 0.01][t]),
    "exponential": (lambda: nn.ExponentialDecayLR(0.1, 0.5, 2), lambda t: 0.1 * 0.5 ** (t / 2)),
    "cosine": (lambda: nn.CosineDecayLR(0.01, 0.1, 4), lambda t: 0.01 + 0.045 * (1 + np.cos(np.pi * t / 4))),
}


def run(make, rule, decays, rates, scale=1.0, dtype=np.float32, tolerance=5e-4):
    """Take steps with the optimizer and with the rule, and compare all parameters after each."""
    rng = np.random.default_rng(17)
    values = [rng.normal(size=s) for s in SHAPES]
    params = [Parameter(Tensor(v.astype(dtype)), name=f"w{i}") for i, v in enumerate(values)]
    optimizer, states = make(params), [{} for _ in params]
    for t in range(STEPS):
        grads = [rng.normal(size=s) for s in SHAPES]
        optimizer(tuple(Tensor((g * scale).astype(dtype)) for g in grads))
        for i, (value, grad) in enumerate(zip(values, grads)):
            values[i] = rule(value, grad + decays[i] * value, states[i], t + 1, rates[i](t))
            np.testing.assert_allclose(params[i].asnumpy(), values[i], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", RULES)
def test_settings(name, setting, mode):
    rule, make = RULES[name]
    options = SETTINGS[setting]
    decay, scale = options.get("weight_decay", 0.0), options.get("loss_scale", 1.0)
    run(lambda p: make(p, 0.05, **options), rule, [decay] * 2, [lambda t: 0.05] * 2, scale)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "Adagrad", "RMSProp"])
def test_schedules(name, schedule, mode):
    rule, make = RULES[name]
    given, rate = SCHEDULES[schedule]
    run(lambda p: make(p, given()), rule, [0.0] * 2, [rate] * 2)


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdaMax", "RMSProp"])
def test_groups_have_their_own_rate_and_decay(name, mode):
    rule, make = RULES[name]

    def grouped(p):
        groups = [{"params": [p[0]], "lr": SCHEDULES["list"][0](), "weight_decay": 0.1}, {"params": [p[1]]}]
        return make(groups, 0.02)

    run(grouped, rule, [0.1, 0.0], [SCHEDULES["list"][1], lambda t: 0.02])


def test_the_order_of_parameters_can_be_given(mode):
    rule, make = RULES["Momentum"]

    def grouped(p):
        return make([{"params": [p[1]], "weight_decay": 0.1}, {"params": [p[0]]}, {"order_params": p}], 0.02)

    run(grouped, rule, [0.0, 0.1], [lambda t: 0.02] * 2)


def test_gradients_can_be_centred(mode):
    """grad_centralization takes the mean over all but the first dimension away; officially where 16 divides the second."""
    rng = np.random.default_rng(3)
    start, grad = rng.normal(size=(3, 16)).astype(np.float32), rng.normal(size=(3, 16)).astype(np.float32)
    parameter = Parameter(Tensor(start), name="w")
    nn.SGD([{"params": [parameter], "grad_centralization": True}], 0.5)((Tensor(grad),))
    expected = start - 0.5 * (grad - grad.mean(1, keepdims=True))
    np.testing.assert_allclose(parameter.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule,make", [(rprop, nn.Rprop), (asgd, nn.ASGD)], ids=["Rprop", "ASGD"])
def test_rules_with_a_step_of_their_own(rule, make, mode):
    run(lambda p: make(p, 0.1), rule, [0.0] * 2, [lambda t: 0.1] * 2)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_other_rules(decay, mode):
    run(
        lambda p: nn.Adadelta(p, 1.0, weight_decay=decay), lambda *a: adadelta(*a[:4]), [decay] * 2, [lambda t: 1.0] * 2
    )
    make = lambda p: nn.FTRL(p, learning_rate=0.1, l1=0.05, l2=0.02, weight_decay=decay)
    run(make, lambda *a: ftrl(*a[:4]), [decay] * 2, [lambda t: 0.1] * 2)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Momentum"])
def test_half_precision_takes_the_same_steps(name, mode):
    rule, make = RULES[name]
    run(lambda p: make(p, 0.05), rule, [0.0] * 2, [lambda t: 0.05] * 2, dtype=np.float16, tolerance=1e-2)
