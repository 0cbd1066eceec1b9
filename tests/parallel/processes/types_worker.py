"""Every collective in every element type, by `ops`, `comm_func` and `mint.distributed`, in both modes, with gradients.

A row of the table says what a collective does to the arrays of all ranks, in NumPy, and how it is called. Gradients of
linear operations follow from that: of the sum over all ranks of weights times results.
"""

from collections import namedtuple

import ml_dtypes
import numpy as np
from cases import CASES, run

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.communication import comm_func, get_group_size, get_rank, init
from mindspore.mint import distributed as dist

init()
RANK, SIZE = get_rank(), get_group_size()
ROWS, LAST = 4, SIZE - 1
LEFT, RIGHT = (RANK - 1) % SIZE, (RANK + 1) % SIZE
NUMBERS = [
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
]  # fmt: skip
ALL = ["bool", *NUMBERS, "complex64", "complex128"]
#: `primitive`: a function of a tensor; `functions`: functions of a tensor that take `asynchronous`; both give what `expected`
#: says for the arrays of all ranks and one of them
Row = namedtuple("Row", "expected primitive functions types linear", defaults=((), ALL, True))


def real(dtype):
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)


def array_of(rank, dtype):
    return np.random.default_rng(rank).integers(0 if dtype == "bool" else 1, 4, (ROWS, 3)).astype(real(dtype))


def part(x, rank):
    return np.split(x, SIZE)[rank]


def reduced(op):
    def combine(xs):
        wide = [x.astype("float32") if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x for x in xs]
        total = {"sum": np.add, "avg": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op].reduce(wide)
        if op == "avg":
            total = total // SIZE if total.dtype.kind in "iu" else total / SIZE
        return total.astype(xs[0].dtype)

    return combine


def written(shape_like, call):
    """A function of `mint.distributed` as one that returns: `call(target, x, asynchronous)`."""

    def function(x, asynchronous):
        target = ops.zeros(shape_like(x), x.dtype)
        handle = call(target, x, asynchronous)
        if asynchronous:
            handle.wait()
        return target

    return function


def returned(call):
    """A function of `comm_func` that gives a result and a handle."""

    def function(x, asynchronous):
        result, handle = call(x, asynchronous)
        if asynchronous:
            handle.wait()
        return result

    return function


def in_place(call):
    def function(x, asynchronous):
        target = x.copy()
        handle = call(target, asynchronous)
        if asynchronous:
            handle.wait()
        return target

    return function


def same(x):
    return x.shape


def larger(x):
    return (x.shape[0] * SIZE, *x.shape[1:])


