"""Rows of a table by their numbers, which whoever calls vouches for: nothing is checked, so nothing is reported or waited for."""

from __future__ import annotations

from typing import Any

from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.primitive import Primitive


class TakenRows(Primitive):
    """table[numbers] for a table (rows, …) and integers (n,); numbers beyond the ends count as the nearest that there is.

    Examples:
        >>> from mindspore.prims.taken_rows import TakenRows
        >>> print(TakenRows()(Tensor([[1, 2], [3, 4]]), Tensor([1, 0, 1])))
        [[3 4]
         [1 2]
         [3 4]]
    """

    def __init__(self) -> None:
        super().__init__("TakenRows")

    def infer(self, table: Any, numbers: Any) -> Any:
        for name, value in (("table", table), ("numbers", numbers)):
            checks.tensor(self.name, name, value)
        checks.dtype_in(self.name, "numbers", numbers.dtype, "i")
        if numbers.ndim != 1 or not table.ndim or not table.shape[0]:
            raise ValueError(
                f"For '{self.name}', 'numbers' must be of one dimension and 'table' must have rows, "
                f"but got {numbers.shape} and {table.shape}."
            )
        return AbstractTensor(table.dtype, (numbers.shape[0], *table.shape[1:]))

    def eval(self, xp: Any, table: Any, numbers: Any) -> Any:
        return xp.take(table, numbers, axis=0, mode="clip")


__all__ = ["TakenRows"]
