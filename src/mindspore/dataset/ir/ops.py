"""Nodes of the operations that change rows or their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.ir.node import Count, Node
from mindspore.dataset.ir.transform import describe_operation
from mindspore.dataset.samplers import DistributedSampler, RandomSampler


class MapNode(Node):
    """Apply operations, one after the other, to some columns of every row."""

    op_type = "Map"

    def __init__(
        self,
        child: Node,
        operations: Sequence[Callable],
        input_columns: Sequence[str],
        output_columns: Sequence[str],
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        callbacks: Sequence = (),
        max_rowsize: int | list | None = None,
        offload: bool | None = None,
    ):
        super().__init__(child, num_parallel_workers=num_parallel_workers)
        self.operations = list(operations)
        self.input_columns = list(input_columns)
        self.output_columns = list(output_columns)
        self.python_multiprocessing = python_multiprocessing
        self.callbacks = list(callbacks)
        self.max_rowsize = max_rowsize
        self.offload = offload
        self._streams: list[tuple[int, int]] | None = None

    def streams(self) -> list[tuple[int, int]]:
        """For each operation what keys its random stream: map and place, as they were before any fusion."""
        return self._streams or [(self.uid, i) for i in range(len(self.operations))]

    def with_operations(self, operations: Sequence[Callable], streams: Sequence[tuple[int, int]]) -> MapNode:
        twin = self.with_children(*self.children)
        twin.operations, twin._streams = list(operations), list(streams)
        return twin

    def inputs(self) -> list[str] | None:
        """Input columns; by default the first one."""
        if self.input_columns:
            return self.input_columns
        below = self.children[0].columns()
        return below[:1] if below else below

    def outputs(self) -> list[str] | None:
        return self.output_columns or self.inputs()

    def columns(self) -> list[str] | None:
        below, inputs, outputs = self.children[0].columns(), self.inputs(), self.outputs()
        if below is None or inputs is None or outputs is None:
            return None
        return map_columns(below, inputs, outputs)

    def params(self) -> dict[str, Any]:
        return {
            **self.worker_params(),
            "callback": [type(callback).__name__ for callback in self.callbacks],
            "input_columns": self.input_columns,
            "output_columns": self.output_columns or self.input_columns,
            "operations": [describe_operation(operation) for operation in self.operations],
        }


def map_columns(below: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Columns after a map: as many outputs as inputs stand in place; otherwise outputs come first, then the rest."""
    missing = [name for name in inputs if name not in below]
    if missing:
        raise RuntimeError(
            f"Invalid parameter, input column name: {missing[0]} doesn't exist in the dataset columns: {list(below)}."
        )
    if len(inputs) == len(outputs):
        renamed = dict(zip(inputs, outputs))
        return [renamed.get(name, name) for name in below]
    return list(outputs) + [name for name in below if name not in inputs]


class FilterNode(Node):
    op_type = "Filter"

    def __init__(self, child: Node, predicate: Callable, input_columns: Sequence[str], num_parallel_workers=None):
        super().__init__(child, num_parallel_workers=num_parallel_workers)
        self.predicate = predicate
        self.input_columns = list(input_columns)

    def size(self, count: Count = None) -> int | None:
        return count(self) if count else None

    def params(self) -> dict[str, Any]:
        return {**self.worker_params(), "input_columns": self.input_columns, "predicate": "pyfunc"}


class BatchNode(Node):
    op_type = "Batch"

    def __init__(
        self,
        child: Node,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable | None = None,
        input_columns: Sequence[str] = (),
        output_columns: Sequence[str] = (),
        python_multiprocessing: bool = False,
        max_rowsize: int | list | None = None,
        pad_info: dict | None = None,
    ):
        super().__init__(child, num_parallel_workers=num_parallel_workers)
        self.rows = batch_size
        self.drop_remainder = drop_remainder
        self.per_batch_map = per_batch_map
        self.input_columns = list(input_columns)
        self.output_columns = list(output_columns)
        self.python_multiprocessing = python_multiprocessing
        self.max_rowsize = max_rowsize
        self.pad_info = pad_info

    def columns(self) -> list[str] | None:
        below = self.children[0].columns()
        if below is None or self.per_batch_map is None or not self.output_columns:
            return below
        return map_columns(below, self.input_columns or below, self.output_columns)

    def size(self, count: Count = None) -> int | None:
        rows = self.children[0].size(count)
        if callable(self.rows):
            return count(self) if count else None
        if rows is None:
            return None
        return rows // self.rows if self.drop_remainder else math.ceil(rows / self.rows)

    def batch_size(self) -> int | None:
        return -1 if callable(self.rows) else self.rows

    def params(self) -> dict[str, Any]:
        parameters = {
            **self.worker_params(),
            "batch_size": -1 if callable(self.rows) else self.rows,
            "drop_remainder": self.drop_remainder,
            "input_columns": self.input_columns,
            "output_columns": self.output_columns,
        }
        if self.per_batch_map is not None:
            parameters["per_batch_map"] = "pyfunc"
        return parameters


