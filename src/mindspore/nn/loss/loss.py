"""Losses as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.parts import Part
from mindspore.ops.ctc import ctc_losses
from mindspore.ops.loss import check_reduction
from mindspore.prims import loss as _prims
from mindspore.prims.setting_types import setting_types

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "DiceLoss", "FocalLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L1LossExt", "LossBase", "MAELoss",
    "MSELoss", "MarginRankingLoss", "MultiClassDiceLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "MultilabelMarginLoss", "NLLLoss", "PoissonNLLLoss", "RMSELoss", "SampledSoftmaxLoss", "SmoothL1Loss",
    "SoftMarginLoss", "SoftmaxCrossEntropyWithLogits", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class LossBase(Cell):
    """Base of losses: `get_loss` weighs and reduces a tensor of losses.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> class Mean(nn.LossBase):
        ...     def construct(self, x, y):
        ...         return self.get_loss((x - y) ** 2)
        >>> Mean()(Tensor([1.0, 3.0]), Tensor([0.0, 0.0])).item()
        5.0
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__()
        if reduction is not None and reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"For '{self.cls_name}', the 'reduction' must be in ['mean', 'sum', 'none'], but got {reduction}."
            )
        self.reduction = reduction
        self.average = reduction != "sum"
        self.reduce = reduction != "none"

    def get_axis(self, x: Any) -> tuple[int, ...]:
        """All the axes of a tensor."""
        return tuple(range(x.ndim))

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """x * weights, reduced as the constructor was told, in the type of x."""
        if self.by_parts:
            return self._loss_by_parts(x, weights)
        out = x if isinstance(weights, (int, float)) and weights == 1 else x * weights
        if self.reduce:
            out = (ops.ReduceMean() if self.average else ops.ReduceSum())(out, ())
        return ops.cast(out, x.dtype)

    by_parts = False
    reduce_mean = Part(lambda self: ops.ReduceMean())
    reduce_sum = Part(lambda self: ops.ReduceSum())
    mul = Part(lambda self: ops.Mul())
    cast = Part(lambda self: ops.Cast())

    def _loss_by_parts(self, x: Any, weights: Any) -> Any:
        out = self.mul(weights, x)
        if self.reduce:
            out = (self.reduce_mean if self.average else self.reduce_sum)(out, self.get_axis(x))
        return self.cast(out, x.dtype)

    if not TYPE_CHECKING:  # subclasses take what they need

        def construct(self, logits: Tensor, labels: Tensor) -> Any:
            raise NotImplementedError


_Loss = LossBase


class _Loss2(LossBase):
    """A loss that is one function of two tensors and a reduction."""

    def __init__(self, reduction: str = "mean"):
        super().__init__(reduction)


