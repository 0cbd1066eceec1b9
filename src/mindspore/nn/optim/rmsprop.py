"""RMSProp: steps divided by the running root mean square of gradients (Tieleman & Hinton 2012)."""

from __future__ import annotations

from typing import Any

from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyCenteredRMSProp, ApplyRMSProp

__all__ = ["RMSProp"]


class RMSProp(Optimizer):
    """RMSProp, with the variance in place of the mean square if `centered`."""

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
        use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.non_negative("RMSProp", "decay", decay)
        checks.non_negative("RMSProp", "momentum", momentum)
        checks.positive("RMSProp", "epsilon", epsilon)
        self.centered = checks.boolean("RMSProp", "centered", centered)
        self.decay, self.momentum, self.epsilon = decay, momentum, epsilon
        if centered:
            self.mg = self.slots("mean_grad")
        self.ms = self.slots("mean_square")
        self.moment = self.slots("moment")
        self.opt: Any = ApplyCenteredRMSProp(use_locking) if centered else ApplyRMSProp(use_locking)

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        numbers = self.decay, self.momentum, self.epsilon
        if self.centered:
            self.opt(param, self.mg[index], self.ms[index], self.moment[index], grad, lr, *numbers)
        else:
            self.opt(param, self.ms[index], self.moment[index], lr, grad, *numbers)
