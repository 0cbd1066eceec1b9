"""An encoder (Devlin et al., BERT, 2018) that makes one vector of a text, many texts at once.

Rows are tokens of any texts, as in `decoder.py`, and for the same reason a text's vector has the same bits in every batch. A text's
tokens come in one step, so that each sees all of them; the pages of `CachedAttention` only carry them from there to here.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.prims.cached_attention import PAGE, CachedAttention
from mindspore_serving.engine.errors import Kind, Overloaded, ServingError
from mindspore_serving.llm.checkpoint import Array, Layer
from mindspore_serving.llm.decoder import PackedLinear, RowsNorm, gelu
from mindspore_serving.llm.encoder_weights import EncoderShape, EncoderWeights, load
from mindspore_serving.llm.network import filled

#: tokens of a step, at least; a longer text has a step of its own
_TOKENS = 512


class EncoderBlock(nn.Cell):
    def __init__(self, shape: EncoderShape, layer: Layer, kind: str) -> None:
        super().__init__()
        self.shape = shape
        self.inward, self.outward = PackedLinear(layer.inward, kind), PackedLinear(layer.outward, kind)
        self.wide, self.narrow = PackedLinear(layer.wide, kind), PackedLinear(layer.narrow, kind)
        self.first, self.second = (RowsNorm(norm, shape.epsilon, True) for norm in (layer.first, layer.second))
        self.attention = CachedAttention(shape.head_width**-0.5)

    def construct(self, x: Any, keys: Any, values: Any, positions: Any, tables: Any, ends: Any) -> Any:
        rows, shape = x.shape[0], self.shape
        heads = self.inward(x).reshape(rows, 3, shape.heads, shape.head_width)
        seen = self.attention(heads[:, 0], heads[:, 1], heads[:, 2], keys, values, positions, tables, ends)[0]
        x = self.first(self.outward(seen.reshape(rows, -1), x))
        return self.second(self.narrow(gelu(self.wide(x), shape.exact_gelu), x))


class Encoder(nn.Cell):
    def __init__(self, shape: EncoderShape, weights: EncoderWeights, kind: str, pages: int) -> None:
        super().__init__()
        self.norm = RowsNorm(weights.norm, shape.epsilon, True)
        self.blocks = nn.CellList([EncoderBlock(shape, layer, kind) for layer in weights.layers])
        self.keys = Parameter(Tensor.from_numpy(np.zeros((pages, shape.heads, shape.head_width, PAGE), np.float32)))
        self.values = Parameter(Tensor.from_numpy(np.zeros((pages, shape.heads, PAGE, shape.head_width), np.float32)))

    def construct(self, x: Any, positions: Any, tables: Any, ends: Any) -> Any:
        x = self.norm(x)
        for block in self.blocks:
            x = block(x, self.keys, self.values, positions, tables, ends)
        return x


class EncoderNetwork:
    """Texts as tokens → a vector of length 1 for each."""

    def __init__(self, folder: str, kind: str = "float32") -> None:
        self.shape, weights = load(folder)
        self.tokens = max(_TOKENS, self.shape.positions)
        self._embedding, self._positions = weights.embedding, weights.positions
        self._pages = 2 * (self.tokens // PAGE) + 2  # page 0 is for rows that only fill a batch up
        self._reach = -(-self.shape.positions // PAGE)
        self._encoder = ms.jit(Encoder(self.shape, weights, kind, self._pages))

    def pages(self, tokens: int) -> int:
        return -(-tokens // PAGE)

    def fits(self, lengths: list[int]) -> bool:
        """Whether texts of these lengths can be one step."""
        return sum(lengths) <= self.tokens and sum(map(self.pages, lengths)) < self._pages

    def forward(self, texts: list[list[int]]) -> list[Array]:
        lengths = [len(text) for text in texts]
        rows, size = sum(lengths), filled(sum(lengths))
        places, ends = np.zeros(size, np.int32), np.zeros(size, np.int32)
        places[:rows] = np.concatenate([np.arange(length) for length in lengths])
        ends[:rows] = np.repeat(np.array(lengths) - 1, lengths)
        x = np.zeros((size, self.shape.width), np.float32)
        x[:rows] = self._embedding[[token for text in texts for token in text]] + self._positions[places[:rows]]
        tables, at, page = np.zeros((size, self._reach), np.int32), 0, 1
        for length in lengths:
            count = self.pages(length)
            tables[at : at + length, :count] = np.arange(page, page + count)
            at, page = at + length, page + count
        states = self._encoder(*map(ms.Tensor, (x, places, tables, ends))).asnumpy()
        bounds = np.cumsum([0, *lengths])
        return [self._pooled(states[a:b]) for a, b in itertools.pairwise(bounds)]

    def _pooled(self, states: Array) -> Array:
        pooling = self.shape.pooling
        found = states[0] if pooling == "cls" else states.max(0) if pooling == "max" else states.mean(0)
        length = float(np.linalg.norm(found))
        return np.array(found / length if length else found, np.float32)


@dataclass(eq=False)
class Work:
    text: list[int]
    emit: Callable[[Array | ServingError], object]
    cancelled: bool = False


class EncoderEngine:
    """A thread that takes what waits as one step after the other."""

    def __init__(self, folder: str, kind: str = "float32", waiting: int = 1024) -> None:
        self.network = EncoderNetwork(folder, kind)
        self.shape = self.network.shape
        self._limit = waiting
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._stopping = False
        self.texts = self.tokens = 0  # for metrics
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)
        self._thread.start()

    @property
    def available(self) -> bool:
        return self._thread.is_alive() and not self._stopping

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def embed(self, text: list[int], emit: Callable[[Array | ServingError], object]) -> Work:
        if not 0 < len(text) <= self.shape.positions:
            raise ServingError(f"a text of {len(text)} tokens is not possible, but of 1 to {self.shape.positions}")
        if any(not 0 <= token < self.shape.vocabulary for token in text):
            raise ServingError(f"a token of the text is not in 0…{self.shape.vocabulary - 1}")
        work = Work(text, emit)
        with self._changed:
            if self._stopping:
                raise ServingError("the model is not available", Kind.UNAVAILABLE)
            if len(self._waiting) >= self._limit:
                raise Overloaded(self._limit)
            self._waiting.append(work)
            self._changed.notify()
        return work

    def stop(self, drain: float = 10.0) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(drain)

    def _run(self) -> None:
        batch: list[Work] = []
        try:
            while batch := self._take():
                for work, vector in zip(batch, self.network.forward([work.text for work in batch])):
                    self.texts, self.tokens = self.texts + 1, self.tokens + len(work.text)
                    work.emit(vector)
        finally:  # after a step that failed, who still waits is told
            with self._changed:
                self._stopping = True
                left = [*batch, *self._waiting]
                self._waiting.clear()
            for work in left:
                work.emit(ServingError("internal error", Kind.FAILED))

    def _take(self) -> list[Work]:
        """The texts of the next step; none at the end."""
        batch: list[Work] = []
        with self._changed:
            while not batch:
                while not self._waiting:
                    if self._stopping:
                        return []
                    self._changed.wait()
                while self._waiting and self.network.fits([len(work.text) for work in (*batch, self._waiting[0])]):
                    work = self._waiting.popleft()
                    if not work.cancelled:
                        batch.append(work)
        return batch


__all__ = ["EncoderEngine", "EncoderNetwork"]
