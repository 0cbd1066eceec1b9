"""Attention of new tokens over a paged cache of keys and values, which takes in their own first.

The cache is cut into pages of PAGE tokens (Kwon et al., PagedAttention, 2023). Keys lie with the tokens last, so that the scores of
a page are one vector, added up over the width of a head; values lie with the width last. Every row is a token of its own: where it
stands (`positions`) and the pages of its sequence (`tables`) say what it sees, so rows of one sequence and of many are the same
thing, and the bits of a row depend on its own sequence alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.gather_scatter import combine
from mindspore.prims.pallas import on_cuda, paged_attention
from mindspore.prims.precision import product
from mindspore.prims.primitive import Primitive
from mindspore.prims.requirements import Requirement, index_below

#: tokens of a page
PAGE = 16


class CachedAttention(Primitive):
    """(attended, keys, values) for rows of queries (rows, heads, width), and new keys and values (rows, kv heads, width).

    keys: (pages, kv heads, width, PAGE) and values: (pages, kv heads, PAGE, width) get the new ones; positions: int32 (rows,);
    tables: int32 (rows, pages per sequence). The cache may have fewer bits (float16) than the queries. A row sees the positions of
    its table up to its own, or, if `ends` (rows,) is given, up to that: where all tokens of a sequence come at once, each can see all.
    `window`: of these it sees so many, the last ones; 0: all.
    `trusted`: whoever calls has made sure that positions and pages are there. `half`: the result is bfloat16, for a product that wants it.

    Examples:
        >>> keys, values = Parameter(ops.zeros((2, 1, 4, 16))), Parameter(ops.zeros((2, 1, 16, 4)))
        >>> x = ops.ones((1, 1, 4))
        >>> print(ops.CachedAttention()(x, x, x, keys, values, Tensor([0], ms.int32), Tensor([[1]], ms.int32))[0])
        [[[1. 1. 1. 1.]]]
    """

    writes = ((3, 1), (4, 2))
    in_index_order = (3, 4)

    def __init__(self, scale: float = 1.0, trusted: bool = False, half: bool = False, window: int = 0):
        super().__init__(
            "CachedAttention", scale=float(scale), trusted=bool(trusted), half=bool(half), window=int(window)
        )
        if self.window < 0:
            raise ValueError(f"For '{self.name}', 'window' must be 0 or more, but got {window}.")

    def infer(
        self, q: Any, k: Any, v: Any, keys: Any, values: Any, positions: Any, tables: Any, ends: Any = None
    ) -> Any:
        names = ("query", "key", "value", "keys", "values", "positions", "tables", "ends")
        for name, value in zip(names, (q, k, v, keys, values, positions, tables, ends)):
            if name == "ends" and value is None:
                continue
            checks.tensor(self.name, name, value)
            checks.dtype_in(self.name, name, value.dtype, "i" if name in ("positions", "tables", "ends") else "f")
        if q.ndim != 3 or k.ndim != 3 or keys.ndim != 4 or positions.ndim != 1 or tables.ndim != 2:
            raise ValueError(f"For '{self.name}', the numbers of dimensions must be 3, 3, 3, 4, 4, 1 and 2.")
        (rows, heads, width), (_, kv_heads, _), pages = q.shape, k.shape, keys.shape[0]
        fits = (
            k.shape == v.shape == (rows, kv_heads, width)
            and keys.shape == (pages, kv_heads, width, PAGE)
            and values.shape == (pages, kv_heads, PAGE, width)
            and positions.shape == (rows,)
            and (ends is None or ends.shape == (rows,))
            and tables.shape[0] == rows
            and heads % kv_heads == 0
        )
        if not fits:
            last = "" if ends is None else f", ends {ends.shape}"
            raise ValueError(
                f"For '{self.name}', the shapes do not fit together: query {q.shape}, key {k.shape}, value {v.shape}, keys "
                f"{keys.shape}, values {values.shape}, positions {positions.shape}, tables {tables.shape}{last}."
            )
        return AbstractTuple((AbstractTensor(mstype.bfloat16 if self.half else q.dtype, q.shape), keys, values))

    def requirements(
        self, q: Any, k: Any, v: Any, keys: Any, values: Any, positions: Any, tables: Any, ends: Any = None
    ) -> list[Requirement]:
        if self.trusted:
            return []
        reach = tables.shape[1] * PAGE
        found = [index_below(self.name, 5, reach), index_below(self.name, 6, keys.shape[0])]
        return found if ends is None else [*found, index_below(self.name, 7, reach)]

    def eval_xla(
        self, jnp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any, positions: Any, tables: Any, ends: Any = None
    ) -> Any:
        if not (self.trusted and paged_attention.fits(q, keys) and on_cuda()):
            return self.eval(jnp, q, k, v, keys, values, positions, tables, ends)
        keys, values = paged_attention.take_in(k, v, keys, values, positions, tables)
        last = positions if ends is None else ends
        out = paged_attention.attend(self.scale, q, keys, values, last, tables, self._result_of(q), window=self.window)
        return out, keys, values

    def eval(
        self, xp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any, positions: Any, tables: Any, ends: Any = None
    ) -> Any:
        self.enforce(xp, q, k, v, keys, values, positions, tables, *(() if ends is None else (ends,)))
        rows, kv_heads, width = k.shape
        group = q.shape[1] // kv_heads
        place, within = positions // PAGE, positions % PAGE
        page = tables[xp.arange(rows), place]
        keys = combine(xp, keys, (page, slice(None), slice(None), within), k.astype(keys.dtype), "none")
        values = combine(xp, values, (page, slice(None), within), v.astype(values.dtype), "none")
        seen_keys = xp.moveaxis(keys[tables], 1, 3).reshape(rows, kv_heads, width, -1).astype(q.dtype)
        seen_values = xp.moveaxis(values[tables], 1, 2).reshape(rows, kv_heads, -1, width).astype(q.dtype)
        scores = product(xp, q.reshape(rows, kv_heads, group, width), seen_keys) * np.float32(self.scale)
        last, places = (positions if ends is None else ends)[:, None], xp.arange(seen_keys.shape[-1])
        visible = (places <= last) & (places > last - self.window) if self.window else places <= last
        scores = xp.where(visible[:, None, None], scores, np.float32(-np.inf))
        weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        out = product(xp, weights, xp.where(visible[:, None, :, None], seen_values, np.float32(0)))
        return (out / xp.sum(weights, axis=-1, keepdims=True)).reshape(q.shape).astype(self._result_of(q)), keys, values

    def _result_of(self, q: Any) -> Any:
        """The type of the result, as arrays have it."""
        return mstype.bfloat16.np if self.half else q.dtype


__all__ = ["PAGE", "CachedAttention"]
