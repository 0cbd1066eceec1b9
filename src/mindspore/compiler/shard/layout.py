"""Where the elements of a tensor lie on a mesh of devices.

A mesh has axes of prime length, so that every way of cutting a dimension into a number of parts is a choice of axes; devices
are numbered with the last axis fastest. On each axis a tensor is

    cut         along one of its dimensions (several axes may cut one dimension, the first of them slowest),
    replicated  the same on all devices along the axis,
    partial     a term of a sum (or of a maximum …) that is still owed.

A dimension that an axis does not divide is cut into parts of the next larger size; the last ones are filled up behind the end.
Several axes cut one after the other, each the parts of the one before (5 over 2 × 2: 3 + 2, then 2 + 1 and 2 + 0), so that a
further axis never moves elements between devices.

(The three states are those of OneFlow's SBP, Yuan et al. 2021.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Mesh:
    """Devices in a grid of prime side lengths, the longest strides first."""

    shape: tuple[int, ...]

    @classmethod
    def of(cls, devices: int) -> Mesh:
        sides: list[int] = []
        factor = 2
        while devices > 1:
            while devices % factor == 0:
                sides.append(factor)
                devices //= factor
            factor += 1
        return cls(tuple(sides))

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def axes(self) -> Axes:
        return tuple(range(len(self.shape)))

    def parts(self, axes: Iterable[int]) -> int:
        return math.prod(self.shape[a] for a in axes)

    def take(self, free: Axes, count: int) -> Axes | None:
        """Axes among `free` that cut into `count` parts, leftmost first; None if there are none."""
        if count == 1:
            return ()
        for i, axis in enumerate(free):
            if count % self.shape[axis] == 0:
                rest = self.take(free[i + 1 :], count // self.shape[axis])
                if rest is not None:
                    return (axis, *rest)
        return None

    def place(self, rank: int, axis: int) -> int:
        """Where a device stands along an axis."""
        return rank // self.stride(axis) % self.shape[axis]

    def stride(self, axis: int) -> int:
        """How far apart the ranks of neighbours along an axis are."""
        return math.prod(self.shape[axis + 1 :])


@dataclass(frozen=True)
class Layout:
    """How a tensor of rank `len(dims)` lies on a mesh."""

    dims: tuple[Axes, ...]  #: for each dimension the axes that cut it, slowest first
    partial: tuple[tuple[int, str], ...] = ()  #: (axis, reduction) pairs: what is still owed

    @classmethod
    def whole(cls, rank: int) -> Layout:
        return cls(((),) * rank)

    @property
    def used(self) -> frozenset[int]:
        return frozenset((*(a for dim in self.dims for a in dim), *(a for a, _ in self.partial)))

    def paid(self) -> Layout:
        """The layout with nothing owed."""
        return Layout(self.dims)

    def cuts(self, mesh: Mesh) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        return tuple(mesh.parts(dim) for dim in self.dims)

    def local(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        """The shape of a device's part."""
        return tuple(-(-n // c) for n, c in zip(shape, self.cuts(mesh)))  # rounding up axis by axis comes to the same

    def fits(self, shape: tuple[int, ...], mesh: Mesh) -> bool:
        """Whether all dimensions divide."""
        return all(c == 1 or (n and n % c == 0) for n, c in zip(shape, self.cuts(mesh)))

    def slices(self, shape: tuple[int, ...], mesh: Mesh, rank: int) -> tuple[slice, ...]:
        """Which elements of a tensor a device holds."""
        return tuple(_extent(n, axes, mesh, rank) for n, axes in zip(shape, self.dims))

    def __str__(self) -> str:
        dims = ", ".join("·".join(map(str, dim)) or "-" for dim in self.dims)
        owed = "".join(f" {how}({axis})" for axis, how in self.partial)
        return f"[{dims}]{owed}"


def _extent(size: int, axes: Axes, mesh: Mesh, rank: int) -> slice:
    """The elements that a device holds of a dimension."""
    start, end, part = 0, size, size
    for axis in axes:
        part = -(-part // mesh.shape[axis])
        start = min(start + mesh.place(rank, axis) * part, end)
        end = min(start + part, end)
    return slice(start, end)


def tensor_map(layout: Layout, mesh: Mesh) -> tuple[list[int], list[int | list[int]]]:
    """The layout as MindSpore writes it: a device matrix, and for each dimension the entry that cuts it.

    Entries are counted from the right, -1 is no cut. Neighbouring axes that are used alike become one entry of the matrix.
    """
    owner = {axis: dim for dim, axes in enumerate(layout.dims) for axis in axes}
    runs: list[list[int]] = []
    for axis in mesh.axes:
        together = runs and owner.get(runs[-1][-1]) == owner.get(axis) and _follow(layout, owner, runs[-1][-1], axis)
        runs[-1].append(axis) if together else runs.append([axis])
    matrix = [mesh.parts(run) for run in runs]
    entry = {run[0]: len(runs) - 1 - i for i, run in enumerate(runs)}
    found: list[int | list[int]] = []
    for axes in layout.dims:
        entries = [entry[a] for a in axes if a in entry]
        found.append(-1 if not entries else entries[0] if len(entries) == 1 else entries)
    return matrix or [1], found


def _follow(layout: Layout, owner: dict[int, int], first: int, second: int) -> bool:
    """Whether two neighbouring axes of the mesh are neighbours in the dimension that they cut, too."""
    if first not in owner:
        return True
    axes = layout.dims[owner[first]]
    return axes.index(second) == axes.index(first) + 1
