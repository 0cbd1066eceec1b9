"""Pooling over sliding windows in any number of dimensions, with gradients of any order.

Max pooling sends its gradient to the first element that attains the maximum. `MaxPoolGrad` does that, and
`MaxPoolGradGrad` is its transpose: it picks the elements at those places. Average pooling is linear, so it and
`AvgPoolGrad` are each other's gradients.

NumPy goes over the elements of the window, each a strided slice of the whole input; XLA has windows as an operation.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, window
from mindspore.prims.batching import folded, join, part
from mindspore.prims.elementwise import zeros_like
from mindspore.prims.factors import WHOLE, Factors, is_tensor
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import ROWS, Batched, Primitive
from mindspore.prims.setting_types import setting_types
from mindspore.prims.window import Window

if TYPE_CHECKING:
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


class Pooling(Primitive):
    """Attributes and geometry of pooling primitives."""

    rank = 2
    kinds = "f"
    in_float32 = True
    pad_modes: tuple[str, ...] = ("same", "valid", "pad")

    def factors(self, *args: Any) -> Factors | None:
        """Images may be cut by batch and channels. Indices count within a plane, so they stay right."""
        whole = (WHOLE,) * self.rank
        names = ("n", "c", *whole) if self.data_format.startswith("NC") else ("n", *whole, "c")
        if any(is_tensor(a) and len(a.shape) != len(names) for a in args):
            return None
        return Factors(tuple(names if is_tensor(a) else None for a in args), (names,)).filling(None)

    def setup(
        self, kernel_size: Any, strides: Any, pad_mode: str, data_format: str, pad: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, **more: Any,
    ) -> None:  # fmt: skip
        """Check and store the attributes."""
        name, rank = type(self).__name__, self.rank
        formats = ("NC" + _SPATIAL[rank], "N" + _SPATIAL[rank] + "C")
        if data_format not in formats:
            raise ValueError(f"For '{name}', 'data_format' must be one of {formats}, but got {data_format!r}.")
        Primitive.__init__(
            self,
            name,
            kernel_size=window.per_dimension(name, "kernel_size", kernel_size, rank),
            strides=window.per_dimension(name, "strides", strides, rank),
            pad_mode=window.pad_mode(name, pad_mode, self.pad_modes),
            pad=window.pad_pairs(name, pad, rank),
            dilation=window.per_dimension(name, "dilation", dilation, rank),
            ceil_mode=bool(ceil_mode),
            data_format=data_format,
            **more,
        )

    def sibling(self, cls: type[Pooling]) -> Any:
        """The gradient (or the pooling it is the gradient of) with the same attributes."""
        twin = cls.__new__(cls)
        Primitive.__init__(twin, cls.__name__, **self.own_attrs())
        twin.rank = self.rank
        return twin

    @property
    def channels_last(self) -> bool:
        return self.data_format.endswith("C")

    def spatial(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(shape[1:-1]) if self.channels_last else tuple(shape[2:])

    def window(self, shape: tuple[int, ...]) -> Window:
        sizes = self.spatial(shape)
        found = window.resolve(self.pad_mode, sizes, self.kernel_size, self.strides, self.dilation, self.pad)
        return window.ceil_pads(sizes, found) if self.ceil_mode else found

    def pooled_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != self.rank + 2:
            raise ValueError(f"For '{self.name}', 'x' must have {self.rank + 2} dimensions, but its shape is {shape}.")
        sizes = self.window(shape).output(self.spatial(shape))
        if any(s < 1 for s in sizes):
            raise ValueError(f"For '{self.name}', the input {shape} is smaller than the window {self.kernel_size}.")
        return (shape[0], *sizes, shape[-1]) if self.channels_last else (*shape[:2], *sizes)

    def check(self, x: AbstractTensor) -> tuple[int, ...]:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, self.kinds)
        return self.pooled_shape(x.shape)

    def whole(self, spatial: tuple) -> tuple:
        """An index or padding over all dimensions from one over the spatial ones."""
        keep = (0, 0) if spatial and isinstance(spatial[0], tuple) else slice(None)
        return (keep, *spatial, keep) if self.channels_last else (keep, keep, *spatial)

    def visits(self, shape: tuple[int, ...]) -> Any:
        """For every element of the window: its index in the window and the slices of the padded input it visits."""
        geometry = self.window(shape)
        for index, slices in geometry.offsets(geometry.output(self.spatial(shape))):
            yield index, self.whole(slices)

    def pad_input(self, xp: Namespace, x: Array, fill: Any) -> Any:
        pads = self.window(x.shape).pads
        if not any(lo or hi for lo, hi in pads):
            return x
        return xp.pad(x, self.whole(pads), constant_values=fill)

    def crop(self, padded: Array, shape: tuple[int, ...]) -> Any:
        """The part of a padded array that belongs to the input."""
        pads = self.window(shape).pads
        return padded[self.whole(tuple(slice(lo, lo + n) for n, (lo, _) in zip(self.spatial(shape), pads)))]

    def padded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        pads = self.window(shape).pads
        sizes = tuple(n + lo + hi for n, (lo, hi) in zip(self.spatial(shape), pads))
        return (shape[0], *sizes, shape[-1]) if self.channels_last else (*shape[:2], *sizes)

    def reduce_window(self, x: Any, start: Any, reducer: str) -> Any:
        """XLA's own windowed reduction."""
        lax = require("jax.lax", "xla", "pooling on XLA")
        geometry = self.window(x.shape)
        one = (1, *geometry.kernel, 1), (1, *geometry.stride, 1), (1, *geometry.dilation, 1)
        two = (1, 1, *geometry.kernel), (1, 1, *geometry.stride), (1, 1, *geometry.dilation)
        dims, strides, dilation = one if self.channels_last else two
        pads = self.whole(geometry.pads)
        return lax.reduce_window(x, start, getattr(lax, reducer), dims, strides, pads, window_dilation=dilation)


