"""Kill this script at any time and start it again: it goes on where it was, with the same losses."""

from common import make_data, make_net

import mindspore as ms
from mindspore import nn
from mindspore.train import ExactResume, LossMonitor, Model

ms.set_seed(1)
net = make_net()
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
model.train(5, make_data(), callbacks=[ExactResume("out/resume"), LossMonitor(8)])
