"""Sorting, the largest elements, and search in sorted rows.

An element becomes a whole number that is ordered as it is (for floats: the sign bit flipped, or all bits of negative
ones), with its position below it. Such records are all different, so that any way of sorting them is stable. Short lines
are sorted by insertion, long ones by their digits of 8 bits from the lowest up (Knuth, vol. 3, 5.2.5); digits in which
all agree are skipped. NaN counts as the largest number, as in NumPy, and -0 equals 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mindspore.backends.cpu.codegen import memory, scalar
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import (
    ITEMSIZE,
    LLVM_TYPES,
    MEMORY_TYPES,
    Function,
    computed,
    is_float,
    is_signed,
)
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, own_share, pointers, scratch_of_thread, smaller
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims.sorting import SearchSorted, Sort, TopK

_SHORT = 48  # lines up to here are sorted by insertion
_ONE = Mask(1)


@dataclass(frozen=True)
class Order:
    """The first `kept` of each sorted line along the middle of (outer, count, inner)."""

    dtype: str
    outer: int
    count: int
    inner: int
    kept: int
    descending: bool

    @property
    def bits(self) -> int:
        """Of a key."""
        return 8 * ITEMSIZE[computed(self.dtype)]

    @property
    def record(self) -> int:
        """Bytes of a key and its position."""
        return 16 if self.bits == 64 else 8

    @property
    def scratch(self) -> int:
        """Bytes: two buffers of records, the counts of every digit, the addresses of the buffers."""
        return -(-(2 * self.count * self.record + self.bits // 8 * 1024 + 16) // 64) * 64


def _write(order: Order) -> Function:
    return _Sorter(order).write()


class _Sorter:
    def __init__(self, order: Order):
        self.o = order
        self.f = Function()
        self.t = f"i{8 * order.record}"
        self.low_bits = 4 * order.record  # of the position

    def write(self) -> Function:
        f, o = self.f, self.o
        self.values, self.places, self.source = pointers(f, 3)
        self.first = scratch_of_thread(f, o.scratch)
        self.second = f.op(f"getelementptr i8, ptr {self.first}, i64 {o.count * o.record}")
        self.counts = f.op(f"getelementptr i8, ptr {self.second}, i64 {o.count * o.record}")
        self.here = f.op(f"getelementptr i8, ptr {self.counts}, i64 {o.bits // 8 * 1024}")
        low, high = own_share(f, o.outer * o.inner)
        f.loop(low, high, "1", [], self._line)
        return f

    def _line(self, number: str, _: list[str]) -> list[str]:
        f, o = self.f, self.o
        row, column = f.op(f"udiv i64 {number}, {o.inner}"), f.op(f"urem i64 {number}, {o.inner}")
        start = f.op(f"add i64 {f.op(f'mul i64 {row}, {o.count * o.inner}')}, {column}")
        base = memory.offset(f, self.source, start, ITEMSIZE[o.dtype])
        f.do(f"store ptr {self.first}, ptr {self.here}, align 8")
        if o.count <= _SHORT:
            self._insert(base)
        else:
            self._distribute(base)
        target = f.op(f"add i64 {f.op(f'mul i64 {row}, {o.kept * o.inner}')}, {column}")
        self._copy_out(base, target)
        return []

    # -- records --------------------------------------------------------------------------------------------------
    def _key(self, base: str, i: str) -> str:
        """An element as an unsigned number of the same order."""
        f, o = self.f, self.o
        value = memory.load(f, o.dtype, memory.offset(f, base, i, o.inner * ITEMSIZE[o.dtype]), 1, _ONE)
        t = f"i{o.bits}"
        sign = f"{1 << (o.bits - 1)}"
        if o.dtype == "bool_":
            value = f.op(f"zext i1 {value} to i8")
        elif is_float(o.dtype):
            kind, dtype = LLVM_TYPES[computed(o.dtype)], computed(o.dtype)
            plus = f.op(f"fadd {kind} {value}, 0.0")
            nan = f.op(f"fcmp uno {kind} {plus}, {plus}")
            plus = f.op(f"select i1 {nan}, {kind} {f.constant(math.nan, dtype, 1)}, {kind} {plus}")
            bits = f.op(f"bitcast {kind} {plus} to {t}")
            flip = f.op(f"or {t} {f.op(f'ashr {t} {bits}, {o.bits - 1}')}, {sign}")
            value = f.op(f"xor {t} {bits}, {flip}")
        elif is_signed(o.dtype):
            value = f.op(f"xor {t} {value}, {sign}")
        return f.op(f"xor {t} {value}, -1") if o.descending else value

    def _record(self, base: str, i: str) -> str:
        f = self.f
        wide = f.op(f"zext i{self.o.bits} {self._key(base, i)} to {self.t}")
        high = f.op(f"shl {self.t} {wide}, {self.low_bits}")
        index = i if self.t == "i64" else f.op(f"zext i64 {i} to {self.t}")
        return f.op(f"or {self.t} {high}, {index}")

    def _load(self, buffer: str, i: str) -> str:
        return self.f.op(f"load {self.t}, ptr {memory.offset(self.f, buffer, i, self.o.record)}, align 8")

    def _store(self, buffer: str, i: str, record: str) -> None:
        self.f.do(f"store {self.t} {record}, ptr {memory.offset(self.f, buffer, i, self.o.record)}, align 8")

    # -- short lines ----------------------------------------------------------------------------------------------
    def _insert(self, base: str) -> None:
        """Each record sinks below the larger ones before it."""
        f = self.f

        def one(i: str, _: list[str]) -> list[str]:
            record = self._record(base, i)
            before = f.block
            test, look, shift, done = (f.new_label() for _ in range(4))
            f.do(f"br label {test}")
            f.label(test)
            place, at = f.fresh(), len(f.lines)
            f.do(f"br i1 {f.op(f'icmp sgt i64 {place}, 0')}, label {look}, label {done}")
            f.label(look)
            below = f.op(f"sub i64 {place}, 1")
            other = self._load(self.first, below)
            f.do(f"br i1 {f.op(f'icmp ugt {self.t} {other}, {record}')}, label {shift}, label {done}")
            f.label(shift)
            self._store(self.first, place, other)
            f.do(f"br label {test}")
            f.lines.insert(at, f"  {place} = phi i64 [ {i}, %{before} ], [ {below}, {shift} ]")
            f.label(done)
            self._store(self.first, place, record)
            return []

        f.loop("0", str(self.o.count), "1", [], one)

    # -- long lines -----------------------------------------------------------------------------------------------
    def _digit(self, record: str, number: int) -> str:
        f = self.f
        shifted = f.op(f"lshr {self.t} {record}, {self.low_bits + 8 * number}")
        return f.op(f"zext i8 {f.op(f'trunc {self.t} {shifted} to i8')} to i64")

    def _counter(self, number: int, digit: str) -> str:
        f = self.f
        return memory.offset(f, f.op(f"getelementptr i8, ptr {self.counts}, i64 {1024 * number}"), digit, 4)

    def _distribute(self, base: str) -> None:
        f, o = self.f, self.o
        digits = o.bits // 8

        def clear(i: str, _: list[str]) -> list[str]:
            f.do(f"store <16 x i32> zeroinitializer, ptr {memory.offset(f, self.counts, i, 64)}, align 4")
            return []

        def count(i: str, _: list[str]) -> list[str]:
            record = self._record(base, i)
            self._store(self.first, i, record)
            for number in range(digits):
                counter = self._counter(number, self._digit(record, number))
                known = f.op(f"load i32, ptr {counter}, align 4")
                f.do(f"store i32 {f.op(f'add i32 {known}, 1')}, ptr {counter}, align 4")
            return []

        f.loop("0", str(digits * 16), "1", [], clear)
        f.loop("0", str(o.count), "1", [], count)
        for number in range(digits):
            self._pass(number)

    def _pass(self, number: int) -> None:
        """Move the records to the other buffer in the order of one digit."""
        f, o = self.f, self.o
        source = f.op(f"load ptr, ptr {self.here}, align 8")
        some = f.op(f"load i32, ptr {self._counter(number, self._digit(self._load(source, '0'), number))}, align 4")

        def add_up(i: str, total: list[str]) -> list[str]:
            counter = self._counter(number, i)
            own = f.op(f"load i32, ptr {counter}, align 4")
            f.do(f"store i32 {total[0]}, ptr {counter}, align 4")
            return [f.op(f"add i32 {total[0]}, {own}")]

        def run() -> None:
            turned = f.op(f"icmp eq ptr {source}, {self.first}")
            target = f.op(f"select i1 {turned}, ptr {self.second}, ptr {self.first}")

            def move(i: str, _: list[str]) -> list[str]:
                record = self._load(source, i)
                counter = self._counter(number, self._digit(record, number))
                place = f.op(f"load i32, ptr {counter}, align 4")
                self._store(target, f.op(f"zext i32 {place} to i64"), record)
                f.do(f"store i32 {f.op(f'add i32 {place}, 1')}, ptr {counter}, align 4")
                return []

            f.loop("0", "256", "1", [("i32", "0")], add_up)
            f.loop("0", str(o.count), "1", [], move)
            f.do(f"store ptr {target}, ptr {self.here}, align 8")

        f.when(f.op(f"icmp ne i32 {some}, {o.count}"), run)

    # -- results --------------------------------------------------------------------------------------------------
    def _copy_out(self, base: str, target: str) -> None:
        f, o = self.f, self.o
        size, raw = ITEMSIZE[o.dtype], MEMORY_TYPES[o.dtype]
        source = f.op(f"load ptr, ptr {self.here}, align 8")

        def one(i: str, _: list[str]) -> list[str]:
            index = f.op(f"trunc {self.t} {self._load(source, i)} to i32")
            wide = f.op(f"zext i32 {index} to i64")
            at = f.op(f"add i64 {target}, {f.op(f'mul i64 {i}, {o.inner}')}")
            value = f.op(f"load {raw}, ptr {memory.offset(f, base, wide, o.inner * size)}, align {size}")
            f.do(f"store {raw} {value}, ptr {memory.offset(f, self.values, at, size)}, align {size}")
            f.do(f"store i32 {index}, ptr {memory.offset(f, self.places, at, 4)}, align 4")
            return []

        f.loop("0", str(o.kept), "1", [], one)


@handles(Sort, TopK)
def _sort(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, x = call.attr.prim, operands[0]
    if x.dtype not in MEMORY_TYPES or not x.shape or x.size >= 1 << 31:
        raise Unsupported(f"sorting {x.dtype}")
    top = isinstance(prim, TopK)
    if top and not prim.sorted:
        raise Unsupported("the largest elements in the order they stand in")
    axis = -1 if top else prim.axis
    axis %= len(x.shape)
    kept = call.attr.template[1] if top else x.shape[axis]
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    order = Order(x.dtype, outer, x.shape[axis], inner, kept, top or prim.descending)
    found = {}
    for item in items:
        found[item.attr] = lowering.views[item.id] = lowering.result_view(item)
    targets = [found.get(n) or lowering.allocate(kind, items[0].shape) for n, kind in enumerate((x.dtype, "int32"))]
    work = 16 * x.size if outer * inner > 1 else 0
    emit(lowering, "sort", compiled(_write, order), targets, [lowering.plain(x)], work, order.scratch)


# -- search ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Search:
    """`rows` lines of `count` sorted elements (one for all if `shared`), in each of which `sought` values are looked up."""

    dtype: str
    result: str
    rows: int
    count: int
    sought: int
    shared: bool
    right: bool


def _write_search(search: Search) -> Function:
    f = Function()
    target, line, values = pointers(f, 3)
    dtype, size = computed(search.dtype), ITEMSIZE[search.dtype]

    def before(a: str, b: str) -> str:
        """a < b with NaN above all."""
        less = scalar.compare(f, "lt", dtype, 1, a, b)
        if not is_float(dtype):
            return less
        kind = LLVM_TYPES[dtype]
        last = f.op(f"and i1 {f.op(f'fcmp uno {kind} {b}, {b}')}, {f.op(f'fcmp ord {kind} {a}, {a}')}")
        return f.op(f"or i1 {less}, {last}")

    def one(i: str, _: list[str]) -> list[str]:
        value = memory.load(f, search.dtype, memory.offset(f, values, i, size), 1, _ONE)
        row = "0" if search.shared else f.op(f"udiv i64 {i}, {search.sought}")
        base = memory.offset(f, line, row, search.count * size)

        def halve(_: str, known: list[str]) -> list[str]:
            start, length = known
            half = f.op(f"lshr i64 {length}, 1")
            middle = smaller(f, f.op(f"add i64 {start}, {half}"), search.count - 1)
            other = memory.load(f, search.dtype, memory.offset(f, base, middle, size), 1, _ONE)
            if search.right:
                beyond = f.op(f"xor i1 {before(value, other)}, true")
            else:
                beyond = before(other, value)
            beyond = f.op(f"and i1 {beyond}, {f.op(f'icmp sgt i64 {length}, 0')}")
            upper = f.op(f"sub i64 {f.op(f'sub i64 {length}, {half}')}, 1")
            return [
                f.op(f"select i1 {beyond}, i64 {f.op(f'add i64 {middle}, 1')}, i64 {start}"),
                f.op(f"select i1 {beyond}, i64 {upper}, i64 {half}"),
            ]

        steps = search.count.bit_length()
        found = f.loop("0", str(steps), "1", [("i64", "0"), ("i64", str(search.count))], halve, known_nonempty=True)
        out = scalar.cast(f, "int64", search.result, 1, found[0])
        memory.store(f, search.result, memory.offset(f, target, i, ITEMSIZE[search.result]), 1, _ONE, out)
        return []

    low, high = own_share(f, search.rows * search.sought)
    f.loop(low, high, "1", [], one)
    return f


@handles(SearchSorted)
def _search(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    prim, (line, values) = call.attr.prim, operands
    if line.dtype != values.dtype or line.dtype not in MEMORY_TYPES or line.dtype == "bool_" or not line.shape:
        raise Unsupported(f"a search for {values.dtype} among {line.dtype}")
    shared = len(line.shape) == 1
    sought = values.size if shared else values.shape[-1]
    rows = 1 if shared else values.size // sought
    search = Search(line.dtype, items[0].dtype, rows, line.shape[-1], sought, shared, prim.right)
    target = lowering.views[items[0].id] = lowering.result_view(items[0])
    work = values.size * line.shape[-1].bit_length()
    reads = [lowering.plain(line), lowering.plain(values)]
    emit(lowering, "search", compiled(_write_search, search), [target], reads, work)
