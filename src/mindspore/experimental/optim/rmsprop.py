"""RMSprop: steps divided by the running root mean square of gradients (Tieleman & Hinton 2012)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero


class RMSprop(Optimizer):
    """mean_square = alpha * mean_square + (1 - alpha) * gradient²; parameter -= lr * gradient / (sqrt(…) + eps).

    With `momentum` the quotients are accumulated first; with `centered` the variance takes the place of mean_square.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.RMSprop([weight], lr=0.05)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ):
        above_zero("RMSprop", lr=lr, eps=eps)
        at_least_zero("RMSprop", alpha=alpha, momentum=momentum, weight_decay=weight_decay)
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self.slots("mean_grad")
        self.slots("mean_square")
        self.slots("moment")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        alpha = group["alpha"]
        mean, square, moment = self.mean_grad[index], self.mean_square[index], self.moment[index]
        ops.assign(square, square * alpha + gradient * gradient * (1 - alpha))
        spread = square
        if group["centered"]:
            ops.assign(mean, mean * alpha + gradient * (1 - alpha))
            spread = square - mean * mean
        step = gradient / (ops.sqrt(spread) + group["eps"])
        if group["momentum"] > 0:
            ops.assign(moment, moment * group["momentum"] + step)
            step = moment
        ops.assign(parameter, parameter - lr * step)


__all__ = ["RMSprop"]
