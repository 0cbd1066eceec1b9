"""Scaled dot-product attention and its gradient, one primitive each.

The forward pass keeps only the output; the backward pass computes the probabilities again, so memory does not grow with
the square of the sequence length between the two. NumPy goes over blocks of queries for the same reason. On a GPU, half
types go to cuDNN's fused kernels (FlashAttention-2, Dao 2023), few queries over many keys to one of our own (pallas/decoding.py).
The gradient asks for the same forward call again, with the statistics that the backward kernel needs; XLA merges the two, so nothing
runs twice.

Over devices it is cut by batch, heads and queries. Where a strategy cuts keys and values along the length as it cuts the queries, they
travel in a ring (ring_attention.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.activation import Softmax
from mindspore.prims.batching import align, rank_of, spread
from mindspore.prims.broadcasting import ReduceSum, sum_to_shape
from mindspore.prims.elementwise import Cast, Greater
from mindspore.prims.factors import WHOLE, Factors, Labels, broadcasting, numbered
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.pallas import decoding, on_cuda
from mindspore.prims.precision import is_half, narrow, product, widen
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.ring_attention import LENGTH, ring_attention, ring_attention_grad
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

#: what is added to scores that must not count: finite, so that a row without any key gives numbers
MASKED = -1e9
_BLOCK = 512


def causal_bias(queries: int, keys: int, dtype: Any) -> np.ndarray:
    """MASKED where a key comes after its query; the last query sees all keys."""
    late = np.arange(keys)[None, :] > np.arange(queries)[:, None] + (keys - queries)
    return np.where(late, MASKED, 0.0).astype(dtype)


def _transposed(xp: Namespace, x: Array) -> Any:
    return xp.swapaxes(x, -1, -2)


def _blocks(xp: Namespace, queries: int) -> list[tuple[int, int]]:
    """Ranges of queries: several on the host, where nothing else bounds the memory."""
    if xp is not np or queries <= _BLOCK:
        return [(0, queries)]
    return [(start, min(start + _BLOCK, queries)) for start in range(0, queries, _BLOCK)]


def _probabilities(xp: Namespace, op: Primitive, q: Array, k: Array, bias: Array | None, start: int, stop: int) -> Any:
    """softmax(scale q kᵀ + bias) for the queries [start, stop), in float32 or better."""
    scores = _product(xp, q[..., start:stop, :], _transposed(xp, k)) * op.scale
    if bias is not None:
        scores = scores + widen(bias if bias.ndim < 2 or bias.shape[-2] == 1 else bias[..., start:stop, :])
    if op.causal:
        scores = scores + xp.asarray(causal_bias(q.shape[-2], k.shape[-2], scores.dtype)[start:stop])
    weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


def _product(xp: Namespace, a: Any, b: Array) -> Any:
    """A matrix product in float32 or better; XLA multiplies halves as they are and adds in float32."""
    if hasattr(a, "aval") and (is_half(a.dtype) or is_half(b.dtype)):
        half = a.dtype if is_half(a.dtype) else b.dtype
        return xp.matmul(a.astype(half), b.astype(half), preferred_element_type=np.float32)
    return product(xp, widen(a), widen(b))


def _joined(xp: Namespace, parts: list) -> Any:
    return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-2)


def _sum_to(xp: Namespace, x: Array, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting."""
    lead = x.ndim - len(shape)
    axes = tuple(i for i in range(x.ndim) if i < lead or (shape[i - lead] == 1 and x.shape[i] != 1))
    return xp.sum(x, axis=axes, keepdims=True).reshape(shape) if axes else x


# -- the fused kernels of a GPU ---------------------------------------------------------------------------------------
def _flash_fits(causal: bool, q: Array, k: Array, v: Array, bias: Any) -> bool:
    """Whether cuDNN has a kernel for this: half types, no bias, sizes of heads up to 128 that are multiples of 8."""
    if bias is not None or q.ndim != 4 or q.dtype.name not in ("float16", "bfloat16"):
        return False
    if q.shape[-1] > 128 or q.shape[-1] % 8 or v.shape[-1] != q.shape[-1] or 0 in q.shape + k.shape:
        return False
    return (not causal or q.shape[-2] == k.shape[-2]) and on_cuda()


