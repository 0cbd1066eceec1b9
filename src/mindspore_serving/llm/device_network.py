"""The forward pass on an accelerator: one compiled step from tokens to tokens, and nothing else goes between the host and the device.

Embedding, layers, head and the choice of a token are one graph; the cache is in it as Parameters, which a step gets from the one before in
the same memory. A step is only begun by `begin`: what it gives is waited for later. So that the next step can be begun before this one's
tokens are known, a row may name a row of the step before, whose token it continues (`Part.follows`); the device looks it up. While the
device computes a step, the host takes in the one before and plans the next.

Shapes are few, since each is a graph to compile: rows are filled up to SIZES, tables to a power of two, and the rows whose next token is
wanted are all rows, or as many as there may be sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.prims.row_choice import RowChoice
from mindspore.prims.taken_rows import TakenRows
from mindspore.runtime import devices
from mindspore_serving.llm.adapters import joined
from mindspore_serving.llm.cache import BLOCK
from mindspore_serving.llm.checkpoint import Array, Shape, Weights
from mindspore_serving.llm.cut import WHOLE
from mindspore_serving.llm.decoder import Decoder, PackedLinear, RowsNorm
from mindspore_serving.llm.network import Part, tables_of
from mindspore_serving.llm.sampling import Choice, Scores

#: rows of a step, few sizes because each takes long to compile; behind the last the next power of two
SIZES = (1, 64, 256, 1024)
#: columns of a step's integers before the pages
_TOKEN, _FOLLOWS, _PLACE, _ADAPTER, _FIRST_PAGE = range(5)

Waiting = Callable[[], list[Scores | Choice]]


def size_for(rows: int) -> int:
    return next((size for size in SIZES if rows <= size), 1 << (rows - 1).bit_length())


class Step(nn.Cell):
    """`most`: rows whose next token is wanted at a time."""

    def __init__(
        self, shape: Shape, weights: Weights, pages: int, adapters: Sequence[str], most: int, in_order: bool
    ) -> None:
        super().__init__()
        self.shape, self.most = shape, most
        low = joined(adapters, shape) if adapters else {}
        self.has_adapters = bool(low)
        self.embedding = _half(weights.embedding)
        self.positions = None if weights.positions is None else Parameter(Tensor(weights.positions))
        self.queries = None if weights.queries is None else Parameter(Tensor(weights.queries))
        places = np.arange(shape.positions)
        self.turns = None if shape.rotation is None else [Parameter(Tensor(table)) for table in shape.rotation.tables(places)]
        self.decoder = Decoder(shape, weights, "bfloat16", pages, low, WHOLE, "", in_order)
        self.norm = (
            RowsNorm(weights.norm, shape.epsilon, shape.centred, False, in_order) if weights.queries is None else None
        )
        self.head = PackedLinear(weights.head, "bfloat16", None, in_order)
        self.take, self.choose = TakenRows(), RowChoice()

    def construct(self, rows: Any, last: Any, wanted: Any, settings: Any, limits: Any) -> Any:
        """(tokens, the logarithms of their probabilities, scores, states) of the rows that are wanted; the first two for `most` rows.

        rows: int32 (rows, 4 + pages); last: the tokens of the step before; wanted: numbers of rows, None: all.
        """
        tokens, follows, places = rows[:, _TOKEN], rows[:, _FOLLOWS], rows[:, _PLACE]
        tokens = ops.where(follows >= 0, self.take(last, follows), tokens)
        x = self.take(self.embedding, tokens).astype(ms.float32)
        if self.positions is not None:
            x = x + self.take(self.positions, places)
        turned = None if self.turns is None else tuple(self.take(table, places) for table in self.turns)
        adapter = rows[:, _ADAPTER : _ADAPTER + 1] if self.has_adapters else None
        queries = None if self.queries is None else self.take(self.queries, places)
        x = self.decoder(x, turned, places, rows[:, _FIRST_PAGE:], adapter, queries)
        if wanted is not None:
            x = self.take(x, wanted)
        states = x if self.norm is None else self.norm(x)
        scores = self.head(states)
        chosen, logprobs = self.choose(scores, settings, limits)
        missing = self.most - chosen.shape[0]
        if missing:
            chosen = ops.cat((chosen, ops.zeros(missing, ms.int32)))
        return chosen, logprobs, scores, states


def _half(array: Any) -> Parameter:
    return Parameter(array if isinstance(array, Tensor) else Tensor(array).astype(ms.bfloat16))


class DeviceNetwork:
    """`sequences`: how many there may be in a step."""

    #: steps that may be begun before the first one's results are taken in
    ahead = 1

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        pages: int,
        adapters: Sequence[str] = (),
        sequences: int = 64,
        in_order: bool = True,
    ) -> None:
        self.shape, self._most = shape, size_for(sequences)
        self._step = ms.jit(Step(shape, weights, pages, adapters, self._most, in_order))
        self._last = Tensor(np.zeros(self._most, np.int32))
        self._take = TakenRows()

    def begin(self, parts: Sequence[Part]) -> Waiting:
        """Begin a step; what is returned waits for its results."""
        counts = [len(part.tokens) for part in parts]
        size = size_for(sum(counts))
        ends = np.cumsum(counts)
        wanted = [(row, part) for part, end in zip(parts, ends) for row in range(end - part.wanted, end)]
        if size <= self._most:
            numbers, places = None, [row for row, _ in wanted]
            settings, limits = _settings(size, zip(places, (part for _, part in wanted)))
        else:
            numbers, places = np.zeros(self._most, np.int32), list(range(len(wanted)))
            numbers[: len(wanted)] = [row for row, _ in wanted]
            settings, limits = _settings(self._most, zip(places, (part for _, part in wanted)))
        self._last, logprobs, scores, states = self._step(
            Tensor(_rows(parts, counts, size)),
            self._last,
            None if numbers is None else Tensor(numbers),
            Tensor(settings),
            Tensor(limits),
        )
        chosen = self._last
        for known_soon in (chosen, logprobs):
            devices.start_copy(known_soon._data)
        kept = scores if any(part.draw is None and not part.embeds for _, part in wanted) else None
        known = states if any(part.embeds for _, part in wanted) else None
        return lambda: self._results([part for _, part in wanted], places, chosen, logprobs, kept, known)

    def rows_of(self, parts: Sequence[Part]) -> list[int]:
        """Where the next step finds the token that each part wants."""
        counts = [len(part.tokens) for part in parts]
        if size_for(sum(counts)) > self._most:
            counts = [part.wanted for part in parts]
        return [int(end) - 1 for end in np.cumsum(counts)]

    def _results(
        self, parts: list[Part], places: list[int], chosen: Any, logprobs: Any, scores: Any, states: Any
    ) -> list[Scores | Choice]:
        tokens, sure = chosen.asnumpy(), logprobs.asnumpy()
        asked = [place for place, part in zip(places, parts) if part.draw is None and not part.embeds]
        held = [place for place, part in zip(places, parts) if part.embeds]
        rows, vectors = iter(self._fetched(scores, asked)), iter(self._fetched(states, held))
        found: list[Scores | Choice] = []
        for place, part in zip(places, parts):
            if part.embeds:
                found.append(Scores(next(vectors), 0, 0.0))
            elif part.draw is None:
                found.append(scores_of(next(rows)))
            else:
                found.append(Choice(int(tokens[place]), float(sure[place]), ()))
        return found

    def _fetched(self, table: Any, places: list[int]) -> Array:
        """Some rows of a table of the device's."""
        if not places:
            return np.zeros((0, 0), np.float32)
        numbers = np.zeros(size_for(len(places)), np.int32)
        numbers[: len(places)] = places
        return np.asarray(self._take(table, Tensor(numbers)).asnumpy()[: len(places)])

    def warm(self, rows: int, prompt: bool) -> None:
        """Compile the graphs for so many rows: of one prompt, or of as many sequences that are continued."""
        sizes = [rows] if prompt else [1] * rows
        self.begin([Part([0] * size, 0, [0] * -(-size // BLOCK), 1) for size in sizes])()

    def prepare(self, first: int, last: int) -> None:
        """All memory of a device is there from the beginning."""

    def close(self) -> None:
        """Nothing outside of this process is held."""


def scores_of(logits: Array) -> Scores:
    largest = logits.max()
    return Scores(logits, int(logits.argmax()), float(largest + np.log(np.exp(logits - largest).sum())))


def _rows(parts: Sequence[Part], counts: list[int], size: int) -> Array:
    tables = tables_of(parts, counts, size)
    rows = np.zeros((size, _FIRST_PAGE + tables.shape[1]), np.int32)
    rows[:, _FIRST_PAGE:], rows[:, _FOLLOWS] = tables, -1
    at = 0
    for part, count in zip(parts, counts):
        mine = rows[at : at + count]
        mine[:, _TOKEN] = part.tokens
        mine[:, _PLACE] = np.arange(part.start, part.start + count)
        mine[:, _ADAPTER] = part.adapter
        mine[0, _FOLLOWS] = part.follows
        at += count
    return rows


def _settings(size: int, wanted: Any) -> tuple[Array, Array]:
    settings, limits = np.zeros((size, 4), np.float32), np.zeros(size, np.int32)
    settings[:, 1] = 1
    for place, part in wanted:
        if part.draw is not None:
            settings[place] = part.draw.temperature, part.draw.top_p, part.draw.min_p, part.draw.number
            limits[place] = part.draw.top_k
    return settings, limits


__all__ = ["DeviceNetwork", "Step", "size_for"]
