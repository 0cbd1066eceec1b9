"""The search for plans: exact, how fast, and beside the plans that others measured.

    python benchmarks/parallel/search.py            all of it, about two minutes
    python benchmarks/parallel/search.py exact      the cut of 2, 24 and 96 layers on 32 devices, beside HiGHS (scipy)
    python benchmarks/parallel/search.py large      a network of 10^12 weights on 3,072 devices
    python benchmarks/parallel/search.py published  the tables of Megatron-LM (A100, 2021) and Megatron-Core 0.8 (H100, 2024)
"""

from __future__ import annotations

import dataclasses
import sys
import time

import numpy as np
from transformer import Layer, Layers, graph_of

from mindspore.compiler.shard.cost import Link, Machine
from mindspore.compiler.shard.eliminate import Problem
from mindspore.compiler.shard.layers import LayerSearch, Shape, Work, find_layer_plans
from mindspore.compiler.shard.plan import Options
from mindspore.compiler.shard.search import Search

A100 = Machine(312e12 * 0.6, 1.7e12, 4e-6, 80e9, 8, Link(4e-6, 240e9), Link(8e-6, 22e9))
H100 = Machine(989e12 * 0.6, 2.8e12, 4e-6, 80e9, 8, Link(4e-6, 360e9), Link(8e-6, 42e9))


# -- exact ------------------------------------------------------------------------------------------------------------
def milp(problem: Problem, seconds: float = 200.0) -> tuple[float, float]:
    """The optimum by integer programming, and the seconds it took. Pairs are over distinct rows and columns of a table."""
    from scipy import optimize, sparse

    costs: list[float] = []
    start, rows, columns, data, equal = [], [], [], [], []

    def constrain(entries, value):
        for column, factor in entries:
            rows.append(len(equal)), columns.append(column), data.append(factor)
        equal.append(value)

    for v, size in enumerate(problem.sizes):
        start.append(len(costs))
        costs.extend(problem.tables[(v,)])
        constrain([(start[v] + i, 1.0) for i in range(size)], 1.0)
    binary = len(costs)
    for key, table in problem.tables.items():
        if len(key) != 2:
            continue
        by_row, row_of = np.unique(table, axis=0, return_inverse=True)
        small, column_of = np.unique(by_row, axis=1, return_inverse=True)
        base = len(costs)
        costs.extend(small.ravel())
        places = np.arange(small.size).reshape(small.shape) + base
        for v, of, lines in ((key[0], row_of.ravel(), places), (key[1], column_of.ravel(), places.T)):
            for number, line in enumerate(lines):
                members = [(start[v] + int(i), -1.0) for i in np.flatnonzero(of == number)]
                constrain([*((int(p), 1.0) for p in line), *members], 0.0)
    scale = max(costs)
    matrix = sparse.csr_matrix((data, (rows, columns)), shape=(len(equal), len(costs)))
    integral = np.arange(len(costs)) < binary
    began = time.process_time()
    found = optimize.milp(
        np.array(costs) / scale, constraints=optimize.LinearConstraint(matrix, equal, equal), integrality=integral,
        bounds=optimize.Bounds(0, 1), options={"time_limit": seconds, "mip_rel_gap": 1e-9},
    )  # fmt: skip
    return (found.fun * scale if found.fun is not None else float("nan")), time.process_time() - began


def exact() -> None:
    print("| layers | operators | ours, CPU s | optimum, ms | HiGHS, CPU s | optimum, ms |\n|---|---|---|---|---|---|")
    for layers in (2, 24, 96):
        graph = graph_of(Layers(layers, 256, 16), 256, 128, 256)
        began = time.process_time()
        search = Search(graph, Options(32, search=True, dataset="full_batch", machine=dataclasses.replace(A100, node=4)))
        search.trains = True
        search.run()
        ours = time.process_time() - began
        theirs = milp(search.problem) if layers <= 24 else (float("nan"), float("nan"))
        print(f"| {layers} | {len(search.choices)} | {ours:.2f}{'' if search.exact else ' (not exact)'} | {search.least * 1e3:.6f} | "
              f"{theirs[1]:.1f} | {theirs[0] * 1e3:.6f} |", flush=True)  # fmt: skip


# -- large ------------------------------------------------------------------------------------------------------------
def large() -> None:
    layer = Layer(25600, 160)
    began = time.process_time()
    plans = find_layer_plans(Work(lambda samples: graph_of(layer, samples, 2048, 25600), 128, 3072, 3072), A100)
    print(f"128 layers of width 25,600 (10^12 weights) on 3,072 devices: {time.process_time() - began:.1f} s of CPU, "
          f"{len(plans)} plans fit 80 GB\n")  # fmt: skip
    print("| step, s | stages | devices share a sample | micro-batches | recompute | optimizer parallel | GB |")
    print("|---" * 7 + "|")
    for plan in plans[:6]:
        print(f"| {plan.seconds:.2f} | {plan.stages} | {plan.sharing} | {plan.micro_batches} of {plan.micro_batch} | "
              f"{plan.recompute} | {plan.optimizer_parallel} | {plan.memory / 1e9:.1f} |")  # fmt: skip


