"""Graphs to XLA.

The graph is walked under `jax.jit`: each primitive's evaluation rule runs with `xp = jax.numpy` (or its `eval_xla`
rule), Cond becomes `lax.cond`, While becomes `lax.while_loop`. JAX's own differentiation is not used: gradients are
already in the graph. Only public JAX names appear here, and nothing beyond NumPy and JAX is needed.

A loop that saves its carry for the backward pass pushes onto stacks of fixed capacity. When the number of trips is not
known, the graph reports it; if a stack was too small the graph is compiled again with room enough and run again.

Recursive calls, and such loops inside branches or other loops, have no XLA form; `supports` tells, and those graphs run on
the reference machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import flags
from mindspore._base.optional import require
from mindspore.backends.base import CannotCompile
from mindspore.backends.xla import processes
from mindspore.backends.xla.layouts import compile_with_own_layouts
from mindspore.compiler.builder import infer_argument
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.collective import Collective, Place
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.conv import Convolution
from mindspore.prims.primitive import Primitive
from mindspore.prims.stack import DEFAULT_CAPACITY, StackInit

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

#: platforms where a step that met a wrong value is applied before it is reported: choosing between old and new weights cost
#: 11 % of a step of ResNet-50 with 32 images on an H200 (6.8 ms, guarded 7.55)
UNGUARDED = ("gpu",)
#: platforms where overwritten inputs keep the memory order XLA likes
OWN_LAYOUTS = ("gpu",)
#: Products go to cuBLAS in graphs that multiply each number of their operands more often than this. Triton's win when
#: measured alone, but take their producers in, which are computed again for other readers (BERT-base on an H200: 32.8 ms,
#: without 31.2). Where few rows meet large matrices, reading is all that counts, and Triton's read faster (decoding one
#: token with 8 billion parameters: 4.6 ms, without 5.2).
_FEW_MULTIPLICATIONS = 64
#: bytes that a process can have addresses for
_ADDRESSES = 1 << 47
#: What is recorded into CUDA graphs and launched at once: XLA's own choice and convolutions. One by one they keep the host
#: busier than the GPU (ResNet-50, 32 images: 6.95 ms, recorded 6.57).
_RECORDED = "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,DYNAMIC_SLICE_FUSION,CONVOLUTION"


class XlaBackend:
    """Compiles graphs with jax.jit."""

    name = "xla"

    def __init__(self, platform: str = "", index: int = 0, deterministic: bool = False):
        jax = require("jax", "xla", "the XLA backend")
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.deterministic = deterministic
        processes.join(jax)
        devices = jax.local_devices(backend=platform or None)
        self.device = devices[index % len(devices)]

    @classmethod
    def on(cls, device: Any) -> XlaBackend:
        """The backend of a device of JAX's."""
        return cls(device.platform, device.id)

    def supports(self, graph: FuncGraph) -> bool:
        for g in graph.all_graphs():
            for node in g.nodes():
                if isinstance(node.op, Call) or (g is not graph and is_unbounded(node)):
                    return False
        return True

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Callable[..., tuple]:
        counters = [n for n in graph.nodes() if is_unbounded(n)]
        if counters:
            return GrowingStacks(self, graph, counters)
        return self.compile_fixed(graph, donated)

    def compile_fixed(
        self, graph: FuncGraph, donated: frozenset[int], capacity: int = 0, counters: list[CNode] | None = None
    ) -> Any:
        lowering = Lowering(self.jax, capacity)
        _refuse_what_no_memory_holds(graph)

        def run(*arrays: Any) -> tuple:
            outputs = tuple(lowering.run(graph, arrays))
            if self.device.platform not in UNGUARDED:
                outputs = _guarded(self.jax.numpy, graph, arrays, outputs)
            return outputs if not counters else (*outputs, lowering.most_trips(counters))

        run.__name__ = "".join(c if c.isalnum() else "_" for c in graph.name)
        shapes = [self.jax.ShapeDtypeStruct(p.abstract.shape, p.abstract.dtype.np) for p in graph.parameters]
        updates = {i: o for i, o in graph.attrs.get("updates", {}).items() if i in donated or not donated}
        replaced = len(updates)
        if processes.is_common(graph):
            processes.compare(graph)
            lowering.place = processes.place
            return processes.CommonProgram(self.jax, run, graph, donated, self.device, self.options(graph))
        with self.jax.default_device(self.device):
            read = [
                i
                for i, p in enumerate(graph.parameters)
                if p.default is not None and i not in updates and len(shapes[i].shape) > 2
            ]
            by_place = _in_index_order(graph)
            updates = {i: o for i, o in updates.items() if graph.parameters[i].id not in by_place}
            free = self.device.platform in OWN_LAYOUTS and len(donated) in (0, replaced) and not _has_effects(graph)
            if free and (updates or read):
                return compile_with_own_layouts(
                    self.jax, run, shapes, updates, read, donated, self.device, self.options(graph)
                )
            jitted = self.jax.jit(run, donate_argnums=tuple(sorted(donated)))
            return jitted.lower(*shapes).compile(self.options(graph)) if not _has_effects(graph) else jitted

    def program(self, graph: FuncGraph, replaced: Mapping[int, int] = MappingProxyType({})) -> Callable[..., tuple]:
        """The graph as a function that compiles itself when first called, and from then on is called without any Python.

        `replaced`: number of an input → number of the result that takes its memory.
        """
        lowering = Lowering(self.jax)
        # JAX gives the memory of inputs to results of the same kind in their order: here those that belong together come first.
        first = [replaced[i] for i in sorted(replaced)]
        order = first + sorted(set(range(len(graph.outputs))) - set(first))

        def run(*arrays: Any) -> tuple:
            outputs = lowering._typed(lowering.run(graph, arrays), graph)
            return tuple([outputs[i] for i in order])

        run.__name__ = "".join(c if c.isalnum() else "_" for c in graph.name)
        program = self.jax.jit(run, donate_argnums=tuple(sorted(replaced)), compiler_options=self.options(graph))
        if not replaced:
            return program
        places = np.argsort(order).tolist()

        def in_order(*arrays: Any) -> tuple:
            found = program(*arrays)
            return tuple([found[i] for i in places])

        return in_order

    gives_memory = True  # to `program`'s results
    single = program  # also of one operation

    def options(self, graph: FuncGraph) -> dict[str, Any]:
        """Settings for XLA's compiler on this device, each unless XLA_FLAGS names it."""
        given = os.environ.get("XLA_FLAGS", "")
        # Each operation on 16-bit floats rounds its result, as it does when called alone.
        options: dict[str, Any] = {"xla_allow_excess_precision": flags.excess_precision()}
        if self.device.platform == "gpu":
            options["xla_gpu_enable_triton_gemm"] = multiplications_per_number(graph) <= _FEW_MULTIPLICATIONS
            if any(isinstance(n.op, Convolution) for g in graph.all_graphs() for n in g.nodes()):
                options["xla_gpu_enable_command_buffer"] = _RECORDED
            if self.deterministic:
                options["xla_gpu_deterministic_ops"] = True
        return {k: v for k, v in options.items() if k not in given}


