"""Every collective on real processes, in both modes, with gradients, against NumPy on the arrays of all ranks."""

import resource

import numpy as np
from cases import case, run

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import (
    comm_func,
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_rank,
    get_world_rank_from_group_rank,
    init,
)  # fmt: skip
from mindspore.mint import distributed as dist

init()
RANK, SIZE = get_rank(), get_group_size()
TYPES = ["int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


def of_rank(rank, shape=(4, 3), dtype="float32"):
    return np.random.default_rng(rank).integers(1, 5, shape).astype(dtype)


EVERYONE = [of_rank(r) for r in range(SIZE)]
MINE = EVERYONE[RANK]


def both(function, *arrays):
    """The results of PyNative and graph mode, which must be the same."""
    plain = function(*map(Tensor, arrays))
    graph = ms.jit(function)(*map(Tensor, arrays))
    for a, b in zip(_flat(plain), _flat(graph)):
        np.testing.assert_array_equal(a, b)
    return plain


def _flat(value):
    return [x for v in value for x in _flat(v)] if isinstance(value, (tuple, list)) else [value.asnumpy()]


def check(function, expected, gradient=None, tolerance=0.0):
    """`gradient`: of the sum of the result times 1, 2, 3, … on every rank."""
    got = both(function, MINE)
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=tolerance)
    if gradient is None:
        return
    weights = Tensor(np.arange(1, got.size + 1, dtype=np.float32).reshape(got.shape))

    def weighted(x):
        return (function(x) * weights).sum()

    for derive in (ms.grad(weighted), ms.jit(ms.grad(weighted))):
        np.testing.assert_allclose(derive(Tensor(MINE)).asnumpy(), gradient, rtol=1e-6)


def weights_of(shape):
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


@case
def handles_do_not_wait_for_the_others():
    """Rank 0 begins what the others begin only when they have heard from it: an operation that waited would never end.

    The first case: later operations of a group are not compared between processes any more.
    """
    if RANK == 0:
        total, handle = comm_func.all_reduce(Tensor(MINE), async_op=True)
        for other in range(1, SIZE):
            comm_func.send(Tensor([1.0]), other, tag=7)
    else:
        comm_func.recv(Tensor([0.0]), 0, tag=7)
        total, handle = comm_func.all_reduce(Tensor(MINE), async_op=True)
    handle.wait()
    handle.wait()
    np.testing.assert_array_equal(total.asnumpy(), sum(EVERYONE))
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    got, receiving = comm_func.irecv(Tensor(MINE * 0), left, tag=8)  # before anybody has sent
    comm_func.isend(Tensor(MINE), right, tag=8)
    receiving.wait()
    np.testing.assert_array_equal(got.asnumpy(), EVERYONE[left])
    x, everyone = Tensor(MINE.copy()), Tensor(np.concatenate(EVERYONE) * 0)
    first, second = dist.broadcast(x, 1, async_op=True), dist.all_gather_into_tensor(everyone, Tensor(MINE), async_op=True)
    second.wait()
    first.wait()
    np.testing.assert_array_equal(x.asnumpy(), EVERYONE[1])
    np.testing.assert_array_equal(everyone.asnumpy(), np.concatenate(EVERYONE))


@case
def all_reduce():
    w = weights_of(MINE.shape)
    total = sum(EVERYONE)
    check(lambda x: ops.AllReduce()(x), total, SIZE * w)
    check(lambda x: ops.AllReduce("avg")(x), total / SIZE, w, 1e-6)
    check(lambda x: ops.AllReduce("max")(x), np.max(EVERYONE, 0), SIZE * w * (np.max(EVERYONE, 0) == MINE))
    check(lambda x: ops.AllReduce("min")(x), np.min(EVERYONE, 0))
    product = np.prod(EVERYONE, 0)
    check(lambda x: ops.AllReduce("prod")(x), product, SIZE * w * product / MINE)


