"""Where scripts find the tools that turn networks and models into those of THOR."""

from mindspore.train.thor import ConvertModelUtils, ConvertNetUtils

__all__ = ["ConvertModelUtils", "ConvertNetUtils"]
