"""Worker processes for Python functions.

Each worker has a pipe for tasks and results and, where the system offers anonymous shared memory, a ring of slots into
which it writes the arrays of its results; the pipe then carries only their description. Tasks go round the workers
in turn and results are read in the same turn, which keeps the order. Nothing has a name in the file system, so nothing
can be left behind; a worker ends when its pipe closes or its parent is gone.
"""

from __future__ import annotations

import logging
import mmap
import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from typing import Any

import numpy as np

from mindspore.dataset.runtime.errors import PipelineError, pipeline_error
from mindspore.dataset.settings import settings

SLOTS = 2  # tasks a worker may hold at once
DEFAULT_SLOT_BYTES = 16 << 20
ALIGNMENT = 64
_log = logging.getLogger("mindspore.dataset")


class Processes:
    """An executor over worker processes."""

    def __init__(self, function: Callable[[Any], Any], workers: int, max_rowsize: int | list | None = None):
        self._function = function
        self.workers = workers
        self._slot_bytes = slot_bytes(max_rowsize)
        self._members: list[_Worker] = []
        self._finalizer: weakref.finalize | None = None

    def imap(self, tasks: Iterable) -> Iterator:
        if not self._members:
            self._start()
        pending: deque[_Worker] = deque()
        turn = 0
        finished = False
        try:
            for task in tasks:
                worker = self._members[turn % len(self._members)]
                turn += 1
                if len(pending) >= SLOTS * len(self._members):
                    yield pending.popleft().receive()
                worker.send(task)
                pending.append(worker)
            while pending:
                yield pending.popleft().receive()
            finished = True
        finally:
            if not finished:  # unread results would be taken for those of the next epoch
                self.close()

    def _start(self) -> None:
        method = settings().multiprocessing_start_method
        method = method if method in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        self._members = []
        self._finalizer = weakref.finalize(self, _stop_all, self._members)
        for i in range(self.workers):
            self._members.append(_Worker(context, self._function, i, self._slot_bytes))

    def close(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._members = []

    def process_ids(self) -> list[int]:
        return [worker.process.pid for worker in self._members]


def slot_bytes(max_rowsize: int | list | None) -> int:
    """Bytes of one slot. `max_rowsize` is in MiB; -1 and None let the engine choose."""
    if isinstance(max_rowsize, (list, tuple)):
        max_rowsize = max_rowsize[-1] if max_rowsize else None
    if not settings().shared_mem or not hasattr(os, "memfd_create"):
        return 0
    return DEFAULT_SLOT_BYTES if max_rowsize in (None, -1) else max(int(max_rowsize), 1) << 20


class _Worker:
    """The parent's side of one worker process."""

    def __init__(self, context, function, number: int, slot_size: int):
        self.number = number
        self._pipe, far_end = context.Pipe()
        self._slot_size = slot_size
        self._memory, descriptor = _shared_memory(slot_size * SLOTS)
        forked = context.get_start_method() == "fork"
        arguments = _Arguments(function, far_end, self._memory if forked else descriptor, slot_size, os.getpid())
        self.process = context.Process(
            target=_work, args=(arguments, number), daemon=True, name=f"mindspore-data-{number}"
        )
        try:
            self.process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise RuntimeError(
                f"A worker process cannot be started with the 'spawn' method: {error}. Functions and sources must be "
                "importable (no lambdas or local functions), or use "
                "mindspore.dataset.config.set_multiprocessing_start_method('fork')."
            ) from error
        finally:
            far_end.close()
            if descriptor is not None:
                os.close(descriptor)

    def send(self, task: Any) -> None:
        try:
            self._pipe.send_bytes(pickle.dumps(task, protocol=5))
        except (BrokenPipeError, ConnectionResetError, OSError):
            self._raise_dead()

    def receive(self) -> Any:
        interval = settings().multiprocessing_timeout_interval
        while True:
            ready = connection.wait([self._pipe, self.process.sentinel], timeout=interval)
            if self._pipe in ready:
                break
            if ready:
                self._raise_dead()
            if settings().watchdog:
                _log.warning(
                    "Worker process %d (pid %d) has given nothing for %d seconds; it may hang in a user function.",
                    self.number,
                    self.process.pid,
                    interval,
                )
        try:
            kind, value, slot, lengths = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionResetError):
            self._raise_dead()
        if kind == "error":
            raise value
        return pickle.loads(value, buffers=self._buffers(slot, lengths))

    def _buffers(self, slot: int, lengths: list[int]) -> list:
        """The arrays of a result, copied out of their slot so that it can be used again."""
        if slot < 0:
            return [bytearray(data) for data in lengths]
        assert self._memory is not None
        buffers, at = [], slot * self._slot_size
        for length in lengths:
            buffers.append(bytearray(memoryview(self._memory)[at : at + length]))
            at += _aligned(length)
        return buffers

    def _raise_dead(self) -> None:
        self.process.join(timeout=5)
        code = self.process.exitcode
        how = (
            f"was killed by signal {signal.Signals(-code).name}"
            if code and code < 0
            else f"ended with exit code {code}"
        )
        raise pipeline_error(
            f"Worker process {self.number} (pid {self.process.pid}) of the dataset pipeline {how}. It may have run "
            "out of memory, or a user function may have crashed it."
        )

    def stop(self) -> None:
        self._pipe.close()
        if self.process.is_alive():
            self.process.terminate()

    def reap(self) -> None:
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(timeout=2)
        if self._memory is not None:
            self._memory.close()
            self._memory = None


