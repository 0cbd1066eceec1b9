"""The kernel of `CachedAttention`: new keys and values go to their pages, then every row attends (`prims/cached_attention.py`).

A unit of work is one row and one head of keys, with the heads of queries that share it:

1. scores of a page are one vector: the sum over the head's width of a query's number times the keys' vector, in four chains; meanwhile
   the next page of keys and this page of values are asked for, since pages lie anywhere and the CPU cannot foresee them;
2. weights are exp(score - largest), stored where the scores were, and their sum;
3. the result is the sum of weight times value vector, token by token, divided by the sum of the weights.

All orders are those of the row's own sequence, so that its bits depend on nothing else. Rows of a prompt that have the same pages
go over them in tiles, so that keys and values are loaded once for all of them; a row's sums have the same order as without the
others. Units of one head of keys follow each other, so that rows of one sequence find its pages in the cache. Where the heads of
keys can be shared out evenly, a thread has some of them to itself. Otherwise threads share out the rows, wait for each other once the
new keys and values are in place, and take rows in turns, since later rows of a prompt see more.
"""

from __future__ import annotations

from dataclasses import dataclass

from mindspore.backends.cpu import jit, layout, openmp
from mindspore.backends.cpu.codegen import memory, vecmath
from mindspore.backends.cpu.codegen.text import Function, number
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, either, emit, own_share, pointers, scratch_of_thread, smaller
from mindspore.compiler.fuse.loopir import Unsupported, Value
from mindspore.prims.cached_attention import PAGE, CachedAttention

