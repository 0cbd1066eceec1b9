"""Parallel settings, layouts and wrappers on one device."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.parallel import Layout, _cost_model_context, _utils
from mindspore.parallel._auto_parallel_context import auto_parallel_context
from mindspore.parallel.auto_parallel import AutoParallel
from mindspore.parallel.distributed import DistributedDataParallel
from mindspore.parallel.function import reshard


@pytest.fixture(autouse=True)
def defaults():
    yield
    ms.reset_auto_parallel_context()
    ms.reset_algo_parameters()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0]), name="w")

    def construct(self, x):
        return (x * self.w).sum()


def test_the_object_and_the_functions_share_settings():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, gradients_mean=True, full_batch=True)
    settings_ = auto_parallel_context()
    assert settings_.get_device_num() == 8 == _utils._get_device_num()
    assert _utils._get_parallel_mode() == "semi_auto_parallel" and _utils._is_in_auto_parallel_mode()
    assert _utils._get_gradients_mean() and _utils._get_full_batch() and not _utils._need_to_full()
    settings_.set_parallel_mode("data_parallel")
    assert ms.get_auto_parallel_context("parallel_mode") == "data_parallel"
    settings_.set_enable_all_reduce_fusion(False)
    settings_.reset()
    assert _utils._get_device_num() == 1 and settings_.get_enable_all_reduce_fusion()


def test_full_shapes():
    assert _utils._to_full_shapes([(2, 3), ()], 4) == [(8, 3), ()]
    ms.set_auto_parallel_context(dataset_strategy=((2, 1), (1, 4)))
    assert _utils._to_full_shapes([(2, 3), (5, 1)], 8) == [(4, 3), (5, 4)]
    with pytest.raises(ValueError, match="dataset strategy size"):
        _utils._to_full_shapes([(2, 3)], 8)


def test_split_indices_are_increasing():
    settings_ = auto_parallel_context()
    settings_.set_all_reduce_fusion_split_indices([1, 5])
    assert settings_.get_all_reduce_fusion_split_indices() == [1, 5]
    with pytest.raises(ValueError, match="ascending"):
        settings_.set_all_reduce_fusion_split_indices([5, 1])
    with pytest.raises(TypeError):
        settings_.set_all_reduce_fusion_split_indices(["a"])
    settings_.reset()


def test_settings_of_the_search():
    ms.set_algo_parameters(fully_use_devices=True, tensor_slice_align_size=32)
    assert (
        ms.get_algo_parameters("fully_use_devices") is True and ms.get_algo_parameters("tensor_slice_align_size") == 32
    )
    for wrong, error in (
        ({"x": 1}, ValueError),
        ({"fully_use_devices": 1}, TypeError),
        ({"tensor_slice_align_size": 0}, ValueError),
    ):
        with pytest.raises(error):
            ms.set_algo_parameters(**wrong)
    ms.reset_algo_parameters()
    assert ms.get_algo_parameters("fully_use_devices") is False
    _cost_model_context.set_cost_model_context(costmodel_alpha=2.0)
    assert _cost_model_context.get_cost_model_context("costmodel_alpha") == 2.0
    _cost_model_context.reset_cost_model_context()
    with pytest.raises(ValueError, match="not recognized"):
        _cost_model_context.set_cost_model_context(x=1)


def test_layouts_in_numbers():
    layout = Layout((2, 4, 2), ("dp", "sp", "mp"))
    cut = layout(("dp", "sp"), "None", "mp")
    assert cut.to_dict() == {
        "device_matrix": (2, 4, 2),
        "tensor_map": ((2, 1), -1, 0),
        "interleaved_parallel": False,
        "alias_name": ("dp", "sp", "mp"),
        "rank_list": list(range(16)),
    }
    assert cut.cuts() == (8, 1, 2) and cut == layout(("dp", "sp"), "None", "mp") != layout("dp", "None", "mp")
    with pytest.raises(ValueError, match="tensor_map of layout is None"):
        layout.to_dict()
    interleaved = Layout((2, 2), ("a", "interleaved_parallel"))("a", "interleaved_parallel").to_dict()
    assert interleaved["interleaved_parallel"] and interleaved["rank_list"] == [0, 1]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_cuts_multiply_to_the_devices_used(matrix, data):
    names = tuple("abcd"[: len(matrix)])
    order = data.draw(st.permutations(names))
    cut = Layout(tuple(matrix), names)(*order)
    assert cut.cuts() == tuple(matrix[names.index(n)] for n in order)
    assert np.prod(cut.cuts()) == len(cut.to_dict()["rank_list"])


@pytest.mark.parametrize(
    "args, error",
    [
        (([2, 2], ("a", "b")), TypeError),
        (((2, 2.0), ("a", "b")), TypeError),
        (((2, 2), ("a",)), ValueError),
        (((2, 2), ("a", "a")), ValueError),
        (((2, 2), ("a", "")), ValueError),
        (((2, 2), ("a", "None")), ValueError),
        (((2, 2), ("interleaved_parallel", "b")), ValueError),
        (((2, 2), ("a", "b"), [0, 1, 2]), ValueError),
    ],
)
def test_wrong_layouts(args, error):
    with pytest.raises(error):
        Layout(*args)


def test_wrong_cuts():
    layout = Layout((2, 2), ("a", "b"))
    with pytest.raises(ValueError, match="not found"):
        layout("c")
    with pytest.raises(ValueError, match="more than one"):
        layout("a", ("b", "a"))


def test_one_device_computes_as_it_is():
    x = Tensor([[1.0, 2.0]])
    assert ms.shard(lambda t: t + 1, in_strategy=((1, 1),), out_strategy=((1, 1),))(x).asnumpy().tolist() == [[2, 3]]
    layout = Layout((1, 2), ("a", "b"))
    assert reshard(x, layout("a", "b")) is x
    with pytest.raises(ValueError, match="cut into 2"):
        reshard(x, layout("b", "a"))
    with pytest.raises(TypeError, match="must be a tuple"):
        ms.shard(lambda t: t, in_strategy=[1])
    with pytest.raises(TypeError):
        ms.shard(3, in_strategy=((1,),))


def test_auto_parallel_keeps_settings_and_computes():
    net = AutoParallel(Net(), parallel_mode="semi_auto")
    net.dataset_strategy("full_batch")
    net.hsdp(2, 32, "level2")
    net.pipeline(stages=2)
    net.enable_gradients_mean()
    assert (
        net.settings["full_batch"]
        and net.settings["optimizer_weight_shard_size"] == 2
        and net.get_pipeline_stages() == 2
    )
    assert net(Tensor([[1.0, 1.0]])) == 5.0
    for call in (
        lambda: net.hsdp(0),
        lambda: net.pipeline(0),
        lambda: net.dataset_strategy("x"),
        lambda: AutoParallel(Net(), "x"),
    ):
        with pytest.raises(ValueError):
            call()


def test_data_parallel_wrapper_alone():
    net = DistributedDataParallel(Net())
    grads = ms.grad(net, None, net.trainable_params())(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert grads[0].asnumpy().tolist() == [4.0, 6.0]
    with net.no_sync():
        assert not net.sync_enabled
    assert net.sync_enabled
    with pytest.raises(TypeError):
        DistributedDataParallel(3)
