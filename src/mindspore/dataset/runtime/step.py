"""Steps: the stateless work done on a run of rows, in whichever thread or process.

A step takes the keys (positions in the source's epoch) and rows of one task and gives keys and rows. Steps chain inside
a worker, so that a row is loaded, transformed and written into its batch without leaving it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence

import numpy as np

from mindspore.dataset._check import as_array
from mindspore.dataset.ir.leaf import Reader, Row
from mindspore.dataset.ir.transform import is_random, operation_name, releases_gil
from mindspore.dataset.runtime.collate import collate
from mindspore.dataset.runtime.errors import RowFailure, pipeline_error, user_code_error
from mindspore.dataset.runtime.pixel_table import PixelTable, Place, table_start
from mindspore.dataset.runtime.rng import RowRandom
from mindspore.dataset.runtime.room import BatchRoom, BlockPool
from mindspore.dataset.settings import ErrorSamplesMode, settings

ANY, CALLER, THREAD, PROCESS = "any", "caller", "thread", "process"
Keys = Sequence[int]
FAILED: Row = ()  # what a map gives for a row that it failed on: a row without columns


class Step:
    """One piece of work. `placement` says where it may run."""

    placement = ANY
    workers = 1
    max_rowsize: int | list | None = None  # MiB of shared memory a row may need in worker processes
    one_to_one = True  # as many rows out as in, in the same order

    def run(self, epoch: int, keys: Keys, rows: Sequence) -> tuple[Keys, Sequence[Row]]:
        raise NotImplementedError

    def describe(self) -> str:
        """A few words for `ds.explain`."""
        return type(self).__name__.removesuffix("Step").lower()


def run_steps(
    steps: Sequence[Step], epoch: int, keys: Keys, rows: Sequence, path_of: Callable[[int], str | None] | None = None
) -> tuple[Keys, Sequence[Row]]:
    """All steps on one task. A failure names the row's file, found from the row's number or by `path_of` its key."""
    first_keys, first_rows = keys, rows
    try:
        watch = settings().stopwatch
        for step in steps:
            keys, rows = step.run(epoch, keys, rows) if watch is None else watch.timed(step, epoch, keys, rows)
    except RowFailure as failure:
        path = path_of(failure.key) if path_of is not None else None
        if path is None and isinstance(steps[0], LoadStep):
            index = dict(zip((int(key) for key in first_keys), first_rows))[failure.key]
            path = steps[0].reader.path(index)
        raise failure.describe(path) from failure.error
    return keys, rows


class LoadStep(Step):
    """Row numbers become rows."""

    def __init__(self, reader: Reader, workers: int, placement: str):
        self.reader, self.workers, self.placement = reader, workers, placement

    def run(self, epoch, keys, rows):
        load = self.reader.row
        try:
            return keys, [load(index) for index in (rows.tolist() if isinstance(rows, np.ndarray) else rows)]
        except OSError as error:
            if error.filename is None:
                raise
            raise pipeline_error(f"Failed to open file: {error.filename}: {error.strerror}.") from error


class PickStep(Step):
    """Keep some columns, in a new order."""

    def __init__(self, positions: Sequence[int]):
        self.positions = list(positions)

    def run(self, epoch, keys, rows):
        positions = self.positions
        return keys, [tuple(row[i] for i in positions) for row in rows]


class MapStep(Step):
    """Operations on some columns of each row."""

    def __init__(self, operations, inputs, layout, n_outputs, seed, streams, workers, placement):
        self.operations = list(operations)
        self.inputs = list(inputs)  # positions of the input columns
        self.layout = layout  # for each result column: ("out", i) or ("in", i)
        self.n_outputs = n_outputs
        self.seed, self.streams = seed, list(streams)
        self.workers, self.placement = workers, placement
        self.error_mode = settings().error_samples_mode
        self.hooks = settings().debug_hooks if settings().debug_mode else []
        self.one_to_one = self.error_mode != ErrorSamplesMode.SKIP
        plain = "pixel_tables" not in settings().disabled_rules and not self.hooks and len(self.inputs) == 1
        self._table_start = table_start(self.operations) if plain else len(self.operations)
        self._table = PixelTable(self.operations[self._table_start :])
        self._local = threading.local()

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key != "_local"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._local = threading.local()

    def _thread_operations(self):
        """(operation, its random streams or None): random operations hold a generator, so each thread has its own."""
        found = getattr(self._local, "operations", None)
        if found is None:
            found = [
                (copy.deepcopy(op), RowRandom(self.seed, (uid << 20) + place)) if is_random(op) else (op, None)
                for op, (uid, place) in zip(self.operations, self.streams)
            ]
            self._local.operations = found
        return found

    def describe(self):
        names = [getattr(operation, "__name__", type(operation).__name__) for operation in self.operations]
        tables = names[self._table_start :]
        return ", ".join(names[: self._table_start] + ([f"table({', '.join(tables)})"] if tables else []))

    @property
    def writes_rows(self) -> bool:
        """Whether results can be written to a place that the caller names."""
        return self._table_start < len(self.operations) and self.error_mode == ErrorSamplesMode.RETURN

    def run(self, epoch, keys, rows, place: Place = np.empty):
        operations = self._thread_operations()
        if self.error_mode == ErrorSamplesMode.RETURN:
            return keys, [self.map_row(operations, epoch, key, row, place) for key, row in zip(keys, rows)]
        return self._run_tolerant(operations, epoch, keys, rows)

    def run_one(self, epoch: int, key: int, row: Row) -> Row:
        return self.map_row(self._thread_operations(), epoch, key, row)

    def map_row(self, operations, epoch: int, key: int, row: Row, place: Place = np.empty) -> Row:
        args = tuple(row[i] for i in self.inputs)
        previous = None
        for number, (operation, streams) in enumerate(operations):
            if number == self._table_start and self._table.fits(args[0]):
                args = (self._table.apply(args[0], place),)
                break
            if streams is not None:
                operation.set_rng(streams.at(epoch, int(key)))
            for hook in self.hooks:
                args = hook.step(args, previous, operation)
            try:
                result = operation(*args)
            except Exception as error:
                raise RowFailure(operation, error, int(key)) from error
            args = result if isinstance(result, tuple) else (result,)
            previous = operation
        for hook in self.hooks:
            args = hook.step(args, previous, None)
        if len(args) != self.n_outputs:
            raise pipeline_error(
                "Invalid columns, the number of columns returned in 'map' operations should match the number of "
                f"'output_columns', but got the number of columns returned in 'map' operations: {len(args)}, "
                f"the number of 'output_columns': {self.n_outputs}."
            )
        outputs = [self._finish(value, operations[-1][0], key) for value in args]
        return tuple(outputs[i] if kind == "out" else row[i] for kind, i in self.layout)

    @staticmethod
    def _finish(value, operation, key):
        if type(value) is np.ndarray and value.dtype != object:
            return value
        value = as_array(value)
        if type(value).__module__.startswith("PIL."):
            return np.asarray(value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            raise pipeline_error(
                f"map operation: [{operation_name(operation)}] failed. (row {key}) Invalid data type: the returned "
                f"value cannot become a numeric or string array: {value!r:.200}"
            )
        return value

    def _run_tolerant(self, operations, epoch, keys, rows):
        """Failed rows are left out, or marked, so that `replace.py` puts others in their places."""
        kept: list[tuple[int, Row]] = []
        for key, row in zip(keys, rows):
            try:
                kept.append((key, self.map_row(operations, epoch, key, row)))
            except RowFailure:
                if self.error_mode == ErrorSamplesMode.REPLACE:
                    kept.append((key, FAILED))
        return [key for key, _ in kept], [row for _, row in kept]


class CachedSteps(Step):
    """Steps whose results are kept by row number, so that each row is made once."""

    def __init__(self, steps: Sequence[Step], cache):
        self.steps, self.cache = list(steps), cache
        self.workers = max(step.workers for step in steps)
        self.placement = THREAD if all(step.placement in (ANY, THREAD) for step in steps) else CALLER

    def describe(self):
        return f"cached({' -> '.join(step.describe() for step in self.steps)})"

    def run(self, epoch, keys, rows):
        indices = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
        made = []
        for key, index in zip(keys, indices):
            row = self.cache.get(index)
            if row is None:
                row = run_steps(self.steps, epoch, [key], [index])[1][0]
                self.cache.put(index, row)
            made.append(tuple(np.array(value) if isinstance(value, np.ndarray) else value for value in row))
        return keys, made


class CollateStep(Step):
    """All rows of the task become one batch."""

    def __init__(self, columns: Sequence[str], pad_info: dict | None = None):
        self.columns, self.pad_info = list(columns), pad_info

    def describe(self):
        return "batch" if self.pad_info is None else "padded batch"

    def run(self, epoch, keys, rows):
        if not rows:
            return [], []
        return [keys[0]], [collate(rows, self.columns, self.pad_info)]


class BatchStep(Step):
    """A map whose results are written straight into the batch, and the batch made of them."""

    def __init__(self, map_step: MapStep, collate: CollateStep):
        self._map, self._collate, self._pool = map_step, collate, BlockPool()
        self.placement, self.workers, self.max_rowsize = map_step.placement, map_step.workers, map_step.max_rowsize

    def describe(self):
        return f"{self._map.describe()} -> batch in place"

    def run(self, epoch, keys, rows):
        room = BatchRoom(len(rows), self._pool)
        keys, rows = self._map.run(epoch, keys, rows, room)
        return [keys[0]], [collate(rows, self._collate.columns, room=room)]


def batching(steps: Sequence[Step], collate: CollateStep) -> list[Step]:
    """`steps` and then `collate`, joined where the last of them can write into the batch."""
    last = steps[-1] if steps else None
    if isinstance(last, MapStep) and last.writes_rows and collate.pad_info is None:
        return [*steps[:-1], BatchStep(last, collate)]
    return [*steps, collate]


class VectorStep(Step):
    """Load, transform and batch in one go, on whole arrays: for sources that can gather and operations with a
    `batched` form."""

    def __init__(self, load: LoadStep, steps: Sequence[Step], collate: CollateStep):
        self.load, self.steps, self.collate = load, list(steps), collate
        self.placement, self.workers = load.placement, load.workers

    def describe(self):
        return " -> ".join(["whole batches: load", *(step.describe() for step in self.steps)])

    def run(self, epoch, keys, rows):
        columns = self.load.reader.gather(np.asarray(rows))
        if columns is None:  # rows of different shapes: one by one
            return run_steps([self.load, *self.steps, self.collate], epoch, keys, rows)
        for step in self.steps:
            if isinstance(step, PickStep):
                columns = tuple(columns[i] for i in step.positions)
                continue
            assert isinstance(step, MapStep)  # `vectorised` has seen to it
            values = tuple(columns[i] for i in step.inputs)
            for operation in step.operations:
                try:
                    result = operation.batched(*values)
                except Exception as error:
                    raise RowFailure(operation, error, int(keys[0])) from error
                values = result if isinstance(result, tuple) else (result,)
            columns = tuple(values[i] if kind == "out" else columns[i] for kind, i in step.layout)
        return [keys[0]], [columns]


def vectorised(steps: Sequence[Step], collate: CollateStep) -> VectorStep | None:
    """One VectorStep for `steps`, when every one of them can work on whole arrays."""
    if (
        not steps
        or not isinstance(steps[0], LoadStep)
        or not steps[0].reader.can_gather()
        or collate.pad_info is not None
    ):
        return None
    for step in steps[1:]:
        if isinstance(step, PickStep):
            continue
        if not isinstance(step, MapStep) or step.error_mode != ErrorSamplesMode.RETURN or step.hooks:
            return None
        if any(not hasattr(op, "batched") or is_random(op) for op in step.operations):
            return None
    return VectorStep(steps[0], steps[1:], collate)


def map_placement(operations: Sequence[Callable], python_multiprocessing: bool) -> str:
    if python_multiprocessing:
        return PROCESS
    return THREAD if all(releases_gil(operation) for operation in operations) else CALLER


class BatchMapStep(Step):
    """The user's `per_batch_map` on some columns of a batch given as lists of rows."""

    def __init__(self, function, inputs, layout, names, workers, placement):
        self.function, self.inputs, self.layout, self.names = function, list(inputs), layout, list(names)
        self.workers, self.placement = workers, placement

    def apply(self, columns: Sequence[list], info) -> Row:
        """`columns`: for each column the list of its rows."""
        try:
            result = self.function(*[columns[i] for i in self.inputs], info)
        except Exception as error:
            raise user_code_error("batch operation: [per_batch_map] failed.", error) from error
        outputs = result if isinstance(result, tuple) else (result,)
        if len(outputs) != len(self.names):
            raise pipeline_error(
                "Invalid columns, the number of columns returned in 'per_batch_map' function should be "
                f"{len(self.names)}, but got: {len(outputs)}."
            )
        check_batch_outputs(outputs, self.names, len(columns[0]) if columns else 0)
        return tuple(outputs[i] if kind == "out" else columns[i] for kind, i in self.layout)


def check_batch_outputs(outputs: Sequence, names: Sequence[str], rows: int) -> None:
    """A column is a list with a value for each row, or a whole batch: an array or a dict. Dicts go with batches alone."""
    of_dicts = any(isinstance(value, list) and value and isinstance(value[0], dict) for value in outputs)
    single = any(isinstance(value, dict) for value in outputs)
    for name, value in zip(names, outputs):
        if single and not isinstance(value, (dict, np.ndarray)):
            raise pipeline_error(
                f"Invalid data, mismatched types returned from per_batch_map: where one column is a dict, column {name} "
                f"must be a dict or a NumPy array, but got {type(value)}."
            )
        counted = isinstance(value, (list, tuple)) or (of_dicts and isinstance(value, np.ndarray))
        if counted and len(value) != rows:
            raise pipeline_error(
                f"Invalid data, column: {name} expects: {rows} rows returned from 'per_batch_map', got: {len(value)}"
            )
