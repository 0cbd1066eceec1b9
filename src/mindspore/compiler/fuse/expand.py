"""A graph as one loop program.

Every node either expands by running its evaluation rule on the recording namespace, or stays opaque: because the
backend has a better implementation of it (convolution, matrix product), or because loops cannot express it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import flags as environment
from mindspore.compiler.fuse.flags import GraphKernelFlags
from mindspore.compiler.fuse.loopir import ELEMENT_TYPES, Maker, Program, Slot, Unsupported, Value
from mindspore.compiler.fuse.namespace import LazyArray, Namespace, name_of
from mindspore.compiler.fuse.rules import RULES
from mindspore.ir import AbstractScalar, AbstractTensor, AbstractTuple, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.structural import MakeTuple, TupleGetItem

#: no effect, or one that the graph's results show: a random state goes in and comes out
_PURE = ("", "random")


#: One primitive may unroll to thousands of operations (a rejection sampler). Compiling them takes seconds, which only
#: results of many elements repay.
_MANY_OPERATIONS, _MANY_ELEMENTS = 2000, 1 << 16


class _Stay(Exception):
    """This node does not expand."""


class Expander:
    def __init__(self, keep: Callable[[CNode], bool], flags: GraphKernelFlags):
        self.keep = keep
        self.flags = flags
        self.make = Maker()
        self.make.across = flags.opt_level > 0
        self.excess_precision = environment.excess_precision()
        self.xp = Namespace(self.make, self._array)
        self.env: dict[int, Any] = {}  # node id -> Value, or a tuple of such
        self._arrays: dict[int, tuple[np.ndarray, Value]] = {}
        self._constants: dict[int, Value] = {}

    def run(self, graph: FuncGraph) -> Program:
        inputs = []
        for number, parameter in enumerate(graph.parameters):
            abstract = parameter.abstract
            if isinstance(abstract, (AbstractTensor, AbstractScalar)):
                value = self.make.add("input", tuple(abstract.shape), abstract.dtype.name, (), ("parameter", number))
            else:
                value = self.make.add("input", (), "float32", (), ("parameter", number))
            self.env[parameter.id] = value
            inputs.append(value)
        for node in graph.nodes():
            self.make.origin = node
            self.env[node.id] = self._node(node)
        out = self._read(graph.output)
        outputs = list(_leaves(out))
        return Program(_reachable(self.make.values, outputs), inputs, outputs)

    # -- operands -------------------------------------------------------------------------------------------------
    def _array(self, array: np.ndarray) -> Value:
        found = self._arrays.get(id(array))
        if found is None:
            value = self.make.add("input", array.shape, name_of(array.dtype), (), ("constant", array))
            found = self._arrays[id(array)] = (array, value)
        return found[1]

    def _read(self, node: Node) -> Any:
        """What a node stands for: values for tensors, the plain Python object for static arguments."""
        if not isinstance(node, ValueNode):
            return self.env[node.id]
        if not isinstance(node.abstract, (AbstractTensor, AbstractScalar)):
            return node.value
        found = self._constants.get(node.id)
        if found is None:
            dtype = node.abstract.dtype
            array = np.asarray(node.value, dtype.np)  # kernels read its bytes as what the graph says they are
            if array.size == 1 and array.dtype.kind in "buif":
                found = self.make.const(array.reshape(()).item(), array.shape, dtype.name)
            else:
                found = self.make.add("input", array.shape, dtype.name, (), ("constant", np.ascontiguousarray(array)))
            self._constants[node.id] = found
        return found

    # -- nodes ----------------------------------------------------------------------------------------------------
    def _node(self, node: CNode) -> Any:
        if type(node.op) is MakeTuple:
            return tuple(self._read(a) for a in node.args)
        if type(node.op) is TupleGetItem:
            return self._read(node.args[0])[node.args[1].value]  # type: ignore[attr-defined]
        arguments = [self._read(a) for a in node.args]
        # Beside what we raise, a rule may ask for something that arrays have and recorded ones have not.
        with contextlib.suppress(
            _Stay, Unsupported, TypeError, ValueError, AttributeError, NotImplementedError, ImportError
        ):
            return self._expanded(node, arguments)
        return self._opaque(node, arguments)

    def _expanded(self, node: CNode, arguments: list[Any]) -> Any:
        prim = node.op
        if prim.effect not in _PURE or self.keep(node) or prim.name in self.flags.disable_expand_ops:
            raise _Stay
        if any(isinstance(a, tuple) and _has_values(a) for a in arguments) or not _is_array(node.abstract):
            raise _Stay
        if any(isinstance(a, Value) and a.dtype not in ELEMENT_TYPES for a in arguments):
            raise _Stay
        lazy = [LazyArray(self.xp, a) if isinstance(a, Value) else a for a in arguments]
        rule = RULES.get(prim.name)
        before = len(self.make.values)
        result = rule(self.xp, prim, *lazy) if rule else prim.eval(self.xp, *lazy)
        if len(self.make.values) - before > _MANY_OPERATIONS and _elements(node.abstract) < _MANY_ELEMENTS:
            raise Unsupported("compiling takes longer than computing will")
        return self._checked(result, node.abstract)

    def _checked(self, result: Any, abstract: Any) -> Any:
        """The recorded result in the type and shape that inference promised."""
        if isinstance(abstract, AbstractTuple):
            if len(result) != len(abstract.elements):
                raise Unsupported("another number of results")
            return tuple(self._checked(r, a) for r, a in zip(result, abstract.elements))
        lazy = self.xp.asarray(result)
        if lazy.shape != tuple(abstract.shape):
            raise Unsupported(f"a result of shape {lazy.shape} instead of {abstract.shape}")
        value = lazy.astype(abstract.dtype.np).value
        return value if self.excess_precision else self.make.rounded(value)

    def _opaque(self, node: CNode, arguments: list[Any]) -> Any:
        flat: list[Value] = []
        template = [_template(a, flat) for a in arguments]
        call = self.make.opaque(node.op, template, tuple(flat))
        return self._items(call, node.abstract, [0])

    def _items(self, call: Value, abstract: Any, counter: list[int]) -> Any:
        if isinstance(abstract, AbstractTuple):
            return tuple(self._items(call, e, counter) for e in abstract.elements)
        number = counter[0]
        counter[0] += 1
        if not isinstance(abstract, (AbstractTensor, AbstractScalar)):
            return self.make.item(call, number, (), "")
        return self.make.item(call, number, tuple(abstract.shape), abstract.dtype.name)


def _is_array(abstract: Any) -> bool:
    if isinstance(abstract, AbstractTuple):
        return all(_is_array(e) for e in abstract.elements)
    return isinstance(abstract, (AbstractTensor, AbstractScalar))


def _elements(abstract: Any) -> int:
    if isinstance(abstract, AbstractTuple):
        return sum(map(_elements, abstract.elements))
    return math.prod(abstract.shape)


def _template(argument: Any, found: list[Value]) -> Any:
    """An argument with a `Slot` in the place of each tensor, which joins `found`; tuples may hold tensors, too."""
    if isinstance(argument, Value):
        found.append(argument)
        return Slot(len(found) - 1)
    return tuple(_template(a, found) for a in argument) if type(argument) is tuple else argument


def _has_values(value: Any) -> bool:
    return isinstance(value, Value) or (isinstance(value, tuple) and any(_has_values(v) for v in value))


def _leaves(value: Any) -> Any:
    if isinstance(value, tuple):
        for v in value:
            yield from _leaves(v)
    elif isinstance(value, Value):
        yield value


def _has_effect(value: Value) -> bool:
    return value.op == "opaque" and bool(value.attr.prim.effect)


def _reachable(values: list[Value], outputs: list[Value]) -> list[Value]:
    """What the outputs and the effects need, in order."""
    wanted: set[int] = set()
    stack = [*outputs, *(v for v in values if _has_effect(v))]
    while stack:
        value = stack.pop()
        if value.id not in wanted:
            wanted.add(value.id)
            stack.extend(value.args)
    return [v for v in values if v.id in wanted]


def expand(graph: FuncGraph, keep: Callable[[CNode], bool], flags: GraphKernelFlags) -> Program:
    """`keep(node)`: whether the backend wants this node whole."""
    return Expander(keep, flags).run(graph)
