"""Sources the user writes: GeneratorDataset, NumpySlicesDataset, PaddedDataset."""

from __future__ import annotations

import builtins
import functools
import itertools
import numbers
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from mindspore.dataset._check import as_array, check_bool, check_columns, check_pos_int32, check_type
from mindspore.dataset.api.operations import UnionBaseDataset, check_max_rowsize
from mindspore.dataset.api.schema import Schema, numpy_type
from mindspore.dataset.ir.leaf import MappableNode, Reader, StreamNode, StreamReader
from mindspore.dataset.runtime.collate import stack
from mindspore.dataset.runtime.errors import PipelineError, user_code_error
from mindspore.dataset.samplers import Draw, PKSampler, Sampler
from mindspore.dataset.samplers.sampler import as_index
from mindspore.dataset.sources.source import MappableDataset

_PLACE = "GeneratorDataset failed."


class RowFormat:
    """What a row of user data must look like; turns it into a tuple of arrays."""

    def __init__(self, columns: Sequence[str], types: Sequence[np.dtype | None] | None):
        self.columns, self.types = list(columns), types

    def __call__(self, row: Any) -> tuple:
        values = self._values(row)
        if len(values) != len(self.columns):
            raise user_code_error(
                _PLACE,
                ValueError(
                    "Invalid Python function, the 'source' of 'GeneratorDataset' should return same number of NumPy "
                    f"arrays as specified in column_names, the size of column_names is:{len(self.columns)} and number of "
                    f"returned NumPy array is:{len(values)}"
                ),
            )
        if self.types is not None:
            self._check_types(values, self.types)
        return values

    @staticmethod
    def _values(row: Any) -> tuple:
        cells = row if isinstance(row, (tuple, list)) else (row,)
        values = []
        for place, cell in enumerate(cells, 1):
            value = _dict_arrays(cell) if isinstance(cell, dict) else as_array(cell)
            if type(value).__module__.startswith("PIL."):
                value = np.asarray(value)
            if isinstance(value, np.ndarray) and value.dtype == object:
                item = f"{place}th item of " if cells is row else ""
                raise user_code_error(
                    _PLACE,
                    TypeError(
                        f"Data type of {item}the input or its converted Numpy array is expected to be int "
                        f"or float or str, but got {value.dtype} of {type(cell)}."
                    ),
                )
            values.append(value)
        return tuple(values)

    @staticmethod
    def _check_types(values: tuple, types: Sequence[np.dtype | None]) -> None:
        for value, wanted in zip(values, types):
            same = wanted is None or value.dtype == wanted or (wanted.kind in "US" and value.dtype.kind == wanted.kind)
            if not same:
                raise user_code_error(
                    _PLACE,
                    TypeError(
                        "Invalid Python function, type of returned data in 'GeneratorDataset' should be same with "
                        f"specified column_types, but the type of returned data: {value.dtype}, "
                        f"specified column type: {wanted}"
                    ),
                )


def _dict_arrays(value: Any) -> Any:
    """A dict with arrays for its values; dicts, lists and tuples within keep their form."""
    if isinstance(value, dict):
        return {key: _dict_arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_dict_arrays(item) for item in value])
    return as_array(value)


class GeneratorReader(Reader):
    """Rows of an object with `__getitem__` and `__len__`."""

    releases_gil = False
    samplers_decide = True

    def __init__(self, source: Any, row_format: RowFormat):
        self.source, self.format, self.columns = source, row_format, row_format.columns

    def __len__(self):
        return len(self.source)

    def row(self, index):
        try:
            return self.format(self.source[index])
        except PipelineError:
            raise
        except Exception as error:
            raise user_code_error(f"{_PLACE} (row {index})", error) from error


class CollateReader(GeneratorReader):
    """Batches of rows of such an object: an index is a list of row numbers.

    `collate` is given a list of values for each column.
    """

    def __init__(self, source: Any, row_format: RowFormat, collate: Callable | None):
        super().__init__(source, row_format)
        self.collate = collate

    def row(self, index):
        try:
            rows = [self.source[i] for i in index]
            if self.collate is not None:
                cells = [row if isinstance(row, tuple) else (row,) for row in rows]
                return self.format(self.collate(*map(list, zip(*cells))))
        except Exception as error:
            raise user_code_error(f"{_PLACE} (rows {index})", error) from error
        values = [RowFormat._values(row) for row in rows]
        return self.format(tuple(stack(column, i) for i, column in enumerate(zip(*values))))


