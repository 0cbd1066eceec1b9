"""Neural-network operations as classes: those that are compositions. Core primitives live in `mindspore.prims`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops import activation as act
from mindspore.ops import conv, ctc, image, loss, mask_bits, pooling
from mindspore.ops.arguments import cast, require_rank
from mindspore.ops.composition import REQUIRED, Typed, composition, of_tensors, plain
from mindspore.ops.gather_scatter import gather
from mindspore.ops.operations.sequence_ops import *  # noqa: F403
from mindspore.ops.operations.sequence_ops import __all__ as _sequence
from mindspore.prims import elementwise as ew
from mindspore.prims import window
from mindspore.prims.activation import FastGeLU, GeLU, Softmax
from mindspore.prims.arrays import ExpandDims, GetItem, Transpose
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.conv import Conv2D
from mindspore.prims.ctc import CTC
from mindspore.prims.dropout import DropoutMask, DropoutWithKey
from mindspore.prims.loss import SparseCrossEntropy
from mindspore.prims.norm import Standardize
from mindspore.prims.pooling import MaxPoolWithIndices
from mindspore.prims.reduction import ReduceMean
from mindspore.prims.requirements import demand_labels
from mindspore.prims.scan import CumSum
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

__all__ = [  # noqa: PLE0604 - names and a list of names
    "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "AdaptiveMaxPool3D", "AffineGrid",
    "BCEWithLogitsLoss", "BinaryCrossEntropy", "CTCGreedyDecoder", "CTCLoss", "CTCLossV2",
    "ChannelShuffle", "Col2Im", "Conv3DTranspose", "DepthwiseConv2dNative", "Dropout", "Dropout2D", "Dropout3D",
    "DropoutDoMask", "DropoutGenMask", "ExtractImagePatches", "FastGelu",
    "GLU", "Gelu", "GridSampler2D", "GridSampler3D", "Im2Col", "InstanceNorm", "KLDivLoss",
    "MaxPool3DWithArgmax", "MaxPoolWithArgmaxV2", "MaxUnpool2D", "MaxUnpool3D", "MultiMarginLoss",
    "MultilabelMarginLoss", "NLLLoss", "ReLUV2", "ResizeBicubic", "ResizeBilinear",
    "ResizeBilinearV2", "ResizeLinear1D", "ResizeNearestNeighbor", "ResizeNearestNeighborV2", "SmoothL1Loss",
    "SoftMarginLoss", "SparseSoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogitsV2", "TripletMarginLoss",
    "UpsampleNearest3D", "UpsampleTrilinear3D", *_sequence,
]  # fmt: skip

Gelu = GeLU
FastGelu = FastGeLU


# -- dropout ----------------------------------------------------------------------------------------------------------
def _dropout(p: Any, x: Tensor) -> tuple:
    out, mask = DropoutWithKey(p.keep_prob)(x, next_key(p.Seed0 or p.Seed1 or None))
    return out, cast(mask, x.dtype)


def _channel_dropout(p: Any, x: Tensor) -> tuple:
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
    mask = DropoutMask(p.keep_prob)(next_key(), shape)
    spread = ew.LogicalAnd()(mask, ew.Equal()(ew.zeros_like(x), 0))
    scale = 0.0 if p.keep_prob == 0 else 1 / p.keep_prob
    return x * (cast(spread, x.dtype) * scale), spread


Dropout = composition(
    "Dropout", _dropout, """(x / keep_prob where kept, else 0; the mask).

    Examples:
        >>> out, mask = ops.Dropout(keep_prob=1.0)(Tensor([1.0, 2.0]))
        >>> print(out, mask)
        [1. 2.] [1. 1.]
    """, keep_prob=0.5, Seed0=0, Seed1=0
)
Dropout2D = composition("Dropout2D", _channel_dropout, """Dropout of whole channels, and the mask.

    Examples:
        >>> out, mask = ops.Dropout2D(keep_prob=0.5)(ops.ones((1, 8, 2, 2)))
        >>> sorted(set(out.flatten().tolist())) in ([0.0], [0.0, 2.0], [2.0])
        True
    """, keep_prob=Typed(float, 0.5))
Dropout3D = composition("Dropout3D", _channel_dropout, """Dropout of whole channels, and the mask.

    Examples:
        >>> out, mask = ops.Dropout3D(keep_prob=0.5)(ops.ones((1, 8, 1, 2, 2)))
        >>> mask.dtype, mask.shape
        (mindspore.bool_, (1, 8, 1, 2, 2))
    """, keep_prob=0.5)


def _gen_mask(p: Any, shape: Any, keep_prob: Any) -> Any:
    keep = float(keep_prob.asnumpy()) if isinstance(keep_prob, Tensor) else float(keep_prob)
    return mask_bits.packed(DropoutMask(keep)(next_key(p.Seed0 or p.Seed1 or None), tuple(shape)))


def _do_mask(x: Any, mask: Any, keep_prob: Any) -> Any:
    kept = x * cast(mask_bits.unpacked(mask, x.shape), x.dtype)
    return kept / cast(keep_prob, x.dtype) if isinstance(keep_prob, Tensor) else kept * (1 / keep_prob)


DropoutGenMask = composition("DropoutGenMask", _gen_mask, """Which elements of a shape survive, eight of them to a byte.

    Examples:
        >>> print(ops.DropoutGenMask()((2, 4), Tensor(1.0))[:2])
        [255   0]
    """, Seed0=0, Seed1=0)
DropoutDoMask = plain("DropoutDoMask", _do_mask,
    """x / keep_prob where the mask of `DropoutGenMask` holds, else 0.

    Examples:
        >>> mask = ops.DropoutGenMask()((2, 2), Tensor(1.0))
        >>> print(ops.DropoutDoMask()(ops.ones((2, 2)), mask, Tensor(1.0)))
        [[1. 1.]
         [1. 1.]]
    """)  # fmt: skip


# -- losses -----------------------------------------------------------------------------------------------------------
BinaryCrossEntropy = composition(
    "BinaryCrossEntropy", lambda p, x, y, weight=None: loss.binary_cross_entropy(x, y, weight, p.reduction),
    """Binary cross entropy of probabilities.

    Examples:
        >>> print(ops.BinaryCrossEntropy("none")(Tensor([0.9, 0.2]), Tensor([1.0, 0.0]), Tensor([1.0, 1.0])))
        [0.10536055 0.22314353]
    """, reduction="mean",
)  # fmt: skip
BCEWithLogitsLoss = composition(
    "BCEWithLogitsLoss",
    lambda p, x, y, weight=None, pos_weight=None: loss.binary_cross_entropy_with_logits(
        x, y, weight, pos_weight, p.reduction
    ),
    """Binary cross entropy with logits.

    Examples:
        >>> one = ops.ones(2)
        >>> print(ops.BCEWithLogitsLoss("sum")(Tensor([0.0, 3.0]), Tensor([1.0, 0.0]), one, one))
        3.7417345
    """, reduction="mean",
)  # fmt: skip
KLDivLoss = composition(
    "KLDivLoss", lambda p, x, y: loss.kl_div(x, y, p.reduction), """Kullback-Leibler divergence.

    Examples:
        >>> print(ops.KLDivLoss("sum")(Tensor([-0.6931472, -0.6931472]), Tensor([1.0, 0.0])))
        0.6931472
    """, reduction="mean"
)
SmoothL1Loss = composition(
    "SmoothL1Loss", lambda p, x, y: loss.smooth_l1_loss(x, y, p.beta, p.reduction), """Smooth L1 loss.

    Examples:
        >>> print(ops.SmoothL1Loss()(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
        [0.125 3.5  ]
    """, beta=1.0,
    reduction="none",
)  # fmt: skip
SoftMarginLoss = composition(
    "SoftMarginLoss", lambda p, x, y: loss.soft_margin_loss(x, y, p.reduction), """Soft margin loss.

    Examples:
        >>> print(ops.SoftMarginLoss("none")(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])))
        [0.6931472 2.126928 ]
    """, reduction="mean"
)
MultiMarginLoss = composition(
    "MultiMarginLoss",
    lambda p, x, y, weight=None: loss.multi_margin_loss(x, y, p.p, p.margin, weight, p.reduction),
    """Multi-class hinge loss.

    Examples:
        >>> print(ops.MultiMarginLoss()(Tensor([[0.1, 0.8, 0.3]]), Tensor([1]), None))
        0.26666665
    """, p=Typed(int, 1), margin=Typed(float, 1.0), reduction="mean",
)  # fmt: skip
TripletMarginLoss = composition(
    "TripletMarginLoss",
    lambda p, a, x, y, margin=1.0: loss.triplet_margin_loss(a, x, y, margin, p.p, p.eps, p.swap, p.reduction),
    """Triplet margin loss.

    Examples:
        >>> a, near, far = Tensor([[0.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([[3.0, 4.0]])
        >>> print(ops.TripletMarginLoss()(a, near, far, Tensor(5.0)).round(decimals=4))
        1.0
    """, p=2, swap=False, eps=1e-6, reduction="mean",
)  # fmt: skip


def _multilabel(p: Primitive, x: Tensor, target: Tensor) -> tuple:
    classes = from_array(np.arange(x.shape[-1], dtype=np.int32))
    ended = ew.Less()(target, 0)
    valid = ew.Equal()(CumSum()(cast(ended, mstype.int32), -1), 0)
    hit = ew.LogicalAnd()(ew.Equal()(ExpandDims()(target, -1), classes), ExpandDims()(valid, -1))
    is_target = ew.Minimum()(ReduceSum()(cast(hit, mstype.int32), -2), 1)
    return loss.multilabel_margin_loss(x, target, p.reduction), cast(is_target, target.dtype)


MultilabelMarginLoss = composition("MultilabelMarginLoss", _multilabel, """Multi-label hinge loss.

    Examples:
        >>> loss, hit = ops.MultilabelMarginLoss()(Tensor([[0.3, 0.6, 0.1]]), Tensor([[1, -1, 0]], ms.int32))
        >>> print(loss)
        0.39999998
    """, reduction="mean")


def _nll(p: Primitive, logits: Tensor, labels: Tensor, weight: Tensor) -> tuple:
    require_rank("NLLLoss", "weight", weight, 1, 1)
    demand_labels("NLLLoss", labels, logits.shape[-1], p.ignore_index)
    keep = cast(ew.NotEqual()(labels, p.ignore_index), weight.dtype)
    index = ew.Select()(ew.NotEqual()(labels, p.ignore_index), labels, ew.zeros_like(labels))
    total = ReduceSum()(gather(weight, index, 0) * keep, ())
    return loss.nll_loss(logits, labels, weight, p.ignore_index, p.reduction), total


NLLLoss = composition("NLLLoss", _nll, """(loss, total weight).

    Examples:
        >>> loss, weight = ops.NLLLoss()(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1], ms.int32), ops.ones(2))
        >>> print(loss, weight)
        0.3 2.0
    """, reduction="mean", ignore_index=-100)


def _softmax_less_one_hot(logits: Tensor, labels: Tensor) -> Any:
    """The gradients of each example's cross entropy by its logits."""
    hot = cast(ew.Equal()(ExpandDims()(labels, -1), from_array(np.arange(logits.shape[1]))), logits.dtype)
    return Softmax(-1)(logits) - hot


def _sparse_softmax(p: Primitive, logits: Tensor, labels: Tensor) -> Any:
    if not p.is_grad:
        return ReduceMean()(SparseCrossEntropy()(logits, labels), ())
    return _softmax_less_one_hot(logits, labels) * (1.0 / logits.shape[0])


SparseSoftmaxCrossEntropyWithLogits = composition(
    "SparseSoftmaxCrossEntropyWithLogits", _sparse_softmax, """Mean cross entropy with indices, or its gradient.

    Examples:
        >>> print(ops.SparseSoftmaxCrossEntropyWithLogits()(Tensor([[0.0, 0.0]]), Tensor([1], ms.int32)))
        0.6931472
    """,
    is_grad=Typed(bool, False), sens=1.0,
)  # fmt: skip
SparseSoftmaxCrossEntropyWithLogitsV2 = composition(
    "SparseSoftmaxCrossEntropyWithLogitsV2",
    lambda p, logits, labels: (SparseCrossEntropy()(logits, labels), _softmax_less_one_hot(logits, labels)),
    """Cross entropy with indices, of each example, and its gradients by the logits.

    Examples:
        >>> entropy = ops.operations.SparseSoftmaxCrossEntropyWithLogitsV2()
        >>> loss, slope = entropy(Tensor([[0.0, 0.0]]), Tensor([1], ms.int32))
        >>> print(loss, slope)
        [0.6931472] [[ 0.5 -0.5]]
    """,
)  # fmt: skip


def _ctc_v2(p: Primitive, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> tuple:
    return ctc.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, p.blank, p.reduction, p.zero_infinity
    )


CTCLossV2 = composition(
    "CTCLossV2", _ctc_v2, """CTC of log-probabilities.

    Examples:
        >>> log_probs = ops.log_softmax(ops.zeros((3, 1, 4)))
        >>> loss, _ = ops.CTCLossV2()(log_probs, Tensor([[1]]), Tensor([3]), Tensor([1]))
        >>> print(loss)
        [2.3671236]
    """, blank=0, reduction="none", zero_infinity=Typed(bool, False)
)


def _ctc(p: Primitive, x: Tensor, labels_indices: Tensor, labels_values: Tensor, sequence_length: Tensor) -> tuple:
    """Logits (T, N, C) with the last class as blank; labels as a sparse tensor, whose indices must be known."""
    places = labels_indices.asnumpy()
    lengths = np.bincount(places[:, 0], minlength=x.shape[1]).astype(np.int64)
    table = np.zeros((x.shape[1], max(int(lengths.max()), 1)), np.int64)
    where = np.full(table.shape, -1, np.int64)
    where[places[:, 0], places[:, 1]] = np.arange(len(places))
    symbols = GetItem((slice(None),))(cast(labels_values, mstype.int64))
    rows = ew.Select()(from_array(where >= 0), gather(symbols, from_array(np.maximum(where, 0)), 0),
                       from_array(table))  # fmt: skip
    log_p = act.log_softmax(x, -1)
    ctc.check_labelling("CTCLoss", x.shape, rows, cast(sequence_length, mstype.int64), from_array(lengths))
    losses, grad = CTC(x.shape[2] - 1)(log_p, rows, cast(sequence_length, mstype.int64), from_array(lengths))
    total = ReduceSum(True)(grad, -1)
    return losses, grad - ew.Exp()(log_p) * total


CTCLoss = composition(
    "CTCLoss", _ctc, """CTC of logits, and its gradient.

    Examples:
        >>> where, label = Tensor([[0, 0]], ms.int64), Tensor([0], ms.int32)
        >>> loss, grad = ops.CTCLoss()(ops.zeros((3, 1, 4)), where, label, Tensor([3], ms.int32))
        >>> print(loss)
        [2.3671236]
    """, preprocess_collapse_repeated=Typed(bool, False), ctc_merge_repeated=Typed(bool, True),
    ignore_longer_outputs_than_inputs=Typed(bool, False),
)  # fmt: skip
CTCGreedyDecoder = composition(
    "CTCGreedyDecoder", lambda p, x, lengths: ctc.ctc_greedy_decoder(x, lengths, p.merge_repeated),
    """The most probable labelling by greedy choice.

    Examples:
        >>> scores = Tensor([[[0.1, 0.6, 0.3]], [[0.7, 0.2, 0.1]], [[0.7, 0.2, 0.1]]])
        >>> print(ops.CTCGreedyDecoder()(scores, Tensor([3], ms.int32))[1])
        [1 0]
    """, merge_repeated=Typed(bool, True),
)  # fmt: skip

# -- pooling ----------------------------------------------------------------------------------------------------------
AdaptiveAvgPool2D = composition(
    "AdaptiveAvgPool2D", lambda p, x: pooling.adaptive_avg_pool2d(x, p.output_size), """Adaptive average pooling.

    Examples:
        >>> print(ops.AdaptiveAvgPool2D((1, 2))(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2. 3.]]]]
    """,
    output_size=Typed(int | tuple),
)  # fmt: skip
AdaptiveAvgPool3D = composition(
    "AdaptiveAvgPool3D", lambda p, x: pooling.adaptive_avg_pool3d(x, p.output_size), """Adaptive average pooling.

    Examples:
        >>> ops.AdaptiveAvgPool3D((1, 2, 2))(ops.ones((1, 3, 4, 4, 4))).shape
        (1, 3, 1, 2, 2)
    """,
    output_size=Typed(int | tuple),
)  # fmt: skip
AdaptiveMaxPool2D = composition(
    "AdaptiveMaxPool2D", lambda p, x: pooling.adaptive_max_pool2d(x, p.output_size, True), """Adaptive max pooling.

    Examples:
        >>> print(ops.AdaptiveMaxPool2D((1, 2))(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[0])
        [[[[3. 4.]]]]
    """,
    output_size=REQUIRED,
)  # fmt: skip
AdaptiveMaxPool3D = plain(
    "AdaptiveMaxPool3D",
    lambda x, size: pooling.adaptive_max_pool3d(x, tuple(int(s) for s in np.ravel(np.asarray(size))), True),
    """Maxima of (N, C, D, H, W) over windows that give the sizes of a second argument, and their indices.

    Examples:
        >>> out, index = ops.AdaptiveMaxPool3D()(ops.ones((1, 1, 4, 4, 4)), Tensor([2, 2, 1], ms.int32))
        >>> out.shape
        (1, 1, 2, 2, 1)
    """,
)
MaxUnpool2D = composition(
    "MaxUnpool2D",
    lambda p, x, index: pooling.max_unpool2d(x, index, p.ksize, p.strides or None, p.pads, p.output_shape),
    """The partial inverse of 2-d max pooling.

    Examples:
        >>> print(ops.MaxUnpool2D(ksize=2, strides=2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])))
        [[[[0. 0.]
           [0. 5.]]]]
    """, ksize=REQUIRED, strides=0, pads=0, output_shape=Typed(tuple, ()), data_format="NCHW",
)  # fmt: skip
MaxUnpool3D = composition(
    "MaxUnpool3D",
    lambda p, x, index: pooling.max_unpool3d(x, index, p.ksize, p.strides or None, p.pads, p.output_shape),
    """The partial inverse of 3-d max pooling.

    Examples:
        >>> out = ops.MaxUnpool3D(ksize=2, strides=2)(Tensor([[[[[5.0]]]]]), Tensor([[[[[7]]]]]))
        >>> print(out.flatten())
        [0. 0. 0. 0. 0. 0. 0. 5.]
    """, ksize=REQUIRED, strides=0, pads=0, output_shape=Typed(tuple, ()), data_format="NCDHW",
)  # fmt: skip


def _max_with_argmax(rank: int, kernel: Any, strides: Any, pads: Any, p: Primitive, x: Tensor) -> tuple:
    strides = kernel if strides is None else strides
    return MaxPoolWithIndices(rank, kernel, strides, pads, p.dilation, p.ceil_mode, p.argmax_type)(x)


MaxPoolWithArgmaxV2 = composition(
    "MaxPoolWithArgmaxV2", lambda p, x: _max_with_argmax(2, p.kernel_size, p.strides, p.pads, p, x),
    """Maxima of 2-d windows and their positions.

    Examples:
        >>> value, index = ops.MaxPoolWithArgmaxV2(kernel_size=2, strides=2)(Tensor([[[[1.0, 5.0], [2.0, 3.0]]]]))
        >>> value.item(), index.item()
        (5.0, 1)
    """, kernel_size=REQUIRED, strides=None, pads=0, dilation=(1, 1),
    ceil_mode=False, argmax_type=mstype.int64,
)  # fmt: skip
MaxPool3DWithArgmax = composition(
    "MaxPool3DWithArgmax", lambda p, x: _max_with_argmax(3, p.ksize, p.strides, p.pads, p, x),
    """Maxima of 3-d windows and their positions.

    Examples:
        >>> x = Tensor(np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2))
        >>> value, index = ops.MaxPool3DWithArgmax(ksize=[2, 2, 2], strides=[2, 2, 2], pads=[0, 0, 0])(x)
        >>> value.item(), index.item()
        (7.0, 7)
    """, ksize=REQUIRED, strides=Typed(int | tuple), pads=REQUIRED, dilation=(1, 1, 1),
    ceil_mode=Typed(bool, False), data_format="NCDHW", argmax_type=mstype.int64,
)  # fmt: skip


# -- convolution and patches --------------------------------------------------------------------------------------------
Conv3DTranspose = composition(
    "Conv3DTranspose",
    lambda p, x, weight: conv.conv3d_transpose(
        x, weight, p.pad_mode, p.pad, p.stride, p.dilation, p.group, p.output_padding
    ),
    """Transposed 3-d convolution.

    Examples:
        >>> kernel = ops.ones((2, 4, 2, 2, 2))
        >>> ops.Conv3DTranspose(2, 4, kernel_size=2, stride=2)(ops.ones((1, 2, 3, 3, 3)), kernel).shape
        (1, 4, 6, 6, 6)
    """, in_channel=REQUIRED, out_channel=REQUIRED, kernel_size=REQUIRED, mode=1,
    pad_mode="valid", pad=0, stride=1, dilation=1, group=1, output_padding=0, data_format="NCDHW",
)  # fmt: skip


def _depthwise(p: Primitive, x: Tensor, weight: Tensor) -> Any:
    multiplier, channels, *kernel = weight.shape
    filters = Reshape()(Transpose()(weight, (1, 0, 2, 3)), (channels * multiplier, 1, *kernel))
    return Conv2D(channels * multiplier, p.kernel_size, 1, p.pad_mode, p.pad, p.stride, p.dilation, channels)(
        x, filters
    )


DepthwiseConv2dNative = composition(
    "DepthwiseConv2dNative", _depthwise, """Every channel with its own filters: weight (multiplier, C, KH, KW).

    Examples:
        >>> ops.DepthwiseConv2dNative(1, 3)(ops.ones((1, 2, 5, 5)), ops.ones((1, 2, 3, 3))).shape
        (1, 2, 3, 3)
    """,
    channel_multiplier=REQUIRED, kernel_size=REQUIRED, mode=3, pad_mode="valid", pad=0, stride=1, dilation=1, group=1,
)  # fmt: skip


def _im2col(p: Primitive, x: Tensor) -> Any:
    columns = image.unfold(x, p.ksizes, p.dilations, p.pads, p.strides)
    elements = math.prod(window.per_dimension("Im2Col", "ksizes", p.ksizes, 2))
    return Reshape()(columns, (x.shape[0], x.shape[1], elements, columns.shape[2]))


def _col2im(p: Primitive, x: Tensor, output_size: Any) -> Any:
    sizes = tuple(int(v) for v in np.ravel(np.asarray(output_size)))
    flat = Reshape()(x, (x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))
    return image.fold(flat, sizes, p.kernel_size, p.dilation, p.padding, p.stride)


Im2Col = composition(
    "Im2Col", _im2col, """Windows as columns: (N, C, elements, windows).

    Examples:
        >>> ops.Im2Col([2, 2])(ops.ones((1, 1, 3, 3))).shape
        (1, 1, 4, 4)
    """, ksizes=REQUIRED, strides=1, dilations=1, pads=0
)
Col2Im = composition(
    "Col2Im", _col2im, """Columns added up into images.

    Examples:
        >>> columns = ops.ones((1, 1, 4, 4))
        >>> ops.Col2Im([2, 2])(columns, Tensor([3, 3], ms.int32)).flatten().tolist()
        [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
    """, kernel_size=REQUIRED, dilation=1, padding=0, stride=1
)


def extract_patches(x: Tensor, kernel: Any, stride: Any, dilation: Any, padding: str) -> Any:
    """Patches of (N, C, H, W) as channels, ordered by place in the patch first and channel second."""
    mode = window.pad_mode("ExtractImagePatches", padding, ("same", "valid"))
    geometry = window.resolve(mode, x.shape[2:], tuple(kernel), tuple(stride), tuple(dilation), ())
    pads = tuple(v for pair in geometry.pads for v in pair)
    columns = image.unfold(x, tuple(kernel), tuple(dilation), pads, tuple(stride))
    elements, batch, channels = kernel[0] * kernel[1], x.shape[0], x.shape[1]
    split = Transpose()(Reshape()(columns, (batch, channels, elements, columns.shape[2])), (0, 2, 1, 3))
    return Reshape()(split, (batch, elements * channels, *geometry.output(x.shape[2:])))


ExtractImagePatches = composition(
    "ExtractImagePatches", lambda p, x: extract_patches(x, p.ksizes[-2:], p.strides[-2:], p.rates[-2:], p.padding),
    """Image patches as channels.

    Examples:
        >>> x = Tensor(np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3))
        >>> ops.ExtractImagePatches([1, 1, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1])(x).shape
        (1, 4, 2, 2)
    """, ksizes=REQUIRED, strides=REQUIRED, rates=REQUIRED, padding="VALID",
)  # fmt: skip


# -- images -----------------------------------------------------------------------------------------------------------
def _sizes(value: Any) -> tuple[int, ...]:
    sizes = tuple(int(v) for v in np.ravel(value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)))
    if any(size < 1 for size in sizes):
        raise ValueError(f"For resizing, 'size' must hold ints that are at least 1, but got {sizes}.")
    return sizes


