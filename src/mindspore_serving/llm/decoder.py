"""A decoder as two compiled graphs: all layers over rows of tokens, and the head over the rows that want a next token.

Rows are tokens of any sequences. Whatever mixes numbers of a row adds them up in an order of its own (`PackedProduct`, `RowNorm`,
`RowPeak`), and attention sees the row's own sequence alone (`CachedAttention`); everything else goes number by number. So the
bits of a row do not depend on the rows beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import Parameter, Tensor, nn, ops
from mindspore.prims.cached_attention import PAGE, CachedAttention
from mindspore.prims.packed_product import PackedProduct, pack
from mindspore.prims.row_reductions import RowNorm, RowPeak
from mindspore_serving.llm.checkpoint import Array, Layer, Linear, Norm, Shape, Weights


def _parameter(array: Array | None) -> Any:
    """The array itself, not a copy: nobody else keeps it."""
    return None if array is None else Parameter(Tensor.from_numpy(array))


class PackedLinear(nn.Cell):
    def __init__(self, linear: Linear, kind: str) -> None:
        super().__init__()
        packed = pack(linear.weight, kind)
        self.weight, self.scales, self.bias = _parameter(packed.weight), _parameter(packed.scales), _parameter(linear.bias)
        self.product = PackedProduct(packed.outputs, kind)

    def construct(self, x: Any, residual: Any = None) -> Any:
        return self.product(x, self.weight, self.scales, self.bias, residual)


class RowsNorm(nn.Cell):
    def __init__(self, norm: Norm, shape: Shape) -> None:
        super().__init__()
        self.scale, self.shift = _parameter(norm.scale), _parameter(norm.shift)
        self.norm = RowNorm(shape.epsilon, shape.centred)

    def construct(self, x: Any) -> Any:
        return self.norm(x, self.scale, self.shift)


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + ops.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def _rotated(x: Any, cos: Any, sin: Any) -> Any:
    """Rotary positions (Su et al., RoFormer, 2021): x (rows, heads, width), its halves are the two coordinates of points."""
    rows, heads, width = x.shape
    halves = x.reshape(rows, heads, 2, width // 2)
    return (halves * cos + halves[:, :, ::-1] * sin).reshape(rows, heads, width)


class Block(nn.Cell):
    """A layer, with its part of the cache."""

    def __init__(self, shape: Shape, layer: Layer, kind: str, pages: int) -> None:
        super().__init__()
        self.shape = shape
        self.first, self.second = RowsNorm(layer.first, shape), RowsNorm(layer.second, shape)
        self.inward, self.outward = PackedLinear(layer.inward, kind), PackedLinear(layer.outward, kind)
        self.wide, self.narrow = PackedLinear(layer.wide, kind), PackedLinear(layer.narrow, kind)
        self.inner = layer.narrow.weight.shape[1]
        self.keys = _parameter(np.zeros((pages, shape.kv_heads, shape.head_width, PAGE), np.float32))
        self.values = _parameter(np.zeros((pages, shape.kv_heads, PAGE, shape.head_width), np.float32))
        self.attention = CachedAttention(shape.head_width**-0.5)

    def construct(self, x: Any, rotation: Any, positions: Any, tables: Any) -> Any:
        x = self.outward(self._attended(self.inward(self.first(x)), rotation, positions, tables), x)
        wide = self.wide(self.second(x))
        if self.shape.gated:
            gate = wide[:, : self.inner]
            wide = gate * ops.sigmoid(gate) * wide[:, self.inner :]
        else:
            wide = _gelu(wide)
        return self.narrow(wide, x)

    def _attended(self, inward: Any, rotation: Any, positions: Any, tables: Any) -> Any:
        shape = self.shape
        rows, turned = inward.shape[0], (shape.heads + shape.kv_heads) * shape.head_width
        queries_and_keys = inward[:, :turned].reshape(rows, -1, shape.head_width)
        if rotation is not None:
            queries_and_keys = _rotated(queries_and_keys, *rotation)
        q, k = queries_and_keys[:, : shape.heads], queries_and_keys[:, shape.heads :]
        v = inward[:, turned:].reshape(rows, shape.kv_heads, shape.head_width)
        return self.attention(q, k, v, self.keys, self.values, positions, tables)[0].reshape(rows, -1)


class Decoder(nn.Cell):
    def __init__(self, shape: Shape, weights: Weights, kind: str, pages: int) -> None:
        super().__init__()
        self.blocks = nn.CellList([Block(shape, layer, kind, pages) for layer in weights.layers])

    def construct(self, x: Any, rotation: Any, positions: Any, tables: Any) -> Any:
        for block in self.blocks:
            x = block(x, rotation, positions, tables)
        return x


class Head(nn.Cell):
    """(logits, the place of the largest, the logarithm of the sum of exponentials) of each row."""

    def __init__(self, shape: Shape, weights: Weights, kind: str) -> None:
        super().__init__()
        self.norm = RowsNorm(weights.norm, shape)
        self.linear = PackedLinear(weights.head, kind)
        self.peak = RowPeak()

    def construct(self, x: Any) -> Any:
        logits = self.linear(self.norm(x))
        return (logits, *self.peak(logits))


__all__ = ["Decoder", "Head"]
