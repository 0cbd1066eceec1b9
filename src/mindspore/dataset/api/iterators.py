"""Iterators over a data set.

An iterator goes through one epoch for each `for` loop over it; after `num_epochs` epochs the pipeline is gone and
asking for more is an error. Its place can be saved and restored in the middle of an epoch:

    state = iterator.state_dict()
    ...
    iterator = data.create_dict_iterator()
    iterator.load_state_dict(state)      # the next row is the one that would have come next
"""

from __future__ import annotations

import _thread
import atexit
import copy
import threading
import weakref
from typing import Any

import numpy as np

from mindspore.dataset import _tensor
from mindspore.dataset._check import as_array
from mindspore.dataset.runtime.autotune import AutoTune
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.runtime.pipeline import END_OF_EPOCH, Pipeline
from mindspore.dataset.settings import settings

ITERATORS_LIST: list[weakref.ref] = []  # every live iterator, so that all can be closed at exit


@atexit.register
def _cleanup() -> None:
    """Stop every live iterator."""
    for reference in list(ITERATORS_LIST):
        iterator = reference()
        if iterator is not None:
            iterator.stop()
    ITERATORS_LIST.clear()


class Iterator:
    """Base of the iterators."""

    def __init__(self, dataset: Any, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False):
        self.ori_dataset = dataset
        self.dataset = copy.deepcopy(dataset)
        self.num_epochs = num_epochs
        self.output_numpy = output_numpy
        self.do_copy = do_copy or settings().iterator_mode["do_copy"]
        self._position = [0, 0]  # epoch and row that come next
        self._next_row: Any = None
        self._runtime_context = Pipeline(dataset._node, num_epochs)
        self._finalizer = self._closing(self._runtime_context)
        self._tune = AutoTune(self._runtime_context, dataset.to_json) if settings().autotune else None
        self._start_at_init_step()
        ITERATORS_LIST.append(weakref.ref(self, _forget))

    def _closing(self, pipeline: Pipeline) -> weakref.finalize:
        """Close the pipeline when the iterator is dropped, which may happen anywhere in a program: without waiting."""
        finalizer = weakref.finalize(self, _thread.start_new_thread, _close_aside, (pipeline,))
        finalizer.atexit = False  # then `_cleanup` does it
        return finalizer

    def _start_at_init_step(self) -> None:
        step = self.ori_dataset.get_init_step()
        if step:
            size = max(self.ori_dataset.get_dataset_size(), 1)
            self._position = [step // size, step % size]
            self._runtime_context.start_at(*self._position)

    def __iter__(self):
        return self

    def __next__(self) -> Any:
        if not hasattr(self, "_runtime_context"):
            raise AttributeError(  # the name and type are official
                f"'{type(self).__name__}' object has no attribute '_runtime_context': it has no running pipeline, for it was stopped or "
                "met an error. Create another one."
            )
        try:
            row = self._fetch()
        except StopIteration:
            raise RuntimeError(
                "EOF buffer encountered. User tries to fetch data beyond the specified number of epochs."
            ) from None
        except Exception:
            self.stop()
            raise
        if row is END_OF_EPOCH:
            self._position = [self._position[0] + 1, 0]
            if self._tune is not None:
                self._tune.end_of_epoch()
            raise StopIteration
        self._position[1] += 1
        if self._tune is not None:
            self._tune.step()
        return self._formed(row)

    def _fetch(self) -> Any:
        if self._next_row is not None:
            row, self._next_row = self._next_row, None
            return row
        return next(self._runtime_context)

    def _formed(self, row: tuple) -> Any:
        raise NotImplementedError

    def _output(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._within_dict(item) for key, item in value.items()}
        if type(value).__module__.startswith("PIL."):
            value = np.asarray(value)
        if isinstance(value, list):
            value = np.asarray(value)
        if self.do_copy:
            value = np.array(value)
        return value if self.output_numpy else _tensor.wrap(value)

    def _within_dict(self, value: Any) -> Any:
        """Lists and tuples in dicts keep their form."""
        if isinstance(value, (list, tuple)):
            return type(value)([self._within_dict(item) for item in value])
        return self._output(value if isinstance(value, dict) else as_array(value))

    @property
    def columns(self) -> list[str]:
        return self._runtime_context.operator.columns

    def get_col_names(self) -> list[str]:
        return list(self.columns)

    def get_next(self) -> Any:
        """The next row, or an empty list at the end of an epoch."""
        try:
            return self.__next__()
        except StopIteration:
            return []

    def stop(self) -> None:
        """End the pipeline; the iterator cannot be used any more."""
        if hasattr(self, "_runtime_context"):
            self._runtime_context.close()
            self._finalizer.detach()
            del self._runtime_context

    def release(self) -> None:
        self.stop()

    # -- place in the data --------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, int]:
        """Where the iterator stands: enough to go on at the exact next row, in another process too."""
        context = self._runtime_context.context
        return {
            "epoch": self._position[0],
            "row": self._position[1],
            "seed": -1 if context.seed is None else context.seed,
            "entropy": context.entropy,
        }

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from where `state_dict` was taken."""
        try:
            epoch, row = int(state["epoch"]), int(state["row"])
            seed, entropy = int(state["seed"]), int(state["entropy"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("The state must be what state_dict() gave: epoch, row, seed, entropy.") from None
        self.stop()
        context = RunContext(seed=None if seed == -1 else seed, entropy=entropy)
        self._runtime_context = Pipeline(self.dataset._node, self.num_epochs, context)
        self._runtime_context.start_at(epoch, row)
        self._finalizer = self._closing(self._runtime_context)
        self._position, self._next_row = [epoch, row], None


def _close_aside(pipeline: Pipeline) -> None:
    """Close in a thread that `threading` knows: one begun as bare as this would stay in its lists for ever."""
    threading.Thread(target=pipeline.close, daemon=True, name="mindspore-data-closer").start()


def _forget(reference: weakref.ref) -> None:
    if reference in ITERATORS_LIST:
        ITERATORS_LIST.remove(reference)


class DictIterator(Iterator):
    """Rows as dicts of column name to value. Columns named "_meta-…" are for renaming and not shown."""

    def _formed(self, row):
        named = zip(self.columns, row)
        return {name: self._output(value) for name, value in named if not name.startswith("_meta-")}


class TupleIterator(Iterator):
    """Rows as lists of values, in the order of the columns."""

    def __init__(self, dataset, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        if not isinstance(columns, (list, str, type(None))):  # called as the other iterators are
            columns, num_epochs, output_numpy, do_copy = None, columns, num_epochs, output_numpy
        if columns is not None:
            dataset = dataset.project(columns)
        super().__init__(dataset, num_epochs, output_numpy, do_copy)

    def _formed(self, row):
        named = zip(self.columns, row)
        return [self._output(value) for name, value in named if not name.startswith("_meta-")]


class DummyIterator:
    """An iterator over a pipeline without a source: it gives nothing."""

    def __init__(self, dataset: Any, mode: str):
        self.dataset, self.mode = dataset, mode

    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration
