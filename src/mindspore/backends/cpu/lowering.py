"""From a loop program to steps: memory for every value, a kernel per cluster, a native or host step per operation."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindspore.backends.cpu import dnnl, kernels, layout, preparation
from mindspore.backends.cpu.codegen.spec import Axis, Instr, Kernel
from mindspore.backends.cpu.codegen.spec import Buffer as Operand
from mindspore.backends.cpu.codegen.text import MEMORY_TYPES
from mindspore.backends.cpu.fused import FusedKernel, constrain, strides_by_atom
from mindspore.backends.cpu.layout import Buffer, View
from mindspore.backends.cpu.steps import BeginStep, CallStep, DnnlStep, HostStep, KernelStep, Step, StopStep
from mindspore.compiler.fuse.cluster import Cluster, Clustering
from mindspore.compiler.fuse.domain import Atoms, Misfit, chain
from mindspore.compiler.fuse.loopir import Program, Value
from mindspore.prims.arrays import Concat

#: oneDNN's copies element by element, for types and layouts that it has nothing better for
_SLOW_REORDERS = ("ref", "simple:any")


class Lowering:
    """Builds the steps of one graph."""

    def __init__(
        self,
        program: Program,
        clustering: Clustering,
        native: Callable,
        rule: Callable,
        donated: frozenset[int],
        record: tuple[int, int] | None = None,
        weights: frozenset[int] = frozenset(),
    ):
        self.program = program
        self.clustering = clustering
        self.native = native  # lowers opaque operations: native(lowering, opaque value, operand views) -> result views
        self.donated = donated
        self.record = record  # graph outputs that tell of an error, until they are known
        self.waiting: dict[int, int] = {}  # donated parameter -> clusters that have yet to read it
        self.weights = weights  # inputs that are likely to be the same in the next call
        self.lasting: set[int] = set()  # buffers with values that come from these alone
        self.packed = 0  # bytes of weights that products have laid out anew
        self.rule = rule  # rule(prim): how it is evaluated on the host
        self.steps: list[Step] = []
        self.begun: list[BeginStep] = []  # collectives under way
        self.views: dict[int, View] = {}
        self.inputs: dict[int, Buffer] = {}
        self.results: dict[int, View] = {}  # graph output -> where it is
        self.kept: dict[int, Any] = {}  # what an operation leaves for its gradient
        self.magnitudes: dict[int, Any] = {}  # value -> what is known about the size of its elements (magnitudes.py)
        self.joins: dict[int, tuple[View, list[View]]] = {}  # Concat -> its result and parts, which may hold the operands already
        self._copies: dict[Any, View] = {}
        self._wanted: dict[int, list[int]] = {}  # value -> graph outputs that are exactly it
        for number, output in enumerate(program.outputs):
            if not output.is_view:
                self._wanted.setdefault(output.id, []).append(number)

    # -- memory ---------------------------------------------------------------------------------------------------
    def begin(self, step: BeginStep) -> None:
        """Emit a step whose results are there only when they have been awaited."""
        self.emit(step)
        self.begun.append(step)

    def _await(self, step: BeginStep) -> None:
        self.begun.remove(step)
        if self.steps[-1] is step and step.blocking is not None:  # nothing to compute meanwhile
            self.steps.pop()
            self.emit(step.blocking)
        else:
            self.emit(step.wait())

    def emit(self, step: Step) -> None:
        touched, written = {id(v.buffer) for v in step.views}, {id(v.buffer) for v in step.writes}
        for begun in list(self.begun):
            if any(id(v.buffer) in touched for v in begun.results) or any(id(v.buffer) in written for v in begun.reads):
                self._await(begun)
        number = len(self.steps)
        self.steps.append(step)
        if self.weights and preparation.depends_on_weights_alone(step, self.weights, self.lasting):
            self.lasting |= written
        if step.scratch_bytes:
            step.scratch = Buffer(step.scratch_bytes, first=number, last=number)
        for view in step.views:
            if view.buffer.first < 0:
                view.buffer.first = number
            view.buffer.last = number
        if self.begun and not isinstance(step, CallStep):
            self.emit(self.begun[0].nudge(self.allocate("int64", ())))

    def is_lasting(self, view: View) -> bool:
        """Whether a tensor is likely to be the same in the next call, so that what is made of it is made once."""
        buffer = view.buffer
        return id(buffer) in self.lasting or (buffer.kind == "input" and buffer.source in self.weights)

    def allocate(self, dtype: str, shape: tuple[int, ...], dims: tuple | None = None, native: bool = False) -> View:
        """New arena memory; row-major unless `dims` say otherwise."""
        n = 1
        for d in shape:
            n *= d
        buffer = Buffer(max(n, 1) * layout.itemsize(dtype), native=native)
        return View(buffer, dtype, shape, dims if dims is not None else layout.plain_dims(shape))

    def allocate_desc(self, dtype: str, desc: dnnl.Desc, lead: bool = True) -> View:
        """New arena memory in a layout of oneDNN's choice; with `lead`, readers should take the layout over."""
        buffer = Buffer(desc.nbytes)
        view = layout.from_desc(buffer, dtype, desc)
        buffer.native = lead and view.dims is not None and not layout.is_plain(view)
        return view

    def result_view(self, value: Value, dims: tuple | None = None, native: bool = False) -> View:
        """Row-major memory for a value, or in the layout of `dims`: the caller's array for a graph output, its place in the
        result of a join where that has no gaps, else new memory of the arena."""
        place = self._place_in_join(value) if dims is None and not native else None
        if place is not None and layout.is_plain(place):
            return place
        view = self.allocate(value.dtype, value.shape, dims, native)
        for number in self._wanted.get(value.id, ()):
            if number not in self.results and layout.is_plain(view):
                view.buffer.kind, view.buffer.source = "output", number
                self.results[number] = view
                break
        return view

    # -- operands -------------------------------------------------------------------------------------------------
    def view_of(self, value: Value) -> View:
        """Where a value is; views are looked through, with a copy only where a layout forbids it."""
        above = [value]
        while above[-1].id not in self.views and above[-1].is_view:
            above.append(above[-1].args[0])
        for one in reversed(above):
            if one.id not in self.views:
                self.views[one.id] = self._seen_through(one) if one.is_view else self._leaf(one)
        return self.views[value.id]

    def _leaf(self, value: Value) -> View:
        if value.op == "const":
            array = np.full((), value.attr, layout.numpy_dtype(value.dtype))
            dims = tuple(((d, 0),) if d != 1 else () for d in value.shape)  # one number, seen everywhere
            return View(Buffer(array.nbytes, "constant", array), value.dtype, value.shape, dims)
        if value.op != "input":
            raise KeyError(f"{value} has not been computed yet")
        kind, which = value.attr
        nbytes = max(value.size, 1) * layout.itemsize(value.dtype)
        if kind == "constant":
            return layout.plain(Buffer(nbytes, "constant", which), value.dtype, value.shape)
        buffer = self.inputs.setdefault(which, Buffer(nbytes, "input", which))
        return layout.plain(buffer, value.dtype, value.shape)

    def _seen_through(self, value: Value) -> View:
        base = self.views[value.args[0].id]
        seen = layout.apply(base, value)
        if seen is None:
            seen = layout.apply(self.plain(base), value)
        if seen is None:
            raise Misfit(f"{value} of a row-major tensor")
        return seen

    def strided_view_of(self, value: Value) -> View:
        """The same, in a layout that loops can walk."""
        view = self.view_of(value)
        return view if view.dims is not None else self.plain(view)

    def plain_view_of(self, value: Value) -> View:
        """The same, without blocks."""
        view = self.view_of(value)
        if layout.strides(view) is not None:
            return view
        base, views = chain(value)
        seen: View | None = self.plain(self.view_of(base))
        for operation in views:
            seen = layout.apply(seen, operation) if seen is not None else None
        return seen if seen is not None else self.plain(view)

    def plain(self, view: View) -> View:
        """A row-major copy, unless it is so already."""
        if layout.is_plain(view):
            return view
        key = (id(view.buffer), view.offset, view.shape, view.dims, "plain")
        found = self._copies.get(key)
        if found is None:
            found = self.allocate(view.dtype, view.shape)
            self.copy(view, found)
            self._copies[key] = found
        return found

    def as_desc(self, view: View, desc: dnnl.Desc) -> View:
        """A tensor in the layout a oneDNN primitive wants; reordered at most once per layout."""
        have = layout.to_desc(view)
        if (have is not None and have == desc) or layout.is_described(view, desc):
            return view
        key = (id(view.buffer), view.offset, view.shape, view.dims, repr(desc), desc.nbytes)
        found = self._copies.get(key)
        if found is None:
            if have is None:
                view = self.plain(view)
                have = layout.to_desc(view)
            found = self.allocate_desc(view.dtype, desc)
            self._reorder(view, have, found, desc)
            self._copies[key] = found
        return found

    def _reorder(self, source: View, source_desc: Any, target: View, target_desc: dnnl.Desc) -> None:
        op = dnnl.reorder(source_desc, target_desc)
        operands = {dnnl.SRC: (source_desc, source), dnnl.DST: (target_desc, target)}
        self.emit(DnnlStep([source], [target], "reorder", op.scratch_bytes, op=op, operands=operands))

    def copy(self, source: View, target: View) -> None:
        """Elements from one layout to another."""
        a, b = layout.to_desc(source), layout.to_desc(target)
        if source.dtype not in MEMORY_TYPES:  # complex and other types that kernels do not know
            self.emit(HostStep([source], [target], "host:copy", function=lambda arrays: arrays))
        elif a is not None and b is not None and (source.size > 64 or source.dims is None):
            walkable = source.dims is not None and target.dims is not None
            if walkable and dnnl.reorder(a, b).implementation.startswith(_SLOW_REORDERS):
                self.transform(source, target)
            else:
                self._reorder(source, a, target, b)
        else:
            self.transform(source, target)

    def cast(self, view: View, dtype: str, result: Value | None = None) -> View:
        """A copy with elements of another type in the same layout, in the memory of `result` if that is given."""
        view = view if view.dims is not None else self.plain(view)
        key = (id(view.buffer), view.offset, view.shape, view.dims, dtype)
        found = self._copies.get(key)
        if found is None or result is not None:
            dims = layout.dense(view)
            if result is not None:
                found = self.result_view(result, dims, view.buffer.native)
            else:
                found = self.allocate(dtype, view.shape, dims, view.buffer.native)
            self.transform(view, found)
            self._copies[key] = found
        return found

    def transform(self, source: View, target: View, add: bool = False) -> None:
        """target = source, or target += source, by a generated kernel."""
        atoms = Atoms()
        dims = atoms.fresh(target.shape)
        constrain(atoms, dims, source)
        constrain(atoms, dims, target)
        order = atoms.leaves(a for d in dims for a in d)
        along = strides_by_atom(atoms, dims, target)
        order.sort(key=lambda a: -abs(along.get(a, 0)))
        rows = [tuple(strides_by_atom(atoms, dims, v).get(a, 0) for a in order) for v in (source, target)]
        dtype = target.dtype
        code = [Instr("load", source.dtype, (), 0)]
        if source.dtype != dtype:
            code.append(Instr("cast", dtype, (0,)))
        if add:
            code += [Instr("load", dtype, (), 1), Instr("add", dtype, (len(code), len(code) - 1))]
        axes = tuple(Axis(atoms.extent[a]) for a in order)
        buffers = (Operand(source.dtype, rows[0]), Operand(dtype, rows[1]))
        kernel = Kernel(axes, buffers, tuple(code), ((1, len(code) - 1),))
        self.kernel(kernel, [source, target], [source, target] if add else [source], [target], "copy")

    # -- kernels --------------------------------------------------------------------------------------------------
    def kernel(self, kernel: Kernel, operands: list[View], reads: list[View], writes: list[View], name: str) -> None:
        if all(w.size == 0 for w in writes):
            return
        if any(w.size == 0 for w in writes):  # beside the sum over an empty axis: a value that is the same along it would be stored nowhere
            kernel = dataclasses.replace(kernel, stores=tuple((b, v) for b, v in kernel.stores if operands[b].size))
        compiled, extent = kernels.compile(kernel)
        threads = compiled.threads(kernel.size())
        scratch = compiled.scratch(threads)
        step = KernelStep(reads, writes, name, scratch, None, compiled, operands, threads, extent)
        self.emit(step)

    # -- what fast code gets wrong for NaN and infinities is noticed, and done again ---------------------------------
    def has_nan(self, view: View) -> View:
        """A byte that tells whether a tensor holds NaN. It is read in the order in which it lies in memory."""
        pairs = sorted((pair for dim in view.dims or () for pair in dim), key=lambda pair: -pair[1])
        flag = self.allocate("bool_", ())
        code = (Instr("load", view.dtype, (), 0), Instr("isnan", "bool_", (0,)), Instr("reduce", "bool_", (1,), "any"))
        buffers = (Operand(view.dtype, tuple(s for _, s in pairs)), Operand("bool_", (0,) * len(pairs)))
        kernel = Kernel(tuple(Axis(extent, True) for extent, _ in pairs), buffers, code, ((1, 2),))
        self.kernel(kernel, [view, flag], [view], [flag], "check")
        return flag

    def apply(self, name: str, view: View) -> None:
        """view = name(view), in place."""
        self._in_place_map([Instr("load", view.dtype, (), 0), Instr(name, view.dtype, (0,))], view, name)

    def bound(self, view: View, low: float, high: float) -> None:
        """view = min(max(view, low), high), in place."""
        dtype = view.dtype
        code = [Instr("load", dtype, (), 0), Instr("const", dtype, (), low), Instr("max", dtype, (0, 1))]
        code += [Instr("const", dtype, (), high), Instr("min", dtype, (2, 3))]
        self._in_place_map(code, view, "bound")

    def _in_place_map(self, code: list[Instr], view: View, name: str) -> None:
        pairs = [pair for dim in view.dims or () for pair in dim]
        buffers = (Operand(view.dtype, tuple(s for _, s in pairs)),) * 2
        axes = tuple(Axis(extent) for extent, _ in pairs)
        self.kernel(Kernel(axes, buffers, tuple(code), ((1, len(code) - 1),)), [view, view], [view], [view], name)

    @contextlib.contextmanager
    def only_if(self, flag: View) -> Iterator[None]:
        """Steps emitted meanwhile run only in calls that find `flag` set; nobody else may rely on copies they make."""
        first, copies = len(self.steps), dict(self._copies)
        yield
        self._copies = copies
        for number, step in enumerate(self.steps[first:], start=first):
            step.guard, step.name = flag, f"again:{step.name}"
            flag.buffer.last = number

    def run(self, order: list[Cluster]) -> None:
        """Lower clusters in order."""
        reads = {c: self._donated_reads(c) for c in order}
        readers = self._readers_of_items(order)
        self.waiting = dict.fromkeys(self.donated, 0)
        for output in self.program.outputs:  # read again at the very end
            base, _ = chain(output)
            if base.op == "input" and base.attr[0] == "parameter" and base.attr[1] in self.donated:
                self.waiting[base.attr[1]] += 1
        for c in order:
            for number in reads[c]:
                self.waiting[number] += 1
        for c in order:
            for number in reads[c]:
                self.waiting[number] -= 1
            self.cluster(c)
            self._await_readers_of_aliases(c, readers, reads)
            self._stop_on_error()
        self.finish()

    def _readers_of_items(self, order: list[Cluster]) -> dict[int, set[Cluster]]:
        """Who reads each result of an opaque operation."""
        found: dict[int, set[Cluster]] = {}
        for c in order:
            for member in (*c.members, *c.copies):
                for base in self.clustering.bases(member):
                    if base.op == "item":
                        found.setdefault(base.id, set()).add(c)
        return found

    def _await_readers_of_aliases(self, cluster: Cluster, readers: dict[int, set[Cluster]], reads: dict[Cluster, set[int]]) -> None:
        """Who reads a result that is a donated parameter's own memory (`Later`, `Send`) reads the parameter, too."""
        if not cluster.opaque:
            return
        for item in self.clustering.users.get(cluster.members[0].id, ()):
            view = self.views.get(item.id)
            if view is None or view.buffer.kind != "input" or view.buffer.source not in self.waiting:
                continue
            number = view.buffer.source
            self.waiting[number] += item.id in self.clustering.needed_outside  # read at the very end
            for reader in readers.get(item.id, ()):
                if number not in reads[reader]:
                    reads[reader].add(number)
                    self.waiting[number] += 1

    def _stop_on_error(self) -> None:
        """Once it is known whether the graph reports an error, go no further if it does."""
        if self.record is None:
            return
        try:
            for number in self.record:
                self.view_of(self.program.outputs[number])
        except KeyError:  # not computed yet
            return
        for number in self.record:
            self._deliver(number)
        self.emit(StopStep([self.results[self.record[0]]], [], "stop"))
        self.record = None

    def _donated_reads(self, cluster: Cluster) -> set[int]:
        found = set()
        for member in (*cluster.members, *cluster.copies):
            for base in self.clustering.bases(member):
                if base.op == "input" and base.attr[0] == "parameter" and base.attr[1] in self.donated:
                    found.add(base.attr[1])
        return found

    def cluster(self, cluster: Cluster) -> None:
        if cluster.opaque:
            self._opaque(cluster)
            return
        outputs = self.clustering.outputs(cluster)
        if not outputs:
            return
        fused = FusedKernel(cluster.all_members(), outputs, self.strided_view_of, self.plain_view_of)
        targets = {}
        for value in outputs:
            dims = fused.output_dims(value)
            native = fused.follows is not None and _blocked(dims, value)
            place = self._in_place(fused, value, dims)
            if place is None and not _blocked(dims, value):
                place = self._place_in_join(value)
            targets[value.id] = place or self.result_view(value, dims, native)
        kernel, operands = fused.kernel(targets)
        stored = {buffer for buffer, _ in kernel.stores}
        written = [operands[b] for b in sorted(stored)]
        loaded = {i.imm if i.op == "load" else i.imm[0] for i in kernel.code if i.op in ("load", "load_at")}
        reads = [operands[b] for b in sorted(loaded)]
        for value in outputs:
            self.views[value.id] = targets[value.id]
        self.kernel(kernel, operands, reads, written, _name(cluster))

    def _in_place(self, fused: FusedKernel, value: Value, dims: tuple) -> View | None:
        """A donated parameter's memory for a result, if this is its last reader and reads each element before it writes it.

        Kernels without reductions load everything at a position before they store anything there.
        """
        numbers = [n for n in self._wanted.get(value.id, ()) if n not in self.results]
        if fused.reduced or not numbers or _blocked(dims, value) or self.record is not None:
            return None
        for access in fused.accesses.values():
            buffer = access.view.buffer
            free = buffer.kind == "input" and self.waiting.get(buffer.source) == 0
            same = (
                access.view.dtype == value.dtype and access.view.shape == value.shape and layout.is_plain(access.view)
            )
            if free and same and self._read_where_written(fused, access):
                self.waiting[buffer.source] = -1  # taken
                self.results[numbers[0]] = View(buffer, value.dtype, value.shape, layout.plain_dims(value.shape))
                return self.results[numbers[0]]
        return None

    def updated(self, old: View, new: Value | None) -> View:
        """Memory that holds `old` and will hold its new value: its own where a Parameter is given away and this is its last
        reader, else a copy."""
        if new is None:
            target = self.allocate(old.dtype, old.shape)
        else:
            numbers = [n for n in self._wanted.get(new.id, ()) if n not in self.results]
            buffer = old.buffer
            free = buffer.kind == "input" and self.waiting.get(buffer.source) == 0 and layout.is_plain(old)
            if free and numbers and self.record is None:
                self.waiting[buffer.source] = -1  # taken
                self.results[numbers[0]] = old
                return old
            target = self.result_view(new)
        self.copy(old, target)
        return target

    def _place_in_join(self, value: Value) -> View | None:
        """The part of a `Concat`'s result that is to hold this value, which then need not be copied there."""
        if value.id in self._wanted or self.clustering.flags.opt_level == 0:
            return None
        for user in self.clustering.users.get(value.id, ()):
            if user.op != "opaque" or not isinstance(user.attr.prim, Concat) or not self.clustering.users.get(user.id):
                continue
            if any(0 in operand.shape for operand in user.args):
                continue
            for place, operand in enumerate(user.args):
                if operand is value or (operand.op == "reshape" and operand.args[0] is value):
                    part = self.join(user)[1][place]
                    seen = layout.apply(part, Value("reshape", value.shape, value.dtype))
                    # a dimension that the join takes apart is one loop in the kernel, which has one stride for it
                    return seen if seen is not None and layout.strides(seen) is not None else None
        return None

    def join(self, call: Value, operands: list[View] | None = None) -> tuple[View, list[View]]:
        """The result of a `Concat`, and where in it the operands are; it gets memory when this is asked for first."""
        known = self.joins.get(call.id)
        if known is None:
            items = [v for v in self.clustering.users.get(call.id, ()) if v.op == "item"]
            dims = _common_blocks(call, items[0], operands or [])
            target = self.result_view(items[0], dims, dims is not None)
            known = self.joins[call.id] = target, _cut(target, call)
        return known

    def _read_where_written(self, fused: FusedKernel, wanted: Any) -> bool:
        """Whether every read of a buffer in this kernel is at the position being written."""
        row = strides_by_atom(fused.atoms, wanted.dims, wanted.view)
        if set(row) != set(fused.whole):
            return False
        reads = [a for a in fused.accesses.values() if a.view.buffer is wanted.view.buffer]
        return all(a.view.offset == 0 and strides_by_atom(fused.atoms, a.dims, a.view) == row for a in reads)

    def _opaque(self, cluster: Cluster) -> None:
        call = cluster.members[0]
        operands = [self.view_of(a) for a in call.args]
        items = [v for v in self.clustering.users.get(call.id, ()) if v.op == "item"]
        self.native(self, call, operands, items)

    # -- results --------------------------------------------------------------------------------------------------
    def finish(self) -> None:
        """Bring every graph output into an array of its own."""
        for number in range(len(self.program.outputs)):
            self._deliver(number)
        for begun in list(self.begun):
            self._await(begun)

    def _deliver(self, number: int) -> None:
        output = self.program.outputs[number]
        if number in self.results or not output.dtype:
            return
        source = self.view_of(output)
        buffer = Buffer(max(source.size, 1) * layout.itemsize(source.dtype), "output", number)
        target = layout.plain(buffer, source.dtype, source.shape)
        self.copy(source, target)
        self.results[number] = target


