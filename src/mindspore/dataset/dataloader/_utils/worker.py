"""Worker processes of a DataLoader.

Each worker has a pipe of tasks; all share one queue of results. A task is (epoch, number, row numbers) and its result
(epoch, number, what was made of it), so results of an epoch that was left early can be told apart. A new epoch is
announced by a task of the number -1; a worker of an iterable data set then begins anew and says when it has no more.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class WorkerInfo:
    """Who a worker process is."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


@dataclass(frozen=True)
class Failure:
    """An exception in a worker, as text."""

    worker: int
    process: int
    kind: str
    text: str

    def raised(self) -> RuntimeError:
        return RuntimeError(
            f"DataLoader worker {self.worker} (pid: {self.process}) caught {self.kind} with message:\n{self.text}"
        )


_POLL_SECONDS = 2.0


class Exhausted:
    """The result of a worker whose iterable data set has no more rows."""


_CURRENT: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """Who this worker process of a DataLoader is (`id`, `num_workers`, `seed`, `dataset`); None in other processes.

    Examples:
        >>> from mindspore.dataset.dataloader import get_worker_info
        >>> print(get_worker_info())
        None
    """
    return _CURRENT[0] if _CURRENT else None


def work(
    info: WorkerInfo,
    make_fetch: Callable[[Any], Callable[[Any], Any]],
    tasks: Any,
    results: Any,
    begin: Callable[[int], Any] | None,
) -> None:
    """The loop of a worker: until it is given None, answer every task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which then ends its workers
    _CURRENT[:] = [info]
    random.seed(info.seed)
    np.random.seed(info.seed % 2**32)  # what users call in their data sets
    fetch: Callable[[Any], Any] | None = None
    failure = _attempt(info, begin, info.id) if begin is not None else None
    while (task := _next(tasks)) is not None:
        epoch, number, rows = task
        if number < 0:
            fetch = None
            continue
        if isinstance(failure, Failure):
            results.put((epoch, number, failure))
            continue
        if fetch is None:
            made = _attempt(info, make_fetch, info.dataset)
            if isinstance(made, Failure):
                results.put((epoch, number, made))
                continue
            fetch = made
        results.put((epoch, number, _attempt(info, fetch, rows)))
    results.close()


def _next(tasks: Any) -> Any:
    """The next task; None when the program that would give it is gone."""
    while not tasks.poll(_POLL_SECONDS):
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():
            return None
    try:
        return tasks.recv()
    except EOFError:
        return None


def _attempt(info: WorkerInfo, function: Any, argument: Any) -> Any:
    try:
        return function(argument)
    except StopIteration:
        return Exhausted()
    except Exception as error:  # the user's code: raised in the process that asked
        return Failure(info.id, os.getpid(), type(error).__name__, traceback.format_exc())
