"""From one layout to another by collectives.

Steps are found in the order of what they cost. Sums that are owed are paid first: scattered where the result is cut along the
same axis (ReduceScatter), else everywhere (AllReduce). Then, until the layouts agree: cut what is whole (no communication),
move an axis from one dimension to another (AllToAll), gather what must not stay cut (AllGather). Each step treats the last,
fastest axis of a dimension, so that parts join to contiguous blocks; runs of equal steps become one collective.

Where sizes do not divide, parts are filled up behind the end (layout.py): cutting and scattering fill, gathering drops what was
filled. Axes go one by one then, since each cuts the parts of the one before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mindspore.compiler.shard.layout import Axes, Layout, Mesh
from mindspore.prims.arrays import Concat, Transpose
from mindspore.prims.collective import AllGather, AllReduce, ReduceScatter
from mindspore.prims.exchange import AlltoAll
from mindspore.prims.mesh import MeshIndex, Part, mesh_group


class Step(NamedTuple):
    """A collective (or a cut) along some axes of the mesh."""

    kind: str  #: "cut", "all_gather", "all_reduce", "reduce_scatter", "all_to_all"
    axes: Axes
    dim: int = 0
    to: int = 0  #: of all_to_all: the dimension that is cut instead
    op: str = "sum"


def steps(source: Layout, target: Layout) -> list[Step]:
    """What turns `source` into `target`, which may owe only what `source` owes."""
    now = [list(axes) for axes in source.dims]
    found = _pay(source, target, now)
    owed = {axis for axis, _ in target.partial}
    while tuple(map(tuple, now)) != target.dims:
        found.append(_next(now, target, owed))
    return _joined(found)


def _pay(source: Layout, target: Layout, now: list[list[int]]) -> list[Step]:
    """Pay the sums that the target does not owe; `now` learns what is cut thereby."""
    due = {axis: op for axis, op in source.partial if (axis, op) not in target.partial}
    found: list[Step] = []
    for dim, wanted in enumerate(target.dims):
        if tuple(now[dim]) != wanted[: len(now[dim])]:
            continue
        run: list[int] = []
        for axis in wanted[len(now[dim]) :]:
            if due.get(axis) not in ("sum", "avg") or (run and due[axis] != due[run[0]]):
                break
            run.append(axis)
        if run:
            found.append(Step("reduce_scatter", tuple(run), dim, op=due[run[0]]))
            now[dim] += run
            for axis in run:
                del due[axis]
    for op in dict.fromkeys(due.values()):
        found.append(Step("all_reduce", tuple(a for a, o in due.items() if o == op), op=op))
    return found


def _next(now: list[list[int]], target: Layout, owed: set[int]) -> Step:
    """One step towards the target's cuts."""
    used = {axis for axes in now for axis in axes} | owed
    ready = {  # dimensions that are a part of the way, and what they want next
        dim: wanted[len(now[dim])]
        for dim, wanted in enumerate(target.dims)
        if len(now[dim]) < len(wanted) and tuple(now[dim]) == wanted[: len(now[dim])]
    }
    for dim, axis in ready.items():
        if axis not in used:
            now[dim].append(axis)
            return Step("cut", (axis,), dim)
    astray = [dim for dim, axes in enumerate(now) if tuple(axes) != target.dims[dim][: len(axes)]]
    for dim in astray:
        for to in ready:
            run = _moving(now[dim], target.dims[to][len(now[to]) :])
            if run:
                del now[dim][-len(run) :]
                now[to] += run
                return Step("all_to_all", run, dim, to)
    dim = astray[0]
    return Step("all_gather", (now[dim].pop(),), dim)


def _moving(cut: list[int], wanted: Axes) -> Axes:
    """The last axes of a dimension that another one wants next, in their order: one exchange moves all of them."""
    for count in range(min(len(cut), len(wanted)), 0, -1):
        if tuple(cut[-count:]) == wanted[:count]:
            return wanted[:count]
    return ()


def _joined(found: list[Step]) -> list[Step]:
    """Runs of cuts or gathers of one dimension as one step each."""
    joined: list[Step] = []
    for step in found:
        last = joined[-1] if joined else None
        if last is not None and (last.kind, last.dim) == (step.kind, step.dim) and step.kind in ("cut", "all_gather"):
            axes = last.axes + step.axes if step.kind == "cut" else step.axes + last.axes
            joined[-1] = step._replace(axes=axes)
        else:
            joined.append(step)
    return joined


