"""The choices that text transforms offer."""

from __future__ import annotations

from enum import IntEnum


class JiebaMode(IntEnum):
    """How to cut Chinese text: by dictionary, by hidden Markov model, or by both.

    Examples:
        >>> [choice.name for choice in text.JiebaMode]
        ['MIX', 'MP', 'HMM']
    """

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Unicode normalisation forms.

    Examples:
        >>> [choice.name for choice in text.NormalizeForm]
        ['NONE', 'NFC', 'NFKC', 'NFD', 'NFKD']
    """

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """Kinds of SentencePiece models.

    Examples:
        >>> [choice.name for choice in text.SentencePieceModel]
        ['UNIGRAM', 'BPE', 'CHAR', 'WORD']
    """

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePiece model comes from.

    Examples:
        >>> [choice.name for choice in text.SPieceTokenizerLoadType]
        ['FILE', 'MODEL']
    """

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What a SentencePiece tokenizer gives: pieces or their numbers.

    Examples:
        >>> [choice.name for choice in text.SPieceTokenizerOutType]
        ['STRING', 'INT']
    """

    STRING = 0
    INT = 1


__all__ = ["JiebaMode", "NormalizeForm", "SPieceTokenizerLoadType", "SPieceTokenizerOutType", "SentencePieceModel"]
