"""Processes that take turns: they build their cases once, and time one of them when they are told to.

A worker connects to the benchmark, which names a case to all workers of one framework at a time. Meanwhile the others sleep in a
socket, so both frameworks meet the same machine, and no barrier of theirs is polled in the background.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    """`run` does `count` of what is timed."""

    run: Callable[[], object]
    count: int = 1


def serve(address: str, framework: str, cases: dict[str, Callable[[], Case]], together: Callable[[], object]) -> None:
    """Time cases until the benchmark hangs up; each is built (and warmed up) in its first turn. `together`: a barrier."""
    host, _, port = address.partition(":")
    ready: dict[str, Case] = {}
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rw") as line:
        print(framework, file=line, flush=True)
        for name in map(str.strip, line):
            if name not in ready:
                ready[name] = cases[name]()
                ready[name].run()
            case = ready[name]
            together()
            start = time.perf_counter(), time.process_time()
            case.run()
            taken = [(time.perf_counter() - start[0]) / case.count, (time.process_time() - start[1]) / case.count]
            print(json.dumps(taken), file=line, flush=True)


class Workers:
    """The processes of the benchmark, by framework."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.lines: dict[str, list] = {}

    def wait_for(self, count: int, patience: float) -> None:
        self.listener.settimeout(patience)
        for _ in range(count):
            line = self.listener.accept()[0].makefile("rw")
            self.lines.setdefault(line.readline().strip(), []).append(line)

    def time(self, framework: str, case: str) -> tuple[float, float]:
        """Seconds of the slowest process, by the clock and of its CPU."""
        for line in self.lines[framework]:
            print(case, file=line, flush=True)
        answers = [line.readline() for line in self.lines[framework]]
        if not all(answers):
            raise SystemExit(f"{framework} failed in the case {case!r}")
        found = [json.loads(answer) for answer in answers]
        return max(f[0] for f in found), max(f[1] for f in found)

    def hang_up(self) -> None:
        for line in (line for lines in self.lines.values() for line in lines):
            line.close()
        self.listener.close()
