"""Learning rates as functions of the step, computed inside the training graph."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn import checks
from mindspore.nn.cell import Cell

__all__ = [
    "CosineDecayLR", "ExponentialDecayLR", "InverseDecayLR", "LearningRateSchedule", "NaturalExpDecayLR",
    "PolynomialDecayLR", "WarmUpLR",
]  # fmt: skip


class LearningRateSchedule(Cell):
    """Base of schedules: `construct(global_step)` gives the learning rate of a step."""

    def construct(self, global_step: Any) -> Any:
        raise NotImplementedError("a LearningRateSchedule must define construct(global_step)")


def _check(owner: str, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: Any) -> None:
    checks.positive_int(owner, "decay_steps", decay_steps)
    if not isinstance(learning_rate, float):
        raise TypeError(f"For '{owner}', the 'learning_rate' must be float, but got '{type(learning_rate).__name__}'")
    checks.positive(owner, "learning_rate", learning_rate)
    if not isinstance(decay_rate, float):
        raise TypeError(f"For '{owner}', the 'decay_rate' must be float, but got '{type(decay_rate).__name__}'")
    checks.positive(owner, "decay_rate", decay_rate)
    checks.boolean(owner, "is_stair", is_stair)


class _Decay(LearningRateSchedule):
    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False):
        super().__init__()
        _check(type(self).__name__, learning_rate, decay_rate, decay_steps, is_stair)
        self.learning_rate, self.decay_rate = learning_rate, decay_rate
        self.decay_steps, self.is_stair = decay_steps, is_stair

    def progress(self, global_step: Any) -> Any:
        """Steps in units of `decay_steps`, whole ones with `is_stair`."""
        p = ops.cast(global_step, mstype.float32) / float(self.decay_steps)
        return ops.floor(p) if self.is_stair else p


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ^ (step / decay_steps).

    Examples:
        >>> import mindspore as ms
        >>> round(float(ms.nn.ExponentialDecayLR(0.1, 0.9, 4)(ms.Tensor(4, ms.int32))), 4)
        0.09
    """

    def construct(self, global_step: Any) -> Any:
        return self.learning_rate * ops.pow(self.decay_rate, self.progress(global_step))


class NaturalExpDecayLR(_Decay):
    """learning_rate * exp(-decay_rate * step), the step counted in whole `decay_steps` with `is_stair`."""

    def construct(self, global_step: Any) -> Any:
        p = ops.cast(global_step, mstype.float32)
        if self.is_stair:
            p = ops.floor(p / float(self.decay_steps)) * float(self.decay_steps)
        return self.learning_rate * ops.exp(-self.decay_rate * p)


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps)."""

    def construct(self, global_step: Any) -> Any:
        return self.learning_rate / (1.0 + self.decay_rate * self.progress(global_step))


class CosineDecayLR(LearningRateSchedule):
    """From max_lr to min_lr along half a cosine within `decay_steps`."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int):
        super().__init__()
        if not isinstance(min_lr, float):
            raise TypeError(f"For 'CosineDecayLR', 'min_lr' must be float, but got {type(min_lr).__name__}.")
        checks.non_negative("CosineDecayLR", "min_lr", min_lr)
        checks.positive("CosineDecayLR", "max_lr", max_lr)
        checks.positive_int("CosineDecayLR", "decay_steps", decay_steps)
        if min_lr >= max_lr:
            raise ValueError(
                f"For 'CosineDecayLR', 'max_lr' must be greater than 'min_lr', but got {max_lr} and {min_lr}."
            )
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def construct(self, global_step: Any) -> Any:
        p = ops.minimum(ops.cast(global_step, mstype.float32), float(self.decay_steps))
        swing = 0.5 * (self.max_lr - self.min_lr)
        return self.min_lr + swing * (1.0 + ops.cos(p * (math.pi / self.decay_steps)))


class PolynomialDecayLR(LearningRateSchedule):
    """From learning_rate to end_learning_rate along a polynomial; `update_decay_steps` starts over at the end."""

    def __init__(
        self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float,
        update_decay_steps: bool = False,
    ):  # fmt: skip
        super().__init__()
        owner = "PolynomialDecayLR"
        checks.positive(owner, "learning_rate", learning_rate)
        if not isinstance(end_learning_rate, float):
            raise TypeError(
                f"For '{owner}', 'end_learning_rate' must be float, but got {type(end_learning_rate).__name__}."
            )
        checks.non_negative(owner, "end_learning_rate", end_learning_rate)
        checks.positive_int(owner, "decay_steps", decay_steps)
        checks.boolean(owner, "update_decay_steps", update_decay_steps)
        checks.positive(owner, "power", power)
        self.learning_rate, self.end_learning_rate, self.decay_steps = learning_rate, end_learning_rate, decay_steps
        self.power, self.update_decay_steps = power, update_decay_steps

    def construct(self, global_step: Any) -> Any:
        step = ops.cast(global_step, mstype.float32)
        span = float(self.decay_steps)
        if self.update_decay_steps:
            span = span * ops.maximum(ops.ceil(step / span), 1.0)
        else:
            step = ops.minimum(step, span)
        rest = ops.pow(1.0 - step / span, self.power)
        return (self.learning_rate - self.end_learning_rate) * rest + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """Linear growth to learning_rate within `warmup_steps`."""

    def __init__(self, learning_rate: float, warmup_steps: int):
        super().__init__()
        if not isinstance(learning_rate, float):
            raise TypeError(f"For 'WarmUpLR', 'learning_rate' must be float, but got {type(learning_rate).__name__}.")
        checks.non_negative("WarmUpLR", "learning_rate", learning_rate)
        checks.positive_int("WarmUpLR", "warmup_steps", warmup_steps)
        self.warmup_steps, self.learning_rate = warmup_steps, learning_rate

    def construct(self, global_step: Any) -> Any:
        part = ops.minimum(ops.cast(global_step, mstype.float32), float(self.warmup_steps)) / float(self.warmup_steps)
        return self.learning_rate * part
