"""Averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register


class ASGD(Optimizer):
    """Gradient descent with falling steps `eta`; the mean of the parameters from step `t0` on is kept in `ax`.

    Args:
        lambd: decay of the parameters; also how fast `eta` falls.
        alpha: the power with which it falls.
        t0: the step after which averaging begins.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.ASGD(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        self.lambd = check.real(self.cls_name, "lambd", lambd)
        self.alpha = check.real(self.cls_name, "alpha", alpha)
        self.t0 = check.real(self.cls_name, "t0", t0)
        self.mu = self._scalars("mu_", 1.0)
        self.eta = self._scalars("eta_", 0.0)
        self.ax = self.slots("ax_")

    def _scalars(self, prefix: str, value: float) -> ParameterTuple:
        return ParameterTuple(
            [Parameter(Tensor(value, mstype.float32), name=prefix + parameter.name) for parameter in self.parameters]
        )

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        state = (self.mu[index], self.eta[index], self.ax[index])
        averaged_step(parameter, gradient, *state, lr, self._step_count(), self.lambd, self.alpha, self.t0)


def averaged_step(
    parameter: Tensor, gradient: Tensor, mu: Tensor, eta: Tensor, mean: Tensor, lr: Any, count: Tensor,
    lambd: float, alpha: float,
    t0: float,
) -> None:  # fmt: skip
    """One update, the `count`-th. `eta` holds the step to make, `mu` the weight of the new value in the `mean`."""
    rate = ops.select(ops.equal(count, 1.0), ops.ones_like(eta) * lr, eta)
    value = ops.cast(parameter, mstype.float32) * (1.0 - lambd * rate)
    value = value - rate * ops.cast(gradient, mstype.float32)
    old_mean = ops.cast(mean, mstype.float32)
    new_mean = ops.select(ops.equal(mu, 1.0), value, old_mean + (value - old_mean) * mu)
    ops.assign(parameter, ops.cast(value, parameter.dtype))
    ops.assign(mean, ops.cast(new_mean, mean.dtype))
    ops.assign(eta, lr / ops.pow(1.0 + lambd * lr * count, alpha))
    ops.assign(mu, 1.0 / ops.maximum(1.0, count - t0))


__all__ = ["ASGD"]