def _in_index_order(graph: FuncGraph) -> set[int]:
    """Nodes whose memory a kernel finds its way in by itself: programs of one network have one order for them, and copy nothing."""
    calls = [(node, n) for g in graph.all_graphs() for node in g.nodes() if isinstance(node.op, Primitive) for n in node.op.in_index_order]
    return {node.args[n].id for node, n in calls}


def _refuse_what_no_memory_holds(graph: FuncGraph) -> None:
    """XLA's compiler may not come to an end over them."""
    for g in graph.all_graphs():
        for node in g.nodes():
            kind = node.abstract
            if isinstance(kind, AbstractTensor) and kind.nbytes > _ADDRESSES:
                raise MemoryError(f"A {kind.dtype} tensor of the shape {kind.shape} takes {kind.nbytes / 2**30:.4g} GiB.")


def _guarded(jnp: Any, graph: FuncGraph, arrays: tuple, outputs: tuple) -> tuple:
    """The outputs; Parameters keep their values when the graph reports an error. Their old memory is given away."""
    record = graph.attrs.get("record")
    if record is None:
        return outputs
    chosen, fine = list(outputs), outputs[record[0]] == 0
    for source, target in graph.attrs.get("updates", {}).items():
        chosen[target] = jnp.where(fine, outputs[target], arrays[source])
    return tuple(chosen)


def _is_hopeless(op: Primitive, args: list[Any]) -> bool:
    """Whether no values would do, as with indices into an empty table. The graph reports it; there is nothing to compute."""
    requirements = op.requirements(*args) if op.requirements is not None else ()
    return any(r.test.is_impossible and args[r.argument].size for r in requirements)


def multiplications_per_number(graph: FuncGraph) -> float:
    """How often the products of a graph use each number of their operands, on average."""
    numbers = multiplications = 0
    for g in graph.all_graphs():
        for node in g.nodes():
            operands = [a.abstract for a in node.args if isinstance(a.abstract, AbstractTensor)]
            count = node.op.multiplications(*(infer_argument(a) for a in node.args))
            if count:
                multiplications += count
                numbers += sum(a.size for a in operands)
    return multiplications / max(numbers, 1)


def _has_effects(graph: FuncGraph) -> bool:
    return any(n.op.effect == "io" for g in graph.all_graphs() for n in g.nodes())


