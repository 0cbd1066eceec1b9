"""Functions on tensors that are cut over devices."""

from __future__ import annotations

from typing import Any

from mindspore.parallel.shard import Layout
from mindspore.prims.active import ACTIVE
from mindspore.prims.mesh import Laid
from mindspore.prims.values import TensorBase

__all__ = ["reshard"]


def reshard(tensor: Any, layout: Layout) -> Any:
    """The tensor in another layout, where a graph is cut over devices; else the tensor.

    Examples:
        >>> layout = ms.Layout((1,), ("x",))
        >>> print(ms.reshard(Tensor([1.0, 2.0]), layout("x")))
        [1. 2.]
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"Reshard takes in Tensor type as the first input, but got: {type(tensor)}.")
    if not isinstance(layout, Layout):
        raise TypeError(f"Reshard only support type mindspore.parallel.Layout, but got: {type(layout)}.")
    cuts = layout.cuts()
    if len(cuts) != len(tensor.shape):
        raise ValueError(
            f"The layout is one of a tensor of {len(cuts)} dimensions, but the tensor has shape {tensor.shape}."
        )
    for size, cut in zip(tensor.shape, cuts):
        if size % cut:
            raise ValueError(f"A dimension of {size} elements cannot be cut into {cut} equal parts (layout {cuts}).")
    return Laid("reshard").shard((layout,))(tensor) if ACTIVE.builder is not None else tensor
