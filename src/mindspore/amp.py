"""Automatic mixed precision: levels, loss scaling, and the check that gradients are finite.

Examples:
    >>> import mindspore as ms
    >>> from mindspore import amp
    >>> scaler = amp.DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=1)
    >>> float(scaler.scale(ms.Tensor(0.5)).asnumpy())
    512.0
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.train.amp import (
    auto_mixed_precision,
    build_train_network,
    custom_mixed_precision,
    get_black_list,
    get_white_list,
)
from mindspore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


def _map(function: Any, inputs: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return tuple(_map(function, item) for item in inputs)
    return function(inputs)


def all_finite(inputs: Any) -> Any:
    """Whether no tensor of `inputs` has an infinity or NaN, as a bool tensor.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import amp
        >>> bool(amp.all_finite((ms.Tensor([1.0]), ms.Tensor([float("nan")]))))
        False
    """
    flags = [ops.isfinite(t).all() for t in _leaves(inputs)]
    if not flags:
        raise ValueError("For 'all_finite', 'inputs' must hold a tensor.")
    result = flags[0]
    for flag in flags[1:]:
        result = ops.logical_and(result, flag)
    return result


def _leaves(inputs: Any) -> list[Any]:
    if isinstance(inputs, (tuple, list)):
        return [leaf for item in inputs for leaf in _leaves(item)]
    return [inputs]


class LossScaler(ABC):
    """Base of loss scalers: enlarge the loss, shrink the gradients, adjust by whether they were finite.

    Examples:
        >>> issubclass(amp.StaticLossScaler, amp.LossScaler)
        True
    """

    __ms_class__ = True  # its methods may be called in graph mode

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Multiply by the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Divide by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Change the scale after a step."""


class StaticLossScaler(LossScaler):
    """A constant scale of at least 1.

    Examples:
        >>> scaler = amp.StaticLossScaler(scale_value=1024)
        >>> print(scaler.scale(Tensor(0.5)), scaler.unscale(Tensor(512.0)))
        512.0 0.5
    """

    def __init__(self, scale_value: float):
        self.scale_value = Parameter(Tensor(_check_scale(scale_value), mstype.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        return _map(lambda x: x * self.scale_value.astype(x.dtype), inputs)

    def unscale(self, inputs: Any) -> Any:
        return _map(lambda x: x * ops.reciprocal(self.scale_value).astype(x.dtype), inputs)

    def adjust(self, grads_finite: Any) -> bool:
        return False


class DynamicLossScaler(StaticLossScaler):
    """A scale that is divided by `scale_factor` when gradients overflow, and multiplied by it after `scale_window`
    steps without overflow.

    Examples:
        >>> scaler = amp.DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=1)
        >>> _ = scaler.adjust(Tensor(False))
        >>> print(scaler.scale_value.asnumpy())
        512.0
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int):
        super().__init__(scale_value)
        self.scale_factor = _check_count("scale_factor", scale_factor)
        self.scale_window = _check_count("scale_window", scale_window)
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def adjust(self, grads_finite: Any) -> bool:
        grown = self.scale_value * self.scale_factor
        due = ops.logical_and(self.counter == self.scale_window - 1, ops.isfinite(grown))
        raised = ops.select(due, grown, self.scale_value * 1)
        lowered = ops.maximum(self.scale_value / self.scale_factor, Tensor(1.0, mstype.float32))
        scale = ops.select(grads_finite, raised, lowered)
        counter = (self.counter + 1) % self.scale_window * grads_finite.astype(mstype.int32)
        ops.assign(self.scale_value, scale)
        ops.assign(self.counter, counter.astype(mstype.int32))
        return True


def _check_scale(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"'scale_value' must be a number, but got {type(value).__name__}.")
    if value < 1.0:
        raise ValueError(f"'scale_value' must be at least 1, but got {value}.")
    return float(value)


def _check_count(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"'{name}' must be an int, but got {type(value).__name__}.")
    if value <= 0:
        raise ValueError(f"'{name}' must be positive, but got {value}.")
    return value


__all__ = [
    "DynamicLossScaleManager", "LossScaleManager", "FixedLossScaleManager", "build_train_network", "DynamicLossScaler",
    "StaticLossScaler", "LossScaler", "auto_mixed_precision", "all_finite", "custom_mixed_precision", "get_white_list",
    "get_black_list",
]  # fmt: skip
