"""Momentum: gradient descent with a velocity (Polyak 1964; Sutskever et al. 2013 for Nesterov's variant)."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, one_rule, opt_init_args_register
from mindspore.prims.update import ApplyMomentum


class Momentum(Optimizer):
    """v = momentum * v + gradient; parameter -= lr * v, or lr * (gradient + momentum * v) with `use_nesterov`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.Momentum([weight], learning_rate=0.5, momentum=0.9)((ms.Tensor([1.0]),))
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.non_negative_real(self.cls_name, "momentum", momentum)
        self.use_nesterov = check.flag(self.cls_name, "use_nesterov", use_nesterov)
        self.momentum = Parameter(Tensor(momentum, mstype.float32), name="momentum")
        self.params = self.parameters
        self.moments = self.slots("moments")
        self.opt = ApplyMomentum(use_nesterov=use_nesterov)

    @one_rule
    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        self.opt(parameter, self.moments[index], lr, gradient, self.momentum)


__all__ = ["Momentum"]
