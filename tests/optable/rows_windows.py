"""Convolution and pooling. The grids of settings are in test_grids.py."""

import direct
import numpy as np
from table import FLOAT, plus, positive, real, row

import mindspore as ms
from mindspore import Tensor, ops

X1, X2, X3 = real(2, 4, 9), real(2, 4, 6, 5), real(1, 2, 4, 4, 3)
F_ = "mint.nn.functional."


def ones(rank):
    return (1,) * rank


def none(rank):
    return [(0, 0)] * rank


# -- convolution ------------------------------------------------------------------------------------------------------
W1, W2, W3 = real(3, 4, 3), real(3, 4, 3, 2), real(2, 2, 2, 3, 2)
row(
    "conv1d Conv1D(3,3)",
    lambda x, w: direct.conv(x, w, ones(1), none(1), ones(1)),
    X1,
    W1,
    tolerance=4,
    dtypes="e f d",
)
row(
    "conv2d Conv2D(3,(3,2))",
    lambda x, w: direct.conv(x, w, ones(2), none(2), ones(2)),
    X2,
    W2,
    tolerance=4,
    dtypes=FLOAT,
)
row(
    f"{F_}conv2d",
    lambda x, w: direct.conv(x, w, (2, 2), [(1, 1)] * 2, ones(2)),
    X2,
    W2,
    call=plus(None, 2, 1),
    tolerance=4,
)
row(
    "conv3d Conv3D(2,(2,3,2))",
    lambda x, w: direct.conv(x, w, ones(3), none(3), ones(3)),
    X3,
    W3,
    tolerance=4,
    dtypes="e f d",
)
row(
    "conv_transpose1d",
    lambda x, w: direct.conv_transpose(x, w, ones(1), none(1), ones(1), (0,)),
    real(2, 3, 4),
    real(3, 2, 3),
    tolerance=4,
    dtypes="f d",
)
row(
    f"conv_transpose2d {F_}conv_transpose2d",
    lambda x, w: direct.conv_transpose(x, w, (2, 2), [(1, 1)] * 2, ones(2), (1, 1)),
    real(2, 3, 3, 3),
    real(3, 2, 3, 3),
    call=plus(None, 2, 1, 1),
    tolerance=4,
    dtypes="f d",
)
row(
    "conv_transpose3d conv3d_transpose Conv3DTranspose(2,2,2)",
    lambda x, w: direct.conv_transpose(x, w, ones(3), none(3), ones(3), (0, 0, 0)),
    X3,
    real(2, 2, 2, 2, 2),
    tolerance=4,
    dtypes="f d",
)
row(
    "Conv2DBackpropInput(3,3) Conv2DTranspose(3,3)",
    lambda d, w: direct.conv_transpose(d, w, ones(2), none(2), ones(2), (0, 0)),
    real(1, 3, 4, 3),
    real(3, 2, 3, 3),
    call=lambda f, d, w: f(d, w, (1, 2, 6, 5)),
    tolerance=4,
    dtypes="f d",
)
row(
    "Conv1DBackpropInput(3,3)",
    lambda d, w: direct.conv_transpose(d, w, ones(1), none(1), ones(1), (0,)),
    real(1, 3, 4),
    real(3, 2, 3),
    call=lambda f, d, w: f(d, w, (1, 2, 6)),
    tolerance=4,
    dtypes="f d",
)
row(
    "Conv3DBackpropInput(3,2)",
    lambda d, w: direct.conv_transpose(d, w, ones(3), none(3), ones(3), (0, 0, 0)),
    real(1, 3, 2, 2, 2),
    real(3, 2, 2, 2, 2),
    call=lambda f, d, w: f(d, w, (1, 2, 3, 3, 3)),
    tolerance=4,
    dtypes="f d",
)


def filter_gradient(d, x):
    """Correlation of the input with the gradient, channel by channel."""
    return direct.conv(
        x.swapaxes(0, 1), d.swapaxes(0, 1), ones(d.ndim - 2), none(d.ndim - 2), ones(d.ndim - 2)
    ).swapaxes(0, 1)


