"""Graph mode: iterations that are to be dumped run node by node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.backends.interp import InterpBackend
from mindspore.formats.events.graph_record import model_file
from mindspore.ir import CNode, FuncGraph, ValueNode
from mindspore.ir.naming import full_names
from mindspore.ir.printer import graph_text
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.runtime import devices
from mindspore.runtime.dump import session as sessions
from mindspore.runtime.dump.session import Run, Session

SILENT = (MakeTuple, TupleGetItem, Cond, While, Call)  # they move values; what they hold is dumped where it is made
MARKS = "dump_scopes"  # graph attribute: scope -> whether `set_dump` was called for the cell there


class DumpedGraph:
    """An executable that is replaced by a run node by node whenever the iteration is to be dumped.

    The nodes are evaluated as PyNative mode would do it: by NumPy on a CPU, on an accelerator one kernel each.
    """

    def __init__(self, graph: FuncGraph, executable: Any):
        self.graph = graph
        self.executable = executable
        self._names = shown_names(graph)
        self._stepwise: Callable[..., Any] | None = None
        self._run: Run | None = None

    def __call__(self, *arrays: Any, **kept: Any) -> Any:
        session = sessions.current()
        if session is None:
            return self.executable(*arrays, **kept)
        self._run = session.launch(self._number(session))
        return self.executable(*arrays, **kept) if self._run is None else self._node_by_node(arrays)

    def write(self, session: Session, iteration: int, arrays: tuple) -> str:
        """Dump one run on these inputs, whatever iterations the session wants; returns the folder of its tensors."""
        self._run = session.begin(self._number(session), iteration)
        self._node_by_node(arrays)
        return self._run.folder

    def _node_by_node(self, arrays: tuple) -> Any:
        assert self._run is not None
        if self._stepwise is None:
            self._stepwise = InterpBackend(self._watched).compile(self.graph)
        results = self._stepwise(*arrays)
        updates = self.graph.attrs.get("updates", {})
        for place, (parameter, array) in enumerate(zip(self.graph.parameters, arrays)):
            self._run.parameter(parameter.name, results[updates[place]] if place in updates else array)
        return results

    def __getattr__(self, name: str) -> Any:
        return getattr(self.executable, name)

    def _number(self, session: Session) -> int:
        number, new = session.number(self)
        if new:
            session.files.graph(number, graph_text(self.graph), model_file(self.graph))
            session.files.execution_order(number, list(self._names.values()))
            session.constants(number, constants_of(self.graph))
        return number

    def _watched(self, node: CNode, kernel: Callable) -> Callable:
        """The kernel of a node, with a look at what goes in and comes out."""
        if isinstance(node.op, SILENT):
            return kernel
        name, marked = self._names[node.id], _is_marked(node, self.graph)

        def run(*args: Any) -> Any:
            assert self._run is not None
            device = devices.current()
            try:
                out = kernel(*args) if device.name == "CPU" else device.evaluate(node.op, list(args))
            except Exception:
                self._run.failed(name, args)
                raise
            self._run.operation(name, args, out, marked)
            return out

        return run


def shown_names(graph: FuncGraph) -> dict[int, str]:
    """The names of the nodes that are dumped, in the order of execution."""
    return full_names(n for owner in graph.all_graphs() for n in owner.nodes() if not isinstance(n.op, SILENT))


def constants_of(graph: FuncGraph) -> list[np.ndarray]:
    """The tensors that are part of the graph, each once, in the order in which they are used."""
    found: dict[int, np.ndarray] = {}
    for owner in graph.all_graphs():
        for node in owner.nodes():
            for argument in node.args:
                if isinstance(argument, ValueNode) and isinstance(argument.value, np.ndarray):
                    found.setdefault(id(argument.value), argument.value)
    return list(found.values())


def _is_marked(node: CNode, graph: FuncGraph) -> bool:
    """Whether `set_dump` was called for the primitive, or for the innermost cell around it that has a mark."""
    own = node.op.attrs.get("dump")
    if own is not None:
        return own == "true"
    marks = graph.attrs.get(MARKS, {})
    scope = node.scope.removeprefix("Gradients/")
    while scope:
        if scope in marks:
            return marks[scope]
        scope = scope.rpartition("/")[0]
    return False
