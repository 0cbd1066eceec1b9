"""Texts and tokens: `tokenizer.json`, or what a GGUF file says, by the tokenizers library."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import tokenizers

from mindspore_serving.engine.errors import ServingError
from mindspore_serving.llm import gguf, gguf_tokenizer
from mindspore_serving.llm.checkpoint import gguf_file
from mindspore_serving.llm.template_process import TemplateProcess

#: characters that may go into one token where a tokenizer leaves some out, or has one token for what it does not know
_SHORTENED = 64

#: how vocabularies of sentencepiece's kind write a byte
_BYTE = re.compile("<0x([0-9A-F]{2})>")


def _letters() -> dict[str, bytes]:
    """The letters by which vocabularies of GPT-2's kind write bytes: printable ones of Latin-1 stand for themselves, the rest follow."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): bytes([byte]) for byte in plain} | {chr(256 + n): bytes([byte]) for n, byte in enumerate(others)}


_BYTES = _letters()


@contextlib.contextmanager
def _panics_refused() -> Iterator[None]:
    """The library's panics (of a regular expression that tries too much, say) are no Exceptions: nobody would take them for a refusal."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ServingError(f"the model's tokenizer cannot read this text: {error}"[:300]) from None


class Tokenizer:
    def __init__(self, folder: str) -> None:
        """`folder`: of the model, or its GGUF file."""
        self._tokenizer, settings = _read(folder)
        self._special = {name: _token(settings.get(name)) for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
        self._added = frozenset(self._tokenizer.get_added_tokens_decoder())
        self._of_bytes = "ByteLevel" in repr(self._tokenizer.decoder)
        self._longest = max(map(len, self._tokenizer.get_vocab()), default=1)  # characters of a token
        self._templates = TemplateProcess(settings.get("chat_template"))

    @property
    def written(self) -> str:
        """What `tokenizer.json` says, or would say."""
        return str(self._tokenizer.to_str())

    def encode(self, text: str, special: bool = True, most: int = 0) -> list[int]:
        """The tokens of a text; ServingError, before they are made, where they must be more than `most`."""
        if most and len(text) > most * max(self._longest, _SHORTENED):
            raise ServingError(f"a text of {len(text)} characters is longer than the {most} tokens that are possible")
        with _panics_refused():  # of the library's ways the one in which other threads go on
            return list(self._tokenizer.encode_batch_fast([text], add_special_tokens=special)[0].ids)

    def decode(self, tokens: list[int]) -> str:
        with _panics_refused():
            return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def bytes_of(self, token: int) -> bytes:
        """What a token stands for within a text: some are parts of a character."""
        piece = self._tokenizer.id_to_token(token)
        if piece is None:
            return b""
        if token in self._added:
            return str(piece).encode()
        if self._of_bytes:
            return b"".join(_BYTES.get(letter, letter.encode()) for letter in piece)
        found = _BYTE.fullmatch(piece)
        return bytes([int(found[1], 16)]) if found else str(piece).replace("\u2581", " ").encode()

    def chat(
        self, messages: list[Any], tools: list[Any] | None = None, most: int = 0, options: dict[str, Any] | None = None
    ) -> list[int]:
        """The tokens of a conversation, ready for the assistant's answer; `options`: what else the template is told."""
        text = self._templates.render(messages, tools, {**(options or {}), **self._special})
        return self.encode(text, special=False, most=most)


def _read(folder: str) -> tuple[Any, dict[str, Any]]:
    """(tokenizer, what is said of it)."""
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(path) and (file := gguf_file(folder)) is not None:
        return gguf_tokenizer.read(gguf.File(file))
    settings = _json(os.path.join(folder, "tokenizer_config.json"))
    settings["chat_template"] = _templates(folder) or settings.get("chat_template")
    try:
        made = tokenizers.Tokenizer.from_file(path)
        made.no_truncation()  # files may have what their author's programs cut texts to, or filled them up to
        made.no_padding()
        return made, settings
    except Exception as error:  # the library has no kind of its own
        raise ValueError(f"{path} cannot be read: {error}") from None


def _templates(folder: str) -> list[dict[str, str]]:
    """Chat templates in files of their own, by name; they go before what `tokenizer_config.json` has."""
    beside = os.path.join(folder, "additional_chat_templates")
    files = {"default": os.path.join(folder, "chat_template.jinja")}
    if os.path.isdir(beside):
        files |= {name[:-6]: os.path.join(beside, name) for name in sorted(os.listdir(beside)) if name.endswith(".jinja")}
    found = []
    for name, path in files.items():
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as text:
                found.append({"name": name, "template": text.read()})
    return found


def _json(path: str) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold an object")
    return found


def _token(value: Any) -> str:
    return value.get("content", "") if isinstance(value, dict) else value or ""


class Stream:
    """Text as tokens come. Held back: characters that are not whole yet, and what may be the beginning of a stop text."""

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...]) -> None:
        self._tokenizer, self._stop = tokenizer, stop
        self._tokens: list[int] = []
        self._begin = self._end = 0  # tokens decoded together; those before `_end` are in `_text`
        self._text = ""
        self._sent = 0
        self.stopped = False

    def add(self, token: int) -> str:
        """The text that can be sent now."""
        self._tokens.append(token)
        before = self._tokenizer.decode(self._tokens[self._begin : self._end])
        now = self._tokenizer.decode(self._tokens[self._begin :])
        if len(now) > len(before) and not now.endswith("\ufffd"):
            self._text += now[len(before) :]
            self._begin, self._end = self._end, len(self._tokens)
        return self._release()

    def _release(self) -> str:
        places = [place for place in (self._text.find(stop) for stop in self._stop) if place >= 0]
        if places:
            self._text, self.stopped = self._text[: min(places)], True
            return self._send(len(self._text))
        held = max((_overlap(self._text, stop) for stop in self._stop), default=0)
        return self._send(len(self._text) - held)

    def _send(self, end: int) -> str:
        part, self._sent = self._text[self._sent : end], max(end, self._sent)
        return part

    def finish(self) -> str:
        """The rest, when no more tokens come."""
        if not self.stopped:
            before = self._tokenizer.decode(self._tokens[self._begin : self._end])
            self._text += self._tokenizer.decode(self._tokens[self._begin :])[len(before) :]
            self._begin = self._end = len(self._tokens)
            for stop in self._stop:
                if stop in self._text:
                    self._text, self.stopped = self._text[: self._text.index(stop)], True
        return self._send(len(self._text))


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of `text` may be the beginning of `stop`."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
