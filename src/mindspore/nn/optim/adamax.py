"""AdaMax: Adam under the infinity norm (Kingma & Ba 2015, section 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.nn.optim.adam import check_adam_numbers
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.prims.update import ApplyAdaMax

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class AdaMax(Optimizer):
    """Steps of the running mean of gradients over their running maximum: lr / (1 - beta1^t) * m / (v + eps).

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.AdaMax(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_adam_numbers(self.cls_name, beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(ops.ones((1,), mstype.float32), name="beta1_power")
        self.moment1 = self.slots("moment1")
        self.moment2 = self.slots("moment2")
        self.opt = ApplyAdaMax()

    def before_updates(self) -> None:
        ops.assign(self.beta1_power, self.beta1_power * self.beta1)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        numbers = (self.beta1_power.reshape(()), lr, self.beta1, self.beta2, self.eps)
        self.opt(parameter, self.moment1[index], self.moment2[index], *numbers, gradient)


__all__ = ["AdaMax"]
