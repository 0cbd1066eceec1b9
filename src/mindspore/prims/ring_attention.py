"""Attention over a sequence that is cut over devices, keys and values travelling in a ring (Liu et al. 2023).

Every device keeps its queries. Keys and values go from device to device; at each turn a device meets another block of them, and
adds it to what it has: the maximum of the scores so far, the sum of exponentials, and the weighted sum of values, rescaled where
the maximum grew (the softmax of one pass, Milakov and Gimelshein 2018). No device ever holds all keys, nor a score between
more than one block of queries and one of keys.

The gradient goes around twice: once for the sums of exponentials again and Σ p dp of each query, then with the gradients of the keys
and values, which travel with them and are at home after the last turn.

All devices run one graph, so a causal ring does not skip the blocks that lie in the future: they count as nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.prims.arrays import Concat
from mindspore.prims.broadcasting import ReduceSum, Reshape, sum_to_shape
from mindspore.prims.elementwise import Cast, Exp, FloorMod, Greater, Maximum
from mindspore.prims.exchange import Shift
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.mesh import Part
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.values import from_array

#: the label of queries and keys
LENGTH = "s"


class _Ring:
    """What the turns of one attention have in common."""

    def __init__(self, device: Any, scale: float, masked: float | None, q: Any, bias: Any):
        """`masked`: what is added to the scores of keys after their query; None: they count."""
        self.device, self.scale, self.masked, self.bias = device, scale, masked, _wide(bias) if bias is not None else None
        self.q, self.size, self.count = _wide(q), q.shape[-2], device.parts(LENGTH)
        self.index = device.index(LENGTH)
        self.shift = Shift(device.group(LENGTH))

    def turns(self, *blocks: Any) -> Iterator[tuple[Any, tuple]]:
        """The number of the block that is here, and what was sent around, turn by turn."""
        for turn in range(self.count):
            if turn:
                blocks = tuple(self.shift(b) for b in blocks)
            yield FloorMod()(self.index + (self.count - turn), self.count), blocks

    def scores(self, k: Any, block: Any) -> Any:
        found = BatchMatMul(False, True)(self.q, _wide(k)) * self.scale
        if self.bias is not None:
            whole = self.bias.shape[-1] != self.size * self.count
            found = found + (self.bias if whole else Part(self.bias.ndim - 1, self.count)(self.bias, block))
        if self.masked is not None:
            places = np.arange(self.size, dtype=np.int32)
            rows, columns = from_array(places[:, None]) + self.index * self.size, from_array(places[None]) + block * self.size
            found = found + Cast()(Greater()(columns, rows), found.dtype) * self.masked
        return found

    def in_order(self, found: list[Any]) -> Any:
        """Columns of all blocks, found turn by turn, in the order of the blocks."""
        joined = Concat(found[0].ndim - 1)(tuple(found))
        apart = Reshape()(joined, (*joined.shape[:-1], self.count, self.size))
        turn_of_block = FloorMod()(self.index + self.count - from_array(np.arange(self.count, dtype=np.int32)), self.count)
        return Reshape()(Gather()(apart, turn_of_block, apart.ndim - 2), joined.shape)


def _wide(x: Any) -> Any:
    return Cast()(x, mstype.float32) if x.dtype.itemsize < 4 else x


class _Softmax:
    """Sums of exponentials of scores, and of what they weigh, block by block."""

    def __init__(self) -> None:
        self.largest: Any = None
        self.total: Any = None
        self.weighted: Any = None

    def add(self, scores: Any, weigh: Any) -> None:
        """`weigh(p)`: the sum that exponentials p give."""
        top = ReduceMax(True)(scores, -1)
        largest = top if self.largest is None else Maximum()(self.largest, top)
        p = Exp()(scores - largest)
        total, weighted = ReduceSum(True)(p, -1), weigh(p)
        if self.largest is not None:
            shrunk = Exp()(self.largest - largest)
            total, weighted = self.total * shrunk + total, self.weighted * shrunk + weighted
        self.largest, self.total, self.weighted = largest, total, weighted


def ring_attention(device: Any, scale: float, masked: float | None, q: Any, k: Any, v: Any, bias: Any) -> Any:
    """A device's part of softmax(scale q kᵀ + bias) v."""
    ring, sums = _Ring(device, scale, masked, q, bias), _Softmax()
    for block, (keys, values) in ring.turns(k, v):
        sums.add(ring.scores(keys, block), lambda p, values=values: BatchMatMul()(p, _wide(values)))
    return Cast()(sums.weighted / sums.total, q.dtype)


def ring_attention_grad(
    device: Any, scale: float, masked: float | None, q: Any, k: Any, v: Any, bias: Any, dout: Any
) -> tuple[Any, Any, Any, Any]:
    """A device's parts of the gradients by q, k, v and the bias (None without one)."""
    ring, sums, given = _Ring(device, scale, masked, q, bias), _Softmax(), _wide(dout)

    def by_probabilities(values: Any) -> Any:
        return BatchMatMul(False, True)(given, _wide(values))

    for block, (keys, values) in ring.turns(k, v):
        sums.add(ring.scores(keys, block), lambda p, values=values: ReduceSum(True)(p * by_probabilities(values), -1))
    mean = sums.weighted / sums.total  # Σ p dp of each query
    dq, dk, dv, dscores = None, None, None, []
    for block, (keys, values) in ring.turns(k, v):
        p = Exp()(ring.scores(keys, block) - sums.largest) / sums.total
        ds = p * (by_probabilities(values) - mean)
        by_keys, by_values = BatchMatMul(True)(ds, ring.q) * scale, BatchMatMul(True)(p, given)
        by_queries = BatchMatMul()(ds, _wide(keys)) * scale
        dq = by_queries if dq is None else dq + by_queries
        dk, dv = (by_keys, by_values) if dk is None else (ring.shift(dk) + by_keys, ring.shift(dv) + by_values)
        dscores.append(ds)
    found = Cast()(dq, q.dtype), Cast()(ring.shift(dk), k.dtype), Cast()(ring.shift(dv), v.dtype)
    if bias is None:
        return *found, None
    return *found, Cast()(sum_to_shape(ring.in_order(dscores), bias.shape), bias.dtype)
