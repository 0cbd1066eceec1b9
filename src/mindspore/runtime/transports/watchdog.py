"""Who waits for whom: a thread that notices when a collective does not end, and says where.

Whoever is about to wait notes what for (`waiting`); native steps of a graph store the number of a note in a cell of memory
instead. A thread looks every half second and tells the meeting point of the run (`_base/rendezvous.py`) what has lasted a
second. After `MS_NODE_TIMEOUT` seconds (300), or as soon as a process that is waited for has left its program, it reports
which process waits where, and ends this one; so it does when the meeting point says that a process was lost. The launcher
then ends the others. Looks are counted, not the clock: a machine that slept has not timed out.

What a process has to store before it ends is done then, by the thread (`before_the_end`): the program itself may wait forever.

The first collectives of a group, and each graph's when it first runs, are compared between its members before they begin
(`same_everywhere`), so ranks whose programs differ get an error that shows both sides, not a hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mindspore._base import flags, mpi, rendezvous

_LOOK_EVERY = 0.5
_WORTH_TELLING = 2  # looks
_SIGN_OF_LIFE = 2  # looks
COMPARED = 100  # collectives of each group
_TEXT = 512


class Waiting(NamedTuple):
    """What a process waits for: an operation of some processes."""

    name: str
    ranks: tuple[int, ...]
    description: str = ""
    location: str = ""

    def described(self) -> str:
        return f"{self.name} ({self.description})" if self.description else self.name

    def __str__(self) -> str:
        what = self.described()
        where = f" at {self.location}" if self.location else ""
        return f"{what} of ranks {list(self.ranks)}{where}"


class Watch:
    """What this process waits for, seen by the thread."""

    def __init__(self, rank: int, meets: bool = True):
        """`meets`: there is a meeting point of ours, at MS_SCHED_HOST:MS_SCHED_PORT, which knows of the other processes."""
        self.rank = rank
        self.failed = False
        self.leaving = False
        self.current: tuple[int, Waiting] | None = None  # by which thread
        self.began = 0  # operations waited for so far
        self.cell = (ctypes.c_int64 * 3)()  # of native steps: how many began, the number of the note, from 1, and the last status
        self.notes: list[Waiting] = []
        self.compared: dict[int, ctypes.c_int64] = {}  # by communicator: how often its members compared what they do
        self.timeout = flags.integer("MS_NODE_TIMEOUT", 300)
        self.line = self._connected() if meets else None
        self.last_words: list[Callable[[], object]] = []
        self.stopped = threading.Event()
        self.main = threading.main_thread().ident or 0
        self.thread = threading.Thread(target=self._run, name="collectives", daemon=True)
        self.thread.start()

    def counter(self, communicator: int) -> ctypes.c_int64:
        return self.compared.setdefault(communicator, ctypes.c_int64())

    def note(self, what: Waiting) -> int:
        """The number by which native steps name an operation."""
        self.notes.append(what)
        return len(self.notes)

    def _connected(self) -> rendezvous.Line | None:
        host, port = flags.text("MS_SCHED_HOST"), flags.integer("MS_SCHED_PORT")
        return rendezvous.Line(host, port, self.rank, self.lost) if host and port else None

    def _run(self) -> None:
        last: Any = None
        looks = count = 0
        while not self.stopped.wait(_LOOK_EVERY):
            seen = (self.began, self.cell[0])
            what = self._seen()
            looks = looks + 1 if what is not None and seen == last else 0
            last, count = seen, count + 1
            long = what is not None and looks >= _WORTH_TELLING
            if self.line is not None and count % _SIGN_OF_LIFE == 0:
                self.line.state(self._state(what if long else None))
            if what is not None and long:
                self._judge(what, looks)

    def _seen(self) -> Waiting | None:
        if self.current is not None:
            thread, what = self.current
            return what._replace(location=_line_of(thread))
        number = self.cell[1]
        if not number:
            return None
        what = self.notes[number - 1]
        return what if what.location else what._replace(location=_line_of(self.main))

    def _state(self, what: Waiting | None) -> str:
        if self.leaving:
            return rendezvous.ENDED
        return f"waits in {what}" if what is not None else ""

    def _judge(self, what: Waiting, looks: int) -> None:
        states = self.line.others() if self.line is not None and looks % _SIGN_OF_LIFE == 0 else {}
        others = {rank: states.get(rank, "") for rank in what.ranks if rank != self.rank}
        if looks * _LOOK_EVERY < self.timeout and rendezvous.ENDED not in others.values():
            return
        lines = [f"rank {self.rank} has waited {looks * _LOOK_EVERY:.0f} s in {what}."]
        lines += [f"  rank {rank} {text or 'is in no collective, or does not run'}" for rank, text in others.items()]
        _end("\n".join(lines))

    def lost(self, text: str) -> None:
        """The run cannot go on: say so, and where this process was."""
        if not self.stopped.is_set():
            what = self._seen()
            _end(f"rank {self.rank} ends: {text}." + (f" It waited in {what}." if what is not None else ""))


def _end(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
    for say in _Process.watch.last_words if _Process.watch is not None else ():
        try:
            say()
        except Exception:  # reported; this process ends all the same
            traceback.print_exc()
    flush_and_exit(1)


@contextlib.contextmanager
def before_the_end(action: Callable[[], object]) -> Iterator[None]:
    """Within, a process that is about to end because the run is lost calls `action` first; the launcher waits for it."""
    here = _Process.watch
    if here is None:
        yield
        return
    here.last_words.append(action)
    if here.line is not None:
        here.line.last_words()
    try:
        yield
    finally:
        here.last_words.remove(action)


class _Process:
    watch: Watch | None = None


def watch(rank: int, meets: bool = True) -> Watch:
    """Begin to look after this process."""
    if _Process.watch is None:
        _Process.watch = Watch(rank, meets)
        _notice_errors(_Process.watch)
    return _Process.watch


def _notice_errors(here: Watch) -> None:
    """After an exception that nobody caught the process must not wait for the others at its end."""
    shown = sys.excepthook

    def hook(*error: Any) -> None:
        here.failed = True
        shown(*error)

    sys.excepthook = hook


def failed() -> bool:
    return _Process.watch is not None and _Process.watch.failed


@contextlib.contextmanager
def leaving() -> Iterator[None]:
    """Within, this process waits for the others to leave their programs, too; afterwards it is gone."""
    here = _Process.watch
    if here is not None:
        here.leaving = True
        if here.line is not None:
            here.line.state(rendezvous.ENDED)
    yield
    if here is not None:
        here.stopped.set()
        here.thread.join(timeout=5)
        if here.line is not None:
            here.line.end()


def flush_and_exit(status: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@contextlib.contextmanager
def waiting(what: Waiting) -> Iterator[None]:
    """Note that this thread waits for an operation."""
    here = _Process.watch
    if here is None:
        yield
        return
    here.began += 1
    before, here.current = here.current, (threading.get_ident(), what)
    try:
        yield
    finally:
        here.current = before


def _line_of(thread: int) -> str:
    """The innermost line of a thread that is not in this package."""
    package = str(Path(__file__).parents[2])
    frame = sys._current_frames().get(thread)
    for summary in reversed(traceback.extract_stack(frame)) if frame is not None else ():
        if not summary.filename.startswith((package, "<")):
            return f"{summary.filename}:{summary.lineno}"
    return ""


def same_everywhere(what: Waiting, communicator: int) -> Callable[[], None]:
    """Begin to compare what all members of a group are about to do. The function given waits, and raises if they differ.

    Only the first operations of a group are compared.
    """
    here = _Process.watch
    if here is None or (counter := here.counter(communicator)).value >= COMPARED:
        return lambda: None
    counter.value += 1
    digest = digest_of(what)
    extremes = np.array([digest, -digest], np.int64)
    arguments = (mpi.IN_PLACE, extremes.ctypes.data, 2, mpi.TYPES["int64"], mpi.OPERATIONS["max"], communicator)
    request = (ctypes.c_void_p * 1)(mpi.handle("MPI_Iallreduce_c", *arguments))

    def check() -> None:
        with waiting(what):
            mpi.call("MPI_Waitall", 1, ctypes.addressof(request), 0)
        if extremes[0] != -extremes[1]:
            report_difference(what, communicator)

    return check


def report_difference(what: Waiting, communicator: int) -> NoReturn:
    """All members come here; each learns what the others wanted to do."""
    mine, everyone = as_text(what), np.empty((len(what.ranks), _TEXT), np.uint8)
    mpi.call(
        "MPI_Allgather_c", mine.ctypes.data, _TEXT, mpi.BYTE, everyone.ctypes.data, _TEXT, mpi.BYTE, communicator
    )
    raise difference(what, list(everyone))


def as_text(what: Waiting) -> np.ndarray:
    """What this process is about to do, and where, in so many bytes on all processes."""
    placed = what._replace(location=what.location or _line_of(threading.get_ident()))
    return np.frombuffer(str(placed).encode()[:_TEXT].ljust(_TEXT), np.uint8)


def difference(what: Waiting, texts: list[np.ndarray]) -> RuntimeError:
    """The error of members who are about to do different things."""
    sides = [bytes(row).decode(errors="replace").rstrip() for row in texts]
    lines = [f"  rank {rank}: {text}" for rank, text in zip(what.ranks, sides)]
    return RuntimeError("The processes of a group call different collectives, or in different order:\n" + "\n".join(lines))


def kind_of(array: np.ndarray) -> str:
    """Element type and shape, as reports show them."""
    return f"{array.dtype}{list(array.shape)}"


def digest_of(what: Waiting) -> int:
    """A number that differs for operations that differ; where they stand in the program does not matter."""
    return int.from_bytes(hashlib.blake2b(repr(what[:3]).encode(), digest_size=7).digest(), "little")