def _stop_all(members: list[_Worker]) -> None:
    for worker in members:
        worker.stop()
    for worker in members:
        worker.reap()
    members.clear()


def _shared_memory(size: int) -> tuple[mmap.mmap | None, int | None]:
    if not size:
        return None, None
    descriptor = os.memfd_create("mindspore-data")
    os.ftruncate(descriptor, size)
    return mmap.mmap(descriptor, size), descriptor


def _aligned(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


class _Arguments:
    """What a worker process starts with. Pickled only when processes are spawned."""

    def __init__(self, function, pipe, memory, slot_size, parent):
        self.function, self.pipe, self.memory, self.slot_size, self.parent = function, pipe, memory, slot_size, parent

    def __getstate__(self):
        state = dict(self.__dict__)
        if isinstance(self.memory, int):
            from multiprocessing.reduction import DupFd

            state["memory"] = DupFd(self.memory)
        return state

    def open_memory(self) -> mmap.mmap | None:
        if self.memory is None or isinstance(self.memory, mmap.mmap):
            return self.memory
        descriptor = self.memory.detach()
        try:
            return mmap.mmap(descriptor, self.slot_size * SLOTS)
        finally:
            os.close(descriptor)


def _work(arguments: _Arguments, number: int) -> None:
    """The worker's loop: read tasks in one thread (so that the parent never blocks), answer in the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    memory = arguments.open_memory()
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(arguments, tasks), daemon=True).start()
    slot = 0
    while True:
        data = tasks.get()
        if data is None:
            os._exit(0)
        try:
            task = pickle.loads(data)
            _seed_globals(arguments.function.seed_for(task))
            message = _packed(arguments.function(task), memory, slot, arguments.slot_size)
        except BaseException as error:  # raised in the process that asked, also SystemExit
            message = pickle.dumps(("error", _portable(error, number), 0, []))
        slot = (slot + 1) % SLOTS
        try:
            arguments.pipe.send_bytes(message)
        except (BrokenPipeError, OSError):
            os._exit(0)


def _read_tasks(arguments: _Arguments, tasks: queue.SimpleQueue) -> None:
    try:
        while True:
            while not arguments.pipe.poll(2.0):
                if os.getppid() != arguments.parent:
                    return
            tasks.put(arguments.pipe.recv_bytes())
    except (EOFError, OSError):
        return
    finally:
        tasks.put(None)


def _seed_globals(seed: int) -> None:
    """User functions often draw from NumPy's or Python's global generators: the same task gets the same numbers."""
    np.random.seed(seed)
    random.seed(seed)


def _packed(result: Any, memory: mmap.mmap | None, slot: int, slot_size: int) -> bytes:
    buffers: list[pickle.PickleBuffer] = []
    value = pickle.dumps(result, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    if memory is None or sum(_aligned(view.nbytes) for view in views) > slot_size:
        return pickle.dumps(("result", value, -1, [bytes(view) for view in views]), protocol=5)
    at = slot * slot_size
    with memoryview(memory) as whole:
        for view in views:
            whole[at : at + view.nbytes] = view
            at += _aligned(view.nbytes)
    return pickle.dumps(("result", value, slot, [view.nbytes for view in views]), protocol=5)


def _portable(error: BaseException, number: int) -> Exception:
    """An error that survives pickling, with the worker's call stack where the message does not have it."""
    if isinstance(error, PipelineError):
        return PipelineError(str(error))
    stack = "".join(traceback.format_exception(error))
    return PipelineError(
        f"Exception thrown from user defined Python function in dataset.\n\nWorker process {number}: "
        f"{type(error).__name__}: {error}\n\n{stack}"
    )
