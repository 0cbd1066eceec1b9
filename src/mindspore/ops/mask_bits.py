"""Dropout masks as official MindSpore hands them on: eight elements to a byte, the first in the lowest bit, in blocks of 128."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ops.arguments import cast
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Concat
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.values import from_array

BLOCK = 128
_PLACES = np.left_shift(1, np.arange(8)).astype(np.int32)


def packed(mask: Any) -> Any:
    """A mask of truth values as bytes of its bits."""
    flat = Reshape()(cast(mask, mstype.int32), (-1,))
    missing = -flat.shape[0] % BLOCK
    if missing:
        flat = Concat(0)((flat, from_array(np.zeros(missing, np.int32))))
    return cast(ReduceSum()(Reshape()(flat, (-1, 8)) * from_array(_PLACES), -1), mstype.uint8)


def unpacked(mask: Any, shape: tuple[int, ...]) -> Any:
    """The mask for a tensor of this shape; one that is not packed passes."""
    if mask.dtype != mstype.uint8 or tuple(mask.shape) == tuple(shape):
        return mask
    bits = ew.FloorMod()(ew.FloorDiv()(cast(mask.expand_dims(-1), mstype.int32), from_array(_PLACES)), 2)
    if tuple(mask.shape[:-1]) == tuple(shape[:-1]) and mask.shape[-1] * 8 == shape[-1]:
        return Reshape()(bits, shape)  # row by row, so that rows may lie on different devices
    return Reshape()(Reshape()(bits, (-1,))[: math.prod(shape)], shape)