def _flash(jax: Any, scale: float, causal: bool) -> Any:
    """(B, N, S, D) attention by cuDNN, whose own order is (B, S, N, D).

    Its kernels take even lengths only: odd ones get a row more, and the true lengths, so that it does not count.
    """

    def attend(q: Any, k: Any, v: Any) -> Any:
        queries, keys = q.shape[-2], k.shape[-2]
        q, k, v = (_even(jax.numpy, x.transpose(0, 2, 1, 3)) for x in (q, k, v))
        lengths = {}
        if queries % 2 or keys % 2:
            lengths = {
                "query_seq_lengths": jax.numpy.full(q.shape[:1], queries, np.int32),
                "key_value_seq_lengths": jax.numpy.full(k.shape[:1], keys, np.int32),
            }
        out = jax.nn.dot_product_attention(q, k, v, scale=scale, is_causal=causal, implementation="cudnn", **lengths)
        return out[:, :queries].transpose(0, 2, 1, 3)

    return attend


def _even(xp: Namespace, x: Array) -> Any:
    """A row of zeros after an odd number of rows."""
    return xp.pad(x, ((0, 0), (0, 1), (0, 0), (0, 0))) if x.shape[1] % 2 else x


def bias_labels(q: Any, k: Any, bias: Any, queries: str) -> Labels | None:
    """Labels of what is added to the scores (..., S, T)."""
    if bias is None:
        return None
    scores = (*q.shape[:-1], k.shape[-2])
    labels = broadcasting((bias,), len(scores), scores)[0] or ()
    rename = {f"d{len(scores) - 2}": queries, f"d{len(scores) - 1}": WHOLE}
    return tuple(rename.get(label, label) for label in labels)


def _scores(q: Any, k: Any) -> int:
    """How many pairs of a query and a key there are."""
    return math.prod(q.shape[:-1]) * k.shape[-2]


def _label_of_queries(op: Primitive, bias: Any) -> str:
    """Queries may be cut, with one exception: `causal` becomes a bias then, and there is none to spare."""
    return WHOLE if op.causal and bias is not None and not is_ring(op) else LENGTH


def is_ring(op: Primitive) -> bool:
    """Whether keys and values are cut along the length, as the strategy or whoever made the operation says."""
    strategy = op.attrs.get("in_strategy")
    if op.attrs.get("ring") or not isinstance(strategy, (tuple, list)) or len(strategy) < 2 or strategy[1] is None:
        return bool(op.attrs.get("ring"))
    return cuts_dimension(strategy[1], -2)


def cuts_dimension(entry: Any, dim: int) -> bool:
    """Whether an entry of a strategy, numbers of parts or a Layout, cuts a dimension."""
    if hasattr(entry, "to_dict"):
        return entry.to_dict()["tensor_map"][dim] != -1
    return entry[dim] > 1


def _ring_attribute(ring: bool) -> dict[str, Any]:
    return {"ring": True} if ring else {}


def _of_ring(rule: Factors) -> Factors:
    """Blocks of keys that travel are not filled up: all of them count."""
    return rule._replace(filled={label: value for label, value in rule.filled.items() if label != LENGTH})


def _late_keys(device: Any, q: Any, k: Any) -> Any:
    """The bias that hides keys after this device's queries."""
    mine, keys, queries = q.shape[-2], k.shape[-2], device.whole_shape(0)[-2]
    rows = from_array(np.arange(mine, dtype=np.int32)[:, None]) + device.start("s") + (keys - queries)
    late = Greater()(from_array(np.arange(keys, dtype=np.int32)[None]), rows)
    return Cast()(Cast()(late, mstype.float32) * MASKED, q.dtype)


