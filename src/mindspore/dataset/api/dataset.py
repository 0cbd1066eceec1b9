"""`Dataset`, the base of every data set: operations that return a new data set, and iterators.

A data set is a thin handle on a node of the pipeline tree. Nothing runs before an iterator is asked for rows.
"""

from __future__ import annotations

import builtins
import copy
import json
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mindspore._base.files import atomic_write
from mindspore.dataset._check import check_bool, check_num_parallel_workers, check_type
from mindspore.dataset.api.cache import DatasetCache
from mindspore.dataset.api.getters import Getters
from mindspore.dataset.api.iterators import DictIterator, DummyIterator, TupleIterator
from mindspore.dataset.ir.node import Node, walk
from mindspore.dataset.ir.ops import SyncWaitNode


class Dataset(Getters):
    """Base of all data sets.

    import mindspore.dataset as ds
    data = ds.NumpySlicesDataset([1, 2, 3, 4], "x", shuffle=False).map(lambda x: x * 10).batch(2)
    for row in data.create_dict_iterator(output_numpy=True):
        print(row["x"])

    Examples:
        >>> isinstance(ds.NumpySlicesDataset([1, 2]), ds.Dataset)
        True
    """

    _classes: ClassVar[dict[str, type[Dataset]]] = {}  # operations find each other by name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Dataset._classes.setdefault(cls.__name__, cls)

    def __init__(self, children=None, num_parallel_workers: int | None = None, cache=None):
        check_num_parallel_workers(num_parallel_workers)
        if cache is not None:
            check_type(cache, DatasetCache, "cache")
        children = [] if children is None else children
        self.children: list[Dataset] = [children] if isinstance(children, Dataset) else list(children)
        self.parent: list[Dataset] = []
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache
        self._init_step: int | None = None
        self._global_step: int | None = None
        self._input_indexs: Sequence = ()
        self.dataset_size: int | None = None

    def _use(self, node: Node) -> None:
        """Take `node` as what this data set stands for."""
        if self.cache is not None:
            node = self.cache.over(node)
        self._node = node

    def _then(self, class_name: str, *args: Any, **kwargs: Any) -> Any:
        """A data set of another class over this one."""
        return Dataset._classes[class_name](self, *args, **kwargs)

    # -- operations ---------------------------------------------------------------------------------------------------
    def map(
        self,
        operations: Callable | Sequence[Callable],
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Apply operations to columns of every row.

        Keywords: `python_multiprocessing`, `max_rowsize` (MiB a row may need in shared memory), `cache`,
        `callbacks`, `offload`; `column_order` (of MindSpore 1.x) keeps these columns, in this order.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).map(lambda x: x * 10)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [10, 20, 30]
        """
        order = kwargs.pop("column_order", None)
        mapped = self._then("MapDataset", operations, input_columns, output_columns, num_parallel_workers, **kwargs)
        return mapped if order is None else mapped.project(order)

    def batch(
        self,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Join `batch_size` rows into one.

        Keywords: `per_batch_map(col, …, batch_info)`, `input_columns`, `output_columns`, `python_multiprocessing`,
        `max_rowsize`.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2)
            >>> [x.tolist() for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [[1, 2], [3]]
        """
        return self._then("BatchDataset", batch_size, drop_remainder, num_parallel_workers, **kwargs)

    def padded_batch(
        self,
        batch_size: int | Callable,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict | None = None,
    ) -> Dataset:
        """Pad rows to one shape, then join them: `pad_info={"col": ([224, 224], 0)}`; None pads to the largest.

        Examples:
            >>> data = ds.GeneratorDataset([(np.ones(n),) for n in (1, 3)], ["x"], shuffle=False)
            >>> data = data.padded_batch(2, pad_info={"x": ([None], 0)})
            >>> [x.tolist() for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [[[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]]
        """
        return self._then("PaddedBatchDataset", batch_size, drop_remainder, num_parallel_workers, pad_info)

    def bucket_batch_by_length(
        self,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ) -> Dataset:
        """Join rows of like length: each bucket between two boundaries has its own batch size.

        Examples:
            >>> data = ds.GeneratorDataset([(np.zeros(n),) for n in (1, 5, 2)], ["x"], shuffle=False)
            >>> data = data.bucket_batch_by_length(["x"], [3], [2, 1], len, {"x": ([None], 0)})
            >>> sorted(x.shape for (x,) in data.create_tuple_iterator(output_numpy=True))
            [(1, 5), (2, 2)]
        """
        return self._then(
            "BucketBatchByLengthDataset",
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def shuffle(self, buffer_size: int) -> Dataset:
        """Mix rows through a buffer; a buffer as large as the data set mixes all of it.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).shuffle(3)
            >>> sorted(int(x) for (x,) in data.create_tuple_iterator(output_numpy=True))
            [1, 2, 3]
        """
        return self._then("ShuffleDataset", buffer_size)

    def repeat(self, count: int | None = None) -> Dataset:
        """`count` passes in one epoch; None or -1 never ends.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2, 3]).repeat(2).get_dataset_size()
            6
        """
        return self._then("RepeatDataset", count)

    def skip(self, count: int) -> Dataset:
        """Leave out the first `count` rows.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).skip(1)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [2, 3]
        """
        return self._then("SkipDataset", count)

    def take(self, count: int = -1) -> Dataset:
        """Only the first `count` rows; -1 takes all.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).take(2)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [1, 2]
        """
        return self._then("TakeDataset", count)

    def filter(self, predicate: Callable, input_columns=None, num_parallel_workers=None) -> Dataset:
        """Rows for which `predicate` is true.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).filter(lambda x: x > 1)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [2, 3]
        """
        return self._then("FilterDataset", predicate, input_columns, num_parallel_workers)

    def flat_map(self, func: Callable) -> Dataset:
        """`func` makes a data set of each row; the result holds all their rows.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
            >>> data = data.flat_map(lambda x: ds.NumpySlicesDataset([int(x)] * 2, shuffle=False))
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [1, 1, 2, 2]
        """
        return self._then("FlatMapDataset", func)

    def project(self, columns: str | list[str]) -> Dataset:
        """Only these columns, in this order.

        Examples:
            >>> ds.NumpySlicesDataset({"x": [1], "y": [2]}).project(["y"]).get_col_names()
            ['y']
        """
        return self._then("ProjectDataset", columns)

    def rename(self, input_columns: str | list[str], output_columns: str | list[str]) -> Dataset:
        """Give columns other names.

        Examples:
            >>> ds.NumpySlicesDataset({"x": [1]}).rename("x", "input").get_col_names()
            ['input']
        """
        return self._then("RenameDataset", input_columns, output_columns)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`apply_func(self)`, which must be a data set.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).apply(lambda data: data.take(2))
            >>> data.get_dataset_size()
            2
        """
        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError("apply_func must return a dataset.")
        return result

    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> Dataset:
        """Columns of this and other data sets side by side.

        Examples:
            >>> first, second = (ds.NumpySlicesDataset({name: [1, 2]}, shuffle=False) for name in "xy")
            >>> first.zip(second).get_col_names()
            ['x', 'y']
        """
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        for other in others:
            if not isinstance(other, Dataset):
                raise TypeError(f"Invalid datasets, expected Dataset object or tuple of Dataset, but got {datasets}!")
        return Dataset._classes["ZipDataset"]((self, *others))

    def concat(self, datasets: Dataset | list[Dataset]) -> Dataset:
        """Rows of this data set, then those of others.

        Examples:
            >>> first, second = (ds.NumpySlicesDataset(x, shuffle=False) for x in ([1, 2], [3]))
            >>> [int(x) for (x,) in first.concat(second).create_tuple_iterator(output_numpy=True)]
            [1, 2, 3]
        """
        others = [datasets] if isinstance(datasets, Dataset) else datasets
        if not isinstance(others, (list, tuple)) or not all(isinstance(other, Dataset) for other in others):
            raise TypeError(f"Invalid datasets, expected Dataset object or list of Dataset, but got {datasets}!")
        if not others:
            raise ValueError("datasets must be a non-empty list of datasets.")
        return Dataset._classes["ConcatDataset"]([self, *others])

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> tuple[Dataset, ...]:
        """Data sets of the given sizes (rows, or shares of the whole) that do not overlap.

        Examples:
            >>> train_data, test_data = ds.NumpySlicesDataset(list(range(10))).split([0.8, 0.2])
            >>> train_data.get_dataset_size(), test_data.get_dataset_size()
            (8, 2)
        """
        from mindspore.dataset.api.split import split

        check_bool(randomize, "randomize")
        return split(self, sizes, randomize)

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write the rows to MindRecord files.

        Examples:
            >>> ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False).save("rows.mindrecord")
            >>> ds.MindDataset("rows.mindrecord").get_dataset_size()
            2
        """
        from mindspore.dataset.api.save import save

        save(self, file_name, num_files, file_type)

    def device_que(self, send_epoch_end=True, create_data_info_queue=False, queue_name="") -> Dataset:
        """The hand-over of rows to a device.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2]).device_que()
            >>> data.get_dataset_size()
            2
        """
        return self._then("TransferDataset", send_epoch_end, create_data_info_queue, queue_name)

    # -- synchronisation ----------------------------------------------------------------------------------------------
    def sync_wait(self, condition_name: str, num_batch: int = 1, callback: Callable | None = None) -> Dataset:
        """Let the pipeline run at most `num_batch` rows ahead of `sync_update`.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).sync_wait("step", num_batch=2).is_sync()
            True
        """
        return self._then("SyncWaitDataset", condition_name, num_batch, callback)

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Let the pipeline go on past a `sync_wait`.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).sync_wait("step", num_batch=1)
            >>> seen = []
            >>> for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            ...     seen.append(int(x))
            ...     data.sync_update("step")
            >>> seen
            [1, 2]
        """
        check_type(condition_name, str, "condition_name")
        if num_batch is not None and (not isinstance(num_batch, int) or num_batch <= 0):
            raise ValueError(f"Sync_update batch size can only be positive, got: {num_batch}.")
        conditions = {c.name: c for c in self._sync_conditions()}
        if condition_name not in conditions:
            raise RuntimeError(f"Condition name not found: {condition_name!r}. Known: {sorted(conditions)}.")
        conditions[condition_name].update(num_batch, data)

    def _sync_conditions(self) -> list:
        return [node.condition for node in walk(self._node) if isinstance(node, SyncWaitNode)]

    def is_sync(self) -> bool:
        """Whether the pipeline waits for `sync_update`.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).is_sync()
            False
        """

        return bool(self._sync_conditions())

    def get_sync_notifiers(self) -> dict[str, Callable]:
        """The functions that let the pipeline go on, by the name of their condition.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).get_sync_notifiers()
            {}
        """

        return {condition.name: condition.update for condition in self._sync_conditions()}

    def disable_sync(self) -> None:
        """Let the pipeline run without waiting for `sync_update`.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).disable_sync() is None
            True
        """

        for condition in self._sync_conditions():
            condition.disable()

    # -- iterators ----------------------------------------------------------------------------------------------------
    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False) -> DictIterator:
        """Rows as dicts of column name to value.

        Examples:
            >>> data = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
            >>> [int(row["x"]) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]
            [1, 2]
        """
        return self._iterator(DictIterator, num_epochs, output_numpy, do_copy)

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False) -> TupleIterator:
        """Rows as lists of values, optionally of some columns only.

        Examples:
            >>> data = ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)
            >>> [int(y) for (y,) in data.create_tuple_iterator(["y"], num_epochs=1, output_numpy=True)]
            [3, 4]
        """
        if columns is not None:
            names = [columns] if isinstance(columns, str) else columns
            check_type(names, list, "columns")
            for i, name in enumerate(names):
                check_type(name, str, f"columns[{i}]")
            return self.project(names)._iterator(TupleIterator, num_epochs, output_numpy, do_copy)
        return self._iterator(TupleIterator, num_epochs, output_numpy, do_copy)

    def _iterator(self, kind, num_epochs, output_numpy, do_copy):
        check_bool(output_numpy, "output_numpy")
        check_bool(do_copy, "do_copy")
        check_type(num_epochs, int, "num_epochs")
        if num_epochs != -1 and num_epochs <= 0:
            raise ValueError(f"num_epochs should be either -1 or positive, but got {num_epochs}.")
        if not any(not node.children for node in walk(self._node)):
            return DummyIterator(self, kind.__name__)
        return kind(self, num_epochs, output_numpy, do_copy)

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    # -- steps already done -------------------------------------------------------------------------------------------
    def set_init_step(self, init_step: int) -> None:
        """Begin iteration at this step, as when a training goes on from a checkpoint.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3])
            >>> data.set_init_step(1)
            >>> data.get_init_step()
            1
        """
        check_type(init_step, int, "init_step")
        if init_step < 0:
            raise ValueError(
                f"Input init_step is not within the required interval of [0, 2147483647], got {init_step}."
            )
        self._global_step = init_step

    def get_init_step(self) -> int:
        """The step that iteration begins at.

        Examples:
            >>> data = ds.NumpySlicesDataset([1, 2, 3])
            >>> data.set_init_step(2)
            >>> data.get_init_step()
            2
        """

        if self._global_step is not None:
            return self._global_step
        found = {step for step in (child.get_init_step() for child in self.children) if step}
        if len(found) > 1:
            raise RuntimeError(f"The children of this dataset begin at different steps: {sorted(found)}.")
        return found.pop() if found else 0

    def reset(self) -> None:
        """Begin the next iteration from the first epoch: nothing to do, as data sets hold no running state.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).reset() is None
            True
        """

    # -- text ---------------------------------------------------------------------------------------------------------
    def to_json(self, filename: str = "") -> dict:
        """The pipeline as a dict, optionally written to a file too.

        Examples:
            >>> ds.NumpySlicesDataset([1, 2]).batch(2).to_json()["op_type"]
            'Batch'
        """
        form = json.loads(json.dumps(self._node.to_json()))
        if filename:
            with atomic_write(os.path.realpath(filename), "w") as stream:
                json.dump(form, stream, indent=2)
        return form

    def __len__(self) -> int:
        return self.get_dataset_size()

    def __safe_deepcopy__(self, memodict: dict, exclude: tuple = ()) -> Dataset:
        return copy.copy(self)

    def __deepcopy__(self, memo: dict) -> Dataset:
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.children = [copy.deepcopy(child, memo) for child in self.children]
        return twin


def zip(datasets: tuple[Dataset, ...]) -> Dataset:
    """A data set with the columns of all the given ones side by side.

    ds.zip((images, labels))

    Examples:
        >>> first, second = (ds.NumpySlicesDataset({name: [1, 2]}, shuffle=False) for name in "xy")
        >>> ds.zip((first, second)).get_col_names()
        ['x', 'y']
    """
    if not isinstance(datasets, tuple):
        raise TypeError(f"Invalid datasets, expected tuple of Dataset, but got {type(datasets)}!")
    if len(datasets) <= 1:
        raise ValueError("Can't zip empty or just one dataset!")
    for i, dataset in builtins.enumerate(datasets):
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid dataset, expected Dataset object, but got {type(dataset)} at position {i}!")
    return Dataset._classes["ZipDataset"](datasets)
