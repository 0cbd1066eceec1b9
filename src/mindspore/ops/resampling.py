"""Linear maps applied to one axis at a time: resampling and adaptive averaging are products with small matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.prims.arrays import TENSOR_INDEX, GetItem, Transpose
from mindspore.prims.linalg import BatchMatMul
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor


def apply_along(x: Tensor, axis: int, matrix: np.ndarray) -> Any:
    """Multiply by a constant (out, in) matrix along one axis."""
    rank = x.ndim
    order = (*(a for a in range(rank) if a != axis), axis)
    moved = x if axis == rank - 1 else Transpose()(x, order)
    out = BatchMatMul(False, True)(moved, from_array(matrix.astype(x.dtype.np)))
    back = tuple(int(i) for i in np.argsort(order))
    return out if axis == rank - 1 else Transpose()(out, back)


def pick_along(x: Tensor, axis: int, index: np.ndarray) -> Any:
    """Take elements at constant positions along one axis."""
    return GetItem((*(slice(None),) * axis, TENSOR_INDEX))(x, from_array(np.asarray(index, np.int64)))


def source_positions(size: int, wanted: int, align_corners: bool, half_pixel: bool, scale: float | None) -> np.ndarray:
    """Where each output element lies on the input axis."""
    at = np.arange(wanted, dtype=np.float64)
    if align_corners:
        return at * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
    step = size / wanted if scale is None else 1.0 / scale
    return (at + 0.5) * step - 0.5 if half_pixel else at * step


def linear_matrix(size: int, positions: np.ndarray) -> np.ndarray:
    """Weights of linear interpolation; positions beyond the ends take the end."""
    positions = np.clip(positions, 0, size - 1)
    low = np.floor(positions).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    share = positions - low
    matrix = np.zeros((len(positions), size))
    rows = np.arange(len(positions))
    np.add.at(matrix, (rows, low), 1 - share)
    np.add.at(matrix, (rows, high), share)
    return matrix


_CUBIC_STEPS = 1024


def cubic_matrix(size: int, positions: np.ndarray, half_pixel: bool) -> np.ndarray:
    """Weights of Keys' cubic convolution (1981).

    With half-pixel positions a = -0.5 and neighbours beyond the ends are left out; otherwise a = -0.75 and the end
    repeats beyond the ends. Both as MindSpore's own kernels do, which take the weights from a table of `_CUBIC_STEPS`
    places between two elements: results to the last digits depend on it.
    """
    a = -0.5 if half_pixel else -0.75
    low = np.floor(positions).astype(np.int64)
    share = np.rint((positions - low) * _CUBIC_STEPS) / _CUBIC_STEPS
    matrix = np.zeros((len(positions), size))
    rows = np.arange(len(positions))
    for tap in range(-1, 3):
        distance = np.abs(share - tap)
        near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weight = np.where(distance <= 1, near, far)
        if half_pixel:
            weight = np.where((low + tap >= 0) & (low + tap < size), weight, 0)
        np.add.at(matrix, (rows, np.clip(low + tap, 0, size - 1)), weight)
    return matrix / matrix.sum(1, keepdims=True)


def adaptive_spans(size: int, wanted: int) -> list[tuple[int, int]]:
    """Which elements each of `wanted` outputs of adaptive pooling covers."""
    return [(i * size // wanted, math.ceil((i + 1) * size / wanted)) for i in range(wanted)]


def averaging_matrix(size: int, wanted: int) -> np.ndarray:
    """Weights of adaptive average pooling."""
    matrix = np.zeros((wanted, size))
    for row, (start, stop) in enumerate(adaptive_spans(size, wanted)):
        matrix[row, start:stop] = 1.0 / (stop - start)
    return matrix
