"""Text files as tables of lines, and the plainest data sets of lines: TextFile, EnWik9, PennTreebank, WikiText."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import check_dir, check_valid_str
from mindspore.dataset.api.operations import TextBaseDataset
from mindspore.dataset.ir.leaf import Reader
from mindspore.dataset.samplers.files import FileSampler
from mindspore.dataset.sources.records import FileDataset, find_files

Parse = Callable[[str], tuple]
_CHUNK = 1 << 22


class LinesReader(Reader):
    """A row for each line that is not empty. Only the places of lines are kept; text is read when asked for."""

    def __init__(self, files: Sequence[str], columns: Sequence[str], parse: Parse, skip: int = 0, keep_empty=False):
        self._files, self.columns, self._parse = list(files), list(columns), parse
        self._spans = [line_spans(path, skip, keep_empty) for path in self._files]
        self.row_files = [(path, len(spans)) for path, spans in zip(self._files, self._spans)]
        self._starts = np.cumsum([0, *self.file_sizes()])

    def __len__(self):
        return int(self._starts[-1])

    def _place(self, index: int) -> tuple[int, int]:
        which = int(np.searchsorted(self._starts, index, side="right")) - 1
        return which, index - int(self._starts[which])

    def row(self, index):
        which, place = self._place(index)
        begin, end = self._spans[which][place]
        with open(self._files[which], "rb") as stream:
            stream.seek(int(begin))
            data = stream.read(int(end - begin))
        if len(data) < end - begin:
            raise RuntimeError(f"Invalid file, {self._files[which]} has been made shorter while it was read.")
        try:
            return self._parse(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise RuntimeError(
                f"Invalid data, Failed to cast to Unicode string: line {place + 1} of {self._files[which]}: {error}"
            ) from None
        except (ValueError, KeyError, IndexError, TypeError, OverflowError) as error:
            raise RuntimeError(
                f"Invalid data, line {place + 1} of {self._files[which]} cannot be read: {error}"
            ) from None


def line_spans(path: str, skip: int = 0, keep_empty: bool = False) -> np.ndarray:
    """Begin and end of every line, without the line end."""
    breaks, returns, size = _line_ends(path)
    begins = np.concatenate([[0], breaks + 1])
    ends = np.concatenate([breaks, [size]])
    ends = ends - (np.isin(ends - 1, returns) & (ends > begins))
    if begins[-1] == size:
        begins, ends = begins[:-1], ends[:-1]
    spans = np.stack([begins, ends], axis=1)[skip:]
    return spans if keep_empty else spans[spans[:, 1] > spans[:, 0]]


def _line_ends(path: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Where line feeds and carriage returns stand, and the size of the file. It is read, not mapped: see FileBytes."""
    breaks, returns, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            data = np.frombuffer(chunk, np.uint8)
            breaks.append(np.flatnonzero(data == 10) + at)
            returns.append(np.flatnonzero(data == 13) + at)
            at += len(chunk)
    return np.concatenate(breaks), np.concatenate(returns), at


def as_text(line: str) -> tuple:
    return (np.array(line),)


class TextFileDataset(FileDataset, TextBaseDataset):
    """A row for each line of text files: column "text".

    ds.TextFileDataset(["a.txt", "b.txt"], shuffle=False)

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("lines.txt").write_text("good day\\ngood night\\n")
        >>> data = ds.TextFileDataset("lines.txt", shuffle=False)
        >>> [str(line) for (line,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        ['good day', 'good night']
    """

    def __init__(self, dataset_files, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None,
                 shard_id=None, cache=None):  # fmt: skip
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_files = find_files(dataset_files)
        opener = functools.partial(LinesReader, self.dataset_files, ["text"], as_text)
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id)
        self._files("TextFileDataset", opener, sampler, {"dataset_files": self.dataset_files})


class FolderDataset(FileDataset, TextBaseDataset):
    """Base of the text data sets that are a folder with one file for each usage."""

    usages: dict[str, str] = {}  # usage -> file name
    op_type = ""

    def __init__(self, dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=True,
                 num_shards=None, shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        if usage is not None:
            check_valid_str(usage, [*self.usages, "all"], "usage")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage or "all"
        params = {"dataset_dir": self.dataset_dir, "usage": self.usage}
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id)
        opener = functools.partial(type(self).open, self.usage_files(), self.usage)
        self._files(self.op_type or type(self).__name__, opener, sampler, params)

    def usage_files(self) -> list[str]:
        names = [name for usage, name in self.usages.items() if self.usage in ("all", usage)]
        return sorted(os.path.join(self.dataset_dir, name) for name in names)

    @classmethod
    def open(cls, files: list[str], usage: str) -> Reader:
        raise NotImplementedError


def check_exist(files: Sequence[str], kind: str) -> None:
    for path in files:
        if not os.path.isfile(path):
            raise RuntimeError(f"Invalid file, failed to open {kind} file: {path} does not exist or cannot be read.")


class _PlainText(FolderDataset):
    @classmethod
    def open(cls, files, usage):
        check_exist(files, cls.__name__)
        return LinesReader(files, ["text"], as_text)


class PennTreebankDataset(_PlainText):
    """Lines of the Penn Treebank: column "text"."""

    usages = {"train": "ptb.train.txt", "test": "ptb.test.txt", "valid": "ptb.valid.txt"}


class WikiTextDataset(_PlainText):
    """Lines of WikiText-2 or WikiText-103: column "text"."""

    usages = {"train": "wiki.train.tokens", "test": "wiki.test.tokens", "valid": "wiki.valid.tokens"}


class EnWik9Dataset(FileDataset, TextBaseDataset):
    """Lines of the first 10^9 bytes of English Wikipedia: column "text"."""

    def __init__(self, dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None,
                 shard_id=None, cache=None):  # fmt: skip
        check_dir(dataset_dir)
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self.dataset_dir = os.fspath(dataset_dir)
        opener = functools.partial(_open_text, [os.path.join(self.dataset_dir, "enwik9")], "EnWik9Dataset")
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id)
        self._files("EnWik9Dataset", opener, sampler, {"dataset_dir": self.dataset_dir})


def _open_text(files: list[str], kind: str) -> Reader:
    check_exist(files, kind)
    return LinesReader(files, ["text"], as_text)


class ListReader(Reader):
    """Rows held in memory, from files of different kinds."""

    def __init__(self, parts: Mapping[str, Sequence[tuple]], columns: Sequence[str]):
        self._rows = [row for part in parts.values() for row in part]
        self.row_files = [(path, len(part)) for path, part in parts.items()]
        self.columns = list(columns)

    def __len__(self):
        return len(self._rows)

    def row(self, index):
        return tuple(np.array(value) for value in self._rows[index])


def text_array(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.str_)
