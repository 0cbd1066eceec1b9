"""Networks around networks: with a loss, with gradients, as a training or an evaluation step."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mindspore import context, ops
from mindspore._base import dtype as mstype
from mindspore._base import flags
from mindspore.common.api import jit
from mindspore.common.gradient import Derivative
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn.cell import Cell, cast_floats
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.ops.operations.comm_ops import _VirtualDataset

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

_REDUCING_MODES = ("data_parallel", "hybrid_parallel")


class WithLossCell(Cell):
    """A network and its loss: `construct(data, label)` returns loss_fn(backbone(data), label).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> net = nn.WithLossCell(nn.ReLU(), nn.MSELoss())
        >>> net(ms.Tensor([-1.0, 2.0]), ms.Tensor([0.0, 0.0])).asnumpy().item()
        2.0
    """

    def __init__(self, backbone: Cell, loss_fn: Any):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Tensor) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without the loss."""
        return self._backbone


class WithGradCell(Cell):
    """Gradients of the trainable parameters of a network (with its loss, if `loss_fn` is given).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> grads = nn.WithGradCell(nn.Dense(2, 1), nn.MSELoss())(Tensor([[1.0, 2.0]]), Tensor([[1.0]]))
        >>> [g.shape for g in grads]
        [(1, 2), (1,)]
    """

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None):
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = ops.GradOperation(get_by_list=True, sens_param=sens is not None)
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        gradient = self.grad(self.network_with_loss, self.weights)
        return gradient(*inputs) if self.sens is None else gradient(*inputs, self.sens)


