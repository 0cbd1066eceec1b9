"""The forward pass over tokens of many sequences, so that each token's bits depend on its own sequence alone.

Products, norms and activations run as compiled graphs over all tokens at once, padded to a power of two: the native backend
adds up each row in the same order whatever the number of rows. Attention is computed for each sequence by itself, over its
cached keys and values in chunks of a fixed size with a running maximum (Milakov & Gimelshein, Online normalizer calculation for
softmax, 2018): every product has the same shape, and a chunk that lies behind a token changes nothing. So the answer to a
request is the same alone, in any batch, with any part of the prompt found in the cache, and after preemption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import ops
from mindspore_serving.llm.cache import BLOCK, CHUNK, Pages
from mindspore_serving.llm.checkpoint import Array, Shape, Weights


def _norm(x: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    centred = x - x.mean(-1, keep_dims=True)
    return centred * ops.rsqrt((centred * centred).mean(-1, keep_dims=True) + epsilon) * weight + bias


def _rms(x: Any, weight: Any, epsilon: float) -> Any:
    return x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + epsilon) * weight


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + ops.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def _linear(x: Any, weight: Any) -> Any:
    return ops.matmul(x, weight.T)


@ms.jit
def _gpt2_before(x: Any, scale: Any, shift: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    return _linear(_norm(x, scale, shift, epsilon), weight) + bias


@ms.jit
def _gpt2_after(
    attended: Any, x: Any, w: Any, b: Any, scale: Any, shift: Any, w1: Any, b1: Any, w2: Any, b2: Any, epsilon: float
) -> Any:
    x = x + _linear(attended, w) + b
    return x + _linear(_gelu(_linear(_norm(x, scale, shift, epsilon), w1) + b1), w2) + b2


@ms.jit
def _gpt2_head(x: Any, scale: Any, shift: Any, weight: Any, epsilon: float) -> Any:
    return _linear(_norm(x, scale, shift, epsilon), weight)


@ms.jit
def _llama_before(x: Any, scale: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    return _linear(_rms(x, scale, epsilon), weight) + bias


@ms.jit
def _llama_after(attended: Any, x: Any, w: Any, scale: Any, gate: Any, up: Any, down: Any, epsilon: float) -> Any:
    x = x + _linear(attended, w)
    normed = _rms(x, scale, epsilon)
    gated = _linear(normed, gate)
    return x + _linear(gated * ops.sigmoid(gated) * _linear(normed, up), down)


@ms.jit
def _llama_head(x: Any, scale: Any, weight: Any, epsilon: float) -> Any:
    return _linear(_rms(x, scale, epsilon), weight)


@dataclass
class Part:
    """Tokens of one sequence for a step: they stand at `start`…, their keys and values go to the pages of `table`."""

    tokens: list[int]
    start: int
    table: list[int]
    wants_logits: bool


class Network:
    def __init__(self, shape: Shape, weights: Weights) -> None:
        self.shape = shape
        self._embedding, self._positions = weights.embedding, weights.positions
        self._layers = [(_tensors(layer.before), _tensors(layer.after)) for layer in weights.layers]
        self._head = _tensors(weights.head)
        gpt2 = shape.family == "gpt2"
        self._functions = (_gpt2_before, _gpt2_after, _gpt2_head) if gpt2 else (_llama_before, _llama_after, _llama_head)
        self._frequencies = None
        if shape.rope_theta is not None:
            exponents = np.arange(0, shape.head_width, 2, dtype=np.float32) / np.float32(shape.head_width)
            self._frequencies = (1.0 / (np.float32(shape.rope_theta) ** exponents)).astype(np.float32)

    def forward(self, parts: Sequence[Part], pages: Pages) -> Array:
        """Logits of the last token of each part that wants them."""
        before, after, head = self._functions
        shape = self.shape
        tokens = np.array([token for part in parts for token in part.tokens])
        places = np.concatenate([np.arange(part.start, part.start + len(part.tokens)) for part in parts])
        x = self._embedding[tokens]
        if self._positions is not None:
            x = x + self._positions[places]
        rotation = self._rotation(places)
        x = _padded(x)
        q_width, kv_width = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        for number, (first, second) in enumerate(self._layers):
            qkv = before(x, *first, shape.epsilon).asnumpy()[: len(tokens)]
            q = qkv[:, :q_width].reshape(len(tokens), shape.heads, shape.head_width)
            k = qkv[:, q_width : q_width + kv_width].reshape(len(tokens), shape.kv_heads, shape.head_width)
            v = qkv[:, q_width + kv_width :].reshape(len(tokens), shape.kv_heads, shape.head_width)
            if rotation is not None:
                q, k = _rotate(q, *rotation), _rotate(k, *rotation)
            x = after(_padded(self._attend(number, parts, q, k, v, pages)), x, *second, shape.epsilon)
        last = np.cumsum([len(part.tokens) for part in parts]) - 1
        rows = last[[part.wants_logits for part in parts]]
        if not len(rows):
            return np.zeros((0, shape.vocabulary), np.float32)
        found: Array = head(_padded(x.asnumpy()[rows]), *self._head, shape.epsilon).asnumpy()[: len(rows)]
        return found

    def _rotation(self, places: Array) -> tuple[Array, Array] | None:
        if self._frequencies is None:
            return None
        angles = places[:, None].astype(np.float32) * self._frequencies
        angles = np.concatenate([angles, angles], -1)[:, None]
        return np.cos(angles), np.sin(angles)

    def _attend(self, layer: int, parts: Sequence[Part], q: Array, k: Array, v: Array, pages: Pages) -> Array:
        shape = self.shape
        out = np.empty((len(q), shape.heads * shape.head_width), np.float32)
        at = 0
        for part in parts:
            here = slice(at, at + len(part.tokens))
            pages.write(layer, part.table, part.start, k[here], v[here])
            grouped = np.ascontiguousarray(q[here]).reshape(-1, shape.kv_heads, shape.group, shape.head_width)
            out[here] = _attention(grouped, part.start, *pages.read(layer, part.table)).reshape(len(part.tokens), -1)
            at += len(part.tokens)
        return out


def _attention(q: Array, start: int, keys: Array, values: Array) -> Array:
    """q: [tokens, kv heads, group, width]; keys, values: [kv heads, chunks × CHUNK, width]."""
    count, width = len(q), q.shape[-1]
    q = q * np.float32(width**-0.5)
    places = (start + np.arange(count))[:, None, None, None]
    highest = np.full((*q.shape[:-1], 1), -np.inf, np.float32)
    total = np.zeros_like(highest)
    out = np.zeros_like(q)
    for begin in range(0, start + count, CHUNK):
        chunk = slice(begin, begin + CHUNK)
        scores = np.matmul(q, keys[:, chunk].transpose(0, 2, 1))
        scores = np.where(np.arange(begin, begin + CHUNK) <= places, scores, np.float32(-np.inf))
        above = np.maximum(highest, scores.max(-1, keepdims=True))
        weights = np.exp(scores - above)
        shrink = np.exp(highest - above)
        total = total * shrink + weights.sum(-1, keepdims=True)
        out = out * shrink + np.matmul(weights, values[:, chunk])
        highest = above
    result: Array = out / total
    return result


def _rotate(x: Array, cos: Array, sin: Array) -> Array:
    half = x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
    rotated: Array = x * cos + turned * sin
    return rotated


def _tensors(arrays: Sequence[Array]) -> list[ms.Tensor]:
    return [ms.Tensor(array) for array in arrays]


def _padded(rows: Array) -> ms.Tensor:
    """Rows up to the next power of two, so that there are few shapes to compile."""
    size = 1 << (len(rows) - 1).bit_length()
    if size == len(rows):
        return ms.Tensor(rows)
    padded = np.zeros((size, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    return ms.Tensor(padded)


__all__ = ["BLOCK", "Network", "Part"]
