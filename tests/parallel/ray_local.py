"""Processes of a run as actors of a local Ray, in an environment that has it: `make test-parallel-ray`."""

import os
import sys

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-parallel-ray")

import mindspore as ms  # noqa: E402 - Ray comes first: without it there is nothing to test
from mindspore import Tensor, nn, ops  # noqa: E402


@pytest.fixture(scope="module")
def workers():
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # actors cannot import this file
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    found = ms.parallel.RayWorkers(2)
    yield found
    found.close()
    ray.shutdown()


def collectives():
    from mindspore.communication import comm_func, get_group_size, get_rank

    x = Tensor(np.arange(4, dtype="f") + get_rank())
    plain = ops.AllReduce()(x).asnumpy().tolist()
    graph = ms.jit(lambda t: ops.AllReduce()(t) * 2)(x).asnumpy().tolist()
    comm_func.send(x, 1 - get_rank())
    got = comm_func.recv(x * 0, 1 - get_rank()).asnumpy().tolist()
    return get_rank(), get_group_size(), plain, graph, got


def test_collectives(workers):
    first = np.arange(4.0)
    for rank, (found, size, plain, graph, got) in enumerate(workers.run(collectives)):
        assert (found, size) == (rank, 2)
        assert plain == (2 * first + 1).tolist() and graph == (4 * first + 2).tolist()
        assert got == (first + 1 - rank).tolist()


def train(rows, steps, processes):
    """Data parallel steps on this process's share of the rows; the losses of all, and the weights."""
    from mindspore.communication import get_rank

    ms.set_seed(3)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 2))
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    x, y = (np.split(a, processes)[get_rank()] for a in rows)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
    gradient = ms.value_and_grad(lambda a, b: ((net(a) - b) ** 2).mean(), None, optimizer.parameters)

    @ms.jit
    def step(a, b):
        loss, grads = gradient(a, b)
        optimizer(reducer(grads))
        return ops.AllReduce("avg")(loss)

    losses = [float(step(Tensor(x), Tensor(y)).asnumpy()) for _ in range(steps)]
    return losses, [p.asnumpy() for p in net.get_parameters()]


def test_two_actors_train_as_one_process(workers):
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(16, 6)).astype("f"), draw.normal(size=(16, 2)).astype("f")
    both = workers.run(train, rows, 20, 2)
    losses, weights = train(rows, 20, 1)
    assert both[0][0] == both[1][0]
    np.testing.assert_allclose(both[0][0], losses, rtol=1e-5)
    for first, second, alone in zip(both[0][1], both[1][1], weights):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, alone, rtol=1e-4, atol=1e-6)


def fail():
    from mindspore.communication import get_rank

    if get_rank() == 1:
        raise ValueError("a mistake of the program's")


def test_errors_come_back(workers):
    with pytest.raises(ValueError, match="a mistake of the program's"):
        workers.run(fail)


def die():
    from mindspore.communication import get_rank

    if get_rank() == 1:
        os._exit(9)


def test_a_lost_actor_is_named():
    if not ray.is_initialized():
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    lost = ms.parallel.RayWorkers(2, cpus=0.5)
    with pytest.raises(RuntimeError, match=r"ranks \[1\] were lost"):
        lost.run(die)


def test_wrong_count():
    with pytest.raises(ValueError, match="'count' must be a positive int"):
        ms.parallel.RayWorkers(0)
