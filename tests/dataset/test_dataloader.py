"""`mindspore.dataset.dataloader`: batches of Python data sets, here and in worker processes."""

import os
import random
import time
from collections import namedtuple

import numpy as np
import pytest

from mindspore import Tensor
from mindspore.dataset.dataloader import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    TensorDataset,
    default_collate,
    default_convert,
    get_worker_info,
)
from mindspore.dataset.dataloader._utils.collate import collate


class Cubes(Dataset):
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        return index**3

    def __len__(self):
        return self.count


class Counting(IterableDataset):
    def __init__(self, end):
        self.end = end

    def __iter__(self):
        info = get_worker_info()
        return iter(range(self.end)) if info is None else iter(range(info.id, self.end, info.num_workers))


def values(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("workers", [0, 2])
def test_rows_by_number(workers):
    assert values(DataLoader(Cubes(5), batch_size=2, num_workers=workers)) == [[0, 1], [8, 27], [64]]
    assert values(DataLoader(Cubes(5), batch_size=2, drop_last=True, num_workers=workers)) == [[0, 1], [8, 27]]
    assert values(DataLoader(Cubes(9), sampler=[4, 2], num_workers=workers)) == [[64], [8]]
    assert values(DataLoader(Cubes(9), batch_sampler=[[3], [0, 1]], num_workers=workers)) == [[27], [0, 1]]
    assert list(DataLoader(Cubes(3), batch_size=None, num_workers=workers)) == [0, 1, 8]
    shuffled = values(DataLoader(Cubes(20), batch_size=20, shuffle=True, num_workers=workers))
    assert sorted(shuffled[0]) == [i**3 for i in range(20)]


@pytest.mark.parametrize("workers", [0, 1])
def test_rows_one_after_the_other(workers):
    assert values(DataLoader(Counting(5), batch_size=2, num_workers=workers)) == [[0, 1], [2, 3], [4]]
    assert values(DataLoader(Counting(5), batch_size=2, drop_last=True, num_workers=workers)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Counting(3), batch_size=None, num_workers=workers)) == [0, 1, 2]


def test_workers_share_an_iterable_and_end_at_different_times():
    loader = DataLoader(Counting(7), batch_size=2, num_workers=3)
    assert values(loader) == [[0, 3], [1, 4], [2, 5], [6]]
    assert values(loader) == values(DataLoader(Counting(7), batch_size=2, num_workers=3, prefetch_factor=1))


class Slow(Dataset):
    def __getitem__(self, index):
        if index == 0:
            time.sleep(0.2)
        return os.getpid(), index

    def __len__(self):
        return 6


def test_order_and_persistence_of_workers():
    loader = DataLoader(Slow(), batch_size=None, num_workers=2, persistent_workers=True)
    first, second = list(loader), list(loader)
    assert [index for _, index in first] == [index for _, index in second] == list(range(6))
    assert {process for process, _ in first} == {process for process, _ in second}
    assert os.getpid() not in {process for process, _ in first}
    free = [index for _, index in DataLoader(Slow(), batch_size=None, num_workers=2, in_order=False)]
    assert sorted(free) == list(range(6)) and free[0] != 0


def test_an_epoch_left_early_does_not_disturb_the_next():
    loader = DataLoader(Cubes(50), batch_size=5, num_workers=2, persistent_workers=True)
    for batch in loader:
        assert batch.tolist() == [0, 1, 8, 27, 64]
        break
    assert values(loader) == values(DataLoader(Cubes(50), batch_size=5))


class Draws(Dataset):
    def __getitem__(self, index):
        return random.random(), float(np.random.rand()), get_worker_info().seed

    def __len__(self):
        return 2


def test_workers_have_seeds_of_their_own():
    def rows():
        loader = DataLoader(Draws(), batch_size=None, num_workers=2, generator=np.random.default_rng(7))
        return list(loader)

    assert rows() == rows()
    (a, b, seed), (c, d, other) = rows()
    assert a != c and b != d and other == seed + 1


class Broken(Dataset):
    def __getitem__(self, index):
        if index == 1:
            raise KeyError("no row")
        if index == 2:
            os._exit(3)
        if index == 3:
            time.sleep(30)
        return index

    def __len__(self):
        return 4


