"""Pipelines through the public API: order, columns, epochs, getters."""

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision


def rows(data, epochs=1):
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[[np.asarray(cell).tolist() for cell in row] for row in iterator] for _ in range(epochs)]


def numbers(data):
    return [row[0] for row in rows(data)[0]]


def counting(n=10, **kwargs):
    return ds.NumpySlicesDataset(np.arange(n), "x", **{"shuffle": False, **kwargs})


def generator(n=5):
    def produce():
        for i in range(n):
            yield np.array(i), np.array([i, i * i], dtype=np.float32)

    return ds.GeneratorDataset(produce, ["i", "pair"])


class Squares:
    def __init__(self, n=20):
        self.n = n

    def __getitem__(self, index):
        return np.array(index), np.array(index**2)

    def __len__(self):
        return self.n


def test_map_batch_and_remainder():
    data = counting().map(lambda x: x * 10).batch(4)
    assert numbers(data) == [[0, 10, 20, 30], [40, 50, 60, 70], [80, 90]]
    assert len(counting().batch(4, drop_remainder=True)) == 2


def test_skip_take_repeat_concat_zip():
    assert numbers(counting().skip(3).take(4)) == [3, 4, 5, 6]
    assert numbers(counting(3).repeat(2)) == [0, 1, 2, 0, 1, 2]
    assert numbers(counting(2) + counting(3)) == [0, 1, 0, 1, 2]
    both = ds.zip((counting(4), counting(3).rename("x", "y")))
    assert rows(both)[0] == [[0, 0], [1, 1], [2, 2]]
    assert both.get_col_names() == ["x", "y"]
    assert both.get_dataset_size() == 3


def test_filter_and_flat_map():
    assert numbers(counting().filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert counting().filter(lambda x: x % 3 == 0).get_dataset_size() == 4
    grown = counting(3).flat_map(lambda x: ds.NumpySlicesDataset([int(x)] * int(x + 1), "x", shuffle=False))
    assert numbers(grown) == [0, 1, 1, 2, 2, 2]


def test_columns_of_a_map():
    data = ds.GeneratorDataset(Squares(3), ["i", "square"], shuffle=False)
    merged = data.map(lambda i, s: i + s, ["i", "square"], ["sum"])
    assert merged.get_col_names() == ["sum"]
    assert numbers(merged) == [0, 2, 6]
    split = data.map(lambda i: (i, -i), ["i"], ["plus", "minus"])
    assert split.get_col_names() == ["plus", "minus", "square"]
    assert rows(split)[0][2] == [2, -2, 4]
    with pytest.raises(RuntimeError, match="input column name: nope doesn't exist"):
        rows(data.map(lambda x: x, ["nope"]))


def test_project_and_rename():
    data = generator().project(["pair", "i"]).rename("i", "number")
    assert data.get_col_names() == ["pair", "number"]
    assert rows(data)[0][3] == [[3.0, 9.0], 3]
    with pytest.raises(RuntimeError, match="column name: zz does not exist"):
        rows(generator().project("zz"))


def test_epochs_and_the_end_of_them():
    iterator = counting(3).create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        assert [int(row[0]) for row in iterator] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="beyond the specified number of epochs"):
        next(iterator)


def test_stopped_iterator_cannot_be_used():
    iterator = counting(3).create_dict_iterator(output_numpy=True)
    assert next(iterator)["x"] == 0
    iterator.stop()
    with pytest.raises(AttributeError, match="_runtime_context"):
        next(iterator)


def test_getters_answer_without_running():
    def explode(x):
        raise AssertionError("must not run")

    data = counting().map(explode).batch(3).repeat(2)
    assert data.get_dataset_size() == 8
    assert data.get_batch_size() == 3
    assert data.get_repeat_count() == 2
    assert data.get_col_names() == ["x"]


def test_shapes_and_types():
    data = generator().batch(2)
    assert data.output_shapes() == [[2], [2, 2]]
    assert data.output_types() == [np.dtype("int64"), np.dtype("float32")]

    def growing():
        for i in range(1, 4):
            yield (np.zeros((i, 2)),)

    assert ds.GeneratorDataset(growing, ["a"]).output_shapes(estimate=True) == [[None, 2]]


