"""Stochastic gradient descent, with momentum if wanted (Sutskever et al. 2013)."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.experimental.optim.optimizer import Optimizer, at_least_zero
from mindspore.prims import update as rules


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * gradient; parameter -= lr * v (the first v is the gradient).

    With `nesterov` the step is lr * (gradient + momentum * v). `maximize` goes up instead of down.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.experimental import optim
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> optim.SGD([weight], lr=0.5)((ms.Tensor([1.0]),))
        True
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ):
        numbers = {"lr": (lr, (float, int, Tensor)), "momentum": (momentum, (float, int))}
        numbers["dampening"] = (dampening, (float, int))
        for name, (value, kinds) in numbers.items():
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise TypeError(f"For 'SGD', '{name}' must be a number, but got {type(value).__name__}.")
        for name, flag in (("nesterov", nesterov), ("maximize", maximize)):
            if not isinstance(flag, bool):
                raise TypeError(f"For 'SGD', '{name}' must be bool, but got {type(flag).__name__}.")
        at_least_zero("SGD", lr=lr, momentum=momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "For 'SGD', 'nesterov' needs a 'momentum' greater than 0 and a 'dampening' of 0, but got "
                f"momentum={momentum} and dampening={dampening}."
            )
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": float(momentum),
                "dampening": float(dampening),
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "grad_centralization": False,
            },
        )
        self.make_state()

    def make_state(self) -> None:
        self.slots("accum")
        self.slots("stat", "ones")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        rule = rules.SGD(float(group["dampening"]), 0.0, group["nesterov"])
        momentum = Tensor(group["momentum"], mstype.float32)
        rule(parameter, gradient, lr, self.accum[index], momentum, self.stat[index])


__all__ = ["SGD"]
