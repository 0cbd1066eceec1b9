"""Tables on servers: a recommender learns what it learns with a table of its own."""

import numpy as np
import pytest
from served import ROWS, WIDTH, dense, first_values, served

import mindspore as ms


@pytest.mark.parametrize("cache_rows", [0, 5])
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_a_served_table_learns_as_one_in_the_network(optimizer, cache_rows):
    losses, table = dense(optimizer)
    found, server = served(optimizer, cache_rows, lambda array: array)
    np.testing.assert_allclose(found, losses, rtol=1e-6)
    np.testing.assert_allclose(server.whole(), table, rtol=1e-5, atol=1e-7)


def test_rows_that_nobody_updated_are_not_sent_again():
    table = ms.parallel.ServedTable(ROWS, WIDTH, initial=first_values(), cache_rows=8)
    table.pull(np.array([1, 2, 3, 1]))
    assert table.received == 3
    rows, places = table.pull(np.array([2, 3, 4]))
    assert table.received == 4
    np.testing.assert_array_equal(rows.asnumpy()[places.asnumpy()], first_values()[[2, 3, 4]])
    table.push(np.ones((3, WIDTH), np.float32))
    table.pull(np.array([1, 2, 3]))
    assert table.received == 6  # 1 is as it was
    table.pull(np.arange(10, 20))
    table.pull(np.array([1]))
    assert table.received == 17  # and has left the cache since


def test_first_values_do_not_depend_on_the_servers():
    one = ms.parallel.ServedTable(3000, 2, seed=5).whole()
    assert abs(one.std() - 0.01) < 5e-4 and len(np.unique(one)) > 5900
    np.testing.assert_array_equal(ms.parallel.ServedTable(2000, 2, seed=5).whole(), one[:2000])


def test_adam_counts_the_updates_of_each_row():
    table = ms.parallel.ServedTable(4, 1, "lazy_adam", 0.1, initial=np.zeros((4, 1)))
    for _ in range(3):
        table.pull([2])
        table.push(np.full((1, 1), 7.0))
    table.pull([1])
    table.push(np.full((1, 1), -2.0))
    np.testing.assert_allclose(table.whole().ravel(), [0, 0.1, -0.3, 0], rtol=1e-5)  # Adam's step is the rate, whatever the size


def test_what_cannot_be():
    table = ms.parallel.ServedTable(4, 2)
    with pytest.raises(IndexError, match="0 to 3, but got 4"):
        table.pull([1, 4])
    with pytest.raises(RuntimeError, match="call 'pull' first"):
        table.push(np.zeros((1, 2)))
    table.pull([1])
    with pytest.raises(ValueError, match="shape of the rows"):
        table.push(np.zeros((1, 3)))
    with pytest.raises(ValueError, match=r"one of .*adagrad"):
        ms.parallel.ServedTable(4, 2, "adam")
    with pytest.raises(ValueError, match="ranks of this run"):
        ms.parallel.ServedTable(4, 2, servers=[1])
