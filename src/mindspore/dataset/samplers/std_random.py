"""The random numbers of the C++ standard library, so that a seed gives the row order MindSpore users know.

`MinStd` is the default engine; `Mt19937` and `Mt19937_64` are the two Mersenne twisters (Matsumoto and Nishimura 1998;
Nishimura 2000). `shuffle` and `uniform_int` follow the algorithms libstdc++ uses for `std::shuffle` and
`std::uniform_int_distribution`: two positions from one draw while the product of their ranges fits, and rejection of
the uneven tail.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_BLOCK = 4096


class Engine:
    """A generator of integers of [0, span]."""

    span = 2**32 - 1

    def __call__(self) -> int:
        raise NotImplementedError

    def uniform_int(self, high: int) -> int:
        """An integer of [0, high]."""
        if high == self.span:
            return self()
        if high > self.span:
            return self._wide_int(high)
        width = high + 1
        scale = self.span // width
        limit = width * scale
        while True:
            value = self()
            if value < limit:
                return value // scale

    def _wide_int(self, high: int) -> int:
        while True:
            upper = self.uniform_int(high // (self.span + 1))
            value = upper * (self.span + 1) + self()
            if value <= high:
                return value


class MinStd(Engine):
    """The "minimal standard" generator of Park and Miller (1988), C++'s default engine."""

    span = 2**31 - 3

    def __init__(self, seed: int):
        self._state = seed % (2**31 - 1) or 1

    def __call__(self) -> int:
        self._state = self._state * 16807 % (2**31 - 1)
        return self._state - 1


class Mt19937(Engine):
    """32-bit Mersenne twister."""

    def __init__(self, seed: int):
        self._bits = np.random.MT19937()
        self._bits._legacy_seeding(seed & 0xFFFFFFFF)
        self._pending: list[int] = []

    def __call__(self) -> int:
        if not self._pending:
            self._pending = self._bits.random_raw(_BLOCK)[::-1].tolist()
        return self._pending.pop()

    def canonical(self) -> float:
        """A double of [0, 1) made of two draws."""
        low = self()
        return (low + self() * 4294967296.0) / 18446744073709551616.0


class Mt19937_64:
    """64-bit Mersenne twister, a block of 312 numbers at a time."""

    _N, _M = 312, 156

    def __init__(self, seed: int):
        state, mask = [seed & (2**64 - 1)], 2**64 - 1
        for i in range(1, self._N):
            state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & mask)
        self._state = np.array(state, dtype=np.uint64)
        self._pending: list[int] = []

    def __call__(self) -> int:
        if not self._pending:
            self._pending = self._next_block()[::-1].tolist()
        return self._pending.pop()

    def _next_block(self) -> np.ndarray:
        state, half = self._state, self._M
        state[:half] = state[half:] ^ self._twist(state[:half], state[1 : half + 1])
        state[half:-1] = state[: half - 1] ^ self._twist(state[half:-1], state[half + 1 :])
        state[-1:] = state[half - 1 : half] ^ self._twist(state[-1:], state[:1])
        x = state.copy()
        x ^= (x >> np.uint64(29)) & np.uint64(0x5555555555555555)
        x ^= (x << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
        x ^= (x << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
        x ^= x >> np.uint64(43)
        return x

    @staticmethod
    def _twist(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        x = (upper & np.uint64(0xFFFFFFFF80000000)) | (lower & np.uint64(0x7FFFFFFF))
        return (x >> np.uint64(1)) ^ np.where(x & np.uint64(1), np.uint64(0xB5026F5AA96619E9), np.uint64(0))


def shuffle(values: Sequence[int], generator: Engine) -> list[int]:
    """`std::shuffle`."""
    items = list(values)
    n = len(items)
    if n < 2:
        return items
    uniform_int = generator.uniform_int
    if generator.span // n < n:
        for i in range(1, n):
            j = uniform_int(i)
            items[i], items[j] = items[j], items[i]
        return items
    i = 1
    if n % 2 == 0:
        j = uniform_int(1)
        items[i], items[j] = items[j], items[i]
        i += 1
    while i < n:
        first, second = divmod(uniform_int((i + 1) * (i + 2) - 1), i + 2)
        items[i], items[first] = items[first], items[i]
        items[i + 1], items[second] = items[second], items[i + 1]
        i += 2
    return items
