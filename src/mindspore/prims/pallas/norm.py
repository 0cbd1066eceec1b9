"""Layer and root mean square normalisation, and their gradients, each in one pass over the data.

XLA makes two or three kernels of a normalisation: its statistics are sums over rows that come before what uses them. Here a program has
whole rows in registers.

Of the gradients XLA makes four kernels: one that stores g (x - mean) in float32, one for dx, and a sum over all rows each for gamma and
beta. Here each program walks over a range of rows. A row's two means are found while it is in registers, dx is
written at once (with the gradient that arrives around the normalisation added), and the sums for gamma and beta stay in registers
until the range ends; XLA adds up the programs' shares. 16384 rows of 768 bfloat16 on an H200: 42 µs instead of 100.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.optional import require

#: the longest row that stays in registers
LONGEST_ROW = 8192
#: fewer numbers than this are not worth a kernel of their own: of gradients, and of normalisations
FEWEST, FEWEST_FORWARD = 1 << 16, 1 << 12
#: numbers that a program holds of each operand, and a thread
_TILE, _PER_THREAD = 2048, 16
#: programs at a time: four for each of some 130 multiprocessors
_PROGRAMS = 512


def fits(x: Any, gamma: Any, axes: tuple[int, ...], fewest: int = FEWEST) -> bool:
    """Whether there is a kernel for this: whole rows of float32 or narrower, each weight for one number of a row."""
    size = math.prod(x.shape)
    row = math.prod(x.shape[a] for a in axes)
    return (
        gamma.shape == tuple(x.shape[a] for a in axes)
        and x.dtype.name in ("float32", "bfloat16", "float16")
        and row <= LONGEST_ROW
        and size >= fewest
    )


def layer_norm(epsilon: float, x: Any, gamma: Any, beta: Any, interpret: bool = False) -> tuple:
    """The normalised x, means and variances; see `prims.norm.LayerNorm`."""
    return _forward("layer_norm", functools.partial(_centred, epsilon, gamma.size), 2, x, (gamma, beta), interpret)


def rms_norm(epsilon: float, x: Any, gamma: Any, interpret: bool = False) -> tuple:
    """The normalised x and the inverse roots; see `prims.norm.RmsNorm`."""
    return _forward("rms_norm", functools.partial(_by_mean_square, epsilon, gamma.size), 1, x, (gamma,), interpret)


def _centred(epsilon: float, width: int, lax: Any, jnp: Any, x: Any, inside: Any, gamma: Any, beta: Any) -> tuple:
    """Of some rows: the result, mean and variance."""
    mean = jnp.sum(x, axis=1)[:, None] / width
    centred = jnp.where(inside, x - mean, 0.0)
    variance = jnp.sum(centred * centred, axis=1)[:, None] / width
    return centred * lax.rsqrt(variance + epsilon) * gamma + beta, mean, variance


def _by_mean_square(epsilon: float, width: int, lax: Any, jnp: Any, x: Any, inside: Any, gamma: Any) -> tuple:
    """Of some rows: the result, and the inverse root of the mean square."""
    inverse = lax.rsqrt(jnp.sum(x * x, axis=1)[:, None] / width + epsilon)
    return x * inverse * gamma, inverse


def _forward(name: str, formula: Callable[..., tuple], stats: int, x: Any, weights: tuple, interpret: bool) -> tuple:
    """x by the formula, and its `stats` further results: a number for each row."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    width, lead = weights[0].size, x.shape[: x.ndim - weights[0].ndim]
    rows = x.size // width
    columns = pl.next_power_of_2(width)
    tile = max(1, min(_TILE // columns, pl.next_power_of_2(rows)))
    by_row = jax.ShapeDtypeStruct((rows,), np.float32)
    out, *found = pl.pallas_call(
        functools.partial(_tile_of_rows, jax, pl, triton, formula, len(weights), rows, width, columns, tile),
        out_shape=[jax.ShapeDtypeStruct((rows, width), x.dtype), *[by_row] * stats],
        grid=(pl.cdiv(rows, tile),),
        compiler_params=triton.CompilerParams(num_warps=max(4, tile * columns // (32 * _PER_THREAD)), num_stages=1),
        interpret=interpret,
        name=name,
    )(x.reshape(rows, width), *(w.reshape(width) for w in weights))
    return out.reshape(x.shape), *(f.reshape(*lead, *(1,) * weights[0].ndim) for f in found)


def _tile_of_rows(
    jax: Any, pl: Any, triton: Any, formula: Callable[..., tuple], weights: int, rows: int, width: int, columns: int, tile: int,
    *refs: Any,
) -> None:  # fmt: skip
    """What one program of a normalisation does."""
    jnp, lax, wide = jax.numpy, jax.lax, jax.numpy.float32
    x_ref, *weight_refs = refs[: 1 + weights]
    out_ref, *stat_refs = refs[1 + weights :]
    down, across = pl.ds(pl.program_id(0) * jnp.int32(tile), tile), pl.ds(jnp.int32(0), columns)
    inside = lax.iota(jnp.int32, columns) < width
    there = pl.program_id(0) * jnp.int32(tile) + lax.iota(jnp.int32, tile) < rows
    mask = there[:, None] & inside[None, :]
    each = (triton.load(w.at[across], mask=inside, other=0.0).astype(wide)[None, :] for w in weight_refs)
    x = triton.load(x_ref.at[down, across], mask=mask, other=0.0).astype(wide)
    out, *found = formula(lax, jnp, x, mask, *each)
    triton.store(out_ref.at[down, across], out.astype(out_ref.dtype), mask=mask)
    for ref, statistic in zip(stat_refs, found):
        triton.store(ref.at[down], statistic[:, 0], mask=there)


def layer_norm_backward(
    epsilon: float, x: Any, dy: Any, gamma: Any, mean: Any, variance: Any, dmean: Any, dvariance: Any, residual: Any = None,
    interpret: bool = False,
) -> tuple:  # fmt: skip
    """dx (plus the residual), dgamma and dbeta; see `prims.norm.LayerNormBackward`."""
    formula = functools.partial(_centred_backward, epsilon, gamma.size)
    return _backward("layer_norm_backward", formula, 2, x, dy, gamma, (mean, variance, dmean, dvariance), residual, interpret)


def rms_norm_backward(
    x: Any, dy: Any, gamma: Any, inverse: Any, dinverse: Any, residual: Any = None, interpret: bool = False
) -> tuple:
    """dx (plus the residual) and dgamma; see `prims.norm.RmsNormBackward`."""
    formula = functools.partial(_by_mean_square_backward, gamma.size)
    return _backward("rms_norm_backward", formula, 1, x, dy, gamma, (inverse, dinverse), residual, interpret)


def _centred_backward(epsilon: float, width: int, lax: Any, jnp: Any, x: Any, dy: Any, gamma: Any, inside: Any, *stats: Any) -> tuple:
    """Of some rows: dx, and what is summed over all rows."""
    mean, variance, dmean, dvariance = stats
    centred, inverse, g = jnp.where(inside, x - mean, 0.0), lax.rsqrt(variance + epsilon), dy * gamma
    moment, total = jnp.sum(g * centred, axis=1)[:, None] / width, jnp.sum(g, axis=1)[:, None] / width
    slope = dvariance * (2.0 / width) - inverse * inverse * inverse * moment
    offset = dmean * (1.0 / width) - inverse * total
    return g * inverse + centred * slope + offset, dy * centred * inverse, dy


def _by_mean_square_backward(
    width: int, lax: Any, jnp: Any, x: Any, dy: Any, gamma: Any, inside: Any, inverse: Any, dinverse: Any
) -> tuple:
    """Of some rows: dx, and what is summed over all rows."""
    g = dy * gamma
    pull = (jnp.sum(g * x, axis=1)[:, None] + dinverse) / width
    return g * inverse - x * (inverse * inverse * inverse * pull), dy * x * inverse


def _backward(
    name: str, formula: Callable[..., tuple], sums: int, x: Any, dy: Any, gamma: Any, stats: tuple, residual: Any, interpret: bool
) -> tuple:
    """dx by the formula, and its `sums` further results summed over all rows."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    width = gamma.size
    rows = x.size // width
    columns = pl.next_power_of_2(width)
    tile = max(1, _TILE // columns)
    turns = pl.cdiv(rows, tile * _PROGRAMS)
    programs = pl.cdiv(rows, tile * turns)
    flat = [None if a is None else a.reshape(rows, width) for a in (x, dy, residual)]
    per_row = [a.astype(np.float32).reshape(rows) for a in stats]
    operands = [*flat[:2], gamma.reshape(width), *per_row, *flat[2:]]
    share = jax.ShapeDtypeStruct((programs, width), np.float32)
    kernel = functools.partial(
        _range_of_rows, jax, pl, triton, formula, len(stats), sums, rows, width, columns, tile, turns, residual is not None
    )
    dx, *shares = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct((rows, width), x.dtype), *[share] * sums],
        grid=(programs,),
        compiler_params=triton.CompilerParams(num_warps=max(4, tile * columns // (32 * _PER_THREAD)), num_stages=2),
        interpret=interpret,
        name=name,
    )(*[a for a in operands if a is not None])
    return dx.reshape(x.shape), *(total.sum(0).reshape(gamma.shape) for total in shares)


def _range_of_rows(
    jax: Any, pl: Any, triton: Any, formula: Callable[..., tuple], stats: int, sums: int, rows: int, width: int, columns: int,
    tile: int, turns: int, has_residual: bool, *refs: Any,
) -> None:  # fmt: skip
    """What one program of a gradient does: `turns` times `tile` rows."""
    jnp, lax, wide = jax.numpy, jax.lax, jax.numpy.float32
    x_ref, dy_ref, gamma_ref, *of_rows = refs[: 3 + stats]
    residual_ref = refs[3 + stats] if has_residual else None
    dx_ref, *sum_refs = refs[-1 - sums :]
    program, across = pl.program_id(0), pl.ds(jnp.int32(0), columns)  # indices are 32 bits wide, whatever JAX's default is
    inside = lax.iota(jnp.int32, columns) < width
    gamma = triton.load(gamma_ref.at[across], mask=inside, other=0.0).astype(wide)[None, :]

    def turn(i: Any, totals: tuple) -> tuple:
        first = (program * turns + i) * tile
        down = pl.ds(first, tile)
        there = first + lax.iota(jnp.int32, tile) < rows
        mask = there[:, None] & inside[None, :]

        def rows_of(ref: Any) -> Any:
            return triton.load(ref.at[down, across], mask=mask, other=0.0)

        each = (triton.load(s.at[down], mask=there, other=0.0)[:, None] for s in of_rows)
        dx, *terms = formula(lax, jnp, rows_of(x_ref).astype(wide), rows_of(dy_ref).astype(wide), gamma, mask, *each)
        dx = dx.astype(dx_ref.dtype)
        triton.store(dx_ref.at[down, across], dx if residual_ref is None else dx + rows_of(residual_ref), mask=mask)
        return tuple(total + jnp.sum(term, axis=0) for total, term in zip(totals, terms))

    totals = lax.fori_loop(jnp.int32(0), jnp.int32(turns), turn, (jnp.zeros(columns, wide),) * sums)
    for ref, total in zip(sum_refs, totals):
        triton.store(ref.at[program, across], total, mask=inside)
