"""Adadelta: steps scaled by the ratio of running updates to running gradients (Zeiler 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyAdadelta

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class Adadelta(Optimizer):
    """Adadelta; `rho` is the decay of both running averages, `epsilon` is added under the roots.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.Adadelta(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = check.closed_fraction(self.cls_name, "rho", rho)
        self.epsilon = check.non_negative_real(self.cls_name, "epsilon", epsilon)
        self.accum = self.slots("accum")
        self.accum_update = self.slots("accum_update")
        self.opt = ApplyAdadelta()

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, self.accum[index], self.accum_update[index], lr, self.rho, self.epsilon, gradient)


__all__ = ["Adadelta"]
