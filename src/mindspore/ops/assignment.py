"""Functions that update a Parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.prims.state import Assign, AssignAdd, AssignSub

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["assign", "assign_add", "assign_sub"]


def assign(variable: Any, value: Any) -> Any:
    """Replace the value of a Parameter.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ops.assign(w, ms.Tensor([3.0]))
        >>> w.asnumpy().tolist()
        [3.0]
    """
    return Assign()(variable, value)


def assign_add(variable: Any, value: Any) -> Any:
    """Add to the value of a Parameter.

    Examples:
        >>> step = Parameter(Tensor([1.0, 2.0]), name="step")
        >>> _ = ops.assign_add(step, Tensor([10.0, 10.0]))
        >>> print(step.asnumpy())
        [11. 12.]
    """
    return AssignAdd()(variable, value)


def assign_sub(variable: Tensor, value: Any) -> Any:
    """Subtract from the value of a Parameter.

    Examples:
        >>> step = Parameter(Tensor([1.0, 2.0]), name="step")
        >>> _ = ops.assign_sub(step, Tensor([0.5, 0.5]))
        >>> print(step.asnumpy())
        [0.5 1.5]
    """
    return AssignSub()(variable, value)
