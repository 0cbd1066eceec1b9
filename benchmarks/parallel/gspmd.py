"""Bytes that eight devices send in a training step, beside XLA's own partitioner (GSPMD/Shardy) for the same cut.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python benchmarks/parallel/gspmd.py [NETWORK ...]

Both get the same graph of the step and the same layouts of inputs, weights and results. Ours cuts it and runs it under
`shard_map`; theirs is `jit` of the whole graph with those layouts as shardings. Counted in the HLO that XLA compiled, per device,
by the volume of rings: an AllReduce of n devices sends 2 (n-1)/n of its bytes, a gather or scatter (n-1)/n of the whole, a
permutation all of them. What is in a loop counts once.

Plans are made for a machine on which only bytes take time: the networks are so small that latencies would decide otherwise, and there one
large message beats several small ones.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import sys
import tempfile

import jax
import networks
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import mindspore as ms
from mindspore import nn
from mindspore.backends.xla.lowering import Lowering
from mindspore.compiler import driver
from mindspore.compiler.shard.cost import Machine

DEVICES = 8
PLANS = {
    "data parallel": {"parallel_mode": "semi_auto_parallel"},
    "optimizer parallel": {
        "parallel_mode": "semi_auto_parallel", "enable_parallel_optimizer": True,
        "parallel_optimizer_config": {"parallel_optimizer_threshold": 0},
    },
    "searched": {"parallel_mode": "auto_parallel"},
}  # fmt: skip

_SIZES = {"f64": 8, "s64": 8, "u64": 8, "f32": 4, "s32": 4, "u32": 4, "f16": 2, "bf16": 2, "pred": 1, "s8": 1, "u8": 1}
_CALL = re.compile(r"= (\(?[^=]*?\)?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)")
_TENSOR = re.compile(r"(\w+)\[([\d,]*)\]")


def sent(text: str) -> tuple[float, int]:
    """Bytes that a device sends, and the number of collectives, in a module's text."""
    total, count = 0.0, 0
    for line in text.splitlines():
        found = _CALL.search(re.sub(r"/\*.*?\*/", "", line))
        if found is None:
            continue
        nbytes = sum(_SIZES[kind] * math.prod(int(n) for n in dims.split(",") if n) for kind, dims in _TENSOR.findall(found[1]))
        members = _members(found[3])
        share = (members - 1) / members
        factor = {"all-reduce": 2 * share, "all-gather": share, "reduce-scatter": members - 1, "all-to-all": share}
        total += nbytes * factor.get(found[2], 1.0)
        count += 1
    return total, count


def _members(text: str) -> int:
    listed = re.search(r"replica_groups=\{\{([\d,]+)\}", text)
    if listed:
        return len(listed[1].split(","))
    short = re.search(r"replica_groups=\[\d+,(\d+)\]", text)
    return int(short[1]) if short else DEVICES


def step_of(name: str, settings: dict) -> object:
    """The sharded executable of a network's training step."""
    net, loss, batch = networks.networks()[name]
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    cuts = tuple((DEVICES, *(1,) * (x.ndim - 1)) for x in batch)
    ms.set_auto_parallel_context(device_num=DEVICES, dataset_strategy=cuts, **settings)
    try:
        step.compile(*batch)
        return step._sharded()
    finally:
        ms.reset_auto_parallel_context()


def texts(executable: object) -> tuple[str, str]:
    """The compiled modules of ours and of theirs."""
    plan = executable.plan
    program = executable._program(driver.optimise(executable.device_graph, executable.compiling))
    inputs = [jax.ShapeDtypeStruct(shape, p.abstract.dtype.np) for (_, shape), p in zip(program.inputs, plan.graph.parameters)]
    ours = program.function.lower(*inputs).compile().as_text()
    whole = driver.optimise(plan.graph, executable.compiling)
    lowering = Lowering(jax)

    def run(*arrays):
        return tuple(lowering._typed(lowering.run(whole, arrays), whole))

    given = [_if_even(sharding, p.abstract.shape) for (sharding, _), p in zip(program.inputs, plan.graph.parameters)]
    results = [_if_even(NamedSharding(program.mesh, s), a.shape) for s, a in zip(program.specs[1], whole.outputs)]
    unfilled = [jax.ShapeDtypeStruct(p.abstract.shape, p.abstract.dtype.np) for p in plan.graph.parameters]
    return ours, jax.jit(run, in_shardings=given, out_shardings=tuple(results)).lower(*unfilled).compile().as_text()


def _if_even(sharding: NamedSharding, shape: tuple[int, ...]) -> NamedSharding:
    """The layout, or a copy on every device where it does not divide, which GSPMD does not take."""
    try:
        sharding.shard_shape(shape)
    except ValueError:
        return NamedSharding(sharding.mesh, PartitionSpec())
    return sharding


def main() -> None:
    ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as machine:
        json.dump(dataclasses.asdict(Machine().with_free_work()), machine)
        machine.flush()
        os.environ["MS_PARALLEL_MACHINE"] = machine.name
        compare()


def compare() -> None:
    print("| network | plan | ours, bytes (collectives) | GSPMD, bytes (collectives) | ours / theirs |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or networks.networks():
        for kind, settings in PLANS.items():
            (ours, calls), (theirs, others) = map(sent, texts(step_of(name, settings)))
            ratio = ours / theirs if theirs else np.inf if ours else 1.0
            print(f"| {name} | {kind} | {ours:.0f} ({calls}) | {theirs:.0f} ({others}) | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
