"""Random graphs, cut in random ways on meshes of 2 to 8 devices, against one device.

In float64: sums in another order are magnified on the way.
"""

import numpy as np
import pytest
from rehearse import assert_same

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.compiler.shard.layout import Mesh
from mindspore.compiler.shard.plan import fits, outputs_of, rule_of, shapes_of

SIZE = 24  # divides by 2, 3, 4, 6, 8 and 12


def unary(random, x):
    """A random operation that keeps the shape (SIZE, SIZE)."""
    axis = int(random.integers(0, 2))
    return [
        lambda: ops.tanh(x),
        lambda: ops.Softmax(axis)(x),
        lambda: ops.Transpose()(x, (1, 0)),
        lambda: ops.Reshape()(ops.Reshape()(x, (4, 6, 2, 12)), (SIZE, SIZE)),
        lambda: x - ops.ReduceMean(True)(x, axis),
        lambda: x * ops.ReduceMax(True)(x, axis),
        lambda: ops.LayerNorm(1, 1)(x, ops.ones(SIZE, ms.float64), ops.zeros(SIZE, ms.float64))[0],
        lambda: ops.Concat(axis)((x, x))[SIZE:] if axis == 0 else ops.Concat(1)((x, x))[:, SIZE:],
        lambda: ops.CumSum()(x, axis) * 0.1,
        lambda: ops.BroadcastTo((3, SIZE, SIZE))(x).sum(0) * 0.3,
        lambda: ops.DropoutWithKey(0.7)(x, Tensor(np.array([1, 2], np.uint32)))[0],
        lambda: ops.TopK()(x, SIZE)[0],
    ][int(random.integers(0, 12))]()


def binary(random, x, y):
    index = Tensor(random.integers(0, SIZE, (SIZE,)).astype(np.int32))
    return [
        lambda: x + y,
        lambda: x * y,
        lambda: ops.MatMul()(x, y) * 0.2,
        lambda: ops.MatMul(transpose_a=True)(x, y) * 0.2,
        lambda: ops.MatMul(transpose_b=True)(x, y) * 0.2,
        lambda: ops.Gather()(x, index, 0) + y,
        lambda: ops.Select()(x > y, x, y),
    ][int(random.integers(0, 7))]()


def random_function(seed):
    def function(*inputs):
        random = np.random.default_rng(seed)
        known = list(inputs)
        for _ in range(7):
            x = known[int(random.integers(0, len(known)))]
            y = known[int(random.integers(0, len(known)))]
            known.append(unary(random, x) if random.random() < 0.5 else binary(random, x, y))
        return ops.sin(known[-1]).sum() + ops.sin(known[-2]).mean()

    return function


def random_cuts(seed, devices):
    """Random cuts for a third of the operators."""

    def preset(graph):
        random, mesh = np.random.default_rng(seed + 1000), Mesh.of(devices)
        found = {}
        for node in graph.nodes():
            rule = rule_of(node)
            if rule is None or not rule.labels or random.random() < 0.66:
                continue
            chosen = {}
            for axis in random.permutation(len(mesh.shape)):
                label = rule.labels[int(random.integers(0, len(rule.labels)))]
                chosen[label] = (*chosen.get(label, ()), int(axis))
            if fits(rule, chosen, shapes_of(node), outputs_of(node), mesh):
                found[node.id] = chosen
        return found

    return preset


@pytest.mark.parametrize("devices", [2, 4, 6, 8])
@pytest.mark.parametrize("seed", range(12))
def test_random_graph(seed, devices):
    draw = np.random.default_rng(seed).standard_normal
    inputs = tuple(Tensor(draw((SIZE, SIZE)).astype(np.float64)) for _ in range(3))
    gradients = ops.grad(random_function(seed), (0, 1, 2))
    assert_same(gradients, *inputs, devices=devices, preset=random_cuts(seed, devices), rtol=1e-8, atol=1e-9)
