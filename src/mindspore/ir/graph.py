"""FuncGraph and its nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore.ir.abstract import Abstract, AbstractFunction, AbstractOther, AbstractTuple
from mindspore.ir.location import Location

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

_counter = itertools.count(1)


class Node:
    """A value in a graph."""

    __slots__ = ("abstract", "graph", "id")
    abstract: Abstract

    def __init__(self, abstract: Abstract, graph: FuncGraph | None = None):
        self.abstract = abstract
        self.graph = graph
        self.id = next(_counter)

    @property
    def args(self) -> tuple[Node, ...]:
        return ()


class Parameter(Node):
    """A formal parameter of a graph. `default` holds the framework's Parameter when it stands for a weight."""

    __slots__ = ("default", "name")

    def __init__(self, name: str, abstract: Abstract, graph: FuncGraph, default: Any = None):
        super().__init__(abstract, graph)
        self.name = name
        self.default = default

    def __repr__(self) -> str:
        return f"%{self.name}"


class ValueNode(Node):
    """A constant: an array, a Python value, or a FuncGraph."""

    __slots__ = ("value",)

    def __init__(self, value: Any, abstract: Abstract | None = None):
        if abstract is None:
            abstract = AbstractFunction(value) if isinstance(value, FuncGraph) else AbstractOther(value)
        super().__init__(abstract)
        self.value = value

    def __repr__(self) -> str:
        return f"const({self.value!r})"


class CNode(Node):
    """The application of a primitive to arguments."""

    __slots__ = ("_args", "location", "op", "scope")

    def __init__(
        self,
        op: Primitive,
        args: Iterable[Node],
        abstract: Abstract,
        graph: FuncGraph | None = None,
        location: tuple[Location, ...] = (),
        scope: str = "",
    ):
        super().__init__(abstract, graph)
        self.op = op
        self._args = tuple(args)
        self.location = location  # innermost frame first
        self.scope = scope

    @property
    def args(self) -> tuple[Node, ...]:
        return self._args

    @args.setter
    def args(self, value: Iterable[Node]) -> None:
        self._args = tuple(value)

    def __repr__(self) -> str:
        return f"[CNode]{self.id}:{self.op.name}"


class FuncGraph:
    """A function: parameters and an output. Nodes belonging to other graphs may be used: they are free variables."""

    def __init__(self, name: str):
        self.name = name
        self.parameters: list[Parameter] = []
        self.output: Node = None  # type: ignore[assignment]
        self.attrs: dict[str, Any] = {}
        self.id = next(_counter)

    def add_parameter(self, name: str, abstract: Abstract, default: Any = None) -> Parameter:
        parameter = Parameter(name, abstract, self, default)
        self.parameters.append(parameter)
        return parameter

    @property
    def outputs(self) -> tuple[Abstract, ...]:
        """The output's abstract value as a tuple of leaves."""
        out = self.output.abstract
        return out.elements if isinstance(out, AbstractTuple) else (out,)

    def nodes(self) -> list[CNode]:
        """The CNodes that the output needs, each after its arguments. Does not enter subgraphs or other graphs' nodes."""
        return topological_order(self.output, self) if self.output is not None else []

    def subgraphs(self) -> list[FuncGraph]:
        """Graphs used as values by this graph's own nodes, in order of use."""
        found: dict[int, FuncGraph] = {}
        for node in self.nodes() if self._uses_graphs() else ():
            for arg in node.args:
                if isinstance(arg, ValueNode) and isinstance(arg.value, FuncGraph):
                    found.setdefault(arg.value.id, arg.value)
        return list(found.values())

    def _uses_graphs(self) -> bool:
        """Whether there are any such graphs: most have none, and that is told without an order."""
        seen: set[int] = set()
        stack: list[Node] = [self.output] if self.output is not None else []
        while stack:
            for arg in stack.pop().args:
                if type(arg) is ValueNode:
                    if isinstance(arg.value, FuncGraph):
                        return True
                elif arg.graph is self and arg.id not in seen:
                    seen.add(arg.id)
                    stack.append(arg)
        return False

    def all_graphs(self) -> list[FuncGraph]:
        """This graph and every graph reachable from it (recursion allowed)."""
        seen: dict[int, FuncGraph] = {self.id: self}
        stack = [self]
        while stack:
            for sub in stack.pop().subgraphs():
                if sub.id not in seen:
                    seen[sub.id] = sub
                    stack.append(sub)
        return list(seen.values())

    def free_variables(self) -> list[Node]:
        """Nodes of other graphs that this graph uses. Graphs it uses as values are closed already (compiler/control/lift)."""
        found: dict[int, Node] = {}
        for node in itertools.chain(self.nodes(), (self.output,)):
            for arg in (*node.args, node):
                if not isinstance(arg, ValueNode) and arg.graph is not self:
                    found.setdefault(arg.id, arg)
        return list(found.values())

    def __repr__(self) -> str:
        return f"FuncGraph(@{self.name}, {len(self.parameters)} parameters)"


def topological_order(output: Node, graph: FuncGraph | None = None) -> list[CNode]:
    """CNodes reachable from `output` (only those owned by `graph`, when given), arguments first. Iterative.

    Raises ValueError on a cycle, which only a broken rewrite can make: recursion goes through graph values.
    """
    order: list[CNode] = []
    state: dict[int, int] = {}  # 1: arguments under way, 2: done
    stack: list[Node] = [output]
    while stack:
        node = stack[-1]
        seen = state.get(node.id)
        if seen == 2 or not isinstance(node, CNode) or (graph is not None and node.graph is not graph):
            stack.pop()
            continue
        if seen == 1:
            stack.pop()
            state[node.id] = 2
            order.append(node)
            continue
        state[node.id] = 1
        for arg in reversed(node.args):
            mark = state.get(arg.id)
            if mark is None:
                stack.append(arg)
            elif mark == 1:  # an ancestor on the current path
                raise ValueError(f"the graph has a cycle through {arg!r}")
    return order


def arguments_first(node: Node, done: Container[int], passed_over: Callable[[Node], bool] = lambda _: False) -> Iterator[Node]:
    """A node and what it needs, each after its arguments and as long as its id is not in `done`, where the caller notes it.

    Without recursion: graphs can be deep.
    """
    stack = [node]
    while stack:
        current = stack[-1]
        missing = [] if current.id in done else [a for a in current.args if a.id not in done and not passed_over(a)]
        if missing:
            stack += reversed(missing)
            continue
        stack.pop()
        if current.id not in done:
            yield current
