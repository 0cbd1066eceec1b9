"""Data sinking: many training steps per call of the executable, with the results of single steps."""

import time

from common import make_data, make_net

import mindspore as ms
from mindspore import nn
from mindspore.train import LossMonitor, Model, TimeMonitor

# On a CPU official MindSpore does not sink; "Ascend" stands for the best device this machine has.
ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
ms.set_context(backend="xla")
for sink in (False, True):
    ms.set_seed(1)
    net = make_net()
    model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
    data = make_data(samples=4096)
    model.train(1, data, dataset_sink_mode=sink)
    begin = time.perf_counter()
    callbacks = [LossMonitor(512), TimeMonitor()]
    model.train(3, data, callbacks=callbacks, dataset_sink_mode=sink)
    print("sunk:" if sink else "one call per step:", f"{time.perf_counter() - begin:.2f} s")
