"""PanGu-α: a decoder of transformer blocks, and above them one whose query is the position asked for (Zeng et al. 2021)."""

from __future__ import annotations

import functools

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import attend, causal_bias, check_length, dense, join_heads, sequence, split_heads
from mindspore.model_zoo.gpt import Block, FeedForward
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class QueryLayer(nn.Cell):
    """A block in which the place of the next token asks, and the tokens so far answer."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm((width,), epsilon=1e-5), nn.LayerNorm((width,), epsilon=1e-5)
        self.query, self.key_value, self.project = dense(width, width), dense(width, 2 * width), dense(width, width)
        self.dropout, self.mlp = nn.Dropout(p=dropout), FeedForward(width, dropout)

    def construct(self, x: Tensor, asked: Tensor) -> Tensor:
        seen = self.ln_1(x)
        key, value = (split_heads(part, self.heads) for part in ops.chunk(self.key_value(seen), 2, -1))
        query = split_heads(ops.broadcast_to(self.query(asked).expand_dims(0), x.shape), self.heads)
        x = x + self.dropout(self.project(join_heads(attend(query, key, value, causal_bias(x.shape[1])))))
        return x + self.mlp(self.ln_2(x))


class PanGu(nn.Cell):
    """Tokens (batch, length) → scores of the next token at each place. The table of tokens also makes the scores."""

    def __init__(
        self, depth: int = 31, width: int = 2560, heads: int = 32, vocabulary: int = 40000, length: int = 1024, dropout: float = 0.1
    ):
        super().__init__()
        self.vocabulary, self.length, self.takes = vocabulary, length, (Takes("ids", (length,), vocabulary),)
        self.words = nn.Embedding(vocabulary, width, embedding_table=Normal(0.02))
        self.places = nn.Embedding(length, width, embedding_table=Normal(0.02))
        self.asked = nn.Embedding(length, width, embedding_table=Normal(0.02))
        self.dropout, self.norm = nn.Dropout(p=dropout), nn.LayerNorm((width,), epsilon=1e-5)
        self.blocks = sequence([Block(width, heads, dropout) for _ in range(depth)])
        self.query = QueryLayer(width, heads, dropout)

    def construct(self, ids: Tensor) -> Tensor:
        check_length(ids, self.length)
        positions = Tensor(np.arange(ids.shape[1], dtype=np.int32))
        x = self.blocks(self.dropout(self.words(ids) + self.places(positions)))
        x = self.query(self.norm(x), self.asked(positions))
        return ops.matmul(x, self.words.embedding_table.swapaxes(0, 1))


for _name, _depth, _width, _heads in (("pangu_alpha_2_6b", 31, 2560, 32), ("pangu_alpha_13b", 39, 5120, 40)):
    model(
        _name, task="language", paper="Zeng et al. 2021, PanGu-α: Large-scale autoregressive pretrained Chinese language models",
        recipe=Recipe(epochs=1, batch=512, optimizer="adamw", rate=1e-4, weight_decay=0.01, warmup=0.01, betas=(0.9, 0.95), clip=1.0),
        tiny={"depth": 1, "width": 32, "heads": 4, "vocabulary": 64, "length": 16, "dropout": 0.0},
    )(functools.partial(PanGu, depth=_depth, width=_width, heads=_heads))  # fmt: skip
