"""Attention of few queries over many keys, as in decoding: each key and value is read once, and those left out are not read.

XLA makes three kernels of it, and its products read the whole of a cache whatever the mask says. Here a program goes over a range of
keys in blocks, with the running maximum and sum of softmax computed online (Milakov & Gimelshein 2018); the ranges' shares are
joined at the end (Flash-Decoding: Dao et al. 2023). The ranges cover the keys from the first to the last that the bias lets
count, so a step costs what is used of a cache, not its size.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mindspore._base.optional import require

#: rows of a product on tensor cores: more queries than this for one head are another kernel's work
MOST_QUERIES = 16
#: fewer keys than this are not worth a kernel of their own
FEWEST_KEYS = 256
#: a bias so much below the greatest leaves a key out: the exponential of any score's difference is 0 beside it
LEFT_OUT = 3e4
#: keys that a program holds at a time, the least of a range, and programs that keep the memory of a GPU busy
_BLOCK, _LEAST_RANGE, _PROGRAMS = 64, 128, 264
_LOWEST = -1e30


def fits(q: Any, k: Any, v: Any, bias: Any) -> bool:
    """Whether there is a kernel for this: half types, (B, N, S, D), a bias that is the same for all heads and queries."""
    if q.ndim != 4 or q.dtype.name not in ("float16", "bfloat16") or k.dtype != q.dtype or v.dtype != q.dtype:
        return False
    size, keys = q.shape[-1], k.shape[-2]
    fitting = bias is None or (
        bias.shape[-1] == keys
        and all(n == 1 for n in bias.shape[-3:-1])
        and (bias.ndim < 4 or bias.shape[0] in (1, q.shape[0]))
    )
    return (
        fitting
        and q.shape[-2] <= MOST_QUERIES
        and keys >= FEWEST_KEYS
        and size in (32, 64, 128)
        and v.shape[-1] == size
        and 0 not in q.shape
    )


def attend_few(scale: float, q: Any, k: Any, v: Any, bias: Any, interpret: bool = False) -> Any:
    """softmax(scale q kᵀ + bias) v; see `prims.attention.Attention`."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    jnp = jax.numpy
    batch, heads, queries, size = q.shape
    keys = k.shape[-2]
    added = jnp.zeros((1, keys), np.float32) if bias is None else bias.reshape(-1, keys).astype(np.float32)
    parts = max(1, min(pl.cdiv(_PROGRAMS, batch * heads), pl.cdiv(keys, _LEAST_RANGE)))
    share = jax.ShapeDtypeStruct((batch * heads, parts, queries, size), np.float32)
    row = jax.ShapeDtypeStruct((batch * heads, parts, queries), np.float32)
    kernel = functools.partial(_attend, jax, pl, triton, scale, heads if len(added) > 1 else 0, queries, keys, size, parts)
    mixed, top, total = pl.pallas_call(
        kernel,
        out_shape=[share, row, row],
        grid=(batch * heads, parts),
        compiler_params=triton.CompilerParams(num_warps=4, num_stages=3),
        interpret=interpret,
        name="attend_few",
    )(*(x.reshape(batch * heads, -1, size) for x in (q, k, v)), added, _counting(jnp, added))
    weight = jnp.exp(top - jnp.max(top, axis=1, keepdims=True))
    out = jnp.sum(mixed * weight[..., None], axis=1) / jnp.sum(total * weight, axis=1)[..., None]
    return out.astype(q.dtype).reshape(q.shape)


def _counting(jnp: Any, added: Any) -> Any:
    """For each row of the bias: the first key that counts, and the one after the last."""
    counts = added > jnp.max(added, axis=1, keepdims=True) - LEFT_OUT
    places = jnp.arange(added.shape[1], dtype=np.int32)
    first = jnp.min(jnp.where(counts, places, added.shape[1]), axis=1)
    last = jnp.max(jnp.where(counts, places + 1, 0), axis=1)
    return jnp.stack([first, last], axis=1).astype(np.int32)


def _attend(
    jax: Any, pl: Any, triton: Any, scale: float, heads: int, queries: int, keys: int, size: int, parts: int, *refs: Any
) -> None:
    """One program: the share of a range of keys. `heads`: of one row of the bias, 0 if there is only one row."""
    jnp, lax, wide = jax.numpy, jax.lax, jax.numpy.float32
    q_ref, k_ref, v_ref, added_ref, counting_ref, mixed_ref, top_ref, total_ref = refs
    head, part = pl.program_id(0), pl.program_id(1)
    row = head // jnp.int32(heads) if heads else jnp.int32(0)
    across, down = pl.ds(jnp.int32(0), size), pl.ds(jnp.int32(0), MOST_QUERIES)
    ours = lax.iota(jnp.int32, MOST_QUERIES) < queries
    q = triton.load(q_ref.at[head, down, across], mask=ours[:, None], other=0.0)
    first = counting_ref[row, jnp.int32(0)] // jnp.int32(_BLOCK)
    end = (counting_ref[row, jnp.int32(1)] + jnp.int32(_BLOCK - 1)) // jnp.int32(_BLOCK)
    length = (end - first + jnp.int32(parts - 1)) // jnp.int32(parts)
    start = first + part * length

    def block(i: Any, state: tuple) -> tuple:
        top, total, mixed = state
        at = i * jnp.int32(_BLOCK)
        there = at + lax.iota(jnp.int32, _BLOCK) < keys
        rows = pl.ds(at, _BLOCK)
        k = triton.load(k_ref.at[head, rows, across], mask=there[:, None], other=0.0)
        bias = triton.load(added_ref.at[row, rows], mask=there, other=_LOWEST)
        scores = triton.dot(q, k, trans_b=True) * wide(scale) + bias[None, :]
        higher = jnp.maximum(top, jnp.max(scores, axis=1))
        shares, kept = jnp.exp(scores - higher[:, None]), jnp.exp(top - higher)
        v = triton.load(v_ref.at[head, rows, across], mask=there[:, None], other=0.0)
        mixed = mixed * kept[:, None] + triton.dot(shares.astype(v.dtype), v)
        return higher, total * kept + jnp.sum(shares, axis=1), mixed

    nothing = jnp.full(MOST_QUERIES, _LOWEST, wide), jnp.zeros(MOST_QUERIES, wide), jnp.zeros((MOST_QUERIES, size), wide)
    top, total, mixed = lax.fori_loop(start, jnp.minimum(start + length, end), block, nothing)
    triton.store(mixed_ref.at[head, part, down, across], mixed, mask=ours[:, None])
    triton.store(top_ref.at[head, part, down], top, mask=ours)
    triton.store(total_ref.at[head, part, down], total, mask=ours)
