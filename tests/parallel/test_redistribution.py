"""Any layout to any other: what the devices hold in the end are the parts that the target layout says."""

import numpy as np
import pytest

import mindspore as ms
from mindspore.backends.interp.rehearsal import Rehearsal
from mindspore.compiler.builder import Builder
from mindspore.compiler.shard import redistribute
from mindspore.compiler.shard.layout import Layout, Mesh, tensor_map
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore.prims import world
from mindspore.runtime.sharded import joined, part_of

SHAPE = (24, 24, 24)
ODD = (13, 25, 17)  # no two parts alike


def random_layout(random, mesh, owing=False):
    dims = [[] for _ in SHAPE]
    partial = []
    for axis in random.permutation(len(mesh.shape)):
        where = random.integers(0, len(SHAPE) + 2)
        if where < len(SHAPE):
            dims[where].append(int(axis))
        elif owing and where == len(SHAPE):
            partial.append((int(axis), "sum"))
    return Layout(tuple(map(tuple, dims)), tuple(sorted(partial)))


def spread(array, layout, mesh, random):
    """Parts for each device; what is owed is split into random terms."""
    axes = tuple(a for a, _ in layout.partial)
    terms = {}
    parts = []
    for rank in range(mesh.size):
        part = part_of(array, layout, mesh, rank)
        members = world.mesh_members(mesh.shape, axes, rank) if axes else (rank,)
        if members not in terms:
            split = random.integers(-9, 9, (len(members), *part.shape)).astype(np.float32)
            split[-1] = part - split[:-1].sum(0)
            terms[members] = split
        parts.append(terms[members][members.index(rank)])
    return parts


@pytest.mark.parametrize("shape", [SHAPE, ODD])
@pytest.mark.parametrize("devices", [2, 4, 6, 8, 12])
def test_any_layout_to_any_other(devices, shape):
    mesh, random = Mesh.of(devices), np.random.default_rng(devices)
    array = random.integers(-99, 99, shape).astype(np.float32)
    for _ in range(25):
        source, target = random_layout(random, mesh, owing=True), random_layout(random, mesh)
        graph = FuncGraph("move")
        builder = Builder(graph)
        x = graph.add_parameter("x", AbstractTensor(ms.float32, source.local(shape, mesh)))
        with builder.active():
            moved = redistribute.apply(builder.public(x), source, target, shape, mesh)
            graph.output = builder.make_tuple([builder.node_of(moved)])
        found = Rehearsal(graph, devices)([[p] for p in spread(array, source, mesh, random)])
        for rank, (part,) in enumerate(found):
            held = tuple(slice(0, s.stop - s.start) for s in target.slices(shape, mesh, rank))  # the rest fills parts up
            np.testing.assert_array_equal(part[held], part_of(array, target, mesh, rank)[held])


def test_layouts_that_agree_need_no_steps():
    layout = Layout(((0, 1), (2,)))
    assert redistribute.steps(layout, layout) == []


def kinds(source, target):
    return [step.kind for step in redistribute.steps(source, target)]


def test_the_cheapest_collective_is_taken():
    rows, columns, whole = Layout(((0,), ())), Layout(((), (0,))), Layout(((), ()))
    assert kinds(whole, rows) == ["cut"]
    assert kinds(rows, columns) == ["all_to_all"]
    assert kinds(rows, whole) == ["all_gather"]
    assert kinds(Layout(((), ()), ((0, "sum"),)), rows) == ["reduce_scatter"]
    assert kinds(Layout(((), ()), ((0, "sum"),)), whole) == ["all_reduce"]
    assert kinds(Layout(((), ()), ((0, "max"),)), rows) == ["all_reduce", "cut"]
    across = redistribute.steps(Layout(((0, 1, 2), ())), Layout(((), (0, 1, 2))))
    assert [(s.kind, s.axes) for s in across] == [("all_to_all", (0, 1, 2))]
    both = redistribute.steps(Layout(((0, 1, 2), ())), whole)
    assert [(s.kind, s.axes) for s in both] == [("all_gather", (0, 1, 2))]  # one collective for all axes


@pytest.mark.parametrize("shape", [SHAPE, ODD])
def test_parts_join_to_the_whole(shape):
    mesh, random = Mesh.of(8), np.random.default_rng(0)
    array = random.random(shape)
    for _ in range(10):
        layout = random_layout(random, mesh)
        parts = [part_of(array, layout, mesh, r) for r in range(8)]
        np.testing.assert_array_equal(joined(parts, layout, mesh, array.shape), array)


def test_layouts_as_mindspore_writes_them():
    mesh = Mesh.of(8)
    assert tensor_map(Layout(((0, 1), (), ())), mesh) == ([4, 2], [1, -1, -1])
    assert tensor_map(Layout(((0,), (1, 2))), mesh) == ([2, 4], [1, 0])
    assert tensor_map(Layout(((2,), (0,))), mesh) == ([2, 2, 2], [0, 2])
    assert tensor_map(Layout(((), ())), mesh) == ([8], [-1, -1])
