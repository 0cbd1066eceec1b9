"""Mathematical functions as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn.cell import Cell
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma", "MatDet", "MatInverse", "MatMul", "Moments", "ReduceLogSumExp"]


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) over axes.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.ReduceLogSumExp(0)(Tensor([0.0, 0.0])).shape
        ()
    """

    @setting_types(axis=int | tuple, keep_dims=bool)
    def __init__(self, axis: Any, keep_dims: bool = False):
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def construct(self, x: Tensor) -> Any:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """Mean and variance over axes.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> [t.item() for t in nn.Moments()(Tensor([1.0, 3.0]))]
        [2.0, 1.0]
    """

    def __init__(self, axis: Any = None, keep_dims: bool | None = None):
        super().__init__()
        self.axis = () if axis is None else axis
        self.keep_dims = bool(keep_dims)

    def construct(self, x: Tensor) -> Any:
        mean = ops.ReduceMean(True)(x, self.axis)
        variance = ops.ReduceMean(self.keep_dims)(ops.square(x - ops.stop_gradient(mean)), self.axis)
        if not self.keep_dims:
            mean = ops.reshape(mean, variance.shape)
        return mean, variance


class MatMul(Cell):
    """The matrix product of the last two dimensions, either factor transposed if asked for.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatMul()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False):
        super().__init__()
        self.transpose_x1, self.transpose_x2 = transpose_x1, transpose_x2

    def construct(self, x1: Tensor, x2: Tensor) -> Any:
        if self.transpose_x1 and x1.ndim > 1:
            x1 = ops.swapaxes(x1, -1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = ops.swapaxes(x2, -1, -2)
        return ops.matmul(x1, x2)


class LGamma(Cell):
    """The logarithm of |gamma(x)|.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.LGamma()(Tensor([1.0, 2.0])).shape
        (2,)
    """

    def construct(self, x: Tensor) -> Any:
        return ops.lgamma(x)


class DiGamma(Cell):
    """The derivative of the logarithm of gamma(x).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.DiGamma()(Tensor([1.0, 2.0])).shape
        (2,)
    """

    def construct(self, x: Tensor) -> Any:
        return ops.digamma(x)


class IGamma(Cell):
    """The regularised lower incomplete gamma function.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.IGamma()(Tensor([1.0, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """

    def construct(self, a: Any, x: Tensor) -> Any:
        return ops.igamma(a, x)


class LBeta(Cell):
    """The logarithm of the beta function.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.LBeta()(Tensor([1.0, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """

    def construct(self, x: Tensor, y: Any) -> Any:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class MatInverse(Cell):
    """The inverse of positive definite matrices.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])).shape
        (2, 2)
    """

    def construct(self, a: Tensor) -> Any:
        return ops.inverse(a)


class MatDet(Cell):
    """The determinant of matrices.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MatDet()(Tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        8.0
    """

    def construct(self, a: Tensor) -> Any:
        return ops.det(a)
