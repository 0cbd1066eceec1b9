"""Where pixels go: resize, crop, pad, flip, rotate, affine and perspective maps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...._base.optional import require
from ..enums import Border, Inter
from ..image_transform import PIL_ONLY_MESSAGE, check_channels, height_width, is_pil

Image = Any  # a NumPy array in HWC or HW layout, or a PIL image

_CV_INTER = {Inter.NEAREST: 0, Inter.BILINEAR: 1, Inter.BICUBIC: 2, Inter.AREA: 3, Inter.PILCUBIC: 2}
_CV_BORDER = {Border.CONSTANT: 0, Border.EDGE: 1, Border.SYMMETRIC: 2, Border.REFLECT: 4}


def opencv() -> Any:
    return require("cv2", "data", "Image transforms of arrays")


def pillow(module: str = "Image") -> Any:
    return require(f"PIL.{module}", "data", "Image transforms of PIL images")


def cv_flag(inter: Inter, array: Any) -> int:
    if inter is Inter.ANTIALIAS:
        raise TypeError(PIL_ONLY_MESSAGE.format(type(array)))
    return _CV_INTER[inter]


def pil_flag(inter: Inter) -> int:
    if inter in (Inter.AREA, Inter.PILCUBIC):
        raise TypeError("Current Interpolation is not supported with PIL input.")
    return int(inter)


def cv_ready(image: np.ndarray) -> tuple[np.ndarray, np.dtype]:
    """The image in a type OpenCV can interpolate, and the type to convert the result to."""
    if image.dtype in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
        return image, image.dtype
    if image.dtype in (np.int8, np.bool_):
        return image.astype(np.int16), image.dtype
    return image.astype(np.float32 if image.dtype == np.float16 else np.float64), image.dtype


def cv_done(result: np.ndarray, like: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Undo what OpenCV and `cv_ready` changed: a dropped channel axis, the type."""
    if like.ndim == 3 and result.ndim == 2:
        result = result[:, :, None]
    if result.dtype != dtype:
        result = np.rint(result).astype(dtype) if dtype.kind in "iub" else result.astype(dtype)
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Resize


def scaled_size(height: int, width: int, size: Any) -> tuple[int, int]:
    """(height, width) of the result; one number is the shorter side, the other keeps the aspect ratio."""
    if isinstance(size, int):
        size = (size,)
    if len(size) == 2:
        return size[0], size[1]
    short = size[0]
    if height < width:
        return short, max(1, int(width * short / height))
    return max(1, int(height * short / width)), short


def resize(image: Image, size: Any, inter: Inter) -> Image:
    height, width = height_width(image)
    new_height, new_width = scaled_size(height, width, size)
    if is_pil(image):
        if (new_height, new_width) == (height, width) and isinstance(size, int):
            return image
        return image.resize((new_width, new_height), pil_flag(inter))
    if inter is Inter.PILCUBIC:
        return _resize_like_pillow(image, new_height, new_width)
    ready, dtype = cv_ready(image)
    resized = opencv().resize(ready, (new_width, new_height), interpolation=cv_flag(inter, image))
    return cv_done(resized, image, dtype)


def _resize_like_pillow(image: np.ndarray, height: int, width: int) -> np.ndarray:
    if image.ndim != 3 or image.shape[2] != 3:
        raise RuntimeError(f"resize: image shape should be <H,W,3> for PILCUBIC, but got {image.shape}")
    if image.dtype != np.uint8:
        raise RuntimeError(f"resize: image datatype should be uint8 for PILCUBIC, but got {image.dtype}")
    return np.asarray(pillow().fromarray(image).resize((width, height), int(Inter.BICUBIC)))


# ---------------------------------------------------------------------------------------------------------------------
# Crop, pad, flip


def crop(image: Image, top: int, left: int, height: int, width: int) -> Image:
    if is_pil(image):
        return image.crop((left, top, left + width, top + height))
    return image[top : top + height, left : left + width]


def pad(image: Image, padding: tuple[int, int, int, int], fill: Any, border: Border) -> Image:
    """Add (left, top, right, bottom) pixels."""
    if is_pil(image):
        return _pad_pil(image, padding, fill, border)
    check_channels(image, "Pad")
    left, top, right, bottom = padding
    ready, dtype = cv_ready(image)
    padded = opencv().copyMakeBorder(ready, top, bottom, left, right, _CV_BORDER[border], value=scalar(fill))
    return cv_done(padded, image, dtype)


