"""RMSProp: steps divided by the running root mean square of gradients (Tieleman & Hinton 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, one_rule, opt_init_args_register
from mindspore.prims.update import ApplyCenteredRMSProp, ApplyRMSProp

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class RMSProp(Optimizer):
    """mean_square = decay * mean_square + (1 - decay) * gradient², beginning with 1;
    moment = momentum * moment + lr * gradient / sqrt(mean_square + epsilon); parameter -= moment.

    With `centered` the variance of the gradient takes the place of its mean square.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.RMSProp(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = check.non_negative_real(self.cls_name, "decay", decay)
        self.momentum = check.non_negative_real(self.cls_name, "momentum", momentum)
        self.epsilon = check.positive_real(self.cls_name, "epsilon", epsilon)
        check.flag(self.cls_name, "use_locking", use_locking)
        self.centered = check.flag(self.cls_name, "centered", centered)
        if centered:
            self.mg = self.slots("mean_grad")
        self.ms = self.slots("mean_square", "ones")
        self.moment = self.slots("moment")
        self.opt: Any = ApplyCenteredRMSProp(use_locking) if centered else ApplyRMSProp(use_locking)

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        numbers = (self.decay, self.momentum, self.epsilon)
        if self.centered:
            self.opt(parameter, self.mg[index], self.ms[index], self.moment[index], gradient, lr, *numbers)
        else:
            self.opt(parameter, self.ms[index], self.moment[index], lr, gradient, *numbers)


__all__ = ["RMSProp"]
