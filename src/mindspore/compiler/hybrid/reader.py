"""A Python function, for arguments of given shapes and types → its program of loops.

Understood are loops over `range`, `grid` and their kin, `if`, assignments to elements and to scalar variables, arithmetic, comparisons, and
functions of numbers; `output_tensor` and `allocate` make arrays. Shapes and names from around the function are numbers by then.
`Unreadable` says, with the line, what else there is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindspore.compiler.hybrid.program import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Op,
    Program,
    Statement,
    Store,
    Type,
    Var,
    named,
    plain,
    promote,
)

TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool_")
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "floormod", ast.Pow: "pow",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}
_UNARY = ("exp", "log", "tanh", "sqrt", "sin", "cos", "log1p")
_NUMPY: dict[Any, str] = {getattr(np, name): name for name in _UNARY}
_MATH: dict[Any, str] = {getattr(math, name): name for name in _UNARY}
_LOOPS = ("range", "serial", "parallel", "vectorize", "reduce", "unroll")


class Unreadable(Exception):
    """What stands in the function is not of the language."""


class _NotStatic(Exception):
    pass


def read(function: Callable[..., Any], arguments: Sequence[tuple[tuple[int, ...], str]], intrinsics: Mapping[str, Any]) -> Program:
    """The program of a function. `arguments` are (shape, type) of each; `intrinsics` the names that kernels know without importing."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise Unreadable("its source cannot be found") from None
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise Unreadable("it is no function written with def")
    types: dict[str, Type] = {}
    for _ in range(8):  # types of variables grow until they fit every assignment
        reader = _Reader(function, tree, first - 1, arguments, intrinsics, dict(types))
        found = reader.program()
        if reader.types == types:
            return found
        types = reader.types
    raise Unreadable("the types of its variables do not settle")


