"""`AutoParallel`: settings that belong to a network, and the files of strategies that it writes and reads."""

import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.formats.strategy_file import layouts_of, read_strategy
from mindspore.parallel import _slices
from mindspore.parallel.auto_parallel import AutoParallel
from mindspore.runtime.sharded import part_of


@pytest.fixture(autouse=True)
def eight_devices():
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(device_num=8)
    yield
    ms.reset_auto_parallel_context()
    ms.set_context(mode=ms.PYNATIVE_MODE)


def tensor(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Net(nn.Cell):
    def __init__(self, first=((2, 1), (1, 4)), second=((2, 4), (4, 1))):
        super().__init__()
        self.w1, self.w2 = Parameter(tensor(16, 32, seed=1), name="w1"), Parameter(tensor(32, 16, seed=2), name="w2")
        self.first, self.second = ops.MatMul(), ops.MatMul()
        if first is not None:
            self.first.shard(first)
            self.second.shard(second)

    def construct(self, x):
        return self.second(ops.relu(self.first(x, self.w1)), self.w2)


def training_step():
    net = Net()
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.01, 0.9))


def full_batch(net, mode="semi_auto"):
    found = AutoParallel(net, mode)
    found.dataset_strategy("full_batch")
    return found


def test_the_settings_hold_for_this_network_alone():
    x = tensor(8, 16)
    net = full_batch(Net())
    out = net(x)
    assert net.parameter_layout_dict["w1"][2] == [16, 8]
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    other = Net()
    np.testing.assert_allclose(out.asnumpy(), other(x).asnumpy(), rtol=1e-5, atol=1e-5)
    assert other.parameter_layout_dict == {}


def test_a_model_trains_with_the_settings_of_its_network():
    data = [(tensor(8, 16, seed=3 + i).asnumpy(), tensor(8, 16, seed=9 + i).asnumpy()) for i in range(3)]

    def trained(network):
        dataset = ms.dataset.GeneratorDataset(data, ["x", "y"], shuffle=False)
        inner = getattr(network, "network", network)
        model = ms.Model(network, nn.MSELoss(), nn.Momentum(inner.trainable_params(), 0.01, 0.9))
        model.train(2, dataset, dataset_sink_mode=False)
        return model, inner.w1.asnumpy()

    _, alone = trained(Net())
    model, together = trained(full_batch(Net()))
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
    assert model.train_network.parameter_layout_dict["w2"][2] == [8, 16]


def test_optimizer_parallelism_by_hsdp():
    step = full_batch(training_step())
    step.hsdp(threshold=0)
    alone = training_step()
    x, y = tensor(8, 16, seed=3), tensor(8, 16, seed=4)
    np.testing.assert_allclose(
        [float(step(x, y)) for _ in range(3)], [float(alone(x, y)) for _ in range(3)], rtol=1e-5
    )
    assert int(np.prod(step.parameter_layout_dict["moments.w1"][2])) == 16 * 32 // 8


def test_an_inner_wrap_is_refused():
    step = nn.TrainOneStepCell(nn.WithLossCell(full_batch(Net()), nn.MSELoss()), nn.SGD([Parameter(tensor(1), name="p")]))
    with pytest.raises(RuntimeError, match="Wrap what is compiled"):
        step(tensor(8, 16), tensor(8, 16))


@pytest.mark.parametrize("name", ["plan.ckpt", "plan.json"])
@pytest.mark.parametrize("optimizer_parallel", [False, True])
def test_parameter_strategy_files_say_what_each_device_holds(name, optimizer_parallel, tmp_path):
    """Slices by the file are those that the devices hold."""
    file = str(tmp_path / name)
    step = full_batch(training_step())
    step.save_param_strategy_file(file)
    if optimizer_parallel:
        step.hsdp(threshold=0)
    step.compile(tensor(8, 16), tensor(8, 16))
    plan = step._sharded().plan
    layouts = layouts_of(read_strategy(file))
    assert {"w1", "w2"} <= set(layouts)
    for parameter in plan.graph.parameters:
        if parameter.name not in layouts:
            continue
        whole = np.arange(np.prod(parameter.abstract.shape)).reshape(parameter.abstract.shape)
        for device in range(8):
            held = part_of(whole, plan.storage_of(parameter), plan.mesh, device)
            said = _slices.assemble(_slices.whole(whole.ndim), layouts[parameter.name], device, {0: whole})
            np.testing.assert_array_equal(held, said)


def test_a_parameter_strategy_file_is_followed(tmp_path):
    file = str(tmp_path / "plan.ckpt")
    first = full_batch(Net())
    first.save_param_strategy_file(file)
    first.compile(tensor(8, 16))
    second = full_batch(Net(None, None))
    second.load_param_strategy_file(file)
    out = second(tensor(8, 16))
    assert second.parameter_layout_dict["w1"][:3] == first.parameter_layout_dict["w1"][:3]
    np.testing.assert_allclose(out.asnumpy(), first(tensor(8, 16)).asnumpy(), rtol=1e-5, atol=1e-5)
    ms.set_auto_parallel_context(device_num=4)
    with pytest.raises(ValueError, match="8 devices, but there are 4"):
        second(tensor(8, 16))


def test_operator_strategy_files(tmp_path):
    file = str(tmp_path / "operators.json")
    first = full_batch(Net(), "sharding_propagation")
    first.save_operator_strategy_file(file)
    first.compile(tensor(8, 16))
    with open(file, encoding="utf-8") as stream:
        assert json.load(stream)["parallel_strategy_item"]["Default/network-Net/MatMul-op0"]["parallel_strategy"] == [[2, 4], [4, 1]]
    second = full_batch(Net(None, None), "sharding_propagation")
    second.load_operator_strategy_file(file)
    second.compile(tensor(8, 16))
    assert second.explain_parallel().plan.options.files.load_operators == file
    assert second._sharded().strategies() == first._sharded().strategies()
    with pytest.raises(ValueError, match=r"must end with '\.json'"):
        second.save_operator_strategy_file("plan.ckpt")
