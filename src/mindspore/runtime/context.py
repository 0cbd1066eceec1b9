"""The context: every setting, and what belongs to the settings.

A `Context` holds the settings (settings.py is their table), the device they choose, the backends and kernels made for them
and the streams of random numbers. `current()` is the context of the running thread or asyncio task: the default one, which all of
them share and `set_context` edits, or a local one that `scope` has put in its place. So two threads can run two networks
with two settings at once.

What reads a setting asks `current()` when it runs; nothing copies settings into variables of its own. The few things that are
the process's own by nature (the run of processes it belongs to, loaded libraries, registries) are listed with their
reasons in tests/structure/test_state.py, which refuses others.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import functools
import os
import warnings
from collections.abc import Iterator
from typing import Any

from mindspore.prims import world
from mindspore.runtime import device_kinds
from mindspore.runtime.programs import Programs
from mindspore.runtime.settings import SETTINGS, checked, defaults
from mindspore.runtime.sharding import sharding_options

#: settings that compiled graphs depend on
_COMPILED_FOR = ("backend", "device_target", "device_id", "graph_kernel_flags", "runtime_num_threads", "jit_syntax_level",
                 "deterministic", "pynative_deferred")  # fmt: skip


#: settings that choose the device
_PLACE = ("device_target", "device_id", "pynative_synchronize", "pynative_deferred")


class Context:
    """Settings, and what was made for them."""

    def __init__(
        self, settings: dict[str, Any], sections: dict[str, Any] | None = None, streams: Any = None, around: Context | None = None
    ):
        """`around`: the context that this is a local one of."""
        self.settings = settings
        #: settings of parts above this layer, by part: parallel training, its cost model, …
        self.sections = sections or {}
        #: random streams (common/random.py); a local context uses those around it until it is given a seed
        self.streams = streams
        self.is_local, self.owns_streams = around is not None, False
        #: graphs compiled for this and for local contexts: they share the memory
        self.programs: Programs = Programs() if around is None else around.programs
        self._made: dict[Any, Any] = {}
        self._compile_cache = (False, "")  # what it was told last
        self.device = self._find_device(settings)
        self.settle()

    def _find_device(self, settings: dict[str, Any]) -> Any:
        """The device that settings name; kept, because programs are compiled for it."""
        place = tuple(settings[name] for name in _PLACE)
        return self.made(("device", *place), lambda: device_kinds.find(*place))

    def settle(self) -> None:
        """Work out what is read at every call; to be called when settings have changed that graphs depend on."""
        self.mode = self.settings["mode"]
        parallel = self.sections.get("parallel", {})
        cut = parallel.get("parallel_mode", "stand_alone"), parallel.get("device_num", 1)
        self.sharding = sharding_options(parallel)  #: how graphs are cut over devices, if they are
        self.watch = self.sections.get("watch", {}).get("current")  #: watchpoints, if there are any (runtime/watch)
        if not self.is_local:
            self._tell_the_compile_cache()
        self.recorder = self.sections.get("replay", {}).get("current")  #: keeps steps, if they are to be kept (runtime/replay)
        watched = (self.watch and self.watch.key, self.recorder and self.recorder.key)
        place = world.place()  # a graph knows the size of its groups
        self.key = _interned((*(self.settings[name] for name in _COMPILED_FOR), *cut, self.sharding, self.streams, watched, place))

    def _tell_the_compile_cache(self) -> None:
        """Where compiled code is kept on disk is the same for all of the process: so is the code."""
        wanted = (self.settings["enable_compile_cache"], self.settings["compile_cache_path"])
        if wanted != self._compile_cache:
            from mindspore.backends.cpu import cache

            cache.configure(*wanted)
            self._compile_cache = wanted

    def edit(self, changes: dict[str, Any]) -> None:
        """Change settings: all of them or, if one cannot be, none."""
        if self.is_local:
            _refuse_what_is_shared(changes)
        kept = checked(changes)
        settings = {**self.settings, **kept}
        if set(_PLACE) & kept.keys():
            self.device.flush()  # what was called before is computed by the device it was called on
            self.device = self._find_device(settings)
        _say_what_is_ignored(kept)
        self.settings = settings
        self.settle()

    def use_streams(self, streams: Any) -> None:
        """Take random numbers from these streams; graphs compiled for others are not used."""
        self.streams = streams
        self.settle()

    def made(self, key: Any, make: Any) -> Any:
        """What `make()` gave when it was first asked for under this key: backends, kernels. Belongs to this context alone."""
        found = self._made.get(key)
        if found is None:
            found = self._made.setdefault(key, make())
        return found

    def has_made(self, *kinds: str) -> bool:
        return any(isinstance(key, tuple) and key[0] in kinds for key in self._made)

    def forget_made(self) -> None:
        """Make everything anew when it is asked for."""
        self._made.clear()

    def section(self, name: str, initial: dict[Any, Any]) -> dict[Any, Any]:
        """The settings of a part, `initial` at first."""
        found = self.sections.get(name)
        if found is None:
            found = self.sections[name] = _copied(initial)
        return found

    def reset(self) -> None:
        """Restore the defaults; of a local context those that are its own."""
        self.edit({name: v for name, v in defaults().items() if not (self.is_local and SETTINGS[name].process)})

    def local(self, changes: dict[str, Any]) -> Context:
        """A context of its own with some settings changed."""
        _refuse_what_is_shared(changes)
        kept = checked(changes)
        _say_what_is_ignored(kept)
        twin = Context({**self.settings, **kept}, _copied(self.sections), self.streams, around=self)
        if not {"device_target", "device_id"} & kept.keys():
            twin.device = self.device
        return twin

    def snapshot(self) -> tuple:
        """Everything that can be set, for `restore`."""
        return dict(self.settings), _copied(self.sections), self.device

    def restore(self, snapshot: tuple) -> None:
        """Put back what `snapshot` gave."""
        settings, sections, self.device = snapshot
        self.settings, self.sections = dict(settings), _copied(sections)
        self.settle()


def _copied(value: Any) -> Any:
    """A copy of settings: dicts and lists are, what they hold is not."""
    if isinstance(value, dict):
        return {k: _copied(v) for k, v in value.items()}
    return [_copied(v) for v in value] if isinstance(value, list) else value


def _refuse_what_is_shared(changes: dict[str, Any]) -> None:
    shared = sorted(name for name in changes if name in SETTINGS and SETTINGS[name].process)
    if shared:
        raise ValueError(f"{', '.join(shared)}: set for the whole process, outside local contexts, not for a part of it.")


@functools.lru_cache(maxsize=1024)
def _interned(values: tuple) -> object:
    """The same object for the same values: comparing and hashing it at every call costs next to nothing."""
    return object()


@functools.cache
def _warn_once(name: str) -> None:
    warnings.warn(f"set_context: '{name}' ({SETTINGS[name].doc}) has no effect here.", stacklevel=5)


def _say_what_is_ignored(changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        if not SETTINGS[name].acts and value != SETTINGS[name].default:
            _warn_once(name)


DEFAULT = Context(defaults())
_CURRENT: contextvars.ContextVar[Context] = contextvars.ContextVar("mindspore_context", default=DEFAULT)

#: what it holds goes before the modules it needs to go properly
atexit.register(DEFAULT.forget_made)

#: the context of this thread or task; bound to the C method because every eager operation asks
current = _CURRENT.get


@contextlib.contextmanager
def scope(**changes: Any) -> Iterator[Context]:
    """Have this thread or task use a context of its own in a `with` block."""
    token = _CURRENT.set(current().local(changes))
    try:
        yield current()
    finally:
        _CURRENT.reset(token)


def settle_in_world() -> None:
    """Work out anew what settings mean: this process has joined or left a run."""
    for context in {DEFAULT, current()}:
        context.settle()


def _compute_without_threads() -> None:
    """In a forked child: neither JAX nor OpenMP survives a fork, so graphs run on the reference machine."""
    for context in {DEFAULT, current()}:
        if context.settings["device_target"] == "CPU" and context.has_made("backend", "native"):
            context.forget_made()
            context.edit({"backend": "interp", "pynative_deferred": False})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compute_without_threads)
