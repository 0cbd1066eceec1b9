"""The choices that image transforms offer. `json_code` is the number by which the pipeline's JSON names a choice."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Inter(IntEnum):
    """How to interpolate between pixels.

    Examples:
        >>> [choice.name for choice in vision.Inter]
        ['NEAREST', 'ANTIALIAS', 'BILINEAR', 'BICUBIC', 'AREA', 'PILCUBIC']
    """

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5

    @property
    def json_code(self) -> int:
        return {"BILINEAR": 0, "NEAREST": 1, "BICUBIC": 2, "AREA": 3, "PILCUBIC": 4}.get(self.name, int(self) + 100)

    @staticmethod
    def to_python_type(inter_type: Inter) -> int:
        """The number Pillow uses."""
        if inter_type in (Inter.AREA, Inter.PILCUBIC):
            raise RuntimeError("Unsupported interpolation, only support NEAREST, ANTIALIAS, LINEAR and CUBIC.")
        return int(inter_type)


class Border(StrEnum):
    """How to fill the pixels that padding adds.

    Examples:
        >>> [choice.name for choice in vision.Border]
        ['CONSTANT', 'EDGE', 'REFLECT', 'SYMMETRIC']
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"

    @property
    def json_code(self) -> int:
        return list(Border).index(self)

    @staticmethod
    def to_python_type(border_type: Border) -> str:
        return border_type.value


class ConvertMode(IntEnum):
    """Colour conversions, by the channels before and after.

    Examples:
        >>> [choice.name for choice in vision.ConvertMode][:2]
        ['COLOR_BGR2BGRA', 'COLOR_BGRA2BGR']
    """

    COLOR_BGR2BGRA = 0
    COLOR_RGB2RGBA = COLOR_BGR2BGRA
    COLOR_BGRA2BGR = 1
    COLOR_RGBA2RGB = COLOR_BGRA2BGR
    COLOR_BGR2RGBA = 2
    COLOR_RGB2BGRA = COLOR_BGR2RGBA
    COLOR_RGBA2BGR = 3
    COLOR_BGRA2RGB = COLOR_RGBA2BGR
    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = COLOR_BGR2RGB
    COLOR_BGRA2RGBA = 5
    COLOR_RGBA2BGRA = COLOR_BGRA2RGBA
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = COLOR_GRAY2BGR
    COLOR_GRAY2BGRA = 9
    COLOR_GRAY2RGBA = COLOR_GRAY2BGRA
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class ImageBatchFormat(IntEnum):
    """The order of the axes of a batch of images.

    Examples:
        >>> [choice.name for choice in vision.ImageBatchFormat]
        ['NHWC', 'NCHW']
    """

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """Which channels to read from a file: as stored, grey, or RGB.

    Examples:
        >>> [choice.name for choice in vision.ImageReadMode]
        ['UNCHANGED', 'GRAYSCALE', 'COLOR']
    """

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What to do with pixels that do not fill a patch: pad the image, or drop them.

    Examples:
        >>> [choice.name for choice in vision.SliceMode]
        ['PAD', 'DROP']
    """

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(StrEnum):
    """The data set that an AutoAugment policy was learnt on.

    Examples:
        >>> [choice.name for choice in vision.AutoAugmentPolicy]
        ['IMAGENET', 'CIFAR10', 'SVHN']
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"

    @property
    def json_code(self) -> int:
        return list(AutoAugmentPolicy).index(self)


__all__ = [
    "AutoAugmentPolicy",
    "Border",
    "ConvertMode",
    "ImageBatchFormat",
    "ImageReadMode",
    "Inter",
    "SliceMode",
]
