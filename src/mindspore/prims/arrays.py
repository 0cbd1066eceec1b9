"""Primitives that move elements: transpose, join, index, and conversions between tensors and numbers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractScalar, AbstractTensor
from mindspore.prims import checks, values
from mindspore.prims.batching import align, rank_of, shift, spread
from mindspore.prims.broadcasting import BroadcastTo, Reshape, sum_to_shape
from mindspore.prims.elementwise import Cast
from mindspore.prims.factors import WHOLE, Factors, Labels, broadcasting, is_tensor, numbered, reshaping
from mindspore.prims.primitive import Batched, Primitive, promote_arguments
from mindspore.prims.requirements import Requirement, Within

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.compiler.shard.device import Device
    from mindspore.ir import Abstract
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

__all__ = [
    "BroadcastTo", "Concat", "ExpandDims", "Fill", "GetItem", "Pad", "Reshape", "ScalarToTensor", "SetItem", "Squeeze", "Stack",
    "TensorToScalar", "Transpose",
]  # fmt: skip


class Transpose(Primitive):
    """Permute the dimensions.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Transpose()(Tensor([[1.0, 2.0]]), (1, 0)).tolist()
        [[1.0], [2.0]]
    """

    moves = True
    spreads = True
    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("Transpose")

    def prepare(self, args: tuple) -> tuple:
        x, perm = args
        return x, checks.shape(self.name, values.static_value(perm), "input_perm")

    def infer(self, x: AbstractTensor, perm: Any) -> Any:
        checks.tensor(self.name, "x", x)
        order = self._order(x.ndim, perm)
        return AbstractTensor(x.dtype, tuple(x.shape[p] for p in order))

    def _order(self, ndim: int, perm: tuple[int, ...]) -> tuple[int, ...]:
        if len(perm) != ndim:
            raise ValueError(f"For '{self.name}', 'input_perm' must name all {ndim} dimensions, but got {perm}.")
        order = tuple(checks.axis(self.name, p, ndim, "input_perm") for p in perm)
        if len(set(order)) != ndim:
            raise ValueError(f"For '{self.name}', 'input_perm' must not repeat a dimension, but got {perm}.")
        return order

    def factors(self, x: AbstractTensor, perm: Any) -> Factors:
        names = numbered(x.ndim)
        return Factors((names, None), (tuple(names[p] for p in self._order(x.ndim, perm)),), linear=True)

    def eval(self, xp: Namespace, x: Array, perm: tuple[int, ...]) -> Any:
        return xp.transpose(x, perm)

    def bprop(self, x: TensorBase, perm: Any, out: TensorBase, dout: TensorBase) -> tuple:
        inverse = np.argsort([p % max(len(perm), 1) for p in perm])
        return Transpose()(dout, tuple(int(i) for i in inverse)), None

    def vmap(self, size: int, x: Batched, perm: Batched) -> Any:
        ndim = x[0].ndim - 1
        return self(x[0], (0, *(shift(p, ndim) for p in perm[0])))


class ExpandDims(Primitive):
    """Insert a dimension of size 1.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ExpandDims()(Tensor([1.0, 2.0]), 0).shape
        (1, 2)
    """

    def __init__(self) -> None:
        super().__init__("ExpandDims")

    def prepare(self, args: tuple) -> tuple:
        x, axis = args
        return x, values.static_number(axis)

    def infer(self, x: AbstractTensor, axis: Any) -> Any:
        checks.tensor(self.name, "x", x)
        at = checks.axis(self.name, axis, x.ndim + 1)
        return AbstractTensor(x.dtype, x.shape[:at] + (1,) + x.shape[at:])

    def factors(self, x: AbstractTensor, axis: Any) -> Factors:
        before, after = reshaping(x.shape, self.infer(x, axis).shape)
        return Factors((before, None), (after,), linear=True)

    def eval(self, xp: Namespace, x: Array, axis: int) -> Any:
        return xp.expand_dims(x, axis)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return Reshape()(dout, x.shape), None

    def vmap(self, size: int, x: Batched, axis: Batched) -> Any:
        return self(x[0], shift(axis[0], x[0].ndim))


class Squeeze(Primitive):
    """Drop dimensions of size 1: all of them for `axis=()`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Squeeze(0)(Tensor([[1.0, 2.0]])).shape
        (2,)
    """

    def __init__(self, axis: Any = ()):
        super().__init__(axis=tuple(axis) if isinstance(axis, (list, tuple)) else (axis,))

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        axes = tuple(checks.axis(self.name, a, len(shape)) for a in self.axis)
        for a in axes:
            if shape and shape[a] != 1:
                raise ValueError(
                    f"For '{self.name}', only dimensions of size 1 can be dropped, but dimension {a} of shape {shape} "
                    f"has size {shape[a]}."
                )
        drop = axes or tuple(i for i, d in enumerate(shape) if d == 1)
        return tuple(d for i, d in enumerate(shape) if i not in drop)

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        return AbstractTensor(x.dtype, self._shape(x.shape))

    def factors(self, x: AbstractTensor) -> Factors:
        before, after = reshaping(x.shape, self._shape(x.shape))
        return Factors((before,), (after,), linear=True).filling(None)

    def on_device(self, device: Device, x: Any) -> Any:
        return Reshape()(x, device.shapes[0])

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.reshape(x, self._shape(x.shape))

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (Reshape()(dout, x.shape),)

    def vmap(self, size: int, x: Batched) -> Any:
        return Reshape()(x[0], (size, *self._shape(x[0].shape[1:])))


class _Join(Primitive):
    """Tensors that are joined take their common element type."""

    moves = True
    variadic = True

    def __init__(self, axis: int = 0):
        super().__init__(axis=axis)

    def prepare(self, args: tuple) -> tuple:
        args = super().prepare(args)
        dtypes = {values.dtype_of(a) for a in args if isinstance(a, values.TensorBase)}
        return promote_arguments(self.name, args, "all") if len(dtypes) > 1 else args

    def _check(self, xs: tuple) -> None:
        if not xs:
            raise ValueError(f"For '{self.name}', at least one tensor is needed.")
        for i, x in enumerate(xs):
            checks.tensor(self.name, f"tensors[{i}]", x)


class Concat(_Join):
    """Join tensors along an existing dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Concat(0)((Tensor([1.0]), Tensor([2.0]))).tolist()
        [1.0, 2.0]
    """

    keeps_finite = True

    def infer(self, *xs: Any) -> Any:
        self._check(xs)
        first = xs[0]
        at = checks.axis(self.name, self.axis, first.ndim)
        for i, x in enumerate(xs[1:], 1):
            same = x.ndim == first.ndim and all(a == b for d, (a, b) in enumerate(zip(first.shape, x.shape)) if d != at)
            if not same:
                raise ValueError(
                    f"For '{self.name}', the tensors must have the same shape except in dimension {at}, but tensors[0] has "
                    f"{first.shape} and tensors[{i}] has {x.shape}."
                )
        total = sum(x.shape[at] for x in xs)
        return AbstractTensor(first.dtype, first.shape[:at] + (total,) + first.shape[at + 1 :])

    def factors(self, *xs: Any) -> Factors:
        at = self.axis % xs[0].ndim
        names = tuple(WHOLE if d == at else n for d, n in enumerate(numbered(xs[0].ndim)))
        return Factors((names,) * len(xs), (names,), linear=True)

    def eval(self, xp: Namespace, *xs: Any) -> Any:
        return xp.concatenate(xs, axis=self.axis)

    def bprop(self, *args: Any) -> tuple:
        *xs, out, dout = args
        at = self.axis % out.ndim
        grads, start = [], 0
        for x in xs:
            stop = start + x.shape[at]
            grads.append(GetItem((slice(None),) * at + (slice(start, stop, None),))(dout))
            start = stop
        return tuple(grads)

    def vmap(self, size: int, *xs: Batched) -> Any:
        return Concat(shift(self.axis, rank_of(*xs)))([spread(x, size) for x in xs])


class Stack(_Join):
    """Join tensors along a new dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Stack(0)([Tensor([1, 2]), Tensor([3, 4])]).tolist()
        [[1, 2], [3, 4]]
    """

    def infer(self, *xs: Any) -> Any:
        self._check(xs)
        for i, x in enumerate(xs):
            if x.shape != xs[0].shape:
                raise ValueError(
                    f"For '{self.name}', the tensors must have the same shape, but tensors[0] has {xs[0].shape} and "
                    f"tensors[{i}] has {x.shape}."
                )
        at = checks.axis(self.name, self.axis, xs[0].ndim + 1)
        return AbstractTensor(xs[0].dtype, xs[0].shape[:at] + (len(xs),) + xs[0].shape[at:])

    def factors(self, *xs: Any) -> Factors:
        names, at = numbered(xs[0].ndim), self.axis % (xs[0].ndim + 1)
        return Factors((names,) * len(xs), ((*names[:at], WHOLE, *names[at:]),), linear=True)

    def eval(self, xp: Namespace, *xs: Any) -> Any:
        return xp.stack(xs, axis=self.axis)

    def bprop(self, *args: Any) -> tuple:
        *xs, out, dout = args
        lead = (slice(None),) * (self.axis % out.ndim)
        return tuple(GetItem((*lead, i))(dout) for i in range(len(xs)))

    def vmap(self, size: int, *xs: Batched) -> Any:
        return Stack(shift(self.axis, rank_of(*xs) + 1))([spread(x, size) for x in xs])


class Fill(Primitive):
    """A tensor of one repeated number: `Fill()(dtype, shape, value)`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> ops.Fill()(ms.float32, (2,), 3).tolist()
        [3.0, 3.0]
    """

    moves = True
    keeps_finite = True

    def __init__(self) -> None:
        super().__init__("Fill")

    def prepare(self, args: tuple) -> tuple:
        dtype, shape, value = args
        if isinstance(value, values.TensorBase) and value._node is None and value._data.size == 1:
            value = np.asarray(value._data).item()
        return mstype.to_dtype(dtype), checks.shape(self.name, shape), value

    def infer(self, dtype: DType, shape: Any, value: Any) -> Any:
        if any(d < 0 for d in shape):
            raise ValueError(f"For '{self.name}', the dimensions of 'shape' must not be negative, but got {shape}.")
        return AbstractTensor(dtype, shape)

    def factors(self, dtype: Any, shape: Any, value: Any) -> Factors:
        number = (WHOLE,) * len(value.shape) if is_tensor(value) else None
        return Factors((None, None, number), (numbered(len(shape)),)).filling(None)

    def on_device(self, device: Device, dtype: Any, shape: Any, value: Any) -> Any:
        return self(dtype, device.shapes[0], value)

    def eval(self, xp: Namespace, dtype: DType, shape: Any, value: Any) -> Any:
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return xp.broadcast_to(xp.reshape(value, ()).astype(dtype.np), shape)
        return xp.full(shape, values.number_array(value, dtype), dtype.np)

    def bprop(self, dtype: Any, shape: Any, value: Any, out: TensorBase, dout: TensorBase) -> tuple:
        if not hasattr(value, "dtype") or value.dtype.kind not in "fc":
            return None, None, None
        return None, None, Cast()(sum_to_shape(dout, value.shape), value.dtype)

    def vmap(self, size: int, dtype: Batched, shape: Batched, value: Batched) -> Any:
        lead = Reshape()(value[0], (size,) + (1,) * len(shape[0]))
        return BroadcastTo((size, *shape[0]))(Cast()(lead, dtype[0]))


class Pad(Primitive):
    """Surround with a constant: `paddings` is one (before, after) pair per dimension.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.Pad(((1, 1),))(Tensor([5.0])).tolist()
        [0.0, 5.0, 0.0]
    """

    def __init__(self, paddings: Any, value: Any = 0):
        pairs = []
        for pair in paddings if isinstance(paddings, (tuple, list)) else checks.shape("Pad", paddings, "paddings"):
            before_after = checks.shape("Pad", pair, "paddings")
            if len(before_after) != 2 or min(before_after) < 0:
                raise ValueError(f"For 'Pad', 'paddings' must be pairs of non-negative ints, but got {paddings}.")
            pairs.append(before_after)
        super().__init__(paddings=tuple(pairs), value=value)

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        if len(self.paddings) != x.ndim:
            raise ValueError(
                f"For '{self.name}', 'paddings' must have one pair per dimension, but got {len(self.paddings)} pairs for the "
                f"shape {x.shape}."
            )
        return AbstractTensor(x.dtype, tuple(d + sum(p) for d, p in zip(x.shape, self.paddings)))

    def factors(self, x: AbstractTensor) -> Factors:
        names = tuple(n if self.paddings[d] == (0, 0) else WHOLE for d, n in enumerate(numbered(x.ndim)))
        return Factors((names,), (names,))

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.pad(x, self.paddings, constant_values=np.asarray(self.value).astype(x.dtype)) if x.ndim else x

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        inner = tuple(slice(before, before + d) for (before, _), d in zip(self.paddings, x.shape))
        return (GetItem(inner)(dout),)

    def vmap(self, size: int, x: Batched) -> Any:
        return Pad(((0, 0), *self.paddings), self.value)(x[0])


# -- indexing ---------------------------------------------------------------------------------------------------------
class _Placeholder:
    """Marks, in a static index, where the next index tensor goes."""

    def __repr__(self) -> str:
        return "tensor"


TENSOR_INDEX = _Placeholder()


def _indices(spec: tuple, arrays: tuple) -> tuple:
    """Put the index arrays into the places a static index leaves for them."""
    supply = iter(arrays)
    return tuple(next(supply) if s is TENSOR_INDEX else s for s in spec)


def broadcast_names(arrays: tuple) -> tuple[Labels, list[Labels]]:
    """Labels of the common shape of index tensors, and of each."""
    if not arrays:
        return (), []
    shape = np.broadcast_shapes(*(tuple(a.shape) for a in arrays))
    rename = {n: f"i{n}" for n in numbered(len(shape))}
    each = broadcasting(arrays, len(shape), shape)
    return tuple(rename.values()), [tuple(rename.get(n, n) for n in labels or ()) for labels in each]


def _first_indexed(spec: tuple, rank: int, taken: int) -> int:
    """The dimension that the first index tensor looks up."""
    axis = 0
    for s in spec:
        if s is TENSOR_INDEX:
            return axis
        axis += rank - taken if s is Ellipsis else s is not None
    return axis


class _Indexing(Primitive):
    """`spec` is a tuple of ints, slices, None, Ellipsis and TENSOR_INDEX; index tensors follow as arguments."""

    moves = True

    def __init__(self, spec: Any = (), **attrs: Any):
        spec = spec if isinstance(spec, tuple) else (spec,)
        super().__init__(spec=spec, **attrs)

    def key(self) -> tuple:
        return (type(self), *((k, repr(v)) for k, v in self.attrs.items()))

    def indexed_shape(self, shape: tuple[int, ...], arrays: tuple) -> tuple[int, ...]:
        """The shape of x[index], by indexing an empty stand-in. Index values are checked when they are constants."""
        for a in arrays:
            if a.dtype.kind not in "iu":
                raise IndexError(f"For indexing a tensor, indices must be integers, but got a tensor of {a.dtype}.")
        stand_in = np.broadcast_to(np.zeros((), np.bool_), shape)
        zeros = tuple(np.zeros(a.shape, np.int64) for a in arrays)
        try:
            return stand_in[_indices(self.spec, zeros)].shape
        except IndexError as error:
            raise checks.OutOfRangeError(f"For indexing a tensor of shape {shape}: {error}.") from None

    def labels(self, shape: tuple[int, ...], arrays: tuple) -> tuple[Labels, Labels, list[Labels]] | None:
        """Labels of x, of x[index] and of the index tensors; None where NumPy would move dimensions about.

        A dimension that is taken whole keeps its label. The dimension that a lone index tensor looks up is "rows": it may
        be cut, too, since a device can tell which of the indices are its own.
        """
        taken = sum(s is not None and s is not Ellipsis for s in self.spec)
        names, picked = numbered(len(shape)), broadcast_names(arrays)
        before: list[str] = []
        after: list[str] = []
        places = [i for i, s in enumerate(self.spec) if s is TENSOR_INDEX]
        if places and places != list(range(places[0], places[0] + len(places))):
            return None
        if arrays and any(isinstance(s, int) for s in self.spec):
            return None
        for s in (*self.spec, *(() if Ellipsis in self.spec else (Ellipsis,))):
            if s is None:
                after.append(WHOLE)
            elif s is Ellipsis:
                rest = names[len(before) : len(before) + len(shape) - taken]
                before, after = before + list(rest), after + list(rest)
            elif s is TENSOR_INDEX:
                after += picked[0] if len(before) == _first_indexed(self.spec, len(shape), taken) else ()
                before.append("rows" if len(arrays) == 1 else WHOLE)
            else:
                whole = isinstance(s, slice) and s.indices(shape[len(before)]) == (0, shape[len(before)], 1)
                label = names[len(before)] if whole else WHOLE
                before.append(label)
                if isinstance(s, slice):
                    after.append(label)
        return tuple(before), tuple(after), picked[1]

    def within(self, shape: tuple[int, ...], first: int) -> list[Requirement]:
        """The index tensors, which are the arguments from number `first` on, must lie within the tensor."""
        taken = sum(s is not None and s is not Ellipsis for s in self.spec)
        found: list[Requirement] = []
        axis = 0
        for s in self.spec:
            if s is TENSOR_INDEX:
                error = functools.partial(_out_of_bounds, shape, axis)
                found.append(Requirement(first + len(found), Within(-shape[axis], shape[axis] - 1), error))
            axis += len(shape) - taken if s is Ellipsis else s is not None
        return found


def _out_of_bounds(shape: tuple[int, ...], axis: int, value: float) -> BaseException:
    return checks.OutOfRangeError(
        f"For indexing a tensor of shape {shape}: index {int(value)} is out of bounds for axis {axis} with size {shape[axis]}."
    )


class GetItem(_Indexing):
    """x[index] with every kind of NumPy index except boolean arrays (those become integer arrays first)."""

    keeps_finite = True

    def requirements(self, x: Any, *arrays: Any) -> list[Requirement]:
        return self.within(x.shape, 1)

    def infer(self, x: AbstractTensor, *arrays: Any) -> Any:
        checks.tensor("indexing", "x", x)
        return AbstractTensor(x.dtype, self.indexed_shape(x.shape, arrays))

    def factors(self, x: AbstractTensor, *arrays: Any) -> Factors | None:
        found = self.labels(x.shape, arrays)
        return Factors((found[0], *found[2]), (found[1],)).filling(None) if found is not None else None

    def on_device(self, device: Any, x: Any, *arrays: Any) -> Any:
        if device.parts("rows") == 1:
            return self(x, *arrays)
        index, mine = device.own_rows(arrays[0], "rows")
        picked = self(x, index)
        return device.keep(picked, mine, device.factors.outputs[0], device.factors.inputs[1])

    def eval(self, xp: Namespace, x: Array, *arrays: Any) -> Any:
        try:
            out = x[_indices(self.spec, arrays)]
        except IndexError:  # values that are out of range
            self.enforce(xp, x, *arrays)
            raise
        if xp is np and arrays == () and isinstance(out, np.ndarray) and out.base is not None:
            return out.copy()  # tensors never share memory with one another: an update of one must not show in another
        return out

    def bprop(self, x: TensorBase, *rest: Any) -> tuple:
        *arrays, _, dout = rest
        zero = Fill()(x.dtype, x.shape, 0)
        return (SetItem(self.spec, accumulate=True)(zero, dout, *arrays), *(None for _ in arrays))

    def vmap(self, size: int, x: Batched, *indices: Batched) -> Any:
        if not x[1] or (indices and (any(b for _, b in indices) or not _one_tensor_among_slices(self.spec))):
            return None
        return GetItem((slice(None), *self.spec))(x[0], *(v for v, _ in indices))


def _one_tensor_among_slices(spec: tuple) -> bool:
    """Such an index tensor's place does not move when an axis is put in front."""
    tensors = [s for s in spec if s is TENSOR_INDEX]
    return len(tensors) == 1 and all(s is TENSOR_INDEX or isinstance(s, slice) for s in spec)


