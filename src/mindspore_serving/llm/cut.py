"""A language model cut over processes: by the outputs of its products (tensor parallel), by its layers (pipeline parallel), or both.

    rank     0        1        2        3            two stages of two parts
    layers   first half ────   second half ───
    heads    first    second   first    second       of attention, with their keys and values; likewise half of every product's outputs

Parts hold the rows of weights whose outputs they compute, and nothing else of them; what they computed is put side by side
(AllGather) before the next operation that mixes numbers of a row. In the words of `shard`: every product has the strategy
((1, 1), (parts, 1)), attention ((1, parts, 1),) * 3. Shoeybi et al. (Megatron-LM, 2019) cut every second product by its inputs instead,
which sends less, but adds up sums in another order: here each sum is one process's own, so **the answer has the same bits
whatever the number of processes**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mindspore_serving.llm.adapters import Low
from mindspore_serving.llm.checkpoint import Array, Layer, Linear, Shape, Weights


@dataclass(frozen=True)
class Share:
    """What one process has: part `part` of `parts` of the products of stage `stage` of `stages`."""

    part: int = 0
    parts: int = 1
    stage: int = 0
    stages: int = 1

    @classmethod
    def of(cls, rank: int, parts: int, stages: int) -> Share:
        return cls(rank % parts, parts, rank // parts, stages)

    @property
    def is_first(self) -> bool:
        return self.stage == 0

    @property
    def is_last(self) -> bool:
        return self.stage == self.stages - 1

    @property
    def rank(self) -> int:
        return self.stage * self.parts + self.part

    def layers(self, shape: Shape) -> range:
        """The layers of this stage; where they do not divide, later stages, which also have the head, get fewer."""
        least, more = divmod(shape.layers, self.stages)
        first = self.stage * least + min(self.stage, more)
        return range(first, first + least + (self.stage < more))

    def span(self, size: int) -> slice:
        """This part's of so many equal things; if there are fewer than parts, one that others have, too."""
        if size < self.parts:
            return slice(self.part * size // self.parts, self.part * size // self.parts + 1)
        each = size // self.parts
        return slice(self.part * each, (self.part + 1) * each)


WHOLE = Share()


def check(shape: Shape, parts: int, stages: int) -> None:
    """ValueError unless a model can be cut so."""
    for name, size in (("heads", shape.heads), ("numbers in a state", shape.width), ("numbers between the products", shape.inner)):
        if size % parts:
            raise ValueError(f"the model has {size} {name}, which {parts} processes cannot share evenly")
    if shape.kv_heads % parts and parts % shape.kv_heads:
        raise ValueError(f"the model has {shape.kv_heads} heads of keys and values, which {parts} processes cannot share evenly")
    if stages > shape.layers:
        raise ValueError(f"the model has {shape.layers} layers, fewer than the {stages} stages of the pipeline")


def cut_shape(shape: Shape, share: Share) -> Shape:
    """The shape of a part's own computation."""
    kv_heads = max(shape.kv_heads // share.parts, 1)
    return replace(shape, heads=shape.heads // share.parts, kv_heads=kv_heads, inner=shape.inner // share.parts)


def cut_layer(layer: Layer, shape: Shape, share: Share) -> Layer:
    if share.parts == 1:
        return layer
    products = {name: _rows(name, shape, share) for name in ("inward", "outward", "wide", "narrow")}
    if len(layer.inward.weight) == 2 * shape.kv_heads * shape.head_width:  # keys and values alone
        products["inward"] = _shifted(products["inward"][1:], -shape.heads * shape.head_width)
    inward, outward, wide, narrow = (cut_linear(getattr(layer, name), rows) for name, rows in products.items())
    return replace(layer, inward=inward, outward=outward, wide=wide, narrow=narrow)


def cut_low(low: dict[str, Low], shape: Shape, share: Share) -> dict[str, Low]:
    """Adapters of a layer's products."""
    if share.parts == 1:
        return low
    return {name: replace(one, up=_taken(one.up, _rows(name, shape, share))) for name, one in low.items()}


def cut_head(weights: Weights, share: Share) -> Linear:
    """Outputs are tokens; those that are missing of the last part are zeros."""
    if share.parts == 1:
        return weights.head
    whole = weights.head.weight
    each = -(-len(whole) // share.parts)
    mine = whole[share.part * each : (share.part + 1) * each]
    return Linear(np.concatenate([mine, np.zeros((each - len(mine), whole.shape[1]), whole.dtype)]))


def cut_queries(queries: Array, shape: Shape, share: Share) -> Array:
    """By position; those of this part's heads."""
    heads = share.span(shape.heads)
    return queries[:, heads.start * shape.head_width : heads.stop * shape.head_width]


def cut_linear(linear: Linear, rows: Sequence[slice]) -> Linear:
    return Linear(_taken(linear.weight, rows), None if linear.bias is None else _taken(linear.bias, rows))


def _rows(product: str, shape: Shape, share: Share) -> list[slice]:
    """Which outputs of a product a part computes."""
    if product == "inward":
        width, queries, keys = shape.head_width, share.span(shape.heads), share.span(shape.kv_heads)
        starts = (0, shape.heads, shape.heads + shape.kv_heads)
        return [slice((at + own.start) * width, (at + own.stop) * width) for at, own in zip(starts, (queries, keys, keys))]
    if product == "wide":
        inner = share.span(shape.inner)
        return [inner, *_shifted([inner], shape.inner)] if shape.gated else [inner]
    return [share.span(shape.width)]


def _shifted(rows: Sequence[slice], by: int) -> list[slice]:
    return [slice(one.start + by, one.stop + by) for one in rows]


def _taken(array: Array, rows: Sequence[slice]) -> Array:
    return np.concatenate([array[one] for one in rows])


__all__ = ["WHOLE", "Share", "check", "cut_head", "cut_layer", "cut_low", "cut_queries", "cut_shape"]
