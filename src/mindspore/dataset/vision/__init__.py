"""Transforms of images. Arrays are HWC (or HW) unless a transform says otherwise; most transforms also take PIL images.

>>> import mindspore.dataset.vision as vision
>>> train = [vision.Decode(), vision.RandomResizedCrop(224), vision.RandomHorizontalFlip(), vision.HWC2CHW()]
"""

import importlib as _importlib

from mindspore._base import optional as _optional

from . import transforms as transforms
from . import utils as utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403

if _optional.available("PIL"):  # official's import brings it, and packages use `PIL.Image` after `import PIL` alone
    _importlib.import_module("PIL.Image")
