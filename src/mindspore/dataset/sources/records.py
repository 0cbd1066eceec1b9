"""Sources in standard record formats: TFRecordDataset, MindDataset, OBSMindDataset."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset._check import (
    as_array,
    check_bool,
    check_columns,
    check_num_parallel_workers,
    check_shards,
    check_type,
)
from mindspore.dataset.api.operations import UnionBaseDataset
from mindspore.dataset.api.schema import Schema, numpy_type
from mindspore.dataset.ir.leaf import MappableNode, Reader
from mindspore.dataset.samplers import BuiltinSampler, Sampler, Shuffle
from mindspore.dataset.samplers.files import FileSampler, shuffle_mode
from mindspore.dataset.samplers.records import MindRecordSampler, for_records
from mindspore.dataset.sources.source import MappableDataset, SourceDataset


class TableReader(Reader):
    """Rows of a table of named columns (`row(i)` and `gather(indices)` give dicts)."""

    def __init__(self, open_table: Callable[[], Any]):
        self._open_table = open_table
        self._table = open_table()
        self.columns = list(self._table.columns)
        self.row_files = list(zip(self._table.paths, self._table.shard_sizes))

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_table"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._table = self._open_table()

    def __len__(self):
        return len(self._table)

    def row(self, index):
        return tuple(self._table.row(index).values())

    def gather(self, indices):
        if not len(indices):
            return None
        found = self._table.gather(indices)
        return None if found is None else tuple(found.values())

    def labels(self, column="label"):
        return self._table.class_column(column)


class FileNode(MappableNode):
    """A source of rows in files; its JSON holds the shuffle and shard arguments themselves."""

    sampler: FileSampler

    def params(self):
        return {**self.worker_params(), **self.own_params, **self.sampler.source_params()}


class FileDataset(SourceDataset):
    """Base of the sources whose rows stand in files one after the other."""

    def _files(self, op_type: str, open_reader: Callable[[], Reader], sampler: FileSampler, params: dict) -> None:
        sampler.num_readers = self.num_parallel_workers
        self.sampler = sampler
        self._use(FileNode(op_type, open_reader, sampler, params, self.num_parallel_workers))


def find_files(patterns: Any, name: str = "dataset_files") -> list[str]:
    """Files of a path, a list of paths, or patterns; sorted, as they are numbered in that order."""
    given = [patterns] if isinstance(patterns, (str, os.PathLike)) else patterns
    if not isinstance(given, (list, tuple)) or not all(isinstance(item, (str, os.PathLike)) for item in given):
        raise TypeError(f"{name} should be a str or a list of strings, but got {type(patterns)}.")
    found: set[str] = set()
    missing = []
    if not given or not all(given):
        raise ValueError(f"Input {name} can not be empty.")
    for pattern in map(os.fspath, given):
        matches = [pattern] if os.path.isfile(pattern) else [p for p in glob.glob(pattern) if os.path.isfile(p)]
        found.update(matches)
        if not matches:
            missing.append(pattern)
    if missing:
        raise ValueError(f"The following patterns did not match any files: {missing}")
    if not found:
        raise ValueError("The list of path names matching the patterns is empty.")
    return sorted(found)


class TFRecordDataset(FileDataset, UnionBaseDataset):
    """Rows of TFRecord files.

    ds.TFRecordDataset(["a.tfrecord"], schema="schema.json", columns_list=["image", "label"])
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        schema: str | Schema | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ):
        check_num_parallel_workers(num_parallel_workers)
        check_bool(shard_equal_rows, "shard_equal_rows")
        if columns_list is not None:
            check_columns(columns_list, "columns_list")
        if compression_type is not None:
            check_compression(compression_type)
        if schema is not None:
            check_type(schema, (str, os.PathLike, Schema), "schema")
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        files = find_files(dataset_files)
        parsed = schema if schema is None or isinstance(schema, Schema) else Schema(schema)
        if num_samples is None and parsed is not None and parsed.num_rows and num_shards is None:
            num_samples = parsed.num_rows
        sampler = FileSampler(shuffle, num_samples, num_shards, shard_id, by_file=not shard_equal_rows)
        if num_shards is not None and not shard_equal_rows:
            check_enough_files(files, num_shards, compression_type)
            if compression_type:
                sampler.required = num_samples or (parsed.num_rows if parsed is not None else None)
        self.dataset_files, self.schema, self.columns_list = files, schema, columns_list
        opener = functools.partial(open_tfrecords, files, columns_list, table_schema(parsed), compression_type)
        params = {
            "columns_list": columns_list or [],
            "compression_type": compression_type or "",
            "dataset_files": files,
            "shard_equal_rows": shard_equal_rows,
            "shuffle_files": sampler.mode in (Shuffle.GLOBAL, Shuffle.FILES),
            "shuffle_global": sampler.mode is Shuffle.GLOBAL,
        }
        if isinstance(schema, Schema):
            params["schema_json_string"] = schema.to_json()
        else:
            params["schema_file_path"] = "" if schema is None else os.fspath(schema)
        self._files("TFRecordDataset", opener, sampler, params)