def lowest(dtype: Any) -> Any:
    """The value that never wins a maximum."""
    if dtype.kind in "ui":
        return np.asarray(np.iinfo(dtype).min, dtype)
    return np.asarray(-np.inf, dtype)


# -- maximum ----------------------------------------------------------------------------------------------------------
class _Max(Pooling):
    keeps_finite = True
    kinds = "uif"
    native_from = ROWS

    def eval(self, xp: Namespace, x: Array) -> Any:
        if xp is not np:
            return self.reduce_window(x, lowest(x.dtype), "max")
        padded = self.pad_input(np, x, lowest(x.dtype))
        out = None
        with np.errstate(invalid="ignore"):  # NaN is an answer
            for _, slices in self.visits(x.shape):
                part = padded[slices]
                out = part.copy() if out is None else np.maximum(out, part, out=out)
        return out

    def infer(self, x: AbstractTensor) -> Any:
        return AbstractTensor(x.dtype, self.check(x))

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (self.sibling(MaxPoolGrad)(x, out, dout),)

    vmap = folded


class MaxPool(_Max):
    """The maximum of each 2-d window.

    Examples:
        >>> x = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> ops.MaxPool(kernel_size=2, strides=2)(x).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    pad_modes = ("same", "valid")

    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"):
        self.setup(kernel_size, strides, pad_mode, data_format)


class MaxPool3D(_Max):
    """The maximum of each 3-d window.

    Examples:
        >>> ops.MaxPool3D(kernel_size=2, strides=2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    rank = 3

    @setting_types(ceil_mode=bool | None)
    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "VALID", pad_list: Any = 0,
        ceil_mode: bool | None = None, data_format: str = "NCDHW",
    ):  # fmt: skip
        self.setup(kernel_size, strides, pad_mode, data_format, pad_list, 1, bool(ceil_mode))


