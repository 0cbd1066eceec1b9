"""The forward pass over tokens of many sequences: rows for the compiled decoder (`decoder.py`), scores for the sampler.

Rows are filled up to one of a few numbers, so that there are few graphs to compile. So the answer to a request is the same alone, in
any batch, with any part of the prompt found in the cache, and after preemption.

Where processes share a model (`cut.py`), each has a Network of its share, and all are given the same parts. Those of a pipeline's later
stages get the rows' states from the stage before; a step's rows go through it in as many pieces as there are stages (Huang et al., GPipe,
2019), so that all of them have work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import mindspore as ms
from mindspore.communication import comm_func
from mindspore_serving.llm.adapters import joined
from mindspore_serving.llm.cache import BLOCK
from mindspore_serving.llm.checkpoint import Array, Shape, Weights
from mindspore_serving.llm.cut import WHOLE, Share, cut_queries
from mindspore_serving.llm.decoder import Decoder, Head
from mindspore_serving.llm.sampling import Draw, Scores

#: the group of a process that has a stage to itself
_ALONE = "hccl_world_group"
#: pages that a table has at least, so that short sequences need no graph of their own
_SHORTEST_TABLE = 64


@dataclass
class Part:
    """Tokens of one sequence for a step: they stand at `start`…, their keys and values go to the pages of `table`.

    Scores are wanted of what follows the last `wanted` tokens; `embeds`: in their place, the state behind the last norm.
    """

    tokens: list[int]
    start: int
    table: list[int]
    wanted: int
    embeds: bool = False
    adapter: int = 0  # 0: none
    draw: Draw | None = None  # how the network chooses the token, where it does
    follows: int = -1  # the row of the step before whose token is the first of these; -1: it is known


class Network:
    """`share`: what this process has of the model, `group`: the processes that have the other parts of its stage."""

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        kind: str,
        pages: int,
        adapters: Sequence[str] = (),
        share: Share = WHOLE,
        group: str = _ALONE,
    ) -> None:
        self.shape, self._share = shape, share
        self._embedding, self._positions = weights.embedding, weights.positions
        self._queries = (
            None if weights.queries is None or not share.is_last else cut_queries(weights.queries, shape, share)
        )
        low = joined(adapters, shape) if adapters else {}
        decoder = Decoder(shape, weights, kind, pages, low, share, group)
        self._memory = [memory for block in decoder.blocks for memory in block.memory]
        self._decoder = ms.jit(decoder)
        if share.is_last:
            head = Head(
                shape, weights, "int8" if kind == "int4" else kind, share, group
            )  # few bits cost most in the last product
            self._head, self._norm = ms.jit(head), ms.jit(head.norm)

    #: steps that may be begun before the first one's results are taken in
    ahead = 0

    def begin(self, parts: Sequence[Part]) -> Callable[[], list[Scores]]:
        """A step, which is done when this returns."""
        found = self.forward(parts)
        return lambda: found

    def rows_of(self, parts: Sequence[Part]) -> list[int]:
        """No step names rows of another."""
        return [-1] * len(parts)

    def forward(self, parts: Sequence[Part]) -> list[Scores]:
        """Scores of what follows the tokens that are wanted, in their order; they are known to the last stage alone."""
        return [scores for piece in _pieces(parts, self._share.stages) for scores in self._forward(piece)]

    def _forward(self, parts: Sequence[Part]) -> list[Scores]:
        counts = [len(part.tokens) for part in parts]
        rows = sum(counts)
        size = filled(rows)
        places = np.zeros(size, np.int32)
        places[:rows] = np.concatenate(
            [np.arange(part.start, part.start + count) for part, count in zip(parts, counts)]
        )
        adapter = np.zeros((size, 1), np.int32)
        adapter[:rows, 0] = np.repeat([part.adapter for part in parts], counts)
        hidden = self._decoder(
            self._states(parts, places), self._rotation(places), ms.Tensor(places), ms.Tensor(tables_of(parts, counts, size)),
            ms.Tensor(adapter) if adapter.any() else None, None if self._queries is None else ms.Tensor(self._queries[places]),
        )  # fmt: skip
        if not self._share.is_last:
            comm_func.send(hidden, self._share.rank + self._share.parts)
            return []
        ends = np.cumsum(counts)
        wanted = [(row, part.embeds) for part, end in zip(parts, ends) for row in range(end - part.wanted, end)]
        scored, embedded = ([row for row, embeds in wanted if embeds is kind] for kind in (False, True))
        states = hidden.asnumpy()
        scores, embeddings = iter(self._scores(states[scored])), iter(self._embeddings(states[embedded]))
        return [next(embeddings if embeds else scores) for _, embeds in wanted]

    def _states(self, parts: Sequence[Part], places: Array) -> Any:
        """What goes into the first layer: embeddings, or what the stage before made of them."""
        x = np.zeros((len(places), self.shape.width), np.float32)
        if not self._share.is_first:
            return comm_func.recv(ms.Tensor(x), self._share.rank - self._share.parts)
        tokens = [token for part in parts for token in part.tokens]
        x[: len(tokens)] = self._embedding[tokens]
        if self._positions is not None:
            x[: len(tokens)] += self._positions[places[: len(tokens)]]
        return ms.Tensor(x)

    def warm(self, rows: int, prompt: bool) -> None:
        """Compile the graphs for so many rows: of one prompt, or of as many sequences that are continued."""
        sizes = [rows] if prompt else [1] * rows
        self.forward([Part([0] * size, 0, [0] * -(-size // BLOCK), 1) for size in sizes])

    def prepare(self, first: int, last: int) -> None:
        """Have the memory of the cache's pages first … last - 1, which will be needed."""
        for memory in self._memory:
            memory.prepare(first, last)

    def close(self) -> None:
        """Nothing outside of this process is held."""

    def _scores(self, hidden: Array) -> list[Scores]:
        if not len(hidden):
            return []
        logits, places, totals = (value.asnumpy() for value in self._head(_padded(hidden)))
        return [Scores(logits[n], int(places[n]), float(totals[n])) for n in range(len(hidden))]

    def _embeddings(self, hidden: Array) -> list[Scores]:
        return (
            [Scores(state, 0, 0.0) for state in self._norm(_padded(hidden)).asnumpy()[: len(hidden)]]
            if len(hidden)
            else []
        )

    def _rotation(self, places: Array) -> Any:
        return None if self.shape.rotation is None else tuple(map(ms.Tensor, self.shape.rotation.tables(places)))


