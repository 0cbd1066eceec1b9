"""Methods that pick and place elements: gathers, scatters, masks, sorting, searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import from_values, normal_axis
from mindspore.ops.gather_scatter import added_along, scatter_along
from mindspore.ops.sorting import argsort_stable, sort_stable, unique_sorted
from mindspore.ops.tensor_methods.adapters import renamed
from mindspore.prims import checks, indexing
from mindspore.prims.broadcasting import BroadcastTo, Reshape


def _masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, one after the other, where `mask` holds.

    Examples:
        >>> print(ops.zeros(4).masked_scatter(Tensor([True, False, True, False]), Tensor([7.0, 8.0])))
        [7. 0. 8. 0.]
    """
    return F.masked_scatter(self, mask, source)


def _where(self: Tensor, condition: Tensor, y: Any) -> Tensor:
    """This tensor where the condition holds, else y.

    Examples:
        >>> print(Tensor([1, 2]).where(Tensor([True, False]), Tensor([10, 20])))
        [ 1 20]
    """
    return F.where(condition, self, y)


def _select(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """select(dim, index): one slice; select(condition, y): this tensor where the condition holds, else y.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).select(1, 0))
        [1 3]
    """
    if "condition" in kwargs or "y" in kwargs or (args and isinstance(args[0], Tensor) and args[0].dtype is mstype.bool_):
        return F.where(*_arguments("select", ("condition", "y"), args, kwargs, self))
    _, dim, index = _arguments("select", ("dim", "index"), args, kwargs, self)
    at = normal_axis("select", dim, self.ndim, "dim")
    return self[(slice(None),) * at + (index,)]


def _arguments(op: str, names: tuple[str, str], args: tuple, kwargs: dict[str, Any], x: Tensor) -> tuple:
    """The tensor between two arguments or before them, given by position or name."""
    found = {**dict(zip(names, args)), **kwargs}
    if len(args) > 2 or len(args) + len(kwargs) != 2 or {*found} != {*names}:
        raise TypeError(f"For '{op}', the arguments must be {names[0]} and {names[1]}, but got {len(args)} by position and {[*kwargs]}.")
    first, second = (found[name] for name in names)
    return (first, x, second) if names[0] == "condition" else (x, first, second)


def _gather(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """gather(dim, index): one position per place; gather(input_indices, axis, batch_dims=0): whole slices.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    if "dim" in kwargs or "index" in kwargs or (args and isinstance(args[0], int)):
        settings = {**dict(zip(("dim", "index"), args)), **kwargs}
        return F.gather_elements(self, settings["dim"], settings["index"])
    return F.gather(self, *args, **kwargs)


def _take(
    self: Tensor, indices: Tensor | None = None, axis: int | None = None, mode: str = "clip", index: Any = None
) -> Tensor:
    """Elements of the flattened tensor, or slices along `axis`; indices outside are clipped, wrapped or refused.

    Examples:
        >>> print(Tensor([[10, 20], [30, 40]]).take(Tensor([1]), axis=1))
        [[20]
         [40]]
    """
    where = from_values(indices if index is None else index)
    source = Reshape()(self, (-1,)) if axis is None else self
    axis = 0 if axis is None else checks.axis("take", axis, source.ndim)
    checks.one_of("take", "mode", mode, ("clip", "wrap", "raise"))
    n = source.shape[axis]
    if mode == "wrap":
        where = where % n
    elif mode == "clip":
        where = F.clamp(where, -n, n - 1)
    return F.gather(source, where, axis)


def _index_add(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """index_add(indices, y, axis) or index_add(dim, index, source, alpha=1): a copy with slices added.

    Examples:
        >>> print(ops.zeros(3).index_add(0, Tensor([0, 2]), Tensor([5.0, 6.0])))
        [5. 0. 6.]
    """
    if (args and isinstance(args[0], Tensor)) or "indices" in kwargs:
        settings = {**dict(zip(("indices", "y", "axis"), args)), **kwargs}
        return added_along(self, settings["indices"], settings["y"], settings["axis"])
    settings = {"alpha": 1, **dict(zip(("dim", "index", "source"), args)), **kwargs}
    return added_along(self, settings["index"], settings["source"] * settings["alpha"], settings["dim"])


def _scatter(self: Tensor, *args: Any, reduce: str | None = None, **kwargs: Any) -> Tensor:
    """A copy with `src` (or `value`) written along a dimension; `reduce` 'add' or 'multiply' combines instead.

    Examples:
        >>> print(ops.zeros((2, 3)).scatter(1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])))
        [[0. 0. 5.]
         [6. 0. 0.]]
    """
    settings = {**dict(zip(("dim", "index", "src"), args)), **kwargs}
    dim: Any = settings.get("dim", settings.get("axis"))
    src = settings.get("src", settings.get("value"))
    modes = {None: "none", "none": "none", "add": "add", "multiply": "mul"}
    checks.one_of("scatter", "reduce", reduce, (*modes,))
    return scatter_along(self, dim, settings["index"], src, modes[reduce])


def _scatter_add(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """scatter_add(dim, index, src), or scatter_add(indices, updates) with whole coordinates: a copy with additions.

    Examples:
        >>> print(ops.ones(3).scatter_add(0, Tensor([0, 0]), Tensor([5.0, 6.0])))
        [12.  1.  1.]
    """
    if "indices" in kwargs or (args and isinstance(args[0], Tensor)):
        settings = {**dict(zip(("indices", "updates"), args)), **kwargs}
        return F.tensor_scatter_add(self, settings["indices"], settings["updates"])
    settings = {**dict(zip(("dim", "index", "src"), args)), **kwargs}
    return scatter_along(self, settings["dim"], settings["index"], settings["src"], "add")


def _index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` written (or added) at the places a tuple of index tensors names.

    Examples:
        >>> print(Tensor([1, 2, 3]).index_put((Tensor([0, 2]),), Tensor([10, 20]), accumulate=True))
        [11  2 23]
    """
    index = tuple(indices)
    if not accumulate:
        return indexing.with_items(self, index, values)
    return indexing.with_items_added(self, index, values)