def check_compression(compression_type: Any) -> None:
    check_type(compression_type, str, "compression_type")
    if compression_type not in ("", "GZIP", "ZLIB"):
        raise ValueError(
            "Input compression_type can only be either '' (no compression), 'ZLIB', or 'GZIP', but got "
            f"{compression_type!r}."
        )


def check_enough_files(files: Sequence[str], num_shards: int, compression_type: str | None) -> None:
    """Shards that are whole files need at least one each."""
    if len(files) >= num_shards:
        return
    if compression_type:
        raise ValueError(
            "When compression_type is provided, the number of dataset files cannot be less than num_shards, but the "
            f"actual number of files is {len(files)} and actual num_shards is {num_shards}."
        )
    raise RuntimeError(
        f"Invalid file, numbers of tfrecord file should not less than num_shards: {len(files)} files for {num_shards} "
        "shards. Give more files or shard_equal_rows=True."
    )


def table_schema(schema: Schema | None) -> dict[str, tuple[np.dtype, list[int] | None]] | None:
    if schema is None:
        return None
    described = schema.columns
    return {column["name"]: (numpy_type(column["type"]), _column_shape(column)) for column in described}


def _column_shape(column: dict) -> list[int] | None:
    return [] if column.get("rank") == 0 else column.get("shape")


def open_tfrecords(files, columns, schema, compression_type) -> TableReader:
    from mindspore.dataset.sources import tfrecord

    return TableReader(functools.partial(tfrecord.open, files, columns, schema, compression_type or None))


