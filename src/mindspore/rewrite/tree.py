"""The statements of a network, read from the source of its construct.

A network calls four things that have statements of their own: networks of the user's (a `Tree` each), methods and functions of
the user's (a `Body` each), control flow and containers of cells (a list of statements). Each call has its own, so that one
can be changed and the others not. `writer.py` writes the whole back as classes.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.prims.primitive import Primitive
from mindspore.rewrite.container import call_of, deletion, insertion, is_chain, is_container, items
from mindspore.rewrite.flatten import Flattener, Names
from mindspore.rewrite.source import all_arguments, definition_of, globals_of, home_of, is_users
from mindspore.rewrite.statement import Statement, describe
from mindspore.rewrite.values import NodeType

#: what an expression raises that needs more than the network
_UNKNOWN = (AttributeError, LookupError, NameError, TypeError, ValueError)
_LOOP_WORDS = {ast.For: "for", ast.While: "while"}


class LocalPrim(Primitive):
    """A primitive that construct makes itself: its class is known, its attributes only when it runs."""

    @staticmethod
    def of(cls: type) -> LocalPrim:
        return object.__new__(type(cls.__name__, (LocalPrim, cls), {}))


@dataclass(eq=False)
class Body:
    """A method or function that is called: arguments and statements with variables of their own."""

    definition: ast.FunctionDef
    #: the function itself, whose globals its names mean
    origin: Any
    is_method: bool
    inputs: list[Statement] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    as_read: str = ""

    def source(self, calls: dict[int, ast.expr] | None = None) -> str:
        """The statements as text."""
        return "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in written(self.statements, calls))

    def nodes(self) -> list[Statement]:
        return [*self.inputs, *self.statements]


@dataclass(eq=False)
class Family:
    """What a network shares with the networks it calls: names of functions, and which of them are being read."""

    functions: Names = field(default_factory=lambda: Names(set()))
    open: list[Any] = field(default_factory=list)


class Tree:
    """A network as statements."""

    def __init__(self, network: Cell, family: Family | None = None):
        self.network = network
        self.family = family or Family()
        cls = type(network)
        self.definition, function = definition_of(f"{cls.__name__}.construct", cls.construct, home_of(cls, "construct"))
        self.namespace = globals_of(function)
        self.variables = Names({n.id for n in ast.walk(self.definition) if isinstance(n, ast.Name)})
        self.names = Names(set())
        self.new_cells: dict[str, Cell] = {}
        self.new_functions: dict[str, Any] = {}
        #: variables of construct that hold a primitive made there
        self.local_primitives: dict[str, type] = {}
        self.methods: dict[str, Body] = {}
        #: lines of `__init__` that make the containers what they are now
        self.container_edits: list[str] = []
        #: the networks in containers, by where they were found
        self.contained: list[tuple[str, Statement]] = []
        self.inputs = [self._input(a) for a in all_arguments(self.definition)[1:]]
        self.statements = self._read(self.definition.body, Flattener(self.variables))
        self._write_back()

    def get_origin_network(self) -> Cell:
        return self.network

    @property
    def _root_ast(self) -> ast.FunctionDef:
        return self.definition

    @property
    def _nodes(self) -> dict[str, Statement]:
        return {n.name: n for n in [*self.inputs, *self.statements]}

    def nodes(self) -> list[Statement]:
        """Inputs and statements, in order."""
        return [*self.inputs, *self.statements]

    def beside(self, node: Statement, step: int) -> Statement | None:
        """The statement before (-1) or behind (1) another."""
        order = self.nodes()
        at = next((i for i, n in enumerate(order) if n is node), -1) + step
        return order[at] if 0 <= at < len(order) else None

    # -- reading ------------------------------------------------------------------------------------------------------
    def _input(self, argument: ast.arg) -> Statement:
        return Statement(NodeType.Input, argument, self.names.unique(f"input_{argument.arg}"), tree=self)

    def _read(self, body: list[ast.stmt], flattener: Flattener) -> list[Statement]:
        out: list[Statement] = []
        for stmt in body:
            test = copy.deepcopy(stmt.test) if isinstance(stmt, ast.If) else None
            *steps, last = flattener.statement(stmt)
            before = [self._statement(s) for s in steps]
            out += before
            if isinstance(last, ast.If):
                out += self._read_if(last, test, before, flattener)
            elif isinstance(last, (ast.For, ast.While)):
                out += self._read_loop(last, flattener)
            else:
                out.append(self._statement(last))
        return out

    def _read_if(self, stmt: ast.If, test: Any, steps: list[Statement], flattener: Flattener) -> list[Statement]:
        first = self._enclosing(stmt, "if_node", stmt.body, flattener)
        first.test, first.test_steps = test, steps
        return self._with_else(first, "else_node", flattener)

    def _read_loop(self, stmt: ast.For | ast.While, flattener: Flattener) -> list[Statement]:
        word = _LOOP_WORDS[type(stmt)]
        first = self._enclosing(stmt, f"{word}_node", stmt.body, flattener)
        return self._with_else(first, f"{word}_else_node", flattener)

    def _enclosing(self, stmt: ast.stmt, word: str, body: list[ast.stmt], flattener: Flattener) -> Statement:
        node = Statement(NodeType.ControlFlow, stmt, self.names.unique(word), tree=self)
        node.body = self._read(body, flattener)
        return node

    def _with_else(self, first: Statement, word: str, flattener: Flattener) -> list[Statement]:
        """Control flow and its `else`, as two statements that know each other."""
        if not first.syntax.orelse:
            return [first]
        second = self._enclosing(first.syntax, word, first.syntax.orelse, flattener)
        second.partner, second.is_else, first.partner = first, True, second
        return [first, second]

    def _statement(self, stmt: ast.stmt) -> Statement:
        kind, name = describe(stmt)
        node = Statement(kind, stmt, tree=self)
        value = getattr(stmt, "value", None)
        if kind is NodeType.CallFunction:
            return self._call(node, name, stmt.value.func)  # type: ignore[attr-defined]
        if isinstance(value, ast.Attribute):
            held = self._value_of(value)
            if is_container(held):
                node.kind, name, node.instance = NodeType.CellContainer, ast.unparse(value), held
                node.name = self.names.unique(name)
                return self._open_container(node, value)
        node.name = self.names.unique(name)
        return node

    def _call(self, node: Statement, name: str, function: ast.expr) -> Statement:
        target = node.instance = self._value_of(function)
        if target is None and isinstance(function, ast.Name) and function.id in self.local_primitives:
            node.instance = LocalPrim.of(self.local_primitives[function.id])
        if isinstance(target, type) and issubclass(target, Primitive):
            self.local_primitives |= {t.id: target for t in node.targets() if isinstance(t, ast.Name)}
        users_function = _is_function_of(target, function)
        names = self.family.functions if users_function else self.names
        if users_function:
            self.family.functions.taken |= self.names.taken
        node.name = names.unique(name)
        self.names.taken.add(node.name)
        self._classify(node, function)
        return node

    def _classify(self, node: Statement, function: ast.expr) -> None:
        """Say what a call calls, and read what that consists of."""
        target = node.instance
        if is_container(target):
            node.kind = NodeType.CellContainer
            self._open_container(node, function)
        elif isinstance(target, Cell):
            node.subtree = self._tree_of(target)
            node.kind = NodeType.CallCell if node.subtree is None else NodeType.Tree
        elif isinstance(target, Primitive):
            node.kind = NodeType.CallPrimitive
        elif isinstance(target, types.MethodType) and target.__self__ is self.network:
            node.function = self._method(target)
        elif _is_function_of(target, function):
            node.function = self._body(target.__name__, target, None)

    def _value_of(self, expression: ast.expr) -> Any:
        """What an expression of known things stands for; None if only a run knows."""
        code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<construct>", "eval")
        try:
            return eval(code, self.namespace, {"self": self.network})
        except _UNKNOWN:
            return None

    def _tree_of(self, cell: Cell) -> Tree | None:
        if not is_users(type(cell)):
            return None
        try:
            return type(self)(cell, self.family)
        except RuntimeError:  # its source cannot be read
            return None

    def _open_container(self, node: Statement, expression: ast.expr) -> Statement:
        node.container_expression = expression
        self._fill(node, ast.unparse(expression))
        return node

    def _fill(self, holder: Statement, path: str) -> None:
        for place, cell in items(holder.instance):
            node = Statement(NodeType.CallCell, call_of(path, place, holder.syntax), tree=self, instance=cell)
            node.name = self.names.unique(type(cell).__name__)
            node.container = holder
            holder.body.append(node)
            inner = f"{path}[{place!r}]"
            if is_container(cell):
                node.kind = NodeType.CellContainer
                self._fill(node, inner)
                continue
            node.subtree = self._tree_of(cell)
            if node.subtree is not None:
                node.kind = NodeType.Tree
                self.contained.append((inner, node))

    def _method(self, method: Any) -> Body | None:
        """The statements of a method of the user's, read once however often it is called."""
        name = method.__name__
        if name not in self.methods and is_users(method.__func__):
            body = self._body(name, method.__func__, home_of(type(self.network), name))
            if body is not None:
                self.methods[name] = body
        return self.methods.get(name)

    def _body(self, name: str, function: Any, home: type | None) -> Body | None:
        """The statements of a function; None if they cannot be read, or are being read."""
        if function in self.family.open:
            return None
        try:
            definition, function = definition_of(f"'{name}'", function, home)
        except RuntimeError:
            return None
        if any(isinstance(n, ast.FunctionDef) for stmt in definition.body for n in ast.walk(stmt)):
            return None  # functions inside of functions are left alone
        body = Body(definition, function, home is not None)
        own, self.namespace = self.namespace, {**self.namespace, **globals_of(function)}
        self.family.open.append(function)
        names = Names({n.id for n in ast.walk(definition) if isinstance(n, ast.Name)})
        body.inputs = [self._input(a) for a in all_arguments(definition)[1 if home else 0 :]]
        body.statements = self._read(definition.body, Flattener(names))
        self.family.open.remove(function)
        body.as_read = body.source()
        self.namespace = {**self.namespace, **own} if home else own
        return body

    # -- looking ------------------------------------------------------------------------------------------------------
    def bodies(self) -> list[Body]:
        """The methods and functions called, each once."""
        found = {id(b): b for b in self.methods.values()}
        pending = [*self.statements, *(n for m in self.methods.values() for n in m.statements)]
        while pending:
            node = pending.pop(0)
            pending += node.body
            if node.function is not None and id(node.function) not in found:
                found[id(node.function)] = node.function
                pending += node.function.statements
        return list(found.values())

    def walk(self, into_trees: bool = False) -> Iterator[Statement]:
        """All statements in the order of the text, inside control flow too; then those of the functions called."""
        for block in (self.inputs, self.statements, *(b.nodes() for b in self.bodies())):
            for node in _each(block):
                yield node
                if into_trees and node.subtree is not None:
                    yield from node.subtree.walk(True)

    def _blocks(self) -> Iterator[tuple[list[Statement], Any]]:
        """Every list of statements, and what it belongs to."""
        yield self.inputs, self
        yield self.statements, self
        for body in self.bodies():
            caller = next(n for n in self.walk() if n.function is body)
            yield body.inputs, caller
            yield body.statements, caller
        for node in self.walk():
            yield node.body, node

    def block_of(self, node: Statement) -> list[Statement]:
        """The list a statement stands in."""
        return self._place_of(node)[0]

    def holder_of(self, node: Statement) -> Any:
        """What a statement stands in: the network, control flow, a function that is called, or a container."""
        return self._place_of(node)[1]

    def _place_of(self, node: Statement) -> tuple[list[Statement], Any]:
        for block, holder in self._blocks():
            if any(n is node for n in block):
                return block, holder
        raise ValueError(f"node '{node.name}' is not part of this SymbolTree.")

    def edges(self) -> list[tuple[Statement, int, Statement, int]]:
        """(giver, which of its targets, taker, which of its arguments), each variable taken from where it was set last."""
        found = self._edges_within([*self.inputs, *_flow(self.statements)])
        for body in self.bodies():
            found += self._edges_within([*body.inputs, *_flow(body.statements)])
        for chain in (n for n in self.walk() if n.kind is NodeType.CellContainer and is_chain(n)):
            found += [(giver, 0, taker, 0) for giver, taker in zip(chain.body, chain.body[1:])]
        return found

    @staticmethod
    def _edges_within(nodes: list[Statement]) -> list[tuple[Statement, int, Statement, int]]:
        """The edges between statements that share their variables."""
        found, latest = [], dict[str, tuple[Statement, int]]()
        for node in nodes:
            for i, name in enumerate(node.read_names()):
                if name in latest:
                    found.append((*latest[name], node, i))
            for i, target in enumerate(node.targets()):
                if isinstance(target, ast.Name):
                    latest[target.id] = (node, i)
            if isinstance(node.syntax, ast.For) and isinstance(node.syntax.target, ast.Name):
                latest.pop(node.syntax.target.id, None)
        return found

    # -- changing -----------------------------------------------------------------------------------------------------
    def insert(self, node: Statement, place: Statement, before: bool) -> Statement:
        """Put a statement before or behind another."""
        block, holder = self._place_of(place)
        if node.kind is NodeType.Input:
            if place.kind is not NodeType.Input:
                raise RuntimeError("For 'insert', an input must be put beside another input.")
        elif place.kind is NodeType.Input:
            if before:
                raise RuntimeError("For 'insert', only inputs can be put before an input.")
            block = self.statements if holder is self else holder.function.statements
            self._refuse_cells_in_functions(node, holder)
            node = self._adopt(node)
            block.insert(0, node)
            self._write_back()
            return node
        self._refuse_cells_in_functions(node, holder)
        at = next(i for i, n in enumerate(block) if n is place) + (0 if before else 1)
        node = self._adopt(node)
        if place.container is not None:
            node.container = place.container
            self.container_edits.append(insertion(place.container, at, node.name))
        block.insert(at, node)
        self._write_back()
        return node

    @staticmethod
    def _refuse_cells_in_functions(node: Statement, holder: Any) -> None:
        """A plain function has no `self` that could hold a cell."""
        body = getattr(holder, "function", None)
        if body is not None and not body.is_method and node.kind is not NodeType.CallFunction:
            raise TypeError(
                f"Cannot insert {node.kind} node '{node.name}' into no-method function '{holder.name}'. "
                "Use Node.create_call_function instead."
            )

    def _write_back(self) -> None:
        """Keep the syntax tree of construct like the statements."""
        self.definition.body[:] = written(self.statements) or [ast.Pass()]

    def _adopt(self, node: Statement) -> Statement:
        """Give a new statement its name in this tree, and the tree what it calls."""
        if node.tree is not None:
            raise RuntimeError(f"node '{node.name}' is already part of a SymbolTree.")
        node.tree = self
        node.name = self.names.unique(node.name)
        if node.kind is NodeType.Input:
            arguments = self.definition.args
            arguments.args.append(node.syntax)
            arguments.defaults.append(ast.Constant(None))
        elif node.kind is NodeType.CallFunction:
            node.syntax.value.func = ast.Name(self._name_for(node.instance), ast.Load())
        else:
            while hasattr(self.network, node.name) or node.name in self.new_cells:
                node.name = self.names.unique(node.name)
            self.new_cells[node.name] = node.instance
            node.syntax.value.func = ast.Attribute(ast.Name("self", ast.Load()), node.name, ast.Load())
            if isinstance(node.instance, Cell):
                node.subtree = self._tree_of(node.instance)
                node.kind = node.kind if node.subtree is None else NodeType.Tree
        self.variables.taken |= {t.id for t in node.targets() if isinstance(t, ast.Name)}
        return node

    def _name_for(self, function: Any) -> str:
        """A name that means a function in the file of this network: its own, unless that means something else."""
        known = [k for k, v in (*self.namespace.items(), *self.new_functions.items()) if v is function]
        if not known:
            known = [Names({*self.namespace, *self.variables.taken}).unique(function.__name__)]
            self.new_functions[known[0]] = self.namespace[known[0]] = function
        return known[0]

    def erase(self, node: Statement) -> None:
        block = self.block_of(node)
        if node.container is not None:
            at = next(i for i, n in enumerate(block) if n is node)
            self.container_edits.append(deletion(node.container, at))
        block[:] = [n for n in block if n is not node]
        self._write_back()
        if node.kind is NodeType.Input:
            given = self.definition.args
            at = given.args.index(node.syntax)
            from_end = len(given.args) - at
            if from_end <= len(given.defaults):
                del given.defaults[-from_end]
            del given.args[at]

    def settle_static_branches(self) -> None:
        """Replace every `if` whose test needs no input by the branch that is taken."""
        for block in [b for b, _ in self._blocks()]:
            for node in [n for n in block if n.test is not None]:
                try:
                    code = compile(ast.fix_missing_locations(ast.Expression(node.test)), "<test>", "eval")
                    taken = bool(eval(code, self.namespace, {"self": self.network}))
                except _UNKNOWN:  # it depends on an input, or on something only a run knows
                    continue
                chosen = node.body if taken else (node.partner.body if node.partner else [])
                at = next(i for i, n in enumerate(block) if n is node)
                gone = {id(n) for n in (node, node.partner, *node.test_steps)}
                block[at:at] = chosen
                block[:] = [n for n in block if id(n) not in gone]

    # -- results, for which see writer.py ------------------------------------------------------------------------------
    @property
    def class_name(self) -> str:
        return f"{type(self.network).__name__}Opt"

    def trees(self) -> list[tuple[Statement, Tree]]:
        """The networks called and those in containers."""
        return [(n, n.subtree) for n in self.walk() if n.subtree is not None]


