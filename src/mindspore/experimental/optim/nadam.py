"""NAdam: Adam with Nesterov momentum whose decay is warmed up (Dozat 2016)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero, check_betas


class NAdam(Optimizer):
    """Adam that looks ahead; `momentum_decay` says how fast the momentum reaches betas[0].

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.NAdam([weight], lr=0.5)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.4718]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ):
        above_zero("NAdam", lr=lr, eps=eps)
        at_least_zero("NAdam", weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_betas("NAdam", betas)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "momentum_decay": momentum_decay})
        self.slots("exp_avg")
        self.slots("exp_avg_sq")
        self.scalar_slots("mu_product", 1.0)

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        beta1, beta2 = group["betas"]
        mean, square, product = self.exp_avg[index], self.exp_avg_sq[index], self.mu_product[index]
        count = self._step_count()
        momentum = beta1 * (1.0 - 0.5 * ops.pow(0.96, count * group["momentum_decay"]))
        next_momentum = beta1 * (1.0 - 0.5 * ops.pow(0.96, (count + 1.0) * group["momentum_decay"]))
        ops.assign(product, product * momentum)
        ops.assign(mean, mean * beta1 + gradient * (1 - beta1))
        ops.assign(square, square * beta2 + gradient * gradient * (1 - beta2))
        root = ops.sqrt(square / (1.0 - ops.pow(beta2, count))) + group["eps"]
        now = lr * (1.0 - momentum) / (1.0 - product) * gradient / root
        ahead = lr * next_momentum / (1.0 - product * next_momentum) * mean / root
        ops.assign(parameter, parameter - now - ahead)


__all__ = ["NAdam"]
