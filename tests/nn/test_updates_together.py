"""Optimizers in PyNative mode: the updates of all parameters are made by one kernel, to the bits they have one by one."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.runtime import eager_kernels

SHAPES = ((3, 4), (7,), (200, 200), (5, 1, 2, 2), ())
STEPS = 12
OPTIMIZERS = {
    "momentum": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01),
    "nesterov": lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True),
    "schedule": lambda p: nn.Momentum(p, [0.1, 0.05, 0.02] * STEPS, 0.9),
    "sgd": lambda p: nn.SGD(p, 0.1, 0.9),
    "plain": lambda p: nn.SGD(p, 0.1),
    "adam": lambda p: nn.Adam(p, 0.01),
    "amsgrad": lambda p: nn.Adam(p, 0.01, use_amsgrad=True),
    "adam_nesterov": lambda p: nn.Adam(p, 0.01, use_nesterov=True),
    "adamw": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "rmsprop": lambda p: nn.RMSProp(p, 0.01, momentum=0.5),
    "centered": lambda p: nn.RMSProp(p, 0.01, centered=True),
}  # fmt: skip


@pytest.fixture(autouse=True)
def pynative():
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        yield


def parameters(shapes=SHAPES):
    rng = np.random.default_rng(1)
    return [Parameter(Tensor(rng.standard_normal(s).astype(np.float32)), name=f"p{i}") for i, s in enumerate(shapes)]


def gradients(shapes=SHAPES):
    rng = np.random.default_rng(2)
    for _ in range(STEPS):
        found = [rng.standard_normal(s).astype(np.float32) for s in shapes]
        found[0][0] = np.inf if rng.random() < 0.2 else found[0][0]
        yield [Tensor(g) for g in found]


def kernels_for_updates():
    found = eager_kernels.kernels()
    return [k for key, k in found.by_key.items() if key[0] == "updates" and k.kernel is not None] if found else None


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_bits_as_one_by_one(name):
    joint, apart = parameters(), parameters()
    optimizer = OPTIMIZERS[name](joint)
    alone = [OPTIMIZERS[name]([p]) for p in apart]
    for step in gradients():
        optimizer(tuple(step))
        for each, gradient in zip(alone, step):
            each((gradient,))
    made = kernels_for_updates()
    assert made is None or len(made) == 1, "the step became one kernel"
    for a, b in zip(joint, apart):
        np.testing.assert_array_equal(a.asnumpy().view(np.int32), b.asnumpy().view(np.int32))
    assert np.isnan(joint[0].asnumpy()[0]).any() or not np.isfinite(joint[0].asnumpy()[0]).all()


def test_an_update_of_ones_own_has_its_result_at_once():
    class Noting(nn.Momentum):
        def update(self, index, parameter, gradient, lr):
            out = self.opt(parameter, self.moments[index], lr, gradient, self.momentum)
            np.testing.assert_array_equal(out.asnumpy(), parameter.asnumpy())

    params = parameters()
    optimizer = Noting(params, 0.1, 0.9)
    for step in gradients():
        before = params[1].asnumpy().copy()
        optimizer(tuple(step))
        assert (params[1].asnumpy() != before).any()


def test_a_gradient_that_does_not_fit_is_named():
    optimizer = nn.Momentum(parameters(), 0.1, 0.9)
    for step in gradients():
        optimizer(tuple(step))
    step[1] = Tensor(np.ones(3, np.float32))
    with pytest.raises((TypeError, ValueError), match="'grad' must have the shape of 'var'"):
        optimizer(tuple(step))


def test_half_types_and_several_at_once():
    """float16 parameters beside float32 ones: those steps are made one by one."""
    params = [Parameter(Tensor(np.ones(4, np.float16)), name="h"), Parameter(Tensor(np.ones(4, np.float32)), name="f")]
    optimizer = nn.SGD(params, 0.5)
    for _ in range(STEPS):
        optimizer((Tensor(np.full(4, 0.25, np.float16)), Tensor(np.full(4, 0.25, np.float32))))
    for p in params:
        np.testing.assert_array_equal(p.asnumpy(), np.full(4, 1 - 0.125 * STEPS, p.asnumpy().dtype))
