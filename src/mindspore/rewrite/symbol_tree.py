"""The tree behind a public SymbolTree, with the operations that tools below the public classes use."""

from __future__ import annotations

from typing import Any

from mindspore._base.files import atomic_write
from mindspore.nn.cell import Cell
from mindspore.rewrite.statement import Statement
from mindspore.rewrite.tree import Family, Tree
from mindspore.rewrite.values import NodeType, ScopedValue
from mindspore.rewrite.writer import Writer


class SymbolTree(Tree):
    """A network as statements. Its source is read at once, so what a caller appends of it is there already."""

    def __init__(self, origin_network: Cell, family: Any = None):
        # other callers give the syntax of a module in the second place; the network's source is read anyway
        super().__init__(origin_network, family if isinstance(family, Family) else None)
        self._file_name = "network_define.py"

    # -- reading what has been read ------------------------------------------------------------------------------------
    def set_class_ast(self, class_ast: Any) -> None:
        """The class is read from the network."""

    def set_init_func_ast(self, function_ast: Any) -> None:
        """So is its `__init__`."""

    def set_ast_root(self, construct_ast: Any) -> None:
        """And its `construct`."""

    def append_input_node(self, argument: Any, name: str) -> Statement:
        return next(n for n in self.inputs if n.syntax.arg == name)

    def append_origin_field(self, node: Statement) -> Statement:
        """The statement of the network that `node` describes."""
        found = next((n for n in self.statements if n.name == node.name), None)
        if found is None:
            raise ValueError(f"the network has no statement '{node.name}'.")
        return found

    # -- looking --------------------------------------------------------------------------------------------------------
    def get_node(self, name: str) -> Statement | None:
        return next((n for n in self.walk() if n.name == name), None)

    def get_input_nodes(self) -> list[Statement]:
        return list(self.inputs)

    def get_node_users(self, node: Statement) -> list[tuple[Statement, int]]:
        """Who takes a result of a statement, and as which argument."""
        return [(taker, place) for giver, _, taker, place in self.edges() if giver is node]

    def get_node_inputs(self, node: Statement) -> list[Statement]:
        """The statements whose results another takes, in the order of its arguments."""
        return [giver for giver, _, taker, _ in self.edges() if taker is node]

    # -- changing -------------------------------------------------------------------------------------------------------
    def insert_node(self, new_node: Statement, base_node: Statement, before_node: bool) -> Statement:
        return self.insert(new_node, base_node, before_node)

    def erase_node(self, node: Statement) -> Statement:
        self.erase(node)
        return node

    def replace(self, old_node: Statement, new_nodes: list[Statement]) -> Statement:
        """Put statements, in order, in the place of another; the last of them."""
        for node in reversed(new_nodes):
            self.insert(node, old_node, False)
        self.erase(old_node)
        return new_nodes[-1]

    def set_node_arg(self, node: Statement, index: int, arg: Any) -> None:
        value = ScopedValue.create_naming_value(arg) if isinstance(arg, str) else arg
        node.set_argument(index, value.expression())

    def set_node_arg_by_node(self, node: Statement, index: int, source: Statement, out: int = 0) -> None:
        self.set_node_arg(node, index, source.get_targets()[out])

    def set_node_target(self, node: Statement, index: int, target: Any) -> None:
        """Give a result another name; those who took it by the old one are not changed."""
        if node.kind is NodeType.Input:
            raise RuntimeError("an input is renamed by renaming the argument of construct.")
        node.targets()[index].id = str(target)  # type: ignore[attr-defined]

    # -- results --------------------------------------------------------------------------------------------------------
    def code(self) -> str:
        """The source of the rewritten network and of the networks it calls."""
        return Writer(self).code()

    def build(self) -> Cell:
        """The rewritten network."""
        return Writer(self).build()

    # -- files ----------------------------------------------------------------------------------------------------------
    def set_saved_file_name(self, file_name: str) -> None:
        self._file_name = file_name if file_name.endswith(".py") else f"{file_name}.py"

    def get_saved_file_name(self) -> str:
        return self._file_name

    def save_network_to_file(self) -> None:
        """Write the source of the network as it is now."""
        with atomic_write(self._file_name, "w") as stream:
            stream.write(self.code())