def _cut(target: View, call: Value) -> list[View]:
    """The parts of a `Concat`'s result; what is cut lies along dimensions without blocks, or between blocks."""
    axis = call.attr.prim.axis % len(target.shape)
    parts, start = [], 0
    for operand in call.args:
        attr = tuple((start if d == axis else 0, 1) for d in range(len(target.shape)))
        part = layout.apply(target, Value("slice", operand.shape, operand.dtype, (), attr))
        assert part is not None
        parts.append(part)
        start += operand.shape[axis]
    return parts


def _common_blocks(call: Value, item: Value, operands: list[View]) -> Any:
    """The layout of a `Concat`'s result if oneDNN chose that of the largest operand and no block would be cut."""
    largest = max(operands, key=lambda v: v.size, default=None)
    if largest is None or not largest.buffer.native or largest.dims is None or layout.is_plain(largest):
        return None
    axis = call.attr.prim.axis % len(item.shape)
    if any(operand.shape[axis] % layout.block_of(largest, axis) for operand in call.args):
        return None
    return layout.resized(largest, item.shape)


def _blocked(dims: tuple, value: Value) -> bool:
    return tuple(layout.merge(d) for d in dims) != layout.plain_dims(value.shape)


def _name(cluster: Cluster) -> str:
    names = dict.fromkeys(m.origin.op.name for m in cluster.members if m.origin is not None)
    return "fused:" + "+".join(list(names)[:6]) + ("…" if len(names) > 6 else "")