def _pieces(parts: Sequence[Part], count: int) -> Iterator[list[Part]]:
    """The same tokens in so many steps, one after the other, of about as many tokens each."""
    total = sum(len(part.tokens) for part in parts)
    for number in range(count):
        piece = list(_between(parts, total * number // count, total * (number + 1) // count))
        if piece:
            yield piece


def _between(parts: Sequence[Part], begin: int, end: int) -> Iterator[Part]:
    """Tokens begin … end - 1 of all."""
    for part in parts:
        size = len(part.tokens)
        first, last = max(begin, 0), min(end, size)
        if first < last:
            wanted = min(max(part.wanted - (size - last), 0), last - first)
            yield replace(part, tokens=part.tokens[first:last], start=part.start + first, wanted=wanted)
        begin, end = begin - size, end - size


def tables_of(parts: Sequence[Part], counts: list[int], size: int) -> Array:
    """The pages of every row's sequence."""
    longest = max(-(-(part.start + count) // BLOCK) for part, count in zip(parts, counts))
    tables = np.zeros((size, max(_SHORTEST_TABLE, 1 << (longest - 1).bit_length())), np.int32)
    at = 0
    for part, count in zip(parts, counts):
        tables[at : at + count, : len(part.table)] = part.table
        at += count
    return tables


def _padded(rows: Array) -> ms.Tensor:
    padded = np.zeros((filled(len(rows)), rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    return ms.Tensor(padded)


def filled(rows: int) -> int:
    """The next of 1, 2, 4, 8, 12, 16, 24, 32, 48, 64 …"""
    size = 1 << (rows - 1).bit_length()
    return size * 3 // 4 if size > 8 and rows <= size * 3 // 4 else size


__all__ = ["Network", "Part", "filled", "tables_of"]
