"""Training steps that carry out the boost settings of a network."""

from __future__ import annotations

from typing import Any

from mindspore.boost.boost import AutoBoost
from mindspore.boost.grad_accumulation import GradientAccumulation
from mindspore.nn.cell import Cell
from mindspore.nn.loss_scaling import TrainOneStepWithLossScaleCell
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell


class BoostTrainOneStepCell(TrainOneStepCell):
    """A training step; with accumulated gradients if the network's `AutoBoost` says so (`network.auto_boost`)."""

    def __init__(self, network: Cell, optimizer: Cell, sens: float | None = None, auto_boost: AutoBoost | None = None):
        super().__init__(network, optimizer, sens)
        boost: Any = auto_boost or getattr(network, "__dict__", {}).get("auto_boost")
        self.use_grad_accumulation = boost is not None and boost.grad_accumulation_step > 1
        if self.use_grad_accumulation:
            self.grad_accumulation = GradientAccumulation(boost.grad_accumulation_step, optimizer)

    def construct(self, *inputs: Any) -> Any:
        if self.sense_flag:
            loss, gradients = self.scaled_value_and_grad(*inputs, self.sens)
        else:
            loss, gradients = self.value_and_grad(*inputs)
        gradients = self.grad_reducer(gradients)
        return self.gradient_accumulation_process(loss, gradients, self.sens, *inputs)

    def gradient_accumulation_process(self, loss: Any, grads: Any, sens: Any, *inputs: Any) -> Any:
        """Use the gradients, now or together with those of later steps; returns the loss."""
        if self.use_grad_accumulation:
            return self.grad_accumulation(loss, grads)
        self.optimizer(grads)
        return loss

    def check_adasum_enable(self) -> bool:
        """Whether gradients are combined by AdaSum."""
        return False

    def check_dim_reduce_enable(self) -> bool:
        """Whether training goes on in a subspace of the parameters."""
        return False


class BoostTrainOneStepWithLossScaleCell(TrainOneStepWithLossScaleCell):
    """A training step with a scaled loss."""
