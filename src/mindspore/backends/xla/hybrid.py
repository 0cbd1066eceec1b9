"""Programs of loops (`compiler/hybrid`) as kernels of a GPU, written in Pallas.

A statement of a program is a kernel of its own, since only the end of a kernel makes all of a GPU wait. A nest of independent loops is
shared out to blocks of threads; whatever else there is, one block does. Within a block every value is an array over *lanes*: an axis for a
tile of the nest's last loop but one, an axis for the last, and one more inside a loop that only sums, takes extremes, or has
independent iterations. Conditions become masks of lanes. So one walk over the statements writes elementwise loops, rows that are gone over
several times, and tiles of a product alike; which loop gets how many lanes is a `Schedule`, found by measuring.

There are no checks on the way: programs whose indices `bounds` cannot prove run on the host, and so do those that would keep a single
block busy (`suits`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mindspore._base.optional import require
from mindspore.compiler.hybrid import bounds
from mindspore.compiler.hybrid.dependence import accesses, assigned, exposed, gathered, independent, needs_zeros
from mindspore.compiler.hybrid.program import (
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
    plain,
    statements,
    walk,
)

_ROUNDS, _CALLS = 5, 5  # in which each schedule is timed, and calls in a row
_DIVISIONS = ("floordiv", "floormod", "div")
_MOST_ELEMENTS = 2**31 - 1  # offsets have 32 bits
_MOST_FOR_ONE_BLOCK = 100_000  # operations; the host is quicker with more


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Lanes of the nest's last loop but one, of its last one, of loops inside; and how many groups of 32 threads do them."""

    tile: int = 1
    last: int = 1
    inside: int = 1
    warps: int = 4


def schedules(program: Program) -> list[Schedule]:
    """Those worth trying; the first is the one for rows, elements and single blocks alike, if nothing is measured."""
    rows = [Schedule(inside=n, warps=w) for n, w in ((1024, 4), (4096, 8), (256, 2))]
    tiles = [Schedule(t, n, 1, w) for t, n, w in ((32, 32, 4), (64, 64, 8), (1, 128, 4), (1, 512, 4), (8, 128, 4))]
    loops = [_nest(s, exposed(program.body[i + 1 :])) for i, s in enumerate(program.body)]
    around = max(map(len, loops), default=0)
    inner = any(isinstance(s, For) for nest in loops if nest for s in statements(nest[-1].body))
    if around > 1:
        return [*(tiles if inner else tiles[2:]), *rows[:1]]
    return rows if inner or not around else tiles[2:4]


# -- which programs, in which pieces ---------------------------------------------------------------------------------------
def suits(program: Program) -> bool:
    """Whether nothing can go wrong in it (indices are proven, no number of Python is divided by what may be 0), and blocks can share it."""
    sizes = [math.prod(a.shape) for a in program.arrays.values()]
    alone = sum(bounds.work(piece.body) for piece in pieces(program) if not piece.nest)
    return min(sizes) > 0 and max(sizes) <= _MOST_ELEMENTS and alone <= _MOST_FOR_ONE_BLOCK and _safe(program, program.body, {})


def _safe(program: Program, body: Sequence[Statement], known: dict[str, bounds.Interval]) -> bool:
    for statement in body:
        for expr in (e for x in expressions(statement) for e in walk(x)):
            if isinstance(expr, Op) and expr.name in _DIVISIONS and expr.type.weak and not _is_number(expr.args[1]):
                return False
            if isinstance(expr, Load) and not _inside(program.arrays[expr.array], expr.index, known):
                return False
        match statement:
            case Store(array=array, index=index):
                fine = _inside(program.arrays[array], index, known)
            case For(var=var, body=inner):
                fine = _safe(program, inner, {**known, var: bounds.of_loop(statement, known)})
            case If(condition=condition, then=then, other=other):
                both = ((then, True), (other, False))
                fine = all(_safe(program, side, bounds.given(condition, known, holds)) for side, holds in both)
            case _:
                fine = True
        if not fine:
            return False
    return True


def _is_number(divisor: Expr) -> bool:
    return isinstance(divisor, Const) and divisor.value != 0


def _inside(array: Array, index: tuple[Expr, ...], known: dict[str, bounds.Interval]) -> bool:
    return not any(bounds.proof(i, extent, known).outside for i, extent in zip(index, array.shape))


