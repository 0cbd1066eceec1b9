"""Embeddings as functions: rows of a table by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_rank, require_tensor
from mindspore.ops.gather_scatter import gather
from mindspore.prims import elementwise as _ew
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.inplace import update
from mindspore.prims.values import from_array

__all__ = ["embedding"]


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of `weight` by index. The row `padding_idx` gets no gradient; `max_norm` first shortens the rows used.

    Examples:
        >>> table = Parameter(Tensor([[0.0, 0.0], [1.0, 1.5], [2.0, 2.5]]))
        >>> print(ops.embedding(Tensor([2, 1]), table))
        [[2.  2.5]
         [1.  1.5]]
    """
    require_rank("embedding", "weight", weight, 2, 2)
    require_tensor("embedding", "input", input)
    require_tensor("embedding", "weight", weight)
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ValueError(f"For 'embedding', 'padding_idx' must be in range [{-rows}, {rows}), but got {padding_idx}.")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    out = gather(weight, input, 0)
    if scale_grad_by_freq:
        out = _scale_by_frequency(out, input)
    if padding_idx is None:
        return out
    keep = Reshape()(_ew.NotEqual()(input, padding_idx % rows), (*input.shape, 1))
    return _ew.Select()(keep, out, _ew.StopGradient()(out))


def _shorten(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are used and too long, in place; to gradients the rows are what they were."""
    flat = Reshape()(index, (-1, 1))
    used = _ew.Equal()(flat, from_array(np.arange(weight.shape[0], dtype=index.dtype.np)))
    is_used = ReduceSum()(cast(used, mstype.float32), 0) > 0
    size = _ew.Pow()(ReduceSum(True)(_ew.Pow()(_ew.Abs()(weight), float(norm_type)), -1), 1.0 / norm_type)
    factor = _ew.Minimum()(max_norm / (size + 1e-7), 1.0)
    shorter = _ew.Select()(Reshape()(is_used, (-1, 1)), weight * factor, weight + 0.0)
    update(weight, weight + _ew.StopGradient()(shorter - weight))


def _scale_by_frequency(out: Tensor, index: Tensor) -> Any:
    """The same values, with gradients divided by how often each index occurs."""
    flat = Reshape()(index, (-1,))
    same = _ew.Equal()(Reshape()(flat, (-1, 1)), flat)
    counts = Reshape()(ReduceSum()(cast(same, out.dtype), 1), (*index.shape, 1))
    share = out / counts
    return share + _ew.StopGradient()(out - share)