def apply(x: Any, source: Layout, target: Layout, shape: tuple[int, ...], mesh: Mesh) -> Any:
    """Bring a device's part of a tensor of this shape into another layout: adds nodes to the graph being built."""
    now = [list(axes) for axes in source.dims]
    for step in steps(source, target):
        for single in _one_by_one(step, now, shape, mesh):
            _note(single, now)
            x = _APPLY[single.kind](_filled(x, single, mesh), single, mesh)
            x = _dropped(x, Layout(tuple(map(tuple, now))).local(shape, mesh))
    return x


def _one_by_one(step: Step, now: list[list[int]], shape: tuple[int, ...], mesh: Mesh) -> list[Step]:
    """A step along several axes as one along each, where they do not divide the dimension."""
    if step.kind == "all_reduce" or len(step.axes) == 1:
        return [step]
    if step.kind == "all_to_all":  # its axes could not be moved in another order
        apart = [Step("all_gather", step.axes, step.dim), Step("cut", step.axes, step.to)]
        singles = [single for part in apart for single in _one_by_one(part, now, shape, mesh)]
        return [step] if singles == apart else singles
    axes = step.axes if step.kind != "all_gather" else step.axes[::-1]
    before = now[step.dim] if step.kind != "all_gather" else now[step.dim][: -len(axes)]
    if -(-shape[step.dim] // mesh.parts(before)) % mesh.parts(axes) == 0:
        return [step]
    return [step._replace(axes=(axis,)) for axis in axes]


def _note(step: Step, now: list[list[int]]) -> None:
    """What is cut after a step."""
    if step.kind in ("all_gather", "all_to_all"):
        del now[step.dim][-len(step.axes) :]
    if step.kind in ("cut", "reduce_scatter", "all_to_all"):
        now[step.to if step.kind == "all_to_all" else step.dim] += step.axes


def _filled(x: Any, step: Step, mesh: Mesh) -> Any:
    """x with as many further elements as a scattering step needs in order to give equal parts; a cut fills by itself."""
    if step.kind not in ("reduce_scatter", "all_to_all"):
        return x
    dim, count = step.to if step.kind == "all_to_all" else step.dim, mesh.parts(step.axes)
    missing = -x.shape[dim] % count
    if not missing:
        return x
    last = x[(slice(None),) * dim + (slice(x.shape[dim] - 1, x.shape[dim]),)]
    return Concat(dim)((x, *(last,) * missing))


def _dropped(x: Any, shape: tuple[int, ...]) -> Any:
    """x without what filled the parts that were gathered."""
    return x if x.shape == shape else x[tuple(slice(0, n) for n in shape)]


def _cut(x: Any, step: Step, mesh: Mesh) -> Any:
    return Part(step.dim, mesh.parts(step.axes))(x, MeshIndex(mesh.shape, step.axes)())


def _all_reduce(x: Any, step: Step, mesh: Mesh) -> Any:
    return AllReduce(step.op, mesh_group(mesh.shape, step.axes))(x)


def _all_gather(x: Any, step: Step, mesh: Mesh) -> Any:
    return gathered(x, step.dim, step.axes, mesh)


def gathered(x: Any, dim: int, axes: Axes, mesh: Mesh) -> Any:
    """What all devices along some axes hold, one behind the other along a dimension."""
    return _first(lambda v: AllGather(mesh_group(mesh.shape, axes))(v), x, dim)


def _reduce_scatter(x: Any, step: Step, mesh: Mesh) -> Any:
    return _first(lambda v: ReduceScatter(step.op, mesh_group(mesh.shape, step.axes))(v), x, step.dim)


def _all_to_all(x: Any, step: Step, mesh: Mesh) -> Any:
    return AlltoAll(mesh.parts(step.axes), step.to, step.dim, mesh_group(mesh.shape, step.axes))(x)


def _first(collective: Any, x: Any, dim: int) -> Any:
    """Apply what works along the first dimension along another."""
    if dim == 0:
        return collective(x)
    order = (dim, *(d for d in range(x.ndim) if d != dim))
    back = tuple(order.index(d) for d in range(x.ndim))
    return Transpose()(collective(Transpose()(x, order)), back)


_APPLY = {
    "cut": _cut, "all_reduce": _all_reduce, "all_gather": _all_gather, "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
}  # fmt: skip