@dataclasses.dataclass(frozen=True)
class Piece:
    """What one kernel does: a nest of independent loops, or (no nest) statements for a single block. `live`: variables needed later."""

    body: tuple[Statement, ...]
    live: frozenset[str]
    nest: tuple[For, ...] = ()


def pieces(program: Program) -> list[Piece]:
    found: list[Piece] = []
    for i, statement in enumerate(program.body):
        live = frozenset(exposed(program.body[i + 1 :]))
        nest = _nest(statement, set(live))
        if not nest and found and not found[-1].nest:
            found[-1] = Piece((*found[-1].body, statement), live)
        else:
            found.append(Piece((statement,), live, nest))
    return found


def _nest(statement: Statement, live: set[str]) -> tuple[For, ...]:
    """Independent loops over known ranges, one directly in the other."""
    loops: tuple[For, ...] = ()
    while isinstance(statement, For) and _trips(statement) is not None and independent(statement, live):
        loops += (statement,)
        if len(statement.body) != 1:
            break
        statement = statement.body[0]
    return loops


def _trips(loop: For) -> int | None:
    """How often a loop runs, if that is known beforehand."""
    if isinstance(loop.low, Const) and isinstance(loop.high, Const):
        return len(range(int(loop.low.value), int(loop.high.value), loop.step))
    return None