def test_errors_of_workers_are_told():
    with pytest.raises(KeyError, match="no row"):
        list(DataLoader(Broken()))
    with pytest.raises(RuntimeError, match=r"worker 0 .* caught KeyError(.|\n)*no row"):
        list(DataLoader(Broken(), sampler=[0, 1], num_workers=1))
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(DataLoader(Broken(), sampler=[2], num_workers=1))
    with pytest.raises(RuntimeError, match="timed out"):
        list(DataLoader(Broken(), sampler=[3], num_workers=1, timeout=0.3))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(DataLoader(Cubes(1), num_workers=1, worker_init_fn=lambda i: 1 // i))


Point = namedtuple("Point", "x y")


def test_batches_keep_the_structure_of_rows():
    batch = default_collate([{"a": (1, "u"), "p": Point(0.5, [True])}, {"a": (2, "v"), "p": Point(1.5, [False])}])
    assert batch["a"][0].tolist() == [1, 2] and batch["a"][1] == ("u", "v")
    assert (
        isinstance(batch["p"], Point)
        and batch["p"].x.tolist() == [0.5, 1.5]
        and batch["p"].y[0].tolist() == [True, False]
    )
    assert default_collate([np.ones(2, np.float32), np.zeros(2, np.float32)]).shape == (2, 2)
    assert default_collate([Tensor([1.0]), Tensor([2.0])]).tolist() == [[1.0], [2.0]]
    assert collate([1, 2], collate_fn_map={int: lambda rows, *, collate_fn_map: sum(rows)}) == 3
    for rows, error in (([None], TypeError), ([[1], [1, 2]], RuntimeError), ([np.array(["a"])], TypeError)):
        with pytest.raises(error):
            default_collate(rows)


def test_single_rows_are_converted():
    row = default_convert((np.arange(2), {"n": np.float32(1.5)}, "text", 3, np.array(["a"])))
    assert isinstance(row[0], Tensor) and row[0].tolist() == [0, 1] and row[1]["n"].item() == 1.5
    assert row[2:4] == ["text", 3] and isinstance(row[4], np.ndarray)


def test_samplers():
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    assert sorted(RandomSampler("abc")) == [0, 1, 2]
    assert np.bincount(list(RandomSampler("abc", num_samples=7))).tolist() in ([3, 2, 2], [2, 3, 2], [2, 2, 3])
    assert len(list(RandomSampler("abc", replacement=True, num_samples=9))) == 9
    assert len(BatchSampler(range(5), 2, False)) == 3 and len(BatchSampler(range(5), 2, True)) == 2
    shares = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert shares == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    mixed = [DistributedSampler(range(12), 3, rank) for rank in range(3)]
    first = [list(sampler) for sampler in mixed]
    assert sorted(row for share in first for row in share) == list(range(12))
    for sampler in mixed:
        sampler.set_epoch(1)
    assert [list(sampler) for sampler in mixed] != first


def test_tensor_rows():
    data = TensorDataset(Tensor([1, 2, 3]), Tensor([[4.0], [5.0], [6.0]]))
    assert len(data) == 3 and [row[0].item() for row in data] == [1, 2, 3]
    numbers, columns = next(iter(DataLoader(data, batch_size=3)))
    assert numbers.tolist() == [1, 2, 3] and columns.tolist() == [[4.0], [5.0], [6.0]]
    with pytest.raises(ValueError, match="same size"):
        TensorDataset(Tensor([1, 2]), Tensor([1]))


@pytest.mark.parametrize(
    "dataset, options, error, words",
    [
        (Cubes(3), {"shuffle": True, "sampler": [1]}, ValueError, "sampler"),
        (Cubes(3), {"batch_size": 2, "batch_sampler": [[1]]}, ValueError, "batch_size"),
        (Cubes(3), {"batch_sampler": [[1]], "drop_last": True}, ValueError, "drop_last"),
        (Counting(3), {"shuffle": True}, ValueError, "iterable"),
        (Counting(3), {"sampler": [1]}, ValueError, "iterable"),
        (Cubes(3), {"batch_size": 0}, ValueError, "positive"),
        (Cubes(3), {"batch_size": "a"}, TypeError, "batch_size"),
        (Cubes(3), {"num_workers": -1}, ValueError, "non-negative"),
        (Cubes(3), {"timeout": -1}, ValueError, "non-negative"),
        (Cubes(3), {"prefetch_factor": 2}, ValueError, "num_workers"),
        (Cubes(3), {"persistent_workers": True}, ValueError, "num_workers"),
        (Cubes(3), {"shuffle": 1}, TypeError, "shuffle"),
        (Cubes(3), {"generator": 3}, TypeError, "generator"),
    ],
)
def test_bad_arguments(dataset, options, error, words):
    with pytest.raises(error, match=words):
        DataLoader(dataset, **options)


def test_lengths():
    assert len(DataLoader(Cubes(5), batch_size=2)) == 3 and len(DataLoader(Cubes(5), batch_size=2, drop_last=True)) == 2
    assert len(DataLoader(Cubes(5), batch_size=None)) == 5
    with pytest.raises(TypeError):
        len(DataLoader(Counting(5)))
