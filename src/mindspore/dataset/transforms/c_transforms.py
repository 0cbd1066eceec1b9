"""The 1.x name of `mindspore.dataset.transforms` for transforms then written in C++."""

from .transforms import *  # noqa: F403
from .transforms import __all__ as __all__
