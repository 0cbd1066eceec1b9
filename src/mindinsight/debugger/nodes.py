"""Nodes of dumped graphs, and their tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from mindinsight.debugger.dump import DumpFile, Rank, load


class Node:
    """A node of a graph: an operator, a parameter or a constant."""

    def __init__(self, rank: Rank, name: str, kind: str, graph_name: str, root: int, stack: list[dict[str, Any]], outputs: int) -> None:
        self._rank, self._name, self.kind = rank, name, kind
        self._graph_name, self._root, self._stack, self.outputs = graph_name, root, stack, outputs
        self.input_nodes: list[Node] = []
        self.downstream: list[Node] = []

    @property
    def name(self) -> str:
        """The full name."""
        return self._name

    @property
    def stack(self) -> list[str]:
        """The lines of the program that the node comes from."""
        return [f"In file {line['file_path']}:{line['line_no']}\n    {line['code_line']}" for line in self._stack]

    @property
    def rank(self) -> int:
        """The process it ran in."""
        return self._rank.number

    @property
    def root_graph_id(self) -> int:
        """The graph that is run as a whole."""
        return self._root

    @property
    def graph_name(self) -> str:
        """The graph it is in."""
        return self._graph_name

    def get_input_tensors(self, iterations: Iterable[int] | None = None, slots: Iterable[int] | None = None) -> list[DebuggerTensor]:
        """What it reads; `slots` count over all inputs."""
        wanted = None if slots is None else set(slots)
        found: list[DebuggerTensor] = []
        place = 0
        for node in self.input_nodes:
            inner = None if wanted is None else [slot for slot in range(node.outputs) if slot + place in wanted]
            found += node.get_output_tensors(iterations, inner)
            place += node.outputs
        return found

    def get_output_tensors(self, iterations: Iterable[int] | None = None, slots: Iterable[int] | None = None) -> list[DebuggerTensor]:
        """What it computes, in the iterations that were dumped."""
        dumped = self._rank.iterations.get(self._root, [])
        steps = dumped if iterations is None else [step for step in _listed(iterations, "iterations") if step in dumped]
        chosen = range(self.outputs) if slots is None else [slot for slot in _listed(slots, "slots") if slot < self.outputs]
        return [DebuggerTensor(self, slot, step) for slot in chosen for step in steps]

    def previous(self, iteration: int) -> int | None:
        """The iteration in which its graph ran before."""
        return self._rank.previous(self._root, iteration)

    def file(self, iteration: int, slot: int) -> DumpFile | None:
        """The file of a tensor: that of its own output, or of an input that a reader dumped."""
        own = self.file_of(iteration, "output", slot)
        if own is not None:
            return own
        for reader in self.downstream:
            place = 0
            for node in reader.input_nodes:
                found = reader.file_of(iteration, "input", place + slot) if node is self else None
                if found is not None:
                    return found
                place += node.outputs
        return None

    def file_of(self, iteration: int, io: str, slot: int) -> DumpFile | None:
        """The file of an output or input that this node wrote; file names hold the whole name with underscores, or its end."""
        whole, last = self._name.replace("/", "_"), self._name.rpartition("/")[2]
        ends = (whole[at + 1 :] for at, letter in enumerate(whole) if letter == "_")
        named = self._rank.named(self._root, iteration)
        return next((named[io, slot, name] for name in (whole, self._name, last, *ends) if (io, slot, name) in named), None)

    def __str__(self) -> str:
        return f"rank: {self.rank}\ngraph_name: {self.graph_name}\nnode_name: {self.name}"


class DebuggerTensor:
    """A tensor of an iteration."""

    def __init__(self, node: Node, slot: int, iteration: int) -> None:
        self._node, self._slot, self._iteration = node, slot, iteration

    @property
    def node(self) -> Node:
        """The node that computes it."""
        return self._node

    @property
    def slot(self) -> int:
        """Which of its results."""
        return self._slot

    @property
    def iteration(self) -> int:
        """When."""
        return self._iteration

    @property
    def rank(self) -> int:
        """In which process."""
        return self._node.rank

    def has_value(self) -> bool:
        """Whether it was dumped."""
        return self._node.file(self._iteration, self._slot) is not None

    def value(self) -> NDArray[Any] | None:
        """Its value, or None if it was not dumped."""
        file = self._node.file(self._iteration, self._slot)
        return None if file is None else load(file)

    def before(self) -> DebuggerTensor | None:
        """The same tensor when the graph ran before."""
        step = self._node.previous(self._iteration)
        return None if step is None else DebuggerTensor(self._node, self._slot, step)

    def __str__(self) -> str:
        return f"{self._node}\nslot: {self._slot}\niteration: {self._iteration}\n"


def _listed(value: Any, name: str) -> list[int]:
    found = [value] if isinstance(value, int) else list(value)
    if not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in found):
        raise ValueError(f"The param `{name}` should be numbers of at least 0, not {value!r}.")
    return found
