"""Protocol Buffers' text form, without a schema: `name: value`, `name { … }`, comments from `#` to the end of the line.

A message becomes a dict from names to lists, because any field may be repeated. https://protobuf.dev/reference/protobuf/textformat-spec
"""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(r"""\s*(?:\#[^\n]*\n?\s*)*(?:([{}\[\]<>:;,])|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([^\s{}\[\]<>:;,"'\#]+))""")
_MAX_DEPTH = 50


class TextFormatError(ValueError):
    """The text is no message."""


class Text(dict[str, list[Any]]):
    """A message: names to the values of fields, in order."""

    def one(self, name: str, default: object = None) -> object:
        """The last value of a field, which is what counts when it may be there once."""
        return self[name][-1] if self.get(name) else default

    def number(self, name: str, default: int = 0) -> int:
        found = self.one(name, default)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or int(found) != found:
            raise TextFormatError(f"{name} must be a whole number, but is {found!r}")
        return int(found)

    def real(self, name: str, default: float = 0.0) -> float:
        found = self.one(name, default)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise TextFormatError(f"{name} must be a number, but is {found!r}")
        return float(found)

    def text(self, name: str, default: str = "") -> str:
        return str(self.one(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.one(name, default))

    def numbers(self, name: str) -> list[int]:
        return [Text({name: [value]}).number(name) for value in self.get(name, ())]

    def message(self, name: str) -> Text:
        found = self.one(name)
        return found if isinstance(found, Text) else Text()

    def messages(self, name: str) -> list[Text]:
        return [value for value in self.get(name, ()) if isinstance(value, Text)]


def parse(text: str) -> Text:
    """The message of a text; TextFormatError where it is none."""
    tokens, at = [], 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            if not re.sub(r"#[^\n]*", "", text[at:]).strip():
                break
            raise TextFormatError(f"line {text.count(chr(10), 0, at) + 1} cannot be read: {text[at : at + 30].strip()!r}")
        tokens.append(found.group(1) or found.group(2) or found.group(3))
        at = found.end()
    made, rest = _message(tokens, 0, 0)
    if rest != len(tokens):
        raise TextFormatError("there is a '}' too many")
    return made


def _message(tokens: list[str], at: int, depth: int) -> tuple[Text, int]:
    if depth > _MAX_DEPTH:
        raise TextFormatError(f"messages are nested more than {_MAX_DEPTH} deep")
    made = Text()
    while at < len(tokens) and tokens[at] not in "}>":
        name = tokens[at]
        at += 1
        if name in (";", ","):
            continue
        if at < len(tokens) and tokens[at] == ":":
            at += 1
        if at >= len(tokens):
            raise TextFormatError(f"'{name}' has no value")
        if tokens[at] in "{<":
            value, at = _message(tokens, at + 1, depth + 1)
            if at >= len(tokens):
                raise TextFormatError(f"'{name}' is not closed")
            at += 1
            made.setdefault(name, []).append(value)
        elif tokens[at] == "[":
            at += 1
            while at < len(tokens) and tokens[at] != "]":
                if tokens[at] != ",":
                    made.setdefault(name, []).append(_scalar(tokens[at]))
                at += 1
            at += 1
        else:
            made.setdefault(name, []).append(_scalar(tokens[at]))
            at += 1
    return made, at


def _scalar(token: str) -> str | int | float | bool:
    if token in "{}[]<>:;,":
        raise TextFormatError(f"there is a '{token}' where a value should be")
    if token[0] in "\"'":
        return token[1:-1].replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")
    if token in ("true", "false"):
        return token == "true"
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            continue
    return token  # an enumeration's name
