"""Reverse mode: the J transform on graphs without closures.

The forward nodes are already in the graph being built. `pullback` walks them backwards from the outputs to the inputs
and, for each node on a path between the two, applies the primitive's `bprop` rule to the node's arguments, its output
and the sensitivity collected so far. Rules call primitives, which add nodes to the same graph: the result is again
plain MindIR, so transforming it once more gives the next derivative (Pearlmutter & Siskind 2008, the first-order case;
MindSpore's J after free variables are lifted).

Control flow has rules of its own, in `control_rules.py`: branches and loop bodies are differentiated as graphs and run
again in the backward pass, which needs no closures and stores only loop carries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from mindspore.compiler.autodiff.recompute import Recomputation
from mindspore.compiler.builder import Builder
from mindspore.compiler.inline import public_argument
from mindspore.ir import AbstractTuple, CNode, Node, ValueNode
from mindspore.prims import values
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.elementwise import Cast, Real, zeros_like
from mindspore.prims.structural import MakeTuple, TupleGetItem
from mindspore.prims.values import SymbolicScalarBase, TensorBase

Grads = dict[int, Any]  # node id -> gradient (public value), or a list of them for tuple-valued nodes


def pullback(builder: Builder, outputs: list[Node], inputs: list[Node]) -> Callable[[list[Any]], list[Any]]:
    """A function from sensitivities of `outputs` to gradients of `inputs` (None where nothing flows)."""

    def backward(sensitivities: list[Any]) -> list[Any]:
        walk = Backward(builder, outputs, inputs)
        return walk.run(sensitivities)

    return backward


class Backward:
    """One backward pass."""

    def __init__(self, builder: Builder, outputs: list[Node], inputs: list[Node]):
        self.builder = builder
        self.outputs = outputs
        self.inputs = inputs
        self.grads: Grads = {}
        self.order = _nodes_between(outputs, inputs)
        self.active = {n.id for n in self.order} | {i.id for i in inputs}
        self.recomputation = Recomputation(builder)

    def run(self, sensitivities: list[Any]) -> list[Any]:
        for node, dout in zip(self.outputs, sensitivities):
            if dout is not None and node.id in self.active:
                self.accumulate(node, dout)
        stops = {i.id for i in self.inputs}
        for node in reversed(self.order):
            if node.id in stops:
                continue
            dout = self.grads.pop(node.id, None)
            if dout is not None:
                with self.builder.at(node.location, _gradient_scope(node)):
                    self._visit(node, dout)
        return [self.grads.get(i.id) for i in self.inputs]

    def _visit(self, node: CNode, dout: Any) -> None:
        op = node.op
        if isinstance(op, MakeTuple):
            for arg, d in zip(node.args, dout):
                self.accumulate(arg, d)
        elif isinstance(op, TupleGetItem):
            self._accumulate_element(node.args[0], node.args[1].value, dout)  # type: ignore[attr-defined]
        elif isinstance(op, (Cond, While, Call)):
            from mindspore.compiler.autodiff import control_rules

            for arg, grad in control_rules.differentiate(self, node, dout):
                self.accumulate(arg, grad)
        elif op.bprop is not None:
            self._apply_rule(node, dout)

    def _apply_rule(self, node: CNode, dout: Any) -> None:
        builder = self.builder
        region = self.recomputation.region_of(node)
        inputs, result = node.args, node
        if region is not None:
            self.recomputation.enter(region, dout)
            inputs = tuple(self.recomputation.copy(a, region) for a in node.args)
            result = self.recomputation.copy(node, region)  # type: ignore[assignment]
        args = [public_argument(builder, a) for a in inputs]
        out = builder.public(result)
        if isinstance(out, tuple):
            dout = tuple(zeros_like(o) if d is None else d for o, d in zip(out, dout))
        # the forward pass has checked what rules use again; hooks are the user's own code
        with builder.unchecked() if node.op.effect != "hook" else contextlib.nullcontext():
            grads = node.op.bprop(*args, out, dout)
        if len(grads) != len(node.args):
            raise RuntimeError(
                f"the gradient rule of {node.op.name} gave {len(grads)} values for {len(node.args)} arguments"
            )
        for arg, value, grad in zip(node.args, args, grads):
            if grad is not None and arg.id in self.active:
                self.accumulate(arg, fit(grad, value, node.op.name))

    def accumulate(self, node: Node, grad: TensorBase | None) -> None:
        if grad is None or node.id not in self.active or isinstance(node, ValueNode):
            return
        if isinstance(node.abstract, AbstractTuple):
            for i, g in enumerate(grad):
                self._accumulate_element(node, i, g)
            return
        if not differentiable(node) and not any(node is i for i in self.inputs):  # an input of bools wants bools
            return
        known = self.grads.get(node.id)
        self.grads[node.id] = grad if known is None else known + grad

    def _accumulate_element(self, node: Node, index: int, grad: Any) -> None:
        if grad is None or node.id not in self.active:
            return
        parts = self.grads.setdefault(node.id, [None] * len(node.abstract.elements))
        parts[index] = grad if parts[index] is None else parts[index] + grad


def differentiable(node: Node) -> bool:
    dtype = getattr(node.abstract, "dtype", None)
    return dtype is not None and values.has_gradient(dtype)


def fit(grad: TensorBase, value: Any, op: str = "") -> Any:
    """The gradient in the type of what it belongs to; a shape that differs is a broken rule."""
    if not isinstance(value, (TensorBase, SymbolicScalarBase)):
        return None
    wanted, given = values.dtype_of(value), values.dtype_of(grad)
    if given.kind == "c" and wanted.kind != "c":
        grad = Real()(grad)
        given = values.dtype_of(grad)
    if given is not wanted:
        grad = Cast()(grad, wanted)
    if tuple(grad.shape) != tuple(value.shape):
        raise RuntimeError(
            f"the gradient rule of {op} gave shape {tuple(grad.shape)} for an argument of shape {tuple(value.shape)}"
        )
    return grad


def _nodes_between(outputs: list[Node], inputs: list[Node]) -> list[CNode]:
    """CNodes that depend on the inputs and on which the outputs depend, arguments first."""
    stops = {i.id for i in inputs}
    order: list[CNode] = []
    done: dict[int, bool] = dict.fromkeys(stops, True)  # node id -> depends on an input
    stack: list[Node] = list(reversed(outputs))
    while stack:
        node = stack[-1]
        if node.id in done:
            stack.pop()
            continue
        if not isinstance(node, CNode):
            done[node.id] = False
            stack.pop()
            continue
        missing = [a for a in node.args if a.id not in done]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        depends = any(done[a.id] for a in node.args)
        done[node.id] = depends
        if depends:
            order.append(node)
    return order


def _gradient_scope(node: CNode) -> str:
    """Where the gradient of a node is found in dumps and profiles; gradients of gradients stay there."""
    return node.scope if node.scope.startswith("Gradients/") else f"Gradients/{node.scope}/Grad_{node.op.name}"
