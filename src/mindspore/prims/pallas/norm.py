"""The gradient of layer normalisation in one pass over the data.

XLA makes four kernels of it: one that stores g (x - mean) in float32, one for dx, and a sum over all rows each for gamma and
beta. Here each program walks over a range of rows. A row's two means are found while it is in registers, dx is
written at once (with the gradient that arrives around the normalisation added), and the sums for gamma and beta stay in registers
until the range ends; XLA adds up the programs' shares. 16384 rows of 768 bfloat16 on an H200: 42 µs instead of 100.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindspore._base.optional import require

#: the longest row that stays in registers
LONGEST_ROW = 8192
#: fewer numbers than this are not worth a kernel of their own
FEWEST = 1 << 16
#: numbers that a program holds of each operand, and a thread
_TILE, _PER_THREAD = 2048, 16
#: programs at a time: four for each of some 130 multiprocessors
_PROGRAMS = 512


def fits(x: Any, gamma: Any, axes: tuple[int, ...]) -> bool:
    """Whether there is a kernel for this: whole rows of float32 or narrower, each weight for one number of a row."""
    size = math.prod(x.shape)
    row = math.prod(x.shape[a] for a in axes)
    return (
        gamma.shape == tuple(x.shape[a] for a in axes)
        and x.dtype.name in ("float32", "bfloat16", "float16")
        and row <= LONGEST_ROW
        and size >= FEWEST
    )


def layer_norm_backward(
    epsilon: float, x: Any, dy: Any, gamma: Any, mean: Any, variance: Any, dmean: Any, dvariance: Any, residual: Any = None,
    interpret: bool = False,
) -> tuple:  # fmt: skip
    """dx (plus the residual), dgamma and dbeta; see `prims.norm.LayerNormBackward`."""
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
    per_row = [a.astype(np.float32).reshape(rows) for a in (mean, variance, dmean, dvariance)]
    operands = [*flat[:2], gamma.reshape(width), *per_row, *flat[2:]]
    share = jax.ShapeDtypeStruct((programs, width), np.float32)
    kernel = functools.partial(
        _backward, jax, pl, triton, epsilon, rows, width, columns, tile, turns, residual is not None
    )
    dx, dgamma, dbeta = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct((rows, width), x.dtype), share, share],
        grid=(programs,),
        compiler_params=triton.CompilerParams(num_warps=max(4, tile * columns // (32 * _PER_THREAD)), num_stages=2),
        interpret=interpret,
        name="layer_norm_backward",
    )(*[a for a in operands if a is not None])
    by_weight = (total.sum(0).reshape(gamma.shape) for total in (dgamma, dbeta))
    return dx.reshape(x.shape), *by_weight


def _backward(
    jax: Any, pl: Any, triton: Any, epsilon: float, rows: int, width: int, columns: int, tile: int, turns: int,
    has_residual: bool, *refs: Any,
) -> None:  # fmt: skip
    """What one program does: `turns` times `tile` rows."""
    jnp, lax, wide = jax.numpy, jax.lax, jax.numpy.float32
    x_ref, dy_ref, gamma_ref, *stats = refs[:7]
    residual_ref = refs[7] if has_residual else None
    dx_ref, dgamma_ref, dbeta_ref = refs[-3:]
    program, across = pl.program_id(0), pl.ds(jnp.int32(0), columns)  # indices are 32 bits wide, whatever JAX's default is
    inside = lax.iota(jnp.int32, columns) < width
    gamma = triton.load(gamma_ref.at[across], mask=inside, other=0.0).astype(wide)[None, :]

    def turn(i: Any, sums: tuple) -> tuple:
        first = (program * turns + i) * tile
        down = pl.ds(first, tile)
        there = first + lax.iota(jnp.int32, tile) < rows
        mask = there[:, None] & inside[None, :]

        def rows_of(ref: Any) -> Any:
            return triton.load(ref.at[down, across], mask=mask, other=0.0)

        mean, variance, dmean, dvariance = (triton.load(s.at[down], mask=there, other=0.0)[:, None] for s in stats)
        centred = jnp.where(mask, rows_of(x_ref).astype(wide) - mean, 0.0)
        dy, inverse = rows_of(dy_ref).astype(wide), lax.rsqrt(variance + epsilon)
        g = dy * gamma
        moment, total = jnp.sum(g * centred, axis=1)[:, None] / width, jnp.sum(g, axis=1)[:, None] / width
        slope = dvariance * (2.0 / width) - inverse * inverse * inverse * moment
        offset = dmean * (1.0 / width) - inverse * total
        dx = (g * inverse + centred * slope + offset).astype(dx_ref.dtype)
        triton.store(dx_ref.at[down, across], dx if residual_ref is None else dx + rows_of(residual_ref), mask=mask)
        return sums[0] + jnp.sum(dy * centred * inverse, axis=0), sums[1] + jnp.sum(dy, axis=0)

    zero = jnp.zeros(columns, wide)
    dgamma, dbeta = lax.fori_loop(jnp.int32(0), jnp.int32(turns), turn, (zero, zero))
    triton.store(dgamma_ref.at[program, across], dgamma, mask=inside)
    triton.store(dbeta_ref.at[program, across], dbeta, mask=inside)
