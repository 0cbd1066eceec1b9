"""The names of `mindspore.dataset.text` under the module path that scripts also use."""

from ..transforms.transform import Implementation as Implementation
from .enums import *  # noqa: F403
from .jieba import *  # noqa: F403
from .normalise import *  # noqa: F403
from .sentencepiece import SentencePieceTokenizer as SentencePieceTokenizer
from .sequence import *  # noqa: F403
from .text_transform import TextTransform
from .tokenizers import *  # noqa: F403
from .vectors import ToVectors as ToVectors

TextTensorOperation = TextTransform
