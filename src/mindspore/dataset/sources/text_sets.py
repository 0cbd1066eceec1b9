"""Text data sets with formats of their own: CLUE, SQuAD, tagged sentences, film reviews, translations."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import check_dir, check_type, check_valid_str
from mindspore.dataset.api.operations import TextBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.samplers.files import FileSampler
from mindspore.dataset.sources.lines import FolderDataset, LinesReader, ListReader, check_exist, text_array
from mindspore.dataset.sources.records import FileDataset, find_files
from mindspore.dataset.sources.source import MappableDataset

# For each CLUE task and usage: column -> path of keys in the JSON of a line.
_PAIR = {"sentence1": "sentence1", "sentence2": "sentence2"}
_WSC = {
    "span1_index": "target/span1_index", "span2_index": "target/span2_index", "span1_text": "target/span1_text",
    "span2_text": "target/span2_text", "idx": "idx", "text": "text",
}  # fmt: skip
_CLUE = {
    "AFQMC": ({**_PAIR, "label": "label"}, {"id": "id", **_PAIR}),
    "CMNLI": ({**_PAIR, "label": "label"}, {"id": "id", **_PAIR}),
    "CSL": ({"id": "id", "abst": "abst", "keyword": "keyword", "label": "label"},
            {"id": "id", "abst": "abst", "keyword": "keyword"}),
    "IFLYTEK": ({"label": "label", "label_des": "label_des", "sentence": "sentence"},
                {"id": "id", "sentence": "sentence"}),
    "TNEWS": ({"label": "label", "label_desc": "label_desc", "sentence": "sentence", "keywords": "keywords"},
              {"id": "id", "sentence": "sentence", "keywords": "keywords"}),
    "WSC": ({**_WSC, "label": "label"}, _WSC),
}  # fmt: skip


class CLUEDataset(FileDataset, TextBaseDataset):
    """Chinese language tasks; the columns depend on the task.

    ds.CLUEDataset(["train.json"], task="AFQMC", usage="train")
    """

    def __init__(self, dataset_files, task="AFQMC", usage="train", num_samples=None, num_parallel_workers=None,
                 shuffle=True, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        if task not in list(_CLUE):
            raise ValueError(f"task should be one of {', '.join(_CLUE)}, but got {task!r}.")
        if usage not in ["train", "test", "eval"]:
            raise ValueError(f"usage should be 'train', 'test' or 'eval', but got {usage!r}.")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_files = find_files(dataset_files)
        fields = dict(sorted(_CLUE[task][usage == "test"].items()))
        opener = functools.partial(
            LinesReader, self.dataset_files, list(fields), functools.partial(json_columns, fields)
        )
        params = {"dataset_dir": self.dataset_files, "task": task, "usage": usage}
        self._files("CLUEDataset", opener, FileSampler(shuffle, num_samples, num_shards, shard_id), params)


def json_columns(fields: dict[str, str], line: str) -> tuple:
    """Values of a line of JSON; numbers are unsigned 32-bit, lists of text arrays."""
    content = json.loads(line)
    values = []
    for path in fields.values():
        value: Any = content
        for key in path.split("/"):
            value = value[key]
        values.append(np.array(value, dtype=np.uint32) if isinstance(value, int) else np.array(value))
    return tuple(values)


class SQuADDataset(FolderDataset):
    """Questions on texts: columns "context", "question", "text" and "answer_start" (of every answer)."""

    usages = {"train": "train", "dev": "dev"}

    def usage_files(self):
        names = ["train", "dev"] if self.usage == "all" else [self.usage]
        wanted = tuple(f"{name}-v" for name in names)
        return sorted(
            os.path.join(self.dataset_dir, name) for name in os.listdir(self.dataset_dir) if name.startswith(wanted)
        )

    @classmethod
    def open(cls, files, usage):
        if not files:
            raise RuntimeError("Invalid file, failed to find SQuAD files named train-v*.json or dev-v*.json.")
        return ListReader({path: squad_rows(path) for path in files}, ["context", "question", "text", "answer_start"])


def squad_rows(path: str) -> list[tuple]:
    with open(path, encoding="utf-8") as stream:
        try:
            articles = json.load(stream)["data"]
        except (ValueError, KeyError, TypeError) as error:
            raise RuntimeError(f"Invalid file, {path} is not a SQuAD file: {error}") from None
    rows = []
    for article in articles:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = question.get("answers") or []
                texts = text_array([answer["text"] for answer in answers] or [""])
                # a question without an answer starts at the largest number
                starts = np.array([answer["answer_start"] for answer in answers] or [2**32 - 1], dtype=np.uint32)
                rows.append((paragraph["context"], question["question"], texts, starts))
    return rows


def tagged_sentences(path: str, separator: str, columns: int) -> list[tuple]:
    """Sentences of lines of word and tags; an empty line ends a sentence."""
    rows: list[tuple] = []
    words: list[list[str]] = []

    def finish() -> None:
        if words:
            rows.append(tuple(text_array(column) for column in zip(*words)))
            words.clear()

    with open(path, encoding="utf-8") as stream:
        for line in stream:
            line = line.rstrip("\r\n")
            if not line.strip():
                finish()
                continue
            cells = line.split(separator)
            words.append((cells + [""] * columns)[:columns])
    finish()
    return rows


class _Tagged(FolderDataset):
    separator, column_names = " ", ["word"]

    def __init__(self, dataset_dir, usage=None, num_samples=None, shuffle=True, num_shards=None, shard_id=None,
                 num_parallel_workers=None, cache=None):  # fmt: skip
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    @classmethod
    def open(cls, files, usage):
        check_exist(files, cls.__name__)
        parts = {path: tagged_sentences(path, cls.separator, len(cls.column_names)) for path in files}
        return ListReader(parts, cls.column_names)


class CoNLL2000Dataset(_Tagged):
    """Sentences with parts of speech and chunks: columns "word", "pos_tag", "chunk_tag"."""

    op_type = "CoNLL2000Node"
    usages = {"train": "train.txt", "test": "test.txt"}
    column_names = ["word", "pos_tag", "chunk_tag"]


class UDPOSDataset(_Tagged):
    """Sentences with parts of speech: columns "word", "universal", "stanford"."""

    op_type = "UDPOSNode"
    usages = {"train": "en-ud-tag.v2.train.txt", "test": "en-ud-tag.v2.test.txt", "valid": "en-ud-tag.v2.dev.txt"}
    separator, column_names = "\t", ["word", "universal", "stanford"]


class IMDBReader(Reader):
    """A text file for each review, in folders for usage and for label."""

    columns = ["text", "label"]

    def __init__(self, folder: str, usage: str):
        self._rows: list[tuple[str, int]] = []
        for part in ["train", "test"] if usage == "all" else [usage]:
            for name, label in (("pos", 1), ("neg", 0)):
                base = os.path.join(folder, part, name)
                if not os.path.isdir(base):
                    raise RuntimeError(f"Invalid path, {base} is an invalid path or does not exist.")
                self._rows += [(os.path.join(base, file), label) for file in sorted(os.listdir(base))]

    def __len__(self):
        return len(self._rows)

    def row(self, index):
        path, label = self._rows[index]
        with open(path, encoding="utf-8") as stream:
            return np.array(stream.read()), np.array(label, dtype=np.int32)

    def labels(self, column="label"):
        return np.array([label for _, label in self._rows])

    def num_classes(self):
        return 2

    def path(self, index):
        return self._rows[index][0]


class IMDBDataset(MappableDataset, TextBaseDataset):
    """Film reviews: columns "text", "label" (1 for positive)."""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "all"], "usage")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage
        opener = functools.partial(IMDBReader, self.dataset_dir, usage)
        self._rows("IMDBDataset", opener, {"dataset_dir": self.dataset_dir, "usage": usage})


class _Translations(FileDataset, TextBaseDataset):
    """Base of the data sets of sentence pairs: columns "text" and "translation"."""

    def _pairs(self, pairs: Sequence[tuple[str, str]], shuffle, params: dict) -> None:
        sampler = FileSampler(shuffle, self.num_samples, self.num_shards, self.shard_id)
        self._files(
            type(self).__name__, functools.partial(open_pairs, list(pairs), type(self).__name__), sampler, params
        )


def open_pairs(pairs: list[tuple[str, str]], kind: str) -> Reader:
    parts = {}
    for source, target in pairs:
        check_exist([source, target], kind)
        parts[source] = list(zip(sentences(source), sentences(target)))
    return ListReader(parts, ["text", "translation"])


_TAGGED_LINE = re.compile(r"^\s*<(?!seg\b)")
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>")


def sentences(path: str) -> list[str]:
    """Sentences of a file: of its `<seg>` elements for XML, else of its lines that are no tags."""
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    if path.endswith(".xml"):
        return [match.group(1).strip() for line in lines for match in [_SEGMENT.search(line)] if match]
    if os.path.basename(path).startswith("train.tags"):
        return [line.strip() for line in lines if line.strip() and not _TAGGED_LINE.match(line)]
    return [line for line in lines if line.strip()]


_IWSLT2016_SETS = ["dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014"]


def check_language_pair(pair: Any, default: list[str]) -> list[str]:
    if pair is None:
        return default
    check_type(pair, (list, tuple), "language_pair")
    if len(pair) != 2:
        raise ValueError("language_pair should be a list or tuple of length 2.")
    for language in pair:
        check_type(language, str, "language_pair")
    return list(pair)


class IWSLT2016Dataset(_Translations):
    """Translated talks of 2016: columns "text", "translation"."""

    def __init__(self, dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, num_samples=None,
                 shuffle=True, num_shards=None, shard_id=None, num_parallel_workers=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "valid", "test", "all"], "usage")
        pair = check_language_pair(language_pair, ["de", "en"])
        support = {"en": ["ar", "de", "fr", "cs"], "ar": ["en"], "fr": ["en"], "de": ["en"], "cs": ["en"]}
        check_valid_str(pair[0], support, "language_pair")
        check_valid_str(pair[1], support[pair[0]], "language_pair")
        valid, test = valid_set or "tst2013", test_set or "tst2014"
        check_valid_str(valid, _IWSLT2016_SETS, "valid_set")
        check_valid_str(test, _IWSLT2016_SETS, "test_set")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        base = os.path.join(os.fspath(dataset_dir), "texts", pair[0], pair[1], "-".join(pair))
        stems = {
            "train": "train.tags.{0}-{1}.{2}",
            "valid": f"IWSLT16.TED.{valid}.{{0}}-{{1}}.{{2}}.xml",
            "test": f"IWSLT16.TED.{test}.{{0}}-{{1}}.{{2}}.xml",
        }
        params = {"dataset_dir": os.fspath(dataset_dir), "language_pair": pair, "usage": usage,
                  "valid_set": valid, "test_set": test}  # fmt: skip
        self._pairs(iwslt_files(base, stems, usage, pair), shuffle, params)


def iwslt_files(base: str, stems: dict[str, str], usage: str, pair: list[str]) -> list[tuple[str, str]]:
    chosen = list(stems) if usage == "all" else [usage]
    source, target = pair
    places = [os.path.join(base, stems[part]) for part in chosen]
    return [(place.format(*pair, source), place.format(*pair, target)) for place in places]


class IWSLT2017Dataset(_Translations):
    """Translated talks of 2017: columns "text", "translation"."""

    def __init__(self, dataset_dir, usage=None, language_pair=None, num_samples=None, shuffle=True, num_shards=None,
                 shard_id=None, num_parallel_workers=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "valid", "test", "all"], "usage")
        pair = check_language_pair(language_pair, ["de", "en"])
        languages = ["en", "nl", "de", "it", "ro"]
        check_valid_str(pair[0], languages, "language_pair")
        check_valid_str(pair[1], [name for name in languages if name != pair[0]], "language_pair")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        group = "DeEnItNlRo"
        base = os.path.join(os.fspath(dataset_dir), "texts", group, group, f"{group}-{group}")
        stems = {
            "train": "train.tags.{0}-{1}.{2}",
            "valid": "IWSLT17.TED.dev2010.{0}-{1}.{2}.xml",
            "test": "IWSLT17.TED.tst2010.{0}-{1}.{2}.xml",
        }
        params = {"dataset_dir": os.fspath(dataset_dir), "language_pair": pair, "usage": usage}
        self._pairs(iwslt_files(base, stems, usage, pair), shuffle, params)


class Multi30kDataset(_Translations):
    """Translated image captions: columns "text", "translation"."""

    def __init__(self, dataset_dir, usage=None, language_pair=None, num_samples=None, num_parallel_workers=None,
                 shuffle=None, num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        usage = "all" if usage is None else usage
        check_valid_str(usage, ["train", "test", "valid", "all"], "usage")
        pair = check_language_pair(language_pair, ["en", "de"])
        if sorted(pair) != ["de", "en"]:
            raise ValueError(f"language_pair can only be ['en', 'de'] or ['de', 'en'], but got {pair}.")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        stems = {"train": "training/train", "valid": "validation/val", "test": "mmt16_task1_test/test"}
        chosen = list(stems) if usage == "all" else [usage]
        base = os.fspath(dataset_dir)
        chosen.sort(key=lambda part: stems[part])
        source, target = pair
        files = [os.path.join(base, stems[part]) for part in chosen]
        pairs = [(f"{file}.{source}", f"{file}.{target}") for file in files]
        self._pairs(pairs, shuffle, {"dataset_dir": base, "language_pair": pair})
