"""Turning graphs into executables: optimise, compile, and dump tensors if asked to."""

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
    driver.optimise(graph, options)
    executable = choose_backend.compile_graph(graph, donated)
    return _dumped(graph, executable) if flags.text("MINDSPORE_DUMP_CONFIG") else executable


def _dumped(graph: FuncGraph, executable: Any) -> Any:
    """An executable whose tensors go to files; PyNative operations do so from now on, too."""
    from mindspore.runtime.dump import eager, graphs

    eager.watch()
    return graphs.DumpedGraph(graph, executable)
