"""Obfuscated checkpoints: useless without the secret numbers, the old results with them."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn

X = np.random.default_rng(0).random((2, 3)).astype(np.float32)


def positive_layer(rng, inputs, outputs):
    """Keeps the ReLU behind it open: closed, it would hide what obfuscation does to the weights before it."""
    weight, bias = rng.random((outputs, inputs), np.float32), rng.random(outputs, np.float32)
    return nn.Dense(inputs, outputs, weight_init=Tensor(weight), bias_init=Tensor(bias))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(2)
        self.fc1, self.relu, self.fc2 = positive_layer(rng, 3, 4), nn.ReLU(), positive_layer(rng, 4, 3)

    def construct(self, x):
        return self.fc2(self.relu(self.fc1(x)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(), Block(), Block()])

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"], autouse=True)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.mark.parametrize(
    "make, targets, secrets",
    [(Block, ["", "fc1|fc2"], 1), (Net, ["blocks", "fc1|fc2", "obfuscate_layers:2"], 2)],
)
def test_results_return_with_the_secret(tmp_path, make, targets, secrets):
    net = make()
    expected = net(Tensor(X)).asnumpy()
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    np.random.seed(1)
    undoing = ms.obfuscate_ckpt(net, str(tmp_path), targets, saved_path=str(tmp_path), obfuscate_scale=50)
    assert len(undoing) == secrets
    other = make()
    assert ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "net_obf.ckpt"))) == ([], [])
    restored = ms.load_obf_params_into_net(other, targets)
    assert not np.allclose(restored(Tensor(X)).asnumpy(), expected, rtol=0.1)
    found = restored(Tensor(X), *(Tensor(value) for value in undoing.values())).asnumpy()
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=1e-4)  # the secret has 16 bits
    assert not np.allclose(restored(Tensor(X)).asnumpy(), expected, rtol=0.1)  # it is not kept


def test_permutations_and_products_of_weights(tmp_path):
    net = Block()
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    config = {
        "obf_metadata_config": [
            {"name": "obf_metadata_p", "shape": [4], "type": "rearrange", "save_metadata": True},
            {"name": "obf_metadata_m", "shape": [3, 3], "type": "rearrange", "save_metadata": True},
        ],
        "weight_obf_config": [
            {"target": "fc1/bias", "weight_obf_ops": [{"name": "permuate", "input_x": "obf_metadata_p"}]},
            {"target": "fc1/weight", "weight_obf_ops": [
                {"name": "matmul", "input_x": "weight", "input_y": "obf_metadata_m", "transpose_b": True}]},
        ],
    }  # fmt: skip
    (tmp_path / "out").mkdir()
    undoing = ms.obfuscate_ckpt(net, str(tmp_path), obf_config=config, saved_path=str(tmp_path / "out"))
    found = ms.load_checkpoint(str(tmp_path / "out" / "net_obf.ckpt"))
    bias, weight = net.fc1.bias.asnumpy(), net.fc1.weight.asnumpy()
    np.testing.assert_array_equal(found["fc1.bias"].asnumpy(), bias[undoing["obf_metadata_p"]])
    np.testing.assert_allclose(found["fc1.weight"].asnumpy(), weight @ undoing["obf_metadata_m"].T, rtol=1e-6)
    np.testing.assert_array_equal(found["fc2.weight"].asnumpy(), net.fc2.weight.asnumpy())


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"network": 1}, TypeError),
        ({"ckpt_files": "no/such/folder"}, ValueError),
        ({"target_modules": "fc1"}, TypeError),
        ({"target_modules": ["fc1"]}, ValueError),
        ({"target_modules": ["", "fc9"]}, ValueError),
        ({"target_modules": ["nowhere", "fc1"]}, ValueError),
        ({"target_modules": ["", "fc1", "layers:2"]}, ValueError),
        ({"obfuscate_scale": 1}, ValueError),
        ({"obf_config": {}}, ValueError),
        ({"obf_config": []}, TypeError),
        ({"obf_config": {"config": []}}, TypeError),
        ({"obf_config": {"obf_metadata_config": [{"name": [1]}], "weight_obf_config": [{"target": "a/b"}]}}, TypeError),
        ({"obf_config": {"obf_metadata_config": [{"name": "a"}], "weight_obf_config": [{"target": "a/b", "layers": ""}]}}, TypeError),
    ],
)
def test_bad_arguments(tmp_path, arguments, error):
    given = {"network": Block(), "ckpt_files": str(tmp_path), "target_modules": ["", "fc1"], **arguments}
    with pytest.raises(error):
        ms.obfuscate_ckpt(**given, saved_path=str(tmp_path))
