"""The base of every node of a pipeline tree, and ways to walk and copy the tree.

A node holds its own arguments and its children, never any running state. What can be known without running is answered
here: column names, number of rows, batch size, repeat count, classes. An answer of None means "only a run can tell".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

from mindspore.dataset.settings import settings

Count = Callable[["Node"], int] | None


class Node:
    """One operation of a pipeline."""

    op_type = "Node"

    def __init__(self, *children: Node, num_parallel_workers: int | None = None):
        self.children = list(children)
        self.num_parallel_workers = num_parallel_workers
        self.uid = 0  # place in the tree, set by `number`: keys the random streams of the node

    # -- what is known without running -------------------------------------------------------------------------------
    def columns(self) -> list[str] | None:
        """Names of the columns, in order."""
        return self.children[0].columns()

    def size(self, count: Count = None) -> int | None:
        """Rows of one epoch. `count` is asked for the size of a node that only a run can tell; without it: None."""
        return self.children[0].size(count)

    def batch_size(self) -> int | None:
        return self.children[0].batch_size() if self.children else None

    def repeat_count(self) -> int:
        return self.children[0].repeat_count() if self.children else 1

    def num_classes(self) -> int | None:
        return self.children[0].num_classes() if self.children else None

    def class_indexing(self) -> dict | list | None:
        return self.children[0].class_indexing() if self.children else None

    # -- text forms ---------------------------------------------------------------------------------------------------
    def params(self) -> dict[str, Any]:
        """The node's own arguments, as they stand in its JSON form."""
        return {}

    def to_json(self) -> dict[str, Any]:
        parameters = self.params()
        return {"children": [child.to_json() for child in self.children], "op_type": self.op_type, **parameters}

    def describe(self) -> str:
        """One line for `ds.explain`."""
        told = {key: value for key, value in self.params().items() if key not in _NOISE and value not in _NOTHING}
        return f"{self.op_type}({', '.join(f'{key}={_short(value)}' for key, value in told.items())})"

    def workers(self) -> int:
        return self.num_parallel_workers or settings().num_parallel_workers

    def worker_params(self) -> dict[str, Any]:
        return {"num_parallel_workers": self.workers(), "connector_queue_size": settings().prefetch_size}

    def with_children(self, *children: Node) -> Self:
        """The same operation over other children."""
        twin = copy.copy(self)
        twin.children = list(children)
        return twin


_NOISE = {"num_parallel_workers", "connector_queue_size", "callback"}


_NOTHING: tuple = (None, "", [], {})


def _short(value: Any) -> str:
    if isinstance(value, dict) and "sampler_name" in value:
        return value["sampler_name"]
    if isinstance(value, list) and all(isinstance(item, dict) and "tensor_op_name" in item for item in value):
        return f"[{', '.join(item['tensor_op_name'] for item in value)}]"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def walk(node: Node) -> Iterator[Node]:
    """Every node, children before parents."""
    for child in node.children:
        yield from walk(child)
    yield node


def number(root: Node) -> Node:
    """A copy of the tree with `uid` set by position, so that equal trees have equal random streams."""
    tree = rebuild(root, lambda node: node.with_children(*node.children))
    for i, node in enumerate(walk(tree)):
        node.uid = i
    return tree


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with `change` applied to every node, children first."""
    children = [rebuild(child, change) for child in node.children]
    if any(new is not old for new, old in zip(children, node.children)):
        node = node.with_children(*children)
    return change(node)


def tree_text(node: Node, depth: int = 0) -> str:
    """The tree, one line a node, the root first."""
    lines = ["  " * depth + node.describe()]
    lines += [tree_text(child, depth + 1) for child in node.children]
    return "\n".join(lines)
