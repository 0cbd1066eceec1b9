"""Stochastic gradient descent, with momentum if wanted (Sutskever et al. 2013)."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, one_rule, opt_init_args_register
from mindspore.prims import update as rules


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * gradient; parameter -= lr * v (the first v is the gradient).

    With `nesterov` the step is lr * (gradient + momentum * v); without momentum it is lr * gradient.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.SGD([weight], learning_rate=0.5)((ms.Tensor([1.0]),))
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = float(momentum) if isinstance(momentum, int) else momentum
        dampening = float(dampening) if isinstance(dampening, int) else dampening
        check.non_negative_real(self.cls_name, "momentum", momentum)
        self.dampening = check.non_negative_real(self.cls_name, "dampening", dampening)
        self.nesterov = check.flag(self.cls_name, "nesterov", nesterov)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "For 'SGD', 'nesterov' needs a 'momentum' greater than 0 and a 'dampening' of 0, but got "
                f"momentum={momentum} and dampening={dampening}."
            )
        if self.dynamic_weight_decay:
            raise TypeError(
                "For 'SGD', dynamic weight decay is currently not supported, the argument 'weight_decay' or 'weight_decay' "
                "set in grouped 'params' must be float or int type."
            )
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name="momentum")
        self.accum = self.slots("accum")
        self.stat = self.slots("stat", "ones")
        self.opt = rules.SGD(dampening, 0.0, nesterov)

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, gradient, lr, self.accum[index], self.momentum, self.stat[index])


__all__ = ["SGD"]