def scalar(fill: Any) -> tuple[float, ...]:
    """A fill value as OpenCV takes it."""
    return (fill,) * 3 if isinstance(fill, (int, float)) else tuple(fill)


def _pad_numpy(array: np.ndarray, padding: tuple[int, int, int, int], fill: Any, border: Border) -> np.ndarray:
    left, top, right, bottom = padding
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
    if border is not Border.CONSTANT:
        return np.pad(array, widths, mode=border.value)  # type: ignore[call-overload]
    if np.isscalar(fill) or array.ndim == 2 or len(set(fill)) == 1:
        value = fill if np.isscalar(fill) else fill[0]
        return np.pad(array, widths, constant_values=value)
    planes = [np.pad(array[:, :, i], widths[:2], constant_values=fill[i % len(fill)]) for i in range(array.shape[2])]
    return np.stack(planes, axis=2)


def _pad_pil(image: Any, padding: tuple[int, int, int, int], fill: Any, border: Border) -> Any:
    if border is Border.CONSTANT:
        if isinstance(fill, (tuple, list)):
            fill = fill[0] if image.mode in ("L", "1", "P", "I", "F") else tuple(fill)
        expanded = pillow("ImageOps").expand(image, border=padding, fill=fill)
        if image.mode == "P":
            expanded.putpalette(image.getpalette())
        return expanded
    padded = pillow().fromarray(_pad_numpy(np.asarray(image), padding, fill, border))
    if image.mode == "P":
        padded.putpalette(image.getpalette())
    return padded


def flip_horizontal(image: Image) -> Image:
    if is_pil(image):
        return image.transpose(0)  # FLIP_LEFT_RIGHT
    if image.dtype == np.uint8 and image.flags.c_contiguous:  # several times as fast as NumPy
        return opencv().flip(image, 1).reshape(image.shape)
    return np.ascontiguousarray(image[:, ::-1])


def flip_vertical(image: Image) -> Image:
    if is_pil(image):
        return image.transpose(1)  # FLIP_TOP_BOTTOM
    return np.ascontiguousarray(image[::-1])


# ---------------------------------------------------------------------------------------------------------------------
# Rotation, affine and perspective maps


def rotate(image: Image, degrees: float, inter: Inter, expand: bool, center: Any, fill: Any) -> Image:
    """Turn anticlockwise about the centre (or `center`, x and y); `expand` makes room for the corners."""
    if is_pil(image):
        return _rotate_pil(image, degrees, inter, expand, center, fill)
    cv2 = opencv()
    height, width = image.shape[:2]
    pivot = tuple(center) if center else ((width - 1) / 2, (height - 1) / 2)
    matrix = cv2.getRotationMatrix2D(pivot, degrees, 1.0)
    if expand:
        new_width, new_height = _rotated_size(width, height, degrees)
        matrix[:, 2] += (new_width - width) / 2, (new_height - height) / 2
        width, height = round(new_width), round(new_height)
    return warp_affine(image, matrix, (width, height), inter, fill)


def _rotated_size(width: int, height: int, degrees: float) -> tuple[float, float]:
    """The size of the upright rectangle around a rotated one."""
    angle = math.radians(degrees)
    cos, sin = abs(math.cos(angle)), abs(math.sin(angle))
    return width * cos + height * sin, width * sin + height * cos


def _rotate_pil(image: Any, degrees: float, inter: Inter, expand: bool, center: Any, fill: Any) -> Any:
    degrees = degrees % 360.0
    if inter is Inter.ANTIALIAS:
        if degrees not in (0, 90, 180, 270) or center:
            raise ValueError(
                "When using Inter.ANTIALIAS, center needs to be None and angle needs to be an integer multiple of 90."
            )
        inter = Inter.NEAREST
    return image.rotate(degrees, pil_flag(inter), expand, center or None, fillcolor=pil_fill(image, fill))


def pil_fill(image: Any, fill: Any) -> Any:
    values = (fill,) * 3 if np.isscalar(fill) else tuple(fill)
    bands = len(image.getbands())
    return values[0] if bands == 1 else (*values, 255)[:bands]


