"""The names of `mindspore.dataset.audio` under the module path that scripts also use."""

from .base import AudioTransform
from .effects import *  # noqa: F403
from .features import *  # noqa: F403
from .filters import *  # noqa: F403
from .masking import *  # noqa: F403
from .spectrogram import *  # noqa: F403
from .vad import *  # noqa: F403

AudioTensorOperation = AudioTransform
