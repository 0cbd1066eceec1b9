"""Losses, with every reduction."""

import numpy as np
from scipy import special
from table import Fixed, plus, positive, real, row, spread

X, P, G = real(3, 4), positive(3, 4), positive(4)
F_ = "mint.nn.functional."


def softplus(x):
    return np.logaddexp(0, x)


# -- losses -----------------------------------------------------------------------------------------------------------
Y = real(3, 4)
CLASS = Fixed(np.array([3, 0, 2], np.int32))
SIGN = np.array([1.0, -1.0, 1.0])
for reduction, reduce in {"mean": np.mean, "sum": np.sum, "none": lambda x: x}.items():
    with_reduction = plus(reduction=reduction)
    q = f"(reduction='{reduction}')"
    row(f"mse_loss {F_}mse_loss", lambda x, y, r=reduce: r((x - y) ** 2), X, Y, call=with_reduction, tolerance=2)
    row(f"l1_loss {F_}l1_loss", lambda x, y, r=reduce: r(np.abs(x - y)), X, Y, call=with_reduction, tolerance=2)
    row(
        f"smooth_l1_loss SmoothL1Loss(1.0,'{reduction}') {F_}smooth_l1_loss",
        lambda x, y, r=reduce: r(np.where(np.abs(x - y) < 1, (x - y) ** 2 / 2, np.abs(x - y) - 0.5)),
        X,
        Y,
        call=with_reduction,
        tolerance=2,
    )
    row(
        "huber_loss",
        lambda x, y, r=reduce: r(np.where(np.abs(x - y) < 0.5, (x - y) ** 2 / 2, 0.5 * (np.abs(x - y) - 0.25))),
        X,
        Y,
        call=plus(reduction, 0.5),
        tolerance=2,
    )
    row(
        f"binary_cross_entropy BinaryCrossEntropy{q}",
        lambda x, y, w, r=reduce: r(-w * (y * np.log(x) + (1 - y) * np.log1p(-x))),
        spread(0.1, 0.9, 3, 4),
        spread(0.1, 0.9, 3, 4),
        P,
        call=with_reduction,
        tolerance=4,
    )
    row(
        f"binary_cross_entropy_with_logits BCEWithLogitsLoss{q}",
        lambda x, y, w, p, r=reduce: r(w * (p * y * softplus(-x) + (1 - y) * softplus(x))),
        X,
        spread(0.1, 0.9, 3, 4),
        P,
        positive(4),
        call=with_reduction,
        tolerance=4,
    )
    row(
        f"kl_div KLDivLoss{q}",
        lambda x, y, r=reduce: r(special.xlogy(y, y) - y * x),
        X,
        P,
        call=with_reduction,
        tolerance=4,
    )
    row(
        "cross_entropy",
        lambda x, t, r=reduce: r(-special.log_softmax(x, 1)[np.arange(3), t]),
        X,
        CLASS,
        call=with_reduction,
        tolerance=4,
    )
    row(
        "soft_margin_loss SoftMarginLoss" + q,
        lambda x, y, r=reduce: r(np.log1p(np.exp(-np.sign(y) * x))),
        X,
        Y,
        call=lambda f, x, y, w=with_reduction: w(f, x, y.sign()),
        tolerance=4,
        grad=0,
    )
    row(
        "hinge_embedding_loss",
        lambda x, y, r=reduce: r(np.where(y == 1, x, np.maximum(0, 1 - x))),
        real(3),
        Fixed(SIGN.astype(np.float32)),
        call=with_reduction,
        dtypes="f d",
        tolerance=2,
        keeps=False,
    )
    row(
        "margin_ranking_loss",
        lambda a, b, y, r=reduce: r(np.maximum(0, -y * (a - b) + 0.2)),
        real(3),
        real(3),
        Fixed(SIGN.astype(np.float32)),
        call=plus(0.2, reduction),
        dtypes="f d",
        tolerance=2,
        keeps=False,
    )
    row(
        "cosine_embedding_loss",
        lambda a, b, y, r=reduce: r(np.where(y == 1, 1 - cosine(a, b), np.maximum(0, cosine(a, b) - 0.1))),
        X,
        Y,
        Fixed(SIGN.astype(np.int32)),
        call=plus(0.1, reduction),
        dtypes="f d",
        tolerance=8,
    )
    row(
        f"multi_margin_loss MultiMarginLoss{q}",
        lambda x, t, r=reduce: r((np.maximum(0, 1 - x[np.arange(3), t][:, None] + x).sum(1) - 1) / 4),
        0.9 * X,
        Fixed(np.array([3, 0, 2])),
        call=with_reduction,
        dtypes="e f d",
        tolerance=4,
    )
    row(
        "multilabel_soft_margin_loss",
        lambda x, y, r=reduce: r((y * softplus(-x) + (1 - y) * softplus(x)).mean(1)),
        X,
        spread(0.1, 0.9, 3, 4),
        call=with_reduction,
        dtypes="f d",
        tolerance=4,
    )
    row(
        "gaussian_nll_loss",
        lambda x, y, v, r=reduce: r((np.log(v) + (x - y) ** 2 / v) / 2),
        X,
        Y,
        P,
        call=with_reduction,
        dtypes="e f d",
        tolerance=4,
    )
    row(
        "poisson_nll_loss",
        lambda x, y, r=reduce: r(np.exp(x) - y * x),
        X,
        P,
        call=with_reduction,
        dtypes="e f d",
        tolerance=4,
    )
    row(
        f"triplet_margin_loss TripletMarginLoss{q}",
        lambda a, p, n, r=reduce: r(np.maximum(0, apart(a, p) - apart(a, n) + 1)),
        X,
        Y,
        P,
        dtypes="f d",
        tolerance=8,
        call=lambda f, a, p, n, w=with_reduction: (
            f(a, p, n, __import__("mindspore").Tensor(1.0)) if hasattr(f, "attrs") else w(f, a, p, n)
        ),
    )