class BatchIndexSampler(Sampler):
    """An iterable of lists of row numbers, as a sampler whose every position is a list."""

    def __init__(self, batches: Iterable[Sequence[int]]):
        super().__init__()
        self.given = batches

    def _epoch_positions(self, n, reader):
        batches = [_row_numbers(batch) for batch in self.given]
        order = np.empty(len(batches), dtype=object)
        order[:] = batches
        return order

    def own_length(self, n, reader=None):
        if isinstance(self.given, Sized):
            return len(self.given)
        return len(self.for_run().draw_positions(n, Draw(0, None)))


def _row_numbers(batch: Any) -> list[int]:
    if isinstance(batch, numbers.Number):
        raise RuntimeError(f"Batch sampler should return a list, but got an integer: {batch}.")
    return [as_index(row) for row in batch]


# an iterator of a user's class may begin again in its `__iter__`; these cannot
ONE_WAY = (types.GeneratorType, zip, map, filter, enumerate, builtins.reversed)


class Replay:
    """An iterator whose values can be had again: they are kept as they come, for the epochs that follow."""

    def __init__(self, values: Iterator[Any]):
        self._values, self._kept = values, list[Any]()
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count():
            with self._lock:
                if place == len(self._kept):
                    try:
                        self._kept.append(next(self._values))
                    except StopIteration:
                        return
            yield self._kept[place]

    def __deepcopy__(self, memo: dict) -> Replay:
        return self  # an iterator cannot be copied


class IterableReader(StreamReader):
    """Rows of an iterable, or of the generator a function returns."""

    def __init__(self, source: Any, row_format: RowFormat, num_samples: int | None):
        self.source, self.format, self.num_samples, self.columns = source, row_format, num_samples, row_format.columns

    def rows(self, epoch, rng):
        rows = self._open()
        for number in range(self.num_samples) if self.num_samples else itertools.count():
            try:
                row = next(rows)
            except StopIteration:
                return self._check_length(number)
            except Exception as error:
                raise user_code_error(f"{_PLACE} (row {number})", error) from error
            yield self.format(row)

    def _open(self):
        try:
            return iter(
                self.source() if callable(self.source) and not hasattr(self.source, "__iter__") else self.source
            )
        except Exception as error:
            raise user_code_error(_PLACE, error) from error

    def _check_length(self, count: int) -> None:
        """An iterable that says how long it is must be so: training loops plan with it."""
        if hasattr(self.source, "__len__") and not self.num_samples and count != len(self.source):
            raise user_code_error(
                _PLACE,
                RuntimeError(
                    f"The actual amount of data read from generator {count} is different from generator.len "
                    f"{len(self.source)}, you should adjust generator.len to make them match."
                ),
            )

    def size(self):
        if not hasattr(self.source, "__len__"):
            return None
        size = len(self.source)
        return min(size, self.num_samples) if self.num_samples else size


class GeneratorDataset(MappableDataset, UnionBaseDataset):
    """Rows of the user's own Python: a generator function, an iterable, or an object with `__getitem__` and `__len__`.

    class Squares:
        def __getitem__(self, i): return np.array(i), np.array(i * i)
        def __len__(self): return 10

    data = ds.GeneratorDataset(Squares(), ["x", "y"], shuffle=False)

    Examples:
        >>> def rows():
        ...     for i in range(3):
        ...         yield i, i * i
        >>> data = ds.GeneratorDataset(rows, ["x", "y"], shuffle=False)
        >>> [(int(x), int(y)) for x, y in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [(0, 0), (1, 1), (2, 4)]
    """

    _sampler_and_count = True

    def __init__(
        self,
        source: Any,
        column_names: str | list[str] | None = None,
        column_types: list | None = None,
        schema: Schema | str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: int | list | None = None,
        batch_sampler: Any = None,
        collate_fn: Callable | None = None,
    ):
        if isinstance(source, ONE_WAY):
            source = Replay(source)
        random_access = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        check_source(source, random_access)
        columns = generator_columns(column_names, schema)
        check_bool(python_multiprocessing, "python_multiprocessing")
        check_max_rowsize(max_rowsize)
        check_random_access_options(random_access, sampler, num_shards, shard_id, batch_sampler)
        check_batch_sampler(batch_sampler, collate_fn, num_samples, shuffle, num_shards, sampler)
        check_no_classes(sampler)
        super().__init__(
            num_parallel_workers,
            sampler,
            num_samples,
            shuffle if random_access else None,
            num_shards,
            shard_id,
        )
        self.source, self.column_names, self.column_types = source, columns, column_types
        self.python_multiprocessing = python_multiprocessing
        self.batch_sampler, self.collate_fn = batch_sampler, collate_fn
        row_format = RowFormat(columns, generator_types(column_types, schema, len(columns)))
        options = {"python_multiprocessing": python_multiprocessing, "max_rowsize": max_rowsize}
        if batch_sampler is not None:
            self.sampler = BatchIndexSampler(batch_sampler)
            self._open(MappableNode, functools.partial(CollateReader, source, row_format, collate_fn), **options)
        elif random_access:
            self._open(MappableNode, functools.partial(GeneratorReader, source, row_format), **options)
        else:
            self._open(StreamNode, functools.partial(IterableReader, source, row_format, num_samples))

    def _open(self, kind: type, open_reader: Callable, **options: Any) -> None:
        workers = self.num_parallel_workers or 1
        node: MappableNode | StreamNode
        if kind is MappableNode:
            node = GeneratorNode("GeneratorDataset", open_reader, self.sampler, {}, workers, **options)
        else:
            node = StreamNode("GeneratorDataset", open_reader, {}, workers)
        self._use(node)

    def __getitem__(self, index: int) -> list:
        """Row `index` of the first epoch, without a pipeline."""
        if not isinstance(self._node, MappableNode):
            raise RuntimeError("Dataset don't support randomized access.")
        check_type(index, (int, np.number), "index")
        if index < 0:
            raise RuntimeError(f"Index [{index}] can not be a negative number.")
        return self._row_at(int(index), "Index [{index}] exceeded the number of data samples.")


