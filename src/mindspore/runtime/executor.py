"""Choosing the backend and turning graphs into executables."""

from __future__ import annotations

import os
import warnings
from typing import Any

from mindspore._base import flags
from mindspore._base.optional import available
from mindspore.backends.interp import InterpBackend
from mindspore.compiler import driver
from mindspore.ir import FuncGraph
from mindspore.prims.control import Call
from mindspore.runtime import devices


class _Setting:
    name = flags.text("MS_DEV_BACKEND")  # "" means the best available
    target = "CPU"
    index = 0
    graph_kernel_flags = ""
    threads = 0
    made: dict[Any, Any] = {}


def set_backend(name: str) -> None:
    """Choose "interp", "xla", "cpu", or "" for the best available."""
    if name not in ("", "interp", "xla", "cpu"):
        raise ValueError(f"the backend must be 'interp', 'xla', 'cpu' or '' (automatic), but got {name!r}.")
    _Setting.name = name
    _Setting.made.pop("native", None)


def set_target(target: str, index: int) -> None:
    _Setting.target, _Setting.index = target, index


def _compute_without_threads() -> None:
    """In a forked child: neither JAX nor OpenMP survives a fork, so graphs run on the reference machine."""
    if _Setting.made and _Setting.target == "CPU":
        _Setting.name = "interp"
        _Setting.made.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compute_without_threads)


def backend_key() -> tuple:
    return (_Setting.name, _Setting.target, _Setting.index)


def set_cpu_options(graph_kernel_flags: str, threads: int) -> None:
    """Settings of the native CPU backend; graphs compiled before keep theirs."""
    _Setting.graph_kernel_flags, _Setting.threads = graph_kernel_flags, threads
    _Setting.made.clear()


def set_compile_cache(enabled: bool, path: str) -> None:
    """Whether and where compiled kernels are kept on disk."""
    from mindspore.backends.cpu import cache

    cache.configure(enabled, path)


def current_backend() -> Any:
    """The backend that compiles graphs now."""
    key = backend_key()
    if key not in _Setting.made:
        _Setting.made[key] = _make(*key)
    return _Setting.made[key]


def _make(name: str, target: str, index: int) -> Any:
    if name == "":
        name = _best(target)
    if name == "interp":
        return InterpBackend()
    if name == "cpu":
        from mindspore.backends.cpu import CpuBackend

        return CpuBackend(_Setting.graph_kernel_flags, _Setting.threads)
    from mindspore.backends.xla import XlaBackend

    platform = {"CPU": "cpu", "GPU": "gpu"}.get(target, "")
    return XlaBackend(platform, index)


def native_backend() -> Any:
    """The CPU backend for single operations of PyNative mode; None where it is not there or another one was asked for."""
    if "native" not in _Setting.made:
        _Setting.made["native"] = _make_native() if _Setting.name in ("", "cpu") else None
    return _Setting.made["native"]


def _make_native() -> Any:
    if not available("llvmlite"):
        return None
    from mindspore.backends import cpu

    return cpu.CpuBackend(_Setting.graph_kernel_flags, _Setting.threads, strict=True) if cpu.available() else None


def _best(target: str) -> str:
    """Native code on a CPU; XLA for everything else, and where native code cannot be made; NumPy where nothing else is."""
    other = "xla" if available("jax") else "interp"
    if target != "CPU" and devices.accelerator() is not None:
        return other
    if available("llvmlite"):
        from mindspore.backends import cpu

        if cpu.available():
            return "cpu"
    warnings.warn(
        f"graphs run on {'XLA' if other == 'xla' else 'NumPy'}: the native CPU backend is not available here. "
        "It is faster and needs x86-64 Linux and: pip install 'pymindspore[cpu]'"
    )
    return other


def compile_graph(graph: FuncGraph, donated: frozenset[int], options: driver.Options = driver.Options()) -> Any:
    """Optimise and compile on the current backend; graphs it cannot express run on the reference machine."""
    backend = current_backend()
    driver.optimise(graph, options)
    supports = getattr(backend, "supports", None)
    if (supports is not None and not supports(graph)) or _calls_itself(graph):
        backend = InterpBackend()
    executable = backend.compile(graph, donated)
    return _dumped(graph, executable) if flags.text("MINDSPORE_DUMP_CONFIG") else executable


def _calls_itself(graph: FuncGraph) -> bool:
    """Calls that optimisation left are recursive. Native code would need memory of its own for each level."""
    return any(isinstance(n.op, Call) for g in graph.all_graphs() for n in g.nodes())


def _dumped(graph: FuncGraph, executable: Any) -> Any:
    """An executable whose tensors go to files; PyNative operations do so from now on, too."""
    from mindspore.runtime.dump import eager, graphs

    eager.watch()
    return graphs.DumpedGraph(graph, executable)
