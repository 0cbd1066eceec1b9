"""Classes that official MindSpore still offers but advises against, and those of parameter servers and queues."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import host_generator, next_key
from mindspore.ops import transducer_loss
from mindspore.ops.arguments import cast, concrete, require_rank, require_tensors, static_ints
from mindspore.ops.composition import composition
from mindspore.ops.resampling import apply_along
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.reduction import BroadcastTo, Reshape
from mindspore.prims.values import from_array


# -- images ---------------------------------------------------------------------------------------------------------------
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


def _scale_and_translate(self: Any, images: Any, size: Any, scale: Any, translation: Any) -> Any:
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


def _extract_glimpse(self: Any, x: Any, size: Any, offsets: Any) -> Any:
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


def _noise(kind: str, like: Any) -> Any:
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
    "SampleDistortedBoundingBoxV2", _sample_box, """A random part of an image that covers an object: corner, size, borders.

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


# -- losses and classes ---------------------------------------------------------------------------------------------------
def _rnnt_loss(self: Any, acts: Any, labels: Any, input_lengths: Any, label_lengths: Any) -> tuple:
    op = "RNNTLoss"
    require_tensors(op, acts=acts, labels=labels, input_lengths=input_lengths, label_lengths=label_lengths)
    require_rank(op, "acts", acts, 4, 4)
    batch, _, places, classes = acts.shape
    if labels.shape != (batch, places - 1):
        raise ValueError(f"For '{op}', 'labels' must have the shape {(batch, places - 1)}, but got {labels.shape}.")
    if not 0 <= self.blank_label < classes:
        raise ValueError(f"For '{op}', 'blank_label' must be from 0 to {classes - 1}, but got {self.blank_label}.")
    return transducer_loss.loss_and_gradient(acts, labels, input_lengths, label_lengths, self.blank_label)


RNNTLoss = composition(
    "RNNTLoss",
    _rnnt_loss,
    """The loss of sequence transducers (Graves 2012) and its gradient by the activations.

    Examples:
        >>> acts, labels = ops.zeros((1, 2, 2, 4)), Tensor([[1]], ms.int32)
        >>> cost, grads = ops.RNNTLoss()(acts, labels, Tensor([2], ms.int32), Tensor([1], ms.int32))
        >>> print(cost.round(decimals=4), grads.shape)
        [3.4657] (1, 2, 2, 4)
    """,
    blank_label=0,
)


def _accidental_hits(self: Any, true_classes: Any, sampled_candidates: Any) -> tuple:
    op = "ComputeAccidentalHits"
    require_tensors(op, true_classes=true_classes, sampled_candidates=sampled_candidates)
    true, sampled = concrete(op, true_classes), concrete(op, sampled_candidates)
    if true.ndim != 2 or true.shape[1] != self.num_true:
        raise ValueError(
            f"For '{op}', 'true_classes' must have the shape (batch, {self.num_true}), but got {true.shape}."
        )
    rows, _, ids = np.nonzero(true[:, :, None] == sampled)
    weights = np.full(len(rows), np.finfo(np.float32).min, np.float32)
    return from_array(rows.astype(np.int32)), from_array(ids.astype(np.int64)), from_array(weights)


ComputeAccidentalHits = composition(
    "ComputeAccidentalHits",
    _accidental_hits,
    """Where sampled classes are among the true ones: the rows, the places among the samples, and the lowest float.

    Examples:
        >>> rows, ids, _ = ops.ComputeAccidentalHits(1)(Tensor([[5], [3]]), Tensor([3, 4, 5]))
        >>> rows.tolist(), ids.tolist()
        ([0, 1], [2, 0])
    """,
    num_true=1,
)


# -- keys of tables spread over servers ------------------------------------------------------------------------------------
def _sub_and_filter(self: Any, input_x: Any, max_num: int, offset: int) -> tuple:
    moved = concrete("SubAndFilter", input_x) - offset
    kept = np.flatnonzero((moved >= 0) & (moved < max_num))
    return from_array(moved[kept]), from_array(kept.astype(moved.dtype))


SubAndFilter = composition(
    "SubAndFilter",
    _sub_and_filter,
    """x - offset where that is in [0, max_num), and its places.

    Examples:
        >>> kept, places = ops.SubAndFilter()(Tensor([1, 5, 8]), 4, 4)
        >>> kept.tolist(), places.tolist()
        ([1], [1])
    """,
)
MapUniform = composition(
    "MapUniform", lambda self, input, per_group_size, group_num: ew.FloorMod()(input, group_num) * per_group_size
    + ew.FloorDiv()(input, group_num), """Keys dealt out to groups: key % groups * size + key // groups.

    Examples:
        >>> ops.MapUniform()(Tensor([0, 1, 2, 3]), 2, 2).tolist()
        [0, 2, 1, 3]
    """,
)  # fmt: skip


__all__ = [
    "ComputeAccidentalHits", "ExtractGlimpse", "MapUniform", "RNNTLoss",
    "SampleDistortedBoundingBoxV2", "ScaleAndTranslate", "SubAndFilter",
]  # fmt: skip
