"""ONNX Resize and Upsample.

Every kind of interpolation that ONNX knows is linear and works axis by axis: out = M · x with a matrix M (new size × old
size) that depends on sizes alone. So M is computed with NumPy, and the product is differentiable like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.onnx.registry import P, as_tensor, ints, operator, static, tensor


class _Axis(NamedTuple):
    """One axis to be resized."""

    old: int
    new: int
    scale: float
    roi: tuple[float, float]


def _positions(axis: _Axis, mode: str) -> np.ndarray:
    """Where the new points lie among the old ones."""
    place = np.arange(axis.new, dtype=np.float64)
    if mode == "align_corners":
        wide = axis.scale * axis.old  # not rounded
        return place * (axis.old - 1) / (wide - 1) if wide != 1 else place * 0
    if mode == "asymmetric":
        return place / axis.scale
    if mode == "tf_crop_and_resize":
        start, end = axis.roi
        if axis.new == 1:
            return np.array([0.5 * (start + end) * (axis.old - 1)])
        return start * (axis.old - 1) + place * (end - start) * (axis.old - 1) / (axis.new - 1)
    if mode == "pytorch_half_pixel" and axis.new == 1:
        return place - 0.5
    half = (place + 0.5) / axis.scale - 0.5
    if mode == "half_pixel_symmetric":
        return half + axis.old / 2 * (1 - axis.new / (axis.scale * axis.old))
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return half
    raise ValueError(f"The ONNX coordinate_transformation_mode '{mode}' is not supported.")


def _nearest(rounding: str) -> Callable[[float, float], tuple[int, np.ndarray]]:
    def weights(ratio: float, scale: float) -> tuple[int, np.ndarray]:
        right = {
            "round_prefer_floor": ratio > 0.5, "round_prefer_ceil": ratio >= 0.5, "floor": False, "ceil": True,
        }[rounding] or ratio == 1.0  # fmt: skip
        return 0, np.array([not right, right], np.float64)

    return weights


def _linear(antialias: bool) -> Callable[[float, float], tuple[int, np.ndarray]]:
    def weights(ratio: float, scale: float) -> tuple[int, np.ndarray]:
        if not antialias or scale >= 1:
            return 0, np.array([1 - ratio, ratio])
        start = math.floor(-1 / scale) + 1
        taps = np.clip(1 - np.abs((np.arange(start, 2 - start) - ratio) * scale), 0, 1)
        return start, taps / taps.sum()

    return weights


def _cubic(a: float, antialias: bool) -> Callable[[float, float], tuple[int, np.ndarray]]:
    def kernel(x: np.ndarray) -> np.ndarray:
        x = np.abs(x)
        near = (a + 2) * x**3 - (a + 3) * x**2 + 1
        far = a * (x**3 - 5 * x**2 + 8 * x - 4)
        return np.where(x <= 1, near, np.where(x < 2, far, 0))

    def weights(ratio: float, scale: float) -> tuple[int, np.ndarray]:
        if not antialias or scale >= 1:
            return -1, kernel(np.arange(-1, 3) - ratio)
        start = math.floor(-2 / scale) + 1
        taps = kernel((np.arange(start, 2 - start) - ratio) * scale)
        return start, taps / taps.sum()

    return weights


def _matrix(axis: _Axis, weights: Callable, mode: str, exclude_outside: bool) -> tuple[np.ndarray, np.ndarray]:
    """The matrix of one axis, and which new points lie outside the old ones."""
    positions = _positions(axis, mode)
    matrix = np.zeros((axis.new, axis.old))
    for row, x in enumerate(positions):
        base = math.ceil(x) - 1  # the ratio is in (0, 1]
        first, taps = weights(x - base, axis.scale)
        places = base + first + np.arange(len(taps))
        if exclude_outside:
            taps = np.where((places >= 0) & (places < axis.old), taps, 0)
            taps = taps / taps.sum()
        np.add.at(matrix[row], np.clip(places, 0, axis.old - 1), taps)
    return matrix, (positions < 0) | (positions > axis.old - 1)


def _along(x: Any, axis: int, matrix: np.ndarray) -> Any:
    """Multiply one axis of a tensor by a matrix."""
    order = [*(i for i in range(x.ndim) if i != axis), axis]
    moved = P.Transpose()(x, tuple(order))
    rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
    product = P.MatMul(False, True)(rows, tensor(matrix.astype(x.dtype.np)))
    back = product.reshape(*moved.shape[:-1], matrix.shape[0])
    return P.Transpose()(back, tuple(order.index(i) for i in range(x.ndim)))


def _axes(x: Any, chosen: list[int], scales: Any, sizes: Any, roi: Any, policy: str) -> list[_Axis]:
    old = [x.shape[a] for a in chosen]
    if sizes is not None:
        new = list(ints(sizes, "sizes"))
        factors = [n / o for n, o in zip(new, old)]
        if policy != "stretch":
            factor = min(factors) if policy == "not_larger" else max(factors)
            factors = [factor] * len(old)
            new = [int(factor * o + 0.5) for o in old]
    else:
        factors = [float(s) for s in np.asarray(static(scales, "scales")).reshape(-1)]
        new = [int(s * o) for s, o in zip(factors, old)]
    parts = (0.0,) * len(old) + (1.0,) * len(old)
    if roi is not None and np.asarray(static(roi, "a region")).size:
        parts = tuple(float(v) for v in np.asarray(static(roi, "a region")).reshape(-1))
    return [_Axis(o, n, s, (parts[i], parts[i + len(old)])) for i, (o, n, s) in enumerate(zip(old, new, factors))]


@operator("Resize", arrays=True)
def _resize(
    x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, mode: str = "nearest", antialias: int = 0,
    axes: Any = None, coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0, extrapolation_value: float = 0.0, keep_aspect_ratio_policy: str = "stretch",
    nearest_mode: str = "round_prefer_floor", opset: int = 13,
) -> Any:  # fmt: skip
    if opset < 11:  # there scales were the second input, and points lay asymmetrically
        roi, scales, coordinate_transformation_mode, nearest_mode = None, roi, "asymmetric", "floor"
    given = x = as_tensor(x)
    if scales is not None and np.asarray(static(scales, "scales")).size == 0:
        scales = None
    chosen = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    smooth = {"nearest": _nearest(nearest_mode), "linear": _linear(bool(antialias)),
              "cubic": _cubic(cubic_coeff_a, bool(antialias))}[mode]  # fmt: skip
    x = x if x.dtype.kind == "f" and x.dtype.itemsize >= 4 else P.Cast()(x, mstype.float32)
    outside = []
    for place, axis in zip(chosen, _axes(given, chosen, scales, sizes, roi, keep_aspect_ratio_policy)):
        if axis.old == axis.new and axis.scale == 1 and axis.roi == (0.0, 1.0):
            continue
        matrix, out = _matrix(axis, smooth, coordinate_transformation_mode, bool(exclude_outside))
        x = _along(x, place, matrix)
        outside.append(out.reshape([-1 if i == place else 1 for i in range(x.ndim)]))
    if coordinate_transformation_mode == "tf_crop_and_resize" and outside:
        mask = np.broadcast_to(np.any(np.broadcast_arrays(*outside), axis=0), x.shape)
        x = P.Select()(tensor(np.ascontiguousarray(mask)), P.OnesLike()(x) * extrapolation_value, x)
    return x if x.dtype == given.dtype else P.Cast()(_whole(x, given.dtype), given.dtype)


def _whole(x: Any, dtype: Any) -> Any:
    return x if dtype.kind == "f" else P.Rint()(x)


@operator("Upsample", arrays=True)
def _upsample(x: Any, scales: Any, mode: str = "nearest") -> Any:
    return _resize(x, scales, mode=mode, opset=10)
