"""`DataLoader`: batches of a data set, made in this process or in workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import select
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice, repeat
from typing import Any

import numpy as np

from mindspore.dataset.dataloader._utils.collate import default_collate, default_convert
from mindspore.dataset.dataloader._utils.worker import Exhausted, Failure, WorkerInfo, work
from mindspore.dataset.dataloader.dataset import IterableDataset
from mindspore.dataset.dataloader.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Iterate over a data set in batches.

    Args:
        dataset: rows by number (`__getitem__`, `__len__`), or an IterableDataset.
        batch_size: rows in a batch; None gives single rows.
        shuffle: visit the rows in random order.
        sampler: gives the row numbers, instead of `shuffle`.
        batch_sampler: gives lists of row numbers, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: processes that load; 0 loads in this one.
        collate_fn: makes a batch of a list of rows (or converts a row); tensors by default.
        pin_memory: accepted; memory is not moved.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a worker; 0 waits for ever.
        worker_init_fn: called in each worker with its number.
        multiprocessing_context: how workers are started: a context or its name.
        generator: source of random numbers for `shuffle` and the workers' seeds.
        prefetch_factor: batches that each worker prepares in advance.
        persistent_workers: keep the workers for the next epoch.
        in_order: give the batches of workers in the order of the sampler, not as they come.

    Examples:
        >>> from mindspore.dataset.dataloader import DataLoader
        >>> [batch.tolist() for batch in DataLoader([1, 2, 3], batch_size=2)]
        [[1, 2], [3]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0.0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: np.random.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        in_order: bool = True,
    ):
        _check_numbers(batch_size, num_workers, timeout, prefetch_factor, persistent_workers)
        _check_kinds(shuffle, pin_memory, drop_last, persistent_workers, in_order, generator)
        _check_choice(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.num_workers, self.collate_fn = dataset, num_workers, collate_fn
        self.pin_memory, self.drop_last, self.timeout = pin_memory, drop_last, timeout
        self.worker_init_fn, self.persistent_workers, self.in_order = worker_init_fn, persistent_workers, in_order
        self.generator = np.random.default_rng() if generator is None else generator
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.batch_size = None if batch_sampler is not None else batch_size
        self.sampler = self._sampler(shuffle) if sampler is None else sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        if multiprocessing_context is None or isinstance(multiprocessing_context, str):
            multiprocessing_context = multiprocessing.get_context(multiprocessing_context)
        self.multiprocessing_context = multiprocessing_context
        self._workers: _Workers | None = None

    @property
    def _iterable(self) -> bool:
        return isinstance(self.dataset, IterableDataset)

    def _sampler(self, shuffle: bool | None) -> Iterable:
        if self._iterable:
            return repeat(None)  # the data set itself says what comes and when it ends
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        orders = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        if not self.num_workers:
            return self._here(orders)
        if self._workers is None or not self.persistent_workers:
            workers = _Workers(self)
            self._workers = workers if self.persistent_workers else None
        else:
            workers = self._workers
        return workers.epoch(orders, close=not self.persistent_workers)

    def __len__(self) -> int:
        if self._iterable:
            rows = len(self.dataset)
            if self.batch_size is None:
                return rows
            return rows // self.batch_size if self.drop_last else -(-rows // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def _here(self, orders: Iterator[Any]) -> Iterator[Any]:
        fetch = self.fetcher()(self.dataset)
        for rows in orders:
            try:
                batch = fetch(rows)
            except StopIteration:
                return
            yield batch

    def fetcher(self) -> Callable[[Any], Callable[[Any], Any]]:
        """A function from a data set to the function that makes a batch of row numbers; workers get it too."""
        batched = self.batch_sampler is not None
        finish = self.collate_fn or (default_collate if batched else default_convert)
        return _Fetcher(self._iterable, batched, self.drop_last, finish)


class _Fetcher:
    """Makes the function that loads one batch. It can be sent to another process if `finish` can."""

    def __init__(self, iterable: bool, batched: bool, drop_last: bool, finish: Callable):
        self.iterable, self.batched, self.drop_last, self.finish = iterable, batched, drop_last, finish

    def __call__(self, dataset: Any) -> Callable[[Any], Any]:
        if not self.iterable:
            return lambda rows: self.finish([dataset[row] for row in rows] if self.batched else dataset[rows])
        stream = iter(dataset)

        def following(rows: Any) -> Any:
            if not self.batched:
                return self.finish(next(stream))
            batch = list(islice(stream, len(rows)))
            if not batch or (self.drop_last and len(batch) < len(rows)):
                raise StopIteration
            return self.finish(batch)

        return following


class _Workers:
    """The worker processes of a loader. They end when the loader's iterator does, or with the loader."""

    def __init__(self, loader: DataLoader):
        context = loader.multiprocessing_context
        self.timeout, self.in_order, self.ahead = loader.timeout, loader.in_order, loader.prefetch_factor
        self.results = context.Queue()
        pipes = [context.Pipe(duplex=False) for _ in range(loader.num_workers)]
        self.tasks = [writer for _, writer in pipes]
        self.number_of_epoch = 0
        seed = int(loader.generator.integers(2**31))
        self.processes = []
        for i, (tasks, _) in enumerate(pipes):
            info = WorkerInfo(i, loader.num_workers, seed + i, loader.dataset)
            arguments = (info, loader.fetcher(), tasks, self.results, loader.worker_init_fn)
            process = context.Process(target=work, args=arguments, daemon=True)
            process.start()
            self.processes.append(process)
            tasks.close()
        self.close = weakref.finalize(self, _end, self.processes, self.tasks, self.results)

    def epoch(self, orders: Iterator[Any], close: bool) -> Iterator[Any]:
        """Hand out the orders and give the batches made of them."""
        self.number_of_epoch += 1
        for tasks in self.tasks:
            _send(tasks, (self.number_of_epoch, -1, None))
        try:
            yield from self._batches(orders)
        finally:
            if close:
                self.close()

    def _batches(self, orders: Iterator[Any]) -> Iterator[Any]:
        live = dict(enumerate(self.tasks))
        owner: dict[int, int] = {}  # which worker has which task, in the order of the tasks
        waiting: dict[int, Any] = {}  # results that came before their turn
        numbers = count()

        def assign(worker: int) -> None:
            if worker in live and (rows := next(orders, self)) is not self:
                number = next(numbers)
                owner[number] = worker
                _send(live[worker], (self.number_of_epoch, number, rows))

        for _ in range(self.ahead or 1):
            for worker in range(len(self.tasks)):
                assign(worker)
        while owner:
            due = next(iter(owner))
            number = due if due in waiting else self._receive(waiting, due)
            result, worker = waiting.pop(number), owner.pop(number)
            if isinstance(result, Exhausted):
                live.pop(worker, None)
                continue
            assign(worker)
            if isinstance(result, Failure):
                raise result.raised()
            yield result

    def _receive(self, waiting: dict[int, Any], due: int) -> int:
        """Wait for results until the one that is due has come (or any, if the order is free)."""
        began = time.monotonic()
        while True:
            try:
                epoch, number, result = self.results.get(timeout=min(1.0, self.timeout or 1.0))
            except queue.Empty:
                dead = [str(p.pid) for p in self.processes if not p.is_alive()]
                if dead:
                    raise RuntimeError(f"DataLoader worker (pid(s): {', '.join(dead)}) exited unexpectedly.") from None
                if self.timeout and time.monotonic() - began >= self.timeout:
                    raise RuntimeError(f"DataLoader timed out waiting for data after {self.timeout} seconds.") from None
                continue
            if epoch != self.number_of_epoch:
                continue  # asked for by an iteration that was left early
            waiting[number] = result
            if number == due or not self.in_order:
                return number


