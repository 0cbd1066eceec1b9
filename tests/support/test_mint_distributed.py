"""`mint.distributed`: alone, among imagined processes, and the TCP store between real ones."""

import subprocess
import sys
import threading
from datetime import timedelta

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor
from mindspore.mint import distributed as dist
from mindspore.prims import world

X = np.arange(1, 9, dtype=np.float32).reshape(4, 2)


@pytest.fixture
def alone():
    dist.init_process_group("mccl")
    yield
    dist.destroy_process_group()


@pytest.fixture
def four():
    world.connect(world.Rehearsal(1, 4))
    yield
    world.disconnect()


def test_groups(alone):
    assert dist.is_available() and dist.is_initialized()
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "mccl")
    group = dist.new_group([0])
    assert dist.new_group([0]) == group and dist.get_process_group_ranks(group) == [0]
    assert dist.get_global_rank(group, 0) == 0 and dist.get_group_rank(group, 0) == 0
    dist.destroy_process_group(group)
    with pytest.raises(RuntimeError, match="does not exist"):
        dist.get_rank(group)
    with pytest.raises(TypeError, match="must be type of string"):
        dist.get_rank(3)


def test_joining_with_a_wrong_size():
    with pytest.raises(ValueError, match="'world_size' is 2, but 1"):
        dist.init_process_group("mccl", world_size=2, rank=0)
    assert not dist.is_initialized()


def test_results_are_written_into_tensors(alone):
    def zeros(*shape):
        return Tensor(np.zeros(shape, np.float32))

    x, out = Tensor(X), zeros(4, 2)
    calls = [
        lambda: dist.all_gather_into_tensor(out, x),
        lambda: dist.all_gather([out], x),
        lambda: dist.gather(x, [out]),
        lambda: dist.scatter(out, [x]),
        lambda: dist.reduce_scatter_tensor(out, x),
        lambda: dist.reduce_scatter(out, [x]),
        lambda: dist.all_gather_into_tensor_uneven(out, x, [4]),
        lambda: dist.reduce_scatter_tensor_uneven(out, x, [4]),
        lambda: dist.all_to_all_single(out, x),
        lambda: dist.all_to_all([out], [x]),
        lambda: (dist.send(x), dist.recv(out)),
        lambda: dist.batch_isend_irecv([dist.P2POp("isend", x, 0), dist.P2POp("irecv", out, 0)]),
    ]
    for call in calls:
        out.assign_value(zeros(4, 2))
        call()
        np.testing.assert_array_equal(out.asnumpy(), X)
    for call in (lambda: dist.all_reduce(x), lambda: dist.broadcast(x, 0), lambda: dist.reduce(x, 0), dist.barrier):
        assert call() is None
    np.testing.assert_array_equal(x.asnumpy(), X)
    dist.all_reduce(x, async_op=True).wait()


def test_among_four(four):
    x = Tensor(X.copy())
    dist.all_reduce(x)
    np.testing.assert_array_equal(x.asnumpy(), 4 * X)
    parts = [Tensor(np.zeros((4, 2), np.float32)) for _ in range(4)]
    dist.all_gather(parts, Tensor(X))
    assert all((p.asnumpy() == X).all() for p in parts)
    row = Tensor(np.zeros((1, 2), np.float32))
    dist.reduce_scatter_tensor(row, Tensor(X))
    np.testing.assert_array_equal(row.asnumpy(), 4 * X[1:2])
    dist.all_to_all_single(out := Tensor(np.zeros((4, 2), np.float32)), Tensor(X))
    np.testing.assert_array_equal(out.asnumpy(), np.tile(X[1:2], (4, 1)))
    objects = [None] * 4
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}] * 4


def test_objects(alone):
    got, sent = [None], [{"a": (1, "b")}]
    dist.all_gather_object(got, sent[0])
    assert got == sent
    dist.gather_object(5, got)
    assert got == [5]
    dist.scatter_object_list(got, [7])
    assert got == [7]
    dist.send_object_list(sent, 0)
    assert dist.recv_object_list(got, 0) == 0 and got == sent
    dist.broadcast_object_list(sent)
    assert sent == [{"a": (1, "b")}]
    with pytest.raises(ValueError, match="must have 1 elements"):
        dist.all_gather_object([], 3)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: dist.all_reduce(3), TypeError),
        (lambda: dist.all_reduce(Tensor(X), "mean"), TypeError),
        (lambda: dist.all_gather_into_tensor(Tensor(X[:2]), Tensor(X)), ValueError),
        (lambda: dist.all_gather_into_tensor(Tensor(X.astype(np.int32)), Tensor(X)), TypeError),
        (lambda: dist.all_gather([Tensor(X)] * 2, Tensor(X)), ValueError),
        (lambda: dist.all_to_all_single(Tensor(X), Tensor(X), [3], [4]), ValueError),
        (lambda: dist.new_group((0,)), TypeError),
    ],
)
def test_wrong_use(alone, call, error):
    with pytest.raises(error):
        call()


@pytest.fixture
def store():
    made = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=20))
    yield made
    made.close()


def test_store_of_keys(store):
    store.set("k", "v")
    assert store.get("k") == b"v" and store.add("n", 2) == 2 and store.add("n", -5) == -3 and store.get("n") == b"-3"
    assert store.delete_key("k") is True and store.delete_key("k") is False
    store.set("k", bytes(range(256)) * 1000)
    assert store.get("k") == bytes(range(256)) * 1000
    with pytest.raises(RuntimeError, match="not a number"):
        store.add("k", 1)
    store.timeout = 0.05
    with pytest.raises(RuntimeError, match="was not set"):
        store.get("missing")
    for wrong in (
        lambda: store.set("k", 1),
        lambda: store.get(2),
        lambda: store.add("k", "1"),
        lambda: store.delete_key(4),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_store_waits_for_keys_of_other_clients(store):
    other = dist.TCPStore("127.0.0.1", store.port, timeout=timedelta(seconds=20))
    timer = threading.Timer(0.05, lambda: other.set("late", "x"))
    timer.start()
    assert store.get("late") == b"x"
    timer.join()
    other.close()


def test_store_between_processes(store):
    script = (
        "from mindspore.mint.distributed import TCPStore\n"
        f"store = TCPStore('127.0.0.1', {store.port})\n"
        "store.set('from child', str(store.add('n', 5)))\n"
    )
    store.add("n", 1)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    assert store.get("from child") == b"6"


def test_store_settings():
    for arguments, error in (
        ((3, 1), TypeError),
        (("h", "1"), TypeError),
        (("h", 70000), ValueError),
        (("h", 1, 0), ValueError),
    ):
        with pytest.raises(error):
            dist.TCPStore(*arguments)
    with pytest.raises(RuntimeError, match="No TCPStore answers"):
        dist.TCPStore("127.0.0.1", 1, timeout=timedelta(seconds=0))


def test_names_at_the_official_place():
    from mindspore.mint.distributed.distributed import all_reduce

    assert all_reduce is ms.mint.distributed.all_reduce
