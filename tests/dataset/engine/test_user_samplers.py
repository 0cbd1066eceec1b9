"""Samplers that users write: their state, their length, and what they may be combined with."""

import numpy as np
import pytest

import mindspore.dataset as ds

ROWS = list(range(10))


def epochs(data, count=1):
    rows = data.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[int(row[0]) for row in rows] for _ in range(count)]


class Turns(ds.Sampler):
    """Row k in epoch k."""

    def __init__(self, num_samples=None):
        super().__init__(num_samples)
        self.turn = 0

    def __iter__(self):
        return iter([self.turn] * 3)

    def reset(self):
        self.turn += 1


@pytest.mark.parametrize("num_samples, rows", [(None, 3), (2, 2)])
def test_reset_is_called_between_epochs_and_every_iterator_begins_anew(num_samples, rows):
    sampler = Turns(num_samples)
    data = ds.NumpySlicesDataset(ROWS, sampler=sampler)
    assert data.get_dataset_size() == rows
    for _ in range(2):
        assert epochs(data, 3) == [[0] * rows, [1] * rows, [2] * rows]
    assert epochs(data.repeat(2), 2) == [[0] * rows + [1] * rows, [2] * rows + [3] * rows]
    assert sampler.turn == 0 and sampler.num_samples == num_samples


def test_random_state_of_a_sampler_moves_on_with_epochs_and_not_with_sizes():
    class Random(ds.Sampler):
        def __init__(self):
            super().__init__()
            self.generator = np.random.default_rng(0)

        def __iter__(self):
            return iter(self.generator.permutation(10)[: self.generator.integers(1, 10)])

    data = ds.GeneratorDataset(ROWS, ["x"], sampler=Random())
    alone = Random()
    expected = [[int(i) for i in alone] for _ in range(3)]
    assert data.get_dataset_size() == len(expected[0])
    assert epochs(data, 3) == expected == epochs(data, 3)


def test_a_user_sampler_below_another_one_keeps_its_state_too():
    above = ds.SequentialSampler(0, 2)
    above.add_child(Turns())
    assert epochs(ds.NumpySlicesDataset(ROWS, sampler=above), 2) == [[0, 0], [1, 1]]


@pytest.mark.parametrize("derived", [True, False])
@pytest.mark.parametrize("length", [4, 10])
def test_len_of_a_sampler_limits_it(derived, length):
    class Some(ds.Sampler if derived else object):
        def __iter__(self):
            yield from range(10)

        def __len__(self):
            return length

    data = ds.NumpySlicesDataset(ROWS, sampler=Some())
    assert data.get_dataset_size() == length
    assert epochs(data) == [list(range(length))]


def test_a_sampler_that_gives_fewer_rows_than_it_promised():
    data = ds.NumpySlicesDataset(ROWS, sampler=Turns(5))
    assert data.get_dataset_size() == 5
    with pytest.raises(RuntimeError, match="data read from generator 3 is different"):
        epochs(data)


def test_row_numbers_are_cut_to_num_samples_but_not_samplers():
    assert epochs(ds.NumpySlicesDataset(ROWS, sampler=[3, 1, 2], num_samples=2)) == [[3, 1]]
    assert epochs(ds.GeneratorDataset(ROWS, ["x"], sampler=range(4), num_samples=2)) == [[0, 1]]
    with pytest.raises(ValueError, match="Conflicting arguments during sampler assignments"):
        ds.NumpySlicesDataset(ROWS, sampler=ds.SequentialSampler(), num_samples=2)
    with pytest.raises(RuntimeError, match=r"Sample ID \(20\) is out of bound, expected range \[0, 9\]"):
        epochs(ds.NumpySlicesDataset(ROWS, sampler=[1, 20]))


def test_what_a_sampler_raises_is_an_error_of_the_pipeline():
    class Broken(ds.Sampler):
        def __iter__(self):
            raise ValueError("no rows today")

    data = ds.NumpySlicesDataset(ROWS, sampler=Broken())
    with pytest.raises(RuntimeError, match="no rows today"):
        epochs(data)


def concatenated():
    return ds.NumpySlicesDataset([0, 1, 2], shuffle=False) + ds.NumpySlicesDataset(list(range(3, 10)), shuffle=False)


def test_shards_of_joined_data_sets_are_disjoint_and_not_filled_up():
    found = []
    for shard in range(4):
        data = concatenated()
        data.use_sampler(ds.DistributedSampler(4, shard, shuffle=False))
        (rows,) = epochs(data)
        assert data.get_dataset_size() == len(rows)
        found.append(rows)
    assert found == [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]


def test_mixing_joined_data_sets_keeps_the_order_within_each():
    data = concatenated()
    data.use_sampler(ds.RandomSampler())
    orders = epochs(data, 5)
    for rows in orders:
        assert sorted(rows) == ROWS
        assert [row for row in rows if row < 3] == [0, 1, 2]
        assert [row for row in rows if row >= 3] == list(range(3, 10))
    assert len({tuple(rows) for rows in orders}) > 1


@pytest.mark.parametrize(
    "sampler, error",
    [
        (ds.SequentialSampler(), TypeError),
        (None, TypeError),
        (ds.DistributedSampler(2, 0), ValueError),
        (ds.DistributedSampler(2, 0, shuffle=False, num_samples=2), ValueError),
        (ds.RandomSampler(replacement=True), ValueError),
        (ds.RandomSampler(num_samples=2), ValueError),
    ],
)
def test_samplers_that_joined_data_sets_refuse(sampler, error):
    with pytest.raises(error, match="The parameter"):
        concatenated().use_sampler(sampler)


def test_attributes_of_a_sampler_are_its_own():
    """Words that describe an order are free for those who write samplers."""

    class Mine(ds.Sampler):
        def __init__(self, order):
            super().__init__(len(order))
            self.order, self.count, self.length, self.positions = order, len(order), len(order), order
            self.params, self.limited = {}, True

        def __iter__(self):
            yield from self.order

    data = ds.NumpySlicesDataset(np.arange(6), sampler=Mine([3, 1, 0]))
    assert [int(row[0]) for row in data.create_tuple_iterator(output_numpy=True)] == [3, 1, 0]
    assert data.get_dataset_size() == 3