@case
def all_reduce_of_all_types():
    for name in TYPES:
        parts = [of_rank(r, (7,), name) for r in range(SIZE)]
        for op, expected in (("sum", np.sum(parts, 0)), ("max", np.max(parts, 0)), ("prod", np.prod(parts, 0))):
            got = both(lambda x, op=op: ops.AllReduce(op)(x), parts[RANK])
            assert got.asnumpy().dtype == np.dtype(name)
            np.testing.assert_array_equal(got.asnumpy(), expected.astype(name))


@case
def all_reduce_of_bfloat16_is_summed_in_float32():
    x = Tensor(np.full(3, [256.0, 1.0][min(RANK, 1)], np.float32)).astype(ms.bfloat16)
    expected = Tensor(np.full(3, 256.0 + SIZE - 1, np.float32)).astype(ms.bfloat16).astype(ms.float32).asnumpy()
    for call in (ops.AllReduce(), ms.jit(lambda t: ops.AllReduce()(t))):
        got = call(x)
        assert got.dtype == ms.bfloat16
        np.testing.assert_array_equal(got.astype(ms.float32).asnumpy(), expected)


@case
def maxima_keep_nan():
    x = np.array([np.nan if RANK == 0 else 1.0, np.nan if RANK == 1 else 2.0, RANK], np.float32)
    got = both(lambda t: ops.AllReduce("max")(t), x).asnumpy()
    np.testing.assert_array_equal(got, [np.nan, np.nan, SIZE - 1])


@case
def all_gather():
    joined = np.concatenate(EVERYONE)
    gradient = SIZE * weights_of(joined.shape).reshape(SIZE, *MINE.shape)[RANK]
    check(lambda x: ops.AllGather()(x), joined, gradient)


@case
def reduce_scatter():
    rows = 4 // SIZE
    part = sum(EVERYONE)[RANK * rows : (RANK + 1) * rows]
    check(lambda x: ops.ReduceScatter()(x), part, np.tile(weights_of(part.shape), (SIZE, 1)))
    check(lambda x: ops.ReduceScatter("max")(x), np.max(EVERYONE, 0)[RANK * rows : (RANK + 1) * rows])


@case
def broadcast():
    for root in range(SIZE):
        gradient = SIZE * weights_of(MINE.shape) if root == RANK else np.zeros_like(MINE)
        check(lambda x, root=root: ops.Broadcast(root)((x,))[0], EVERYONE[root], gradient)


@case
def reduce_to_one():
    last = SIZE - 1
    expected = sum(EVERYONE) if last == RANK else MINE
    check(lambda x: ops.Reduce(last)(x), expected, weights_of(MINE.shape))


@case
def gather_at_one():
    expected = np.concatenate(EVERYONE) if RANK == 0 else np.zeros(1, np.float32)
    got = both(lambda x: ops.CollectiveGather(0)(x), MINE)
    np.testing.assert_array_equal(got.asnumpy(), expected)


@case
def scatter_from_one():
    check(lambda x: ops.CollectiveScatter(0)(x), np.split(EVERYONE[0], SIZE)[RANK])


@case
def all_to_all():
    parts = [np.split(x, SIZE)[RANK] for x in EVERYONE]
    check(lambda x: ops.AlltoAll(SIZE, 0, 1)(x), np.concatenate(parts, 1))


@case
def all_to_all_of_uneven_parts():
    """Rank r sends r + i + 1 elements to rank i."""
    counts = [[r + i + 1 for i in range(SIZE)] for r in range(SIZE)]
    flat = [np.arange(sum(counts[r]), dtype=np.float32) + 100 * r for r in range(SIZE)]
    expected = np.concatenate([np.split(flat[r], np.cumsum(counts[r])[:-1])[RANK] for r in range(SIZE)])
    sends, receives = counts[RANK], [counts[r][RANK] for r in range(SIZE)]
    got = both(lambda x: ops.AlltoAllV()(x, sends, receives), flat[RANK])
    np.testing.assert_array_equal(got.asnumpy(), expected)
    got = both(lambda x: ops.AlltoAllVC()(x, counts), flat[RANK])
    np.testing.assert_array_equal(got.asnumpy(), expected)


