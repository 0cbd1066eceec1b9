"""RAdam: Adam that steps without its denominator while this is too uncertain (Liu et al. 2020)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero, check_betas


class RAdam(Optimizer):
    """Rectified Adam.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.RAdam([weight], lr=0.1)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.8]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        above_zero("RAdam", lr=lr, eps=eps)
        at_least_zero("RAdam", weight_decay=weight_decay)
        check_betas("RAdam", betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.slots("exp_avg")
        self.slots("exp_avg_sq")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        beta1, beta2 = group["betas"]
        mean, square = self.exp_avg[index], self.exp_avg_sq[index]
        ops.assign(mean, mean * beta1 + gradient * (1 - beta1))
        ops.assign(square, square * beta2 + gradient * gradient * (1 - beta2))
        count = self._step_count()
        power2 = ops.pow(beta2, count)
        length_limit = 2 / (1 - beta2) - 1
        length = length_limit - 2.0 * count * power2 / (1.0 - power2)  # how many gradients the average stands for
        safe = ops.maximum(length, 4.5)  # the rectification below is defined above 4 and used above 5
        factor = (safe - 4.0) * (safe - 2.0) * length_limit / ((length_limit - 4) * (length_limit - 2) * safe)
        adaptive = ops.sqrt(factor) * ops.sqrt(1.0 - power2) / (ops.sqrt(square) + group["eps"])
        scale = ops.select(length > 5.0, adaptive, ops.ones_like(adaptive))
        ops.assign(parameter, parameter - lr * mean / (1.0 - ops.pow(beta1, count)) * scale)


__all__ = ["RAdam"]
