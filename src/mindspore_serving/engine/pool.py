"""The worker processes of one version of a servable. A thread for each starts it, and starts it again when it dies; the server's
loop feeds it (`feeder.py`).

A worker that dies is started again once the servable has answered anything, else it would die for ever; one that leaves in
good order (SIGINT, SIGTERM) is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Any

from mindspore_serving import log
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.environment import child_environment
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.feeder import Feeder
from mindspore_serving.engine.location import Location
from mindspore_serving.engine.queue import ATTEMPTS, Request, RequestQueue, Size
from mindspore_serving.engine.statistics import Statistics
from mindspore_serving.engine.values import Instance

#: seconds between looks at a worker
_WATCH = 0.1
#: instances in a batch, at least, where nothing else limits them
_BATCH = 64


@dataclass(frozen=True)
class MethodInfo:
    """What a worker said of a method. `tensors`: type and shape of an instance's values where a model states them."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    batch: int
    only_models: bool
    tensors: dict[str, tuple[str, tuple[int, ...]]]

    @functools.cached_property
    def input_names(self) -> frozenset[str]:
        return frozenset(self.inputs)

    @functools.cached_property
    def batched_ranks(self) -> dict[str, int]:
        """Dimensions of the inputs that a model states, with those of a batch."""
        return {name: len(self.tensors[name][1]) + 1 for name in self.inputs if name in self.tensors}


def _method(info: dict[str, Any]) -> MethodInfo:
    tensors = {name: (dtype, tuple(shape)) for name, (dtype, shape) in info["tensors"].items()}
    return MethodInfo(tuple(info["inputs"]), tuple(info["outputs"]), info["batch"], info["only_models"], tensors)


class StartFailed(RuntimeError):
    pass


