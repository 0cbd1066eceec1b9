"""Transforms of text: vocabularies, tokenizers, normalisation, word vectors.

>>> import mindspore.dataset.text as text
>>> vocab = text.Vocab.from_list(["deep", "learning"])
>>> ops = [text.WhitespaceTokenizer(), text.Lookup(vocab)]
"""

from . import transforms as transforms
from . import utils as utils
from .transforms import *  # noqa: F403
from .utils import *  # noqa: F403
