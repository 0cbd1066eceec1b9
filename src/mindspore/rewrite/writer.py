"""The classes of a rewritten network: their source, and the network made of them.

Every network of the family becomes a class derived from its own, which takes over the attributes of an instance of it:

    class NetOpt(Net, BaseOpt):
        def __init__(self, obj):
            nn.Cell.__init__(self)
            for key, value in obj.__dict__.items():
                setattr(self, key, value)
            self.block = BlockOpt(self.block)     # a network that is called
            self.act = obj.act                    # a cell that was inserted
            self.layers.insert(1, self.act_1)     # a change of a container

Networks and functions whose source has become the same share a class or function; the others are numbered. Each is compiled with the
names of the file it comes from, so that equal names of different files keep their meaning.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import linecache
import types
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellDict
from mindspore.rewrite.container import is_container, items
from mindspore.rewrite.flatten import Names
from mindspore.rewrite.source import (
    class_variables,
    definition_of,
    derives_from_cell,
    globals_of,
    import_lines,
    is_users,
    own_methods,
    users_bases,
)  # fmt: skip
from mindspore.rewrite.statement import Statement
from mindspore.rewrite.tree import Body, Tree, written
from mindspore.rewrite.values import NodeType

_FILES = itertools.count(1)
_INIT = """
def __init__(self, obj):
    nn.Cell.__init__(self)
    for key, value in obj.__dict__.items():
        setattr(self, key, value)
