"""Builder: turns primitive calls into nodes of a graph.

While a Builder is active in a thread, every primitive call made there, by interpreted user code, by library functions
or by gradient rules, adds a node to its graph. Inference runs as nodes are made, so graphs are typed from birth.

State without tokens. The IR is purely functional: a Parameter that is read becomes a graph input, an in-place update
becomes a new node that later reads see, and the final values become extra graph outputs. Program order is kept because
`state` always maps an object to its newest value. Branches and loop bodies get a child Builder; what they write is
merged by whoever made them (compiler/control).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore.compiler.reports import Reports
from mindspore.ir import (
    Abstract,
    AbstractFunction,
    AbstractNone,
    AbstractOther,
    AbstractTensor,
    AbstractTuple,
    CNode,
    FuncGraph,
    Location,
    Node,
    ValueNode,
)
from mindspore.prims import explain, plain, values
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import StopGradient
from mindspore.prims.measured import Measured
from mindspore.prims.primitive import Primitive
from mindspore.prims.requirements import Requirement, StaysFinite, Violation
from mindspore.prims.structural import MakeTuple, Replaced, TupleGetItem
from mindspore.prims.values import SymbolicScalarBase, TensorBase

plain.install()  # graphs can be built before there is a public Tensor

#: results of at most this many bytes are computed while the graph is built when all inputs are constants
FOLD_LIMIT = 1 << 16

_TUPLE_GET = TupleGetItem()
_MAKE_TUPLE = MakeTuple()
_STOP = StopGradient()


class _OwnRegion:
    """Calls of primitives after `recompute()` that feed one another: the backward pass computes them again together."""


class Builder:
    """Adds nodes to one graph."""

    def __init__(self, graph: FuncGraph, parent: Builder | None = None):
        self.graph = graph
        self.parent = parent
        self.root: Builder = parent.root if parent is not None else self
        self.state: dict[int, tuple[Any, Node]] = {}
        self.weights: dict[int, Node] = {}  # id(Parameter) -> graph input; used on the root only
        self.locations: tuple[Location, ...] = ()
        self.scope = ""
        self.location_source: Any = parent.location_source if parent is not None else None
        self._constants: dict[int, tuple[Any, ValueNode]] = {}
        self.region: Any = None  # of the root: the call whose nodes the backward pass computes again, if in one
        self.regions: dict[int, Any] = {}  # of the root: node -> its region
        self.recording = True  # of the root: False within `_no_grad`, where no gradient flows through new nodes
        self.reports: Reports | None = None  # of the root: errors that the running graph may report
        self.pauses = 0  # of the root: reasons not to add checks of values
        self.derivatives = 0  # of the root: functions being differentiated that what is built now is part of
        self.oracle: Any = None  # of the root: a staging.Oracle, if the graph may be made for values of its arguments

    # -- activation -----------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def active(self) -> Iterator[Builder]:
        """Send this thread's primitive calls here; no tape records meanwhile."""
        saved = ACTIVE.builder, ACTIVE.tapes
        ACTIVE.builder, ACTIVE.tapes = self, ()
        try:
            yield self
        finally:
            ACTIVE.builder, ACTIVE.tapes = saved

    @contextlib.contextmanager
    def at(self, locations: tuple[Location, ...], scope: str) -> Iterator[None]:
        """Give new nodes a fixed origin: gradient nodes point at the forward line."""
        saved = self.locations, self.scope, self.location_source
        self.locations, self.scope, self.location_source = locations, scope, None
        try:
            yield
        finally:
            self.locations, self.scope, self.location_source = saved

    def child(self, name: str) -> Builder:
        """A Builder for a branch, loop body or nested function."""
        return Builder(FuncGraph(name), self)

    # -- primitive calls ------------------------------------------------------------------------------------------
    def apply(self, prim: Primitive, args: tuple) -> Any:
        """Add a node for `prim(*args)`; return the public value (Tensor, scalar or tuple of them)."""
        miscounted = explain.wrong_count(prim, args)
        if miscounted is not None:
            raise miscounted
        if not prim.writes and not prim.effect and not any(self.is_variable(a) for a in args):
            folded = self._fold(prim, args)
            if folded is not None:
                return folded
        nodes = tuple(self.node_of(a) for a in args)
        result = self.emit(prim, nodes) if not isinstance(prim, Measured) else self._measure(prim, nodes)
        if prim.requirements is not None:  # of arguments that inference has found to fit
            for requirement in prim.requirements(*args):
                self.require(requirement, args[requirement.argument])
        public = self.public(result)
        if not self.root.recording:
            public = self.without_gradient(public)
        if prim.failure is not None:
            self._expect_success(prim, args, public)
        if prim.writes:
            outputs = public if isinstance(public, tuple) else (public,)
            for argument, output in prim.writes:
                self.write(args[argument], self.node_of(outputs[output]))
        return public

    def require(self, requirement: Requirement, subject: TensorBase) -> None:
        """Have the graph report values that are not allowed; those of a constant are looked at now."""
        root = self.root
        if root.reports is not None and not root.pauses:
            root.reports.require(self, requirement, subject)

    def _expect_success(self, prim: Primitive, args: tuple, result: Any) -> None:
        reports = self.root.reports
        if reports is not None and not self.root.pauses and 0 not in result.shape:
            bad, worst = Violation(StaysFinite())(result, *(a for a in args if isinstance(a, TensorBase)))
            reports.note(self, bad, lambda _: prim.failure(), worst)

    @contextlib.contextmanager
    def unchecked(self) -> Iterator[None]:
        """What is built here repeats what has been checked, or will be built again with checks."""
        root = self.root
        root.pauses += 1
        try:
            yield
        finally:
            root.pauses -= 1

    def emit(self, prim: Primitive, nodes: tuple[Node, ...]) -> Node:
        """Infer and add one node."""
        abstract = prim.infer(*(infer_argument(n) for n in nodes))
        locations, scope = self.origin()
        node = CNode(prim, nodes, abstract, self.graph, locations, scope)
        root = self.root
        if root.region is not None:
            root.regions[node.id] = root.region
        elif prim.attrs.get("recompute"):
            root.regions[node.id] = self._region_of_own(nodes)
        return node

    def _region_of_own(self, args: tuple[Node, ...]) -> Any:
        """The region of a primitive after `recompute()`: that of an argument made by another such one, else a new one."""
        regions = self.root.regions
        own = (regions[a.id] for a in args if isinstance(regions.get(a.id), _OwnRegion))
        return next(own, None) or _OwnRegion()

    def _measure(self, prim: Measured, nodes: tuple[Node, ...]) -> Node:
        """Add a node whose type only its evaluation tells; never within branches and loops."""
        abstract = self.oracle.measure(prim, nodes) if self.oracle is not None and self.parent is None else None
        if abstract is None:
            return self.emit(prim, nodes)  # which explains why not
        node = CNode(prim, nodes, abstract, self.graph, *self.origin())
        self.oracle.note_measured(node)
        return node

    @contextlib.contextmanager
    def recomputed(self) -> Iterator[None]:
        """What is built here is not kept for the backward pass but computed again in it. The outermost region counts."""
        root = self.root
        saved = root.region
        root.region = saved if saved is not None else object()
        try:
            yield
        finally:
            root.region = saved

    def origin(self) -> tuple[tuple[Location, ...], str]:
        if self.location_source is not None:
            return self.location_source()
        return self.locations, self.scope

    def _fold(self, prim: Primitive, args: tuple) -> Any:
        """Compute now what depends on constants only; None when the result is too large to keep in the graph."""
        abstract = prim.infer(*(values.abstract_of(a) if isinstance(a, TensorBase) else a for a in args))
        if _nbytes(abstract) > FOLD_LIMIT:
            return None
        with np.errstate(all="ignore"):
            arrays = prim.eval(np, *(np.asarray(a._data) if isinstance(a, TensorBase) else a for a in args))
        if isinstance(arrays, tuple):
            return tuple(values.from_array(np.asarray(a)) for a in arrays)
        return values.from_array(np.asarray(arrays))

    # -- values and nodes -----------------------------------------------------------------------------------------
    def is_variable(self, value: object) -> bool:
        """Whether the graph must run to know `value`: symbolic, a Parameter, or a constant that was written to."""
        if isinstance(value, TensorBase):
            return value._node is not None or isinstance(value, values.parameter_class()) or self.written(value)
        return isinstance(value, SymbolicScalarBase)

    def written(self, value: TensorBase) -> bool:
        builder: Builder | None = self
        while builder is not None:
            if id(value) in builder.state:
                return True
            builder = builder.parent
        return False

    def outlives(self, target: TensorBase) -> bool:
        """Whether an object written to here existed before this Builder's graph was begun."""
        node = target._node
        if node is None:
            return True
        builder = self.parent
        while builder is not None:
            if node.graph is builder.graph:
                return True
            builder = builder.parent
        return node.graph is None

    def node_of(self, value: Any) -> Node:
        """The node that currently stands for a value."""
        if isinstance(value, TensorBase):
            builder: Builder | None = self
            key = id(value)
            while builder is not None:
                entry = builder.state.get(key)
                if entry is not None:
                    return entry[1]
                builder = builder.parent
            if value._node is not None:
                return value._node
            if isinstance(value, values.parameter_class()):
                return self.root.weight(value)
            return self.constant(value)
        if isinstance(value, SymbolicScalarBase):
            return value._node
        if isinstance(value, (tuple, list)) and any(self.is_variable(v) for v in value):
            return self.make_tuple([self.node_of(v) for v in value])
        return ValueNode(value)

    def constant(self, tensor: TensorBase) -> ValueNode:
        """A constant tensor as a node, made once per tensor object."""
        entry = self._constants.get(id(tensor))
        if entry is None:
            entry = self._constants[id(tensor)] = (tensor, array_node(np.asarray(tensor._data)))
        return entry[1]

    def weight(self, parameter: TensorBase) -> Node:
        """The graph input standing for a Parameter's value at entry."""
        node = self.weights.get(id(parameter))
        if node is None:
            abstract = values.abstract_of(parameter)
            node = self.graph.add_parameter(parameter.name, abstract, default=parameter)
            self.weights[id(parameter)] = node
        return node

    def write(self, target: Any, node: Node) -> None:
        """Make `node` the newest value of a Parameter or tensor. Updates of Parameters, and all under `_no_grad`, are no
        part of the function that is differentiated: later uses count as uses of the old value."""
        root = self.root
        if not root.recording or (root.derivatives and isinstance(target, values.parameter_class())):
            before = self.node_of(target)
            node = self.emit(Replaced(), (before, node)) if before.abstract == node.abstract else node
        self.state[id(target)] = (target, node)

    def without_gradient(self, public: Any) -> Any:
        """The tensors of a result, as constants for gradients."""
        if isinstance(public, tuple):
            return tuple(map(self.without_gradient, public))
        return self.public(self.emit(_STOP, (public._node,))) if values.is_symbolic(public) else public

    def read(self, target: TensorBase) -> Any:
        """The newest value of a Parameter as a plain tensor."""
        return values.from_node(self.node_of(target))

    def public(self, node: Node) -> Any:
        """The value user code sees for a node: tuples are split into their elements."""
        if isinstance(node.abstract, AbstractTuple):
            return tuple(self.public(self.get_item(node, i)) for i in range(len(node.abstract.elements)))
        if isinstance(node.abstract, AbstractNone):
            return None
        if isinstance(node, ValueNode) and isinstance(node.abstract, AbstractTensor):
            return values.from_array(node.value)
        return values.from_node(node)

    def get_item(self, node: Node, index: int) -> Node:
        if isinstance(node, CNode) and type(node.op) is MakeTuple:
            return node.args[index]
        locations, scope = (node.location, node.scope) if isinstance(node, CNode) else ((), "")
        return CNode(
            _TUPLE_GET, (node, ValueNode(index)), node.abstract.elements[index], self.graph, locations, scope,
        )  # fmt: skip

    def make_tuple(self, nodes: list[Node]) -> Node:
        return CNode(_MAKE_TUPLE, nodes, AbstractTuple(tuple(n.abstract for n in nodes)), self.graph, *self.origin())


def array_node(array: np.ndarray) -> ValueNode:
    """A constant tensor node. The array is never written to afterwards: `Tensor` updates replace, they do not mutate."""
    return ValueNode(array, values.abstract_of(values.from_array(array)))


def infer_argument(node: Node) -> Any:
    """What an inference rule sees of an argument: an abstract tensor, or the plain constant."""
    if isinstance(node, ValueNode) and isinstance(node.abstract, (AbstractOther, AbstractFunction)):
        return node.value
    return node.abstract


def _nbytes(abstract: Abstract) -> int:
    if isinstance(abstract, AbstractTuple):
        return sum(_nbytes(e) for e in abstract.elements)
    return getattr(abstract, "nbytes", 0)
