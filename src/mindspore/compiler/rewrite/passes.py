"""The ordered list of passes between tracing and the backend. Each works in place on a graph and all graphs it reaches."""

from __future__ import annotations

from collections.abc import Callable

from mindspore.compiler.builder import Builder
from mindspore.compiler.inline import inline
from mindspore.compiler.rewrite.absorb import absorb
from mindspore.compiler.rewrite.matcher import Context, Rewriter
from mindspore.compiler.rewrite.rules import SIMPLIFY, fold_constant
from mindspore.ir import CNode, FuncGraph, Node, ValueNode
from mindspore.prims.control import Call, Cond

_REWRITER = Rewriter(SIMPLIFY)


def inline_calls(graph: FuncGraph) -> None:
    """Replace calls of graphs that do not call themselves by their bodies, and conditions that are known by their branch."""
    for g in graph.all_graphs():
        for _ in range(8):  # bodies may contain calls themselves
            targets = [n for n in g.nodes() if _inlinable(n)]
            if not targets:
                break
            _inline_nodes(g, targets)


def _inlinable(node: CNode) -> bool:
    if isinstance(node.op, Call):
        callee = node.args[0].value  # type: ignore[attr-defined]
        return not _reaches(callee, callee)
    return isinstance(node.op, Cond) and isinstance(node.args[0], ValueNode)


def _reaches(graph: FuncGraph, target: FuncGraph) -> bool:
    return any(sub is target or any(s is target for s in sub.all_graphs()) for sub in graph.subgraphs())


def _inline_nodes(graph: FuncGraph, targets: list[CNode]) -> None:
    replaced: dict[int, Node] = {}
    builder = Builder(graph)
    for node in targets:
        if isinstance(node.op, Call):
            body, operands = node.args[0].value, node.args[1:]  # type: ignore[attr-defined]
        else:
            chosen = node.args[1] if bool(node.args[0].value) else node.args[2]  # type: ignore[attr-defined]
            body, operands = chosen.value, node.args[3:]  # type: ignore[attr-defined]
        with builder.active():
            replaced[node.id] = builder.make_tuple(inline(body, [replaced.get(o.id, o) for o in operands], builder))
    substitute(graph, replaced)


def substitute(graph: FuncGraph, replaced: dict[int, Node]) -> None:
    """Use other nodes in place of some, everywhere in a graph."""

    def final(node: Node) -> Node:
        while node.id in replaced:
            node = replaced[node.id]
        return node

    graph.output = final(graph.output)
    seen: set[int] = set()
    stack: list[Node] = [graph.output]
    while stack:
        node = stack.pop()
        if node.id in seen or not isinstance(node, CNode) or node.graph is not graph:
            continue
        seen.add(node.id)
        args = tuple(final(a) for a in node.args)
        if args != node.args:
            node.args = args
        stack.extend(args)


def simplify(graph: FuncGraph) -> None:
    """Named local rules and merging of equal nodes (value numbering), to a fixpoint."""
    for g in graph.all_graphs():
        _REWRITER.run(g)


def fold_constants(graph: FuncGraph) -> None:
    """Compute what does not depend on any input."""
    for g in graph.all_graphs():
        context = Context(g)
        replaced: dict[int, Node] = {}
        for node in g.nodes():
            args = tuple(replaced.get(a.id, a) for a in node.args)
            if args != node.args:
                node.args = args
            context.current = node
            new = fold_constant(context, node)
            if new is not None:
                replaced[node.id] = new
        g.output = replaced.get(g.output.id, g.output)


def absorb_neighbours(graph: FuncGraph) -> None:
    """Operations that are one kernel take in casts and sums around them (`absorb.py`)."""
    for g in graph.all_graphs():
        substitute(g, absorb(g))


PASSES: list[tuple[str, Callable[[FuncGraph], None]]] = [
    ("inline", inline_calls),
    ("simplify", simplify),
    ("fold_constants", fold_constants),
    ("simplify_again", simplify),
    ("absorb_neighbours", absorb_neighbours),
]
