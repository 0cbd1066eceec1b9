"""vmap: giving every primitive of a graph a batch dimension.

The graph computes one example. Its nodes are walked in order; each value is marked batched (leading axis = examples)
or shared. A primitive with only shared arguments is applied once. Otherwise its own rule (`Primitive.vmap`) applies it to all
examples at once: reductions and shape operations by shifting axes, matrix products as batched products; elementwise
primitives by aligning ranks. A primitive without a rule is applied example by example and the results stacked: slower, but
every graph can be batched. Random numbers are drawn for each example, also where nothing they depend on is batched, unless
the examples are directions in which one computation is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.compiler.builder import Builder
from mindspore.compiler.inline import public_argument, reapply
from mindspore.ir import CNode, Node, ValueNode
from mindspore.prims.arrays import GetItem, Stack
from mindspore.prims.batching import align, rank_of, spread
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.elementwise import Select
from mindspore.prims.primitive import Batched, Primitive
from mindspore.prims.stack import as_tensor
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.prims.values import SymbolicScalarBase, TensorBase

if TYPE_CHECKING:
    from mindspore.ir import FuncGraph

def batch_graph(
    builder: Builder, outputs: list[Node], inputs: list[tuple[Node, Any]], size: int, one_draw: bool = False
) -> list[Batched]:
    """Apply the nodes that compute `outputs` to batched inputs; returns (value, is batched) per output.

    `one_draw`: all examples see the same random numbers.
    """
    owner = inputs[0][0].graph
    walk = _Walk(builder, size, owner, one_draw)
    for node, value in inputs:
        walk.env[node.id] = (value, True)
    return [walk.value(o) for o in outputs]


class _Walk:
    def __init__(self, builder: Builder, size: int, owner: Any, one_draw: bool):
        self.builder = builder
        self.size = size
        self.owner = owner
        self.one_draw = one_draw
        self.env: dict[int, Batched] = {}

    def value(self, node: Node) -> Batched:
        """The batched value of a node, computing its arguments first (iteratively: graphs can be deep)."""
        stack = [node]
        while stack:
            current = stack[-1]
            if current.id in self.env:
                stack.pop()
                continue
            if not isinstance(current, CNode) or current.graph is not self.owner:
                self.env[current.id] = (public_argument(self.builder, current), False)
                stack.pop()
                continue
            missing = [a for a in current.args if a.id not in self.env]
            if missing:
                stack.extend(missing)
                continue
            with self.builder.at(current.location, current.scope):
                self.env[current.id] = self._apply(current)
            stack.pop()
        return self.env[node.id]

    def _apply(self, node: CNode) -> Batched:
        op = node.op
        args = [self.env[a.id] for a in node.args]
        if isinstance(op, MakeTuple):
            return tuple(args), True  # a tuple of (value, flag) pairs
        if isinstance(op, TupleGetItem):
            whole, flag = args[0]
            index = node.args[1].value  # type: ignore[attr-defined]
            return whole[index] if flag and isinstance(whole[index], tuple) else (whole[index], flag)
        if isinstance(op, (Cond, While, Call)):
            return self._control(node, args)
        if not any(flag for _, flag in args) and (self.one_draw or not op.draws):
            return self._shared(node, args)
        if not (op.draws and self.one_draw):
            out = _by_rule(op, self.size, args)
            if out is not None:
                return _pairs(out)
        if op.writes:  # called, it may hand out less than it computes
            return self._one_by_one(lambda one: self.builder.apply(op, tuple(one)), args)
        return self._one_by_one(lambda one: op(*one), args)

    def _shared(self, node: CNode, args: list[Batched]) -> Batched:
        nodes = tuple(a if isinstance(a, ValueNode) else self.builder.node_of(v) for a, (v, _) in zip(node.args, args))
        public = self.builder.public(reapply(self.builder, node.op, nodes))
        return (tuple((p, False) for p in public), True) if isinstance(public, tuple) else (public, False)

    def _one_by_one(self, apply: Callable[[list[Any]], Any], args: list[Batched]) -> Batched:
        results = []
        for i in range(self.size):
            results.append(apply([GetItem((i,))(v) if flag else v for v, flag in args]))
        if isinstance(results[0], tuple):
            return tuple((_stack([r[k] for r in results]), True) for k in range(len(results[0]))), True
        return _stack(results), True

    def _control(self, node: CNode, args: list[Batched]) -> Batched:
        """Branches on a batched predicate compute both sides and select; loops and recursion go example by example."""
        if isinstance(node.op, Cond):
            (predicate, varies), (then, _), (otherwise, _), *operands = args
            if varies:
                left = self._subgraph(then, operands)
                right = self._subgraph(otherwise, operands)
                return tuple((self._select(predicate, a, b), True) for a, b in zip(left, right)), True
        graphs = [a for a in node.args if isinstance(a, ValueNode)]

        def run(one: list[Any]) -> Any:
            nodes = tuple(a if a in graphs else self.builder.node_of(v) for a, v in zip(node.args, one))
            return self.builder.public(self.builder.emit(node.op, nodes))

        if not any(flag for _, flag in args):
            return tuple((v, False) for v in run([v for v, _ in args])), True
        return self._one_by_one(run, args)

    def _subgraph(self, graph: FuncGraph, operands: list[Batched]) -> list[Batched]:
        walk = _Walk(self.builder, self.size, graph, self.one_draw)
        for parameter, operand in zip(graph.parameters, operands):
            walk.env[parameter.id] = operand
        out, _ = walk.value(graph.output)
        return list(out)

    def _select(self, predicate: TensorBase, a: Batched, b: Batched) -> Any:
        left, right = spread(a, self.size), spread(b, self.size)
        mask = predicate.reshape((self.size,) + (1,) * (left.ndim - 1))
        return Select()(mask, left, right)


def _pairs(out: Any) -> Batched:
    if isinstance(out, tuple) and out and all(isinstance(o, tuple) for o in out):
        return out, True
    if isinstance(out, tuple):
        return tuple((o, True) for o in out), True
    return out, True


def _stack(results: list[Any]) -> Any:
    return Stack(0)([as_tensor(r) for r in results])


def _by_rule(op: Primitive, size: int, args: list[Batched]) -> Any:
    """The result by the operation's own rule, or by that of elementwise ones; None where there is none for these arguments."""
    if op.vmap is not None:
        return op.vmap(size, *args)
    if not op.elementwise:
        return None
    rank = rank_of(*((v, f) for v, f in args if isinstance(v, (TensorBase, SymbolicScalarBase))))
    return op(*(align(arg, size, rank) for arg in args))  # behind the batch axis broadcasting does the rest
