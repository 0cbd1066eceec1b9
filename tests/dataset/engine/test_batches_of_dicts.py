"""Dicts as values of a column, what `per_batch_map` is told and may return, and callbacks under `repeat`."""

import numpy as np
import pytest

import mindspore.dataset as ds


def dicts(count):
    def rows():
        for i in range(count):
            yield {"number": i, "pair": (i, str(i)), "deep": {"row": np.full(3, i)}}

    return rows


@pytest.mark.parametrize("output_numpy", [True, False])
def test_dicts_keep_their_form(output_numpy):
    data = ds.GeneratorDataset(dicts(2), ["x"])
    *_, last = data.create_dict_iterator(num_epochs=1, output_numpy=output_numpy)
    found = last["x"]
    assert isinstance(found["pair"], tuple) and int(found["pair"][0]) == 1 and str(found["pair"][1]) == "1"
    assert found["deep"]["row"].shape == (3,)
    assert isinstance(found["number"], np.ndarray) == output_numpy


def test_a_batch_of_dicts_is_a_dict_of_arrays():
    (batch,) = ds.GeneratorDataset(dicts(2), ["x"]).batch(2).create_dict_iterator(num_epochs=1, output_numpy=True)
    found = batch["x"]
    assert found["number"].tolist() == [0, 1]
    assert found["deep"]["row"].tolist() == [[0] * 3, [1] * 3]


def test_dicts_that_cannot_be_batched():
    rows = [{"x": np.zeros(2)}, {"x": np.zeros(3)}]
    with pytest.raises(RuntimeError, match="failed to create a NumPy array"):
        list(ds.GeneratorDataset(rows, ["x"], shuffle=False).batch(2))


def mapped(function, **options):
    data = ds.zip((ds.GeneratorDataset(dicts(4), ["a"]), ds.GeneratorDataset(dicts(4), ["b"])))
    data = data.batch(2, per_batch_map=function, **options)
    return list(data.create_dict_iterator(num_epochs=1, output_numpy=True))


def test_lists_of_dicts_become_dicts_of_lists():
    first, _ = mapped(lambda a, b, info: (a, [1, 2]))
    assert [int(n) for n in first["a"]["number"]] == [0, 1] and first["b"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda a, b, info: ({"k": 1}, b), "mismatched types returned from per_batch_map"),
        (lambda a, b, info: ({"k": 1}, [1]), "mismatched types returned from per_batch_map"),
        (lambda a, b, info: (a, np.array([1])), "column: b expects: 2 rows returned from 'per_batch_map', got: 1"),
        (lambda a, b, info: (a * 2, b), "column: a expects: 2 rows returned from 'per_batch_map', got: 4"),
    ],
)
def test_results_of_a_batch_function_that_do_not_go_together(function, message):
    with pytest.raises(RuntimeError, match=message):
        mapped(function)


def test_columns_of_a_batch_function():
    def first(a, info):
        return (a,)

    with pytest.raises(RuntimeError, match="'c' of 'input_columns' doesn't exist"):
        mapped(first, input_columns=["c"])
    with pytest.raises(RuntimeError, match="not involved in 'per_batch_map'"):
        mapped(first, input_columns=["a"], output_columns=["b"])


def test_a_batch_function_is_told_epochs_of_the_pipeline_not_passes():
    told = []

    def note(column, info):
        told.append((info.get_epoch_num(), info.get_batch_num()))
        return (column,)

    data = ds.GeneratorDataset([1, 2, 3, 4], ["x"], shuffle=False).batch(2, per_batch_map=note).repeat(3)
    rows = data.create_tuple_iterator(num_epochs=2)
    for _ in range(2):
        list(rows)
    assert told == [(epoch, batch) for epoch in range(2) for _ in range(3) for batch in range(2)]


def test_callbacks_count_epochs_of_the_pipeline_not_passes():
    events = []

    class Notes(ds.DSCallback):
        def ds_epoch_begin(self, run):
            events.append(("begin", run.cur_epoch_num, run.cur_step_num))

        def ds_epoch_end(self, run):
            events.append(("end", run.cur_epoch_num, run.cur_step_num))

        def ds_step_end(self, run):
            events.append(("step", run.cur_epoch_num, run.cur_step_num_in_epoch))

    data = ds.NumpySlicesDataset([1, 2], shuffle=False).map(lambda x: x, callbacks=Notes(1)).repeat(2)
    rows = data.create_tuple_iterator(num_epochs=2)
    for _ in range(2):
        list(rows)
    expected = []
    for epoch in (1, 2):
        expected += [("begin", epoch, 4 * (epoch - 1)), *[("step", epoch, step) for step in (1, 2, 3, 4)]]
        expected += [("end", epoch, 4 * epoch)]
    assert events == expected