class GeneratorNode(MappableNode):
    """JSON names no arguments of user code."""

    def batch_size(self):
        return -1 if isinstance(self.sampler, BatchIndexSampler) else 1

    def params(self):
        return self.worker_params()


def check_source(source: Any, random_access: bool) -> None:
    if not callable(source) and not random_access and not hasattr(source, "__iter__"):
        try:
            iter(source)
        except TypeError:
            raise TypeError(
                "Input `source` function of GeneratorDataset should be callable, iterable or random accessible,"
                f" but got {type(source)}."
            ) from None


def generator_columns(column_names: Any, schema: Any) -> list[str]:
    if column_names is not None:
        return check_columns(column_names, "column_names")
    if schema is None:
        raise ValueError("Neither columns_names nor schema are provided.")
    schema = schema if isinstance(schema, Schema) else Schema(schema)
    return [column["name"] for column in schema.columns]


def generator_types(column_types: Any, schema: Any, count: int) -> list[np.dtype | None] | None:
    if column_types is not None:
        check_type(column_types, list, "column_types")
        if len(column_types) != count:
            raise ValueError(f"column_types has {len(column_types)} entries for {count} columns.")
        return [None if entry is None else numpy_type(entry) for entry in column_types]
    if schema is None:
        return None
    schema = schema if isinstance(schema, Schema) else Schema(schema)
    types: list[np.dtype | None] = [numpy_type(column["type"]) for column in schema.columns]
    return types if len(types) == count else None


def check_random_access_options(random_access, sampler, num_shards, shard_id, batch_sampler) -> None:
    if random_access:
        return
    if sampler is not None or batch_sampler is not None:
        name = "sampler" if sampler is not None else "batch_sampler"
        raise ValueError(f"{name} is not supported if source does not have attribute '__getitem__'.")
    if (num_shards is None) != (shard_id is None):
        raise ValueError("num_shards and shard_id need to be passed in together.")
    if num_shards is not None:
        raise ValueError("num_shards is not supported if source does not have attribute '__getitem__'.")


def check_no_classes(sampler: Any) -> None:
    if isinstance(sampler, PKSampler):
        raise ValueError("GeneratorDataset doesn't support PKSampler: its rows have no class that is known beforehand.")


def check_batch_sampler(batch_sampler, collate_fn, num_samples, shuffle, num_shards, sampler) -> None:
    if batch_sampler is None:
        if collate_fn is not None:
            raise ValueError("collate_fn can be specified only when batch_sampler is set.")
        return
    if not hasattr(batch_sampler, "__getitem__") and not hasattr(batch_sampler, "__iter__"):
        raise TypeError("batch_sampler should have __getitem__ or __iter__ method.")
    if any(value is not None for value in (num_samples, shuffle, num_shards, sampler)):
        raise ValueError(
            "batch_sampler is mutually exclusive with num_samples, shuffle, num_shards, shard_id and sampler."
        )
    if collate_fn is not None and not callable(collate_fn):
        raise TypeError("collate_fn should be callable.")