@case
def gather_and_scatter_of_uneven_parts():
    sizes = [r + 1 for r in range(SIZE)]
    flat = [np.arange(n, dtype=np.float32) + 10 * r for r, n in enumerate(sizes)]
    got = both(lambda x: ops.AllGatherV()(x, sizes), flat[RANK])
    np.testing.assert_array_equal(got.asnumpy(), np.concatenate(flat))
    whole = [np.arange(sum(sizes), dtype=np.float32) * (r + 1) for r in range(SIZE)]
    got = both(lambda x: ops.ReduceScatterV()(x, sizes), whole[RANK])
    np.testing.assert_array_equal(got.asnumpy(), np.split(sum(whole), np.cumsum(sizes)[:-1])[RANK])


@case
def neighbours():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    exchange = ops.NeighborExchange([right], [left], [MINE.shape], [MINE.shape], ms.float32)
    got = both(lambda x: exchange((x,))[0], MINE)
    np.testing.assert_array_equal(got.asnumpy(), EVERYONE[left])


@case
def send_and_receive_in_a_ring():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE

    def ring(x):
        sent = ops.Send(3, right)(x)
        return ops.Receive(3, left, MINE.shape, ms.float32)(sent)

    np.testing.assert_array_equal(both(ring, MINE).asnumpy(), EVERYONE[left])
    large = np.full(3_000_000, RANK, np.float32)
    comm_func.send(Tensor(large), right)
    got = comm_func.recv(Tensor(np.zeros_like(large)), left)
    assert (got.asnumpy() == left).all()


@case
def messages_to_oneself():
    comm_func.send(Tensor(MINE), RANK, tag=5)
    np.testing.assert_array_equal(comm_func.recv(Tensor(MINE * 0), RANK, tag=5).asnumpy(), MINE)


@case
def batches_of_messages():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    send = comm_func.P2POp("isend", Tensor(MINE), right)
    receive = comm_func.P2POp("irecv", Tensor(MINE * 0), left)
    np.testing.assert_array_equal(comm_func.batch_isend_irecv([send, receive])[1].asnumpy(), EVERYONE[left])