ResizeNearestNeighbor = composition(
    "ResizeNearestNeighbor", lambda p, x: image.resize(x, _sizes(p.size), "nearest", p.align_corners),
    """Nearest-neighbour resizing.

    Examples:
        >>> ops.ResizeNearestNeighbor((1, 4))(Tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0]]]]
    """, size=Typed(tuple), align_corners=Typed(bool, False), half_pixel_centers=Typed(bool, False),
)  # fmt: skip
ResizeNearestNeighborV2 = composition(
    "ResizeNearestNeighborV2",
    of_tensors("x", lambda p, x, size: image.resize(
        x, _sizes(size), "nearest-exact" if p.half_pixel_centers else "nearest", p.align_corners
    )),
    """Nearest-neighbour resizing.

    Examples:
        >>> print(ops.ResizeNearestNeighborV2()(Tensor([[[[1.0, 2.0]]]]), (1, 4)))
        [[[[1. 1. 2. 2.]]]]
    """, align_corners=Typed(bool, False), half_pixel_centers=Typed(bool, False),
)  # fmt: skip
ResizeBilinear = composition(
    "ResizeBilinear",
    lambda p, x: image.resize(x, _sizes(p.size), "bilinear", p.align_corners, p.half_pixel_centers),
    """Bilinear resizing.

    Examples:
        >>> ops.ResizeBilinear((1, 3), align_corners=True)(Tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]
    """, size=REQUIRED, align_corners=False, half_pixel_centers=False,
)  # fmt: skip
ResizeBilinearV2 = composition(
    "ResizeBilinearV2",
    of_tensors("x", lambda p, x, size: image.resize(x, _sizes(size), "bilinear", p.align_corners, p.half_pixel_centers)),
    """Bilinear resizing.

    Examples:
        >>> print(ops.ResizeBilinearV2(align_corners=True)(Tensor([[[[1.0, 2.0]]]]), (1, 3)))
        [[[[1.  1.5 2. ]]]]
    """, align_corners=Typed(bool, False), half_pixel_centers=Typed(bool, False),
)  # fmt: skip
ResizeBicubic = composition(
    "ResizeBicubic",
    lambda p, x, size: image.resize(x, _sizes(size), "bicubic", p.align_corners, p.half_pixel_centers),
    """Bicubic resizing.

    Examples:
        >>> ops.ResizeBicubic()(ops.ones((1, 1, 2, 2)), Tensor([4, 4], ms.int32)).shape
        (1, 1, 4, 4)
    """, align_corners=False, half_pixel_centers=False,
)  # fmt: skip
ResizeLinear1D = composition(
    "ResizeLinear1D",
    lambda p, x, size: image.resize(x, _sizes(size), "linear", p.coordinate_transformation_mode == "align_corners"),
    """Linear resizing of (N, C, L).

    Examples:
        >>> print(ops.ResizeLinear1D()(Tensor([[[1.0, 2.0]]]), Tensor([3], ms.int32)))
        [[[1.  1.5 2. ]]]
    """, coordinate_transformation_mode="align_corners",
)  # fmt: skip


