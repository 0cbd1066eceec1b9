"""Mathematical functions as layers."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.nn.cell import Cell

__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma", "MatDet", "MatInverse", "MatMul", "Moments", "ReduceLogSumExp"]


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) over axes."""

    def __init__(self, axis: Any, keep_dims: bool = False):
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def construct(self, x: Any) -> Any:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """Mean and variance over axes."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None):
        super().__init__()
        self.axis = () if axis is None else axis
        self.keep_dims = bool(keep_dims)

    def construct(self, x: Any) -> Any:
        mean = ops.ReduceMean(True)(x, self.axis)
        variance = ops.ReduceMean(self.keep_dims)(ops.square(x - ops.stop_gradient(mean)), self.axis)
        if not self.keep_dims:
            mean = ops.reshape(mean, variance.shape)
        return mean, variance


class MatMul(Cell):
    """The matrix product of the last two dimensions, either factor transposed if asked for."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False):
        super().__init__()
        self.transpose_x1, self.transpose_x2 = transpose_x1, transpose_x2

    def construct(self, x1: Any, x2: Any) -> Any:
        if self.transpose_x1 and x1.ndim > 1:
            x1 = ops.swapaxes(x1, -1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = ops.swapaxes(x2, -1, -2)
        return ops.matmul(x1, x2)


class LGamma(Cell):
    """The logarithm of |gamma(x)|."""

    def construct(self, x: Any) -> Any:
        return ops.lgamma(x)


class DiGamma(Cell):
    """The derivative of the logarithm of gamma(x)."""

    def construct(self, x: Any) -> Any:
        return ops.digamma(x)


class IGamma(Cell):
    """The regularised lower incomplete gamma function."""

    def construct(self, a: Any, x: Any) -> Any:
        return ops.igamma(a, x)


class LBeta(Cell):
    """The logarithm of the beta function."""

    def construct(self, x: Any, y: Any) -> Any:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class MatInverse(Cell):
    """The inverse of positive definite matrices."""

    def construct(self, x: Any) -> Any:
        return ops.inverse(x)


class MatDet(Cell):
    """The determinant of matrices."""

    def construct(self, x: Any) -> Any:
        return ops.det(x)
