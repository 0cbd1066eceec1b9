"""Rearranging and resampling images."""

import numpy as np
from table import plus, real, row

from mindspore import Tensor

X1, X2, X3 = real(2, 4, 9), real(2, 4, 6, 5), real(1, 2, 4, 4, 3)
F_ = "mint.nn.functional."

# -- images -----------------------------------------------------------------------------------------------------------
row(
    "pixel_shuffle",
    lambda x: x.reshape(2, 1, 2, 2, 6, 5).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 10),
    X2,
    call=plus(2),
)
row(
    "pixel_unshuffle",
    lambda x: x.reshape(1, 2, 3, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(1, 8, 3, 2),
    real(1, 2, 6, 4),
    call=plus(2),
)
row(
    "SpaceToDepth(2)",
    lambda x: x.reshape(1, 2, 3, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 3, 2),
    real(1, 2, 6, 4),
)
row(
    "DepthToSpace(2)",
    lambda x: x.reshape(2, 2, 2, 1, 6, 5).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 12, 10),
    X2,
)
row("channel_shuffle ChannelShuffle(2)", lambda x: x[:, [0, 2, 1, 3]], X2, call=plus(2))
row(
    "space_to_batch_nd SpaceToBatchND([2,2],[[0,0],[0,0]]) SpaceToBatch(2,[[0,0],[0,0]])",
    lambda x: np.concatenate([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]),
    real(1, 2, 4, 6),
    call=plus([2, 2], [[0, 0], [0, 0]]),
    dtypes="f d",
)
row(
    "batch_to_space_nd BatchToSpaceND([2,2],[[0,0],[0,0]]) BatchToSpace(2,[[0,0],[0,0]])",
    lambda x: x.reshape(2, 2, 1, 2, 2, 3).transpose(2, 3, 4, 0, 5, 1).reshape(1, 2, 4, 6),
    real(4, 2, 2, 3),
    call=plus([2, 2], [[0, 0], [0, 0]]),
    dtypes="f d",
)
row(
    "BatchToSpaceNDV2()",
    lambda x: x.reshape(2, 2, 1, 2, 2, 3).transpose(2, 3, 4, 0, 5, 1).reshape(1, 2, 4, 6),
    real(4, 2, 2, 3),
    call=lambda f, x: f(x, Tensor([2, 2]), Tensor([[0, 0], [0, 0]])),
    dtypes="f",
    grad=0,
    graph=False,
)


def linear_weights(n, m, aligned):
    """The matrix that resamples n points to m by linear interpolation."""
    at = np.arange(m) * (n - 1) / max(m - 1, 1) if aligned else np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
    low = np.minimum(np.floor(at).astype(int), n - 1)
    out = np.zeros((m, n))
    out[np.arange(m), low] += 1 - (at - low)
    out[np.arange(m), np.minimum(low + 1, n - 1)] += at - low
    return out


row(
    f"interpolate upsample {F_}interpolate",
    lambda x: x[:, :, np.arange(12) // 2][:, :, :, np.arange(10) // 2],
    X2,
    call=lambda f, x: f(x, (12, 10)),
    dtypes="e f d",
)
row(
    f"interpolate {F_}interpolate",
    lambda x: np.einsum("ai,bj,ncij->ncab", linear_weights(6, 9, True), linear_weights(5, 7, True), x),
    X2,
    call=plus((9, 7), None, "bilinear", True),
    dtypes="f d",
    tolerance=4,
)
row(
    "interpolate",
    lambda x: np.einsum("ai,bj,ncij->ncab", linear_weights(6, 9, False), linear_weights(5, 7, False), x),
    X2,
    call=plus((9, 7), None, "bilinear", False),
    dtypes="f d",
    tolerance=4,
)
row(
    "interpolate",
    lambda x: np.einsum("ai,nci->nca", linear_weights(9, 5, False), x),
    X1,
    call=plus(5, None, "linear", False),
    dtypes="f d",
    tolerance=4,
)
row(
    "ResizeBilinear((9,7),True)",
    lambda x: np.einsum("ai,bj,ncij->ncab", linear_weights(6, 9, True), linear_weights(5, 7, True), x),
    X2,
    dtypes="f",
    tolerance=4,
)
row(
    "ResizeBilinearV2(True)",
    lambda x: np.einsum("ai,bj,ncij->ncab", linear_weights(6, 9, True), linear_weights(5, 7, True), x),
    X2,
    call=lambda f, x: f(x, (9, 7)),
    dtypes="f",
    tolerance=4,
)
row(
    "ResizeLinear1D()",
    lambda x: np.einsum("ai,nci->nca", linear_weights(9, 5, True), x),
    X1,
    call=lambda f, x: f(x, Tensor([5])),
    dtypes="f",
    tolerance=4,
    graph=False,
)
row(
    "ResizeNearestNeighbor((12,10))",
    lambda x: x[:, :, np.arange(12) // 2][:, :, :, np.arange(10) // 2],
    X2,
    dtypes="f d",
)
row(
    "ResizeNearestNeighborV2()",
    lambda x: x[:, :, np.arange(12) // 2][:, :, :, np.arange(10) // 2],
    X2,
    call=lambda f, x: f(x, (12, 10)),
    dtypes="f d",
)
row(
    "UpsampleNearest3D()",
    lambda x: x.repeat(2, 2).repeat(2, 3).repeat(2, 4),
    X3,
    call=lambda f, x: f(x, (8, 8, 6), None),
    dtypes="f d",
)
row(
    "UpsampleTrilinear3D(True)",
    lambda x: np.einsum(
        "ai,bj,dk,ncijk->ncabd", linear_weights(4, 5, True), linear_weights(4, 6, True), linear_weights(3, 4, True), x
    ),
    X3,
    call=lambda f, x: f(x, (5, 6, 4), None),
    dtypes="f d",
    tolerance=4,
)
