"""Learning rates that follow a rule: as cells, computed from the step inside the training graph, and as lists made before training.

Each rule is written once, as a formula of how much of the decay has passed, and has two forms. The cell counts steps
(derive from `LearningRateSchedule` for a rule of your own); the function gives one value per step, all steps of an epoch
(`step // step_per_epoch`) having the same rate. An optimizer takes both as its `learning_rate` (`optim/rates.py`).
Schedulers that change an optimizer between epochs are in `experimental/optim/lr_scheduler.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn import checks as check
from mindspore.nn.cell import Cell

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


# -- the rules, for numbers and tensors alike --------------------------------------------------------------------------------
def _exponential(rate: float, decay: float, periods: Any) -> Any:
    return rate * decay**periods


def _natural_exponential(exp: Callable[[Any], Any], rate: float, decay: float, passed: Any) -> Any:
    return rate * exp(-decay * passed)


def _inverse(rate: float, decay: float, periods: Any) -> Any:
    return rate / (1.0 + decay * periods)


def _cosine(cos: Callable[[Any], Any], low: float, high: float, part: Any) -> Any:
    return low + 0.5 * (high - low) * (1.0 + cos(math.pi * part))


def _polynomial(rate: float, end: float, rest: Any, power: float) -> Any:
    return (rate - end) * rest**power + end


# -- what the forms have in common -----------------------------------------------------------------------------------------
class LearningRateSchedule(Cell):
    """Base of all schedules: `construct(global_step)` returns the rate of that step.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> class Halving(nn.LearningRateSchedule):
        ...     def construct(self, global_step):
        ...         return 0.5 ** global_step.astype(ms.float32)
        >>> Halving()(ms.Tensor(2, ms.int32)).asnumpy().item()
        0.25
    """

    def construct(self, global_step: Any) -> Any:
        """The rate of step `global_step`; subclasses define it."""
        raise NotImplementedError(f"'construct' of the schedule {type(self).__name__} is not defined.")


class _Decay(LearningRateSchedule):
    """What the schedules with a decay rate have in common."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False):
        super().__init__()
        self.decay_steps = check.count(self.cls_name, "decay_steps", decay_steps)
        self.learning_rate = check.positive_real(self.cls_name, "learning_rate", learning_rate)
        self.decay_rate = check.positive_real(self.cls_name, "decay_rate", decay_rate)
        self.is_stair = check.flag(self.cls_name, "is_stair", is_stair)

    def periods(self, global_step: Tensor) -> Any:
        """How many times `decay_steps` have passed; whole times only with `is_stair`."""
        passed = ops.cast(global_step, mstype.float32) / self.decay_steps
        return ops.floor(passed) if self.is_stair else passed


