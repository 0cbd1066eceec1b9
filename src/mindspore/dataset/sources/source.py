"""Bases of the source data sets, and readers that several families share."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import (
    check_num_parallel_workers,
    check_sampler_shuffle_shard_options,
    check_type,
)
from mindspore.dataset.api.dataset import Dataset
from mindspore.dataset.ir.leaf import MappableNode, Reader, StreamNode, StreamReader
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.samplers import Sampler, Shuffle, select_sampler
from mindspore.dataset.samplers.sampler import check_chain
from mindspore.dataset.settings import settings


class SourceDataset(Dataset):
    """Base of the data sets that stand at the start of a pipeline."""

    def __init__(
        self, num_parallel_workers=None, num_samples=None, shuffle=True, num_shards=None, shard_id=None, cache=None
    ):
        super().__init__(None, num_parallel_workers, cache)
        self.num_samples, self.num_shards, self.shard_id = num_samples, num_shards, shard_id
        self.shuffle_flag = shuffle

    def _stream(self, op_type: str, open_reader: Callable[[], StreamReader], params: dict[str, Any]) -> None:
        shared = {
            "num_samples": self.num_samples or 0,
            "num_shards": self.num_shards or 1,
            "shard_id": self.shard_id or 0,
        }
        self._use(StreamNode(op_type, open_reader, {**params, **shared}, self.num_parallel_workers))


class MappableDataset(SourceDataset):
    """Base of the sources of random access: their rows are chosen by a sampler."""

    _sampler_and_count = False  # row numbers given as `sampler` may be cut to `num_samples`

    def __init__(
        self,
        num_parallel_workers=None,
        sampler=None,
        num_samples=None,
        shuffle=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        check_num_parallel_workers(num_parallel_workers)
        check_sampler_shuffle_shard_options(
            num_samples, shuffle, sampler, num_shards, shard_id, self._sampler_and_count
        )
        if num_samples == 0:
            num_samples = None
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        self._order: tuple[int, Any] | None = None  # a seed and the rows it gives, for `_row_at`
        self.sampler: Sampler = select_sampler(num_samples, sampler, as_flag(shuffle), num_shards, shard_id)

    def _rows(self, op_type: str, open_reader: Callable[[], Reader], params: dict[str, Any], **options: Any) -> None:
        self._use(MappableNode(op_type, open_reader, self.sampler, params, self.num_parallel_workers, **options))

    def use_sampler(self, new_sampler: Sampler) -> MappableDataset:
        """Replace the sampler; its children keep their place."""
        if new_sampler is None:
            raise TypeError("Input sampler can not be None.")
        self.dataset_size = None
        return self._set_sampler(new_sampler, self.sampler.child_sampler)

    def add_sampler(self, new_sampler: Sampler) -> MappableDataset:
        """Let `new_sampler` choose among the rows of the present sampler."""
        self.dataset_size = None
        if isinstance(new_sampler, Sampler):
            check_chain(self.sampler, new_sampler, of_child="current", of_parent="input")
        return self._set_sampler(new_sampler, self.sampler)

    def _set_sampler(self, new_sampler: Sampler, below: Sampler | None) -> MappableDataset:
        if not isinstance(new_sampler, Sampler):
            raise TypeError(f"Input sampler is not an instance of a sampler, but got {type(new_sampler)}.")
        new_sampler.add_child(below)
        self.sampler = new_sampler
        self._order = None
        _source_of(self._node).sampler = new_sampler
        return self

    def _row_at(self, index: int, beyond: str = "") -> list:
        """Row `index` of the first epoch, without a pipeline; `beyond` are the words for an index without a row."""
        node = _source_of(self._node)
        if self._order is None or self._order[0] != settings().seed:
            draw = RunContext().draw(0, node.uid, reader=node.reader)
            self._order = settings().seed, node.sampler.for_run().draw_rows(len(node.reader), draw)
        rows = self._order[1]
        if index >= len(rows):
            beyond = beyond or "Input index is not within the required interval of [0, {last}], but got {index}."
            raise RuntimeError(beyond.format(index=index, last=len(rows) - 1))
        return list(node.reader.row(rows[index]))

    def __deepcopy__(self, memo: dict) -> Dataset:
        twin = super().__deepcopy__(memo)
        # a sampler may be exchanged after copying, so a copy has a node of its own
        twin._node = _with_own_source(self._node)
        return twin


def _source_of(node: Any) -> Any:
    while node.children:
        node = node.children[0]
    return node


def _with_own_source(node: Any) -> Any:
    if not node.children:
        return copy.copy(node)
    return node.with_children(*[_with_own_source(child) for child in node.children])


def as_flag(shuffle: Any) -> bool | None:
    return shuffle if shuffle is None or isinstance(shuffle, bool) else shuffle != Shuffle.FALSE


def read_bytes(path: str) -> np.ndarray:
    """The file's content as an array of bytes."""
    return np.fromfile(path, dtype=np.uint8)


def read_image(path: str, decode: bool) -> np.ndarray:
    """An image file: its bytes, or its pixels in RGB order."""
    data = read_bytes(path)
    if not decode:
        return data
    from mindspore.dataset.sources.images import decode_rgb

    return decode_rgb(data, path)


def image_files(folder: str, extensions: Sequence[str] | None) -> list[str]:
    """Files of a folder (not of its sub-folders) with the given extensions, in order of name."""
    wanted = tuple(extension.lower() for extension in extensions) if extensions else None
    with os.scandir(folder) as entries:
        names = [e.name for e in entries if e.is_file() and (wanted is None or e.name.lower().endswith(wanted))]
    return [os.path.join(folder, name) for name in sorted(names)]


def check_extensions(extensions: Any) -> list[str] | None:
    if extensions is None:
        return None
    check_type(extensions, list, "extensions")
    for extension in extensions:
        check_type(extension, str, "extensions")
    return list(extensions)
