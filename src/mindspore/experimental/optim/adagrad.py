"""Adagrad: steps divided by the root of all squared gradients so far (Duchi, Hazan & Singer 2011)."""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero
from mindspore.prims.update import ApplyAdagradV2


class Adagrad(Optimizer):
    """accum += gradient²; parameter -= lr / (1 + steps * lr_decay) * gradient / (sqrt(accum) + eps).

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.Adagrad([weight], lr=0.5)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.5]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ):
        above_zero("Adagrad", lr=lr, eps=eps)
        at_least_zero(
            "Adagrad",
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "maximize": maximize,
            },
        )
        self.slots("accum", initial_accumulator_value)

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        rate = lr / (1.0 + (self._step_count() - 1.0) * group["lr_decay"])
        ApplyAdagradV2(group["eps"])(parameter, self.accum[index], rate, gradient)


__all__ = ["Adagrad"]
