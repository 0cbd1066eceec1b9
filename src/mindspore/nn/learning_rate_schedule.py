"""Learning rates as cells: the rate is computed from the step inside the training graph.

Derive from `LearningRateSchedule` for a rule of your own. Lists computed before training are in `dynamic_lr`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn import checks as check
from mindspore.nn.cell import Cell

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


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


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> nn.ExponentialDecayLR(0.5, 0.5, 4)(ms.Tensor(4, ms.int32)).asnumpy().item()
        0.25
    """

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate * ops.pow(self.decay_rate, self.periods(global_step))


class NaturalExpDecayLR(_Decay):
    """learning_rate * exp(-decay_rate * step).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.NaturalExpDecayLR(1.0, 1.0, decay_steps=2)(Tensor(2)).item(), 4)
        0.1353
    """

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate * ops.exp(-self.decay_rate * self.decay_steps * self.periods(global_step))


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.InverseDecayLR(1.0, 1.0, decay_steps=2)(Tensor(2)).item()
        0.5
    """

    def construct(self, global_step: Tensor) -> Any:
        return self.learning_rate / (1.0 + self.decay_rate * self.periods(global_step))


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
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1.0 + ops.cos(math.pi * passed))


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
        self.diff_learning_rate = learning_rate - end_learning_rate

    def construct(self, global_step: Tensor) -> Any:
        step = ops.cast(global_step, mstype.float32)
        end = float(self.decay_steps)
        if self.update_decay_steps:
            end = end * ops.maximum(ops.ceil(step / end), 1.0)
        rest = ops.maximum(end - step, 0.0) / end  # never below 0, which 1 - step / end may be by rounding
        return self.diff_learning_rate * ops.pow(rest, self.power) + self.end_learning_rate


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


__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
]