def _put(self: Tensor, index: Any, source: Any, accumulate: bool = False) -> Tensor:
    """Set elements at positions of the flattened tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0, 3.0]).put(Tensor([0, 2]), Tensor([9.0, 8.0])))
        [9. 2. 8.]
    """
    flat = Reshape()(self, (-1,))
    out = _index_put(flat, (Reshape()(index, (-1,)),), Reshape()(source, (-1,)), accumulate)
    return Reshape()(out, self.shape)


def _unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The distinct elements (sorted), perhaps with each element's index among them and the counts.

    Examples:
        >>> print(Tensor([5, 3, 5, 7]).unique())
        [3 5 7]
    """
    return unique_sorted(self, sorted, return_inverse, return_counts, dim)


def _choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """At each place the element of the choice this tensor names.

    Examples:
        >>> print(Tensor([0, 1, 0]).choose([Tensor([1, 2, 3]), Tensor([10, 20, 30])]))
        [ 1 20  3]
    """
    options = F.stack([from_values(c) for c in choices]) if isinstance(choices, (tuple, list)) else choices
    n = options.shape[0]
    index = self % n if mode == "wrap" else F.clamp(self, 0, n - 1)
    shape = F.broadcast_shapes(self.shape, options.shape[1:])
    spread = BroadcastTo((n, *shape))(
        Reshape()(options, (n, *(1,) * (len(shape) - options.ndim + 1), *options.shape[1:]))
    )
    return F.gather_elements(spread, 0, BroadcastTo((1, *shape))(index))[0]


def _itemset(self: Tensor, *args: Any) -> Tensor:
    """A copy with one element set: itemset(value), or itemset(index, value).

    Examples:
        >>> print(Tensor([1, 2, 3]).itemset(1, 20))
        [ 1 20  3]
    """
    *index, value = args
    out = Reshape()(self, (-1,)) if not index or isinstance(index[0], int) else self
    out = indexing.with_items(out, index[0] if index else 0, value)
    return Reshape()(out, self.shape)


def _searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where the elements of v would be inserted to keep this (sorted) tensor sorted.

    Examples:
        >>> print(Tensor([1.0, 3.0, 5.0]).searchsorted([0.0, 3.0, 9.0]))
        [0 1 3]
    """
    return F.searchsorted(self, from_values(v), side=side, sorter=sorter, out_int32=True)


METHODS: dict[str, Callable] = {
    "index_select": renamed(F.index_select, dim="axis"),
    "sort": renamed(sort_stable, dim="axis"),
    "argsort": renamed(argsort_stable, dim="axis"),
    "topk": F.topk,
    "masked_scatter": _masked_scatter,
    "where": _where,
    "select": _select,
    "gather": _gather,
    "take": _take,
    "index_add": _index_add,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "index_put": _index_put,
    "put": _put,
    "unique": _unique,
    "choose": _choose,
    "itemset": _itemset,
    "index_copy": F.index_copy,
    "searchsorted": _searchsorted,
}
