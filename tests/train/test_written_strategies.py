"""Strategy files that we write have everything that official readers demand (its messages have required fields)."""

import pytest

from mindspore.formats.strategy_file import WrittenLayout, write_strategy

node_strategy_pb2 = pytest.importorskip("mindspore.train.node_strategy_pb2")


def test_required_fields_are_there(tmp_path):
    file = tmp_path / "plan.ckpt"
    write_strategy(str(file), {"Default/MatMul-op0": [[2, 1], [1, 4]]}, {"w": WrittenLayout([2, 4], [-1, 0])})
    found = node_strategy_pb2.ParallelStrategyMap()
    found.ParseFromString(file.read_bytes())
    layouts = found.parallel_layout_item[0].parallel_layouts
    assert layouts.HasField("field") and layouts.field == 0
    assert list(layouts.dev_matrix[0].dim) == [2, 4] and list(layouts.tensor_map[0].dim) == [-1, 0]
    # sizes of unequal parts: parts of ours are equal, which official says by an empty list
    assert len(layouts.param_split_shape) == 1 and list(layouts.param_split_shape[0].dim) == []
    assert found.parallel_strategy_item[0].parallel_strategys.HasField("stage")
