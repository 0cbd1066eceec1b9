"""Tensor methods: the functions of `mindspore.ops`, attached to the Tensor class.

Most methods are the function itself. Where a method has several signatures (axis or dim, keepdims or keepdim) or takes
its shape as separate arguments, a small adapter here sorts that out.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.sparse import dense_to_coo, dense_to_csr
from mindspore.common.tensor import Tensor
from mindspore.compiler.parse.overloads import explained
from mindspore.ops import functional as F
from mindspore.ops.arguments import as_tensor, cast
from mindspore.ops.gather_scatter import added_along, scatter_along
from mindspore.ops.reduction import mean_cast
from mindspore.ops.sorting import argsort_stable, cumsum_flat, sort_stable, unique_sorted
from mindspore.prims import active, checks, indexing, values
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims.broadcasting import BroadcastTo, Reshape, sum_to_shape
from mindspore.prims.inplace import update


# -- adapters -------------------------------------------------------------------------------------------------------
def _flat(args: tuple) -> Any:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list, Tensor)) else args


_SYNONYMS = {"dim": "axis", "keepdim": "keepdims", "keep_dims": "keepdims"}


def _as_method_of(function: Callable, method: Callable) -> Callable:
    """`method` with the name, the words and the signature of the function it adapts."""
    method.__name__, method.__doc__ = function.__name__, function.__doc__
    method.__wrapped__ = function  # type: ignore[attr-defined]
    return method


def _reduction(function: Callable, *order: str, **renamed: str) -> Callable:
    """A method that accepts every spelling of axis and keepdims; `order` names its positional arguments."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(f"Tensor.{function.__name__} takes at most {len(order)} arguments, but got {len(args)}.")
        settings = {_SYNONYMS.get(k, k): v for k, v in kwargs.items()}
        for name, value in zip(order, args):
            if name == "dtype" and isinstance(value, bool):
                name = "keepdims"  # sum(dim, keepdim) beside sum(axis, dtype, keepdims)
            if name in settings:
                raise TypeError(f"Tensor.{function.__name__} got '{name}' twice.")
            settings[name] = value
        return function(self, **{renamed.get(k, k): v for k, v in settings.items()})

    return _as_method_of(function, method)


def _sum(self: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = None, initial: Any = None) -> Tensor:
    total = F.sum(self, axis, keepdims, dtype=dtype)
    return total if initial is None else total + initial


_sum.__name__, _sum.__doc__ = "sum", F.sum.__doc__


def _extreme(plain: Callable, paired: Callable) -> Callable:
    """x.max() and x.max(axis=…) give values; x.max(dim=…) gives values and indices.

    What x.max(1) means depends on the mode in official MindSpore, and scripts rely on it: in a graph it is the axis,
    in PyNative mode the dim.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        with_indices = kwargs.pop("return_indices", False)
        if "dim" in kwargs or "keepdim" in kwargs:
            with_indices = True
        elif args and isinstance(args[0], int) and not {"keepdims", "initial", "where"} & kwargs.keys():
            with_indices = with_indices or not (active.building() or active.ACTIVE.eagerly)
        settings = {_SYNONYMS.get(k, k): v for k, v in kwargs.items()}
        settings.update(zip(("axis", "keepdims"), args))
        if settings.get("where") is True:
            del settings["where"]
        if with_indices and settings.get("axis") is not None:
            return paired(self, **settings)
        return plain(self, **settings)

    name = method.__name__ = paired.__name__
    kind, result = ("largest", 5.0) if name == "max" else ("smallest", 1.0)
    method.__doc__ = (
        f"The {kind} element, or the {kind} along `axis`; {name}(dim) also gives where they stand.\n\n    Examples:\n"
        f"        >>> from mindspore import Tensor\n        >>> Tensor([1.0, 5.0]).{name}().item()\n        {result}\n    "
    )
    return method


def _argmax_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the largest elements along `axis`.

    Examples:
        >>> values, indices = Tensor([[3.0, 8.0], [6.0, 5.0]]).argmax_with_value(axis=1)
        >>> print(values, indices)
        [8. 6.] [1 0]
    """
    return F.max(self, axis, keep_dims)


def _argmin_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the smallest elements along `axis`.

    Examples:
        >>> values, indices = Tensor([[3.0, 8.0], [6.0, 5.0]]).argmin_with_value(axis=1)
        >>> print(values, indices)
        [3. 5.] [0 1]
    """
    return F.min(self, axis, keep_dims)


def _second_name(function: Callable, other: str) -> Callable:
    """A method of one argument, `other`, that has a second name from an older signature."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if other in kwargs:
            kwargs["other"] = kwargs.pop(other)
        return function(self, *args, **kwargs)

    return _as_method_of(function, method)


