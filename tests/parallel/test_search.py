"""The search for a plan: exact where it can be checked, and what it finds makes sense."""

import itertools

import numpy as np
import pytest
from rehearse import outputs_of_many, outputs_of_one, traced_graph

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler.shard.cost import Link, Machine
from mindspore.compiler.shard.eliminate import Problem
from mindspore.compiler.shard.plan import Options
from mindspore.compiler.shard.search import Search, find_plan


def random_problem(random, variables, edges, choices=4):
    problem = Problem()
    for _ in range(variables):
        problem.variable(random.random(random.integers(1, choices + 1)))
    for _ in range(edges):
        first, second = random.choice(variables, 2, replace=False)
        problem.add(int(first), int(second), random.random((problem.sizes[first], problem.sizes[second])))
    return problem


@pytest.mark.parametrize("seed", range(8))
def test_elimination_finds_the_least_cost(seed):
    problem = random_problem(np.random.default_rng(seed), 7, 10)
    best = problem.solve()
    every = itertools.product(*map(range, problem.sizes))
    assert best.exact and best.cost == pytest.approx(min(problem.cost(list(v)) for v in every))


def milp(problem):
    """The same by integer programming: a 0/1 variable per choice, and per pair of choices where there is a table."""
    scipy = pytest.importorskip("scipy.optimize")
    costs, rows, lower, upper = [], [], [], []
    start = []
    for v, size in enumerate(problem.sizes):
        start.append(len(costs))
        costs += list(problem.tables[(v,)])
        rows.append({start[v] + i: 1.0 for i in range(size)})
        lower.append(1.0), upper.append(1.0)
    for key, table in problem.tables.items():
        if len(key) == 2:
            base = len(costs)
            costs += list(table.ravel())
            for axis, v in enumerate(key):
                for i in range(problem.sizes[v]):
                    pairs = np.moveaxis(np.arange(table.size).reshape(table.shape), axis, 0)[i]
                    rows.append({**{base + int(p): 1.0 for p in pairs}, start[v] + i: -1.0})
                    lower.append(0.0), upper.append(0.0)
    matrix = np.zeros((len(rows), len(costs)))
    for r, row in enumerate(rows):
        for c, value in row.items():
            matrix[r, c] = value
    found = scipy.milp(
        np.array(costs), constraints=scipy.LinearConstraint(matrix, lower, upper), integrality=np.ones(len(costs)),
        bounds=scipy.Bounds(0, 1),
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("seed", range(4))
def test_elimination_agrees_with_integer_programming(seed):
    problem = random_problem(np.random.default_rng(seed), 12, 18)
    assert problem.solve().cost == pytest.approx(milp(problem), rel=1e-6)


def test_a_table_that_would_be_too_large_is_avoided():
    problem = random_problem(np.random.default_rng(0), 12, 60)
    found = problem.solve(limit=100)
    assert not found.exact and found.cost >= problem.solve().cost - 1e-12


class Block(nn.Cell):
    def __init__(self, width, hidden):
        super().__init__()
        draw = np.random.default_rng(1).standard_normal
        self.up = Parameter(Tensor((draw((width, hidden)) * 0.1).astype(np.float32)), name="up")
        self.down = Parameter(Tensor((draw((hidden, width)) * 0.1).astype(np.float32)), name="down")

    def construct(self, x):
        return ops.matmul(ops.relu(ops.matmul(x, self.up)), self.down)


def training_step(width, hidden):
    net = Block(width, hidden)
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))


def plan_for(rows, width, hidden, devices=8, **machine):
    x = Tensor(np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32))
    graph, arrays = traced_graph(training_step(width, hidden), x, x)
    plan = find_plan(graph, Options(devices, search=True, dataset="full_batch", machine=Machine(**machine)))
    return plan, graph, arrays


def cuts_of(plan, name):
    weight = next(p for p in plan.graph.parameters if p.name == name)
    return plan.storage_of(weight).cuts(plan.mesh)


def test_what_is_found_computes_the_same():
    plan, graph, arrays = plan_for(16, 16, 32)
    for one, many in zip(outputs_of_one(graph, arrays), outputs_of_many(plan, arrays), strict=True):
        np.testing.assert_allclose(many, one, rtol=2e-5, atol=1e-6)


def test_large_batches_are_cut_and_large_weights_are_cut():
    slow = {"flops": 1e10, "memory_rate": 1e12, "launch": 0.0, "fast": Link(0.0, 1e9)}
    batch, _, _ = plan_for(4096, 8, 8, **slow)
    assert cuts_of(batch, "up") == (1, 1)  # data parallel: weights are small beside the batch
    weights, _, _ = plan_for(8, 512, 2048, **slow)
    assert np.prod(cuts_of(weights, "up")) > 1


def test_plans_fit_the_memory():
    loose, _, _ = plan_for(2048, 64, 64)
    assert cuts_of(loose, "up") == (1, 1)
    tight, _, _ = plan_for(2048, 64, 64, memory=2 * 4 * 64 * 64 * 4 / 2)
    assert np.prod(cuts_of(tight, "up")) * np.prod(cuts_of(tight, "down")) >= 4


def test_strategies_of_the_user_stand():
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="auto_parallel", device_num=4, full_batch=True)
    try:
        net = nn.SequentialCell(nn.ReLU().shard(((1, 4),)), nn.GELU())
        x = Tensor(np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32))
        out = net(x)
        rows = net.explain_parallel().rows
        assert [[1, 4]] in [row.strategy for row in rows if row.why == "given"]
    finally:
        ms.reset_auto_parallel_context()
    np.testing.assert_allclose(out.asnumpy(), net(x).asnumpy(), rtol=1e-6)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_the_search_is_exact_for_deep_networks():
    x = Tensor(np.ones((64, 32), np.float32))
    net = nn.SequentialCell(*(Block(32, 64) for _ in range(12)))
    graph, _ = traced_graph(net, x)
    search = Search(graph, Options(32, search=True))
    search.run()
    assert search.exact and len(search.choices) >= 36
