"""LAMB: layer-wise adaptive moments for large batches (You et al. 2020)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.nn.optim.adam import check_adam_numbers
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register


class Lamb(Optimizer):
    """Adam's direction plus decoupled weight decay, scaled for each parameter by |parameter| / |direction|.

    Where one of the two norms is 0 the direction is taken as it is.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.Lamb(nn.Dense(2, 3).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    _support_parallel_optimizer = True
    decoupled_decay = True

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        check_adam_numbers(self.cls_name, beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.params = self.parameters
        self.moments1 = self.slots("lamb_m")
        self.moments2 = self.slots("lamb_v")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any) -> None:
        moment1, moment2 = self.moments1[index], self.moments2[index]
        p, g = ops.cast(parameter, mstype.float32), ops.cast(gradient, mstype.float32)
        m = ops.cast(moment1, mstype.float32) * self.beta1 + g * (1 - self.beta1)
        v = ops.cast(moment2, mstype.float32) * self.beta2 + g * g * (1 - self.beta2)
        count = self._step_count()
        unbiased_m = m / (1.0 - ops.pow(self.beta1, count))
        unbiased_v = v / (1.0 - ops.pow(self.beta2, count))
        direction = unbiased_m / (ops.sqrt(unbiased_v) + self.eps) + self.decay_of(index) * p
        ops.assign(parameter, ops.cast(p - lr * _trust_ratio(p, direction) * direction, parameter.dtype))
        ops.assign(moment1, ops.cast(m, moment1.dtype))
        ops.assign(moment2, ops.cast(v, moment2.dtype))


def _trust_ratio(parameter: Any, direction: Any) -> Any:
    size, length = ops.sqrt(ops.square(parameter).sum()), ops.sqrt(ops.square(direction).sum())
    usable = ops.logical_and(size > 0, length > 0)
    return ops.select(usable, size / ops.select(usable, length, ops.ones_like(length)), ops.ones_like(size))


__all__ = ["Lamb"]
