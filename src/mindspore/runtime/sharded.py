"""Graphs that are cut over devices, as executables.

Where the processes of a run are the devices, each runs its own part of the graph on its backend. Where one process stands for
all of them (`set_auto_parallel_context(device_num=8)` without `init`), it runs the graphs of all devices in turn: the result is
that of the cluster, which is what rehearsals, tests and dry runs want. Either way callers see whole tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mindspore import log
from mindspore.backends.interp.rehearsal import Rehearsal
from mindspore.compiler import driver
from mindspore.compiler.shard.layout import Layout, Mesh, tensor_map
from mindspore.compiler.shard.partition import partition, specialised
from mindspore.compiler.shard.pipeline import Stages, check_stages
from mindspore.compiler.shard.plan import Options, Plan, make_plan
from mindspore.compiler.shard.report import Report, strategies
from mindspore.compiler.shard.search import find_plan
from mindspore.ir import CNode, FuncGraph
from mindspore.prims import world
from mindspore.prims.collective import Collective
from mindspore.runtime import choose_backend, eager_kernels, plan_files


class ShardedExecutable:
    """A graph, its plan, and the graph of a device."""

    def __init__(self, graph: FuncGraph, options: Options, compiling: driver.Options):
        if options.spare:
            total = options.devices * options.stages + options.spare
            raise ValueError(f"'pipeline_stages' must divide the number of devices, {total}, but got {options.stages}.")
        if graph.attrs.get("stages"):  # the same mistakes in a rehearsal as in a run of many processes
            check_stages(graph, options.stages)
        self.plan: Plan = find_plan(graph, options, plan_files.load(options))
        self.mesh: Mesh = self.plan.mesh
        self.is_cluster = world.transport().size == options.devices * options.stages > 1
        self.device_graph = partition(self.plan, whole_outputs=self.is_cluster)
        self.compiling = compiling
        self.updates = {target: source for source, target in graph.attrs.get("updates", {}).items()}
        self._run: Any = None
        plan_files.save(self.plan)
        if self.is_cluster:
            self._note_shares()
        if isinstance(world.transport(), world.Rehearsal):
            log.warning(self._summary(world.transport().rank))

    def _note_shares(self) -> None:
        """Tell the weights how they are cut: files may hold a process's part alone."""
        for parameter in self.plan.graph.parameters:
            if parameter.default is not None and hasattr(parameter.abstract, "shape"):
                shape = tuple(parameter.abstract.shape)
                parameter.default.param_info.part = Share(self.plan.storage_of(parameter), self.mesh, shape)

    def _summary(self, rank: int) -> str:
        """What a dry run tells about a rank: it computes with imagined values of the others, so its numbers mean nothing."""
        report = self.report()
        timeline = report.simulate()
        stage, steps = rank // self.mesh.size, Counter(c for row in report.rows for c in row.collectives)
        listed = ", ".join(f"{count} {name}" for name, count in sorted(steps.items())) or "no collectives"
        return (
            f"Dry run of rank {rank} of {world.transport().size}, graph '{self.plan.graph.name}': stage {stage} of "
            f"{self.plan.options.stages}; a step takes {timeline.seconds * 1e3:.3f} ms, of which {timeline.waiting * 1e3:.3f} ms are "
            f"waited; peak memory {timeline.peak_bytes[stage] / 2**20:.2f} MiB; {listed} (estimates)."
        )

    def __call__(self, *arrays: Any) -> tuple:
        if self._run is None:
            self._run = self._make()
        return self._run(*(np.asarray(a) for a in arrays))

    def _make(self) -> Any:
        graph = self.device_graph
        on_xla = choose_backend.current_backend().name == "xla"
        if self.is_cluster:
            rank = world.transport().rank % self.mesh.size
            if self.plan.options.stages > 1 and self._has_stages():
                run = self._stage(graph, rank, on_xla)
            elif on_xla and self.mesh.size > 1:  # one program for all processes, of a pipeline: of a stage
                run = self._program(driver.optimise(graph, self.compiling)).on_parts
            else:
                run = choose_backend.compile_graph(driver.optimise(specialised(graph, rank), self.compiling), frozenset())
            return lambda *arrays: run(*self._parts(arrays, rank))
        driver.optimise(graph, self.compiling)
        if on_xla:
            program = self._on_mesh(graph)
            if program is not None:
                return program
        rehearsal = Rehearsal(graph, self.mesh.size, _native_where_heavy)
        return lambda *arrays: self._joined(rehearsal([self._parts(arrays, r) for r in range(self.mesh.size)]))

    def _has_stages(self) -> bool:
        """Whether cells of the graph belong to stages of a pipeline; the processes of all stages compute a graph without them."""
        found = bool(self.plan.graph.attrs.get("stages"))
        if not found and self.updates:
            log.warning(
                f"There are {self.plan.options.stages} pipeline stages, but no cell of '{self.plan.graph.name}' has a "
                "'pipeline_stage': every stage trains all of it."
            )
        return found

    def _stage(self, graph: FuncGraph, device: int, on_xla: bool) -> Any:
        """This process's stage of a pipeline."""
        options, size, rank = self.plan.options, self.mesh.size, world.transport().rank
        alone = not on_xla or size == 1  # else the devices of a stage run one program, which tells them apart itself
        stages = Stages(specialised(graph, device) if alone else graph, options.stages, options.schedule)
        own = stages.graph_of(rank // size, lambda stage: stage * size + device)
        if on_xla:
            return self._stage_on_xla(driver.optimise(own, self.compiling))
        count = len(graph.outputs)
        run = choose_backend.compile_graph(driver.optimise(own, self.compiling), frozenset())
        return lambda *arrays: run(*arrays)[:count]  # behind the results come messages

    def _stage_on_xla(self, graph: FuncGraph) -> Any:
        from mindspore.backends.xla.stage_program import StageProgram, on_mesh

        backend, size, ranks = choose_backend.current_backend(), self.mesh.size, self._stage_mates()
        count = len(self.plan.graph.outputs)

        def compiled(piece: FuncGraph) -> Any:
            return backend.compile(piece) if size == 1 else on_mesh(piece, self.mesh.shape, ranks)

        program = StageProgram(graph, compiled)
        return lambda *arrays: tuple(np.asarray(a) for a in program(*arrays)[:count])

    def _on_mesh(self, graph: FuncGraph) -> Any:
        """The graph on as many of JAX's devices; None where there are not enough of them, or it has collectives of the user's."""
        from mindspore.backends.xla.mesh_program import devices

        own = any(isinstance(n.op, Collective) and world.mesh_of(n.op.group) is None for g in graph.all_graphs() for n in g.nodes())
        if own or devices() < self.mesh.size:
            return None
        parameters = self.plan.graph.parameters
        storage = [self.plan.storage_of(p) for p in parameters]
        program = self._program(graph)
        targets = {number: (storage[source], parameters[source]) for number, source in self.updates.items()}

        def run(*arrays: Any) -> tuple:
            found = list(program(*(self._whole(a, p, s) for a, p, s in zip(arrays, parameters, storage))))
            for number, (layout, parameter) in targets.items():
                found[number] = unfilled(found[number], layout, self.mesh, tuple(parameter.abstract.shape))
            return tuple(found)

        return run

    def _program(self, graph: FuncGraph) -> Any:
        from mindspore.backends.xla.mesh_program import MeshProgram

        storage = [self.plan.storage_of(p) for p in self.plan.graph.parameters]
        cut = {} if self.is_cluster else {number: storage[source].dims for number, source in self.updates.items()}
        outputs = [cut.get(i, ((),) * len(getattr(a, "shape", ()))) for i, a in enumerate(graph.outputs)]
        return MeshProgram(graph, self.mesh.shape, [s.dims for s in storage], outputs, self._stage_mates())

    def _stage_mates(self) -> range | None:
        """The processes of this one's stage; None where there is one stage."""
        if self.plan.options.stages == 1 or not self.is_cluster:
            return None
        first = world.transport().rank // self.mesh.size * self.mesh.size
        return range(first, first + self.mesh.size)

    def _whole(self, array: np.ndarray, node: Any, layout: Layout) -> np.ndarray:
        """What all devices are fed together, if each is fed this part."""
        shape = tuple(getattr(node.abstract, "shape", ()))
        whole = array if array.shape == shape else joined([array] * self.mesh.size, layout, self.mesh, shape)
        return filled(whole, layout, self.mesh)

    def _parts(self, arrays: tuple, rank: int) -> list[np.ndarray]:
        storage = [self.plan.storage_of(p) for p in self.plan.graph.parameters]
        return [
            array if array.shape != tuple(node.abstract.shape) else part_of(array, layout, self.mesh, rank)
            for array, layout, node in zip(arrays, storage, self.plan.graph.parameters)
        ]  # inputs that the data set has cut come as parts

    def _joined(self, everyone: list[tuple]) -> tuple:
        """Whole results, from those of all devices."""
        found = []
        for number, first in enumerate(everyone[0]):
            source = self.updates.get(number)
            if source is None:
                found.append(first)
                continue
            parameter = self.plan.graph.parameters[source]
            shape, layout = tuple(parameter.abstract.shape), self.plan.storage_of(parameter)
            found.append(joined([out[number] for out in everyone], layout, self.mesh, shape))
        return tuple(found)

    def parameter_layouts(self) -> dict[str, tuple]:
        """Of each weight: device matrix, tensor map, shape of a part, field size, whether parts are equal, optimizer group."""
        found = {}
        for parameter in self.plan.graph.parameters:
            if parameter.default is None or not hasattr(parameter.abstract, "shape"):
                continue
            layout = self.plan.storage_of(parameter)
            matrix, entries = tensor_map(layout, self.mesh)
            group = "" if parameter.id not in self.plan.stored else "mesh"
            whole = tuple(parameter.abstract.shape)
            shape = list(layout.local(whole, self.mesh))
            found[parameter.name] = (matrix, entries, shape, 0, layout.fits(whole, self.mesh), group)
        return found

    def strategies(self) -> dict[str, list[list[int]]]:
        """How each operator of the graph is cut, by scope and number; the batch under the name of the operator that cuts it officially."""
        data = [p for p in self.plan.graph.parameters if p.default is None and len(getattr(p.abstract, "shape", ())) > 0]
        cuts = [list(self.plan.layout_of(p).cuts(self.mesh)) for p in data]
        return {**strategies(self.plan), **({"Default/_VirtualDataset-op0": cuts} if cuts else {})}

    def report(self) -> Report:
        """What the plan costs, and why."""
        return Report(self.plan)


def _native_where_heavy(node: CNode, kernel: Callable) -> Callable:
    """Rehearsed devices compute heavy operations as PyNative mode does."""
    prim = node.op
    if not prim.native_from:
        return kernel

    def run(*args: Any) -> Any:
        native = eager_kernels.forward(prim, list(args))
        return kernel(*args) if native is None else native(list(args))

    return run


class Share(NamedTuple):
    """How a weight is cut over the processes of a run, or of a stage of its pipeline."""

    layout: Layout
    mesh: Mesh
    shape: tuple[int, ...]  #: of the whole

    @property
    def part_shape(self) -> tuple[int, ...]:
        return self.layout.local(self.shape, self.mesh)

    @property
    def is_even(self) -> bool:
        return self.layout.fits(self.shape, self.mesh)

    def own(self, whole: np.ndarray) -> np.ndarray:
        """This process's part."""
        return part_of(whole, self.layout, self.mesh, world.transport().rank % self.mesh.size)

    def whole(self, part: np.ndarray) -> np.ndarray:
        """The whole, from the parts of all processes, which all call this."""
        first = world.transport().rank // self.mesh.size * self.mesh.size
        parts = world.transport().all_gather(np.ascontiguousarray(part), tuple(range(first, first + self.mesh.size)))
        return joined(list(parts), self.layout, self.mesh, self.shape)


def check_strategies(graph: FuncGraph, options: Options) -> None:
    """Refuse strategies that cannot be carried out, for a graph that is not cut."""
    if any("in_strategy" in node.op.attrs for node in graph.nodes()):
        make_plan(graph, options)


def part_of(array: np.ndarray, layout: Layout, mesh: Mesh, rank: int) -> np.ndarray:
    """A device's part of an array."""
    whole, taken = array.shape, array[layout.slices(array.shape, mesh, rank)]
    for dim, size in enumerate(layout.local(whole, mesh)):
        missing = size - taken.shape[dim]
        if missing:  # filled up behind the end with the last element
            last = array.take([-1], dim) if not taken.shape[dim] else taken.take([-1], dim)
            others = tuple(slice(0, n) if d != dim else slice(None) for d, n in enumerate(taken.shape))
            taken = np.concatenate([taken, np.repeat(last[others], missing, dim)], dim)
    return np.ascontiguousarray(taken) if array.ndim else array


def joined(parts: list[np.ndarray], layout: Layout, mesh: Mesh, shape: tuple[int, ...]) -> np.ndarray:
    """The array of a shape that the parts of all devices make up."""
    whole = np.empty(shape, parts[0].dtype)
    for rank, part in enumerate(parts):
        place = layout.slices(shape, mesh, rank)
        whole[place] = part[tuple(slice(0, s.stop - s.start) for s in place)]
    return whole


def _places(shape: tuple[int, ...], layout: Layout, mesh: Mesh) -> Iterator[tuple[int, tuple[slice, ...]]]:
    """Each device, and where its part stands if the parts, which have this shape, are put one behind the other."""
    for rank in range(mesh.size):
        numbers = [world.mesh_index(mesh.shape, axes, rank) for axes in layout.dims]
        yield rank, tuple(slice(i * n, (i + 1) * n) for i, n in zip(numbers, shape))


def filled(array: np.ndarray, layout: Layout, mesh: Mesh) -> np.ndarray:
    """The parts of all devices one behind the other: what is cut into equal parts by those who cannot fill them up."""
    if layout.fits(array.shape, mesh):
        return array
    shape = layout.local(array.shape, mesh)
    found = np.empty(tuple(n * c for n, c in zip(shape, layout.cuts(mesh))), array.dtype)
    for rank, place in _places(shape, layout, mesh):
        found[place] = part_of(array, layout, mesh, rank)
    return found


def unfilled(array: np.ndarray, layout: Layout, mesh: Mesh, shape: tuple[int, ...]) -> np.ndarray:
    """The array of a shape whose parts stand one behind the other."""
    if layout.fits(shape, mesh):
        return array
    return joined([array[place] for _, place in _places(layout.local(shape, mesh), layout, mesh)], layout, mesh, shape)
