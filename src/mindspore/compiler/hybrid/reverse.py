"""The gradient of a program of loops, as a program: first the program itself, then its statements backwards.

It is made where values are still there when they are needed again. Scalar variables become arrays over the loops around them; an array
that is overwritten gets a new version for each statement that does so; sums (`s = s + e`) and extremes (`s = max(s, e)`) are understood
as such. What then remains of dependences between iterations cannot be undone without storing every step: `NotDifferentiable` says
where. The adjoint of x is `d_x`; loops keep their direction, since their iterations do not depend on one another.
"""

from __future__ import annotations

import dataclasses

from mindspore.compiler.hybrid import bounds
from mindspore.compiler.hybrid.dependence import accesses, assigned, covers, gathering, loops_in, paths, separates
from mindspore.compiler.hybrid.program import (
    BOOL,
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
    expressions,
    rebuilt,
    statements,
    walk,
)


class NotDifferentiable(Exception):
    """Why a program has no gradient."""


def gradient(program: Program) -> Program:
    """Arguments: those of the program, then the sensitivity of each result. Results: the sensitivity of each floating-point argument."""
    flat = _with_versions(_without_variables(program))
    _check(flat)
    return _Reverse(flat).program()


# -- variables become arrays -------------------------------------------------------------------------------------------
def _without_variables(program: Program) -> Program:
    """Every variable is an array over the loops that contain all places where it stands."""
    shared: dict[str, tuple[For, ...]] = {}
    for statement, around in paths(program.body):
        used = {e.name for x in expressions(statement) for e in walk(x) if isinstance(e, Var)}
        if isinstance(statement, Let):
            used.add(statement.name)
        for name in used & set(program.variables):
            before = shared.get(name, around)
            count = next((i for i, (a, b) in enumerate(zip(before, around)) if a is not b), min(len(before), len(around)))
            shared[name] = before[:count]
    arrays, places = dict(program.arrays), {}
    for name, loops in shared.items():
        known: dict[str, bounds.Interval] = {}
        shape, index = [1], [Const(0, INT)]
        for loop in loops:
            low, high = known[loop.var] = bounds.of_loop(loop, known)
            if not (abs(low) < 1e9 and abs(high) < 1e9):
                raise NotDifferentiable(f"the range of '{loop.var}' is not known beforehand")
            shape.append(int(high - low) + 1)
            index.append(Op("sub", (Var(loop.var, INT), Const(int(low), INT)), INT))  # type: ignore[arg-type]
        fresh = f"{name} of loops"
        arrays[fresh] = Array(fresh, program.variables[name].name, tuple(shape), "made")
        places[name] = (fresh, tuple(index))

    def load(expr: Expr) -> Expr | None:
        return Load(*places[expr.name], expr.type) if isinstance(expr, Var) and expr.name in places else None  # type: ignore[arg-type]

    def change(statement: Statement) -> Statement:
        match statement:
            case Let(name=name, value=value):
                return Store(*places[name], rebuilt(value, load))  # type: ignore[arg-type]
            case Store(index=index, value=value):
                return dataclasses.replace(statement, index=tuple(rebuilt(i, load) for i in index), value=rebuilt(value, load))
            case For(low=low, high=high, body=body):
                return dataclasses.replace(statement, low=rebuilt(low, load), high=rebuilt(high, load), body=tuple(map(change, body)))
            case If(condition=condition, then=then, other=other):
                return If(rebuilt(condition, load), tuple(map(change, then)), tuple(map(change, other)))

    return dataclasses.replace(program, arrays=arrays, variables={}, body=tuple(map(change, program.body)))


# -- versions ----------------------------------------------------------------------------------------------------------
def _gathers(store: Store) -> str | None:
    """Whether a store adds to its element or takes an extreme with it: "add", "gt", "lt"."""
    own = Load(store.array, store.index, store.value.type)
    as_variable = rebuilt(store.value, lambda e: Var("own", e.type) if e == own else None)
    return gathering(Let("own", as_variable))


