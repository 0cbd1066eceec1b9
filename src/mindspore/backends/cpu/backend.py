"""The CPU backend: graph -> loop program -> clusters -> steps -> executable."""

from __future__ import annotations

import functools
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from mindspore.backends.base import CannotCompile, calls_itself
from mindspore.backends.cpu import byte_tables as _byte_tables  # noqa: F401
from mindspore.backends.cpu import cached_attention as _cached_attention  # noqa: F401  these register their operations
from mindspore.backends.cpu import collectives, dnnl, jit, native, openmp, postops, program_cache
from mindspore.backends.cpu import packed_products as _packed_products  # noqa: F401
from mindspore.backends.cpu import quantised as _quantised  # noqa: F401
from mindspore.backends.cpu import rnn as _rnn  # noqa: F401
from mindspore.backends.cpu import row_reductions as _row_reductions  # noqa: F401
from mindspore.backends.cpu import scans as _scans  # noqa: F401
from mindspore.backends.cpu import sorting as _sorting  # noqa: F401
from mindspore.backends.cpu.executable import Blueprint, CpuExecutable
from mindspore.backends.cpu.lowering import Lowering
from mindspore.compiler.fuse import flags as graph_kernel
from mindspore.compiler.fuse.cluster import Clustering, schedule
from mindspore.compiler.fuse.domain import Misfit
from mindspore.compiler.fuse.expand import expand
from mindspore.compiler.fuse.joins import join_parts
from mindspore.compiler.fuse.loopir import Unsupported
from mindspore.compiler.fuse.partial_sums import split_sums
from mindspore.ir import FuncGraph
from mindspore.prims.control import Call, Cond, While
from mindspore.prims.stack import StackInit

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def available() -> bool:
    """Whether kernels can be generated and oneDNN is there."""
    return jit.available() and openmp.onednn() is not None


class CpuBackend:
    """Compiles graphs to native code for this CPU."""

    name = "cpu"

    def __init__(self, graph_kernel_flags: str = "", threads: int = 0, finite: bool = False):
        """`threads`: of parallel regions; 0 leaves it to OpenMP.

        `finite`: results are taken to be numbers where a bound follows a convolution or product: NaN becomes the lower bound.
        """
        self.graph_kernel_flags = graph_kernel_flags
        self.threads = threads
        self.finite = finite

    def supports(self, graph: FuncGraph) -> bool:
        return not _has_growing_stacks(graph) and not calls_itself(graph)

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Any:
        try:
            with openmp.limited(self.threads):
                return _Session(self.graph_kernel_flags, self.threads, self.finite).executable(graph, donated)
        except (Unsupported, Misfit, dnnl.DnnlError) as error:
            raise CannotCompile(f"the CPU backend cannot compile it ({error!r})") from error


def _has_growing_stacks(graph: FuncGraph) -> bool:
    """Whether a loop of unknown length saves values for its backward pass: buffers here have fixed sizes."""
    return any(isinstance(n.op, StackInit) and not n.op.bounded for g in graph.all_graphs() for n in g.nodes())


class _Session:
    """One compilation: subgraphs of control flow are compiled when first met, and once."""

    def __init__(self, extra_flags: str, threads: int, finite: bool):
        self.finite = finite
        self.flags = graph_kernel.current(extra_flags)
        self.threads = threads
        self.made: dict[int, Any] = {}

    def executable(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> CpuExecutable:
        settings = (astuple(self.flags), self.finite, sorted(donated))
        make = functools.partial(self._blueprint, graph, donated)
        blueprint = make() if self.flags.dump_as_text else program_cache.blueprint(graph, settings, make)
        return CpuExecutable(blueprint, donated, self.threads)

    def _blueprint(self, graph: FuncGraph, donated: frozenset[int]) -> Blueprint:
        program = expand(graph, native.keep, self.flags)
        if self.flags.opt_level >= 2:
            join_parts(program)
            split_sums(program)
        changed = donated | graph.attrs.get("updates", {}).keys()  # by each call, in place or not
        weights = frozenset(i for i, p in enumerate(graph.parameters) if p.default is not None) - changed
        if self.flags.opt_level >= 1:
            postops.absorb(program, native.plan, weights, self.finite)
        given_away = [program.inputs[i] for i in sorted(donated)]
        clustering = Clustering(program, self.flags, given_away)
        record = graph.attrs.get("record")
        known, updates = (record or ()), (graph.attrs.get("updates", {}) if record else {})
        order = schedule(
            clustering,
            clustering.run(),
            given_away,
            [program.outputs[n] for n in known],
            [program.outputs[n] for n in updates.values()],
        )
        if self.flags.dump_as_text:
            from mindspore.compiler.fuse import dump

            dump.write(graph.name, dump.describe(clustering, order))
        lowering = Lowering(program, clustering, native.lower, self.rule, donated, record, weights)
        lowering.run(order)
        inputs = [(v.shape, v.dtype if v.dtype else "") for v in program.inputs]
        results = [lowering.results.get(i) for i in range(len(program.outputs))]
        steps = collectives.compared(graph.name, lowering.steps)
        return Blueprint.of(graph.name, steps, inputs, results, weights)

    def rule(self, prim: Any) -> Any:
        """How an operation is evaluated on the host."""
        return _Control(self, prim) if isinstance(prim, (Cond, While, Call)) else prim.eval

    def subgraph(self, graph: FuncGraph) -> Any:
        """A callable for a graph used by control flow, compiled at its first call (recursion ends there)."""
        if graph.id not in self.made:
            self.made[graph.id] = _Lazy(self, graph)
        return self.made[graph.id]


class _Lazy:
    def __init__(self, session: _Session, graph: FuncGraph):
        self.session = session
        self.graph = graph
        self.compiled: Any = None

    def __call__(self, *arrays: Any) -> tuple:
        if self.compiled is None:
            self.compiled = self.session.executable(self.graph)
        return self.compiled(*arrays)


class _Control:
    """Evaluates a control primitive in a host step, by the compiled subgraphs."""

    def __init__(self, session: _Session, prim: Primitive):
        self.session = session
        self.prim = prim

    def __call__(self, xp: Any, *args: Any) -> tuple:
        if isinstance(self.prim, Cond):
            predicate, then, otherwise, *operands = args
            return self.session.subgraph(then if bool(predicate) else otherwise)(*operands)
        if isinstance(self.prim, While):
            return self._loop(*args)
        graph, *operands = args
        return self.session.subgraph(graph)(*operands)

    def _loop(self, condition: FuncGraph, body: FuncGraph, *operands: Any) -> tuple:
        count = self.prim.carried
        carry, invariants = tuple(operands[:count]), operands[count:]
        test, step = self.session.subgraph(condition), self.session.subgraph(body)
        while bool(test(*carry, *invariants)[0]):
            carry = step(*carry, *invariants)
        return carry