# -- a kernel ----------------------------------------------------------------------------------------------------------------
class Writer:
    """Walks over a piece's statements while Pallas traces them."""

    def __init__(self, program: Program, piece: Piece, schedule: Schedule, memory: dict[str, Any], interpret: bool):
        self.jax = require("jax", "xla", "kernels of a GPU")
        from jax.experimental import pallas
        from jax.experimental.pallas import triton

        self.jnp, self.lax, self.pallas, self.triton = self.jax.numpy, self.jax.lax, pallas, triton
        self.program, self.piece, self.schedule, self.memory, self.interpret = program, piece, schedule, memory, interpret
        self.loops: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}
        self.known: dict[str, bounds.Interval] = {}
        self.shape = _lanes(piece, schedule)
        #: which lanes there are, by axis; and those for which the conditions around hold
        self.inside: dict[int, Any] = {}
        self.active: Any = None
        #: arrays that threads of this block may have written since they last waited for one another
        self.fresh: set[str] = set()

    def write(self) -> None:
        piece = self.piece
        if not piece.nest:
            self.block(piece.body, set(piece.live))
            return
        number = self.pallas.program_id(0)
        for depth in reversed(range(len(piece.nest))):
            loop = piece.nest[depth]
            axis = depth - len(piece.nest) + 2
            size = self.shape[axis] if axis >= 0 else 1
            trips = _trips(loop) or 0
            blocks = np.int32(-(-trips // size))
            first = self.lax.rem(number, blocks) * np.int32(size)
            number = self.lax.div(number, blocks)
            lanes = self.along(axis) if axis >= 0 else self.jnp.full((1, 1), 0, np.int32)
            self.enter(loop, first + lanes, axis, trips % size and trips)
        self.block(piece.nest[-1].body, set(piece.live))

    def along(self, axis: int) -> Any:
        """0, 1, 2 … along an axis of the lanes."""
        place = [1] * len(self.shape)
        place[axis] = self.shape[axis]
        return self.lax.broadcasted_iota(np.int32, tuple(place), axis)

    def enter(self, loop: For, number: Any, axis: int, trips: Any) -> None:
        """The variable of the loop's iterations `number`; `trips` bounds them unless all lanes are inside anyway (0)."""
        self.known = {**self.known, loop.var: bounds.of_loop(loop, self.known)}
        if not (isinstance(trips, int) and trips == 0):
            self.inside = {**self.inside, axis: number < trips}
        self.loops = {**self.loops, loop.var: self.value(loop.low) + number.astype(self.kind(loop.low)) * loop.step}

    # -- statements ----------------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[Statement], live: set[str]) -> None:
        for i, statement in enumerate(body):
            self.statement(statement, live | exposed(body[i + 1 :]))

    def statement(self, statement: Statement, live: set[str]) -> None:
        match statement:
            case Let(name=name, value=value):
                self.wait_for(statement)
                found = self.value(value).astype(plain(value.type))
                before = self.variables.get(name)
                kept = self.active is None or before is None
                self.variables = {**self.variables, name: found if kept else self.jnp.where(self.active, found, before)}
            case Store():
                self.wait_for(statement)
                self.store(statement)
                self.fresh.add(statement.array)
            case For():
                self.wait_for(statement)
                sums = None if any(isinstance(s, For) for s in statements(statement.body)) else gathered(statement, live)
                if sums is None or self.schedule.inside == 1:
                    self.one_by_one(statement, live)
                else:
                    self.abreast(statement, sums, live)
            case If(condition=condition, then=then, other=other):
                self.wait_for(statement)
                holds, before = self.value(condition), (self.active, self.known)
                for side, truth in ((then, True), (other, False)):
                    self.active = _both(before[0], holds if truth else ~holds)
                    self.known = bounds.given(condition, before[1], truth)
                    self.block(side, live | exposed(other))
                self.active, self.known = before

    def wait_for(self, statement: Statement) -> None:
        """Threads wait for one another before they look at what others of the block may have written."""
        touched = {e.array for x in expressions(statement) for e in walk(x) if isinstance(e, Load)}
        touched |= {statement.array} if isinstance(statement, Store) else set()
        if touched & self.fresh:
            if not self.interpret:
                self.triton.debug_barrier()
            self.fresh = set()

    def trips(self, loop: For) -> tuple[Any, Any]:
        """How often a loop runs: (in any lane, in each lane; the same number if it is known)."""
        known = _trips(loop)
        if known is not None:
            return known, known
        low, high = (self.value(b).astype(np.int32) for b in (loop.low, loop.high))
        away = high - low if loop.step > 0 else low - high
        step = np.int32(abs(loop.step))
        each = self.jnp.where(away > 0, self.lax.div(away + (step - np.int32(1)), self.jnp.full_like(away, step)), np.int32(0))
        for mask in (*self.inside.values(), self.active):
            if mask is not None:
                each = self.jnp.where(mask, each, np.int32(0))
        return self.jnp.max(each), each

    def one_by_one(self, loop: For, live: set[str]) -> None:
        """Iterations one after the other, all lanes together."""
        most, each = self.trips(loop)
        carried = sorted(assigned(loop.body) & (exposed(loop.body) | live))
        around = self.loops, self.inside, self.active, self.known, self.variables
        if not independent(loop, live):
            self.fresh |= {array for array, _, written in accesses(loop.body) if written}

        def turn(number: Any, values: Sequence[Any]) -> list[Any]:
            self.loops, self.inside, self.active, self.known, _ = around
            self.variables = {**around[4], **dict(zip(carried, values))}
            here = self.jnp.full((1,) * len(self.shape), number, np.int32)
            self.enter(loop, here, -1, 0)
            if not isinstance(each, int):
                self.active = _both(self.active, here < each)
            self.block(loop.body, live | exposed(loop.body))
            return [self.whole(name) for name in carried]

        values = self.lax.fori_loop(np.int32(0), np.int32(most) if isinstance(most, int) else most, turn, [self.whole(n) for n in carried])
        self.loops, self.inside, self.active, self.known, self.variables = around
        self.variables = {**self.variables, **dict(zip(carried, values))}

    def abreast(self, loop: For, sums: dict[str, str], live: set[str]) -> None:
        """Iterations side by side on an axis of lanes; each lane gathers its own sums and extremes, which then become one."""
        low, high = bounds.of_loop(loop, self.known)
        most, each = self.trips(loop)
        longest = most if isinstance(most, int) else (high - low) // abs(loop.step) + 1
        size = min(self.schedule.inside, _power_of_two(max(1, int(min(longest, self.schedule.inside)))))
        around = self.loops, self.inside, self.active, self.known, self.variables, self.shape
        before = {name: self.whole(name) for name in sums}
        deeper = self.shape + (size,)
        loops, variables = ({n: v[..., None] for n, v in d.items()} for d in (self.loops, self.variables))
        inside, active = {a: m[..., None] for a, m in self.inside.items()}, None if self.active is None else self.active[..., None]
        limit = each if isinstance(each, int) else each[..., None]
        partly = not isinstance(each, int) or each % size

        def turn(number: Any, values: Sequence[Any]) -> list[Any]:
            self.shape, self.loops, self.inside, self.active, self.known = deeper, loops, inside, active, around[3]
            self.variables = {**variables, **dict(zip(sums, values))}
            here = number * np.int32(size) + self.along(len(deeper) - 1)
            self.enter(loop, here, -1, 0)
            if partly:
                self.inside = {**self.inside, len(deeper) - 1: here < limit}
                self.active = _both(self.active, here < limit)
            self.block(loop.body, live | exposed(loop.body))
            return [self.whole(name) for name in sums]

        begun = [self._neutral(kind, before[name], deeper) for name, kind in sums.items()]
        turns = -(-most // size) if isinstance(most, int) else self.lax.div(most + np.int32(size - 1), np.int32(size))
        once = isinstance(turns, int) and turns == 1
        values = turn(np.int32(0), begun) if once else self.lax.fori_loop(np.int32(0), turns, turn, begun)
        self.loops, self.inside, self.active, self.known, self.variables, self.shape = around
        joined = {name: self._joined(kind, before[name], value) for (name, kind), value in zip(sums.items(), values)}
        self.variables = {**self.variables, **joined}

    def _neutral(self, kind: str, before: Any, shape: tuple[int, ...]) -> Any:
        """What a lane begins with: 0 for sums, the value so far for extremes."""
        if kind == "add":
            return self.jnp.zeros(shape, before.dtype)
        return self.jnp.broadcast_to(before[..., None], shape)

    def _joined(self, kind: str, before: Any, lanes: Any) -> Any:
        if kind == "add":
            return before + self.jnp.sum(lanes, axis=-1, dtype=before.dtype)
        return (self.jnp.max if kind == "gt" else self.jnp.min)(lanes, axis=-1)

    def whole(self, name: str) -> Any:
        """A variable's value for every lane; 0 where none was assigned."""
        kind = plain(self.program.variables[name])
        found = self.variables.get(name)
        return self.jnp.zeros(self.shape, kind) if found is None else self.jnp.broadcast_to(found, self.shape)

    # -- memory --------------------------------------------------------------------------------------------------------------
    def offset(self, array: Array, index: tuple[Expr, ...]) -> Any:
        """Where an element is, for each lane that it depends on."""
        found = self.jnp.full((1,) * len(self.shape), 0, np.int32)
        for at, extent, stride in zip(index, array.shape, array.strides):
            place = self.value(at).astype(np.int32)
            if bounds.proof(at, extent, self.known).negative:
                place = self.jnp.where(place < 0, place + np.int32(extent), place)
            found = found + place * np.int32(stride)
        return found

    def mask(self, shape: tuple[int, ...]) -> Any:
        """The lanes of this shape that are inside and active; None: all."""
        found = self.active
        for axis, there in self.inside.items():
            if shape[axis] > 1 or (found is not None and found.shape[axis] > 1):
                found = _both(found, there)
        return found

    def load(self, expr: Load) -> Any:
        array = self.program.arrays[expr.array]
        at = self.offset(array, expr.index)
        mask = self.mask(at.shape)
        ref = self.memory[array.name]
        if mask is None:
            found = self.triton.load(ref.at[at])
        else:
            shape = np.broadcast_shapes(at.shape, mask.shape)
            at, mask = self.jnp.broadcast_to(at, shape), self.jnp.broadcast_to(mask, shape)
            found = self.triton.load(ref.at[self.within(at, mask, array)], mask=mask, other=_memory_type(array).type(0))
        return found != 0 if array.dtype == "bool_" else found

    def store(self, statement: Store) -> None:
        array = self.program.arrays[statement.array]
        at = self.jnp.broadcast_to(self.offset(array, statement.index), self.shape)
        value = self.jnp.broadcast_to(self.value(statement.value).astype(_memory_type(array)), self.shape)
        mask = self.mask(self.shape)
        mask = mask if mask is None else self.jnp.broadcast_to(mask, self.shape)
        self.triton.store(self.memory[array.name].at[self.within(at, mask, array)], value, mask=mask)

    def within(self, at: Any, mask: Any, array: Array) -> Any:
        """Pallas' interpreter also writes lanes that are masked, unless they are outside of the array."""
        return self.jnp.where(mask, at, np.int32(math.prod(array.shape))) if self.interpret and mask is not None else at

    # -- expressions -----------------------------------------------------------------------------------------------------------
    def kind(self, expr: Expr) -> np.dtype:
        """The type an expression is computed in: whole numbers that are known to be small have 32 bits."""
        if expr.type.name == "int64":
            low, high = bounds.interval(expr, self.known)
            return np.dtype(np.int32 if -(2**31) <= low <= high < 2**31 else np.int64)
        return plain(expr.type)

    def value(self, expr: Expr) -> Any:
        match expr:
            case Const(value=value):
                return self.jnp.full((1,) * len(self.shape), value, self.kind(expr))
            case Var(name=name):
                return self.loops[name] if name in self.loops else self.variables[name]
            case Load():
                return self.load(expr)
            case Op(name="cast", args=(inner,)):
                return self.value(inner).astype(self.kind(expr))
            case Op(name="select", args=(test, *sides)):
                return self.jnp.where(self.value(test), *(self.value(s).astype(self.kind(expr)) for s in sides))
        kinds = [self.kind(e) for e in (*expr.args, expr) if e.type.name == expr.args[0].type.name]
        given = [self.value(a).astype(max(kinds, key=lambda k: k.itemsize)) for a in expr.args]
        return _operation(self.jnp, self.lax, expr.name)(*given)


def _operation(jnp: Any, lax: Any, name: str) -> Callable[..., Any]:
    match name:
        case "and_" | "or_" | "not_":
            return getattr(jnp, f"logical_{name[:-1]}")
        case "max" | "min":
            return getattr(jnp, f"{name}imum")
        case "div":
            return lambda a, b: jnp.true_divide(a, b)
        case "floordiv" | "floormod":
            return functools.partial(_whole_division, jnp, lax, name == "floordiv")
    known = {
        "sub": "subtract", "mul": "multiply", "neg": "negative", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
        "eq": "equal", "ne": "not_equal", "pow": "power",
    }  # fmt: skip
    return getattr(jnp, known.get(name, name))


def _whole_division(jnp: Any, lax: Any, quotient: bool, a: Any, b: Any) -> Any:
    """Python's: rounded down. Whole numbers by 0 give 0, as NumPy's do."""
    a, b = jnp.broadcast_arrays(a, b)
    zero = jnp.zeros_like(a)
    floating = jnp.issubdtype(a.dtype, np.floating)
    by = b if floating else jnp.where(b == zero, jnp.ones_like(b), b)
    rest = lax.rem(a, by)
    crossed = (rest != zero) & ((rest < zero) != (by < zero))
    rest = jnp.where(crossed, rest + by, rest)
    if not quotient:
        return rest if floating else jnp.where(b == zero, zero, rest)
    if not floating:
        whole = lax.div(a, by)
        return jnp.where(b == zero, zero, jnp.where(crossed, whole - jnp.ones_like(a), whole))
    share = (a - rest) / by
    down = jnp.floor(share)
    return jnp.where(share - down > 0.5, down + jnp.ones_like(a), down)


def _both(a: Any, b: Any) -> Any:
    return b if a is None else a & b


def _lanes(piece: Piece, schedule: Schedule) -> tuple[int, ...]:
    """The lanes' axes as a piece begins: no more than the loops have iterations."""
    wanted = (schedule.tile, schedule.last)
    loops = (None, None, *piece.nest)[-2:]
    return tuple(1 if loop is None else min(n, _power_of_two(_trips(loop) or 1)) for loop, n in zip(loops, wanted))


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _memory_type(array: Array) -> np.dtype:
    """Truth values are bytes in memory."""
    return np.dtype(np.int8) if array.dtype == "bool_" else plain(Type(array.dtype))


# -- a program ---------------------------------------------------------------------------------------------------------------
def compiled(program: Program, schedule: Schedule, interpret: bool = False) -> Callable[..., tuple]:
    """A function of JAX's arrays → the results."""
    jax = require("jax", "xla", "kernels of a GPU")
    zeroed = {a.name for a in program.made if needs_zeros(program.body, a)}

    def run(*arrays: Any) -> tuple:
        memory = {a.name: x.reshape(-1).astype(_memory_type(a)) for a, x in zip(program.inputs, arrays)}
        memory.update({a.name: jax.numpy.zeros(math.prod(a.shape), _memory_type(a)) for a in program.made if a.name in zeroed})
        scalars: dict[str, Any] = {}
        for piece in pieces(program):
            if all(_trips(loop) for loop in piece.nest):
                _call(jax, program, piece, schedule, interpret, memory, scalars)
        results = [program.arrays[name] for name in program.results]
        return tuple(memory[a.name].reshape(a.shape).astype(plain(Type(a.dtype))) for a in results)

    return run


def _call(
    jax: Any, program: Program, piece: Piece, schedule: Schedule, interpret: bool, memory: dict[str, Any], scalars: dict[str, Any]
) -> None:
    """Run a piece's kernel; `memory` and `scalars` (variables that statements hand on) hold what it finds and leaves."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    found = list(accesses(piece.body))
    written = sorted({array for array, _, stored in found if stored})
    read = sorted({array for array, _, _ in found} - set(written))
    out = sorted(assigned(piece.body) & piece.live)
    given = sorted((exposed(piece.body) | set(out)) & set(scalars))
    kept = [name for name in written if name in memory]  # the others are written whole
    shapes = {n: jax.ShapeDtypeStruct((math.prod(program.arrays[n].shape),), _memory_type(program.arrays[n])) for n in written}
    shapes.update({n: jax.ShapeDtypeStruct((1,), plain(program.variables[n])) for n in out})

    def kernel(*refs: Any) -> None:
        places = dict(zip((*read, *kept), refs))
        places.update(zip((*written, *out), refs[len(read) + len(kept) + len(given) :]))
        writer = Writer(program, piece, schedule, places, interpret)
        begin = jax.numpy.full((1, 1), 0, np.int32)
        for name, ref in zip(given, refs[len(read) + len(kept) :]):
            writer.variables[name] = triton.load(ref.at[begin])
        writer.write()
        for name in out:
            triton.store(places[name].at[begin], writer.whole(name))

    lanes = _lanes(piece, schedule)
    sizes = zip(piece.nest, ((1,) * len(piece.nest) + lanes)[-len(piece.nest) :] if piece.nest else ())
    results = pallas.pallas_call(
        kernel,
        out_shape=list(shapes.values()),
        grid=(math.prod(-(-(_trips(loop) or 0) // size) for loop, size in sizes),),
        input_output_aliases={len(read) + i: written.index(name) for i, name in enumerate(kept)},
        compiler_params=None if interpret else triton.CompilerParams(num_warps=schedule.warps, num_stages=2),
        interpret=interpret,
        name=program.name,
    )(*(memory[n] for n in (*read, *kept)), *(scalars[n] for n in given))
    for name, value in zip(shapes, results):
        (memory if name in written else scalars)[name] = value


@dataclasses.dataclass
class Tuned:
    """A program as a function of JAX's arrays, with the schedule that was quickest on a GPU."""

    program: Program
    tried: dict[Schedule, float] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def function(self) -> Callable[..., tuple]:
        device = require("jax", "xla", "kernels of a GPU").config.jax_default_device
        with ThreadPoolExecutor(1) as other:  # this thread may be tracing the graph around, into which measurements do not belong
            self.tried.update(other.submit(self.measured, device).result())
        return compiled(self.program, min(self.tried, key=self.tried.__getitem__))

    def measured(self, device: Any) -> dict[Schedule, float]:
        """Each schedule's time on arrays of zeros."""
        jax = require("jax", "xla", "kernels of a GPU")
        times = {}
        with jax.default_device(device):
            arrays = [jax.numpy.zeros(a.shape, plain(Type(a.dtype))) for a in self.program.inputs]
            for schedule in schedules(self.program):
                call = jax.jit(compiled(self.program, schedule))
                jax.block_until_ready(call(*arrays))
                times[schedule] = min(_seconds(jax, call, arrays) for _ in range(_ROUNDS))
        return times

    def __call__(self, *arrays: Any) -> tuple:
        return self.function(*arrays)


def _seconds(jax: Any, call: Callable[..., tuple], arrays: Sequence[Any]) -> float:
    begun = time.perf_counter()
    jax.block_until_ready([call(*arrays) for _ in range(_CALLS)])
    return (time.perf_counter() - begun) / _CALLS
