"""Cosine transforms."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import refuse_given, static_ints
from mindspore.ops.functional import dct, idct

__all__ = ["dct", "dctn", "idct", "idctn"]


def _over(transform: Any, x: Any, s: Any, axes: Any, norm: Any) -> Tensor:
    dims = tuple(range(x.ndim)) if axes is None else static_ints("dctn", "axes", axes)
    sizes = (None,) * len(dims) if s is None else static_ints("dctn", "s", s)
    if axes is None and s is not None:
        dims = dims[-len(sizes) :]
    for axis, n in zip(dims, sizes):
        x = transform(x, 2, n, axis, norm)
    return x


def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The cosine transform of type II over several dimensions."""
    refuse_given("dctn", type=type - 2)
    return _over(dct, x, s, axes, norm)


def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `dctn`."""
    refuse_given("idctn", type=type - 2)
    return _over(idct, x, s, axes, norm)
