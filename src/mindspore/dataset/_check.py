"""Checks of arguments, shared by every public class of `mindspore.dataset`.

The wording is the one users already meet (and match on) in MindSpore programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

INT32_MAX = 2147483647
INT32_MIN = -2147483648
UINT32_MAX = 4294967295
INT64_MAX = 9223372036854775807


def check_type(value: object, types: type | tuple[type, ...], name: str) -> None:
    """`value` must be an instance of one of `types`; a bool never passes for an int."""
    types = types if isinstance(types, tuple) else (types,)
    wrong_bool = isinstance(value, bool) and bool not in types and int in types
    if wrong_bool or not isinstance(value, types):
        shown = '""' if isinstance(value, str) and not value else value  # nothing would be nothing to see
        raise TypeError(f"Argument {name} with value {shown!s} is not of type {list(types)}, but got {type(value)}.")


def check_range(value: Any, low: float, high: float, name: str) -> None:
    if not low <= value <= high:
        raise ValueError(f"Input {name} is not within the required interval of [{low}, {high}].")


def check_pos_int32(value: Any, name: str) -> None:
    check_type(value, int, name)
    check_range(value, 1, INT32_MAX, name)


def check_non_negative_int32(value: Any, name: str) -> None:
    check_type(value, int, name)
    check_range(value, 0, INT32_MAX, name)


def check_bool(value: Any, name: str) -> None:
    check_type(value, bool, name)


def worker_limit() -> int:
    """Most workers one operation may have: a script written on a large machine still runs on a small one."""
    return max(64, os.cpu_count() or 1)


def check_num_parallel_workers(value: Any) -> None:
    if value is None:
        return
    check_type(value, int, "num_parallel_workers")
    if not 1 <= value <= worker_limit():
        raise ValueError(f"num_parallel_workers exceeds the boundary between 1 and {worker_limit()}! Given {value}.")


def check_columns(columns: Any, name: str) -> list[str]:
    """A column name or a list of distinct, non-empty column names; returns the list."""
    check_type(columns, (list, str), name)
    if isinstance(columns, str):
        if not columns:
            raise ValueError(f"{name} should not be an empty str.")
        return [columns]
    if not columns:
        raise ValueError(f"{name} should not be empty")
    for i, column in enumerate(columns):
        check_type(column, str, f"{name}[{i}]")
        if not column:
            raise ValueError(f"{name}[{i}] should not be an empty str.")
    if len(set(columns)) != len(columns):
        raise ValueError(f"Every column name should not be same with others in {name}.")
    return list(columns)


def check_dir(path: Any) -> str:
    check_type(path, (str, os.PathLike), "dataset_dir")
    path = os.fspath(path)
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        raise ValueError(f"The folder {path} does not exist or is not a directory or permission denied!")
    return path


def check_file(path: Any) -> str:
    path = os.fspath(path)
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise ValueError(f"The file {path} does not exist or permission denied!")
    return path


def check_decrypt(function: Any) -> None:
    if function is not None and not callable(function):
        raise TypeError(f"Argument decrypt is not a callable object, but got {type(function)}")


def check_valid_str(value: Any, allowed: Iterable[str], name: str) -> None:
    check_type(value, str, name)
    allowed = list(allowed)
    if value not in allowed:
        raise ValueError(f"Input {name} is not within the valid set of {allowed}.")


def check_positive_float(value: Any, name: str) -> None:
    check_type(value, (int, float), name)
    if value <= 0:
        raise ValueError(f"Input {name} is not within the required interval of (0, inf).")


def check_sampler_shuffle_shard_options(
    num_samples, shuffle, sampler, num_shards, shard_id, sampler_and_count: bool = False
) -> None:
    """The ways of choosing rows exclude each other: a sampler, or shuffle and shards.

    `sampler_and_count`: row numbers that a user gives may be cut to `num_samples`.
    """
    check_shards(num_shards, shard_id)
    if num_samples is not None:
        check_num_samples(num_samples)
    if shuffle is not None and not hasattr(shuffle, "value"):
        check_bool(shuffle, "shuffle")
    if sampler is None:
        return
    if shuffle is not None:
        raise RuntimeError("sampler and shuffle cannot be specified at the same time.")
    if num_shards is not None:
        raise RuntimeError("sampler and sharding cannot be specified at the same time.")
    if num_samples is not None and not sampler_and_count:
        raise RuntimeError("sampler and num_samples cannot be specified at the same time.")


def check_num_samples(num_samples: Any) -> None:
    if num_samples is None:
        return
    check_type(num_samples, int, "num_samples")
    if not 0 <= num_samples <= INT64_MAX:
        raise ValueError(f"num_samples exceeds the boundary between 0 and {INT64_MAX}(INT64_MAX)! Given {num_samples}.")


def check_shards(num_shards, shard_id) -> None:
    if shard_id is not None:
        check_type(shard_id, int, "shard_id")
    if num_shards is not None:
        check_pos_int32(num_shards, "num_shards")
        if shard_id is None:
            raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
        check_range(shard_id, 0, num_shards - 1, "shard_id")
    elif shard_id is not None:
        raise RuntimeError("shard_id is specified but num_shards is not.")


def as_list(value: Any) -> list:
    """A list of what was given: nothing, one thing, or several."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value]


def as_array(value: Any) -> Any:
    """The NumPy form of what user code returned. Dicts and images stay as they are."""
    if isinstance(value, np.ndarray):
        return _text(value)
    if isinstance(value, dict) or type(value).__module__.startswith("PIL."):
        return value
    convert = getattr(value, "asnumpy", None)
    if convert is not None:
        return convert()
    if isinstance(value, bytes):
        return np.array(value, dtype=np.bytes_)
    return _text(np.asarray(value))


def _text(array: np.ndarray) -> np.ndarray:
    if array.dtype == object and array.size and all(isinstance(item, str) for item in array.flat):
        return array.astype(np.str_)
    return array