# -- published ----------------------------------------------------------------------------------------------------------
# width, layers, devices, t, p, batch, TFLOP/s per device
MEGATRON_A100 = [
    (2304, 24, 32, 1, 1, 512, 137), (3072, 30, 64, 2, 1, 512, 138), (4096, 36, 128, 4, 1, 512, 142),
    (6144, 40, 256, 8, 1, 1024, 135), (8192, 48, 512, 8, 2, 1536, 138), (10240, 60, 1024, 8, 4, 1792, 140),
    (12288, 80, 1536, 8, 8, 2304, 148), (16384, 96, 1920, 8, 16, 2160, 155), (20480, 105, 2520, 8, 35, 2520, 163),
    (25600, 128, 3072, 8, 64, 3072, 163),
]  # fmt: skip
MEGATRON_H100 = [
    (2048, 24, 48, 1, 1, 192, 408.8), (4096, 30, 96, 2, 1, 192, 465.9), (6144, 32, 192, 4, 1, 192, 489.1),
    (7168, 48, 384, 8, 1, 192, 459.6), (8192, 84, 768, 8, 2, 384, 419.7), (10240, 92, 1536, 8, 4, 768, 420.5),
    (12288, 96, 2304, 8, 6, 1152, 432.8), (16384, 96, 3072, 8, 8, 1536, 474.4), (18432, 112, 6144, 8, 16, 3072, 459.9),
]  # fmt: skip


def flops(width: int, layers: int, batch: int, length: int, recompute: bool) -> float:
    """Of the layers, as the tables count them."""
    return (96 if recompute else 72) * batch * length * layers * width**2 * (1 + length / (6 * width))


def predicted(row: tuple, machine: Machine, length: int, recompute: bool) -> float:
    """TFLOP/s per device of the published plan, with the best micro-batch."""
    width, layers, devices, t, p, batch, _ = row
    layer, found = Layer(width, 16 if width % 128 else width // 128, not recompute), []
    for samples in (1, 2, 4):
        micro = devices // p // t * samples
        if batch % micro or batch // micro < p:
            continue
        search = LayerSearch(graph_of(layer, micro, length, width), devices // p, t, machine)
        shape = Shape(layers // p, p, batch // micro, recompute, True)
        search.turns = shape.turns
        seconds = shape.seconds(search._summary(search._solve(search.nodes, 0.0)), machine)
        found.append(flops(width, layers, batch, length, recompute) / seconds / devices / 1e12)
    return max(found)


def published() -> None:
    for name, rows, machine, length, recompute in (
        ("A100, 2021", MEGATRON_A100, A100, 2048, True), ("H100, 2024", MEGATRON_H100, H100, 4096, False)
    ):  # fmt: skip
        _published(name, rows, machine, length, recompute)


def _published(name: str, rows: list, machine: Machine, length: int, recompute: bool) -> None:
    grid = [
        dataclasses.replace(machine, flops=machine.flops / 0.6 * peak, hidden=hidden)
        for peak in (0.55, 0.6, 0.65, 0.7) for hidden in (0.0, 0.5, 0.9)
    ]  # fmt: skip
    table = np.array([[predicted(row, m, length, recompute) for m in grid] for row in rows])
    measured = np.array([row[-1] for row in rows])
    errors = np.abs(np.log(table / measured[:, None]))
    left_out, constant, shown = [], [], []
    for i in range(len(rows)):
        others = np.arange(len(rows)) != i
        best = errors[others].mean(0).argmin()
        shown.append(table[i, best])
        left_out.append(abs(table[i, best] / measured[i] - 1))
        constant.append(abs(np.exp(np.log(measured[others]).mean()) / measured[i] - 1))
    fitted = table[:, errors.mean(0).argmin()]
    ranks = np.argsort(np.argsort(fitted)), np.argsort(np.argsort(measured))
    agreement = np.corrcoef(*ranks)[0, 1]
    print(f"\n{name}: leave-one-out error {100 * np.mean(left_out):.1f} % (worst {100 * max(left_out):.1f}), a constant "
          f"{100 * np.mean(constant):.1f} % (worst {100 * max(constant):.1f}); rank correlation {agreement:.2f}")  # fmt: skip
    print("| width | layers | devices | t | p | TFLOP/s | predicted without it | place among plans that fit |")
    print("|---" * 8 + "|")
    for row, guess in zip(rows, shown):
        place, count = _place(row, grid[errors.mean(0).argmin()], length, recompute)
        print(f"| {row[0]} | {row[1]} | {row[2]} | {row[3]} | {row[4]} | {row[6]} | {guess:.0f} | {place} of {count} |", flush=True)


def _place(row: tuple, machine: Machine, length: int, recompute: bool) -> tuple[int, int]:
    """The place of the published t and p among all plans that fit, by the model."""
    width, layers, devices, t, p, batch, _ = row
    layer = Layer(width, 16 if width % 128 else width // 128, not recompute)
    plans = find_layer_plans(Work(lambda samples: graph_of(layer, samples, length, width), layers, batch, devices), machine)
    return next((i + 1 for i, plan in enumerate(plans) if (plan.sharing, plan.stages) == (t, p)), 0), len(plans)


if __name__ == "__main__":
    for part in (exact, large, published):
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part()
