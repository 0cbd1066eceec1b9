"""A worker as the server's loop sees it: free, or with a batch whose answers have not come yet.

The loop itself writes batches to the worker's socket and reads answers from it. A thread in between cost more than small models do:
two wake-ups a batch, and a fight for the interpreter with the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Protocol

from mindspore_serving.engine.answers import answers_of
from mindspore_serving.engine.channel import SHARED_FROM, Channel, Closed
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.queue import Request, RequestQueue
from mindspore_serving.engine.values import Instance, Value, nbytes


class Served(Protocol):
    """What a feeder needs to know of its pool."""

    queue: RequestQueue

    def outputs(self, method: str) -> int:
        """Values of an answer."""

    def note_answered(self, method: str, answered: list[tuple[Request, list[Instance | ServingError]]], now: float) -> None:
        """For statistics."""


class Feeder:
    """`begin` and `end` are called in any thread; `ended` is set when the worker gets nothing more."""

    def __init__(self, loop: asyncio.AbstractEventLoop, channel: Channel, pool: Served) -> None:
        self._loop, self._channel, self._pool = loop, channel, pool
        self._batch: list[Request] = []
        self.ended = threading.Event()
        self.left = False  # the worker has said goodbye: it did not die

    def begin(self) -> None:
        self._loop.call_soon_threadsafe(self._begin)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._end)

    # -- in the loop

    def _begin(self) -> None:
        self._loop.add_reader(self._channel.fileno(), self._answered)
        self._pool.queue.offer(self)

    def _end(self) -> None:
        if self.ended.is_set():
            return
        self._loop.remove_reader(self._channel.fileno())
        self._pool.queue.withdraw(self)
        batch, self._batch = self._batch, []
        self._pool.queue.put_back(batch)
        self.ended.set()

    def give(self, batch: list[Request]) -> None:
        """Send a batch to the worker, which is free; if it has died, the socket says so next."""
        self._batch = batch
        values = [value for request in batch for instance in request.instances for value in instance]
        if sum(map(nbytes, values)) < SHARED_FROM:
            self._send(batch[0].method, values)
        else:  # copying that much would keep everybody waiting
            threading.Thread(target=self._send, args=(batch[0].method, values), name="send", daemon=True).start()

    def _send(self, method: str, values: list[Value]) -> None:
        with contextlib.suppress(Closed):  # `_answered` sees it, too, and the batch goes to another worker
            self._channel.send({"method": method}, values)

    def _answered(self) -> None:
        try:
            message, values = self._channel.receive()
        except Closed:
            self._end()
            return
        if message["kind"] == "leaving":
            self.left = True
            self._end()
            return
        batch, self._batch = self._batch, []
        method = batch[0].method
        count = sum(len(request.instances) for request in batch)
        answers = answers_of(message, values, count, self._pool.outputs(method))
        answered, at = [], 0
        for request in batch:
            answered.append((request, answers[at : at + len(request.instances)]))
            at += len(request.instances)
        self._pool.note_answered(method, answered, time.monotonic())
        self._pool.queue.offer(self)  # it works while its answers are sent
        self._pool.queue.finish(answered)


__all__ = ["Feeder", "Served"]
