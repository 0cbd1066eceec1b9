"""Loss scale managers: how much a loss is enlarged so that float16 gradients do not vanish."""

from __future__ import annotations

from typing import Any

from mindspore import nn

_MOST_OVERFLOWS = 1000


class LossScaleManager:
    """Base of loss scale managers.

    Examples:
        >>> class Constant(train.LossScaleManager):
        ...     def get_loss_scale(self):
        ...         return 64.0
        >>> Constant().get_loss_scale()
        64.0
    """

    def get_loss_scale(self) -> Any:
        """The current scale."""

    def update_loss_scale(self, overflow: Any) -> None:
        """Tell whether the last step overflowed."""

    def get_update_cell(self) -> Any:
        """The Cell that keeps the scale inside the training graph, or None when the scale never changes there."""


class FixedLossScaleManager(LossScaleManager):
    """A constant scale.

    Args:
        loss_scale: the scale, at least 1.
        drop_overflow_update: leave out the update of a step whose gradients overflowed. If False, give the optimizer
            the same `loss_scale`, for it then has to undo the scaling.

    Examples:
        >>> train.FixedLossScaleManager(1024.0).get_loss_scale()
        1024.0
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True):
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' must be at least 1, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps that overflow are left out."""
        return self._drop_overflow_update

    def get_update_cell(self) -> Any:
        return nn.FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls when gradients overflow and rises after `scale_window` steps without overflow.

    Examples:
        >>> from mindspore.amp import DynamicLossScaleManager
        >>> manager = DynamicLossScaleManager(init_loss_scale=1024, scale_factor=2, scale_window=1)
        >>> manager.update_loss_scale(True)
        >>> manager.get_loss_scale()
        512.0
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000):
        if init_loss_scale < 1.0:
            raise ValueError(f"'init_loss_scale' must be at least 1, but got {init_loss_scale}.")
        if not isinstance(scale_window, int) or isinstance(scale_window, bool):
            raise TypeError(f"'scale_window' must be an int, but got {type(scale_window).__name__}.")
        if scale_window <= 0:
            raise ValueError(f"'scale_window' must be positive, but got {scale_window}.")
        if scale_factor <= 0:
            raise ValueError(f"'scale_factor' must be positive, but got {scale_factor}.")
        self.loss_scale: float = init_loss_scale
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = _MOST_OVERFLOWS
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: Any) -> None:
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(f"The gradients overflowed in {self.bad_step} steps in a row; training cannot go on.")
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Always True: steps that overflow are left out."""
        return True

    def get_update_cell(self) -> Any:
        return nn.DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)


__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]
