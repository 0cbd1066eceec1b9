"""T5: every task as text to text (Raffel et al. 2020, "Exploring the limits of transfer learning with a unified text-to-text transformer").

Distances between positions, in buckets that widen with the distance, add a learned bias to the scores; the first layer has the table
of biases, and all layers use it.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import RMSNorm, attend, causal_bias, join_heads, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model

BUCKETS, FARTHEST = 32, 128


def buckets(queries: int, keys: int, both_ways: bool) -> np.ndarray:
    """The bucket of each pair's distance: half of them exact, the rest logarithmic up to the farthest."""
    ahead = np.arange(keys)[None, :] - np.arange(queries)[:, None]
    count = BUCKETS // 2 if both_ways else BUCKETS
    first = np.where(ahead > 0, count, 0) if both_ways else np.zeros_like(ahead)
    distance = np.abs(ahead) if both_ways else np.maximum(-ahead, 0)
    exact = count // 2
    scaled = np.log(np.maximum(distance, 1) / exact) / math.log(FARTHEST / exact) * (count - exact)
    far = np.minimum(exact + scaled.astype(np.int32), count - 1)
    return (first + np.where(distance < exact, distance, far)).astype(np.int32)


def dense(inputs: int, outputs: int, deviation: float | None = None) -> nn.Dense:
    """A product whose results are about as large as its inputs at first, unless said otherwise."""
    return nn.Dense(inputs, outputs, weight_init=Normal(inputs**-0.5 if deviation is None else deviation), has_bias=False)


class Attention(nn.Cell):
    """Without a scale: the first values of the queries make up for it. `x` looks at `memory`."""

    def __init__(self, width: int, heads: int, with_table: bool):
        super().__init__()
        self.heads = heads
        self.q = dense(width, width, (width * width // heads) ** -0.5)
        self.k, self.v, self.o = (dense(width, width) for _ in range(3))
        if with_table:
            self.relative_attention_bias = nn.Embedding(BUCKETS, heads, embedding_table=Normal(0.02))

    def bias(self, queries: int, keys: int, both_ways: bool) -> Tensor:
        """(1, heads, queries, keys)"""
        found = self.relative_attention_bias(Tensor(buckets(queries, keys, both_ways)))
        found = found.transpose(2, 0, 1).expand_dims(0)
        return found if both_ways else found + causal_bias(queries)

    def construct(self, x: Tensor, memory: Tensor, bias: Any) -> Tensor:
        query, key, value = (split_heads(p, self.heads) for p in (self.q(x), self.k(memory), self.v(memory)))
        return self.o(join_heads(attend(query, key, value, bias, scale=1.0)))


class Layer(nn.Cell):
    """Attention, for decoders attention to the source too, then a perceptron."""

    def __init__(self, width: int, heads: int, hidden: int, first: bool, decoder: bool, dropout: float):
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(width), Attention(width, heads, first)
        self.source_norm: Any = RMSNorm(width) if decoder else None
        self.source = Attention(width, heads, False) if decoder else None
        self.feed_norm, self.wi, self.wo = RMSNorm(width), dense(width, hidden), dense(hidden, width)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor, bias: Tensor, memory: Any = None) -> Tensor:
        normal = self.attention_norm(x)
        x = x + self.dropout(self.attention(normal, normal, bias))
        if self.source is not None:
            x = x + self.dropout(self.source(self.source_norm(x), memory, None))
        return x + self.dropout(self.wo(ops.relu(self.wi(self.feed_norm(x)))))


class Stack(nn.Cell):
    """An encoder or decoder."""

    def __init__(self, depth: int, width: int, heads: int, hidden: int, decoder: bool, dropout: float):
        super().__init__()
        self.decoder = decoder
        self.block = nn.CellList([Layer(width, heads, hidden, i == 0, decoder, dropout) for i in range(depth)])
        self.final_layer_norm, self.dropout = RMSNorm(width), nn.Dropout(p=dropout)

    def construct(self, x: Tensor, memory: Any = None) -> Tensor:
        x = self.dropout(x)
        bias = self.block[0].attention.bias(x.shape[1], x.shape[1], not self.decoder)
        for layer in self.block:
            x = layer(x, bias, memory)
        return self.dropout(self.final_layer_norm(x))


class T5(nn.Cell):
    """(source, target so far) → scores of the next token at each place of the target. One table of tokens serves all."""

    tied = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    renames = (
        (r"\.attention_norm\.", ".layer.0.layer_norm."), (r"\.attention\.", ".layer.0.SelfAttention."),
        (r"\.source_norm\.", ".layer.1.layer_norm."), (r"\.source\.", ".layer.1.EncDecAttention."),
        (r"^(encoder\.block\.\d+)\.feed_norm\.", r"\1.layer.1.layer_norm."),
        (r"^(decoder\.block\.\d+)\.feed_norm\.", r"\1.layer.2.layer_norm."),
        (r"^(encoder\.block\.\d+)\.(wi|wo)\.", r"\1.layer.1.DenseReluDense.\2."),
        (r"^(decoder\.block\.\d+)\.(wi|wo)\.", r"\1.layer.2.DenseReluDense.\2."),
    )  # fmt: skip

    def __init__(
        self, depth: int = 6, width: int = 512, heads: int = 8, hidden: int = 2048, vocabulary: int = 32128, length: int = 512,
        dropout: float = 0.1,
    ):  # fmt: skip
        super().__init__()
        self.vocabulary, self.length, self.width = vocabulary, length, width
        self.takes = (Takes("source", (length,), vocabulary), Takes("target", (length,), vocabulary))
        self.shared = nn.Embedding(vocabulary, width, embedding_table=Normal(1.0))
        self.encoder = Stack(depth, width, heads, hidden, False, dropout)
        self.decoder = Stack(depth, width, heads, hidden, True, dropout)

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(self.shared(source))
        x = self.decoder(self.shared(target), memory) * self.width**-0.5
        return ops.matmul(x, self.shared.embedding_table.swapaxes(0, 1))


for _name, _depth, _width, _heads in (("t5_small", 6, 512, 8), ("t5_base", 12, 768, 12)):
    model(
        _name, task="translation", origin="transformers:T5ForConditionalGeneration",
        paper="Raffel et al. 2020, Exploring the limits of transfer learning with a unified text-to-text transformer",
        recipe=Recipe(epochs=1, batch=128, optimizer="adamw", rate=1e-3, weight_decay=0.0, schedule="constant", warmup=0.01, clip=1.0),
        tiny={"depth": 2, "width": 32, "heads": 4, "hidden": 64, "vocabulary": 32, "length": 8, "dropout": 0.0},
    )(functools.partial(T5, depth=_depth, width=_width, heads=_heads, hidden=4 * _width))  # fmt: skip
