"""Quantisation-aware training in the framework, then whole numbers on the device: the same answers, nothing calibrated."""

import numpy as np
import pytest

import mindspore as ms
import mindspore_lite as mslite
from mindspore import Tensor, nn, ops
from mindspore.compression.common import QuantDtype
from mindspore.compression.quant import (
    OptimizeOption,
    QuantizationAwareTraining,
    create_quant_config,
    load_nonquant_param_into_quant_net,
    query_quant_layers,
)
from mindspore_lite.model_file import read

EXACT = {"per_channel": (True, False), "symmetric": (True, False), "narrow_range": (True, False)}


class Combined(nn.Cell):
    """Layers as the official tutorials of quantisation write them."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2dBnAct(1, 8, 3, has_bn=True, momentum=0.9, activation="relu")
        self.conv2 = nn.Conv2dBnAct(8, 8, 3, activation="relu", has_bias=True)
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc = nn.DenseBnAct(128, 3, after_fake=False)

    def construct(self, x):
        return self.fc(self.flatten(self.pool(self.conv2(self.conv1(x)))))


def plain():
    """An ordinary network: nothing in it knows of quantisation."""
    return nn.SequentialCell(
        nn.Conv2d(1, 8, 3, has_bias=True), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, group=8), nn.ReLU(),
        nn.Flatten(), nn.Dense(128, 3),
    )  # fmt: skip


def data(seed, count=64):
    """Three kinds of pictures."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, count)
    kinds = np.stack([np.tile([1.0, -1], (8, 4)), np.tile([1.0, -1], (8, 4)).T, np.ones((8, 8))])
    x = kinds[labels][:, None] + random.normal(size=(count, 1, 8, 8)) * 0.8
    return x.astype(np.float32).clip(-1, 1), labels.astype(np.int32)


def trained(net, steps=30):
    ms.set_context(mode=ms.GRAPH_MODE)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 0.01)).set_train()
    for number in range(steps):
        step(*map(Tensor, data(number)))
    return net.set_train(False)


def converted(net, folder, **options):
    x, _ = data(1000)
    ms.export(net, Tensor(x), file_name=str(folder / "net"), file_format="MINDIR", **options)
    mslite.Converter().convert(mslite.FmkType.MINDIR, str(folder / "net.mindir"), str(folder / "net"))
    model = mslite.Model()
    model.build_from_file(str(folder / "net.ms"), mslite.ModelType.MINDIR_LITE)
    (found,) = model.predict([mslite.Tensor(x)])
    kinds = [node.op.name for node in read(str(folder / "net.ms")).program.graph.nodes()]
    return found.get_data_to_numpy(), net(Tensor(x)).asnumpy(), kinds


def test_whole_numbers_are_those_of_training(tmp_path):
    ms.set_seed(1)
    net = trained(QuantizationAwareTraining(**EXACT).quantize(Combined()), 40)
    found, expected, kinds = converted(net, tmp_path, quant_mode="QUANT")
    assert kinds.count("QuantisedConv2D") == 2 and kinds.count("QuantisedMatMul") == 1 and "FakeQuantise" not in kinds
    x, labels = data(1000)
    assert (found.argmax(axis=1) == labels).mean() > 0.95
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()  # of the input alone, which export has rounded
    grid = np.rint(x * 127).astype(np.float32) / np.float32(127)
    assert np.abs(found - net(Tensor(grid)).asnumpy()).max() < 2e-3 * np.abs(expected).max()


def test_ordinary_networks_and_float_checkpoints(tmp_path):
    ms.set_seed(2)
    first = trained(plain())
    x, labels = data(1000)
    before = (first(Tensor(x)).asnumpy().argmax(axis=1) == labels).mean()
    ms.save_checkpoint(first, str(tmp_path / "float.ckpt"))
    net = QuantizationAwareTraining(**EXACT).quantize(plain())
    load_nonquant_param_into_quant_net(net, ms.load_checkpoint(str(tmp_path / "float.ckpt")), ["minq", "maxq"])
    found, expected, kinds = converted(trained(net, 10), tmp_path)
    assert kinds.count("QuantisedConv2D") == 2 and kinds.count("QuantisedMatMul") == 1
    assert (found.argmax(axis=1) == labels).mean() >= before - 0.02
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


@pytest.mark.parametrize("fold", [True, False])
def test_gradients_pass_the_rounding(fold):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = QuantizationAwareTraining(bn_fold=fold, quant_dtype=QuantDtype.INT4, **EXACT).quantize(Combined()).set_train()
    loss = nn.CrossEntropyLoss()
    x, labels = map(Tensor, data(0))
    grads = ms.grad(lambda a: loss(net(a), labels), None, net.trainable_params())(x)
    assert all(np.abs(g.asnumpy()).sum() > 0 for g in grads if g.ndim > 1)


def test_rounding_and_its_gradient_by_hand():
    x = Tensor(np.float32([-9, -0.3, 0.26, 1.1, 9]))
    step, zero = Tensor(0.5), Tensor(1.0)
    op = ops.FakeQuantise(-4, 3)
    assert op(x, step, zero).tolist() == [-2.5, -0.5, 0.5, 1.0, 1.0]
    assert ms.grad(lambda v: op(v, step, zero).sum())(x).tolist() == [0, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="must not be larger"):
        op(x, Tensor(np.ones((2, 5), np.float32)), zero)
    with pytest.raises(ValueError, match="greater than 'least'"):
        ops.FakeQuantise(3, 3)


def test_what_cannot_be_done_is_said(capsys, tmp_path):
    with pytest.raises(ValueError, match="no convolution or dense layer"):
        QuantizationAwareTraining().quantize(nn.ReLU())
    with pytest.raises(ValueError, match="learned scales are not supported"):
        QuantizationAwareTraining(optimize_option=OptimizeOption.LEARNED_SCALE)
    with pytest.raises(TypeError, match="'symmetric' must be of type bool"):
        QuantizationAwareTraining(symmetric=1)
    with pytest.raises(ValueError, match="must be 'False'"):
        create_quant_config(per_channel=(True, True))
    with pytest.raises(ValueError, match="no value for the parameter"):
        load_nonquant_param_into_quant_net(QuantizationAwareTraining().quantize(plain()), {})
    with pytest.raises(ValueError, match="'quant_mode' must be one of"):
        ms.export(plain(), Tensor(data(0)[0]), file_name=str(tmp_path / "n"), file_format="MINDIR", quant_mode="YES")
    query_quant_layers(QuantizationAwareTraining(quant_dtype=(QuantDtype.INT4, QuantDtype.INT8)).quantize(Combined()))
    told = capsys.readouterr().out
    assert "conv1.conv.fake_quant_weight" in told and "INT4" in told and "INT8" in told
