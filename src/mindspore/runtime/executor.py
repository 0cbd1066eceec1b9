"""Turning graphs into executables: optimise, compile, and look at tensors on the way if asked to (watchpoints, dumps)."""

from __future__ import annotations

from typing import Any

from mindspore._base import flags
from mindspore.compiler import driver
from mindspore.ir import FuncGraph
from mindspore.runtime import choose_backend, context


def compile_graph(graph: FuncGraph, donated: frozenset[int], options: driver.Options = driver.Options()) -> Any:
    """Optimise and compile with the backend of the current context."""
    sharding = context.current().sharding
    if sharding is not None:
        from mindspore.runtime.sharded import ShardedExecutable, check_strategies

        if sharding.devices > 1 or sharding.stages > 1:
            return ShardedExecutable(graph, sharding, options)
        check_strategies(graph, sharding)
    recorder = context.current().recorder
    executable = _observed(graph, donated, options)
    if recorder is None or not graph.attrs.get("updates"):
        return executable
    from mindspore.runtime.replay.record import RecordedGraph

    return RecordedGraph(graph, executable, recorder)


def _observed(graph: FuncGraph, donated: frozenset[int], options: driver.Options) -> Any:
    """An executable, with watchpoints and dumps if they are asked for."""
    if flags.online_debugger() and graph.attrs.get("updates"):
        return _debugged(graph, options)
    watch = context.current().watch
    if watch is not None and watch.concerns([p.default for p in graph.parameters if p.default is not None]):
        return _watched(graph, watch, options)
    driver.optimise(graph, options)
    executable = choose_backend.compile_graph(graph, donated)
    return _dumped(graph, executable) if flags.text("MINDSPORE_DUMP_CONFIG") else executable


def _debugged(graph: FuncGraph, options: driver.Options) -> Any:
    """An executable that the online debugger steps through."""
    from mindspore.runtime.online.client import Debugger
    from mindspore.runtime.online.graphs import DebuggedGraph

    driver.optimise(graph, options)
    return DebuggedGraph(graph, context.current().made(("online debugger",), Debugger))


def _dumped(graph: FuncGraph, executable: Any) -> Any:
    """An executable whose tensors go to files; PyNative operations do so from now on, too."""
    from mindspore.runtime.dump import eager, graphs

    eager.watch()
    return graphs.DumpedGraph(graph, executable)


def _watched(graph: FuncGraph, watch: Any, options: driver.Options) -> Any:
    """An executable that computes statistics for watchpoints beside its results."""
    from mindspore.runtime.watch.graphs import Plan, WatchedGraph

    plan = Plan(watch, graph)
    driver.optimise(graph, options)
    plan.instrument()
    executable = choose_backend.compile_graph(graph, frozenset())
    return WatchedGraph(plan, executable) if plan.targets else executable
