"""Convolution layers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.parts import Part
from mindspore.ops.conv import add_channel_bias, transposed_convolution
from mindspore.prims import conv as _conv
from mindspore.prims import window

if TYPE_CHECKING:
    from mindspore._base.dtype import DType
    from mindspore.common.tensor import Tensor

__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "Conv3d", "Conv3dTranspose"]

_FORMATS = {1: ("NCHW", "NHWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW",)}


class _Conv(Cell):
    """What the convolution layers share: checked attributes, the weight and the bias."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: tuple, stride: tuple, pad_mode: str, padding: Any,
        dilation: tuple, group: int, has_bias: bool, weight_init: Tensor, bias_init: Any, data_format: str = "NCHW",
        transposed: bool = False, dtype: DType = mstype.float32,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = checks.positive_int(owner, "in_channels", in_channels)
        self.out_channels = checks.positive_int(owner, "out_channels", out_channels)
        self.group = checks.positive_int(owner, "group", group)
        self.has_bias = checks.boolean(owner, "has_bias", has_bias)
        self.pad_mode = window.pad_mode(owner, pad_mode)
        self.kernel_size, self.stride, self.dilation, self.padding = kernel_size, stride, dilation, padding
        self.transposed, self.data_format = transposed, data_format
        if data_format not in _FORMATS[len(kernel_size)]:
            raise ValueError(
                f"For '{owner}', 'data_format' must be one of {_FORMATS[len(kernel_size)]}, but got {data_format!r}."
            )
        if in_channels % group or out_channels % group:
            raise ValueError(
                "The argument 'group' should be divisible by 'in_channels' and 'out_channels', but got "
                f"group:{group}, in_channels:{in_channels}, out_channels:{out_channels}."
            )
        self._make_parameters(weight_init, bias_init, dtype)

    by_parts = False
    bias_add = Part(lambda self: ops.BiasAdd(data_format=self.data_format))

    def _with_bias(self, output: Any) -> Any:
        """A convolution's result with the bias added to the channels, wherever they stand."""
        if not self.has_bias:
            return output
        if self.by_parts:
            return self.bias_add(output, self.bias)
        return output + self.bias if self.data_format.endswith("C") else add_channel_bias(output, self.bias)

    def _weight_shape(self) -> tuple[int, ...]:
        if self.transposed:
            return (self.in_channels, self.out_channels // self.group, *self.kernel_size)
        if self.data_format == "NHWC":
            return (self.out_channels, *self.kernel_size, self.in_channels // self.group)
        return (self.out_channels, self.in_channels // self.group, *self.kernel_size)

    def _make_parameters(self, weight_init: Tensor | None, bias_init: Any, dtype: DType) -> None:
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, self._weight_shape(), dtype), name="weight")
        self.bias_init = bias_init
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                fan = (self.out_channels if self.transposed else self.in_channels) // self.group
                self.bias_init = Uniform(1 / math.sqrt(fan * math.prod(self.kernel_size)))
            self.bias = Parameter(initializer(self.bias_init, [self.out_channels], dtype), name="bias")

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, "
            f"format={self.data_format}"
        )


def _check_padding(owner: str, pad_mode: str, padding: Any, rank: int) -> None:
    """Explicit padding needs the mode that uses it."""
    pairs = window.pad_pairs(owner, padding, rank, "padding")
    if window.pad_mode(owner, pad_mode) != "pad" and any(v for pair in pairs for v in pair):
        raise ValueError(
            f"For '{owner}', the 'padding' must be zero when 'pad_mode' is not 'pad', but got 'padding': {padding} and "
            f"'pad_mode': {pad_mode}."
        )


def _sizes(
    owner: str, rank: int, kernel: Any, stride: Any, dilation: Any, pad_mode: str, padding: Any
) -> tuple[tuple, tuple, tuple]:
    """Kernel, stride and dilation with one number per dimension; the padding is checked against its mode."""
    _check_padding(owner, pad_mode, padding, rank)
    named = (("kernel_size", kernel), ("stride", stride), ("dilation", dilation))
    first, second, third = (window.per_dimension(owner, name, value, rank) for name, value in named)
    return first, second, third


class Conv2d(_Conv):
    """2-d convolution of (N, C, H, W).

    Args:
        pad_mode: 'same' (ceil(size / stride) positions), 'valid' (no padding) or 'pad' (`padding` on each side).
        group: the channels are cut into this many independent groups.

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> net = ms.nn.Conv2d(3, 8, 3, stride=2)
        >>> net(ms.Tensor(np.ones((1, 3, 32, 32), np.float32))).shape
        (1, 8, 16, 16)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, data_format: str = "NCHW", dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel_size, stride, dilation = _sizes("Conv2d", 2, kernel_size, stride, dilation, pad_mode, padding)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, False, dtype,
        )  # fmt: skip
        self.conv2d = _conv.Conv2D(
            out_channels, kernel_size, 1, self.pad_mode, padding, stride, dilation, group, data_format
        )

    def construct(self, x: Tensor) -> Any:
        return self._with_bias(self.conv2d(x, self.weight))


class _OneDimensional(_Conv):
    """A convolution of (N, C, L) that is computed in two dimensions."""

    expand_dims = Part(lambda self: ops.ExpandDims())
    squeeze = Part(lambda self: ops.Squeeze(2))
    shape = Part(lambda self: ops.Shape())


class Conv1d(_OneDimensional):
    """1-d convolution of (N, C, L); the weight has the shape (out, in / group, 1, kernel_size).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv1d(2, 4, 3)(Tensor(np.ones((1, 2, 8), np.float32))).shape
        (1, 4, 8)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel, strides, dilations, pads = _one_dimensional("Conv1d", kernel_size, stride, dilation, pad_mode, padding)
        super().__init__(
            in_channels, out_channels, kernel, strides, pad_mode, pads, dilations, group, has_bias,
            _lift_weight(weight_init), bias_init, "NCHW", False, dtype,
        )  # fmt: skip
        self.conv2d = _conv.Conv2D(out_channels, kernel, 1, self.pad_mode, pads, strides, dilations, group)

    def construct(self, x: Tensor) -> Any:
        checks.rank("Conv1d", x, 3)
        return self._with_bias(ops.squeeze(self.conv2d(ops.expand_dims(x, 2), self.weight), 2))


