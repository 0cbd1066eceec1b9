"""Rows by number: `dataset[i]` of MindDataset and GeneratorDataset, samplers over MindRecord files, batch samplers."""

import gc
import time
import weakref

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

COUNT = 12


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "rows.mindrecord")
    writer = FileWriter(path, 1)
    writer.add_schema({"name": {"type": "string"}, "label": {"type": "int32"}, "data": {"type": "bytes"}}, "rows")
    writer.write_raw_data([{"name": f"n{i}", "label": i, "data": b"d%d" % i} for i in range(COUNT)])
    writer.commit()
    return path


@pytest.fixture(autouse=True)
def seed():
    before = ds.config.get_seed()
    ds.config.set_seed(77)
    yield
    ds.config.set_seed(before)


def labels(data):
    return [int(row["label"]) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)]


def above(sampler, child):
    sampler.add_child(child)
    return sampler


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": False},
        {"shuffle": True},
        {"shuffle": True, "num_samples": 5},
        {"num_shards": 3, "shard_id": 1},
        {"sampler": ds.RandomSampler()},
        {"sampler": above(ds.SequentialSampler(2, 4), ds.RandomSampler())},
    ],
)
def test_rows_of_records_by_number_are_those_of_the_first_epoch(records, options):
    data = ds.MindDataset(records, ["label", "name"], **options)
    expected = labels(data)
    assert [int(data[i][0]) for i in range(len(expected))] == expected
    with pytest.raises(RuntimeError, match=r"required interval of \[0, "):
        data[len(expected)]


