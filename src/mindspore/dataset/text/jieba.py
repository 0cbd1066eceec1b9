"""Chinese word segmentation as jieba does it, from the same dictionary and model files.

By dictionary (MP): the cut of greatest probability, found by dynamic programming over all dictionary words in the
text. By model (HMM): characters are tagged Begin, Middle, End or Single by the Viterbi algorithm. MIX cuts by
dictionary, then runs of left-over single characters by model, which finds words that the dictionary lacks.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Any

from ..transforms.checks import UINT32_MAX, check_range, check_type, checked
from .enums import JiebaMode
from .text_transform import TextTransform, Token, flag, one_string, token_columns, with_offsets

_IMPOSSIBLE = -3.14e100
_SEPARATORS = set(" \t\n，。")
_STATES = "BEMS"
_USER_LINE = re.compile(r"^\s*([^\s*]+?)\s*([0-9]+)?\s*$")


class Dictionary:
    """Words with log probabilities, and what a search needs: which strings begin some word."""

    def __init__(self, path: str):
        self.weights: dict[str, float] = {}
        self._prefixes: set[str] = set()
        counts = {}
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                fields = line.split()
                if not fields:
                    continue
                try:
                    counts[fields[0]] = float(fields[1]) if len(fields) > 1 else 1.0
                except ValueError:
                    raise ValueError(f"{path}, line {number}: '{fields[1]}' is not a frequency.") from None
        self._total = sum(counts.values()) or 1.0
        for word, count in counts.items():
            self._put(word, math.log(max(count, 1e-10) / self._total))
        ordered = sorted(self.weights.values())
        self.least = ordered[0] if ordered else -20.0
        self._median = ordered[len(ordered) // 2] if ordered else -10.0

    def _put(self, word: str, weight: float) -> None:
        self.weights[word] = weight
        self._prefixes.update(word[:i] for i in range(1, len(word) + 1))

    def add(self, word: str, frequency: int) -> None:
        self._put(word, math.log(frequency / self._total) if frequency else self._median)

    def cut(self, text: str) -> list[tuple[int, int]]:
        """Spans of the most probable cut; an unknown character weighs as much as the rarest word."""
        best: list[tuple[float, int]] = [(0.0, 0)] * (len(text) + 1)
        for start in range(len(text) - 1, -1, -1):
            single = self.weights.get(text[start], self.least)
            choice = (single + best[start + 1][0], start + 1)
            for end in range(start + 2, len(text) + 1):
                part = text[start:end]
                if part not in self._prefixes:
                    break
                if part in self.weights:
                    choice = max(choice, (self.weights[part] + best[end][0], end))
            best[start] = choice
        spans, start = [], 0
        while start < len(text):
            end = best[start][1]
            spans.append((start, end))
            start = end
        return spans


class MarkovModel:
    """A hidden Markov model of word positions, from jieba's file of log probabilities."""

    def __init__(self, path: str):
        with open(path, encoding="utf-8") as stream:
            lines = [line.strip() for line in stream if line.strip() and not line.startswith("#")]
        try:
            self.start = [float(value) for value in lines[0].split()]
            self.move = [[float(value) for value in line.split()] for line in lines[1:5]]
            self.emit = [self._emissions(line) for line in lines[5:9]]
            complete = len(self.start) == 4 and [len(row) for row in self.move] == [4] * 4 and len(self.emit) == 4
        except (ValueError, IndexError):
            complete = False
        if not complete:
            raise ValueError(f"{path} is not a segmentation model: it needs start, transition and emission rows.")

    @staticmethod
    def _emissions(line: str) -> dict[str, float]:
        return {entry[0]: float(entry[2:]) for entry in line.split(",") if len(entry) > 2}

    def cut(self, text: str) -> list[tuple[int, int]]:
        """Spans of words; runs of letters and digits stay whole."""
        spans: list[tuple[int, int]] = []
        for match in re.finditer(r"[a-zA-Z][a-zA-Z0-9]*|[0-9][0-9.]*|[^a-zA-Z0-9]+", text):
            start, end = match.span()
            if match.group()[0].isascii() and match.group()[0].isalnum():
                spans.append((start, end))
            else:
                spans += [(start + a, start + b) for a, b in self._viterbi_spans(match.group())]
        return spans

    def _viterbi_spans(self, text: str) -> list[tuple[int, int]]:
        scores = [self.start[s] + self.emit[s].get(text[0], _IMPOSSIBLE) for s in range(4)]
        back: list[list[int]] = []
        for character in text[1:]:
            previous, scores, origin = scores, [], []
            for state in range(4):
                source = max(range(4), key=lambda s: previous[s] + self.move[s][state])
                origin.append(source)
                arrive = previous[source] + self.move[source][state]
                scores.append(arrive + self.emit[state].get(character, _IMPOSSIBLE))
            back.append(origin)
        state = max((1, 3), key=lambda s: scores[s])  # a text ends with the end of a word or a single character
        ends = [len(text)]
        for i in range(len(back) - 1, -1, -1):
            state = back[i][state]
            if _STATES[state] in "ES":
                ends.append(i + 1)
        ends.reverse()
        return list(zip([0, *ends], ends))


