"""Combining gradients over devices."""

from __future__ import annotations

from typing import Any

from mindspore import context
from mindspore.nn.cell import Cell


class DistributedGradReducer(Cell):
    """Sum (or, with `mean`, average) the gradients of all devices of a group.

    Args:
        parameters: those the gradients belong to.
        mean: divide the sum by `degree`; by default what `set_auto_parallel_context(gradients_mean=…)` says.
        degree: how many gradients are summed; by default the number of devices.

    In one process, as here, the group has one member: its sum is the gradient itself.

    Examples:
        >>> from mindspore import nn
        >>> reducer = nn.DistributedGradReducer(nn.Dense(2, 3).trainable_params())
        >>> type(reducer).__name__
        'DistributedGradReducer'
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = "hccl_world_group",
    ):
        super().__init__(auto_prefix=False)
        if degree is not None and (isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree}.")
        self.mean = context.get_auto_parallel_context("gradients_mean") if mean is None else mean
        self.degree = degree or 1
        self.group = group

    def construct(self, grads: Any) -> Any:
        if not self.mean or self.degree == 1:
            return grads
        return tuple([g * (1.0 / self.degree) for g in grads])


class PipelineGradReducer(Cell):
    """Divide gradients summed over the parts of a batch by the scale of their loss.

    `construct(grads)` serves pipeline training, where `grads` are sums over micro-batches.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="weight")
        >>> print(nn.PipelineGradReducer([weight], scale_sense=4.0)((Tensor([8.0]),))[0])
        [2.]
    """

    def __init__(self, parameters: Any, scale_sense: float = 1.0, opt_shard: bool | None = None):
        super().__init__(auto_prefix=False)
        self.scale_sense = scale_sense
        self.opt_shard = opt_shard

    def construct(self, grads: Any) -> Any:
        return tuple([g * (1.0 / self.scale_sense) for g in grads])


__all__ = ["DistributedGradReducer", "PipelineGradReducer"]
