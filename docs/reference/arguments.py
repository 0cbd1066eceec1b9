"""Arguments: their types, defaults and meanings.

A docstring's "Args:" says what an argument means where that is particular to the function. Arguments that mean the same
everywhere (`axis`, `keepdims`, `reduction` …) are explained once, in `glossary.txt`: `name | type | meaning`.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    default: str
    meaning: str
    #: whether the words above the table explain it, so that the table need not
    in_words: bool

    @property
    def explained(self) -> bool:
        return bool(self.meaning) or self.in_words


@cache
def glossary() -> dict[str, tuple[str, str]]:
    """Type and meaning of arguments that mean the same everywhere."""
    lines = (Path(__file__).parent / "glossary.txt").read_text(encoding="utf-8").splitlines()
    rows = [[part.strip() for part in line.split("|", 2)] for line in lines if line and not line.startswith("#")]
    return {name: (kind, meaning) for name, kind, meaning in rows}


def describe(parameter: inspect.Parameter, described: dict[str, str], words: str) -> Argument:
    """A parameter as the table shows it; `described` is what "Args:" says, `words` the whole text."""
    kind, meaning = glossary().get(parameter.name, ("", ""))
    own = _own_words(parameter.name, described)
    in_words = re.search(rf"(?<!\w){re.escape(parameter.name)}(?!\w)", words) is not None
    return Argument(
        parameter.name,
        _annotated(parameter) or kind or _type_of_default(parameter),
        "" if parameter.default is parameter.empty else _default(parameter.default),
        own or meaning,
        in_words,
    )


def _own_words(name: str, described: dict[str, str]) -> str:
    """What "Args:" says of a name; one line may describe several: `beta1, beta2: …`."""
    for names, meaning in described.items():
        if name in (part.strip(" `*") for part in re.sub(r"\(.*\)", "", names).split(",")):
            return meaning
    return ""


def _annotated(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is parameter.empty or annotation in ("Any", "'Any'"):
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return text.strip("'").replace("Any | ", "").replace(" | Any", "")


def _type_of_default(parameter: inspect.Parameter) -> str:
    default = parameter.default
    return type(default).__name__ if isinstance(default, (bool, int, float, str)) else ""


def _default(value: object) -> str:
    if inspect.isroutine(value) or isinstance(value, type):
        return value.__name__
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