class PaddedBatchNode(BatchNode):
    """A batch whose rows are padded to one shape first."""

    op_type = "PaddedBatch"

    def params(self) -> dict[str, Any]:
        return {**super().params(), "pad_info": _plain_padding(self.pad_info or {})}


class BucketBatchNode(Node):
    """Batches of rows of like length."""

    op_type = "BucketBatchByLength"

    def __init__(
        self, child, column_names, boundaries, batch_sizes, length_function, pad_info, pad_to_boundary, drop_remainder
    ):
        super().__init__(child)
        self.column_names = list(column_names)
        self.boundaries = list(boundaries)
        self.batch_sizes = list(batch_sizes)
        self.length_function = length_function
        self.pad_info = pad_info
        self.pad_to_boundary = pad_to_boundary
        self.drop_remainder = drop_remainder

    def size(self, count: Count = None) -> int | None:
        return count(self) if count else None

    def params(self) -> dict[str, Any]:
        parameters = {
            "length_dependent_columns": self.column_names,
            "bucket_boundaries": self.boundaries,
            "bucket_batch_sizes": self.batch_sizes,
            "pad_to_bucket_boundary": self.pad_to_boundary,
            "drop_remainder": self.drop_remainder,
        }
        if self.length_function is not None:
            parameters["element_length_function"] = "pyfunc"
        if self.pad_info is not None:
            parameters["pad_info"] = _plain_padding(self.pad_info)
        return parameters


def _plain_padding(pad_info: dict) -> dict[str, Any]:
    """Shapes and fill values as JSON can hold them; None for a column that is left alone."""
    return {name: None if entry is None else _plain_entry(*entry) for name, entry in pad_info.items()}


def _plain_entry(shape: Sequence[int | None] | None, fill: Any) -> list:
    return [None if shape is None else list(shape), fill.tolist() if isinstance(fill, (np.generic, np.ndarray)) else fill]


class ShuffleNode(Node):
    op_type = "Shuffle"

    def __init__(self, child: Node, buffer_size: int, reset_each_epoch: bool = True):
        super().__init__(child)
        self.buffer_size = buffer_size
        self.reset_each_epoch = reset_each_epoch
        self.seed: int | None = None  # fixed by `split`, whose parts must agree on one order

    def params(self) -> dict[str, Any]:
        return {"buffer_size": self.buffer_size, "reset_each_epoch": self.reset_each_epoch}


class _CountNode(Node):
    """Skip, Take and Repeat: one number."""

    def __init__(self, child: Node, count: int):
        super().__init__(child)
        self.count = count

    def params(self) -> dict[str, Any]:
        return {"count": self.count}


class SkipNode(_CountNode):
    op_type = "Skip"

    def size(self, count: Count = None) -> int | None:
        rows = self.children[0].size(count)
        return None if rows is None else max(rows - self.count, 0)


class TakeNode(_CountNode):
    op_type = "Take"

    def size(self, count: Count = None) -> int | None:
        rows = self.children[0].size(count)
        if rows is None or self.count == -1:
            return rows
        return min(rows, self.count)


class RepeatNode(_CountNode):
    """`count` passes over the child; -1 never ends."""

    op_type = "Repeat"

    def size(self, count: Count = None) -> int | None:
        rows = self.children[0].size(count)
        if rows is None:
            return None
        return rows if self.count == -1 else rows * self.count

    def repeat_count(self) -> int:
        return self.children[0].repeat_count() * self.count


class ProjectNode(Node):
    op_type = "Project"

    def __init__(self, child: Node, names: Sequence[str]):
        super().__init__(child)
        self.names = list(names)

    def columns(self) -> list[str]:
        below = self.children[0].columns()
        for name in self.names:
            if below is not None and name not in below:
                raise RuntimeError(f"Invalid column, column name: {name} does not exist. Columns: {below}.")
        return self.names

    def params(self) -> dict[str, Any]:
        return {"columns": self.names}


