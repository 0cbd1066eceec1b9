"""GPT-2: a decoder of transformer blocks (Radford et al. 2019, "Language models are unsupervised multitask learners")."""

from __future__ import annotations

import functools

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import attend, causal_bias, check_length, dense, join_heads, sequence, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


class Attention(nn.Cell):
    """Queries, keys and values by one product; each position sees itself and those before it."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = dense(width, 3 * width), dense(width, width)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor) -> Tensor:
        query, key, value = (split_heads(part, self.heads) for part in ops.chunk(self.c_attn(x), 3, -1))
        return self.dropout(self.c_proj(join_heads(attend(query, key, value, causal_bias(x.shape[1])))))


class FeedForward(nn.Cell):
    def __init__(self, width: int, dropout: float):
        super().__init__()
        self.c_fc, self.c_proj = dense(width, 4 * width), dense(4 * width, width)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor) -> Tensor:
        return self.dropout(self.c_proj(ops.gelu(self.c_fc(x), approximate="tanh")))


class Block(nn.Cell):
    """Attention and a perceptron, each after a normalisation and beside a shortcut."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm((width,), epsilon=1e-5), Attention(width, heads, dropout)
        self.ln_2, self.mlp = nn.LayerNorm((width,), epsilon=1e-5), FeedForward(width, dropout)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Cell):
    """Tokens (batch, length) → scores of the next token at each place. The table of tokens also makes the scores."""

    transposed = r"c_(attn|proj|fc)\.weight$"  # the original keeps these as (inputs, outputs)
    tied = ("lm_head.weight",)

    def __init__(
        self, depth: int = 12, width: int = 768, heads: int = 12, vocabulary: int = 50257, length: int = 1024, dropout: float = 0.1
    ):
        super().__init__()
        self.vocabulary, self.length, self.takes = vocabulary, length, (Takes("ids", (length,), vocabulary),)
        self.wte = nn.Embedding(vocabulary, width, embedding_table=Normal(0.02))
        self.wpe = nn.Embedding(length, width, embedding_table=Normal(0.02))
        self.dropout = nn.Dropout(p=dropout)
        self.h = sequence([Block(width, heads, dropout) for _ in range(depth)])
        self.ln_f = nn.LayerNorm((width,), epsilon=1e-5)

    def construct(self, ids: Tensor) -> Tensor:
        check_length(ids, self.length)
        positions = Tensor(np.arange(ids.shape[1], dtype=np.int32))
        x = self.ln_f(self.h(self.dropout(self.wte(ids) + self.wpe(positions))))
        return ops.matmul(x, self.wte.embedding_table.swapaxes(0, 1))


for _name, _depth, _width, _heads in (
    ("gpt2", 12, 768, 12), ("gpt2_medium", 24, 1024, 16), ("gpt2_large", 36, 1280, 20), ("gpt2_xl", 48, 1600, 25),
):  # fmt: skip
    model(
        _name, task="language", paper="Radford et al. 2019, Language models are unsupervised multitask learners",
        recipe=Recipe(
            epochs=1, batch=512, optimizer="adamw", rate=6e-4, weight_decay=0.1, warmup=0.01, betas=(0.9, 0.95), clip=1.0
        ),
        tiny={"depth": 2, "width": 32, "heads": 4, "vocabulary": 64, "length": 16, "dropout": 0.0}, origin=f"transformers:{_name}",
    )(functools.partial(GPT2, depth=_depth, width=_width, heads=_heads))  # fmt: skip
