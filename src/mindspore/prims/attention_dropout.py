"""Attention with dropout of its probabilities, for long sequences: nothing of the size of the score matrix is kept.

Whether a probability survives is a function of the key and its place, so the backward pass draws the same mask again,
block by block.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTuple
from mindspore.prims.attention import (
    Attention,
    _blocks,
    _has_gradient,
    _joined,
    _probabilities,
    _product,
    _sum_to,
    _transposed,
)
from mindspore.prims.batching import align, rank_of, spread
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.precision import narrow
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.random import threefry

if TYPE_CHECKING:
    from mindspore.ir import AbstractTensor
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


class _Dropping(Primitive):
    draws = True

    def __init__(self, scale: float = 1.0, causal: bool = False, keep_prob: float = 0.5):
        if not 0 < keep_prob <= 1:
            raise ValueError(f"For '{type(self).__name__}', 'keep_prob' must be in range (0, 1], but got {keep_prob}.")
        super().__init__(scale=float(scale), causal=bool(causal), keep_prob=float(keep_prob))

    def factor(self, xp: Namespace, key: Any, shape: tuple[int, ...], start: int) -> Any:
        """1 / keep_prob where a probability of rows [start, …) survives, else 0: (…, rows, keys)."""
        rows, keys = shape[-2:]
        heads = math.prod(shape[:-2])
        place = (xp.arange(start, start + rows)[:, None] * keys + xp.arange(keys)[None, :]).astype(np.uint32)
        high = xp.arange(heads).astype(np.uint32)[:, None, None]
        bits, _ = threefry(xp, xp.asarray(key).astype(np.uint32), high, place[None])
        alive = bits < np.uint32(min(round(self.keep_prob * 2**32), 2**32 - 1))
        return xp.reshape(alive, shape) * np.float32(1 / self.keep_prob)


class DropoutAttention(_Dropping):
    """dropout(softmax(scale q kᵀ + bias)) v; arguments as of `Attention`, and a random key."""

    def infer(self, q: AbstractTensor, k: AbstractTensor, v: AbstractTensor, bias: Any, key: AbstractTensor) -> Any:
        return Attention(self.scale, self.causal).infer(q, k, v, bias)

    def eval(self, xp: Namespace, q: Array, k: Array, v: Array, bias: Any, key: Array) -> Any:
        parts = []
        for start, stop in _blocks(xp, q.shape[-2]):
            p = _probabilities(xp, self, q, k, bias, start, stop)
            parts.append(_product(xp, p * self.factor(xp, key, p.shape, start), v))
        return narrow(_joined(xp, parts), q)

    def bprop(
        self,
        q: TensorBase,
        k: TensorBase,
        v: TensorBase,
        bias: TensorBase | None,
        key: TensorBase,
        out: TensorBase,
        dout: TensorBase,
    ) -> tuple:
        grads = DropoutAttentionGrad(self.scale, self.causal, self.keep_prob)(q, k, v, bias, key, dout)
        return (*grads, None) if _has_gradient(bias) else (*grads, None, None)

    def vmap(self, size: int, q: Batched, k: Batched, v: Batched, bias: Batched, key: Batched) -> Any:
        """Any number of dimensions may come before length and size; what survives depends on the place in all of them."""
        if key[1]:
            return None
        return self(*(spread(a, size) for a in (q, k, v)), align(bias, size, rank_of(q)), key[0])


class DropoutAttentionGrad(_Dropping):
    """The gradients of `DropoutAttention` by q, k, v and, where it is a float tensor, by the bias."""

    def infer(self, q: Any, k: Any, v: Any, bias: Any, key: Any, dout: Any) -> Any:
        return AbstractTuple((q, k, v, bias) if _has_gradient(bias) else (q, k, v))

    def eval(self, xp: Any, q: Any, k: Any, v: Any, bias: Any, key: Any, dout: Any) -> Any:
        dq, dk, dv, dbias = [], 0, 0, []
        for start, stop in _blocks(xp, q.shape[-2]):
            p = _probabilities(xp, self, q, k, bias, start, stop)
            factor = self.factor(xp, key, p.shape, start)
            g = dout[..., start:stop, :]
            dp = _product(xp, g, _transposed(xp, v)) * factor
            ds = p * (dp - xp.sum(dp * p, axis=-1, keepdims=True))
            dq.append(_product(xp, ds, k) * self.scale)
            dk = dk + _product(xp, _transposed(xp, ds), q[..., start:stop, :]) * self.scale
            dv = dv + _product(xp, _transposed(xp, p * factor), g)
            if _has_gradient(bias):
                dbias.append(ds)
        grads = narrow(_joined(xp, dq), q), narrow(dk, k), narrow(dv, v)
        return (*grads, narrow(_sum_to(xp, _joined(xp, dbias), bias.shape), bias)) if dbias else grads

    def bprop(self, *args: Any) -> tuple:
        raise RuntimeError(
            "Second derivatives of attention with dropout over long sequences are not available; set the dropout to 0."
        )

    def vmap(
        self, size: int, q: Batched, k: Batched, v: Batched, bias: Batched, key: Batched, dout: Batched
    ) -> Any:
        if key[1]:
            return None
        own = bias if bias[0] is None else (spread(bias, size), True)  # each example has a gradient by it
        whole = [spread(a, size) for a in (q, k, v)]
        grads = self(*whole, align(own, size, rank_of(q)), key[0], spread(dout, size))
        return grads if len(grads) == 3 else (*grads[:3], Reshape()(grads[3], own[0].shape))
