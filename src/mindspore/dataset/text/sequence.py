"""Sequences of tokens: look up, cut, join, slide."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.dtype import DType, int32, to_dtype
from ..transforms.checks import boolean, check_positive, check_type, checked, of_type, optional, positive_int32
from ..transforms.checks import text as text_argument
from ..transforms.transform import to_plain
from .text_transform import TextTransform, strings
from .vocab import Vocab


def _built_vocab(value: Any, name: str) -> None:
    check_type(value, (Vocab,), "vocab is not an instance of text.Vocab.")
    if not value.is_built:
        check_type(None, (dict,), "vocab.c_vocab is not an instance of cde.Vocab.")


class Lookup(TextTransform):
    """The numbers of words in a vocabulary; words it lacks get the number of `unknown_token`.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.text as text
        >>> vocab = text.Vocab.from_list(["a", "b", "<unk>"])
        >>> text.Lookup(vocab, "<unk>")(np.array(["b", "z"])).tolist()
        [1, 2]
    """

    @checked(unknown_token=optional(text_argument), vocab=_built_vocab, data_type=of_type(DType))
    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: DType = int32):
        self.vocab = vocab
        self.unknown_token = unknown_token
        self.data_type = data_type

    def apply(self, column: Any) -> np.ndarray:
        words = strings(column, "Lookup: input is not string datatype.")
        if self.data_type.kind == "s":
            raise RuntimeError("Lookup : The parameter data_type must be numeric including bool.")
        ids, unknown = self.vocab.ids, None
        if self.unknown_token is not None:
            unknown = ids.get(self.unknown_token)
            if unknown is None:
                raise RuntimeError(f'Lookup: "{self.unknown_token}" doesn\'t exist in vocab.')
        numbers = [ids.get(word, unknown) for word in words.reshape(-1).tolist()]
        if None in numbers:
            word = words.reshape(-1)[numbers.index(None)]
            raise RuntimeError(
                f'Lookup: invalid data, token: "{word}" doesn\'t exist in vocab and no unknown token is specified.'
            )
        return np.array(numbers, dtype=np.int32).astype(self.data_type.np).reshape(words.shape)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        params = params or {}
        return cls(Vocab.from_dict(params["vocab"]), params.get("unknown_token"), to_dtype(params["data_type"]))


def _gram_lengths(value: Any, name: str) -> None:
    lengths = [value] if isinstance(value, int) else value
    if not (isinstance(lengths, (list, tuple)) and lengths):
        raise ValueError("n needs to be a non-empty list of positive integers.")
    for i, length in enumerate(lengths):
        check_type(length, (int,), f"gram[{i}]")
        check_positive(length, f"gram_{i}")


def _padding(value: Any, name: str) -> None:
    if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], int)):
        raise ValueError(f"{name} needs to be a tuple of (str, int) str is pad token and int is pad_width.")
    if value[1] < 0:
        raise ValueError("padding width need to be positive numbers.")


class Ngram(TextTransform):
    """All runs of n neighbouring words, joined; ends may be padded with a token, at most n - 1 times.

    Examples:
        >>> text.Ngram(2)(np.array(["a", "b", "c"])).tolist()
        ['a b', 'b c']
    """

    @checked(n=_gram_lengths, left_pad=_padding, right_pad=_padding, separator=text_argument)
    def __init__(self, n: Any, left_pad: tuple = ("", 0), right_pad: tuple = ("", 0), separator: str = " "):
        self.n = [n] if isinstance(n, int) else list(n)
        self.left_pad = left_pad
        self.right_pad = right_pad
        self.separator = separator

    def apply(self, column: Any) -> np.ndarray:
        message = "Ngram: input is not a 1D data with string datatype."
        words = strings(column, message)
        if words.ndim != 1:
            raise RuntimeError(message)
        grams: list[str] = []
        for n in self.n:
            left, right = ([token] * min(width, n - 1) for token, width in (self.left_pad, self.right_pad))
            padded = left + words.tolist() + right
            runs = [self.separator.join(padded[i : i + n]) for i in range(len(padded) - n + 1)]
            grams += runs or [""]
        return np.array(grams, dtype=np.str_)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**(params or {}), "n": _IntList(params["n"])})


class _IntList(tuple):
    """Keeps a JSON list of numbers as it is."""


class SlidingWindow(TextTransform):
    """All runs of `width` neighbouring elements of a 1-D array, as rows.

    Examples:
        >>> text.SlidingWindow(2)(np.array([1, 2, 3])).tolist()
        [[1, 2], [2, 3]]
    """

    @checked(width=positive_int32, axis=of_type(int))
    def __init__(self, width: int, axis: int = 0):
        self.width = width
        self.axis = axis

    def apply(self, column: Any) -> np.ndarray:
        array = np.asarray(column)
        if array.ndim != 1:
            raise RuntimeError(f"SlidingWindow: SlidingWindow supports 1D input only for now, but got {array.ndim}D.")
        if self.axis not in (0, -1):
            raise RuntimeError(f"SlidingWindow: The parameter axis supports 0 or -1 only for now, but got {self.axis}.")
        if len(array) < self.width:
            return np.empty(0, array.dtype)
        return np.lib.stride_tricks.sliding_window_view(array, self.width).copy()


class ToNumber(TextTransform):
    """Strings converted to numbers.

    Examples:
        >>> text.ToNumber(ms.int32)(np.array(["7", "8"])).tolist()
        [7, 8]
    """

    def __init__(self, data_type: DType):
        check_type(data_type, (DType,), "data_type")
        if data_type.kind not in "buif":
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self.data_type = data_type

    def apply(self, column: Any) -> np.ndarray:
        words = strings(column, "ToNumber: input should be string datatype.")
        numbers = [self._number(word) for word in words.reshape(-1).tolist()]
        return np.array(numbers).astype(self.data_type.np).reshape(words.shape)

    def _number(self, word: str) -> float | int:
        name = to_plain(self.data_type)
        try:
            value = float(word)
            if self.data_type.kind == "f":
                floats = np.finfo(self.data_type.np)
                low, high = float(floats.min), float(floats.max)
            else:
                integers = np.iinfo(np.int8 if self.data_type.kind == "b" else self.data_type.np)
                low, high = integers.min, integers.max
                value = int(word) if word.strip().lstrip("+-").isdigit() else int(value)
        except (ValueError, OverflowError):
            raise RuntimeError(f'ToNumber: it is invalid to convert "{word}" to a number.') from None
        if not low <= value <= high:
            raise RuntimeError(
                f"ToNumber: string input {word} will be out of bounds if cast to {name}. "
                f"The valid range is: [{low}, {high}]."
            )
        return value

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(to_dtype(params["data_type"]))


class Truncate(TextTransform):
    """At most `max_seq_len` elements, per row of a 2-D array.

    Examples:
        >>> text.Truncate(2)(np.array(["a", "b", "c"])).tolist()
        ['a', 'b']
    """

    @checked(max_seq_len=positive_int32)
    def __init__(self, max_seq_len: int):
        self.max_seq_len = max_seq_len

    def apply(self, column: Any) -> np.ndarray:
        array = np.asarray(column)
        if array.ndim not in (1, 2):
            raise RuntimeError("Truncate: the input tensor should be of dimension 1 or 2.")
        return array[..., : self.max_seq_len].copy()


class TruncateSequencePair(TextTransform):
    """Two sequences cut to a total length, from the end of the longer one.

    Examples:
        >>> [part.tolist() for part in text.TruncateSequencePair(3)(np.array([1, 2, 3]), np.array([4]))]
        [[1, 2], [4]]
    """

    def __init__(self, max_length: int):
        self.max_length = max_length

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 2:
            raise RuntimeError(f"TruncateSequencePair: Expected two inputs, but got {len(columns)} inputs.")
        first, second = (np.asarray(column) for column in columns)
        if first.ndim != 1 or second.ndim != 1:
            raise RuntimeError("TruncateSequencePair: both data column should be of rank 1.")
        keep_first, keep_second = len(first), len(second)
        while keep_first + keep_second > self.max_length:
            if keep_first > keep_second:
                keep_first -= 1
            else:
                keep_second -= 1
        return first[:keep_first].copy(), second[:keep_second].copy()


class AddToken(TextTransform):
    """A token added at the beginning or the end, per row of a 2-D array.

    Examples:
        >>> text.AddToken("<s>", begin=True)(np.array(["a", "b"])).tolist()
        ['<s>', 'a', 'b']
    """

    @checked(token=text_argument, begin=boolean)
    def __init__(self, token: str, begin: bool = True):
        self.token = token
        self.begin = begin

    def apply(self, column: Any) -> np.ndarray:
        words = strings(column, "AddToken: input tensor type should be string.")
        if words.ndim not in (1, 2):
            raise RuntimeError("AddToken: input tensor rank should be 1 or 2.")
        token = np.full((*words.shape[:-1], 1), self.token)
        return np.concatenate([token, words] if self.begin else [words, token], axis=-1)


__all__ = [
    "AddToken",
    "Lookup",
    "Ngram",
    "SlidingWindow",
    "ToNumber",
    "Truncate",
    "TruncateSequencePair",
]
