"""A model whose batch is open gets any number of instances, in batches of powers of two that are filled up a little or not at all."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import nn
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.models import LoadedModel, load_subgraphs


class Twice(nn.Cell):
    def construct(self, x):
        return x * 2


@pytest.mark.parametrize(("count", "batches"), [(1, [1]), (3, [2, 1]), (5, [4, 1]), (7, [8]), (27, [32]), (21, [16, 4, 1]), (40, [32, 8])])
def test_any_number_of_instances(count, batches, tmp_path):
    ms.export(Twice(), ms.Tensor(shape=[None, 3], dtype=ms.float32), file_name=str(tmp_path / "net"), file_format="MINDIR")
    declaration = ModelDeclaration("net", ("net.mindir",), "mindir", True)
    model = LoadedModel(declaration, load_subgraphs(declaration, str(tmp_path)))
    graph, used = model.subgraphs[0], []
    function = graph._function
    graph._function = lambda n: (used.append(function(n)[0]), function(n))[1]
    x = np.random.default_rng(count).random((count, 3), np.float32)
    answers = model.run([(row,) for row in x])
    np.testing.assert_array_equal(np.stack([answer[0] for answer in answers]), x * 2)
    assert used == batches
