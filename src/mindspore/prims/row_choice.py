"""Which number of a row is chosen: the largest, or one drawn by its weight, where the scores are.

A row's own settings: temperature (0: the largest), top-p, min-p, and a number in [0, 1) drawn for it; and top-k (0: all). The choice is
a function of the row and its settings alone, so the rows beside it change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.pallas import on_cuda, rows
from mindspore.prims.primitive import Primitive


class RowChoice(Primitive):
    """(place of the chosen number, logarithm of its probability) for each row of scores (rows, size).

    settings: float32 (rows, 4): temperature, top-p, min-p, number drawn; most: int32 (rows,). Weights are exponentials of scores over
    the temperature. Only what has less than top-p of all weight above it, fewer than `most` numbers, and at least min-p of the largest
    weight can be chosen. The logarithm is that of the plain softmax.

    Examples:
        >>> from mindspore.prims.row_choice import RowChoice
        >>> place, logprob = RowChoice()(Tensor([[0.0, 0.0, 1.0]]), Tensor([[0.0, 1.0, 0.0, 0.5]]), Tensor([0], ms.int32))
        >>> print(place, logprob)
        [2] [-0.5514447]
    """

    def __init__(self) -> None:
        super().__init__("RowChoice")

    def infer(self, x: Any, settings: Any, most: Any) -> Any:
        wanted = (("x", x, mstype.float32, None), ("settings", settings, mstype.float32, (x.shape[0], 4)),
                  ("most", most, mstype.int32, x.shape[:1]))  # fmt: skip
        for name, value, dtype, shape in wanted:
            checks.tensor(self.name, name, value)
            if value.dtype is not dtype or (
                value.shape != shape if shape is not None else value.ndim != 2 or not value.shape[1]
            ):
                allowed = "(rows, size > 0)" if shape is None else str(shape)
                raise ValueError(
                    f"For '{self.name}', '{name}' must be {dtype} {allowed}, but got {value.dtype} {value.shape}."
                )
        return AbstractTuple((AbstractTensor(mstype.int32, x.shape[:1]), AbstractTensor(mstype.float32, x.shape[:1])))

    def eval_xla(self, jnp: Any, x: Any, settings: Any, most: Any) -> Any:
        return rows.choice(x, settings, most) if on_cuda() else self.eval(jnp, x, settings, most)

    def eval(self, xp: Any, x: Any, settings: Any, most: Any) -> Any:
        temperature, top_p, min_p, drawn = (settings[:, i : i + 1] for i in range(4))
        size = x.shape[1]
        best, peak = xp.argmax(x, axis=1), xp.max(x, axis=1, keepdims=True)
        weights = xp.exp((x - peak) / xp.where(temperature > 0, temperature, np.float32(1)))
        descending = -xp.sort(-weights, axis=1)
        before = xp.cumsum(descending, axis=1) - descending
        count = xp.where(most > 0, most, np.int32(size))[:, None]
        chosen = ((before < top_p * xp.sum(weights, axis=1, keepdims=True)) | (top_p >= 1)) & (
            xp.arange(size)[None, :] < count
        )
        least = xp.min(xp.where(chosen, descending, np.float32(1)), axis=1, keepdims=True)
        kept = xp.where(weights >= xp.maximum(least, min_p), weights, np.float32(0))
        sums = xp.cumsum(kept, axis=1)
        place = xp.minimum(xp.sum(sums <= drawn * sums[:, -1:], axis=1), size - 1)
        token = xp.where(temperature[:, 0] > 0, place, best).astype(np.int32)
        logprob = xp.take_along_axis(x - peak, token[:, None].astype(np.int64), axis=1)[:, 0] - xp.log(
            xp.sum(xp.exp(x - peak), axis=1)
        )
        return token, logprob.astype(np.float32)


__all__ = ["RowChoice"]
