"""Where the processes of a run meet: one server, on the machine and port that `MS_SCHED_HOST` and `MS_SCHED_PORT` name.

It speaks lines of `name=value` words. The first half is PMI 1, the protocol by which MPI libraries find each other
(`PMI_PORT`, `PMI_ID`): a table of strings and a barrier. The second half is ours:

    join attempt=0 rank=-1       -> welcome rank=2 size=4      a place in the run; -1 takes the next free one
    seated                                                     it is watched by now; without this, its end ends the run
    watch rank=2                                               from now on this connection means that the process lives
    state text=…                                               what it waits for, every few seconds: also the heartbeat
    others                       -> states text=…              what all processes wait for (JSON)
    end                                                        it has left its program
    last_words                                                 it stores something if the run is lost: whoever ends it waits for that
    busy                         -> busy ranks=0,3             those that said so and still live
    lost text=…                  <- to every watched process, when one is gone or silent

The server computes nothing and is not on the way of any tensor.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

DEFAULT_PORT = 8118
ENDED = "has left its program"


def _words(line: str) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in line.split())


class Server:
    """The meeting point of `size` processes."""

    def __init__(self, host: str, port: int, size: int, attempt: int = 0, silence: float = 300.0,
                 told: Callable[[str], Any] = lambda text: None, patience: float = math.inf):  # fmt: skip
        """`silence`: seconds without a sign of life after which a process is lost; `told(text)` is called with events;
        `patience`: seconds in which all processes must have come.
        """
        self.size, self.attempt, self.silence, self.told = size, attempt, silence, told
        self.patience, self.began = patience, time.monotonic()
        self.name = f"run_{os.getpid()}_{secrets.token_hex(6)}"  # MPI names shared memory by it
        self.table: dict[str, str] = {}
        self.arrived: list[_Connection] = []  # at the barrier
        self.ranks: set[int] = set()
        self.alive: dict[int, tuple[_Connection, float]] = {}  # watched processes and when they were last heard of
        self.states: dict[int, str] = {}
        self.finished: set[int] = set()
        self.with_last_words: set[int] = set()
        self.talking = 0  # MPI libraries that have not said good-bye: they do so when their process exits
        self.lost = ""
        self.change = threading.Condition()
        self._closed = threading.Event()
        self._server = _Listener((host, port), _Connection)
        self._server.meeting = self
        self.port: int = self._server.server_address[1]
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._server.serve_forever, self._watch)]
        for thread in self._threads:
            thread.start()

    def place(self, wanted: int) -> int:
        """A rank for a process; -1 when there is none."""
        with self.change:
            free = [r for r in range(self.size) if r not in self.ranks]
            rank = wanted if wanted >= 0 else (free[0] if free else -1)
            if rank not in free:
                return -1
            self.ranks.add(rank)
            return rank

    def barrier(self, connection: _Connection) -> None:
        with self.change:
            self.arrived.append(connection)
            released = self.arrived if len(self.arrived) == self.size else []
            if released:
                self.arrived = []
        for one in released:
            one.say("cmd=barrier_out")

    def heard(self, rank: int, connection: _Connection, state: str | None = None) -> None:
        with self.change:
            self.alive[rank] = (connection, time.monotonic())
            if state is not None:
                self.states[rank] = state

    def left(self, rank: int, properly: bool) -> None:
        """A watched process has gone."""
        with self.change:
            self.alive.pop(rank, None)
            self.with_last_words.discard(rank)
            if properly:
                self.finished.add(rank)
                self.states[rank] = ENDED
            self.change.notify_all()
        if not properly:
            self.lose(f"rank {rank} was lost")

    def talks(self, more: int) -> None:
        with self.change:
            self.talking += more
            self.change.notify_all()

    def lose(self, text: str) -> None:
        """Tell everybody that the run cannot go on."""
        with self.change:
            if self.lost:
                return
            self.lost = text
            listeners = [connection for connection, _ in self.alive.values()]
            self.change.notify_all()
        self.told(text)
        for connection in listeners:
            connection.say(f"cmd=lost text={quote(text)}")

    def _watch(self) -> None:
        while not self._closed.wait(min(1.0, self.silence / 4, self.patience / 4)):
            with self.change:
                silent = [r for r, (_, at) in self.alive.items() if time.monotonic() - at > self.silence]
                missing = sorted(set(range(self.size)) - self.ranks)
            if silent:
                self.lose(f"rank {silent[0]} has given no sign of life for {self.silence:.0f} s")
            if missing and time.monotonic() - self.began > self.patience:
                self.lose(f"{len(missing)} of {self.size} processes have not come in {self.patience:.0f} s (ranks {missing})")

    def wait(self) -> bool:
        """Until all processes have left properly (True), or one was lost."""
        with self.change:
            self.change.wait_for(lambda: self.lost or (len(self.finished) == self.size and not self.talking))
            return not self.lost

    def close(self) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join()


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024
    meeting: Server


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.meeting: Server = self.server.meeting  # type: ignore[attr-defined]
        self.rank = -1
        self.watched = self.talks = self.joins = False
        self.lock = threading.Lock()

    def say(self, line: str) -> None:
        with contextlib.suppress(OSError), self.lock:
            self.wfile.write(f"{line}\n".encode())

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            for raw in self.rfile:
                line = raw.decode(errors="replace").strip()
                words = _words(line)
                action = getattr(self, f"on_{words.get('cmd', '')}", None)
                if action is None or action(words, line):
                    break
        if self.talks:
            self.meeting.talks(-1)
        if self.watched:
            self.meeting.left(self.rank, properly=False)
        if self.joins:
            self.meeting.lose(f"rank {self.rank} ended before it had met the others")

    # -- PMI --------------------------------------------------------------------------------------------------------
    def on_initack(self, words: dict, _: str) -> None:
        self.rank, self.talks = int(words["pmiid"]), True
        self.meeting.talks(1)
        for line in ("initack rc=0", f"set size={self.meeting.size}", f"set rank={self.rank}", "set debug=0"):
            self.say(f"cmd={line}")

    def on_init(self, *_: Any) -> None:
        self.say("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")

    def on_get_maxes(self, *_: Any) -> None:
        self.say("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024")

    def on_get_appnum(self, *_: Any) -> None:
        self.say("cmd=appnum appnum=0")

    def on_get_my_kvsname(self, *_: Any) -> None:
        self.say(f"cmd=my_kvsname kvsname={self.meeting.name}")

    def on_get_universe_size(self, *_: Any) -> None:
        self.say(f"cmd=universe_size size={self.meeting.size}")

    def on_put(self, words: dict, line: str) -> None:
        self.meeting.table[words["key"]] = line.partition("value=")[2]
        self.say("cmd=put_result rc=0 msg=success")

    def on_get(self, words: dict, _: str) -> None:
        value = self.meeting.table.get(words["key"])
        found = f"rc=0 msg=success value={value}" if value is not None else "rc=-1 msg=not_found value=unknown"
        self.say(f"cmd=get_result {found}")

    def on_barrier_in(self, *_: Any) -> None:
        self.meeting.barrier(self)

    def on_finalize(self, *_: Any) -> bool:
        self.say("cmd=finalize_ack")
        return True

    def on_abort(self, *_: Any) -> bool:
        self.meeting.lose(f"rank {self.rank} has given up")
        return True

    # -- ours -------------------------------------------------------------------------------------------------------
    def on_join(self, words: dict, _: str) -> None:
        if int(words["attempt"]) != self.meeting.attempt:
            self.say("cmd=later")  # the server of another attempt will take this one's place
            return
        self.rank = self.meeting.place(int(words["rank"]))
        self.joins = self.rank >= 0
        self.say(f"cmd=welcome rank={self.rank} size={self.meeting.size}")

    def on_seated(self, *_: Any) -> bool:
        self.joins = False
        return True

    def on_watch(self, words: dict, _: str) -> None:
        self.rank, self.watched = int(words["rank"]), True
        self.meeting.heard(self.rank, self, "")
        if self.meeting.lost:
            self.say(f"cmd=lost text={quote(self.meeting.lost)}")

    def on_state(self, words: dict, _: str) -> None:
        self.meeting.heard(self.rank, self, unquote(words.get("text", "")))

    def on_others(self, *_: Any) -> None:
        self.say(f"cmd=states text={quote(json.dumps(self.meeting.states))}")

    def on_last_words(self, *_: Any) -> None:
        with self.meeting.change:
            self.meeting.with_last_words.add(self.rank)

    def on_busy(self, *_: Any) -> None:
        with self.meeting.change:
            self.say(f"cmd=busy ranks={','.join(map(str, sorted(self.meeting.with_last_words)))}")

    def on_end(self, *_: Any) -> None:
        self.watched = False
        self.meeting.left(self.rank, properly=True)


# -- the other side ---------------------------------------------------------------------------------------------------
class Unreachable(RuntimeError):
    """Nobody answers where the processes should meet."""


class Seat:
    """A place in a run. While it is entered, the meeting point takes the end of the process, or an error, for a loss."""

    def __init__(self, rank: int, connection: socket.socket):
        self.rank, self._socket = rank, connection

    def __enter__(self) -> Seat:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        with contextlib.suppress(OSError), self._socket:
            if kind is None:
                self._socket.sendall(b"cmd=seated\n")


def join(host: str, port: int, rank: int, size: int, attempt: int = 0, patience: float = 600.0) -> Seat:
    """Take a place in the run that meets at host:port. Waits for the server to appear."""
    deadline = time.monotonic() + patience
    while True:
        with contextlib.suppress(OSError):
            connection = socket.create_connection((host, port), timeout=10)
            answer = _answer(connection, f"cmd=join attempt={attempt} rank={rank}")
            if answer.get("cmd") == "welcome":
                return Seat(_checked(answer, host, port, rank, size), connection)
            connection.close()
        if time.monotonic() > deadline:
            raise Unreachable(
                f"no scheduler answers at {host}:{port} (MS_SCHED_HOST, MS_SCHED_PORT) since {patience:.0f} s. Start the "
                "processes by msrun, or one of them with MS_ROLE=MS_SCHED."
            )
        time.sleep(0.1)


def busy(host: str, port: int) -> set[int]:
    """The ranks that store something before they end; none if nobody answers."""
    try:
        found = _ask(host, port, "cmd=busy").get("ranks", "")
    except OSError:
        return set()
    return {int(rank) for rank in found.split(",") if rank}


def publish(host: str, port: int, name: str, value: str) -> None:
    """Tell all processes of the run something."""
    _ask(host, port, f"cmd=put key={name} value={value}")


def published(host: str, port: int, name: str, patience: float) -> str:
    """What a process has told; waits for it."""
    deadline = time.monotonic() + patience
    while True:
        answer = _ask(host, port, f"cmd=get key={name}")
        if answer.get("rc") == "0":
            return answer["value"]
        if time.monotonic() > deadline:
            raise Unreachable(f"nobody has told '{name}' at {host}:{port} since {patience:.0f} s; rank 0 should have.")
        time.sleep(0.05)


def _ask(host: str, port: int, line: str) -> dict[str, str]:
    with socket.create_connection((host, port), timeout=10) as connection:
        return _answer(connection, line)


def _answer(connection: socket.socket, line: str) -> dict[str, str]:
    with connection.makefile("rw") as file:
        file.write(line + "\n")
        file.flush()
        return _words(file.readline())


def _checked(answer: dict[str, str], host: str, port: int, rank: int, size: int) -> int:
    got, processes = int(answer["rank"]), int(answer["size"])
    if processes != size:
        raise RuntimeError(f"the run at {host}:{port} has {processes} processes, but this one was told of {size}.")
    if got < 0:
        taken = f"rank {rank} is taken" if 0 <= rank < size else f"all {size} places are taken"
        raise RuntimeError(f"the run at {host}:{port} has no place for this process: {taken}.")
    return got


class Line:
    """A watched process's connection: signs of life one way, bad news the other."""

    def __init__(self, host: str, port: int, rank: int, lost: Callable[[str], Any]):
        self._socket = socket.create_connection((host, port), timeout=10)
        self._socket.settimeout(None)
        self._lost = lost
        self._answers: list[dict[str, str]] = []
        self._answered = threading.Condition()
        self._closed = False
        self._say(f"cmd=watch rank={rank}")
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(f"{line}\n".encode())

    def state(self, text: str) -> None:
        self._say(f"cmd=state text={quote(text)}")

    def last_words(self) -> None:
        self._say("cmd=last_words")

    def others(self) -> dict[int, str]:
        """What all processes wait for."""
        with self._answered:
            self._say("cmd=others")
            self._answered.wait_for(lambda: self._answers, timeout=5)
            return {int(rank): text for rank, text in (self._answers.pop() if self._answers else {}).items()}

    def end(self) -> None:
        """Say good-bye. No thread is left: one that wakes while the interpreter goes down may crash it."""
        self._closed = True
        self._say("cmd=end")
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._listener.join(timeout=5)
        self._socket.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError), self._socket.makefile() as file:
            for line in file:
                words = _words(line)
                if words.get("cmd") == "lost":
                    self._lost(unquote(words["text"]))
                elif words.get("cmd") == "states":
                    with self._answered:
                        self._answers.append(json.loads(unquote(words["text"])))
                        self._answered.notify_all()
        if not self._closed:
            self._lost("the scheduler was lost")


def start_server(host: str, port: int, size: int, silence: float, patience: float) -> None:
    """A server as a process of its own, which ends with the run: it must outlive every member's interpreter."""
    command = [sys.executable, "-S", __file__, host, str(port), str(size), str(silence), str(patience)]
    subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)


def _main(host: str, port: str, size: str, silence: str, patience: str) -> None:
    server = Server(host, int(port), int(size), silence=float(silence), patience=float(patience))
    if not server.wait():
        time.sleep(2)  # what was said must arrive


if __name__ == "__main__":
    _main(*sys.argv[1:])
