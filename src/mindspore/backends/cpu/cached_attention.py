"""The kernel of `CachedAttention`: new keys and values go to their pages, then every row attends (`prims/cached_attention.py`).

A unit of work is one row and one head of keys, with the heads of queries that share it:

1. scores of a page are one vector: the sum over the head's width of a query's number times the keys' vector, in four chains; meanwhile
   the next page of keys and this page of values are asked for, since pages lie anywhere and the CPU cannot foresee them;
2. weights are exp(score - largest), stored where the scores were, and their sum;
3. the result is the sum of weight times value vector, token by token, divided by the sum of the weights.

All orders are those of the row's own sequence, so that its bits depend on nothing else. Units of one head of keys follow each other, so
that rows of one sequence find its pages in the cache. Where the heads of keys can be shared out evenly, a thread has some of them to
itself. Otherwise threads share out the rows, wait for each other once the new keys and values are in place, and take rows in
turns, since later rows of a prompt see more.
"""

from __future__ import annotations

from dataclasses import dataclass

from mindspore.backends.cpu import jit, layout, openmp
from mindspore.backends.cpu.codegen import memory, vecmath
from mindspore.backends.cpu.codegen.text import Function, number
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, own_share, pointers, scratch_of_thread, smaller
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims.cached_attention import PAGE, CachedAttention

_SCORES = f"<{PAGE} x float>"
_CHAINS = 4
#: registers for the sums of values
_SUM_REGISTERS = 16