class Pool:
    """Workers for a location, all fed from one queue."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        location: Location,
        queue: RequestQueue,
        statistics: Statistics,
        key: bytes | None,
        mode: str,
        on_end: Callable[[], None],
        logs: str = "",
        group: tuple[Any, ...] = (),
    ) -> None:
        """`logs`: folder of the workers' log files; without it they write where the server does."""
        self.loop = loop
        self.location = location
        self.logs = logs
        self.group = group  # where agents of a distributed model come to
        self.queue = queue
        self.statistics = statistics
        self.key, self.mode = key, mode
        self.methods: dict[str, MethodInfo] = {}
        self.answered = 0
        self._on_end = on_end
        self._workers: list[_WorkerThread] = []
        self._lock = threading.Lock()
        self._stopped = False

    def start(self, names: Sequence[str]) -> None:
        """Start a worker for each name and wait until they are ready; RuntimeError with the reason if one is not."""
        fresh = [_WorkerThread(self, name) for name in names]
        self._workers += fresh  # first: a stop meanwhile stops these, too
        for worker in fresh:
            worker.thread.start()
        for worker in fresh:
            worker.ready.wait()
            if worker.failure is not None or self._stopped:
                self.stop()
                raise StartFailed(f"Fail to start workers: {worker.failure or 'the server was stopped'}")

    def describe(self, methods: dict[str, Any]) -> None:
        self.methods = {name: _method(info) for name, info in methods.items()}
        self.queue.sizes = {name: Size(info.batch, max(info.batch, _BATCH)) for name, info in self.methods.items()}

    def outputs(self, method: str) -> int:
        return len(self.methods[method].outputs)

    def note_answered(self, method: str, answered: list[tuple[Request, list[Instance | ServingError]]], now: float) -> None:
        self.answered += len(answered)
        self.statistics.note_batch(method, answered, now)

    def ended(self) -> None:
        """A worker's thread is at its end."""
        with self._lock:
            alive = any(worker.alive for worker in self._workers)
        if not alive:
            self.queue.close()
            self._on_end()

    @property
    def alive(self) -> int:
        return sum(worker.alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        return [worker.process.pid for worker in self._workers if worker.process is not None and worker.alive]

    def stop(self) -> None:
        self._stopped = True
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            if worker.thread is not threading.current_thread() and worker.thread.ident is not None:
                worker.thread.join()
        self.queue.close()


class _WorkerThread:
    def __init__(self, pool: Pool, name: str) -> None:
        self._pool = pool
        self._name = name
        self._log_mode = "wb"  # a file begins anew with the server, not with each worker
        self.thread = threading.Thread(target=self._run, name=f"worker {pool.location.name} {name}", daemon=True)
        self.ready = threading.Event()
        self.failure: str | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.alive = True
        self._channel: Channel | None = None
        self._stopping = self._loading = False

    def _run(self) -> None:
        try:
            while not self._stopping:
                channel = self._started()
                left = channel is None or self._watch(channel)
                self._reap()
                if left or self._stopping or not self._pool.answered:
                    break
                self._pool.statistics.worker_restarts += 1
                log.warning(f"a worker process of servable {self._pool.location.name} died, starting another")
        finally:
            self.alive = False
            self.ready.set()
            self._pool.ended()

    def _started(self) -> Channel | None:
        """A connection to a worker that is ready, or None. One that was killed meanwhile (by who needs memory, say) is started again."""
        for _ in range(ATTEMPTS):
            self.failure = None
            channel = self._start()
            if channel is not None or self._stopping or not self._was_killed():
                break
        if channel is None:
            self.failure = self.failure or "the worker was stopped"
        return channel

    def _was_killed(self) -> bool:
        self._reap()
        return self.process is not None and self.process.returncode == -signal.SIGKILL

    def _start(self) -> Channel | None:
        """A connection to a worker that is ready, or None."""
        self._loading = True
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                self.process = self._process(theirs.fileno())
            except OSError as error:  # no more processes, no place for logs
                mine.close()
                self.failure, self._loading = str(error), False
                return None
        if self._stopping:  # since before there was a process
            self.process.kill()
        channel = self._channel = Channel(mine)
        place = self._pool.location
        try:
            key = [] if self._pool.key is None else [self._pool.key]
            channel.send(
                {
                    "directory": place.directory,
                    "name": place.name,
                    "version": place.version,
                    "file": place.file,
                    "mode": self._pool.mode,
                    "group": self._pool.group,
                },
                key,
            )
            answer, _ = channel.receive()
        except Closed:
            answer = {"kind": "failed", "reason": "the server was stopped" if self._stopping else "death of one worker"}
        self._loading = False
        if answer["kind"] != "ready":
            self.failure = answer.get("reason", "the worker was stopped")
            return None
        self._pool.describe(answer["methods"])
        self.ready.set()
        return channel

    def _process(self, connection: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "mindspore_serving.engine.worker", str(connection)]
        with self._log_file() as log_file:
            return subprocess.Popen(command, pass_fds=[connection], env=child_environment(), stdout=log_file, stderr=log_file)

    def _log_file(self) -> AbstractContextManager[IO[bytes] | None]:
        """`log_<servable>_<worker>_version<n>.log`, as official."""
        if not self._pool.logs:
            return contextlib.nullcontext()
        os.makedirs(self._pool.logs, exist_ok=True)
        place = self._pool.location
        mode, self._log_mode = self._log_mode, "ab"
        return open(os.path.join(self._pool.logs, f"log_{place.name}_{self._name}_version{place.version or 1}.log"), mode)

    def _watch(self, channel: Channel) -> bool:
        """Let the loop feed the worker until it ends; True if it left in good order."""
        feeder = Feeder(self._pool.loop, channel, self._pool)
        feeder.begin()
        while not feeder.ended.wait(_WATCH):
            died = self.process is not None and self.process.poll() is not None
            if self._stopping or (died and not feeder.ended.wait(_WATCH)):  # its last words are read first
                feeder.end()
                feeder.ended.wait()
        return feeder.left

    def _reap(self) -> None:
        if self._channel is not None:
            self._channel.close()
        process = self.process
        if process is None:
            return
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self) -> None:
        self._stopping = True
        if self._loading and self.process is not None:  # it would hear of it when it has loaded its models
            self.process.kill()