"""


class Writer:
    """The definitions of a tree and of all it calls, each after those it needs."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.taken = Names(set())
        #: name, source and the names it may use, in order
        self.definitions: list[tuple[str, str, dict[str, Any]]] = []
        self.bases: dict[type, str] = {}
        self.versions: dict[tuple[Any, str], str] = {}
        self.class_names: dict[int, str] = {}
        self.modules: dict[str, None] = {}
        #: calls of a cell whose other calls have come to do something else
        self.parted: set[int] = set()
        self._tree(tree)

    # -- definitions --------------------------------------------------------------------------------------------------
    def _define(self, origin: Any, wanted: str, make: Any, names: dict[str, Any]) -> str:
        """The name of a definition; one that says the same of the same thing is used again."""
        text = ast.unparse(ast.fix_missing_locations(make("?")))
        key = (origin, text)
        if key not in self.versions:
            name = self.versions[key] = self.taken.unique(wanted)
            source = ast.unparse(ast.fix_missing_locations(make(name))) + "\n"
            self.definitions.append((name, source, names))
        return self.versions[key]

    def _tree(self, tree: Tree) -> str:
        children = [(node, self._tree(sub)) for node, sub in tree.trees()]
        self.class_names |= {id(sub): name for (_, name), (_, sub) in zip(children, tree.trees())}
        bases = [self._base(base) for base in users_bases(type(tree.network))]
        calls, attributes = self._attributes(tree, children)
        functions = self._functions(tree, calls)
        self.modules |= dict.fromkeys(import_lines(type(tree.network)))
        left_alone = [n.instance for n in tree.walk() if isinstance(n.instance, types.FunctionType) and _is_unread(n)]
        for function in (*tree.new_functions.values(), *left_alone):
            self.modules[f"from {function.__module__} import {function.__name__}"] = None
        cls = type(tree.network)

        def make(name: str) -> ast.ClassDef:
            parents = [cls.__name__, *bases, *(["nn.Cell"] if derives_from_cell(cls) else [])]
            return _class(name, parents, [self._init(tree, attributes), *self._methods(tree, {**calls, **functions})])

        name = self._define(cls, tree.class_name, make, tree.namespace | {c.__name__: c for c in cls.__mro__})
        self.class_names[id(tree)] = name
        return name

    def _base(self, cls: type) -> str:
        """A class of the user's that a network is derived from; it holds nothing new."""
        if cls not in self.bases:
            parents = [cls.__name__, *map(self._base, users_bases(cls))]
            parents += ["nn.Cell"] if derives_from_cell(cls) else []
            make = lambda name: _class(name, parents, [ast.Pass()])
            self.bases[cls] = self._define(cls, f"{cls.__name__}Opt", make, {cls.__name__: cls})
        return self.bases[cls]

    def _attributes(self, tree: Tree, children: list[tuple[Statement, str]]) -> tuple[dict[int, ast.expr], list[str]]:
        """Lines that make the networks called, and what is called where one cell has become two."""
        calls: dict[int, ast.expr] = {}
        lines: list[str] = []
        first: dict[str, tuple[str, dict[str, Cell]]] = {}
        names = {id(node): name for node, name in children}
        lines += [f"{path} = {names[id(node)]}({path})" for path, node in tree.contained if id(node) in names]
        for node, name in children:
            if node.container is not None:
                continue
            path = ast.unparse(node.syntax.value.func)
            if first.setdefault(path, (name, node.subtree.new_cells)) != (name, node.subtree.new_cells):
                self.parted.add(id(node))
                calls[id(node)] = ast.Attribute(ast.Name("self", ast.Load()), node.name, ast.Load())
                path = f"self.{node.name}"
            source = "obj" + path[4:] if node.name in tree.new_cells else path
            lines.append(f"{path} = {name}({source})")
        return calls, lines

    @staticmethod
    def _init(tree: Tree, attributes: list[str]) -> ast.FunctionDef:
        init = ast.parse(_INIT).body[0]
        assert isinstance(init, ast.FunctionDef)
        lines = list(attributes)
        lines += [f"self.__class__.{v} = obj.__class__.{v}" for v in class_variables(type(tree.network))]
        made = {line.partition(" = ")[0] for line in lines}
        lines += [f"self.{name} = obj.{name}" for name in tree.new_cells if f"self.{name}" not in made]
        init.body += ast.parse("\n".join([*lines, *tree.container_edits])).body
        return init

    def _functions(self, tree: Tree, calls: dict[int, ast.expr]) -> dict[int, ast.expr]:
        """What calls of the user's functions call: their name, or that of a changed version."""
        found: dict[int, ast.expr] = {}
        bodies = [b for b in tree.bodies() if not b.is_method]
        for body in reversed(bodies):  # those that a function calls come behind it
            make = functools.partial(_function, body=body, calls={**calls, **found})
            name = self._define(body.origin, body.origin.__name__, make, globals_of(body.origin) | tree.new_functions)
            found |= {id(n): ast.Name(name, ast.Load()) for n in tree.walk() if n.function is body}
        return found

    @staticmethod
    def _methods(tree: Tree, calls: dict[int, ast.expr]) -> list[ast.stmt]:
        """construct, what the class defines itself, and what has been changed of the methods it inherits."""
        cls = type(tree.network)
        out: list[ast.stmt] = [_rewritten(tree.definition, tree.statements, calls)]
        for name, body in tree.methods.items():
            if name in vars(cls) or body.source(calls) != body.as_read:
                out.append(_rewritten(body.definition, body.statements, calls))
        for name, function in own_methods(cls).items():
            if name != "construct" and name not in tree.methods and not hasattr(function, "__wrapped__"):
                out.append(definition_of(f"'{name}'", function, cls)[0])
        return out

    # -- results ------------------------------------------------------------------------------------------------------
    def code(self) -> str:
        """The source of all definitions, behind the imports of the files they come from."""
        lines = ["import mindspore", "from mindspore import nn, ops", *self.modules]
        return "\n\n".join(["\n".join(dict.fromkeys(lines)) + "\n", *(source for _, source, _ in self.definitions)])

    def build(self) -> Cell:
        """The rewritten network. Its source is known to `inspect`, so it can be compiled like any other."""
        from mindspore import nn

        made: dict[str, Any] = {}
        for name, source, names in self.definitions:
            file = f"<rewritten {name} {next(_FILES)}>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)
            namespace = {**names, "nn": nn, **made}
            exec(compile(source, file, "exec"), namespace)
            made[name] = namespace[name]
        named = [(p, p.name) for p in self.tree.network.get_parameters()]
        network = made[self.class_names[id(self.tree)]](self._material(self.tree))
        for parameter, name in named:  # containers name by position what they are given
            parameter.name = name
        return network

    def _material(self, tree: Tree) -> Cell:
        """What a new network takes over: a copy of the old one that has the new cells, and copies in place of what changes."""
        copied = _shallow(tree.network)
        store = copied.__dict__
        for name, cell in tree.new_cells.items():
            (store["_cells"] if isinstance(cell, Cell) else store)[name] = cell
        for node in tree.walk():
            if node.container is not None:
                continue
            if node.kind is NodeType.CellContainer:
                attribute = ast.unparse(node.container_expression).removeprefix("self.")
                where = store["_cells"] if attribute in store["_cells"] else store
                if attribute in where:
                    where[attribute] = self._copied_container(node.instance, node.body)
            elif node.subtree is not None:
                attribute = ast.unparse(node.syntax.value.func).removeprefix("self.")
                attribute = node.name if id(node) in self.parted else attribute
                store["_cells"][attribute] = self._material(node.subtree)
        return copied

    def _copied_container(self, container: Any, nodes: list[Statement]) -> Any:
        """A container of its own, with the networks in it as material."""
        inside = {id(n.instance): n for n in nodes}

        def fresh(cell: Cell) -> Cell:
            node = inside.get(id(cell))
            if node is not None and node.subtree is not None:
                return self._material(node.subtree)
            return self._copied_container(cell, node.body if node else []) if is_container(cell) else cell

        if isinstance(container, (list, tuple)):
            return type(container)(fresh(c) for c in container)
        copied = _shallow(container)
        for place, cell in items(container):
            copied._cells[place if isinstance(container, CellDict) else str(place)] = fresh(cell)
        return copied


def _is_unread(node: Statement) -> bool:
    """Whether a function of the user's is called by name whose statements are not part of the tree."""
    return node.function is None and is_users(node.instance) and isinstance(node.syntax.value.func, ast.Name)


def _shallow(cell: Cell) -> Cell:
    """A cell with the same attributes, in dicts of its own."""
    copied = object.__new__(type(cell))
    for name, value in cell.__getstate__().items():  # without the graphs compiled for it
        copied.__dict__[name] = copy.copy(value) if isinstance(value, dict) else value
    return copied


def _class(name: str, parents: list[str], body: list[Any]) -> ast.ClassDef:
    bases = [ast.parse(p, mode="eval").body for p in parents]
    return ast.ClassDef(name, bases, [], body, [])


def _rewritten(definition: ast.FunctionDef, block: list[Statement], calls: dict[int, ast.expr]) -> ast.FunctionDef:
    new = copy.copy(definition)
    new.body = written(block, calls) or [ast.Pass()]
    return new


def _function(name: str, body: Body, calls: dict[int, ast.expr]) -> ast.FunctionDef:
    new = _rewritten(body.definition, body.statements, calls)
    new.name = name
    return new