@case
def groups():
    name = f"pair_{RANK // 2}"
    members = [RANK // 2 * 2, RANK // 2 * 2 + 1]
    create_group(name, members)
    assert get_group_size(name) == 2 and get_rank(name) == RANK % 2
    assert get_world_rank_from_group_rank(name, 1) == members[1]
    assert get_group_rank_from_world_rank(members[0], name) == 0
    got = both(lambda x: ops.AllReduce("sum", name)(x), MINE)
    np.testing.assert_array_equal(got.asnumpy(), sum(EVERYONE[m] for m in members))
    create_group("backwards", list(range(SIZE))[::-1])
    got = both(lambda x: ops.AllGather("backwards")(x), MINE)
    np.testing.assert_array_equal(got.asnumpy(), np.concatenate(EVERYONE[::-1]))
    destroy_group(name)


@case
def order_of_collectives_in_a_graph():
    """Collectives that do not depend on one another happen in one order on all ranks, whatever their sizes."""

    def several(x):
        a = ops.AllReduce()(x * 2)
        b = ops.AllGather()(x)
        c = ops.AllReduce("max")(x[:2])
        return a.sum() + b.sum() + c.sum(), ops.AllReduce()(x + 1)

    total, shifted = both(several, MINE)
    np.testing.assert_allclose(
        total.asnumpy(), 3 * sum(EVERYONE).sum() + np.max(EVERYONE, 0)[:2].sum(), rtol=1e-6
    )
    np.testing.assert_array_equal(shifted.asnumpy(), sum(EVERYONE) + SIZE)


@case
def a_result_that_nobody_reads_is_still_awaited():
    def careless(x):
        ops.Barrier()()
        ops.AllReduce()(x)
        return x + 1

    np.testing.assert_array_equal(both(careless, MINE).asnumpy(), MINE + 1)


@case
def collectives_in_branches_and_loops():
    def steps(x, n):
        for _ in range(3):
            x = ops.AllReduce("avg")(x)
        if n.sum() > 0:
            x = ops.AllReduce()(x)
        return x

    mean = sum(EVERYONE) / SIZE
    for call in (steps, ms.jit(steps)):
        np.testing.assert_allclose(call(Tensor(MINE), Tensor([1.0])).asnumpy(), mean * SIZE, rtol=1e-6)
        np.testing.assert_allclose(call(Tensor(MINE), Tensor([-1.0])).asnumpy(), mean, rtol=1e-6)


@case
def handles():
    total, handle = comm_func.all_reduce(Tensor(MINE), async_op=True)
    gathered, second = comm_func.all_gather_into_tensor(Tensor(MINE), async_op=True)
    handle.wait()
    second.wait()
    np.testing.assert_array_equal(total.asnumpy(), sum(EVERYONE))
    np.testing.assert_array_equal(gathered.asnumpy(), np.concatenate(EVERYONE))
    target = Tensor(MINE.copy())
    handle = dist.all_reduce(target, async_op=True)
    handle.wait()
    np.testing.assert_array_equal(target.asnumpy(), sum(EVERYONE))
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    sending = comm_func.isend(Tensor(MINE), right)
    got, receiving = comm_func.irecv(Tensor(MINE * 0), left)
    sending.wait(), receiving.wait()
    np.testing.assert_array_equal(got.asnumpy(), EVERYONE[left])


@case
def functions_that_write():
    assert dist.get_rank() == RANK and dist.get_world_size() == SIZE
    outs = [Tensor(MINE * 0) for _ in range(SIZE)]
    dist.all_gather(outs, Tensor(MINE))
    for out, expected in zip(outs, EVERYONE):
        np.testing.assert_array_equal(out.asnumpy(), expected)
    x = Tensor(MINE.copy())
    dist.broadcast(x, 1)
    np.testing.assert_array_equal(x.asnumpy(), EVERYONE[1])
    out = Tensor(MINE[: 4 // SIZE] * 0)
    dist.scatter(out, [Tensor(p) for p in np.split(MINE, SIZE)], src=1)
    np.testing.assert_array_equal(out.asnumpy(), np.split(EVERYONE[1], SIZE)[RANK])
    out = Tensor(MINE * 0)
    dist.all_to_all_single(out, Tensor(MINE))
    np.testing.assert_array_equal(out.asnumpy(), np.concatenate([np.split(x, SIZE)[RANK] for x in EVERYONE]))
    dist.barrier()


@case
def objects():
    got = [None] * SIZE
    dist.all_gather_object(got, {"rank": RANK, "text": "x" * (RANK + 1)})
    assert got == [{"rank": r, "text": "x" * (r + 1)} for r in range(SIZE)]
    box = [RANK, "mine"] if RANK == 0 else [None, None]
    dist.broadcast_object_list(box, src=0)
    assert box == [0, "mine"]


@case
def networks_with_collectives():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2, weight_init="ones", has_bias=False)
            self.sum = ops.AllReduce()

        def construct(self, x):
            return self.sum(self.dense(x))

    net = Net()
    np.testing.assert_allclose(net(Tensor(MINE)).asnumpy()[:, 0], sum(EVERYONE).sum(1), rtol=1e-6)


@case
def messages_free_their_memory():
    """A pipeline that trains for weeks sends millions of them."""
    right, left, many, size = (RANK + 1) % SIZE, (RANK - 1) % SIZE, 60, 250_000

    @ms.jit
    def around(x):
        sent = ops.Send(9, right)(x)
        return ops.depend(ops.Receive(9, left, (size,), ms.float32)(), sent)

    def held():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    x = Tensor(np.full(size, RANK, np.float32))
    assert around(x).asnumpy()[0] == left
    before = held()
    for _ in range(many):
        around(x)
    assert held() - before < many * size  # a quarter of what was sent


run(RANK)
