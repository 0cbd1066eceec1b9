"""Training steps that run node by node, under the eyes of a debugger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.backends.interp import InterpBackend
from mindspore.formats.events.graph_record import graph_message
from mindspore.ir import CNode, FuncGraph
from mindspore.runtime import devices
from mindspore.runtime.dump.graphs import SILENT, shown_names
from mindspore.runtime.dump.session import arrays_of
from mindspore.runtime.online.client import Debugger


class DebuggedGraph:
    """An executable that asks the debugger before and after it runs, and at the nodes where it is to stop."""

    def __init__(self, graph: FuncGraph, debugger: Debugger):
        self.graph = graph
        self.debugger = debugger
        self._names = shown_names(graph)
        self._run = InterpBackend(self._observed).compile(graph)

    def __call__(self, *arrays: Any, **_: Any) -> Any:
        debugger = self.debugger
        debugger.greet(graph_message(self.graph).encode())
        debugger.begin_step()
        for parameter, array in zip(self.graph.parameters, arrays):
            debugger.now[f"{parameter.name}:0"] = np.asarray(array)
        results = self._run(*arrays)
        for place, number in self.graph.attrs.get("updates", {}).items():
            debugger.now[f"{self.graph.parameters[place].name}:0"] = np.asarray(results[number])
        debugger.end_step()
        return results

    def _observed(self, node: CNode, kernel: Callable) -> Callable:
        if isinstance(node.op, SILENT):
            return kernel
        name = self._names[node.id]

        def run(*args: Any) -> Any:
            device = devices.current()
            out = kernel(*args) if device.name == "CPU" else device.evaluate(node.op, list(args))
            self.debugger.made(name, arrays_of(out if isinstance(out, (tuple, list)) else (out,)))
            return out

        return run
