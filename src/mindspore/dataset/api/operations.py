"""Data sets that are operations on other data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from mindspore.dataset._check import (
    as_list,
    check_bool,
    check_columns,
    check_non_negative_int32,
    check_num_parallel_workers,
    check_pos_int32,
    check_range,
    check_type,
)
from mindspore.dataset.api.dataset import Dataset
from mindspore.dataset.api.synchronise import Condition
from mindspore.dataset.ir import ops as ir
from mindspore.dataset.samplers import DistributedSampler, RandomSampler, Shuffle


class VisionBaseDataset(Dataset):
    """Base of sources of images."""


class TextBaseDataset(Dataset):
    """Base of sources of text."""

    def build_vocab(self, columns, freq_range, top_k, special_tokens, special_first):
        """A vocabulary of the words of some columns."""
        from mindspore.dataset.text import Vocab

        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    def build_sentencepiece_vocab(self, columns, vocab_size, character_coverage, model_type, params):
        """A SentencePiece vocabulary of the words of some columns."""
        from mindspore.dataset.text import SentencePieceVocab

        return SentencePieceVocab.from_dataset(self, columns, vocab_size, character_coverage, model_type, params)


class AudioBaseDataset(Dataset):
    """Base of sources of sound."""


class UnionBaseDataset(VisionBaseDataset, TextBaseDataset, AudioBaseDataset):
    """Base of what serves images, text and sound alike."""


class MapDataset(UnionBaseDataset):
    def __init__(
        self,
        input_dataset: Dataset,
        operations: Callable | Sequence[Callable] | None = None,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        cache: Any = None,
        callbacks: Any = None,
        max_rowsize: int | list | None = None,
        offload: bool | None = None,
    ):
        super().__init__(input_dataset, num_parallel_workers, cache)
        operations = check_operations(operations)
        inputs = [] if input_columns is None else check_columns(input_columns, "input_columns")
        outputs = [] if output_columns is None else check_columns(output_columns, "output_columns")
        check_bool(python_multiprocessing, "python_multiprocessing")
        check_max_rowsize(max_rowsize)
        if offload is not None:
            check_bool(offload, "offload")
        self._use(
            ir.MapNode(
                input_dataset._node,
                operations,
                inputs,
                outputs,
                num_parallel_workers,
                python_multiprocessing,
                check_callbacks(callbacks),
                max_rowsize,
                offload,
            )
        )
        self.operations, self.input_columns, self.output_columns = operations, inputs, outputs
        self.python_multiprocessing, self.callbacks = python_multiprocessing, as_list(callbacks)


def check_operations(operations: Any) -> list[Callable]:
    given = as_list(operations)
    if not given:
        raise ValueError("operations must be a non-empty list of transforms or functions.")
    for operation in given:
        if not callable(operation):
            raise ValueError(
                "Parameter operations's element of method map should be a transform or a function, "
                f"but got {operation!r} of type {type(operation)}."
            )
        if isinstance(operation, type):
            raise ValueError(
                "Parameter operations's element of method map should be a transform or a function, but got the class "
                f"{operation.__name__}; give an object of it: {operation.__name__}()."
            )
    return given


def check_callbacks(callbacks: Any) -> list:
    from mindspore.dataset.callback import DSCallback

    given = as_list(callbacks)
    for i, callback in enumerate(given):
        check_type(callback, DSCallback, f"callbacks[{i}]" if isinstance(callbacks, (list, tuple)) else "callbacks")
        callback.check_overridden()
    return given


def check_max_rowsize(value: Any) -> None:
    if value is None:
        return
    check_type(value, (int, list), "max_rowsize")
    for size in as_list(value):
        check_type(size, int, "max_rowsize")
        if size < -1 or size == 0:
            raise ValueError(
                f"Input max_rowsize is not within the required interval of [-1, 2147483647], and not 0: {size}."
            )


class BatchDataset(UnionBaseDataset):
    """Rows joined into batches.

    Examples:
        >>> type(ds.NumpySlicesDataset([1, 2, 3]).batch(2)).__name__
        'BatchDataset'
    """

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable | None = None,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        python_multiprocessing: bool = False,
        max_rowsize: int | list | None = None,
    ):
        check_num_parallel_workers(num_parallel_workers)
        check_batch_size(batch_size, drop_remainder)
        check_batch_map(per_batch_map, input_columns, output_columns)
        check_bool(python_multiprocessing, "python_multiprocessing")
        check_max_rowsize(max_rowsize)
        super().__init__(input_dataset, num_parallel_workers)
        inputs = [] if input_columns is None else check_columns(input_columns, "input_columns")
        outputs = [] if output_columns is None else check_columns(output_columns, "output_columns")
        self._use(
            ir.BatchNode(
                input_dataset._node,
                batch_size,
                drop_remainder,
                num_parallel_workers,
                per_batch_map,
                inputs,
                outputs,
                python_multiprocessing,
                max_rowsize,
            )
        )
        self.batch_size, self.drop_remainder, self.per_batch_map = batch_size, drop_remainder, per_batch_map


def check_batch_size(batch_size: Any, drop_remainder: Any) -> None:
    if callable(batch_size):
        check_one_argument(batch_size)
    elif batch_size is not True and batch_size != -1:  # True counts as 1; -1 is an error once it runs
        check_pos_int32(batch_size, "batch_size")
    check_bool(drop_remainder, "drop_remainder")


def check_one_argument(function: Callable) -> None:
    import inspect

    try:
        count = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return
    if count != 1:
        raise ValueError("callable batch_size should take one parameter (BatchInfo).")


def check_batch_map(per_batch_map, input_columns, output_columns) -> None:
    import inspect

    if per_batch_map is None:
        if input_columns is not None:
            raise ValueError("input_columns can be specified only when per_batch_map is set.")
        if output_columns is not None:
            raise ValueError("output_columns can be specified only when per_batch_map is set.")
        return
    if not callable(per_batch_map):
        raise TypeError(f"Argument per_batch_map with value {per_batch_map} is not callable.")
    if input_columns is None:
        return
    names = check_columns(input_columns, "input_columns")
    try:
        parameters = inspect.signature(per_batch_map).parameters.values()
    except (TypeError, ValueError):
        return
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return
    if len(names) != len(list(parameters)) - 1:
        raise ValueError("The signature of per_batch_map should match with input columns.")


class PaddedBatchDataset(UnionBaseDataset):
    """Rows padded to one shape, then joined."""

    def __init__(self, input_dataset, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        check_batch_size(batch_size, drop_remainder)
        super().__init__(input_dataset, num_parallel_workers)
        if pad_info is not None:
            check_pad_info(pad_info)
        node = ir.PaddedBatchNode(input_dataset._node, batch_size, drop_remainder, num_parallel_workers)
        node.pad_info = pad_info or {}
        self._use(node)
        self.batch_size, self.drop_remainder, self.pad_info = batch_size, drop_remainder, pad_info


def check_pad_info(pad_info: Any) -> None:
    check_type(pad_info, dict, "pad_info")
    for name, entry in pad_info.items():
        check_type(name, str, "key in pad_info")
        if entry is None:
            continue
        if not isinstance(entry, tuple) or len(entry) != 2:
            raise ValueError(f"pad_info[{name!r}] should be a tuple of (shape, fill value), but got {entry!r}.")
        shape, _ = entry
        for side in as_list(shape):
            if side is not None:
                check_type(side, int, "dim in pad_shape")
                if side <= 0 and side != -1:
                    raise ValueError(f"pad shape of {name!r} should be positive, -1 or None, but got {side}.")


class BucketBatchByLengthDataset(UnionBaseDataset):
    """Rows of like length joined."""

    def __init__(
        self,
        input_dataset,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        super().__init__(input_dataset)
        check_type(column_names, list, "column_names")
        for i, name in enumerate(column_names):
            check_type(name, str, f"column_names[{i}]")
        check_buckets(bucket_boundaries, bucket_batch_sizes)
        if element_length_function is None and len(column_names) != 1:
            raise ValueError("If element_length_function is not specified, exactly one column name should be passed.")
        if element_length_function is not None and not callable(element_length_function):
            raise TypeError("element_length_function object is not callable.")
        if pad_info is not None:
            check_pad_info(pad_info)
        check_bool(pad_to_bucket_boundary, "pad_to_bucket_boundary")
        check_bool(drop_remainder, "drop_remainder")
        self._use(
            ir.BucketBatchNode(
                input_dataset._node,
                column_names,
                bucket_boundaries,
                bucket_batch_sizes,
                element_length_function,
                pad_info or {},
                pad_to_bucket_boundary,
                drop_remainder,
            )
        )


def check_buckets(boundaries: Any, sizes: Any) -> None:
    check_type(boundaries, list, "bucket_boundaries")
    check_type(sizes, list, "bucket_batch_sizes")
    for name, values in (("bucket_boundaries", boundaries), ("bucket_batch_sizes", sizes)):
        if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
            raise TypeError(f"{name} should be a list of int.")
    if any(value <= 0 for value in boundaries):
        raise ValueError("bucket_boundaries must only contain positive numbers.")
    if any(value <= 0 for value in sizes):
        raise ValueError("bucket_batch_sizes should be a list of positive numbers.")
    if not boundaries:
        raise ValueError("bucket_boundaries cannot be empty.")
    if any(low >= high for low, high in itertools.pairwise(boundaries)):
        raise ValueError("bucket_boundaries should be strictly increasing.")
    if len(sizes) != len(boundaries) + 1:
        raise ValueError("bucket_batch_sizes must contain one element more than bucket_boundaries.")


class ShuffleDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, buffer_size: int):
        super().__init__(input_dataset)
        if input_dataset.is_sync():
            raise RuntimeError("No shuffle after sync operators.")
        check_type(buffer_size, int, "buffer_size")
        check_range(buffer_size, 2, 2147483647, "buffer_size")
        self._use(ir.ShuffleNode(input_dataset._node, buffer_size))
        self.buffer_size = buffer_size


class RepeatDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, count: int | None):
        super().__init__(input_dataset)
        if count is not None:
            check_type(count, int, "repeat")
            if count != -1 and not 1 <= count <= 2147483647:
                raise ValueError("count should be either -1 or positive integer, range[1, 2147483647].")
        self.count = -1 if count is None else count
        self._use(ir.RepeatNode(input_dataset._node, self.count))


class SkipDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, count: int):
        super().__init__(input_dataset)
        check_non_negative_int32(count, "count")
        self._use(ir.SkipNode(input_dataset._node, count))
        self.count = count


class TakeDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, count: int = -1):
        super().__init__(input_dataset)
        check_type(count, int, "count")
        if count != -1 and not 1 <= count <= 2147483647:
            raise ValueError("count should be either -1 or within the required interval of ([1, 2147483647]).")
        self._use(ir.TakeNode(input_dataset._node, count))
        self.count = count


class FilterDataset(UnionBaseDataset):
    def __init__(self, input_dataset, predicate, input_columns=None, num_parallel_workers=None):
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        inputs = [] if input_columns is None else check_columns(input_columns, "input_columns")
        self._use(ir.FilterNode(input_dataset._node, predicate, inputs, num_parallel_workers))
        self.predicate = predicate


class FlatMapDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, func: Callable):
        super().__init__(input_dataset)
        if not callable(func):
            raise TypeError("flat_map: func must be a function.")
        self._use(ir.FlatMapNode(input_dataset._node, checked_flat_map(func)))


def checked_flat_map(func: Callable) -> Callable:
    def produce(*row: Any) -> Dataset:
        result = func(row if len(row) > 1 else row[0]) if _takes_one(func) else func(*row)
        if not isinstance(result, Dataset):
            raise TypeError("flat_map: The type of return value of func must be Dataset.")
        return result

    return produce


def _takes_one(func: Callable) -> bool:
    import inspect

    try:
        return len(inspect.signature(func).parameters) == 1
    except (TypeError, ValueError):
        return True


class ProjectDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, columns: str | list[str]):
        super().__init__(input_dataset)
        self.columns = check_columns(columns, "columns")
        self._use(ir.ProjectNode(input_dataset._node, self.columns))


class RenameDataset(UnionBaseDataset):
    def __init__(self, input_dataset: Dataset, input_columns, output_columns):
        super().__init__(input_dataset)
        inputs = check_columns(input_columns, "input_columns")
        outputs = check_columns(output_columns, "output_columns")
        if len(inputs) != len(outputs):
            raise ValueError(
                "Number of column names must match with expected: input_columns has "
                f"{len(inputs)}, output_columns has {len(outputs)}."
            )
        self._use(ir.RenameNode(input_dataset._node, inputs, outputs))
        self.input_column_names, self.output_column_names = inputs, outputs


class ZipDataset(UnionBaseDataset):
    def __init__(self, datasets: tuple[Dataset, ...]):
        super().__init__(datasets)
        self._use(ir.ZipNode(*[dataset._node for dataset in datasets]))
        self.datasets = datasets


class ConcatDataset(UnionBaseDataset):
    """Data sets one after the other."""

    def __init__(self, datasets: Sequence[Dataset]):
        super().__init__(datasets)
        for number, dataset in enumerate(datasets):
            check_type(dataset, Dataset, "dataset")
            if dataset._node.size() == 0:
                raise ValueError(
                    f"There are no samples in the dataset number {number}. Please make sure there are valid samples in the dataset."
                )
        self.datasets = list(datasets)
        self._use(ir.ConcatNode(*[dataset._node for dataset in datasets]))

    def use_sampler(self, sampler: Any) -> None:
        """Take one shard of all rows (DistributedSampler), or mix the data sets (RandomSampler)."""
        check_concat_sampler(sampler)
        self._use(ir.ConcatNode(*[dataset._node for dataset in self.datasets], sampler=sampler))
        self.dataset_size = None


def check_concat_sampler(sampler: Any) -> None:
    """Only what can be done to rows as they come."""
    if not isinstance(sampler, (DistributedSampler, RandomSampler)):
        raise TypeError(f"The parameter {sampler} of concat must be DistributedSampler or RandomSampler!")
    name = type(sampler).__name__
    if isinstance(sampler, RandomSampler) and sampler.replacement:
        raise ValueError(f"The parameter replacement of {name} must be False!")
    if isinstance(sampler, DistributedSampler) and sampler.get_shuffle_mode() is not Shuffle.FALSE:
        raise ValueError(f"The parameter shuffle of {name} must be False!")
    if sampler.num_samples is not None:
        raise ValueError(f"The parameter num_samples of {name} is not support to be set!")


class SyncWaitDataset(UnionBaseDataset):
    def __init__(self, input_dataset, condition_name, num_batch, callback=None):
        super().__init__(input_dataset)
        check_type(condition_name, str, "condition_name")
        check_type(num_batch, int, "num_batch")
        if num_batch <= 0:
            raise ValueError(f"num_batch need to be greater than 0. Got {num_batch}.")
        if callback is not None and not callable(callback):
            raise TypeError("Callback is not callable.")
        if condition_name in {condition.name for condition in input_dataset._sync_conditions()}:
            raise RuntimeError(f"Condition name is already in use: {condition_name!r}.")
        self._use(ir.SyncWaitNode(input_dataset._node, Condition(condition_name, num_batch, callback)))
