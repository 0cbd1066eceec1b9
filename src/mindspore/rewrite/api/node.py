"""Node: one operation of a network, as users see and make it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.nn.cell import Cell
from mindspore.prims.primitive import Primitive
from mindspore.rewrite.statement import Statement
from mindspore.rewrite.values import NodeType, ScopedValue, ValueType

if TYPE_CHECKING:
    from mindspore.rewrite.api.symbol_tree import SymbolTree


class Node:
    """An operation in a SymbolTree."""

    def __init__(self, node: Statement):
        self._node = node

    def get_handler(self) -> Statement:
        """The statement behind this node."""
        return self._node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._node is other._node

    def __hash__(self) -> int:
        return id(self._node)

    def __repr__(self) -> str:
        return f"Node({self._node.name!r}, {self._node.kind})"

    # -- making -------------------------------------------------------------------------------------------------------
    @staticmethod
    def create_call_cell(
        cell: Cell | Primitive,
        targets: list,
        args: Any = None,
        kwargs: Any = None,
        name: str = "",
        is_sub_net: bool = False,
    ) -> Node:
        """A call of a cell, to be inserted into a SymbolTree.

        Examples:
            >>> from mindspore import nn
            >>> from mindspore.rewrite import Node, ScopedValue
            >>> Node.create_call_cell(nn.ReLU(), ["y"], [ScopedValue.create_naming_value("x")], name="act")
            Node('act', NodeType.CallCell)
        """
        if not isinstance(cell, (Cell, Primitive)):
            raise TypeError(f"For 'create_call_cell', 'cell' must be a Cell, but got {type(cell).__name__}.")
        call = _call("create_call_cell", targets, args, kwargs)
        kind = NodeType.CallCell if isinstance(cell, Cell) else NodeType.CallPrimitive
        return Node(Statement(kind, call, name or type(cell).__name__, cell))

    @staticmethod
    def create_call_function(function: Callable, targets: list, args: Any = None, kwargs: Any = None) -> Node:
        """A call of a function, to be inserted into a SymbolTree."""
        if not callable(function) or isinstance(function, Cell):
            raise TypeError(f"For 'create_call_function', 'function' must be a function, but got {function!r}.")
        call = _call("create_call_function", targets, args, kwargs)
        label = getattr(function, "__name__", type(function).__name__)
        return Node(Statement(NodeType.CallFunction, call, label, function))

    @staticmethod
    def create_input(param_name: str, default: Any = None) -> Node:
        """A further argument of the network, None unless it is given."""
        if not isinstance(param_name, str):
            raise TypeError(f"For 'create_input', 'param_name' must be a str, but got {param_name!r}.")
        return Node(Statement(NodeType.Input, ast.arg(param_name), f"input_{param_name}"))

    # -- looking ------------------------------------------------------------------------------------------------------
    def get_name(self) -> str:
        """The node's name, unique in its tree."""
        return self._node.name

    def get_node_type(self) -> NodeType:
        """The kind of operation."""
        return self._node.kind

    def get_instance(self) -> Any:
        """The cell, primitive or function that is called."""
        return self._node.instance

    def get_instance_type(self) -> Any:
        """The type of the cell or primitive that is called; of a function, the function."""
        return self._node.get_instance_type()

    def get_args(self) -> list[ScopedValue]:
        """The positional arguments."""
        return self._node.positional()

    def get_kwargs(self) -> dict[str, ScopedValue]:
        """The keyword arguments."""
        return self._node.keywords()

    def get_targets(self) -> list[ScopedValue]:
        """The variables that take the result."""
        return [ScopedValue.of(t) for t in self._node.targets()]

    def get_inputs(self) -> list[Node]:
        """The nodes whose results this one takes, in the order of its arguments."""
        found = sorted((i, n, giver) for n, (giver, _, taker, i) in enumerate(self._edges()) if taker is self._node)
        return [Node(giver) for _, _, giver in found]

    def get_users(self) -> list[Node]:
        """The nodes that take this one's results."""
        return _unique(taker for giver, _, taker, _ in self._edges() if giver is self._node)

    def _edges(self) -> Any:
        return self._node.tree.edges() if self._node.tree is not None else []

    def get_symbol_tree(self) -> SymbolTree | None:
        """The tree this node is part of."""
        from mindspore.rewrite.api.symbol_tree import SymbolTree

        return None if self._node.tree is None else SymbolTree(self._node.tree)

    def get_sub_tree(self) -> SymbolTree | None:
        """The tree of the network that is called, if that is a network of the user's."""
        from mindspore.rewrite.api.symbol_tree import SymbolTree

        return None if self._node.subtree is None else SymbolTree(self._node.subtree)

    # -- changing -----------------------------------------------------------------------------------------------------
    def set_arg(self, index: int, arg: Any) -> None:
        """Replace an argument; keyword arguments follow the positional ones."""
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For 'set_arg', 'index' must be an int, but got {index!r}.")
        if isinstance(arg, str):
            arg = ScopedValue.create_naming_value(arg)
        if not isinstance(arg, ScopedValue):
            raise TypeError(f"For 'set_arg', 'arg' must be a ScopedValue or a str, but got {arg!r}.")
        self._node.set_argument(index, arg.expression())

    def set_arg_by_node(self, arg_idx: int, src_node: Node, out_idx: int | None = None) -> None:
        """Take an argument from the result of another node."""
        if not isinstance(src_node, Node):
            raise TypeError(f"For 'set_arg_by_node', 'src_node' must be a Node, but got {src_node!r}.")
        targets = src_node.get_targets()
        place = 0 if out_idx is None else out_idx
        if not 0 <= place < len(targets):
            raise ValueError(
                f"For 'set_arg_by_node', '{src_node.get_name()}' has {len(targets)} results, not {place + 1}."
            )
        self.set_arg(arg_idx, targets[place])


def _unique(nodes: Any) -> list[Node]:
    return [Node(n) for n in {id(n): n for n in nodes}.values()]


def _call(op: str, targets: Any, args: Any, kwargs: Any) -> ast.Assign:
    """`targets = ?(args, kwargs)`, whose function is put in when the node is inserted."""
    if not isinstance(targets, (list, tuple)) or not targets:
        raise TypeError(f"For '{op}', 'targets' must be a list of names, but got {targets!r}.")
    stores = [_target(op, t) for t in targets]
    for value in (*(args or ()), *(kwargs or {}).values()):
        if not isinstance(value, ScopedValue):
            raise TypeError(f"For '{op}', arguments must be ScopedValues, but got {value!r}.")
    for key in kwargs or {}:
        if not isinstance(key, str):
            raise TypeError(f"For '{op}', the names of 'kwargs' must be str, but got {key!r}.")
    keywords = [ast.keyword(k, v.expression()) for k, v in (kwargs or {}).items()]
    function = ast.Name("_", ast.Load())
    value = ast.Call(function, [a.expression() for a in args or ()], keywords)
    first: ast.expr = stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())
    return ast.Assign([first], value, lineno=0)


def _target(op: str, target: Any) -> ast.expr:
    if isinstance(target, ScopedValue) and target.type is ValueType.NamingValue:
        target = str(target)
    if not isinstance(target, str):
        raise TypeError(f"For '{op}', each of 'targets' must be a str or a naming ScopedValue, but got {target!r}.")
    expression = ast.parse(target, mode="eval").body
    expression.ctx = ast.Store()  # type: ignore[attr-defined]
    return expression
