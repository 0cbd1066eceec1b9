"""Which backend compiles a graph, and which one instead where that one cannot.

The settings name a backend, or leave the choice: native code on a CPU; XLA for other devices, and where native code cannot be
made; NumPy where nothing else is there. A graph that the chosen backend does not support (`Backend.supports`) goes to the
next one of the list, and so does one that it turns out to have no way to express (`CannotCompile`), with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from mindspore._base import flags
from mindspore._base.optional import available
from mindspore.backends.base import Backend, CannotCompile
from mindspore.backends.interp import InterpBackend
from mindspore.ir import FuncGraph
from mindspore.runtime import context, deferred, devices


def current_backend() -> Any:
    """The backend that the settings of the current context choose."""
    here = context.current()
    return here.made(("backend", here.key), lambda: _make(here.settings["backend"] or best(here), here))


def native_backend() -> Any:
    """The CPU backend for single operations of PyNative mode; None where it is not there or another one was asked for."""
    here = context.current()
    if here.settings["backend"] not in ("", "cpu") or not _native_is_available():
        return None
    return here.made(("native", here.key), lambda: _make("cpu", here))


def best(here: context.Context) -> str:
    """The name of the backend to use where nobody has chosen."""
    other = "xla" if available("jax") else "interp"
    if here.settings["device_target"] != "CPU" and isinstance(here.device, devices.XlaDevice):
        return other
    if _native_is_available():
        return "cpu"
    warnings.warn(
        f"graphs run on {'XLA' if other == 'xla' else 'NumPy'}: the native CPU backend is not available here. "
        "It is faster and needs x86-64 Linux and: pip install 'pymindspore[cpu]'"
    )
    return other


def compile_graph(graph: FuncGraph, donated: frozenset[int]) -> Any:
    """An executable of the first backend that can make one."""
    for backend in _candidates():
        if not backend.supports(graph):
            continue
        try:
            return backend.compile(graph, donated)
        except CannotCompile as error:
            if flags.switch("MS_DEV_CPU_STRICT"):
                raise
            warnings.warn(f"the graph {graph.name!r} runs on NumPy: {error}")
            break
    return InterpBackend().compile(graph, donated)


def _candidates() -> Iterator[Backend]:
    """The chosen backend, then XLA on the host in place of native code."""
    chosen = current_backend()
    yield chosen
    if chosen.name == "cpu" and available("jax"):
        here = context.current()
        yield here.made(("backend", "xla", here.key), lambda: _make("xla", here))


def _native_is_available() -> bool:
    if not available("llvmlite"):
        return False
    from mindspore.backends import cpu

    return cpu.available()


def _make(name: str, here: context.Context) -> Any:
    settings = here.settings
    if name == "interp":
        return InterpBackend()
    if name == "cpu":
        from mindspore.backends.cpu import CpuBackend

        return CpuBackend(settings["graph_kernel_flags"], settings["runtime_num_threads"])
    from mindspore.backends.xla import XlaBackend

    platform = {"CPU": "cpu", "GPU": "gpu"}.get(settings["device_target"], "")
    return XlaBackend(platform, settings["device_id"], settings["deterministic"] == "ON")


deferred.set_host(current_backend, compile_graph)
