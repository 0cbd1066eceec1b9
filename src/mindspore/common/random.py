"""Seeds and generators: where the keys of random operations come from.

A generator's state is a Parameter of three words, read and advanced in place by `NextKey`. Graphs therefore take it as
an input and return its new value like any other state, and a compiled training step draws new numbers at every run.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore._base import seed_hook
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.prims.random import NextKey
from mindspore.runtime import context as _contexts

_MASK = 0xFFFFFFFF
DEFAULT_SEED = 0


def _seed_words(seed: int) -> np.ndarray:
    return np.asarray([(seed >> 32) & _MASK, seed & _MASK, 0], np.uint32)


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"The seed must be an int, but got {seed!r} of type {type(seed).__name__}.")
    if not 0 <= int(seed) < 1 << 64:
        raise ValueError(f"The seed must be in [0, 2**64), but got {seed}.")
    return int(seed)


class Generator:
    """A stream of random numbers with its own state.

    Examples:
        >>> import mindspore as ms
        >>> generator = ms.Generator()
        >>> generator.manual_seed(5).initial_seed()
        5
    """

    def __init__(self) -> None:
        self._seed = DEFAULT_SEED
        self._state = Parameter(Tensor(_seed_words(DEFAULT_SEED)), name="rng_state", requires_grad=False)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` from its beginning."""
        if isinstance(seed, Tensor):
            seed = int(seed)
        self._seed = _check_seed(seed)
        self._state._data = _seed_words(self._seed)
        return self

    def seed(self) -> int:
        """Start a stream that nobody can foresee; returns its seed."""
        return self.manual_seed(int.from_bytes(os.urandom(6), "little"))._seed

    def initial_seed(self) -> int:
        """The seed this stream started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a tensor of three words."""
        return Tensor(np.array(self._state._data))

    def set_state(self, state: Tensor) -> None:
        """Continue from a state that `get_state` gave."""
        array = np.asarray(state.asnumpy() if isinstance(state, Tensor) else state)
        if array.shape != (3,):
            raise ValueError(f"The state must be a tensor of 3 words, but its shape is {array.shape}.")
        self._state._data = array.astype(np.uint32)
        self._seed = (int(self._state._data[0]) << 32) | int(self._state._data[1])

    def next_key(self) -> Tensor:
        """A fresh key; the state moves on."""
        return NextKey()(self._state)[0]


class Streams:
    """The random streams of a context: the default generator, and one more for every seed given to a single operation."""

    def __init__(self) -> None:
        self.default = Generator()
        self.by_seed: dict[int, Generator] = {}
        self.global_seed: int | None = None
        self.seeded = False  # until somebody seeds the default generator, its first use gives it an unforeseeable seed
        self.host: np.random.Generator | None = None
        self.initial: np.random.RandomState | None = None  # of a local context


_contexts.DEFAULT.use_streams(Streams())
#: of the default context
default_generator: Generator = _contexts.DEFAULT.streams.default


def _streams() -> Streams:
    """Those that the current context uses. One that was made before this module was loaded has none yet: it shares the default's."""
    here = _contexts.current()
    if here.streams is None:
        here.use_streams(_contexts.DEFAULT.streams)
    return here.streams


def _own_streams() -> Streams:
    """Those that are about to be seeded: a local context gets its own, so that others go on undisturbed."""
    here = _contexts.current()
    if here.is_local and not here.owns_streams:
        here.use_streams(Streams())
        here.owns_streams = True
    return _streams()


def next_key(seed: int | None = None, generator: Generator | None = None) -> Tensor:
    """The key for one random operation: from the generator given, the stream of `seed`, or the default generator."""
    if generator is not None:
        return generator.next_key()
    if seed is None or seed == 0:
        return _in_use().next_key()
    streams = _streams()
    stream = streams.by_seed.get(seed)
    if stream is None:
        stream = streams.by_seed[seed] = Generator()
        _restart_stream(streams, stream, seed)
    return stream.next_key()


