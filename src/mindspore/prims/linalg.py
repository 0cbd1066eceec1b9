"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.batching import align, rank_of
from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.elementwise import conj
from mindspore.prims.factors import Factors, broadcasting, numbered
from mindspore.prims.precision import is_half, product
from mindspore.prims.primitive import Batched, Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def _swap(xp: Namespace, x: Array) -> Any:
    return xp.swapaxes(x, -1, -2)


def _product(xp: Namespace, a: Array, b: Array) -> Any:
    """Matrix product; half types accumulate in float32."""
    if xp is np and is_half(a.dtype):
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    if a.dtype.itemsize == 1 and is_half(a.dtype):
        return xp.matmul(a, b, preferred_element_type=np.float32).astype(a.dtype)
    # XLA adds products of 16-bit floats in float32 by itself; asking for float32 results keeps it from its best kernels.
    return product(xp, a, b)


class Leading:
    """The dimensions of a tensor before the last two."""

    def __init__(self, x: Any):
        self.shape, self.dtype = tuple(x.shape[:-2]), x.dtype


class MatrixProduct(Primitive):
    """What products of matrices have in common."""

    spreads = True
    promote = (0, 1)
    light = True
    in_float32 = True
    native_from = 1024
    native_beyond = 64**3  # BLAS does smaller ones without threads, as fast

    def __init__(self, transpose_a: bool = False, transpose_b: bool = False):
        for name, value in (("transpose_a", transpose_a), ("transpose_b", transpose_b)):
            if not isinstance(value, bool):
                raise TypeError(f"For '{type(self).__name__}', '{name}' must be a bool, but got {value!r}.")
        super().__init__(transpose_a=transpose_a, transpose_b=transpose_b)

    def check_rank(self, x: Any, y: Any) -> None:
        raise NotImplementedError

    def infer(self, x: AbstractTensor, y: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.tensor(self.name, "y", y)
        self.check_rank(x, y)
        m, k = reversed(x.shape[-2:]) if self.transpose_a else x.shape[-2:]
        k2, n = reversed(y.shape[-2:]) if self.transpose_b else y.shape[-2:]
        if k != k2:
            raise checks.UnfitError(
                f"For '{self.name}', the columns of 'x' must equal the rows of 'y', but got {k} and {k2}: shapes {x.shape}"
                f"{' (transposed)' if self.transpose_a else ''} and {y.shape}{' (transposed)' if self.transpose_b else ''}."
            )
        batch = checks.broadcast(self.name, x.shape[:-2], y.shape[:-2])
        return AbstractTensor(x.dtype, (*batch, m, n))

    def factors(self, x: AbstractTensor, y: AbstractTensor) -> Factors:
        batch = checks.broadcast(self.name, x.shape[:-2], y.shape[:-2])
        lead = broadcasting((Leading(x), Leading(y)), len(batch), batch)
        left = ("k", "m") if self.transpose_a else ("m", "k")
        right = ("n", "k") if self.transpose_b else ("k", "n")
        rule = Factors(((*lead[0], *left), (*lead[1], *right)), ((*numbered(len(batch)), "m", "n"),))  # type: ignore[misc]
        return rule.filling(0)

    def multiplications(self, x: Any, y: Any) -> int:
        if x.ndim < 2 or y.ndim < 2:
            return 0
        m, n = x.shape[-1 if self.transpose_a else -2], y.shape[-2 if self.transpose_b else -1]
        return max(x.size * n, y.size * m)

    def eval(self, xp: Namespace, x: Any, y: Any) -> Any:
        self.check_rank(x, y)  # eager calls come here without inference
        return _product(xp, _swap(xp, x) if self.transpose_a else x, _swap(xp, y) if self.transpose_b else y)

    def bprop(self, x: TensorBase, y: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        ta, tb = self.transpose_a, self.transpose_b
        product = type(self)
        dx = product(tb, True)(conj(y), dout) if ta else product(False, not tb)(dout, conj(y))
        dy = product(True, ta)(dout, conj(x)) if tb else product(not ta, False)(conj(x), dout)
        return sum_to_shape(dx, x.shape), sum_to_shape(dy, y.shape)

    def vmap(self, size: int, x: Batched, y: Batched) -> Any:
        rank = rank_of(x, y)
        return BatchMatMul(self.transpose_a, self.transpose_b)(align(x, size, rank), align(y, size, rank))


class MatMul(MatrixProduct):
    """The product of two matrices.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.MatMul()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """

    def check_rank(self, x: Any, y: Any) -> None:
        if x.ndim == 2 == y.ndim:
            return
        for name, value in (("x", x), ("y", y)):
            if value.ndim != 2:
                raise ValueError(f"For '{self.name}', '{name}' must have 2 dimensions, but its shape is {value.shape}.")


class BatchMatMul(MatrixProduct):
    """Products of matrices in the last two dimensions; leading dimensions broadcast.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, ops
        >>> ops.BatchMatMul()(Tensor(np.ones((5, 2, 3), np.float32)), Tensor(np.ones((5, 3, 4), np.float32))).shape
        (5, 2, 4)
    """

    def check_rank(self, x: Any, y: Any) -> None:
        for name, value in (("x", x), ("y", y)):
            if value.ndim < 2:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have at least 2 dimensions, but its shape is {value.shape}."
                )
