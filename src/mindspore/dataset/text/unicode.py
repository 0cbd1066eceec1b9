"""Unicode properties that `re` and `unicodedata` lack: scripts, whitespace, case folding, and `\\p{…}` in patterns.

MindSpore's patterns are ICU's; what Python spells otherwise is translated: `\\p{Han}`, `\\P{L}`, `\\x{4E00}`, `$1`.
A script is read off a character's Unicode name ("CYRILLIC SMALL LETTER A"), which the standard library has.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable

from .enums import NormalizeForm

# Words before the script in names of letters, and letters whose names do not tell their script.
_NAME_PREFIXES = ("FULLWIDTH", "HALFWIDTH", "MODIFIER", "SMALL", "SUBSCRIPT", "SUPERSCRIPT", "CIRCLED", "LETTER")
_SCRIPT_OF_NAME = {
    "FEMININE ORDINAL INDICATOR": "LATIN",
    "MASCULINE ORDINAL INDICATOR": "LATIN",
    "KELVIN SIGN": "LATIN",
    "ANGSTROM SIGN": "LATIN",
    "OHM SIGN": "GREEK",
    "IDEOGRAPHIC ITERATION MARK": "HAN",
    "IDEOGRAPHIC NUMBER ZERO": "HAN",
    "VERTICAL IDEOGRAPHIC ITERATION MARK": "HAN",
}
_COMMON_WORDS = {"MATHEMATICAL", "SCRIPT", "DOUBLE-STRUCK", "BLACK-LETTER", "KATAKANA-HIRAGANA", "MICRO", "INFORMATION"}


@functools.lru_cache(maxsize=65536)
def script(character: str) -> str:
    """The script of a character: "HAN", "LATIN" …, "COMMON" for what all scripts share, "INHERITED" for marks."""
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        name = unicodedata.name(character, "")
        return "INHERITED" if name.startswith("COMBINING") else _script_of(name)
    if category[0] not in "LM" and category != "Nl":
        return "COMMON"
    return _script_of(unicodedata.name(character, ""))


def _script_of(name: str) -> str:
    if name in _SCRIPT_OF_NAME:
        return _SCRIPT_OF_NAME[name]
    words = name.split()
    while len(words) > 1 and words[0] in _NAME_PREFIXES:
        words = words[1:]
    first = words[0] if words else ""
    if first in ("CJK", "KANGXI"):
        return "HAN"
    if first == "ROMAN":
        return "LATIN"
    return "COMMON" if first in _COMMON_WORDS or not first else first


def is_space(character: str) -> bool:
    """Unicode's White_Space property (narrower than `str.isspace`, which takes the separators U+1C … U+1F)."""
    return character.isspace() and not "\x1c" <= character <= "\x1f"


def normalized(text: str, form: NormalizeForm) -> str:
    return text if form is NormalizeForm.NONE else unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


def case_fold(text: str) -> str:
    """Unicode's NFKC_Casefold: folded, compatibility-composed, without characters that show nothing."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    folded = unicodedata.normalize("NFKC", folded.casefold())
    return "".join(c for c in folded if unicodedata.category(c) != "Cf" and c not in "\u034f\u115f\u1160\u3164")


# ---------------------------------------------------------------------------------------------------------------------
# Patterns

_ESCAPE = re.compile(r"\\(?:([pP])\{(\^?)([^}]*)\}|([pP])(\w)|x\{([0-9A-Fa-f]+)\}|(.))|(\[|\])", re.DOTALL)


def _property_test(name: str) -> Callable[[str, str], bool]:
    """Whether a character (given with its general category) has a property."""
    name = name.replace(" ", "").replace("_", "").lower()
    for prefix in ("script=", "sc=", "generalcategory=", "gc=", "is"):
        name = name.removeprefix(prefix)
    name = _LONG_CATEGORIES.get(name, name)
    if len(name) <= 2:
        prefix = name.capitalize()
        return lambda character, category: category.startswith(prefix)
    if name in _PROPERTIES:
        return _PROPERTIES[name]
    plain = script.__wrapped__
    return lambda character, category: category[0] in "LMN" and plain(character).replace(" ", "").lower() == name


_LONG_CATEGORIES = {
    "letter": "l", "mark": "m", "number": "n", "punctuation": "p", "punct": "p", "symbol": "s", "separator": "z",
    "other": "c", "digit": "nd",
}  # fmt: skip
_PROPERTIES: dict[str, Callable[[str, str], bool]] = {
    "cased": lambda character, category: category in ("Ll", "Lu", "Lt") or character.lower() != character.upper(),
    "alphabetic": lambda character, category: character.isalpha(),
    "alpha": lambda character, category: character.isalpha(),
    "whitespace": lambda character, category: is_space(character),
    "space": lambda character, category: is_space(character),
    "uppercase": lambda character, category: character.isupper(),
    "upper": lambda character, category: character.isupper(),
    "lowercase": lambda character, category: character.islower(),
    "lower": lambda character, category: character.islower(),
}


@functools.lru_cache(maxsize=64)
def property_ranges(name: str, negated: bool) -> str:
    """The characters with a property, as the inside of a character class."""
    ranges: list[list[int]] = []
    has, category = _property_test(name), unicodedata.category
    for code, character in enumerate(map(chr, range(sys.maxunicode + 1))):
        if has(character, category(character)) is not negated:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """An ICU pattern compiled by `re`; re.error when it is none."""
    depth = 0

    def translate(match: re.Match[str]) -> str:
        nonlocal depth
        kind, caret, name, short_kind, short, code, escaped, bracket = match.groups()
        if bracket:
            depth = max(0, depth + (1 if bracket == "[" else -1))
            return bracket
        if code:
            return f"\\U{int(code, 16):08x}"
        kind, name = kind or short_kind, name or short
        if not kind:
            return {"h": "[ \\t\\xa0]" if not depth else " \\t\\xa0", "z": "\\Z", "R": "(?:\\r\\n|[\\n\\r])"}.get(
                escaped, "\\" + escaped
            )
        inside = property_ranges(name, (kind == "P") is not bool(caret))
        if not inside:
            raise re.error(f"unknown property {name}")
        return inside if depth else f"[{inside}]"

    return re.compile(_ESCAPE.sub(translate, pattern))


@functools.lru_cache(maxsize=256)
def replacement_template(replacement: str) -> str:
    """ICU's replacement text (`$1`, `\\$`) as `re` spells it."""
    parts = []
    for match in re.finditer(r"\\(.)|\$(\d)|\$\{(\w+)\}|([^\\$]+)|(.)", replacement, re.DOTALL):
        escaped, group, name, plain, other = match.groups()
        if group or name:
            parts.append(f"\\g<{group or name}>")
        else:
            parts.append((escaped or plain or other).replace("\\", "\\\\"))
    return "".join(parts)
