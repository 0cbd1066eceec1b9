"""Pooling layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.ops import pooling
from mindspore.prims import window
from mindspore.prims.pooling import AvgPoolNd, MaxPoolNd, MaxPoolWithIndices
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool1dExt", "AvgPool2d", "AvgPool2dExt", "AvgPool3d", "AvgPool3dExt",
    "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "MaxPool1d", "MaxPool2d", "MaxPool2dExt", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip


class _Pool(Cell):
    """Fixed windows: attributes, and the primitive that does the work."""

    dims = 2

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, data_format: str):
        super().__init__()
        owner = type(self).__name__
        self.pad_mode = window.pad_mode(owner, pad_mode, ("valid", "same", "pad")).upper()
        if self.pad_mode != "PAD" and padding not in (0, (0,) * self.dims, [0] * self.dims):
            raise ValueError(f"For '{owner}', 'padding' must be 0 when 'pad_mode' is {pad_mode!r}, but got {padding}.")
        self.kernel_size = kernel_size if isinstance(kernel_size, int) else tuple(kernel_size)
        self.stride = stride if isinstance(stride, int) else tuple(stride)
        self.padding, self.format = padding, data_format
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For '{owner}', 'data_format' must be 'NCHW' or 'NHWC', but got {data_format!r}.")

    def layout(self) -> str:
        """The data format the primitive takes."""
        return self.format if self.dims == 2 else ""

    def construct(self, x: Tensor) -> Any:
        return pooling.with_batch(type(self).__name__, x, self.dims, self.pool)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    def __init__(
        self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, dilation: Any, return_indices: bool,
        ceil_mode: bool, data_format: str = "NCHW",
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, data_format)
        self.return_indices = checks.boolean(type(self).__name__, "return_indices", return_indices)
        self.dilation, self.ceil_mode = dilation, ceil_mode
        mode = self.pad_mode.lower()
        if return_indices:
            self.pool: Any = MaxPoolWithIndices(
                self.dims, kernel_size, stride, padding, dilation, ceil_mode, pad_mode=mode
            )
        else:
            self.pool = MaxPoolNd(self.dims, kernel_size, stride, padding, dilation, ceil_mode, mode, self.layout())
        self.max_pool = self.pool  # the name under which strategies are given


class MaxPool1d(_MaxPool):
    """The maximum of each window of (N, C, L).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.MaxPool1d(2, 2)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 3)
    """

    dims = 1

    @setting_types(kernel_size=int, stride=int)
    def __init__(
        self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)


class MaxPool2d(_MaxPool):
    """The maximum of each window of (N, C, H, W).

    Examples:
        >>> import mindspore as ms, numpy as np
        >>> ms.nn.MaxPool2d(kernel_size=2, stride=2)(ms.Tensor(np.ones((1, 3, 8, 8), np.float32))).shape
        (1, 3, 4, 4)
    """

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False, data_format: str = "NCHW",
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode, data_format)


class MaxPool3d(_MaxPool):
    """The maximum of each window of (N, C, D, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.MaxPool3d(2, 2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    dims = 3

    @setting_types(ceil_mode=bool)
    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)


class MaxPool2dExt(Cell):
    """The maximum of each window of (N, C, H, W), with the arguments of `mint`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.MaxPool2dExt(2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 3)
    """

    def __init__(
        self, kernel_size: Any = 1, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.options = kernel_size, stride, padding, dilation, return_indices, ceil_mode

    def construct(self, input: Tensor) -> Any:
        return ops.max_pool2d(input, *self.options)


class _AvgPool(_Pool):
    def __init__(
        self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, ceil_mode: bool, count_include_pad: bool,
        divisor_override: Any, data_format: str = "NCHW",
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, data_format)
        if divisor_override is not None and (isinstance(divisor_override, bool) or divisor_override <= 0):
            raise ValueError(
                f"For '{type(self).__name__}', the 'divisor_override' must be > 0, but got {divisor_override}."
            )
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override
        include = count_include_pad and self.pad_mode == "PAD"
        self.pool = AvgPoolNd(
            self.dims, kernel_size, stride, padding, ceil_mode, include, divisor_override, self.pad_mode.lower(),
            self.layout(),
        )  # fmt: skip
        self.avg_pool = self.pool  # the name under which strategies are given


class AvgPool1d(_AvgPool):
    """The mean of each window of (N, C, L).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool1d(2, 2)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 3)
    """

    dims = 1

    def __init__(
        self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, None)


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool2d(2, 2)(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]])).tolist()
        [[[[3.0]]]]
    """

    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None, data_format: str = "NCHW",
    ):  # fmt: skip
        args = kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override, data_format
        super().__init__(*args)


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool3d(2, 2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    dims = 3

    @setting_types(ceil_mode=bool, count_include_pad=bool)
    def __init__(
        self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)


class _AvgPoolExt(Cell):
    """A stride of None is the window's size."""

    def __init__(self, kernel_size: Any, stride: Any, *options: Any):
        super().__init__()
        self.options = (kernel_size, kernel_size if stride is None else stride, *options)


