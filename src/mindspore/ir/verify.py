"""The verifier: what must hold of every graph after every pass. Switched on by `MS_DEV_VERIFY_IR=1`."""

from __future__ import annotations

from mindspore.ir.abstract import AbstractFunction, AbstractOther
from mindspore.ir.graph import CNode, FuncGraph, Parameter, ValueNode


class VerifyError(AssertionError):
    """A pass broke the graph."""


def verify(graph: FuncGraph, stage: str) -> None:
    """Check all graphs reachable from `graph`: closed, acyclic, typed consistently with their primitives."""
    for g in graph.all_graphs():
        _verify_graph(g, stage)


def _verify_graph(graph: FuncGraph, stage: str) -> None:
    where = f"after '{stage}', in @{graph.name}.{graph.id}"
    if graph.output is None:
        raise VerifyError(f"{where}: the graph has no output")
    parameters = {p.id for p in graph.parameters}
    for node in graph.nodes():
        for arg in node.args:
            if isinstance(arg, Parameter) and arg.id not in parameters:
                raise VerifyError(f"{where}: {node!r} uses {arg!r}, which belongs to another graph")
            if isinstance(arg, CNode) and arg.graph is not graph:
                raise VerifyError(f"{where}: {node!r} uses {arg!r}, which belongs to another graph")
        _verify_types(node, where)
    output = graph.output
    if isinstance(output, (CNode, Parameter)) and output.graph is not graph:
        raise VerifyError(f"{where}: the output belongs to another graph")


def _verify_types(node: CNode, where: str) -> None:
    arguments = [
        a.value
        if isinstance(a, ValueNode) and isinstance(a.abstract, (AbstractOther, AbstractFunction))
        else a.abstract
        for a in node.args
    ]
    inferred = node.op.infer(*arguments)
    if inferred != node.abstract:
        raise VerifyError(f"{where}: {node!r} is marked {node.abstract} but its arguments give {inferred}")
