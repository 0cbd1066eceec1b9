"""Gradients of Cond, While and Call.

Each runs graphs in the forward pass; the backward pass runs graphs derived from them.

Cond: the derived branches compute the original branch again and then its gradient; the saved predicate chooses.

While: the forward loop is given a counter and stacks that save its carry on every trip. The backward loop counts down:
it reads the carry, runs the body's forward again, and applies the body's pullback. Memory is one carry per trip; the
body's intermediate results are never stored.

Call: a recursive graph g gets a derived graph B(g)(operands, sensitivities), in which the recursive calls of g become calls of
B(g).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler.autodiff import reverse
from mindspore.compiler.builder import Builder, array_node
from mindspore.compiler.inline import inline
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.prims import values
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.elementwise import zeros_like
from mindspore.prims.stack import DEFAULT_CAPACITY, StackInit, StackPush, StackRead, as_tensor

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_COUNT = AbstractTensor(mstype.int64, ())


def differentiate(walk: Any, node: CNode, douts: list[Any]) -> list[tuple[Node, Any]]:
    """(argument, gradient) pairs of a control-flow node."""
    rule = {Cond: _cond, While: _while, Call: _call}[type(node.op)]
    return rule(walk, node, douts)


def _sensitivities(builder: Builder, node: Node, douts: list[Any]) -> list[Any]:
    """One sensitivity per output: zeros where nothing flows in, None for outputs without gradient."""
    out: list[Any] = []
    for i, abstract in enumerate(node.abstract.elements):
        if not values.has_gradient(abstract.dtype):
            out.append(None)
        else:
            d = douts[i] if i < len(douts) else None
            out.append(zeros_like(values.from_node(builder.get_item(node, i))) if d is None else d)
    return out


def _graph(node: Node) -> FuncGraph:
    """The graph that a constant node holds."""
    assert isinstance(node, ValueNode)
    return node.value


def _wanted(walk: Any, operands: list[Node]) -> list[int]:
    return [i for i, o in enumerate(operands) if o.id in walk.active and reverse.differentiable(o)]


# -- Cond -------------------------------------------------------------------------------------------------------------
def _cond(walk: Any, node: CNode, douts: list[Any]) -> list[tuple[Node, Any]]:
    builder = walk.builder
    predicate, then, otherwise, *operands = node.args
    wanted = _wanted(walk, operands)
    if not wanted:
        return []
    sens = _sensitivities(builder, node, douts)
    live = [i for i, s in enumerate(sens) if s is not None]
    graphs = [_branch_gradient(builder, _graph(g), wanted, live) for g in (then, otherwise)]
    sens_nodes = [builder.node_of(sens[i]) for i in live]
    out = builder.emit(Cond(), (predicate, ValueNode(graphs[0]), ValueNode(graphs[1]), *operands, *sens_nodes))
    return list(zip([operands[i] for i in wanted], builder.public(out)))


def _branch_gradient(builder: Builder, graph: FuncGraph, wanted: list[int], live: list[int]) -> FuncGraph:
    """(operands, sensitivities of the live outputs) -> gradients of the wanted operands."""
    child = Builder(FuncGraph(f"grad_{graph.name}"), builder)
    operands = [child.graph.add_parameter(p.name, p.abstract) for p in graph.parameters]
    sens = [child.graph.add_parameter(f"d{i}", graph.outputs[i]) for i in live]
    with child.active():
        outputs = inline(graph, operands, child)
        grads = _pull(child, outputs, live, sens, [operands[i] for i in wanted])
    child.graph.output = child.make_tuple(grads)
    return child.graph


def _pull(
    builder: Builder, outputs: list[Node], live: list[int], sens: Sequence[Node], inputs: Sequence[Node]
) -> list[Node]:
    """Gradients of `inputs` as nodes, zeros where nothing flows."""
    back = reverse.pullback(builder, [outputs[i] for i in live], list(inputs))
    grads = back([values.from_node(s) for s in sens])
    return [builder.node_of(_zeros(i) if g is None else g) for i, g in zip(inputs, grads)]


def _zeros(node: Node) -> Any:
    return zeros_like(values.from_node(node))


# -- While ------------------------------------------------------------------------------------------------------------
def _while(walk: Any, node: CNode, douts: list[Any]) -> list[tuple[Node, Any]]:
    builder, op = walk.builder, node.op
    carried, (condition, body) = op.carried, node.args[:2]
    operands = list(node.args[2:])
    carry, invariants = operands[:carried], operands[carried:]
    wanted = _wanted(walk, carry)
    active = _active_carry(_graph(body), carried, wanted, _wanted(walk, invariants))
    wanted_invariants = _wanted(walk, invariants)
    if not active and not wanted_invariants:
        return []
    sens = _sensitivities(builder, node, douts)[:carried]
    _save_trips(builder, node, _graph(condition), _graph(body), carry, invariants)
    trips = builder.get_item(node, carried)
    stacks = [builder.get_item(node, carried + 1 + k) for k in range(carried)]
    d_carry = [builder.node_of(as_tensor(sens[i])) for i in active]
    d_invariants = [builder.node_of(as_tensor(_zeros(invariants[i]))) for i in wanted_invariants]
    grads = _backward_loop(
        builder,
        op.bound,
        _graph(body),
        carry,
        invariants,
        active,
        wanted_invariants,
        trips,
        stacks,
        d_carry,
        d_invariants,
    )
    final_carry, final_invariants = grads[: len(active)], grads[len(active) :]
    pairs = [(carry[i], _match(g, carry[i])) for i, g in zip(active, final_carry)]
    return pairs + [(invariants[i], _match(g, invariants[i])) for i, g in zip(wanted_invariants, final_invariants)]


def _active_carry(body: FuncGraph, carried: int, wanted: list[int], wanted_invariants: list[int]) -> list[int]:
    """Carries through which gradients flow: those that, over the trips, come to depend on a wanted input."""
    active = set(wanted)
    outputs = body.output.args if isinstance(body.output, CNode) else ()
    while True:
        sources = {body.parameters[i].id for i in active} | {body.parameters[carried + i].id for i in wanted_invariants}
        found = {i for i, node in enumerate(outputs) if _depends(node, sources) and reverse.differentiable(node)}
        if found <= active:
            return sorted(i for i in active if reverse.differentiable(body.parameters[i]))
        active |= found


def _depends(node: Node, sources: set[int]) -> bool:
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current.id in sources:
            return True
        if current.id not in seen:
            seen.add(current.id)
            stack.extend(current.args)
    return False


def _match(grad: TensorBase, node: Node) -> Any:
    from mindspore.prims.arrays import TensorToScalar

    return TensorToScalar()(grad) if not isinstance(node.abstract, AbstractTensor) else grad


def _save_trips(
    builder: Builder, node: CNode, condition: FuncGraph, body: FuncGraph, carry: list[Node], invariants: list[Node]
) -> None:
    """Change the forward loop in place: after its own carry it now carries a trip counter and a stack per variable."""
    n = len(carry)
    bound = node.op.bound
    capacity = max(1, bound) if bound is not None else DEFAULT_CAPACITY
    init = StackInit(capacity, bound is not None)
    with builder.at(node.location, node.scope):
        stacks = [builder.node_of(init(as_tensor(values.from_node(c)))) if not isinstance(c, ValueNode) else
                  builder.emit(init, (_tensor_constant(c),)) for c in carry]  # fmt: skip
    counter = array_node(np.zeros((), np.int64))
    stack_types = [s.abstract for s in stacks]
    saving_condition = _extended(
        builder, condition, carry, stack_types, invariants, lambda b, c, i, s, inv: inline(condition, [*c, *inv], b)[0]
    )

    def step(b: Builder, c: list[Node], i: Node, s: list[Node], inv: list[Node]) -> Node:
        counter_value = values.from_node(i)
        pushed = [StackPush()(values.from_node(k), counter_value, as_tensor(values.from_node(v))) for k, v in zip(s, c)]
        return b.make_tuple(
            [*inline(body, [*c, *inv], b), b.node_of(counter_value + 1), *(b.node_of(p) for p in pushed)]
        )

    saving_body = _extended(builder, body, carry, stack_types, invariants, step)
    node.op = While(2 * n + 1, bound, counter=n)
    node.args = (ValueNode(saving_condition), ValueNode(saving_body), *carry, counter, *stacks, *invariants)
    node.abstract = AbstractTuple((*node.abstract.elements[:n], _COUNT, *stack_types))


def _tensor_constant(node: ValueNode) -> ValueNode:
    return array_node(np.asarray(node.value))


def _extended(
    builder: Builder, graph: FuncGraph, carry: list[Node], stacks: list[Any], invariants: list[Node], emit: Callable
) -> FuncGraph:
    child = Builder(FuncGraph(f"saving_{graph.name}"), builder)
    add = child.graph.add_parameter
    c = [add(f"c{k}", v.abstract) for k, v in enumerate(carry)]
    i = add("trip", _COUNT)
    s = [add(f"stack{k}", t) for k, t in enumerate(stacks)]
    inv = [add(f"inv{k}", v.abstract) for k, v in enumerate(invariants)]
    with child.active():
        child.graph.output = emit(child, c, i, s, inv)
    return child.graph


def _backward_loop(
    builder: Builder,
    bound: int | None,
    body: FuncGraph,
    carry: list[Node],
    invariants: list[Node],
    active: list[int],
    wanted: list[int],
    trips: Node,
    stacks: list[Node],
    d_carry: list[Node],
    d_invariants: list[Node],
) -> list[Any]:
    """Count down over the saved trips, accumulating gradients."""
    carried = [trips, *d_carry, *d_invariants]
    extra = [*stacks, *invariants]

    def parameters(child: Builder) -> tuple[list[Node], list[Node], list[Node], list[Node], list[Node]]:
        add: Callable[..., Node] = child.graph.add_parameter
        left = [add("left", _COUNT)]
        dc = [add(f"dc{k}", v.abstract) for k, v in enumerate(d_carry)]
        di = [add(f"di{k}", v.abstract) for k, v in enumerate(d_invariants)]
        st = [add(f"stack{k}", v.abstract) for k, v in enumerate(stacks)]
        inv = [add(f"inv{k}", v.abstract) for k, v in enumerate(invariants)]
        return left, dc, di, st, inv

    cond_builder = Builder(FuncGraph("grad_while_cond"), builder)
    with cond_builder.active():
        left, *_ = parameters(cond_builder)
        cond_builder.graph.output = cond_builder.node_of(values.from_node(left[0]) > 0)
    body_builder = Builder(FuncGraph("grad_while_body"), builder)
    with body_builder.active():
        left, dc, di, st, inv = parameters(body_builder)
        outputs = _backward_trip(body_builder, body, carry, active, wanted, left[0], dc, di, st, inv)
    body_builder.graph.output = body_builder.make_tuple(outputs)
    loop = builder.emit(
        While(len(carried), bound), (ValueNode(cond_builder.graph), ValueNode(body_builder.graph), *carried, *extra)
    )
    return [values.from_node(builder.get_item(loop, 1 + k)) for k in range(len(d_carry) + len(d_invariants))]


def _backward_trip(builder: Builder, body: FuncGraph, carry: list[Node], active: list[int], wanted: list[int], left: Node,
                   dc: list[Node], di: list[Node], stacks: list[Node], invariants: list[Node]) -> list[Node]:  # fmt: skip
    trip = values.from_node(left) - 1
    saved = []
    for k, stack in enumerate(stacks):
        value = _match(StackRead()(values.from_node(stack), trip), carry[k])
        saved.append(builder.node_of(value))
    outputs = inline(body, [*saved, *invariants], builder)
    sens = [builder.node_of(_match(values.from_node(d), carry[i])) for d, i in zip(dc, active)]
    back = reverse.pullback(
        builder, [outputs[i] for i in active], [*(saved[i] for i in active), *(invariants[i] for i in wanted)]
    )
    grads = back([values.from_node(s) for s in sens])
    carry_grads = [as_tensor(_zeros(saved[i]) if g is None else g) for i, g in zip(active, grads)]
    totals = [
        values.from_node(d) if g is None else values.from_node(d) + as_tensor(g)
        for d, g in zip(di, grads[len(active) :])
    ]
    return [builder.node_of(trip), *(builder.node_of(g) for g in carry_grads), *(builder.node_of(t) for t in totals)]


# -- Call -------------------------------------------------------------------------------------------------------------
def _call(walk: Any, node: CNode, douts: list[Any]) -> list[tuple[Node, Any]]:
    builder = walk.builder
    graph, *operands = node.args
    wanted = _wanted(walk, operands)
    if not wanted:
        return []
    sens = _sensitivities(builder, node, douts)
    live = [i for i, s in enumerate(sens) if s is not None]
    derived = _derived_graph(builder, _graph(graph), wanted, live)
    result = AbstractTuple(tuple(operands[i].abstract for i in wanted))
    sens_nodes = [builder.node_of(sens[i]) for i in live]
    out = builder.emit(Call(result), (ValueNode(derived), *operands, *sens_nodes))
    return list(zip([operands[i] for i in wanted], builder.public(out)))


def _derived_graph(builder: Builder, graph: FuncGraph, wanted: list[int], live: list[int]) -> FuncGraph:
    """B(g), made once per graph and set of wanted operands; recursive calls inside find it already registered."""
    cache = builder.root.__dict__.setdefault("derived_graphs", {})
    key = (graph.id, tuple(wanted), tuple(live))
    if key not in cache:
        child = Builder(FuncGraph(f"grad_{graph.name}"), builder.root)
        cache[key] = child.graph
        operands = [child.graph.add_parameter(p.name, p.abstract) for p in graph.parameters]
        sens = [child.graph.add_parameter(f"d{i}", graph.outputs[i]) for i in live]
        with child.active():
            outputs = inline(graph, list(operands), child)
            child.graph.output = child.make_tuple(
                _pull(child, outputs, live, list(sens), [operands[i] for i in wanted])
            )
    return cache[key]
