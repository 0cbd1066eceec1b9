"""Collective operations: alone, and with imagined processes that hold the same values."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import comm_func
from mindspore.prims import world

X = np.arange(1, 9, dtype=np.float32).reshape(4, 2)


@pytest.fixture
def four():
    """This process as number 1 of 4; the others hold the same values."""
    world.connect(world.Rehearsal(1, 4))
    yield
    world.disconnect()


SAME = {
    "AllReduce": lambda: ops.AllReduce(),
    "AllReduce max": lambda: ops.AllReduce(ops.ReduceOp.MAX),
    "AllReduce avg": lambda: ops.AllReduce("avg"),
    "AllGather": lambda: ops.AllGather(),
    "ReduceScatter": lambda: ops.ReduceScatter(),
    "Reduce": lambda: ops.Reduce(0),
    "CollectiveScatter": lambda: ops.CollectiveScatter(),
    "CollectiveGather": lambda: ops.CollectiveGather(0),
    "AlltoAll": lambda: ops.AlltoAll(1, 0, 1),
}


@pytest.mark.parametrize("name", SAME)
def test_alone_they_are_the_identity_with_its_gradient(name):
    operation = SAME[name]()
    np.testing.assert_array_equal(operation(Tensor(X)).asnumpy(), X)
    np.testing.assert_array_equal(ms.jit(lambda t: operation(t))(Tensor(X)).asnumpy(), X)
    grad = ms.grad(lambda t: (operation(t) ** 2).sum())(Tensor(X))
    np.testing.assert_allclose(grad.asnumpy(), 2 * X)


def test_alone_results_are_copies():
    source = Tensor(X.copy())
    out = ops.AllReduce()(source)
    source[0, 0] = 100.0
    assert out[0, 0] == 1.0


def test_broadcast_takes_and_gives_tuples():
    a, b = ops.Broadcast(0)((Tensor(X), Tensor([3])))
    np.testing.assert_array_equal(a.asnumpy(), X)
    assert b.asnumpy().tolist() == [3]


def test_exchange_with_oneself():
    flat = Tensor(X).reshape(-1)
    np.testing.assert_array_equal(ops.AlltoAllV()(flat, [8], [8]).asnumpy(), X.ravel())
    np.testing.assert_array_equal(ops.AllGatherV()(flat, [8]).asnumpy(), X.ravel())
    np.testing.assert_array_equal(ops.ReduceScatterV()(flat, [8]).asnumpy(), X.ravel())
    np.testing.assert_array_equal(ops.AlltoAllVC()(flat, [8]).asnumpy(), X.ravel())
    (got,) = ops.NeighborExchange([0], [0], [[4, 2]], [[4, 2]], ms.float32)((Tensor(X),))
    np.testing.assert_array_equal(got.asnumpy(), X)
    comm_func.send(Tensor(X), 0, tag=3)
    np.testing.assert_array_equal(comm_func.recv(Tensor(np.zeros_like(X)), 0, tag=3).asnumpy(), X)
    with pytest.raises(RuntimeError, match="wait forever"):
        comm_func.recv(Tensor(X), 0, tag=3)
    with pytest.raises(ValueError, match="no process of rank 2"):
        comm_func.send(Tensor(X), 2)


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_four_processes(four, mode):
    def run(operation, value=X):
        call = ms.jit(lambda t: operation(t)) if mode == "graph" else operation
        return call(Tensor(value)).asnumpy()

    np.testing.assert_array_equal(run(ops.AllReduce()), 4 * X)
    np.testing.assert_array_equal(run(ops.AllReduce("prod")), X**4)
    np.testing.assert_array_equal(run(ops.AllReduce("avg")), X)
    np.testing.assert_array_equal(run(ops.AllGather()), np.tile(X, (4, 1)))
    np.testing.assert_array_equal(run(ops.ReduceScatter()), 4 * X[1:2])
    np.testing.assert_array_equal(run(ops.CollectiveGather(0)), [0.0])
    np.testing.assert_array_equal(run(ops.AlltoAll(4, 0, 1)), np.tile(X[1:2], (1, 4)))


def test_gradients_among_four(four):
    def gradient(function):
        return ms.grad(lambda t: function(t).sum())(Tensor(X)).asnumpy()

    np.testing.assert_array_equal(gradient(ops.AllReduce()), np.full_like(X, 4))
    np.testing.assert_array_equal(gradient(ops.AllReduce("avg")), np.ones_like(X))
    np.testing.assert_allclose(gradient(ops.AllReduce("prod")), 4 * X**3, rtol=1e-6)
    np.testing.assert_array_equal(gradient(ops.AllGather()), np.full_like(X, 4))
    np.testing.assert_array_equal(gradient(ops.ReduceScatter()), np.ones_like(X))
    np.testing.assert_array_equal(gradient(lambda t: ops.Broadcast(0)((t,))[0]), np.zeros_like(X))
    np.testing.assert_array_equal(gradient(lambda t: ops.Broadcast(1)((t,))[0]), np.full_like(X, 4))


def test_short_floats_are_summed_in_float32():
    parts = [np.array([2048.0], np.float16), np.array([1.0], np.float16), np.array([1.0], np.float16)]
    assert world.reduce_arrays("sum", parts) == np.float16(2050)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ops.AllReduce(3), TypeError, "the 'op' must be str"),
        (lambda: ops.AllReduce("sum", 3), TypeError, "the 'group' must be str"),
        (lambda: ops.AllReduce("mean"), ValueError, "'op' must be one of"),
        (lambda: ops.AllReduce()(3), TypeError, "must be a Tensor"),
        (lambda: ops.AllReduce()(Tensor([True])), TypeError, "dtype"),
        (lambda: ops.AllGather()(Tensor(1.0)), ValueError, "at least one dimension"),
        (lambda: ops.Broadcast(-1), ValueError, "must not be negative"),
        (lambda: ops.AlltoAll(2, 0, 1)(Tensor(X)), ValueError, "'split_count' must be the size of group"),
        (lambda: ops.AlltoAllV()(Tensor(X), [7], [8]), ValueError, "add up to 7"),
        (lambda: comm_func.all_reduce(3), TypeError, "must be tensor"),
        (lambda: comm_func.all_reduce(Tensor(X), "mean"), TypeError, "must be one of"),
        (lambda: comm_func.batch_isend_irecv([]), TypeError, "can not be empty"),
        (lambda: comm_func.P2POp("x", Tensor(X), 0), ValueError, "isend"),
    ],
)
def test_wrong_use_is_named(call, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        call()


def test_reduce_scatter_needs_equal_parts(four):
    with pytest.raises(ValueError, match="divisible by the size of the group"):
        ops.ReduceScatter()(Tensor(X[:3]))


def test_functions_return_results_and_handles():
    total, handle = comm_func.all_reduce(Tensor(X))
    assert handle is None and (total.asnumpy() == X).all()
    gathered, handle = comm_func.all_gather_into_tensor(Tensor(X), async_op=True)
    handle.wait()
    assert gathered.shape == (4, 2)
    assert comm_func.broadcast(Tensor(X)).shape == (4, 2) and comm_func.barrier() is None
    results, _ = comm_func.all_to_all_with_output_shape([(4, 2)], [Tensor(X)])
    assert (results[0].asnumpy() == X).all()
    single, _ = comm_func.all_to_all_single_with_output_shape((4, 2), Tensor(X))
    assert (single.asnumpy() == X).all()
    out = comm_func.batch_isend_irecv(
        [comm_func.P2POp("isend", Tensor(X), 0), comm_func.P2POp(comm_func.irecv, (4, 2), 0, recv_dtype=ms.float32)]
    )
    assert (out[1].asnumpy() == X).all()
    target = Tensor(np.zeros_like(X))
    comm_func.all_to_all_v_c(target, Tensor(X), [8])
    assert (target.asnumpy() == X).all()


def test_in_a_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.reduce = ops.AllReduce(ops.ReduceOp.SUM, group=ms.communication.GlobalComm.WORLD_COMM_GROUP)

        def construct(self, x):
            return self.reduce(x * 2)

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        np.testing.assert_array_equal(Net()(Tensor(X)).asnumpy(), 2 * X)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
