"""Arrays between processes by MPI.

Each collective is begun by a non-blocking call and waited for, so blocking and asynchronous operations are one thing
(`Pending`). Sends are complete for the caller at once: the message is copied and delivered in the background, so two
processes may send to each other before they receive.

Reductions: short floats travel and are summed in float32. MPI leaves open what the maximum with a NaN is, so maxima
and minima of floats are gathered and computed here, as are types that MPI does not know.
"""

from __future__ import annotations

import atexit
import ctypes
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from mindspore._base import mpi
from mindspore.backends.cpu.outbox import Outbox
from mindspore.prims import world
from mindspore.prims.world import Expected, Message
from mindspore.runtime.transports import watchdog


class Pending:
    """An operation under way: `wait()` gives its result. What it reads and writes is kept until then."""

    #: done before waiting
    check: Callable[[], None] | None = None

    def __init__(self, requests: list[int], what: watchdog.Waiting, finish: Callable[[], Any], *keep: Any):
        self.requests = (ctypes.c_void_p * max(len(requests), 1))(*requests)
        self.count = len(requests)
        self.what = what
        self.finish = finish
        self.keep: tuple | None = keep
        self.result: Any = None

    def wait(self) -> Any:
        if self.keep is not None:
            if self.check is not None:
                self.check()
            with watchdog.waiting(self.what):
                mpi.call("MPI_Waitall", self.count, ctypes.addressof(self.requests), 0)
            self.result, self.keep = self.finish(), None
        return self.result

    def test(self) -> bool:
        """Whether it is complete, without waiting."""
        flag = ctypes.c_int()
        mpi.call("MPI_Testall", self.count, ctypes.addressof(self.requests), ctypes.byref(flag), 0)
        return bool(flag.value)


