"""Control flow as primitives over graphs: Cond, While, Call.

Graph arguments are ValueNodes holding closed FuncGraphs. How they run is up to each backend; how they are
differentiated and batched is in compiler/autodiff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.ir import AbstractTuple
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.ir import Abstract, AbstractTensor, FuncGraph


class Cond(Primitive):
    """`Cond()(predicate, then_graph, else_graph, *operands)`: both graphs take the operands and return a tuple."""

    def __init__(self) -> None:
        super().__init__("Cond")

    def infer(self, predicate: AbstractTensor, then: FuncGraph, otherwise: FuncGraph, *operands: Any) -> Any:
        if then.outputs != otherwise.outputs:
            raise TypeError(
                f"the branches of a condition must give the same types, but got {then.outputs} and {otherwise.outputs}"
            )
        return AbstractTuple(then.outputs)


class While(Primitive):
    """`While(n)(condition_graph, body_graph, *carry, *invariants)`: the first n operands are carried from trip to trip.

    `bound`: the largest possible number of trips, if known. `counter`: which carried value counts the trips, in loops that
    save their carry for the backward pass; -1 in others.
    """

    def __init__(self, carried: int, bound: int | None = None, counter: int = -1):
        super().__init__("While", carried=carried, bound=bound, counter=counter)

    def infer(self, condition: FuncGraph, body: FuncGraph, *operands: Any) -> Any:
        before = tuple(operands[: self.carried])
        if body.outputs != before:
            raise TypeError(
                f"a loop body must keep the types of its variables, but they go from {before} to {body.outputs}"
            )
        return AbstractTuple(before)


class Call(Primitive):
    """`Call()(graph, *operands)`: a call of a graph that, directly or not, calls itself. Other calls are inlined."""

    def __init__(self, result: Abstract | None = None):
        super().__init__("Call")
        self.result = result  # the abstract result, known before the graph is complete

    def infer(self, graph: FuncGraph, *operands: Any) -> Any:
        return self.result if self.result is not None else AbstractTuple(graph.outputs)
