"""Channel shuffling (Zhang et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn import checks
from mindspore.nn.cell import Cell

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Cell):
    """Interleave groups of channels of (N, C, *).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.ChannelShuffle(2)(Tensor(np.ones((1, 4, 3, 3), np.float32))).shape
        (1, 4, 3, 3)
    """

    def __init__(self, groups: int):
        super().__init__()
        self.groups = checks.positive_int("ChannelShuffle", "groups", groups)

    def construct(self, x: Tensor) -> Any:
        return ops.channel_shuffle(x, self.groups)

    def extend_repr(self) -> str:
        return f"groups={self.groups}"
