"""Dropout: which elements survive is a pure function of a key, so a graph that runs twice with one key repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.batching import spread
from mindspore.prims.elementwise import Cast, Select
from mindspore.prims.factors import WHOLE, Factors, numbered
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.random import random_pairs

if TYPE_CHECKING:
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def survivors(xp: Namespace, key: Any, count: int, keep_prob: float) -> Any:
    """`count` bools, each true with probability `keep_prob`; 16 random bits decide about each."""
    words, limit = (count + 1) // 2, np.uint32(round(keep_prob * 65536))
    pairs = random_pairs(xp, key, words)
    low = [(x & np.uint32(0xFFFF)) < limit for x in pairs]
    high = [(x >> np.uint32(16)) < limit for x in pairs]
    return xp.concatenate([*low, *high])[:count]


class DropoutMask(Primitive):
    """`prim(key, shape)`: true where an element survives."""

    draws = True

    def __init__(self, keep_prob: float = 0.5):
        super().__init__(keep_prob=float(keep_prob))

    def infer(self, key: Any, shape: Any) -> Any:
        return AbstractTensor(mstype.bool_, tuple(shape))

    def factors(self, key: AbstractTensor, shape: Any) -> Factors:
        return Factors(((WHOLE,) * len(key.shape), None), (numbered(len(shape)),)).filling(None)

    def on_device(self, device: Device, key: Any, shape: Any) -> Any:
        """Who survives depends on the place in the whole tensor, not on the devices it lies on."""
        return device.part(self(key, device.full_shapes[0]), 0)

    def eval(self, xp: Namespace, key: Any, shape: tuple[int, ...]) -> Any:
        return xp.reshape(survivors(xp, key, math.prod(shape), self.keep_prob), shape)

    def bprop(self, key: Any, shape: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return None, None

    def vmap(self, size: int, key: Batched, shape: Batched) -> Any:
        return None if key[1] else self(key[0], (size, *shape[0]))


class DropoutWithKey(Primitive):
    """`prim(x, key)`: x / keep_prob where an element survives, else 0; and the mask of survivors."""

    draws = True

    def __init__(self, keep_prob: float = 0.5):
        if not 0 < keep_prob <= 1:
            raise ValueError(f"For 'Dropout', 'keep_prob' must be in range (0, 1], but got {keep_prob}.")
        super().__init__(keep_prob=float(keep_prob))

    def infer(self, x: AbstractTensor, key: Any) -> Any:
        checks.tensor("Dropout", "x", x)
        checks.dtype_in("Dropout", "x", x.dtype, "f")
        return AbstractTuple((x, AbstractTensor(mstype.bool_, x.shape)))

    def factors(self, x: AbstractTensor, key: AbstractTensor) -> Factors:
        names = numbered(x.ndim)
        return Factors((names, (WHOLE,) * len(key.shape)), (names, names)).filling(None)

    def on_device(self, device: Device, x: Any, key: Any) -> Any:
        mask = device.part(DropoutMask(self.keep_prob)(key, device.full_shapes[0]), 1)
        return Select()(mask, x * (1 / self.keep_prob), x * 0), mask

    def eval(self, xp: Namespace, x: Array, key: Any) -> Any:
        mask = xp.reshape(survivors(xp, key, math.prod(x.shape), self.keep_prob), x.shape)
        scale = np.asarray(1 / self.keep_prob, x.dtype)
        return xp.where(mask, x * scale, xp.zeros((), x.dtype)), mask

    def bprop(self, x: TensorBase, key: Any, out: Any, dout: Any) -> tuple:
        return dout[0] * (Cast()(out[1], x.dtype) * (1 / self.keep_prob)), None

    def vmap(self, size: int, x: Batched, key: Batched) -> Any:
        return None if key[1] else self(spread(x, size), key[0])