def _with_versions(program: Program) -> Program:
    """A new array for each store that overwrites what may have been read, or what an earlier statement left; it begins as a copy.

    Copies are made before the outermost loop. Within it a store can therefore begin a version only if it writes all of the array, or if it
    is the first; several stores into parts of an array, such as those of an `if` and its `else`, share a version, and then nothing may
    have read it before the last of them.
    """
    arrays = dict(program.arrays)
    now: dict[str, str] = {}
    known: dict[str, list[tuple[Expr, ...]]] = {}  # where versions were read
    stored: set[str] = set()  # arrays that the outermost statement at hand has stored to
    copies: list[tuple[str, str]] = []

    def read(expr: Expr) -> Expr | None:
        if isinstance(expr, Load) and expr.array in now:
            return dataclasses.replace(expr, array=now[expr.array], index=tuple(rebuilt(i, read) for i in expr.index))
        return None

    def note(values: tuple[Expr, ...], but: Expr | None = None) -> None:
        for expr in (e for value in values for e in walk(value)):
            if isinstance(expr, Load) and expr != but:
                known.setdefault(now.get(expr.array, expr.array), []).append(expr.index)

    def overwrite(top: Statement, store: Store) -> None:
        array, before = store.array, now.get(store.array, store.array)
        begins = array not in stored or covers(top, arrays[array], store)
        lost = not all(_elsewhere(store.index, index) for index in known.get(before, ()))
        if lost and not begins:
            raise NotDifferentiable(f"'{array.partition(' ')[0]}' is read and then overwritten in one loop")
        if begins and (array in now or lost):
            now[array] = f"{array} {len(arrays)}"
            arrays[now[array]] = dataclasses.replace(arrays[array], name=now[array])
            copies.append((before, now[array]))
        stored.add(array)

    def change(statement: Statement, top: Statement) -> Statement:
        match statement:
            case Store(array=array, index=index, value=value):
                kind = _gathers(statement)
                note((*index, value), Load(array, index, value.type) if kind == "add" else None)
                index, value = tuple(rebuilt(i, read) for i in index), rebuilt(value, read)
                if kind is None:
                    overwrite(top, statement)
                return dataclasses.replace(statement, array=now.setdefault(array, array), index=index, value=value)
            case For(low=low, high=high, body=body):
                note((low, high))
                low, high = rebuilt(low, read), rebuilt(high, read)
                return dataclasses.replace(statement, low=low, high=high, body=tuple(change(s, top) for s in body))
            case If(condition=condition, then=then, other=other):
                note((condition,))
                condition = rebuilt(condition, read)
                return If(condition, tuple(change(s, top) for s in then), tuple(change(s, top) for s in other))
        return statement

    body: list[Statement] = []
    for statement in program.body:
        copies.clear()
        stored.clear()
        made = change(statement, statement)
        body += [_copied(arrays[before], arrays[after]) for before, after in copies if not covers(made, arrays[after])]
        body.append(made)
    results = tuple(now.get(r, r) for r in program.results)
    return dataclasses.replace(program, arrays=arrays, body=tuple(body), results=results)


def _elsewhere(first: tuple[Expr, ...], second: tuple[Expr, ...]) -> bool:
    """Whether two indices are surely different elements of one iteration: other numbers in a dimension."""
    return any(isinstance(a, Const) and isinstance(b, Const) and (a.value < 0) == (b.value < 0) and a != b for a, b in zip(first, second))


def _copied(before: Array, after: Array) -> Statement:
    index = tuple(Var(f"copy {n}", INT) for n in range(len(before.shape)))
    body: Statement = Store(after.name, index, Load(before.name, index, Type(before.dtype)))
    for n in range(len(index) - 1, -1, -1):
        body = For(f"copy {n}", Const(0, INT), Const(before.shape[n], INT), 1, (body,))
    return body


def _check(program: Program) -> None:
    """No loop may carry anything but sums and extremes from one iteration to the next."""
    for statement in statements(program.body):
        if not isinstance(statement, For):
            continue
        stores = [s for s in statements(statement.body) if isinstance(s, Store)]
        plain = {s.array for s in stores if _gathers(s) is None}
        summed = {s.array for s in stores} - plain
        found = list(accesses(statement.body))
        changing = assigned(statement.body) | loops_in(statement.body)
        own = {(s.array, s.index) for s in stores if s.array in summed}
        for array in plain | summed:
            every = [(array, index) for name, index, _ in found if name == array]
            apart = any(separates({i[d] for _, i in every}, statement.var, changing) for d in range(len(every[0][1])))
            only_sums = array in summed and all(access in own for access in every) and len(own & set(every)) == len(set(every))
            if not apart and not (only_sums and _reads_itself_only(statement, array)):
                name = array.partition(" ")[0]
                raise NotDifferentiable(f"iterations over '{statement.var}' depend on one another through '{name}'")


def _reads_itself_only(loop: For, array: str) -> bool:
    """Whether an array is read in a loop only by the statements that gather into it."""
    for statement in statements(loop.body):
        reads = sum(isinstance(e, Load) and e.array == array for x in expressions(statement) for e in walk(x))
        allowed = 0
        if isinstance(statement, Store) and statement.array == array:
            allowed = 1 if _gathers(statement) == "add" else 2
        if reads > allowed:
            return False
    return True


