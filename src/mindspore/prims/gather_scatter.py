"""Picking elements by index tensors, and the inverse: combining updates into a tensor at indexed places.

Two forms of index occur. "Nd" indices hold one whole coordinate in their last dimension (`GatherNd`, `TensorScatter*`);
"element" indices give, at each place, the position along one axis (`GatherD`, `TensorScatterElements`). Both become
tuples of index arrays, so that one kernel, `combine`, serves every scatter operation, and one rule its gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.arrays import TENSOR_INDEX, Fill, SetItem, Transpose
from mindspore.prims.batching import rank_of, shift, spread
from mindspore.prims.elementwise import Cast, Equal, ones_like, zeros_like
from mindspore.prims.factors import WHOLE, Factors, numbered
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.requirements import Requirement, index_within

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

_UFUNC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
}  # fmt: skip
_OF_TRUTHS = {"add": "max", "mul": "min"}  # what XLA calls "or" and "and"
_AT_METHOD = {"none": "set", "add": "add", "mul": "multiply", "div": "divide", "max": "max", "min": "min"}


def combine(xp: Any, x: Any, index: tuple, updates: Any, reduction: str) -> Any:
    """A copy of `x` in which the elements at `index` are combined with `updates`, duplicates one after the other."""
    if xp is not np:
        if reduction == "sub":
            return x.at[index].add(-updates)
        method = _OF_TRUTHS.get(reduction, reduction) if x.dtype == bool else reduction
        return getattr(x.at[index], _AT_METHOD[method])(updates)
    out = np.array(x)
    if reduction == "none":
        out[index] = updates
    elif reduction == "div" and x.dtype.kind in "ui":
        wide = out.astype(np.float64)
        np.divide.at(wide, index, updates)
        out = np.trunc(wide).astype(x.dtype)
    else:
        _UFUNC[reduction].at(out, index, updates)
    return out


def nd_index(xp: Namespace, indices: Array) -> tuple:
    """Coordinates in the last dimension as a tuple of index arrays."""
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def element_index(shape: tuple[int, ...], axis: int, indices: Array) -> tuple:
    """Positions along one axis as a tuple of index arrays: every other coordinate is the place's own."""
    grid = []
    for d, size in enumerate(shape):
        if d == axis:
            grid.append(indices)
        else:
            grid.append(np.arange(size).reshape((-1,) + (1,) * (len(shape) - d - 1)))
    return tuple(grid)


def coordinates_within(op: str, argument: int, shape: tuple[int, ...], depth: int) -> list[Requirement]:
    """Coordinates in the last dimension of an argument, which lead into a tensor of this shape."""
    return [index_within(op, argument, size, column) for column, size in enumerate(shape[:depth])]


def _check_indices(op: str, indices: AbstractTensor, name: str = "indices") -> None:
    checks.tensor(op, name, indices)
    checks.dtype_in(op, name, indices.dtype, "ui")


