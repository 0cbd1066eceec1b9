"""Spellings of MindSpore 1.x and addresses inside the package that scripts still use."""

import numpy as np

import mindspore as ms
import mindspore.dataset as ds


def test_column_order_keeps_and_orders_columns():
    source = ds.NumpySlicesDataset((np.arange(3), np.arange(3) * 2), ["a", "b"], shuffle=False)
    mapped = source.map(lambda a, b: (a, b, a + b), ["a", "b"], ["x", "y", "z"], column_order=["z", "x"])
    assert mapped.get_col_names() == ["z", "x"]
    assert [tuple(map(int, row)) for row in mapped.create_tuple_iterator(output_numpy=True)] == [(0, 0), (3, 1), (6, 2)]
    assert source.map(lambda a: a, ["a"], column_order=None).get_col_names() == ["a", "b"]


def test_modules_of_the_engine_are_attributes():
    assert ms.dataset.engine.datasets_vision.ImageFolderDataset is ds.ImageFolderDataset
    assert ms.dataset.engine.datasets.BatchDataset is ds.BatchDataset