def test_indices_that_are_no_row_numbers(records):
    data = ds.MindDataset(records, ["label"])
    with pytest.raises(TypeError, match="Argument index with value 2"):
        data["2"]
    with pytest.raises(ValueError, match="index cannot be negative"):
        data[-1]


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_of_a_generator_by_number_are_those_of_the_first_epoch(shuffle):
    data = ds.GeneratorDataset(list(range(8)), ["x"], shuffle=shuffle, num_shards=2, shard_id=1)
    expected = [int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert [int(data[i][0]) for i in range(4)] == expected


def test_samplers_below_others_act_on_records_as_they_do_alone(records):
    mixed = labels(ds.MindDataset(records, ["label"], sampler=ds.RandomSampler()))
    chain = above(ds.DistributedSampler(4, 2, shuffle=False), ds.RandomSampler())
    assert labels(ds.MindDataset(records, ["label"], sampler=chain)) == mixed[2::4]
    wrapped = ds.MindDataset(records, ["label"], sampler=ds.SubsetSampler([1, COUNT + 1, 2 * COUNT + 3]))
    assert labels(wrapped) == [1, 1, 3]


def test_shards_by_block_act_in_chains_too(records, monkeypatch):
    mixed = labels(ds.MindDataset(records, ["label"], sampler=ds.RandomSampler()))
    monkeypatch.setenv("MS_DEV_MINDRECORD_SHARD_BY_BLOCK", "true")
    chain = above(ds.DistributedSampler(4, 2, shuffle=False), ds.RandomSampler())
    assert labels(ds.MindDataset(records, ["label"], sampler=chain)) == mixed[6:9]


def test_classes_may_be_texts(records):
    data = ds.MindDataset(records, ["label"], sampler=ds.PKSampler(2, class_column="name"))
    assert sorted(labels(data)) == sorted(list(range(COUNT)) * 2)


def padded(records, sample, count, **options):
    return ds.MindDataset(records, ["name", "label", "data"], padded_sample=sample, num_padded=count, **options)


def test_padded_rows_have_the_types_of_the_files(records):
    data = padded(records, {"name": "pad", "label": -1, "data": b"xyz"}, 1, shuffle=False)
    *_, real, pad = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [(a.dtype.kind, a.shape) for a in pad] == [(a.dtype.kind, a.shape) for a in real]
    assert pad[1].dtype == np.int32 and pad[2].tolist() == [b"xyz"]


def test_padding_that_does_not_fit(records):
    sample = {"name": "pad", "label": -1, "data": b"xyz"}
    with pytest.raises(RuntimeError, match="should divide"):
        padded(records, sample, 2, num_shards=5, shard_id=0).get_dataset_size()
    with pytest.raises(RuntimeError, match="should be string or number"):
        labels(padded(records, sample | {"label": np.array([1, 2])}, 3))
    with pytest.raises(RuntimeError, match="use sampler chain"):
        padded(records, sample, 3, sampler=above(ds.SequentialSampler(), ds.RandomSampler()))


def test_collate_is_given_the_columns():
    rows = [({"x": np.array([i])}, i * i) for i in range(6)]

    def join(first, second):
        return np.stack([cell["x"] for cell in first]), np.array(second)

    data = ds.GeneratorDataset(rows, ["x", "y"], batch_sampler=[[0, 1], [4, 3, 5]], collate_fn=join)
    assert data.get_batch_size() == -1
    found = [(x.ravel().tolist(), y.tolist()) for x, y in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert found == [([0, 1], [0, 1]), ([4, 3, 5], [16, 9, 25])]


def test_batch_samplers_that_are_none():
    data = ds.GeneratorDataset([1, 2, 3], ["x"], batch_sampler=[0, 1])
    with pytest.raises(RuntimeError, match="Batch sampler should return a list, but got an integer"):
        list(data)


@pytest.mark.parametrize("source", [lambda: zip([1, 2, 3]), lambda: (i for i in (1, 2, 3))])
def test_iterators_are_read_again_in_every_epoch(source):
    data = ds.GeneratorDataset(source(), ["x"])
    assert data.get_dataset_size() == 3
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[int(x) for (x,) in rows] for _ in range(2)] == [[1, 2, 3], [1, 2, 3]]


def test_an_iterator_that_begins_again_by_itself_is_asked_to():
    class Again:
        def __iter__(self):
            self.left = [3, 2, 1]
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            return self.left.pop()

    rows = ds.GeneratorDataset(Again(), ["x"]).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[int(x) for (x,) in rows] for _ in range(2)] == [[1, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    "total, sizes, counts",
    [(5, [0.8, 0.2], [4, 1]), (5, [0.33, 0.67], [2, 3]), (10, [0.33, 0.33, 0.34], [4, 3, 3]), (3, [0.5, 0.5], [1, 2])],
)
def test_shares_are_rounded_and_the_first_part_takes_the_difference(total, sizes, counts):
    parts = ds.NumpySlicesDataset(list(range(total))).split(sizes)
    assert [part.get_dataset_size() for part in parts] == counts


def test_splits_that_cannot_be_made(tmp_path):
    data = ds.NumpySlicesDataset(list(range(5)))
    with pytest.raises(ValueError, match="list of int or list of float"):
        data.split([5, 0.6])
    with pytest.raises(RuntimeError, match="Sum of calculated split sizes 6 is not equal to dataset size 5"):
        data.split([0.15, 0.15, 0.15, 0.15, 0.15, 0.25])
    (tmp_path / "lines").write_text("a\nb\n")
    with pytest.raises(RuntimeError, match="should not be sharded before split"):
        ds.TextFileDataset(str(tmp_path / "lines"), num_shards=2, shard_id=0).split([1, 1])


def test_an_iterator_that_is_dropped_keeps_nothing_alive():
    class Source:
        def __getitem__(self, index):
            return np.zeros(1000)

        def __len__(self):
            return 50

    source = Source()
    gone = weakref.ref(source)
    rows = ds.GeneratorDataset(source, ["x"]).create_tuple_iterator(num_epochs=-1)
    next(rows)
    gc.disable()
    try:
        del rows, source
        for _ in range(500):
            if gone() is None:
                break
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
