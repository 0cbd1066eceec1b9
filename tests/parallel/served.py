"""A recommender whose table lies in the network, or on servers; both are trained on the same batches."""

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, ops

ROWS, WIDTH = 23, 4


def first_values():
    return np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)


def batches():
    draw = np.random.default_rng(1)
    return [(draw.integers(0, ROWS, (8, 3)), draw.standard_normal(8).astype(np.float32)) for _ in range(20)]


def error(vectors, clicks):
    return ops.square(ops.tanh(vectors.sum(1)).sum(1) - clicks).mean()


def _updated(optimizer, table, state, gradient):
    """The dense oracle in NumPy."""
    if optimizer == "sgd":
        return table - 0.1 * gradient
    state += gradient * gradient
    return table - 0.1 * gradient / np.sqrt(state)


def dense(optimizer):
    """Losses and the table of one process that has all rows."""
    table, state = Parameter(Tensor(first_values()), name="table"), np.full((ROWS, WIDTH), 0.1, np.float32)
    step = ms.value_and_grad(lambda ids, clicks: error(ops.gather(table, ids, 0), clicks), None, [table])
    losses = []
    for ids, clicks in batches():
        loss, (gradient,) = step(Tensor(ids), Tensor(clicks))
        losses.append(float(loss))
        table.set_data(Tensor(_updated(optimizer, table.asnumpy(), state, gradient.asnumpy()).astype(np.float32)))
    return losses, table.asnumpy()


def served(optimizer, cache_rows, share, **options):
    """Losses of this worker's share of each batch, and the table."""
    table = ms.parallel.ServedTable(
        ROWS, WIDTH, optimizer, 0.1, initial=first_values(), cache_rows=cache_rows, **options
    )
    step = ms.jit(ms.value_and_grad(lambda rows, places, clicks: error(ops.gather(rows, places, 0), clicks), 0))
    losses = []
    for ids, clicks in batches():
        rows, places = table.pull(share(ids))
        loss, gradient = step(rows, places, Tensor(share(clicks)))
        losses.append(float(loss))
        table.push(gradient)
    return losses, table
