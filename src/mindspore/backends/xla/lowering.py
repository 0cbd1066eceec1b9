"""Graphs to XLA.

The graph is walked under `jax.jit`: each primitive's evaluation rule runs with `xp = jax.numpy` (or its `eval_xla`
rule), Cond becomes `lax.cond`, While becomes `lax.while_loop`. JAX's own differentiation is not used: gradients are
already in the graph. Only public JAX names appear here, and nothing beyond NumPy and JAX is needed.

Recursive calls have no XLA form; `supports` tells, and such graphs run on the reference machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.ir import FuncGraph, Node, ValueNode
from mindspore.prims.control import Call, Cond, While


class XlaBackend:
    """Compiles graphs with jax.jit."""

    name = "xla"

    def __init__(self, platform: str = "", index: int = 0):
        jax = require("jax", "xla", "the XLA backend")
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        devices = jax.devices(platform) if platform else jax.devices()
        self.device = devices[index % len(devices)]

    def supports(self, graph: FuncGraph) -> bool:
        return not any(isinstance(n.op, Call) for g in graph.all_graphs() for n in g.nodes())

    def compile(self, graph: FuncGraph, donated: frozenset[int] = frozenset()) -> Callable[..., tuple]:
        lowering = Lowering(self.jax)

        def run(*arrays: Any) -> tuple:
            return tuple(lowering.run(graph, arrays))

        run.__name__ = "".join(c if c.isalnum() else "_" for c in graph.name)
        jitted = self.jax.jit(run, donate_argnums=tuple(sorted(donated)))
        shapes = [self.jax.ShapeDtypeStruct(p.abstract.shape, p.abstract.dtype.np) for p in graph.parameters]
        with self.jax.default_device(self.device):
            return jitted.lower(*shapes).compile() if not _has_effects(graph) else jitted


def _has_effects(graph: FuncGraph) -> bool:
    return any(n.op.effect == "io" for g in graph.all_graphs() for n in g.nodes())


class Lowering:
    """Evaluates graphs on traced arrays."""

    def __init__(self, jax: Any):
        self.jax = jax
        self.jnp = jax.numpy

    def run(self, graph: FuncGraph, arrays: Any) -> Any:
        """The value of the graph's output for these inputs."""
        env: dict[int, Any] = {p.id: a for p, a in zip(graph.parameters, arrays)}
        for node in graph.nodes():
            args = [self._value(a, env) for a in node.args]
            env[node.id] = self._apply(node.op, args)
        return self._value(graph.output, env)

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
        rule = op.eval_xla if op.eval_xla is not None else op.eval
        out = rule(self.jnp, *args)
        return out

    def _branch(self, graph: FuncGraph) -> Callable[..., tuple]:
        return lambda *operands: tuple(self._typed(self.run(graph, operands), graph))

    def _typed(self, outputs: Any, graph: FuncGraph) -> list[Any]:
        """Outputs as arrays of exactly the inferred types, which lax control flow insists on."""
        return [self.jnp.asarray(o, a.dtype.np) for o, a in zip(outputs, graph.outputs)]  # type: ignore[attr-defined]

    def _loop(self, carried: int, condition: FuncGraph, body: FuncGraph, *operands: Any) -> Any:
        invariants = operands[carried:]
        initial = tuple(self._typed(operands[:carried], body))

        def keep_going(carry: tuple) -> Any:
            return self.jnp.reshape(self.run(condition, (*carry, *invariants)), ())

        def step(carry: tuple) -> tuple:
            return tuple(self._typed(self.run(body, (*carry, *invariants)), body))

        return self.jax.lax.while_loop(keep_going, step, initial)
