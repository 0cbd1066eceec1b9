"""Classes of operations that few scripts use: colours, labels, layouts, patches and suppression by overlap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ops import colour, deformable, fractional_pooling
from mindspore.ops.arguments import cast, concrete, static_ints
from mindspore.ops.composition import REQUIRED, composition, plain
from mindspore.ops.joining import pad_pairs
from mindspore.ops.resampling import apply_along
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Transpose
from mindspore.prims.gather_scatter import Gather, TensorScatterAdd
from mindspore.prims.hooks import GradientHook
from mindspore.prims.pooling import AvgPool, MaxPool
from mindspore.prims.reduction import ReduceAll, ReduceMax, ReduceSum, Reshape
from mindspore.prims.sorting import Argmin
from mindspore.prims.values import from_array

# -- other names ----------------------------------------------------------------------------------------------------------
AddV2 = composition("AddV2", lambda self, x, y: ew.Add()(x, y), "x + y.")
ReLUV3 = composition("ReLUV3", lambda self, x: ew.ReLU()(x), "max(x, 0).")
Load = composition("Load", lambda self, variable, state=None: variable, "The value of a Parameter.")
ArgminV2 = composition(
    "ArgminV2", lambda self, x, axis: Argmin(static_ints("ArgminV2", "axis", axis)[0])(x), "The place of the least."
)


def _all_finite(self: Any, tensors: Any) -> Any:
    given = tensors if isinstance(tensors, (tuple, list)) else (tensors,)
    flags = [ReduceAll()(ew.IsFinite()(t), ()) for t in given]
    out = flags[0]
    for flag in flags[1:]:
        out = ew.LogicalAnd()(out, flag)
    return ew.LogicalNot()(Reshape()(out, (1,)))


AllFinite = composition("AllFinite", _all_finite, "Whether any element is infinite or not a number.")
InsertGradientOf = composition(
    "InsertGradientOf", lambda self, x: GradientHook(lambda grads: tuple(self.f(g) for g in grads))(x)[0],
    "x, whose gradient passes through a function.", f=REQUIRED,
)  # fmt: skip

# -- colours --------------------------------------------------------------------------------------------------------------
RGBToHSV = plain("RGBToHSV", colour.rgb_to_hsv)
HSVToRGB = plain("HSVToRGB", colour.hsv_to_rgb)
AdjustHue = plain("AdjustHue", colour.adjust_hue)
AdjustSaturation = plain("AdjustSaturation", colour.adjust_saturation)
AdjustContrastv2 = plain("AdjustContrastv2", colour.adjust_contrast)


def _resize_area(self: Any, images: Any, size: Any) -> Any:
    """Each output pixel is the mean of the part of the image it covers."""
    out = cast(images, mstype.float32)
    for axis, wanted in zip((1, 2), static_ints("ResizeArea", "size", size)):
        given = images.shape[axis]
        last = self.align_corners and wanted > 1
        scale = (given - 1) / (wanted - 1) if last else given / wanted
        low = np.arange(wanted)[:, None] * scale
        cover = np.minimum(low + scale, np.arange(given) + 1) - np.maximum(low, np.arange(given))
        cover = np.maximum(cover, 0)
        out = apply_along(out, axis, (cover / cover.sum(1, keepdims=True)).astype(np.float32))
    return out


ResizeArea = composition("ResizeArea", _resize_area, "Images (N, H, W, C) resized by averaging.", align_corners=False)


# -- suppression by overlap -----------------------------------------------------------------------------------------------
def _suppress(scores: np.ndarray, limit: int, threshold: float, overlap: Any) -> list[int]:
    """Greedy choice from the highest score down, leaving out what overlaps a choice too much."""
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if len(chosen) == limit or scores[i] <= threshold:
            break
        if not any(overlap(int(i), j) for j in chosen):
            chosen.append(int(i))
    return chosen


def _numbers(op: str, *values: Any) -> list[float]:
    return [float(concrete(op, v)) if hasattr(v, "asnumpy") else float(v) for v in values]


def _overlapping(corners: np.ndarray, iou: float) -> Any:
    """Whether two boxes, given by two opposite corners each, overlap by more than `iou`."""
    corners = corners.astype(np.float64)
    low, high = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])
    areas = np.prod(high - low, 1)

    def overlap(i: int, j: int) -> bool:
        shared = np.prod(np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0))
        union = areas[i] + areas[j] - shared
        return bool(union > 0 and shared / union > iou)

    return overlap


def _nms(self: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any) -> Any:
    op = "NonMaxSuppressionV3"
    limit, iou, least = _numbers(op, max_output_size, iou_threshold, score_threshold)
    chosen = _suppress(concrete(op, scores), int(limit), least, _overlapping(concrete(op, boxes), iou))
    return from_array(np.asarray(chosen, np.int32))


def _combined_nms(
    self: Any, boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any, iou_threshold: Any,
    score_threshold: Any,
) -> tuple:  # fmt: skip
    """Suppression for each class of each image; the best of all classes, padded with zeros."""
    op = "CombinedNonMaxSuppression"
    per_class, total, iou, least = _numbers(
        op, max_output_size_per_class, max_total_size, iou_threshold, score_threshold
    )
    all_boxes, all_scores = concrete(op, boxes), concrete(op, scores)
    images, _, classes = all_scores.shape
    size = int(min(total, per_class * classes)) if self.pad_per_class else int(total)
    out = (
        np.zeros((images, size, 4), np.float32),
        np.zeros((images, size), np.float32),
        np.zeros((images, size), np.float32),
    )
    valid = np.zeros(images, np.int32)
    for image in range(images):
        found = []
        for label in range(classes):
            own = all_boxes[image, :, label if all_boxes.shape[2] > 1 else 0]
            points = all_scores[image, :, label]
            for i in _suppress(points, int(per_class), least, _overlapping(own, iou)):
                found.append((points[i], label, own[i]))
        found.sort(key=lambda item: -item[0])
        valid[image] = min(len(found), size)
        for place, (score, label, box) in enumerate(found[:size]):
            out[0][image, place] = np.clip(box, 0, 1) if self.clip_boxes else box
            out[1][image, place], out[2][image, place] = score, label
    return *map(from_array, out), from_array(valid)


CombinedNonMaxSuppression = composition(
    "CombinedNonMaxSuppression", _combined_nms, "The boxes that are kept, of all classes.", pad_per_class=False,
    clip_boxes=True,
)  # fmt: skip


def _nms_overlaps(
    self: Any, overlaps: Any, scores: Any, max_output_size: Any, overlap: Any, score_threshold: Any
) -> Any:
    op = "NonMaxSuppressionWithOverlaps"
    table = concrete(op, overlaps)
    limit, most, least = _numbers(op, max_output_size, overlap, score_threshold)
    chosen = _suppress(concrete(op, scores), int(limit), least, lambda i, j: bool(table[i, j] > most))
    return from_array(np.asarray(chosen, np.int32))


NonMaxSuppressionV3 = composition("NonMaxSuppressionV3", _nms, "The boxes that are kept.")
NonMaxSuppressionWithOverlaps = composition("NonMaxSuppressionWithOverlaps", _nms_overlaps, "The boxes that are kept.")


# -- labels and sequences -------------------------------------------------------------------------------------------------
def _confusion(self: Any, labels: Any, predictions: Any, weights: Any = None) -> Any:
    size, dtype = self.num_classes, mstype.to_dtype(self.dtype)
    place = cast(labels, mstype.int64) * size + cast(predictions, mstype.int64)
    counts = from_array(np.zeros(size * size, dtype.np))
    ones = from_array(np.ones(labels.shape, dtype.np)) if weights is None else cast(weights, dtype)
    return Reshape()(TensorScatterAdd()(counts, Reshape()(place, (-1, 1)), ones), (size, size))


ConfusionMatrix = composition(
    "ConfusionMatrix", _confusion, "How often each label was taken for each.", num_classes=REQUIRED, dtype="int32",
)  # fmt: skip


def _levenshtein(a: list, b: list) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _edit_distance(
    self: Any,
    hyp_indices: Any,
    hyp_values: Any,
    hyp_shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
) -> Any:
    op = "EditDistance"
    shapes = [static_ints(op, "shape", s) for s in (hyp_shape, truth_shape)]
    out_shape = tuple(max(a, b) for a, b in zip(*(s[:-1] for s in shapes)))
    sequences: list[dict] = [{}, {}]
    for found, indices, values in zip(sequences, (hyp_indices, truth_indices), (hyp_values, truth_values)):
        for place, value in sorted(zip(map(tuple, concrete(op, indices).tolist()), concrete(op, values).tolist())):
            found.setdefault(place[:-1], []).append(value)
    out = np.zeros(out_shape, np.float32)
    for place in np.ndindex(*out_shape):
        hyp, truth = (found.get(place, []) for found in sequences)
        distance = float(_levenshtein(hyp, truth))
        if self.normalize:
            distance = distance / len(truth) if truth else (math.inf if hyp else 0.0)
        out[place] = distance
    return from_array(out)


EditDistance = composition(
    "EditDistance", _edit_distance, "The Levenshtein distance of sparse sequences.", normalize=True
)


def _no_repeat(self: Any, state_seq: Any, log_probs: Any) -> Any:
    """Words that would repeat an n-gram of their sequence get the lowest number."""
    states, out = concrete("NoRepeatNGram", state_seq), concrete("NoRepeatNGram", log_probs).copy()
    n = self.ngram_size
    lowest = np.finfo(out.dtype).min
    for place in np.ndindex(*states.shape[:-1]):
        words = states[place].tolist()
        tail = words[len(words) - n + 1 :]
        for i in range(len(words) - n + 1):
            if words[i : i + n - 1] == tail:
                out[(*place, words[i + n - 1])] = lowest
    return from_array(out)


NoRepeatNGram = composition("NoRepeatNGram", _no_repeat, "Log-probabilities without repeated n-grams.", ngram_size=1)


def _ragged_range(self: Any, starts: Any, limits: Any, deltas: Any) -> tuple:
    rows = [
        np.arange(*t)
        for t in zip(*(np.atleast_1d(concrete("RaggedRange", v)).tolist() for v in (starts, limits, deltas)))
    ]
    splits = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    values = np.concatenate(rows) if rows else np.zeros(0)
    return from_array(splits.astype(mstype.to_dtype(self.Tsplits).np)), from_array(values.astype(starts.dtype.np))


RaggedRange = composition(
    "RaggedRange", _ragged_range, "Ranges one behind the other, and where each starts.", Tsplits=REQUIRED
)


def _bitpack(self: Any, x: Any, threshold: Any) -> Any:
    """Eight comparisons x > threshold per byte, the first in the highest bit."""
    bits = cast(ew.Greater()(x, threshold), mstype.int32)
    grouped = Reshape()(bits, (*x.shape[:-1], x.shape[-1] // 8, 8))
    return cast(ReduceSum()(grouped * from_array(2 ** np.arange(7, -1, -1).astype(np.int32)), -1), mstype.uint8)


CompareAndBitpack = composition("CompareAndBitpack", _bitpack, "Comparisons packed into bytes.")


# -- layouts ------------------------------------------------------------------------------------------------------------
def _dim_map(self: Any, x: Any) -> Any:
    table = np.array([self.src_format.index(letter) for letter in self.dst_format], np.int32)
    return cast(Gather()(from_array(table), ew.FloorMod()(x, len(table)), 0), x.dtype)


def _vec_permute(self: Any, x: Any) -> Any:
    spatial = x.shape[0] == 2
    source, target = (f.replace("N", "").replace("C", "") if spatial else f for f in (self.src_format, self.dst_format))
    return Gather()(x, from_array(np.array([source.index(letter) for letter in target])), 0)


DataFormatDimMap = composition(
    "DataFormatDimMap", _dim_map, "Dimensions of one layout in another.", src_format="NHWC", dst_format="NCHW"
)
DataFormatVecPermute = composition(
    "DataFormatVecPermute", _vec_permute, "Sizes of one layout in another.", src_format="NHWC", dst_format="NCHW"
)


# -- patches --------------------------------------------------------------------------------------------------------------
def _windows(x: Any, kernel: Any, strides: Any, dilations: Any, mode: str, fill: float) -> tuple[Any, tuple]:
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


def _dilation(self: Any, x: Any, filter: Any) -> Any:
    strides, dilations = (
        tuple(v)[-2:] if isinstance(v, (tuple, list)) else (v, v) for v in (self.stride, self.dilation)
    )
    taps, count = _windows(x, filter.shape[1:], strides, dilations, self.pad_mode, -np.inf)
    raised = taps + Reshape()(filter, (filter.shape[0], -1, 1))
    return Reshape()(ReduceMax()(raised, 2), (*x.shape[:2], *count))


Dilation2D = composition(
    "Dilation2D", _dilation, "Grey dilation of (N, C, H, W): the maximum of window plus filter.", stride=REQUIRED,
    dilation=REQUIRED, pad_mode="SAME", data_format="NCHW",
)  # fmt: skip


def _volume_patches(self: Any, x: Any) -> Any:
    kernel, strides = (
        tuple(v)[-3:] if isinstance(v, (tuple, list)) else (v,) * 3 for v in (self.kernel_size, self.strides)
    )
    taps, count = _windows(x, kernel, strides, (1, 1, 1), self.padding, 0.0)
    n, channels, area, _ = taps.shape
    return Reshape()(Transpose()(taps, (0, 2, 1, 3)), (n, area * channels, *count))


ExtractVolumePatches = composition(
    "ExtractVolumePatches", _volume_patches, "Windows of (N, C, D, H, W) as channels.", kernel_size=REQUIRED,
    strides=REQUIRED, padding=REQUIRED,
)  # fmt: skip


def _fractional(rank: int) -> Any:
    def function(self: Any, x: Any, random_samples: Any) -> tuple:
        kernel, out = ((v,) * rank if isinstance(v, int) else tuple(v) for v in (self.ksize, self.output_shape))
        return fractional_pooling.fractional_pool(self.name, x, kernel, out, random_samples)

    return function


FractionalMaxPoolWithFixedKsize = composition(
    "FractionalMaxPoolWithFixedKsize", _fractional(2), "Maxima of drawn windows, and their places.", ksize=REQUIRED,
    output_shape=REQUIRED, data_format="NCHW",
)  # fmt: skip
FractionalMaxPool3DWithFixedKsize = composition(
    "FractionalMaxPool3DWithFixedKsize", _fractional(3), "Maxima of drawn windows, and their places.", ksize=REQUIRED,
    output_shape=REQUIRED, data_format="NCDHW",
)  # fmt: skip
DeformableOffsets = composition(
    "DeformableOffsets",
    lambda self, x, offsets: deformable.deformable_offsets(
        x, offsets, self.strides, self.pads, self.ksize, self.dilations, self.deformable_groups, self.modulated
    ),
    "The samples of a deformable convolution.", strides=REQUIRED, pads=REQUIRED, ksize=REQUIRED,
    dilations=(1, 1, 1, 1), data_format="NCHW", deformable_groups=1, modulated=True,
)  # fmt: skip


def _old_pool(name: str, kind: Any) -> Any:
    def function(self: Any, x: Any) -> Any:
        sizes = [tuple(v)[-2:] if isinstance(v, (tuple, list)) else v for v in (self.kernel_size, self.strides)]
        return kind(*sizes, self.pad_mode, self.data_format)(x)

    return composition(
        name, function, "Pooling of 2-d windows.", kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"
    )


MaxPoolV1, AvgPoolV1 = _old_pool("MaxPoolV1", MaxPool), _old_pool("AvgPoolV1", AvgPool)

__all__ = [
    "AddV2", "AdjustContrastv2", "AdjustHue", "AdjustSaturation", "AllFinite", "ArgminV2", "AvgPoolV1",
    "CombinedNonMaxSuppression", "CompareAndBitpack",
    "ConfusionMatrix", "DataFormatDimMap", "DataFormatVecPermute", "DeformableOffsets", "Dilation2D", "EditDistance",
    "ExtractVolumePatches", "FractionalMaxPool3DWithFixedKsize", "FractionalMaxPoolWithFixedKsize", "HSVToRGB",
    "InsertGradientOf", "Load", "MaxPoolV1", "NoRepeatNGram", "NonMaxSuppressionV3", "NonMaxSuppressionWithOverlaps",
    "RGBToHSV", "RaggedRange", "ReLUV3", "ResizeArea",
]  # fmt: skip
