"""Bytes in and out, second by second, in a file a day: `summary.data_rate_dir`."""
from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable

_WRITE_SECONDS = 60.0


class Traffic:
    """Counts what an HTTP service sends and receives; an empty `folder` writes nothing."""

    def __init__(self, folder: str, address: str, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._address, self._clock = folder, address, clock
        self._lock = threading.Lock()
        self._seconds: dict[int, list[int]] = {}            # sent, received
        self._written = clock()

    def add(self, *, sent: int = 0, received: int = 0) -> None:
        """Bytes of this second."""
        if self._folder:
            with self._lock:
                second = self._seconds.setdefault(int(self._clock()), [0, 0])
                second[0] += sent
                second[1] += received

    def write(self, *, now: bool = False) -> None:
        """Append what was counted, once a minute or `now`."""
        if not self._folder or not (now or self._clock() - self._written >= _WRITE_SECONDS):
            return
        with self._lock:
            counted, self._seconds = self._seconds, {}
        self._written = self._clock()
        os.makedirs(self._folder, exist_ok=True)
        for second, (sent, received) in sorted(counted.items()):
            then = time.localtime(second)
            with open(os.path.join(self._folder, f"{time.strftime('%Y-%m-%d', then)}_flow_server{self._address}.json"), "a",
                      encoding="utf-8") as out:
                out.write(json.dumps({"time": time.strftime("%Y-%m-%d %H:%M:%S", then), "send": sent,
                                      "receive": received}) + "\n")