class AvgPool1dExt(_AvgPoolExt):
    """The mean of each window of (N, C, L), with the arguments of `mint`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool1dExt(2)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 3)
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)

    def construct(self, input: Tensor) -> Any:
        return pooling.avg_pool1d(input, *self.options)


class AvgPool2dExt(_AvgPoolExt):
    """The mean of each window of (N, C, H, W), with the arguments of `mint`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool2dExt(2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 3)
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)

    def construct(self, input: Tensor) -> Any:
        return pooling.avg_pool2d(input, *self.options)


class AvgPool3dExt(_AvgPoolExt):
    """The mean of each window of (N, C, D, H, W), with the arguments of `mint`.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AvgPool3dExt(2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override or 0)

    def construct(self, input: Tensor) -> Any:
        return pooling.avg_pool3d(input, *self.options)


class LPPool1d(Cell):
    """The p-norm of each window of (N, C, L).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.LPPool1d(2, 3)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 2)
    """

    @setting_types(kernel_size=int, stride=int | None, ceil_mode=bool)
    def __init__(self, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False):
        super().__init__()
        self.options = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Any:
        return ops.lp_pool1d(x, *self.options)


class LPPool2d(Cell):
    """The p-norm of each window of (N, C, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.LPPool2d(2, 2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 3)
    """

    @setting_types(ceil_mode=bool)
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False):
        super().__init__()
        self.options = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Any:
        return ops.lp_pool2d(x, *self.options)


class AdaptiveAvgPool1d(Cell):
    """Average pooling of (N, C, L) to a given length.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveAvgPool1d(3)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 3)
    """

    def __init__(self, output_size: int):
        super().__init__()
        self.output_size = checks.positive_int("AdaptiveAvgPool1d", "output_size", output_size)

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(Cell):
    """Average pooling of (N, C, H, W) to given sizes; None keeps a size.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveAvgPool2d((3, 2))(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 2)
    """

    @setting_types(output_size=int | tuple)
    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(Cell):
    """Average pooling of (N, C, D, H, W) to given sizes; None keeps a size.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveAvgPool3d(2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    @setting_types(output_size=int | tuple)
    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(Cell):
    """Max pooling of (N, C, L) to a given length.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveMaxPool1d(3)(Tensor(np.ones((1, 2, 6), np.float32))).shape
        (1, 2, 3)
    """

    def __init__(self, output_size: int):
        super().__init__()
        self.output_size = checks.positive_int("AdaptiveMaxPool1d", "output_size", output_size)

    def construct(self, x: Tensor) -> Any:
        return ops.adaptive_max_pool1d(x, self.output_size)


class AdaptiveMaxPool2d(Cell):
    """Max pooling of (N, C, H, W) to given sizes; None keeps a size.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveMaxPool2d((3, 2))(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 2)
    """

    @setting_types(return_indices=bool)
    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(Cell):
    """Max pooling of (N, C, D, H, W) to given sizes; None keeps a size.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.AdaptiveMaxPool3d(2)(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input: Tensor) -> Any:
        return ops.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _MaxUnpool(Cell):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding


class MaxUnpool1d(_MaxUnpool):
    """The partial inverse of MaxPool1d.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MaxUnpool1d(2)(Tensor([[[5.0]]]), Tensor([[[1]]])).tolist()
        [[[0.0, 5.0]]]
    """

    def construct(self, x: Tensor, indices: Any, output_size: Any = None) -> Any:
        return ops.max_unpool1d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool):
    """The partial inverse of MaxPool2d.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MaxUnpool2d(2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])).tolist()
        [[[[0.0, 0.0], [0.0, 5.0]]]]
    """

    def construct(self, x: Tensor, indices: Any, output_size: Any = None) -> Any:
        return ops.max_unpool2d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpool):
    """The partial inverse of MaxPool3d.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.MaxUnpool3d(2)(Tensor(np.ones((1, 1, 1, 1, 1), np.float32)), Tensor(np.zeros((1, 1, 1, 1, 1), np.int64))).shape
        (1, 1, 2, 2, 2)
    """

    def construct(self, x: Tensor, indices: Any, output_size: Any = None) -> Any:
        return ops.max_unpool3d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class FractionalMaxPool2d(Cell):
    """Max pooling of (N, C, H, W) in windows that are drawn, to `output_size` or to a share of the input's size.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.FractionalMaxPool2d(2, output_size=(3, 3))(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 3, 3)
    """

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices = checks.boolean(type(self).__name__, "return_indices", return_indices)
        self._random_samples = _random_samples

    pool = staticmethod(ops.fractional_max_pool2d)

    def construct(self, input: Tensor) -> Any:
        return self.pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool3d(FractionalMaxPool2d):
    """Max pooling of (N, C, D, H, W) in windows that are drawn.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.FractionalMaxPool3d(2, output_size=(2, 2, 2))(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape
        (1, 2, 2, 2, 2)
    """

    pool = staticmethod(ops.fractional_max_pool3d)
