"""Batches whose make-up depends on the rows: a size that changes, a user function on each batch, buckets by length."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mindspore.dataset._check import as_array
from mindspore.dataset.ir.leaf import Row
from mindspore.dataset.ir.ops import BucketBatchNode
from mindspore.dataset.runtime.collate import collate, lists_of_dicts, pad_to, stack
from mindspore.dataset.runtime.errors import pipeline_error, user_code_error
from mindspore.dataset.runtime.executor import Executor, Inline
from mindspore.dataset.runtime.operators import Operator, drop
from mindspore.dataset.runtime.process import Processes
from mindspore.dataset.runtime.step import PROCESS, BatchMapStep
from mindspore.dataset.settings import settings


class BatchInfo:
    """What a `per_batch_map` or a batch-size function is told: the number of the batch and of the epoch.

    Examples:
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
        >>> data = data.batch(lambda info: info.get_batch_num() + 1)
        >>> data.get_dataset_size()
        2
    """

    def __init__(self, batch_num: int, epoch_num: int):
        self._batch_num, self._epoch_num = batch_num, epoch_num

    def get_batch_num(self) -> int:
        """The number of the batch in its epoch, from 0."""
        return self._batch_num

    def get_epoch_num(self) -> int:
        """The number of the epoch, from 0."""
        return self._epoch_num


class DynamicBatch(Operator):
    def __init__(
        self,
        child: Operator,
        columns: Sequence[str],
        rows: int | Callable[[BatchInfo], int],
        drop_remainder: bool,
        step: BatchMapStep | None,
        pad_info: dict | None,
    ):
        super().__init__(child, columns=columns)
        self.rows, self.drop_remainder, self.step, self.pad_info = rows, drop_remainder, step, pad_info
        self._executor: Executor | None = None

    def stream(self, epoch, start=0):
        return drop(enumerate(self._executor_for().imap(self._groups(epoch))), start)

    def _executor_for(self) -> Executor:
        if self._executor is None:
            function = _BatchFunction(self.step, self.children[0].columns, self.pad_info)
            step = self.step
            inline = settings().debug_mode or self.children[0].waits()
            if step is not None and step.placement == PROCESS and not inline:
                self._executor = Processes(function, step.workers, step.max_rowsize)
            else:
                self._executor = Inline(function)
        return self._executor

    def _groups(self, epoch) -> Iterator[tuple[list[Row], int, int]]:
        pairs = self.children[0].stream(epoch)
        for number in itertools.count():
            size = self._size(BatchInfo(number, self.place(epoch)[0]))
            rows = [row for _, row in itertools.islice(pairs, size)]
            if not rows or (self.drop_remainder and len(rows) < size):
                return
            yield rows, number, self.place(epoch)[0]

    def _size(self, info: BatchInfo) -> int:
        if not callable(self.rows):
            return self.rows
        try:
            size = self.rows(info)
        except Exception as error:
            raise user_code_error("batch operation: [batch_size] failed.", error) from error
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size <= 0:
            raise pipeline_error(
                f"Invalid batch_size function, the returned size must be a positive int, but got {size!r}."
            )
        return int(size)

    def close(self):
        if self._executor is not None:
            self._executor.close()
        super().close()


class _BatchFunction:
    """Group of rows to batch; picklable for worker processes."""

    def __init__(self, step: BatchMapStep | None, columns: Sequence[str], pad_info: dict | None):
        self.step, self.columns, self.pad_info = step, list(columns or ()), pad_info

    def __call__(self, task) -> Row:
        rows, number, epoch = task
        if self.step is None:
            return collate(rows, self.columns, self.pad_info)
        values = self.step.apply([list(column) for column in zip(*rows)], BatchInfo(number, epoch))
        return tuple(self._batched(value, i) for i, value in enumerate(values))

    @staticmethod
    def _batched(value, column: int):
        if isinstance(value, (list, tuple)) and value and not np.isscalar(value[0]):
            if isinstance(value[0], dict):
                return lists_of_dicts(value, column)
            return stack([as_array(item) for item in value], column)
        return as_array(value)

    @staticmethod
    def seed_for(task) -> int:
        _, number, epoch = task
        return (settings().seed * 1000003 + epoch * 8191 + number) & 0xFFFFFFFF


class BucketBatch(Operator):
    """Rows wait in the bucket of their length until it is full."""

    def __init__(self, child: Operator, node: BucketBatchNode):
        super().__init__(child)
        self.node = node
        for name in node.column_names:
            if name not in child.columns:
                raise RuntimeError(f"BucketBatchByLength: Couldn't find the specified column in the dataset: {name}.")
        self.inputs = [child.columns.index(name) for name in node.column_names]

    def stream(self, epoch, start=0):
        return drop(enumerate(self._batches(epoch)), start)

    def _batches(self, epoch) -> Iterator[Row]:
        buckets: list[list[Row]] = [[] for _ in self.node.batch_sizes]
        for _, row in self.children[0].stream(epoch):
            number = int(np.searchsorted(self.node.boundaries, self._length(row), side="right"))
            buckets[number].append(row)
            if len(buckets[number]) == self.node.batch_sizes[number]:
                yield self._batch(buckets[number], number)
                buckets[number] = []
        if not self.node.drop_remainder:
            for number, rows in enumerate(buckets):
                if rows:
                    yield self._batch(rows, number)

    def _length(self, row: Row) -> int:
        values = [row[i] for i in self.inputs]
        if self.node.length_function is None:
            return int(np.asarray(values[0]).shape[0])
        try:
            length = int(np.asarray(self.node.length_function(*values)))
        except Exception as error:
            raise user_code_error("bucket_batch_by_length: [element_length_function] failed.", error) from error
        if length < 0:
            raise pipeline_error(
                f"Invalid element_length_function: it should return a non-negative length, but got {length}."
            )
        return length

    def _batch(self, rows: list[Row], number: int) -> Row:
        columns = self.columns
        if not self.node.pad_to_boundary:
            return collate(rows, columns, self.node.pad_info)
        if number >= len(self.node.boundaries):
            raise pipeline_error(
                "Invalid data, requested to pad to bucket boundary failed: the last bucket has no upper boundary."
            )
        side = self.node.boundaries[number] - 1
        padded = []
        for row in rows:
            cells = []
            for name, value in zip(columns, row):
                shape, fill = (self.node.pad_info or {}).get(name, (None, None))
                if shape is None and (self.node.pad_info or {}).get(name) is None and self.node.pad_info:
                    cells.append(value)
                    continue
                target = shape or [None] * np.asarray(value).ndim
                fixed = [side if want in (None, -1) else want for want in target]
                cells.append(pad_to(np.asarray(value), fixed, fill))
            padded.append(tuple(cells))
        return collate(padded, columns, None)
