"""Matrix products of groups of rows, each with its own matrix: what mixtures of experts are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.arrays import Transpose
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def _spans(counts: Any) -> list[tuple[int, int]]:
    ends = np.cumsum(np.asarray(counts))
    return list(zip((0, *ends[:-1].tolist()), ends.tolist()))


class GroupedMatMulRows(Primitive):
    """x (M, K), weight (G, K, N), counts (G,): the first counts[0] rows times weight[0], the next times weight[1] …

    Rows behind the last group give zeros.
    """

    def __init__(self) -> None:
        super().__init__("GroupedMatMulRows")

    def infer(self, x: AbstractTensor, weight: AbstractTensor, counts: AbstractTensor) -> Any:
        for name, value in (("x", x), ("weight", weight), ("group_list", counts)):
            checks.tensor("GroupedMatmul", name, value)
        if x.ndim != 2 or weight.ndim != 3 or x.shape[1] != weight.shape[1] or counts.shape != weight.shape[:1]:
            raise ValueError(
                f"For 'GroupedMatmul', x (M, K), weight (G, K, N) and group_list (G,) are needed, but got the shapes "
                f"{x.shape}, {weight.shape} and {counts.shape}."
            )
        return AbstractTensor(x.dtype, (x.shape[0], weight.shape[2]))

    def eval(self, xp: Namespace, x: Array, weight: Array, counts: Array) -> Any:
        if xp is not np:
            lax = require("jax.lax", "xla", "grouped products on XLA")
            return narrow(lax.ragged_dot(widen(x), widen(weight), counts.astype(np.int32)), x)
        out = np.zeros((x.shape[0], weight.shape[2]), widen(x).dtype)
        for group, (start, stop) in enumerate(_spans(counts)):
            out[start:stop] = widen(x[start:stop]) @ widen(weight[group])
        return narrow(out, x)

    def bprop(self, x: TensorBase, weight: TensorBase, counts: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        dx = GroupedMatMulRows()(dout, Transpose()(weight, (0, 2, 1)), counts)
        return dx, GroupedOuter()(x, dout, counts), None


class GroupedOuter(Primitive):
    """x (M, K), y (M, N), counts (G,): xᵀ y of each group's rows, (G, K, N)."""

    def __init__(self) -> None:
        super().__init__("GroupedOuter")

    def infer(self, x: AbstractTensor, y: AbstractTensor, counts: AbstractTensor) -> Any:
        return AbstractTensor(x.dtype, (counts.shape[0], x.shape[1], y.shape[1]))

    def eval(self, xp: Namespace, x: Array, y: Array, counts: Array) -> Any:
        groups = counts.shape[0]
        if xp is not np:
            jax = require("jax", "xla", "grouped products on XLA")
            zeros = xp.zeros((groups, x.shape[1], y.shape[1]), widen(x).dtype)
            product = lambda w: jax.lax.ragged_dot(widen(x), w, counts.astype(np.int32))
            return narrow(jax.vjp(product, zeros)[1](widen(y))[0], x)
        out = np.zeros((groups, x.shape[1], y.shape[1]), widen(x).dtype)
        for group, (start, stop) in enumerate(_spans(counts)):
            out[group] = widen(x[start:stop]).T @ widen(y[start:stop])
        return narrow(out, x)

    def bprop(self, x: TensorBase, y: TensorBase, counts: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        dx = GroupedMatMulRows()(y, Transpose()(dout, (0, 2, 1)), counts)
        return dx, GroupedMatMulRows()(x, dout, counts), None