class ForwardValueAndGrad(Cell):
    """The value of a network or function, and its gradients.

    Args:
        weights: Parameters to differentiate when `get_by_list` is True.
        get_all: gradients of all inputs; otherwise of the first.
        sens_param: the last input is the sensitivity of the output.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> net = nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss())
        >>> step = nn.ForwardValueAndGrad(net, net.trainable_params(), get_by_list=True)
        >>> loss, grads = step(Tensor([[1.0, 2.0]]), Tensor([[1.0]]))
        >>> len(grads)
        2
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ):
        super().__init__(auto_prefix=False)
        if not isinstance(network, (Cell, FunctionType, MethodType)):
            raise TypeError(
                f"For 'ForwardValueAndGrad', 'network' must be a Cell or a function, but got {type(network).__name__}."
            )
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'ForwardValueAndGrad', '{name}' must be bool, but got {type(value).__name__}.")
        if get_by_list and not isinstance(weights, (tuple, list)):
            raise TypeError(
                "For 'ForwardValueAndGrad' with get_by_list=True, 'weights' must be a tuple or list of Parameters, "
                f"but got {type(weights).__name__}."
            )
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        places = "all" if get_all else None if get_by_list else 0
        self.value_and_grad = Derivative(
            network, places, weights if get_by_list else None, with_value=True, sens=sens_param
        )

    def construct(self, *inputs: Any) -> Any:
        return self.value_and_grad(*inputs)


class TrainOneStepCell(Cell):
    """One training step: loss, gradients, update; returns the loss.

    Args:
        network: computes the loss.
        optimizer: updates its parameters with the gradients.
        sens: what the loss is scaled by in the backward pass; give the optimizer the same `loss_scale`.
        return_grad: return (loss, gradients by parameter name).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> net = nn.Dense(1, 1, "ones", has_bias=False)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.25))
        >>> step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]])).asnumpy().item()
        1.0
        >>> net.weight.asnumpy().tolist()
        [[0.5]]
    """

    def __init__(self, network: Cell, optimizer: Cell, sens: float | None = None, return_grad: bool = False):
        super().__init__(auto_prefix=False)
        if sens == 0:
            raise ValueError("For 'TrainOneStepCell', 'sens' must not be 0.")
        if flags.online_debugger():
            jit(self)  # it stops between the operations of compiled steps, so PyNative mode has these, too
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = ops.GradOperation(get_by_list=True)
        self.value_and_grad = Derivative(network, None, self.weights, with_value=True)
        self.scaled_value_and_grad = Derivative(network, None, self.weights, with_value=True, sens=True)
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.parallel_mode = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag = self.parallel_mode in _REDUCING_MODES
        self.grad_reducer = DistributedGradReducer(self.weights) if self.reducer_flag else ops.identity

    def construct(self, *inputs: Any) -> Any:
        if self.sense_flag:
            loss, gradients = self.scaled_value_and_grad(*inputs, self.sens)
        else:
            loss, gradients = self.value_and_grad(*inputs)
        gradients = self.grad_reducer(gradients)
        self.optimizer(gradients)
        if self.return_grad:
            return loss, {weight.name: gradient for weight, gradient in zip(self.weights, gradients)}
        return loss


class WithEvalCell(Cell):
    """An evaluation step: `construct(data, label)` returns loss, output and label.

    With `add_cast_fp32` output and label are cast to float32 before the loss is computed.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> loss, out, label = nn.WithEvalCell(nn.Dense(2, 1), nn.MSELoss())(Tensor([[1.0, 2.0]]), Tensor([[1.0]]))
        >>> out.shape
        (1, 1)
    """

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False):
        super().__init__(auto_prefix=False)
        if not isinstance(add_cast_fp32, bool):
            raise TypeError(
                f"For 'WithEvalCell', 'add_cast_fp32' must be bool, but got {type(add_cast_fp32).__name__}."
            )
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data: Any, label: Tensor) -> Any:
        outputs = self._network(data)
        if self.add_cast_fp32:
            label = cast_floats(label, mstype.float32)
            outputs = cast_floats(outputs, mstype.float32)
        return self._loss_fn(outputs, label), outputs, label


class GetNextSingleOp(Cell):
    """The next row of a data queue, without inputs.

    Args:
        dataset_types: element types of the columns.
        dataset_shapes: shapes of the columns.
        queue_name: the queue, see `dataset.device_que`.

    Examples:
        >>> sink = ms.dataset.NumpySlicesDataset(np.float32([4.0, 9.0]), shuffle=False).device_que(queue_name="squares")
        >>> sink.send()
        >>> next_row = nn.GetNextSingleOp([ms.float32], [()], "squares")
        >>> print(next_row()[0], next_row()[0])
        4.0 9.0
        >>> sink.release()
    """

    def __init__(self, dataset_types: Any, dataset_shapes: Any, queue_name: str):
        super().__init__()
        self.get_next = ops.GetNext(dataset_types, dataset_shapes, len(dataset_types), queue_name)

    def construct(self) -> Any:
        return self.get_next()


class ParameterUpdate(Cell):
    """Write the input into a Parameter; returns the input.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> parameter = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> _ = nn.ParameterUpdate(parameter)(ms.Tensor([5.0]))
        >>> parameter.asnumpy().tolist()
        [5.0]
    """

    def __init__(self, param: Parameter):
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"For 'ParameterUpdate', 'param' must be a Parameter, but got {type(param).__name__}.")
        self._param = param

    def construct(self, x: Tensor) -> Any:
        ops.assign(self._param, x)
        return x


class VirtualDatasetCellTriple(Cell):
    """A network of three inputs, called as it is. Deprecated.

    Examples:
        >>> class Sum(nn.Cell):
        ...     def construct(self, x, y, z):
        ...         return x + y + z
        >>> print(nn.VirtualDatasetCellTriple(Sum())(Tensor([1.0]), Tensor([2.0]), Tensor([3.0])))
        [6.]
    """

    def __init__(self, backbone: Cell):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return self._backbone(a, b, c)


class _VirtualDatasetCell(Cell):
    """A network called as it is; where a batch is cut over devices, this is the place: as the strategy of `_virtual_dataset` says."""

    def __init__(self, backbone: Cell):
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._virtual_dataset = _VirtualDataset()

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*self._virtual_dataset(*inputs))


__all__ = [
    "ForwardValueAndGrad",
    "GetNextSingleOp",
    "ParameterUpdate",
    "TrainOneStepCell",
    "VirtualDatasetCellTriple",
    "WithEvalCell",
    "WithGradCell",
    "WithLossCell",
]
