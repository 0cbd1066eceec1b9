"""Schedulers of experimental.optim, and its parameter groups."""

import numpy as np
import optim_cases as cases
import pytest
from optim_cases import OFFICIAL, parameters

import mindspore as ms
from mindspore import Parameter, Tensor
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler


def sgd(lr=0.1):
    return optim.SGD(list(parameters().values()), lr=lr)


def rates(scheduler, steps, step=None):
    found = [scheduler.get_last_lr()[0].asnumpy().item()]
    for _ in range(steps):
        (step or scheduler.step)()
        found.append(scheduler.get_last_lr()[0].asnumpy().item())
    return found


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("case", cases.SCHEDULERS)
def test_schedulers(case, compiled):
    scheduler = getattr(lr_scheduler, case.partition("_")[0])(sgd(), **cases.SCHEDULERS[case])
    step = ms.jit(lambda: scheduler.step()) if compiled else None
    assert rates(scheduler, 8, step) == pytest.approx(OFFICIAL["schedulers"][case], rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("case", [c for c in cases.SCHEDULERS if not c.startswith("Cyclic")])
def test_jumping_to_an_epoch_gives_its_rate(case):
    scheduler = getattr(lr_scheduler, case)(sgd(), **cases.SCHEDULERS[case])
    if case == "ExponentialLR":
        scheduler.step()
    for epoch in (5, 3, 0):
        scheduler.step(epoch)
        expected = OFFICIAL["schedulers"][case][epoch]
        assert scheduler.get_last_lr()[0].asnumpy().item() == pytest.approx(expected, rel=1e-4, abs=1e-8)


def test_functions_of_the_epoch():
    optimizer = optim.SGD([{"params": [p]} for p in parameters().values()], lr=0.1)
    lr_scheduler.LambdaLR(optimizer, [lambda e: 0.5**e, lambda e: 1.0 / (e + 1)]).step()
    assert [g["lr"].asnumpy().item() for g in optimizer.param_groups] == pytest.approx([0.05, 0.05])
    scheduler = lr_scheduler.MultiplicativeLR(sgd(), lambda e: 0.5)
    assert rates(scheduler, 3) == pytest.approx([0.1, 0.05, 0.025, 0.0125])


def test_one_scheduler_after_the_other():
    optimizer = sgd()
    first = lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=2)
    second = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    scheduler = lr_scheduler.SequentialLR(optimizer, [first, second], [2])
    assert rates(scheduler, 4) == pytest.approx([0.01, 0.01, 0.1, 0.05, 0.025])
    with pytest.raises(ValueError, match="another optimizer"):
        lr_scheduler.SequentialLR(sgd(), [first, second], [2])
    with pytest.raises(ValueError, match="one scheduler more"):
        lr_scheduler.SequentialLR(optimizer, [first, second], [2, 3])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_plateau_lowers_the_rate(compiled):
    scheduler = lr_scheduler.ReduceLROnPlateau(sgd(), "min", factor=0.5, patience=1, cooldown=1, min_lr=0.03)
    step = ms.jit(lambda m: scheduler.step(m)) if compiled else scheduler.step
    found = []
    for metric in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.1):
        step(Tensor(metric, ms.float32))
        found.append(scheduler.get_last_lr()[0].asnumpy().item())
    assert found == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.03, 0.03, 0.03])


def test_a_plateau_of_a_metric_to_maximise():
    scheduler = lr_scheduler.ReduceLROnPlateau(sgd(), "max", patience=0, threshold=0.5, threshold_mode="abs")
    for metric, expected in ((1.0, 0.1), (1.6, 0.1), (1.9, 0.01), (2.2, 0.01)):
        scheduler.step(metric)
        assert scheduler.get_last_lr()[0].asnumpy().item() == pytest.approx(expected)
    for wrong in ({"mode": "mean"}, {"factor": 1.0}, {"threshold_mode": "x"}, {"min_lr": [0.1, 0.1]}):
        with pytest.raises(ValueError):
            lr_scheduler.ReduceLROnPlateau(sgd(), **wrong)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda o: lr_scheduler.StepLR(o, 2.0), TypeError),
        (lambda o: lr_scheduler.StepLR("o", 2), TypeError),
        (lambda o: lr_scheduler.StepLR(o, 2, last_epoch=-2), ValueError),
        (lambda o: lr_scheduler.StepLR(o, 2, last_epoch=3), KeyError),
        (lambda o: lr_scheduler.MultiStepLR(o, (1, 2)), TypeError),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=0), ValueError),
        (lambda o: lr_scheduler.ConstantLR(o, factor=2.0), ValueError),
        (lambda o: lr_scheduler.PolynomialLR(o, power=-1.0), ValueError),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 2.5), TypeError),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, mode="square"), ValueError),
        (lambda o: lr_scheduler.CyclicLR(o, [0.1, 0.1], 0.2), ValueError),
        (lambda o: lr_scheduler.LambdaLR(o, [abs, abs]), ValueError),
        (lambda o: optim.SGD([Parameter(Tensor(1.0), name="p")], lr=-0.1), ValueError),
        (lambda o: optim.SGD([Parameter(Tensor(1.0), name="p")], lr="0.1"), TypeError),
        (lambda o: optim.SGD([], lr=0.1), ValueError),
        (lambda o: optim.Adam(3), TypeError),
        (lambda o: optim.Adam([Parameter(Tensor(1.0), name="p")], betas=(1.0, 0.9)), ValueError),
        (lambda o: o.add_param_group([1]), TypeError),
        (lambda o: o.add_param_group({"params": {1}}), TypeError),
        (lambda o: o.add_param_group({"params": list(o.parameters)}), ValueError),
    ],
)
def test_arguments_that_are_refused(make, error):
    with pytest.raises(error):
        make(sgd())


def test_groups_have_settings_of_their_own_and_can_be_added(mode):
    w, b = parameters().values()
    optimizer = optim.SGD([{"params": w, "lr": 0.5}], lr=0.1, momentum=0.9)
    optimizer((Tensor(np.ones((2, 3), np.float32)),))
    optimizer.add_param_group({"params": [b], "maximize": True})
    before = [p.asnumpy() for p in (w, b)]
    optimizer((Tensor(np.zeros((2, 3), np.float32)), Tensor(np.ones(3, np.float32))))
    np.testing.assert_allclose(w.asnumpy(), before[0] - 0.5 * 0.9, rtol=1e-6)
    np.testing.assert_allclose(b.asnumpy(), before[1] + 0.1, rtol=1e-6)
    assert {"accum.w", "accum.norm.beta"} <= set(optimizer.parameters_dict())
    assert "Parameter Group 1" in repr(optimizer)


def test_a_plain_number_may_take_the_place_of_the_rate():
    w, b = parameters().values()
    optimizer = optim.SGD([w, b], lr=0.1)
    optimizer.param_groups[0]["lr"] = 1.0
    before = b.asnumpy()
    optimizer((Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones(3, np.float32))))
    np.testing.assert_allclose(b.asnumpy(), before - 1.0)
