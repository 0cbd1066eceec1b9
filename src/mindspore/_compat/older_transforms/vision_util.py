"""Functions on PIL images and arrays that scripts import from this path."""

from mindspore._compat.older_transforms.vision_functions import (
    hsv_to_rgbs,
    hwc_to_chw,
    normalize,
    random_crop,
    rgb_to_hsvs,
    to_pil,
    to_tensor,
    to_type,
)
from mindspore.dataset.vision.crop import five_crops as five_crop
from mindspore.dataset.vision.functional.colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    auto_contrast,
    equalize,
    grayscale,
)
from mindspore.dataset.vision.functional.colour import invert as invert_color
from mindspore.dataset.vision.functional.geometry import crop, pad, perspective, resize, rotate
from mindspore.dataset.vision.functional.geometry import flip_horizontal as horizontal_flip
from mindspore.dataset.vision.functional.geometry import flip_vertical as vertical_flip
from mindspore.dataset.vision.image_transform import PIL_ONLY_MESSAGE as augment_error_message
from mindspore.dataset.vision.image_transform import is_numpy, is_pil

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "augment_error_message",
    "auto_contrast",
    "crop",
    "equalize",
    "five_crop",
    "grayscale",
    "horizontal_flip",
    "hsv_to_rgbs",
    "hwc_to_chw",
    "invert_color",
    "is_numpy",
    "is_pil",
    "normalize",
    "pad",
    "perspective",
    "random_crop",
    "resize",
    "rgb_to_hsvs",
    "rotate",
    "to_pil",
    "to_tensor",
    "to_type",
    "vertical_flip",
]
