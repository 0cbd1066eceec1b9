"""Compiling for eight devices beside one (CPU seconds), and predicted beside XLA's memory per device.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python benchmarks/parallel/compiled.py [NETWORK ...]

Ten small networks, a training step each, on the XLA backend: from the call of the step to its program. One device and eight take
turns; the smaller of two times counts. Memory: `explain_parallel().simulate().peak_bytes` beside what XLA's memory analysis gives
for the program of a device (arguments, results and temporaries).
"""

from __future__ import annotations

import sys
import time

import jax
import networks
from gspmd import DEVICES

import mindspore as ms
from mindspore import nn
from mindspore.backends.xla.lowering import Lowering
from mindspore.compiler import driver
from mindspore.compiler.parse.entry import trace
from mindspore.compiler.shard.partition import partition
from mindspore.compiler.shard.plan import Options
from mindspore.compiler.shard.search import find_plan
from mindspore.compiler.shard.simulate import simulate


def step_of(name: str):
    net, loss, batch = networks.networks()[name]
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9)), batch


def compile_for_one(name: str) -> tuple[float, None]:
    step, batch = step_of(name)
    start = time.process_time()
    graph = driver.optimise(trace(step, batch, {}, checked=False).graph, driver.Options())
    lowering = Lowering(jax)
    shapes = [jax.ShapeDtypeStruct(p.abstract.shape, p.abstract.dtype.np) for p in graph.parameters]
    jax.jit(lambda *arrays: tuple(lowering._typed(lowering.run(graph, arrays), graph))).lower(*shapes).compile()
    return time.process_time() - start, None


def compile_for_many(name: str):
    from mindspore.backends.xla.mesh_program import MeshProgram

    step, batch = step_of(name)
    start = time.process_time()
    plan = find_plan(trace(step, batch, {}, checked=False).graph, Options(DEVICES))
    device_graph = driver.optimise(partition(plan), driver.Options())
    storage = [plan.storage_of(p).dims for p in plan.graph.parameters]
    updates = {target: source for source, target in plan.graph.attrs.get("updates", {}).items()}
    outputs = [
        storage[updates[i]] if i in updates else ((),) * len(getattr(a, "shape", ())) for i, a in enumerate(device_graph.outputs)
    ]
    program = MeshProgram(device_graph, plan.mesh.shape, storage, outputs)
    shapes = [jax.ShapeDtypeStruct(shape, p.abstract.dtype.np) for (_, shape), p in zip(program.inputs, plan.graph.parameters)]
    made = program.function.lower(*shapes).compile()
    return time.process_time() - start, (plan, made.memory_analysis())


def main() -> None:
    ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
    print("| network | one device, s | eight, s | ratio | predicted peak, KB | XLA's, KB | ratio |\n|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or networks.networks():
        times: list[tuple[float, float]] = []
        for _ in range(2):
            one, _ = compile_for_one(name)
            many, (plan, memory) = compile_for_many(name)
            times.append((one, many))
        one, many = (min(t[i] for t in times) for i in (0, 1))
        predicted = max(simulate(plan).peak_bytes) / 1024
        real = (memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes - memory.alias_size_in_bytes) / 1024
        print(f"| {name} | {one:.2f} | {many:.2f} | {many / one:.2f} | {predicted:.1f} | {real:.1f} | {predicted / real:.2f} |", flush=True)


if __name__ == "__main__":
    main()
