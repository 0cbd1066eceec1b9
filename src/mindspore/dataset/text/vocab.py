"""A vocabulary: words and their numbers."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from ..transforms.checks import INT32_MAX, check_positive, check_range, check_type, each


def _unique_words(words: Any, name: str) -> set[str]:
    check_type(words, (list,), name)
    seen: set[str] = set()
    for word in words:
        check_type(word, (str,), name)
        if word in seen:
            raise ValueError(f"{name} contains duplicate word: {word}.")
        seen.add(word)
    return seen


def _numbered(words: list[str], special_tokens: list[str] | None, special_first: bool) -> dict[str, int]:
    special_tokens = special_tokens or []
    ordered = special_tokens + words if special_first else words + special_tokens
    return {word: i for i, word in enumerate(ordered)}


class Vocab:
    """Words and their numbers, built by one of the `from_…` methods.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> vocab = text.Vocab.from_list(["deep", "learning"], special_tokens=["<unk>"])
        >>> vocab.tokens_to_ids(["deep", "<unk>"])
        [1, 0]
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] | None = None
        self._words: dict[int, str] = {}

    @classmethod
    def _of(cls, ids: dict[str, int]) -> Vocab:
        vocab = cls()
        vocab._ids = ids
        vocab._words = {number: word for word, number in ids.items()}
        return vocab

    @property
    def ids(self) -> dict[str, int]:
        """The numbers by word; RuntimeError if the vocabulary was not built."""
        if self._ids is None:
            raise RuntimeError(
                "The Vocab has not built yet, got type <class 'NoneType'>. Use Vocab.from_dataset(), "
                "Vocab.from_list(), Vocab.from_file() or Vocab.from_dict() to build a Vocab."
            )
        return self._ids

    @property
    def is_built(self) -> bool:
        return self._ids is not None

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """Words numbered in order; special tokens come first, or last."""
        words = _unique_words(word_list, "word_list")
        if special_tokens is not None:
            both = words & _unique_words(special_tokens, "special_tokens")
            if both:
                raise ValueError(f"special_tokens and word_list contain duplicate word :{both}.")
        check_type(special_first, (bool,), "special_first")
        return cls._of(_numbered(word_list, special_tokens, special_first))

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """Words with the numbers given."""
        check_type(word_dict, (dict,), "word_dict")
        for word, number in word_dict.items():
            check_type(word, (str,), "word")
            check_type(number, (int,), "word_id")
            check_range(number, 0, INT32_MAX, "word_id")
        return cls._of(dict(word_dict))

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """One word a line, up to the delimiter; at most `vocab_size` of them."""
        specials = set() if special_tokens is None else _unique_words(special_tokens, "special_tokens")
        check_type(file_path, (str,), "file_path")
        check_type(delimiter, (str,), "delimiter")
        if vocab_size is not None:
            check_positive(vocab_size, "vocab_size")
        check_type(special_first, (bool,), "special_first")
        if not os.path.isfile(file_path):
            raise RuntimeError(f"Get real path failed, path={file_path}")
        words: dict[str, None] = {}
        with open(file_path, encoding="utf-8", newline="\n") as lines:
            for line in lines:
                if vocab_size is not None and len(words) >= vocab_size:
                    break
                word = line.rstrip("\n")
                if delimiter:
                    cut = min((word.find(c) for c in delimiter if c in word), default=-1)
                    word = word[:cut] if cut >= 0 else word
                if word in words:
                    raise RuntimeError(f"from_file: word_list contains duplicate word:{word}")
                if word in specials:
                    raise RuntimeError(f"from_file: special_tokens and word_list contain duplicate word:{word}")
                words[word] = None
        return cls._of(_numbered(list(words), special_tokens, special_first))

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: Any = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of a data set, the most frequent first (equally frequent ones in alphabetical order)."""
        if columns is not None and not isinstance(columns, list):
            columns = [columns]
            each(str)(columns, "col")
        low, high = _frequency_range(freq_range)
        check_type(top_k, (int, type(None)), "top_k")
        if top_k is not None:
            check_positive(top_k, "top_k")
        check_type(special_first, (bool,), "special_first")
        specials = set() if special_tokens is None else _unique_words(special_tokens, "special_tokens")
        counts = _count_words(dataset, columns)
        both = specials & counts.keys()
        if both:
            raise RuntimeError(f"BuildVocab: special_tokens and word_list contain duplicate word: {sorted(both)[0]}")
        kept = [word for word, count in counts.items() if low <= count <= high]
        kept.sort(key=lambda word: (-counts[word], word.encode("utf-8")))
        return cls._of(_numbered(kept[:top_k], special_tokens, special_first))

    def vocab(self) -> dict[str, int]:
        """The numbers by word."""
        return dict(self.ids)

    to_plain = vocab  # how a transform's JSON holds the vocabulary

    def tokens_to_ids(self, tokens: Any) -> Any:
        """The number of each word, -1 for unknown ones; one word gives one number."""
        check_type(tokens, (str, list, np.ndarray), "tokens")
        if isinstance(tokens, list):
            each(str, np.str_)(tokens, "tokens")
        words = [tokens] if isinstance(tokens, str) else np.asarray(tokens).reshape(-1).tolist()
        numbers = [self.ids.get(str(word), -1) for word in words]
        return numbers[0] if len(numbers) == 1 else numbers

    def ids_to_tokens(self, ids: Any) -> Any:
        """The word of each number, "" for unknown ones; one number gives one word."""
        check_type(ids, (int, list, np.ndarray), "ids")
        if isinstance(ids, int):
            check_range(ids, 0, INT32_MAX, "ids")
        if isinstance(ids, list):
            for i, number in enumerate(ids):
                check_type(number, (int, np.integer), f"ids[{i}]")
                check_range(number, 0, INT32_MAX, f"ids[{i}]")
        _ = self.ids
        words = [self._words.get(int(number), "") for number in np.asarray(ids).reshape(-1)]
        return words[0] if len(words) == 1 else words


def _frequency_range(freq_range: Any) -> tuple[int, int]:
    if freq_range is None:
        return 0, INT32_MAX
    check_type(freq_range, (tuple,), "freq_range")
    if len(freq_range) != 2:
        raise ValueError("freq_range needs to be a tuple of 2 element.")
    for limit in freq_range:
        if limit is not None and not isinstance(limit, int):
            raise ValueError("freq_range needs to be either None or a tuple of 2 integers or an int and a None.")
    low, high = freq_range[0] or 0, INT32_MAX if freq_range[1] is None else freq_range[1]
    if low > high or low < 0:
        raise ValueError("frequency range [a,b] should be 0 <= a <= b (a,b are inclusive).")
    return low, high


def _count_words(dataset: Any, columns: list[str] | None) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        for name in row if columns is None else columns:
            if name not in row:
                raise RuntimeError(f"BuildVocab: column {name} does not exist in the data set.")
            column = np.asarray(row[name])
            if column.dtype.kind == "S":
                column = np.char.decode(column, "utf8")
            if column.dtype.kind != "U":
                raise RuntimeError(f"BuildVocab: column {name} is not of string type, but {column.dtype}.")
            counts.update(column.reshape(-1).tolist())
    return counts