def _send(tasks: Any, task: Any) -> None:
    with contextlib.suppress(BrokenPipeError):  # whoever waits for the result finds the worker dead
        tasks.send(task)


def _end(processes: list, tasks: list, results: Any) -> None:
    for one in tasks:
        if select.select([], [one], [], 0)[1]:  # a worker that hangs may have left no room
            _send(one, None)
    deadline = time.monotonic() + 0.5
    try:
        while any(p.is_alive() for p in processes) and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                results.get(timeout=0.02)  # a full queue would keep its worker
    finally:  # also after an interrupt
        for process in processes:
            process.terminate()
    for process in processes:
        process.join()
    for one in (*tasks, results):
        one.close()


# -- arguments --------------------------------------------------------------------------------------------------------
def _check_numbers(
    batch_size: Any, num_workers: Any, timeout: Any, prefetch_factor: Any, persistent_workers: Any
) -> None:
    for name, value, kinds in (
        ("batch_size", batch_size, int), ("num_workers", num_workers, int), ("timeout", timeout, (int, float)),
        ("prefetch_factor", prefetch_factor, int),
    ):  # fmt: skip
        optional = value is None and name in ("batch_size", "prefetch_factor")
        if not optional and (isinstance(value, bool) or not isinstance(value, kinds)):
            raise TypeError(f"{name} must be {kinds}, but got: {type(value).__name__}.")
    for name, value in (("batch_size", batch_size), ("prefetch_factor", prefetch_factor)):
        if value is not None and value <= 0:
            raise ValueError(f"{name} must be positive, but got: {value}.")
    for name, value in (("num_workers", num_workers), ("timeout", timeout)):
        if value < 0:
            raise ValueError(f"{name} must be non-negative, but got: {value}.")
    for name, given in (("prefetch_factor", prefetch_factor is not None), ("persistent_workers", persistent_workers)):
        if given and not num_workers:
            raise ValueError(
                f"{name} must only be specified when num_workers is greater than 0, but got: {num_workers}."
            )


def _check_kinds(
    shuffle: Any, pin_memory: Any, drop_last: Any, persistent_workers: Any, in_order: Any, generator: Any
) -> None:
    flags = {
        "pin_memory": pin_memory,
        "drop_last": drop_last,
        "persistent_workers": persistent_workers,
        "in_order": in_order,
    }
    if shuffle is not None:
        flags["shuffle"] = shuffle
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be {bool}, but got: {type(value).__name__}.")
    if generator is not None and not isinstance(generator, np.random.Generator):
        raise TypeError(f"generator must be {np.random.Generator}, but got: {type(generator).__name__}.")


def _check_choice(
    dataset: Any, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if isinstance(dataset, IterableDataset):
        for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value not in (None, False):
                raise ValueError(f"{name} cannot be specified when dataset is iterable style.")
    if batch_sampler is not None:
        others = (
            ("batch_size", batch_size != 1),
            ("shuffle", shuffle),
            ("sampler", sampler is not None),
            ("drop_last", drop_last),
        )
        for name, given in others:
            if given:
                raise ValueError(f"{name} cannot be specified with batch_sampler.")
    if sampler is not None and shuffle:
        raise ValueError("sampler cannot be specified with shuffle.")