class _Reader:
    def __init__(
        self, function: Any, tree: ast.FunctionDef, offset: int, arguments: Sequence[tuple[tuple[int, ...], str]],
        intrinsics: Mapping[str, Any], types: dict[str, Type],
    ):  # fmt: skip
        self.function, self.tree, self.offset, self.intrinsics, self.types = function, tree, offset, intrinsics, types
        parameters = [a.arg for a in tree.args.args]
        if len(parameters) != len(arguments) or tree.args.vararg or tree.args.kwonlyargs:
            raise Unreadable(f"it takes {len(parameters)} arguments, but {len(arguments)} were given")
        self.arrays: dict[str, Array] = {}
        for name, (shape, dtype) in zip(parameters, arguments):
            if dtype not in TYPES or not shape:
                raise Unreadable(f"the argument '{name}' has the type {dtype} and the shape {shape}")
            self.arrays[name] = Array(name, dtype, tuple(shape), "input")
        self.loops: list[str] = []
        self.fixed: dict[str, Any] = {}
        counts: dict[str, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                counts[node.target.id] = 2
        plain_targets = [t for n in tree.body if isinstance(n, ast.Assign) for t in ast.walk(n.targets[0]) if isinstance(t, ast.Name)]
        self.once = {t.id for t in plain_targets if counts.get(t.id) == 1}
        self.results: tuple[str, ...] = ()
        self.known = dict(inspect.getclosurevars(function).nonlocals)

    def program(self) -> Program:
        body = self.block(self.tree.body)
        if not self.results:
            raise Unreadable("it returns nothing")
        return Program(self.function.__name__, self.arrays, dict(self.types), body, self.results)

    def fail(self, node: ast.AST, what: str) -> Unreadable:
        return Unreadable(f"line {getattr(node, 'lineno', 0) + self.offset}: {what}")

    # -- what is known while reading ----------------------------------------------------------------------------------
    def lookup(self, name: str) -> Any:
        for place in (self.fixed, self.known, self.intrinsics, self.function.__globals__, vars(builtins)):
            if name in place:
                return place[name]
        raise _NotStatic

    def static(self, node: ast.AST) -> Any:
        """The value of an expression that does not depend on elements or loops."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                if name in self.arrays or name in self.types or name in self.loops:
                    raise _NotStatic
                return self.lookup(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in self.arrays:
                array = self.arrays[name]
                known = {"shape": array.shape, "dtype": plain(Type(array.dtype)), "ndim": len(array.shape), "size": math.prod(array.shape)}
                if attr not in known:
                    raise self.fail(node, f"'{name}.{attr}'")
                return known[attr]
            case ast.Attribute(value=value, attr=attr):
                return getattr(self.static(value), attr)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(self.static(e) for e in elements)
            case ast.Subscript(value=value, slice=index):
                try:
                    return self.static(value)[self.static(index)]
                except (IndexError, KeyError, TypeError) as error:  # x.shape[1] of a vector
                    raise self.fail(node, f"'{ast.unparse(node)}' ({error})") from None
            case ast.BinOp(left=left, op=op, right=right):
                return self.static_binary(op, self.static(left), self.static(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.static(operand)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self.arrays:
                return self.arrays[name].shape[0]
        raise _NotStatic

    def static_binary(self, op: ast.operator, a: Any, b: Any) -> Any:
        match op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return a / b
            case ast.FloorDiv():
                return a // b
            case ast.Mod():
                return a % b
            case ast.Pow():
                return a**b
        raise _NotStatic

    # -- statements ---------------------------------------------------------------------------------------------------
    def block(self, body: list[ast.stmt]) -> tuple[Statement, ...]:
        return tuple(made for node in body for made in self.statement(node))

    def statement(self, node: ast.stmt) -> Sequence[Statement]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return ()
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                before = self.expr(_as_load(target))
                return self.put(target, self.binary(node, op, before, self.expr(value)))
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                return (self.loop(node, target, over, body),)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Name(id="block_realize")))], body=body):
                return self.block(body)
            case ast.If(test=test, body=body, orelse=other):
                return (If(self.truth(test), self.block(body), self.block(other)),)
            case ast.Return(value=value) if node is self.tree.body[-1]:
                returned = value.elts if isinstance(value, ast.Tuple) else [value]
                if not all(isinstance(r, ast.Name) and self.arrays.get(r.id, Array("", "", (), "input")).kind == "made" for r in returned):
                    raise self.fail(node, "only arrays of output_tensor or allocate can be returned")
                self.results = tuple(r.id for r in returned)  # type: ignore[union-attr]
                return ()
        raise self.fail(node, f"the statement '{ast.unparse(node).splitlines()[0]}'")

    def assign(self, target: ast.expr, value: ast.expr) -> Sequence[Statement]:
        if isinstance(target, ast.Name) and self.new_array(target.id, value):
            return ()
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        if not self.loops and all(isinstance(t, ast.Name) and t.id in self.once for t in targets):
            try:
                found = self.static(value)
                self.fixed.update(zip((t.id for t in targets), found if isinstance(target, ast.Tuple) else (found,), strict=True))  # type: ignore[attr-defined]
                return ()
            except _NotStatic:
                pass
            except ValueError:
                raise self.fail(target, f"an assignment to '{ast.unparse(target)}'") from None
        return self.put(target, self.expr(value))

    def new_array(self, name: str, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Name(id="output_tensor" | "allocate"), args=[shape, dtype]):
                if self.loops:
                    raise self.fail(value, "arrays are made outside of loops")
                try:
                    extents, kind = self.static(shape), named(np.dtype(self.static(dtype)))
                except (_NotStatic, TypeError):
                    raise self.fail(value, "shape and type of an array must be known") from None
                extents = (extents,) if isinstance(extents, int) else tuple(int(e) for e in extents)
                if kind not in TYPES or not extents:
                    raise self.fail(value, f"an array of the type {kind} and the shape {extents}")
                self.arrays[name] = Array(name, kind, extents, "made")
                return True
        return False

    def put(self, target: ast.expr, value: Expr) -> Sequence[Statement]:
        if isinstance(target, ast.Name):
            if target.id in self.arrays or target.id in self.loops:
                raise self.fail(target, f"'{target.id}' is an array or a loop's variable and cannot be assigned")
            before = self.types.get(target.id)
            self.types[target.id] = value.type if before is None else promote(before, value.type)
            return (Let(target.id, cast(value, self.types[target.id])),)
        if isinstance(target, ast.Subscript):
            place = self.load(target)
            if self.arrays[place.array].kind == "input":
                raise self.fail(target, f"the argument '{place.array}' cannot be written to")
            return (Store(place.array, place.index, cast(value, place.type), place.line),)
        raise self.fail(target, f"an assignment to '{ast.unparse(target)}'")

    def loop(self, node: ast.For, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> Statement:
        if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name):
            raise self.fail(node, f"a loop over '{ast.unparse(over)}'")
        if over.func.id == "grid" and isinstance(target, ast.Tuple) and len(over.args) == 1:
            given = over.args[0]
            ranges = [[e] for e in given.elts] if isinstance(given, ast.Tuple) else [[ast.Constant(n)] for n in self.static(given)]
            variables = target.elts
        elif over.func.id in _LOOPS and isinstance(target, ast.Name) and not over.keywords:
            ranges, variables = [over.args], [target]
        else:
            raise self.fail(node, f"a loop over '{ast.unparse(over)}'")
        return self.nest(node, list(variables), ranges, body)

    def nest(self, node: ast.For, variables: list[Any], ranges: list[Any], body: list[ast.stmt]) -> Statement:
        bounds = [self.expr(b) for b in ranges[0]]
        low, high = (Const(0, INT), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2].value if len(bounds) == 3 and isinstance(bounds[2], Const) else 1
        fixed = len(bounds) < 3 or (len(bounds) == 3 and isinstance(bounds[2], Const))
        if not fixed or not step or low.type.is_float or high.type.is_float:
            raise self.fail(node, f"the range of '{ast.unparse(node.target)}'")
        name = variables[0].id
        if name in self.arrays or name in self.types or name in self.loops:
            raise self.fail(node, f"'{name}' is used for something else, too")
        self.loops.append(name)
        inner = self.block(body) if len(variables) == 1 else (self.nest(node, variables[1:], ranges[1:], body),)
        self.loops.pop()
        return For(name, low, high, int(step), inner)

    # -- expressions --------------------------------------------------------------------------------------------------
    def expr(self, node: ast.expr) -> Expr:
        try:
            return self.constant(node, self.static(node))
        except _NotStatic:
            pass
        match node:
            case ast.Name(id=name) if name in self.loops:
                return Var(name, INT)
            case ast.Name(id=name) if name in self.types:
                return Var(name, self.types[name])
            case ast.Subscript():
                return self.load(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, op, self.expr(left), self.expr(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.expr(operand)
                return Op("neg", (value,), value.type)
            case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp():
                return self.truth(node)
            case ast.IfExp(test=test, body=yes, orelse=no):
                a, b = self.expr(yes), self.expr(no)
                kind = promote(a.type, b.type)
                return Op("select", (self.truth(test), cast(a, kind), cast(b, kind)), kind)
            case ast.Call(func=func, args=args, keywords=[]):
                return self.call(node, func, [self.expr(a) for a in args])
        raise self.fail(node, f"the expression '{ast.unparse(node)}'")

    def constant(self, node: ast.expr, value: Any) -> Const:
        if isinstance(value, (bool, np.bool_)):
            return Const(bool(value), BOOL)
        if isinstance(value, int):
            return Const(value, INT)
        if isinstance(value, float) and not isinstance(value, np.generic):
            return Const(value, FLOAT)
        if isinstance(value, np.generic) and named(value.dtype) in TYPES:
            return Const(value.item(), Type(named(value.dtype)))
        raise self.fail(node, f"the value of '{ast.unparse(node)}'")

    def load(self, node: ast.Subscript) -> Load:
        if not isinstance(node.value, ast.Name) or node.value.id not in self.arrays:
            raise self.fail(node, f"'{ast.unparse(node)}'")
        array = self.arrays[node.value.id]
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(given) != len(array.shape):
            raise self.fail(node, f"'{ast.unparse(node)}' has {len(given)} indices, and '{array.name}' {len(array.shape)} dimensions")
        index = tuple(self.expr(i) for i in given)
        if any(i.type.is_float or i.type == BOOL for i in index):
            raise self.fail(node, f"an index of '{ast.unparse(node)}' is no whole number")
        return Load(array.name, tuple(cast(i, INT) for i in index), Type(array.dtype), node.lineno + self.offset)

    def binary(self, node: ast.AST, op: ast.operator, a: Expr, b: Expr) -> Expr:
        name = _BINARY.get(type(op))
        if name is None:
            raise self.fail(node, "this operator")
        kind = promote(a.type, b.type)
        if kind == BOOL:
            raise self.fail(node, "arithmetic with truth values")
        line = getattr(node, "lineno", 0) + self.offset
        if name == "div" and not kind.is_float:
            kind = FLOAT if kind.weak else Type("float64")
        if name == "pow":
            if isinstance(b, Const) and b.value == 2:
                return Op("mul", (cast(a, kind), cast(a, kind)), kind, line)
            if not kind.is_float:
                raise self.fail(node, "a power of whole numbers")
        return Op(name, (cast(a, kind), cast(b, kind)), kind, line)

    def truth(self, node: ast.expr) -> Expr:
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                terms, before = [], self.expr(left)
                for op, other in zip(operators, map(self.expr, others)):
                    name = _COMPARE.get(type(op))
                    if name is None:
                        raise self.fail(node, f"the comparison '{ast.unparse(node)}'")
                    kind = promote(before.type, other.type)
                    terms.append(Op(name, (cast(before, kind), cast(other, kind)), BOOL))
                    before = other
                return _all("and_", terms)
            case ast.BoolOp(op=op, values=values):
                return _all("and_" if isinstance(op, ast.And) else "or_", [self.truth(v) for v in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Op("not_", (self.truth(operand),), BOOL)
        found = self.expr(node)
        if found.type != BOOL:
            return Op("ne", (found, cast(Const(0, INT), found.type)), BOOL)
        return found

    def call(self, node: ast.Call, func: ast.expr, args: list[Expr]) -> Expr:
        try:
            target = self.static(func)
        except _NotStatic:
            raise self.fail(node, f"a call of '{ast.unparse(func)}'") from None
        if target in _MATH and len(args) == 1:
            return Op(_MATH[target], (cast(args[0], FLOAT),), FLOAT)
        if target in _NUMPY and len(args) == 1:
            kind = args[0].type if args[0].type.is_float and not args[0].type.weak else Type("float64")
            return Op(_NUMPY[target], (cast(args[0], kind),), kind)
        if target in (builtins.max, builtins.min) and len(args) >= 2:
            return self.extreme("gt" if target is builtins.max else "lt", args)
        if target in (np.maximum, np.minimum) and len(args) == 2:
            kind = promote(args[0].type, args[1].type)
            return Op("max" if target is np.maximum else "min", tuple(cast(a, kind) for a in args), kind)
        if target in (builtins.abs, np.abs) and len(args) == 1:
            return Op("abs", (args[0],), args[0].type)
        if target in (builtins.float, builtins.int) and len(args) == 1:
            return cast(args[0], FLOAT if target is builtins.float else INT)
        if target is np.power and len(args) == 2:
            return self.binary(node, ast.Pow(), args[0], args[1])
        if isinstance(target, type) and issubclass(target, np.generic) and len(args) == 1 and named(np.dtype(target)) in TYPES:
            return cast(args[0], Type(named(np.dtype(target))))
        raise self.fail(node, f"a call of '{ast.unparse(func)}'")

    def extreme(self, test: str, args: list[Expr]) -> Expr:
        """Python's own max and min: a later one wins only if it is really larger or smaller."""
        best = args[0]
        for other in args[1:]:
            kind = promote(best.type, other.type)
            best, other = cast(best, kind), cast(other, kind)
            best = Op("select", (Op(test, (other, best), BOOL), other, best), kind)
        return best


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def _all(name: str, terms: list[Any]) -> Expr:
    found = terms[0]
    for term in terms[1:]:
        found = Op(name, (found, term), BOOL)
    return found


def cast(value: Expr, kind: Type) -> Expr:
    """A value as another type; numbers of the source change at once."""
    if value.type == kind:
        return value
    if isinstance(value, Const) and (kind.is_float or not value.type.is_float):
        return Const(plain(kind).type(value.value).item(), kind)
    return Op("cast", (value,), kind)