def test_the_shape_of_a_dictionary():
    data = ds.GeneratorDataset([({"a": 1}, np.zeros(3))], ["info", "x"])
    assert data.output_shapes() == data.output_shapes(estimate=True) == [[0], [3]]


def test_errors_of_operations_say_which_and_where():
    """The operation's name stands once, before what it found, and the row behind."""
    data = ds.NumpySlicesDataset(np.zeros((2, 9, 9, 2), np.uint8), ["image"], shuffle=False)
    with pytest.raises(RuntimeError, match=r"map operation: \[Invert\] failed\. Invert: the number of .* \(row 0\)$"):
        list(data.map(vision.Invert()))
    colours = ds.NumpySlicesDataset(np.zeros((2, 9, 9, 3), np.uint8), ["image"], shuffle=False)
    with pytest.raises(RuntimeError, match=r"map operation: \[ToTensor\] failed\. The op is OneToOne, can only accept one"):
        list(colours.map([vision.ToPIL(), vision.FiveCrop(3), vision.ToTensor()]))


def test_a_failing_function_names_row_and_operation():
    def fail(x):
        if x == 3:
            raise KeyError("lost")
        return x

    with pytest.raises(RuntimeError) as caught:
        rows(counting().map(fail))
    text = str(caught.value)
    assert "map operation: [PyFunc] failed. (row 3)" in text
    assert "KeyError: 'lost'" in text
    assert "in fail" in text


def test_rows_of_different_shapes_do_not_batch():
    def growing():
        for i in range(1, 4):
            yield (np.zeros(i),)

    with pytest.raises(RuntimeError, match="Cannot batch tensors with different shapes in column 0"):
        rows(ds.GeneratorDataset(growing, ["a"]).batch(2))


def test_batch_map_and_changing_size():
    data = counting().batch(
        lambda info: info.get_batch_num() + 1,
        per_batch_map=lambda x, info: ([a + 100 * info.get_batch_num() for a in x],),
    )
    assert numbers(data) == [[0], [101, 102], [203, 204, 205], [306, 307, 308, 309]]


def test_padded_batch():
    def growing():
        for i in range(1, 4):
            yield (np.arange(i),)

    data = ds.GeneratorDataset(growing, ["a"])
    assert numbers(data.padded_batch(3, pad_info={"a": ([4], -1)})) == [
        [[0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 2, -1]]
    ]
    assert numbers(data.padded_batch(2)) == [[[0, 0], [0, 1]], [[0, 1, 2]]]


def test_buckets():
    def lengths():
        for n in (1, 2, 3, 1, 5, 4):
            yield (np.full(n, n),)

    data = ds.GeneratorDataset(lengths, ["a"]).bucket_batch_by_length(["a"], [3], [2, 2], pad_info={"a": None})
    assert [np.asarray(batch).shape for batch in numbers(data)] == [(2, 2), (2, 5), (1, 1), (1, 4)]


def test_flat_map_names_the_columns_of_what_it_makes():
    data = ds.NumpySlicesDataset([1, 2], ["n"], shuffle=False)
    flat = data.flat_map(lambda n: ds.NumpySlicesDataset(np.arange(int(n)), ["m"], shuffle=False))
    assert flat.get_col_names() == ["m"]
    assert [row["m"].item() for row in flat.create_dict_iterator(num_epochs=1, output_numpy=True)] == [0, 0, 1]


def test_a_pipeline_without_rows_has_no_shapes():
    data = ds.NumpySlicesDataset(np.arange(3), "x").skip(5)
    assert data.output_shapes() == [] and data.output_types() == []


def test_sources_without_classes_refuse_a_sampler_by_class():
    with pytest.raises(ValueError, match="doesn't support PKSampler"):
        ds.NumpySlicesDataset(np.arange(3), "x", sampler=ds.PKSampler(2))
    with pytest.raises(ValueError, match="doesn't support PKSampler"):
        ds.GeneratorDataset([1, 2], ["x"], sampler=ds.PKSampler(2))


def test_nothing_is_concatenated_with_an_empty_data_set():
    full = ds.NumpySlicesDataset([1, 2], ["x"])
    for number, pair in enumerate([(full.skip(2), full), (full, full.take(1).skip(1))]):
        with pytest.raises(ValueError, match=f"There are no samples in the dataset number {number}"):
            pair[0].concat(pair[1])