def _in_use() -> Generator:
    """The default generator; one that nobody has seeded gets an unforeseeable seed."""
    streams = _streams()
    if not streams.seeded:
        streams.seeded = True
        streams.default.seed()
    return streams.default


def _seeded_default() -> Generator:
    """The default generator, about to be given a seed or state."""
    streams = _own_streams()
    streams.seeded = True
    return streams.default


def host_generator() -> np.random.Generator:
    """NumPy's generator for what operations draw outside graphs, keyed by the global seed."""
    streams = _streams()
    if streams.host is None:
        streams.host = np.random.default_rng(streams.global_seed)
    return streams.host


def initial_source() -> Any:
    """What gives initial values their seeds: NumPy's global generator, as in official MindSpore; a local context with streams of its
    own has one of its own."""
    streams = _streams()
    if streams is _contexts.DEFAULT.streams:
        return np.random
    if streams.initial is None:
        seed = streams.global_seed
        streams.initial = np.random.RandomState(None if seed is None else seed % (1 << 32))
    return streams.initial


def _restart_stream(streams: Streams, stream: Generator, seed: int) -> None:
    """An operation's stream depends on its own seed and the global one."""
    stream.manual_seed(((streams.global_seed or 0) * 0x9E3779B97F4A7C15 + int(seed)) % (1 << 64))


def set_seed(seed: int) -> None:
    """Seed all random operations, parameter initialization, NumPy and the data pipeline (the last two not in a local context).

    Examples:
        >>> import mindspore as ms
        >>> ms.set_seed(1)
        >>> ms.get_seed()
        1
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"For 'set_seed', 'seed' must be an int, but got {seed!r}.")
    if seed < 0:
        raise ValueError(f"For 'set_seed', 'seed' must not be negative, but got {seed}.")
    _seeded_default().manual_seed(int(seed) % (1 << 64))
    streams = _streams()
    streams.global_seed, streams.host, streams.initial = int(seed), None, None
    for key, stream in streams.by_seed.items():
        _restart_stream(streams, stream, key)
    if not _contexts.current().is_local:  # these are shared by all of the process
        np.random.seed(int(seed) % (1 << 32))
        seed_hook.tell(int(seed))


def get_seed() -> int | None:
    """The seed `set_seed` set, or None.

    Examples:
        >>> ms.set_seed(5)
        >>> ms.get_seed()
        5
    """
    return _streams().global_seed


def manual_seed(seed: int) -> Generator:
    """Seed the default generator.

    Examples:
        >>> _ = mint.manual_seed(7)
        >>> a = mint.rand(2)
        >>> _ = mint.manual_seed(7)
        >>> bool((mint.rand(2) == a).all())
        True
    """
    return _seeded_default().manual_seed(seed)


def seed() -> int:
    """Give the default generator an unforeseeable seed; returns it.

    Examples:
        >>> isinstance(mint.seed(), int)
        True
    """
    return _seeded_default().seed()


def initial_seed() -> int:
    """The seed of the default generator.

    Examples:
        >>> _ = mint.manual_seed(7)
        >>> mint.initial_seed()
        7
    """
    return _in_use().initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator.

    Examples:
        >>> state = mint.get_rng_state()
        >>> a = mint.rand(2)
        >>> mint.set_rng_state(state)
        >>> bool((mint.rand(2) == a).all())
        True
    """
    return _in_use().get_state()


def set_rng_state(state: Tensor) -> None:
    """Set the state of the default generator.

    Examples:
        >>> state = mint.get_rng_state()
        >>> a = mint.randn(2)
        >>> mint.set_rng_state(state)
        >>> bool((mint.randn(2) == a).all())
        True
    """
    _seeded_default().set_state(state)


__all__ = [
    "Generator", "default_generator", "get_rng_state", "get_seed", "host_generator", "initial_seed", "initial_source", "manual_seed",
    "next_key", "seed", "set_rng_state", "set_seed",
]  # fmt: skip