# -- backwards ---------------------------------------------------------------------------------------------------------
class _Reverse:
    def __init__(self, program: Program):
        self.p = program
        self.variables: dict[str, Type] = {}

    def program(self) -> Program:
        p = self.p
        arrays = {a.name: a for a in p.inputs}
        for result in p.results:
            name = f"given {result}"
            arrays[name] = dataclasses.replace(p.arrays[result], name=name, kind="input")
        arrays |= {a.name: a for a in p.made}
        arrays |= {f"d_{a.name}": dataclasses.replace(a, name=f"d_{a.name}", kind="made") for a in p.arrays.values() if _differs(a)}
        begin = tuple(_copied(arrays[f"given {r}"], arrays[f"d_{r}"]) for r in p.results if _differs(p.arrays[r]))
        body = (*p.body, *begin, *self.block(p.body))
        results = tuple(f"d_{a.name}" for a in p.inputs if _differs(a))
        return Program(f"gradient of {p.name}", arrays, self.variables, body, results)

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(made for statement in reversed(body) for made in self.statement(statement))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case For(body=body):
                inner = self.block(body)
                return [dataclasses.replace(statement, body=inner)] if inner else []
            case If(condition=condition, then=then, other=other):
                first, second = self.block(then), self.block(other)
                return [If(condition, first, second)] if first or second else []
            case Store(array=array, index=index, value=value):
                if not _differs(self.p.arrays[array]):
                    return []
                return self.store(f"d_{array}", array, index, value, _gathers(statement))
        return []

    def store(self, adjoint: str, array: str, index: tuple[Expr, ...], value: Expr, gathers: str | None) -> list[Statement]:
        own, place = Load(array, index, value.type), Load(adjoint, index, value.type)
        out: list[Statement] = []
        zero = Store(adjoint, index, Const(0.0, value.type))
        if gathers == "add":
            assert isinstance(value, Op)
            self.spread(next(a for a in value.args if a != own), place, out)
            return out
        if gathers:  # the element that is the extreme gets it all
            assert isinstance(value, Op)
            other = next(a for a in value.args[1:] if a != own)
            self.spread(other, place, out)
            return [If(Op("eq", (other, own), BOOL), (*out, zero), ())]
        before = self.temporary(place, out)
        out.append(zero)
        self.spread(value, before, out)
        return out

    def temporary(self, value: Expr, out: list[Statement]) -> Expr:
        if isinstance(value, (Const, Var)):
            return value
        name = f"t{len(self.variables)}"
        self.variables[name] = value.type
        out.append(Let(name, value))
        return Var(name, value.type)

    def spread(self, expr: Expr, given: Expr, out: list[Statement]) -> None:
        """Add what a sensitivity of an expression means for everything in it."""
        if not expr.type.is_float or not any(isinstance(e, Load) and _differs(self.p.arrays[e.array]) for e in walk(expr)):
            return
        if isinstance(expr, Load):
            place = f"d_{expr.array}"
            out.append(Store(place, expr.index, Op("add", (Load(place, expr.index, expr.type), given), expr.type)))
        elif isinstance(expr, Op):
            given = self.temporary(given, out)
            for argument, share in _shares(expr, given):
                self.spread(argument, share, out)


def _differs(array: Array) -> bool:
    return array.dtype.startswith("float")


def _shares(expr: Op, t: Expr) -> list[tuple[Expr, Expr]]:
    """(argument, its part of the sensitivity t)."""
    kind, args = expr.type, expr.args
    a, b = (args[0], args[-1])

    def op(name: str, *values: Expr) -> Expr:
        return Op(name, values, kind)

    def const(value: float) -> Expr:
        return Const(value, kind)

    match expr.name:
        case "add":
            return [(a, t), (b, t)]
        case "sub":
            return [(a, t), (b, op("neg", t))]
        case "mul":
            return [(a, op("mul", t, b)), (b, op("mul", t, a))]
        case "div":
            return [(a, op("div", t, b)), (b, op("neg", op("div", op("mul", t, a), op("mul", b, b))))]
        case "neg":
            return [(a, op("neg", t))]
        case "exp":
            return [(a, op("mul", t, expr))]
        case "log":
            return [(a, op("div", t, a))]
        case "log1p":
            return [(a, op("div", t, op("add", a, const(1.0))))]
        case "sqrt":
            return [(a, op("div", t, op("mul", const(2.0), expr)))]
        case "tanh":
            return [(a, op("mul", t, op("sub", const(1.0), op("mul", expr, expr))))]
        case "sin":
            return [(a, op("mul", t, op("cos", a)))]
        case "cos":
            return [(a, op("neg", op("mul", t, op("sin", a))))]
        case "abs":
            return [(a, op("select", Op("ge", (a, const(0.0)), BOOL), t, op("neg", t)))]
        case "pow" if isinstance(b, Const):
            return [(a, op("mul", t, op("mul", b, op("pow", a, const(b.value - 1)))))]
        case "max" | "min":
            first = Op("ge" if expr.name == "max" else "le", (a, b), BOOL)
            return [(a, op("select", first, t, const(0.0))), (b, op("select", first, const(0.0), t))]
        case "select":
            return [(args[1], op("select", a, t, const(0.0))), (b, op("select", a, const(0.0), t))]
        case "cast":
            return [(a, Op("cast", (t,), a.type))]
    raise NotDifferentiable(f"it uses '{expr.name}', whose gradient is not known")