def _per_epoch(owner: str, total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> list[float]:
    check.count(owner, "total_step", total_step)
    check.count(owner, "step_per_epoch", step_per_epoch)
    epochs = [rate(epoch) for epoch in range((total_step - 1) // step_per_epoch + 1)]
    return [epochs[step // step_per_epoch] for step in range(total_step)]


def _check_decay(owner: str, learning_rate: Any, decay_rate: Any, decay_epoch: Any, is_stair: Any) -> None:
    check.count(owner, "decay_epoch", decay_epoch)
    check.positive_real(owner, "learning_rate", learning_rate)
    check.positive_real(owner, "decay_rate", decay_rate)
    check.flag(owner, "is_stair", is_stair)


# -- each rule: the cell, then the list ------------------------------------------------------------------------------------
class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> nn.ExponentialDecayLR(0.5, 0.5, 4)(ms.Tensor(4, ms.int32)).asnumpy().item()
        0.25
    """

    def construct(self, global_step: Tensor) -> Any:
        return _exponential(self.learning_rate, self.decay_rate, self.periods(global_step))


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * decay_rate ** (epoch / decay_epoch); with `is_stair` the exponent is rounded down.

    Examples:
        >>> from mindspore import nn
        >>> nn.exponential_decay_lr(0.5, 0.5, 4, 2, 1)
        [0.5, 0.5, 0.25, 0.25]
    """
    owner = "exponential_decay_lr"
    _check_decay(owner, learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        return _exponential(learning_rate, decay_rate, epoch // decay_epoch if is_stair else epoch / decay_epoch)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


class NaturalExpDecayLR(_Decay):
    """learning_rate * exp(-decay_rate * step).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.NaturalExpDecayLR(1.0, 1.0, decay_steps=2)(Tensor(2)).item(), 4)
        0.1353
    """

    def construct(self, global_step: Tensor) -> Any:
        return _natural_exponential(ops.exp, self.learning_rate, self.decay_rate * self.decay_steps, self.periods(global_step))


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * exp(-decay_rate * epoch); with `is_stair` the epoch is rounded down to a multiple of decay_epoch.

    Examples:
        >>> from mindspore import nn
        >>> [round(x, 4) for x in nn.natural_exp_decay_lr(1.0, 1.0, total_step=2, step_per_epoch=1, decay_epoch=1)]
        [1.0, 0.3679]
    """
    owner = "natural_exp_decay_lr"
    _check_decay(owner, learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        passed = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return _natural_exponential(math.exp, learning_rate, decay_rate, passed)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.InverseDecayLR(1.0, 1.0, decay_steps=2)(Tensor(2)).item()
        0.5
    """

    def construct(self, global_step: Tensor) -> Any:
        return _inverse(self.learning_rate, self.decay_rate, self.periods(global_step))


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate / (1 + decay_rate * epoch / decay_epoch); with `is_stair` the quotient is rounded down.

    Examples:
        >>> from mindspore import nn
        >>> nn.inverse_decay_lr(1.0, 1.0, total_step=4, step_per_epoch=2, decay_epoch=1)
        [1.0, 1.0, 0.5, 0.5]
    """
    owner = "inverse_decay_lr"
    _check_decay(owner, learning_rate, decay_rate, decay_epoch, is_stair)

    def rate(epoch: int) -> float:
        return _inverse(learning_rate, decay_rate, epoch // decay_epoch if is_stair else epoch / decay_epoch)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine wave from `max_lr` down to `min_lr` over `decay_steps` steps, then `min_lr`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.CosineDecayLR(0.0, 1.0, decay_steps=4)(Tensor(2)).item(), 4)
        0.5
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int):
        super().__init__()
        self.min_lr = check.non_negative_real(self.cls_name, "min_lr", min_lr)
        self.max_lr = check.positive_real(self.cls_name, "max_lr", max_lr)
        self.decay_steps = check.count(self.cls_name, "decay_steps", decay_steps)
        check.increasing(self.cls_name, "min_lr", min_lr, "max_lr", max_lr)

    def construct(self, global_step: Tensor) -> Any:
        passed = ops.cast(ops.minimum(global_step, self.decay_steps), mstype.float32) / self.decay_steps
        return _cosine(ops.cos, self.min_lr, self.max_lr, passed)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine wave from `max_lr` down to `min_lr` over `decay_epoch` epochs, then `min_lr`.

    Examples:
        >>> from mindspore import nn
        >>> [round(rate, 3) for rate in nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)]
        [0.1, 0.1, 0.055, 0.055, 0.01, 0.01]
    """
    owner = "cosine_decay_lr"
    check.non_negative_real(owner, "min_lr", min_lr)
    check.positive_real(owner, "max_lr", max_lr)
    check.count(owner, "decay_epoch", decay_epoch)
    check.increasing(owner, "min_lr", min_lr, "max_lr", max_lr)

    def rate(epoch: int) -> float:
        return _cosine(math.cos, min_lr, max_lr, min(epoch, decay_epoch) / decay_epoch)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


class PolynomialDecayLR(LearningRateSchedule):
    """From `learning_rate` to `end_learning_rate` along (1 - step / decay_steps) ** power.

    With `update_decay_steps` the decay is stretched to the next multiple of `decay_steps` instead of ending there.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.PolynomialDecayLR(1.0, 0.1, decay_steps=4, power=1.0)(Tensor(2)).item(), 4)
        0.55
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ):
        super().__init__()
        self.start_learning_rate = check.positive_real(self.cls_name, "learning_rate", learning_rate)
        self.end_learning_rate = check.non_negative_real(self.cls_name, "end_learning_rate", end_learning_rate)
        self.decay_steps = check.count(self.cls_name, "decay_steps", decay_steps)
        self.update_decay_steps = check.flag(self.cls_name, "update_decay_steps", update_decay_steps)
        self.power = check.positive_real(self.cls_name, "power", power)

    def construct(self, global_step: Tensor) -> Any:
        step = ops.cast(global_step, mstype.float32)
        end = float(self.decay_steps)
        if self.update_decay_steps:
            end = end * ops.maximum(ops.ceil(step / end), 1.0)
        rest = ops.maximum(end - step, 0.0) / end  # never below 0, which 1 - step / end may be by rounding
        return _polynomial(self.start_learning_rate, self.end_learning_rate, rest, self.power)


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """From `learning_rate` to `end_learning_rate` along (1 - epoch / decay_epoch) ** power.

    With `update_decay_epoch` the decay is stretched to the next multiple of `decay_epoch` instead of ending there.

    Examples:
        >>> from mindspore import nn
        >>> nn.polynomial_decay_lr(1.0, 0.5, total_step=2, step_per_epoch=1, decay_epoch=1, power=1.0)
        [1.0, 0.5]
    """
    owner = "polynomial_decay_lr"
    check.positive_real(owner, "learning_rate", learning_rate)
    check.non_negative_real(owner, "end_learning_rate", end_learning_rate)
    check.positive_real(owner, "power", power)
    check.count(owner, "decay_epoch", decay_epoch)
    check.flag(owner, "update_decay_epoch", update_decay_epoch)

    def rate(epoch: int) -> float:
        end = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        rest = 1 - min(epoch, end) / end
        return _polynomial(learning_rate, end_learning_rate, rest, power)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


class WarmUpLR(LearningRateSchedule):
    """From 0 to `learning_rate` in equal steps over `warmup_steps` steps.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.WarmUpLR(0.1, warmup_steps=10)(Tensor(5)).item()
        0.05000000074505806
    """

    def __init__(self, learning_rate: float, warmup_steps: int):
        super().__init__()
        self.learning_rate = check.non_negative_real(self.cls_name, "learning_rate", learning_rate)
        self.warmup_steps = check.count(self.cls_name, "warmup_steps", warmup_steps)

    def construct(self, global_step: Tensor) -> Any:
        done = ops.cast(ops.minimum(global_step, self.warmup_steps), mstype.float32) / self.warmup_steps
        return self.learning_rate * done


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """From 0 to `learning_rate` in equal steps over `warmup_epoch` epochs.

    Examples:
        >>> from mindspore import nn
        >>> nn.warmup_lr(0.5, 6, 2, 2)
        [0.0, 0.0, 0.25, 0.25, 0.5, 0.5]
    """
    owner = "warmup_lr"
    check.non_negative_real(owner, "learning_rate", learning_rate)
    check.count(owner, "warmup_epoch", warmup_epoch)

    def rate(epoch: int) -> float:
        return learning_rate * min(epoch, warmup_epoch) / warmup_epoch

    return _per_epoch(owner, total_step, step_per_epoch, rate)


def piecewise_constant_lr(milestone: Any, learning_rates: Any) -> list[float]:
    """`learning_rates[i]` for the steps before `milestone[i]`.

    Examples:
        >>> from mindspore import nn
        >>> nn.piecewise_constant_lr([2, 5], [0.1, 0.05])
        [0.1, 0.1, 0.05, 0.05, 0.05]
    """
    owner = "piecewise_constant_lr"
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"For '{owner}', '{name}' must be a tuple or list, but got {type(value).__name__}.")
    if len(milestone) != len(learning_rates):
        raise ValueError(
            f"For '{owner}', 'milestone' and 'learning_rates' must have the same size, but got {len(milestone)} and "
            f"{len(learning_rates)}."
        )
    rates: list[float] = []
    for i, (end, rate) in enumerate(zip(milestone, learning_rates)):
        check.count(owner, f"milestone[{i}]", end)
        check.real(owner, f"learning_rates[{i}]", rate)
        if end < len(rates):
            raise ValueError(
                f"For '{owner}', milestone[{i}] must not be less than milestone[{i - 1}], but got {end} and "
                f"{milestone[i - 1]}."
            )
        rates += [rate] * (end - len(rates))
    return rates


__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
