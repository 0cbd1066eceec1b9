"""Adagrad: steps divided by the root of all squared gradients so far (Duchi, Hazan & Singer 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyAdagrad

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class Adagrad(Optimizer):
    """accum += gradient²; parameter -= lr * gradient / sqrt(accum).

    Args:
        accum: where the sums begin.
        update_slots: whether the sums grow.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.Adagrad(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.non_negative_real(self.cls_name, "accum", accum)
        check.flag(self.cls_name, "update_slots", update_slots)
        self.accum = self.slots("accum", accum)
        self.opt = ApplyAdagrad(update_slots)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, self.accum[index], lr, gradient)


__all__ = ["Adagrad"]
