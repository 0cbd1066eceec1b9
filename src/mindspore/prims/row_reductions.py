"""Reductions along rows whose bits depend on the row alone, not on how many rows there are.

Graphs of reductions share long rows out among threads when there are few of them, which is fast and changes the order of
additions. Inference that promises the same answer in every batch needs one order: these are added up as they lie, row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.pallas import on_cuda, rows
from mindspore.prims.primitive import Primitive


def _rows(op: str, x: Any) -> None:
    checks.tensor(op, "x", x)
    if x.ndim != 2 or x.dtype is not mstype.float32:
        raise TypeError(f"For '{op}', 'x' must be float32 (rows, width), but got {x.dtype} {x.shape}.")


class RowNorm(Primitive):
    """x (rows, width) over its root mean square, times `scale`; `centred`: less its mean first. Then plus `shift`, if given.

    `half`: the result is bfloat16, for a product that wants it. `in_order=False`: the number of rows may change the order of additions.

    Examples:
        >>> from mindspore.prims.row_reductions import RowNorm
        >>> print(RowNorm(0.0, True)(Tensor([[1.0, 3.0]]), Tensor([1.0, 1.0]), None))
        [[-1.  1.]]
    """

    def __init__(self, epsilon: float = 1e-5, centred: bool = False, half: bool = False, in_order: bool = True):
        super().__init__(
            "RowNorm", epsilon=float(epsilon), centred=bool(centred), half=bool(half), in_order=bool(in_order)
        )

    def infer(self, x: Any, scale: Any, shift: Any) -> Any:
        _rows(self.name, x)
        for name, value in (("scale", scale), ("shift", shift)):
            if (value is not None or name == "scale") and (value.dtype is not x.dtype or value.shape != x.shape[1:]):
                raise ValueError(
                    f"For '{self.name}', '{name}' must be float32 {x.shape[1:]}, but got {value.dtype} {value.shape}."
                )
        return AbstractTensor(self._dtype, x.shape)

    @property
    def _dtype(self) -> mstype.DType:
        return mstype.bfloat16 if self.half else mstype.float32

    def eval_xla(self, jnp: Any, x: Any, scale: Any, shift: Any) -> Any:
        if not (self.in_order and x.shape[1] <= rows.LONGEST and on_cuda()):
            return self.eval(jnp, x, scale, shift)
        return rows.norm(self.epsilon, self.centred, x, scale, shift, self._dtype.np)

    def eval(self, xp: Any, x: Any, scale: Any, shift: Any) -> Any:
        if self.centred:
            x = x - xp.mean(x, axis=-1, keepdims=True)
        out = x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + np.float32(self.epsilon)) * scale
        out = out if shift is None else out + shift
        return out.astype(self._dtype.np)


class RowPeak(Primitive):
    """(place of the largest number, the logarithm of the sum of exponentials) of each row.

    Examples:
        >>> from mindspore.prims.row_reductions import RowPeak
        >>> place, total = RowPeak()(Tensor([[0.0, 0.0]]))
        >>> print(place, total)
        [0] [0.6931472]
    """

    def __init__(self) -> None:
        super().__init__("RowPeak")

    def infer(self, x: Any) -> Any:
        _rows(self.name, x)
        if x.shape[1] == 0:
            raise ValueError(f"For '{self.name}', rows must not be empty, but 'x' has shape {x.shape}.")
        return AbstractTuple((AbstractTensor(mstype.int32, x.shape[:1]), AbstractTensor(x.dtype, x.shape[:1])))

    def eval(self, xp: Any, x: Any) -> Any:
        top = xp.max(x, axis=-1)
        return xp.argmax(x, axis=-1).astype(np.int32), top + xp.log(xp.sum(xp.exp(x - top[:, None]), axis=-1))


__all__ = ["RowNorm", "RowPeak"]
