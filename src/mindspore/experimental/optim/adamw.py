"""AdamW: Adam with decoupled weight decay (Loshchilov & Hutter 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.adam import Adam

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class AdamW(Adam):
    """parameter *= 1 - lr * weight_decay; parameter -= lr * m / (sqrt(v) + eps), m and v free of bias.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.experimental import optim
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> optim.AdamW([weight], lr=0.5, weight_decay=1.0)((ms.Tensor([0.0]),))
        True
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    decoupled_decay = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any, group: dict) -> None:
        beta1, beta2 = group["betas"]
        mean, square = self.exp_avg[index], self.exp_avg_sq[index]
        ops.assign(mean, mean * beta1 + gradient * (1 - beta1))
        ops.assign(square, square * beta2 + gradient * gradient * (1 - beta2))
        if group["amsgrad"]:
            largest = self.max_exp_avg_sq[index]
            ops.assign(largest, ops.maximum(largest, square))
            square = largest
        count = self._step_count()
        root = ops.sqrt(square) / ops.sqrt(1.0 - ops.pow(beta2, count)) + group["eps"]
        kept = parameter * (1.0 - lr * group["weight_decay"]) if self.decoupled_decay else parameter
        ops.assign(parameter, kept - lr / (1.0 - ops.pow(beta1, count)) * mean / root)


__all__ = ["AdamW"]
