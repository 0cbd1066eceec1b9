"""Probabilities of tokens as OpenAI's API writes them, for texts and for chats.

A token may be a part of a character. It is then written as `bytes:` and the bytes' numbers, so that two tokens never look the same.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any, Protocol

from mindspore_serving.llm.sampling import Choice
from mindspore_serving.llm.text import Tokenizer


class Logprobs(Protocol):
    """Describes the tokens of one answer, piece by piece."""

    def of(self, choices: Sequence[Choice]) -> dict[str, Any]: ...


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)


class TextLogprobs:
    """`first`: the first token of a prompt that is part of the answer; nothing makes it probable."""

    def __init__(self, tokenizer: Tokenizer, first: int | None) -> None:
        self._tokenizer, self._first = tokenizer, first
        self._characters = codecs.getincrementaldecoder("utf-8")("ignore")
        self._offset = 0

    def of(self, choices: Sequence[Choice]) -> dict[str, Any]:
        found: dict[str, list[Any]] = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
        if self._first is not None:
            self._add(found, self._first, None, None)
            self._first = None
        for choice in choices:
            top: dict[str, float] = {}
            for token, value in choice.top:
                top.setdefault(_text(self._tokenizer.bytes_of(token)), value)
            self._add(found, choice.token, choice.logprob, top)
        return found

    def _add(self, found: dict[str, list[Any]], token: int, logprob: float | None, top: dict[str, float] | None) -> None:
        data = self._tokenizer.bytes_of(token)
        for name, value in (("tokens", _text(data)), ("token_logprobs", logprob), ("top_logprobs", top), ("text_offset", self._offset)):
            found[name].append(value)
        self._offset += len(self._characters.decode(data))


class ChatLogprobs:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def of(self, choices: Sequence[Choice]) -> dict[str, Any]:
        content = [
            {**self._entry(c.token, c.logprob), "top_logprobs": [self._entry(token, value) for token, value in c.top]} for c in choices
        ]
        return {"content": content}

    def _entry(self, token: int, logprob: float) -> dict[str, Any]:
        data = self._tokenizer.bytes_of(token)
        return {"token": _text(data), "logprob": logprob, "bytes": list(data)}


__all__ = ["ChatLogprobs", "Logprobs", "TextLogprobs"]
