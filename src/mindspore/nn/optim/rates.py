"""Where an optimizer's learning rates and weight decays come from.

What users give (a number, a list with one value per step, a schedule) becomes either a Parameter, which can be read,
changed and saved, or a cell that computes the value of a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.learning_rates import LearningRateSchedule


class FixedRate(LearningRateSchedule):
    """The same rate in every step; used where other groups of the same optimizer have changing rates."""

    def __init__(self, learning_rate: Parameter):
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step: Any) -> Any:
        return self.learning_rate.value()


class ListedRate(LearningRateSchedule):
    """One rate per step, from a list."""

    def __init__(self, learning_rate: Tensor, name: str):
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)

    def construct(self, global_step: Tensor) -> Any:
        return ops.gather(self.learning_rate, global_step, 0)


class ScaledDecay(Cell):
    """A weight decay schedule times the loss scale, because it is added to gradients that are still scaled."""

    def __init__(self, weight_decay: Cell, loss_scale: float):
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = loss_scale

    def construct(self, global_step: Any) -> Any:
        decay = self.weight_decay(global_step) * self.loss_scale
        return ops.reshape(decay, ()) if isinstance(decay, Tensor) else decay


def normalize_rate(owner: str, learning_rate: Any) -> Tensor | LearningRateSchedule:
    """The given rate as a 0-d tensor (fixed), a 1-d tensor (one value per step) or a schedule."""
    if isinstance(learning_rate, (float, int)):
        if learning_rate < 0:
            raise ValueError(f"For '{owner}', 'learning_rate' must be at least 0, but got {learning_rate}.")
        return Tensor(float(learning_rate), mstype.float32)
    if isinstance(learning_rate, LearningRateSchedule):
        return learning_rate
    if isinstance(learning_rate, Tensor):
        if learning_rate.ndim > 1:
            raise ValueError(
                f"For '{owner}', a Tensor 'learning_rate' must have 0 or 1 dimensions, but got {learning_rate.ndim}."
            )
        return Tensor(learning_rate.asnumpy(), mstype.float32)
    if isinstance(learning_rate, Iterable) and not isinstance(learning_rate, (str, bytes)):
        return Tensor(np.array(list(learning_rate), np.float32))
    refusal = ValueError if isinstance(learning_rate, str) else TypeError  # programs expect the one of reading "0.1" as a number
    raise refusal(
        f"For '{owner}', 'learning_rate' must be int, float, Tensor, Iterable or LearningRateSchedule, but got "
        f"{type(learning_rate).__name__}."
    )


def is_dynamic(rate: Tensor | LearningRateSchedule) -> bool:
    """Whether a normalised rate changes from step to step."""
    return isinstance(rate, Cell) or rate.ndim == 1


def rate_source(rate: Tensor | LearningRateSchedule, name: str, as_cell: bool) -> Parameter | LearningRateSchedule:
    """The Parameter or cell for a normalised rate; `as_cell` asks for a cell even if the rate is fixed."""
    if isinstance(rate, Cell):
        return rate
    if rate.ndim == 1:
        return ListedRate(rate, name)
    parameter = Parameter(rate, name)
    return FixedRate(parameter) if as_cell else parameter


def normalize_decay(owner: str, weight_decay: Any, loss_scale: float) -> float | ScaledDecay:
    """The weight decay times the loss scale."""
    if isinstance(weight_decay, Cell):
        return ScaledDecay(weight_decay, loss_scale)
    if not isinstance(weight_decay, (float, int)):
        raise TypeError(
            f"For '{owner}', 'weight_decay' must be int, float or Cell, but got {type(weight_decay).__name__}."
        )
    if weight_decay < 0:
        raise ValueError(f"For '{owner}', 'weight_decay' must be at least 0, but got {weight_decay}.")
    return float(weight_decay) * loss_scale
