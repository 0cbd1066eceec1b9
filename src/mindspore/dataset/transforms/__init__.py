"""Transforms of any data: casts, padding, slicing, and ways to combine transforms.

>>> import mindspore.dataset.transforms as transforms
>>> op = transforms.Compose([transforms.TypeCast("float32"), transforms.PadEnd([4])])
"""

from . import transforms as transforms
from .transforms import *  # noqa: F403


def __getattr__(name: str) -> object:
    """`transforms.vision` exists, but is loaded on demand: vision itself builds on this package."""
    if name == "vision":
        import importlib

        return importlib.import_module(".vision", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
