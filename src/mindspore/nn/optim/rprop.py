"""Resilient backpropagation: only the signs of gradients count (Riedmiller & Braun 1993)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.nn import checks as check
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class Rprop(Optimizer):
    """Each element has a step of its own, which grows while its gradient keeps its sign and shrinks when it changes.

    Args:
        learning_rate: the first step.
        etas: the factors by which steps shrink and grow.
        step_sizes: the smallest and the largest step.

    Examples:
        >>> from mindspore import nn
        >>> optimizer = nn.Rprop(nn.Dense(2, 1).trainable_params(), learning_rate=0.1)
        >>> len(optimizer.parameters)
        2
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ):
        super().__init__(learning_rate, params, weight_decay)
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(pair, tuple):
                raise TypeError(f"For 'Rprop', '{name}' must be a tuple, but got {type(pair).__name__}.")
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{name}' must have 2 elements, but got {len(pair)}.")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', the smallest step must not exceed the largest, but got {step_sizes}.")
        self.etaminus = check.open_fraction(self.cls_name, "etaminus", etas[0])
        self.etaplus = check.real(self.cls_name, "etaplus", etas[1])
        if self.etaplus <= 1:
            raise ValueError(f"For 'Rprop', 'etaplus' must be greater than 1.0, but got {self.etaplus}.")
        self.step_size_min = check.real(self.cls_name, "min_step_sizes", step_sizes[0])
        self.step_size_max = check.real(self.cls_name, "max_step_sizes", step_sizes[1])
        self.prev = self.slots("prev")
        self.step_size = self.slots("step_size")

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any) -> None:
        first = ops.equal(self._step_count(), 1.0)
        etas, sizes = (self.etaminus, self.etaplus), (self.step_size_min, self.step_size_max)
        resilient_step(parameter, gradient, self.prev[index], self.step_size[index], lr, first, etas, sizes)


def resilient_step(
    parameter: Tensor,
    gradient: Tensor,
    previous: Tensor,
    size: Tensor,
    lr: Any,
    first: Tensor,
    etas: tuple,
    sizes: tuple,
) -> None:
    """One update. `previous` and `size` hold the last gradient and the steps; in the `first` step all steps are `lr`.

    Where the gradient changed its sign nothing is updated, and the next step is free to go either way.
    """
    shrink, grow = etas
    gradient = ops.cast(gradient, parameter.dtype)
    size_before = ops.select(first, ops.cast(lr, parameter.dtype) * ops.ones_like(gradient), size)
    agreement = gradient * previous
    step = ops.select(agreement > 0, size_before * grow, size_before * 1.0)
    step = ops.select(agreement < 0, size_before * shrink, step)
    step = ops.minimum(ops.maximum(step, sizes[0]), sizes[1])
    used = ops.select(agreement < 0, ops.zeros_like(gradient), gradient)
    ops.assign(parameter, parameter - ops.sign(used) * step)
    ops.assign(previous, used)
    ops.assign(size, step)


__all__ = ["Rprop"]
