"""Loss scaling, for floats with few exponent bits: the rule, the training step, and the three ways to drive it.

The loss is multiplied by a scale before the backward pass, so that small gradients do not vanish; gradients are divided
by it afterwards. If any of them is not finite, the scale was too large: the step is left out and, with a dynamic scale,
the scale is lowered; after a number of steps without overflow it is raised (Micikevicius et al. 2018).

- `TrainOneStepWithLossScaleCell` is the whole step; an update cell keeps the scale inside its graph.
- A loss scale manager tells `Model` and `amp` which update cell to use, or keeps the scale on the host.
- A loss scaler (`mindspore.amp`) serves training loops written by hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mindspore import context, ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks as check
from mindspore.nn.cell import Cell
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell

_MOST_OVERFLOWS = 1000


def all_finite(inputs: Any) -> Any:
    """Whether no tensor of `inputs` has an infinity or NaN, as a bool tensor.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import amp
        >>> bool(amp.all_finite((ms.Tensor([1.0]), ms.Tensor([float("nan")]))))
        False
    """
    flags = [ops.isfinite(t).all() for t in _leaves(inputs)]
    if not flags:
        raise ValueError("For 'all_finite', 'inputs' must hold a tensor.")
    result = flags[0]
    for flag in flags[1:]:
        result = ops.logical_and(result, flag)
    return result


def _leaves(inputs: Any) -> list[Any]:
    if isinstance(inputs, (tuple, list)):
        return [leaf for item in inputs for leaf in _leaves(item)]
    return [inputs]


# -- inside the training graph ---------------------------------------------------------------------------------------------
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
        return ops.logical_not(all_finite(compute_output))

    def process_loss_scale(self, overflow: Any) -> Any:
        """Update the scale; returns whether the step is to be left out."""
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


# -- for Model and amp -----------------------------------------------------------------------------------------------------
class LossScaleManager:
    """Base of loss scale managers.

    Examples:
        >>> class Constant(train.LossScaleManager):
        ...     def get_loss_scale(self):
        ...         return 64.0
        >>> Constant().get_loss_scale()
        64.0
    """

    def get_loss_scale(self) -> Any:
        """The current scale."""

    def update_loss_scale(self, overflow: Any) -> None:
        """Tell whether the last step overflowed."""

    def get_update_cell(self) -> Any:
        """The Cell that keeps the scale inside the training graph, or None when the scale never changes there."""


class FixedLossScaleManager(LossScaleManager):
    """A constant scale.

    Args:
        loss_scale: the scale, at least 1.
        drop_overflow_update: leave out the update of a step whose gradients overflowed. If False, give the optimizer
            the same `loss_scale`, for it then has to undo the scaling.

    Examples:
        >>> train.FixedLossScaleManager(1024.0).get_loss_scale()
        1024.0
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True):
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' must be at least 1, but got {loss_scale}.")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps that overflow are left out."""
        return self._drop_overflow_update

    def get_update_cell(self) -> Any:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls when gradients overflow and rises after `scale_window` steps without overflow.

    Examples:
        >>> from mindspore.amp import DynamicLossScaleManager
        >>> manager = DynamicLossScaleManager(init_loss_scale=1024, scale_factor=2, scale_window=1)
        >>> manager.update_loss_scale(True)
        >>> manager.get_loss_scale()
        512.0
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000):
        if init_loss_scale < 1.0:
            raise ValueError(f"'init_loss_scale' must be at least 1, but got {init_loss_scale}.")
        check.count("DynamicLossScaleManager", "scale_window", scale_window)
        if scale_factor <= 0:
            raise ValueError(f"'scale_factor' must be positive, but got {scale_factor}.")
        self.loss_scale: float = init_loss_scale
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter = 1
        self.last_overflow_iter = 0
        self.bad_step_max = _MOST_OVERFLOWS
        self.bad_step = 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: Any) -> None:
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise RuntimeError(f"The gradients overflowed in {self.bad_step} steps in a row; training cannot go on.")
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Always True: steps that overflow are left out."""
        return True

    def get_update_cell(self) -> Any:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)


# -- for loops written by hand ---------------------------------------------------------------------------------------------
def _grad_scale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Every tensor of a structure times the scale; scalers that users write call this."""
    return _map(lambda x: x * scale_value.astype(x.dtype), inputs)


def _grad_unscale_map(scale_value: Tensor, inputs: Any) -> Any:
    """Every tensor of a structure divided by the scale."""
    return _map(lambda x: x * ops.reciprocal(scale_value).astype(x.dtype), inputs)


class LossScaler(ABC):
    """Base of loss scalers: enlarge the loss, shrink the gradients, adjust by whether they were finite.

    Examples:
        >>> issubclass(amp.StaticLossScaler, amp.LossScaler)
        True
    """

    __ms_class__ = True  # its methods may be called in graph mode

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Multiply by the scale."""

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Divide by the scale."""

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Change the scale after a step."""


class StaticLossScaler(LossScaler):
    """A constant scale of at least 1.

    Examples:
        >>> scaler = amp.StaticLossScaler(scale_value=1024)
        >>> print(scaler.scale(Tensor(0.5)), scaler.unscale(Tensor(512.0)))
        512.0 0.5
    """

    def __init__(self, scale_value: float):
        self.scale_value = Parameter(Tensor(_check_scale(scale_value), mstype.float32), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        return _grad_scale_map(self.scale_value, inputs)

    def unscale(self, inputs: Any) -> Any:
        return _grad_unscale_map(self.scale_value, inputs)

    def adjust(self, grads_finite: Any) -> bool:
        return False


class DynamicLossScaler(StaticLossScaler):
    """A scale that is divided by `scale_factor` when gradients overflow, and multiplied by it after `scale_window`
    steps without overflow.

    Examples:
        >>> scaler = amp.DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=1)
        >>> _ = scaler.adjust(Tensor(False))
        >>> print(scaler.scale_value.asnumpy())
        512.0
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int):
        super().__init__(scale_value)
        self.scale_factor = check.count("DynamicLossScaler", "scale_factor", scale_factor)
        self.scale_window = check.count("DynamicLossScaler", "scale_window", scale_window)
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter")

    def adjust(self, grads_finite: Any) -> bool:
        grown = self.scale_value * self.scale_factor
        due = ops.logical_and(self.counter == self.scale_window - 1, ops.isfinite(grown))
        raised = ops.select(due, grown, self.scale_value * 1)
        lowered = ops.maximum(self.scale_value / self.scale_factor, Tensor(1.0, mstype.float32))
        scale = ops.select(grads_finite, raised, lowered)
        counter = (self.counter + 1) % self.scale_window * grads_finite.astype(mstype.int32)
        ops.assign(self.scale_value, scale)
        ops.assign(self.counter, counter.astype(mstype.int32))
        return True


def _map(function: Any, inputs: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return tuple(_map(function, item) for item in inputs)
    return function(inputs)


def _check_scale(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"'scale_value' must be a number, but got {type(value).__name__}.")
    if value < 1.0:
        raise ValueError(f"'scale_value' must be at least 1, but got {value}.")
    return float(value)


__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaleUpdateCell",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "FixedLossScaleUpdateCell",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "TrainOneStepWithLossScaleCell",
    "all_finite",
]
