"""The statements of a network, read from the source of its construct and written back as a new class."""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import linecache
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellDict, CellList, SequentialCell
from mindspore.prims.primitive import Primitive
from mindspore.rewrite.flatten import Flattener, Names
from mindspore.rewrite.statement import Statement, describe
from mindspore.rewrite.values import NodeType

_FILES = itertools.count(1)
#: what an expression raises that needs more than the network
_UNKNOWN = (AttributeError, LookupError, NameError, TypeError, ValueError)
_INIT = """
def __init__(self, obj):
    nn.Cell.__init__(self)
    for key, value in obj.__dict__.items():
        setattr(self, key, value)
"""


def _definition_of(owner: str, function: Any) -> tuple[ast.FunctionDef, Any]:
    """The syntax of a function, without decorators and docstring, and the function itself."""
    function = inspect.unwrap(function)
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise RuntimeError(f"For 'SymbolTree', the source of {owner} cannot be read.") from error
    definition = ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise RuntimeError(f"For 'SymbolTree', {owner} is not a function definition.")
    definition.decorator_list = []
    first = definition.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        definition.body = definition.body[1:] or [ast.Pass()]
    return definition, function


@dataclass(eq=False)
class Method:
    """A method of the network that its construct calls: variables of its own, and statements."""

    definition: ast.FunctionDef
    statements: list[Statement] = field(default_factory=list)


