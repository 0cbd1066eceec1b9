"""Mixed precision (Micikevicius et al. 2018): convolutions and products on 16-bit floats, weights and sums in 32 bits.

    convolutions, products                       16-bit operands and results
    sums, bounds, activations, pooling, moves    follow: 16 bits where their operand has them
    normalisations                               take and give 16 bits, compute with 32
    all else (losses, softmax, reductions)       32 bits

What the backward pass keeps are the operands, so the memory for activations halves. Weights are cast where they are used; their
gradients come back as 32 bits. With float16 the loss is scaled, so that small gradients do not vanish; bfloat16 has the range of
float32 and needs none.
"""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype
from mindspore.compiler.builder import Builder
from mindspore.compiler.inline import reapply
from mindspore.formats.program import Program
from mindspore.ir import AbstractTensor, AbstractTuple, FuncGraph, Node
from mindspore.prims import conv, elementwise, linalg, pooling
from mindspore.prims.values import from_node

KINDS: dict[str, Any] = {"float16": mstype.float16, "bfloat16": mstype.bfloat16}
_SIXTEEN = (conv.Conv2D, linalg.MatMul, linalg.BatchMatMul)
_FOLLOWS = (elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Maximum, elementwise.Minimum, pooling.MaxPool, pooling.AvgPool)


def mixed(program: Program, kind: str) -> Program:
    """The program with 16-bit floats between its convolutions and products; its inputs, weights and outputs stay as they are."""
    graph = FuncGraph(program.graph.name)
    builder = Builder(graph)
    with builder.active():
        writer = _Writer(builder, KINDS[kind])
        for parameter in program.graph.parameters:
            writer.made[parameter.id] = graph.add_parameter(parameter.name, parameter.abstract, parameter.default)
        for node in program.graph.nodes():
            writer.add(node)
        graph.output = writer.like(program.graph.output)
    graph.attrs.update(program.graph.attrs)
    return program._replace(graph=graph)


class _Writer:
    def __init__(self, builder: Builder, half: Any):
        self.builder, self.half = builder, half
        self.made: dict[int, Node] = {}

    def add(self, node: Any) -> None:
        arguments = tuple(self.made.get(a.id, a) for a in node.args)
        op = node.op
        if type(op) in _SIXTEEN and str(node.abstract.dtype) == "Float32":
            arguments = self._cast(arguments, mstype.float32, self.half)
        elif op.moves:
            pass
        elif (op.activation or type(op) in _FOLLOWS) and any(self._is(a, self.half) for a in arguments):
            arguments = self._cast(arguments, mstype.float32, self.half)
        elif 0 in op.absorbs_casts:
            arguments = (arguments[0], *self._cast(arguments[1:], self.half, mstype.float32))
        else:
            arguments = self._cast(arguments, self.half, mstype.float32)
        self.made[node.id] = reapply(self.builder, op, arguments)

    def like(self, output: Any) -> Node:
        """The outputs in the types they had."""
        made = self.made.get(output.id, output)
        if not isinstance(output.abstract, AbstractTuple):
            return self._cast((made,), self.half, mstype.float32)[0]
        parts = [self.builder.get_item(made, n) for n in range(len(output.abstract.elements))]
        return self.builder.make_tuple(list(self._cast(tuple(parts), self.half, mstype.float32)))

    @staticmethod
    def _is(node: Node, kind: Any) -> bool:
        return isinstance(node.abstract, AbstractTensor) and node.abstract.dtype == kind

    def _cast(self, nodes: tuple[Node, ...], source: Any, target: Any) -> tuple[Node, ...]:
        return tuple(
            self.builder.node_of(elementwise.Cast()(from_node(n), target)) if self._is(n, source) else n for n in nodes
        )
