"""Functions of mint with a signature of their own; most of mint is spelt out beside the operation it equals."""

import direct
import numpy as np
from scipy import special
from table import FLOAT, Fixed, ints, plus, positive, real, row, spread

import mindspore as ms

X, Y, P, U = real(3, 4), real(3, 4), positive(3, 4), spread(0.1, 0.9, 3, 4)
CLASS = Fixed(np.array([3, 0, 2], np.int32))
F_ = "mint.nn.functional."
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}

row("mint.clone", lambda x: x, X, dtypes=FLOAT + " i")
row("mint.fix", np.trunc, X)
row("mint.equal", lambda x, y: False, X, Y, grad=0, graph=False)
row("mint.equal", lambda x, y: True, X, X, grad=0, graph=False)
row("mint.select", lambda x: x[:, 2], X, call=plus(1, 2))
row("mint.vdot", np.vdot, real(5), real(5), dtypes="f d")
row("mint.softmax", lambda x: special.softmax(x, 0), X, call=plus(0))
row("mint.empty_like", lambda x: x.shape, X, call=lambda f, x: f(x).shape, grad=0, graph=False)
row("mint.empty", lambda x: (2, 3), X, call=lambda f, x: f(2, 3).shape, grad=0, graph=False)
row("mint.unique", np.unique, ints(0, 4, 9), dtypes="i l", grad=0, graph=False)
row(
    "mint.unique",
    lambda x: np.unique(x, return_inverse=True, return_counts=True),
    ints(0, 4, 9),
    call=lambda f, x: f(x, True, True, True),
    dtypes="i l",
    grad=0,
    graph=False,
)
UPPER = np.triu(real(3, 3)) + 3 * np.eye(3)
row(
    "mint.triangular_solve",
    lambda b, a: np.linalg.solve(np.triu(a), b),
    real(3, 2),
    UPPER,
    call=lambda f, b, a: f(b, a)[0],
    dtypes="f d",
    tolerance=8,
)
row("mint.linalg.inv", np.linalg.inv, UPPER, dtypes="f d", tolerance=8)
row("mint.linalg.norm", lambda x: np.sqrt((x**2).sum()), X, dtypes="f d")
row("mint.linalg.norm", lambda x: np.abs(x).max(1), X, call=plus(float("inf"), 1), dtypes="f d")

# -- functional -------------------------------------------------------------------------------------------------------
row(
    f"{F_}avg_pool1d",
    lambda x: direct.pool(x, (3,), (2,), [(1, 1)], "mean", True),
    real(2, 3, 9),
    call=plus(3, 2, 1),
    dtypes="f d",
    tolerance=2,
)
row(
    f"{F_}avg_pool3d",
    lambda x: direct.pool(x, (2,) * 3, (2,) * 3, [(0, 0)] * 3, "mean"),
    real(1, 2, 4, 4, 4),
    call=plus(2),
    dtypes="f d",
    tolerance=4,
)
row(
    f"{F_}conv1d",
    lambda x, w: direct.conv(x, w, (2,), [(1, 1)], (1,)),
    real(2, 3, 9),
    real(4, 3, 3),
    call=plus(None, 2, 1),
    dtypes="f d",
    tolerance=4,
)
row(
    f"{F_}conv3d",
    lambda x, w: direct.conv(x, w, (1,) * 3, [(1, 1)] * 3, (1,) * 3),
    real(1, 2, 3, 3, 3),
    real(2, 2, 2, 2, 2),
    call=plus(None, 1, 1),
    dtypes="f d",
    tolerance=4,
)
row(f"{F_}flatten", lambda x: x.reshape(3, 8), real(3, 2, 4), call=plus(1))
row(f"{F_}hardtanh", lambda x: np.clip(x, -0.5, 0.75), X, call=plus(-0.5, 0.75))
row(f"{F_}threshold", lambda x: np.where(x > 0.3, x, -2.0), X, call=plus(0.3, -2.0))
row(f"{F_}normalize", lambda x: x / np.sqrt((x**2).sum(1, keepdims=True)), X, dtypes="f d", tolerance=4)
row(f"{F_}dropout {F_}dropout2d", lambda x: x, real(2, 3, 4, 5), call=plus(0.5, False), grad=0)
for reduction, reduce in REDUCTIONS.items():
    reduced = plus(reduction=reduction)
    row(
        f"{F_}binary_cross_entropy",
        lambda x, y, r=reduce: r(-y * np.log(x) - (1 - y) * np.log1p(-x)),
        U,
        spread(0.1, 0.9, 3, 4),
        call=reduced,
        dtypes="f d",
        tolerance=4,
    )
    row(
        f"{F_}binary_cross_entropy_with_logits",
        lambda x, y, r=reduce: r(np.logaddexp(0, x) - x * y),
        X,
        U,
        call=reduced,
        dtypes="f d",
        tolerance=4,
    )
    row(
        f"{F_}kl_div",
        lambda x, y, r=reduce: r(special.xlogy(y, y) - y * x),
        X,
        P,
        call=reduced,
        dtypes="f d",
        tolerance=4,
    )
    row(f"{F_}nll_loss", lambda x, t, r=reduce: r(-x[np.arange(3), t]), X, CLASS, call=reduced, dtypes="f d")

# -- in place ---------------------------------------------------------------------------------------------------------
IN_PLACE = {"grad": 0, "vmap": False, "graph": False, "dtypes": "f d"}


def changed(*args):
    """Apply to a Parameter and return what it holds afterwards."""

    def call(f, x):
        parameter = ms.Parameter(x)
        f(parameter, *args)
        return parameter

    return call


row(f"{F_}relu_", lambda x: np.maximum(x, 0), X, call=changed(), **IN_PLACE)
row(f"{F_}sigmoid_", special.expit, X, call=changed(), **IN_PLACE)
row(f"{F_}elu_", lambda x: np.where(x > 0, x, np.expm1(x)), X, call=changed(), **IN_PLACE)
row(f"{F_}hardtanh_", lambda x: np.clip(x, -0.5, 0.75), X, call=changed(-0.5, 0.75), **IN_PLACE)
row(f"{F_}threshold_", lambda x: np.where(x > 0.3, x, -2.0), X, call=changed(0.3, -2.0), **IN_PLACE)

# -- batch normalisation in parts, and convolution with time first ------------------------------------------------------
row(
    "mint.batch_norm_stats",
    lambda x: (x.mean((0, 2)), 1 / np.sqrt(x.var((0, 2)) + 1e-3)),
    real(3, 2, 4),
    call=plus(1e-3),
    dtypes="f d",
    tolerance=8,
)
row(
    "mint.batch_norm_elemt",
    lambda x, w, b, m, i: (x - m[:, None]) * i[:, None] * w[:, None] + b[:, None],
    real(3, 2, 4),
    *(real(2) for _ in range(4)),
    dtypes="f d",
    tolerance=4,
)
row(
    "mint.conv_tbc",
    lambda x, w, b: sum(np.pad(x, ((1, 1), (0, 0), (0, 0)))[k : k + 5] @ w[k] for k in range(3)) + b,
    real(5, 2, 3),
    real(3, 3, 4),
    real(4),
    call=plus(1),
    dtypes="f d",
    tolerance=8,
)
row("mint.npu_gelu", lambda x: x * special.ndtr(x), X, dtypes="f d", tolerance=2)
