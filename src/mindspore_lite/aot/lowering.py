"""From a graph to steps that C has a form for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mindspore.backends.cpu import layout, postops
from mindspore.backends.cpu.codegen.spec import Kernel, simplify
from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.steps import Step
from mindspore.compiler.fuse import flags as graph_kernel
from mindspore.compiler.fuse.cluster import Clustering, schedule
from mindspore.compiler.fuse.expand import expand
from mindspore.compiler.fuse.joins import join_parts
from mindspore.compiler.fuse.loopir import Program, Unsupported, Value
from mindspore.ir import CNode, FuncGraph
from mindspore.prims.primitive import Primitive
from mindspore_lite.aot import folding, loops

#: lower(lowering, call, operands, items): emits the steps of an operation kept whole
Handler = Callable[["PortableLowering", Value, list[View], list[Value]], None]
Handlers = Mapping[type[Primitive], Handler]


@dataclass
class CallStep(Step):
    """A call: `function` is a C function's name, or its parameters and body; `{0}`, `{1}` … in `arguments` stand for operands."""

    function: str = ""
    arguments: str = ""
    operands: list[View] = field(default_factory=list)


class PortableLowering(Lowering):
    """As the native backend's, with C functions in the place of machine code and oneDNN."""

    handlers: Handlers = {}
    movers: frozenset[type[Primitive]] = frozenset()  # operations that copy elements as they are; others see 32 bits in the place of 16

    def kernel(self, kernel: Kernel, operands: list[View], reads: list[View], writes: list[View], name: str) -> None:
        if all(w.size == 0 for w in writes):
            return
        buffers = [id(v.buffer) for v in operands]
        text = loops.function(simplify(kernel), aliased=len(set(buffers)) < len(buffers))
        arguments = ", ".join(f"{{{n}}}" for n in range(len(operands)))
        self.emit(CallStep(reads, writes, name, function=text, arguments=arguments, operands=operands))

    def copy(self, source: View, target: View) -> None:
        self.transform(source, target)

    def call(self, name: str, function: str, arguments: str, reads: list[View], writes: list[View]) -> None:
        """Call a function of `runtime/kernels.h`."""
        self.emit(CallStep(reads, writes, name, function=function, arguments=arguments, operands=[*reads, *writes]))

    def constant(self, array: np.ndarray) -> View:
        array = np.ascontiguousarray(array)
        return layout.plain(Buffer(array.nbytes, "constant", array), "float32", array.shape)

    def constant_of(self, view: View) -> np.ndarray | None:
        """The value of a view of constants."""
        strides = layout.strides(view)
        if view.buffer.kind != "constant" or strides is None:
            return None
        flat = np.asarray(view.buffer.source).reshape(-1)
        item = flat.itemsize
        return np.lib.stride_tricks.as_strided(flat[view.offset :], view.shape, [s * item for s in strides])


@dataclass
class Lowered:
    """What sources are written from."""

    steps: list[Step]
    inputs: list[Value]
    results: list[View]


def lower(graph: FuncGraph, weights: dict[int, np.ndarray], donated: frozenset[int] = frozenset()) -> Lowered:
    """The steps of a graph. `weights`: parameters by number that have these values for good. Unsupported names what has no form."""
    flags = graph_kernel.parse("")
    handlers = PortableLowering.handlers

    def keep(node: CNode) -> bool:
        return type(node.op) in handlers

    program = expand(graph, keep, flags)
    join_parts(program)
    for value in program.inputs:
        if value.attr[1] in weights:
            value.attr = ("constant", np.ascontiguousarray(weights[value.attr[1]]))
    postops.absorb(program, _absorbs, frozenset(), finite=True)
    folding.fold(program)
    _refuse(program, handlers)
    clustering = Clustering(program, flags)
    order = schedule(clustering, clustering.run(), [program.inputs[i] for i in sorted(donated)], [], [])
    lowering = PortableLowering(program, clustering, _lower_call, _no_host, donated)
    lowering.run(order)
    results = [lowering.results[i] for i in range(len(program.outputs))]
    return Lowered(lowering.steps, program.inputs, results)


def _absorbs(prim: Any, posts: tuple[postops.Post, ...], shapes: list[Any], result: Any, dtype: str) -> None:
    """Kernels add a bias, then another tensor, then keep within bounds."""
    rest = [p for p in posts if p.kind != "bias"]
    added = [p for p in rest if p.kind == "add"]
    in_order = rest == [*added, *(p for p in rest if p.kind in ("relu", "clip"))] and len(added) < 2
    biased = not any(p.kind == "bias" for p in posts[1:])
    if not in_order or not biased or any(p.per_channel for p in rest):
        raise Unsupported("this combination")


def _refuse(program: Program, handlers: Handlers) -> None:
    missing: dict[str, int] = {}
    for value in program.values:
        if value.op == "opaque":
            prim = postops.parts(value.attr.prim)[0]
            if type(prim) not in handlers:
                missing[prim.name] = missing.get(prim.name, 0) + 1
    if missing:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(missing.items()))
        raise Unsupported(f"operations that generated C has no form for: {listed}")


def _lower_call(lowering: PortableLowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, _ = postops.parts(call.attr.prim)
    handler = lowering.handlers[type(prim)]
    kinds = {v.dtype for v in operands} | {i.dtype for i in items}
    if type(prim) in lowering.movers or kinds.isdisjoint(loops.SIXTEEN):
        handler(lowering, call, operands, items)
        return
    wide = [lowering.cast(v, "float32") if v.dtype in loops.SIXTEEN else v for v in operands]
    results = [Value(i.op, i.shape, "float32" if i.dtype in loops.SIXTEEN else i.dtype, i.args, i.attr) for i in items]
    handler(lowering, call, wide, results)
    for item, result in zip(items, results):
        view = lowering.views[result.id]
        lowering.views[item.id] = view if view.dtype == item.dtype else lowering.cast(view, item.dtype, item)


def _no_host(prim: Any) -> Any:
    raise Unsupported(f"the operation {prim.name} in C")