def _repeat_interleave(self: Tensor, repeats: Any, axis: Any = None, **kwargs: Any) -> Tensor:
    """Each element repeated, along `axis` (or `dim`), or of the flattened tensor.

    Examples:
        >>> Tensor([1, 2]).repeat_interleave(2).tolist()
        [1, 1, 2, 2]
    """
    if "dim" in kwargs:
        axis = kwargs.pop("dim")
    kwargs.pop("output_size", None)  # a hint of what the repeats add up to
    return F.repeat_interleave(self, repeats, axis, **kwargs)


_expand_as = _second_name(F.expand_as, "x")
_remainder = _second_name(F.remainder, "divisor")


def _spread(function: Callable) -> Callable:
    """std and var: by `axis` with ddof 0, by `dim` with correction 1."""

    def method(self: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False, **kwargs: Any) -> Tensor:
        if kwargs.keys() & {"dim", "correction"}:
            axis, ddof = kwargs.pop("dim", axis), kwargs.pop("correction", 1)
        keepdims = kwargs.pop("keepdim", keepdims)
        if kwargs:
            raise TypeError(f"Tensor.{function.__name__} has no argument {next(iter(kwargs))!r}.")
        return function(self, axis, ddof, keepdims)

    return _as_method_of(function, method)


def _renamed(function: Callable, **synonyms: str) -> Callable:
    """A method that also accepts other names of its arguments."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **{synonyms.get(k, k): v for k, v in kwargs.items()})

    return _as_method_of(function, method)


def _inplace(function: Callable, example: str = "") -> Callable:
    """The method x.f_(…) that stores f(x, …) in x."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        out = function(self, *args, **kwargs)
        if out.shape != self.shape:
            raise ValueError(
                f"an in-place operation cannot change the shape of a tensor from {self.shape} to {out.shape}."
            )
        return update(self, cast(out, self.dtype))

    name = function.__name__.removeprefix("_")
    words = f"`{name}`, with the result stored in this tensor, which keeps its type."
    _as_method_of(function, method).__doc__ = f"{words}\n{example}" if example else words
    method.__name__ = f"{name}_"
    return method


# -- shapes ---------------------------------------------------------------------------------------------------------
def _reverse_sequence(self: Tensor, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """Reverse the first `seq_lengths[i]` elements along `seq_dim` of each batch entry.

    Examples:
        >>> print(Tensor([[1, 2, 3], [4, 5, 6]]).reverse_sequence(Tensor([2, 3]), seq_dim=1))
        [[2 1 3]
         [6 5 4]]
    """

    return F.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


_reverse_sequence.__doc__ = F.reverse_sequence.__doc__


def _reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape; one dimension may be -1.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0, 3.0, 4.0]).reshape((2, 2)).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return Reshape()(self, _flat(shape))


def _view(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape, or their bytes as another type.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0, 3.0, 4.0]).view(2, -1).shape
        (2, 2)
    """
    if len(shape) == 1 and isinstance(shape[0], mstype.DType):
        return _bitcast(self, shape[0])
    return Reshape()(self, _flat(shape))


def _bitcast(self: Tensor, dtype: mstype.DType) -> Tensor:
    from mindspore.prims.elementwise import Bitcast

    return Bitcast(dtype)(self)


def _transpose(self: Tensor, *axes: Any, **kwargs: Any) -> Tensor:
    """Two ints exchange those dimensions; otherwise a permutation (reversed when nothing is given).

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).transpose((1, 0)).tolist()
        [[1.0], [2.0]]
    """
    if kwargs:
        axes = (kwargs["dim0"], kwargs["dim1"]) if "dim0" in kwargs else tuple(kwargs.values())
    if len(axes) == 2 and all(isinstance(a, int) for a in axes):
        return F.swapaxes(self, *axes)
    order = _flat(axes)
    return F.transpose(self, tuple(order) if order not in ((), (None,)) else tuple(reversed(range(self.ndim))))


def _permute(self: Tensor, *axis: Any, **kwargs: Any) -> Tensor:
    """Permute the dimensions.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).permute(1, 0).shape
        (2, 1)
    """
    return F.permute(self, _flat(axis) if axis else next(iter(kwargs.values())))


def _squeeze(self: Tensor, *axis: Any, **kwargs: Any) -> Tensor:
    """Drop dimensions of size 1: all of them, or those named.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0]]).squeeze(0).shape
        (2,)
    """
    if kwargs:
        axis = tuple(kwargs.values())
    return F.squeeze(self, _flat(axis) if axis else None)


def _flatten(self: Tensor, order: Any = "C", *args: int, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim`: all of them by default.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).flatten().tolist()
        [1.0, 2.0, 3.0, 4.0]
    """
    if isinstance(order, int):
        start_dim, end_dim, order = order, args[0] if args else end_dim, "C"
    return F.flatten(self, order, start_dim=start_dim, end_dim=end_dim)


