"""Special functions with PyTorch's names."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.mint._signatures import implied_dim
from mindspore.ops import erfc, exp2, expm1, log1p, round, sinc
from mindspore.ops.arguments import cast

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax.

    Examples:
        >>> print(mint.special.log_softmax(Tensor([0.0, 0.0]), dim=0))
        [-0.6931472 -0.6931472]
    """
    from mindspore.ops.activation import log_softmax as apply

    return apply(cast(input, dtype), implied_dim(input) if dim is None else dim)
