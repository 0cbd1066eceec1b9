"""A decoder as two compiled graphs: all layers over rows of tokens, and the head over the rows that want a next token.

Rows are tokens of any sequences. Whatever mixes numbers of a row adds them up in an order of its own (`PackedProduct`, `RowNorm`,
`RowPeak`), and attention sees the row's own sequence alone (`CachedAttention`); everything else goes number by number. So the
bits of a row do not depend on the rows beside it. Where processes share a model, `cut.py` says who computes what.

With weights of bfloat16 (for accelerators, `device_network.py`) norms give bfloat16, which products take and add up in float32; what goes
from layer to layer stays float32. `in_order=False` leaves orders to the accelerator's libraries.
"""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.prims.cached_attention import PAGE, CachedAttention
from mindspore.prims.packed_product import PackedProduct, pack
from mindspore.prims.row_reductions import RowNorm, RowPeak
from mindspore_serving.llm.adapters import Low
from mindspore_serving.llm.cache import Memory, cache_type
from mindspore_serving.llm.checkpoint import Layer, Linear, Norm, Shape, Weights
from mindspore_serving.llm.cut import Share, cut_head, cut_layer, cut_low, cut_shape


def _parameter(array: Any) -> Any:
    """The array (or tensor) itself, not a copy: nobody else keeps it."""
    return None if array is None else Parameter(array if isinstance(array, Tensor) else Tensor.from_numpy(array))


class PackedLinear(nn.Cell):
    """A product, to which adapters may add (`adapters.py`); `adapter`: (rows, 1), the number of each row's, or None."""

    def __init__(self, linear: Linear, kind: str, low: Low | None = None, in_order: bool = True) -> None:
        super().__init__()
        packed = pack(linear.weight, kind)
        self.weight, self.scales, self.bias = (
            _parameter(packed.weight),
            _parameter(packed.scales),
            _parameter(linear.bias),
        )
        self.product = PackedProduct(packed.outputs, kind, in_order)
        self.owners = None
        if low is not None:
            kind = "bfloat16" if kind == "bfloat16" else "float32"
            self.owners = _parameter(low.owners)
            self.down, self.up = (PackedLinear(Linear(part), kind, None, in_order) for part in (low.down, low.up))

    def construct(self, x: Any, residual: Any = None, adapter: Any = None) -> Any:
        found = self.product(x, self.weight, self.scales, self.bias, residual)
        if adapter is None or self.owners is None:
            return found
        between = self.down(x)
        return self.up(ops.where(adapter == self.owners, between, ops.zeros_like(between)), found)


class RowsNorm(nn.Cell):
    def __init__(self, norm: Norm, epsilon: float, centred: bool, half: bool = False, in_order: bool = True) -> None:
        super().__init__()
        self.scale, self.shift = _parameter(norm.scale), _parameter(norm.shift)
        self.norm = RowNorm(epsilon, centred, half, in_order)

    def construct(self, x: Any) -> Any:
        return self.norm(x, self.scale, self.shift)


