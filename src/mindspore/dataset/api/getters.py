"""What can be asked of a data set: sizes, shapes, types, names. Answered from the tree; where only a row can tell, the
first row is made in the calling thread, without workers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.dataset._check import check_bool
from mindspore.dataset.ir.node import Node, walk
from mindspore.dataset.ir.ops import BatchNode, RepeatNode, ShuffleNode
from mindspore.dataset.runtime.pipeline import count_rows, run_once


class Getters:
    """Mixin of `Dataset`."""

    _node: Node
    children: list
    dataset_size: int | None
    _input_indexs: Any

    def get_dataset_size(self) -> int:
        """Rows (or batches) in one epoch, wherever iteration begins.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2, 3]).batch(2).get_dataset_size()
            2
        """
        if self.dataset_size is None:
            self.dataset_size = self._node.size(count_rows)
        return self.dataset_size or 0

    def get_batch_size(self) -> int:
        """Rows joined in one batch: 1 without a batch, -1 when it changes.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2, 3]).batch(2).get_batch_size()
            2
        """
        return self._node.batch_size() or 1

    def get_repeat_count(self) -> int:
        """The passes in one epoch.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).repeat(3).get_repeat_count()
            3
        """

        counts = [node.count for node in walk(self._node) if isinstance(node, RepeatNode)]
        return math.prod(counts) if counts else 1

    def get_col_names(self) -> list[str]:
        """The names of the columns.

        Examples:
            >>> ds.NumpySlicesDataset({"x": [1], "y": [2]}).get_col_names()
            ['x', 'y']
        """

        columns = self._node.columns()
        if columns is None:  # a flat_map names its columns with its first row
            columns, rows = run_once(self._node)
            next(rows, None)
            rows.close()
        return list(columns)

    def num_classes(self) -> int | None:
        """The number of classes, where the source knows it.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).num_classes() is None
            True
        """

        return self._node.num_classes()

    def get_class_indexing(self) -> dict | list:
        """Class name to number, where the source has names.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2, 3]).get_class_indexing()
            {}
        """
        found = self._node.class_indexing()
        return {} if found is None else found

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """Shape of each column; with `estimate`, None stands where rows differ.

        Examples:
            >>> ds.NumpySlicesDataset(np.zeros((4, 2, 3))).output_shapes()
            [[2, 3]]
        """
        check_bool(estimate, "estimate")
        if not estimate:
            return [_shape_of(value) for value in self._first_row()]
        shapes: list[list[int | None]] | None = None
        for row in run_once(self._node)[1]:
            found: list[list[int | None]] = [_shape_of(value) for value in row]
            shapes = found if shapes is None else [_common(old, new) for old, new in zip(shapes, found)]
        return shapes or []

    def output_types(self) -> list[np.dtype]:
        """NumPy type of each column.

        Examples:
            >>> ds.NumpySlicesDataset(np.zeros((4, 2), np.float32)).output_types()[0] == np.float32
            True
        """
        return [_type_of(value) for value in self._first_row()]

    def _first_row(self) -> tuple:
        rows = run_once(self._node)[1]
        try:
            row = next(rows, None)
        finally:
            rows.close()
        return row or ()

    @property
    def input_indexs(self) -> Any:
        """Positions of the columns a network takes; set by the training loop.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).input_indexs
            ()
        """
        if self._input_indexs != ():
            return self._input_indexs
        for child in self.children:
            if child.input_indexs != ():
                return child.input_indexs
        return self._input_indexs

    @input_indexs.setter
    def input_indexs(self, value: Any) -> None:
        self._input_indexs = value

    def is_shuffled(self) -> bool:
        """True when rows come in random order.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2], shuffle=False).is_shuffled()
            False
        """
        return any(isinstance(node, ShuffleNode) or _random_sampler(node) for node in walk(self._node))

    def is_sharded(self) -> bool:
        """True when only a part of the rows is read here.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2], num_shards=2, shard_id=0).is_sharded()
            True
        """
        return any(_sharded(node) for node in walk(self._node))

    def is_batched(self) -> bool:
        """Whether rows are joined.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).batch(2).is_batched()
            True
        """

        return any(isinstance(node, BatchNode) for node in walk(self._node))


def _random_sampler(node: Node) -> bool:
    sampler = getattr(node, "sampler", None)
    while sampler is not None:
        if getattr(sampler, "shuffle", False) or "Random" in type(sampler).__name__:
            return True
        sampler = sampler.child_sampler
    return bool(getattr(node, "own_params", {}).get("shuffle"))


def _sharded(node: Node) -> bool:
    sampler = getattr(node, "sampler", None)
    while sampler is not None:
        if getattr(sampler, "num_shards", 1) > 1:
            return True
        sampler = sampler.child_sampler
    return (getattr(node, "own_params", {}).get("num_shards") or 1) > 1


def _shape_of(value: Any) -> list[int | None]:
    """A dictionary, which is one Python object, has no elements."""
    return [0] if isinstance(value, dict) else list(np.shape(value))


def _type_of(value: Any) -> np.dtype:
    if isinstance(value, dict):
        return np.dtype(object)
    dtype = np.asarray(value).dtype
    return np.dtype(np.str_) if dtype.kind == "U" else np.dtype(np.bytes_) if dtype.kind == "S" else dtype


def _common(old: list, new: list) -> list:
    if len(old) != len(new):
        raise RuntimeError(
            f"Inconsistent shapes, expect same shape for each data row, but rows differ in rank: {old} and {new}."
        )
    return [a if a == b else None for a, b in zip(old, new)]
