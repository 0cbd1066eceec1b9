"""Devices as they are: how fast each one is and when it can be reached, from a file.

    client,speed,from,to
    0,12.5,0,3600
    0,12.5,7200,9000
    1,3.0,,

A row is a client (a number from 0), its speed in local steps per second, and a time in seconds during which it can be reached;
without times it always can. `period` repeats the times, a day's for example. The simulation has a clock of its own: clients
that are there when a round begins can be chosen, one that leaves before it is done drops out, and the round lasts as long as the
slowest client that was heard, or until the deadline where one was not.
"""
from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from mindspore_federated.algorithms.base import Ids

Window = tuple[float, float]


@dataclass(frozen=True)
class Trace:
    """The speed of each client, and the times at which it can be reached."""
    speeds: Sequence[float]
    windows: Sequence[Sequence[Window]]
    period: float | None = None

    def __post_init__(self) -> None:
        if len(self.speeds) != len(self.windows) or not self.speeds:
            raise ValueError(f"a trace needs a speed and times for each client, but has {len(self.speeds)} and {len(self.windows)}")
        if any(not 0 < speed < inf for speed in self.speeds):
            raise ValueError("the speeds of a trace should be above 0")
        longest = inf if self.period is None else self.period
        wrong = [window for windows in self.windows for window in windows if not 0 <= window[0] < window[1] <= longest]
        if wrong:
            raise ValueError(f"the times {wrong[0]} of a trace should rise within [0, {longest:g}]")

    def leaves(self, client: int, now: float) -> float:
        """When a client goes away that is there now; `now` where it is not there."""
        at = now if self.period is None else now % self.period
        return now + max((end - at for begin, end in self.windows[client] if begin <= at < end), default=0.0)

    def reachable(self, now: float) -> Ids:
        """The clients that are there."""
        return np.array([one for one in range(len(self.speeds)) if self.leaves(one, now) > now], np.int64)

    def next_arrival(self, now: float) -> float:
        """The next moment at which somebody comes."""
        at = now if self.period is None else now % self.period
        begins = sorted(begin for windows in self.windows for begin, _ in windows)
        later = [begin for begin in begins if begin > at]
        if not later and (self.period is None or not begins):
            raise ValueError(f"the trace ends: after {now:g} s no client comes any more")
        return now - at + (later[0] if later else float(self.period or 0.0) + begins[0])

    def in_time(self, client: int, now: float, steps: int, deadline: float | None) -> bool:
        """Whether a client that begins now is heard."""
        needs = self.seconds(client, steps)
        return needs <= self.leaves(client, now) - now and needs <= (inf if deadline is None else deadline)

    def seconds(self, client: int, steps: int) -> float:
        """How long a client needs."""
        return steps / self.speeds[client]


def read_trace(path: str, period: float | None = None) -> Trace:
    """The trace in a CSV file."""
    speeds: dict[int, float] = {}
    windows: dict[int, list[Window]] = {}
    with Path(path).open(newline="", encoding="utf-8") as source:
        reader = csv.DictReader(source)
        missing = {"client", "speed"} - set(reader.fieldnames or [])
        if missing:
            raise ValueError(f"{path} should have the columns client, speed and, if you like, from, to, but has "
                             f"{reader.fieldnames}")
        for row in reader:
            try:
                client, speed = int(row["client"]), float(row["speed"])
                window = float(row.get("from") or 0.0), float(row.get("to") or period or inf)
            except (TypeError, ValueError):
                raise ValueError(f"{path}, line {reader.line_num}: {list(row.values())} should be a client's number, speed and "
                                 "times") from None
            if speeds.setdefault(client, speed) != speed:
                raise ValueError(f"{path}, line {reader.line_num}: client {client} has two speeds")
            windows.setdefault(client, []).append(window)
    if sorted(speeds) != list(range(len(speeds))) or not speeds:
        raise ValueError(f"{path} should have the clients 0, 1, ... without gaps")
    return Trace([speeds[one] for one in range(len(speeds))], [windows[one] for one in range(len(speeds))], period)
