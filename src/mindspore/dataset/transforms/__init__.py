"""Transforms of any data: casts, padding, slicing, and ways to combine transforms.

>>> import mindspore.dataset.transforms as transforms
>>> op = transforms.Compose([transforms.TypeCast("float32"), transforms.PadEnd([4])])
"""

from . import transforms as transforms
from .transforms import *  # noqa: F403
