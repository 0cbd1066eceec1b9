"""Averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn import checks
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Gradient descent whose iterates are averaged from step `t0` on; the averages are the `ax_` slots."""

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any = 0.1, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            checks.number("ASGD", name, value)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0

        def scalars(prefix: str, value: float) -> ParameterTuple:
            return ParameterTuple(
                Parameter(initializer(value, (), mstype.float32), name=f"{prefix}_{p.name}") for p in self.parameters
            )

        self.mu = scalars("mu", 1)
        self.eta = scalars("eta", 0)
        self.ax = self.slots("ax_")

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        mu, eta, average = self.mu[index], self.eta[index], self.ax[index]
        count = self.step_count()
        rate = ops.select(ops.equal(count, 1.0), lr + ops.zeros_like(eta), eta + 0.0)
        value = param * (1.0 - self.lambd * rate) - rate * grad
        ops.Assign()(param, value)
        fresh = ops.equal(mu, 1.0)
        ops.Assign()(average, ops.select(fresh, value, average + (value - average) * mu))
        ops.Assign()(eta, lr / ops.pow(1.0 + self.lambd * lr * count, self.alpha))
        ops.Assign()(mu, 1.0 / ops.maximum(1.0, count - self.t0))
