"""The rewrite rules. Each takes a tree and returns it, changed or not; none changes the rows a pipeline gives.

Some rewrites need no rule, as the runtime's form makes them: shuffles, skips, takes and repeats act on row numbers
under the maps (`runtime/build.py`), and a batch is written by the worker that made its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from mindspore.dataset.ir.leaf import MappableNode
from mindspore.dataset.ir.node import Node, rebuild
from mindspore.dataset.ir.ops import (
    BatchNode,
    FilterNode,
    MapNode,
    ProjectNode,
    RenameNode,
    RepeatNode,
    ShuffleNode,
    SkipNode,
    TakeNode,
)
from mindspore.dataset.ir.transform import is_random
from mindspore.dataset.settings import ErrorSamplesMode, settings

Rule = Callable[[Node], Node]


def everywhere(change: Rule) -> Rule:
    """Apply `change` to every node, children first, until nothing changes."""

    def rule(tree: Node) -> Node:
        while True:
            after = rebuild(tree, change)
            if after is tree:
                return tree
            tree = after

    return rule


def remove_no_ops(node: Node) -> Node:
    """`repeat(1)`, `skip(0)`, `take(-1)`, `shuffle(1)`, a projection or renaming that changes nothing."""
    if not node.children:
        return node
    child = node.children[0]
    if isinstance(node, RepeatNode) and node.count == 1:
        return child
    if isinstance(node, SkipNode) and node.count == 0:
        return child
    if isinstance(node, TakeNode) and node.count == -1:
        return child
    if isinstance(node, ShuffleNode) and node.buffer_size == 1:
        return child
    if isinstance(node, ProjectNode) and child.columns() == node.names:
        return child
    if isinstance(node, RenameNode) and node.input_columns == node.output_columns:
        return child
    return node


_COUNTS = (SkipNode, TakeNode, RepeatNode)


def join_counts(node: Node) -> Node:
    """Two skips, two takes or two repeats in a row are one."""
    inner = node.children[0] if node.children else node
    if (
        not isinstance(node, _COUNTS)
        or not isinstance(inner, _COUNTS)
        or inner is node
        or type(inner) is not type(node)
    ):
        return node
    if isinstance(node, SkipNode):
        count = node.count + inner.count
    elif isinstance(node, TakeNode):
        count = min((c for c in (node.count, inner.count) if c != -1), default=-1)
    elif -1 in (node.count, inner.count):
        return node
    else:
        count = node.count * inner.count
    joined = node.with_children(*inner.children)
    joined.count = count
    return joined


def _plain(node: Node) -> TypeGuard[MapNode]:
    """A map whose rows do not depend on being seen one by one by callbacks."""
    return isinstance(node, MapNode) and not node.callbacks


def fuse_maps(node: Node) -> Node:
    """A map over a map on the same columns is one map, so a row crosses workers once."""
    inner = node.children[0] if node.children else node
    if not _plain(node) or not _plain(inner):
        return node
    same = node.python_multiprocessing == inner.python_multiprocessing and node.max_rowsize == inner.max_rowsize
    first, middle, last = inner.inputs(), inner.outputs(), node.outputs()
    if not same or first is None or middle is None or last is None:
        return node
    if node.inputs() != middle or len(first) != len(middle) or len(last) != len(middle):
        return node
    fused = node.with_operations([*inner.operations, *node.operations], [*inner.streams(), *node.streams()])
    fused.children = list(inner.children)
    fused.input_columns, fused.output_columns = list(first), list(last)
    fused.num_parallel_workers = max(node.workers(), inner.workers())
    return fused


def fuse_decode_crop(node: Node) -> Node:
    """Decode followed by RandomResizedCrop decodes only the part, and at the scale, that is kept.

    The one rule that may change a row: pixels of a reduced decode differ by a little from those of a full one.
    """
    if not isinstance(node, MapNode) or settings().debug_mode:
        return node
    operations, streams = list(node.operations), list(node.streams())
    for i in range(len(operations) - 1):
        fused = decode_and_crop(operations[i], operations[i + 1])
        if fused is not None:
            operations[i : i + 2] = [fused]
            del streams[i]
            return node.with_operations(operations, streams)
    return node


def decode_and_crop(first: Callable, second: Callable) -> Callable | None:
    """The one operation that does both, when these are the two that it stands for."""
    if type(first).__name__ != "Decode" or type(second).__name__ != "RandomResizedCrop":
        return None
    if type(second).__module__ != "mindspore.dataset.vision.crop" or getattr(first, "to_pil", False):
        return None
    from mindspore.dataset.vision.crop import RandomCropDecodeResize

    parts = {"size", "scale", "ratio", "interpolation", "max_attempts"}
    fused = RandomCropDecodeResize.__new__(RandomCropDecodeResize)
    fused.__dict__.update({name: value for name, value in second.__dict__.items() if name != "_local"})
    fused.error_name = "Decode"  # what can fail in it, by the name the user has written
    return fused if parts <= set(fused.__dict__) else None


def push_down_projection(node: Node) -> Node:
    """A projection goes below a map that it does not need, and a map whose results are dropped is not run."""
    inner = node.children[0] if node.children else node
    if not isinstance(node, ProjectNode) or not _plain(inner):
        return node
    inputs, outputs = inner.inputs(), inner.outputs()
    if inputs is None or outputs is None or settings().error_samples_mode is not ErrorSamplesMode.RETURN:
        return node
    if not set(outputs) & set(node.names):
        kept = [name for name in node.names if name in (inner.children[0].columns() or [])]
        return ProjectNode(inner.children[0], node.names) if kept == node.names else node
    return node


def push_down_filter(node: Node) -> Node:
    """A filter goes below a map on other columns: rows that are dropped are not transformed."""
    inner = node.children[0] if node.children else node
    if not isinstance(node, FilterNode) or not node.input_columns or not _plain(inner):
        return node
    inputs, outputs = inner.inputs(), inner.outputs()
    if inputs is None or outputs is None or settings().error_samples_mode is not ErrorSamplesMode.RETURN:
        return node
    touched = set(inputs) | set(outputs)
    if touched & set(node.input_columns) or any(is_random(operation) for operation in inner.operations):
        return node
    return inner.with_children(node.with_children(*inner.children))


def take_before_batch(node: Node) -> Node:
    """`take` over a batch takes that many batches' rows from the source."""
    if not isinstance(node, TakeNode) or node.count == -1 or type(node.children[0]) is not BatchNode:
        return node
    batch = node.children[0]
    if callable(batch.rows) or batch.per_batch_map is not None or isinstance(batch.children[0], TakeNode):
        return node
    below = batch.children[0]
    while isinstance(below, (MapNode, ProjectNode, RenameNode)):
        below = below.children[0]
    if not isinstance(below, MappableNode):
        return node
    return batch.with_children(TakeNode(batch.children[0], node.count * batch.rows))


RULES: dict[str, Rule | None] = {
    "remove_no_ops": everywhere(remove_no_ops),
    "join_counts": everywhere(join_counts),
    "push_down_filter": everywhere(push_down_filter),
    "push_down_projection": everywhere(push_down_projection),
    "take_before_batch": everywhere(take_before_batch),
    "fuse_maps": everywhere(fuse_maps),
    "fuse_decode_crop": everywhere(fuse_decode_crop),
    # applied while operators are built:
    "vectorise_batch": None,  # a batch of whole arrays instead of rows
    "pixel_tables": None,  # pixel-by-pixel operations as one look-up, written into the batch
}
