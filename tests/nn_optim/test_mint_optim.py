"""The optimizers of `mint.optim`: their steps beside a NumPy restatement, and the state that checkpoints carry."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint

START = {"w": np.array([[1.0, -2.0], [0.5, 3.0]]), "b": np.array([0.25, -0.75])}
GRADS = [np.random.default_rng(3).normal(size=(3, 4)), np.random.default_rng(4).normal(size=(3, 2))]


def parameters():
    return [Parameter(Tensor(v.astype(np.float32)), name=k) for k, v in START.items()]


def run(optimizer):
    for w, b in zip(*GRADS):
        optimizer((Tensor(w.reshape(2, 2).astype(np.float32)), Tensor(b.astype(np.float32))))
    return [p.asnumpy() for p in optimizer.parameters]


def states(rule):
    out = []
    for value, grads in zip(START.values(), GRADS):
        state, x = {}, value.copy()
        for t, g in enumerate(grads, 1):
            x = rule(x, g.reshape(x.shape), t, state)
        out.append(x)
    return out


def sgd(momentum=0.0, dampening=0.0, decay=0.0, nesterov=False, sign=1):
    def rule(x, g, t, state):
        g = sign * g + decay * x
        v = state["v"] = g if t == 1 else momentum * state["v"] + (1 - dampening) * g
        step = g if momentum == 0 else g + momentum * v if nesterov else v
        return x - 0.1 * step

    return rule


def adam(decay=0.0, decoupled=False, amsgrad=False, eps=1e-3):
    def rule(x, g, t, state):
        if decoupled:
            x = x * (1 - 0.1 * decay)
        else:
            g = g + decay * x
        m = state["m"] = 0.8 * state.get("m", 0) + 0.2 * g
        v = state["v"] = 0.9 * state.get("v", 0) + 0.1 * g * g
        if amsgrad:
            v = state["top"] = np.maximum(state.get("top", 0), v)
        return x - 0.1 / (1 - 0.8**t) * m / (np.sqrt(v) / np.sqrt(1 - 0.9**t) + eps)

    return rule


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(
    "made, rule",
    [
        (lambda p: mint.optim.SGD(p, lr=0.1), sgd()),
        (lambda p: mint.optim.SGD(p, 0.1, 0.9, 0.3, 0.01), sgd(0.9, 0.3, 0.01)),
        (
            lambda p: mint.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, maximize=True),
            sgd(0.9, nesterov=True, sign=-1),
        ),
        (lambda p: mint.optim.Adam(p, 0.1, (0.8, 0.9), 1e-3, 0.1), adam(0.1)),
        (lambda p: mint.optim.AdamW(p, 0.1, (0.8, 0.9), 1e-3, 0.1), adam(0.1, decoupled=True)),
        (lambda p: mint.optim.FusedAdamW(p, 0.1, (0.8, 0.9), 1e-3, 0.1, True), adam(0.1, True, True)),
    ],
)
def test_steps(mode, made, rule):
    ms.set_context(mode=mode)
    for found, wanted in zip(run(made(parameters())), states(rule)):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def test_state_in_checkpoints():
    optimizer = mint.optim.SGD(parameters(), 0.1, momentum=0.9)
    run(optimizer)
    state = optimizer.parameters_dict()
    assert sorted(state) == ["b", "momentum_buf.b", "momentum_buf.w", "step_t", "w"]
    assert state["step_t"].asnumpy() == 3
    for kind, last in ((mint.optim.Adam, 3.0), (mint.optim.AdamW, 2.0)):
        optimizer = kind(parameters(), 0.1)
        run(optimizer)
        state = optimizer.parameters_dict()
        assert sorted(state) == sorted(
            ["w", "b", "exp_avg.w", "exp_avg.b", "exp_avg_sq.w", "exp_avg_sq.b", "state_step"]
        )
        assert state["state_step"].shape == (1,) and state["state_step"].asnumpy().item() == last


def test_amsgrad_of_one_group():
    w, b = parameters()
    optimizer = mint.optim.Adam([{"params": [w]}], 0.1, (0.8, 0.9), 1e-3)
    optimizer.add_param_group({"params": [b], "amsgrad": True})
    assert "max_exp_avg_sq.b" in optimizer.parameters_dict()
    found = run(optimizer)
    np.testing.assert_allclose(found[0], states(adam())[0], rtol=2e-5)
    np.testing.assert_allclose(found[1], states(adam(amsgrad=True))[1], rtol=2e-5)
