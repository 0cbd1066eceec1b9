"""Training steps with a scaled loss, for floats with few exponent bits.

The loss is multiplied by a scale before the backward pass, so that small gradients do not vanish; gradients are divided
by it afterwards. If any of them is not finite, the scale was too large: the step is left out and, with a dynamic scale,
the scale is lowered (Micikevicius et al. 2018).
"""

from __future__ import annotations

from typing import Any

from mindspore import context, ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell


class DynamicLossScaleUpdateCell(Cell):
    """Divide the scale by `scale_factor` after an overflow, multiply it after `scale_window` steps without one.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> scale = ms.Parameter(ms.Tensor(8.0), name="scale")
        >>> _ = nn.DynamicLossScaleUpdateCell(8, 2, 1000)(scale, ms.Tensor(True))
        >>> scale.asnumpy().item()
        4.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int):
        super().__init__()
        self.loss_scale_value = loss_scale_value
        self.scale_factor = Tensor(scale_factor, mstype.float32)
        self.scale_window = Tensor(scale_window, mstype.int32)
        self.cur_iter = Parameter(Tensor(1, mstype.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """The scale to begin with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """Change `loss_scale` (a Parameter) after a step; returns `overflow`."""
        grow = ops.logical_and(self.cur_iter - self.last_overflow_iter >= self.scale_window, ops.logical_not(overflow))
        lowered = ops.maximum(loss_scale / self.scale_factor, 1.0)
        kept_or_raised = ops.select(grow, loss_scale * self.scale_factor, loss_scale * 1.0)
        restart = ops.logical_or(overflow, grow)
        ops.assign(self.last_overflow_iter, ops.select(restart, self.cur_iter, self.last_overflow_iter))
        ops.assign(self.cur_iter, self.cur_iter + 1)
        ops.assign(loss_scale, ops.select(overflow, lowered, kept_or_raised))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A scale that never changes; steps that overflow are still left out.

    Examples:
        >>> from mindspore import nn
        >>> nn.FixedLossScaleUpdateCell(loss_scale_value=1024).get_loss_scale()
        1024
    """

    def __init__(self, loss_scale_value: float):
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One training step with a scaled loss; returns the loss, whether gradients overflowed, and the scale used.

    Args:
        network: computes the loss.
        optimizer: updates the parameters.
        scale_sense: the scale as a Tensor of shape () or (1,), or a cell that updates it.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> net = nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss())
        >>> optimizer = nn.SGD(net.trainable_params(), 0.1)
        >>> step = nn.TrainOneStepWithLossScaleCell(net, optimizer, Tensor(8.0))
        >>> loss, overflow, scale = step(Tensor([[1.0, 2.0]]), Tensor([[1.0]]))
        >>> bool(overflow), scale.item()
        (False, 8.0)
    """

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Any):
        super().__init__(network, optimizer, sens=None)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale_sense = Tensor(scale_sense.get_loss_scale(), mstype.float32)
        elif not isinstance(scale_sense, Tensor):
            raise TypeError(
                "For 'TrainOneStepWithLossScaleCell', 'scale_sense' must be a Cell or a Tensor, but got "
                f"{type(scale_sense).__name__}."
            )
        if scale_sense.shape not in ((), (1,)):
            raise ValueError(
                "For 'TrainOneStepWithLossScaleCell', the shape of 'scale_sense' must be () or (1,), but got "
                f"{scale_sense.shape}."
            )
        self.scale_sense = Parameter(scale_sense, name="scale_sense")
        self._init_tools()

    def _init_tools(self) -> None:
        """What steps written on top of this class expect to find."""
        self.hyper_map = ops.HyperMap()
        self.base = Tensor(1, mstype.float32)
        self.equal, self.less_equal = ops.Equal(), ops.LessEqual()
        self.logic_not = ops.LogicalNot()
        self.reduce_sum, self.reduce_all = ops.ReduceSum(keep_dims=False), ops.ReduceAll(keep_dims=False)
        self.allreduce = ops.AllReduce()
        self.is_distributed = self.reducer_flag
        self.gpu_target = context.get_context("device_target") == "GPU"
        self.ascend_910a_target = self.ascend_910b_target = False

    def construct(self, *inputs: Any) -> Any:
        scale = self.scale_sense.value()
        loss, gradients = self.scaled_value_and_grad(*inputs, scale.reshape(()))
        gradients = tuple([g * ops.cast(1.0 / scale.reshape(()), g.dtype) for g in gradients])
        gradients = self.grad_reducer(gradients)
        found = self.get_overflow_status(None, gradients)
        overflow = self.process_loss_scale(found)
        if not overflow:
            self.optimizer(gradients)
        return loss, found, scale

    def set_sense_scale(self, sens: Tensor) -> None:
        """Set the scale."""
        if not isinstance(sens, Tensor):
            raise TypeError(
                "For 'TrainOneStepWithLossScaleCell', 'sens' of 'set_sense_scale' must be a Tensor, but got "
                f"{type(sens).__name__}."
            )
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple:
        """Begin to watch for overflows: returns a status and `compute_input`. Results are inspected, not flags of a
        device, so there is nothing to reset."""
        return Tensor([0] * 8, mstype.int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        """Whether any of the tensors has an element that is not finite."""
        finite = [ops.isfinite(g).all() for g in compute_output]
        return ops.logical_not(ops.stack(finite).all())

    def process_loss_scale(self, overflow: Any) -> Any:
        """Update the scale; returns whether the step is to be left out."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]