class SlicesReader(Reader):
    """Rows of arrays of equal length. Whole batches are gathered with one indexing operation."""

    samplers_decide = True

    def __init__(self, arrays: Sequence[Any], columns: Sequence[str]):
        self.arrays, self.columns = list(arrays), list(columns)

    def __len__(self):
        return len(self.arrays[0])

    def row(self, index):
        return tuple(np.array(array[index]) for array in self.arrays)

    def gather(self, indices):
        return tuple(array[indices] for array in self.arrays)

    def row_bytes(self):
        return sum(array.nbytes for array in self.arrays) // max(len(self), 1) if self.can_gather() else None

    def can_gather(self):
        return all(isinstance(array, np.ndarray) and array.dtype != object for array in self.arrays)


class NumpySlicesDataset(GeneratorDataset):
    """Rows of lists or arrays: of one, of a tuple of them, or of a dict of them.

    ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)

    Examples:
        >>> data = ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)
        >>> [(int(x), int(y)) for x, y in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [(1, 3), (2, 4)]
    """

    def __init__(
        self,
        data: Any,
        column_names: str | list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ):
        if num_parallel_workers is not None:
            check_pos_int32(num_parallel_workers, "num_parallel_workers")
        names, arrays = slices(data, column_names)
        if sampler is not None and shuffle is not None:
            raise ValueError(
                "Conflicting arguments during sampler assignments. A sampler says all: give no shuffle, "
                f"but got shuffle: {shuffle}."
            )
        if (num_shards is None) != (shard_id is None):
            raise ValueError("num_shards and shard_id need to be passed in together.")
        check_no_classes(sampler)
        MappableDataset.__init__(self, num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        self.column_names = names
        self._open(MappableNode, functools.partial(SlicesReader, arrays, names))


def slices(data: Any, column_names: Any) -> tuple[list[str], list]:
    """Names and arrays of what was given."""
    check_type(data, (list, tuple, dict, np.ndarray), "data")
    if isinstance(data, (list, tuple, dict)) and not len(data):
        raise ValueError("Argument data cannot be empty.")
    if isinstance(data, dict):
        names, parts = list(data), list(data.values())
    elif isinstance(data, tuple):
        names, parts = [f"column_{i}" for i in range(len(data))], list(data)
    else:
        names, parts = ["column_0"], [data]
    if column_names is not None:
        names = check_columns(column_names, "column_names")
        if len(names) != len(parts):
            raise ValueError(
                f"Num of input column names is {len(names)}, but required is {len(parts)}."
                if isinstance(data, tuple)
                else f"column_names has {len(names)} names, but there are {len(parts)} columns."
            )
    arrays = [_column_array(part) for part in parts]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise ValueError(f"Input arrays are not of equal length: {builtins.sorted(lengths)}.")
    return names, arrays


def _column_array(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part
    if not hasattr(part, "__len__"):
        raise TypeError(f"A column of NumpySlicesDataset must be a list or an array, but got {type(part)}.")
    try:
        return (
            np.array([as_array(item) for item in part]) if len(part) and hasattr(part[0], "asnumpy") else np.array(part)
        )
    except ValueError:
        return list(part)  # rows of different shapes


class PaddedDataset(GeneratorDataset):
    """Rows given as a list of dicts, for filling up another data set.

    ds.PaddedDataset([{"x": np.zeros(3)}, {"x": np.ones(3)}])

    Examples:
        >>> data = ds.PaddedDataset([{"x": np.array(1)}, {"x": np.array(2)}])
        >>> data.get_dataset_size()
        2
    """

    def __init__(self, padded_samples: list[dict]):
        check_type(padded_samples, (list, tuple), "padded_samples")
        if not padded_samples:
            raise ValueError("padded_samples cannot be empty.")
        for sample in padded_samples:
            check_type(sample, dict, "padded_sample")
            for name, value in sample.items():
                if not isinstance(value, (np.ndarray, bytes, int, float, str)):
                    raise TypeError(f"padded_samples: the value of {name!r} is of type {type(value)}.")
        first = list(padded_samples[0])
        if any(list(sample) != first for sample in padded_samples):
            raise ValueError("Every sample of padded_samples must have the same columns.")
        self.padded_samples = list(padded_samples)
        rows = [tuple(_padded_value(value) for value in sample.values()) for sample in padded_samples]
        super().__init__(rows, first, num_parallel_workers=None, shuffle=False)


def _padded_value(value: Any) -> np.ndarray:
    return np.frombuffer(value, dtype=np.uint8) if isinstance(value, bytes) else as_array(value)
