"""Scaled dot-product attention as one primitive.

The forward pass keeps only the output; the backward pass computes the probabilities again, so memory does not grow with
the square of the sequence length between the two. NumPy goes over blocks of queries for the same reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.activation import Softmax
from mindspore.prims.elementwise import Cast
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Primitive
from mindspore.prims.reduction import ReduceSum, sum_to_shape
from mindspore.prims.values import from_array

#: what is added to scores that must not count: finite, so that a row without any key gives numbers
MASKED = -1e9
_BLOCK = 512


def causal_bias(queries: int, keys: int, dtype: Any) -> np.ndarray:
    """MASKED where a key comes after its query; the last query sees all keys."""
    late = np.arange(keys)[None, :] > np.arange(queries)[:, None] + (keys - queries)
    return np.where(late, MASKED, 0.0).astype(dtype)


class Attention(Primitive):
    """softmax(scale q kᵀ + bias) v for q (…, S, D), k (…, T, D), v (…, T, E); bias: (…, S, T), broadcast, or None."""

    def __init__(self, scale: float = 1.0, causal: bool = False):
        super().__init__(scale=float(scale), causal=bool(causal))

    def infer(self, q: Any, k: Any, v: Any, bias: Any) -> Any:
        for name, value in (("query", q), ("key", k), ("value", v)):
            checks.tensor(self.name, name, value)
            if value.ndim < 2:
                raise ValueError(
                    f"For '{self.name}', '{name}' needs 2 dimensions or more, but has shape {value.shape}."
                )
        if q.shape[:-2] != k.shape[:-2] or k.shape[:-1] != v.shape[:-1] or q.shape[-1] != k.shape[-1]:
            raise ValueError(
                f"For '{self.name}', the shapes of query {q.shape}, key {k.shape} and value {v.shape} "
                f"do not fit together."
            )
        if bias is not None:
            checks.broadcast(self.name, bias.shape, (*q.shape[:-1], k.shape[-2]))
        return AbstractTensor(q.dtype, (*q.shape[:-1], v.shape[-1]))

    def eval(self, xp: Any, q: Any, k: Any, v: Any, bias: Any) -> Any:
        if xp is not np or q.shape[-2] <= _BLOCK:
            return narrow(self._attend(xp, q, k, v, bias, 0, q.shape[-2]), q)
        parts = []
        for start in range(0, q.shape[-2], _BLOCK):
            stop = min(start + _BLOCK, q.shape[-2])
            parts.append(self._attend(np, q, k, v, bias, start, stop))
        return narrow(np.concatenate(parts, axis=-2), q)

    def _attend(self, xp: Any, q: Any, k: Any, v: Any, bias: Any, start: int, stop: int) -> Any:
        """The output rows of queries [start, stop)."""
        wide_q, wide_k = widen(q[..., start:stop, :]), widen(k)
        scores = xp.matmul(wide_q * self.scale, xp.swapaxes(wide_k, -1, -2))
        if bias is not None:
            part = bias if bias.ndim < 2 or bias.shape[-2] == 1 else bias[..., start:stop, :]
            scores = scores + widen(part)
        if self.causal:
            scores = scores + xp.asarray(causal_bias(q.shape[-2], k.shape[-2], scores.dtype)[start:stop])
        scores = scores - xp.max(scores, axis=-1, keepdims=True)
        weights = xp.exp(scores)
        return xp.matmul(weights, widen(v)) / xp.sum(weights, axis=-1, keepdims=True)

    def bprop(self, q: Any, k: Any, v: Any, bias: Any, out: Any, dout: Any) -> tuple:
        scores = BatchMatMul(False, True)(q * self.scale, k)
        if bias is not None:
            scores = scores + Cast()(bias, scores.dtype)
        if self.causal:
            scores = scores + from_array(causal_bias(q.shape[-2], k.shape[-2], scores.dtype.np))
        p = Softmax(-1)(scores)
        dv = BatchMatMul(True, False)(p, dout)
        dp = BatchMatMul(False, True)(dout, v)
        ds = p * (dp - ReduceSum(True)(dp * p, -1))
        dq = BatchMatMul()(ds, k) * self.scale
        dk = BatchMatMul(True, False)(ds, q) * self.scale
        dbias = None
        if bias is not None and bias.dtype.kind == "f":
            dbias = Cast()(sum_to_shape(ds, bias.shape), bias.dtype)
        return dq, dk, dv, dbias