def _is_function_of(target: Any, expression: ast.expr) -> bool:
    """Whether a call calls a function of the user's by its name."""
    return isinstance(target, types.FunctionType) and isinstance(expression, ast.Name) and is_users(target)


def _each(block: list[Statement]) -> Iterator[Statement]:
    """The statements of a block and of what it encloses, in the order of the text."""
    for node in block:
        yield node
        yield from _each(node.body)


def _flow(block: list[Statement]) -> Iterator[Statement]:
    """The same without the cells of containers, which take no part in the variables."""
    return (n for n in _each(block) if n.container is None)


def written(block: list[Statement], calls: dict[int, ast.expr] | None = None) -> list[ast.stmt]:
    """The syntax of a block; control flow and its `else` become one statement again.

    `calls` says for some statements what they call instead of what their syntax says."""
    out: list[ast.stmt] = []
    done: set[int] = set()
    for node in block:
        if id(node) in done:
            continue
        if not isinstance(node.syntax, (ast.If, ast.For, ast.While)):
            out.append(_redirected(node.syntax, (calls or {}).get(id(node))))
            continue
        stmt = copy.copy(node.syntax)
        own, empty = written(node.body, calls), list[ast.stmt]([ast.Pass()])
        if node.is_else:  # the part before it has been erased
            stmt.body, stmt.orelse = empty, own
        else:
            present = node.partner is not None and any(n is node.partner for n in block)
            other = written(node.partner.body, calls) if present and node.partner else []
            stmt.body, stmt.orelse = own or empty, other
            done.add(id(node.partner))
        out.append(stmt)
    return out


def _redirected(stmt: Any, function: ast.expr | None) -> Any:
    """A statement that calls something else."""
    if function is None:
        return stmt
    stmt = copy.copy(stmt)
    stmt.value = copy.copy(stmt.value)
    stmt.value.func = function
    return stmt
