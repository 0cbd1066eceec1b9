"""The statement behind a public Node, under the name and with the makers that tools below the public classes use."""

from __future__ import annotations

import ast
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.rewrite.api.node import _call
from mindspore.rewrite.statement import Statement
from mindspore.rewrite.tree import LocalPrim
from mindspore.rewrite.values import NodeType, ScopedValue

__all__ = ["LocalPrim", "Node"]


class Node(Statement):
    """One statement of a network."""

    @staticmethod
    def create_call_buildin_op(
        op: Any,
        ast_node: Any,
        targets: list[ScopedValue],
        func_name: ScopedValue,
        args: list[ScopedValue] | None = None,
        kwargs: dict[str, ScopedValue] | None = None,
        node_name: str = "",
    ) -> Node:
        """The call of a cell or primitive, as it stands in `ast_node` or anew."""
        kind = NodeType.CallCell if isinstance(op, Cell) else NodeType.CallPrimitive
        syntax = ast_node if ast_node is not None else _call("create_call_buildin_op", targets, args, kwargs)
        return Node(kind, syntax, node_name or str(func_name.value), op)

    @staticmethod
    def create_output_node(ast_node: ast.Return, return_values: list[ScopedValue], name: str = "return") -> Node:
        """A return statement."""
        return Node(NodeType.Output, ast_node, name)
