"""`msrun`: start the processes of a run, look after them, and start them again.

One msrun per machine. That of the first machine (or the only one) holds the meeting point, `_base/rendezvous.py`; all workers
connect to it. Each msrun watches its own children: when one ends with an error, or the meeting point says that one was
lost elsewhere, it ends the others, and all of them begin again if `--max_restarts` allows it. A worker that starts again
finds `MS_RESTART_COUNT` > 0 and its last checkpoint. Without `--join` msrun goes on in the background.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from mindspore._base import flags, rendezvous
from mindspore.parallel.cluster.options import parse

_POLL = 0.05
_GRACE = 3.0  # seconds between asking processes to end and ending them
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Job:
    """The processes of this machine."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.folder = Path(options.log_dir or ".").resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.children: dict[int, subprocess.Popen] = {}  # by local number
        self.tails: list[threading.Thread] = []
        self.scheduler_log = self.folder / "scheduler.log"
        self.scheduler_log.write_text("")
        self.signalled = 0

    # -- one attempt ----------------------------------------------------------------------------------------------
    def attempt(self, number: int) -> int:
        """Run all processes once; the exit status is that of the first that failed."""
        server = self._server(number)
        try:
            for local in range(self.options.local_worker_num):
                self.children[local] = self._start(local, number)
            return self._watch(server)
        finally:
            self._end_all()
            if server is not None:
                server.close()

    def _server(self, number: int) -> rendezvous.Server | None:
        if self.options.node_rank > 0 or not self._is_master():
            return None
        silence = _node_timeout()
        host, port = self.options.master_addr, self.options.master_port
        deadline = time.monotonic() + 30
        while True:
            try:
                server = rendezvous.Server(host, port, self.options.worker_num, number, silence, self.say)
                break
            except OSError as error:  # the last attempt's, or another run's
                if number == 0 or time.monotonic() > deadline:
                    raise SystemExit(f"msrun: cannot listen at {host}:{port} (--master_addr, --master_port): {error}.") from None
                time.sleep(0.2)
        self.say(f"scheduler of {self.options.worker_num} processes at {host}:{server.port}, attempt {number}")
        return server

    def _is_master(self) -> bool:
        """Whether the processes meet on this machine."""
        address = self.options.master_addr
        if self.options.node_rank == 0 or address in ("127.0.0.1", "localhost", "::1", socket.gethostname()):
            return True
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((address, 0))
            return True
        return False

    def _watch(self, server: rendezvous.Server | None) -> int:
        silence, awake = _node_timeout(), time.monotonic()
        while True:
            states = {local: child.poll() for local, child in self.children.items()}
            failed = {local: status for local, status in states.items() if status}
            if self.signalled:
                return 128 + self.signalled
            if failed:
                self._let_speak()
                return self._explained(failed)
            if all(status == 0 for status in states.values()):
                return 0
            if server is not None and server.lost:
                time.sleep(1.0)  # the processes say where they were
                self._let_speak()
                if all(child.poll() in (None, 0) for child in self.children.values()):
                    return 1
            running = [local for local, status in states.items() if status is None]
            if not all(_is_stopped(self.children[local]) for local in running):
                awake = time.monotonic()
            elif time.monotonic() - awake > silence:  # those that left the meeting point properly are watched by nobody else
                self.say(f"worker {self._rank(running[0])} has been stopped for {silence} s; see {self._log(running[0])}")
                return 1
            time.sleep(_POLL)

    def _let_speak(self) -> None:
        """Wait for processes that store something before they end, such as a last checkpoint: they end by themselves."""
        deadline = time.monotonic() + _node_timeout()
        while time.monotonic() < deadline and not self.signalled:
            running = {self._rank(n): c for n, c in self.children.items() if c.poll() is None and not _is_stopped(c)}
            if not running.keys() & rendezvous.busy(self.options.master_addr, self.options.master_port):
                break
            time.sleep(_POLL)

    def _explained(self, failed: dict[int, int]) -> int:
        """Say which process failed first, as far as can be told: one ended by a signal comes before those that noticed."""
        local, status = min(failed.items(), key=lambda item: (item[1] > 0, item[0]))
        how = f"was ended by signal {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        self.say(f"worker {self._rank(local)} {how}; see {self._log(local)}")
        return 128 - status if status < 0 else status

    # -- processes ------------------------------------------------------------------------------------------------
    def _rank(self, local: int) -> int:
        return max(self.options.node_rank, 0) * self.options.local_worker_num + local

    def _log(self, local: int) -> Path:
        name = self.options.worker_log_name.format(rank=self._rank(local), hostname=socket.gethostname())
        return self.folder / (f"{name}.log" if name else f"worker_{self._rank(local)}.log")

    def _environment(self, local: int, number: int) -> dict[str, str]:
        options, rank = self.options, self._rank(local)
        known = options.node_rank >= 0 or options.worker_num == options.local_worker_num
        cores = max(1, (os.cpu_count() or 1) // options.local_worker_num)
        new = {
            "MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": str(options.worker_num), "MS_SCHED_HOST": options.master_addr,
            "MS_SCHED_PORT": str(options.master_port), "MS_LOCAL_WORKER_NUM": str(options.local_worker_num),
            "MS_TOPO_TIMEOUT": str(options.cluster_time_out), "MS_RESTART_COUNT": str(number),
            "RANK_SIZE": str(options.worker_num), "DEVICE_ID": str(local), "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        if known:
            new |= {"MS_NODE_ID": str(rank), "RANK_ID": str(rank)}
        if options.node_rank >= 0:
            new["MS_NODE_RANK"] = str(options.node_rank)
        if options.rank_table_file:
            new["RANK_TABLE_FILE"] = options.rank_table_file
        return {"OMP_NUM_THREADS": str(cores), **os.environ, **new}

    def _command(self) -> list[str]:
        script = self.options.task_script
        start = [sys.executable, script] if script.endswith(".py") else [script]
        return [*start, *self.options.task_script_args]

    def _start(self, local: int, number: int) -> subprocess.Popen:
        cores = self._cores(local)
        parent = os.getpid()

        def before() -> None:  # in the child
            ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if cores:
                os.sched_setaffinity(0, cores)

        shown = self.options.join and self.options.tail_worker_log in ("-1", *_ranks(self.options, self._rank(local)))
        with open(self._log(local), "ab" if number else "wb") as log:
            child = subprocess.Popen(
                self._command(), env=self._environment(local, number), stdin=subprocess.DEVNULL, preexec_fn=before,
                stdout=subprocess.PIPE if shown else log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            if shown and child.stdout is not None:
                self._tail(child.stdout, self._log(local))
        return child

    def _tail(self, source: IO[bytes], path: Path) -> None:
        def copy() -> None:
            with open(path, "ab") as log:
                for line in source:
                    log.write(line)
                    log.flush()
                    with contextlib.suppress(OSError):
                        sys.stdout.buffer.write(line)
                        sys.stdout.buffer.flush()

        thread = threading.Thread(target=copy, daemon=True)
        thread.start()
        self.tails.append(thread)

    def _cores(self, local: int) -> set[int]:
        if not self.options.bind_core:
            return set()
        cores, count = sorted(os.sched_getaffinity(0)), self.options.local_worker_num
        share = max(1, len(cores) // count)
        return {cores[(local * share + i) % len(cores)] for i in range(share)}

    def _end_all(self) -> None:
        """No process of ours, nor what it has started, is left."""
        deadline = time.monotonic() + _GRACE
        for child in self.children.values():
            _signal(child, signal.SIGTERM)
            _signal(child, signal.SIGCONT)  # one that was stopped must run to end
        while any(child.poll() is None for child in self.children.values()) and time.monotonic() < deadline:
            time.sleep(_POLL)
        for child in self.children.values():
            _signal(child, signal.SIGKILL)
            child.wait()
        for thread in self.tails:
            thread.join(timeout=2)
        self.children, self.tails = {}, []

    def say(self, text: str) -> None:
        with open(self.scheduler_log, "a") as log:
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", file=log)
        if self.options.join:
            print(f"msrun: {text}", file=sys.stderr, flush=True)

    # -- all attempts -----------------------------------------------------------------------------------------------
    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        for attempt in range(self.options.max_restarts + 1):
            status = self.attempt(attempt)
            if status == 0 or self.signalled:
                break
            left = self.options.max_restarts - attempt
            self.say(f"the run has failed; {f'starting all processes again ({left} left)' if left else 'no restarts are left'}")
        self.say(f"finished with status {status}")
        return status

    def _on_signal(self, number: int, _: object) -> None:
        self.signalled = number


def _ranks(options: argparse.Namespace, rank: int) -> tuple[str, ...]:
    """The option's own text, if it names this rank."""
    return (options.tail_worker_log,) if str(rank) in options.tail_worker_log.split(",") else ()


def _node_timeout() -> int:
    """Seconds without a sign of life after which a process is given up."""
    return flags.integer("MS_NODE_TIMEOUT", 300)


def _is_stopped(child: subprocess.Popen) -> bool:
    """Whether a signal (SIGSTOP) keeps a child from running."""
    try:
        return os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # it has ended
        return False


def _signal(child: subprocess.Popen, number: int) -> None:
    """To the process and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _rehearse(options: argparse.Namespace) -> None:
    """A dry run is one process, and needs no scheduler."""
    rank = max(options.sim_rank_id, 0)
    os.environ.update(
        MS_SIMULATION_LEVEL=str(options.sim_level), MS_NODE_ID=str(rank), RANK_ID=str(rank), RANK_SIZE=str(options.worker_num),
        MS_WORKER_NUM=str(options.worker_num),
    )  # fmt: skip
    folder = Path(options.log_dir or ".")
    folder.mkdir(parents=True, exist_ok=True)
    start = [sys.executable, options.task_script] if options.task_script.endswith(".py") else [options.task_script]
    with open(folder / f"worker_{rank}.log", "wb") as log:
        child = subprocess.Popen([*start, *options.task_script_args], stdout=log, stderr=subprocess.STDOUT)
    if options.join:
        sys.exit(child.wait())


def _to_background() -> None:
    """Go on without the terminal; the caller's process returns at once."""
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command `msrun`."""
    options = parse(arguments)
    if options.sim_level >= 0:
        _rehearse(options)
        return
    if not options.join:
        _to_background()
    sys.exit(Job(options).run())


if __name__ == "__main__":
    main()
