"""Losses as functions. Each computes element by element, then `reduce_loss` takes the mean or the sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    require_numbers,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    to_float,
)
from mindspore.ops.norms import cosine_similarity
from mindspore.prims import checks
from mindspore.prims import elementwise as _ew
from mindspore.prims import loss as _loss
from mindspore.prims.activation import LogSoftmax
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import TENSOR_INDEX, ExpandDims, GetItem
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.creation import Eye
from mindspore.prims.gather_scatter import GatherD
from mindspore.prims.reduction import ReduceMean
from mindspore.prims.requirements import demand_labels
from mindspore.prims.setting_types import setting_types
from mindspore.prims.values import from_array
from mindspore.runtime import devices

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss",
    "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss", "pairwise_distance", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip

_LOG_FLOOR = -100.0  # logarithms of probabilities are cut here, so that 0 gives a large loss instead of infinity


def check_reduction(op: str, reduction: Any, allowed: tuple[str, ...] = ("none", "mean", "sum")) -> str:
    if reduction not in allowed:
        raise ValueError(f"For '{op}', 'reduction' must be one of {allowed}, but got {reduction!r}.")
    return reduction


def reduce_loss(op: str, loss: Tensor, reduction: str) -> Tensor:
    """The loss itself, its mean or its sum."""
    check_reduction(op, reduction)
    if reduction == "mean":
        return ReduceMean()(loss, ())
    return ReduceSum()(loss, ()) if reduction == "sum" else loss


def _pair(op: str, x: Tensor, y: Any) -> tuple[Any, Any]:
    return require_tensor(op, "input", x), require_tensor(op, "target", y)


def _pair_alike(op: str, x: Tensor, y: Any) -> tuple[Any, Any]:
    """Two tensors of one shape: one loss would silently become a table of all pairs if they were stretched."""
    checks.same_shape(op, "target", _pair(op, x, y)[1].shape, "input", x.shape)
    return x, y


def _weighed(op: str, losses: Any, weight: Any) -> Any:
    return losses if weight is None else losses * require_tensor(op, "weight", weight)


def _one_minus(x: Tensor) -> Any:
    return 1.0 - x


# -- distances --------------------------------------------------------------------------------------------------------
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target)².

    Examples:
        >>> import mindspore as ms
        >>> float(ms.ops.mse_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """
    require_tensors("mse_loss", target=target)
    x, y = _pair("mse_loss", input, target)
    return reduce_loss("mse_loss", _ew.Square()(to_float(x - y)), reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """|input - target|.

    Examples:
        >>> print(ops.l1_loss(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
        1.5
    """
    require_tensors("l1_loss", target=target)
    x, y = _pair("l1_loss", input, target)
    return reduce_loss("l1_loss", _ew.Abs()(x - y), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """0.5 d² / beta where |d| < beta, else |d| - 0.5 beta.

    Examples:
        >>> print(ops.smooth_l1_loss(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
        [0.125 3.5  ]
    """
    require_tensors("smooth_l1_loss", target=target)
    x, y = _pair_alike("smooth_l1_loss", input, target)
    return reduce_loss("smooth_l1_loss", _loss.SmoothL1(beta)(x, y), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """0.5 d² where |d| <= delta, else delta (|d| - 0.5 delta).

    Examples:
        >>> print(ops.huber_loss(Tensor([1.5, 5.0]), Tensor([1.0, 1.0]), reduction="none"))
        [0.125 3.5  ]
    """
    require_tensors("huber_loss", target=target)
    x, y = _pair("huber_loss", input, target)
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or delta <= 0:
        raise ValueError(f"For 'huber_loss', 'delta' must be a positive number, but got {delta!r}.")
    return reduce_loss("huber_loss", _loss.SmoothL1(delta)(x, y) * float(delta), reduction)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension.

    Examples:
        >>> print(ops.pairwise_distance(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])).round(decimals=4))
        [5.]
    """
    require_numbers("pairwise_distance", p=p, eps=eps)
    require_operands("pairwise_distance", x1=x1, x2=x2)
    return _vector_norm(x1 - x2 + eps, p, keepdim)


def _vector_norm(x: Tensor, p: float, keepdim: bool = False) -> Any:
    """The p-norm over the last dimension."""
    if p == 2:
        return _ew.Sqrt()(ReduceSum(keepdim)(x * x, -1))
    size = _ew.Abs()(x)
    if p == 1:
        return ReduceSum(keepdim)(size, -1)
    if p == 0:
        return ReduceSum(keepdim)(cast(_ew.NotEqual()(x, 0), x.dtype), -1)
    if math.isinf(p):
        from mindspore.prims.reduction import ReduceMax

        return ReduceMax(keepdim)(size, -1)
    return _ew.Pow()(ReduceSum(keepdim)(_ew.Pow()(size, float(p)), -1), 1.0 / p)


# -- classification ---------------------------------------------------------------------------------------------------
@setting_types(ignore_index=int, label_smoothing=float)
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """The cross entropy of softmax(input) with class indices or class probabilities.

    Args:
        input: logits of shape (C,), (N, C) or (N, C, *).
        target: indices of shape (), (N,) or (N, *), or probabilities of the shape of `input`.
        weight: one factor per class.
        ignore_index: targets of this value do not count.
        label_smoothing: how much of each label is spread over all classes.

    Examples:
        >>> import mindspore as ms
        >>> loss = ms.ops.cross_entropy(ms.Tensor([[0.0, 0.0]]), ms.Tensor([1], ms.int32))
        >>> round(float(loss), 4)
        0.6931
    """
    require_numbers("cross_entropy", label_smoothing=label_smoothing)
    require_tensors("cross_entropy", target=target)
    x, y = _pair("cross_entropy", input, target)
    check_reduction("cross_entropy", reduction)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"For 'cross_entropy', 'label_smoothing' must be in range [0, 1], but got {label_smoothing}.")
    axis = 0 if x.ndim == 1 else 1
    if y.dtype.kind == "f" and y.shape == x.shape:
        return _probability_loss(x, y, weight, reduction, label_smoothing, axis)
    if weight is None and not label_smoothing and x.ndim == 2 and y.shape == x.shape[:1]:
        return _plain_cross_entropy(x, y, ignore_index, reduction)
    return _nll("cross_entropy", LogSoftmax(axis)(x), y, weight, ignore_index, reduction, label_smoothing)


def _plain_cross_entropy(x: Tensor, y: Tensor, ignore_index: int, reduction: str) -> Tensor:
    """Indices, no weights, no smoothing: the fused primitive."""
    if _all_count(x, y, ignore_index):
        rows = _loss.SparseCrossEntropy()(x, y)
        if reduction == "mean":
            return ReduceSum()(rows, ()) / float(y.size)
        return ReduceSum()(rows, ()) if reduction == "sum" else rows
    keep = _ew.NotEqual()(y, ignore_index)
    rows = _loss.SparseCrossEntropy()(x, _ew.Select()(keep, y, _ew.zeros_like(y)))
    counted = cast(keep, x.dtype)
    losses = rows * counted
    if reduction == "mean":
        return ReduceSum()(losses, ()) / ReduceSum()(counted, ())
    return ReduceSum()(losses, ()) if reduction == "sum" else losses


def _all_count(x: Tensor, y: Tensor, ignore_index: int) -> bool:
    """Whether labels at hand (PyNative mode on the host) have none to be ignored: then there is nothing to mask and to count, and
    results are the same to the last bit. A float32 counts that many rows exactly."""
    labels = y._data
    if ACTIVE.builder is not None or type(labels) is not np.ndarray or devices.deferring() is not None:
        return False
    return x.dtype is mstype.float32 and 0 < y.size < 1 << 24 and not (labels == ignore_index).any()


def _class_row(x: Tensor, values: Tensor, axis: int) -> Any:
    """A per-class vector shaped to broadcast against x."""
    return Reshape()(cast(values, x.dtype), (*(1,) * axis, x.shape[axis], *(1,) * (x.ndim - axis - 1)))


def _probability_loss(x: Tensor, y: Tensor, weight: Any, reduction: str, smoothing: float, axis: int) -> Tensor:
    y = cast(y, x.dtype)
    if smoothing:
        y = y * (1 - smoothing) + smoothing / x.shape[axis]
    terms = LogSoftmax(axis)(x) * y
    if weight is not None:
        terms = terms * _class_row(x, weight, axis)
    losses = -ReduceSum()(terms, axis)
    if reduction == "mean":
        return ReduceSum()(losses, ()) / float(max(losses.size, 1))
    return ReduceSum()(losses, ()) if reduction == "sum" else losses


def nll_loss(
    inputs: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Minus the log-probability of the target class: `inputs` holds log-probabilities of shape (N, C, *).

    Examples:
        >>> print(ops.nll_loss(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1], ms.int32)))
        0.3
    """
    require_numbers("nll_loss", label_smoothing=label_smoothing)
    require_tensors("nll_loss", target=target)
    x, y = _pair("nll_loss", inputs, target)
    return _nll("nll_loss", x, y, weight, ignore_index, reduction, label_smoothing)


def _nll(
    op: str, log_p: Tensor, y: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, smoothing: float
) -> Tensor:
    check_reduction(op, reduction)
    axis = 0 if log_p.ndim == 1 else 1
    expected = log_p.shape[:axis] + log_p.shape[axis + 1 :]
    if y.dtype.kind not in "ui":
        raise TypeError(f"For '{op}', 'target' must hold ints, but got {y.dtype}.")
    if y.shape != expected:
        raise ValueError(f"For '{op}', 'target' must have the shape {expected}, but got {y.shape}.")
    demand_labels(op, y, log_p.shape[axis], ignore_index)
    keep = _ew.NotEqual()(y, ignore_index)
    index = ExpandDims()(cast(_ew.Select()(keep, y, _ew.zeros_like(y)), mstype.int64), axis)
    counted = cast(keep, log_p.dtype)
    scale = counted
    if weight is not None:
        require_tensor(op, "weight", weight)
        spread = _class_row(log_p, weight, axis) + _ew.zeros_like(log_p)
        scale = Reshape()(GatherD()(spread, axis, index), y.shape) * counted
    losses = -Reshape()(GatherD()(log_p, axis, index), y.shape) * scale
    if smoothing:
        terms = log_p if weight is None else log_p * _class_row(log_p, weight, axis)
        spread_loss = -ReduceSum()(terms, axis) * counted
        losses = losses * (1 - smoothing) + spread_loss * (smoothing / log_p.shape[axis])
    if reduction == "mean":
        return ReduceSum()(losses, ()) / ReduceSum()(scale, ())
    return ReduceSum()(losses, ()) if reduction == "sum" else losses


def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-(y log p + (1 - y) log(1 - p)) for probabilities p.

    Examples:
        >>> print(ops.binary_cross_entropy(Tensor([0.9, 0.2]), Tensor([1.0, 0.0])))
        0.16425204
    """
    require_tensors("binary_cross_entropy", labels=labels)
    p, y = _pair_alike("binary_cross_entropy", logits, labels)
    y = cast(y, p.dtype)

    def log(v: Any) -> Any:
        return _ew.Maximum()(_ew.Log()(v), _LOG_FLOOR)

    losses = -(y * log(p) + _one_minus(y) * log(_one_minus(p)))
    losses = _weighed("binary_cross_entropy", losses, weight)
    return reduce_loss("binary_cross_entropy", losses, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of sigmoid(input); `pos_weight` scales the positive term.

    Examples:
        >>> print(ops.binary_cross_entropy_with_logits(Tensor([0.0, 3.0]), Tensor([1.0, 0.0]), reduction="none"))
        [0.6931472 3.0485873]
    """
    require_operands("binary_cross_entropy_with_logits", target=target)
    x, y = _pair_alike("binary_cross_entropy_with_logits", input, target)
    y = cast(y, x.dtype)
    if pos_weight is None:
        losses = _loss.SigmoidCrossEntropyWithLogits()(x, y)
    else:
        factor = (require_tensor("binary_cross_entropy_with_logits", "pos_weight", pos_weight) - 1.0) * y + 1.0
        losses = _one_minus(y) * x + factor * _ew.Softplus()(-x)
    losses = _weighed("binary_cross_entropy_with_logits", losses, weight)
    return reduce_loss("binary_cross_entropy_with_logits", losses, reduction)


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """labels (log labels - logits), where `logits` holds log-probabilities.

    Examples:
        >>> print(ops.kl_div(Tensor([-0.6931472, -0.6931472]), Tensor([0.5, 0.5])))
        0.0
    """
    require_tensors("kl_div", labels=labels)
    x, y = _pair_alike("kl_div", logits, labels)
    check_reduction("kl_div", reduction, ("none", "mean", "batchmean", "sum"))
    losses = _ew.Select()(_ew.Greater()(y, 0), _ew.Xlogy()(y, y) - y * x, _ew.zeros_like(y * x))
    if reduction == "batchmean":
        return ReduceSum()(losses, ()) / float(max(x.shape[0] if x.ndim else 1, 1))
    return reduce_loss("kl_div", losses, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target input)) for targets of 1 and -1.

    Examples:
        >>> print(ops.soft_margin_loss(Tensor([0.0, 2.0]), Tensor([1.0, -1.0]), reduction="none"))
        [0.6931472 2.126928 ]
    """
    x, y = _pair_alike("soft_margin_loss", input, target)
    return reduce_loss("soft_margin_loss", _ew.Softplus()(-cast(y, x.dtype) * x), reduction)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean") -> Tensor:
    """The mean over classes of binary cross entropies with logits.

    Examples:
        >>> print(ops.multilabel_soft_margin_loss(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])))
        0.6931472
    """
    require_operands("multilabel_soft_margin_loss", target=target)
    x, y = _pair("multilabel_soft_margin_loss", input, target)
    losses = _loss.SigmoidCrossEntropyWithLogits()(x, cast(y, x.dtype))
    losses = losses if weight is None else losses * weight
    return reduce_loss("multilabel_soft_margin_loss", ReduceMean()(losses, -1), reduction)


@setting_types(p=int)
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of max(0, margin - x[target] + x[class])^p, the target's own class left out.

    Examples:
        >>> print(ops.multi_margin_loss(Tensor([[0.1, 0.8, 0.3]]), Tensor([1])))
        0.26666665
    """
    require_numbers("multi_margin_loss", margin=margin)
    require_rank("multi_margin_loss", "input", input, 1, 2)
    require_operands("multi_margin_loss", target=target)
    x, y = _pair("multi_margin_loss", input, target)
    if p not in (1, 2):
        raise ValueError(f"For 'multi_margin_loss', 'p' must be 1 or 2, but got {p!r}.")
    classes = x.shape[-1]
    flat = x if x.ndim == 2 else Reshape()(x, (1, classes))
    labels = cast(Reshape()(y, (flat.shape[0],)), mstype.int64)
    demand_labels("multi_margin_loss", labels, classes)
    column = ExpandDims()(labels, -1)
    terms = _ew.ReLU()(margin - GatherD()(flat, 1, column) + flat)
    terms = terms * terms if p == 2 else terms
    others = cast(_ew.NotEqual()(column, from_array(np.arange(classes))), x.dtype)
    if weight is not None:
        terms = terms * ExpandDims()(GetItem((TENSOR_INDEX,))(cast(weight, x.dtype), labels), -1)
    losses = ReduceSum()(terms * others, -1) / float(classes)
    losses = losses if x.ndim == 2 else Reshape()(losses, ())
    return reduce_loss("multi_margin_loss", losses, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Hinge loss between each target class (indices up to the first -1) and each class that is not a target.

    Examples:
        >>> print(ops.multilabel_margin_loss(Tensor([[0.3, 0.6, 0.1]]), Tensor([[1, -1, 0]], ms.int32)))
        0.39999998
    """
    require_operands("multilabel_margin_loss", target=target)
    x, y = _pair("multilabel_margin_loss", input, target)
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise ValueError(
            "For 'multilabel_margin_loss', both inputs must have one shape of 1 or 2 dimensions, but got "
            f"{x.shape} and {y.shape}."
        )
    classes = x.shape[-1]
    flat, labels = Reshape()(x, (-1, classes)), cast(Reshape()(y, (-1, classes)), mstype.int64)
    from mindspore.prims.scan import CumSum

    ended = CumSum()(cast(_ew.Less()(labels, 0), mstype.int64), 1)
    valid = _ew.Equal()(ended, 0)
    index = _ew.Select()(valid, labels, _ew.zeros_like(labels))
    demand_labels("multilabel_margin_loss", index, classes)
    is_valid = cast(valid, x.dtype)
    hot = GetItem((TENSOR_INDEX,))(Eye()(classes, classes, x.dtype), index)
    is_target = _ew.Minimum()(ReduceSum()(hot * ExpandDims()(is_valid, -1), 1), 1.0)
    chosen = ExpandDims()(GatherD()(flat, 1, index), -1)
    terms = _ew.ReLU()(1.0 - chosen + ExpandDims()(flat, 1))
    terms = terms * ExpandDims()(is_valid, -1) * ExpandDims()(_one_minus(is_target), 1)
    losses = ReduceSum()(terms, (1, 2)) / float(classes)
    return reduce_loss("multilabel_margin_loss", losses if x.ndim == 2 else Reshape()(losses, ()), reduction)


# -- embeddings and rankings ------------------------------------------------------------------------------------------
def cosine_embedding_loss(
    input1: Tensor, input2: Any, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cos for targets of 1, max(0, cos - margin) for targets of -1.

    Examples:
        >>> a, b = Tensor([[1.0, 0.0], [1.0, 0.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> print(ops.cosine_embedding_loss(a, b, Tensor([1, 1]), reduction="none"))
        [0. 1.]
    """
    require_numbers("cosine_embedding_loss", margin=margin)
    require_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    if not -1 <= margin <= 1:
        raise ValueError(f"For 'cosine_embedding_loss', 'margin' must be in range [-1, 1], but got {margin}.")
    cosine = cosine_similarity(input1, input2, 1 if input1.ndim > 1 else 0)
    same = _ew.Equal()(target, 1)
    other = _ew.Equal()(target, -1)
    losses = _ew.Select()(same, _one_minus(cosine), _ew.zeros_like(cosine))
    losses = losses + _ew.Select()(other, _ew.ReLU()(cosine - margin), _ew.zeros_like(cosine))
    return reduce_loss("cosine_embedding_loss", losses, reduction)


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """x for targets of 1, max(0, margin - x) for targets of -1.

    Examples:
        >>> print(ops.hinge_embedding_loss(Tensor([0.3, 0.4]), Tensor([1.0, -1.0]), reduction="none"))
        [0.3 0.6]
    """
    require_numbers("hinge_embedding_loss", margin=margin)
    require_operands("hinge_embedding_loss", targets=targets)
    x, y = _pair("hinge_embedding_loss", inputs, targets)
    y = cast(y, x.dtype)
    zero = _ew.zeros_like(x * y)
    losses = _ew.Select()(_ew.Equal()(y, 1), x + zero, zero)
    losses = losses + _ew.Select()(_ew.Equal()(y, -1), _ew.ReLU()(margin - x) + zero, zero)
    return reduce_loss("hinge_embedding_loss", losses, reduction)


@setting_types(margin=float)
def margin_ranking_loss(
    input1: Any, input2: Any, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, -target (input1 - input2) + margin).

    Examples:
        >>> print(ops.margin_ranking_loss(Tensor([3.0, 1.0]), Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), reduction="none"))
        [0. 1.]
    """
    require_numbers("margin_ranking_loss", margin=margin)
    require_tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    losses = _ew.ReLU()(-target * (input1 - input2) + margin)
    return reduce_loss("margin_ranking_loss", losses, reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) under the p-norm.

    Examples:
        >>> a, near, far = Tensor([[0.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([[3.0, 4.0]])
        >>> print(ops.triplet_margin_loss(a, near, far, margin=5.0))
        1.0000005
    """
    require_numbers("triplet_margin_loss", margin=margin, eps=eps)
    require_operands("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = _ew.Minimum()(far, pairwise_distance(positive, negative, p, eps))
    return reduce_loss("triplet_margin_loss", _ew.ReLU()(near - far + margin), reduction)


# -- likelihoods ------------------------------------------------------------------------------------------------------
def gaussian_nll_loss(
    x: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the log-likelihood under normal distributions of mean x and variance var.

    Examples:
        >>> print(ops.gaussian_nll_loss(Tensor([0.0, 1.0]), Tensor([1.0, 1.0]), Tensor([1.0, 1.0]), reduction="none"))
        [0.5 0. ]
    """
    require_operands("gaussian_nll_loss", target=target, var=var)
    require_tensors("gaussian_nll_loss", x=x)
    if not isinstance(full, bool):
        raise TypeError(f"For 'gaussian_nll_loss', 'full' must be a bool, but got {full!r}.")
    if not isinstance(eps, float) or eps <= 0:
        raise ValueError(f"For 'gaussian_nll_loss', 'eps' must be a positive float, but got {eps!r}.")
    if isinstance(var, Tensor) and var.shape != x.shape and var.shape == x.shape[:-1]:
        var = ExpandDims()(var, -1)
    spread = _ew.Maximum()(as_tensor(var, x.dtype), eps)
    losses = (_ew.Log()(spread) + _ew.Square()(x - target) / spread) * 0.5
    losses = losses + 0.5 * math.log(2 * math.pi) if full else losses
    return reduce_loss("gaussian_nll_loss", losses, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood under Poisson distributions of rate exp(input), or of rate input.

    Examples:
        >>> print(ops.poisson_nll_loss(Tensor([0.0, 1.0]), Tensor([1.0, 1.0]), reduction="none"))
        [1.       1.718282]
    """
    require_operands("poisson_nll_loss", target=target)
    x, y = _pair("poisson_nll_loss", input, target)
    losses = _ew.Exp()(x) - y * x if log_input else x - y * _ew.Log()(x + eps)
    if full:
        safe = _ew.Maximum()(y, 1.0)
        stirling = y * _ew.Log()(safe) - y + 0.5 * _ew.Log()(safe * (2 * math.pi))
        losses = losses + _ew.Select()(_ew.Greater()(y, 1), stirling, _ew.zeros_like(stirling))
    return reduce_loss("poisson_nll_loss", losses, reduction)
