"""FTRL-Proximal: follow the regularised leader (McMahan et al. 2013)."""

from __future__ import annotations

from typing import Any

from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyFtrl

__all__ = ["FTRL"]


class FTRL(Optimizer):
    """FTRL with l1 and l2 regularisation."""

    @opt_init_args_register
    def __init__(
        self, params: Any, initial_accum: float = 0.1, learning_rate: Any = 0.001, lr_power: float = -0.5,
        l1: float = 0.0, l2: float = 0.0, use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("For 'FTRL', the dynamic learning rate or group learning rate is currently not supported.")
        checks.non_negative("FTRL", "initial_accum", initial_accum)
        if checks.number("FTRL", "lr_power", lr_power) > 0:
            raise ValueError(f"For 'FTRL', the 'lr_power' must be at most 0, but got {lr_power}.")
        self.l1, self.l2 = checks.non_negative("FTRL", "l1", l1), checks.non_negative("FTRL", "l2", l2)
        self.lr_power = lr_power
        self.moments = self.slots("moments", initial_accum)
        self.linear = self.slots("linear")
        self.opt = ApplyFtrl(use_locking)

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        self.opt(param, self.moments[index], self.linear[index], grad, lr, self.l1, self.l2, self.lr_power)
