"""What users say about cutting: strategies and layouts, checked and turned into axes of the mesh.

A strategy gives, for each tensor argument, the number of parts of each dimension: `((2, 1), (1, 4))`. A `Layout` names axes
of a device matrix instead. Either way the parts of equal labels must agree, and dimensions must divide unless the operator has the
attribute `uneven`: what is not asked for twice is more likely a slip.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from mindspore.compiler.parse.errors import located
from mindspore.compiler.shard.layout import Axes, Layout, Mesh
from mindspore.ir import CNode, ValueNode
from mindspore.prims.factors import WHOLE, Factors
from mindspore.prims.strategy_form import flat_entries

Assignment = dict[str, Axes]
#: the attribute of operators whose strategy need not divide
UNEVEN = "uneven"
#: the attribute of products whose factors lie in more parts than are multiplied (tensor parallelism in two and three dimensions)
FINER = "enable_nd_tp"


class StrategyError(RuntimeError):
    """A strategy that cannot be carried out."""


def refuse(node: CNode, problem: str) -> StrategyError:
    """The error for an operator's strategy, with the operator and its line."""
    given = node.op.attrs.get("whole_strategy") or node.op.attrs.get("in_strategy")
    error = StrategyError(f"For '{node.op.attrs.get('owner', node.op.name)}', the strategy {_shown(given)} is invalid: {problem}")
    located(error, node.location)
    return error


def _shown(strategy: Any) -> str:
    if isinstance(strategy, (tuple, list)):
        return "(" + ", ".join(_shown(s) for s in strategy) + ("," if len(strategy) == 1 else "") + ")"
    return str(strategy.to_dict()["tensor_map"]) if is_placed(strategy) else repr(strategy)


def assignment_of(node: CNode, rule: Factors, shapes: list[Any], mesh: Mesh, loaded: Any = None) -> Assignment:
    """Which axes cut which labels, from an operator's `in_strategy`, or from one that was loaded."""
    strategy = node.op.attrs["in_strategy"] if loaded is None else loaded
    if not isinstance(strategy, (tuple, list)):
        raise refuse(node, "it must be a tuple with an entry for each input.")
    entries = flat_entries(strategy)
    tensors = [(labels, shape) for labels, shape in zip(rule.inputs, shapes) if labels is not None]
    numbers = [isinstance(a, ValueNode) and not shape for a, labels, shape in zip(node.args, rule.inputs, shapes) if labels is not None]
    missing = any(shape for _, shape in tensors[len(entries) :])  # those of numbers may be left out
    if missing or any(entries[len(tensors) :]):
        raise refuse(
            node,
            f"The size of strategy must be equal to the size of inputs: it has {len(entries)} entries, but there are {len(tensors)} "
            "tensors among the inputs.",
        )
    placed = any(map(is_placed, entries))
    found: Assignment = {}
    counts: dict[str, int] = {}
    for number, (entry, (labels, shape)) in enumerate(zip(entries, tensors)):
        if entry is None or numbers[number]:  # what is said of a number means the tensor that it is spread over
            continue
        cuts: tuple[Any, ...] = _axes_of(node, entry, mesh) if placed else _numbers(node, entry)
        if len(cuts) != len(shape):
            raise refuse(
                node,
                f"The size of strategy must be equal to the size of inputs: entry {number} has {len(cuts)} dimensions, but "
                f"the input has shape {tuple(shape)}.",
            )
        for label, cut, size in zip(labels, cuts, shape):
            parts = mesh.parts(cut) if isinstance(cut, tuple) else cut
            _check_cut(node, number, label, parts, size, tuple(shape), mesh)
            if label == WHOLE or (size == 1 and parts == 1 and label in counts):
                continue
            if placed and node.op.attrs.get(FINER):
                found[label] = _common(found.get(label, cut), cut)
                continue
            if (found.get(label, cut) if placed else counts.get(label, parts)) != (cut if placed else parts):
                raise refuse(
                    node,
                    f"input {number} is cut into {parts} where another is cut into "
                    f"{mesh.parts(found[label]) if placed else counts[label]}; dimensions that run together must be cut alike.",
                )
            counts[label] = parts
            if placed:
                found[label] = cut
    if placed:
        return _checked_use(node, _without_repeats(found, mesh) if node.op.attrs.get(FINER) else found, mesh)
    order = sorted(counts, key=lambda label: label in rule.last)
    return _placed(node, {label: counts[label] for label in order}, mesh)


def _common(one: Axes, other: Axes) -> Axes:
    """The axes with which both begin: the finer parts are gathered to the coarser ones."""
    return tuple(a for a, b in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))


def _without_repeats(found: Assignment, mesh: Mesh) -> Assignment:
    """Axes that cut two labels cut the later one alone, which is the weight's."""
    used: frozenset[int] = frozenset()
    kept: Assignment = {}
    for label, axes in reversed(found.items()):
        kept[label] = tuple(itertools.takewhile(frozenset(mesh.axes).difference(used).__contains__, axes))
        used = used.union(kept[label])
    return dict(reversed(kept.items()))