def smaller(x):
    return (x.shape[0] // SIZE, *x.shape[1:])


def received(x, asynchronous):
    """A ring of messages."""
    if not asynchronous:
        comm_func.send(x, RIGHT, tag=11)
        return comm_func.recv(ops.zeros_like(x), LEFT, tag=11)
    got, handle = comm_func.irecv(ops.zeros_like(x), LEFT, tag=12)
    comm_func.isend(x, RIGHT, tag=12).wait()
    handle.wait()
    return got


def dist_received(x, asynchronous):
    got = ops.zeros(x.shape, x.dtype)
    handle = dist.irecv(got, LEFT, tag=13) if asynchronous else None
    dist.isend(x, RIGHT, tag=13).wait()
    if handle is None:
        dist.recv(got, LEFT, tag=13)
    else:
        handle.wait()
    return got


def batched(x, _):
    operations = [comm_func.P2POp("isend", x, RIGHT), comm_func.P2POp("irecv", ops.zeros_like(x), LEFT)]
    return comm_func.batch_isend_irecv(operations)[1]


def listed(x, asynchronous):
    """`all_gather` into tensors of a list."""
    outs = [ops.zeros(x.shape, x.dtype) for _ in range(SIZE)]
    handle = dist.all_gather(outs, x, async_op=asynchronous)
    if asynchronous:
        handle.wait()
    return ops.concat(outs)


def ring(x):
    return ops.Receive(14, LEFT, (ROWS, 3), x.dtype)(ops.Send(14, RIGHT)(x))


UNEVEN = [r + 1 for r in range(SIZE)]
COUNTS = [3 * ROWS // SIZE] * SIZE

TABLE = {}
for reduction in ("sum", "avg", "max", "min", "prod"):
    combine = reduced(reduction)
    linear = reduction in ("sum", "avg")
    TABLE[f"AllReduce {reduction}"] = Row(
        lambda xs, r, c=combine: c(xs),
        ops.AllReduce(reduction),
        (
            returned(lambda x, a, o=reduction: comm_func.all_reduce(x, o, async_op=a)),
            in_place(lambda x, a, o=reduction: dist.all_reduce(x, o, async_op=a)),
        ),
        NUMBERS,
        linear,
    )
    TABLE[f"ReduceScatter {reduction}"] = Row(
        lambda xs, r, c=combine: part(c(xs), r),
        ops.ReduceScatter(reduction),
        (
            returned(lambda x, a, o=reduction: comm_func.reduce_scatter_tensor(x, o, async_op=a)),
            written(smaller, lambda t, x, a, o=reduction: dist.reduce_scatter_tensor(t, x, o, async_op=a)),
            written(smaller, lambda t, x, a, o=reduction: dist.reduce_scatter(t, list(ops.split(x, ROWS // SIZE)), o, async_op=a)),
        ),
        NUMBERS,
        linear,
    )
    TABLE[f"Reduce {reduction}"] = Row(
        lambda xs, r, c=combine: c(xs) if r == LAST else xs[r],
        ops.Reduce(LAST, reduction),
        (
            lambda x, _, o=reduction: comm_func.reduce(x, LAST, o),
            in_place(lambda x, a, o=reduction: dist.reduce(x, LAST, o, async_op=a)),
        ),
        NUMBERS,
        False,  # the others' own tensors pass no gradient on: see `reduce_to_one` of the collectives' worker
    )
TABLE |= {
    "AllGather": Row(
        lambda xs, r: np.concatenate(xs),
        ops.AllGather(),
        (
            returned(lambda x, a: comm_func.all_gather_into_tensor(x, async_op=a)),
            written(larger, lambda t, x, a: dist.all_gather_into_tensor(t, x, async_op=a)),
            listed,
        ),
    ),
    "Broadcast": Row(
        lambda xs, r: xs[LAST],
        lambda x: ops.Broadcast(LAST)((x,))[0],
        (lambda x, _: comm_func.broadcast(x, LAST), in_place(lambda x, a: dist.broadcast(x, LAST, async_op=a))),
    ),
    "CollectiveScatter": Row(
        lambda xs, r: part(xs[LAST], r),
        ops.CollectiveScatter(LAST),
        (
            lambda x, _: comm_func.scatter_tensor(x, LAST),
            written(smaller, lambda t, x, a: dist.scatter(t, list(ops.split(x, ROWS // SIZE)), LAST, async_op=a)),
        ),
    ),
    "CollectiveGather": Row(
        lambda xs, r: np.concatenate(xs) if r == LAST else np.zeros(1, xs[0].dtype),
        ops.CollectiveGather(LAST),
        (lambda x, _: comm_func.gather_into_tensor(x, LAST),),
    ),
    "AlltoAll": Row(
        lambda xs, r: np.concatenate([part(x, r) for x in xs]),
        ops.AlltoAll(SIZE, 0, 0),
        (
            returned(lambda x, a: comm_func.all_to_all_single_with_output_shape(x.shape, x, async_op=a)),
            written(same, lambda t, x, a: dist.all_to_all_single(t, x, async_op=a)),
        ),
    ),
    "AlltoAllV": Row(
        lambda xs, r: np.concatenate([part(x, r) for x in xs]).reshape(-1),
        lambda x: ops.AlltoAllV()(x.reshape(-1), COUNTS, COUNTS),
    ),
    "AlltoAllVC": Row(
        lambda xs, r: np.concatenate([part(x, r) for x in xs]).reshape(-1),
        lambda x: ops.AlltoAllVC()(x.reshape(-1), [COUNTS] * SIZE),
    ),
    "AllGatherV": Row(
        lambda xs, r: np.concatenate([x[:1].repeat(n, 0).reshape(-1) for x, n in zip(xs, UNEVEN)]),
        lambda x: ops.AllGatherV()(ops.concat([x[:1]] * UNEVEN[RANK]).reshape(-1), [3 * n for n in UNEVEN]),
    ),
    "ReduceScatterV": Row(
        lambda xs, r: part(reduced("sum")(xs), r).reshape(-1),
        lambda x: ops.ReduceScatterV()(x.reshape(-1), COUNTS),
        (),
        NUMBERS,
    ),
    "NeighborExchange": Row(
        lambda xs, r: xs[(r - 1) % SIZE],
        lambda x: ops.NeighborExchange([RIGHT], [LEFT], [(ROWS, 3)], [(ROWS, 3)], x.dtype)((x,))[0],
    ),
    "Send and Receive": Row(lambda xs, r: xs[(r - 1) % SIZE], ring, (received, dist_received)),
    "BatchISendIRecv": Row(
        lambda xs, r: xs[(r - 1) % SIZE],
        lambda x: ops.BatchISendIRecv(["isend", "irecv"], [RIGHT, LEFT], [(ROWS, 3)], [x.dtype])((x,))[1],
        (batched,),
    ),
}


def as_array(tensor):
    return tensor.astype(ms.float32).asnumpy().astype(ml_dtypes.bfloat16) if tensor.dtype == ms.bfloat16 else tensor.asnumpy()


def as_tensor(array):
    plain = array.astype("float32") if array.dtype == ml_dtypes.bfloat16 else array
    return Tensor(plain).astype(ms.bfloat16) if array.dtype == ml_dtypes.bfloat16 else Tensor(plain)


def assert_same(tensor, expected, what):
    got = as_array(tensor)
    assert got.dtype == expected.dtype and got.shape == expected.shape, f"{what}: {got.dtype}{got.shape}"
    np.testing.assert_array_equal(got.astype("complex128"), expected.astype("complex128"), what)


def check_values(row):
    for dtype in row.types:
        everyone = [array_of(rank, dtype) for rank in range(SIZE)]
        x, expected = as_tensor(everyone[RANK]), row.expected(everyone, RANK)
        assert_same(row.primitive(x), expected, f"{dtype}, PyNative")
        assert_same(ms.jit(lambda t: row.primitive(t))(x), expected, f"{dtype}, graph")
        for number, function in enumerate(row.functions):
            for asynchronous in (False, True):
                assert_same(function(x, asynchronous), expected, f"{dtype}, function {number}, asynchronous {asynchronous}")
        assert_same(x, everyone[RANK], f"{dtype}: the input has changed")


def transposed(row, everyone, weights):
    """The gradient of rank RANK's array, by the operation on unit arrays."""
    gradient = np.zeros_like(everyone[RANK])
    for place in np.ndindex(gradient.shape):
        units = [np.zeros_like(x) for x in everyone]
        units[RANK][place] = 1
        gradient[place] = sum((row.expected(units, rank) * weights[rank]).sum() for rank in range(SIZE))
    return gradient


def check_gradients(row):
    for dtype in ("float32", "float64"):
        everyone = [array_of(rank, dtype) for rank in range(SIZE)]
        shapes = [row.expected(everyone, rank).shape for rank in range(SIZE)]
        weights = [np.arange(np.prod(s), dtype=dtype).reshape(s) + rank for rank, s in enumerate(shapes)]
        if shapes[RANK] == (1,):
            weights[RANK][:] = 0  # no result of the operation
        weight = Tensor(weights[RANK])

        def weighted(x):
            return (row.primitive(x) * weight).sum()  # noqa: B023 - called at once

        expected = transposed(row, everyone, weights)
        for derive in (ms.grad(weighted), ms.jit(ms.grad(weighted))):
            np.testing.assert_allclose(derive(Tensor(everyone[RANK])).asnumpy(), expected, rtol=1e-6)


for name, row in TABLE.items():
    CASES[name] = lambda row=row: check_values(row)
    if row.linear:
        CASES[f"gradient of {name}"] = lambda row=row: check_gradients(row)

if __name__ == "__main__":
    run(RANK)
