"""Text cut into tokens. With `with_offsets` each tokenizer also gives where tokens start and end, in UTF-8 bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..transforms.checks import UINT32_MAX, checked, integer
from .enums import NormalizeForm
from .text_transform import (
    TextTransform,
    Token,
    byte_length,
    flag,
    one_string,
    string,
    strings,
    token_columns,
    with_offsets,
)
from .unicode import case_fold, compile_pattern, is_space, normalized, script
from .vocab import Vocab


class _Tokenizer(TextTransform):
    """Base: `tokens(text)` of one string."""

    with_offsets: bool

    def tokens(self, text: str) -> list[Token]:
        raise NotImplementedError

    def apply(self, column: Any) -> Any:
        message = f"{type(self).__name__}Op: the input shape should be scalar and the input datatype should be string."
        return token_columns(self.tokens(one_string(column, message)), self.with_offsets)


class WhitespaceTokenizer(_Tokenizer):
    """Words between white space.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.text as text
        >>> text.WhitespaceTokenizer()(np.array("so  far")).tolist()
        ['so', 'far']
    """

    @checked(with_offsets=flag)
    def __init__(self, with_offsets: bool = False):
        self.with_offsets = with_offsets

    def tokens(self, text: str) -> list[Token]:
        spans, start = [], None
        for i, character in enumerate(text):
            if is_space(character):
                if start is not None:
                    spans.append((start, i))
                start = None
            elif start is None:
                start = i
        if start is not None:
            spans.append((start, len(text)))
        return with_offsets(spans, text)


class UnicodeCharTokenizer(_Tokenizer):
    """Single characters.

    Examples:
        >>> text.UnicodeCharTokenizer()("día").tolist()
        ['d', 'í', 'a']
    """

    @checked(with_offsets=flag)
    def __init__(self, with_offsets: bool = False):
        self.with_offsets = with_offsets

    def tokens(self, text: str) -> list[Token]:
        return with_offsets([(i, i + 1) for i in range(len(text))], text)


class UnicodeScriptTokenizer(_Tokenizer):
    """Runs of one script (Latin, Han …), cut at white space too.

    Examples:
        >>> text.UnicodeScriptTokenizer()("day日").tolist()
        ['day', '日']
    """

    @checked(keep_whitespace=flag, with_offsets=flag)
    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False):
        self.keep_whitespace = keep_whitespace
        self.with_offsets = with_offsets

    def tokens(self, text: str) -> list[Token]:
        kinds = [(script(character), is_space(character)) for character in text]
        cuts = [0, *(i for i in range(1, len(text)) if kinds[i] != kinds[i - 1]), len(text)]
        spans = [
            (start, end)
            for start, end in pairwise(cuts)
            if end > start and (self.keep_whitespace or not kinds[start][1])
        ]
        return with_offsets(spans, text)


def split_by_pattern(text: str, delimiter: re.Pattern[str], keep: re.Pattern[str] | None) -> list[Token]:
    """What lies between delimiters, and those delimiters that `keep` matches as a whole."""
    spans, done = [], 0
    for match in delimiter.finditer(text):
        start, end = match.span()
        if start > done:
            spans.append((done, start))
        if end > start and keep is not None and keep.fullmatch(text, start, end):
            spans.append((start, end))
        done = end
    if done < len(text):
        spans.append((done, len(text)))
    return with_offsets(spans, text)


class RegexTokenizer(_Tokenizer):
    """Text between matches of `delim_pattern`; delimiters that match `keep_delim_pattern` are tokens too.

    Examples:
        >>> text.RegexTokenizer(" ")("good day").tolist()
        ['good', 'day']
    """

    @checked(delim_pattern=string("delim_pattern"), keep_delim_pattern=string(), with_offsets=flag)
    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False):
        self.delim_pattern = delim_pattern
        self.keep_delim_pattern = keep_delim_pattern
        self.with_offsets = with_offsets

    def tokens(self, text: str) -> list[Token]:
        try:
            delimiter = compile_pattern(self.delim_pattern)
            keep = compile_pattern(self.keep_delim_pattern) if self.keep_delim_pattern else None
        except re.error as error:
            raise RuntimeError(
                f"RegexTokenizer: create ICU RegexMatcher failed, you may input one error pattern: {error}"
            ) from error
        return split_by_pattern(text, delimiter, keep)


# ---------------------------------------------------------------------------------------------------------------------
# BERT

# Punctuation and the blocks of Chinese characters: each such character is a token (Devlin et al., BERT).
_SINGLES = (
    "[!-/]|[:-@]|[\\[-`]|[{-~]|[\\p{P}]|[\\x{4E00}-\\x{9FFF}]|[\\x{3400}-\\x{4DBF}]|[\\x{20000}-\\x{2A6DF}]"
    "|[\\x{2A700}-\\x{2B73F}]|[\\x{2B740}-\\x{2B81F}]|[\\x{2B820}-\\x{2CEAF}]|[\\x{F900}-\\x{FAFF}]"
    "|[\\x{2F800}-\\x{2FA1F}]"
)
_RESERVED = "\\[CLS\\]|\\[SEP\\]|\\[UNK\\]|\\[PAD\\]|\\[MASK\\]|\\[unused\\d+\\]"
_UNFOLDED = re.compile(r"(\[(?:CLS|SEP|UNK|PAD|MASK)\])")


def normalization(value: Any, name: str) -> None:
    if not isinstance(value, NormalizeForm):
        raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")


class BasicTokenizer(_Tokenizer):
    """BERT's basic tokenizer: words, punctuation marks and single Chinese characters.

    `lower_case` also strips accents; else `normalization_form` applies. Tokens such as `[CLS]` and `[unused1]` stay
    whole with `preserve_unused_token`.

    Examples:
        >>> text.BasicTokenizer(lower_case=True)("Good day, World").tolist()
        ['good', 'day', ',', 'world']
    """

    @checked(
        lower_case=flag,
        keep_whitespace=flag,
        normalization_form=normalization,
        preserve_unused_token=flag,
        with_offsets=flag,
    )
    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        self.lower_case = lower_case
        self.keep_whitespace = keep_whitespace
        self.normalization_form = normalization_form
        self.preserve_unused_token = preserve_unused_token
        self.with_offsets = with_offsets

    def _clean(self, text: str) -> str:
        if self.lower_case:
            parts = _UNFOLDED.split(text) if self.preserve_unused_token else [text]
            text = "".join(part if _UNFOLDED.fullmatch(part) else case_fold(part) for part in parts)
            if not text.isascii():
                decomposed = unicodedata.normalize("NFD", text)
                text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        else:
            text = normalized(text, self.normalization_form)
        return "".join(" " if unicodedata.category(c) in ("Cc", "Cf") else c for c in text)

    def tokens(self, text: str) -> list[Token]:
        reserved = _RESERVED + "|" if self.preserve_unused_token else ""
        delimiter = f"{reserved}\\s+|{_SINGLES}"
        keep = delimiter if self.keep_whitespace else reserved + _SINGLES
        return split_by_pattern(self._clean(text), compile_pattern(delimiter), compile_pattern(keep))

    def apply(self, column: Any) -> Any:
        array = np.asarray(column)
        if array.ndim != 0:
            raise RuntimeError(
                f"BasicTokenizer: the input should be a scalar, but got a tensor with rank: {array.ndim}"
            )
        text = one_string(array, "BasicTokenizer: the input should be of type string.")
        return token_columns(self.tokens(text), self.with_offsets)


def vocabulary(value: Any, name: str) -> None:
    if value is None:
        raise ValueError(f"{name} is not provided.")
    if not isinstance(value, Vocab):
        raise TypeError(f"Wrong input type for {name}, should be text.Vocab object.")


_token_length = integer(0, UINT32_MAX, label="")


class WordpieceTokenizer(TextTransform):
    """Words cut into the longest pieces that the vocabulary has, from the left (WordPiece).

    Pieces inside a word carry `suffix_indicator`. A word that cannot be cut, or is too long, becomes `unknown_token`
    (or stays whole when that is empty).

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.text as text
        >>> vocab = text.Vocab.from_list(["un", "##able", "[UNK]"])
        >>> text.WordpieceTokenizer(vocab)(np.array(["unable", "xx"])).tolist()
        ['un', '##able', '[UNK]']
    """

    @checked(
        vocab=vocabulary,
        suffix_indicator=string(),
        unknown_token=string(),
        with_offsets=flag,
        max_bytes_per_token=_token_length,
    )
    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ):
        self.vocab = vocab
        self.suffix_indicator = suffix_indicator
        self.max_bytes_per_token = max_bytes_per_token
        self.unknown_token = unknown_token
        self.with_offsets = with_offsets

    def pieces(self, word: str, start: int) -> list[Token]:
        """The pieces of one word whose first byte is at `start`."""
        length = byte_length(word)
        shown = self.unknown_token or word
        if length > self.max_bytes_per_token:
            return [(shown, start, start + byte_length(shown))]
        whole = [(shown, start, start + length)]
        known, found, at = self.vocab.ids, [], 0
        while at < len(word):
            for end in range(len(word), at, -1):
                piece = (self.suffix_indicator if at else "") + word[at:end]
                if piece in known:
                    break
            else:
                return whole
            size = byte_length(word[at:end])
            found.append((piece, start, start + size))
            start, at = start + size, end
        return found

    def apply(self, *columns: Any) -> Any:
        message = "WordpieceTokenizer: The input shape should be 1D scalar the input datatype should be string."
        words = strings(columns[0], message)
        if words.ndim > 1:
            raise RuntimeError(message)
        starts = np.asarray(columns[1]).tolist() if len(columns) == 3 else [0] * words.size
        tokens: list[Token] = []
        for word, start in zip(words.reshape(-1).tolist(), starts):
            tokens += self.pieces(word, start)
        return token_columns(tokens, self.with_offsets)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**(params or {}), "vocab": Vocab.from_dict(params["vocab"])})


class BertTokenizer(TextTransform):
    """BERT's tokenizer: `BasicTokenizer`, then `WordpieceTokenizer`.

    Examples:
        >>> vocab = text.Vocab.from_list(["good", "##ness", "[UNK]"])
        >>> text.BertTokenizer(vocab, lower_case=True)("Goodness").tolist()
        ['good', '##ness']
    """

    json_keys = {"normalization_form": "normalize_form"}

    @checked(
        vocab=vocabulary,
        suffix_indicator=string(),
        max_bytes_per_token=_token_length,
        unknown_token=string(),
        lower_case=flag,
        keep_whitespace=flag,
        normalization_form=normalization,
        preserve_unused_token=flag,
        with_offsets=flag,
    )
    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ):
        self.vocab = vocab
        self.suffix_indicator = suffix_indicator
        self.max_bytes_per_token = max_bytes_per_token
        self.unknown_token = unknown_token
        self.lower_case = lower_case
        self.keep_whitespace = keep_whitespace
        self.normalization_form = normalization_form
        self.preserve_unused_token = preserve_unused_token
        self.with_offsets = with_offsets
        self._basic = BasicTokenizer(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets=True
        )
        self._wordpiece = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token, True)

    def apply(self, column: Any) -> Any:
        result = self._wordpiece(*self._basic(column))
        return result if self.with_offsets else result[0]

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**(params or {}), "vocab": Vocab.from_dict(params["vocab"])})


class PythonTokenizer(TextTransform):
    """A tokenizer from a Python function of one string that returns a list of strings.

    Examples:
        >>> text.PythonTokenizer(str.split)(np.array("good day")).tolist()
        ['good', 'day']
    """

    def __init__(self, tokenizer: Callable[[str], list[str]]):
        if not callable(tokenizer):
            raise TypeError("tokenizer is not a callable Python function.")
        self.tokenizer = tokenizer

    def apply(self, in_array: Any) -> np.ndarray:
        if not isinstance(in_array, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(in_array)}.")
        if in_array.dtype.kind == "S":
            in_array = np.char.decode(in_array, "utf8")
        try:
            rows = [np.array(self.tokenizer(str(text)), dtype=np.str_) for text in in_array.reshape(-1)]
        except Exception as error:
            name = getattr(self.tokenizer, "__name__", type(self.tokenizer).__name__)
            raise RuntimeError(f"Error occurred in Pyfunc [{name}], error message: {error}") from error
        return np.stack(rows).reshape(in_array.shape + rows[0].shape)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        raise RuntimeError("PythonTokenizer holds a function, which cannot be written as JSON.")


__all__ = [
    "BasicTokenizer",
    "BertTokenizer",
    "PythonTokenizer",
    "RegexTokenizer",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
]
