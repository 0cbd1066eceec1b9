"""Resilient backpropagation: only the signs of gradients count (Riedmiller & Braun 1993)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim.optimizer import Optimizer, above_zero
from mindspore.nn.optim.rprop import resilient_step


class Rprop(Optimizer):
    """Each element has a step of its own, which grows while its gradient keeps its sign and shrinks when it changes.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> _ = ms.experimental.optim.Rprop([weight], lr=0.25)((Tensor([2.0]),))
        >>> print(weight.asnumpy().round(4))
        [0.75]
    """

    step_name = "step_t"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ):
        above_zero("Rprop", lr=lr)
        if not 0 < etas[0] < 1 or etas[1] <= 1:
            raise ValueError(f"For 'Rprop', 'etas' must be in (0.0, 1.0) and above 1.0, but got {etas}.")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self.slots("prev")
        self.slots("step_size")

    def update(self, index: int, parameter: Parameter, gradient: Any, lr: Any, group: dict) -> None:
        first = ops.equal(self._step_count(), 1.0)
        state = (self.prev[index], self.step_size[index])
        resilient_step(parameter, gradient, *state, lr, first, group["etas"], group["step_sizes"])


__all__ = ["Rprop"]
