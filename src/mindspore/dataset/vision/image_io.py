"""Images and files: read, write, encode, and ask for size and channels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..._base.files import atomic_write
from .decode import imdecode
from .enums import ImageReadMode
from .functional.geometry import opencv
from .image_transform import is_pil


def _array(value: Any, name: str = "image", prefix: str = "Input") -> np.ndarray:
    """An array, also from a Tensor."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    raise TypeError(f"{prefix} {name} is not of type {np.ndarray} or mindspore.Tensor, but got: {type(value)}.")


def _path(filename: Any) -> str:
    if not isinstance(filename, str):
        raise TypeError(f"Input filename is not of type {str}, but got: {type(filename)}.")
    return filename


def _existing(filename: Any, op: str) -> str:
    path = _path(filename)
    if not os.path.exists(path):
        raise RuntimeError(f"{op}: Invalid file path, {path} does not exist.")
    if not os.path.isfile(path):
        raise RuntimeError(f"{op}: Invalid file path, {path} is not a regular file.")
    return path


def _whole_number(value: Any, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"Input {name} is not of type {int}, but got: {type(value)}.")


def _image_size_and_channels(image: Any, op: str) -> tuple[list[int], int]:
    if is_pil(image):
        return [image.size[1], image.size[0]], len(image.getbands())
    if not isinstance(image, np.ndarray):
        raise TypeError(
            f"Input image is not of type {np.ndarray} or <class 'PIL.Image.Image'>, but got: {type(image)}."
        )
    if image.ndim < 2:
        raise RuntimeError(f"{op}: invalid parameter, image should have at least two dimensions, but got: {image.ndim}")
    if image.ndim == 2:
        return list(image.shape), 1
    return list(image.shape[-3:-1]), image.shape[-1]


def get_image_num_channels(image: Any) -> int:
    """The number of channels of an HW or HWC array, or of a PIL image.

    Examples:
        >>> vision.get_image_num_channels(np.zeros((4, 6, 3), np.uint8))
        3
    """
    return _image_size_and_channels(image, "GetImageNumChannels")[1]


def get_image_size(image: Any) -> list[int]:
    """[height, width] of an HW or HWC array, or of a PIL image.

    Examples:
        >>> vision.get_image_size(np.zeros((4, 6, 3), np.uint8))
        [4, 6]
    """
    return _image_size_and_channels(image, "GetImageSize")[0]


# ---------------------------------------------------------------------------------------------------------------------
# Encoding


def _encode(image: Any, op: str, extension: str, option: str, value: int, limits: tuple[int, int], what: str) -> Any:
    array = _array(image, prefix="The input" if op == "WritePng" else "Input")
    if array.dtype != np.uint8:
        raise RuntimeError(f"{op}: The type of the {what} should be UINT8, but got {array.dtype}.")
    if array.ndim not in (2, 3):
        raise RuntimeError(
            f"{op}: The image has invalid dimensions. It should have two or three dimensions, "
            f"but got {array.ndim} dimensions."
        )
    channels = 1 if array.ndim == 2 else array.shape[2]
    if channels not in (1, 3):
        raise RuntimeError(
            f"{op}: The image has invalid channels. It should have 1 or 3 channels, but got {channels} channels."
        )
    name = "quality" if extension == ".jpg" else "compression_level"
    if not limits[0] <= value <= limits[1]:
        raise RuntimeError(f"{op}: Invalid {name} {value}, should be in range of [{limits[0]}, {limits[1]}].")
    cv2 = opencv()
    pixels = cv2.cvtColor(array, cv2.COLOR_RGB2BGR) if channels == 3 else array
    done, encoded = cv2.imencode(extension, pixels, [getattr(cv2, option), value])
    if not done:
        raise RuntimeError(f"{op}: Failed to encode the image.")
    return encoded.reshape(-1)


def _encode_jpeg(image: Any, quality: Any, op: str, what: str) -> np.ndarray:
    _whole_number(quality, "quality")
    return _encode(image, op, ".jpg", "IMWRITE_JPEG_QUALITY", quality, (1, 100), what)


