"""Adagrad with a proximal step for l1 and l2 regularisation (Duchi & Singer 2009)."""

from __future__ import annotations

from typing import Any

from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyProximalAdagrad

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(Optimizer):
    """Proximal Adagrad."""

    @opt_init_args_register
    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, l1: float = 0.0, l2: float = 0.0,
        use_locking: bool = False, loss_scale: float = 1.0, weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.non_negative("ProximalAdagrad", "accum", accum)
        self.l1 = checks.non_negative("ProximalAdagrad", "l1", l1)
        self.l2 = checks.non_negative("ProximalAdagrad", "l2", l2)
        self.accum = self.slots("accum", accum)
        self.opt = ApplyProximalAdagrad(use_locking)

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        self.opt(param, self.accum[index], lr, self.l1, self.l2, grad)