def is_unbounded(node: CNode) -> bool:
    """Whether a node is a loop that saves its carry, nobody knows how often."""
    return isinstance(node.op, While) and node.op.counter >= 0 and node.op.bound is None


class GrowingStacks:
    """An executable whose loops save their carry an unknown number of times."""

    def __init__(self, backend: XlaBackend, graph: FuncGraph, counters: list[CNode]):
        self.backend, self.graph, self.counters = backend, graph, counters
        self.capacity = DEFAULT_CAPACITY
        self.run = self._compile()

    def _compile(self) -> Any:
        return self.backend.compile_fixed(self.graph, frozenset(), self.capacity, self.counters)

    def __call__(self, *arrays: Any) -> tuple:
        while True:
            *outputs, trips = self.run(*arrays)
            if int(trips) <= self.capacity:
                return tuple(outputs)
            while self.capacity < int(trips):
                self.capacity *= 2
            self.run = self._compile()


class Lowering:
    """Evaluates graphs on traced arrays."""

    def __init__(self, jax: Any, capacity: int = 0):
        self.jax = jax
        self.jnp = jax.numpy
        self.capacity = capacity
        #: in a program of many devices: where the members of a collective's group are
        self.place: Callable[[Collective], Place | None] | None = None
        self.trips: dict[int, Any] = {}

    def most_trips(self, counters: list[CNode]) -> Any:
        return self.jnp.max(self.jnp.stack([self.trips[n.id] for n in counters]))

    def run(self, graph: FuncGraph, arrays: tuple) -> Any:
        """The value of the graph's output for these inputs."""
        env: dict[int, Any] = {p.id: a for p, a in zip(graph.parameters, arrays)}
        for node in graph.nodes():
            args = [self._value(a, env) for a in node.args]
            with self.jax.named_scope(f"{node.scope}/{node.op.name}-op"):  # profiles name kernels by it
                env[node.id] = self._apply(node.op, args) if not _is_hopeless(node.op, args) else self._zeros(node)
            if is_unbounded(node):
                self.trips[node.id] = env[node.id][node.op.counter]
        return self._value(graph.output, env)

    def _zeros(self, node: CNode) -> Any:
        return self.jnp.zeros(node.abstract.shape, node.abstract.dtype.np)

    def _value(self, node: Node, env: dict[int, Any]) -> Any:
        if not isinstance(node, ValueNode):
            return env[node.id]
        if isinstance(node.value, np.ndarray):
            return self._constant(node.value)
        return node.value

    def _constant(self, array: np.ndarray) -> Any:
        if array.ndim and array.size > 1 and all(s == 0 for s in array.strides):  # a broadcast scalar: keep it small
            return self.jnp.full(array.shape, array.reshape(-1)[0], array.dtype)
        return self.jnp.asarray(array)

    def _apply(self, op: Any, args: list[Any]) -> Any:
        if isinstance(op, Cond):
            predicate, then, otherwise, *operands = args
            branches = [self._branch(g) for g in (then, otherwise)]
            return self.jax.lax.cond(self.jnp.reshape(predicate, ()), *branches, *operands)
        if isinstance(op, While):
            return self._loop(op.carried, *args)
        if isinstance(op, StackInit) and not op.bounded:
            op = StackInit(self.capacity)
        if self.place is not None and isinstance(op, Collective):
            return self._collective(op, self.place(op), args)
        rule = op.eval_xla if op.eval_xla is not None else op.eval
        return rule(self.jnp, *args)

    def _collective(self, op: Collective, place: Place | None, args: list[Any]) -> Any:
        if place is None or op.on_mesh is None:
            raise CannotCompile(f"{op.name} over group '{op.group}' does not run on a mesh of XLA's devices.")
        return op.on_mesh(self.jax, place, *args)

    def _branch(self, graph: FuncGraph) -> Callable[..., tuple]:
        return lambda *operands: tuple(self._typed(self.run(graph, operands), graph))

    def _typed(self, outputs: tuple, graph: FuncGraph) -> list[Any]:
        """Outputs as arrays of exactly the inferred types, which lax control flow insists on."""
        return [self.jnp.asarray(o, a.dtype.np) for o, a in zip(outputs, graph.outputs)]

    def _loop(self, carried: int, condition: FuncGraph, body: FuncGraph, *operands: Any) -> Any:
        invariants = operands[carried:]
        initial = tuple(self._typed(operands[:carried], body))

        def keep_going(carry: tuple) -> Any:
            return self.jnp.reshape(self.run(condition, (*carry, *invariants)), ())

        def step(carry: tuple) -> tuple:
            return tuple(self._typed(self.run(body, (*carry, *invariants)), body))

        return self.jax.lax.while_loop(keep_going, step, initial)
