"""A table on servers of several processes: two of them work, the last one may do nothing but serve."""

import sys
from pathlib import Path

import numpy as np
from cases import case, run

from mindspore.communication import get_group_size, get_rank, init

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from served import ROWS, WIDTH, dense, first_values, served

import mindspore as ms
from mindspore.prims import world

init()
RANK, SIZE = get_rank(), get_group_size()


def check(optimizer, cache_rows, workers, **options):
    if workers > RANK:
        found, table = served(optimizer, cache_rows, lambda array: np.split(array, workers)[RANK], **options)
        table.close()
    else:
        rate = {"initial": first_values(), "learning_rate": 0.1}
        table = ms.parallel.ServedTable(ROWS, WIDTH, optimizer, **rate, **options)
        table.serve()
        found = [0.0] * 20
    losses, whole = dense(optimizer)
    everyone = world.transport().all_gather(np.array(found), tuple(range(SIZE)))
    np.testing.assert_allclose(sum(everyone) / workers, losses, rtol=1e-6)
    np.testing.assert_allclose(table.whole(), whole, rtol=1e-5, atol=1e-7)


@case
def all_processes_work_and_serve():
    check("adagrad", 0, SIZE if 8 % SIZE == 0 else 2)


@case
def with_a_cache():
    check("sgd", 6, 2)


@case
def the_last_process_only_serves():
    check("adagrad", 6, 2, servers=[SIZE - 1])


@case
def workers_that_differ_are_told_apart():
    table = ms.parallel.ServedTable(ROWS, WIDTH)
    try:
        table.close() if RANK == 0 else table.pull([1])
    except RuntimeError as error:
        assert "rank 0: close, rank 1: pull" in str(error)
    else:
        raise AssertionError("different calls passed")


run(RANK)
