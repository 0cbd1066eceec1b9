"""Transforms of audio: waveforms (…, time) and spectrograms (…, freq, time).

>>> import mindspore.dataset.audio as audio
>>> ops = [audio.Resample(48000, 16000), audio.MelSpectrogram(), audio.AmplitudeToDB()]
"""

from . import transforms as transforms
from . import utils as utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403
