"""Strings changed one by one: case, normal forms, replacements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..transforms.checks import boolean, checked
from ..transforms.checks import text as text_argument
from .enums import NormalizeForm
from .text_transform import TextTransform, map_strings, strings
from .tokenizers import normalization
from .unicode import case_fold, compile_pattern, normalized, replacement_template


class _StringMap(TextTransform):
    """Base: `change(text)` of each string of an array."""

    def change(self, text: str) -> str:
        raise NotImplementedError

    def apply(self, column: Any) -> np.ndarray:
        array = strings(column, f"{type(self).__name__}: input is not string datatype.")
        return map_strings(self.change, array)


class CaseFold(_StringMap):
    """Strings folded so that those which differ in case only become equal.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.text as text
        >>> text.CaseFold()(np.array("Straße")).item()
        'strasse'
    """

    def change(self, text: str) -> str:
        return case_fold(text)


class NormalizeUTF8(_StringMap):
    """Strings in a Unicode normalisation form.

    Examples:
        >>> text.NormalizeUTF8(text.NormalizeForm.NFKC)("ﬁne").tolist()
        'fine'
    """

    @checked(normalize_form=normalization)
    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC):
        self.normalize_form = normalize_form

    def change(self, text: str) -> str:
        return normalized(text, self.normalize_form)


class RegexReplace(_StringMap):
    """Matches of a pattern replaced: all, or the first.

    Examples:
        >>> text.RegexReplace("[0-9]+", "#")("room 101").tolist()
        'room #'
    """

    @checked(pattern=text_argument, replace=text_argument, replace_all=boolean)
    def __init__(self, pattern: str, replace: str, replace_all: bool = True):
        self.pattern = pattern
        self.replace = replace
        self.replace_all = replace_all

    def change(self, text: str) -> str:
        try:
            pattern = compile_pattern(self.pattern)
            return pattern.sub(replacement_template(self.replace), text, count=0 if self.replace_all else 1)
        except (re.error, IndexError) as error:
            raise RuntimeError(
                f"RegexReplace: create icu RegexMatcher failed, you may input one error pattern: {error}"
            ) from error


_DIGITS = dict(zip("0123456789", ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")))
# In order: markup, links, templates, entities; then letters a-z and spelt digits only (Mahoney's filter for enwik8).
_WIKIPEDIA = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<.*>", ""),
        (r"&amp;", "&"),
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        (r"<ref[^<]*</ref>", ""),
        (r"<[^>]*>", ""),
        (r"\[http:[^] ]*", "["),
        (r"\|thumb", ""),
        (r"\|left", ""),
        (r"\|right", ""),
        (r"\|\d+px", ""),
        (r"\[\[image:[^\[\]]*\|", ""),
        (r"\[\[category:([^|\]]*)[^]]*\]\]", r"[[\1]]"),
        (r"\[\[[a-z\-]*:[^\]]*\]\]", ""),
        (r"\[\[[^\|\]]*\|", "[["),
        (r"\{\{[^\}]*\}\}", ""),
        (r"\{[^\}]*\}", ""),
        (r"[\[\]]", ""),
        (r"&[^;]*;", " "),
    )
]


class FilterWikipediaXML(_StringMap):
    """The plain words of a page of Wikipedia's XML dump: a-z and spelt-out digits, without markup and redirects.

    Examples:
        >>> text.FilterWikipediaXML()("Good Day").tolist()
        'good day'
    """

    def change(self, text: str) -> str:
        if "#redirect" in text or "#REDIRECT" in text:
            return ""
        for pattern, replacement in _WIKIPEDIA:
            text = pattern.sub(replacement, text)
        text = re.sub(r"\d", lambda digit: f" {_DIGITS.get(digit.group(), ' ')} ", text.lower())
        text = re.sub(r"[^a-z\n]+", " ", text)
        return re.sub(r"\s+", " ", text).strip()


__all__ = ["CaseFold", "FilterWikipediaXML", "NormalizeUTF8", "RegexReplace"]
