"""Learning rates as lists and as cells, against MindSpore 2.10 and against each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optim_cases import OFFICIAL

import mindspore as ms
from mindspore import Tensor, nn

LISTS = {
    "piecewise": lambda: nn.piecewise_constant_lr([2, 5], [0.1, 0.05]),
    "exponential": lambda: nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2),
    "exponential_stair": lambda: nn.exponential_decay_lr(0.1, 0.9, 10, 2, 2, True),
    "natural": lambda: nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2),
    "natural_stair": lambda: nn.natural_exp_decay_lr(0.1, 0.9, 10, 2, 2, True),
    "inverse": lambda: nn.inverse_decay_lr(0.1, 0.5, 6, 2, 2),
    "inverse_stair": lambda: nn.inverse_decay_lr(0.1, 0.5, 10, 2, 2, True),
    "cosine": lambda: nn.cosine_decay_lr(0.01, 0.1, 8, 2, 3),
    "polynomial": lambda: nn.polynomial_decay_lr(0.1, 0.01, 9, 2, 3, 0.5),
    "polynomial_up": lambda: nn.polynomial_decay_lr(0.1, 0.01, 9, 2, 3, 0.5, True),
    "warmup": lambda: nn.warmup_lr(0.1, 8, 2, 3),
}
CELLS = {
    "exponential": lambda: nn.ExponentialDecayLR(0.1, 0.9, 3),
    "exponential_stair": lambda: nn.ExponentialDecayLR(0.1, 0.9, 3, True),
    "natural": lambda: nn.NaturalExpDecayLR(0.1, 0.9, 3),
    "natural_stair": lambda: nn.NaturalExpDecayLR(0.1, 0.9, 3, True),
    "inverse": lambda: nn.InverseDecayLR(0.1, 0.5, 3),
    "inverse_stair": lambda: nn.InverseDecayLR(0.1, 0.5, 3, True),
    "cosine": lambda: nn.CosineDecayLR(0.01, 0.1, 4),
    "polynomial": lambda: nn.PolynomialDecayLR(0.1, 0.01, 3, 0.5),
    "polynomial_up": lambda: nn.PolynomialDecayLR(0.1, 0.01, 3, 0.5, True),
    "warmup": lambda: nn.WarmUpLR(0.1, 4),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists(name):
    assert LISTS[name]() == pytest.approx(OFFICIAL["lists"][name], rel=1e-7)


@pytest.mark.parametrize("name", CELLS)
def test_cells(name, mode):
    schedule = CELLS[name]()
    got = [schedule(Tensor(step, ms.int32)).asnumpy().item() for step in range(8)]
    np.testing.assert_allclose(got, OFFICIAL["cells"][name], rtol=2e-6, atol=2e-8)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 6))
def test_cosine_lists_stay_in_range_and_are_constant_in_an_epoch(total, per_epoch, decay):
    rates = nn.cosine_decay_lr(0.01, 0.1, total, per_epoch, decay)
    assert len(rates) == total
    for step, rate in enumerate(rates):
        epoch = min(step // per_epoch, decay)
        assert rate == pytest.approx(0.01 + 0.045 * (1 + math.cos(math.pi * epoch / decay)))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.piecewise_constant_lr(2, [0.1]), TypeError),
        (lambda: nn.piecewise_constant_lr([2], [0.1, 0.2]), ValueError),
        (lambda: nn.piecewise_constant_lr([4, 2], [0.1, 0.2]), ValueError),
        (lambda: nn.piecewise_constant_lr([2], [1]), TypeError),
        (lambda: nn.exponential_decay_lr(0, 0.9, 6, 2, 2), TypeError),
        (lambda: nn.exponential_decay_lr(-0.1, 0.9, 6, 2, 2), ValueError),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 0, 2, 2), ValueError),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 6.0, 2, 2), TypeError),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, 1), TypeError),
        (lambda: nn.cosine_decay_lr(0.1, 0.1, 6, 2, 2), ValueError),
        (lambda: nn.cosine_decay_lr(0, 0.1, 6, 2, 2), TypeError),
        (lambda: nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, -0.5), ValueError),
        (lambda: nn.warmup_lr(1, 6, 2, 2), TypeError),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 0), ValueError),
        (lambda: nn.CosineDecayLR(0.2, 0.1, 4), ValueError),
        (lambda: nn.PolynomialDecayLR(0.1, 1, 4, 0.5), TypeError),
        (lambda: nn.WarmUpLR(0.1, 1.5), TypeError),
    ],
)
def test_arguments_that_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_schedules_of_users(mode):
    class WarmThenCosine(nn.LearningRateSchedule):
        def __init__(self):
            super().__init__()
            self.warm = nn.WarmUpLR(0.1, 2)
            self.cool = nn.CosineDecayLR(0.0, 0.1, 4)

        def construct(self, global_step):
            if global_step < 2:
                return self.warm(global_step)
            return self.cool(global_step)

    schedule = WarmThenCosine()
    got = [schedule(Tensor(step, ms.int32)).asnumpy().item() for step in range(5)]
    assert got == pytest.approx([0.0, 0.05, 0.05, 0.05 * (1 + math.cos(0.75 * math.pi)), 0.0], abs=1e-7)
