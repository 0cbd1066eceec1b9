"""From a cluster of values to a kernel: loop axes, strides of every operand, code, and the layout of the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindspore.backends.cpu import layout
from mindspore.backends.cpu.codegen.spec import Axis, Instr, Kernel
from mindspore.backends.cpu.codegen.spec import Buffer as Operand
from mindspore.backends.cpu.layout import Pairs, View
from mindspore.compiler.fuse.domain import Atoms, Dims, Domain, Misfit, chain
from mindspore.compiler.fuse.loopir import Value


def constrain(atoms: Atoms, dims: Dims, view: View) -> None:
    """Split the loops so that a view's dimensions can be walked pair by pair; dimensions without loops are picked."""
    for dim, pairs in zip(dims, view.dims or ()):
        merged = layout.merge(pairs)
        if dim and merged and not (len(merged) == 1 and merged[0][1] == 0):
            atoms.unify(dim, [atoms.new(extent) for extent, _ in merged])


def strides_by_atom(atoms: Atoms, dims: Dims, view: View) -> dict[int, int]:
    """The stride of a view along each loop."""
    found: dict[int, int] = {}
    for dim, pairs in zip(dims, view.dims or ()):
        leaves = atoms.leaves(dim)
        if not leaves:  # walked by an index, or of extent 1
            continue
        for extent, stride in reversed(layout.merge(pairs)):
            size = 1
            while size < extent:
                leaf = leaves.pop()
                found[leaf] = found.get(leaf, 0) + stride * size
                size *= atoms.extent[leaf]
    return found


def _gathers_blocks(take: Value, view: View) -> bool:
    """Whether an index picks along a dimension that memory splits: one stride does not say where its elements are."""
    return any(kind == "index" and len(layout.merge((view.dims or ())[dim])) > 1 for dim, (kind, _) in enumerate(take.attr))


@dataclass
class Access:
    """A read of memory from outside the cluster."""

    value: Value  # the operand, views included
    dims: Dims  # loops along its dimensions
    view: View