def _encode_png(image: Any, level: Any, op: str, what: str) -> np.ndarray:
    _whole_number(level, "compression_level")
    return _encode(image, op, ".png", "IMWRITE_PNG_COMPRESSION", level, (0, 9), what)


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """The bytes of a JPEG file, as a 1-D uint8 array.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> bytes(vision.encode_jpeg(np.zeros((8, 8, 3), np.uint8))[:2])
        b'\\xff\\xd8'
    """
    return _encode_jpeg(image, quality, "EncodeJpeg", "image data")


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """The bytes of a PNG file, as a 1-D uint8 array.

    Examples:
        >>> vision.encode_png(np.zeros((2, 2, 3), np.uint8))[1:4].tobytes()
        b'PNG'
    """
    return _encode_png(image, compression_level, "EncodePng", "image data")


# ---------------------------------------------------------------------------------------------------------------------
# Files


def read_file(filename: str) -> np.ndarray:
    """A file's bytes, as a 1-D uint8 array.

    Examples:
        >>> vision.write_file("note.bin", np.array([1, 2], np.uint8))
        >>> vision.read_file("note.bin").tolist()
        [1, 2]
    """
    return np.fromfile(_existing(filename, "ReadFile"), dtype=np.uint8)


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """An image file (BMP, JPEG, PNG, TIFF …) as an HWC array of one or three channels; an alpha channel is dropped.

    Examples:
        >>> vision.write_png("black.png", np.zeros((2, 3, 3), np.uint8))
        >>> vision.read_image("black.png").shape
        (2, 3, 3)
    """
    path = _path(filename)
    if not isinstance(mode, ImageReadMode):
        raise TypeError(f"Input mode is not of type {ImageReadMode}, but got: {type(mode)}.")
    cv2 = opencv()
    flag = {
        ImageReadMode.UNCHANGED: cv2.IMREAD_UNCHANGED,
        ImageReadMode.GRAYSCALE: cv2.IMREAD_GRAYSCALE,
        ImageReadMode.COLOR: cv2.IMREAD_COLOR,
    }[mode]
    data = np.fromfile(_existing(path, "ReadImage"), dtype=np.uint8)
    pixels = imdecode(data, flag) if data.size else None
    if pixels is None:
        raise RuntimeError(f"ReadImage: Failed to read file {path}")
    if pixels.ndim == 2:
        return pixels[:, :, None]
    return cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGB if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGB)


def write_file(filename: str, data: Any) -> None:
    """Write a 1-D uint8 array to a file.

    Examples:
        >>> vision.write_file("note.bin", np.array([7, 8], np.uint8))
        >>> vision.read_file("note.bin").tolist()
        [7, 8]
    """
    path, array = _path(filename), _array(data, "data")
    if array.dtype != np.uint8:
        raise RuntimeError(f"WriteFile: The type of the elements of data should be UINT8, but got {array.dtype}.")
    if array.ndim != 1:
        raise RuntimeError(
            "WriteFile: The data has invalid dimensions. It should have only one dimension, "
            f"but got {array.ndim} dimensions."
        )
    _write(path, array, "WriteFile")


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an HW or HWC uint8 array as a JPEG file.

    Examples:
        >>> vision.write_jpeg("black.jpg", np.zeros((2, 3, 3), np.uint8))
        >>> vision.read_image("black.jpg").shape
        (2, 3, 3)
    """
    path = _path(filename)
    _write(path, _encode_jpeg(image, quality, "WriteJpeg", "elements of image"), "WriteJpeg")


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an HW or HWC uint8 array as a PNG file.

    Examples:
        >>> vision.write_png("grey.png", np.full((2, 3), 60, np.uint8))
        >>> vision.read_image("grey.png").shape
        (2, 3, 1)
    """
    path = _path(filename)
    _write(path, _encode_png(image, compression_level, "WritePng", "elements of image"), "WritePng")


def _write(path: str, data: np.ndarray, op: str) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        raise RuntimeError(f"{op}: Invalid file path, {path} is not a regular file.")
    try:
        with atomic_write(path) as stream:
            stream.write(data.tobytes())
    except OSError as error:
        raise RuntimeError(f"{op}: Invalid file path, {path}: {error.strerror}") from error


__all__ = [
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]