def _numbers(node: CNode, entry: Any) -> tuple[int, ...]:
    values = tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or value == 0 or value < -1:
            raise refuse(node, f"the parts of a dimension must be positive ints, but got {value!r}.")
    return tuple(values)


def _axes_of(node: CNode, entry: Any, mesh: Mesh) -> tuple[Axes, ...]:
    if not is_placed(entry):
        raise refuse(node, "either all entries are layouts or none.")
    try:
        return axes_of_layout(entry, mesh)
    except ValueError as error:
        raise refuse(node, str(error)) from None


def is_placed(entry: Any) -> bool:
    """Whether an entry of a strategy is a public Layout, which names devices."""
    return hasattr(entry, "to_dict")


def is_interleaved(entry: Any) -> bool:
    """Whether a public Layout has an axis of interleaved parts."""
    return is_placed(entry) and bool(entry.to_dict()["interleaved_parallel"])


def axes_of_layout(entry: Any, mesh: Mesh) -> tuple[Axes, ...]:
    """The mesh's axes that a public Layout means, for each dimension."""
    known = entry.to_dict()
    matrix = known["device_matrix"]
    if known["interleaved_parallel"]:
        matrix = matrix[:-1]
    if math.prod(matrix) != mesh.size:
        raise ValueError(f"the device matrix {matrix} has {math.prod(matrix)} devices, but there are {mesh.size}.")
    free, sides = mesh.axes, []
    for side in matrix:
        axes = mesh.take(free, side)
        if axes is None:
            raise ValueError(f"the device matrix {matrix} does not fit {mesh.size} devices.")
        sides.append(axes)
        free = tuple(a for a in free if a not in axes)
    count, shift = len(known["device_matrix"]), int(known["interleaved_parallel"])

    def axes_of(entry: Any) -> Axes:
        if isinstance(entry, tuple):
            return tuple(a for e in entry for a in axes_of(e))
        place = count - 1 - entry
        return () if entry == -1 or (shift and place == count - 1) else sides[place]

    return tuple(axes_of(e) for e in known["tensor_map"])


def _check_cut(node: CNode, number: int, label: str, parts: int, size: int, shape: tuple, mesh: Mesh) -> None:
    if parts in (1, -1):
        return
    if parts > mesh.size or mesh.size % parts:
        raise refuse(node, f"{parts} parts cannot be laid on {mesh.size} devices; allowed are divisors of {mesh.size}.")
    if label == WHOLE:
        raise refuse(node, f"this dimension of input {number}, of shape {shape}, cannot be cut: the operator needs it whole.")
    if size % parts and not node.op.attrs.get(UNEVEN):
        allowed = [n for n in range(1, mesh.size + 1) if mesh.size % n == 0 and size % n == 0]
        raise refuse(
            node,
            f"The tensor shape can not be divisible by the strategy: {size} of shape {shape} into {parts} parts; "
            f"allowed are {allowed}, or parts that are filled up: op.add_prim_attr('{UNEVEN}', True).",
        )


def _placed(node: CNode, counts: dict[str, int], mesh: Mesh) -> Assignment:
    """Axes for numbers of parts: labels take them from the left in order, what is left repeats the computation."""
    total = math.prod(c for c in counts.values() if c > 0)
    if total > mesh.size or mesh.size % total:
        raise refuse(node, f"it needs {total} devices, but there are {mesh.size}; the product must divide them.")
    free, found = mesh.axes, {}
    for label, count in counts.items():
        axes = mesh.take(free, max(count, 1))
        if axes is None:
            raise refuse(node, f"it does not fit a mesh of {mesh.size} devices.")
        found[label] = axes
        free = tuple(a for a in free if a not in axes)
    return found


def _checked_use(node: CNode, found: Assignment, mesh: Mesh) -> Assignment:
    used: set[int] = set()
    for axes in found.values():
        if used & set(axes):
            raise refuse(node, "an axis of the device matrix cuts two dimensions that do not run together.")
        used |= set(axes)
    return found


def layout_of_cuts(entry: Any, rank: int, mesh: Mesh) -> Layout:
    """The layout of a tensor from the parts of its dimensions (or a public Layout)."""
    if is_placed(entry):
        return Layout(axes_of_layout(entry, mesh))
    free, dims = mesh.axes, []
    for count in entry:
        axes = mesh.take(free, count)
        if axes is None:
            raise StrategyError(f"the strategy {tuple(entry)} does not fit {mesh.size} devices.")
        dims.append(axes)
        free = tuple(a for a in free if a not in axes)
    if len(dims) != rank:
        raise StrategyError(f"the strategy {tuple(entry)} has {len(dims)} entries for a tensor of rank {rank}.")
    return Layout(tuple(dims))
