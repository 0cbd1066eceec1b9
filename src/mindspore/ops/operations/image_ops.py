"""Classes of operations on images: boxes, regions, suppression by overlap, colours, resampling, glimpses and crops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import host_generator, next_key
from mindspore.ops import colour
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, concrete, require_rank, require_tensors, static_ints
from mindspore.ops.composition import REQUIRED, Typed, composition, plain
from mindspore.ops.resampling import apply_along
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims.broadcasting import BroadcastTo, Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive

IOU = composition("IOU", lambda self, anchors, truth: F.iou(anchors, truth, self.mode), """Overlaps.

    Examples:
        >>> print(ops.IOU()(Tensor([[0.0, 0.0, 2.0, 2.0]]), Tensor([[1.0, 0.0, 3.0, 2.0]])))
        [[0.5]]
    """, mode="iou")
BoundingBoxEncode = composition(
    "BoundingBoxEncode", lambda self, anchors, truth: F.bounding_box_encode(anchors, truth, self.means, self.stds),
    """Offsets from anchors to boxes.

    Examples:
        >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
        >>> print(ops.BoundingBoxEncode()(anchor, anchor))
        [[0. 0. 0. 0.]]
    """, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0),
)  # fmt: skip
BoundingBoxEncode.cuts = "n.,n."
BoundingBoxDecode = composition(
    "BoundingBoxDecode",
    lambda self, anchors, deltas: F.bounding_box_decode(
        anchors, deltas, self.max_shape, self.means, self.stds, self.wh_ratio_clip
    ),
    """Boxes from offsets.

    Examples:
        >>> anchor = Tensor([[4.0, 4.0, 8.0, 8.0]])
        >>> print(ops.BoundingBoxDecode(max_shape=(32, 32))(anchor, ops.zeros((1, 4))))
        [[4. 4. 8. 8.]]
    """, max_shape=Typed(tuple | None), means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip=Typed(float, 0.016),
)  # fmt: skip
BoundingBoxDecode.cuts = "n.,n."
CheckValid = plain("CheckValid", F.check_valid)
NMSWithMask = composition(
    "NMSWithMask", lambda self, boxes: F.nms_with_mask(boxes, self.iou_threshold), """Non-maximum suppression.

    Examples:
        >>> boxes = Tensor([[0.0, 0.0, 4.0, 4.0, 0.9], [0.0, 0.0, 4.0, 3.9, 0.8]])
        >>> print(ops.NMSWithMask(0.5)(boxes)[2])
        [ True False]
    """,
    iou_threshold=Typed(float, 0.5),
)  # fmt: skip
ROIAlign = composition(
    "ROIAlign",
    lambda self, features, rois: F.roi_align(
        features, rois, self.pooled_height, self.pooled_width, self.spatial_scale, self.sample_num, self.roi_end_mode
    ),
    """Features of regions as grids.

    Examples:
        >>> features = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> print(ops.ROIAlign(1, 1, 1.0)(features, Tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])))
        [[[[7.5]]]]
    """, pooled_height=REQUIRED, pooled_width=REQUIRED, spatial_scale=Typed(float),
    sample_num=2, roi_end_mode=Typed(int, 1),
)  # fmt: skip
CropAndResize = composition(
    "CropAndResize",
    lambda self, image, boxes, indices, size: F.crop_and_resize(
        image, boxes, indices, size, self.method, self.extrapolation_value
    ),
    """Boxes of images, resized.

    Examples:
        >>> image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
        >>> corners = ops.CropAndResize()(image, Tensor([[0.0, 0.0, 1.0, 1.0]]), Tensor([0], ms.int32), (2, 2))
        >>> print(corners.flatten())
        [ 0.  3. 12. 15.]
    """, method="bilinear", extrapolation_value=0.0,
)  # fmt: skip
CropAndResize.cuts, CropAndResize.brings_together = "n..c,b.,b", True


# -- colours --------------------------------------------------------------------------------------------------------------
RGBToHSV = plain("RGBToHSV", colour.rgb_to_hsv, """Hue, saturation and value, each in [0, 1].

    Examples:
        >>> print(ops.RGBToHSV()(Tensor([[[[1.0, 0.0, 0.0]]]])).flatten())
        [0. 1. 1.]
    """)
HSVToRGB = plain("HSVToRGB", colour.hsv_to_rgb, """Red, green and blue of hue, saturation and value.

    Examples:
        >>> print(ops.HSVToRGB()(Tensor([[[[0.0, 1.0, 1.0]]]])).flatten())
        [1. 0. 0.]
    """)
AdjustHue = plain("AdjustHue", colour.adjust_hue, """Turn the hue by `delta`, a share of the whole circle.

    Examples:
        >>> print(ops.AdjustHue()(Tensor([[[1.0, 0.0, 0.0]]]), Tensor(1 / 3)).flatten().round(decimals=3))
        [0. 1. 0.]
    """)
AdjustSaturation = plain("AdjustSaturation", colour.adjust_saturation, """Multiply the saturation, up to 1.

    Examples:
        >>> print(ops.AdjustSaturation()(Tensor([[[1.0, 0.5, 0.5]]]), Tensor(2.0)).flatten())
        [1. 0. 0.]
    """)
AdjustContrastv2 = plain("AdjustContrastv2", colour.adjust_contrast,
    """Move the values of (…, height, width, channels) away from their mean, or towards it.

    Examples:
        >>> print(ops.AdjustContrastv2()(Tensor([[[1.0], [3.0]]]), Tensor(2.0)).flatten())
        [0. 4.]
    """)


def _resize_area(self: Any, images: Tensor, size: Any) -> Any:
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


ResizeArea = composition("ResizeArea", _resize_area, """Images (N, H, W, C) resized by averaging.

    Examples:
        >>> x = Tensor([[[[1.0], [3.0]], [[5.0], [7.0]]]])
        >>> print(ops.ResizeArea()(x, Tensor([1, 1], ms.int32)).flatten())
        [4.]
    """, align_corners=False)


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
    "CombinedNonMaxSuppression", _combined_nms, """The boxes that are kept, of all classes.

    Examples:
        >>> boxes = Tensor([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]]]])
        >>> scores = Tensor([[[0.9], [0.8]]])
        >>> limits = Tensor(2, ms.int32), Tensor(2, ms.int32), Tensor(0.5), Tensor(0.1)
        >>> kept, score, label, number = ops.CombinedNonMaxSuppression()(boxes, scores, *limits)
        >>> print(number)
        [1]
    """, pad_per_class=False,
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


NonMaxSuppressionV3 = composition("NonMaxSuppressionV3", _nms, """The boxes that are kept.

    Examples:
        >>> boxes = Tensor([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [5.0, 5.0, 6.0, 6.0]])
        >>> limits = Tensor(3, ms.int32), Tensor(0.5), Tensor(0.0)
        >>> print(ops.NonMaxSuppressionV3()(boxes, Tensor([0.9, 0.8, 0.7]), *limits))
        [0 2]
    """)
NonMaxSuppressionWithOverlaps = composition("NonMaxSuppressionWithOverlaps", _nms_overlaps,
    """The boxes that are kept.

    Examples:
        >>> overlaps = Tensor([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
        >>> limits = Tensor(3, ms.int32), Tensor(0.5), Tensor(0.0)
        >>> print(ops.NonMaxSuppressionWithOverlaps()(overlaps, Tensor([0.9, 0.8, 0.7]), *limits))
        [0 2]
    """)


# -- resampling, glimpses and crops ---------------------------------------------------------------------------------------
def _lanczos(radius: int) -> Any:
    return lambda x: np.sinc(x) * np.sinc(x / radius) * (np.abs(x) <= radius)


def _cubic(b: float, c: float) -> Any:
    """The family of Mitchell & Netravali (1988)."""

    def kernel(x: np.ndarray) -> np.ndarray:
        x = np.abs(x)
        near = ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + (6 - 2 * b)) / 6
        far = ((-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    return kernel


#: radius and weight of each filter
_KERNELS: dict[str, tuple[float, Any]] = {
    "lanczos1": (1.0, _lanczos(1)), "lanczos3": (3.0, _lanczos(3)), "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.exp(-2.0 * x * x) * (np.abs(x) < 1.5)),
    "box": (1.0, lambda x: np.where(np.abs(x) < 0.5, 1.0, np.where(np.abs(x) == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1.0 - np.abs(x), 0.0)),
    "keyscubic": (2.0, _cubic(0.0, 0.5)), "mitchellcubic": (2.0, _cubic(1 / 3, 1 / 3)),
}  # fmt: skip


def _resampling(size: int, wanted: int, scale: float, shift: float, name: str, antialias: bool) -> np.ndarray:
    """The (wanted, size) matrix that moves and stretches an axis; places outside the image are 0."""
    radius, kernel = _KERNELS[name]
    step = 1.0 / scale
    width = max(step, 1.0) if antialias else 1.0
    at = (np.arange(wanted) + 0.5) * step - shift * step
    distance = np.arange(size) + 0.5 - at[:, None]
    weights = kernel(distance / width) * (np.abs(distance) <= radius * width)
    total = weights.sum(1, keepdims=True)
    weights = np.where(np.abs(total) > 1e-30, weights / np.where(total == 0, 1.0, total), 0.0)
    return weights * ((at >= 0) & (at <= size))[:, None]


def _scale_and_translate(self: Primitive, images: Tensor, size: Tensor, scale: Tensor, translation: Tensor) -> Any:
    op = "ScaleAndTranslate"
    if self.kernel_type not in _KERNELS:
        raise ValueError(f"For '{op}', 'kernel_type' must be one of {list(_KERNELS)}, but got {self.kernel_type!r}.")
    require_tensors(op, images=images)
    require_rank(op, "images", images, 4, 4)
    sizes = static_ints(op, "size", size)
    factors, shifts = (np.asarray(concrete(op, v), np.float64) for v in (scale, translation))
    if len(sizes) != 2 or factors.shape != (2,) or shifts.shape != (2,) or min(factors) <= 0:
        raise ValueError(f"For '{op}', 'size', 'scale' and 'translation' must be two numbers, and 'scale' positive.")
    out = cast(images, mstype.float32)
    for axis in (0, 1):
        matrix = _resampling(
            images.shape[axis + 1], sizes[axis], factors[axis], shifts[axis], self.kernel_type, self.antialias
        )
        out = apply_along(out, axis + 1, matrix.astype(np.float32))
    return out


ScaleAndTranslate = composition(
    "ScaleAndTranslate", _scale_and_translate, """Images (N, H, W, C) stretched and moved, resampled by a filter.

    Examples:
        >>> image, size = ops.ones((1, 2, 2, 1)), Tensor([2, 2], ms.int32)
        >>> out = ops.ScaleAndTranslate()(image, size, Tensor([1.0, 1.0]), Tensor([1.0, 0.0]))
        >>> out.flatten(start_dim=0).tolist()
        [0.0, 0.0, 1.0, 1.0]
    """,
    kernel_type="lanczos3", antialias=True,
)  # fmt: skip


def _extract_glimpse(self: Primitive, x: Tensor, size: Tensor, offsets: Tensor) -> Any:
    op = "ExtractGlimpse"
    if self.noise not in ("uniform", "gaussian", "zero") or (self.uniform_noise and self.noise != "uniform"):
        raise ValueError(
            f"For '{op}', 'noise' must be 'uniform', 'gaussian' or 'zero' ('uniform' with 'uniform_noise'), but got "
            f"{self.noise!r}."
        )
    require_tensors(op, x=x, offsets=offsets)
    require_rank(op, "x", x, 4, 4)
    if offsets.shape != (x.shape[0], 2):
        raise ValueError(f"For '{op}', 'offsets' must have the shape {(x.shape[0], 2)}, but got {offsets.shape}.")
    wanted = static_ints(op, "size", size)
    batch, _, _, channels = x.shape
    places, real = [], []
    for axis, count in enumerate(wanted):
        length = x.shape[axis + 1]
        start = cast(offsets[:, axis], mstype.float32) * (float(length) if self.normalized else 1.0)
        start = (start + float(length)) * 0.5 if self.centered else start
        first = cast(ew.Trunc()(start - count / 2), mstype.int64)
        place = Reshape()(first, (batch, 1)) + from_array(np.arange(count))
        real.append(ew.LogicalAnd()(place >= 0, place < length))
        places.append(ew.Minimum()(ew.Maximum()(place, 0), length - 1))
    height, width = wanted
    index = Reshape()(places[0] * x.shape[2], (batch, height, 1)) + Reshape()(places[1], (batch, 1, width))
    index = Reshape()(index, (batch, -1)) + from_array(np.arange(batch)[:, None] * (x.shape[1] * x.shape[2]))
    found = Reshape()(Gather()(Reshape()(x, (-1, channels)), index, 0), (batch, height, width, channels))
    seen = ew.LogicalAnd()(Reshape()(real[0], (batch, height, 1, 1)), Reshape()(real[1], (batch, 1, width, 1)))
    return ew.Select()(BroadcastTo(found.shape)(seen), found, _noise(self.noise, found))


def _noise(kind: str, like: Tensor) -> Any:
    if kind == "zero":
        return ew.zeros_like(like)
    drawn = rnd.RandomNormal() if kind == "gaussian" else rnd.RandomUniform()
    return cast(drawn(next_key(), like.shape, mstype.float32), like.dtype)


ExtractGlimpse = composition(
    "ExtractGlimpse", _extract_glimpse, """Windows of images (N, H, W, C) around given places; noise beyond the image.

    Examples:
        >>> image, size = ops.arange(9.0).reshape(1, 3, 3, 1), Tensor([1, 2], ms.int32)
        >>> op = ops.ExtractGlimpse(False, False, False, "zero")
        >>> op(image, size, Tensor([[1.5, 2.0]])).flatten(start_dim=0).tolist()
        [4.0, 5.0]
    """,
    centered=True, normalized=True, uniform_noise=True, noise="uniform",
)  # fmt: skip


def _sample_box(self: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any) -> tuple:
    op = "SampleDistortedBoundingBoxV2"
    require_tensors(op, image_size=image_size, bounding_boxes=bounding_boxes, min_object_covered=min_object_covered)
    sizes, boxes, least = (concrete(op, v) for v in (image_size, bounding_boxes, min_object_covered))
    if sizes.shape != (3,) or boxes.ndim != 3 or boxes.shape[2] != 4 or least.size != 1:
        raise ValueError(
            f"For '{op}', 'image_size' must have 3 elements, 'bounding_boxes' the shape (batch, N, 4) and "
            f"'min_object_covered' one element, but got {sizes.shape}, {boxes.shape} and {least.shape}."
        )
    for name, (low, high) in (("aspect_ratio_range", self.aspect_ratio_range), ("area_range", self.area_range)):
        if not 0 < low < high or (name == "area_range" and high > 1):
            raise ValueError(f"For '{op}', '{name}' must be two rising positive numbers, but got {(low, high)}.")
    objects = boxes.reshape(-1, 4)
    if not len(objects):
        if not self.use_image_if_no_bounding_boxes:
            raise ValueError(f"For '{op}', there are no bounding boxes; set 'use_image_if_no_bounding_boxes'.")
        objects = np.array([[0.0, 0.0, 1.0, 1.0]])
    draw = np.random.default_rng((self.seed, self.seed2)) if self.seed or self.seed2 else host_generator()
    top, left, high, wide = _crop(draw, self, int(sizes[0]), int(sizes[1]), objects, float(least.reshape(())))
    box = np.array([top / sizes[0], left / sizes[1], (top + high) / sizes[0], (left + wide) / sizes[1]], np.float32)
    begin = np.array([top, left, 0]).astype(sizes.dtype)
    return (
        from_array(begin),
        from_array(np.array([high, wide, -1]).astype(sizes.dtype)),
        from_array(box.reshape(1, 1, 4)),
    )


def _crop(draw: np.random.Generator, self: Any, height: int, width: int, objects: np.ndarray, least: float) -> tuple:
    """A random rectangle that meets the wishes, or the whole image when none was found."""
    for _ in range(self.max_attempts):
        ratio = draw.uniform(*self.aspect_ratio_range)
        area = draw.uniform(*self.area_range) * height * width
        high, wide = round((area / ratio) ** 0.5), round((area * ratio) ** 0.5)
        if not (1 <= high <= height and 1 <= wide <= width):
            continue
        if not self.area_range[0] <= high * wide / (height * width) <= self.area_range[1]:
            continue
        top, left = int(draw.integers(0, height - high + 1)), int(draw.integers(0, width - wide + 1))
        y1, x1, y2, x2 = (objects * [height, width, height, width]).T
        common = np.maximum(np.minimum(y2, top + high) - np.maximum(y1, top), 0)
        common = common * np.maximum(np.minimum(x2, left + wide) - np.maximum(x1, left), 0)
        if least <= 0 or np.any(common >= least * (y2 - y1) * (x2 - x1)):
            return top, left, high, wide
    return 0, 0, height, width


SampleDistortedBoundingBoxV2 = composition(
    "SampleDistortedBoundingBoxV2", _sample_box,
    """A random part of an image that covers an object: corner, size, borders.

    Examples:
        >>> box = Tensor([[[0.2, 0.2, 0.8, 0.8]]])
        >>> op = ops.SampleDistortedBoundingBoxV2(seed=1)
        >>> begin, size, borders = op(Tensor([640, 480, 3]), box, Tensor([0.1]))
        >>> borders.shape
        (1, 1, 4)
    """, seed=0,
    seed2=0, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0), max_attempts=100,
    use_image_if_no_bounding_boxes=False,
)  # fmt: skip

__all__ = [
    "AdjustContrastv2", "AdjustHue", "AdjustSaturation", "BoundingBoxDecode", "BoundingBoxEncode", "CheckValid",
    "CombinedNonMaxSuppression", "CropAndResize", "ExtractGlimpse", "HSVToRGB", "IOU", "NMSWithMask",
    "NonMaxSuppressionV3", "NonMaxSuppressionWithOverlaps", "RGBToHSV", "ROIAlign", "ResizeArea",
    "SampleDistortedBoundingBoxV2", "ScaleAndTranslate",
]  # fmt: skip
