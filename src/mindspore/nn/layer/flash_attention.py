"""FlashAttention as a layer, as MindSpore 2.2 had it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn.cell import Cell
from mindspore.ops.arguments import refuse_given

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["FlashAttention"]

_ALL = 65536  # blocks that may be seen before and after one


class FlashAttention(Cell):
    """Attention of (batch, heads, length, size) without keeping the matrix of scores; masks are 1 where a key is left out.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor
        >>> from mindspore.nn.layer.flash_attention import FlashAttention
        >>> x = Tensor(np.ones((1, 2, 4, 8), np.float32))
        >>> FlashAttention(8, 2)(x, x, x).shape
        (1, 2, 4, 8)
    """

    def __init__(
        self, head_dim: int, head_num: int, dropout_rate: float = 0.0, prev_block_num: int = _ALL,
        next_block_num: int = _ALL, tiling_stgy_name: str = "sparse", dp: int = 1, mp: int = 1,
        high_precision: bool = False, have_attention_mask_batch: bool = True, alibi: bool = False,
        use_mqa: bool = False,
    ):  # fmt: skip
        refuse_given("FlashAttention", prev_block_num=prev_block_num - _ALL, next_block_num=next_block_num - _ALL)
        super().__init__()
        self.head_num, self.scale, self.keep_prob = head_num, 1 / math.sqrt(head_dim), 1.0 - dropout_rate

    def construct(self, query: Tensor, key: Tensor, value: Any, attn_mask: Any = None, alibi_mask: Any = None) -> Any:
        shift = None if alibi_mask is None else alibi_mask / self.scale
        if attn_mask is not None:
            attn_mask = ops.not_equal(attn_mask, 0)
        return ops.flash_attention_score(
            query, key, value, self.head_num, real_shift=shift, attn_mask=attn_mask,
            keep_prob=self.keep_prob if self.training else 1.0, scalar_value=self.scale, input_layout="BNSD",
        )  # fmt: skip

    def shard(self, *strategies: Any) -> Any:  # type: ignore[override]
        """One process: nothing to cut."""
        return self
