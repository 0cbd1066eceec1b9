"""Pre-trained word vectors from text files, one word a line: `word x1 x2 …`."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np

from ..transforms.checks import boolean, check_type, checked, each, non_negative_int32, optional
from .text_transform import TextTransform, strings


class Vectors:
    """Word vectors; a first line of two numbers (as FastText writes) is a header.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("words.txt").write_text("good 1.0 2.0\\nday 3.0 4.0\\n")
        >>> vectors = text.Vectors.from_file("words.txt", max_vectors=1)
        >>> text.ToVectors(vectors)("good").tolist()
        [1.0, 2.0]
    """

    kind: ClassVar[str] = "Vectors"

    def __init__(self, table: dict[str, np.ndarray], dim: int):
        self._table = table
        self.dim = dim

    @classmethod
    def check_name(cls, path: str) -> None:
        """RuntimeError for a file whose name does not fit this kind of vectors."""

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Vectors:
        """Read a file; at most `max_vectors` words (None or 0: all)."""
        check_type(file_path, (str,), "file_path")
        if max_vectors is not None:
            non_negative_int32(max_vectors, "max_vectors")
        if not os.path.isfile(file_path):
            raise RuntimeError(f"{cls.kind}: invalid file, get real path failed, path: {file_path}")
        cls.check_name(file_path)
        table: dict[str, np.ndarray] = {}
        dim = 0
        with open(file_path, encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines):
                word, *values = line.split() or [""]
                if number == 0 and len(values) == 1:
                    continue  # header: how many words, how many numbers each
                if not values:
                    raise RuntimeError(f"{cls.kind}: line {number + 1} of {file_path} holds no vector.")
                if len(values) == 1:
                    raise RuntimeError(f"{cls.kind}: token with 1-dimensional vector. See line {number + 1}.")
                dim = dim or len(values)
                if len(values) != dim:
                    raise RuntimeError(
                        f"{cls.kind}: all vectors must have the same number of dimensions, "
                        f"but got dim {len(values)} while expecting {dim}"
                    )
                if word not in table:
                    table[word] = cls._vector(values, number, file_path)
                if max_vectors and len(table) >= max_vectors:
                    break
        if not table:
            raise RuntimeError(f"{cls.kind}: invalid file, file is empty. path: {file_path}")
        return cls(table, dim)

    @classmethod
    def _vector(cls, values: list[str], number: int, path: str) -> np.ndarray:
        try:
            return np.array(values, dtype=np.float32)
        except ValueError:
            raise RuntimeError(f"{cls.kind}: line {number + 1} of {path} holds something that is no number.") from None

    def lookup(self, token: str, unknown: np.ndarray, lower_case_backup: bool) -> np.ndarray:
        found = self._table.get(token)
        if found is None and lower_case_backup:
            found = self._table.get(token.lower())
        return unknown if found is None else found


class FastText(Vectors):
    """FastText vectors, from a file `*.vec`.

    Examples:
        >>> issubclass(text.FastText, text.Vectors)
        True
    """

    kind = "FastText"

    @classmethod
    def check_name(cls, path: str) -> None:
        if not path.endswith(".vec"):
            raise RuntimeError(f"FastText: invalid file, can not find file '*.vec', but got: {path}")


class GloVe(Vectors):
    """GloVe vectors, from a file `glove.6B.*.txt`.

    Examples:
        >>> issubclass(text.GloVe, text.Vectors)
        True
    """

    kind = "GloVe"

    @classmethod
    def check_name(cls, path: str) -> None:
        name = os.path.basename(path)
        if not (name.startswith("glove.6B.") and name.endswith(".txt")):
            raise RuntimeError(f"GloVe: invalid file, can not find file 'glove.6B.*.txt', but got: {path}")


class CharNGram(Vectors):
    """Vectors of character n-grams; a word's vector is the mean of those of its 2-, 3- and 4-grams.

    Examples:
        >>> issubclass(text.CharNGram, text.Vectors)
        True
    """

    kind = "CharNGram"

    def lookup(self, token: str, unknown: np.ndarray, lower_case_backup: bool) -> np.ndarray:
        if lower_case_backup:
            token = token.lower()
        characters = ["#BEGIN#", *token, "#END#"]
        grams = (f"{n}gram-{''.join(characters[i : i + n])}" for n in (2, 3, 4) for i in range(len(characters) - n + 1))
        found = [self._table[gram] for gram in grams if gram in self._table]
        return np.stack(found).mean(axis=0, dtype=np.float32) if found else unknown


def _numbers(value: Any, name: str) -> None:
    each(int, float)(value, name)


class ToVectors(TextTransform):
    """Words as vectors; words without one get `unk_init`, or zeros.

    `lower_case_backup` tries a word's lower-case form too.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("vectors.txt").write_text("good 1.0 2.0\\nday 3.0 4.0\\n")
        >>> vectors = text.Vectors.from_file("vectors.txt")
        >>> text.ToVectors(vectors)(np.array(["day", "night"])).tolist()
        [[3.0, 4.0], [0.0, 0.0]]
    """

    @checked(unk_init=optional(_numbers), lower_case_backup=boolean)
    def __init__(self, vectors: Vectors, unk_init: Any = None, lower_case_backup: bool = False):
        check_type(vectors, (Vectors,), "vectors")
        self.vectors = vectors
        self.unk_init = [] if unk_init is None else list(unk_init)
        self.lower_case_backup = lower_case_backup

    def apply(self, column: Any) -> np.ndarray:
        words = strings(column, "ToVectors: input tensor type should be string.")
        if self.unk_init and len(self.unk_init) != self.vectors.dim:
            raise RuntimeError(
                "ToVectors: unk_init must be the same length as vectors, "
                f"but got unk_init: {len(self.unk_init)} and vectors: {self.vectors.dim}"
            )
        unknown = np.array(self.unk_init or [0.0] * self.vectors.dim, dtype=np.float32)
        found = [self.vectors.lookup(word, unknown, self.lower_case_backup) for word in words.reshape(-1).tolist()]
        return found[0].copy() if words.ndim == 0 else np.stack(found)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        raise RuntimeError("ToVectors holds a table of vectors, which cannot be written as JSON.")


__all__ = ["CharNGram", "FastText", "GloVe", "ToVectors", "Vectors"]