class SetItem(_Indexing):
    """A copy of x in which x[index] is `value` (broadcast), or has it added when `accumulate`."""

    def __init__(self, spec: Any = (), accumulate: bool = False):
        super().__init__(spec, accumulate=accumulate)

    def prepare(self, args: tuple) -> tuple:
        x, value, *arrays = args
        dtype = values.dtype_of(x)
        if not isinstance(value, (values.TensorBase, values.SymbolicScalarBase)):
            number = values.is_number(value)
            value = values.number_tensor(value, dtype) if number else values.from_array(np.asarray(value, dtype.np))
        elif values.dtype_of(value) is not dtype:
            value = Cast()(value, dtype)
        return x, value, *arrays

    def infer(self, x: AbstractTensor, value: AbstractTensor, *arrays: Any) -> Any:
        checks.tensor("indexing", "x", x)
        region = self.indexed_shape(x.shape, arrays)
        try:
            np.broadcast_to(np.broadcast_to(False, value.shape), region)
        except ValueError:
            raise ValueError(
                f"For setting items, a value of shape {value.shape} cannot be broadcast to the selected region of shape {region}."
            ) from None
        return AbstractTensor(x.dtype, x.shape)

    def requirements(self, x: Any, value: Any, *arrays: Any) -> list[Requirement]:
        return self.within(x.shape, 2)

    def factors(self, x: AbstractTensor, value: AbstractTensor, *arrays: Any) -> Factors | None:
        found = self.labels(x.shape, arrays)
        if found is None or (arrays and not self.accumulate):
            return None
        before, after, indices = found
        lead = len(after) - len(value.shape)
        region = self.indexed_shape(x.shape, arrays)
        given = tuple(
            after[lead + d] if n == region[lead + d] else WHOLE for d, n in enumerate(value.shape)
        )
        if any(label not in given for label in after if label.startswith("i")):
            return None  # a value that is repeated over the indices counts once for each of them
        return Factors((before, given, *indices), (before,)).filling(0)  # zeros are added to the first row

    def on_device(self, device: Any, x: Any, value: Any, *arrays: Any) -> Any:
        """Devices that hold parts of the indices add up their results: x itself counts on the first of them."""
        labels = device.factors.inputs
        summed = [label for label in dict.fromkeys(labels[1]) if label.startswith("i")]
        for label in summed:
            x = device.on_first(x, label)
        if device.parts("rows") > 1:
            index, mine = device.own_rows(arrays[0], "rows")
            value = device.keep(value, mine, labels[1], labels[2])
            arrays = (index,)
        return self(x, value, *arrays)

    def eval(self, xp: Any, x: Any, value: Any, *arrays: Any) -> Any:
        index = _indices(self.spec, arrays)
        if xp is not np:
            at = x.at[index]
            if not self.accumulate:
                return at.set(value)
            return at.max(value) if x.dtype == bool else at.add(value)  # of truths the sum is "or"
        out = np.array(x)
        try:
            if self.accumulate and arrays:
                np.add.at(out, index, value)
            elif self.accumulate:
                out[index] += value
            else:
                out[index] = value
        except IndexError:
            self.enforce(xp, x, value, *arrays)
            raise
        return out

    def bprop(self, x: TensorBase, value: TensorBase, *rest: Any) -> tuple:
        *arrays, _, dout = rest
        picked = GetItem(self.spec)(dout, *arrays)
        dx = dout if self.accumulate else SetItem(self.spec)(dout, 0, *arrays)
        return (dx, sum_to_shape(picked, value.shape), *(None for _ in arrays))

    def vmap(self, size: int, x: Batched, value: Batched, *indices: Batched) -> Any:
        if indices:
            return None
        base = spread(x, size)
        region = self.indexed_shape(base.shape[1:], ())
        return SetItem((slice(None), *self.spec), self.accumulate)(base, align(value, size, len(region)))


