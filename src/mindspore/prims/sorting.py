"""Order: sorting, the largest elements, positions of extrema, and search in sorted rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, values
from mindspore.prims.arrays import Fill
from mindspore.prims.batching import along_axis
from mindspore.prims.factors import WHOLE, Factors, along, numbered
from mindspore.prims.gather_scatter import TensorScatterElements
from mindspore.prims.primitive import Batched, Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def _pair(x: AbstractTensor, shape: tuple[int, ...], index: mstype.DType = mstype.int32) -> AbstractTuple:
    return AbstractTuple((AbstractTensor(x.dtype, shape), AbstractTensor(index, shape)))


def _orderable(xp: Any, x: Any) -> Any:
    """Elements that NumPy can put in order: among bfloat16 numbers it has no place for NaN, and what lies around one stays unsorted."""
    return x.astype(np.float32) if xp is np and x.dtype.name == "bfloat16" else x


def _stable_order(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """Indices that sort along an axis; equal elements keep their order."""
    x = _orderable(xp, x)
    if not descending:
        return np.argsort(x, axis, kind="stable") if xp is np else xp.argsort(x, axis, stable=True)
    if xp is not np:
        return xp.argsort(x, axis, stable=True, descending=True)
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(flipped, axis)


class Sort(Primitive):
    """`prim(x)` -> (sorted values, their indices); stable.

    Examples:
        >>> value, index = ops.Sort(descending=True)(Tensor([30.0, 10.0, 20.0]))
        >>> print(value, index)
        [30. 20. 10.] [0 2 1]
    """

    def __init__(self, axis: int = -1, descending: bool = False):
        super().__init__(
            axis=checks.integer("Sort", "axis", axis), descending=checks.boolean("Sort", "descending", descending)
        )

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "buif")
        checks.axis(self.name, self.axis, x.ndim)
        return _pair(x, x.shape)

    def factors(self, x: AbstractTensor) -> Factors:
        return along(x, (self.axis % max(x.ndim, 1),), 2)

    def eval(self, xp: Namespace, x: Any) -> Any:
        if x.ndim == 0:
            return xp.asarray(x), xp.zeros((), np.int32)
        order = _stable_order(xp, x, self.axis, self.descending)
        return xp.take_along_axis(x, order, self.axis), order.astype(np.int32)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        return (TensorScatterElements(self.axis, "add")(Fill()(x.dtype, x.shape, 0), out[1], dout[0]),)

    vmap = along_axis


class TopK(Primitive):
    """`prim(x, k)` -> the k largest of the last dimension and their indices: in falling order, or (not `sorted`) as they stand.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> values, places = ops.TopK()(Tensor([1.0, 5.0, 3.0]), 2)
        >>> values.tolist(), places.tolist()
        ([5.0, 3.0], [1, 2])
    """

    def __init__(self, sorted: bool = True):
        super().__init__(sorted=checks.boolean("TopK", "sorted", sorted))

    def prepare(self, args: tuple) -> tuple:
        x, k = args
        return x, values.static_number(k)

    def infer(self, x: AbstractTensor, k: Any) -> Any:
        checks.tensor(self.name, "input_x", x)
        checks.dtype_in(self.name, "input_x", x.dtype, "uif")
        k = checks.integer(self.name, "k", k, 0)
        last = x.shape[-1] if x.ndim else 1
        if k > last:
            raise ValueError(
                f"For '{self.name}', 'k' must be at most the size of the last dimension, but got k={k} and shape {x.shape}."
            )
        return _pair(x, x.shape[:-1] + (k,) if x.ndim else x.shape)

    def factors(self, x: AbstractTensor, k: Any) -> Factors:
        return along(x, (x.ndim - 1,), 2, k)

    def eval(self, xp: Namespace, x: Any, k: int) -> Any:
        if x.ndim == 0:
            return xp.asarray(x), xp.zeros((), np.int32)
        if xp is not np:
            if x.dtype.kind not in "ui":  # XLA's order would have NaN with a sign bit below all numbers
                x = xp.where(xp.isnan(x), xp.asarray(np.nan, x.dtype), x)
            found, places = require("jax.lax", "xla", "this operation").top_k(x, k)
            return (found, places) if self.sorted else self._as_they_stand(xp, x, places)
        if 0 < 4 * k < x.shape[-1] and (x.dtype.kind in "ui" or not np.isnan(x).any()):
            candidates = _largest_unordered(_orderable(xp, x), k)
        else:
            candidates = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
        found = np.take_along_axis(x, candidates, -1)
        order = _stable_order(np, found, -1, True)[..., :k]
        places = np.take_along_axis(candidates, order, -1).astype(np.int32)
        return (np.take_along_axis(found, order, -1), places) if self.sorted else self._as_they_stand(np, x, places)

    @staticmethod
    def _as_they_stand(xp: Any, x: Any, places: Any) -> Any:
        places = xp.sort(places, axis=-1)
        return xp.take_along_axis(x, places, -1), places

    def bprop(self, x: TensorBase, k: Any, out: Any, dout: Any) -> tuple:
        return TensorScatterElements(-1, "add")(Fill()(x.dtype, x.shape, 0), out[1], dout[0]), None

    def vmap(self, size: int, x: Batched, k: Batched) -> Any:
        return self(x[0], k[0]) if x[0].ndim > 1 and not k[1] else None


def _largest_unordered(x: np.ndarray, k: int) -> np.ndarray:
    """Indices of the k largest of each row, in rising index order; among equals the first. Linear time."""
    n = x.shape[-1]
    rows = x.reshape(-1, n)
    threshold = np.partition(rows, n - k, axis=-1)[:, n - k, None]
    above, equal = rows > threshold, rows == threshold
    room = k - above.sum(-1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, -1) <= room))
    return np.nonzero(chosen)[1].reshape(x.shape[:-1] + (k,))


class _ArgExtremum(Primitive):
    """`prim(x)` -> the index of the extreme element along `axis`; at ties the first."""

    function: str

    def __init__(self, axis: int = -1, output_type: Any = mstype.int32):
        op = type(self).__name__
        super().__init__(axis=checks.integer(op, "axis", axis), output_type=mstype.to_dtype(output_type))
        if self.output_type not in (mstype.int32, mstype.int64):
            raise TypeError(f"For '{op}', 'output_type' must be int32 or int64, but got {output_type}.")

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "buif")
        at = checks.axis(self.name, self.axis, x.ndim)
        if x.ndim and x.shape[at] == 0:
            raise ValueError(
                f"For '{self.name}', an axis of size 0 has no extreme value; the shape of 'x' is {x.shape}."
            )
        return AbstractTensor(self.output_type, x.shape[:at] + x.shape[at + 1 :])

    def factors(self, x: AbstractTensor) -> Factors:
        names, at = numbered(x.ndim), self.axis % max(x.ndim, 1)
        given = tuple(WHOLE if d == at else n for d, n in enumerate(names))
        return Factors((given,), (tuple(n for d, n in enumerate(names) if d != at),))

    def eval(self, xp: Namespace, x: Array) -> Any:
        if x.ndim == 0:
            return xp.zeros((), self.output_type.np)
        return xp.asarray(getattr(xp, self.function)(x, axis=self.axis)).astype(self.output_type.np)

    vmap = along_axis


class Argmax(_ArgExtremum):
    """The position of the largest element.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Argmax()(Tensor([1.0, 5.0, 2.0])).item()
        1
    """

    function = "argmax"


class Argmin(_ArgExtremum):
    """The position of the smallest element.

    Examples:
        >>> print(ops.Argmin(axis=1)(Tensor([[3.0, 8.0], [6.0, 5.0]])))
        [0 1]
    """

    function = "argmin"


class SearchSorted(Primitive):
    """`prim(sorted_sequence, values)` -> where each value would be inserted to keep the rows sorted.

    Examples:
        >>> print(ops.SearchSorted()(Tensor([1.0, 3.0, 5.0]), Tensor([0.0, 3.0, 9.0])))
        [0 1 3]
    """

    def __init__(self, dtype: Any = mstype.int64, right: bool = False):
        super().__init__(dtype=mstype.to_dtype(dtype), right=checks.boolean("SearchSorted", "right", right))
        if self.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(f"For 'SearchSorted', 'dtype' must be int32 or int64, but got {dtype}.")

    def infer(self, sequence: AbstractTensor, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "sorted_sequence", sequence)
        checks.tensor(self.name, "values", x)
        if sequence.ndim != 1 and sequence.shape[:-1] != x.shape[:-1]:
            raise ValueError(
                f"For '{self.name}', 'sorted_sequence' must be 1-D or agree with 'values' in all but the last dimension, but "
                f"got shapes {sequence.shape} and {x.shape}."
            )
        return AbstractTensor(self.dtype, x.shape)

    def eval(self, xp: Namespace, sequence: Array, x: Array) -> Any:
        side: Any = "right" if self.right else "left"
        sequence, x = _orderable(xp, sequence), _orderable(xp, x)
        if sequence.ndim == 1:
            return xp.asarray(xp.searchsorted(sequence, x, side=side)).astype(self.dtype.np)
        rows, sought = sequence.reshape(-1, sequence.shape[-1]), x.reshape(-1, x.shape[-1])
        if xp is np:
            found = np.stack([np.searchsorted(r, v, side=side) for r, v in zip(rows, sought)]) if len(rows) else sought
        else:
            jax = require("jax", "xla", "this operation")
            found = jax.vmap(lambda r, v: xp.searchsorted(r, v, side=side))(rows, sought)
        return found.reshape(x.shape).astype(self.dtype.np)