def _upsample3d(mode: str, align_corners: bool, x: Tensor, size: Any, scales: Any) -> Any:
    size = None if size is None else _sizes(size)
    scales = None if scales is None else tuple(float(s) for s in scales)
    return image.interpolate(x, size, scales, mode, align_corners if mode == "trilinear" else None)


UpsampleNearest3D = plain(
    "UpsampleNearest3D", lambda x, size=None, scales=None: _upsample3d("nearest", False, x, size, scales),
    """Nearest-neighbour resizing of volumes (N, C, D, H, W) to a size, or by factors.

    Examples:
        >>> ops.UpsampleNearest3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape
        (1, 1, 4, 4, 4)
    """
)
UpsampleTrilinear3D = composition(
    "UpsampleTrilinear3D",
    lambda p, x, size=None, scales=None: _upsample3d("trilinear", p.align_corners, x, size, scales),
    """Trilinear resizing of volumes.

    Examples:
        >>> ops.UpsampleTrilinear3D()(ops.ones((1, 1, 2, 2, 2)), [4, 4, 4], None).shape
        (1, 1, 4, 4, 4)
    """, align_corners=False,
)  # fmt: skip
GridSampler2D = composition(
    "GridSampler2D",
    lambda p, x, grid: image.grid_sample(x, grid, p.interpolation_mode, p.padding_mode, p.align_corners),
    """Sampling of images at given positions.

    Examples:
        >>> image, centre = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[0.0, 0.0]]]])
        >>> print(ops.GridSampler2D(align_corners=True)(image, centre))
        [[[[2.5]]]]
    """, interpolation_mode="bilinear", padding_mode="zeros", align_corners=Typed(bool, False),
)  # fmt: skip
GridSampler3D = composition(
    "GridSampler3D",
    lambda p, x, grid: image.grid_sample(x, grid, p.interpolation_mode, p.padding_mode, p.align_corners),
    """Sampling of volumes at given positions.

    Examples:
        >>> volume, centre = ops.ones((1, 1, 2, 2, 2)), ops.zeros((1, 1, 1, 1, 3))
        >>> print(ops.GridSampler3D(align_corners=True)(volume, centre))
        [[[[[1.]]]]]
    """, interpolation_mode="bilinear", padding_mode="zeros", align_corners=Typed(bool, False),
)  # fmt: skip
AffineGrid = composition(
    "AffineGrid", lambda p, theta, size: image.affine_grid(theta, size, p.align_corners),
    """Sampling positions of affine maps.

    Examples:
        >>> ops.AffineGrid(align_corners=True)(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2)).shape
        (1, 2, 2, 2)
    """, align_corners=Typed(bool, False),
)  # fmt: skip
ChannelShuffle = composition(
    "ChannelShuffle",
    lambda p, x: image.channel_shuffle(x, p.group),
    """Interleaved groups of channels.

    Examples:
        >>> print(ops.ChannelShuffle(2)(Tensor(np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))).flatten())
        [0. 2. 1. 3.]
    """,
    group=REQUIRED,
)
GLU = composition("GLU", lambda p, x: act.glu(x, p.axis), """Gated linear unit.

    Examples:
        >>> print(ops.GLU()(Tensor([4.0, 6.0, 0.0, 0.0])))
        [2. 3.]
    """, axis=-1)
