"""Convolution in any number of dimensions, and its two gradients.

The three primitives of a family are each other's gradients: the gradient of a convolution is an input gradient and a
filter gradient, and the gradients of those are again members of the family, so derivatives of any order exist.

NumPy evaluates by im2col: the windows become the columns of a matrix and one matrix product per group does the work.
XLA has convolution as an operation; its gradients are the transposes of that linear map.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import checks, window
from mindspore.prims.batching import join, part
from mindspore.prims.factors import WHOLE, Factors, Labels
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.window import Window

if TYPE_CHECKING:
    from mindspore.compiler.shard.device import Device
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


class Convolution(Primitive):
    """What the family shares: attributes and geometry, channels-first ("NCHW") or channels-last ("NHWC")."""

    rank = 2
    promote: ClassVar[str | tuple[int, ...]] = (0, 1)
    in_float32 = True
    native_from = 256

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "",
    ):
        name, rank = type(self).__name__, self.rank
        data_format = data_format or "NC" + _SPATIAL[rank]
        if data_format not in ("NC" + _SPATIAL[rank], "N" + _SPATIAL[rank] + "C"):
            raise ValueError(
                f"For '{name}', 'data_format' must be 'NC{_SPATIAL[rank]}' or 'N{_SPATIAL[rank]}C', "
                f"but got {data_format!r}."
            )
        for label, value in (("out_channel", out_channel), ("group", group)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For '{name}', '{label}' must be an int, but got {value!r}.")
            if value < 1:
                raise ValueError(f"For '{name}', '{label}' must be 1 or more, but got {value}.")
        pad_mode = window.pad_mode(name, pad_mode)
        pairs = window.pad_pairs(name, pad, rank)
        if pad_mode != "pad" and any(v for pair in pairs for v in pair):
            raise ValueError(f"For '{name}', 'pad' must be 0 when 'pad_mode' is '{pad_mode}', but got {pad!r}.")
        super().__init__(
            name,
            out_channel=out_channel,
            kernel_size=window.per_dimension(name, "kernel_size", kernel_size, rank),
            mode=mode,
            pad_mode=pad_mode,
            pad=pairs,
            stride=window.per_dimension(name, "stride", stride, rank),
            dilation=window.per_dimension(name, "dilation", dilation, rank),
            group=group,
            data_format=data_format,
        )

    def positions(self, shape: tuple[int, ...]) -> int:
        """Where the filters stand in images that give a result of this shape; each meets all of its weights there."""
        return shape[0] * math.prod(self.spatial(shape))

    def planes(self, channels: str, across: Labels = ()) -> Labels:
        """Labels of images: the batch and the channels may be cut; dimensions that windows run over, too, where they step evenly."""
        across = across or (WHOLE,) * self.rank
        return ("n", channels, *across) if self.data_format.startswith("NC") else ("n", *across, channels)

    def filters(self) -> Labels:
        inner = "c" if self.group == 1 else WHOLE
        return ("o", inner, *(WHOLE,) * self.rank) if self.data_format.startswith("NC") else (
            "o", *(WHOLE,) * self.rank, inner)

    def with_filters(self, count: int) -> Any:
        """The same with another number of filters."""
        twin = self.sibling(type(self))
        return twin.add_prim_attr("out_channel", count)

    def rule(self, x_shape: tuple[int, ...]) -> tuple[Labels, Labels, Labels]:
        """Labels of input, filters and output. Groups of channels are not taken apart."""
        across = self.across(x_shape)
        if self.group != 1:
            whole = tuple(WHOLE for _ in self.filters())
            return self.planes(WHOLE, across), whole, self.planes(WHOLE, across)
        return self.planes("c", across), self.filters(), self.planes("o", across)

    # -- parts of images ------------------------------------------------------------------------------------------
    def across(self, x_shape: tuple[int, ...]) -> Labels:
        """Labels of the dimensions that windows run over: named where `stride` times the results are the inputs, so that parts
        of both lie on the same devices.
        """
        geometry, sizes = self.window(x_shape), self.spatial(x_shape)
        even = [n == s * m for n, s, m in zip(sizes, geometry.stride, geometry.output(sizes))]
        return tuple(f"s{i}" if ok else WHOLE for i, ok in enumerate(even))

    def _dim(self, i: int) -> int:
        return i + (1 if self.channels_last else 2)

    def unpadded(self, geometry: Window, cut: list[int]) -> Any:
        """The same without padding along dimensions that are cut: the borders of parts come from neighbours."""
        twin = self.sibling(type(self))
        pads = tuple((0, 0) if i in cut else pair for i, pair in enumerate(geometry.pads))
        return twin.add_prim_attr("pad_mode", "pad").add_prim_attr("pad", pads)

    def with_borders(self, device: Device, x: Any, geometry: Window, cut: list[int]) -> Any:
        """A part of an image, enlarged by what its windows see of the neighbours' parts."""
        for i in cut:
            before = geometry.pads[i][0]
            after = (geometry.kernel[i] - 1) * geometry.dilation[i] - before - (geometry.stride[i] - 1)
            x = device.with_borders(x, self._dim(i), f"s{i}", before, after)
        return x

    def cut_across(self, device: Device) -> list[int]:
        """The dimensions, among those that windows run over, that are cut."""
        return [i for i in range(self.rank) if device.parts(f"s{i}") > 1]

    def sibling(self, cls: type[Primitive]) -> Any:
        """Another member of the family with the same attributes."""
        twin = cls.__new__(cls)
        Primitive.__init__(twin, cls.__name__, **self.own_attrs())
        return twin

    # -- geometry -------------------------------------------------------------------------------------------------
    @property
    def channels_last(self) -> bool:
        return self.data_format.endswith("C")

    def spatial(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(shape[1:-1]) if self.channels_last else tuple(shape[2:])

    def channels(self, shape: tuple[int, ...]) -> int:
        return shape[-1] if self.channels_last else shape[1]

    def window(self, x_shape: tuple[int, ...]) -> Window:
        attributes = self.kernel_size, self.stride, self.dilation, self.pad
        return window.resolve(self.pad_mode, self.spatial(x_shape), *attributes)

    def image_shape(self, batch: int, channels: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return (batch, *sizes, channels) if self.channels_last else (batch, channels, *sizes)

    def output_shape(self, x_shape: tuple[int, ...], w_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Check the operands' shapes and return the convolution's."""
        rank = self.rank + 2
        for label, shape in (("x", x_shape), ("weight", w_shape)):
            if len(shape) != rank:
                raise ValueError(f"For '{self.name}', '{label}' must have {rank} dimensions, but its shape is {shape}.")
        c_in = self.channels(x_shape)
        if w_shape[0] != self.out_channel or self.spatial(w_shape) != self.kernel_size:
            raise ValueError(
                f"For '{self.name}', the weight must have {self.out_channel} filters of size "
                f"{self.kernel_size}, but its "
                f"shape is {w_shape}."
            )
        if c_in != self.channels(w_shape) * self.group or self.out_channel % self.group:
            raise ValueError(
                f"For '{self.name}', the input's channels must equal the weight's times 'group', and "
                f"'out_channel' must "
                f"be a multiple of 'group', but got input {x_shape}, weight {w_shape}, group {self.group}."
            )
        sizes = self.window(x_shape).output(self.spatial(x_shape))
        if any(s < 1 for s in sizes):
            raise ValueError(f"For '{self.name}', the input {x_shape} is smaller than the kernel {self.kernel_size}.")
        return self.image_shape(x_shape[0], self.out_channel, sizes)

    # -- NumPy ----------------------------------------------------------------------------------------------------
    def _first(self, x: np.ndarray) -> np.ndarray:
        """Channels-first view of an image or filter."""
        return np.moveaxis(x, -1, 1) if self.channels_last else x

    def _last(self, x: np.ndarray) -> np.ndarray:
        """From channels-first back to the layout in use."""
        return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if self.channels_last else x

    # -- XLA ------------------------------------------------------------------------------------------------------
    def lax_convolution(self, x_shape: tuple[int, ...], x: Any, w: Any) -> Any:
        lax = require("jax.lax", "xla", "convolution on XLA")
        geometry = self.window(x_shape)
        image = self.data_format
        kernel = image.replace("N", "O").replace("C", "I")
        return lax.conv_general_dilated(
            x, w, geometry.stride, geometry.pads, rhs_dilation=geometry.dilation,
            dimension_numbers=(image, kernel, image), feature_group_count=self.group,
        )  # fmt: skip


def _columns(x: np.ndarray, geometry: Window, group: int) -> np.ndarray:
    """im2col: (batch, group, channels per group * kernel elements, positions)."""
    batch, channels, *sizes = x.shape
    positions = geometry.output(tuple(sizes))
    if any(lo or hi for lo, hi in geometry.pads):
        x = np.pad(x, ((0, 0), (0, 0), *geometry.pads))
    cols = np.empty((batch, channels, *geometry.kernel, *positions), x.dtype)
    for index, slices in geometry.offsets(positions):
        cols[:, :, *index] = x[:, :, *slices]
    taps = channels // group * math.prod(geometry.kernel)  # no -1 in shapes: a batch may be empty
    return cols.reshape(batch, group, taps, math.prod(positions))


def _images(cols: np.ndarray, geometry: Window, channels: int, sizes: tuple[int, ...]) -> np.ndarray:
    """The transpose of `_columns`: every column element is added where it came from."""
    positions = geometry.output(sizes)
    cols = cols.reshape(cols.shape[0], channels, *geometry.kernel, *positions)
    padded = tuple(n + lo + hi for n, (lo, hi) in zip(sizes, geometry.pads))
    out = np.zeros((cols.shape[0], channels, *padded), cols.dtype)
    for index, slices in geometry.offsets(positions):
        out[:, :, *slices] += cols[:, :, *index]
    inner = tuple(slice(lo, lo + n) for n, (lo, _) in zip(sizes, geometry.pads))
    return np.ascontiguousarray(out[:, :, *inner])


class ForwardConvolution(Convolution):
    """x * w."""

    def infer(self, x: AbstractTensor, w: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.tensor(self.name, "weight", w)
        return AbstractTensor(x.dtype, self.output_shape(x.shape, w.shape))

    def factors(self, x: Any, w: Any) -> Factors:
        given, filters, out = self.rule(x.shape)
        return Factors((given, filters), (out,), on_request=self.across(x.shape)).filling(0)

    def multiplications(self, x: Any, w: Any) -> int:
        return self.positions(self.output_shape(x.shape, w.shape)) * w.size

    def on_device(self, device: Device, x: Any, w: TensorBase) -> Any:
        cut = self.cut_across(device)
        if not cut:
            return self.with_filters(w.shape[0])(x, w)
        geometry = self.window(device.whole_shape(0))
        twin = self.unpadded(geometry, cut).add_prim_attr("out_channel", w.shape[0])
        return twin(self.with_borders(device, x, geometry, cut), w)

    def eval(self, xp: Namespace, x: Array, w: Array) -> Any:
        if xp is not np:
            return self.lax_convolution(x.shape, x, w)
        geometry, out_shape = self.window(x.shape), self.output_shape(x.shape, w.shape)
        cols = _columns(self._first(widen(x)), geometry, self.group)
        filters = np.ascontiguousarray(self._first(widen(w))).reshape(self.group, self.out_channel // self.group, -1)
        out = np.matmul(filters, cols).reshape(x.shape[0], self.out_channel, *self.spatial(out_shape))
        return narrow(self._last(out), x)

    def bprop(self, x: TensorBase, w: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return _input_gradient(self, dout, w, x.shape), _filter_gradient(self, dout, x, w.shape)

    def vmap(self, size: int, x: Batched, w: Batched) -> Any:
        return None if w[1] else part(self(join(x[0]), w[0]), size)


class _InputGradient(Convolution):
    """The gradient of a convolution by its input: `prim(dout, w, input_size)`; also the transposed convolution."""

    def prepare(self, args: tuple) -> tuple:
        dout, w, size = args
        return (*super().prepare((dout, w)), _static_shape(self.name, size))

    def infer(self, dout: AbstractTensor, w: AbstractTensor, size: Any) -> Any:
        checks.tensor(self.name, "out_backprop", dout)
        checks.tensor(self.name, "weight", w)
        expected = self.output_shape(size, w.shape)
        if dout.shape != expected:
            raise ValueError(
                f"For '{self.name}', an input of shape {size} gives an output of shape {expected}, "
                f"but 'out_backprop' has "
                f"shape {dout.shape}."
            )
        return AbstractTensor(dout.dtype, size)

    def factors(self, dout: Any, w: Any, size: Any) -> Factors:
        given, filters, out = self.rule(tuple(size))
        return Factors((out, filters, None), (given,), on_request=self.across(tuple(size))).filling(0)

    def multiplications(self, dout: Any, w: Any, size: Any) -> int:
        return self.positions(dout.shape) * w.size

    def on_device(self, device: Device, dout: Any, w: TensorBase, size: Any) -> Any:
        cut, wanted = self.cut_across(device), list(device.shapes[0])
        if not cut:
            return self.with_filters(w.shape[0])(dout, w, device.shapes[0])
        # All that the part and the neighbours' nearest windows touch is computed, then the part is taken out of it.
        geometry, whole = self.window(tuple(size)), list(wanted)
        starts = [0] * len(whole)
        for i in cut:
            stride, reach, pad = geometry.stride[i], (geometry.kernel[i] - 1) * geometry.dilation[i], geometry.pads[i][0]
            before, after = max(0, -((pad - reach) // stride)), -(-pad // stride)
            dout = device.with_borders(dout, self._dim(i), f"s{i}", before, after)
            dim = self._dim(i)
            starts[dim] = before * stride + pad
            whole[dim] = max((dout.shape[dim] - 1) * stride + reach + 1, starts[dim] + wanted[dim])
        found = self.unpadded(geometry, cut).add_prim_attr("out_channel", w.shape[0])(dout, w, tuple(whole))
        return found[tuple(slice(a, a + n) for a, n in zip(starts, wanted))]

    def eval(self, xp: Namespace, dout: Array, w: Array, size: tuple[int, ...]) -> Any:
        if xp is not np:
            jax = require("jax", "xla", "convolution on XLA")
            like = jax.ShapeDtypeStruct(size, dout.dtype)
            return jax.linear_transpose(lambda x: self.lax_convolution(size, x, w), like)(dout)[0]
        filters = np.ascontiguousarray(self._first(widen(w))).reshape(self.group, self.out_channel // self.group, -1)
        places = math.prod(self.spatial(dout.shape))
        rows = np.ascontiguousarray(self._first(widen(dout))).reshape(size[0], self.group, filters.shape[1], places)
        cols = np.matmul(filters.swapaxes(1, 2), rows)
        images = _images(cols, self.window(size), self.channels(size), self.spatial(size))
        return narrow(self._last(images), dout)

    def bprop(self, dout: TensorBase, w: TensorBase, size: Any, out: TensorBase, grad: TensorBase) -> tuple:
        return _convolve(self, grad, w), _filter_gradient(self, dout, grad, w.shape), None

    def vmap(self, size: int, dout: Batched, w: Batched, shape: Batched) -> Any:
        if w[1]:
            return None
        first, *rest = shape[0]
        return part(self(join(dout[0]), w[0], (size * first, *rest)), size)


class _FilterGradient(Convolution):
    """The gradient of a convolution by its filter: `prim(dout, x, filter_size)`."""

    spreads = (0,)  # each element of the incoming gradient meets at least one of the input

    def prepare(self, args: tuple) -> tuple:
        dout, x, size = args
        return (*super().prepare((dout, x)), _static_shape(self.name, size))

    def infer(self, dout: AbstractTensor, x: AbstractTensor, size: Any) -> Any:
        checks.tensor(self.name, "out_backprop", dout)
        checks.tensor(self.name, "input", x)
        expected = self.output_shape(x.shape, size)
        if dout.shape != expected:
            raise ValueError(
                f"For '{self.name}', an input of shape {x.shape} gives an output of shape {expected}, "
                f"but 'out_backprop' "
                f"has shape {dout.shape}."
            )
        return AbstractTensor(dout.dtype, size)

    def factors(self, dout: Any, x: Any, size: Any) -> Factors:
        given, filters, out = self.rule(x.shape)
        return Factors((out, given, None), (filters,), on_request=self.across(x.shape)).filling(0)

    def multiplications(self, dout: Any, x: Any, size: Any) -> int:
        return self.positions(dout.shape) * math.prod(size)

    def on_device(self, device: Device, dout: Any, x: Any, size: Any) -> Any:
        cut = self.cut_across(device)
        if not cut:
            return self.with_filters(device.shapes[0][0])(dout, x, device.shapes[0])
        geometry = self.window(device.whole_shape(1))
        twin = self.unpadded(geometry, cut).add_prim_attr("out_channel", device.shapes[0][0])
        return twin(dout, self.with_borders(device, x, geometry, cut), device.shapes[0])

    def eval(self, xp: Namespace, dout: Array, x: Array, size: tuple[int, ...]) -> Any:
        if xp is not np:
            jax = require("jax", "xla", "convolution on XLA")
            like = jax.ShapeDtypeStruct(size, dout.dtype)
            return jax.linear_transpose(lambda w: self.lax_convolution(x.shape, x, w), like)(dout)[0]
        cols = _columns(self._first(widen(x)), self.window(x.shape), self.group)
        per_group = self.out_channel // self.group
        batch, places = x.shape[0], math.prod(self.spatial(dout.shape))
        rows = np.ascontiguousarray(self._first(widen(dout))).reshape(batch, self.group, per_group, places)
        flat_rows = rows.transpose(1, 2, 0, 3).reshape(self.group, per_group, batch * places)
        flat_cols = cols.transpose(1, 0, 3, 2).reshape(self.group, batch * places, cols.shape[2])
        filters = np.matmul(flat_rows, flat_cols)
        filters = filters.reshape(self.out_channel, self.channels(size), *self.kernel_size)
        return narrow(self._last(filters), dout)

    def bprop(self, dout: TensorBase, x: TensorBase, size: Any, out: TensorBase, grad: TensorBase) -> tuple:
        return _convolve(self, x, grad), _input_gradient(self, dout, grad, x.shape), None


def _static_shape(op: str, size: Any) -> tuple[int, ...]:
    if hasattr(size, "asnumpy") and getattr(size, "_node", None) is None:
        size = tuple(int(v) for v in size.asnumpy().ravel())
    return checks.shape(op, size, "size")


# -- the families -----------------------------------------------------------------------------------------------------
class Conv1D(ForwardConvolution):
    """1-d convolution of (N, C, L) with (O, C/group, K).

    Examples:
        >>> print(ops.Conv1D(1, 2)(Tensor([[[1.0, 2.0, 4.0]]]), Tensor([[[1.0, -1.0]]])))
        [[[-1. -2.]]]
    """

    rank = 1


class Conv2D(ForwardConvolution):
    """2-d convolution of (N, C, H, W) with (O, C/group, KH, KW).

    Examples:
        >>> x, kernel = ops.ones((1, 2, 8, 8)), ops.ones((4, 2, 3, 3))
        >>> ops.Conv2D(out_channel=4, kernel_size=3, pad_mode="same")(x, kernel).shape
        (1, 4, 8, 8)
    """


class Conv3D(ForwardConvolution):
    """3-d convolution of (N, C, D, H, W) with (O, C/group, KD, KH, KW).

    Examples:
        >>> ops.Conv3D(out_channel=4, kernel_size=3)(ops.ones((1, 2, 4, 4, 4)), ops.ones((4, 2, 3, 3, 3))).shape
        (1, 4, 2, 2, 2)
    """

    rank = 3


class Conv1DBackpropInput(_InputGradient):
    rank = 1


class Conv2DBackpropInput(_InputGradient):
    """The gradient of Conv2D by its input.

    Examples:
        >>> grad, kernel = ops.ones((1, 1, 2, 2)), ops.ones((1, 1, 2, 2))
        >>> print(ops.Conv2DBackpropInput(1, 2)(grad, kernel, (1, 1, 3, 3)))
        [[[[1. 2. 1.]
           [2. 4. 2.]
           [1. 2. 1.]]]]
    """

    def __init__(
        self,
        out_channel: int,
        kernel_size: Any,
        pad_mode: str = "valid",
        pad: Any = 0,
        pad_list: Any = None,
        mode: int = 1,
        stride: Any = 1,
        dilation: Any = 1,
        group: int = 1,
        data_format: str = "NCHW",
    ):
        pad = pad_list if pad_list is not None else pad
        super().__init__(out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, data_format)


class Conv2DTranspose(Conv2DBackpropInput):
    """Transposed 2-d convolution: `prim(dout, weight, input_size)`.

    Examples:
        >>> grad, kernel = ops.ones((1, 1, 2, 2)), ops.ones((1, 1, 2, 2))
        >>> ops.Conv2DTranspose(1, 2, stride=2)(grad, kernel, (1, 1, 4, 4)).shape
        (1, 1, 4, 4)
    """


class Conv3DBackpropInput(_InputGradient):
    """The gradient of Conv3D by its input."""

    rank = 3


class Conv1DBackpropFilter(_FilterGradient):
    rank = 1


class Conv2DBackpropFilter(_FilterGradient):
    """The gradient of Conv2D by its filter.

    Examples:
        >>> image, grad = ops.ones((1, 1, 3, 3)), ops.ones((1, 1, 2, 2))
        >>> print(ops.Conv2DBackpropFilter(1, 2)(grad, image, (1, 1, 2, 2)))
        [[[[4. 4.]
           [4. 4.]]]]
    """


class Conv3DBackpropFilter(_FilterGradient):
    """The gradient of a 3-d convolution by its weight: `prim(out_grad, input, weight_shape)`.

    Examples:
        >>> image, grad = ops.ones((1, 1, 3, 3, 3)), ops.ones((1, 1, 2, 2, 2))
        >>> ops.Conv3DBackpropFilter(1, 2)(grad, image, (1, 1, 2, 2, 2)).shape
        (1, 1, 2, 2, 2)
    """

    rank = 3


_FORWARD = {1: Conv1D, 2: Conv2D, 3: Conv3D}
_INPUT = {1: Conv1DBackpropInput, 2: Conv2DBackpropInput, 3: Conv3DBackpropInput}
_FILTER = {1: Conv1DBackpropFilter, 2: Conv2DBackpropFilter, 3: Conv3DBackpropFilter}


def _convolve(like: Convolution, x: TensorBase, w: TensorBase) -> Any:
    return like.sibling(_FORWARD[like.rank])(x, w)


def _input_gradient(like: Convolution, dout: TensorBase, w: TensorBase, size: tuple[int, ...]) -> Any:
    return like.sibling(_INPUT[like.rank])(dout, w, size)


def _filter_gradient(like: Convolution, dout: TensorBase, x: TensorBase, size: tuple[int, ...]) -> Any:
    return like.sibling(_FILTER[like.rank])(dout, x, size)