def gelu(x: Any, exact: bool) -> Any:
    """Hendrycks and Gimpel's GELU (2016): x times the share of a normal distribution below x, or the approximation by tanh."""
    if exact:
        return 0.5 * x * (1.0 + ops.erf(x * 0.7071067811865476))
    return 0.5 * x * (1.0 + ops.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def _rotated(x: Any, cos: Any, sin: Any) -> Any:
    """Rotary positions (Su et al., RoFormer, 2021): x (rows, heads, width), its halves are the two coordinates of points."""
    rows, heads, width = x.shape
    halves = x.reshape(rows, heads, 2, width // 2)
    return (halves * cos + halves[:, :, ::-1] * sin).reshape(rows, heads, width)


def _normed(norm: Any, x: Any) -> Any:
    """Heads of rows, each by itself."""
    return norm(x.reshape(-1, x.shape[-1])).reshape(x.shape)


class Joined(nn.Cell):
    """What all parts have, side by side: (rows, width) of each → (rows, parts · width)."""

    def __init__(self, parts: int, group: str) -> None:
        super().__init__()
        self.parts = parts
        self.gather = ops.AllGather(group) if parts > 1 else nn.Identity()

    def construct(self, x: Any) -> Any:
        if self.parts == 1:
            return x
        rows = x.shape[0]
        return self.gather(x).reshape(self.parts, rows, -1).swapaxes(0, 1).reshape(rows, -1)


class Block(nn.Cell):
    """A layer, with its part of the cache; `shape`, `layer` and `low` are of this process's part."""

    def __init__(
        self,
        shape: Shape,
        layer: Layer,
        kind: str,
        pages: int,
        low: dict[str, Low],
        share: Share,
        group: str,
        in_order: bool,
        window: int,
    ) -> None:
        super().__init__()
        self.shape, half = shape, kind == "bfloat16"
        mine = share.span(shape.width)
        self.joined, self.begin, self.end = Joined(share.parts, group), mine.start, mine.stop
        self.first, self.second = (
            RowsNorm(norm, shape.epsilon, shape.centred, half, in_order) for norm in (layer.first, layer.second)
        )
        self.inward, self.outward, self.wide, self.narrow = (
            PackedLinear(getattr(layer, n), kind, low.get(n), in_order) for n in ("inward", "outward", "wide", "narrow")
        )
        shapes = (pages, shape.kv_heads, shape.head_width, PAGE), (pages, shape.kv_heads, PAGE, shape.head_width)
        self.memory = [] if half else [Memory(cache, cache_type(kind)) for cache in shapes]
        if half:  # where the accelerator is
            self.keys, self.values = (
                Parameter(ops.zeros(cache, ms.bfloat16), requires_grad=False) for cache in shapes
            )
        else:
            self.keys, self.values = (_parameter(memory.array) for memory in self.memory)
        self.queries_norm, self.keys_norm = (
            None if norm is None else RowsNorm(norm, shape.epsilon, shape.centred, False, in_order)
            for norm in (layer.queries, layer.keys)
        )
        self.attention = CachedAttention(shape.head_width**-0.5, trusted=half, half=half, window=window)

    def construct(self, x: Any, rotation: Any, positions: Any, tables: Any, adapter: Any, queries: Any) -> Any:
        inward = self.inward(self.first(x), None, adapter)
        x = self._added(self.outward, self._attended(inward, rotation, positions, tables, queries), x, adapter)
        wide = self.wide(self.second(x), None, adapter)
        if self.shape.gated:
            gate = wide[:, : self.shape.inner]
            wide = gate * ops.sigmoid(gate) * wide[:, self.shape.inner :]
        else:
            wide = gelu(wide, self.shape.exact_gelu)
        return self._added(self.narrow, wide, x, adapter)

    def _added(self, product: PackedLinear, given: Any, x: Any, adapter: Any) -> Any:
        """x + product(given), where each part has its own of what is given, and of the sum."""
        if self.joined.parts == 1:
            return product(given, x, adapter)
        return self.joined(product(self.joined(given), x[:, self.begin : self.end], adapter))

    def _attended(self, inward: Any, rotation: Any, positions: Any, tables: Any, queries: Any) -> Any:
        """`queries`: what the rows ask, where that does not come from them (`inward` then holds keys and values alone)."""
        shape = self.shape
        if queries is not None:
            inward = ops.cat((queries, inward), 1)
        rows, turned = inward.shape[0], (shape.heads + shape.kv_heads) * shape.head_width
        queries_and_keys = inward[:, :turned].reshape(rows, -1, shape.head_width)
        if self.queries_norm is not None:
            q, k = queries_and_keys[:, : shape.heads], queries_and_keys[:, shape.heads :]
            queries_and_keys = ops.cat((_normed(self.queries_norm, q), _normed(self.keys_norm, k)), 1)
        if rotation is not None:
            queries_and_keys = _rotated(queries_and_keys, *rotation)
        q, k = queries_and_keys[:, : shape.heads], queries_and_keys[:, shape.heads :]
        v = inward[:, turned:].reshape(rows, shape.kv_heads, shape.head_width)
        return self.attention(q, k, v, self.keys, self.values, positions, tables)[0].reshape(rows, -1)


class Decoder(nn.Cell):
    """The layers of a share. `adapter`: the number of each row's, None where no row has one; `queries`: of the last layer, if they are
    its own. `group`: the processes that have the other parts of these layers."""

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        kind: str,
        pages: int,
        low: dict[tuple[int, str], Low],
        share: Share,
        group: str,
        in_order: bool = True,
    ) -> None:
        super().__init__()

        def block(number: int) -> Block:
            mine = {product: found for (layer, product), found in low.items() if layer == number}
            layer = cut_layer(weights.layer(number), shape, share)
            return Block(
                cut_shape(shape, share), layer, kind, pages, cut_low(mine, shape, share), share, group, in_order,
                shape.window(number),
            )  # fmt: skip

        self.blocks = nn.CellList([block(number) for number in share.layers(shape)])
        asks = weights.queries is not None and share.is_last
        self.norm = RowsNorm(weights.norm, shape.epsilon, shape.centred) if asks else None

    def construct(
        self, x: Any, rotation: Any, positions: Any, tables: Any, adapter: Any = None, queries: Any = None
    ) -> Any:
        last = len(self.blocks) - 1
        for number, block in enumerate(self.blocks):
            if number == last and self.norm is not None:
                x = self.norm(x)
            x = block(x, rotation, positions, tables, adapter, queries if number == last else None)
        return x


class Head(nn.Cell):
    """(logits, the place of the largest, the logarithm of the sum of exponentials) of each row."""

    def __init__(self, shape: Shape, weights: Weights, kind: str, share: Share, group: str) -> None:
        super().__init__()
        self.norm = RowsNorm(weights.norm, shape.epsilon, shape.centred) if weights.queries is None else nn.Identity()
        self.linear = PackedLinear(cut_head(weights, share), kind)
        self.joined, self.tokens = Joined(share.parts, group), shape.vocabulary
        self.peak = RowPeak()

    def construct(self, x: Any) -> Any:
        logits = self.joined(self.linear(self.norm(x)))
        if self.joined.parts > 1:
            logits = logits[:, : self.tokens]  # of parts that are equally large
        return (logits, *self.peak(logits))


__all__ = ["Decoder", "Head", "PackedLinear", "RowsNorm", "gelu"]
