"""Resilient backpropagation: only the signs of gradients count (Riedmiller & Braun 1993)."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """Each element has its own step, grown while its gradient keeps its sign and shrunk when the sign changes."""

    @opt_init_args_register
    def __init__(
        self, params: Any, learning_rate: Any = 0.1, etas: tuple = (0.5, 1.2), step_sizes: tuple = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ):  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(pair, tuple):
                raise TypeError(f"For 'Rprop', the type of '{name}' must be tuple, but got {type(pair).__name__}.")
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{name}' must have 2 elements, but got {pair}.")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', the minimal step must not exceed the maximal, but got {step_sizes}.")
        if not 0 < etas[0] < 1:
            raise ValueError(f"For 'Rprop', the first eta must be in range (0, 1), but got {etas[0]}.")
        if etas[1] <= 1:
            raise ValueError(f"For 'Rprop', the second eta must be greater than 1, but got {etas[1]}.")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self.prev = self.slots("prev")
        self.step_size = self.slots("step_size")

    def update(self, index: int, param: Any, grad: Any, lr: Any) -> None:
        prev, size = self.prev[index], self.step_size[index]
        first = ops.equal(self.step_count(), 1.0)
        before = ops.select(first, ops.zeros_like(grad) + lr, size)
        agreement = ops.sign(grad * prev)
        same, changed = ops.greater(agreement, 0), ops.less(agreement, 0)
        ones = ops.ones_like(grad)
        factor = ops.select(same, ones * self.etaplus, ops.select(changed, ones * self.etaminus, ones))
        step = ops.clamp(
            before * factor, Tensor(self.step_size_min, grad.dtype), Tensor(self.step_size_max, grad.dtype)
        )
        used = ops.select(changed, ops.zeros_like(grad), grad)
        ops.Assign()(param, param - ops.sign(used) * step)
        ops.Assign()(prev, used)
        ops.Assign()(size, step)
