"""Transforms of images. Arrays are HWC (or HW) unless a transform says otherwise; most transforms also take PIL images.

>>> import mindspore.dataset.vision as vision
>>> train = [vision.Decode(), vision.RandomResizedCrop(224), vision.RandomHorizontalFlip(), vision.HWC2CHW()]
"""

from . import transforms as transforms
from . import utils as utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403