# -- distances --------------------------------------------------------------------------------------------------------
def _two_tensors(owner: str, logits: Any, labels: Any) -> None:
    for name, value in (("logits", logits), ("labels", labels)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For '{owner}', the '{name}' must be a Tensor, but got {type(value).__name__}.")


class L1Loss(_Loss2):
    """|logits - labels|.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
        1.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        _two_tensors("L1Loss", logits, labels)
        return ops.l1_loss(logits, labels, self.reduction)


class L1LossExt(_Loss2):
    """|logits - labels|, as in `mint`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.L1LossExt()(Tensor([1.0]), Tensor([3.0])).item()
        2.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.l1_loss(logits, labels, self.reduction)


class MAELoss(LossBase):
    """|logits - label|.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MAELoss()(Tensor([1.0]), Tensor([3.0])).item()
        2.0
    """

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        _two_tensors("MAELoss", logits, label)
        return self.get_loss(ops.abs(logits - label))


class MSELoss(LossBase):
    """(logits - labels)².

    Examples:
        >>> import mindspore as ms
        >>> float(ms.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        _two_tensors("MSELoss", logits, labels)
        return self.get_loss(ops.square(logits - labels))


class RMSELoss(LossBase):
    """sqrt(mean((logits - label)²)).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.RMSELoss()(Tensor([1.0]), Tensor([3.0])).item()
        2.0
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        return ops.sqrt(ops.ReduceMean()(ops.square(logits - label), ()))


class SmoothL1Loss(LossBase):
    """0.5 d² / beta where |d| < beta, else |d| - 0.5 beta.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.SmoothL1Loss()(Tensor([1.0]), Tensor([3.0])).tolist()
        [1.5]
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none"):
        super().__init__(reduction)
        self.beta = beta
        self.smooth_l1_loss = _prims.SmoothL1(beta)  # refuses a wrong one

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return self.get_loss(ops.smooth_l1_loss(logits, labels, self.beta))


class HuberLoss(LossBase):
    """0.5 d² where |d| <= delta, else delta (|d| - 0.5 delta).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.HuberLoss()(Tensor([1.0]), Tensor([3.0])).item()
        1.5
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


# -- classification ---------------------------------------------------------------------------------------------------
class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of softmax(logits) with class probabilities, or with class indices if `sparse`.

    Examples:
        >>> import mindspore as ms
        >>> loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> round(float(loss(ms.Tensor([[0.0, 0.0]]), ms.Tensor([1], ms.int32))), 4)
        0.6931
    """

    def __init__(self, sparse: bool = False, reduction: str = "none"):
        super().__init__(reduction)
        self.sparse = checks.boolean("SoftmaxCrossEntropyWithLogits", "sparse", sparse)
        self.sparse_cross_entropy = _prims.SparseCrossEntropy()
        if not sparse:  # it is always computed with, which is not to say that somebody asked for it
            self.__dict__["softmax_cross_entropy"] = _prims.SoftmaxCrossEntropyWithLogits()

    softmax_cross_entropy = Part(lambda self: _prims.SoftmaxCrossEntropyWithLogits())
    one_hot = Part(lambda self: ops.OneHot())

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        _two_tensors("SoftmaxCrossEntropyWithLogits", logits, labels)
        if self.sparse and not self.by_parts:
            return self.get_loss(self.sparse_cross_entropy(logits, labels))
        if self.sparse:
            on, off = Tensor(1.0, logits.dtype), Tensor(0.0, logits.dtype)
            labels = self.one_hot(labels, logits.shape[-1], on, off)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class CrossEntropyLoss(LossBase):
    """Cross entropy of softmax(logits) with class indices or probabilities, with class weights and label smoothing.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.CrossEntropyLoss()(Tensor([[0.0, 100.0]]), Tensor([1], ms.int32)).item()
        0.0
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ):
        super().__init__(reduction)
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise TypeError(f"For 'CrossEntropyLoss', 'ignore_index' must be an int, but got {ignore_index!r}.")
        if not isinstance(label_smoothing, float) or not 0 <= label_smoothing <= 1:
            raise ValueError(
                f"For 'CrossEntropyLoss', 'label_smoothing' must be a float in [0, 1], got {label_smoothing}."
            )
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(LossBase):
    """Minus the log-probability of the target class.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.NLLLoss()(Tensor([[-1.0, -2.0]]), Tensor([1], ms.int32)).item()
        2.0
    """

    @setting_types(ignore_index=int)
    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"):
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class BCELoss(LossBase):
    """Binary cross entropy of probabilities.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.BCELoss()(Tensor([0.5]), Tensor([1.0])).item(), 4)
        0.6931
    """

    def __init__(self, weight: Any = None, reduction: str = "mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of sigmoid(logits).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item(), 4)
        0.6931
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None):
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if isinstance(value, Parameter):
                raise TypeError(f"For 'BCEWithLogitsLoss', '{name}' must not be a Parameter.")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Any:
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(LossBase):
    """labels (log labels - logits), where logits are log-probabilities.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.KLDivLoss()(Tensor([0.0]), Tensor([1.0])).item()
        0.0
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__("mean" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.kl_div(logits, labels, self.reduction)


class SoftMarginLoss(_Loss2):
    """log(1 + exp(-labels logits)) for labels of 1 and -1.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])).item(), 4)
        0.6931
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of binary cross entropies with logits.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> round(nn.MultiLabelSoftMarginLoss()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])).item(), 4)
        0.6931
    """

    def __init__(self, weight: Any = None, reduction: str = "mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Any:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultiMarginLoss(LossBase):
    """The mean over classes of max(0, margin - x[target] + x[class])^p.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MultiMarginLoss()(Tensor([[0.5, 0.5]]), Tensor([1])).item()
        0.5
    """

    @setting_types(p=int, margin=float)
    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Any = None):
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x: Tensor, target: Tensor, weight: Any = None) -> Any:
        weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(_Loss2):
    """Hinge loss between target classes and all others.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.MultilabelMarginLoss()(Tensor([[0.5, 0.5]]), Tensor([[1, -1]], ms.int32)).item()
        0.5
    """

    def construct(self, x: Tensor, target: Tensor) -> Any:
        return ops.multilabel_margin_loss(x, target, self.reduction)


class FocalLoss(LossBase):
    """-(1 - p)^gamma log p of the target class, which pays less attention to easy examples (Lin et al. 2017).

    Targets are class indices of shape (N, *) or (N, 1, *), or probabilities of the shape of the logits.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.FocalLoss()(Tensor([[0.5, 0.5]]), Tensor([[1]], ms.int32)).shape
        ()
    """

    @setting_types(gamma=float)
    def __init__(self, weight: Any = None, gamma: float = 2.0, reduction: str = "mean"):
        super().__init__(reduction)
        self.gamma = checks.number("FocalLoss", "gamma", gamma)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(f"For 'FocalLoss', the type of 'weight' must be Tensor, but got {type(weight).__name__}.")
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return self.get_loss(_focal(logits, labels, self.gamma, self.weight))


def _focal(logits: Any, labels: Any, gamma: float, weight: Any) -> Any:
    if labels.ndim == logits.ndim - 1:
        labels = ops.expand_dims(labels, 1)
    if labels.ndim != logits.ndim or labels.shape[1] not in (1, logits.shape[1]):
        raise ValueError(f"For 'FocalLoss', labels of shape {labels.shape} do not fit logits of shape {logits.shape}.")
    batch, classes = logits.shape[0], logits.shape[1]
    log_p = ops.log_softmax(ops.reshape(logits, (batch, classes, -1)), 1)
    target = ops.reshape(labels, (batch, labels.shape[1], -1))
    if labels.shape[1] == 1:
        index = ops.cast(target, mstype.int64)
        chosen = ops.gather_d(log_p, 1, index)
        hot = None
    else:
        hot = ops.cast(target, log_p.dtype)
        chosen = log_p
    p = ops.exp(chosen)
    if weight is not None:
        row = ops.reshape(ops.cast(weight, log_p.dtype), (1, classes, 1)) + ops.zeros_like(log_p)
        chosen = chosen * (ops.gather_d(row, 1, index) if hot is None else row)
    losses = -ops.pow(1.0 - p, gamma) * chosen
    if hot is not None:
        return ops.ReduceMean()(losses * hot, -1)
    return ops.ReduceMean()(losses, (1, 2))


class DiceLoss(LossBase):
    """1 - 2 |x ∩ y| / (|x|² + |y|² + smooth) (Milletari et al. 2016).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.DiceLoss()(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]])).shape
        ()
    """

    @setting_types(smooth=float)
    def __init__(self, smooth: float = 1e-5):
        super().__init__()
        self.smooth = checks.positive("DiceLoss", "smooth", smooth)

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        if logits.shape != label.shape:
            raise ValueError(
                f"For 'DiceLoss', both inputs must have one shape, but got {logits.shape} and {label.shape}."
            )
        both = ops.ReduceSum()(logits * label, ())
        total = ops.ReduceSum()(logits * logits, ()) + ops.ReduceSum()(label * label, ())
        return 1.0 - 2.0 * both / (total + self.smooth)


_DICE_ACTIVATIONS = ("softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid")


class MultiClassDiceLoss(LossBase):
    """The mean over classes of dice losses of the activated logits.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MultiClassDiceLoss()(Tensor([[0.2, 0.8]]), Tensor([[0.0, 1.0]])).shape
        ()
    """

    @setting_types(ignore_indiex=int | None)
    def __init__(self, weights: Any = None, ignore_indiex: int | None = None, activation: Any = "softmax"):
        super().__init__()
        if weights is not None and not isinstance(weights, Tensor):
            raise TypeError(f"For 'MultiClassDiceLoss', 'weights' must be a Tensor, but got {type(weights).__name__}.")
        if weights is not None and weights.ndim != 2:
            raise ValueError(f"For 'MultiClassDiceLoss', 'weights' must have 2 dimensions, but got {weights.ndim}.")
        if isinstance(activation, str):
            if activation not in _DICE_ACTIVATIONS:
                raise ValueError(
                    f"For 'MultiClassDiceLoss', 'activation' must be one of {list(_DICE_ACTIVATIONS)} or a Cell, "
                    f"but got {activation!r}."
                )
            activation = get_activation(activation)
        elif activation is not None and not isinstance(activation, Cell):
            raise TypeError(
                f"For 'MultiClassDiceLoss', 'activation' must be a str or a Cell, but got {type(activation).__name__}."
            )
        self.weights, self.ignore_indiex, self.activation = weights, ignore_indiex, activation
        self.dice = DiceLoss(smooth=1e-5)

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        _two_tensors("MultiClassDiceLoss", logits, label)
        if logits.shape != label.shape:
            raise ValueError(
                f"For 'MultiClassDiceLoss', both inputs must have one shape, but got {logits.shape} and {label.shape}."
            )
        if label.ndim < 2:
            raise ValueError(f"For 'MultiClassDiceLoss', inputs need 2 dimensions or more, but got {label.ndim}.")
        if self.weights is not None and self.weights.shape[0] != label.shape[1]:
            raise ValueError(
                f"For 'MultiClassDiceLoss', 'weights' must have a row for each of the {label.shape[1]} classes, "
                f"but got {self.weights.shape[0]}."
            )
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0.0
        for i in range(label.shape[1]):
            if i != self.ignore_indiex:
                loss = self.dice(logits[:, i], label[:, i])
                if self.weights is not None:
                    loss = loss * self.weights[i]
                total = total + loss
        return total / label.shape[1]


class SampledSoftmaxLoss(LossBase):
    """Softmax loss over the target classes and a sample of the others, for very many classes (Jean et al. 2015).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> loss = nn.SampledSoftmaxLoss(num_sampled=2, num_classes=5)
        >>> weights, biases = Tensor(np.ones((5, 3), np.float32)), Tensor(np.zeros(5, np.float32))
        >>> loss(weights, biases, Tensor([[1]]), Tensor(np.ones((1, 3), np.float32))).shape
        (1,)
    """

    @setting_types(remove_accidental_hits=bool)
    def __init__(
        self, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
        remove_accidental_hits: bool = True, seed: int = 0, reduction: str = "none",
    ):  # fmt: skip
        super().__init__(reduction)
        for name, value in (("num_sampled", num_sampled), ("num_classes", num_classes), ("num_true", num_true)):
            checks.positive_int("SampledSoftmaxLoss", name, value)
        if num_sampled > num_classes:
            raise ValueError(f"For 'SampledSoftmaxLoss', 'num_sampled' {num_sampled} exceeds {num_classes} classes.")
        if num_true != 1:
            raise ValueError(f"For 'SampledSoftmaxLoss', 'num_true' must be 1, but got {num_true}.")
        self.num_sampled, self.num_classes, self.num_true = num_sampled, num_classes, num_true
        self.sampled_values, self.remove_accidental_hits, self.seed = sampled_values, remove_accidental_hits, seed

    def construct(self, weights: Any, biases: Any, labels: Tensor, logits: Tensor) -> Any:
        return self.get_loss(self._losses(weights, biases, labels, logits))

    def _losses(self, weights: Any, biases: Any, labels: Any, inputs: Any) -> Any:
        labels = ops.cast(ops.reshape(labels, (-1,)), mstype.int64)
        values = self.sampled_values
        if values is None:
            values = ops.log_uniform_candidate_sampler(
                ops.reshape(labels, (-1, 1)), 1, self.num_sampled, True, self.num_classes, self.seed
            )
        sampled, true_expected, sampled_expected = values
        sampled = ops.cast(ops.stop_gradient(sampled), mstype.int64)
        true_logits = ops.ReduceSum(True)(inputs * ops.gather(weights, labels, 0), 1)
        true_logits = true_logits + ops.expand_dims(ops.gather(biases, labels, 0), 1)
        other_logits = ops.matmul(inputs, ops.transpose(ops.gather(weights, sampled, 0), (1, 0)))
        other_logits = other_logits + ops.gather(biases, sampled, 0)
        if self.remove_accidental_hits:
            hits = ops.equal(ops.expand_dims(labels, 1), ops.expand_dims(sampled, 0))
            other_logits = other_logits + ops.cast(hits, other_logits.dtype) * -1e37
        true_logits = true_logits - ops.log(ops.reshape(true_expected, (-1, 1)))
        other_logits = other_logits - ops.log(sampled_expected)
        every = ops.concat((true_logits, other_logits), 1)
        return _prims.SparseCrossEntropy()(every, Tensor(np.zeros(every.shape[0], np.int64)))


class CTCLoss(LossBase):
    """Connectionist temporal classification (Graves et al. 2006) of log-probabilities (T, N, C).

    Examples:
        >>> import numpy as np
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> log_probs, lengths = Tensor(np.zeros((5, 1, 3), np.float32)), Tensor([5], ms.int32)
        >>> nn.CTCLoss()(log_probs, Tensor([[1, 2]], ms.int32), lengths, Tensor([2], ms.int32)).shape
        ()
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, checks.boolean("CTCLoss", "zero_infinity", zero_infinity)

    def construct(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        return ctc_losses(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)


# -- embeddings, rankings, likelihoods ---------------------------------------------------------------------------------
class CosineEmbeddingLoss(LossBase):
    """1 - cos for targets of 1, max(0, cos - margin) for targets of -1.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import Tensor, nn
        >>> nn.CosineEmbeddingLoss()(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]]), Tensor([1], ms.int32)).shape
        ()
    """

    @setting_types(margin=float)
    def __init__(self, margin: float = 0.0, reduction: str = "mean"):
        super().__init__(reduction)
        self.margin = checks.number("CosineEmbeddingLoss", "margin", margin)
        if not -1 <= margin <= 1:
            raise ValueError(f"For 'CosineEmbeddingLoss', the 'margin' must be in range [-1, 1], but got {margin}.")

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Tensor) -> Any:
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x for labels of 1, max(0, margin - x) for labels of -1.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.HingeEmbeddingLoss()(Tensor([0.5, 0.5]), Tensor([1.0, -1.0])).item()
        0.5
    """

    @setting_types(margin=int | float)
    def __init__(self, margin: float = 1.0, reduction: str = "mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target (input1 - input2) + margin).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.MarginRankingLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])).item()
        2.0
    """

    @setting_types(margin=float)
    def __init__(self, margin: float = 0.0, reduction: str = "mean"):
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Any, input2: Any, target: Tensor) -> Any:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class TripletMarginLoss(LossBase):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) under the p-norm.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.TripletMarginLoss()(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]]), Tensor([[9.0, 0.0]])).item()
        0.0
    """

    def __init__(
        self, p: float = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ):
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x: Tensor, positive: Any, negative: Any, margin: Any = None) -> Any:
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin) for any distance function.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.TripletMarginWithDistanceLoss()(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]]), Tensor([[9.0, 0.0]])).item()
        0.0
    """

    @setting_types(margin=float)
    def __init__(
        self,
        distance_function: Callable | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ):
        super().__init__(reduction)
        check_reduction("TripletMarginWithDistanceLoss", reduction)
        self.distance_function, self.swap, self.margin = distance_function, swap, margin

    def distance(self, x: Any, y: Any) -> Any:
        """The distance in use: by default the Euclidean one."""
        if self.distance_function is not None:
            return self.distance_function(x, y)
        return ops.pairwise_distance(x, y)

    def construct(self, x: Tensor, positive: Any, negative: Any) -> Any:
        near, far = self.distance(x, positive), self.distance(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance(positive, negative))
        return self.get_loss(ops.maximum(near - far + self.margin, 0.0))


class GaussianNLLLoss(LossBase):
    """Minus the log-likelihood under normal distributions.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.GaussianNLLLoss()(Tensor([1.0]), Tensor([2.0]), Tensor([1.0])).item()
        0.5
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(reduction)
        self.full, self.eps = checks.boolean("GaussianNLLLoss", "full", full), eps

    def construct(self, logits: Tensor, labels: Tensor, var: Any) -> Any:
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """Minus the log-likelihood under Poisson distributions.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.PoissonNLLLoss()(Tensor([0.0]), Tensor([1.0])).item()
        1.0
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"):
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input: Tensor, target: Tensor) -> Any:
        return ops.poisson_nll_loss(input, target, self.log_input, self.full, self.eps, self.reduction)
