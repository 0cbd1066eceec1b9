"""Classes of operations on windows of images and volumes: dilation, patches, fractional and older poolings, offsets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ops import deformable, fractional_pooling
from mindspore.ops.composition import REQUIRED, composition
from mindspore.ops.joining import pad_pairs
from mindspore.prims.arrays import Transpose
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.pooling import AvgPool, MaxPool
from mindspore.prims.reduction import ReduceMax
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive


# -- patches --------------------------------------------------------------------------------------------------------------
def _windows(x: Tensor, kernel: Any, strides: Any, dilations: Any, mode: str, fill: float) -> tuple[Any, tuple]:
    """The windows of the last dimensions: (…, kernel elements, windows), and how many windows per dimension."""
    rank, lead = len(kernel), x.shape[: x.ndim - len(kernel)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    sizes = x.shape[len(lead) :]
    if mode.lower() == "same":
        count = [-(-n // s) for n, s in zip(sizes, strides)]
        total = [max((c - 1) * s + r - n, 0) for c, s, r, n in zip(count, strides, reach, sizes)]
        x = pad_pairs(x, ((0, 0),) * len(lead) + tuple((t // 2, t - t // 2) for t in total), "constant", fill)
    else:
        count = [(n - r) // s + 1 for n, s, r in zip(sizes, strides, reach)]
    spans = [
        np.arange(k)[:, None] * d + np.arange(c)[None] * s for k, d, c, s in zip(kernel, dilations, count, strides)
    ]
    index = np.zeros((1, 1), np.int64)
    for span, size in zip(spans, x.shape[len(lead) :]):
        index = (index[:, None, :, None] * size + span[None, :, None, :]).reshape(
            index.shape[0] * span.shape[0], index.shape[1] * span.shape[1]
        )
    flat = Reshape()(x, (*lead, math.prod(x.shape[len(lead) :])))
    return Gather()(flat, from_array(index), len(lead)), tuple(count[:rank])


def _dilation(self: Any, x: Tensor, filter: Tensor) -> Any:
    strides, dilations = (
        tuple(v)[-2:] if isinstance(v, (tuple, list)) else (v, v) for v in (self.stride, self.dilation)
    )
    taps, count = _windows(x, filter.shape[1:], strides, dilations, self.pad_mode, -np.inf)
    raised = taps + Reshape()(filter, (filter.shape[0], -1, 1))
    return Reshape()(ReduceMax()(raised, 2), (*x.shape[:2], *count))


Dilation2D = composition(
    "Dilation2D", _dilation, """Grey dilation of (N, C, H, W): the maximum of window plus filter.

    Examples:
        >>> x, kernel = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), ops.zeros((1, 2, 2))
        >>> print(ops.Dilation2D(stride=1, dilation=1, pad_mode="VALID")(x, kernel))
        [[[[4.]]]]
    """, stride=REQUIRED,
    dilation=REQUIRED, pad_mode="SAME", data_format="NCHW",
)  # fmt: skip


def _volume_patches(self: Any, x: Tensor) -> Any:
    kernel, strides = (
        tuple(v)[-3:] if isinstance(v, (tuple, list)) else (v,) * 3 for v in (self.kernel_size, self.strides)
    )
    taps, count = _windows(x, kernel, strides, (1, 1, 1), self.padding, 0.0)
    n, channels, area, _ = taps.shape
    return Reshape()(Transpose()(taps, (0, 2, 1, 3)), (n, area * channels, *count))


ExtractVolumePatches = composition(
    "ExtractVolumePatches", _volume_patches, """Windows of (N, C, D, H, W) as channels.

    Examples:
        >>> x = ops.ones((1, 1, 3, 3, 3))
        >>> ops.ExtractVolumePatches([1, 1, 2, 2, 2], [1, 1, 1, 1, 1], "VALID")(x).shape
        (1, 8, 2, 2, 2)
    """, kernel_size=REQUIRED,
    strides=REQUIRED, padding=REQUIRED,
)  # fmt: skip


def _fractional(rank: int) -> Any:
    def function(self: Primitive, x: Tensor, random_samples: Tensor) -> tuple:
        kernel, out = (fractional_pooling.sizes(self.name, n, getattr(self, n), rank) for n in ("ksize", "output_shape"))
        return fractional_pooling.fractional_pool(self.name, x, kernel, out, random_samples)

    return function


FractionalMaxPoolWithFixedKsize = composition(
    "FractionalMaxPoolWithFixedKsize", _fractional(2), """Maxima of drawn windows, and their places.

    Examples:
        >>> drawn = Tensor([[[0.5, 0.5]]])
        >>> ops.FractionalMaxPoolWithFixedKsize((2, 2), (3, 3))(ops.ones((1, 1, 8, 8)), drawn)[0].shape
        (1, 1, 3, 3)
    """, ksize=REQUIRED,
    output_shape=REQUIRED, data_format="NCHW",
)  # fmt: skip
FractionalMaxPool3DWithFixedKsize = composition(
    "FractionalMaxPool3DWithFixedKsize", _fractional(3), """Maxima of drawn windows, and their places.

    Examples:
        >>> drawn = Tensor([[[0.5, 0.5, 0.5]]])
        >>> ops.FractionalMaxPool3DWithFixedKsize((2, 2, 2), (3, 3, 3))(ops.ones((1, 1, 8, 8, 8)), drawn)[0].shape
        (1, 1, 3, 3, 3)
    """, ksize=REQUIRED,
    output_shape=REQUIRED, data_format="NCDHW",
)  # fmt: skip
DeformableOffsets = composition(
    "DeformableOffsets",
    lambda self, x, offsets: deformable.deformable_offsets(
        x, offsets, self.strides, self.pads, self.ksize, self.dilations, self.deformable_groups, self.modulated
    ),
    """The samples of a deformable convolution.

    Examples:
        >>> x, offsets = ops.ones((1, 1, 3, 3)), ops.zeros((1, 8, 2, 2))
        >>> ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (2, 2), modulated=False)(x, offsets).shape
        (1, 1, 4, 4)
    """, strides=REQUIRED, pads=REQUIRED, ksize=REQUIRED,
    dilations=(1, 1, 1, 1), data_format="NCHW", deformable_groups=1, modulated=True,
)  # fmt: skip


def _old_pool(name: str, kind: Any, doc: str) -> Any:
    def function(self: Primitive, x: Tensor) -> Any:
        sizes = [tuple(v)[-2:] if isinstance(v, (tuple, list)) else v for v in (self.kernel_size, self.strides)]
        return kind(*sizes, self.pad_mode, self.data_format)(x)

    return composition(
        name, function, doc, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"
    )


MaxPoolV1 = _old_pool("MaxPoolV1", MaxPool, """Pooling of 2-d windows.

    Examples:
        >>> print(ops.MaxPoolV1(kernel_size=2, strides=2)(Tensor([[[[1.0, 5.0], [2.0, 3.0]]]])))
        [[[[5.]]]]
    """)
AvgPoolV1 = _old_pool("AvgPoolV1", AvgPool, """Pooling of 2-d windows.

    Examples:
        >>> ops.AvgPoolV1(kernel_size=2, strides=2)(ops.ones((1, 1, 4, 4))).shape
        (1, 1, 2, 2)
    """)

__all__ = [
    "AvgPoolV1", "DeformableOffsets", "Dilation2D", "ExtractVolumePatches", "FractionalMaxPool3DWithFixedKsize",
    "FractionalMaxPoolWithFixedKsize", "MaxPoolV1",
]  # fmt: skip
