"""AdaSum: gradients of several processes added as far as they are independent (Maleki et al. 2021).

Two gradients a and b become (1 - a·b / 2|a|²) a + (1 - a·b / 2|b|²) b: their sum when they are orthogonal, their mean when they
are parallel. More than two are combined pair by pair. With one process there is nothing to add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import ParameterTuple
from mindspore.nn.cell import Cell
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.prims.collective import WORLD, AllGather
from mindspore.prims.world import group_size

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


def adasum(gradients: list) -> Any:
    """The gradients of all processes as one."""
    while len(gradients) > 1:
        pairs = [_pair(a, b) for a, b in zip(gradients[::2], gradients[1::2])]
        gradients = pairs + gradients[len(gradients) - len(gradients) % 2 :]
    return gradients[0]


def _pair(a: Tensor, b: Tensor) -> Any:
    x, y = ops.cast(a, mstype.float32), ops.cast(b, mstype.float32)
    both = (x * y).sum()
    own, others = ops.maximum((x * x).sum(), 1e-30), ops.maximum((y * y).sum(), 1e-30)
    return ops.cast((1.0 - both / (2.0 * own)) * x + (1.0 - both / (2.0 * others)) * y, a.dtype)


def _over_processes(gradient: Tensor) -> Any:
    size = group_size(WORLD)
    if size == 1:
        return gradient
    gathered = AllGather()(ops.expand_dims(gradient, 0))
    return adasum([gathered[i] for i in range(size)])


def _checked(owner: str, optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"For '{owner}', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}.")
    return optimizer


class AdaSumByGradWrapCell(Cell):
    """An optimizer that steps by the AdaSum of the processes' gradients.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.AdaSumByGradWrapCell(nn.SGD([weight], 0.5))((ms.Tensor([1.0]),))
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    def __init__(self, optimizer: Any):
        super().__init__(auto_prefix=False)
        self.optimizer = _checked("AdaSumByGradWrapCell", optimizer)
        self.parameters = optimizer.parameters

    def construct(self, grads: Any) -> Any:
        return self.optimizer(tuple([_over_processes(grad) for grad in grads]))


class AdaSumByDeltaWeightWrapCell(Cell):
    """An optimizer whose processes each make their own step; the AdaSum of the steps is taken.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> _ = nn.AdaSumByDeltaWeightWrapCell(nn.SGD([weight], 0.5))((ms.Tensor([1.0]),))
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    def __init__(self, optimizer: Any):
        super().__init__(auto_prefix=False)
        self.optimizer = _checked("AdaSumByDeltaWeightWrapCell", optimizer)
        self.parameters = optimizer.parameters
        self.before = ParameterTuple(optimizer.parameters).clone(prefix="adasum_before", init="zeros")

    def construct(self, grads: Any) -> Any:
        for kept, parameter in zip(self.before, self.parameters):
            ops.assign(kept, parameter)
        done = self.optimizer(grads)
        for kept, parameter in zip(self.before, self.parameters):
            ops.assign(parameter, kept - _over_processes(kept - parameter))
        return done


__all__ = ["AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell"]
