"""Official helpers that packages import: protobuf modules, tables that grow, redundancy of checkpoints, numbers of types."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.experimental import MapParameter


def test_checkpoints_are_messages_of_checkpoint_pb2(tmp_path):
    from mindspore.train.checkpoint_pb2 import Checkpoint

    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    ms.save_checkpoint([{"name": "w", "data": Tensor(w)}], str(tmp_path / "a.ckpt"))
    message = Checkpoint()
    message.ParseFromString((tmp_path / "a.ckpt").read_bytes())
    (value,) = message.value
    assert value.tag == "w" and list(value.tensor.dims) == [2, 3] and value.tensor.tensor_type == "Float32"
    np.testing.assert_array_equal(np.frombuffer(value.tensor.tensor_content, np.float32).reshape(2, 3), w)
    value.tensor.tensor_content = (w * 2).tobytes()
    (tmp_path / "b.ckpt").write_bytes(message.SerializeToString())
    np.testing.assert_array_equal(ms.load_checkpoint(str(tmp_path / "b.ckpt"))["w"].asnumpy(), w * 2)


def test_models_are_messages_of_mind_ir_pb2(tmp_path):
    from mindspore.train.mind_ir_pb2 import ModelProto

    net = nn.Dense(3, 2)
    ms.export(net, Tensor(np.ones((1, 3), np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
    model = ModelProto()
    model.ParseFromString((tmp_path / "net.mindir").read_bytes())
    assert {tuple(p.dims) for p in model.graph.parameter} == {(2, 3), (2,)}


def test_strategy_files_are_messages_of_node_strategy_pb2(tmp_path):
    from mindspore.train._utils import get_parameter_redundancy
    from mindspore.train.node_strategy_pb2 import ParallelStrategyMap

    from mindspore.formats.strategy_file import layouts_of, read_strategy

    message = ParallelStrategyMap(current_stage=0)
    item = message.parallel_layout_item.add(param_name="w")
    layouts = item.parallel_layouts
    layouts.field, layouts.opt_weight_shard_step, layouts.opt_weight_shard_size = 0, 0, 0
    layouts.dev_matrix.add().dim.extend([2, 4])
    layouts.tensor_map.add().dim.extend([1, -1])
    layouts.param_split_shape.add()
    layouts.indices_offset.add()
    path = tmp_path / "strategy.ckpt"
    path.write_bytes(message.SerializeToString())
    assert layouts_of(read_strategy(str(path)))["w"].devices == (2, 4)
    assert get_parameter_redundancy(str(path)) == {"w": ((0, 1, 2, 3), (4, 5, 6, 7))}


def test_ranks_that_hold_equal_slices_share_the_saving():
    from mindspore.train._utils import get_parameter_redundancy, remove_param_redundancy

    found = get_parameter_redundancy({"cut": [[2, 2], [1, 0]], "rows": [[2, 2], [0, -1]], "whole": [[4], [-1]]}, initial_rank=4)
    assert found == {"cut": ((4,), (5,), (6,), (7,)), "rows": ((4, 6), (5, 7)), "whole": ((4, 5, 6, 7),)}
    kept = remove_param_redundancy(found)
    assert [name for names in kept.values() for name in names].count("whole") == 1
    for name, groups in found.items():  # every slice is saved, by one rank
        for group in groups:
            assert sum(name in kept[rank] for rank in group) == 1


def test_a_table_grows_with_its_keys():
    table = MapParameter(value_shape=(2,), default_value="zeros", name="table")
    keys = Tensor([7, 9], ms.int32)
    table.put(keys, Tensor([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(table.get(Tensor([9, 5], ms.int32), False).asnumpy(), [[3, 4], [0, 0]])
    assert table.get_keys().asnumpy().tolist() == [7, 9]
    np.testing.assert_array_equal(table[Tensor([5, 7], ms.int32)].asnumpy(), [[0, 0], [1, 2]])
    assert table.get_keys().asnumpy().tolist() == [7, 9, 5]
    table[Tensor([7, 7], ms.int32)] = Tensor([[5.0, 5.0], [6.0, 6.0]])
    table.erase(Tensor([9], ms.int32))
    keys, values = table.get_data()
    assert dict(zip(keys.asnumpy().tolist(), values.asnumpy().tolist())) == {7: [6, 6], 5: [0, 0]}
    other = MapParameter(value_shape=(2,), name="other")
    other.import_data(table.export_data())
    np.testing.assert_array_equal(other.get(keys).asnumpy(), values.asnumpy())


def test_tables_say_what_is_wrong():
    table = MapParameter(value_shape=(2,), name="table")
    with pytest.raises(ValueError, match="no key 3"):
        table.erase(Tensor([3], ms.int32))
    with pytest.raises(ValueError, match="1 rows of"):
        table.put(Tensor([3], ms.int32), Tensor([1.0]))
    with pytest.raises(TypeError, match="must be integers"):
        table.get(Tensor([3.0]))
    with pytest.raises(TypeError, match="key_dtype"):
        MapParameter(key_dtype=ms.float32)


def test_numbers_of_types_and_names_that_say_what_they_need():
    from mindspore._c_expression import run_backward, typing
    from mindspore.numpy.utils import _to_tensor
    from mindspore.numpy.utils_const import _canonicalize_axis
    from mindspore.ops._grad_experimental.grad_comm_ops import get_squared_device_local_norm_param

    from mindspore import graph, ops

    assert typing.type_to_type_id(ms.float32) == 43 and typing.type_to_type_id(ms.bool_) == 30
    assert ops._add_attr(abs, keep=1)(-3) == 3
    assert get_squared_device_local_norm_param() is get_squared_device_local_norm_param()
    assert _canonicalize_axis((-1, 0), 3) == (2, 0) and _to_tensor([1, 2]).shape == (2,)
    for call in (run_backward, graph.register_custom_pass, graph.flops_collection):
        with pytest.raises(RuntimeError, match="official MindSpore"):
            call("x")


def test_generated_classes_are_their_functions():
    from mindspore.ops import auto_generate as gen

    x = Tensor(np.array([[3.0, -5.0]], np.float32))
    assert gen.AddScalar()(x, 2).asnumpy().tolist() == [[5, -3]]
    assert gen.divs(x, 2).asnumpy().tolist() == [[1.5, -2.5]]
    assert gen.pyboost_abs(ms.ops.Abs(), [x]).asnumpy().tolist() == [[3, 5]]
    assert gen.ReflectionPad1D()(x, (1, 0)).shape == (1, 3)
    assert gen.SliceExt()(x, 1, 0, 1, 1).asnumpy().tolist() == [[3]]
    y = Tensor(np.ones((1, 2), np.float32))
    gen.InplaceAddExt()(y, x)
    assert y.asnumpy().tolist() == [[4, -4]]
    with pytest.raises(RuntimeError, match="needs an Ascend processor"):
        gen.KvScaleCache()(x)
    assert not hasattr(gen, "no_such_thing")


def test_event_files_are_messages_of_summary_pb2(tmp_path):
    from mindspore.train.summary_pb2 import Event, Summary

    with ms.SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "loss", ms.Tensor(1.5))
        record.record(7)
    data = next(p for p in tmp_path.iterdir() if p.name.endswith("MS")).read_bytes()
    events = []
    while data:
        size = int.from_bytes(data[:8], "little")
        events.append(Event.FromString(data[12 : 12 + size]))
        data = data[16 + size :]
    (value,) = events[-1].summary.value
    assert (events[-1].step, value.tag, value.scalar_value) == (7, "loss", 1.5)
    assert isinstance(value, Summary.Value)


def test_generated_classes_take_every_argument_by_position():
    from mindspore.ops import auto_generate as generated

    x = Tensor(np.array([[3.0, 1.0, 2.0]], np.float32))
    np.testing.assert_array_equal(generated.AddcmulExt()(x, x, x, 2).asnumpy(), [[21, 3, 10]])
    np.testing.assert_array_equal(generated.SubExt()(x, x, 3.0).asnumpy(), [[-6, -2, -4]])
    np.testing.assert_array_equal(generated.SumExt()(x, (1,), True, ms.float64).asnumpy(), [[6]])
    np.testing.assert_array_equal(generated.SortExt()(x, 1, True, False)[0].asnumpy(), [[3, 2, 1]])
    np.testing.assert_array_equal(generated.Arange()(1, 9, 2, ms.int32).asnumpy(), [1, 3, 5, 7])
    np.testing.assert_array_equal(generated.RemainderScalarTensor()(7, x).asnumpy(), [[1, 0, 1]])