def _file(what: str) -> Any:
    def run(value: Any, name: str) -> None:
        if value is None:
            raise ValueError(f"The dict of {what} in cppjieba is not provided.")
        if not isinstance(value, str):
            raise TypeError(f"Wrong input type for {name}, should be string.")

    return run


class JiebaTokenizer(TextTransform):
    """Chinese text cut into words.

    `mp_path` is jieba's dictionary (`word frequency tag` a line), `hmm_path` its model.
    """

    @checked(hmm_path=_file("HMMSegment"), mp_path=_file("MPSegment"), with_offsets=flag)
    def __init__(self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False):
        if not isinstance(mode, JiebaMode):
            raise TypeError("Wrong input type for mode, should be JiebaMode.")
        for path in (hmm_path, mp_path):
            if not os.path.exists(path):
                raise ValueError(f" jieba mode file {path} is not exist.")
        self.hmm_path = hmm_path
        self.mp_path = mp_path
        self.mode = mode
        self.with_offsets = with_offsets
        self.words: list[tuple[str, int]] = []
        self._loaded: tuple[Dictionary, MarkovModel] | None = None

    def add_word(self, word: str, freq: int | None = None) -> None:
        """Teach one word, with a frequency or an average one."""
        if word is None:
            raise ValueError("word is not provided.")
        check_type(word, (str,), "word")
        if freq is not None:
            check_type(freq, (int,), "freq")
            check_range(freq, 0, UINT32_MAX)
        self.words.append((word, freq or 0))
        self._loaded = None

    def add_dict(self, user_dict: str | dict[str, int]) -> None:
        """Teach words of a dict, or of a file with a word and a frequency (or none) a line."""
        if isinstance(user_dict, str):
            entries: Iterable[tuple[str, int]] = _read_user_words(user_dict)
        elif isinstance(user_dict, dict):
            entries = user_dict.items()
        else:
            raise TypeError("The type of user_dict must str or dict.")
        for word, frequency in entries:
            self.add_word(word, frequency)

    def _models(self) -> tuple[Dictionary, MarkovModel]:
        if self._loaded is None:
            dictionary = Dictionary(self.mp_path)
            for word, frequency in self.words:
                dictionary.add(word, frequency)
            self._loaded = dictionary, MarkovModel(self.hmm_path)
        return self._loaded

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_loaded": None}

    def tokens(self, text: str) -> list[Token]:
        spans, start = [], 0
        for i, character in enumerate(text):
            if character in _SEPARATORS:
                spans += self._cut(text, start, i)
                spans.append((i, i + 1))
                start = i + 1
        spans += self._cut(text, start, len(text))
        return with_offsets(spans, text)

    def _cut(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        if start == end:
            return []
        dictionary, model = self._models()
        part = text[start:end]
        if self.mode is JiebaMode.HMM:
            spans = model.cut(part)
        else:
            spans = dictionary.cut(part)
            if self.mode is JiebaMode.MIX:
                spans = _recut_singles(part, spans, model, {word for word, _ in self.words})
        return [(start + a, start + b) for a, b in spans]

    def apply(self, column: Any) -> Any:
        message = "JiebaTokenizer: the input shape should be scalar and the input datatype should be string."
        return token_columns(self.tokens(one_string(column, message)), self.with_offsets)


def _recut_singles(
    text: str, spans: list[tuple[int, int]], model: MarkovModel, taught: set[str]
) -> list[tuple[int, int]]:
    """Give runs of single characters to the model; characters the user taught as words stay."""
    result: list[tuple[int, int]] = []
    run_start: int | None = None
    for start, end in [*spans, (len(text), len(text))]:
        if end - start == 1 and text[start:end] not in taught:
            run_start = start if run_start is None else run_start
            continue
        if run_start is not None:
            result += [(run_start + a, run_start + b) for a, b in model.cut(text[run_start:start])]
            run_start = None
        if end > start:
            result.append((start, end))
    return result


def _read_user_words(path: str) -> list[tuple[str, int]]:
    if not os.path.exists(path):
        raise ValueError(f"user dict file {path} is not exist.")
    words = []
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for line in lines:
                match = _USER_LINE.match(line)
                if match:
                    words.append((match.group(1), int(match.group(2) or 0)))
    except UnicodeDecodeError:
        raise ValueError("user dict file must be utf8 format.") from None
    return words


__all__ = ["JiebaTokenizer"]
