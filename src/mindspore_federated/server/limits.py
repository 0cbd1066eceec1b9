"""What one peer, and all peers together, may take of a server: requests per second, and bytes of bodies in memory.

`Rate` is a token bucket per peer: `rate` requests a second on average, one second's worth at once (twice that for rates
below one). `Room` keeps the sum of the bodies that are being read or answered below a bound; who finds no room waits
before a byte is read, and TCP slows the sender down. Both are used from one event loop and need no locks.
"""
from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable

_PEERS = 1 << 16                 # peers remembered; the one unheard of the longest is forgotten first


class Rate:
    """Requests per second and peer; a rate of 0 allows everything."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst = rate, max(rate, 2.0)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()       # tokens, and when

    def wait(self, peer: str) -> float:
        """0 where the peer may go on, else the seconds until it may."""
        if not self._rate:
            return 0.0
        now = self._clock()
        tokens, then = self._left.pop(peer, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._left[peer] = (tokens - 1 if allowed else tokens, now)
        while len(self._left) > _PEERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._rate


class Room:
    """Bytes that may be in memory at once."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def pressed(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)

    def free(self, wanted: int) -> bool:
        """Whether `wanted` bytes can be had at once."""
        return not self._waiting and min(wanted, self._size) <= self._free

    async def take(self, wanted: int) -> int:
        """Wait for `wanted` bytes (or all there are, if that is more); returns what to give back."""
        wanted = min(wanted, self._size)
        if self._waiting or wanted > self._free:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((wanted, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self.give(wanted)                       # the turn came while the peer went away
                raise
        else:
            self._free -= wanted
        return wanted

    def give(self, taken: int) -> None:
        """Let bytes go; those who wait come in their order."""
        self._free += taken
        while self._waiting and (self._waiting[0][1].cancelled() or self._waiting[0][0] <= self._free):
            wanted, turn = self._waiting.popleft()
            if not turn.cancelled():
                self._free -= wanted
                turn.set_result(None)