# -- tensors and numbers ----------------------------------------------------------------------------------------------
class TensorToScalar(Primitive):
    """The only element of a tensor as a Python number."""

    def __init__(self) -> None:
        super().__init__("TensorToScalar")

    def infer(self, x: AbstractTensor) -> Any:
        return AbstractScalar(x.dtype)

    def factors(self, x: AbstractTensor) -> Factors:
        return Factors(((WHOLE,) * len(x.shape),), ((),), linear=True)

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.reshape(x, ())

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        return (Reshape()(ScalarToTensor()(dout), x.shape),)


class ScalarToTensor(Primitive):
    """A number as a 0-d tensor.

    Examples:
        >>> print(ops.ScalarToTensor()(3, ms.float32))
        3.0
    """

    def __init__(self) -> None:
        super().__init__("ScalarToTensor")

    def prepare(self, args: tuple) -> tuple:
        value, dtype = args if len(args) == 2 else (args[0], None)
        if not isinstance(value, values.SymbolicScalarBase):
            return values.number_tensor(value, mstype.to_dtype(dtype) if dtype else values.default_dtype(value)), None
        return value, mstype.to_dtype(dtype) if dtype is not None else None

    def infer(self, x: Abstract, dtype: DType | None) -> Any:
        return AbstractTensor(self._target(x.dtype, dtype), ())

    def _target(self, dtype: DType, wanted: DType | None) -> Any:
        """Python floats become float32 tensors, as Tensor(1.5) does."""
        defaults = {mstype.float64: mstype.float32, mstype.complex128: mstype.complex64}
        return wanted or defaults.get(dtype, dtype)

    def factors(self, x: Any, dtype: Any) -> Factors:
        return Factors(((), None), ((),))

    def eval(self, xp: Namespace, x: Any, dtype: DType | None) -> Any:
        return xp.asarray(x).astype(self._target(mstype.from_numpy(x.dtype), dtype).np)

    def bprop(self, x: Any, dtype: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return TensorToScalar()(dout), None
