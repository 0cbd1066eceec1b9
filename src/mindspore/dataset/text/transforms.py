"""The names of `mindspore.dataset.text` under the module path that scripts also use."""

from ..transforms.base import Implementation as Implementation
from .base import TextTransform
from .enums import *  # noqa: F403
from .jieba import *  # noqa: F403
from .normalise import *  # noqa: F403
from .sentencepiece import SentencePieceTokenizer as SentencePieceTokenizer
from .sequence import *  # noqa: F403
from .tokenizers import *  # noqa: F403
from .vectors import ToVectors as ToVectors

TextTensorOperation = TextTransform
