"""Time per kernel inside compiled graphs, one module per backend.

A clock is started before the graph of its backend runs for the first time and stopped with the recorder; then it has
added a span of the kind "kernel" for everything the backend did. Each is cheap enough to be always on.
"""

from __future__ import annotations

from typing import Any, Protocol

from mindspore.backends.interp.machine import Program


class Clock(Protocol):
    """What times the kernels of one backend."""

    def run(self, executable: Any, arrays: list[Any], **how: Any) -> Any:
        """Run an executable of the backend."""
        ...

    def stop(self) -> None:
        """Nothing runs any more: add what is still missing."""
        ...


class Clocks:
    """Chooses the clock of each executable; clocks are made when they are needed."""

    def __init__(self, recorder: Any):
        self.recorder = recorder
        self._made: dict[str, Clock | None] = {}

    def run(self, executable: Any, arrays: list[Any], **how: Any) -> Any:
        backend = _backend_of(executable)
        if backend not in self._made:
            self._made[backend] = _make(backend, self.recorder)
        clock = self._made[backend]
        return executable(*arrays, **how) if clock is None else clock.run(executable, arrays, **how)

    def stop(self) -> None:
        for clock in self._made.values():
            if clock is not None:
                clock.stop()


def _backend_of(executable: Any) -> str:
    if isinstance(executable, Program):
        return "interp"
    module = type(executable).__module__
    if module.startswith("mindspore.backends.cpu"):
        return "cpu"
    return "xla" if module.startswith(("jax", "mindspore.backends.xla")) else ""


def _make(backend: str, recorder: Any) -> Clock | None:
    if backend == "interp":
        from mindspore.profiler.kernels.interp import InterpClock

        return InterpClock(recorder)
    if backend == "cpu":
        from mindspore.profiler.kernels.native import NativeClock

        return NativeClock(recorder)
    if backend == "xla":
        from mindspore.profiler.kernels.xla import XlaClock

        return XlaClock.started(recorder)
    return None
