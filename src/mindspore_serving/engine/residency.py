"""More servables than memory has room for: one is loaded when it is asked for, and those unused for longest leave in its place.

What a servable takes is measured when it has been loaded (the memory of its workers, shared pages by their share); before that, its
files' size is the guess. A servable leaves when its requests are answered, and its processes with it, so the memory is given back.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mindspore_serving import log
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.engine.location import Location, versions
from mindspore_serving.engine.pool import Pool, StartFailed
from mindspore_serving.engine.threads import in_thread

#: bytes of a worker without a model
_WORKER = 100 << 20


@dataclass
class _Known:
    """A servable; `load` starts it and gives its pools."""

    location: Location
    load: Callable[[], Pool]
    size: int
    used: float = 0.0
    unloaded: bool = False  # by an operator: asking for it does not bring it back


def measured(pids: Sequence[int]) -> int:
    """Bytes of memory of processes; pages they share count by their share."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
        except OSError:  # it has just ended
            continue
    return total


class Residency:
    """`running`: the names in memory, with their pools; `leave` ends one, once its requests are answered. Lives in the server's loop."""

    def __init__(self, limit: int, running: Callable[[], dict[str, list[Pool]]], leave: Callable[[str], None]) -> None:
        self.limit = limit
        self._running, self._leave = running, leave
        self._known: dict[str, _Known] = {}
        self._loading: dict[str, asyncio.Future[None]] = {}
        self._turn = asyncio.Lock()
        self.loads = self.evictions = 0

    @property
    def names(self) -> list[str]:
        """Those that are loaded when they are asked for."""
        return [name for name, known in self._known.items() if not known.unloaded]

    def know(self, location: Location, load: Callable[[], Pool]) -> None:
        self._known[location.name] = _Known(location, load, _guess(location))

    def note_unloaded(self, name: str, unloaded: bool) -> None:
        """An operator has unloaded or loaded it."""
        if name in self._known:
            self._known[name].unloaded = unloaded

    @property
    def used(self) -> int:
        """Bytes of what is in memory."""
        return sum(self._known[name].size for name in self._running() if name in self._known)

    async def wake(self, name: str) -> None:
        """A servable that is known is in memory after this; ServingError if there is no room."""
        known = self._known.get(name)
        if known is None or known.unloaded:
            return
        known.used = time.monotonic()
        while name not in self._running():
            if name not in self._loading:
                self._loading[name] = asyncio.ensure_future(self._load(name, known))
            await asyncio.shield(self._loading[name])

    async def _load(self, name: str, known: _Known) -> None:
        try:
            async with self._turn:
                await self._make_room(name, known.size)
                try:
                    pool = await in_thread(known.load)
                except StartFailed as error:
                    raise ServingError(str(error), Kind.FAILED) from None
                known.size = await in_thread(measured, pool.pids)
                self.loads += 1
                if known.size > self.limit:
                    await in_thread(self._leave, name)
                    raise ServingError(
                        f"'{name}' takes {known.size >> 20} MB of memory, but {self.limit >> 20} MB are allowed", Kind.UNAVAILABLE
                    )
                await self._make_room(name, 0)
        finally:
            del self._loading[name]

    async def _make_room(self, name: str, size: int) -> None:
        """Let others leave until so much more fits, those unused for longest first."""
        while self.used + size > self.limit:
            idle = [
                other
                for other, pools in self._running().items()
                if other in self._known and other != name and not any(pool.queue.unfinished for pool in pools)
            ]
            if not idle:
                if not size or not self._running():
                    return  # it is in memory, or alone: what it takes is seen then
                raise ServingError(f"there is no memory for '{name}' now: others are at work", Kind.UNAVAILABLE)
            oldest = min(idle, key=lambda other: self._known[other].used)
            log.info(f"servable {oldest} leaves memory for {name}")
            await in_thread(self._leave, oldest)
            self.evictions += 1


def _guess(location: Location) -> int:
    """From the files' sizes: weights are in memory once, and once more while they are read."""
    if location.file:
        return _WORKER + 2 * os.path.getsize(os.path.join(location.directory, location.file))
    newest = max(versions(location.directory, location.name), default=0)
    folder = os.path.join(location.folder, str(newest)) if newest else location.folder
    sizes = (os.path.getsize(os.path.join(where, file)) for where, _, files in os.walk(folder) for file in files)
    return _WORKER + 2 * sum(sizes)


__all__ = ["Residency", "measured"]
