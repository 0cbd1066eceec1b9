"""Which part of a parameter each device holds, and how to make other parts of those.

A layout gives every device a box of the whole tensor. To transform a checkpoint is then to fill the box that a device
shall hold from the boxes that are there: no communication operators need to be derived. Where several devices hold the
same box, the one that lies in the same replica as the asking device is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mindspore.formats.strategy_file import ParameterLayout


class Box(NamedTuple):
    """The part of a tensor from `start` to `stop` in each dimension."""

    start: tuple[int, ...]
    stop: tuple[int, ...]

    def meet(self, other: Box) -> Box | None:
        """What both hold, or None."""
        start = tuple(map(max, self.start, other.start))
        stop = tuple(map(min, self.stop, other.stop))
        return Box(start, stop) if all(a < b for a, b in zip(start, stop)) or not start else None

    def within(self, outer: Box) -> tuple[slice, ...]:
        """This box as an index into the array of `outer`."""
        return tuple(slice(a - o, b - o) for a, b, o in zip(self.start, self.stop, outer.start))


def whole(rank: int) -> ParameterLayout:
    """The layout of a tensor that one device holds."""
    return ParameterLayout((1,), ((),) * rank, 0, (0,))


def cuts(layout: ParameterLayout) -> list[int]:
    """Into how many parts each dimension is cut."""
    found = [math.prod(layout.devices[a] for a in axes) for axes in layout.axes]
    if layout.shards and found:
        found[0] *= layout.shards
    return found


def whole_shape(layout: ParameterLayout, part: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the tensor whose parts have the shape `part`."""
    if len(part) != len(layout.axes):
        raise ValueError(f"the layout has {len(layout.axes)} dimensions, but the parameter has the shape {part}")
    return tuple(p * c for p, c in zip(part, cuts(layout)))


def _coordinates(layout: ParameterLayout, device: int) -> list[int]:
    out = []
    for size in reversed(layout.devices):
        device, place = divmod(device, size)
        out.append(place)
    return out[::-1]


def replica(layout: ParameterLayout, device: int) -> int:
    """Which of the copies of its slice a device holds."""
    used = {a for axes in layout.axes for a in axes}
    number = 0
    for axis, (place, size) in enumerate(zip(_coordinates(layout, device), layout.devices)):
        if axis not in used:
            number = number * size + place
    return number


def box(layout: ParameterLayout, device: int, shape: tuple[int, ...]) -> Box:
    """The part that a device of a stage holds of a tensor of this shape."""
    places = _coordinates(layout, device)
    start, stop = [], []
    for dim, axes in enumerate(layout.axes):
        number, parts = 0, 1
        for axis in axes:
            number = number * layout.devices[axis] + places[axis]
            parts *= layout.devices[axis]
        if dim == 0 and layout.shards:
            number = number * layout.shards + replica(layout, device) % layout.shards
            parts *= layout.shards
        if shape[dim] % parts:
            raise ValueError(f"a dimension of size {shape[dim]} cannot be cut into {parts} equal parts")
        size = shape[dim] // parts
        start.append(number * size)
        stop.append(start[-1] + size)
    return Box(tuple(start), tuple(stop))


def needed_devices(source: ParameterLayout, target: ParameterLayout, device: int) -> list[int]:
    """The devices of the source whose parts make up the part of a device of the target."""
    shape = tuple(a * b for a, b in zip(cuts(source), cuts(target)))
    return sorted(_holders(source, box(target, device, shape), shape, device))


def _holders(source: ParameterLayout, wanted: Box, shape: tuple[int, ...], device: int) -> dict[int, Box]:
    """For each different part that is needed, the device nearest to the asking one, and the part."""
    group = max(source.shards, 1)
    near = replica(source, device % source.device_count) // group
    found: dict[Box, int] = {}
    for candidate in range(source.device_count):
        part = box(source, candidate, shape)
        if part.meet(wanted) is not None and (part not in found or replica(source, candidate) // group == near):
            found[part] = candidate
    return {candidate: part for part, candidate in found.items()}


def assemble(
    source: ParameterLayout, target: ParameterLayout, device: int, parts: Mapping[int, np.ndarray]
) -> np.ndarray:
    """The part of a device of the target, from the parts that devices of the source hold."""
    shape = whole_shape(source, next(iter(parts.values())).shape)
    wanted = box(target, device, shape)
    holders = _holders(source, wanted, shape, device)
    missing = [d for d in holders if d not in parts]
    for gone in missing:
        equal = [d for d in parts if box(source, d, shape) == holders[gone]]
        if not equal:
            raise ValueError(f"the checkpoint of rank {gone} is missing")
        holders[equal[0]] = holders.pop(gone)
    first = parts[next(iter(holders))]
    out = np.empty(tuple(b - a for a, b in zip(wanted.start, wanted.stop)), first.dtype)
    for holder, part in holders.items():
        shared = part.meet(wanted)
        assert shared is not None
        out[shared.within(wanted)] = parts[holder][shared.within(part)]
    return out