def warp_affine(image: np.ndarray, matrix: np.ndarray, size: tuple[int, int], inter: Inter, fill: Any) -> np.ndarray:
    if inter is Inter.BICUBIC and image.ndim == 3 and image.shape[2] > 4:
        raise RuntimeError("Rotate: interpolation can not be CUBIC when image channel is greater than 4.")
    if inter is Inter.NEAREST:
        return _warp_nearest(image, opencv().invertAffineTransform(matrix), size, fill)
    ready, dtype = cv_ready(image)
    flag = cv_flag(inter, image)
    warped = opencv().warpAffine(ready, matrix, size, flags=flag, borderValue=scalar(fill))
    return cv_done(warped, image, dtype)


def _warp_nearest(image: np.ndarray, inverse: np.ndarray, size: tuple[int, int], fill: Any) -> np.ndarray:
    """Each pixel of the result from the nearest one of the image, half a pixel rounded up, in steps of 1/1024.

    OpenCV rounds so in version 4 but to the even pixel in version 5, which doubles some rows of a picture turned by 90
    degrees and leaves others out.
    """
    width, height = size
    x, y = np.arange(width), np.arange(height)[:, None]
    a, b, c, d, e, f = (1024 * float(value) for value in inverse.flat)
    columns = (np.rint(a * x) + np.rint(b * y + c) + 512).astype(np.int64) >> 10
    rows = (np.rint(d * x) + np.rint(e * y + f) + 512).astype(np.int64) >> 10
    inside = (columns >= 0) & (columns < image.shape[1]) & (rows >= 0) & (rows < image.shape[0])
    result = image[np.where(inside, rows, 0), np.where(inside, columns, 0)]
    channels = image.shape[2] if image.ndim == 3 else 1
    colour = np.zeros(max(channels, 4))
    colour[: len(scalar(fill))] = scalar(fill)
    result[~inside] = colour[:channels].astype(image.dtype) if image.ndim == 3 else colour[0].astype(image.dtype)
    return result


def affine_matrix(angle: float, translate: Any, scale: float, shear: Any, centre: Any) -> np.ndarray:
    """The map from input to output pixels: rotate (clockwise), shear and scale about `centre`, then translate."""
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    cos, sin = math.cos(turn - shear_y) / math.cos(shear_y), math.sin(turn - shear_y) / math.cos(shear_y)
    linear = scale * np.array(
        [[cos, -cos * math.tan(shear_x) - math.sin(turn)], [sin, -sin * math.tan(shear_x) + math.cos(turn)]]
    )
    offset = np.array(centre) - linear @ np.array(centre) + np.array(translate)
    return np.column_stack([linear, offset])


def affine(image: Image, angle: float, translate: Any, scale: float, shear: Any, inter: Inter, fill: Any) -> Image:
    """Rotate (degrees), translate (pixels), scale and shear (degrees) about the centre."""
    height, width = height_width(image)
    if not is_pil(image):
        matrix = affine_matrix(angle, translate, scale, shear, ((width - 1) / 2, (height - 1) / 2))
        return warp_affine(image, matrix.astype(np.float32), (width, height), inter, fill)
    matrix = affine_matrix(angle, translate, scale, shear, (width * 0.5 + 0.5, height * 0.5 + 0.5))
    inverse = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2]  # Pillow maps output to input
    return image.transform(
        image.size, 0, inverse.reshape(-1).tolist(), pil_flag(inter), fillcolor=pil_fill(image, fill)
    )


def perspective(image: Image, start_points: Any, end_points: Any, inter: Inter) -> Image:
    """The map that takes four start points (x, y) to four end points."""
    if is_pil(image):
        return image.transform(image.size, 2, perspective_coefficients(start_points, end_points), pil_flag(inter))
    cv2 = opencv()
    start, end = (np.array(points, dtype=np.float32) for points in (start_points, end_points))
    ready, dtype = cv_ready(image)
    flag = cv_flag(Inter.BILINEAR if inter is Inter.PILCUBIC else inter, image)
    warped = cv2.warpPerspective(
        ready, cv2.getPerspectiveTransform(start, end), (image.shape[1], image.shape[0]), flags=flag
    )
    return cv_done(warped, image, dtype)


def perspective_coefficients(start_points: Any, end_points: Any) -> list[float]:
    """The eight numbers Pillow takes: they map output to input pixels."""
    rows = []
    for (x, y), (u, v) in zip(end_points, start_points):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    matrix = np.array(rows, dtype=np.float64)
    target = np.array(start_points, dtype=np.float64).reshape(8)
    return np.linalg.lstsq(matrix, target, rcond=None)[0].tolist()
