"""The feed-forward part of a transformer layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn.cell import Cell
from mindspore.nn.layer.dropout import Dropout
from mindspore.nn.transformer.layers import _Linear, activation_cell
from mindspore.nn.transformer.op_parallel_config import default_dpmp_config

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class FeedForward(Cell):
    """Two linear maps with an activation between and dropout behind."""

    def __init__(
        self, hidden_size: int, ffn_hidden_size: int, dropout_rate: float, hidden_act: Any = "gelu",
        expert_num: int = 1, expert_group_size: Any = None, param_init_type: Any = mstype.float32,
        parallel_config: Any = default_dpmp_config,
    ):  # fmt: skip
        super().__init__()
        if not 0 <= dropout_rate < 1:
            raise ValueError(f"For 'FeedForward', 'dropout_rate' must be in range [0, 1), but got {dropout_rate}.")
        if hidden_act is None:
            raise TypeError(
                "For 'FeedForward', 'hidden_act' must be the name of an activation or a Cell class, but got None."
            )
        activation_cell("FeedForward", hidden_act)
        options = {"transpose_b": False, "expert_num": expert_num, "param_init_type": param_init_type}
        self.mapping = _Linear(hidden_size, ffn_hidden_size, activation=hidden_act, **options)
        self.projection = _Linear(ffn_hidden_size, hidden_size, **options)
        self.dropout = Dropout(p=dropout_rate)

    def construct(self, x: Tensor) -> Any:
        return self.dropout(self.projection(self.mapping(ops.cast(x, mstype.float16))))
