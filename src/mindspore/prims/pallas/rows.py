"""Reductions of rows by one program each, so that the number of rows changes no bit (`prims/row_reductions.py`)."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore._base.optional import require

#: numbers of a row that a program holds at once
PIECE = 4096
#: the longest row that a norm's program holds
LONGEST = 16384


def norm(epsilon: float, centred: bool, x: Any, scale: Any, shift: Any, dtype: Any, interpret: bool = False) -> Any:
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    rows, width = x.shape
    given = [a for a in (x, scale, shift) if a is not None]
    return pl.pallas_call(
        functools.partial(_norm, jax, pl, triton, epsilon, centred, width),
        out_shape=jax.ShapeDtypeStruct((rows, width), dtype),
        grid=(rows,),
        compiler_params=triton.CompilerParams(num_warps=8 if width > 1024 else 4, num_stages=1),
        interpret=interpret,
        name="row_norm",
    )(*given)


def _norm(
    jax: Any, pl: Any, triton: Any, epsilon: float, centred: bool, width: int, x_ref: Any, scale_ref: Any, *rest: Any
) -> None:
    jnp = jax.numpy
    row, columns = pl.program_id(0), pl.next_power_of_2(width)
    across, inside = pl.ds(jnp.int32(0), columns), jax.lax.iota(jnp.int32, columns) < width

    def load(ref: Any, *at: Any) -> Any:
        return triton.load(ref.at[(*at, across)], mask=inside, other=0.0)

    x = load(x_ref, row)
    if centred:
        x = jnp.where(inside, x - jnp.sum(x) / width, 0.0)
    out = x / jnp.sqrt(jnp.sum(x * x) / width + epsilon) * load(scale_ref)
    if len(rest) > 1:
        out = out + load(rest[0])
    triton.store(rest[-1].at[row, across], out.astype(rest[-1].dtype), mask=inside)


def choice(x: Any, settings: Any, most: Any, interpret: bool = False) -> Any:
    """See `prims.row_choice.RowChoice`."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    rows = len(x)
    return pl.pallas_call(
        functools.partial(_choice, jax, pl, triton),
        out_shape=[jax.ShapeDtypeStruct((rows,), np.int32), jax.ShapeDtypeStruct((rows,), np.float32)],
        grid=(rows,),
        compiler_params=triton.CompilerParams(num_warps=8, num_stages=2),
        interpret=interpret,
        name="row_choice",
    )(x, settings, most)


def _choice(
    jax: Any, pl: Any, triton: Any, x_ref: Any, settings_ref: Any, most_ref: Any, token_ref: Any, logprob_ref: Any
) -> None:
    """One row. Both the limit of what may be chosen and the place of the choice are found by halving an interval, whose ends are compared
    by sums over the row: nothing is sorted."""
    jnp, lax = jax.numpy, jax.lax
    row, size = pl.program_id(0), x_ref.shape[1]
    temperature, top_p, min_p, drawn = (triton.load(settings_ref.at[row, jnp.int32(i)]) for i in range(4))
    most = triton.load(most_ref.at[row])
    pieces, draws = jnp.int32(-(-size // PIECE)), temperature > 0
    drawn_pieces = jnp.where(draws, pieces, jnp.int32(0))  # what only a draw needs

    def over(step: Any, start: Any, count: Any = pieces) -> Any:
        """`step(state, places, numbers)` of all pieces of the row."""

        def turn(i: Any, state: Any) -> Any:
            first = i * jnp.int32(PIECE)
            places = first + lax.iota(jnp.int32, PIECE)
            return step(
                state, places, triton.load(x_ref.at[row, pl.ds(first, PIECE)], mask=places < size, other=-math.inf)
            )

        return lax.fori_loop(jnp.int32(0), count, turn, start)

    def larger(state: tuple, places: Any, numbers: Any) -> tuple:
        largest, place = state
        mine = jnp.max(numbers)
        first = jnp.min(jnp.where(numbers == mine, places, jnp.int32(size)))
        return jnp.maximum(largest, mine), jnp.where(mine > largest, first, place)

    zero = jnp.float32(0)
    peak, best = over(larger, (jnp.float32(-math.inf), jnp.int32(0)))
    total = over(lambda sums, _, numbers: sums + jnp.sum(jnp.exp(numbers - peak)), zero)
    heat = jnp.where(temperature > 0, temperature, jnp.float32(1))

    def weights(numbers: Any) -> Any:
        return jnp.exp((numbers - peak) / heat)

    def above(limit: Any) -> Any:
        """Weight and number of what weighs more than `limit`."""

        def step(state: tuple, _: Any, numbers: Any) -> tuple:
            found = weights(numbers)
            more = found > limit
            return state[0] + jnp.sum(jnp.where(more, found, 0.0)), state[1] + jnp.sum(more, dtype=jnp.int32)

        return over(step, (zero, jnp.int32(0)))

    whole = over(lambda sums, _, numbers: sums + jnp.sum(weights(numbers)), zero, drawn_pieces)
    most = jnp.where(most > 0, most, jnp.int32(size))
    limited = draws & ((top_p < 1) | (most < size))

    def halve(_: Any, state: tuple) -> tuple:
        """The least limit with less than `top_p` of all weight above it, and fewer than `most` numbers. Bits of floats above 0 are
        ordered as the floats are."""
        low, high = state
        middle = (low + high) // 2
        weight, count = above(lax.bitcast_convert_type(middle, jnp.float32))
        enough = (weight < top_p * whole) & (count < most)
        return jnp.where(enough, low, middle + 1), jnp.where(enough, middle, high)

    one = jnp.int32(np.float32(1).view(np.int32))
    _, bits = lax.fori_loop(jnp.int32(0), jnp.where(limited, jnp.int32(31), jnp.int32(0)), halve, (jnp.int32(0), one))
    least = jnp.maximum(jnp.where(limited, lax.bitcast_convert_type(bits, jnp.float32), zero), min_p)

    def upto(last: Any) -> Any:
        def step(sums: Any, places: Any, numbers: Any) -> Any:
            found = weights(numbers)
            return sums + jnp.sum(jnp.where((found >= least) & (places <= last), found, 0.0))

        return over(step, zero, drawn_pieces)

    kept = upto(jnp.int32(size))

    def halve_places(_: Any, state: tuple) -> tuple:
        """The first place up to which more than the drawn part of the weight lies."""
        low, high = state
        middle = (low + high) // 2
        enough = upto(middle) > drawn * kept
        return jnp.where(enough, low, middle + 1), jnp.where(enough, middle, high)

    turns = jnp.where(draws, jnp.int32(max(size.bit_length(), 1)), jnp.int32(0))
    _, place = lax.fori_loop(jnp.int32(0), turns, halve_places, (jnp.int32(0), jnp.int32(size - 1)))
    token = jnp.where(draws, place, best)
    triton.store(token_ref.at[row], token)
    triton.store(logprob_ref.at[row], triton.load(x_ref.at[row, token]) - peak - jnp.log(total))
