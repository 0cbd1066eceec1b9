"""The masked cross entropy of language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn.cell import Cell
from mindspore.nn.transformer.op_parallel_config import default_dpmp_config

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


class CrossEntropyLoss(Cell):
    """The mean over the tokens where `input_mask` is 1 of -log softmax(logits)[label].

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> loss = ms.nn.transformer.CrossEntropyLoss()
        >>> logits = ms.Tensor(np.zeros((2, 4), np.float32))
        >>> out = loss(logits, ms.Tensor([1, 2], ms.int32), ms.Tensor([1.0, 0.0], ms.float32))
        >>> round(float(out), 4)
        1.3863
    """

    def __init__(self, parallel_config: Any = default_dpmp_config):
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor, input_mask: Any) -> Any:
        scores = ops.log_softmax(ops.cast(logits, mstype.float32), -1)
        chosen = ops.gather_elements(scores, 1, ops.reshape(ops.cast(label, mstype.int64), (-1, 1)))
        mask = ops.reshape(input_mask, (-1,))
        return -ops.ReduceSum()(ops.reshape(chosen, (-1,)) * mask, ()) / (ops.ReduceSum()(mask, ()) + 1e-5)
