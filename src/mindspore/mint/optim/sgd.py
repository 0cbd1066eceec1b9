"""Stochastic gradient descent with PyTorch's arguments and the state that checkpoints of `mint.optim` have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.common.parameter import Parameter
from mindspore.experimental.optim import SGD as _SGD

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class SGD(_SGD):
    """v = momentum * v + (1 - dampening) * gradient, at first the gradient; parameter -= lr * v.

    With `nesterov` the step is lr * (gradient + momentum * v). `maximize` goes up instead of down.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import mint
        >>> weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        >>> mint.optim.SGD([weight], lr=0.5)((ms.Tensor([1.0]),))
        True
        >>> weight.asnumpy().tolist()
        [0.5]
    """

    step_name = "step_t"

    def make_state(self) -> None:
        self.slots("momentum_buf")

    def update(self, index: int, parameter: Parameter, gradient: Tensor, lr: Any, group: dict) -> None:
        direction = gradient
        if group["momentum"] != 0:
            kept = self.momentum_buf[index]
            moved = kept * group["momentum"] + gradient * (1 - group["dampening"])
            velocity = ops.cast(ops.where(self.step_t == 0, gradient, moved), kept.dtype)
            ops.assign(kept, velocity)
            direction = gradient + velocity * group["momentum"] if group["nesterov"] else velocity
        ops.assign(parameter, ops.cast(parameter - lr * direction, parameter.dtype))


__all__ = ["SGD"]