@dataclass(frozen=True)
class Attention:
    """What a kernel depends on. `steps`: elements from row to row of queries, new keys and new values."""

    rows: int
    heads: int
    kv_heads: int
    width: int
    reach: int  # pages of a table
    scale: float
    steps: tuple[int, int, int]
    index: str  # type of positions and tables
    by_heads: bool  # threads share out the heads of keys
    ends: bool = False  # how far a row sees is not its own position

    @property
    def together(self) -> int:
        """Heads of queries that go over a head of keys at once: as many as have their sums in registers."""
        group = self.heads // self.kv_heads
        fit = max(1, _SUM_REGISTERS * 16 // self.width)
        return max(n for n in range(1, group + 1) if group % n == 0 and n <= fit)

    @property
    def scratch(self) -> int:
        return self.together * self.reach * PAGE * 4

    @property
    def page_bytes(self) -> int:
        """Of one head."""
        return self.width * PAGE * 4


def _write(attention: Attention) -> Function:
    return _Writer(attention).write()


class _Writer:
    def __init__(self, attention: Attention):
        self.a = attention
        self.f = Function()
        self.row_kind = f"<{attention.width} x float>"

    def write(self) -> Function:
        f, a = self.f, self.a
        self.out, self.keys, self.values, self.q, self.k, self.v, self.positions, self.tables, *ends = pointers(f, 8 + a.ends)
        self.ends = ends[0] if ends else self.positions
        self.scores = scratch_of_thread(f, a.scratch)
        low, high = own_share(f, a.kv_heads if a.by_heads else a.rows)
        self.heads = (low, high) if a.by_heads else ("0", str(a.kv_heads))
        f.loop(*(("0", str(a.rows)) if a.by_heads else (low, high)), "1", [], self._take_in)
        if not a.by_heads:
            f.when(f.op("icmp sgt i64 %threads, 1"), lambda: f.call("void", "GOMP_barrier"))
        parts = a.heads // a.kv_heads // a.together  # of the queries' heads of a head of keys
        first, last = (f.op(f"mul i64 {head}, {parts}") for head in self.heads)
        f.loop(first, last, "1", [], self._heads)
        f.do("ret void")
        return f

    # -- places
    def _integer(self, pointer: str, place: str) -> str:
        size = 4 if self.a.index == "i32" else 8
        value = self.f.op(f"load {self.a.index}, ptr {memory.offset(self.f, pointer, place, size)}, align {size}")
        return value if self.a.index == "i64" else self.f.op(f"sext i32 {value} to i64")

    def _page(self, row: str, place: str, head: str) -> str:
        """Bytes from the beginning of the cache to a page of a row's sequence, for a head of keys."""
        f, a = self.f, self.a
        page = self._integer(self.tables, f.op(f"add i64 {f.op(f'mul i64 {row}, {a.reach}')}, {place}"))
        lane = f.op(f"add i64 {f.op(f'mul i64 {page}, {a.kv_heads}')}, {head}")
        return f.op(f"mul i64 {lane}, {a.page_bytes}")

    def _float(self, pointer: str, place: str) -> str:
        return self.f.op(f"load float, ptr {memory.offset(self.f, pointer, place, 4)}, align 4")

    # -- new keys and values
    def _take_in(self, row: str, _: list[str]) -> list[str]:
        f, a = self.f, self.a
        position = self._integer(self.positions, row)
        place, within = f.op(f"udiv i64 {position}, {PAGE}"), f.op(f"urem i64 {position}, {PAGE}")
        new_keys = memory.offset(f, self.k, row, 4 * a.steps[1])
        new_values = memory.offset(f, self.v, row, 4 * a.steps[2])

        def head(h: str, _: list[str]) -> list[str]:
            page = self._page(row, place, h)
            column = memory.offset(f, memory.offset(f, self.keys, page, 1), within, 4)
            line = memory.offset(f, memory.offset(f, self.values, page, 1), within, 4 * a.width)
            source = memory.offset(f, new_keys, h, 4 * a.width)

            def element(d: str, _: list[str]) -> list[str]:
                f.do(f"store float {self._float(source, d)}, ptr {memory.offset(f, column, d, 4 * PAGE)}, align 4")
                return []

            f.loop("0", str(a.width), "1", [], element, known_nonempty=True)
            value = f.op(f"load {self.row_kind}, ptr {memory.offset(f, new_values, h, 4 * a.width)}, align 4")
            f.do(f"store {self.row_kind} {value}, ptr {line}, align 4")
            return []

        f.loop(*self.heads, "1", [], head)
        return []

    # -- attention
    def _heads(self, part: str, _: list[str]) -> list[str]:
        """Some heads of queries that share a head of keys."""
        f, a = self.f, self.a
        head = f.op(f"udiv i64 {part}, {a.heads // a.kv_heads // a.together}")
        if a.by_heads:
            f.loop("0", str(a.rows), "1", [], lambda row, _: self._attend(row, head, part), known_nonempty=True)
            return []
        first = f.op(f"urem i64 {f.op(f'add i64 %tid, {part}')}, %threads")  # so that one row's heads go round, too
        f.loop(first, str(a.rows), "%threads", [], lambda row, _: self._attend(row, head, part))
        return []

    def _attend(self, row: str, head: str, part: str) -> list[str]:
        f, a = self.f, self.a
        position = self._integer(self.ends, row)
        pages = f.op(f"add i64 {f.op(f'udiv i64 {position}, {PAGE}')}, 1")
        along = f.op(f"mul i64 {part}, {a.together * a.width * 4}")
        query = memory.offset(f, memory.offset(f, self.q, row, 4 * a.steps[0]), along, 1)
        lowest = f.constant(float("-inf"), "float32", PAGE)
        largest = f.loop(
            "0", pages, "1", [(_SCORES, lowest)] * a.together,
            lambda place, best: self._score(row, head, position, query, place, best), known_nonempty=True,
        )  # fmt: skip
        tops = [
            f.splat("float", f.call("float", f"llvm.vector.reduce.fmax.v{PAGE}f32", (_SCORES, best)), PAGE) for best in largest
        ]
        sums = f.loop(
            "0", pages, "1", [(_SCORES, "zeroinitializer")] * a.together,
            lambda place, sums: self._weigh(place, tops, sums), known_nonempty=True,
        )  # fmt: skip
        out = f.loop(
            "0", pages, "1", [(self.row_kind, "zeroinitializer")] * a.together,
            lambda place, out: self._gather(row, head, position, place, out), known_nonempty=True,
        )  # fmt: skip
        target = memory.offset(f, memory.offset(f, self.out, row, 4 * a.heads * a.width), along, 1)
        for n, (total, found) in enumerate(zip(sums, out)):
            total = f.call("float", f"llvm.vector.reduce.fadd.v{PAGE}f32", ("float", "0.0"), (_SCORES, total))
            mean = f.op(f"fdiv {self.row_kind} {found}, {f.splat('float', total, a.width)}")
            f.do(f"store {self.row_kind} {mean}, ptr {memory.offset(f, target, '1', n * 4 * a.width)}, align 4")
        return []

    def _place_of_scores(self, n: int, place: str) -> str:
        start = memory.offset(self.f, self.scores, "1", n * self.a.reach * PAGE * 4)
        return memory.offset(self.f, start, place, PAGE * 4)

    def _score(self, row: str, head: str, position: str, query: str, place: str, best: list[str]) -> list[str]:
        f, a = self.f, self.a
        here = self._page(row, place, head)
        following = self._page(row, smaller(f, f.op(f"add i64 {place}, 1"), a.reach - 1), head)
        keys = memory.offset(f, self.keys, here, 1)
        ahead = [memory.offset(f, self.keys, following, 1), memory.offset(f, self.values, here, 1)]
        chains = _CHAINS if a.width % _CHAINS == 0 else 1

        def step(d: str, sums: list[str]) -> list[str]:
            found = list(sums)
            for c in range(chains):
                for page in ahead:
                    line = memory.offset(f, page, f.op(f"add i64 {d}, {c}"), PAGE * 4)
                    f.call("void", "llvm.prefetch.p0", ("ptr", line), ("i32", "0"), ("i32", "2"), ("i32", "1"))
                at = f.op(f"add i64 {d}, {c}")
                across = f.op(f"load {_SCORES}, ptr {memory.offset(f, keys, at, PAGE * 4)}, align 4")
                for n in range(a.together):
                    own = self._float(memory.offset(f, query, "1", n * 4 * a.width), at)
                    slot = n * chains + c
                    found[slot] = f.intrinsic("fma", "float32", PAGE, f.splat("float", own, PAGE), across, found[slot])
            return found

        nothing = [(_SCORES, "zeroinitializer")] * (a.together * chains)
        sums = f.loop("0", str(a.width), str(chains), nothing, step, known_nonempty=True)
        behind = f.op(f"sub i64 {position}, {f.op(f'mul i64 {place}, {PAGE}')}")
        visible = f.op(f"icmp sle <{PAGE} x i64> {memory.iota(PAGE)}, {f.splat('i64', behind, PAGE)}")
        found = []
        for n in range(a.together):
            mine = sums[n * chains : (n + 1) * chains]
            while len(mine) > 1:
                mine = [f.op(f"fadd {_SCORES} {x}, {y}") for x, y in zip(mine[::2], mine[1::2])]
            scaled = f.op(f"fmul {_SCORES} {mine[0]}, {f.splat('float', number(a.scale, 'float32'), PAGE)}")
            lowest = f.constant(float("-inf"), "float32", PAGE)
            seen = f.op(f"select <{PAGE} x i1> {visible}, {_SCORES} {scaled}, {_SCORES} {lowest}")
            f.do(f"store {_SCORES} {seen}, ptr {self._place_of_scores(n, place)}, align 4")
            higher = f.op(f"fcmp ogt {_SCORES} {seen}, {best[n]}")
            found.append(f.op(f"select <{PAGE} x i1> {higher}, {_SCORES} {seen}, {_SCORES} {best[n]}"))
        return found

    def _weigh(self, place: str, tops: list[str], sums: list[str]) -> list[str]:
        f = self.f
        found = []
        for n, (top, total) in enumerate(zip(tops, sums)):
            at = self._place_of_scores(n, place)
            score = f.op(f"load {_SCORES}, ptr {at}, align 4")
            weight = vecmath.exp(f, f.op(f"fsub {_SCORES} {score}, {top}"), PAGE)
            f.do(f"store {_SCORES} {weight}, ptr {at}, align 4")
            found.append(f.op(f"fadd {_SCORES} {total}, {weight}"))
        return found

    def _gather(self, row: str, head: str, position: str, place: str, out: list[str]) -> list[str]:
        f, a = self.f, self.a
        values = memory.offset(f, self.values, self._page(row, place, head), 1)
        behind = f.op(f"sub i64 {position}, {f.op(f'mul i64 {place}, {PAGE}')}")
        count = smaller(f, f.op(f"add i64 {behind}, 1"), PAGE)
        weights = [self._place_of_scores(n, place) for n in range(a.together)]

        def token(t: str, sums: list[str]) -> list[str]:
            value = f.op(f"load {self.row_kind}, ptr {memory.offset(f, values, t, 4 * a.width)}, align 4")
            factors = [f.splat("float", self._float(at, t), a.width) for at in weights]
            return [f.intrinsic("fma", "float32", a.width, x, value, s) for x, s in zip(factors, sums)]

        return f.loop("0", count, "1", [(self.row_kind, s) for s in out], token, known_nonempty=True)


@handles(CachedAttention)
def _cached_attention(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    q, k, v, keys, values, positions, tables, *ends = operands
    index = {"int32": "i32", "int64": "i64"}.get(positions.dtype)
    if jit.vector_bits() < 256 or q.dtype != "float32" or index is None or any(view.dtype != positions.dtype for view in (tables, *ends)):
        raise Unsupported("cached attention of these types")
    q, k, v = (_by_rows(lowering, view) for view in (q, k, v))
    rows, heads, width = q.shape
    by_number = {item.attr: item for item in items}
    caches = [
        lowering.updated(view, by_number.get(n)) for n, view in ((1, keys), (2, values))
    ]  # new values of the caches, in their own memory if nobody else reads them
    target = lowering.result_view(by_number[0]) if 0 in by_number else lowering.allocate("float32", q.shape)
    by_heads = k.shape[1] % openmp.threads() == 0
    steps = tuple((layout.strides(view) or (0,))[0] for view in (q, k, v))
    attention = Attention(rows, heads, k.shape[1], width, tables.shape[1], call.attr.prim.scale, steps, index, by_heads, bool(ends))  # type: ignore[arg-type]
    reads = [q, k, v, *(lowering.plain(view) for view in (positions, tables, *ends))]
    work = rows * heads * width * PAGE * tables.shape[1]
    emit(lowering, "cached attention", compiled(_write, attention), [target, *caches], reads, work, attention.scratch)
    for n, view in enumerate((target, *caches)):
        if n in by_number:
            lowering.views[by_number[n].id] = view


def _by_rows(lowering: Lowering, view: View) -> View:
    """Rows may lie apart; each must be without gaps."""
    found = layout.strides(view)
    inner = (view.shape[2] if view.shape[1] > 1 else None, 1 if view.shape[2] > 1 else None)
    fits = found is not None and all(want is None or have == want for have, want in zip(found[1:], inner))
    return view if fits else lowering.plain(view)