class MaxPoolNd(_Max):
    """The maximum of each window in 1, 2 or 3 dimensions, with every option.

    Examples:
        >>> print(ops.MaxPoolNd(1, (2,), (2,))(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
        [[[3. 7.]]]
    """

    def __init__(
        self, rank: int, kernel_size: Any, strides: Any, pad: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        pad_mode: str = "pad", data_format: str = "",
    ):  # fmt: skip
        self.rank = checks.one_of(type(self).__name__, "rank", rank, tuple(_SPATIAL))
        data_format = data_format or "NC" + _SPATIAL[rank]
        self.setup(kernel_size, strides, pad_mode, data_format, pad, dilation, ceil_mode, dims=rank)


class _AtMaxima(Pooling):
    """Gradients of max pooling act where each window has its first maximum."""

    def first_maxima(self, xp: Namespace, x: Array, out: Array) -> Any:
        """For every element of the window: in which windows it is the first maximum, and the slices it visits."""
        padded = self.pad_input(xp, x, lowest(x.dtype))
        unclaimed = xp.ones(out.shape, np.bool_)
        for _, slices in self.visits(x.shape):
            hit = _is(padded[slices], out) & unclaimed
            unclaimed = unclaimed & ~hit
            yield hit, slices


def _is(element: Array, maximum: Array) -> Any:
    """Whether an element of a window is its maximum; NaN is larger than everything, and each NaN is as good."""
    same = element == maximum
    return same if element.dtype.kind in "ui" else same | ((element != element) & (maximum != maximum))


def _interleaved(xp: Namespace, remainders: list[Any], strides: dict[int, int]) -> Any:
    """One array from its parts: those of equal remainder by the strides of some axes, in the order of the remainders."""
    shape, spatial = remainders[0].shape, list(strides)
    parts = xp.stack(remainders).reshape(*strides.values(), *shape)
    order: list[int] = []
    for axis in range(len(shape)):
        order += [len(spatial) + axis, *([spatial.index(axis)] if axis in strides else [])]
    return parts.transpose(order).reshape([n * strides.get(axis, 1) for axis, n in enumerate(shape)])


