"""Greedy suppression: candidates, best first, where each survivor removes later ones.

The outcome for one candidate depends on those before it, so this is a loop over rows rather than an expression of arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array


class Suppress(Primitive):
    """`prim(removes (n, n))` -> which of n candidates survive, where row i says whom candidate i removes if it survives.

    Examples:
        >>> print(ops.Suppress()(Tensor([[False, True], [False, False]])))
        [ True False]
    """

    def infer(self, removes: AbstractTensor) -> Any:
        checks.tensor(self.name, "removes", removes)
        checks.dtype_in(self.name, "removes", removes.dtype, "b")
        if removes.ndim != 2 or removes.shape[0] != removes.shape[1]:
            raise ValueError(f"For '{self.name}', 'removes' must be a square matrix, but its shape is {removes.shape}.")
        return AbstractTensor(mstype.bool_, removes.shape[:1])

    def eval(self, xp: Any, removes: Any) -> Any:
        if xp is not np:
            raise NotImplementedError("a loop over rows")
        alive = np.ones(len(removes), bool)
        for i, removed in enumerate(removes):
            if alive[i]:
                np.greater(alive, removed, out=alive)
        return alive

    def eval_xla(self, jnp: Any, removes: Array) -> Any:
        lax = require("jax.lax", "xla", "suppression on XLA")

        def step(i: Any, alive: Any) -> Any:
            return alive & ~(alive[i] & removes[i])

        return lax.fori_loop(0, removes.shape[0], step, jnp.ones(removes.shape[0], bool))
