"""Adadelta: steps scaled by the ratio of running updates to running gradients (Zeiler 2012)."""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero
from mindspore.prims.update import ApplyAdadelta


class Adadelta(Optimizer):
    """Adadelta; `rho` is the decay of both running averages, `eps` is added under the roots.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.Adadelta([weight], lr=1.0)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.9968]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ):
        above_zero("Adadelta", lr=lr, eps=eps)
        at_least_zero("Adadelta", weight_decay=weight_decay)
        if not isinstance(rho, (int, float)):
            raise TypeError(f"For 'Adadelta', 'rho' must be float, but got {type(rho).__name__}.")
        if not 0 <= rho <= 1:
            raise ValueError(f"For 'Adadelta', 'rho' must be in [0.0, 1.0], but got {rho}.")
        settings = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings)
        self.slots("accum")
        self.slots("accum_update")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        state = (self.accum[index], self.accum_update[index])
        ApplyAdadelta()(parameter, *state, lr, group["rho"], group["eps"], gradient)


__all__ = ["Adadelta"]