# -- gather -----------------------------------------------------------------------------------------------------------
class Gather(Primitive):
    """Slices of `input_params` along `axis`, picked by an index tensor; `batch_dims` leading dimensions correspond.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Gather()(Tensor([10, 20, 30]), Tensor([2, 0]), 0).tolist()
        [30, 10]
    """

    keeps_finite = True

    def __init__(self, batch_dims: int = 0):
        super().__init__(batch_dims=checks.integer("Gather", "batch_dims", batch_dims))

    def prepare(self, args: tuple) -> tuple:
        params, indices, axis = args if len(args) == 3 else (*args, 0)
        return params, indices, values.static_number(axis)

    def infer(self, params: AbstractTensor, indices: AbstractTensor, axis: Any) -> Any:
        checks.tensor(self.name, "input_params", params)
        if not params.shape:
            raise ValueError(f"For '{self.name}', 'input_params' must have at least 1 dimension, but its shape is ().")
        _check_indices(self.name, indices, "input_indices")
        at, batch = self._places(params.shape, indices.shape, axis)
        return AbstractTensor(params.dtype, params.shape[:at] + indices.shape[batch:] + params.shape[at + 1 :])

    def _places(self, params: tuple, indices: tuple, axis: Any) -> tuple[int, int]:
        at = checks.axis(self.name, axis, len(params))
        batch = self.batch_dims + (len(indices) if self.batch_dims < 0 else 0)
        if not 0 <= batch <= min(at, len(indices)) or params[:batch] != indices[:batch]:
            raise ValueError(
                f"For '{self.name}', the first 'batch_dims' dimensions of both inputs must agree and end before 'axis', but "
                f"got batch_dims={self.batch_dims}, axis={axis} and the shapes {params} and {indices}."
            )
        return at, batch

    def strategy_problem(self, params: AbstractTensor, indices: AbstractTensor, axis: Any) -> str | None:
        """Of `manual_split`, which says how many rows of the table each device holds, for a column of the indices each."""
        sizes = self.attrs.get("manual_split", self.attrs.get("manual_split_with_offset"))
        if sizes is None:
            return None
        rows = [entry[0] if isinstance(entry, (tuple, list)) else entry for entry in sizes]
        strategy = self.attrs.get("in_strategy")
        if strategy is None:
            return "'manual_split' needs a strategy."
        if axis != 0:
            return f"'manual_split' is for rows: the axis must be 0, but got {axis}."
        if "manual_split" in self.attrs and any(isinstance(entry, (tuple, list)) for entry in sizes):
            return f"'manual_split' must be a tuple of numbers of rows, but got {sizes}."
        if sum(rows) != params.shape[0]:
            return f"'manual_split' {sizes} has {sum(rows)} rows, but the table has {params.shape[0]}."
        if not len(rows) == strategy[0][0] == strategy[1][-1] or any(n != 1 for n in strategy[1][:-1]):
            return (
                f"'manual_split' has {len(rows)} parts, so the rows of the table and the last dimension of the indices must be "
                "cut into as many, the others not at all."
            )
        return None

    def factors(self, params: AbstractTensor, indices: AbstractTensor, axis: Any) -> Factors:
        at, batch = self._places(params.shape, indices.shape, axis)
        names = numbered(params.ndim)
        own = tuple(f"i{d}" for d in range(batch, indices.ndim))
        table = (*names[:at], "rows", *names[at + 1 :])
        out = (*names[:at], *own, *names[at + 1 :])
        return Factors((table, (*names[:batch], *own), None), (out,), last=table[batch:]).filling(None)

    def on_device(self, device: Any, params: Any, indices: Any, axis: Any) -> Any:
        """Rows of a table that is cut: those that lie on this device; the others add zeros."""
        if device.parts("rows") == 1:
            return self(params, indices, axis)
        index, mine = device.own_rows(indices, "rows")
        picked = self(params, index, axis)
        return device.keep(picked, mine, device.factors.outputs[0], device.factors.inputs[1])

    def requirements(self, params: Any, indices: Any, axis: Any) -> list[Requirement]:
        at, _ = self._places(params.shape, indices.shape, axis)
        return [index_within(self.name, 1, params.shape[at])]

    def eval(self, xp: Namespace, params: Array, indices: Array, axis: int) -> Any:
        self.enforce(xp, params, indices, axis)
        at, batch = self._places(params.shape, indices.shape, axis)
        if batch == 0:
            return xp.take(params, indices, axis=at)
        picked = xp.moveaxis(params, at, batch)[_batch_index(indices.shape[:batch], indices)]
        middle, own = at - batch, indices.ndim - batch
        order = (*range(batch), *range(batch + own, batch + own + middle), *range(batch, batch + own))
        return xp.transpose(picked, order + tuple(range(batch + own + middle, picked.ndim)))

    def bprop(self, params: TensorBase, indices: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        at, batch = self._places(params.shape, indices.shape, axis)
        if batch == 0:
            zero = Fill()(params.dtype, params.shape, 0)
            spec = (slice(None),) * at + (TENSOR_INDEX,)
            return SetItem(spec, accumulate=True)(zero, dout, indices), None, None
        # bring `axis` right after the batch dimensions, add the updates there, and move it back
        own = indices.ndim - batch
        lead = (*range(batch), *range(at, at + own), *range(batch, at))
        moved = Transpose()(dout, lead + tuple(range(at + own, dout.ndim)))
        order = (*range(batch), at, *range(batch, at), *range(at + 1, params.ndim))
        zero = Fill()(params.dtype, tuple(params.shape[i] for i in order), 0)
        grid = [values.from_array(g) for g in _batch_index(indices.shape[:batch], indices)[:-1]]
        spec = (TENSOR_INDEX,) * (batch + 1)
        grad = SetItem(spec, accumulate=True)(zero, moved, *grid, indices)
        return Transpose()(grad, tuple(int(i) for i in np.argsort(order))), None, None

    def vmap(self, size: int, params: Batched, indices: Batched, axis: Batched) -> Any:
        at = axis[0] % rank_of(params)
        if params[1] and indices[1]:
            batch = self.batch_dims + (indices[0].ndim - 1 if self.batch_dims < 0 else 0)
            return Gather(batch + 1)(params[0], indices[0], at + 1)
        if self.batch_dims:
            return None
        if params[1]:
            return self(params[0], indices[0], at + 1)
        out = self(params[0], indices[0], at)  # the examples stand where the axis was
        return Transpose()(out, (at, *(d for d in range(out.ndim) if d != at))) if at else out


def _batch_index(batch: tuple[int, ...], indices: Any) -> tuple:
    grid = [np.arange(n).reshape((-1,) + (1,) * (len(indices.shape) - d - 1)) for d, n in enumerate(batch)]
    return (*grid, indices)


class GatherD(Primitive):
    """out[i][j] = x[index[i][j]][j] for dim 0, and so on: one position along `dim` per place.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.GatherD()(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])).tolist()
        [[2], [3]]
    """

    def __init__(self) -> None:
        super().__init__("GatherD")

    def prepare(self, args: tuple) -> tuple:
        x, dim, index = args
        return x, values.static_number(dim), index

    def infer(self, x: AbstractTensor, dim: Any, index: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        _check_indices(self.name, index, "index")
        at = checks.axis(self.name, dim, x.ndim, "dim")
        _check_element_shape(self.name, x.shape, at, index.shape)
        return AbstractTensor(x.dtype, index.shape)

    def factors(self, x: AbstractTensor, dim: Any, index: AbstractTensor) -> Factors | None:
        if x.ndim == 0:
            return None
        at = dim % x.ndim
        names = tuple(WHOLE if n != m else f"d{d}" for d, (n, m) in enumerate(zip(x.shape, index.shape)))
        table = tuple(WHOLE if d == at else n for d, n in enumerate(names))
        picks = tuple("picks" if d == at else n for d, n in enumerate(names))
        return Factors((table, None, picks), (picks,))

    def requirements(self, x: Any, dim: int, index: Any) -> list[Requirement]:
        return [index_within(self.name, 2, x.shape[dim])] if x.ndim else []

    def eval(self, xp: Namespace, x: Array, dim: int, index: Array) -> Any:
        if x.ndim == 0:
            return xp.reshape(x, index.shape)
        self.enforce(xp, x, dim, index)
        at = dim % x.ndim
        return x[element_index(index.shape, at, index)]

    def bprop(self, x: TensorBase, dim: Any, index: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return TensorScatterElements(dim, "add")(Fill()(x.dtype, x.shape, 0), index, dout), None, None

    def vmap(self, size: int, x: Batched, dim: Batched, index: Batched) -> Any:
        return self(spread(x, size), shift(dim[0], rank_of(x)), spread(index, size))


def _check_element_shape(op: str, x: tuple, axis: int, index: tuple) -> None:
    if len(x) != len(index) or any(i > n for d, (n, i) in enumerate(zip(x, index)) if d != axis):
        raise ValueError(
            f"For '{op}', the index must have as many dimensions as 'x' and be no larger except along axis {axis}, but got "
            f"shapes {index} and {x}."
        )


class GatherNd(Primitive):
    """Elements or slices of `x`; the last dimension of `indices` holds their leading coordinates.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.GatherNd()(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """

    def __init__(self) -> None:
        super().__init__("GatherNd")

    def infer(self, x: AbstractTensor, indices: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        _check_indices(self.name, indices)
        depth = _index_depth(self.name, x.shape, indices.shape)
        return AbstractTensor(x.dtype, indices.shape[:-1] + x.shape[depth:])

    def factors(self, x: AbstractTensor, indices: AbstractTensor) -> Factors:
        depth = indices.shape[-1]
        own = tuple(f"i{d}" for d in range(indices.ndim - 1))
        rest = numbered(x.ndim, depth)
        return Factors(((*(WHOLE,) * depth, *rest), (*own, WHOLE)), ((*own, *rest),))

    def requirements(self, x: Any, indices: Any) -> list[Requirement]:
        return coordinates_within(self.name, 1, x.shape, indices.shape[-1])

    def eval(self, xp: Namespace, x: Array, indices: Array) -> Any:
        self.enforce(xp, x, indices)
        return x[nd_index(xp, indices)]

    def bprop(self, x: TensorBase, indices: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return TensorScatterAdd()(Fill()(x.dtype, x.shape, 0), indices, dout), None


def _index_depth(op: str, x: tuple, indices: tuple) -> int:
    if not indices or indices[-1] > len(x):
        raise ValueError(
            f"For '{op}', the last dimension of 'indices' must be at most the rank of the tensor, but got indices of shape "
            f"{indices} and a tensor of shape {x}."
        )
    return indices[-1]


# -- scatter ----------------------------------------------------------------------------------------------------------
class _Scatter(Primitive):
    """Common part: `pick` reads at the indices, `put` writes; the gradient depends on the reduction only."""

    reduction: str

    def prepare(self, args: tuple) -> tuple:
        x, indices, updates = args
        dtype = values.dtype_of(x)
        if values.is_number(updates):
            updates = values.number_tensor(updates, dtype)
        elif values.dtype_of(updates) is not dtype:
            updates = Cast()(updates, dtype)
        return x, indices, updates

    def pick(self, x: Any, indices: Any) -> Any:
        raise NotImplementedError

    def put(self, reduction: str, x: Any, indices: Any, updates: Any) -> Any:
        raise NotImplementedError

    def bprop(
        self, x: TensorBase, indices: TensorBase, updates: TensorBase, out: TensorBase, dout: TensorBase
    ) -> tuple:
        mode = self.reduction
        if mode == "none":
            return self.put("none", dout, indices, zeros_like(updates)), None, self.pick(dout, indices)
        if mode in ("add", "sub"):
            picked = self.pick(dout, indices)
            return dout, None, picked if mode == "add" else -picked
        if mode in ("mul", "div"):
            factor = self.put("mul", ones_like(x), indices, updates)
            share = self.pick(dout * out, indices) / updates
            return (dout * factor, None, share) if mode == "mul" else (dout / factor, None, -share)
        # max, min: shared equally by all that attain the extremum
        kept = Cast()(Equal()(x, out), dout.dtype)
        won = Cast()(Equal()(updates, self.pick(out, indices)), dout.dtype)
        share = dout / self.put("add", kept, indices, won)
        return kept * share, None, won * self.pick(share, indices)


class _TensorScatter(_Scatter):
    def __init__(self) -> None:
        super().__init__(type(self).__name__)

    def infer(self, x: AbstractTensor, indices: AbstractTensor, updates: AbstractTensor) -> Any:
        checks.tensor(self.name, "input_x", x)
        _check_indices(self.name, indices)
        checks.tensor(self.name, "updates", updates)
        if self.reduction == "sub":
            checks.dtype_in(self.name, "input_x", x.dtype, "uifc")
        depth = _index_depth(self.name, x.shape, indices.shape)
        expected = indices.shape[:-1] + x.shape[depth:]
        if updates.shape != expected:
            raise ValueError(f"For '{self.name}', 'updates' must have shape {expected}, but got {updates.shape}.")
        return AbstractTensor(x.dtype, x.shape)

    def factors(self, x: AbstractTensor, indices: AbstractTensor, updates: Any) -> Factors:
        depth = indices.shape[-1]
        rest = numbered(x.ndim, depth)
        table = (*(WHOLE,) * depth, *rest)
        return Factors((table, (WHOLE,) * indices.ndim, (*(WHOLE,) * (indices.ndim - 1), *rest)), (table,))

    def requirements(self, x: Any, indices: Any, updates: Any) -> list[Requirement]:
        return coordinates_within(self.name, 1, x.shape, indices.shape[-1])

    def eval(self, xp: Namespace, x: Array, indices: Array, updates: Array) -> Any:
        self.enforce(xp, x, indices, updates)
        return combine(xp, x, nd_index(xp, indices), updates, self.reduction)

    def pick(self, x: TensorBase, indices: TensorBase) -> Any:
        return GatherNd()(x, indices)

    def put(self, reduction: str, x: TensorBase, indices: TensorBase, updates: TensorBase) -> Any:
        return TENSOR_SCATTERS[reduction]()(x, indices, updates)


class TensorScatterUpdate(_TensorScatter):
    """A copy of `input_x` with the indexed slices replaced by `updates`.

    Examples:
        >>> print(ops.TensorScatterUpdate()(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [8. 2.]
    """

    reduction = "none"


class TensorScatterAdd(_TensorScatter):
    """A copy of `input_x` with `updates` added at the indexed slices; duplicates add up.

    Examples:
        >>> print(ops.TensorScatterAdd()(ops.zeros(4), Tensor([[1], [3], [1]]), Tensor([1.0, 2.0, 3.0])))
        [0. 4. 0. 2.]
    """

    reduction = "add"


class TensorScatterSub(_TensorScatter):
    """A copy of `input_x` with `updates` subtracted at the indexed slices.

    Examples:
        >>> print(ops.TensorScatterSub()(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [8. 7.]
    """

    reduction = "sub"


class TensorScatterMul(_TensorScatter):
    """A copy of `input_x` with the indexed slices multiplied by `updates`.

    Examples:
        >>> print(ops.TensorScatterMul()(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [ 8. 18.]
    """

    reduction = "mul"


class TensorScatterDiv(_TensorScatter):
    """A copy of `input_x` with the indexed slices divided by `updates`.

    Examples:
        >>> print(ops.TensorScatterDiv()(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([3.0])))
        [8. 3.]
    """

    reduction = "div"


class TensorScatterMax(_TensorScatter):
    """A copy of `input_x` with the maximum of each indexed slice and its updates.

    Examples:
        >>> print(ops.TensorScatterMax()(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
        [10.  9.]
    """

    reduction = "max"


class TensorScatterMin(_TensorScatter):
    """A copy of `input_x` with the minimum of each indexed slice and its updates.

    Examples:
        >>> print(ops.TensorScatterMin()(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
        [8. 1.]
    """

    reduction = "min"


TENSOR_SCATTERS = {
    c.reduction: c
    for c in (
        TensorScatterUpdate, TensorScatterAdd, TensorScatterSub, TensorScatterMul, TensorScatterDiv, TensorScatterMax,
        TensorScatterMin,
    )
}  # fmt: skip


class TensorScatterElements(_Scatter):
    """A copy of `data` combined with `updates` at one position along `axis` per place of `indices`.

    Examples:
        >>> add = ops.TensorScatterElements(axis=0, reduction="add")
        >>> print(add(Tensor([1, 2, 3]), Tensor([0, 2]), Tensor([10, 20])))
        [11  2 23]
    """

    def __init__(self, axis: int = 0, reduction: str = "none"):
        checks.one_of("TensorScatterElements", "reduction", reduction, ("none", *_UFUNC))
        super().__init__(axis=checks.integer("TensorScatterElements", "axis", axis), reduction=reduction)

    def infer(self, x: AbstractTensor, indices: AbstractTensor, updates: AbstractTensor) -> Any:
        checks.tensor(self.name, "data", x)
        _check_indices(self.name, indices)
        at = checks.axis(self.name, self.axis, x.ndim)
        _check_element_shape(self.name, x.shape, at, indices.shape)
        if updates.shape not in ((), indices.shape):
            raise ValueError(
                f"For '{self.name}', 'updates' must have the shape of 'indices', {indices.shape}, but got {updates.shape}."
            )
        return AbstractTensor(x.dtype, x.shape)

    def requirements(self, x: Any, indices: Any, updates: Any) -> list[Requirement]:
        return [index_within(self.name, 1, x.shape[self.axis])] if x.ndim else []

    def eval(self, xp: Namespace, x: Array, indices: Array, updates: Array) -> Any:
        at = self.axis % max(x.ndim, 1)
        if x.ndim == 0:
            return combine(
                xp, xp.reshape(x, (1,)), (xp.zeros(1, np.int32),), xp.reshape(updates, (1,)), self.reduction
            ).reshape(())
        self.enforce(xp, x, indices, updates)
        index = element_index(indices.shape, at, indices)
        return combine(xp, x, index, xp.broadcast_to(updates, indices.shape), self.reduction)

    def pick(self, x: TensorBase, indices: TensorBase) -> Any:
        return GatherD()(x, self.axis, indices)

    def put(self, reduction: str, x: TensorBase, indices: TensorBase, updates: TensorBase) -> Any:
        return TensorScatterElements(self.axis, reduction)(x, indices, updates)

    def bprop(
        self, x: TensorBase, indices: TensorBase, updates: TensorBase, out: TensorBase, dout: TensorBase
    ) -> tuple:
        from mindspore.prims.broadcasting import BroadcastTo, sum_to_shape

        spread = BroadcastTo(indices.shape)(updates) if updates.shape != indices.shape else updates
        dx, _, du = super().bprop(x, indices, spread, out, dout)
        return dx, None, sum_to_shape(du, updates.shape)