class Attention(Primitive):
    """softmax(scale q kᵀ + bias) v for q (…, S, D), k (…, T, D), v (…, T, E); bias: (…, S, T), broadcast, or None.

    Examples:
        >>> x = ops.ones((1, 4, 8))
        >>> ops.Attention()(x, x, x, None).shape
        (1, 4, 8)
    """

    def __init__(self, scale: float = 1.0, causal: bool = False, ring: bool = False):
        super().__init__(scale=float(scale), causal=bool(causal), **_ring_attribute(ring))

    def infer(self, q: AbstractTensor, k: AbstractTensor, v: AbstractTensor, bias: AbstractTensor | None) -> Any:
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

    def factors(self, q: AbstractTensor, k: Any, v: Any, bias: Any) -> Factors:
        """By batch, heads and queries; every device sees all keys, at once or one block after the other."""
        lead, queries = numbered(q.ndim - 2), _label_of_queries(self, bias)
        ours, theirs = (*lead, queries, WHOLE), (*lead, LENGTH if is_ring(self) else WHOLE, WHOLE)
        rule = Factors((ours, theirs, theirs, bias_labels(q, k, bias, queries)), (ours,)).filling(None)
        return _of_ring(rule) if is_ring(self) else rule

    def strategy_problem(self, q: Any, k: Any, v: Any, bias: Any) -> str | None:
        if is_ring(self) and q.shape[-2] != k.shape[-2]:
            return f"keys travel in a ring only where there are as many as queries, but there are {k.shape[-2]} and {q.shape[-2]}."
        return None

    def flops(self, q: Any, k: Any, v: Any, bias: Any) -> float:
        return 2.0 * _scores(q, k) * (k.shape[-1] + v.shape[-1])

    def on_device(self, device: Any, q: Any, k: Any, v: Any, bias: Any) -> Any:
        if device.parts("s") > 1 and is_ring(self):
            return ring_attention(device, self.scale, MASKED if self.causal else None, q, k, v, bias)
        if not self.causal or device.parts("s") == 1:
            return self(q, k, v, bias)
        return Attention(self.scale)(q, k, v, _late_keys(device, q, k))

    def eval(self, xp: Namespace, q: Array, k: Array, v: Array, bias: Array | None) -> Any:
        parts = [_product(xp, _probabilities(xp, self, q, k, bias, *block), v) for block in _blocks(xp, q.shape[-2])]
        return narrow(_joined(xp, parts), q)

    def eval_xla(self, jnp: Any, q: Array, k: Array, v: Array, bias: Any) -> Any:
        if not self.causal and decoding.fits(q, k, v, bias) and on_cuda():
            return decoding.attend_few(self.scale, q, k, v, bias)
        if not _flash_fits(self.causal, q, k, v, bias):
            return self.eval(jnp, q, k, v, bias)
        jax = require("jax", "xla", "attention on XLA")
        return jax.vjp(_flash(jax, self.scale, self.causal), q, k, v)[0]

    def bprop(
        self, q: TensorBase, k: TensorBase, v: TensorBase, bias: TensorBase | None, out: TensorBase, dout: TensorBase
    ) -> tuple:
        grads = AttentionGrad(self.scale, self.causal, is_ring(self))(q, k, v, bias, dout)
        return tuple(grads) if _has_gradient(bias) else (*grads, None)

    def vmap(self, size: int, q: Batched, k: Batched, v: Batched, bias: Batched) -> Any:
        """Any number of dimensions may come before length and size."""
        return self(*(spread(a, size) for a in (q, k, v)), align(bias, size, rank_of(q)))