def _one_dimensional(
    owner: str, kernel: Any, stride: Any, dilation: Any, pad_mode: str, padding: Any
) -> tuple[tuple, tuple, tuple, tuple]:
    """The attributes of a 1-d layer in the two dimensions it is computed in."""
    sizes = []
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if isinstance(value, (tuple, list)) and len(value) == 1:
            value = value[0]
        sizes.append((1, checks.positive_int(owner, name, value)))
    _check_padding(owner, pad_mode, padding, 1)
    before, after = window.pad_pairs(owner, padding, 1, "padding")[0]
    return sizes[0], sizes[1], sizes[2], (0, 0, before, after)


def _lift_weight(init: Any) -> Any:
    """A 3-d initial weight as the 4-d one the layer keeps."""
    return ops.expand_dims(init, 2) if hasattr(init, "ndim") and init.ndim == 3 else init


class Conv3d(_Conv):
    """3-d convolution of (N, C, D, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv3d(2, 4, 3)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 4, 4, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, data_format: str = "NCDHW", dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel_size, stride, dilation = _sizes("Conv3d", 3, kernel_size, stride, dilation, pad_mode, padding)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, False, dtype,
        )  # fmt: skip
        self.conv3d = _conv.Conv3D(out_channels, kernel_size, 1, self.pad_mode, padding, stride, dilation, group)

    def construct(self, x: Tensor) -> Any:
        return self._with_bias(self.conv3d(x, self.weight))


class Conv2dTranspose(_Conv):
    """Transposed 2-d convolution of (N, C, H, W); the weight has the shape (in, out / group, KH, KW).

    `output_padding` adds zeros after the result.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv2dTranspose(2, 4, 3, stride=2)(Tensor(np.ones((1, 2, 5, 5), np.float32))).shape
        (1, 4, 10, 10)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False,
        weight_init: Any = None, bias_init: Any = None, dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel_size, stride, dilation = _sizes("Conv2dTranspose", 2, kernel_size, stride, dilation, pad_mode, padding)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, "NCHW", True, dtype,
        )  # fmt: skip
        self.output_padding = window.per_dimension("Conv2dTranspose", "output_padding", output_padding, 2, 0)
        if any(self.output_padding) and self.pad_mode != "pad":
            raise ValueError("when output_padding is not zero, pad_mode must be 'pad'")
        for extra, s, d in zip(self.output_padding, stride, dilation):
            if extra >= max(s, d) and extra:
                raise ValueError(
                    f"output_padding must be in range of [0, max(stride, dilation)), but got {output_padding}."
                )

    def shard(self, strategy: Any) -> Any:  # type: ignore[override]
        return self

    def construct(self, x: Tensor) -> Any:
        output = transposed_convolution(
            "Conv2dTranspose", 2, x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, 0, self.group,
            self.dilation,
        )  # fmt: skip
        if self.output_padding != (0, 0):
            output = ops.pad(output, (0, self.output_padding[1], 0, self.output_padding[0]))
        return output


class Conv1dTranspose(_OneDimensional):
    """Transposed 1-d convolution of (N, C, L); the weight has the shape (in, out / group, 1, kernel_size).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv1dTranspose(2, 4, 3)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 4, 6)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
        bias_init: Any = None, dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel, strides, dilations, pads = _one_dimensional(
            "Conv1dTranspose", kernel_size, stride, dilation, pad_mode, padding
        )
        super().__init__(
            in_channels, out_channels, kernel, strides, pad_mode, pads, dilations, group, has_bias,
            _lift_weight(weight_init), bias_init, "NCHW", True, dtype,
        )  # fmt: skip

    def construct(self, x: Tensor) -> Any:
        checks.rank("Conv1dTranspose", x, 3)
        output = transposed_convolution(
            "Conv1dTranspose", 2, ops.expand_dims(x, 2), self.weight, self.bias, self.stride, self.pad_mode,
            self.padding, 0, self.group, self.dilation,
        )  # fmt: skip
        return ops.squeeze(output, 2)


class Conv3dTranspose(_Conv):
    """Transposed 3-d convolution of (N, C, D, H, W); the weight has the shape (in, out / group, KD, KH, KW).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv3dTranspose(2, 4, 2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 4, 4, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, output_padding: Any = 0, has_bias: bool = False,
        weight_init: Any = None, bias_init: Any = None, data_format: str = "NCDHW", dtype: Any = mstype.float32,
    ):  # fmt: skip
        kernel_size, stride, dilation = _sizes("Conv3dTranspose", 3, kernel_size, stride, dilation, pad_mode, padding)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, data_format, True, dtype,
        )  # fmt: skip
        self.output_padding = window.per_dimension("Conv3dTranspose", "output_padding", output_padding, 3, 0)

    def construct(self, x: Tensor) -> Any:
        return transposed_convolution(
            "Conv3dTranspose", 3, x, self.weight, self.bias, self.stride, self.pad_mode, self.padding,
            self.output_padding, self.group, self.dilation,
        )  # fmt: skip
