"""The Transformer: attention in place of recurrence (Vaswani et al. 2017, "Attention is all you need")."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import attend, causal_bias, check_length, join_heads, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


def waves(length: int, width: int) -> np.ndarray:
    """The paper's positions: sines and cosines of wavelengths from 2π to 20000π."""
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width))
    return np.stack((np.sin(angles), np.cos(angles)), -1).reshape(length, width).astype(np.float32)


def dense(inputs: int, outputs: int) -> nn.Dense:
    """With Glorot's first values: attention over narrow vectors begins as a mere mean with smaller ones, and stays so for long."""
    return nn.Dense(inputs, outputs, weight_init="xavier_uniform", bias_init="zeros")


class Attention(nn.Cell):
    """`x` looks at `memory`."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (dense(width, width) for _ in range(4))

    def construct(self, x: Tensor, memory: Tensor, bias: Any = None) -> Tensor:
        query, key, value = (split_heads(p, self.heads) for p in (self.query(x), self.key(memory), self.value(memory)))
        return self.output(join_heads(attend(query, key, value, bias)))


class Layer(nn.Cell):
    """Sublayers, each followed by its shortcut and a normalisation."""

    def __init__(self, width: int, heads: int, dropout: float, decoder: bool):
        super().__init__()
        self.attention, self.norm1 = Attention(width, heads), nn.LayerNorm((width,))
        self.source = Attention(width, heads) if decoder else None
        self.norm2: Any = nn.LayerNorm((width,)) if decoder else None
        self.widen, self.narrow, self.norm3 = dense(width, 4 * width), dense(4 * width, width), nn.LayerNorm((width,))
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor, bias: Any = None, memory: Any = None) -> Tensor:
        x = self.norm1(x + self.dropout(self.attention(x, x, bias)))
        if self.source is not None:
            x = self.norm2(x + self.dropout(self.source(x, memory)))
        return self.norm3(x + self.dropout(self.narrow(ops.relu(self.widen(x)))))


class Transformer(nn.Cell):
    """(source, target so far) → scores of the next token at each place of the target."""

    def __init__(
        self, depth: int = 6, width: int = 512, heads: int = 8, vocabulary: int = 37000, length: int = 256, dropout: float = 0.1
    ):
        super().__init__()
        self.vocabulary, self.length, self.width = vocabulary, length, width
        self.takes = (Takes("source", (length,), vocabulary), Takes("target", (length,), vocabulary))
        self.table = nn.Embedding(vocabulary, width, embedding_table=Normal(width**-0.5))
        self.positions, self.dropout = Tensor(waves(length, width)), nn.Dropout(p=dropout)
        self.encoder = nn.CellList([Layer(width, heads, dropout, False) for _ in range(depth)])
        self.decoder = nn.CellList([Layer(width, heads, dropout, True) for _ in range(depth)])

    def embed(self, ids: Tensor) -> Tensor:
        check_length(ids, self.length)
        return self.dropout(self.table(ids) * self.width**0.5 + self.positions[: ids.shape[1]])

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        memory, x = self.embed(source), self.embed(target)
        for layer in self.encoder:
            memory = layer(memory)
        for layer in self.decoder:
            x = layer(x, causal_bias(target.shape[1]), memory)
        return ops.matmul(x, self.table.embedding_table.swapaxes(0, 1))


for _name, _width, _heads in (("transformer_base", 512, 8), ("transformer_big", 1024, 16)):
    model(
        _name, task="translation", paper="Vaswani et al. 2017, Attention is all you need",
        recipe=Recipe(
            epochs=20, batch=384, optimizer="adam", rate=7e-4, weight_decay=0.0, warmup=0.04, betas=(0.9, 0.98), label_smoothing=0.1
        ),
        tiny={"depth": 1, "width": 32, "heads": 4, "vocabulary": 32, "length": 8, "dropout": 0.0},
    )(functools.partial(Transformer, width=_width, heads=_heads))  # fmt: skip
