"""Machine code of programs of loops (`compiler/hybrid`).

A loop whose iterations are independent is shared out to threads if it is outermost. Innermost loops are written with vectors; sums and
extremes then have a vector each, and several of them, so that additions need not wait for one another. Where two independent loops
contain a third one that sums, a tile of their iterations is done at once, with all its sums in registers ("unroll and jam"): that is what
makes a product of matrices fast. Where loops go over a row several times, as in a softmax, the first one would wait for the memory and the
others for the arithmetic: the second one asks for the next row while it computes. Which of these it is, and the tile's size, is found
by measuring.

Indices that `bounds` cannot prove are checked; the first one outside ends its statement and is reported.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import time
from collections.abc import Callable, Sequence

import numpy as np

from mindspore.backends.cpu import jit, openmp
from mindspore.backends.cpu.codegen import loops as kernel_loops
from mindspore.backends.cpu.codegen import scalar
from mindspore.backends.cpu.codegen.text import ITEMSIZE, MEMORY_TYPES, Function, number, vector
from mindspore.compiler.hybrid import bounds
from mindspore.compiler.hybrid.dependence import (
    accesses,
    assigned,
    coefficient,
    exposed,
    gathered,
    independent,
    needs_zeros,
    reread,
)
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
    names,
    plain,
    walk,
)
from mindspore.compiler.hybrid.program import statements as all_statements

_WORTH_THREADS = 50_000  # operations
_WORTH_SEARCH = 2_000_000
_ROUNDS = 3  # in which each schedule is timed
_CHECKED = ("floordiv", "floormod", "div")  # by zero, Python raises for its own numbers


@dataclasses.dataclass(frozen=True)
class Schedule:
    """`rows` × `columns` vectors make a tile (0: no tiles); `swapped`: the second of the two loops goes outside; `wide`: use vectors;
    `ahead`: where a loop reads a row for the second time, it asks the memory for the next one."""

    rows: int = 0
    columns: int = 1
    swapped: bool = False
    wide: bool = True
    ahead: bool = False


def schedules() -> list[Schedule]:
    """Those worth trying; the first is the one for programs too small to measure."""
    tiles = ((8, 2), (6, 4), (4, 4), (12, 2)) if jit.vector_bits() == 512 else ((4, 2), (6, 2), (3, 3), (4, 1))
    return [*(Schedule(r, c, s) for r, c in tiles for s in (True, False)), Schedule(ahead=True), Schedule(), Schedule(wide=False)]


@dataclasses.dataclass
class Copy:
    """One of the iterations that are written side by side: its loops' variables, its slots of variables, and the variable that is a
    vector of consecutive values, if there is one."""

    loops: dict[str, str]
    slots: dict[str, tuple[str, int]]
    vector: str | None = None
    width: int = 1


@dataclasses.dataclass(frozen=True)
class Site:
    """Where something can go wrong."""

    line: int
    array: str
    axis: int
    extent: int

    def error(self, kernel: str, value: int) -> Exception:
        where = f"In the kernel '{kernel}', line {self.line}: "
        if not self.array:
            return ZeroDivisionError(f"{where}division by zero.")
        return IndexError(f"{where}index {value} is out of range for dimension {self.axis} of '{self.array}' with size {self.extent}.")


class Writer:
    def __init__(self, program: Program, schedule: Schedule):
        self.program, self.schedule = program, schedule
        self.f = Function()
        self.sites: list[Site] = []
        self.known: dict[str, bounds.Interval] = {}
        self.exit = ""
        self.pointers: dict[str, str] = {}
        self.tiled = False
        #: of loops: the elements that they ask for ahead of time, and how far; and those of the loop that is being written
        self.askers: dict[For, dict[tuple[str, tuple[Expr, ...]], int]] = {}
        self.asked: dict[tuple[str, tuple[Expr, ...]], int] = {}

    # -- the whole ----------------------------------------------------------------------------------------------------
    def write(self, name: str) -> str:
        f, arrays = self.f, list(self.program.arrays)
        places = [f.op(f"getelementptr i8, ptr %args, i64 {8 * (kernel_loops.FIRST_BUFFER + n)}") for n in range(len(arrays) + 1)]
        found = [f.op(f"load ptr, ptr {p}, align 8") for p in places]
        self.pointers, self.status = dict(zip(arrays, found)), found[-1]
        everywhere = Copy({}, {v: (self.slot(self.program.variables[v], 1), 1) for v in self.program.variables})
        for i, statement in enumerate(self.program.body):
            self.top(statement, everywhere, exposed(self.program.body[i + 1 :]))
        text = kernel_loops.module(name, f)
        return _contracted(text)

    def slot(self, kind: Type, width: int) -> str:
        return self.f.slot(scalar.kind_of(kind.name, width))

    def top(self, statement: Statement, copy: Copy, live: set[str]) -> None:
        """A statement of the kernel itself: shared out, done by all, or by the first thread; then all wait."""
        f = self.f
        stores = any(isinstance(s, Store) for s in all_statements((statement,)))
        self.exit = f.new_label()
        if isinstance(statement, For) and independent(statement, live):
            self.loop(statement, [copy], live, shared=True)
        elif stores:
            done = f.new_label()
            mine = f.new_label()
            f.do(f"br i1 {f.op('icmp eq i64 %tid, 0')}, label {mine}, label {done}")
            f.label(mine)
            self.statement(statement, [copy], live)
            f.do(f"br label {done}")
            f.label(done)
        else:
            self.statement(statement, [copy], live)
        f.do(f"br label {self.exit}")
        f.label(self.exit)
        if stores:
            f.when(f.op("icmp sgt i64 %threads, 1"), lambda: f.call("void", "GOMP_barrier"))

    # -- statements ---------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[Statement], copies: list[Copy], live: set[str]) -> None:
        for i, statement in enumerate(body):
            self.statement(statement, copies, live | exposed(body[i + 1 :]))

    def statement(self, statement: Statement, copies: list[Copy], live: set[str]) -> None:
        match statement:
            case Let():
                for copy in copies:
                    place, width = copy.slots[statement.name]
                    value = self.as_wide(statement.value.type, self.value(statement.value, copy), width)
                    self.f.do(f"store {scalar.kind_of(statement.value.type.name, width)} {value}, ptr {place}")
            case Store():
                for copy in copies:
                    self.store(statement, copy)
            case For():
                self.loop(statement, copies, live)
            case If():
                for copy in copies:
                    self.branch(statement, copy, live)

    def branch(self, statement: If, copy: Copy, live: set[str]) -> None:
        f = self.f
        condition, _ = self.value(statement.condition, copy)
        yes, no, done = f.new_label(), f.new_label(), f.new_label()
        f.do(f"br i1 {condition}, label {yes}, label {no}")
        before = self.known
        for label, body, holds in ((yes, statement.then, True), (no, statement.other, False)):
            f.label(label)
            self.known = bounds.given(statement.condition, before, holds)
            self.block(body, [copy], live)
            f.do(f"br label {done}")
        self.known = before
        f.label(done)

    # -- loops --------------------------------------------------------------------------------------------------------
    def loop(self, loop: For, copies: list[Copy], live: set[str], shared: bool = False) -> None:
        before, asked = self.known, self.asked
        self.known, self.asked = {**before, loop.var: bounds.of_loop(loop, before)}, self.askers.get(loop, {})
        inner_live = live | exposed(loop.body)
        jam = all(not names(b) & (set(copies[0].slots) - {loop.var}) for b in (loop.low, loop.high))
        if len(copies) > 1 and not jam:
            for copy in copies:
                self.plain_loop(loop, [copy], inner_live, shared)
        elif len(copies) == 1 and copies[0].vector is None and self.schedule.wide and loop.step == 1:
            self.wide_loop(loop, copies[0], live, shared)
        else:
            self.plain_loop(loop, copies, inner_live, shared)
        self.known, self.asked = before, asked

    def ask_ahead(self, loop: For) -> None:
        """Note which elements the loops inside this one ask for: those that are needed in its next iteration."""
        for inner, elements in reread(loop).items():
            far = {}
            for array, index in elements:
                steps = [coefficient(i, loop.var) for i in index]
                if None not in steps:
                    strides = self.program.arrays[array].strides
                    far[array, index] = loop.step * sum(s * stride for s, stride in zip(steps, strides) if s is not None)
            self.askers[inner] = {element: distance for element, distance in far.items() if distance}

    def plain_loop(self, loop: For, copies: list[Copy], live: set[str], shared: bool) -> None:
        if self.schedule.ahead:
            self.ask_ahead(loop)

        def body(index: str, chunk: int) -> None:
            for copy in copies:
                copy.loops[loop.var] = index
            self.block(loop.body, copies, live)

        self.ranges(loop, copies[0], [1], body, shared)

    def ranges(self, loop: For, copy: Copy, chunks: list[int], body: Callable[[str, int], None], shared: bool = False) -> None:
        """One loop for each size of chunks, from large to small; each does as much as it can."""
        f = self.f
        low, high = self.uniform(loop.low, copy), self.uniform(loop.high, copy)
        if loop.step < 0:
            low, high = f.op(f"sub i64 0, {low}"), f.op(f"sub i64 0, {high}")
        step = abs(loop.step)
        if shared:
            low, high = self.own_share(low, high, step, chunks[0])
        for chunk in chunks:
            end = high
            if chunk > 1:
                count = f.op(f"sub i64 {high}, {low}")
                count = self.larger(count, "0")
                whole = f.op(f"mul i64 {f.op(f'sdiv i64 {count}, {chunk}')}, {chunk}")
                end = f.op(f"add i64 {low}, {whole}")

            def turn(index: str, carried: list[str], chunk: int = chunk) -> list[str]:
                body(index if loop.step > 0 else f.op(f"sub i64 0, {index}"), chunk)
                return []

            f.loop(low, end, str(chunk if chunk > 1 else step), [], turn)
            low = self.larger(low, end) if chunk > 1 else end

    def larger(self, a: str, b: str) -> str:
        return self.f.op(f"select i1 {self.f.op(f'icmp sgt i64 {a}, {b}')}, i64 {a}, i64 {b}")

    def own_share(self, low: str, high: str, step: int, chunk: int) -> tuple[str, str]:
        """This thread's part of a range; borders are multiples of a chunk."""
        f = self.f
        unit = step * chunk
        total = self.larger(f.op(f"sub i64 {high}, {low}"), "0")
        units = f.op(f"sdiv i64 {f.op(f'add i64 {total}, {unit - 1}')}, {unit}")
        others = f.op("sub i64 %threads, 1")
        each = f.op(f"sdiv i64 {f.op(f'add i64 {units}, {others}')}, %threads")
        size = f.op(f"mul i64 {each}, {unit}")
        first = f.op(f"add i64 {low}, {f.op(f'mul i64 %tid, {size}')}")
        last = f.op(f"add i64 {first}, {size}")
        last = f.op(f"select i1 {f.op(f'icmp slt i64 {last}, {high}')}, i64 {last}, i64 {high}")
        return first, last

    def wide_loop(self, loop: For, copy: Copy, live: set[str], shared: bool) -> None:
        """A tile of two loops, a vector along this one, or one iteration after the other."""
        inner_live = live | exposed(loop.body)
        second = loop.body[0] if len(loop.body) == 1 and isinstance(loop.body[0], For) else None
        if self.schedule.rows and second is not None and self.can_tile(loop, second, live):
            self.tile(loop, second, copy, inner_live, shared)
            return
        has_loops = any(isinstance(s, For) for s in loop.body)
        sums = gathered(loop, live)
        if has_loops or sums is None or not self.can_widen(loop):
            self.plain_loop(loop, [copy], inner_live, shared)
        else:
            self.along(loop, copy, sums, inner_live, shared)

    def lanes(self, body: tuple[Statement, ...]) -> int:
        """Elements of a vector, by the widest type that is computed with."""
        widths = [ITEMSIZE[e.type.name] for s in all_statements(body) if isinstance(s, (Let, Store)) for e in (s.value,)]
        return max(1, jit.vector_bits() // 8 // max([4, *widths]))

    def can_widen(self, loop: For) -> bool:
        """Whether a vector of iterations can be computed: no branches, every index proven, and steady along the vector."""
        own = assigned(loop.body)
        before, fine = self.known, True
        for statement in all_statements(loop.body):
            if isinstance(statement, If):
                return False
            if isinstance(statement, For):
                if names(statement.low) & {loop.var, *own} or names(statement.high) & {loop.var, *own}:
                    return False
                self.known = {**self.known, statement.var: bounds.of_loop(statement, self.known)}
            for expr in expressions(statement):
                fine = fine and not any(isinstance(e, Op) and e.name in _CHECKED and e.type.weak for e in walk(expr))
        for array, index, _ in accesses(loop.body):
            for i, extent in zip(index, self.program.arrays[array].shape):
                proven = bounds.proof(i, extent, self.known)
                fine = fine and not proven.negative and not proven.outside and coefficient(i, loop.var) is not None and not names(i) & own
        self.known = before
        return fine

    def can_tile(self, first: For, second: For, live: set[str]) -> bool:
        self.known = {**self.known, second.var: bounds.of_loop(second, self.known)}
        inside = live | exposed(first.body)
        has_sum = any(isinstance(s, For) for s in second.body)
        square = not names(second.low) | names(second.high) or first.var not in names(second.low) | names(second.high)
        return (
            has_sum and square and second.step == 1 and first.step == 1 and independent(first, live) and independent(second, inside)
            and self.can_widen(second) and self.can_widen(first)
        )  # fmt: skip

    def tile(self, first: For, second: For, copy: Copy, live: set[str], shared: bool) -> None:
        """All iterations of a tile at once: `rows` of the first loop, `columns` vectors of the second."""
        self.tiled = True
        lanes, own = self.lanes(second.body), sorted(assigned(second.body))
        rows, columns = [self.schedule.rows, 1], [self.schedule.columns * lanes, lanes, 1]

        def body(i: str, down: int, j: str, across: int) -> None:
            width = lanes if across >= lanes else 1
            copies = []
            for r in range(down):
                for c in range(max(1, across // width)):
                    made = Copy({**copy.loops}, {**copy.slots}, second.var if width > 1 else None, width)
                    made.loops[first.var] = self.f.op(f"add i64 {i}, {r}") if r else i
                    made.loops[second.var] = self.f.op(f"add i64 {j}, {c * width}") if c else j
                    made.slots.update({v: (self.slot(self.program.variables[v], width), width) for v in own})
                    copies.append(made)
            self.block(second.body, copies, live)

        def by_columns(j: str, across: int) -> None:
            self.ranges(first, copy, rows, lambda i, down: body(i, down, j, across))

        def by_rows(i: str, down: int) -> None:
            copy.loops[first.var] = i
            self.ranges(second, copy, columns, lambda j, across: body(i, down, j, across))

        if self.schedule.swapped:
            self.ranges(second, copy, columns, by_columns, shared)
        else:
            self.ranges(first, copy, rows, by_rows, shared)

    def along(self, loop: For, copy: Copy, sums: dict[str, str], live: set[str], shared: bool) -> None:
        """Vectors along a loop. What it gathers has vectors of its own, joined after each size of chunks."""
        f, lanes = self.f, self.lanes(loop.body)
        unrolled = 4 if sums else 2
        own = sorted(assigned(loop.body) - set(sums))
        wide = [Copy({**copy.loops}, {**copy.slots}, loop.var, lanes) for _ in range(unrolled)]
        for made in wide:
            made.slots.update({v: (self.slot(self.program.variables[v], lanes), lanes) for v in [*own, *sums]})
            for name, kind in sums.items():
                start = self.neutral(name, kind, copy, lanes)
                f.do(f"store {scalar.kind_of(self.program.variables[name].name, lanes)} {start}, ptr {made.slots[name][0]}")

        def body(index: str, chunk: int) -> None:
            if chunk < lanes:
                copy.loops[loop.var] = index
                self.block(loop.body, [copy], live)
                return
            used = wide[: chunk // lanes]
            for c, made in enumerate(used):
                made.loops[loop.var] = f.op(f"add i64 {index}, {c * lanes}") if c else index
            self.block(loop.body, used, live)

        self.ranges(loop, copy, [unrolled * lanes, lanes, 1], body, shared)
        for name, kind in sums.items():
            self.join(name, kind, copy, wide, lanes)

    def neutral(self, name: str, kind: str, copy: Copy, lanes: int) -> str:
        """What an accumulator begins with: 0 for sums, the value so far for extremes."""
        dtype = self.program.variables[name].name
        if kind == "add":
            return self.f.constant(0, dtype, lanes)
        before = self.f.op(f"load {scalar.kind_of(dtype, 1)}, ptr {copy.slots[name][0]}")
        return self.f.splat(scalar.kind_of(dtype, 1), before, lanes)

    def join(self, name: str, kind: str, copy: Copy, wide: list[Copy], lanes: int) -> None:
        """The accumulators' lanes into the variable."""
        f, dtype = self.f, self.program.variables[name].name
        t, one = scalar.kind_of(dtype, lanes), scalar.kind_of(dtype, 1)
        parts = [f.op(f"load {t}, ptr {made.slots[name][0]}") for made in wide]
        while len(parts) > 1:
            parts = [self.gather(kind, dtype, lanes, a, b) for a, b in zip(parts[::2], parts[1::2])]
        width = lanes
        while width > 1:
            low, high = (", ".join(f"i32 {n}" for n in r) for r in (range(width // 2), range(width // 2, width)))
            whole = vector(one, width)
            a, b = (f.op(f"shufflevector {whole} {parts[0]}, {whole} poison, <{width // 2} x i32> <{r}>") for r in (low, high))
            width //= 2
            if width == 1:
                a, b = (f.op(f"extractelement <1 x {one}> {v}, i64 0") for v in (a, b))
            parts = [self.gather(kind, dtype, width, a, b)]
        so_far = f.op(f"load {one}, ptr {copy.slots[name][0]}")
        f.do(f"store {one} {self.gather(kind, dtype, 1, so_far, parts[0])}, ptr {copy.slots[name][0]}")

    def gather(self, kind: str, dtype: str, width: int, a: str, b: str) -> str:
        if kind == "add":
            return scalar.OPS["add"](self.f, dtype, width, a, b)
        return scalar.select(self.f, dtype, width, scalar.compare(self.f, kind, dtype, width, b, a), b, a)

    # -- expressions --------------------------------------------------------------------------------------------------
    def value(self, expr: Expr, copy: Copy) -> tuple[str, int]:
        """(the value, its width: 1 if it is the same for the whole vector)."""
        f = self.f
        match expr:
            case Const(value=value, type=kind):
                return number(value, kind.name), 1
            case Var(name=name) if name in copy.loops:
                return self.variable(name, copy)
            case Var(name=name, type=kind):
                place, width = copy.slots[name]
                return f.op(f"load {scalar.kind_of(kind.name, width)}, ptr {place}"), width
            case Load():
                return self.load(expr, copy)
        given = [self.value(a, copy) for a in expr.args]
        width = max(w for _, w in given)
        args = [self.as_wide(a.type, g, width) for a, g in zip(expr.args, given)]
        if expr.name == "cast":
            return scalar.cast(f, expr.args[0].type.name, expr.type.name, width, args[0]), width
        if expr.name == "select":
            return scalar.select(f, expr.type.name, width, *args), width
        if expr.name in _CHECKED and expr.type.weak and not (isinstance(expr.args[1], Const) and expr.args[1].value):
            self.check_divisor(expr, args[1])
        return scalar.OPS[expr.name](f, expr.args[0].type.name, width, *args), width

    def variable(self, name: str, copy: Copy) -> tuple[str, int]:
        if name != copy.vector:
            return copy.loops[name], 1
        steps = ", ".join(f"i64 {n}" for n in range(copy.width))
        first = self.f.splat("i64", copy.loops[name], copy.width)
        return self.f.op(f"add <{copy.width} x i64> {first}, <{steps}>"), copy.width

    def as_wide(self, kind: Type, given: tuple[str, int], width: int) -> str:
        value, own = given
        return value if own == width else self.f.splat(scalar.kind_of(kind.name, 1), value, width)

    def uniform(self, expr: Expr, copy: Copy) -> str:
        """A value that is the same for the whole vector, or that of its first lane."""
        return self.value(expr, dataclasses.replace(copy, vector=None))[0]

    def place(self, array: Array, index: tuple[Expr, ...], line: int, copy: Copy) -> tuple[str, int]:
        """(the address of the first lane's element, by how many elements lanes are apart)."""
        f = self.f
        offset, apart = "0", 0
        for axis, (i, extent, stride) in enumerate(zip(index, array.shape, array.strides)):
            at = self.uniform(i, copy)
            at = self.checked(at, i, Site(line, array.name, axis, extent))
            offset = f.op(f"add i64 {offset}, {f.op(f'mul i64 {at}, {stride}')}")
            if copy.vector:
                apart += (coefficient(i, copy.vector) or 0) * stride
        return f.op(f"getelementptr inbounds {MEMORY_TYPES[array.dtype]}, ptr {self.pointers[array.name]}, i64 {offset}"), apart

    def checked(self, at: str, index: Expr, site: Site) -> str:
        f = self.f
        proven = bounds.proof(index, site.extent, self.known)
        if proven.outside:
            good = f.op(f"icmp ult i64 {f.op(f'add i64 {at}, {site.extent}')}, {2 * site.extent}")
            self.require(good, site, at)
        if proven.negative:
            below = f.op(f"icmp slt i64 {at}, 0")
            at = f.op(f"select i1 {below}, i64 {f.op(f'add i64 {at}, {site.extent}')}, i64 {at}")
        return at

    def check_divisor(self, expr: Op, divisor: str) -> None:
        kind = expr.args[1].type.name
        zero = number(0, kind)
        good = scalar.compare(self.f, "ne", kind, 1, divisor, zero)
        self.require(good, Site(expr.line, "", 0, 0), "0")

    def require(self, good: str, site: Site, value: str) -> None:
        """Go on if something holds; else say where it did not and leave the statement."""
        f = self.f
        self.sites.append(site)
        on, bad = f.new_label(), f.new_label()
        f.do(f"br i1 {good}, label {on}, label {bad}")
        f.label(bad)
        f.do(f"store i64 {len(self.sites)}, ptr {self.status}, align 8")
        f.do(f"store i64 {value}, ptr {f.op(f'getelementptr i8, ptr {self.status}, i64 8')}, align 8")
        f.do(f"br label {self.exit}")
        f.label(on)

    def load(self, expr: Load, copy: Copy) -> tuple[str, int]:
        f, array = self.f, self.program.arrays[expr.array]
        address, apart = self.place(array, expr.index, expr.line, copy)
        memory, align = MEMORY_TYPES[array.dtype], ITEMSIZE[array.dtype]
        if not apart:
            return scalar.from_memory(f, array.dtype, 1, f.op(f"load {memory}, ptr {address}, align {align}")), 1
        if apart == 1:
            kind = vector(memory, copy.width)
            if distance := self.asked.get((expr.array, expr.index), 0):
                next_one = f.op(f"getelementptr {memory}, ptr {address}, i64 {distance}")
                f.call("void", "llvm.prefetch.p0", ("ptr", next_one), ("i32", "0"), ("i32", "3"), ("i32", "1"))
            return scalar.from_memory(f, array.dtype, copy.width, f.op(f"load {kind}, ptr {address}, align {align}")), copy.width
        kind, found = vector(memory, copy.width), "poison"
        for lane in range(copy.width):
            at = f.op(f"getelementptr inbounds {memory}, ptr {address}, i64 {lane * apart}")
            found = f.op(f"insertelement {kind} {found}, {memory} {f.op(f'load {memory}, ptr {at}, align {align}')}, i64 {lane}")
        return scalar.from_memory(f, array.dtype, copy.width, found), copy.width

    def store(self, statement: Store, copy: Copy) -> None:
        f, array = self.f, self.program.arrays[statement.array]
        given = self.value(statement.value, copy)
        address, apart = self.place(array, statement.index, statement.line, copy)
        memory, align = MEMORY_TYPES[array.dtype], ITEMSIZE[array.dtype]
        if copy.vector is None or not apart:
            value = scalar.to_memory(f, array.dtype, 1, given[0])
            f.do(f"store {memory} {value}, ptr {address}, align {align}")
            return
        value = scalar.to_memory(f, array.dtype, copy.width, self.as_wide(statement.value.type, given, copy.width))
        kind = vector(memory, copy.width)
        if apart == 1:
            f.do(f"store {kind} {value}, ptr {address}, align {align}")
            return
        for lane in range(copy.width):
            at = f.op(f"getelementptr inbounds {memory}, ptr {address}, i64 {lane * apart}")
            f.do(f"store {memory} {f.op(f'extractelement {kind} {value}, i64 {lane}')}, ptr {at}, align {align}")


def _contracted(text: str) -> str:
    """Products and sums may become one instruction, which rounds once."""
    for name in ("fadd", "fsub", "fmul"):
        text = text.replace(f"= {name} ", f"= {name} contract ")
    return text


# -- calling ----------------------------------------------------------------------------------------------------------
class Kernel:
    """A program in machine code for one schedule."""

    def __init__(self, program: Program, schedule: Schedule):
        self.program = program
        writer = Writer(program, schedule)
        name = "h" + hashlib.sha256(f"{program!r} {schedule!r}".encode()).hexdigest()[:20]
        self.code = jit.Code(name, writer.write(name), optimised=True)
        self.sites, self.tiled, self.asks = writer.sites, writer.tiled, any(writer.askers.values())
        self.function = jit.callable_at(self.code.address)
        self.serial = _needs_one_thread(program)
        self.zeroed = {a.name for a in program.made if needs_zeros(program.body, a)}

    def __call__(self, arrays: Sequence[np.ndarray], threads: int, places: Sequence[np.ndarray | None] = ()) -> tuple[np.ndarray, ...]:
        """The results, written to `places` where there is a contiguous one."""
        given = {a.name: np.ascontiguousarray(array) for a, array in zip(self.program.inputs, arrays)}
        offered = dict(zip(self.program.results, places))
        for array in self.program.made:
            place = offered.get(array.name)
            if place is None or not place.flags.c_contiguous or place.dtype != plain(Type(array.dtype)):
                place = np.empty(array.shape, plain(Type(array.dtype)))
            if array.name in self.zeroed:
                place.fill(0)
            given[array.name] = place
        status = np.zeros(2, np.int64)
        addresses = [given[name].ctypes.data for name in self.program.arrays]
        count = 1 if self.serial else threads
        block = (ctypes.c_int64 * (kernel_loops.FIRST_BUFFER + len(addresses) + 1))(0, count, 0, *addresses, status.ctypes.data)
        self.function(ctypes.addressof(block))
        if status[0]:
            raise self.sites[status[0] - 1].error(self.program.name, int(status[1]))
        return tuple(given[name] for name in self.program.results)


def _needs_one_thread(program: Program) -> bool:
    """Whether a statement that only one thread may do also sets variables that all need."""
    for i, statement in enumerate(program.body):
        live = exposed(program.body[i + 1 :])
        stores = any(isinstance(s, Store) for s in all_statements((statement,)))
        alone = not (isinstance(statement, For) and independent(statement, live))
        if alone and stores and assigned((statement,)) & live:
            return True
    return False


class Tuned:
    """A program with the schedule that was quickest on its first arguments; small programs take the first that there is."""

    def __init__(self, program: Program):
        self.program, self.work = program, bounds.work(program.body)
        self.kernel: Kernel | None = None
        self.tried: dict[Schedule, float] = {}

    def __call__(self, arrays: Sequence[np.ndarray], places: Sequence[np.ndarray | None] = ()) -> tuple[np.ndarray, ...]:
        threads = openmp.threads() if self.work > _WORTH_THREADS else 1
        if self.kernel is None:
            self.kernel = self.search(arrays) if self.work > _WORTH_SEARCH else Kernel(self.program, schedules()[0])
        return self.kernel(arrays, threads, places)

    def search(self, arrays: Sequence[np.ndarray]) -> Kernel:
        """Every schedule is compiled and timed by turns; those that make the same code are tried once.

        On one thread, by that thread's CPU time, into memory that is there already: neither what else the machine does nor
        fresh pages decide.
        """
        made: dict[Schedule, Kernel] = {}
        for schedule in schedules():
            kernel = Kernel(self.program, schedule)
            if (kernel.tiled or not schedule.rows) and (kernel.asks or not schedule.ahead):
                made[schedule] = kernel
        places = next(iter(made.values()))(arrays, 1)
        for _ in range(_ROUNDS):
            for schedule, kernel in made.items():
                begun = time.thread_time()
                kernel(arrays, 1, places)
                self.tried[schedule] = min(self.tried.get(schedule, float("inf")), time.thread_time() - begun)
        return made[min(self.tried, key=self.tried.__getitem__)]
