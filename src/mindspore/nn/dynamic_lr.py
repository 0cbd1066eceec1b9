"""Learning rates as lists, one number per step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindspore.nn import checks

__all__ = [
    "cosine_decay_lr", "exponential_decay_lr", "inverse_decay_lr", "natural_exp_decay_lr", "piecewise_constant_lr",
    "polynomial_decay_lr", "warmup_lr",
]  # fmt: skip


def piecewise_constant_lr(milestone: Any, learning_rates: Any) -> list[float]:
    """learning_rates[i] up to step milestone[i].

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
            f"For '{owner}', the size of 'milestone' must be same with the size of 'learning_rates', but got "
            f"{len(milestone)} and {len(learning_rates)}."
        )
    out: list[float] = []
    for stop, rate in zip(milestone, learning_rates):
        checks.positive_int(owner, "milestone", stop)
        if stop < len(out):
            raise ValueError(f"For '{owner}', the elements of 'milestone' must grow, but got {tuple(milestone)}.")
        checks.number(owner, "learning_rates", rate)
        out += [rate] * (stop - len(out))
    return out


def _schedule(
    owner: str, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool, rate: Callable[[float], float]
) -> list[float]:
    """One rate per step as a function of the epoch, in whole `decay_epoch`s with `is_stair`."""
    checks.positive_int(owner, "total_step", total_step)
    checks.positive_int(owner, "step_per_epoch", step_per_epoch)
    checks.positive_int(owner, "decay_epoch", decay_epoch)
    checks.boolean(owner, "is_stair", is_stair)
    epochs = (step // step_per_epoch for step in range(total_step))
    return [rate(epoch // decay_epoch if is_stair else epoch / decay_epoch) for epoch in epochs]


def _check_rates(owner: str, learning_rate: Any, decay_rate: Any) -> None:
    for name, value in (("learning_rate", learning_rate), ("decay_rate", decay_rate)):
        if not isinstance(value, float):
            raise TypeError(f"For '{owner}', the '{name}' must be float, but got '{type(value).__name__}'")
        checks.positive(owner, name, value)


def exponential_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:  # fmt: skip
    """learning_rate * decay_rate ^ (epoch / decay_epoch)."""
    _check_rates("exponential_decay_lr", learning_rate, decay_rate)
    rate = lambda p: learning_rate * decay_rate**p
    return _schedule("exponential_decay_lr", total_step, step_per_epoch, decay_epoch, is_stair, rate)


def natural_exp_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:  # fmt: skip
    """learning_rate * exp(-decay_rate * epoch), the epoch counted in whole `decay_epoch`s with `is_stair`."""
    _check_rates("natural_exp_decay_lr", learning_rate, decay_rate)
    rate = lambda p: learning_rate * math.exp(-decay_rate * p * decay_epoch)
    return _schedule("natural_exp_decay_lr", total_step, step_per_epoch, decay_epoch, is_stair, rate)


def inverse_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:  # fmt: skip
    """learning_rate / (1 + decay_rate * epoch / decay_epoch)."""
    _check_rates("inverse_decay_lr", learning_rate, decay_rate)
    rate = lambda p: learning_rate / (1 + decay_rate * p)
    return _schedule("inverse_decay_lr", total_step, step_per_epoch, decay_epoch, is_stair, rate)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """From max_lr to min_lr along half a cosine within `decay_epoch` epochs."""
    owner = "cosine_decay_lr"
    if not isinstance(min_lr, float):
        raise TypeError(f"For '{owner}', 'min_lr' must be float, but got {type(min_lr).__name__}.")
    checks.non_negative(owner, "min_lr", min_lr)
    checks.positive(owner, "max_lr", max_lr)
    if min_lr >= max_lr:
        raise ValueError(f"For '{owner}', 'max_lr' must be greater than 'min_lr', but got {max_lr} and {min_lr}.")
    rate = lambda p: min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(p, 1)))
    return _schedule(owner, total_step, step_per_epoch, decay_epoch, False, rate)


def polynomial_decay_lr(
    learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    power: float, update_decay_epoch: bool = False,
) -> list[float]:  # fmt: skip
    """From learning_rate to end_learning_rate along a polynomial; `update_decay_epoch` starts over at the end."""
    owner = "polynomial_decay_lr"
    checks.positive(owner, "learning_rate", learning_rate)
    if not isinstance(end_learning_rate, float):
        raise TypeError(
            f"For '{owner}', 'end_learning_rate' must be float, but got {type(end_learning_rate).__name__}."
        )
    checks.non_negative(owner, "end_learning_rate", end_learning_rate)
    checks.positive(owner, "power", power)
    checks.boolean(owner, "update_decay_epoch", update_decay_epoch)

    def rate(p: float) -> float:
        part = p / max(math.ceil(p), 1) if update_decay_epoch else min(p, 1)
        return (learning_rate - end_learning_rate) * (1 - part) ** power + end_learning_rate

    return _schedule(owner, total_step, step_per_epoch, decay_epoch, False, rate)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Linear growth to learning_rate within `warmup_epoch` epochs."""
    owner = "warmup_lr"
    if not isinstance(learning_rate, float):
        raise TypeError(f"For '{owner}', the 'learning_rate' must be float, but got '{type(learning_rate).__name__}'")
    checks.positive(owner, "learning_rate", learning_rate)
    checks.positive_int(owner, "total_step", total_step)
    checks.positive_int(owner, "step_per_epoch", step_per_epoch)
    if isinstance(warmup_epoch, bool) or not isinstance(warmup_epoch, int) or warmup_epoch < 0:
        raise ValueError(f"For '{owner}', 'warmup_epoch' must be an int of 0 or more, but got {warmup_epoch!r}.")
    epochs = (step // step_per_epoch for step in range(total_step))
    return [learning_rate if warmup_epoch == 0 else learning_rate * min(e, warmup_epoch) / warmup_epoch for e in epochs]
