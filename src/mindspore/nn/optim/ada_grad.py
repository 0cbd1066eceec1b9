"""Adagrad: steps divided by the root of all squared gradients so far (Duchi, Hazan & Singer 2011)."""

from __future__ import annotations

from typing import Any

from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyAdagrad

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """accum += grad²; p -= lr * grad / sqrt(accum)."""

    @opt_init_args_register
    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, update_slots: bool = True,
        loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.non_negative("Adagrad", "accum", accum)
        checks.boolean("Adagrad", "update_slots", update_slots)
        self.accum = self.slots("accum", accum)
        self.opt = ApplyAdagrad(update_slots)

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        self.opt(param, self.accum[index], lr, grad)