row(
    "Conv2DBackpropFilter(3,3)",
    filter_gradient,
    real(2, 3, 4, 3),
    real(2, 2, 6, 5),
    call=lambda f, d, x: f(d, x, (3, 2, 3, 3)),
    tolerance=8,
    dtypes="f d",
)
row(
    "Conv1DBackpropFilter(3,3)",
    filter_gradient,
    real(2, 3, 4),
    real(2, 2, 6),
    call=lambda f, d, x: f(d, x, (3, 2, 3)),
    tolerance=8,
    dtypes="f d",
)
row(
    "Conv3DBackpropFilter(3,2)",
    filter_gradient,
    real(1, 3, 2, 2, 2),
    real(1, 2, 3, 3, 3),
    call=lambda f, d, x: f(d, x, (3, 2, 2, 2, 2)),
    tolerance=8,
    dtypes="f d",
)
row(
    "DepthwiseConv2dNative(1,3)",
    lambda x, w: direct.conv(x, w.swapaxes(0, 1), ones(2), none(2), ones(2), 4),
    X2,
    real(1, 4, 3, 3),
    tolerance=4,
    dtypes="f d",
)


def unfolded(x, kernel, stride):
    rows = [x[:, :, i : i + 5 : stride, j : j + 4 : stride] for i in range(kernel) for j in range(kernel)]
    return np.stack(rows, 2).reshape(x.shape[0], -1, rows[0].shape[2] * rows[0].shape[3])


row(f"unfold {F_}unfold", lambda x: unfolded(x, 2, 1), X2, call=plus(2), dtypes="e f d")
row("Im2Col(2)", lambda x: unfolded(x, 2, 1).reshape(2, 4, 4, -1), X2, dtypes="f d")
row(
    f"fold {F_}fold",
    lambda x: x.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 4),
    real(2, 12, 4),
    call=plus((4, 4), 2, stride=2),
    dtypes="f d",
)
row(
    "Col2Im(2,1,0,2)",
    lambda x: x.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 4),
    real(2, 3, 4, 4),
    call=lambda f, x: f(x, Tensor([4, 4], ms.int32)),
    dtypes="f d",
)
row(
    "ExtractImagePatches((1,1,2,2),(1,1,1,1),(1,1,1,1))",
    lambda x: unfolded(x, 2, 1).reshape(2, 4, 4, 5, 4).swapaxes(1, 2).reshape(2, 16, 5, 4),
    X2,
    dtypes="f",
)

# -- pooling ----------------------------------------------------------------------------------------------------------
row("max_pool2d MaxPool(2,2)", lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "max"), X2, call=plus(2))
row(
    f"{F_}max_pool2d", lambda x: direct.pool(x, (3, 3), (2, 2), [(1, 1)] * 2, "max"), X2, call=plus(3, 2, 1), vmap=False
)
row(
    "avg_pool2d AvgPool(2,2)",
    lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "mean"),
    X2,
    call=plus(2, 2),
    tolerance=2,
)
row(
    f"{F_}avg_pool2d",
    lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "mean"),
    X2,
    call=plus(2),
    tolerance=2,
)
row("avg_pool1d", lambda x: direct.pool(x, (3,), (2,), none(1), "mean"), X1, call=plus(3, 2), tolerance=2)
row(
    "avg_pool3d AvgPool3D(2,2)",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, none(3), "mean"),
    X3,
    call=plus(2, 2),
    tolerance=4,
    dtypes="e f d",
)
row(
    "max_pool3d MaxPool3D(2,2)",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, none(3), "max"),
    X3,
    call=plus(2),
    dtypes="e f d",
)
row(
    "MaxPoolWithArgmax(2,2) MaxPoolWithArgmaxV2(2,2)",
    lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "max"),
    X2,
    call=lambda f, x: f(x)[0],
    dtypes="e f d",
)
row(
    "MaxPoolWithArgmax(2,2)",
    lambda x: np.array([c * x[0, 0].size + int(np.argmax(x[n, c])) for n, c in np.ndindex(*x.shape[:2])]),
    X2[..., :2, :2],
    call=lambda f, x: f(x)[1].reshape(-1),
    grad=0,
    dtypes="f d",
)
row(
    "MaxPool3DWithArgmax(2,2,0)",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, none(3), "max"),
    X3,
    call=lambda f, x: f(x)[0],
    dtypes="f d",
)
row("MaxPoolNd(2,2,2) ", lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "max"), X2, dtypes="f d")
row(
    "MaxPoolWithIndices(2,2,2)",
    lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "max"),
    X2,
    call=lambda f, x: f(x)[0],
    dtypes="f d",
)
row("AvgPoolNd(2,2,2)", lambda x: direct.pool(x, (2, 2), (2, 2), none(2), "mean"), X2, dtypes="f d")
for rank, x in ((1, X1), (2, X2), (3, X3)):
    size = (3, 2, 2)[:rank]
    given = size if rank > 1 else 3
    classes = f" AdaptiveAvgPool{rank}D({size})".replace(" ", "") if rank > 1 else ""
    row(
        f"adaptive_avg_pool{rank}d {classes} {F_}adaptive_avg_pool{rank}d",
        lambda x, s=size: direct.adaptive(x, s, "mean"),
        x,
        call=plus(given),
        dtypes="e f d",
        tolerance=4,
        vmap=False,
    )
    row(
        f"adaptive_max_pool{rank}d",
        lambda x, s=size: direct.adaptive(x, s, "max"),
        x,
        call=plus(given),
        dtypes="e f d",
        vmap=False,
    )
