"""Rows times a matrix of 16-bit floats, each result added up in the order of the inputs whatever the number of rows.

A library's product chooses by the number of rows how it cuts a sum into pieces, so a row gives other last bits in a larger batch.
Here a program computes a tile of results by one chain of matrix instructions over the inputs, never cut: tiles differ in size
only, which changes no sum. It is always the same instruction (wgmma, whose first operand has 64 rows). Where there are few rows, the
weights are that operand (`turned`), and the rows are no more columns than they need: the weights' memory is what takes the time then, and
what rows leave of a multiprocessor's own memory holds more of the weights that are on their way.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindspore._base.optional import require


@dataclass(frozen=True)
class Tile:
    rows: int
    outputs: int
    inputs: int
    warps: int
    stages: int
    turned: bool = False


#: few rows: as many programs as keep the memory busy; many: as many numbers as registers hold. By the number of outputs; the quickest
#: on an H200 (benchmarks/serving/gpu.py --tiles)
ONE = Tile(16, 64, 128, 4, 6, turned=True)
FEW, FEW_TO_MANY = Tile(64, 32, 128, 4, 5), Tile(64, 64, 64, 4, 6)
SOME, MANY = Tile(128, 64, 64, 8, 4), Tile(128, 256, 64, 8, 3)
#: outputs from which wide tiles are enough for all multiprocessors
_WIDE = 8192


def tile_for(rows: int, outputs: int) -> Tile:
    if rows <= ONE.rows:
        return ONE
    if rows <= FEW.rows:
        return FEW if outputs < _WIDE else FEW_TO_MANY
    return SOME if outputs < _WIDE else MANY


def fits(inputs: int) -> bool:
    """Whether there is a kernel for this: whole steps along the inputs."""
    return inputs % FEW.inputs == 0


def product(x: Any, weight: Any, bias: Any, residual: Any, tile: Tile | None = None, interpret: bool = False) -> Any:
    """x (rows, inputs) weightᵀ + bias + residual in float32; weight (outputs, inputs), both of 16-bit floats."""
    jax = require("jax", "xla", "kernels of a GPU")
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    rows, outputs = len(x), len(weight)
    tile = tile or tile_for(rows, outputs)
    added = [a for a in (bias, residual) if a is not None]
    kernel = functools.partial(_program, jax, pl, triton, tile, x.shape[1], rows, outputs, bias is not None)
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((rows, outputs), np.float32),
        grid=(
            pl.cdiv(rows, tile.rows),
            pl.cdiv(outputs, tile.outputs),
        ),  # tiles that read the same weights run together
        compiler_params=triton.CompilerParams(num_warps=tile.warps, num_stages=tile.stages),
        interpret=interpret,
        name="row_product",
    )(x, weight, *added)


def _program(
    jax: Any,
    pl: Any,
    triton: Any,
    tile: Tile,
    inputs: int,
    rows: int,
    outputs: int,
    has_bias: bool,
    x_ref: Any,
    w_ref: Any,
    *rest: Any,
) -> None:
    """One tile of results."""
    jnp, lax = jax.numpy, jax.lax
    down, across = pl.program_id(0) * jnp.int32(tile.rows), pl.program_id(1) * jnp.int32(tile.outputs)
    some_rows, some_outputs = pl.ds(down, tile.rows), pl.ds(across, tile.outputs)
    there = None if rows % tile.rows == 0 else (down + lax.iota(jnp.int32, tile.rows) < rows)[:, None]
    wanted = None if outputs % tile.outputs == 0 else across + lax.iota(jnp.int32, tile.outputs) < outputs

    def load(ref: Any, at: Any, mask: Any) -> Any:
        return triton.load(ref.at[at], mask=mask, other=None if mask is None else 0.0)

    def turn(i: Any, sums: Any) -> Any:
        depth = pl.ds(i * jnp.int32(tile.inputs), tile.inputs)
        x = load(x_ref, (some_rows, depth), _spread(jnp, there, (tile.rows, tile.inputs)))
        w = load(
            w_ref,
            (some_outputs, depth),
            _spread(jnp, None if wanted is None else wanted[:, None], (tile.outputs, tile.inputs)),
        )
        return sums + (triton.dot(w, x, trans_b=True) if tile.turned else triton.dot(x, w, trans_b=True))

    shape = (tile.outputs, tile.rows) if tile.turned else (tile.rows, tile.outputs)
    out = lax.fori_loop(jnp.int32(0), jnp.int32(inputs // tile.inputs), turn, jnp.zeros(shape, jnp.float32))
    out = out.T if tile.turned else out
    mask = _both(jnp, there, wanted, (tile.rows, tile.outputs))
    if has_bias:
        out = out + load(rest[0], (some_outputs,), wanted)[None, :]
    if len(rest) > 1 + has_bias:
        out = out + load(rest[has_bias], (some_rows, some_outputs), mask)
    triton.store(rest[-1].at[some_rows, some_outputs], out, mask=mask)


def _spread(jnp: Any, mask: Any, shape: tuple[int, int]) -> Any:
    return None if mask is None else jnp.broadcast_to(mask, shape)


def _both(jnp: Any, there: Any, wanted: Any, shape: tuple[int, int]) -> Any:
    found = [mask for mask in (there, None if wanted is None else wanted[None, :]) if mask is not None]
    return _spread(jnp, functools.reduce(jnp.logical_and, found) if found else None, shape)
