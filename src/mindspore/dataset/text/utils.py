"""The vocabularies, vectors, choices and helpers of `mindspore.dataset.text` under the module path scripts also use."""

from __future__ import annotations

import numpy as np

from .enums import *  # noqa: F403
from .sentencepiece import SentencePieceVocab as SentencePieceVocab
from .vectors import CharNGram as CharNGram
from .vectors import FastText as FastText
from .vectors import GloVe as GloVe
from .vectors import Vectors as Vectors
from .vocab import Vocab as Vocab


def to_bytes(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """An array of strings, encoded.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.text as text
        >>> text.to_bytes(np.array(["a"])).tolist()
        [b'a']
    """
    if not isinstance(array, np.ndarray):
        raise ValueError("input should be a NumPy array.")
    return np.char.encode(array, encoding)


def to_str(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """An array of bytes, decoded.

    Examples:
        >>> text.to_str(np.array([b"good", b"day"])).tolist()
        ['good', 'day']
    """
    if not isinstance(array, np.ndarray):
        raise TypeError("input should be a NumPy array.")
    return np.char.decode(array, encoding)
