"""What text transforms share: strings in, arrays of strings and byte offsets out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.checks import Check
from ..transforms.transform import Implementation, Transform

Token = tuple[str, int, int]  # text, and where it starts and ends in the UTF-8 bytes of the input


class TextTransform(Transform):
    """Base of transforms of strings.

    Examples:
        >>> issubclass(text.Ngram, text.TextTensorOperation)
        True
    """

    implementation = Implementation.C


def flag(value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"Wrong input type for {name}, should be boolean.")


def string(name_if_none: str = "") -> Check:
    """A str; with `name_if_none`, None is a ValueError of its own."""

    def run(value: Any, name: str) -> None:
        if value is None and name_if_none:
            raise ValueError(f"{name} is not provided.")
        if not isinstance(value, str):
            raise TypeError(f"Wrong input type for {name}, should be string.")

    return run


def one_string(column: Any, message: str) -> str:
    """The text of a scalar string column; RuntimeError with `message` for any other."""
    array = np.asarray(column)
    if array.ndim != 0 or array.dtype.kind != "U":
        raise RuntimeError(message)
    return str(array)


def strings(column: Any, message: str) -> np.ndarray:
    array = np.asarray(column)
    if array.dtype.kind != "U":
        raise RuntimeError(message)
    return array


def map_strings(function: Callable[[str], str], array: np.ndarray) -> np.ndarray:
    """The function of every string, in the same shape."""
    return np.array([function(str(text)) for text in array.reshape(-1)], dtype=np.str_).reshape(array.shape)


def byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def with_offsets(spans: list[tuple[int, int]], text: str) -> list[Token]:
    """Tokens of character spans, with byte offsets."""
    if text.isascii():
        return [(text[start:end], start, end) for start, end in spans]
    tokens, done, position = [], 0, 0
    for start, end in spans:
        position += byte_length(text[done:start])
        length = byte_length(text[start:end])
        tokens.append((text[start:end], position, position + length))
        position, done = position + length, end
    return tokens


def token_columns(tokens: list[Token], offsets: bool) -> Any:
    """The tokens as an array, if wanted with the arrays of their starts and ends; no token is one empty token."""
    tokens = tokens or [("", 0, 0)]
    words = np.array([token[0] for token in tokens], dtype=np.str_)
    if not offsets:
        return words
    starts, ends = (np.array([token[i] for token in tokens], dtype=np.uint32) for i in (1, 2))
    return words, starts, ends
