"""Layers that keep the second moments of their inputs and of their outputs' gradients, for the optimizer `nn.thor`.

In training, `matrix_a` holds the mean of x xᵀ over the rows of the last forward pass, and `matrix_g` that of the outputs'
gradients of the last backward pass: the two factors of the Fisher matrix of the weight (Martens & Grosse 2015).
The input of an embedding is one of its rows, so that its `matrix_a` is diagonal; the vector of the diagonal is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.layer.embedding import Embedding, EmbeddingLookup
from mindspore.prims.hooks import GradientHook
from mindspore.prims.setting_types import setting_types

__all__ = ["Conv2dThor", "DenseThor", "EmbeddingLookupThor", "EmbeddingThor"]


def _add_factors(cell: Any, inputs: int, outputs: int, diagonal: bool = False) -> None:
    first = np.ones(inputs) if diagonal else np.eye(inputs)
    cell.matrix_a = Parameter(Tensor(first, mstype.float32), name="matrix_a", requires_grad=False)
    cell.matrix_g = Parameter(Tensor(np.eye(outputs), mstype.float32), name="matrix_g", requires_grad=False)
    cell.watch = GradientHook(cell.keep_gradient)


def _second_moment(rows: Any) -> Any:
    """The mean of r rᵀ over the rows."""
    return ops.matmul(ops.transpose(rows, (1, 0)), rows) / float(rows.shape[0])


class _Factored(Cell):
    """What the layers share: the records of the two passes."""

    matrix_a: Parameter
    matrix_g: Parameter
    weight: Parameter
    watch: Any

    @property
    def factored_weight(self) -> Parameter:
        """The weight whose Fisher matrix has the factors."""
        return self.weight

    def rows_of_output(self, x: Any) -> Any:
        """Outputs as (positions, channels)."""
        return ops.reshape(x, (-1, x.shape[-1]))

    def keep_input(self, rows: Any) -> None:
        ops.assign(self.matrix_a, _second_moment(ops.cast(ops.stop_gradient(rows), mstype.float32)))

    def keep_gradient(self, gradients: tuple) -> tuple:
        ops.assign(self.matrix_g, _second_moment(ops.cast(self.rows_of_output(gradients[0]), mstype.float32)))
        return gradients


class DenseThor(_Factored, Dense):
    """A dense layer for `nn.thor`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.DenseThor(3, 4)(Tensor(np.ones((2, 3), np.float32))).shape
        (2, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, activation: Any = None,
    ):  # fmt: skip
        Dense.__init__(self, in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        _add_factors(self, in_channels, out_channels)

    def construct(self, x: Tensor) -> Any:
        if self.training:
            self.keep_input(ops.reshape(x, (-1, self.in_channels)))
        out = self.watch(ops.dense(x, self.weight, self.bias))[0]
        return self.activation(out) if self.activation_flag else out


class Conv2dThor(_Factored, Conv2d):
    """A 2-d convolution for `nn.thor`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv2dThor(2, 4, 3)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 4, 6, 6)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal",
        bias_init: Any = "zeros",
    ):  # fmt: skip
        if group != 1:
            raise ValueError(f"For 'Conv2dThor', 'group' must be 1, but got {group}.")
        Conv2d.__init__(
            self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias,
            weight_init, bias_init,
        )  # fmt: skip
        _add_factors(self, in_channels * self.kernel_size[0] * self.kernel_size[1], out_channels)

    def rows_of_output(self, x: Any) -> Any:
        return ops.reshape(ops.transpose(x, (0, 2, 3, 1)), (-1, x.shape[1]))

    def _patches(self, x: Any, out_shape: tuple) -> Any:
        """The windows as rows, padded as the convolution pads."""
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation)]
        needed = [(n - 1) * s + r for n, s, r in zip(out_shape[2:], self.stride, reach)]
        if self.pad_mode == "same":
            total = [max(n - size, 0) for n, size in zip(needed, x.shape[2:])]
            x = ops.pad(x, (total[1] // 2, total[1] - total[1] // 2, total[0] // 2, total[0] - total[0] // 2))
        elif self.pad_mode == "pad":
            pads = (self.padding,) * 4 if isinstance(self.padding, int) else tuple(self.padding)
            x = ops.pad(x, (pads[2], pads[3], pads[0], pads[1]))
        columns = ops.unfold(x[:, :, : needed[0], : needed[1]], self.kernel_size, self.dilation, 0, self.stride)
        return ops.reshape(ops.transpose(columns, (0, 2, 1)), (-1, columns.shape[1]))

    def construct(self, x: Tensor) -> Any:
        out = self.conv2d(x, self.weight)
        if self.training:
            self.keep_input(self._patches(x, out.shape))
        if self.has_bias:
            out = out + ops.reshape(self.bias, (1, -1, 1, 1))
        return self.watch(out)[0]


class _FactoredTable(_Factored):
    """What embeddings add: how often each row was asked for."""

    embedding_table: Parameter

    @property
    def factored_weight(self) -> Parameter:
        return self.embedding_table

    def keep_ids(self, ids: Any) -> None:
        ids = ops.reshape(ids, (-1,))
        counts = ops.bincount(ids, minlength=self.matrix_a.shape[0])
        ops.assign(self.matrix_a, ops.cast(counts, mstype.float32) / float(ids.shape[0]))


class EmbeddingThor(_FactoredTable, Embedding):
    """An embedding for `nn.thor`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.EmbeddingThor(10, 4)(Tensor([1, 2])).shape
        (2, 4)
    """

    @setting_types(use_one_hot=bool)
    def __init__(
        self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
        dtype: Any = mstype.float32, padding_idx: int | None = None,
    ):  # fmt: skip
        Embedding.__init__(self, vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
        _add_factors(self, vocab_size, embedding_size, diagonal=True)

    def construct(self, ids: Any) -> Any:
        if self.training:
            self.keep_ids(ids)
        return self.watch(Embedding.construct(self, ids))[0]


class EmbeddingLookupThor(_FactoredTable, EmbeddingLookup):
    """An `nn.EmbeddingLookup` for `nn.thor`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.EmbeddingLookupThor(10, 4)(Tensor([1, 2])).shape
        (2, 4)
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", manual_shapes: Any = None, max_norm: float | None = None, sparse: bool = True,
    ):  # fmt: skip
        EmbeddingLookup.__init__(
            self, vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse
        )
        _add_factors(self, vocab_size, embedding_size, diagonal=True)

    def construct(self, indices: Any) -> Any:
        if self.training:
            self.keep_ids(indices)
        return self.watch(EmbeddingLookup.construct(self, indices))[0]