row(
    "AdaptiveMaxPool2D((3,2))",
    lambda x: direct.adaptive(x, (3, 2), "max"),
    X2,
    call=lambda f, x: f(x)[0] if isinstance(f(x), tuple) else f(x),
    dtypes="f d",
)
row(
    "AdaptiveMaxPool3D()",
    lambda x: direct.adaptive(x, (3, 2, 2), "max"),
    X3,
    call=lambda f, x: f(x, Tensor([3, 2, 2], ms.int32))[0],
    dtypes="f d",
    graph=False,
)
row(
    "lp_pool1d",
    lambda x: (direct.pool(x**2, (3,), (2,), none(1), "mean") * 3) ** 0.5,
    positive(2, 4, 9),
    call=plus(2, 3, 2),
    dtypes="f d",
    tolerance=8,
)
row(
    "lp_pool2d",
    lambda x: (direct.pool(x**2, (2, 2), (2, 2), none(2), "mean") * 4) ** 0.5,
    positive(2, 4, 6, 5),
    call=plus(2, 2),
    dtypes="f d",
    tolerance=8,
)


def spread_back(rank, extra=()):
    """Pool with indices and put the maxima back: zeros elsewhere."""

    def call(f, x):
        out, index = (ops.max_pool2d if rank == 2 else ops.max_pool3d)(x, 2, return_indices=True)
        return f(out, index) if getattr(f, "attrs", None) else f(out, index, 2)

    return call


def unpooled(x):
    rank = x.ndim - 2
    out = np.zeros_like(x)
    for lead in np.ndindex(*x.shape[:2]):
        for place in np.ndindex(*(n // 2 for n in x.shape[2:])):
            window = tuple(slice(2 * p, 2 * p + 2) for p in place)
            block = x[lead][window]
            out[lead][window] = np.where(block == block.max(), block, 0)
    assert rank
    return out


row(
    "max_unpool2d MaxUnpool2D(2) mint.nn.functional.max_unpool2d",
    unpooled,
    real(2, 3, 4, 6),
    call=spread_back(2),
    dtypes="f d",
)
row("max_unpool3d MaxUnpool3D(2)", unpooled, real(1, 2, 4, 4, 2), call=spread_back(3), dtypes="f d")
row(
    "max_unpool1d",
    lambda x: np.array([[[0, 3.0, 0, 4]]]),
    np.array([[[3.0, 4.0]]]),
    call=lambda f, x: f(x, Tensor([[[1, 3]]]), 2),
    dtypes="f d",
)
