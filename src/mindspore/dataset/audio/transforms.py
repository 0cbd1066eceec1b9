"""The names of `mindspore.dataset.audio` under the module path that scripts also use."""

from .audio_transform import AudioTransform
from .cepstrum import *  # noqa: F403
from .effects import *  # noqa: F403
from .features import *  # noqa: F403
from .filters import *  # noqa: F403
from .masking import *  # noqa: F403
from .mel import *  # noqa: F403
from .phase import *  # noqa: F403
from .spectrogram import *  # noqa: F403
from .vad import *  # noqa: F403

AudioTensorOperation = AudioTransform
