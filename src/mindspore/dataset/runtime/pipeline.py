"""A running pipeline: epochs of rows, prepared by a thread of its own ahead of the consumer.

The consumer sees rows, then the end of the epoch, then the rows of the next. An error in the pipeline is raised where
the consumer asks for the row that failed. `close` stops everything and may be called at any time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from typing import Any

from mindspore.dataset.ir.leaf import Row
from mindspore.dataset.ir.node import Node, number, rebuild
from mindspore.dataset.ir.ops import MapNode, SyncWaitNode
from mindspore.dataset.opt import optimise
from mindspore.dataset.runtime.build import build
from mindspore.dataset.runtime.context import RunContext
from mindspore.dataset.runtime.operators import Operator
from mindspore.dataset.settings import settings

END_OF_EPOCH = object()


class Pipeline:
    """The rows of `num_epochs` epochs (-1: without end) of a tree."""

    def __init__(self, root: Node, num_epochs: int = -1, context: RunContext | None = None):
        self.context = context or RunContext()
        self.num_epochs = num_epochs
        self.context.num_epochs = num_epochs
        self.tree = optimise(number(root))
        self.operator: Operator = build(self.tree, self.context)
        self.columns = self.operator.columns
        self._feeder: _Feeder | None = None
        self._take: Callable[[], Any] | None = None
        self._start = (0, 0)

    def start_at(self, epoch: int, row: int) -> None:
        """Begin at a row of an epoch; only before the first row is asked for."""
        self._start = (epoch, row)

    def __next__(self) -> Any:
        """The next row, or END_OF_EPOCH; StopIteration after the last epoch."""
        if self._take is None:
            self._take = self._started()
        return self._take()

    def _started(self) -> Callable[[], Any]:
        if self.context.synchronous or self.operator.light():
            return events(self.operator, self.num_epochs, self._start).__next__
        self._feeder = _Feeder(self.operator, self.num_epochs, self._start)
        return self._feeder.get

    def close(self) -> None:
        if self._feeder is not None:
            self._feeder.stop(self.operator.interrupt)
        self.operator.close()


def events(operator: Operator, num_epochs: int, start: tuple[int, int]) -> Generator:
    """Rows and ends of epochs, one after the other."""
    epoch, row = start
    while num_epochs == -1 or epoch < num_epochs:
        for _, values in operator.stream(epoch, row):
            yield values
        yield END_OF_EPOCH
        epoch, row = epoch + 1, 0


class _Feeder:
    """The thread that runs the pipeline ahead of the consumer.

    The consumer puts a token into one queue for each row it takes from the other; the thread takes a token before it
    hands a row over. Both queues are written in C: unlike those of Python classes (`queue.Queue`, `threading.Event`)
    their locks cannot be left behind by an interrupt.
    """

    def __init__(self, operator: Operator, num_epochs: int, start: tuple[int, int]):
        self._rows: queue.SimpleQueue = queue.SimpleQueue()
        self._room = _Room(max(settings().prefetch_size, 1))
        self._finished = False
        arguments = (events(operator, num_epochs, start), self._rows, self._room)
        self._thread = threading.Thread(target=_feed, args=arguments, daemon=True, name="mindspore-data-feeder")
        self._thread.start()

    def get(self) -> Any:
        if self._finished:
            raise StopIteration
        watch = settings().stopwatch
        if watch is not None:
            watch.asked(self._rows.qsize())
        self._room.add()  # before the row is taken: an interrupt in between must not make the room smaller
        kind, value = self._rows.get()
        if kind == "row":
            return value
        self._finished = True
        if kind == "error":
            raise value
        raise StopIteration

    def stop(self, interrupt: Callable[[], None]) -> None:
        """Ask the thread to end and wait for it, unless it is the caller or hangs in user code."""
        self._room.close()
        interrupt()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5)


class _Room:
    """How many more rows may be handed over."""

    def __init__(self, rows: int):
        self._tokens: queue.SimpleQueue = queue.SimpleQueue()
        self._closed = False
        for _ in range(rows):
            self.add()

    def add(self) -> None:
        self._tokens.put(None)

    def take(self) -> bool:
        """Wait for room; False when no more rows are wanted."""
        if not self._closed:
            self._tokens.get()
        return not self._closed

    def close(self) -> None:
        self._closed = True
        self.add()  # wakes the thread that waits


def _feed(stream: Generator, rows: queue.SimpleQueue, room: _Room) -> None:
    try:
        for value in stream:
            if not room.take():
                return
            rows.put(("row", value))
        rows.put(("end", None))
    except BaseException as error:  # raised where the rows are fetched, also what ends a program: who waits there must not wait forever
        rows.put(("error", error))
    finally:
        stream.close()


def run_once(dataset: Any) -> tuple[list[str], Generator[Row, None, None]]:
    """Columns and rows of one epoch, in the calling thread, without workers and unseen by callbacks."""
    tree = rebuild(dataset._node if hasattr(dataset, "_node") else dataset, without_side_effects)
    pipeline = Pipeline(tree, 1, RunContext(synchronous=True))

    def rows() -> Generator[Row, None, None]:
        try:
            for _, row in pipeline.operator.stream(0):
                yield row
        finally:
            pipeline.close()

    return pipeline.columns, rows()


def without_side_effects(node: Node) -> Node:
    if isinstance(node, SyncWaitNode):
        return node.children[0]
    if isinstance(node, MapNode) and node.callbacks:
        node = node.with_children(*node.children)
        node.callbacks = []
    return node


def count_rows(node: Node) -> int:
    """Rows of one epoch, found by running it."""
    return sum(1 for _ in run_once(node)[1])
