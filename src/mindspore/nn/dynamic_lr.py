"""Learning rates as lists: one value per step, computed before training.

A step belongs to epoch `step // step_per_epoch`; all steps of an epoch have the same rate. Give the list to an
optimizer as its `learning_rate`. Rates computed during training are in `learning_rate_schedule`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindspore.nn import checks as check


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
        return learning_rate * decay_rate ** (epoch // decay_epoch if is_stair else epoch / decay_epoch)

    return _per_epoch(owner, total_step, step_per_epoch, rate)


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
        return learning_rate * math.exp(-decay_rate * (epoch // decay_epoch * decay_epoch if is_stair else epoch))

    return _per_epoch(owner, total_step, step_per_epoch, rate)


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
        return learning_rate / (1 + decay_rate * (epoch // decay_epoch if is_stair else epoch / decay_epoch))

    return _per_epoch(owner, total_step, step_per_epoch, rate)


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
        angle = math.pi * min(epoch, decay_epoch) / decay_epoch
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(angle))

    return _per_epoch(owner, total_step, step_per_epoch, rate)


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
        return (learning_rate - end_learning_rate) * rest**power + end_learning_rate

    return _per_epoch(owner, total_step, step_per_epoch, rate)


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


__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]
