"""The rows MindDataset gives to shards and the orders of its shuffles: those of official MindSpore 2.10, noted down."""

import pytest

import mindspore.dataset as ds
from mindspore.dataset import Shuffle
from mindspore.mindrecord import FileWriter


@pytest.fixture
def files(tmp_path):
    name = str(tmp_path / "rows")
    writer = FileWriter(name, 2)
    writer.add_schema({"i": {"type": "int32"}}, "numbers")
    writer.write_raw_data([{"i": i} for i in range(11)])
    writer.commit()
    return [f"{name}0", f"{name}1"]


@pytest.fixture
def seed():
    before = ds.config.get_seed()
    ds.config.set_seed(5)
    yield
    ds.config.set_seed(before)


def epochs(files, count=1, **options):
    iterator = ds.MindDataset(files, **options).create_tuple_iterator(num_epochs=count, output_numpy=True)
    found = [[int(row[0]) for row in iterator] for _ in range(count)]
    return found[0] if count == 1 else found


def shards(files, number, **options):
    return [epochs(files, num_shards=number, shard_id=i, **options) for i in range(number)]


def test_shards_take_turns(files):
    assert shards(files, 3, shuffle=False) == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 0]]
    assert shards(files, 2, shuffle=False) == [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 0]]
    assert shards(files, 3, shuffle=False, num_samples=2) == [[0, 3], [1, 4], [2, 5]]


def test_padding_fills_the_last_shard(files):
    options = {"columns_list": ["i"], "padded_sample": {"i": -1}, "num_padded": 1}
    assert shards(files, 3, shuffle=False, **options) == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, -1]]


def test_all_rows_are_shuffled(files, seed):
    assert epochs(files, 3, shuffle=True) == [
        [8, 9, 1, 5, 2, 3, 7, 0, 4, 6, 10], [1, 0, 9, 10, 5, 7, 4, 6, 8, 3, 2], [7, 4, 3, 8, 1, 6, 2, 10, 9, 0, 5],
    ]  # fmt: skip


def test_files_or_rows_within_files_are_shuffled(files, seed):
    assert epochs(files, shuffle=Shuffle.FILES) == [6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5]
    assert epochs(files, 2, shuffle=Shuffle.INFILE) == [
        [1, 3, 4, 0, 5, 2, 10, 6, 7, 9, 8], [3, 5, 2, 0, 1, 4, 7, 10, 6, 8, 9],
    ]  # fmt: skip


def test_shards_of_shuffled_rows(files, seed):
    assert shards(files, 3, shuffle=True) == [[8, 5, 7, 6], [9, 2, 0, 10], [1, 3, 4, 8]]
    assert epochs(files, 3, shuffle=True, num_shards=2, shard_id=1) == [
        [9, 5, 3, 0, 6, 8], [7, 10, 6, 9, 5, 2], [6, 8, 7, 3, 1, 5],
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [True, Shuffle.FILES, Shuffle.INFILE])
def test_shards_without_a_seed_still_share_out_every_row(files, mode):
    for number in (1, 2, 4):
        found = shards(files, number, shuffle=mode) if number > 1 else [epochs(files, shuffle=mode)]
        assert {row for shard in found for row in shard} == set(range(11))


def test_blocks_instead_of_turns(files, seed, monkeypatch):
    monkeypatch.setenv("MS_DEV_MINDRECORD_SHARD_BY_BLOCK", "true")
    assert shards(files, 3, shuffle=False) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 0]]
    assert shards(files, 3, shuffle=True) == [[8, 9, 1, 5], [2, 3, 7, 0], [4, 6, 10, 8]]


def test_samplers_ask_for_the_same_orders(files, seed):
    assert epochs(files, sampler=ds.RandomSampler()) == epochs(files, shuffle=True)
    assert epochs(files, sampler=ds.RandomSampler(shuffle=Shuffle.INFILE)) == epochs(files, shuffle=Shuffle.INFILE)
    one = ds.DistributedSampler(3, 1, shuffle=Shuffle.FILES)
    assert epochs(files, sampler=one) == shards(files, 3, shuffle=Shuffle.FILES)[1]


def test_a_partial_shuffle_mixes_the_rows_of_each_shard(files, seed):
    for plain, mixed in zip(shards(files, 2, shuffle=Shuffle.FILES), shards(files, 2, shuffle=Shuffle.PARTIAL)):
        assert plain != mixed and sorted(plain) == sorted(mixed)


def test_chains_of_samplers_refuse_shuffles_by_file(files):
    with pytest.raises(RuntimeError, match="shuffle of the current sampler"):
        ds.MindDataset(files, shuffle=Shuffle.PARTIAL).add_sampler(ds.DistributedSampler(2, 0, shuffle=Shuffle.INFILE))
    with pytest.raises(RuntimeError, match="shuffle of the input sampler"):
        ds.MindDataset(files, shuffle=True).add_sampler(ds.DistributedSampler(2, 0, shuffle=Shuffle.INFILE))
    with pytest.raises(RuntimeError, match="shuffle of the input sampler"):
        ds.DistributedSampler(2, 0).add_child(ds.RandomSampler(shuffle=Shuffle.PARTIAL))


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "nothing").touch()
    with pytest.raises(RuntimeError, match="Invalid file, the size of mindrecord file"):
        ds.MindDataset(str(tmp_path / "nothing"))
