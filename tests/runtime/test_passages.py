"""Backward passes and optimizers' updates that are noted as a whole, against the same on NumPy, where nothing is noted."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.runtime import devices, passages
from mindspore.runtime.device_kinds import DeferringCpu

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True, params=["accelerator", "host"])
def device(request):
    saved = devices.current()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    if request.param == "host":
        devices.use(DeferringCpu("CPU", blocking=False))
    else:
        devices.use(devices.XlaDevice("GPU", jax.devices("cpu")[0]))
    yield devices.current()
    devices.use(saved)


@pytest.fixture
def noted(monkeypatch):
    """The passages that are noted again, as they are."""
    found = []
    again = passages.Passages.again

    def watched(self, cause):
        results = again(self, cause)
        found.append(results is not None)
        return results

    monkeypatch.setattr(passages.Passages, "again", watched)
    return found


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def agrees_with_numpy(function):
    """`function()` gives arrays; what it gives where operations run at once on the host."""
    found, saved = function(), devices.current()
    devices.use(devices.NumpyDevice())
    try:
        expected = function()
    finally:
        devices.use(saved)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 6, weight_init=Tensor(random(6, 4, seed=1)), has_bias=False)
        self.norm = nn.BatchNorm1d(6)
        self.last = nn.Dense(6, 3, weight_init=Tensor(random(3, 6, seed=2)))
        self.hooks = []

    def construct(self, x):
        hidden = self.norm(self.first(x))
        for hook in self.hooks:
            hidden.register_hook(hook)
        return self.last(ops.tanh(hidden) + hidden)


def train(steps, between=lambda step, net, optimizer: None, optimizer=lambda p: nn.Momentum(p, 0.1, 0.9)):
    ms.set_seed(1)
    net = Network().set_train()
    optimizer = optimizer(net.trainable_params())
    step = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)
    losses = []
    for n in range(steps):
        between(n, net, optimizer)
        loss, grads = step(Tensor(random(5, 4, seed=n)), Tensor(np.arange(5, dtype=np.int32) % 3))
        optimizer(grads)
        losses.append(loss)
    return [v.asnumpy() for v in (*losses, *net.get_parameters(), *optimizer.get_parameters())]


OPTIMIZERS = {
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9),
    "SGD": lambda p: nn.SGD(p, 0.1, momentum=0.5, weight_decay=0.01),
    "Adam": lambda p: nn.Adam(p, nn.exponential_decay_lr(0.1, 0.5, 40, 1, 1)),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "RMSProp": lambda p: nn.RMSProp(p, 0.01, centered=True),
    "Lamb": lambda p: nn.Lamb(p, 0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_agrees_with_numpy(name, noted):
    agrees_with_numpy(lambda: train(4, optimizer=OPTIMIZERS[name]))
    # backward passes after the first, and steps of the optimizer after the second: moments were on the host till then
    assert sum(noted) == (3 if name == "Lamb" else 5)


def test_programs_are_those_of_operations_noted_one_by_one(device, monkeypatch):
    def programs():
        train(5)
        made = {id(p): p for p in device.engine._plans.values()}.values()
        found = [(p.wanted, len(p.steps)) for p in made if p.program is not None]
        device.engine._plans.clear()
        return found

    programs()  # constants of the first steps have become inputs
    as_passages = programs()
    monkeypatch.setattr(passages.Passages, "again", lambda self, cause: None)
    assert as_passages == programs() and as_passages


def test_the_same_operations_on_other_values_are_another_passage(noted):
    functions = [
        lambda a, b: (a * b + a * a).sum(),
        lambda a, b: (a * b + a * b).sum(),
        lambda a, b: (a * b + b * b).sum(),
        lambda a, b: (a * b + b * a).sum(),
        lambda a, b: ((a * b) * (a * b)).sum() + (b * b).sum(),
        lambda a, b: ((a * b) * (b * b)).sum() + (a * a).sum(),
    ]

    def all_of_them():
        found = []
        for turn in range(3):
            for function in functions:
                for positions in ((0, 1), (1, 0), 0, 1):
                    given = Tensor(random(3, seed=turn)), Tensor(random(3, seed=turn + 5))
                    grads = ms.grad(function, positions)(*given)
                    found += [g.asnumpy() for g in (grads if isinstance(grads, tuple) else (grads,))]
        return found

    agrees_with_numpy(all_of_them)
    assert sum(noted) >= 2 * 4 * len(functions)


def test_one_tensor_given_twice_and_results_that_are_arguments():
    def run():
        found = []
        for n in range(6):
            a, b = Tensor(random(3, seed=n)), Tensor(random(3, seed=n + 9))
            second = a if n % 2 else b
            found += ms.grad(lambda u, v: (u * u * v).sum(), (0, 1))(a, second)
            found += ms.vjp(lambda u, v: (u, u * v, v), a, second)[1](a, b, a)
            found += ms.grad(lambda u, v: (u, u, v), (0, 1))(a, second)
        return [g.asnumpy() for g in found]

    agrees_with_numpy(run)


def test_a_hook_that_comes_later_is_run():
    def between(step, net, optimizer):
        net.hooks = [lambda g: g * 3] if step in (3, 4) else []

    agrees_with_numpy(lambda: train(6, between))


def test_hooks_of_weights_are_run():
    def between(step, net, optimizer):
        if step == 3:
            net.first.weight.register_hook(lambda g: g * 2)

    agrees_with_numpy(lambda: train(6, between))


def test_weights_are_frozen_and_thawed():
    def between(step, net, optimizer):
        net.first.weight.requires_grad = step not in (2, 3)

    agrees_with_numpy(lambda: train(6, between))


def test_weights_that_come_from_elsewhere():
    def between(step, net, optimizer):
        if step == 3:
            net.last.weight.set_data(Tensor(random(3, 6, seed=7)))
            net.last.bias.set_data(ops.zeros_like(net.last.bias) + 1)

    agrees_with_numpy(lambda: train(6, between))


@pytest.mark.parametrize("shared_at", [0, 2])
def test_weights_that_share_an_array_at_times(shared_at):
    def run():
        a, b = (Parameter(Tensor(random(3, seed=n)), name=f"p{n}") for n in range(2))
        optimizer = nn.SGD([a, b], 0.1)
        step = ms.grad(lambda x: (a * x).sum() + (b * b * x).sum(), None, optimizer.parameters)
        found = []
        for n in range(6):
            if n == shared_at:
                b.set_data(a.value())
            optimizer(step(Tensor(random(3, seed=n))))
            found += [a.asnumpy(), b.asnumpy()]
        return found

    agrees_with_numpy(run)


def test_a_weight_written_to_in_the_forward_pass():
    def run():
        p = Parameter(Tensor(random(3)), name="p")

        def function(x):
            first = (p * x).sum()
            ops.assign_add(p, x)
            return first + (p * x * x).sum()

        found = []
        for n in range(4):
            x = Tensor(random(3, seed=n))
            grads = ms.grad(function, 0, [p])(x)
            found += [grads[0].asnumpy(), grads[1][0].asnumpy(), p.asnumpy()]
        return found

    agrees_with_numpy(run)


def test_derivatives_of_derivatives_go_one_by_one():
    def run():
        inner = ms.grad(lambda u: (u * u * u * ops.sin(u)).sum())
        outer = ms.grad(lambda v: (inner(v) * v).sum())
        return [outer(Tensor(random(4, seed=n))).asnumpy() for n in range(4)]

    agrees_with_numpy(run)


class Halves(ops.Primitive):
    """An operation of a user, whose rule counts its calls."""

    calls = 0

    def infer(self, x):
        return x

    def eval(self, xp, x):
        return x / 2

    effect = "random"

    def bprop(self, x, out, dout):
        type(self).calls += 1
        return (dout / 2,)


def test_rules_in_python_are_asked_each_time():
    Halves.calls = 0
    halves = Halves()
    for n in range(4):
        grad = ms.grad(lambda x: (halves(x) * x).sum())(Tensor(random(3, seed=n)))
        np.testing.assert_allclose(grad.asnumpy(), random(3, seed=n), rtol=1e-6)
    assert Halves.calls == 4


def test_what_does_not_fit_is_run_in_parts(device, monkeypatch):
    train(3)
    monkeypatch.setattr(device, "longest", 40)
    agrees_with_numpy(lambda: train(4))


def test_an_error_between_updates_leaves_those_before_it():
    class Breaks(nn.Momentum):
        def update(self, index, parameter, gradient, lr):
            if index == 2 and parameter.broken:
                raise RuntimeError("broken")
            super().update(index, parameter, gradient, lr)

        update.is_one_rule = True

    weights = [Parameter(Tensor(random(3, seed=n)), name=f"w{n}") for n in range(4)]
    for w in weights:
        w.broken = False
    optimizer = Breaks(weights, 0.5, 0.0)
    ones = tuple(Tensor(np.ones(3, np.float32)) for _ in weights)
    optimizer(ones)
    optimizer(ones)
    weights[2].broken = True
    with pytest.raises(RuntimeError, match="broken"):
        optimizer(ones)
    for n, w in enumerate(weights):
        np.testing.assert_allclose(w.asnumpy(), random(3, seed=n) - 0.5 * (3 if n < 2 else 2), rtol=1e-6)


def test_no_more_than_so_many_are_kept(device, monkeypatch):
    monkeypatch.setattr(passages, "MOST_PASSAGES", 4)
    for size in range(2, 12):
        x = Tensor(random(size))
        np.testing.assert_allclose(ms.grad(lambda v: (v * v * v).sum())(x).asnumpy(), 3 * random(size) ** 2, rtol=1e-5)
    assert len(device.engine.passages._known) == 4
