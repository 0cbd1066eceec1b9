"""Products whose weights lie in memory as the kernel reads them (`prims/packed_product.py`).

For few rows a product takes as long as reading its weights does. In panels they are one stream of memory; with 8 or 4 bits
(`dequant_strategy = ON_THE_FLY`) there is that much less to read, and the model keeps them so in memory and on disk.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.formats.program import Program
from mindspore.ir import Node, ValueNode
from mindspore.prims import linalg
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.packed_product import PackedProduct, pack
from mindspore_lite.quantise.full import Finder, FullOptions, Layer, Rewriter, without_unused

_FEW_ROWS = 4
_WORTH_PACKING = 1 << 16  # elements of a weight
_MULTIPLE = 16  # inputs must be one of this


def for_few_rows(program: Program) -> Program:
    """The program with products of few rows in panels of float32."""
    if not any(_is_narrow(node) for node in program.graph.nodes()):
        return program
    found = [layer for layer in _products(program, frozenset()) if _is_narrow(layer.head) and layer.filters.size >= _WORTH_PACKING]
    return _packed(program, found, "float32") if found else program


def _is_narrow(node: Any) -> bool:
    if type(node.op) not in (linalg.MatMul, linalg.BatchMatMul):
        return False
    return bool(math.prod(node.abstract.shape[:-1]) <= _FEW_ROWS)


def with_bits(program: Program, bits: int, smallest: int, skip: frozenset[str]) -> Program:
    """The program with weights of products in 8 or 4 bits."""
    if bits not in (4, 8):
        raise ValueError(f"bit_num must be 4 or 8 for dequant_strategy ON_THE_FLY, but got {bits}")
    found = [layer for layer in _products(program, skip) if layer.filters.size >= max(smallest, 1)]
    if not found:
        raise ValueError(f"the model has no product with fixed weights of a multiple of {_MULTIPLE} inputs")
    return _packed(program, found, f"int{bits}")


def _products(program: Program, skip: frozenset[str]) -> list[Layer]:
    layers = Finder(program).layers(FullOptions(skip=skip, dynamic=True))
    return [layer for layer in layers if layer.filters.shape[0] % _MULTIPLE == 0]


def _packed(program: Program, layers: list[Layer], kind: str) -> Program:
    def maker(layer: Layer) -> Any:
        return lambda writer: _made(writer, layer, kind)

    writer = Rewriter(program, {layer.result.id: maker(layer) for layer in layers})
    writer.inner = frozenset(n.id for layer in layers for n in layer.nodes[:-1])
    graph = writer.run(program.graph.output)
    return without_unused(program._replace(graph=graph, weights=writer.weights))


def _made(writer: Rewriter, layer: Layer, kind: str) -> Node:
    packed = pack(np.ascontiguousarray((layer.filters * layer.factor).T), kind)
    none = ValueNode(None)
    weight = writer.weight(f"{layer.name}.packed", packed.weight)
    scales = none if packed.scales is None else writer.weight(f"{layer.name}.scales", packed.scales)
    bias = writer.weight(f"{layer.name}.bias", layer.bias) if layer.bias.any() else none
    shape = tuple(layer.result.abstract.shape)
    x = _reshaped(writer, writer(layer.source), (math.prod(shape[:-1]), packed.inputs))
    result = writer.emit(PackedProduct(packed.outputs, kind), x, weight, scales, bias, none)
    return _reshaped(writer, result, shape)


def _reshaped(writer: Rewriter, node: Node, shape: tuple[int, ...]) -> Node:
    return node if tuple(node.abstract.shape) == shape else writer.emit(Reshape(), node, ValueNode(shape))