class MindDataset(MappableDataset, UnionBaseDataset):
    """Rows of MindRecord files: of one path and its shards, or of a list of paths.

    ds.MindDataset("data.mindrecord", columns_list=["image", "label"])

    Examples:
        >>> ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False).save("rows.mindrecord")
        >>> data = ds.MindDataset("rows.mindrecord", shuffle=False)
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 2, 3]
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Sampler | None = None,
        padded_sample: dict | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ):
        check_type(dataset_files, (str, list), "dataset_files")
        if columns_list is not None:
            check_columns(columns_list, "columns_list")
        check_padding(padded_sample, num_padded, columns_list, sampler, shuffle, num_shards)
        if sampler is not None and not isinstance(sampler, BuiltinSampler):
            raise ValueError(
                f"The sampler is not supported yet. MindDataset takes the engine's samplers, but got {type(sampler)}."
            )
        plain_shuffle = shuffle if isinstance(shuffle, (bool, type(None))) else None
        if sampler is not None and shuffle is not None and plain_shuffle is None:
            raise RuntimeError("sampler and shuffle cannot be specified at the same time.")
        super().__init__(num_parallel_workers, sampler, num_samples, plain_shuffle, num_shards, shard_id, cache)
        check_record_files(dataset_files)
        self.dataset_files, self.columns_list = dataset_files, columns_list
        if sampler is None:
            self.sampler = MindRecordSampler(shuffle, num_samples, num_shards, shard_id)
        else:
            self.sampler = for_records(self.sampler)
        if padded_sample is not None:
            check_padded_shards(sampler, num_padded)
        opener = functools.partial(open_mindrecords, dataset_files, columns_list, padded_sample, num_padded)
        self._rows("MindDataDataset", opener, {})

    def __getitem__(self, index: int) -> list:
        """Row `index` of the first epoch, without a pipeline."""
        check_type(index, int, "index")
        if index < 0:
            raise ValueError(f"index cannot be negative, but got {index}.")
        return self._row_at(index)

    def _set_sampler(self, new_sampler: Sampler, below: Sampler | None) -> MappableDataset:
        if not isinstance(new_sampler, BuiltinSampler):
            return super()._set_sampler(new_sampler, below)
        return super()._set_sampler(for_records(new_sampler), below)


def check_record_files(files: str | list[str]) -> None:
    for path in [files] if isinstance(files, str) else files:
        check_type(path, str, "dataset_files")
        if not os.path.isfile(path):
            raise ValueError(f"The file {path} does not exist or permission denied!")
        if not os.path.getsize(path):
            raise RuntimeError(f"Invalid file, the size of mindrecord file: {path} is 0.")


def check_padding(padded_sample, num_padded, columns_list, sampler, shuffle, num_shards) -> None:
    if num_padded is not None and padded_sample is None:
        raise RuntimeError("num_padded is specified but padded_sample is not.")
    if padded_sample is None:
        return
    check_type(padded_sample, dict, "padded_sample")
    if num_padded is None:
        raise RuntimeError("padded_sample is specified and requires num_padded as well.")
    if columns_list is None:
        raise RuntimeError("padded_sample is specified and requires columns_list as well.")
    check_type(num_padded, int, "num_padded")
    if num_padded < 0:
        raise ValueError(f"Input num_padded is not within the required interval of [0, 2147483647], got {num_padded}.")
    for column in columns_list:
        if column not in padded_sample:
            raise ValueError(f"padded_sample cannot match columns_list: column {column!r} is missing.")


def check_padded_shards(sampler: Sampler | None, num_padded: int | None) -> None:
    if num_padded and sampler is not None and sampler.child_sampler is not None:
        raise RuntimeError(
            "When the padded sample logic is enabled and use sampler chain,the first sampler which is specified by "
            "parameter sampler or (num_shards, shard_id) is not distributed sampling."
        )


class PaddedTableReader(TableReader):
    """A table with copies of one row behind it."""

    padded = True

    def __init__(self, open_table, sample: dict, count: int):
        super().__init__(open_table)
        types = self._table.column_types
        self._sample = {name: _sample_value(name, sample[name], *types[name]) for name in self.columns}
        self._count = count

    def __len__(self):
        return super().__len__() + self._count

    def row(self, index):
        if index < super().__len__():
            return super().row(index)
        return tuple(np.array(self._sample[name]) for name in self.columns)

    def gather(self, indices):
        return super().gather(indices) if len(indices) and indices.max() < super().__len__() else None

    def file_sizes(self):
        return [*super().file_sizes(), self._count]  # the copies count as a file of their own


def _sample_value(name: str, value: Any, dtype: np.dtype, shape: list[int] | None) -> np.ndarray:
    """The value as rows of the files have it: in the type of the column, and scalar where that is."""
    if dtype.kind == "S":
        return np.array([value if isinstance(value, bytes) else as_array(value).tobytes()])
    array = as_array(value)
    if array.ndim and shape == []:
        raise RuntimeError(
            f"Invalid padded_sample, the value of column: {name} should be string or number but got: "
            f"an array of shape {list(array.shape)}, check 'padded_sample'."
        )
    if (array.dtype.kind == "U") != (dtype.kind == "U"):
        raise RuntimeError(
            f"Invalid padded_sample, the value of column: {name} should be of type {dtype}, but got: {value!r}."
        )
    return array if dtype.kind == "U" else array.astype(dtype)


def open_mindrecords(files: str | Sequence[str], columns, padded_sample, num_padded) -> TableReader:
    from mindspore.dataset.sources import minddataset

    opener = functools.partial(minddataset.open, files, columns)
    if padded_sample is not None and num_padded:
        return PaddedTableReader(opener, padded_sample, num_padded)
    return TableReader(opener)


class OBSMindDataset:
    """MindRecord files on an object store. There is no client for one here, so it only says what to do instead."""

    def __init__(self, dataset_files, server, ak, sk, sync_obs_path, columns_list=None, shuffle=True, num_shards=None,
                 shard_id=None, shard_equal_rows=True):  # fmt: skip
        check_type(dataset_files, list, "dataset_files")
        for path in dataset_files:
            if not isinstance(path, str):
                raise TypeError(f"Item of dataset files is not of type [<class 'str'>], but got {type(path)}.")
        for name, value in {"server": server, "ak": ak, "sk": sk, "sync_obs_path": sync_obs_path}.items():
            check_type(value, str, name)
        if not server.startswith(("http://", "https://")):
            raise ValueError(f"server should be a str that starts with http:// or https://, but got {server}.")
        check_shards(num_shards, shard_id)
        shuffle_mode(shuffle)
        check_bool(shard_equal_rows, "shard_equal_rows")
        raise RuntimeError(
            "OBSMindDataset needs an object store client, which this package does not have: copy the files to a local "
            "folder and read them with MindDataset."
        )