ReLUV2 = plain("ReLUV2", lambda x: (ew.ReLU()(x), cast(ew.Greater()(x, 0), mstype.uint8)),
    """max(x, 0), and which elements are positive.

    Examples:
        >>> out, positive = ops.ReLUV2()(Tensor([[[[-1.0, 2.0]]]]))
        >>> print(out, positive)
        [[[[0. 2.]]]] [[[[0 1]]]]
    """)


def _instance_norm(p: Primitive, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor) -> tuple:
    out, used_mean, used_var = Standardize(tuple(range(2, x.ndim)), p.epsilon)(x)
    row = (1, x.shape[1], *(1,) * (x.ndim - 2))
    return out * Reshape()(gamma, row) + Reshape()(beta, row), used_mean, used_var


InstanceNorm = composition("InstanceNorm", _instance_norm, """Instance normalisation.

    Examples:
        >>> x = Tensor([[[[1.0, 3.0]]]])
        >>> gamma, beta = Parameter(ops.ones(1), name="gamma"), Parameter(ops.zeros(1), name="beta")
        >>> mean, var = Parameter(ops.zeros(1), name="mean"), Parameter(ops.ones(1), name="var")
        >>> print(ops.InstanceNorm()(x, gamma, beta, mean, var)[0].round(decimals=2))
        [[[[-1.  1.]]]]
    """, epsilon=1e-5, momentum=0.1)

