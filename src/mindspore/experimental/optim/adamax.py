"""Adamax: Adam under the infinity norm (Kingma & Ba 2015, section 7.1)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero, check_betas


class Adamax(Optimizer):
    """Steps of the running mean of gradients over their running maximum, max(beta2 * v, |gradient| + eps).

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.Adamax([weight], lr=0.5)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.5]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ):
        above_zero("Adamax", lr=lr, eps=eps)
        at_least_zero("Adamax", weight_decay=weight_decay)
        check_betas("Adamax", betas)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings)
        self.slots("exp_avg")
        self.slots("exp_inf")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        beta1, beta2 = group["betas"]
        mean, largest = self.exp_avg[index], self.exp_inf[index]
        ops.assign(mean, mean * beta1 + gradient * (1 - beta1))
        ops.assign(largest, ops.maximum(largest * beta2, ops.abs(gradient) + group["eps"]))
        rate = lr / (1.0 - ops.pow(beta1, self._step_count()))
        ops.assign(parameter, parameter - rate * mean / largest)


__all__ = ["Adamax"]
