"""Networks converted for THOR compute the same, keep their parameters and train."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, nn
from mindspore import dataset as ds
from mindspore.train import ConvertModelUtils, ConvertNetUtils, Model


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.rest = nn.SequentialCell([nn.ReLU(), nn.Flatten(), nn.Dense(32, 4, activation="relu"), nn.Dense(4, 1)])

    def construct(self, x):
        return self.rest(self.conv(x))


def test_converted_networks():
    x = np.random.default_rng(0).random((16, 1, 4, 4)).astype(np.float32)
    net = Net()
    before, parameters = net(Tensor(x)).asnumpy(), net.trainable_params()
    ConvertNetUtils().convert_to_thor_net(net)
    assert [type(c).__name__ for c in (net.conv, net.rest[2], net.rest[3])] == ["Conv2dThor", "DenseThor", "DenseThor"]
    assert [id(p) for p in net.trainable_params()] == [id(p) for p in parameters]
    np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), before)
    net.check_names()
    data = ds.NumpySlicesDataset({"x": x, "y": x.sum((1, 2, 3))[:, None]}, shuffle=False).batch(8)
    optimizer = nn.thor(
        net, Tensor(np.full(40, 0.01, np.float32)), Tensor(np.full(40, 0.1, np.float32)), 0.9, batch_size=8, frequency=2
    )
    model = Model(net, nn.MSELoss(), optimizer, metrics={"mse"})
    assert ConvertModelUtils.convert_to_thor_model(model, net, optimizer=optimizer) is model
    start = model.eval(data)["mse"]
    model.train(8, data)
    assert model.eval(data)["mse"] < start
