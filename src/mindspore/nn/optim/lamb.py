"""LAMB: layer-wise adaptive moments for large batches (You et al. 2020)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn.optim.adam import check_adam_numbers
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Lamb"]


class Lamb(Optimizer):
    """Adam's direction with decoupled weight decay, scaled per parameter by |p| / |direction|."""

    decoupled_decay = True

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        check_adam_numbers("Lamb", beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.slots("lamb_m")
        self.moments2 = self.slots("lamb_v")

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        m, v = self.moments1[index], self.moments2[index]
        p, g = ops.cast(param, mstype.float32), ops.cast(grad, mstype.float32)
        new_m = self.beta1 * ops.cast(m, mstype.float32) + (1 - self.beta1) * g
        new_v = self.beta2 * ops.cast(v, mstype.float32) + (1 - self.beta2) * g * g
        count = self.step_count()
        m_hat = new_m / (1.0 - ops.pow(self.beta1, count))
        v_hat = new_v / (1.0 - ops.pow(self.beta2, count))
        direction = m_hat / (ops.sqrt(v_hat) + self.eps)
        if self.decay_flags[index]:
            direction = direction + self.decay_of(index) * p
        size, length = _norm(p), _norm(direction)
        one = ops.ones_like(size)
        ratio = ops.select(ops.logical_and(size > 0, length > 0), size / ops.maximum(length, 1e-37), one)
        ops.Assign()(param, p - lr * ratio * direction)
        ops.Assign()(m, new_m)
        ops.Assign()(v, new_v)


def _norm(x: Any) -> Any:
    return ops.sqrt(ops.ReduceSum()(ops.square(x), ()))
