"""Adadelta: steps scaled by the ratio of running updates to running gradients (Zeiler 2012)."""

from __future__ import annotations

from typing import Any

from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyAdadelta

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adadelta with decay `rho`."""

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any = 1.0, rho: float = 0.9, epsilon: float = 1e-6, loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not isinstance(rho, float) or not 0 <= rho <= 1:
            raise ValueError(f"For 'Adadelta', the 'rho' must be a float in range [0, 1], but got {rho!r}.")
        self.rho, self.epsilon = rho, checks.non_negative("Adadelta", "epsilon", epsilon)
        self.accum = self.slots("accum", 0)
        self.accum_update = self.slots("accum_update", 0)
        self.opt = ApplyAdadelta()

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        self.opt(param, self.accum[index], self.accum_update[index], lr, self.rho, self.epsilon, grad)
