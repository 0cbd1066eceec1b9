"""Measuring the machine, and plans for what was measured."""

import json

import pytest

from mindspore import parallel
from mindspore.compiler.shard.cost import Link, Machine


def test_figures_are_written_and_read(tmp_path):
    path = tmp_path / "machine.json"
    found = parallel.calibrate(str(path), node=4)
    assert found == json.loads(path.read_text())
    machine = Machine.load(str(path))
    assert machine.node == 4 and machine.flops == found["flops"] > 1e6 and machine.memory_rate > 1e6
    assert machine.fast == Link(**found["fast"])


def test_collectives_take_rings_and_short_sums_few_rounds():
    from mindspore.compiler.shard.layout import Mesh

    mesh, latency = Mesh.of(16), 1e-6
    machine = Machine(node=8, fast=Link(latency, 100e9), slow=Link(1e-5, 10e9))
    second = pytest.approx
    assert machine.collective("all_gather", 8e9, mesh, (1, 2, 3)) == second(7 * latency + 7 / 8 * 8e9 / 100e9)
    assert machine.collective("reduce_scatter", 8e9, mesh, (1, 2, 3)) == second(7 * latency + 7 / 8 * 8e9 / 100e9)
    assert machine.collective("all_reduce", 8e9, mesh, (1, 2, 3)) == second(14 * latency + 7 / 4 * 8e9 / 100e9)
    assert machine.collective("all_reduce", 8, mesh, (1, 2, 3)) == second(3 * latency + 3 * 8 / 100e9)
    assert machine.collective("all_to_all", 8e9, mesh, (1, 2, 3)) == second(7 * latency + 7 / 8 * 8e9 / 100e9)
    assert machine.collective("all_reduce", 8e9, mesh, (0,)) == second(1e-5 + 8e9 / 10e9)  # between the two nodes
    assert machine.collective("cut", 8e9, mesh, (0,)) == 0.0