class MpiTransport(world.NativeTransport):
    """The processes that one `mpiexec` started."""

    def __init__(self) -> None:
        mpi.start()
        self.rank = mpi.integer("MPI_Comm_rank", mpi.WORLD)
        self.size = mpi.integer("MPI_Comm_size", mpi.WORLD)
        self._communicators: dict[tuple[int, ...], int] = {tuple(range(self.size)): mpi.WORLD}
        self._sent: deque[Pending] = deque()  # messages that may still be under way
        self._outbox: Outbox | None = None  # those of native code
        self._own: dict[int, deque[np.ndarray]] = {}  # messages to this process itself, by tag
        self._watch = watchdog.watch(self.rank)
        self.cell = ctypes.addressof(self._watch.cell)
        atexit.register(self._leave)

    def communicator(self, ranks: tuple[int, ...]) -> int:
        found = self._communicators.get(ranks)
        if found is None:
            found = self._communicators[ranks] = self._new_communicator(ranks)
        return found

    def _new_communicator(self, ranks: tuple[int, ...]) -> int:
        """All members come here when they first use the group; the tag tells groups made at the same time apart."""
        everyone = mpi.handle("MPI_Comm_group", mpi.WORLD)
        group = mpi.handle("MPI_Group_incl", everyone, len(ranks), (ctypes.c_int * len(ranks))(*ranks))
        tag = hash(ranks) % mpi.UNSIGNED_MAX_TAG
        with watchdog.waiting(watchdog.Waiting("create_group", ranks)):
            made = mpi.handle("MPI_Comm_create_group", mpi.WORLD, group, tag)
        for used in (everyone, group):
            mpi.call("MPI_Group_free", ctypes.byref(ctypes.c_void_p(used)))
        return made

    # -- for native code ----------------------------------------------------------------------------------------------
    def outbox(self) -> int:
        if self._outbox is None:
            self._outbox = Outbox()
        return self._outbox.address

    def note(self, name: str, ranks: tuple[int, ...], description: str, location: str) -> int:
        return self._watch.note(watchdog.Waiting(name, ranks, description, location))

    def described(self, note: int) -> str:
        return self._watch.notes[note - 1].described()

    def comparisons(self, ranks: tuple[int, ...]) -> tuple[int, int]:
        return ctypes.addressof(self._watch.counter(self.communicator(ranks))), watchdog.COMPARED

    def failed(self, note: int, different: bool) -> NoReturn:
        what = self._watch.notes[note - 1]
        if different:
            watchdog.report_difference(what, self.communicator(what.ranks))
        raise mpi.MpiError(f"{what} failed: {mpi.describe(self._watch.cell[2])}")

    # -- messages ---------------------------------------------------------------------------------------------------
    def exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> list[np.ndarray]:
        return self.start_exchange(sends, receives, tag).wait()

    def start_exchange(self, sends: list[Message], receives: list[Expected], tag: int = 0) -> Pending:
        while self._sent and self._sent[0].test():
            self._sent.popleft()
        for message in sends:
            self._send(message, tag)
        results, requests = [], []
        for expected in receives:
            self._check_rank(expected.source)
            if expected.source == self.rank:
                results.append(self._own_message(expected, tag))
                continue
            result = np.empty(expected.shape, expected.dtype)
            results.append(result)
            requests.append(self._begin("MPI_Irecv_c", _at(result), result.nbytes, mpi.BYTE, expected.source, tag, mpi.WORLD))
        sources = tuple(e.source for e in receives)
        return Pending(requests, watchdog.Waiting("Receive", (self.rank, *sources)), lambda: results, results)

    def _send(self, message: Message, tag: int) -> None:
        self._check_rank(message.to)
        array = np.array(message.array, order="C")
        if message.to == self.rank:
            self._own.setdefault(tag, deque()).append(array)
            return
        request = self._begin("MPI_Isend_c", _at(array), array.nbytes, mpi.BYTE, message.to, tag, mpi.WORLD)
        self._sent.append(Pending([request], watchdog.Waiting("Send", (self.rank, message.to)), lambda: None, array))

    def _deliver(self) -> None:
        while self._sent:
            self._sent.popleft().wait()
        if self._outbox is not None:
            with watchdog.waiting(watchdog.Waiting("Send", (self.rank,))):
                self._outbox.deliver()

    def _own_message(self, expected: Expected, tag: int) -> np.ndarray:
        waiting = self._own.get(tag)
        if not waiting:
            raise RuntimeError("receiving from this process itself would wait forever: nothing was sent before.")
        return world.as_expected(waiting.popleft(), expected)

    def _check_rank(self, rank: int) -> None:
        if not 0 <= rank < self.size:
            raise ValueError(f"there is no process of rank {rank}: this run has {self.size}, from 0 on.")

    @staticmethod
    def _begin(function: str, *arguments: Any) -> int:
        return mpi.handle(function, *arguments)

    # -- collectives ------------------------------------------------------------------------------------------------
    def _collective(self, name: str, ranks: tuple[int, ...], description: str) -> watchdog.Waiting:
        """Note what is about to be waited for; the first collectives of a group must be the same on all members."""
        what = watchdog.Waiting(name, ranks, description)
        watchdog.same_everywhere(what, self.communicator(ranks))()
        return what

    def _begun(
        self, now: bool, what: watchdog.Waiting, finish: Callable[[], Any], keep: tuple, function: str, *arguments: Any
    ) -> Pending:
        """A collective begun. Unless it is awaited `now`, others may come to it later: then it is compared when it is awaited."""
        check = watchdog.same_everywhere(what, self.communicator(what.ranks))
        if now:
            check()
        pending = Pending([self._begin(function, *arguments)], what, finish, *keep)
        pending.check = None if now else check
        return pending

    def barrier(self, ranks: tuple[int, ...]) -> None:
        what = self._collective("Barrier", ranks, "")
        request = self._begin("MPI_Ibarrier", self.communicator(ranks))
        Pending([request], what, lambda: None).wait()

    def all_gather(self, array: np.ndarray, ranks: tuple[int, ...]) -> list[np.ndarray]:
        return self.start_all_gather(array, ranks, now=True).wait()

    def start_all_gather(self, array: np.ndarray, ranks: tuple[int, ...], now: bool = False) -> Pending:
        source = np.ascontiguousarray(array).reshape(array.shape) if now else np.array(array, order="C")  # it may change meanwhile
        what = watchdog.Waiting("AllGather", ranks, watchdog.kind_of(source))
        result = np.empty((len(ranks), *source.shape), source.dtype)
        return self._begun(
            now, what, lambda: list(result), (source, result),
            "MPI_Iallgather_c", _at(source), source.nbytes, mpi.BYTE, _at(result), source.nbytes, mpi.BYTE,
            self.communicator(ranks),
        )  # fmt: skip

    def all_to_all(self, parts: list[np.ndarray], expected: list[tuple[Any, Any]], ranks: tuple[int, ...]) -> list:
        return self.start_all_to_all(parts, expected, ranks, now=True).wait()

    def start_all_to_all(
        self, parts: list[np.ndarray], expected: list[tuple[Any, Any]], ranks: tuple[int, ...], now: bool = False
    ) -> Pending:
        sources = [np.ascontiguousarray(p) for p in parts]
        results = [np.empty(shape, dtype) for shape, dtype in expected]
        sent = np.frombuffer(b"".join(p.tobytes() for p in sources), np.uint8)
        got = np.empty(sum(r.nbytes for r in results), np.uint8)
        counts = [np.array([a.nbytes for a in arrays], np.int64) for arrays in (sources, results)]
        starts = [np.concatenate([[0], np.cumsum(c)[:-1]]).astype(np.int64) for c in counts]
        def finish() -> list[np.ndarray]:
            for result, start in zip(results, starts[1]):
                result.reshape(-1).view(np.uint8)[:] = got[start : start + result.nbytes]
            return results

        return self._begun(
            now, watchdog.Waiting("AlltoAll", ranks), finish, (sent, got, counts, starts),
            "MPI_Ialltoallv_c", _at(sent), _at(counts[0]), _at(starts[0]), mpi.BYTE,
            _at(got), _at(counts[1]), _at(starts[1]), mpi.BYTE, self.communicator(ranks),
        )  # fmt: skip

    def broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...]) -> np.ndarray:
        return self.start_broadcast(array, root, ranks, now=True).wait()

    def start_broadcast(self, array: np.ndarray, root: int, ranks: tuple[int, ...], now: bool = False) -> Pending:
        result = np.array(array, order="C")
        what = watchdog.Waiting("Broadcast", ranks, f"{watchdog.kind_of(result)} from rank {root}")
        return self._begun(
            now, what, lambda: result, (result,),
            "MPI_Ibcast_c", _at(result), result.nbytes, mpi.BYTE, ranks.index(root), self.communicator(ranks),
        )  # fmt: skip

    def all_reduce(self, array: np.ndarray, op: str, ranks: tuple[int, ...]) -> np.ndarray:
        return self.start_all_reduce(array, op, ranks, now=True).wait()

    def start_all_reduce(self, array: np.ndarray, op: str, ranks: tuple[int, ...], now: bool = False) -> Pending:
        wire = wire_type(array.dtype, op)
        if wire is None:
            pending = self.start_all_gather(array, ranks, now)
            gathered = pending.finish
            pending.finish = lambda: world.reduce_arrays(op, gathered())
            return pending
        result = np.array(array, wire, order="C")
        what = watchdog.Waiting("AllReduce", ranks, f"{op} of {watchdog.kind_of(result)}")
        operation, dtype = mpi.OPERATIONS["sum" if op == "avg" else op], array.dtype
        return self._begun(
            now, what, lambda: world.averaged(result, op, len(ranks)).astype(dtype, copy=False), (result,),
            "MPI_Iallreduce_c", mpi.IN_PLACE, _at(result), result.size, mpi.TYPES[wire], operation, self.communicator(ranks),
        )  # fmt: skip

    def close(self) -> None:
        self._deliver()
        for communicator in self._communicators.values():
            if communicator not in (mpi.WORLD, mpi.NO_COMMUNICATOR):
                mpi.call("MPI_Comm_free", ctypes.byref(ctypes.c_void_p(communicator)))
        self._communicators = {tuple(range(self.size)): mpi.WORLD}

    def _leave(self) -> None:
        """At the end of the program: leave together, or, after an error, at once, which ends the others too."""
        if watchdog.failed():
            watchdog.flush_and_exit(1)
        self._deliver()
        with watchdog.leaving():
            mpi.finish()


def wire_type(dtype: np.dtype, op: str) -> str | None:
    """The element type in which MPI combines arrays; None where it would not do as NumPy does."""
    short = dtype.itemsize <= 2 and dtype.kind not in "iub"
    if dtype.kind not in "iu" and op in ("max", "min"):
        return None
    name = "float32" if short else dtype.name
    return name if name in mpi.TYPES else None


def _at(array: np.ndarray) -> int:
    return array.ctypes.data
