"""From a kernel to LLVM IR: the schedule.

A kernel function takes one pointer to a block of 8-byte words: scratch memory, the number of threads, the extent of a
dynamic axis, then the address of every buffer. It runs serially or inside one OpenMP region; work is split statically,
so results depend on nothing but the number of threads.

Without reductions: the outer axes (or, when there are few, the last one) are shared out; the last axis is walked in
vectors. With reductions, each *tile* of the kept axes is finished by one thread, pass by pass: a pass walks over the
reduced axes, adds up what its stage reduces and stores what it can. A tile is one position when the last axis is
reduced ("row mode": lanes are combined at the end of a pass), else one vector along the last axis ("column mode").
When there are few tiles the reduced axes are shared out instead: every thread leaves partial results of a pass, and after
a barrier they are combined in order.

Long sums are accumulated in chunks, one per plane or per 256 vectors, which keeps rounding errors small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mindspore.backends.cpu.codegen import memory, scalar, vecmath
from mindspore.backends.cpu.codegen.analysis import Analysis
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.spec import Instr, Kernel
from mindspore.backends.cpu.codegen.text import ITEMSIZE, LLVM_TYPES, Function, computed, vector

_SCRATCH, _THREADS, _EXTENT, FIRST_BUFFER = 0, 1, 2, 3
#: elements times cost per element below which starting threads costs more than it saves
SERIAL_WORK = 24_000
_CHUNK = 256
_FEW_TILES = 4
_MANY_STEPS = 16
_PARTIAL_SLOT = 8  # bytes per lane of a partial result


@dataclass
class Plan:
    """How a kernel was scheduled; the caller needs it to size scratch memory and choose threads."""

    name: str
    ir: str
    tiles: int  # independent pieces of work
    work: int  # elements times a rough cost per element
    scratch: Callable[[int], int] = field(repr=False, default=lambda threads: 0)


@dataclass
class _Point:
    """Where the code being written stands: pointers, loop indices, values at hand, active lanes."""

    pointers: dict[int, str]
    indices: dict[int, str]
    values: dict[int, tuple[str, int]]
    mask: Mask

    def copy(self, mask: Mask | None = None) -> _Point:
        return _Point(dict(self.pointers), dict(self.indices), dict(self.values), mask or self.mask)


def compile_kernel(kernel: Kernel, name: str, vector_bits: int) -> Plan:
    """Write the IR module of a kernel (already simplified)."""
    return _Writer(kernel, name, vector_bits).write()


def _cost(kernel: Kernel) -> int:
    return sum(12 if i.op in scalar.EXPENSIVE else 1 for i in kernel.code)


def module(name: str, f: Function) -> str:
    """A kernel's module: its body, run serially or by every thread of a parallel region.

    One function does both, since each function costs LLVM as much as a dozen instructions do: within the region it is called
    with the lowest bit of its pointer set.
    """
    slots, body = "\n".join(f.slots), "\n".join(f.lines)
    declared = "\n".join(sorted(f.declarations.values()))
    return f"""define i32 @{name}(ptr %given) {{
{slots}
  %number = ptrtoint ptr %given to i64
  %inside = trunc i64 %number to i1
  br i1 %inside, label %region, label %outside
outside:
  %slot = getelementptr i8, ptr %given, i64 {8 * _THREADS}
  %wanted = load i64, ptr %slot, align 8
  %many = icmp sgt i64 %wanted, 1
  br i1 %many, label %parallel, label %entry
parallel:
  %marked = getelementptr i8, ptr %given, i64 1
  %count = trunc i64 %wanted to i32
  call void @GOMP_parallel(ptr @{name}, ptr %marked, i32 %count, i32 0)
  ret i32 0
region:
  %unmarked = getelementptr i8, ptr %given, i64 -1
  %t = call i32 @omp_get_thread_num()
  %n = call i32 @omp_get_num_threads()
  %t64 = zext i32 %t to i64
  %n64 = zext i32 %n to i64
  br label %entry
entry:
  %args = phi ptr [ %given, %outside ], [ %unmarked, %region ]
  %tid = phi i64 [ 0, %outside ], [ %t64, %region ]
  %threads = phi i64 [ 1, %outside ], [ %n64, %region ]
{body}
  ret i32 0
}}
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare void @GOMP_parallel(ptr, ptr, i32, i32)
{declared}
"""


class _Writer:
    def __init__(self, kernel: Kernel, name: str, vector_bits: int):
        self.kernel = kernel
        self.name = name
        self.a = Analysis(kernel)
        self.f = Function()
        self.width = self._choose_width(vector_bits)
        self.extents = [axis.extent for axis in kernel.axes]
        self.last = len(kernel.axes) - 1
        self.reduced = sorted(self.a.reduced)
        self.kept = [i for i in range(len(kernel.axes)) if i not in self.a.reduced]
        self.tiles, self.split = self._tiles()
        self.shared = self._shared_axis()

    def _choose_width(self, bits: int) -> int:
        """Lanes: several registers per value hide the latency of long dependent chains, while registers last."""
        native = bits // 32
        ops = [i.op for i in self.kernel.code]
        heavy = any(op in scalar.EXPENSIVE or op == "rounded" for op in ops)
        by_lane = any(op in vecmath.LIBM and op not in vecmath.VECTOR_FUNCTIONS for op in ops)
        column = self.kernel.reduces and not self.a.row_mode
        width = 4 * native if (heavy or column) and len(ops) <= 60 else 2 * native
        if by_lane or (column and heavy):
            width = native
        if any(ITEMSIZE[computed(i.dtype)] == 8 for i in self.kernel.code):
            width = max(native // 2, width // 2)
        extent = self.kernel.axes[-1].extent
        while width > 1 and width // 2 >= extent and not self.kernel.dynamic:
            width //= 2
        return width

    def _tiles(self) -> tuple[int, bool]:
        """Independent tiles, and whether the reduced axes must be shared out among threads."""
        tiles = 1
        for axis in self.kept:
            tiles *= -(-self.extents[axis] // self.width) if axis == self.last else self.extents[axis]
        if not self.kernel.reduces or self.kernel.size() * _cost(self.kernel) < SERIAL_WORK:
            return tiles, False
        return tiles, tiles < (_FEW_TILES if len(self.a.passes) == 1 else 2 * _FEW_TILES)

    def _shared_axis(self) -> int:
        """The reduced axis that threads share out: the outermost of many steps, else the longest."""
        if not self.reduced:
            return -1
        long = [axis for axis in self.reduced if self.extents[axis] >= _MANY_STEPS]
        return long[0] if long else max(self.reduced, key=lambda axis: self.extents[axis])

    # -- the module -----------------------------------------------------------------------------------------------
    def write(self) -> Plan:
        f = self.f
        pointers = {}
        for b in range(len(self.kernel.buffers)):
            slot = f.op(f"getelementptr i8, ptr %args, i64 {8 * (FIRST_BUFFER + b)}")
            pointers[b] = f.op(f"load ptr, ptr {slot}, align 8")
        top = _Point(pointers, {}, {}, Mask(1))
        self._constants(top)
        if self.tiles or self.kernel.dynamic:  # no tiles: nothing is written
            if not self.kernel.reduces:
                self._elementwise(top)
            elif self.split and len(self.a.passes) == 1 and not self.a.spilled:
                self._split_reduction(top)
            elif self.split:
                self._split_passes(top)
            else:
                self._tiled_reduction(top)
        work = self.kernel.size() * _cost(self.kernel)
        return Plan(
            self.name, module(self.name, self.f), self.tiles if not self.split else 1 << 20, work, self._scratch_bytes
        )

    def _scratch_bytes(self, threads: int) -> int:
        if self.split:
            return self._partial_bytes(threads) + self.a.spill_bytes(self.width)
        return threads * self.a.spill_bytes(self.width)

    def _partial_bytes(self, threads: int) -> int:
        count = sum(len(reductions) for reductions, _ in self.a.passes)
        return threads * self.tiles * count * self.width * _PARTIAL_SLOT

    # -- values ---------------------------------------------------------------------------------------------------
    def _constants(self, point: _Point) -> None:
        """Values that vary along no axis are computed once per thread."""
        for i in range(len(self.kernel.code)):
            if not self.a.deps[i] and self.a.store_stage(i) == 0 and self.kernel.code[i].op != "reduce":
                self._define(point, i)

    def _operand(self, point: _Point, value: int, width: int) -> str:
        name, have = point.values[value]
        if have == width:
            return name
        return self.f.splat(LLVM_TYPES[computed(self.kernel.code[value].dtype)], name, width)

    def _define(self, point: _Point, value: int) -> None:
        """Write the code of one value at the current point."""
        instr = self.kernel.code[value]
        width = point.mask.width if self.last in self.a.deps[value] else 1
        mask = point.mask if width > 1 else Mask(1)
        point.values[value] = (self._emit(point, instr, width, mask), width)

    def _emit(self, point: _Point, instr: Instr, width: int, mask: Mask) -> str:
        f = self.f
        if instr.op == "const":
            return f.constant(instr.imm, computed(instr.dtype), width)
        if instr.op == "load":
            buffer = self.kernel.buffers[instr.imm]
            return memory.load(f, buffer.dtype, point.pointers[instr.imm], buffer.strides[self.last], mask)
        if instr.op == "load_at":
            return self._load_at(point, instr, width, mask)
        if instr.op == "index":
            return self._index(point, instr, width)
        if instr.op == "cast":
            source = self.kernel.code[instr.args[0]].dtype
            return scalar.cast(f, source, instr.dtype, width, self._operand(point, instr.args[0], width))
        operands = [self._operand(point, a, width) for a in instr.args]
        dtype = self.kernel.code[instr.args[-1]].dtype
        return scalar.OPS[instr.op](f, dtype, width, *operands)

    def _index(self, point: _Point, instr: Instr, width: int) -> str:
        position = point.indices[instr.imm]
        if width == 1:
            value = self.f.op(f"add i64 {position}, 0")
        else:
            value = self.f.op(f"add <{width} x i64> {self.f.splat('i64', position, width)}, {memory.iota(width)}")
        return scalar.cast(self.f, "int64", instr.dtype, width, value)

    def _load_at(self, point: _Point, instr: Instr, width: int, mask: Mask) -> str:
        """Read at run-time positions. Negative ones count from the end; others outside are moved to the border."""
        f = self.f
        number, places = instr.imm
        buffer = self.kernel.buffers[number]
        pointer = point.pointers[number]
        size = ITEMSIZE[buffer.dtype]
        lane_step = buffer.strides[self.last]
        vectors = [width > 1 and point.values[a][1] > 1 for a in instr.args]
        lanes: str | None = None
        for a, (stride, extent), is_vector in zip(instr.args, places, vectors):
            w = width if is_vector else 1
            position = self._wrapped(point, a, extent, w)
            kind = vector("i64", w)
            step = f.op(f"mul {kind} {position}, {f.splat('i64', str(stride * size), w)}")
            if not is_vector:
                pointer = f.op(f"getelementptr i8, ptr {pointer}, i64 {step}")
            else:
                lanes = step if lanes is None else f.op(f"add {kind} {lanes}, {step}")
        if lanes is None:
            return memory.load(f, buffer.dtype, pointer, lane_step, mask)
        if lane_step:
            steps = "<" + ", ".join(f"i64 {i * lane_step * size}" for i in range(width)) + ">"
            lanes = f.op(f"add <{width} x i64> {lanes}, {steps}")
        return memory.load_indexed(f, buffer.dtype, pointer, lanes, mask)

    def _wrapped(self, point: _Point, value: int, extent: int, width: int) -> str:
        f = self.f
        dtype = self.kernel.code[value].dtype
        name = point.values[value][0]
        position = scalar.cast(f, dtype, "int64", width, name)
        zero, size, top = (f.splat("i64", str(n), width) for n in (0, extent, max(extent - 1, 0)))
        wrapped = f.op(f"add {vector('i64', width)} {position}, {size}")
        negative = scalar.compare(f, "lt", "int64", width, position, zero)
        position = scalar.select(f, "int64", width, negative, wrapped, position)
        position = scalar.OPS["max"](f, "int64", width, position, zero)
        return scalar.OPS["min"](f, "int64", width, position, top)

    # -- moving about ---------------------------------------------------------------------------------------------
    def _move(self, point: _Point, axis: int, index: str, wanted: frozenset[int] | None = None) -> None:
        """Add an index along an axis to every pointer (to those of the buffers `wanted` here, when given)."""
        point.indices[axis] = index
        scaled: dict[int, str] = {}
        for b, buffer in enumerate(self.kernel.buffers):
            step = buffer.strides[axis] * ITEMSIZE[buffer.dtype]
            if step and index != "0" and (wanted is None or b in wanted):
                if step not in scaled:
                    scaled[step] = memory.scaled(self.f, index, step)
                point.pointers[b] = self.f.op(f"getelementptr i8, ptr {point.pointers[b]}, i64 {scaled[step]}")

    def _decode(self, point: _Point, axes: list[int], flat: str, counts: dict[int, int]) -> dict[int, str]:
        """Split a flat number into one index per axis, the last axis fastest."""
        f = self.f
        found = dict.fromkeys(reversed(axes), "0")
        walked = [axis for axis in axes if counts[axis] != 1]
        rest = flat
        for axis in reversed(walked[1:]):
            found[axis] = f.op(f"urem i64 {rest}, {counts[axis]}")
            rest = f.op(f"udiv i64 {rest}, {counts[axis]}")
        if walked:
            found[walked[0]] = rest
        return found

    def _share(self, total: str) -> tuple[str, str]:
        """This thread's part [low, high) of range(total)."""
        f = self.f
        padded = f.op(f"add i64 {total}, {f.op('sub i64 %threads, 1')}")
        chunk = f.op(f"udiv i64 {padded}, %threads")
        low = f.op(f"mul i64 %tid, {chunk}")
        end = f.op(f"add i64 {low}, {chunk}")
        high = f.op(f"select i1 {f.op(f'icmp slt i64 {end}, {total}')}, i64 {end}, i64 {total}")
        return low, high

    def _store(self, point: _Point, buffer: int, value: int) -> None:
        target = self.kernel.buffers[buffer]
        stride = target.strides[self.last]
        walks = stride != 0 and point.mask.width > 1
        mask = point.mask if walks else Mask(1)
        instr = self.kernel.code[value]
        operand = self._operand(point, value, mask.width)
        if instr.dtype != target.dtype:
            operand = scalar.cast(self.f, instr.dtype, target.dtype, mask.width, operand)
        memory.store(self.f, target.dtype, point.pointers[buffer], stride, mask, operand)

    # -- without reductions ---------------------------------------------------------------------------------------
    def _elementwise(self, top: _Point) -> None:
        f = self.f
        extent = self.extents[self.last]
        outer = self.kept[:-1]
        if self.kernel.dynamic:
            slot = f.op(f"getelementptr i8, ptr %args, i64 {8 * _EXTENT}")
            count = f.op(f"load i64, ptr {slot}, align 8")
            steps = f.op(f"udiv i64 {count}, {self.width}")
            rest: int | str = f.op(f"urem i64 {count}, {self.width}")
        else:
            steps, rest = str(extent // self.width), extent % self.width
        total = 1
        for axis in outer:
            total *= self.extents[axis]
        if not outer or (total < 8 and extent // self.width >= 64):
            low, high = self._share(steps)
            self._walk_outer(
                top, outer, "0", str(total), lambda point: self._walk_last(point, low, high, steps, rest, True)
            )
        else:
            low, high = self._share(str(total))
            self._walk_outer(
                top, outer, low, high, lambda point: self._walk_last(point, "0", steps, steps, rest, False)
            )

    def _walk_outer(self, top: _Point, outer: list[int], low: str, high: str, body: Callable[[_Point], None]) -> None:
        """Visit positions low..high of the outer axes."""
        if not outer:
            body(top)
            return

        def visit(flat: str, _: list[str]) -> list[str]:
            point = top.copy()
            counts = {axis: self.extents[axis] for axis in outer}
            for axis, index in self._decode(point, outer, flat, counts).items():
                self._move(point, axis, index)
            for i in range(len(self.kernel.code)):
                if self.a.deps[i] and self.last not in self.a.deps[i]:
                    self._define(point, i)
            body(point)
            return []

        self.f.loop(low, high, "1", [], visit)

    def _walk_last(self, outer: _Point, low: str, high: str, steps: str, rest: int | str, shared: bool) -> None:
        """Vectors low..high along the last axis, then the tail (by the last thread when the axis is shared)."""
        f, w = self.f, self.width
        start, stop = (f.op(f"mul i64 {x}, {w}") for x in (low, high))

        def visit(index: str, _: list[str]) -> list[str]:
            self._body(outer, index, Mask(w))
            return []

        if steps != "0":
            f.loop(start, stop, str(w), [], visit)
        if rest == 0:
            return

        def tail() -> None:
            self._body(outer, f.op(f"mul i64 {steps}, {w}"), Mask.first(f, w, rest))

        conditions = []
        if isinstance(rest, str):
            conditions.append(f.op(f"icmp ne i64 {rest}, 0"))
        if shared:
            conditions.append(f.op(f"icmp eq i64 %tid, {f.op('sub i64 %threads, 1')}"))
        if not conditions:
            tail()
            return
        both = conditions[0] if len(conditions) == 1 else f.op(f"and i1 {conditions[0]}, {conditions[1]}")
        f.when(both, tail)

    def _body(self, outer: _Point, index: str, mask: Mask) -> None:
        point = outer.copy(mask)
        self._move(point, self.last, index)
        for i in range(len(self.kernel.code)):
            if self.last in self.a.deps[i]:
                self._define(point, i)
        for buffer, value in self.kernel.stores:
            self._store(point, buffer, value)

    # -- reductions: tiles ----------------------------------------------------------------------------------------
    def _each_tile(self, top: _Point, low: str, high: str, body: Callable[[_Point, str], None]) -> None:
        """Visit tiles low..high; in column mode the last, partial vector of a row gets its own code."""
        f, w = self.f, self.width
        counts = {axis: self.extents[axis] for axis in self.kept}
        column = not self.a.row_mode
        rest = 0
        if column:
            counts[self.last] = -(-self.extents[self.last] // w)
            rest = self.extents[self.last] % w

        def visit(flat: str, _: list[str]) -> list[str]:
            base = top.copy()
            found = self._decode(base, self.kept, flat, counts)
            for axis, index in found.items():
                if not (column and axis == self.last):
                    self._move(base, axis, index)
            if not column:
                body(base, flat)
                return []
            at = memory.scaled(f, found[self.last], w)

            def run(mask: Mask) -> None:
                point = base.copy(mask)
                self._move(point, self.last, at)
                body(point, flat)

            if not rest:
                run(Mask(w))
            elif counts[self.last] == 1:
                run(Mask.first(f, w, rest))
            else:
                whole = f.op(f"icmp ne i64 {found[self.last]}, {counts[self.last] - 1}")
                f.when(whole, lambda: run(Mask(w)))
                f.when(f.op(f"xor i1 {whole}, true"), lambda: run(Mask.first(f, w, rest)))
            return []

        f.loop(low, high, "1", [], visit)

    def _kept_values(self, point: _Point, stage: int) -> None:
        """Values on the kept axes that exist once `stage` passes are done."""
        for i, instr in enumerate(self.kernel.code):
            ready = not self.a.inner(i) and instr.op != "reduce" and self.a.stage[i] == stage
            if ready and i not in point.values:
                self._define(point, i)

    def _kept_stores(self, point: _Point) -> None:
        empty = any(self.extents[axis] == 0 for axis in self.reduced)  # what varies along such an axis has no elements
        for buffer, value in self.kernel.stores:
            if not self.a.full_store(buffer) and not (empty and self.a.inner(value)):
                self._store(point, buffer, value)

    def _tiled_reduction(self, top: _Point) -> None:
        low, high = self._share(str(self.tiles))

        def tile(point: _Point, flat: str) -> None:
            self._kept_values(point, 0)
            spills = self._spill_pointers(f"mul i64 %tid, {self.a.spill_bytes(self.width)}")
            for stage in range(len(self.a.passes)):
                results = self._pass(point, stage, spills, None)
                self._finish(point, stage, results)
                self._kept_values(point, stage + 1)
            self._kept_stores(point)

        self._each_tile(top, low, high, tile)

    def _finish(self, point: _Point, stage: int, accumulators: list[str]) -> None:
        """Turn accumulators into values: in row mode the lanes are combined."""
        for reduction, accumulator in zip(self.a.passes[stage][0], accumulators):
            instr = self.kernel.code[reduction]
            if self.a.row_mode:
                name = scalar.horizontal(self.f, instr.imm, computed(instr.dtype), self.width, accumulator)
                point.values[reduction] = (name, 1)
            else:
                point.values[reduction] = (accumulator, self.width)

    def _spill_pointers(self, start: str) -> dict[int, str]:
        """Where expensive values are kept between passes; `start` computes the first byte within the scratch memory."""
        if not self.a.spilled:
            return {}
        f = self.f
        base = f.op("load ptr, ptr %args, align 8")
        pointer = f.op(f"getelementptr i8, ptr {base}, i64 {f.op(start)}")
        found: dict[int, str] = {}
        points = 1
        for axis in self.reduced:
            points *= self.extents[axis]
        lanes = 1 if self.a.row_mode else self.width
        place = 0
        for value in self.a.spilled:
            found[value] = f.op(f"getelementptr i8, ptr {pointer}, i64 {place}")
            place += -(-points * lanes * ITEMSIZE[computed(self.kernel.code[value].dtype)] // 64) * 64
        return found

    # -- reductions: one pass over the reduced axes ---------------------------------------------------------------
    def _pass(
        self, point: _Point, stage: int, spills: dict[int, str], share: Callable[[str], tuple[str, str]] | None
    ) -> list[str]:
        reductions = self.a.passes[stage][0]
        kinds = [(self.kernel.code[r].imm, computed(self.kernel.code[r].dtype)) for r in reductions]
        at_hand = {v for v, first in self.a.spilled.items() if first < stage}
        body = _PassBody(self, stage, spills, kinds, at_hand, self.a.needed(self.a.roots(stage), at_hand))
        return self._nest(point, self.reduced, body, "0", share)

    def _identities(self, kinds: list[tuple[str, str]]) -> list[tuple[str, str]]:
        f, w = self.f, self.width
        return [(vector(LLVM_TYPES[d], w), f.constant(scalar.identity(k, d), d, w)) for k, d in kinds]

    def _nest(
        self, point: _Point, axes: list[int], body: _PassBody, position: str, share: Callable | None
    ) -> list[str]:
        """Loops over `axes`; returns the accumulators. `position` numbers the points visited, for kept values."""
        f = self.f
        axis = axes[0]
        extent = self.extents[axis]
        initial = self._identities(body.kinds)
        mine = share if axis == self.shared else None
        if axis == self.last:
            return self._vectors(point, body, position, mine)
        low, high = mine(str(extent)) if mine else ("0", str(extent))

        def visit(index: str, accumulators: list[str]) -> list[str]:
            here = point.copy()
            self._move(here, axis, index, body.buffers)
            at = body.position(position, extent, index)
            if len(axes) > 1:
                inner = self._nest(here, axes[1:], body, at, share)
                return self._merge(body.kinds, accumulators, inner)
            return body.visit(here, at, accumulators)

        if len(axes) > 1 or extent <= 2 * _CHUNK:
            return f.loop(low, high, "1", initial, visit, known_nonempty=mine is None and extent > 0)
        return self._chunked(low, high, 1, initial, body.kinds, visit)

    def _merge(self, kinds: list[tuple[str, str]], a: list[str], b: list[str]) -> list[str]:
        return [scalar.combine(self.f, k, d, self.width, x, y) for (k, d), x, y in zip(kinds, a, b)]

    def _chunked(self, low: str, high: str, step: int, initial: list, kinds: list, visit: Callable) -> list[str]:
        """A long loop in chunks, each with its own accumulators."""
        f = self.f

        def chunk(start: str, accumulators: list[str]) -> list[str]:
            end = f.op(f"add i64 {start}, {_CHUNK * step}")
            stop = f.op(f"select i1 {f.op(f'icmp slt i64 {end}, {high}')}, i64 {end}, i64 {high}")
            inner = f.loop(start, stop, str(step), initial, visit, known_nonempty=True)
            return self._merge(kinds, accumulators, inner)

        return f.loop(low, high, str(_CHUNK * step), initial, chunk)

    def _vectors(self, point: _Point, body: _PassBody, position: str, share: Callable | None) -> list[str]:
        """Row mode, innermost: vectors along the last axis, then a masked tail."""
        f, w = self.f, self.width
        extent = self.extents[self.last]
        main, rest = extent // w * w, extent % w
        initial = self._identities(body.kinds)
        results = [value for _, value in initial]

        def visit(index: str, accumulators: list[str], mask: Mask | None = None) -> list[str]:
            here = point.copy(mask or Mask(w))
            self._move(here, self.last, index, body.buffers)
            return body.visit(here, body.position(position, extent, index), accumulators)

        if main:
            low, high = "0", str(main)
            if share:
                low, high = (f.op(f"mul i64 {x}, {w}") for x in share(str(main // w)))
            if main // w > 2 * _CHUNK:
                results = self._chunked(low, high, w, initial, body.kinds, visit)
            else:
                results = f.loop(low, high, str(w), initial, visit, known_nonempty=share is None)
        if rest:
            mask = Mask.first(f, w, rest)
            if not share:
                return visit(str(main), results, mask)
            last = f.op(f"icmp eq i64 %tid, {f.op('sub i64 %threads, 1')}")
            stop = f.op(f"select i1 {last}, i64 {extent}, i64 {main}")
            carried = [(kind, value) for (kind, _), value in zip(initial, results)]
            return f.loop(str(main), stop, str(w), carried, lambda i, accs: visit(i, accs, mask))
        return results

    # -- reductions: few tiles, many threads ----------------------------------------------------------------------
    def _split_reduction(self, top: _Point) -> None:
        f, w = self.f, self.width
        kinds = [(self.kernel.code[r].imm, computed(self.kernel.code[r].dtype)) for r in self.a.passes[0][0]]
        base = f.op("load ptr, ptr %args, align 8")
        slot = w * _PARTIAL_SLOT
        row = len(kinds) * slot

        def place(thread: str, flat: str) -> str:
            number = f.op(f"add i64 {f.op(f'mul i64 {thread}, {self.tiles}')}, {flat}")
            return memory.offset(f, base, number, row)

        def partial(point: _Point, flat: str) -> None:
            self._kept_values(point, 0)
            results = self._pass(point, 0, {}, self._share)
            target = place("%tid", flat)
            for n, ((_, dtype), value) in enumerate(zip(kinds, results)):
                memory.store(f, dtype, memory.offset(f, target, "1", n * slot), 1, Mask(w), value)

        def total(point: _Point, flat: str) -> None:
            def gather(thread: str, accumulators: list[str]) -> list[str]:
                source = place(thread, flat)
                loaded = [
                    memory.load(f, d, memory.offset(f, source, "1", n * slot), 1, Mask(w))
                    for n, (_, d) in enumerate(kinds)
                ]
                return self._merge(kinds, accumulators, loaded)

            results = f.loop("0", "%threads", "1", self._identities(kinds), gather)
            self._kept_values(point, 0)
            self._finish(point, 0, results)
            self._kept_values(point, 1)
            self._kept_stores(point)

        self._each_tile(top, "0", str(self.tiles), partial)
        f.when(f.op("icmp sgt i64 %threads, 1"), lambda: f.call("void", "GOMP_barrier"))
        low, high = self._share(str(self.tiles))
        self._each_tile(top, low, high, total)

    def _split_passes(self, top: _Point) -> None:
        """Several passes over tiles that all threads work on together; each has its part of every pass."""
        f, w = self.f, self.width
        base = f.op("load ptr, ptr %args, align 8")
        slot = w * _PARTIAL_SLOT
        counts = [len(reductions) for reductions, _ in self.a.passes]
        row = sum(counts) * slot
        partial_bytes = f"mul i64 %threads, {self._partial_bytes(1)}"

        def total(stage: int, flat: str, results: list[str]) -> list[str]:
            """Leave this thread's results of a pass, wait for the others', and add all up in order."""
            kinds = [(self.kernel.code[r].imm, computed(self.kernel.code[r].dtype)) for r in self.a.passes[stage][0]]

            def places(thread: str) -> list[str]:
                number = f.op(f"add i64 {f.op(f'mul i64 {thread}, {self.tiles}')}, {flat}")
                start = memory.offset(f, base, number, row)
                first = sum(counts[:stage])
                return [memory.offset(f, start, "1", (first + n) * slot) for n in range(len(kinds))]

            for place, (_, dtype), value in zip(places("%tid"), kinds, results):
                memory.store(f, dtype, place, 1, Mask(w), value)
            f.when(f.op("icmp sgt i64 %threads, 1"), lambda: f.call("void", "GOMP_barrier"))

            def gather(thread: str, accumulators: list[str]) -> list[str]:
                loaded = [memory.load(f, d, place, 1, Mask(w)) for place, (_, d) in zip(places(thread), kinds)]
                return self._merge(kinds, accumulators, loaded)

            return f.loop("0", "%threads", "1", self._identities(kinds), gather)

        def tile(point: _Point, flat: str) -> None:
            self._kept_values(point, 0)
            spills = self._spill_pointers(partial_bytes)
            for stage, (reductions, _) in enumerate(self.a.passes):
                results = self._pass(point, stage, spills, self._share)
                self._finish(point, stage, total(stage, flat, results) if reductions else results)
                self._kept_values(point, stage + 1)
            f.when(f.op("icmp eq i64 %tid, 0"), lambda: self._kept_stores(point))

        self._each_tile(top, "0", str(self.tiles), tile)


class _PassBody:
    """What one pass does at each position: compute, keep or reuse expensive values, store, accumulate."""

    def __init__(
        self,
        writer: _Writer,
        stage: int,
        spills: dict[int, str],
        kinds: list[tuple[str, str]],
        at_hand: set[int],
        values: list[int],
    ):
        self.w = writer
        self.stage = stage
        self.spills = spills
        self.kinds = kinds
        self.at_hand = at_hand
        self.values = values
        code, stores = writer.kernel.code, writer.a.passes[stage][1]
        reads = {
            i.imm if i.op == "load" else i.imm[0] for i in map(code.__getitem__, values) if i.op in ("load", "load_at")
        }
        self.buffers = frozenset(reads | {buffer for buffer, _ in stores})

    def position(self, before: str, extent: int, index: str) -> str:
        """The number of a point within an axis, where values are kept by it."""
        f = self.w.f
        return f.op(f"add i64 {memory.scaled(f, before, extent)}, {index}") if self.spills else "0"

    def visit(self, point: _Point, position: str, accumulators: list[str]) -> list[str]:
        writer = self.w
        f, a = writer.f, writer.a
        for value in self.values:
            if value in self.at_hand:
                point.values[value] = (self._spill_access(point, value, position, None), self._lanes(point, value))
            else:
                writer._define(point, value)
                if a.spilled.get(value) == self.stage:
                    self._spill_access(point, value, position, point.values[value][0])
        reductions, stores = a.passes[self.stage]
        for buffer, value in stores:
            writer._store(point, buffer, value)
        results = []
        for reduction, (kind, dtype), accumulator in zip(reductions, self.kinds, accumulators):
            operand = self._reduced_operand(point, reduction, kind, dtype)
            results.append(scalar.combine(f, kind, dtype, writer.width, accumulator, operand))
        return results

    def _lanes(self, point: _Point, value: int) -> int:
        return point.mask.width if self.w.last in self.w.a.deps[value] else 1

    def _spill_access(self, point: _Point, value: int, position: str, stored: str | None) -> str:
        writer = self.w
        dtype = computed(writer.kernel.code[value].dtype)
        lanes = 1 if writer.a.row_mode else writer.width
        pointer = memory.offset(writer.f, self.spills[value], position, ITEMSIZE[dtype] * lanes)
        width = self._lanes(point, value)
        mask = point.mask if width > 1 and writer.a.row_mode else Mask(width)
        if stored is None:
            return memory.load(writer.f, dtype, pointer, 1, mask)
        memory.store(writer.f, dtype, pointer, 1, mask, stored)
        return ""

    def _reduced_operand(self, point: _Point, reduction: int, kind: str, dtype: str) -> str:
        """The value to accumulate, in the accumulator's type, neutral in the lanes beyond a row's end."""
        writer = self.w
        f, w = writer.f, writer.width
        source = writer.kernel.code[reduction].args[0]
        operand = writer._operand(point, source, w)
        operand = scalar.cast(f, computed(writer.kernel.code[source].dtype), dtype, w, operand)
        if writer.a.row_mode and point.mask.lanes is not None and w > 1:
            neutral = f.constant(scalar.identity(kind, dtype), dtype, w)
            operand = scalar.select(f, dtype, w, point.mask.lanes, operand, neutral)
        return operand