class FusedKernel:
    """Plans one kernel. `view_of` finds the memory of an operand; `plain_view_of` the same in row-major layout."""

    def __init__(self, members: list[Value], outputs: list[Value], view_of: Callable, plain_view_of: Callable):
        self.members = members
        self.outputs = outputs
        self.inside = {m.id for m in members}
        try:
            self._set_up(view_of, plain_view_of)
        except Misfit:  # layouts that disagree about how to split an axis
            self._set_up(plain_view_of, plain_view_of)
        self.whole = self.domain.all_atoms()
        self.reduced = next((self.domain.reduced(m) for m in members if m.op == "reduce"), frozenset())
        self.follows = self._leader()
        self.axes = self._axis_order()

    def _set_up(self, view_of: Callable, plain_view_of: Callable) -> None:
        self.domain = Domain(self.members)
        self.atoms = self.domain.atoms
        self.accesses: dict[tuple[int, int], Access] = {}
        for member in self.members:
            for number, operand in enumerate(member.args):
                base, _ = chain(operand)
                if base.id in self.inside or base.op == "const":
                    continue
                view = view_of(operand)
                if member.op == "take" and number == 0:
                    dims = self._source_dims(member)
                    if _gathers_blocks(member, view):
                        view = plain_view_of(operand)
                else:
                    dims = self.domain.operand_dims[member.id, number]
                constrain(self.atoms, dims, view)
                self.accesses[member.id, number] = Access(operand, dims, view)

    def _source_dims(self, take: Value) -> Dims:
        """The loops along a gathered tensor's dimensions; none along those picked by an index."""
        own = self.domain.dims[take.id]
        return [own[k] if kind == "axis" else [] for kind, k in take.attr]

    # -- axes -----------------------------------------------------------------------------------------------------
    def _strides(self, access: Access) -> dict[int, int]:
        return strides_by_atom(self.atoms, access.dims, access.view)

    def _leader(self) -> Access | None:
        """An operand in a layout of oneDNN's choice, which results take over; blocked rather than channels-last."""
        found = [
            access
            for access in self.accesses.values()
            if access.view.buffer.native and set(self._strides(access)) == set(self.whole)
        ]
        return max(found, key=lambda a: layout.strides(a.view) is None, default=None)

    def _axis_order(self) -> list[int]:
        """Loops from outer to inner: the leader's order, or that of the results."""
        if self.follows is not None:
            found = self._strides(self.follows)
            return sorted(self.whole, key=lambda a: -found[a])
        return self._tiled(self._logical_order())

    def _logical_order(self) -> list[int]:
        """The dimensions of the largest value in order."""
        walks = [self.domain.dims[m.id] for m in self.members if m in self.outputs]
        walks += [self.domain.operand_dims[m.id, 0] for m in self.members if m.op == "reduce"]
        walks += [self.domain.dims[m.id] for m in self.members]
        for dims in walks:
            flat = self.atoms.leaves(a for d in dims for a in d)
            if set(flat) == set(self.whole):
                return flat
        return sorted(self.whole)

    def _tiled(self, order: list[int]) -> list[int]:
        """Move the axes along which a blocked operand is contiguous just outside the last one.

        A tile of such an operand is then read while it is in the nearest cache, whatever its order inside.
        """
        inner = []
        for access in self.accesses.values():
            if layout.strides(access.view) is None and not self.reduced:
                found = self._strides(access)
                inner += [
                    a for a in order[:-1] if 0 < found.get(a, 0) < 256 and self.atoms.extent[a] <= 64 and a not in inner
                ]
        return [a for a in order[:-1] if a not in inner] + inner + order[-1:]

    def output_dims(self, value: Value) -> tuple[Pairs, ...]:
        """The layout of a result: dense, in the order of the leader or row-major."""
        dims = self.domain.dims[value.id]
        mine = set(self.atoms.leaves(a for d in dims for a in d))
        strides: dict[int, int] = {}
        step = 1
        order = self.axes if self.follows is not None else self._logical_order()
        for axis in reversed(order):
            if axis in mine:
                strides[axis] = step
                step *= self.atoms.extent[axis]
        pairs = []
        for dim in dims:
            pairs.append(layout.merge(tuple((self.atoms.extent[a], strides[a]) for a in self.atoms.leaves(dim))))
        return tuple(pairs)

    # -- code -----------------------------------------------------------------------------------------------------
    def kernel(self, targets: dict[int, View]) -> tuple[Kernel, list[View]]:
        """The kernel that stores each output in `targets`, and its operands' memory."""
        self.code: list[Instr] = []
        self.operands: list[View] = []
        self.buffers: list[Operand] = []
        self._known: dict[Any, int] = {}
        at: dict[int, int] = {}
        for member in self.members:
            at[member.id] = self._member(member, at)
        stores = []
        for value in self.outputs:
            view = targets[value.id]
            dims = self.domain.dims[value.id]
            stores.append((self._operand(view, strides_by_atom(self.atoms, dims, view)), at[value.id]))
        axes = tuple(Axis(self.atoms.extent[a], a in self.reduced) for a in self.axes)
        return Kernel(axes, tuple(self.buffers), tuple(self.code), tuple(stores)), self.operands

    def _instr(self, op: str, dtype: str, args: tuple[int, ...] = (), imm: Any = None) -> int:
        instr = Instr(op, dtype, args, imm)
        key = (op, dtype, args, repr(imm))
        if key not in self._known:
            self.code.append(instr)
            self._known[key] = len(self.code) - 1
        return self._known[key]

    def _operand(self, view: View, strides: dict[int, int]) -> int:
        row = tuple(strides.get(a, 0) for a in self.axes)
        key = ("operand", id(view.buffer), view.offset, view.dtype, row)
        if key not in self._known:
            self.operands.append(view)
            self.buffers.append(Operand(view.dtype, row))
            self._known[key] = len(self.operands) - 1
        return self._known[key]

    def _argument(self, member: Value, number: int, at: dict[int, int]) -> int:
        base, _ = chain(member.args[number])
        if base.op == "const":
            return self._instr("const", base.dtype, (), base.attr)
        if base.id in self.inside:
            return at[base.id]
        access = self.accesses[member.id, number]
        return self._instr("load", access.view.dtype, (), self._operand(access.view, self._strides(access)))

    def _member(self, member: Value, at: dict[int, int]) -> int:
        if member.op == "const":
            return self._instr("const", member.dtype, (), member.attr)
        if member.op == "iota":
            return self._position(member)
        if member.op == "take":
            return self._take(member, at)
        arguments = tuple(self._argument(member, n, at) for n in range(len(member.args)))
        if member.op == "reduce":
            return self._instr("reduce", member.dtype, arguments, member.attr[0])
        return self._instr(member.attr, member.dtype, arguments)

    def _position(self, member: Value) -> int:
        """The index along a dimension, put together from the loops that walk it."""
        leaves = self.atoms.leaves(self.domain.dims[member.id][member.attr])
        total = -1
        step = 1
        for leaf in reversed(leaves):
            part = self._instr("index", "int64", (), self.axes.index(leaf))
            if step > 1:
                part = self._instr("mul", "int64", (part, self._instr("const", "int64", (), step)))
            total = part if total < 0 else self._instr("add", "int64", (total, part))
            step *= self.atoms.extent[leaf]
        if total < 0:
            total = self._instr("const", "int64", (), 0)
        return total if member.dtype == "int64" else self._instr("cast", member.dtype, (total,))

    def _take(self, member: Value, at: dict[int, int]) -> int:
        access = self.accesses[member.id, 0]
        buffer = self._operand(access.view, self._strides(access))
        places, arguments = [], []
        for dim, (kind, number) in enumerate(member.attr):
            if kind == "index":
                pairs = layout.merge((access.view.dims or ())[dim])
                places.append((pairs[0][1] if pairs else 0, access.view.shape[dim]))
                arguments.append(self._argument(member, number, at))
        return self._instr("load_at", member.dtype, tuple(arguments), (buffer, tuple(places)))