class MaxPoolGrad(_AtMaxima):
    """`prim(x, out, dout)`: dout where each window has its first maximum, summed over windows."""

    def infer(self, x: AbstractTensor, out: AbstractTensor, dout: AbstractTensor) -> Any:
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array, out: Array, dout: Array) -> Any:
        if xp is not np and set(self.dilation) == {1}:
            return self._gathered(xp, x, out, dout)
        grad = xp.zeros(self.padded_shape(x.shape), dout.dtype)
        for hit, slices in self.first_maxima(xp, x, out):
            share = xp.where(hit, dout, xp.zeros((), dout.dtype))
            if xp is np:
                grad[slices] += share
            else:
                grad = grad.at[slices].add(share)
        return xp.array(self.crop(grad, x.shape))

    def _gathered(self, xp: Namespace, x: Array, out: Array, dout: Array) -> Any:
        """Every input position sums what the windows above it give: no scatter, so no atomics on a GPU.

        Positions whose index has the same remainder by the stride are covered by the same elements of their windows,
        so the gradient is computed for each remainder from shifted windows, and the results are interleaved.
        """
        lax = require("jax.lax", "xla", "pooling on XLA")
        geometry = self.window(x.shape)
        axes = range(1, x.ndim - 1) if self.channels_last else range(2, x.ndim)
        padded, zero = self.padded_shape(x.shape), xp.zeros((), dout.dtype)
        rows = {axis: -(-padded[axis] // stride) for axis, stride in zip(axes, geometry.stride)}
        winner, numbers = self._winners(xp, x, out)
        remainders = []
        for phase in itertools.product(*map(range, geometry.stride)):
            grad = xp.zeros([rows.get(axis, n) for axis, n in enumerate(x.shape)], dout.dtype)
            steps = zip(phase, geometry.kernel, geometry.stride)
            for index in itertools.product(*[range(p, kernel, stride) for p, kernel, stride in steps]):
                pads = [(0, 0, 0)] * x.ndim
                for axis, i, p, stride in zip(axes, index, phase, geometry.stride):
                    shift = (i - p) // stride
                    pads[axis] = (shift, rows[axis] - shift - out.shape[axis], 0)
                grad = grad + lax.pad(xp.where(winner == numbers[index], dout, zero), zero, pads)
            remainders.append(grad)
        return self.crop(_interleaved(xp, remainders, dict(zip(axes, geometry.stride))), x.shape)

    def _winners(self, xp: Namespace, x: Array, out: Array) -> tuple[Any, dict[tuple, int]]:
        """Which element of each window is its first maximum, and the numbers of the window's elements."""
        padded, visits = self.pad_input(xp, x, lowest(x.dtype)), list(self.visits(x.shape))
        small = np.int8 if len(visits) < 127 else np.int32
        winner = xp.full(out.shape, len(visits), small)
        for number in reversed(range(len(visits))):
            winner = xp.where(_is(padded[visits[number][1]], out), small(number), winner)
        return winner, {index: number for number, (index, _) in enumerate(visits)}

    def bprop(self, x: Any, y: Any, dout: TensorBase, out: TensorBase, grad: Any) -> tuple:
        return zeros_like(x), zeros_like(y), self.sibling(MaxPoolGradGrad)(x, y, grad)

    vmap = folded


class MaxPoolGradGrad(_AtMaxima):
    """`prim(x, out, grad)`: the elements of `grad` at the places where the windows of x have their first maximum."""

    def infer(self, x: Any, out: AbstractTensor, grad: AbstractTensor) -> Any:
        return AbstractTensor(grad.dtype, out.shape)

    def eval(self, xp: Namespace, x: Any, out: Array, grad: Array) -> Any:
        source = self.pad_input(xp, grad, 0)
        picked = xp.zeros(out.shape, grad.dtype)
        for hit, slices in self.first_maxima(xp, x, out):
            picked = xp.where(hit, source[slices], picked)
        return picked

    def bprop(self, x: Any, y: Any, grad: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return zeros_like(x), zeros_like(y), self.sibling(MaxPoolGrad)(x, y, dout)

    vmap = folded


class MaxPoolWithIndices(Pooling):
    """The maximum of each window and the flat position of it in the (unpadded) spatial plane.

    Examples:
        >>> value, index = ops.MaxPoolWithIndices(1, (2,), (2,))(Tensor([[[1.0, 3.0, 5.0, 7.0]]]))
        >>> print(value, index)
        [[[3. 7.]]] [[[1 3]]]
    """

    kinds = "uif"

    def __init__(
        self, rank: int, kernel_size: Any, strides: Any, pad: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        argmax_type: Any = mstype.int64, pad_mode: str = "pad",
    ):  # fmt: skip
        self.rank = checks.one_of(type(self).__name__, "rank", rank, tuple(_SPATIAL))
        layout = "NC" + _SPATIAL[rank]
        self.setup(
            kernel_size, strides, pad_mode, layout, pad, dilation, ceil_mode, dims=rank,
            argmax_type=mstype.to_dtype(argmax_type),
        )  # fmt: skip

    def factors(self, *args: Any) -> Factors | None:
        return None

    def infer(self, x: AbstractTensor) -> Any:
        shape = self.check(x)
        return AbstractTuple((AbstractTensor(x.dtype, shape), AbstractTensor(self.argmax_type, shape)))

    def eval(self, xp: Namespace, x: Array) -> Any:
        padded = self.pad_input(xp, x, lowest(x.dtype))
        sizes, geometry = self.spatial(x.shape), self.window(x.shape)
        positions = geometry.output(sizes)
        out: Any = None
        where: Any = None
        seen = np.zeros(positions, bool)  # windows of which an element that is no padding has been looked at
        for index, slices in self.visits(x.shape):
            part, (place, inside) = padded[slices], self._places(index, geometry, sizes, positions)
            if out is None:
                out, where = part, xp.broadcast_to(xp.asarray(place), part.shape)
            else:
                better = (part > out) | ((part != part) & (out == out))  # NaN is the greatest
                if not (inside & seen).all():
                    better = (better & xp.asarray(inside)) | xp.asarray(inside & ~seen)
                out, where = xp.where(better, part, out), xp.where(better, xp.asarray(place), where)
            seen |= inside
        return out, where.astype(self.argmax_type.np)

    @staticmethod
    def _places(index: tuple, geometry: Window, sizes: tuple, positions: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The flat input position that one element of the window has at each window position, and whether it is no padding."""
        flat, inside = np.zeros(positions, np.int64), np.ones(positions, bool)
        for axis, (i, n) in enumerate(zip(index, positions)):
            at = np.arange(n) * geometry.stride[axis] + i * geometry.dilation[axis] - geometry.pads[axis][0]
            shape = [1] * len(positions)
            shape[axis] = n
            flat = flat * sizes[axis] + at.reshape(shape)
            inside &= ((at >= 0) & (at < sizes[axis])).reshape(shape)
        return flat, inside

    def bprop(self, x: Any, out: Any, dout: Any) -> tuple:
        return (self.sibling(MaxPoolGrad)(x, out[0], dout[0]),)

    vmap = folded


class MaxPoolWithArgmax(MaxPoolWithIndices):
    """The maximum of each 2-d window and its flat position among the elements of all channels.

    Examples:
        >>> value, index = ops.MaxPoolWithArgmax(kernel_size=2, strides=2)(Tensor([[[[1.0, 5.0], [2.0, 3.0]]]]))
        >>> value.item(), index.item()
        (5.0, 1)
    """

    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"):
        super().__init__(2, kernel_size, strides, 0, 1, False, mstype.int32, pad_mode)

    def eval(self, xp: Namespace, x: Array) -> Any:
        out, place = super().eval(xp, x)
        first = np.arange(x.shape[1], dtype=np.int32) * (x.shape[2] * x.shape[3])  # of each channel
        return out, place + xp.asarray(first.reshape(1, -1, 1, 1))


# -- average ----------------------------------------------------------------------------------------------------------
class _Average(Pooling):
    native_from = ROWS

    def setup_average(self, count_include_pad: bool, divisor_override: Any, *geometry: Any, **more: Any) -> None:
        if isinstance(divisor_override, bool) or not isinstance(divisor_override, (int, type(None))):
            raise TypeError(
                f"For '{type(self).__name__}', 'divisor_override' must be an int, but got {divisor_override!r}."
            )
        self.setup(
            *geometry, count_include_pad=bool(count_include_pad), divisor_override=int(divisor_override or 0), **more
        )

    def divisor(self, shape: tuple[int, ...]) -> np.ndarray | float:
        """What each window's sum is divided by: a number, or an array over the spatial positions."""
        if self.divisor_override:
            return float(self.divisor_override)
        geometry, sizes = self.window(shape), self.spatial(shape)
        plain = window.resolve(self.pad_mode, sizes, self.kernel_size, self.strides, self.dilation, self.pad)
        if not any(lo or hi for lo, hi in geometry.pads):
            return float(math.prod(geometry.kernel))
        counts = np.ones((), np.float64)
        for axis, n in enumerate(geometry.output(sizes)):
            counts = np.multiply.outer(counts, self._counts(axis, n, sizes[axis], geometry, plain.pads[axis]))
        return counts[None, ..., None] if self.channels_last else counts

    def _counts(self, axis: int, positions: int, size: int, geometry: Window, pads: tuple[int, int]) -> np.ndarray:
        """How many elements count along one axis: padding the user asked for does if `count_include_pad`."""
        first = np.arange(positions) * geometry.stride[axis] - geometry.pads[axis][0]
        low, high = (-pads[0], size + pads[1]) if self.count_include_pad else (0, size)
        return np.minimum(first + geometry.kernel[axis], high) - np.maximum(first, low)

    def window_sum(self, xp: Namespace, x: Array) -> Any:
        if xp is not np:
            return self.reduce_window(x, np.zeros((), x.dtype), "add")
        padded = self.pad_input(np, x, 0)
        out = None
        for _, slices in self.visits(x.shape):
            out = padded[slices].copy() if out is None else np.add(out, padded[slices], out=out)
        return out

    def eval(self, xp: Namespace, x: Array) -> Any:
        total = self.window_sum(xp, widen(x))
        return narrow(total / xp.asarray(self.divisor(x.shape), total.dtype), x)

    def infer(self, x: AbstractTensor) -> Any:
        return AbstractTensor(x.dtype, self.check(x))

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (self.sibling(AvgPoolGrad)(dout, x.shape),)


class AvgPool(_Average):
    """The mean of each 2-d window; padding does not count.

    Examples:
        >>> x = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> ops.AvgPool(kernel_size=2, strides=2)(x).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    pad_modes = ("same", "valid")

    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "VALID", data_format: str = "NCHW"):
        self.setup_average(False, None, kernel_size, strides, pad_mode, data_format)

    vmap = folded


class AvgPool3D(_Average):
    """The mean of each 3-d window.

    Examples:
        >>> ops.AvgPool3D(kernel_size=2, strides=2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    rank = 3

    @setting_types(ceil_mode=bool, count_include_pad=bool, divisor_override=int)
    def __init__(
        self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", pad: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int = 0, data_format: str = "NCDHW",
    ):  # fmt: skip
        geometry = kernel_size, strides, pad_mode, data_format, pad, 1, ceil_mode
        self.setup_average(count_include_pad, divisor_override, *geometry)

    vmap = folded


class AvgPoolNd(_Average):
    """The mean of each window in 1, 2 or 3 dimensions, with every option.

    Examples:
        >>> print(ops.AvgPoolNd(1, (2,), (2,))(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
        [[[2. 6.]]]
    """

    def __init__(
        self, rank: int, kernel_size: Any, strides: Any, pad: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None, pad_mode: str = "pad",
        data_format: str = "",
    ):  # fmt: skip
        self.rank = checks.one_of(type(self).__name__, "rank", rank, tuple(_SPATIAL))
        data_format = data_format or "NC" + _SPATIAL[rank]
        geometry = kernel_size, strides, pad_mode, data_format, pad, 1, ceil_mode
        self.setup_average(count_include_pad, divisor_override, *geometry, dims=rank)

    vmap = folded


class AvgPoolGrad(_Average):
    """`prim(dout, input_shape)`: every element gets the share of each window it lies in."""

    native_from = 0

    def on_device(self, device: Device, dout: Any, shape: Any) -> Any:
        return self(dout, device.shapes[0])

    def infer(self, dout: AbstractTensor, shape: Any) -> Any:  # type: ignore[override]
        return AbstractTensor(dout.dtype, shape)

    def eval(self, xp: Namespace, dout: Array, shape: tuple[int, ...]) -> Any:  # type: ignore[override]
        wide = widen(dout)
        share = wide / xp.asarray(self.divisor(shape), wide.dtype)
        if xp is not np:
            jax = require("jax", "xla", "pooling on XLA")
            like = jax.ShapeDtypeStruct(shape, share.dtype)
            return narrow(jax.linear_transpose(lambda v: self.window_sum(xp, v), like)(share)[0], dout)
        grad = np.zeros(self.padded_shape(shape), share.dtype)
        for _, slices in self.visits(shape):
            grad[slices] += share
        return narrow(np.ascontiguousarray(self.crop(grad, shape)), dout)

    def bprop(self, dout: TensorBase, shape: Any, out: TensorBase, grad: TensorBase) -> tuple:  # type: ignore[override]
        return self.sibling(AvgPoolNd)(grad), None

    def vmap(self, size: int, dout: Batched, shape: Batched) -> Any:
        first, *rest = shape[0]
        return part(self(join(dout[0]), (size * first, *rest)), size)
