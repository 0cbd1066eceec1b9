"""Averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

from __future__ import annotations

from typing import Any

from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero, at_least_zero
from mindspore.nn.optim.asgd import averaged_step


class ASGD(Optimizer):
    """Gradient descent with falling steps; the mean of the parameters from step `t0` on is kept in `ax`.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.ASGD([weight], lr=0.1)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.8]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ):
        above_zero("ASGD", lr=lr)
        at_least_zero("ASGD", weight_decay=weight_decay)
        for name, value in (("lambd", lambd), ("t0", t0)):
            if not isinstance(value, float):
                raise TypeError(f"For 'ASGD', '{name}' must be float, but got {type(value).__name__}.")
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self.slots("ax")
        self.scalar_slots("mu", 1.0)
        self.scalar_slots("eta", 0.0)

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        state = (self.mu[index], self.eta[index], self.ax[index])
        numbers = (group["lambd"], group["alpha"], group["t0"])
        averaged_step(parameter, gradient, *state, lr, self._step_count(), *numbers)


__all__ = ["ASGD"]
