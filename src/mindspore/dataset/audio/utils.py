"""The choices and helper functions of `mindspore.dataset.audio` under the module path that scripts also use."""

from .enums import *  # noqa: F403
from .fourier import create_dct as create_dct
from .fourier import linear_fbanks as linear_fbanks
from .fourier import melscale_fbanks as melscale_fbanks