_SCORES = f"<{PAGE} x float>"
_CHAINS = 4
#: registers for the sums of values, and for those of several rows
_SUM_REGISTERS, _TILE_REGISTERS = 16, 24
_CACHE_LINE = 64


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
    ends: bool  # how far a row sees is not its own position
    cache: str  # type of the cache: float32 or float16
    window: int  # tokens that a row sees at most; 0: any number

    @property
    def together(self) -> int:
        """Heads of queries that go over a head of keys at once: as many as have their sums in registers."""
        group = self.heads // self.kv_heads
        fit = max(1, _SUM_REGISTERS * 16 // self.width)
        return max(n for n in range(1, group + 1) if group % n == 0 and n <= fit)

    @property
    def tile(self) -> int:
        """Rows of one sequence that go over its pages at once: as many as have the sums of their scores and values in registers."""
        lines = _TILE_REGISTERS // max(_CHAINS, -(-self.width // 16))
        found = max(1, lines // self.together) if jit.vector_bits() == 512 else 1
        return found if self.rows >= 2 * found else 1

    @property
    def scratch(self) -> int:
        return self.tile * self.together * self.reach * PAGE * 4

    @property
    def cache_bytes(self) -> int:
        return 4 if self.cache == "float32" else 2

    @property
    def page_bytes(self) -> int:
        """Of one head."""
        return self.width * PAGE * self.cache_bytes


def _write(attention: Attention) -> Function:
    return _Writer(attention).write()


class _Writer:
    def __init__(self, attention: Attention):
        self.a = attention
        self.f = Function()
        self.row_kind = f"<{attention.width} x float>"

    def write(self) -> Function:
        f, a = self.f, self.a
        self.out, self.keys, self.values, self.q, self.k, self.v, self.positions, self.tables, *ends = pointers(
            f, 8 + a.ends
        )
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
            column = memory.offset(f, memory.offset(f, self.keys, page, 1), within, a.cache_bytes)
            line = memory.offset(f, memory.offset(f, self.values, page, 1), within, a.cache_bytes * a.width)
            source = memory.offset(f, new_keys, h, 4 * a.width)

            def element(d: str, _: list[str]) -> list[str]:
                self._keep(self._float(source, d), memory.offset(f, column, d, a.cache_bytes * PAGE), 1)
                return []

            f.loop("0", str(a.width), "1", [], element, known_nonempty=True)
            value = f.op(f"load {self.row_kind}, ptr {memory.offset(f, new_values, h, 4 * a.width)}, align 4")
            self._keep(value, line, a.width)
            return []

        f.loop(*self.heads, "1", [], head)
        return []

    def _keep(self, value: str, place: str, count: int) -> None:
        """Numbers go to the cache."""
        f, a = self.f, self.a
        wide, narrow = ("float", "half") if count == 1 else (f"<{count} x float>", f"<{count} x half>")
        if a.cache == "float32":
            f.do(f"store {wide} {value}, ptr {place}, align 4")
        else:
            f.do(f"store {narrow} {f.op(f'fptrunc {wide} {value} to {narrow}')}, ptr {place}, align 2")

    # -- attention
    def _heads(self, part: str, _: list[str]) -> list[str]:
        """Some heads of queries that share a head of keys."""
        f, a = self.f, self.a
        head = f.op(f"udiv i64 {part}, {a.heads // a.kv_heads // a.together}")
        # in turns, so that one row's heads go round, too
        first, step = (
            ("0", "1") if a.by_heads else (f.op(f"urem i64 {f.op(f'add i64 %tid, {part}')}, %threads"), "%threads")
        )
        tiles = a.rows // a.tile if a.tile > 1 else 0
        if tiles:
            f.loop(
                first, str(tiles), step, [], lambda tile, _: self._tile(f.op(f"mul i64 {tile}, {a.tile}"), head, part)
            )
        begin = first if not tiles else f.op(f"add i64 {first}, {tiles * a.tile}")
        f.loop(begin, str(a.rows), step, [], lambda row, _: self._attend(row, head, part, 1))
        return []

    def _tile(self, row: str, head: str, part: str) -> list[str]:
        """Rows of one sequence go over its pages together, others one by one."""
        f, a = self.f, self.a
        end = f.op(f"add i64 {row}, {a.tile}")
        either(
            f, self._same_tables(row),
            lambda: self._attend(row, head, part, a.tile),
            lambda: f.loop(row, end, "1", [], lambda one, _: self._attend(one, head, part, 1), known_nonempty=True),
        )  # fmt: skip
        return []

    def _same_tables(self, row: str) -> str:
        """Whether the rows of a tile have the same pages."""
        f, a = self.f, self.a
        size = 4 if a.index == "i32" else 8
        nbytes = a.reach * size
        table = memory.offset(f, self.tables, row, nbytes)

        def entry(place: str, differ: list[str]) -> list[str]:
            places = [memory.offset(f, memory.offset(f, table, str(r), nbytes), place, size) for r in range(a.tile)]
            first, *others = (f.op(f"load {a.index}, ptr {at}, align {size}") for at in places)
            found = differ[0]
            for other in others:
                found = f.op(f"or {a.index} {found}, {f.op(f'xor {a.index} {first}, {other}')}")
            return [found]

        (differ,) = f.loop("0", str(a.reach), "1", [(a.index, "0")], entry, known_nonempty=True)
        return f.op(f"icmp eq {a.index} {differ}, 0")

    def _attend(self, row: str, head: str, part: str, rows: int) -> list[str]:
        """Rows of one sequence, each with some heads: line by line the same sums in the same order as a row by itself."""
        f, a = self.f, self.a
        along = f.op(f"mul i64 {part}, {a.together * a.width * 4}")
        mine = [row, *(f.op(f"add i64 {row}, {r}") for r in range(1, rows))]
        ends = [self._integer(self.ends, one) for one in mine]
        pages = [f.op(f"add i64 {f.op(f'udiv i64 {end}, {PAGE}')}, 1") for end in ends]
        furthest = pages[0]
        for other in pages[1:]:
            furthest = f.op(f"select i1 {f.op(f'icmp sgt i64 {furthest}, {other}')}, i64 {furthest}, i64 {other}")
        queries = [memory.offset(f, memory.offset(f, self.q, one, 4 * a.steps[0]), along, 1) for one in mine]
        lowest = f.constant(float("-inf"), "float32", PAGE)
        begin = self._first_page(ends)
        largest = f.loop(
            begin, furthest, "1", [(_SCORES, lowest)] * (rows * a.together),
            lambda place, best: self._score(row, head, ends, queries, place, best), known_nonempty=True,
        )  # fmt: skip
        tops = [
            f.splat("float", f.call("float", f"llvm.vector.reduce.fmax.v{PAGE}f32", (_SCORES, best)), PAGE)
            for best in largest
        ]
        sums = f.loop(
            begin, furthest, "1", [(_SCORES, "zeroinitializer")] * (rows * a.together),
            lambda place, sums: self._weigh(place, tops, sums), known_nonempty=True,
        )  # fmt: skip
        out = self._gathered(row, head, ends, begin, pages)
        for r, one in enumerate(mine):
            target = memory.offset(f, memory.offset(f, self.out, one, 4 * a.heads * a.width), along, 1)
            for n in range(a.together):
                line = r * a.together + n
                total = f.call("float", f"llvm.vector.reduce.fadd.v{PAGE}f32", ("float", "0.0"), (_SCORES, sums[line]))
                mean = f.op(f"fdiv {self.row_kind} {out[line]}, {f.splat('float', total, a.width)}")
                f.do(f"store {self.row_kind} {mean}, ptr {memory.offset(f, target, '1', n * 4 * a.width)}, align 4")
        return []

    def _first_page(self, ends: list[str]) -> str:
        """The first page of which any of the rows sees something. What others do not see of it weighs 0, which changes no bit of theirs."""
        f, window = self.f, self.a.window
        if not window:
            return "0"
        nearest = ends[0]
        for other in ends[1:]:
            nearest = smaller(f, nearest, other)
        token = f.op(f"sub i64 {nearest}, {window - 1}")
        there = f.op(f"icmp sgt i64 {token}, 0")
        return f.op(f"udiv i64 {f.op(f'select i1 {there}, i64 {token}, i64 0')}, {PAGE}")

    def _place_of_scores(self, line: int, place: str) -> str:
        start = memory.offset(self.f, self.scores, "1", line * self.a.reach * PAGE * 4)
        return memory.offset(self.f, start, place, PAGE * 4)

    def _score(
        self, row: str, head: str, ends: list[str], queries: list[str], place: str, best: list[str]
    ) -> list[str]:
        f, a = self.f, self.a
        keys = memory.offset(f, self.keys, self._page(row, place, head), 1)
        ahead = [] if len(queries) > 1 else self._needed_next(row, head, place)
        chains = _CHAINS if a.width % _CHAINS == 0 else 1
        lines = [memory.offset(f, query, "1", n * 4 * a.width) for query in queries for n in range(a.together)]

        def step(d: str, sums: list[str]) -> list[str]:
            found = list(sums)
            for c in range(chains):
                at = f.op(f"add i64 {d}, {c}")
                across = self._cached(memory.offset(f, keys, at, PAGE * a.cache_bytes), PAGE)
                if c * PAGE * a.cache_bytes % _CACHE_LINE == 0:
                    for page in ahead:
                        here = memory.offset(f, page, at, PAGE * a.cache_bytes)
                        f.call("void", "llvm.prefetch.p0", ("ptr", here), ("i32", "0"), ("i32", "2"), ("i32", "1"))
                for number_, line in enumerate(lines):
                    slot = number_ * chains + c
                    own = f.splat("float", self._float(line, at), PAGE)
                    found[slot] = f.intrinsic("fma", "float32", PAGE, own, across, found[slot])
            return found

        nothing = [(_SCORES, "zeroinitializer")] * (len(lines) * chains)
        sums = f.loop("0", str(a.width), str(chains), nothing, step, known_nonempty=True)
        begin = f.op(f"mul i64 {place}, {PAGE}")
        lowest = f.constant(float("-inf"), "float32", PAGE)
        found = []
        for line in range(len(lines)):
            mine = sums[line * chains : (line + 1) * chains]
            while len(mine) > 1:
                mine = [f.op(f"fadd {_SCORES} {x}, {y}") for x, y in zip(mine[::2], mine[1::2])]
            scaled = f.op(f"fmul {_SCORES} {mine[0]}, {f.splat('float', number(a.scale, 'float32'), PAGE)}")
            behind = f.splat("i64", f.op(f"sub i64 {ends[line // a.together]}, {begin}"), PAGE)
            visible = f.op(f"icmp sle <{PAGE} x i64> {memory.iota(PAGE)}, {behind}")
            if a.window:
                hidden = f.op(f"sub <{PAGE} x i64> {behind}, {f.splat('i64', str(a.window), PAGE)}")
                near = f.op(f"icmp sgt <{PAGE} x i64> {memory.iota(PAGE)}, {hidden}")
                visible = f.op(f"and <{PAGE} x i1> {visible}, {near}")
            seen = f.op(f"select <{PAGE} x i1> {visible}, {_SCORES} {scaled}, {_SCORES} {lowest}")
            f.do(f"store {_SCORES} {seen}, ptr {self._place_of_scores(line, place)}, align 4")
            higher = f.op(f"fcmp ogt {_SCORES} {seen}, {best[line]}")
            found.append(f.op(f"select <{PAGE} x i1> {higher}, {_SCORES} {seen}, {_SCORES} {best[line]}"))
        return found

    def _needed_next(self, row: str, head: str, place: str) -> list[str]:
        """Places of memory to ask for: the next page of keys, and this one of values."""
        f = self.f
        following = self._page(row, smaller(f, f.op(f"add i64 {place}, 1"), self.a.reach - 1), head)
        return [
            memory.offset(f, self.keys, following, 1),
            memory.offset(f, self.values, self._page(row, place, head), 1),
        ]

    def _weigh(self, place: str, tops: list[str], sums: list[str]) -> list[str]:
        f = self.f
        found = []
        for line, (top, total) in enumerate(zip(tops, sums)):
            at = self._place_of_scores(line, place)
            score = f.op(f"load {_SCORES}, ptr {at}, align 4")
            weight = vecmath.exp(f, f.op(f"fsub {_SCORES} {score}, {top}"), PAGE)
            f.do(f"store {_SCORES} {weight}, ptr {at}, align 4")
            found.append(f.op(f"fadd {_SCORES} {total}, {weight}"))
        return found

    def _gathered(self, row: str, head: str, ends: list[str], first: str, pages: list[str]) -> list[str]:
        """Sums of weighted values: over the pages from `first` on whose tokens are there for all rows, then the rest of each row."""
        f, a = self.f, self.a
        begin = [(self.row_kind, "zeroinitializer")] * (len(ends) * a.together)
        if len(ends) == 1:
            return f.loop(
                first, pages[0], "1", begin, lambda place, out: self._gather(row, head, self._count(ends[0], place), place, 0, out),
                known_nonempty=True,
            )  # fmt: skip
        nearest = ends[0]
        for other in ends[1:]:
            nearest = smaller(f, nearest, other)
        whole = f.op(f"udiv i64 {f.op(f'add i64 {nearest}, 1')}, {PAGE}")
        out = f.loop(first, whole, "1", begin, lambda place, out: self._gather(row, head, str(PAGE), place, 0, out))
        rest = (
            self._rest(row, head, whole, r, end, last, out[r * a.together : (r + 1) * a.together])
            for r, (end, last) in enumerate(zip(ends, pages))
        )
        return [value for line in rest for value in line]

    def _rest(self, row: str, head: str, begin: str, r: int, end: str, last: str, out: list[str]) -> list[str]:
        """The pages of row `r` from `begin` on, added to its sums."""
        mine = [(self.row_kind, value) for value in out]
        first = r * self.a.together
        return self.f.loop(
            begin, last, "1", mine,
            lambda place, out: self._gather(row, head, self._count(end, place), place, first, out),
        )  # fmt: skip

    def _count(self, end: str, place: str) -> str:
        """Tokens of a page that a row sees."""
        f = self.f
        behind = f.op(f"sub i64 {end}, {f.op(f'mul i64 {place}, {PAGE}')}")
        return smaller(f, f.op(f"add i64 {behind}, 1"), PAGE)

    def _gather(self, row: str, head: str, count: str, place: str, first: int, out: list[str]) -> list[str]:
        """Add the values of a page to the sums of some lines, from the line `first` on."""
        f, a = self.f, self.a
        values = memory.offset(f, self.values, self._page(row, place, head), 1)
        weights = [self._place_of_scores(first + n, place) for n in range(len(out))]

        def token(t: str, sums: list[str]) -> list[str]:
            value = self._cached(memory.offset(f, values, t, a.cache_bytes * a.width), a.width)
            factors = [f.splat("float", self._float(at, t), a.width) for at in weights]
            return [f.intrinsic("fma", "float32", a.width, x, value, s) for x, s in zip(factors, sums)]

        return f.loop("0", count, "1", [(self.row_kind, s) for s in out], token, known_nonempty=True)

    def _cached(self, place: str, count: int) -> str:
        """Numbers of the cache, as float32."""
        f, a = self.f, self.a
        if a.cache == "float32":
            return f.op(f"load <{count} x float>, ptr {place}, align 4")
        return f.op(f"fpext <{count} x half> {f.op(f'load <{count} x half>, ptr {place}, align 2')} to <{count} x float>")


@handles(CachedAttention)
def _cached_attention(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    q, k, v, keys, values, positions, tables, *ends = operands
    index = {"int32": "i32", "int64": "i64"}.get(positions.dtype)
    kept = keys.dtype in ("float32", "float16") and values.dtype == keys.dtype
    alike = all(view.dtype == positions.dtype for view in (tables, *ends))
    if jit.vector_bits() < 256 or q.dtype != "float32" or not kept or index is None or not alike:
        raise Unsupported("cached attention of these types")
    q, k, v = (_by_rows(lowering, view) for view in (q, k, v))
    rows, heads, width = q.shape
    by_number = {item.attr: item for item in items}
    caches = [
        lowering.updated(view, by_number.get(n)) for n, view in ((1, keys), (2, values))
    ]  # new values of the caches, in their own memory if nobody else reads them
    target = lowering.result_view(by_number[0]) if 0 in by_number else lowering.allocate("float32", q.shape)
    by_heads = k.shape[1] % openmp.threads() == 0
    q_step, k_step, v_step = ((layout.strides(view) or (0,))[0] for view in (q, k, v))
    sizes = (rows, heads, k.shape[1], width, tables.shape[1])
    steps = (q_step, k_step, v_step)
    attention = Attention(*sizes, call.attr.prim.scale, steps, index, by_heads, bool(ends), keys.dtype, call.attr.prim.window)
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
