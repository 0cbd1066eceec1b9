"""The queue of one version of a servable: requests wait here, workers take batches of them.

Batches make themselves: while a worker is busy requests collect, and it takes all of one method at once, up to what the
method's model takes; workers that are free share what waits, as far as their models' batches stay full. Before a free worker gets
a few requests the loop turns some times, and again when more have come: where the loop has nothing else to do that takes microseconds,
and where it has, what comes meanwhile goes along, which spares messages. `delay` lets a request wait longer. A request that was in a
batch whose worker died comes back to the head and goes out alone, so that one that kills workers takes no other with it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mindspore_serving.engine.errors import Kind, Overloaded, ServingError
from mindspore_serving.engine.values import Instance

#: how many workers a request may see die
ATTEMPTS = 3
#: turns of the loop without a new request after which a free worker gets what waits, seconds the first one may wait for that, and
#: requests that are worth a message
_TURNS, _LONGEST, _ENOUGH = 16, 0.002, 16


class QueueClosed(ServingError):
    """The version is being stopped; another may have taken its place."""

    def __init__(self) -> None:
        super().__init__("servable is not available", Kind.UNAVAILABLE)


class Size(NamedTuple):
    """Instances in a batch of a method: `full` is what its model takes at once, `most` what is given at once."""

    full: int
    most: int


class Waiter(Protocol):
    """Who gets answers, in the server's loop: a future, or somebody who needs no turn of the loop to go on."""

    def cancelled(self) -> bool:
        """Whether the answers are no longer wanted."""

    def done(self) -> bool:
        """Whether the answers are there or no longer wanted."""

    def set_result(self, answers: list[Instance | ServingError], /) -> object:
        """Take the answers; raises nothing."""


@dataclass(eq=False)
class Request:
    """Instances for a method; `waiter` gets their answers."""

    method: str
    instances: list[Instance]
    waiter: Waiter
    deadline: float | None = None
    priority: int = 0
    attempts: int = 0
    queued_at: float = field(default_factory=time.monotonic)
    started_at: float = 0.0

    @property
    def wanted(self) -> bool:
        return not self.waiter.cancelled()

    @property
    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline


class Worker(Protocol):
    """Who takes a batch, and offers itself again when it has answered."""

    def give(self, batch: list[Request]) -> None: ...


class RequestQueue:
    """The server's loop puts requests in and gives batches to workers that offer themselves; other threads seal, close, drain."""

    def __init__(self, loop: asyncio.AbstractEventLoop, delay: float = 0.0) -> None:
        self._loop = loop
        self._delay = delay
        self._waiting: deque[Request] = deque()
        self._free: deque[Worker] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._announced = False  # whether the loop will give out what waits
        self.sizes: dict[str, Size] = {}
        self.unfinished = 0  # waiting or with a worker

    # -- in the loop

    def put(self, request: Request, limit: int) -> None:
        with self._changed:
            if self._closed:
                raise QueueClosed
            if self.unfinished >= limit:
                raise Overloaded(limit)
            self.unfinished += 1
            place = len(self._waiting)
            while place and self._waiting[place - 1].priority > request.priority:
                place -= 1
            self._waiting.insert(place, request)
        if not self._announced and self._free:
            self._announced = True
            if self._delay and len(self._waiting) == 1:
                self._loop.call_later(self._delay, self._give_out)
            else:
                self._loop.call_soon(self._collect, _TURNS, 1)

    def offer(self, worker: Worker) -> None:
        """A worker is free."""
        self._free.append(worker)
        if self._waiting and not self._announced:
            self._announced = True
            self._collect(_TURNS, len(self._waiting))

    def withdraw(self, worker: Worker) -> None:
        """A worker takes nothing more."""
        if worker in self._free:
            self._free.remove(worker)

    def _collect(self, turns: int, seen: int) -> None:
        """Give out what waits when it is enough, or nothing has come to those `seen` in so many turns of the loop."""
        count = len(self._waiting)
        left = _TURNS if count > seen else turns - 1
        if left and 0 < count < _ENOUGH and time.monotonic() - self._waiting[0].queued_at < _LONGEST:
            self._loop.call_soon(self._collect, left, count)
        else:
            self._give_out()

    def _give_out(self) -> None:
        self._announced = False
        while self._free and self._waiting:
            batch = self._take()
            if batch:
                self._free.popleft().give(batch)

    def put_back(self, requests: list[Request]) -> None:
        """Requests whose worker died."""
        hopeless = [request for request in requests if request.attempts >= ATTEMPTS]
        with self._changed:
            self._waiting.extendleft(reversed([request for request in requests if request.attempts < ATTEMPTS]))
        self.fail(
            hopeless,
            ServingError("servable is not available: the worker process died repeatedly on this request", Kind.UNAVAILABLE),
        )
        self._give_out()

    def _take(self) -> list[Request]:
        """A batch: requests of one method, none of them late or given up."""
        with self._changed:
            batch = self._pick(self.sizes)
        late = [request for request in batch if request.late]
        if late:
            self.fail(late, ServingError("the deadline of the request has passed", Kind.DEADLINE))
            batch = [request for request in batch if request not in late]
        now = time.monotonic()
        for request in batch:
            request.attempts += 1
            request.started_at = now
        return batch

    def _limit(self, method: str, sizes: dict[str, Size]) -> int:
        """How many instances of a method one worker takes now."""
        if len(self._free) < 2:
            return sizes[method].most
        waiting = sum(len(request.instances) for request in self._waiting if request.method == method)
        return min(max(-(-waiting // len(self._free)), sizes[method].full), sizes[method].most)

    def _pick(self, sizes: dict[str, Size]) -> list[Request]:
        batch: list[Request] = []
        rest: deque[Request] = deque()
        count = 0
        first = self._waiting[0].method if self._waiting else ""
        limit = self._limit(first, sizes) if first else 0
        while self._waiting:
            request = self._waiting.popleft()
            if not request.wanted:
                self.unfinished -= 1
            elif not batch:
                batch, count = [request], len(request.instances)
                limit = limit if request.method == first else sizes[request.method].most
            elif (
                request.method == batch[0].method
                and not request.attempts
                and not batch[0].attempts
                and count + len(request.instances) <= limit
            ):
                batch.append(request)
                count += len(request.instances)
            else:
                rest.append(request)
                if count >= limit or batch[0].attempts:
                    break
        rest.extend(self._waiting)
        self._waiting = rest
        return batch

    def finish(self, answered: list[tuple[Request, list[Instance | ServingError]]]) -> None:
        if not answered:
            return
        with self._changed:
            self.unfinished -= len(answered)
            self._changed.notify_all()
        for request, answers in answered:
            if not request.waiter.done():
                request.waiter.set_result(answers)

    def fail(self, requests: list[Request], error: ServingError) -> None:
        self.finish([(request, [error] * len(request.instances)) for request in requests])

    # -- in any thread

    def seal(self) -> None:
        """No more requests; those that wait are still answered."""
        with self._changed:
            self._closed = True

    def close(self) -> None:
        """No more requests; those that wait are refused."""
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
        if waiting:
            self._loop.call_soon_threadsafe(self.fail, waiting, QueueClosed())

    def drain(self, timeout: float) -> bool:
        """Wait until all requests are answered."""
        with self._changed:
            return self._changed.wait_for(lambda: self.unfinished == 0, timeout)