class AttentionGrad(Primitive):
    """The gradients of `Attention` by q, k, v and, where it is a float tensor, by the bias."""

    def __init__(self, scale: float = 1.0, causal: bool = False, ring: bool = False):
        super().__init__(scale=float(scale), causal=bool(causal), **_ring_attribute(ring))

    def infer(self, q: Any, k: Any, v: Any, bias: Any, dout: Any) -> Any:
        return AbstractTuple((q, k, v, bias) if _has_gradient(bias) else (q, k, v))

    def factors(self, q: AbstractTensor, k: Any, v: Any, bias: Any, dout: Any) -> Factors:
        """As `Attention`; devices with other queries have further terms of the gradients by keys, values and bias."""
        lead, queries = numbered(q.ndim - 2), _label_of_queries(self, bias)
        ours, added = (*lead, queries, WHOLE), bias_labels(q, k, bias, queries)
        theirs = (*lead, LENGTH if is_ring(self) else WHOLE, WHOLE)
        grads = (ours, theirs, theirs, added) if _has_gradient(bias) else (ours, theirs, theirs)
        rule = Factors((ours, theirs, theirs, added, ours), grads).filling(0)  # type: ignore[arg-type]
        return _of_ring(rule) if is_ring(self) else rule

    def flops(self, q: Any, k: Any, v: Any, bias: Any, dout: Any) -> float:
        """Scores again, their gradients, and those of q, k and v."""
        return 2.0 * _scores(q, k) * (3 * k.shape[-1] + 2 * v.shape[-1])

    def on_device(self, device: Any, q: Any, k: Any, v: Any, bias: Any, dout: Any) -> Any:
        if device.parts("s") > 1 and is_ring(self):
            grads = ring_attention_grad(device, self.scale, MASKED if self.causal else None, q, k, v, bias, dout)
            return grads if _has_gradient(bias) else grads[:3]
        if not self.causal or device.parts("s") == 1:
            return device.plain(self, q, k, v, bias, dout)
        return tuple(device.plain(AttentionGrad(self.scale), q, k, v, _late_keys(device, q, k), dout))[:3]

    def eval(self, xp: Any, q: Any, k: Any, v: Any, bias: Any, dout: Any) -> Any:
        dq, dk, dv, dscores = [], [], [], []
        for start, stop in _blocks(xp, q.shape[-2]):
            p = _probabilities(xp, self, q, k, bias, start, stop)
            g = dout[..., start:stop, :]
            dp = _product(xp, g, _transposed(xp, v))
            ds = p * (dp - xp.sum(dp * p, axis=-1, keepdims=True))
            dq.append(_product(xp, ds, k) * self.scale)
            dk.append(_product(xp, _transposed(xp, ds), q[..., start:stop, :]) * self.scale)
            dv.append(_product(xp, _transposed(xp, p), g))
            dscores.append(ds)
        grads = narrow(_joined(xp, dq), q), narrow(sum(dk[1:], dk[0]), k), narrow(sum(dv[1:], dv[0]), v)
        return (*grads, narrow(_sum_to(xp, _joined(xp, dscores), bias.shape), bias)) if _has_gradient(bias) else grads

    def eval_xla(self, jnp: Any, q: Array, k: Array, v: Array, bias: Any, dout: Array) -> Any:
        if not _flash_fits(self.causal, q, k, v, bias):
            return self.eval(jnp, q, k, v, bias, dout)
        jax = require("jax", "xla", "attention on XLA")
        return jax.vjp(_flash(jax, self.scale, self.causal), q, k, v)[1](dout)

    def bprop(self, q: Any, k: Any, v: Any, bias: Any, dout: Any, out: Any, grad: Any) -> tuple:
        """The second derivative: reverse mode over p = softmax(s), dp = g vᵀ, ds = p (dp - Σ dp p), dv = pᵀ g."""
        gq, gk, gv = grad[0], grad[1], grad[2]
        p = Softmax(-1)(self._scores(q, k, bias))
        dp = _mm(dout, v, tb=True)
        ds = p * (dp - _row_sum(dp * p))
        g_ds = (_mm(gq, k, tb=True) + _mm(q, gk, tb=True)) * self.scale
        if _has_gradient(bias):
            g_ds = g_ds + grad[3]
        g_row = _row_sum(g_ds * p)
        g_dp = p * (g_ds - g_row)
        g_p = _mm(dout, gv, tb=True) + g_ds * (dp - _row_sum(dp * p)) - dp * g_row
        g_s = p * (g_p - _row_sum(g_p * p))
        g_q = (_mm(g_s, k) + _mm(ds, gk)) * self.scale
        g_k = (_mm(g_s, q, ta=True) + _mm(ds, gq, ta=True)) * self.scale
        g_bias = Cast()(sum_to_shape(g_s, bias.shape), bias.dtype) if _has_gradient(bias) else None
        return g_q, g_k, _mm(g_dp, dout, ta=True), g_bias, _mm(p, gv) + _mm(g_dp, v)

    def _scores(self, q: TensorBase, k: TensorBase, bias: TensorBase | None) -> Any:
        scores = _mm(q * self.scale, k, tb=True)
        scores = scores if bias is None else scores + Cast()(bias, scores.dtype)
        return scores + from_array(causal_bias(q.shape[-2], k.shape[-2], scores.dtype.np)) if self.causal else scores


def _mm(a: TensorBase, b: TensorBase, ta: bool = False, tb: bool = False) -> Any:
    return BatchMatMul(ta, tb)(a, b)


def _row_sum(x: TensorBase) -> Any:
    return ReduceSum(True)(x, -1)


def _has_gradient(bias: Any) -> bool:
    """Whether a bias, on the host or in a graph, is a tensor of floats."""
    return bias is not None and (bias.dtype.kind == "f" or bias.dtype.name == "bfloat16")
