"""Recomputation: parts of the forward pass are not kept for the backward pass, but computed again in it (Chen et al. 2016).

The forward pass is cut, in the order of its operations, into segments whose results take about the same memory. Of a segment only
what later ones read is kept. The last segment is left as it is: its values are needed at once.
"""

from __future__ import annotations

from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, AbstractTuple, CNode, Node


def mark(builder: Builder, outputs: list[Node], segments: int) -> None:
    """Have the backward pass compute all segments but the last again."""
    forward = _order(outputs)
    sizes = [_bytes(node.abstract) for node in forward]
    total, seen = max(sum(sizes), 1), 0
    regions = [object() for _ in range(segments - 1)]
    for node, size in zip(forward, sizes):
        segment = min(seen * segments // total, segments - 1)
        seen += size
        if segment < segments - 1:
            builder.root.regions[node.id] = regions[segment]


def _order(outputs: list[Node]) -> list[CNode]:
    """The operations that outputs depend on, operands first."""
    found, seen, stack = list[CNode](), set[int](), list(outputs)
    while stack:
        node = stack.pop()
        if node.id in seen or not isinstance(node, CNode):
            continue
        seen.add(node.id)
        found.append(node)
        stack.extend(node.args)
    return sorted(found, key=lambda node: node.id)


def _bytes(abstract: object) -> int:
    if isinstance(abstract, AbstractTuple):
        return sum(_bytes(part) for part in abstract.elements)
    return abstract.size * abstract.dtype.itemsize if isinstance(abstract, AbstractTensor) else 0
