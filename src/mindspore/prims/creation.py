"""Tensors made from settings, and triangular parts. Settings are static, so large results are nodes, not constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def range_length(start: Any, stop: Any, step: Any) -> int:
    """How many numbers start, start + step, … lie before stop."""
    import math

    if all(isinstance(v, int) for v in (start, stop, step)):
        return max(0, -(-(stop - start) // step))
    return max(0, math.ceil((stop - start) / step))


class Range(Primitive):
    """`prim(start, limit, delta)`: start, start + delta, … before limit. `dtype` defaults by the numbers' kind.

    Examples:
        >>> print(ops.Range()(Tensor(0, ms.int32), Tensor(10, ms.int32), Tensor(4, ms.int32)))
        [0 4 8]
    """

    def __init__(self, maxlen: int = 1000000, dtype: Any = None):
        super().__init__(maxlen=maxlen, dtype=None if dtype is None else mstype.to_dtype(dtype))

    def prepare(self, args: tuple) -> tuple:
        dtypes = [values.dtype_of(a) for a in args if isinstance(a, values.TensorBase)]
        start, limit, delta = (values.static_number(a) for a in args)
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            checks.require_known("Range", name, value)
            if not values.is_number(value) or isinstance(value, (bool, complex)):
                raise TypeError(f"For 'Range', '{name}' must be an int or a float, but got {checks.describe(value)}.")
        if delta == 0:
            raise ValueError("For 'Range', delta cannot be equal to zero.")
        if (limit - start) * delta < 0:
            raise ValueError(
                f"For 'Range', delta cannot be {'positive when limit < start' if delta > 0 else 'negative when limit > start'}, but "
                f"got start {start}, limit {limit} and delta {delta}."
            )
        dtype = self.dtype or (dtypes[0] if dtypes else None)
        if dtype is None:
            dtype = mstype.float32 if any(isinstance(v, float) for v in (start, limit, delta)) else mstype.int64
        return start, limit, delta, dtype

    def infer(self, start: Any, limit: Any, delta: Any, dtype: DType) -> Any:
        return AbstractTensor(dtype, (range_length(start, limit, delta),))

    def eval(self, xp: Namespace, start: Any, limit: Any, delta: Any, dtype: DType) -> Any:
        count = range_length(start, limit, delta)
        if dtype.kind in "ui" and isinstance(start, int) and isinstance(delta, int):
            return (xp.arange(count) * delta + start).astype(dtype.np)
        return (xp.arange(count, dtype=xp.float64 if hasattr(xp, "float64") else float) * delta + start).astype(
            dtype.np
        )


class Eye(Primitive):
    """`prim(n, m, dtype)`: ones on the main diagonal of an n by m matrix."""

    def __init__(self) -> None:
        super().__init__("Eye")

    def prepare(self, args: tuple) -> tuple:
        n, m, dtype = args
        return values.static_number(n), values.static_number(m), mstype.to_dtype(dtype)

    def infer(self, n: Any, m: Any, dtype: DType) -> Any:
        return AbstractTensor(dtype, (checks.integer(self.name, "n", n, 0), checks.integer(self.name, "m", m, 0)))

    def eval(self, xp: Namespace, n: int, m: int, dtype: DType) -> Any:
        return xp.eye(n, m, dtype=dtype.np)


class _Triangle(Primitive):
    function: str

    def __init__(self, diagonal: int = 0):
        super().__init__(diagonal=checks.integer(type(self).__name__, "diagonal", diagonal))

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        if x.ndim < 2:
            raise ValueError(f"For '{self.name}', 'x' must have at least 2 dimensions, but its shape is {x.shape}.")
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array) -> Any:
        rows, columns = x.shape[-2:]
        diagonal = max(-rows, min(self.diagonal, columns))  # one beyond them all may be too large for NumPy
        return getattr(xp, self.function)(x, diagonal).astype(x.dtype)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (type(self)(self.diagonal)(dout),)


class Tril(_Triangle):
    """The lower triangle of matrices in the last two dimensions; zeros elsewhere.

    Examples:
        >>> print(ops.Tril()(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """

    function = "tril"


class Triu(_Triangle):
    """The upper triangle of matrices in the last two dimensions; zeros elsewhere.

    Examples:
        >>> print(ops.Triu()(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """

    function = "triu"
