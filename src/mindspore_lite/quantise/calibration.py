"""Samples of `[data_preprocess_param]`: files of raw numbers, or images."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from mindspore._base.optional import require
from mindspore.formats.program import TensorSpec

Section = dict[str, str]


def samples(section: Section, inputs: Sequence[TensorSpec], layout: str) -> Iterator[list[np.ndarray]]:
    """The arrays of each sample, in the order of the inputs; ValueError says what is wrong with the settings or a file."""
    folders = _folders(section, inputs)
    listed = [sorted(f for f in os.listdir(folders[spec.name]) if not f.startswith(".")) for spec in inputs]
    count = min(map(len, listed), default=0)
    size = section.get("calibrate_size", "")
    if not size.isdigit() or not 1 <= int(size) <= 65535:
        raise ValueError(f"calibrate_size must be a whole number from 1 to 65535, but got {size!r}")
    if count < int(size):
        raise ValueError(f"calibrate_size is {size}, but calibrate_path has {count} samples")
    kind = section.get("input_type", "BIN").upper()
    if kind not in ("BIN", "IMAGE"):
        raise ValueError(f"input_type must be IMAGE or BIN, but got {kind!r}")
    for number in range(int(size)):
        paths = [os.path.join(folders[spec.name], names[number]) for spec, names in zip(inputs, listed)]
        yield [_image(p, s, section, layout) if kind == "IMAGE" else _raw(p, s) for p, s in zip(paths, inputs)]


def _folders(section: Section, inputs: Sequence[TensorSpec]) -> dict[str, str]:
    """`calibrate_path = input:folder,input:folder`."""
    found = {}
    for word in filter(None, section.get("calibrate_path", "").split(",")):
        name, _, folder = word.strip().rpartition(":")
        found[name] = folder
    for spec in inputs:
        if not os.path.isdir(found.get(spec.name, "")):
            raise ValueError(f"calibrate_path must name a folder for the input '{spec.name}', as in {spec.name}:/path/to/files")
    return found


def _raw(path: str, spec: TensorSpec) -> np.ndarray:
    array = np.fromfile(path, spec.dtype.np)
    if array.nbytes != os.path.getsize(path) or array.size != int(np.prod(spec.shape)):
        raise ValueError(f"{path} must hold {int(np.prod(spec.shape))} numbers of type {spec.dtype} for the input '{spec.name}'")
    return array.reshape(spec.shape)


def _numbers(section: Section, name: str, default: str) -> np.ndarray:
    try:
        return np.array([float(word) for word in section.get(name, default).strip("[]").split(",")], np.float32)
    except ValueError:
        raise ValueError(f"{name} must be numbers like [0.5, 0.5, 0.5], but got {section[name]!r}") from None


def _image(path: str, spec: TensorSpec, section: Section, layout: str) -> np.ndarray:
    cv2 = require("cv2", "data", "calibration by images")
    pixels = cv2.imread(path, cv2.IMREAD_COLOR)
    if pixels is None:
        raise ValueError(f"{path} is no image that can be read")
    form = section.get("image_to_format", "BGR").upper()
    if form not in ("RGB", "BGR", "GRAY"):
        raise ValueError(f"image_to_format must be RGB, GRAY or BGR, but got {form!r}")
    if form != "BGR":
        pixels = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB if form == "RGB" else cv2.COLOR_BGR2GRAY)
    if "resize_width" in section and "resize_height" in section:
        pixels = cv2.resize(pixels, (int(section["resize_width"]), int(section["resize_height"])))
    if "center_crop_width" in section and "center_crop_height" in section:
        width, height = int(section["center_crop_width"]), int(section["center_crop_height"])
        top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
        pixels = pixels[max(top, 0) : top + height, max(left, 0) : left + width]
    image = np.atleast_3d(pixels).astype(np.float32)
    image = (image - _numbers(section, "normalize_mean", "0")) / _numbers(section, "normalize_std", "1")
    array = image[None] if layout == "NHWC" else image.transpose(2, 0, 1)[None]
    if array.shape != spec.shape:
        raise ValueError(f"{path} gives an image of shape {array.shape}; the input '{spec.name}' has {spec.shape}")
    return np.asarray(array, spec.dtype.np)
