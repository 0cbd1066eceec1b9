"""SentencePiece vocabularies and tokenizer, by the `sentencepiece` package (needed when one is trained or used)."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._base.files import atomic_write
from ..transforms.checks import UINT32_MAX, check_type, checked, each, integer, optional
from .enums import SentencePieceModel, SPieceTokenizerOutType
from .text_transform import TextTransform, one_string


def _library() -> Any:
    try:
        return importlib.import_module("sentencepiece")
    except ImportError as error:
        raise ImportError(
            f"SentencePiece needs the package 'sentencepiece' ({error}): pip install sentencepiece"
        ) from None


class SentencePieceVocab:
    """A trained SentencePiece model."""

    def __init__(self) -> None:
        self.model: bytes | None = None

    @classmethod
    def _train(cls, sentences: Iterator[str], vocab_size: Any, coverage: Any, model_type: Any, params: Any) -> Any:
        integer(0, UINT32_MAX)(vocab_size, "vocab_size")
        check_type(coverage, (float,), "character_coverage")
        check_type(model_type, (str, SentencePieceModel), "model_type")
        check_type(params, (dict,), "params")
        name = model_type.name if isinstance(model_type, SentencePieceModel) else model_type
        written = io.BytesIO()
        try:
            _library().SentencePieceTrainer.train(
                sentence_iterator=sentences,
                model_writer=written,
                vocab_size=vocab_size,
                character_coverage=coverage,
                model_type=name.lower(),
                **{"minloglevel": 2, **params},
            )
        except (RuntimeError, OSError) as error:
            raise RuntimeError(f"SentencePieceVocab: training failed: {error}") from error
        vocab = cls()
        vocab.model = written.getvalue()
        return vocab

    @classmethod
    def from_dataset(
        cls, dataset: Any, col_names: Any, vocab_size: int, character_coverage: float, model_type: Any, params: dict
    ) -> SentencePieceVocab:
        """Train on columns of a data set."""
        optional(each(str))(col_names, "col_names")
        if vocab_size is None:
            raise TypeError("vocab_size must be provided.")
        return cls._train(_sentences(dataset, col_names), vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_file(
        cls, file_path: list[str], vocab_size: int, character_coverage: float, model_type: Any, params: dict
    ) -> SentencePieceVocab:
        """Train on text files, one sentence a line."""
        check_type(file_path, (list,), "file_path")
        for path in file_path:
            if not os.path.isfile(path):
                raise RuntimeError(f"SentencePieceVocab: file {path} does not exist.")
        return cls._train(_lines(file_path), vocab_size, character_coverage, model_type, params)

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write the model to a file."""
        check_type(vocab, (SentencePieceVocab,), "vocab")
        check_type(path, (str,), "path")
        check_type(filename, (str,), "filename")
        if vocab.model is None:
            raise RuntimeError("SentencePieceVocab: the vocabulary has not been built yet.")
        if not os.path.isdir(path):
            raise RuntimeError(f"SentencePieceVocab: the directory {path} does not exist.")
        with atomic_write(os.path.join(path, filename)) as stream:
            stream.write(vocab.model)


def _lines(paths: list[str]) -> Iterator[str]:
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                yield line.rstrip("\n")


def _sentences(dataset: Any, columns: list[str] | None) -> Iterator[str]:
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        for name in columns or row:
            if name not in row:
                raise RuntimeError(f"SentencePieceVocab: column {name} does not exist in the data set.")
            for sentence in np.asarray(row[name]).reshape(-1):
                yield sentence.decode("utf-8") if isinstance(sentence, bytes) else str(sentence)


def _model_source(value: Any, name: str) -> None:
    check_type(value, (str, SentencePieceVocab), "mode is not an instance of str or text.SentencePieceVocab.")


def _out_type(value: Any, name: str) -> None:
    check_type(value, (SPieceTokenizerOutType,), "out_type is not an instance of SPieceTokenizerOutType")


class SentencePieceTokenizer(TextTransform):
    """Text cut into the pieces of a SentencePiece model, given as a vocabulary or a model file."""

    @checked(mode=_model_source, out_type=_out_type)
    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType):
        self.mode = mode
        self.out_type = out_type
        self._processor: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_processor": None}

    def _load(self) -> Any:
        if self._processor is None:
            library = _library()
            if isinstance(self.mode, SentencePieceVocab):
                self._processor = library.SentencePieceProcessor(model_proto=self.mode.model)
            else:
                if not os.path.isfile(self.mode):
                    raise RuntimeError(f"SentencePieceTokenizer: model file {self.mode} does not exist.")
                self._processor = library.SentencePieceProcessor(model_file=self.mode)
        return self._processor

    def apply(self, column: Any) -> np.ndarray:
        message = "SentencePieceTokenizer: the input shape should be scalar and the input datatype should be string."
        text = one_string(column, message)
        if self.out_type is SPieceTokenizerOutType.INT:
            return np.array(self._load().encode(text, out_type=int), dtype=np.int32)
        return np.array(self._load().encode(text, out_type=str) or [""], dtype=np.str_)


__all__ = ["SentencePieceTokenizer", "SentencePieceVocab"]