def _expand(self: Tensor, *size: Any) -> Tensor:
    """Repeat along new or size-1 dimensions; -1 keeps a dimension.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).broadcast_to((2, 2)).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """
    return F.broadcast_to(self, _flat(size))


def _repeat(self: Tensor, *given: Any, repeats: Any = None, axis: int | None = None) -> Tensor:
    """Repeat the whole tensor along its dimensions; with `axis`, repeat each element along it.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).repeat(2).tolist()
        [1.0, 2.0, 1.0, 2.0]
    """
    if repeats is not None:
        given = (repeats,)
    elif len(given) == 2 and isinstance(given[0], (tuple, list)):
        amounts, axis = given
        given = (amounts,)
    if axis is not None:
        return F.repeat_interleave(self, given[0], axis)
    return F.tile(self, _flat(given))


def _tile(self: Tensor, *dims: Any, **kwargs: Any) -> Tensor:
    """Repeat the whole tensor along its dimensions.

    Examples:
        >>> from mindspore import Tensor
        >>> Tensor([1.0, 2.0]).tile((2,)).tolist()
        [1.0, 2.0, 1.0, 2.0]
    """
    return F.tile(self, _flat(dims) if dims else next(iter(kwargs.values())))


def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the shape of another.

    Examples:
        >>> Tensor([1, 2, 3, 4]).reshape_as(ops.ones((2, 2))).shape
        (2, 2)
    """
    return Reshape()(self, other.shape)


def _resize(self: Tensor, *new_shape: Any) -> Tensor:
    """The elements in another shape, cut off or filled up with zeros.

    Examples:
        >>> print(Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    shape = tuple(_flat(new_shape))
    flat, size = Reshape()(self, (-1,)), 1
    for d in shape:
        size *= d
    flat = flat[:size] if size <= flat.size else F.pad(flat, (0, size - flat.size))
    return Reshape()(flat, shape)


def _sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Undo broadcasting: sum down to the given shape.

    Examples:
        >>> print(ops.ones((2, 3)).sum_to_size(1, 3))
        [[2. 2. 2.]]
    """
    shape = tuple(_flat(size))
    BroadcastTo(self.shape)(F.zeros(shape, self.dtype))  # says what does not fit
    return sum_to_shape(self, shape)


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements apart neighbours along each dimension (or one) are.

    Examples:
        >>> ops.ones((2, 3)).stride()
        [3, 1]
    """
    steps = [s // self.itemsize for s in self.strides]
    return steps if dim is None else steps[dim]


# -- types ----------------------------------------------------------------------------------------------------------
def _to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """This tensor converted to the dtype given (by itself, by keyword, or as that of another tensor).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor([1.0]).to(ms.float16).dtype
        mindspore.float16
    """
    wanted = kwargs.get("dtype")
    for arg in (*args, kwargs.get("other")):
        if isinstance(arg, Tensor):
            wanted = arg.dtype
        elif isinstance(arg, (mstype.DType, type)) or (isinstance(arg, str) and arg in mstype._BY_NAME):
            wanted = arg
        elif isinstance(arg, str) and arg.partition(":")[0].lower() not in ("cpu", "gpu", "ascend", "npu", "cuda"):
            raise ValueError(
                f"For 'Tensor.to', a dtype or one of 'CPU', 'GPU' and 'Ascend' must be given, but got {arg!r}."
            )
    out = cast(self, wanted)
    return out.copy() if kwargs.get("copy") and out is self else out


def _astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """The elements converted to another type.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor
        >>> Tensor([1.5, 2.5]).astype(ms.int32).tolist()
        [1, 2]
    """
    dtype = mstype.to_dtype(dtype)
    return self if self.dtype is dtype and not copy else ew.Cast()(self, dtype)


def _type(self: Tensor, dtype: Any = None) -> Any:
    """The element type's name, or this tensor converted.

    Examples:
        >>> Tensor([1.0]).type()
        'Float32'
    """
    return str(self.dtype) if dtype is None else cast(self, dtype)


def _converter(dtype: mstype.DType, name: str) -> Callable:
    def method(self: Tensor) -> Tensor:
        return cast(self, dtype)

    method.__name__ = name
    method.__doc__ = f"""This tensor as {dtype}.

    Examples:
        >>> Tensor([1, 2]).{name}().dtype
        {dtype!r}
    """
    return method


# -- what a tensor is --------------------------------------------------------------------------------------------------
def _dim(self: Tensor) -> int:
    """The number of dimensions.

    Examples:
        >>> Tensor([[1.0]]).dim()
        2
    """
    return self.ndim


def _ndimension(self: Tensor) -> int:
    """The number of dimensions.

    Examples:
        >>> Tensor([[1.0]]).ndimension()
        2
    """
    return self.ndim


def _nelement(self: Tensor) -> int:
    """The number of elements.

    Examples:
        >>> Tensor([1.0, 2.0]).nelement()
        2
    """
    return self.size


def _is_signed(self: Tensor) -> bool:
    """Whether elements can be negative.

    Examples:
        >>> Tensor([1, 2]).is_signed()
        True
    """
    return self.dtype.kind in "ifc"


def _value(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> Tensor([1.0]).value().tolist()
        [1.0]
    """
    return self


def _cpu(self: Tensor) -> Tensor:
    """This tensor in the memory of the CPU.

    Examples:
        >>> Tensor([1.0]).cpu().tolist()
        [1.0]
    """
    return self


def _move_to(self: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """This tensor: there is one memory here.

    Examples:
        >>> Tensor([1.0]).move_to('CPU').tolist()
        [1.0]
    """
    return self


def _set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Mark the tensor as a constant of compiled functions.

    Examples:
        >>> Tensor([1.0]).set_const_arg().tolist()
        [1.0]
    """
    return self


def _storage_offset(self: Tensor) -> int:
    """0: tensors share no memory.

    Examples:
        >>> Tensor([1.0]).storage_offset()
        0
    """
    return 0


def _data(self: Tensor) -> Tensor:
    """The tensor itself.

    Examples:
        >>> Tensor([1.0]).data.tolist()
        [1.0]
    """
    return self


# -- new tensors ----------------------------------------------------------------------------------------------------
def _new_shape(args: tuple) -> tuple:
    shape = _flat(args)
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _new_zeros(self: Tensor, size: Any = (), *more: int, dtype: Any = None) -> Tensor:
    """Zeros of another shape and this tensor's type.

    Examples:
        >>> print(Tensor([5]).new_zeros((2,)))
        [0 0]
    """
    return F.zeros(_new_shape((size, *more)), dtype or self.dtype)


def _new_ones(self: Tensor, size: Any = (), *more: int, dtype: Any = None) -> Tensor:
    """Ones of another shape and this tensor's type.

    Examples:
        >>> print(Tensor([5]).new_ones((2,)))
        [1 1]
    """
    return F.ones(_new_shape((size, *more)), dtype or self.dtype)


def _new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number, repeated, of this tensor's type.

    Examples:
        >>> print(Tensor([1.0]).new_full((2,), 7))
        [7. 7.]
    """
    return F.full(size, fill_value, dtype=dtype or self.dtype)


def _new_empty(self: Tensor, size: Any = (), *more: int, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of another shape and this tensor's type.

    Examples:
        >>> Tensor([1.0]).new_empty((2, 3)).shape
        (2, 3)
    """
    return F.zeros(_new_shape((size, *more)), dtype or self.dtype)


def _masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, one after the other, where `mask` holds.

    Examples:
        >>> print(ops.zeros(4).masked_scatter(Tensor([True, False, True, False]), Tensor([7.0, 8.0])))
        [7. 0. 8. 0.]
    """
    return F.masked_scatter(self, mask, source)


def _narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` elements along `dim`, from `start` on.

    Examples:
        >>> print(Tensor([10, 20, 30, 40]).narrow(0, 1, 2))
        [20 30]
    """
    return F.narrow(self, dim, start, length)


def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None) -> Tensor:
    """A tensor from data, of this tensor's type.

    Examples:
        >>> Tensor([1.0]).new_tensor([1, 2]).dtype
        mindspore.float32
    """
    return Tensor(data, dtype or self.dtype)


# -- the rest -------------------------------------------------------------------------------------------------------
def _fill(self: Tensor, value: Any) -> Tensor:
    """A tensor of this shape and type with every element `value`.

    Examples:
        >>> print(Tensor([1.0, 2.0]).fill(7.0))
        [7. 7.]
    """
    return F.full_like(self, 0 if value is None else value)


def _fill_(self: Tensor, value: Any) -> Tensor:
    """Set every element.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> print(x.fill_(7.0))
        [7. 7.]
    """
    return update(self, F.full_like(self, value))


def _zero_(self: Tensor) -> Tensor:
    """Set every element to 0.

    Examples:
        >>> print(Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return update(self, ew.zeros_like(self))


def _copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over the (broadcast) values of another tensor.

    Examples:
        >>> x = ops.zeros((2, 2))
        >>> print(x.copy_(Tensor([1.0, 2.0])))
        [[1. 2.]
         [1. 2.]]
    """
    value = cast(as_tensor(src, self.dtype), self.dtype)
    return update(self, BroadcastTo(self.shape)(value) if value.shape != self.shape else value.copy())


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
    first, second = (*args, *kwargs.values())
    if isinstance(first, Tensor) and first.dtype is mstype.bool_:
        return F.where(first, self, second)
    at = first % builtins.max(self.ndim, 1)
    return self[(slice(None),) * at + (second,)]


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
    where = as_tensor(indices if index is None else index)
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


def _add(self: Tensor, other: Tensor | float, *, alpha: Any = 1) -> Tensor:
    """self + alpha * other.

    Examples:
        >>> print(Tensor([1.0, 2.0]).add(Tensor([10.0, 20.0]), alpha=0.5))
        [ 6. 12.]
    """
    return self + (other if values.is_number(alpha) and alpha == 1 else other * alpha)


def _sub(self: Tensor, other: Tensor | None = None, *, alpha: Any = 1, y: Any = None) -> Tensor:
    """self - alpha * other.

    Examples:
        >>> print(Tensor([5.0, 7.0]).sub(Tensor([1.0, 2.0]), alpha=3))
        [2. 1.]
    """
    return F.subtract(self, y if other is None else other, alpha=alpha)


def _median(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The lower median: of all elements without arguments, else (values, indices) along a dimension.

    Examples:
        >>> print(Tensor([3.0, 1.0, 2.0]).median())
        2.0
    """
    if not args and not kwargs:
        return F.median(Reshape()(self, (-1,)), 0)[0]
    settings = {_SYNONYMS.get(k, k): v for k, v in kwargs.items()}
    return F.median(self, *args, **settings)


def _count_nonzero(self: Tensor, axis: Any = (), keep_dims: bool = False, dtype: Any = None, dim: Any = None) -> Tensor:
    """The number of elements that are not 0.

    Examples:
        >>> print(Tensor([[0, 3], [5, 7]]).count_nonzero(axis=1))
        [1 2]
    """
    return F.count_nonzero(self, dim if dim is not None else axis, keep_dims, dtype or mstype.int32)


def _ptp(self: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Maximum minus minimum.

    Examples:
        >>> print(Tensor([3.0, 8.0, 5.0]).ptp())
        5.0
    """
    return F.amax(self, axis, keepdims) - F.amin(self, axis, keepdims)


def _trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Examples:
        >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).trace())
        5.0
    """
    return F.sum(F.diagonal(self, offset, axis1, axis2), -1, dtype=dtype or self.dtype)


def _diag(self: Tensor, diagonal: int | None = None) -> Tensor:
    """diag(): a tensor with this one on its diagonal; diag(k): also the k-th diagonal of a matrix.

    Examples:
        >>> print(Tensor([5, 6]).diag())
        [[5 0]
         [0 6]]
    """
    if diagonal is None:
        return F.diag(self)
    return F.diag_embed(self, diagonal) if self.ndim == 1 else F.diagonal(self, diagonal)


def _choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """At each place the element of the choice this tensor names.

    Examples:
        >>> print(Tensor([0, 1, 0]).choose([Tensor([1, 2, 3]), Tensor([10, 20, 30])]))
        [ 1 20  3]
    """
    options = F.stack([as_tensor(c) for c in choices]) if isinstance(choices, (tuple, list)) else choices
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


def _key(generator: Any) -> Tensor:
    return next_key(None, generator)


def _normal_(self: Tensor, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers.

    Examples:
        >>> bool(ops.zeros(100).normal_(5.0, 0.1).mean() > 4)
        True
    """
    sample = rnd.RandomNormal()(_key(generator), self.shape, mstype.float32) * std + mean
    return update(self, cast(sample, self.dtype))


def _uniform(self: Tensor, from_: Any = 0.0, to: Any = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [from_, to) in this tensor's shape and type.

    Examples:
        >>> x = ops.zeros(4).uniform(2.0, 3.0)
        >>> bool(((x >= 2) & (x < 3)).all())
        True
    """
    sample = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32) * (to - from_) + from_
    return cast(sample, self.dtype)


def _bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability each element gives, else 0.

    Examples:
        >>> print(Tensor([0.0, 1.0]).bernoulli())
        [0. 1.]
    """
    u = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32)
    return cast(ew.Less()(u, self), self.dtype)


def _bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 at probability p, else 0.

    Examples:
        >>> x = Tensor([5.0, 6.0])
        >>> print(x.bernoulli_(1.0))
        [1. 1.]
    """
    u = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32)
    return update(self, cast(ew.Less()(u, p), self.dtype))


def _exponential_(self: Tensor, lambd: Any = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`.

    Examples:
        >>> bool((ops.zeros(4).exponential_() >= 0).all())
        True
    """
    return update(self, cast(F.exponential(self.shape, float(lambd), None, generator), self.dtype))


def _random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fill with uniform integers in [from_, to).

    Examples:
        >>> bool((ops.zeros(5).random_(2, 4) >= 2).all())
        True
    """
    limit = 2 ** min(self.dtype.bits - 1, 24 if self.dtype.kind == "f" else 62) if to is None else to
    sample = rnd.RandomInteger()(_key(generator), self.shape, mstype.int64, Tensor(from_), Tensor(limit))
    return update(self, cast(sample, self.dtype))


def _log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Log-normal numbers in this tensor's shape and type.

    Examples:
        >>> bool((ops.zeros(4).log_normal() > 0).all())
        True
    """
    return cast(F.log_normal(self.shape, mean, std), self.dtype)


def _cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Cauchy numbers in this tensor's shape and type.

    Examples:
        >>> ops.zeros((2, 3)).cauchy().shape
        (2, 3)
    """
    return cast(F.cauchy(self.shape, median, sigma), self.dtype)


def _softmax(self: Tensor, axis: Any = -1, dtype: Any = None, dim: Any = None) -> Tensor:
    """Exponentials that add up to 1 along an axis.

    Examples:
        >>> print(Tensor([0.0, 0.0]).softmax())
        [0.5 0.5]
    """
    return F.softmax(cast(self, dtype), axis if dim is None else dim)


def _searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where the elements of v would be inserted to keep this (sorted) tensor sorted.

    Examples:
        >>> print(Tensor([1.0, 3.0, 5.0]).searchsorted([0.0, 3.0, 9.0]))
        [0 1 3]
    """
    return F.searchsorted(self, as_tensor(v), side=side, sorter=sorter, out_int32=True)


def _qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """An orthonormal and an upper triangular factor.

    Examples:
        >>> q, r = Tensor([[3.0, 0.0], [4.0, 5.0]]).qr()
        >>> print((q @ r).round(decimals=4))
        [[3. 0.]
         [4. 5.]]
    """
    return F.qr(self, "reduced" if some else "complete")


def _lu_solve(self: Tensor, LU_data: Any, LU_pivots: Any) -> Tensor:
    """The x with A x = self, from the factors of A.

    Examples:
        >>> packed = Tensor([[4.0, 6.0], [0.25, 0.5]])
        >>> print(Tensor([[5.0], [14.0]]).lu_solve(packed, Tensor([2, 2], ms.int32)))
        [[-1.]
         [ 3.]]
    """
    return F.lu_solve(self, LU_data, LU_pivots)


def _triangular_solve(
    self: Tensor, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """(x, A) with A x = self for triangular A.

    Examples:
        >>> x, _ = Tensor([[2.0], [8.0]]).triangular_solve(Tensor([[1.0, 0.0], [0.0, 4.0]]))
        >>> print(x)
        [[2.]
         [2.]]
    """
    return F.solve_triangular(A, self, 1 if transpose else 0, not upper, unitriangular), A


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set whether optimizers update this tensor.

    Examples:
        >>> print(Parameter(Tensor([1.0]), name="w").requires_grad_(False).requires_grad)
        False
    """
    self.requires_grad = requires_grad  # type: ignore[attr-defined]
    return self


def _matmul(self: Tensor, tensor2: Any) -> Tensor:
    """The matrix product.

    Examples:
        >>> print(Tensor([[1.0, 2.0]]).matmul(Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    return F.matmul(self, as_tensor(tensor2))


def _rmatmul(self: Tensor, other: Any) -> Tensor:
    return F.matmul(as_tensor(other), self)


def _swap_last(self: Tensor) -> Tensor:
    """The last two dimensions exchanged.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).mT)
        [[1 3]
         [2 4]]
    """
    return F.swapaxes(self, -1, -2)


# -- attachment -----------------------------------------------------------------------------------------------------
_SAME = [
    "abs", "absolute", "acos", "acosh", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "adjoint",
    "allclose", "amax", "amin", "aminmax", "angle", "approximate_equal", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctan2", "arctanh", "argwhere", "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bessel_i0",
    "bincount", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm",
    "ceil", "cholesky", "cholesky_inverse", "cholesky_solve", "clamp", "clip", "conj", "copysign", "cos", "cosh",
    "cov", "cross", "cummax", "cummin", "deg2rad", "det", "diag_embed", "diagflat", "diagonal_scatter", "diff",
    "digamma", "div", "divide", "dot", "dsplit", "eigvals", "eq", "equal", "erf", "erfc", "erfinv", "exp",
    "expand_dims", "expm1", "fill_diagonal", "flip", "fliplr", "flipud", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frac", "gather_elements", "gather_nd", "gcd", "ge", "geqrf", "ger",
    "greater", "greater_equal", "gt", "heaviside", "histc", "hsplit", "hypot", "i0", "igamma", "igammac", "imag",
    "index_fill", "inner", "inplace_update", "inverse", "invert", "is_complex", "is_floating_point", "isclose",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "kron", "kthvalue", "lcm", "ldexp", "le",
    "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
    "logcumsumexp", "logdet", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "logsumexp",
    "lstsq", "lt", "masked_fill", "masked_select", "matrix_exp", "matrix_power", "maximum",
    "minimum", "mm", "moveaxis", "movedim", "msort", "mul", "multinomial", "multiply", "mv", "mvlgamma",
    "nan_to_num", "nanmean", "nanmedian", "nanquantile", "ne", "neg", "negative", "nextafter",
    "nonzero", "norm", "not_equal", "numel", "orgqr", "ormqr", "outer", "pinv", "positive", "pow", "quantile",
    "rad2deg", "random_categorical", "ravel", "real", "reciprocal", "renorm",
    "reverse", "reverse_sequence", "roll", "rot90", "round", "rsqrt", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_sub", "select_scatter", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "slice_scatter", "slogdet", "sqrt", "square", "subtract", "svd", "swapaxes", "swapdims", "t", "tan", "tanh",
    "tensor_split", "tril", "triu", "true_divide", "trunc", "type_as", "unbind", "unique_consecutive",
    "unique_with_pad", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sum", "view_as", "vsplit", "xdivy", "xlogy",
]  # fmt: skip

#: examples of methods x.f_(…) where that of x.f(…) does not do
_INPLACE_EXAMPLES = {
    "index_add": """
    Examples:
        >>> print(ops.zeros(3).index_add_(0, Tensor([0, 2]), Tensor([5.0, 6.0])))
        [5. 0. 6.]
    """,
    "transpose": """
    Examples:
        >>> x = Tensor([[1, 2], [3, 4]])
        >>> print(x.transpose_(0, 1))
        [[1 3]
         [2 4]]
    """,
    "uniform": """
    Examples:
        >>> bool((ops.zeros(4).uniform_(2.0, 3.0) >= 2).all())
        True
    """,
}

_INPLACE = [
    "abs", "acos", "add", "addcdiv", "addcmul", "addmm", "asin", "atan", "baddbmm", "bitwise_and", "bitwise_or",
    "bitwise_xor", "ceil", "clamp", "clip", "cos", "cosh", "div", "divide", "erfinv", "exp", "expm1",
    "fill_diagonal", "floor", "floor_divide", "fmod", "index_add", "index_copy", "index_fill", "index_put", "lerp",
    "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "masked_fill", "masked_scatter",
    "mul", "multiply", "neg", "pow", "put", "reciprocal", "relu", "remainder", "round", "rsqrt", "scatter",
    "scatter_add", "sigmoid", "sign", "sin", "sqrt", "square", "sub", "subtract", "tan", "tanh",
    "transpose", "tril", "triu", "trunc", "uniform",
]  # fmt: skip

_ADAPTED: dict[str, Callable] = {
    "sum": _reduction(_sum, "axis", "dtype", "keepdims", "initial"),
    "mean": _reduction(mean_cast, "axis", "keepdims"),
    "prod": _reduction(F.prod, "axis", "keepdims", "dtype", keepdims="keep_dims"),
    "all": _reduction(F.all, "axis", "keepdims", keepdims="keep_dims"),
    "any": _reduction(F.any, "axis", "keepdims", keepdims="keep_dims"),
    "argmax": _reduction(F.argmax, "axis", "keepdims", axis="dim", keepdims="keepdim"),
    "argmin": _reduction(F.argmin, "axis", "keepdims"),
    "cumsum": _reduction(cumsum_flat, "axis", "dtype"),
    "cumprod": _reduction(F.cumprod, "axis", "dtype", axis="dim"),
    "nansum": _reduction(F.nansum, "axis", "keepdims", "dtype"),
    "repeat_interleave": _repeat_interleave,
    "max": _extreme(F.amax, F.max),
    "min": _extreme(F.amin, F.min),
    "std": _spread(F.std),
    "var": _spread(F.var),
    "split": _renamed(F.split, dim="axis", split_size="split_size_or_sections"),
    "chunk": _renamed(F.chunk, dim="axis"),
    "index_select": _renamed(F.index_select, dim="axis"),
    "sort": _renamed(sort_stable, dim="axis"),
    "argsort": _renamed(argsort_stable, dim="axis"),
    "topk": F.topk,
    "approximate_equal": _renamed(F.approximate_equal, other="y"),
    "float_power": _renamed(F.float_power, other="exponent"),
    "multiply": _renamed(F.multiply, value="other"),
    "ormqr": _renamed(F.ormqr, input2="tau", input3="other"),
    "reverse_sequence": _reverse_sequence,
    "diagonal": _renamed(F.diagonal, axis1="dim1", axis2="dim2"),
    "unsqueeze": F.unsqueeze,
    "reshape": _reshape, "view": _view, "transpose": _transpose, "permute": _permute, "squeeze": _squeeze,
    "flatten": _flatten, "expand": _expand, "broadcast_to": _expand, "repeat": _repeat, "tile": _tile,
    "reshape_as": _reshape_as, "resize": _resize, "sum_to_size": _sum_to_size, "stride": _stride, "to": _to,
    "astype": _astype, "type": _type, "new_zeros": _new_zeros, "new_ones": _new_ones, "new_full": _new_full,
    "masked_scatter": _masked_scatter, "narrow": _narrow,
    "new_empty": _new_empty, "new_tensor": _new_tensor, "fill": _fill, "fill_": _fill_, "zero_": _zero_,
    "copy_": _copy_, "to_tensor": Tensor.init_data,
    "where": _where, "select": _select, "gather": _gather, "take": _take, "index_add": _index_add, "scatter": _scatter,
    "scatter_add": _scatter_add, "index_put": _index_put, "put": _put, "unique": _unique, "add": _add, "sub": _sub,
    "median": _median, "count_nonzero": _count_nonzero, "ptp": _ptp, "trace": _trace, "diag": _diag, "choose": _choose,
    "itemset": _itemset, "requires_grad_": _requires_grad_, "matmul": _matmul, "__matmul__": _matmul,
    "__rmatmul__": _rmatmul, "index_copy": F.index_copy, "bitwise_not": F.invert, "inv": F.inv, "clone": Tensor.copy,
    "dim": _dim, "ndimension": _ndimension, "nelement": _nelement,
    "is_signed": _is_signed, "detach": F.stop_gradient, "value": _value,
    "cpu": _cpu, "move_to": _move_to, "set_const_arg": _set_const_arg, "storage_offset": _storage_offset,
    "tensor_add": F.add, "tensor_mul": F.mul, "argmax_with_value": _argmax_with_value,
    "argmin_with_value": _argmin_with_value, "expand_as": _expand_as, "remainder": _remainder,
    "normal_": _normal_, "uniform": _uniform, "bernoulli": _bernoulli,
    "bernoulli_": _bernoulli_, "exponential_": _exponential_, "random_": _random_, "log_normal": _log_normal,
    "to_coo": dense_to_coo, "to_csr": dense_to_csr, "cauchy": _cauchy, "softmax": _softmax,
    "searchsorted": _searchsorted, "qr": _qr, "lu_solve": _lu_solve,
    "triangular_solve": _triangular_solve, "hardshrink": F.hardshrink, "unfold": F.unfold,
    "fold": F.fold, "col2im": F.col2im, "relu": F.relu, "log_softmax": F.log_softmax,
}  # fmt: skip

_CONVERTERS = {
    "float": mstype.float32, "half": mstype.float16, "double": mstype.float64, "int": mstype.int32,
    "long": mstype.int64, "short": mstype.int16, "byte": mstype.uint8, "bool": mstype.bool_,
    "bfloat16": mstype.bfloat16,
}  # fmt: skip


def attach() -> None:
    """Give the Tensor class its operation methods."""
    for name in _SAME:
        setattr(Tensor, name, explained(name, getattr(F, name)))
    for name, method in _ADAPTED.items():
        if method is not None:
            setattr(Tensor, name, explained(name, method))
    for name, dtype in _CONVERTERS.items():
        setattr(Tensor, name, _converter(dtype, name))
    for name in _INPLACE:
        setattr(Tensor, f"{name}_", _inplace(getattr(Tensor, name), _INPLACE_EXAMPLES.get(name, "")))
    Tensor.__lshift__ = F.bitwise_left_shift  # type: ignore[method-assign]
    Tensor.__rshift__ = F.bitwise_right_shift  # type: ignore[method-assign]
    Tensor.__getitem__ = indexing.getitem  # type: ignore[method-assign]
    Tensor.__setitem__ = indexing.setitem  # type: ignore[method-assign]
    Tensor.mT = property(_swap_last)  # type: ignore[attr-defined]
    Tensor.mH = property(F.adjoint)  # type: ignore[attr-defined]
    Tensor.H = property(F.adjoint)  # type: ignore[attr-defined]
    if not hasattr(Tensor, "data"):
        Tensor.data = property(_data)  # type: ignore[attr-defined]
