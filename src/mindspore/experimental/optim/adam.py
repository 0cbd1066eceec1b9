"""Adam (Kingma & Ba 2015)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, at_least_zero, check_betas
from mindspore.prims import update as rules


class Adam(Optimizer):
    """Steps of the running mean of gradients over the root of their running mean square, both free of bias.

    Args:
        amsgrad: never let the denominator shrink (Reddi, Kale & Kumar 2018).
        maximize: go up instead of down.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.Adam([weight], lr=0.5)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.5]
    """

    step_name = "state_step"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ):
        at_least_zero(type(self).__name__, lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(type(self).__name__, betas)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})
        self.make_state()

    def make_state(self) -> None:
        self.slots("exp_avg")
        self.slots("exp_avg_sq")
        self.slots("max_exp_avg_sq")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        beta1, beta2 = group["betas"]
        count = self._step_count()
        numbers = (ops.pow(beta1, count), ops.pow(beta2, count), lr, beta1, beta2, group["eps"])
        moments = (self.exp_avg[index], self.exp_avg_sq[index])
        if group["amsgrad"]:
            rule = rules.ApplyAdamWithAmsgradV2()
            rule(parameter, *moments, self.max_exp_avg_sq[index], *numbers, gradient)
        else:
            rules.Adam()(parameter, *moments, *numbers, gradient)


__all__ = ["Adam"]
