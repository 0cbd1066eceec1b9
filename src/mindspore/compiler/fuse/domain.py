"""The loops that a set of values needs.

Dimensions of values become *atoms*: loop axes shared by whoever walks along them together. Elementwise operands share
all atoms, a reduction's operand has extra ones, a transposition permutes them, a reshape splits or joins them (an atom
of 12 may turn out to be one of 3 around one of 4). If everything falls into place, one kernel can compute the set.
"""

from __future__ import annotations

from collections.abc import Iterable

from mindspore.compiler.fuse.loopir import Value

Dims = list[list[int]]  # per dimension, atoms from outer to inner; none for extent 1


class Misfit(Exception):
    """These values do not share a loop nest."""


class Atoms:
    """Union-find over loop axes that can also be split in two."""

    def __init__(self) -> None:
        self.extent: list[int] = []
        self.parent: list[int] = []
        self.parts: dict[int, tuple[int, int]] = {}

    def new(self, extent: int) -> int:
        self.extent.append(extent)
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def fresh(self, shape: tuple[int, ...]) -> Dims:
        return [[self.new(d)] if d != 1 else [] for d in shape]

    def find(self, atom: int) -> int:
        while self.parent[atom] != atom:
            self.parent[atom] = self.parent[self.parent[atom]]
            atom = self.parent[atom]
        return atom

    def leaves(self, atoms: Iterable[int]) -> list[int]:
        """Atoms as they are now: joined with others, split into parts."""
        if not self.parts:
            return [self.find(atom) for atom in atoms]
        found: list[int] = []
        for atom in atoms:
            root = self.find(atom)
            if root in self.parts:
                found.extend(self.leaves(self.parts[root]))
            else:
                found.append(root)
        return found

    def split(self, atom: int, inner: int) -> tuple[int, int]:
        outer_part, inner_part = self.new(self.extent[atom] // inner), self.new(inner)
        self.parts[atom] = (outer_part, inner_part)
        return outer_part, inner_part

    def unify(self, a: Iterable[int], b: Iterable[int]) -> None:
        """Make two walks over the same range one walk."""
        left, right = self.leaves(a), self.leaves(b)
        while left and right:
            x, y = left.pop(), right.pop()
            if x == y:
                continue
            if self.extent[x] < self.extent[y]:
                x, y, left, right = y, x, right, left
            if self.extent[x] == self.extent[y]:
                self.parent[x] = y
                continue
            if self.extent[y] == 0 or self.extent[x] % self.extent[y]:
                raise Misfit(f"extents {self.extent[x]} and {self.extent[y]} do not align")
            outer, inner = self.split(x, self.extent[y])
            self.parent[inner] = y
            left.append(outer)
            left, right = self.leaves(left), self.leaves(right)
        if left or right:
            raise Misfit("different numbers of elements")

    def regroup(self, dims: Dims, shape: tuple[int, ...]) -> Dims:
        """The same walk cut into other dimensions."""
        flat = self.leaves(atom for dim in dims for atom in dim)
        result: Dims = []
        for extent in reversed(shape):
            taken: list[int] = []
            size = 1
            while size < extent:
                if not flat or not size:
                    raise Misfit("a reshape of another size, or of no elements")
                atom = flat.pop()
                need = extent // size
                if self.extent[atom] > need:
                    if extent % size or self.extent[atom] % need:
                        raise Misfit("a reshape across dimensions")
                    outer, atom = self.split(atom, need)
                    flat.append(outer)
                taken.append(atom)
                size *= self.extent[atom]
            if size != extent:
                raise Misfit("a reshape across dimensions")
            result.append(taken[::-1])
        return result[::-1]


def chain(value: Value) -> tuple[Value, list[Value]]:
    """The value behind a chain of views, and the views from it outward."""
    if not value.is_view:
        return value, []
    views: list[Value] = []
    while value.is_view:
        views.append(value)
        value = value.args[0]
    return value, views[::-1]


class Domain:
    """Atoms of every member of a cluster. Raises Misfit when the members cannot share a kernel."""

    def __init__(self, members: list[Value]):
        self.atoms = Atoms()
        self.members = {v.id: v for v in members}
        self.dims: dict[int, Dims] = {}
        self.operand_dims: dict[tuple[int, int], Dims] = {}  # (member, operand) -> atoms of the operand
        for value in members:
            self._add(value)
        self._align()

    def _add(self, value: Value) -> None:
        if value.op == "reduce":
            self._add_reduction(value)
            return
        dims = self._shared_walk(value) or self.atoms.fresh(value.shape)
        self.dims[value.id] = dims
        for number, operand in enumerate(value.args):
            if value.op == "take" and number == 0:
                if chain(operand)[0].id in self.members:
                    raise Misfit("a gather from a value of the same kernel")
                continue
            self._connect(operand, dims)
            self.operand_dims[value.id, number] = dims

    def _shared_walk(self, value: Value) -> Dims | None:
        """That of an operand computed here which is read as it is: both walk the same axes, so one list of them does."""
        if value.op != "map":
            return None
        return next((self.dims[a.id] for a in value.args if a.id in self.dims and a.shape == value.shape), None)

    def _add_reduction(self, value: Value) -> None:
        operand = value.args[0]
        dims = self.atoms.fresh(operand.shape)
        self._connect(operand, dims)
        self.operand_dims[value.id, 0] = dims
        axes = value.attr[1]
        self.dims[value.id] = [d for i, d in enumerate(dims) if i not in axes]

    def _connect(self, operand: Value, dims: Dims) -> None:
        """Let an operand computed here walk along `dims`."""
        base, views = chain(operand)
        if base.id not in self.members or (not views and self.dims[base.id] is dims):
            return
        walk: Dims = [list(d) for d in self.dims[base.id]]
        for view in views:
            walk = self._through(view, walk)
        for mine, theirs in zip(dims, walk):
            self.atoms.unify(mine, theirs)

    def _through(self, view: Value, walk: Dims) -> Dims:
        if view.op == "transpose":
            return [walk[i] for i in view.attr]
        if view.op == "broadcast":
            old = view.args[0].shape
            return [w if o == n else self.atoms.fresh((n,))[0] for w, o, n in zip(walk, old, view.shape)]
        if view.op == "reshape":
            return self.atoms.regroup(walk, view.shape)
        raise Misfit("a slice of a value of the same kernel")

    def _align(self) -> None:
        """Let values that only meet in reduced results walk together with the largest one.

        The loops of separate passes are independent, so any of the same shape may be shared. Where axes that mean
        different things would then meet on one value, `of` refuses.
        """
        reductions = [v for v in self.members.values() if v.op == "reduce"]
        if not reductions:
            return
        walks = [(v.shape, self.dims[v.id]) for v in self.members.values()]
        walks += [(v.args[0].shape, self.operand_dims[v.id, 0]) for v in reductions]
        walks = list({id(dims): (shape, dims) for shape, dims in walks}.values())
        shape, reference = max(walks, key=lambda w: sum(d != 1 for d in w[0]))
        known = self.of(reference)
        for other, dims in walks:
            if other == shape and not self.of(dims) <= known:
                for mine, theirs in zip(dims, reference):
                    self.atoms.unify(mine, theirs)
                known = self.of(reference)

    # -- results --------------------------------------------------------------------------------------------------
    def of(self, dims: Dims) -> frozenset[int]:
        """The atoms of some dimensions; a walk along one atom twice (a diagonal) does not fit."""
        flat = self.atoms.leaves(a for dim in dims for a in dim)
        if len(set(flat)) != len(flat):
            raise Misfit("one axis twice")
        return frozenset(flat)

    def member_atoms(self) -> dict[int, frozenset[int]]:
        """The atoms that each member walks. Many share a walk, which is looked at once."""
        walks = {id(dims): dims for dims in self.dims.values()}
        atoms = {number: self.of(dims) for number, dims in walks.items()}
        return {member: atoms[id(dims)] for member, dims in self.dims.items()}

    def reduced(self, value: Value) -> frozenset[int]:
        dims = self.operand_dims[value.id, 0]
        return self.of([dims[i] for i in value.attr[1]])

    def all_atoms(self) -> frozenset[int]:
        reduced = [self.of(self.operand_dims[v.id, 0]) for v in self.members.values() if v.op == "reduce"]
        return frozenset().union(*self.member_atoms().values(), *reduced)

    def size(self, atoms: Iterable[int]) -> int:
        n = 1
        for atom in atoms:
            n *= self.atoms.extent[atom]
        return n