class Tree:
    """A network as statements."""

    def __init__(self, network: Cell):
        self.network = network
        self.definition, function = _definition_of(f"{type(network).__name__}.construct", type(network).construct)
        self.namespace = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        self.variables = Names({n.id for n in ast.walk(self.definition) if isinstance(n, ast.Name)})
        self.names = Names(set())
        self.new_cells: dict[str, Cell] = {}
        self.methods: dict[str, Method] = {}
        self.inputs = [self._input(a) for a in self._arguments()]
        flattener = Flattener(self.variables)
        self.statements = self._read(self.definition.body, flattener)
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
    def _arguments(self) -> list[ast.arg]:
        given = self.definition.args
        extra = [a for a in (given.vararg, given.kwarg) if a is not None]
        return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra][1:]

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
                word = "for_node" if isinstance(last, ast.For) else "while_node"
                node = Statement(NodeType.ControlFlow, last, self.names.unique(word), tree=self)
                node.body = self._read(last.body, flattener)
                out.append(node)
            else:
                out.append(self._statement(last))
        return out

    def _read_if(self, stmt: ast.If, test: Any, steps: list[Statement], flattener: Flattener) -> list[Statement]:
        first = Statement(
            NodeType.ControlFlow, stmt, self.names.unique("if_node"), tree=self, test=test, test_steps=steps
        )
        first.body = self._read(stmt.body, flattener)
        if not stmt.orelse:
            return [first]
        second = Statement(NodeType.ControlFlow, stmt, self.names.unique("else_node"), tree=self, partner=first)
        second.body = self._read(stmt.orelse, flattener)
        first.partner = second
        return [first, second]

    def _statement(self, stmt: ast.stmt) -> Statement:
        kind, name = describe(stmt)
        node = Statement(kind, stmt, tree=self)
        if kind is NodeType.CallFunction:
            node.kind, node.instance, node.subtree = self._called(stmt.value.func)  # type: ignore[attr-defined]
        node.name = self.names.unique(name)
        if isinstance(node.instance, types.MethodType) and node.instance.__self__ is self.network:
            node.method = self._method(node.instance)
        return node

    def _method(self, method: Any) -> Method | None:
        """The statements of a method of the user's, read once however often it is called."""
        name = method.__name__
        if name not in self.methods and not method.__func__.__module__.startswith("mindspore."):
            try:
                definition, function = _definition_of(f"{type(self.network).__name__}.{name}", method.__func__)
            except RuntimeError:
                return None
            self.methods[name] = Method(definition)
            self.namespace = {**inspect.getclosurevars(function).nonlocals, **function.__globals__, **self.namespace}
            names = Names({n.id for n in ast.walk(definition) if isinstance(n, ast.Name)})
            self.methods[name].statements = self._read(definition.body, Flattener(names))
        return self.methods.get(name)

    def _called(self, function: ast.expr) -> tuple[NodeType, Any, Tree | None]:
        """What a call calls."""
        try:
            target = eval(
                compile(ast.Expression(function), "<construct>", "eval"), self.namespace, {"self": self.network}
            )
        except _UNKNOWN:  # a method of a tensor, or something only a run knows
            return NodeType.CallFunction, None, None
        if isinstance(target, (SequentialCell, CellList, CellDict)):
            return NodeType.CellContainer, target, None
        if isinstance(target, Cell):
            if type(target).__module__.startswith("mindspore."):
                return NodeType.CallCell, target, None
            try:
                return NodeType.Tree, target, type(self)(target)
            except RuntimeError:
                return NodeType.CallCell, target, None
        if isinstance(target, Primitive):
            return NodeType.CallPrimitive, target, None
        return NodeType.CallFunction, target, None

    # -- looking ------------------------------------------------------------------------------------------------------
    def walk(self, into_trees: bool = False) -> Iterator[Statement]:
        """All statements in the order of the text, inside control flow too; then those of the methods called."""
        yield from self.inputs
        for block in (self.statements, *(m.statements for m in self.methods.values())):
            for node in _each(block):
                yield node
                if into_trees and node.subtree is not None:
                    yield from node.subtree.walk(True)

    def block_of(self, node: Statement) -> list[Statement]:
        """The list a statement stands in."""
        blocks = (m.statements for m in self.methods.values())
        for block in (self.inputs, self.statements, *blocks, *(n.body for n in self.walk())):
            if any(n is node for n in block):
                return block
        raise ValueError(f"node '{node.name}' is not part of this SymbolTree.")

    def edges(self) -> list[tuple[Statement, int, Statement, int]]:
        """(giver, which of its targets, taker, which of its arguments), each variable taken from where it was set last."""
        found = self._edges_within([*self.inputs, *_each(self.statements)])
        for method in self.methods.values():
            found += self._edges_within(list(_each(method.statements)))
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
        if node.kind is NodeType.Input:
            if place.kind is not NodeType.Input:
                raise RuntimeError("For 'insert', an input must be put beside another input.")
            block = self.inputs
        elif place.kind is NodeType.Input:
            if before:
                raise RuntimeError("For 'insert', only inputs can be put before an input.")
            node = self._adopt(node)
            self.statements.insert(0, node)
            self._write_back()
            return node
        else:
            block = self.block_of(place)
        at = next(i for i, n in enumerate(block) if n is place) + (0 if before else 1)
        node = self._adopt(node)
        block.insert(at, node)
        self._write_back()
        return node

    def _write_back(self) -> None:
        """Keep the syntax tree of construct like the statements."""
        self.definition.body[:] = _written(self.statements) or [ast.Pass()]

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
            word = Names(set(self.namespace)).unique(node.name)
            self.namespace[word] = node.instance
            node.syntax.value.func = ast.Name(word, ast.Load())
        else:
            while hasattr(self.network, node.name) or node.name in self.new_cells:
                node.name = self.names.unique(node.name)
            self.new_cells[node.name] = node.instance
            node.syntax.value.func = ast.Attribute(ast.Name("self", ast.Load()), node.name, ast.Load())
        self.variables.taken |= {t.id for t in node.targets() if isinstance(t, ast.Name)}
        return node

    def erase(self, node: Statement) -> None:
        block = self.block_of(node)
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
        methods = [m.statements for m in self.methods.values()]
        for block in [self.statements, *methods, *(n.body for n in self.walk())]:
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

    # -- writing ------------------------------------------------------------------------------------------------------
    @property
    def class_name(self) -> str:
        return f"{type(self.network).__name__}Opt"

    def trees(self) -> list[tuple[Statement, Tree]]:
        """The networks called, those they call first."""
        return [(n, n.subtree) for n in self.walk() if n.subtree is not None]

    def class_definition(self, names: dict[int, str]) -> ast.ClassDef:
        """The class of the rewritten network; `names` holds the class name of every tree."""
        init = ast.parse(_INIT).body[0]
        assert isinstance(init, ast.FunctionDef)
        for node, tree in self.trees():
            attribute = ast.unparse(node.syntax.value.func)
            init.body += ast.parse(f"{attribute} = {names[id(tree)]}({attribute})").body
        methods: list[ast.stmt] = [init]
        for definition, block in (
            *((m.definition, m.statements) for m in self.methods.values()), (self.definition, self.statements),
        ):  # fmt: skip
            method = copy.copy(definition)
            method.body = _written(block) or [ast.Pass()]
            methods.append(method)
        bases = [ast.Name(type(self.network).__name__, ast.Load()), ast.parse("nn.Cell", mode="eval").body]
        return ast.ClassDef(names[id(self)], bases, [], methods, [])

    def _family(self) -> tuple[list[Tree], dict[int, str]]:
        """This tree and all below, the deepest first, and a class name for each."""
        members, names, taken = list[Tree](), dict[int, str](), Names(set())

        def visit(tree: Tree) -> None:
            for _, child in tree.trees():
                visit(child)
            members.append(tree)
            names[id(tree)] = taken.unique(tree.class_name)

        visit(self)
        return members, names

    def code(self) -> str:
        """The source of the rewritten network and of the networks it calls."""
        members, names = self._family()
        lines = ["import mindspore", "from mindspore import nn, ops", *_imports(self.network)]
        parts = ["\n".join(dict.fromkeys(lines))]
        parts += [ast.unparse(ast.fix_missing_locations(t.class_definition(names))) for t in members]
        return "\n\n\n".join(parts) + "\n"

    def build(self) -> Cell:
        """The rewritten network. Its source is known to `inspect`, so it can be compiled like any other."""
        from mindspore import nn

        members, names = self._family()
        namespace: dict[str, Any] = {}
        for tree in members:
            namespace |= tree.namespace | {type(tree.network).__name__: type(tree.network)}
        namespace["nn"] = nn
        for tree in members:
            source = ast.unparse(ast.fix_missing_locations(tree.class_definition(names))) + "\n"
            file = f"<rewritten {names[id(tree)]} {next(_FILES)}>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)
            exec(compile(source, file, "exec"), namespace)
        return namespace[names[id(self)]](self._parts())

    def _parts(self) -> Any:
        """What the new network takes over: the old one's attributes and the new cells, in dicts of its own."""
        parts = _Parts()
        for name, value in self.network.__dict__.items():
            parts.__dict__[name] = copy.copy(value) if isinstance(value, dict) else value
        for name, cell in self.new_cells.items():
            parts.__dict__["_cells"][name] = cell
        for node, tree in self.trees():
            name = node.syntax.value.func.attr
            parts.__dict__["_cells"][name] = tree._parts()
        return parts