row("nll_loss", lambda x, t: -(x[np.arange(3), t]).mean(), X, CLASS)
row(
    "nll_loss",
    lambda x, t, w: -(x[np.arange(3), t] * w[t]).sum() / w[t].sum(),
    X,
    CLASS,
    G,
    call=lambda f, x, t, w: f(x, t, w),
    tolerance=2,
)
row(
    "NLLLoss()", lambda x, t, w: (-(x[np.arange(3), t] * w[t]).sum() / w[t].sum(), w[t].sum()), X, CLASS, G, tolerance=2
)
row(
    "cross_entropy", lambda x, y: -(y * special.log_softmax(x, 1)).sum(1).mean(), X, spread(0.1, 0.9, 3, 4), tolerance=4
)
row(
    "cross_entropy",
    lambda x, t: (0.8 * -special.log_softmax(x, 1)[np.arange(3), t] + 0.2 * -special.log_softmax(x, 1).mean(1)).mean(),
    X,
    CLASS,
    call=plus(label_smoothing=0.2),
    tolerance=4,
)
row(
    "cross_entropy",
    lambda x, t: -special.log_softmax(x, 1)[[0, 2], [3, 2]].mean(),
    X,
    CLASS,
    call=plus(ignore_index=0),
    tolerance=4,
)
row(
    "SoftmaxCrossEntropyWithLogits()",
    lambda x, y: (-(y * special.log_softmax(x, 1)).sum(1), special.softmax(x, 1) - y),
    X,
    special.softmax(real(3, 4), 1),
    tolerance=8,
    grad=0,
)
row(
    "SoftmaxCrossEntropyWithLogits()",
    lambda x, y: -(y * special.log_softmax(x, 1)).sum(1),
    X,
    Fixed(np.eye(4, dtype=np.int32)[[3, 0, 2]]),  # the table differentiates by all floats, and labels have no gradient
    call=lambda f, x, y: f(x, y.astype(x.dtype))[0],
    dtypes="f d",
    tolerance=4,
)
row(
    "SparseSoftmaxCrossEntropyWithLogits()",
    lambda x, t: -special.log_softmax(x, 1)[np.arange(3), t].mean(),
    X,
    CLASS,
    dtypes="f",
    tolerance=4,
)
row(
    "SparseSoftmaxCrossEntropyWithLogitsV2()",
    lambda x, t: -special.log_softmax(x, 1)[np.arange(3), t],
    X,
    CLASS,
    call=lambda f, x, t: f(x, t)[0],
    dtypes="f",
    tolerance=4,
)
row("SigmoidCrossEntropyWithLogits()", lambda x, y: softplus(x) - x * y, X, spread(0.1, 0.9, 3, 4), tolerance=4)
row("SmoothL1(0.5)", lambda x, y: np.where(np.abs(x - y) < 0.5, (x - y) ** 2, np.abs(x - y) - 0.25), X, Y, dtypes="f d")
row("SparseCrossEntropy()", lambda x, t: -special.log_softmax(x, 1)[np.arange(3), t], X, CLASS, tolerance=4)
row(
    "multilabel_margin_loss MultilabelMarginLoss()",
    lambda x, t: np.mean(
        [(np.maximum(0, 1 - (r[3] - r[[0, 1]])).sum() + np.maximum(0, 1 - (r[2] - r[[0, 1]])).sum()) / 4 for r in x]
    ),
    0.9 * X,
    Fixed(np.tile(np.array([3, 2, -1, 0], np.int32), (3, 1))),
    dtypes="e f",
    call=lambda f, x, t: f(x, t) if not hasattr(f, "attrs") else f(x, t)[0],
    tolerance=2,
)
row("pairwise_distance", lambda x, y: np.sqrt(((x - y + 1e-6) ** 2).sum(-1)), X, Y, dtypes="f d", tolerance=4)


def cosine(a, b):
    return (a * b).sum(1) / np.sqrt(((a**2).sum(1) + 1e-12) * ((b**2).sum(1) + 1e-12))


def apart(a, b):
    return np.sqrt(((a - b + 1e-6) ** 2).sum(-1))
