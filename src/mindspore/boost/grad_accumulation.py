"""Gradients averaged over several steps before the optimizer uses them."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Number", "Tensor", "Tensor")
def _accumulate(accumulation_step: Any, cumulative_grad: Any, grad: Any) -> Any:
    ops.assign_add(cumulative_grad, grad / accumulation_step)
    return cumulative_grad


@gradient_clear_op.register("Tensor")
def _clear(cumulative_grad: Any) -> Any:
    return ops.assign(cumulative_grad, ops.zeros_like(cumulative_grad))


class GradientAccumulation(Cell):
    """Call the optimizer with the mean gradient of every `max_accumulation_step` steps.

    `construct(loss, grads)` takes a step's loss and gradients and returns the loss.
    """

    def __init__(self, max_accumulation_step: int, optimizer: Cell):
        super().__init__()
        if isinstance(max_accumulation_step, bool) or not isinstance(max_accumulation_step, int):
            kind = type(max_accumulation_step).__name__
            raise TypeError(f"For 'GradientAccumulation', 'max_accumulation_step' must be int, but got {kind}.")
        if max_accumulation_step < 1:
            raise ValueError(f"For 'GradientAccumulation', at least 1 step is needed, but got {max_accumulation_step}.")
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, mstype.int32), name="accumulation_step")

    def construct(self, loss: Any, grads: Any) -> Any:
        for kept, grad in zip(self._grad_accumulation, grads):
            ops.assign_add(kept, grad / self._max_accumulation_step)
        ops.assign_add(self._accumulation_step, 1)
        if self._accumulation_step >= self._max_accumulation_step:
            self.optimizer(self._grad_accumulation)
            ops.assign(self._accumulation_step, 0)
            for kept in self._grad_accumulation:
                ops.assign(kept, ops.zeros_like(kept))
        return loss
