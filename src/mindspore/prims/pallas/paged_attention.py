"""Attention of rows over a paged cache, where it lies (`prims/cached_attention.py` says what the operands are).

One kernel takes the rows' own keys and values into the pages. Another has a program for each row and head of keys, which walks over the
row's pages, TOKENS at a time, and keeps what is needed of softmax so far (Milakov & Gimelshein, Online normalizer calculation for
softmax, 2018): what a row gives depends on its own sequence alone, and no page is read for another row or copied.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore._base.optional import require

#: tokens that a program looks at in a turn
TOKENS = 128
#: the fewest rows of a matrix instruction
_LEAST = 16


def fits(q: Any, keys: Any) -> bool:
    """Whether there are kernels for this: heads of a power of two of numbers."""
    width = q.shape[2]
    return width >= _LEAST and width & (width - 1) == 0 and keys.dtype.name in ("bfloat16", "float16", "float32")


def take_in(k: Any, v: Any, keys: Any, values: Any, positions: Any, tables: Any, interpret: bool = False) -> Any:
    """The cache with the rows' own keys and values in it, in the same memory."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    return pl.pallas_call(
        functools.partial(_take_in, jax, pl, triton),
        out_shape=[jax.ShapeDtypeStruct(cache.shape, cache.dtype) for cache in (keys, values)],
        grid=(len(k), k.shape[1]),
        input_output_aliases={4: 0, 5: 1},
        compiler_params=triton.CompilerParams(num_warps=1, num_stages=1),
        interpret=interpret,
        name="take_in",
    )(k, v, positions, tables, keys, values)


def _take_in(jax: Any, pl: Any, triton: Any, *refs: Any) -> None:
    """One head of one row."""
    jnp = jax.numpy
    k_ref, v_ref, positions_ref, tables_ref, _, _, keys_ref, values_ref = refs
    row, head = pl.program_id(0), pl.program_id(1)
    width, size = k_ref.shape[2], keys_ref.shape[3]
    position = triton.load(positions_ref.at[row])
    page, within = triton.load(tables_ref.at[row, position // size]), position % size
    across = pl.ds(jnp.int32(0), width)
    triton.store(
        keys_ref.at[page, head, across, within], triton.load(k_ref.at[row, head, across]).astype(keys_ref.dtype)
    )
    triton.store(
        values_ref.at[page, head, within, across], triton.load(v_ref.at[row, head, across]).astype(values_ref.dtype)
    )


def attend(
    scale: float, q: Any, keys: Any, values: Any, ends: Any, tables: Any, dtype: Any = None, interpret: bool = False, window: int = 0
) -> Any:
    """In `dtype`, else that of the queries: what each row of q (rows, heads, width) sees of its pages' tokens up to `ends`, of the last
    `window` ones if that is not 0."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    return pl.pallas_call(
        functools.partial(_attend, jax, pl, triton, scale, window),
        out_shape=jax.ShapeDtypeStruct(q.shape, dtype or q.dtype),
        grid=(keys.shape[1], len(q)),
        compiler_params=triton.CompilerParams(num_warps=8, num_stages=2),
        interpret=interpret,
        name="paged_attention",
    )(q, ends, tables, keys, values)


def _attend(jax: Any, pl: Any, triton: Any, scale: float, window: int, *refs: Any) -> None:
    """The heads of one row that share a head of keys."""
    jnp, lax = jax.numpy, jax.lax
    q_ref, ends_ref, tables_ref, keys_ref, values_ref, out_ref = refs
    (_, heads, width), (_, kv_heads, _, size) = q_ref.shape, keys_ref.shape
    head, row = pl.program_id(0), pl.program_id(1)
    group = heads // kv_heads
    padded = max(_LEAST, pl.next_power_of_2(group))
    own = pl.ds(head * jnp.int32(group), padded)
    mine = jnp.broadcast_to((lax.iota(jnp.int32, padded) < group)[:, None], (padded, width))
    across = lax.iota(jnp.int32, width)
    end = triton.load(ends_ref.at[row])
    q = triton.load(q_ref.at[row, own, pl.ds(jnp.int32(0), width)], mask=mine, other=0.0).astype(keys_ref.dtype)
    exact = {"precision": "highest"} if keys_ref.dtype == np.float32 else {}

    def turn(i: Any, state: tuple) -> tuple:
        largest, total, out = state
        token = i * jnp.int32(TOKENS) + lax.iota(jnp.int32, TOKENS)
        seen = (token <= end) & (token > end - jnp.int32(window)) if window else token <= end
        page = triton.load(tables_ref.at[row, token // size], mask=seen, other=0)
        within = token % size
        k = triton.load(
            keys_ref.at[page[None, :], head, across[:, None], within[None, :]],
            mask=jnp.broadcast_to(seen[None, :], (width, TOKENS)), other=0.0,
        )  # fmt: skip
        v = triton.load(  # on its way while the scores are computed
            values_ref.at[page[:, None], head, within[:, None], across[None, :]],
            mask=jnp.broadcast_to(seen[:, None], (TOKENS, width)), other=0.0,
        )  # fmt: skip
        scores = jnp.where(seen[None, :], triton.dot(q, k, **exact) * scale, -math.inf)
        now = jnp.maximum(largest, jnp.max(scores, axis=1))
        shares, kept = jnp.exp(scores - now[:, None]), jnp.exp(largest - now)
        out = out * kept[:, None] + triton.dot(shares.astype(v.dtype), v, **exact)
        return now, total * kept + jnp.sum(shares, axis=1), out

    begin = (
        jnp.full(padded, -math.inf, jnp.float32),
        jnp.zeros(padded, jnp.float32),
        jnp.zeros((padded, width), jnp.float32),
    )
    earliest = jnp.maximum(end - jnp.int32(window - 1), 0) // TOKENS if window else jnp.int32(0)
    _, total, out = lax.fori_loop(earliest, end // TOKENS + 1, turn, begin)
    triton.store(
        out_ref.at[row, own, pl.ds(jnp.int32(0), width)], (out / total[:, None]).astype(out_ref.dtype), mask=mine
    )