class RenameNode(Node):
    op_type = "Rename"

    def __init__(self, child: Node, input_columns: Sequence[str], output_columns: Sequence[str]):
        super().__init__(child)
        self.input_columns = list(input_columns)
        self.output_columns = list(output_columns)

    def columns(self) -> list[str] | None:
        below = self.children[0].columns()
        if below is None:
            return None
        for name in self.input_columns:
            if name not in below:
                raise RuntimeError(f"Invalid parameter, rename input column: {name} doesn't exist. Columns: {below}.")
        renamed = dict(zip(self.input_columns, self.output_columns))
        return [renamed.get(name, name) for name in below]

    def params(self) -> dict[str, Any]:
        return {"input_columns": self.input_columns, "output_columns": self.output_columns}


class ZipNode(Node):
    """Rows side by side; ends with the shortest child."""

    op_type = "Zip"

    def columns(self) -> list[str] | None:
        names: list[str] = []
        for child in self.children:
            below = child.columns()
            if below is None:
                return None
            names += below
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise RuntimeError(
                f"Invalid parameter, key: {sorted(repeated)[0]} already exists when zipping datasets."
                " Check for duplicate column names in the datasets to be zipped."
            )
        return names

    def size(self, count: Count = None) -> int | None:
        sizes = [child.size(count) for child in self.children]
        known = [size for size in sizes if size is not None]
        return min(known) if len(known) == len(sizes) else None

    def batch_size(self) -> int | None:
        return next((size for size in (child.batch_size() for child in self.children) if size), None)

    def num_classes(self) -> int | None:
        return next((count for count in (child.num_classes() for child in self.children) if count), None)


class ConcatNode(Node):
    """Rows of one child after the other; a sampler takes one shard of them, or mixes the children."""

    op_type = "Concat"

    def __init__(self, *children: Node, sampler: Any = None):
        super().__init__(*children)
        self.sampler = sampler

    def size(self, count: Count = None) -> int | None:
        sizes = [child.size(count) for child in self.children]
        known = [size for size in sizes if size is not None]
        if len(known) != len(sizes):
            return None
        first, step = self.shard()
        return len(range(first, sum(known), step))

    def shard(self) -> tuple[int, int]:
        """The first row that is taken, and the distance to the next. Shards are not filled up."""
        if isinstance(self.sampler, DistributedSampler):
            return self.sampler.shard_id, self.sampler.num_shards
        return 0, 1

    def mixed(self) -> bool:
        return isinstance(self.sampler, RandomSampler)

    def num_classes(self) -> int | None:
        counts = [child.num_classes() for child in self.children]
        return max((count for count in counts if count), default=None)

    def params(self) -> dict[str, Any]:
        return {} if self.sampler is None else {"sampler": self.sampler.to_json()}


class FlatMapNode(Node):
    """Each row becomes a data set of its own; their rows follow one another."""

    op_type = "FlatMap"

    def __init__(self, child: Node, function: Callable):
        super().__init__(child)
        self.function = function

    def columns(self) -> list[str] | None:
        return None

    def size(self, count: Count = None) -> int | None:
        return count(self) if count else None


class SyncWaitNode(Node):
    """Stop after `num_batch` rows until the training side notifies the condition."""

    op_type = "SyncWait"

    def __init__(self, child: Node, condition: Any):
        super().__init__(child)
        self.condition = condition
        self.rows_per_batch = 1  # set by the batch above it when operators are built: `num_batch` counts batches

    def params(self) -> dict[str, Any]:
        parameters = {"condition_name": self.condition.name, "num_batch": self.condition.num_batch}
        if self.condition.callback is not None:
            parameters["callback"] = "pyfunc"
        return parameters


class CacheNode(Node):
    """Keep the child's rows after the first pass; only stands where a cache was asked for."""

    op_type = "Cache"

    def __init__(self, child: Node, cache: Any):
        super().__init__(child)
        self.cache = cache

    def params(self) -> dict[str, Any]:
        return {"session_id": self.cache.session_id, "size": self.cache.size, "spilling": self.cache.spilling}


class TransferNode(Node):
    op_type = "Transfer"

    def __init__(self, child: Node, queue_name: str, send_epoch_end: bool, create_data_info_queue: bool):
        super().__init__(child)
        self.queue_name = queue_name
        self.send_epoch_end = send_epoch_end
        self.create_data_info_queue = create_data_info_queue

    def params(self) -> dict[str, Any]:
        return {"queue_name": self.queue_name, "send_epoch_end": self.send_epoch_end}