def _each(block: list[Statement]) -> Iterator[Statement]:
    """The statements of a block and of the control flow in it, in the order of the text."""
    for node in block:
        yield node
        yield from _each(node.body)


class _Parts:
    """A bare object with attributes."""


def _written(block: list[Statement]) -> list[ast.stmt]:
    """The syntax of a block; the two halves of an `if` become one statement again."""
    out: list[ast.stmt] = []
    done: set[int] = set()
    for node in block:
        if id(node) in done:
            continue
        if not isinstance(node.syntax, (ast.If, ast.For, ast.While)):
            out.append(node.syntax)
            continue
        stmt = copy.copy(node.syntax)
        if isinstance(stmt, ast.If):
            is_else = node.partner is not None and node.test is None
            present = node.partner is not None and any(n is node.partner for n in block)
            other = _written(node.partner.body) if present and node.partner else []
            own = _written(node.body)
            empty: list[ast.stmt] = [ast.Pass()]
            stmt.body, stmt.orelse = (empty, own) if is_else else (own or empty, other)
            done.add(id(node.partner))
        else:
            stmt.body = _written(node.body) or [ast.Pass()]
        out.append(stmt)
    return out


def _imports(network: Cell) -> list[str]:
    """The import lines of the file that defines the network."""
    try:
        tree = ast.parse(inspect.getsource(inspect.getmodule(type(network))))  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError):
        return []
    return [ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
