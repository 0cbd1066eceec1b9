"""LLaMA: a decoder with rotary positions, RMS normalisation, gated perceptrons and shared keys.

Touvron et al. 2023, "LLaMA: Open and efficient foundation language models"; keys and values shared by groups of heads as in
Ainslie et al. 2023, "GQA: Training generalized multi-query transformer models from multi-head checkpoints".
"""

from __future__ import annotations

import functools

import numpy as np

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import RMSNorm, attend, causal_bias, check_length, dense, join_heads, split_heads
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


def rotations(length: int, width: int, base: float) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines (length, width) of the angles by which positions turn pairs of values (Su et al. 2021)."""
    frequencies = base ** (-np.arange(0, width, 2) / width)
    angles = np.outer(np.arange(length), frequencies)
    angles = np.concatenate((angles, angles), -1)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn the pairs (i, i + width/2) of the last dimension."""
    first, second = ops.chunk(x, 2, -1)
    return x * cosines + ops.cat((-second, first), -1) * sines


class Attention(nn.Cell):
    """Causal attention; each of `groups` keys and values serves several heads."""

    def __init__(self, width: int, heads: int, groups: int, length: int, base: float):
        super().__init__()
        self.heads, self.groups = heads, groups
        head = width // heads
        self.q_proj, self.o_proj = dense(width, width, bias=False), dense(width, width, bias=False)
        self.k_proj, self.v_proj = dense(width, groups * head, bias=False), dense(width, groups * head, bias=False)
        cosines, sines = rotations(length, head, base)
        self.cosines, self.sines = Tensor(cosines), Tensor(sines)

    def construct(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        cosines, sines = self.cosines[:length], self.sines[:length]
        query = rotate(split_heads(self.q_proj(x), self.heads), cosines, sines)
        key = rotate(split_heads(self.k_proj(x), self.groups), cosines, sines)
        value = split_heads(self.v_proj(x), self.groups)
        if self.groups != self.heads:
            share = self.heads // self.groups
            key, value = ops.repeat_interleave(key, share, 1), ops.repeat_interleave(value, share, 1)
        return self.o_proj(join_heads(attend(query, key, value, causal_bias(length))))


class FeedForward(nn.Cell):
    """SwiGLU (Shazeer 2020)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.gate_proj, self.up_proj = dense(width, hidden, bias=False), dense(width, hidden, bias=False)
        self.down_proj = dense(hidden, width, bias=False)

    def construct(self, x: Tensor) -> Tensor:
        return self.down_proj(ops.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Cell):
    def __init__(self, width: int, heads: int, groups: int, hidden: int, length: int, base: float):
        super().__init__()
        self.input_layernorm, self.self_attn = RMSNorm(width), Attention(width, heads, groups, length, base)
        self.post_attention_layernorm, self.mlp = RMSNorm(width), FeedForward(width, hidden)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Cell):
    """Tokens (batch, length) → scores of the next token at each place."""

    renames = ((r"^(embed_tokens|layers|norm)\.", r"model.\1."),)

    def __init__(
        self, depth: int = 32, width: int = 4096, heads: int = 32, groups: int = 32, hidden: int = 11008, vocabulary: int = 32000,
        length: int = 2048, base: float = 10000.0,
    ):  # fmt: skip
        super().__init__()
        if heads % groups or width % heads:
            raise ValueError(f"For 'llama', groups ({groups}) must divide heads ({heads}), and heads the width ({width}).")
        self.vocabulary, self.length, self.takes = vocabulary, length, (Takes("ids", (length,), vocabulary),)
        self.embed_tokens = nn.Embedding(vocabulary, width, embedding_table=Normal(0.02))
        self.layers = nn.CellList([Block(width, heads, groups, hidden, length, base) for _ in range(depth)])
        self.norm, self.lm_head = RMSNorm(width), dense(width, vocabulary, bias=False)

    def construct(self, ids: Tensor) -> Tensor:
        check_length(ids, self.length)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


_PAPER = "Touvron et al. 2023, LLaMA: Open and efficient foundation language models"
for _name, _options in {
    "llama_7b": {}, "llama_13b": {"depth": 40, "width": 5120, "heads": 40, "groups": 40, "hidden": 13824},
    "llama3_8b": {"groups": 8, "hidden": 14336, "vocabulary": 128256, "length": 8192, "base": 500000.0},
}.items():  # fmt: skip
    model(
        _name, task="language", paper=_PAPER, origin="transformers:LlamaForCausalLM",
        recipe=Recipe(
            epochs=1, batch=1024, optimizer="adamw", rate=3e-4, weight_decay=0.1, warmup=0.01, betas=(0.9, 0.95), clip=1.0
        ),
        tiny={"depth": 2, "width": 32, "heads": 4, "groups": 2, "hidden": 64, "vocabulary": 64, "length": 16, "base": 10000.0},
    )(functools.partial(Llama, **_options))  # type: ignore[arg-type]  # fmt: skip
