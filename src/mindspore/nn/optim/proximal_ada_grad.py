"""Adagrad with a proximal step for l1 and l2 regularisation (Duchi & Singer 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyProximalAdagrad

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class ProximalAdagrad(Optimizer):
    """An Adagrad step, then shrinking by `l2` and cutting small values to 0 by `l1`.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.ProximalAdagrad(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.non_negative_real(self.cls_name, "accum", accum)
        check.flag(self.cls_name, "use_locking", use_locking)
        self.l1 = check.non_negative_real(self.cls_name, "l1", l1)
        self.l2 = check.non_negative_real(self.cls_name, "l2", l2)
        self.accum = self.slots("accum", accum)
        self.opt = ApplyProximalAdagrad(use_locking)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, self.accum[index], lr, self.l1, self.l2, gradient)


__all__ = ["ProximalAdagrad"]
