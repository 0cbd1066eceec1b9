"""Watch a run: summaries for the dashboard, and a profile for Perfetto that says where the steps go."""

from common import make_data, make_net

import mindspore as ms
from mindspore import nn
from mindspore.profiler import Profiler
from mindspore.train import LambdaCallback, Model, SummaryCollector

ms.set_context(mode=ms.GRAPH_MODE)
net = make_net()
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
collector = SummaryCollector("out/summary", collect_freq=4, custom_lineage_data={"example": "observe"})
model.train(2, make_data(), callbacks=[collector])
print("summaries are in out/summary")

profiler = Profiler(output_path="out/profile", profile_memory=True)
model.train(1, make_data(), callbacks=[LambdaCallback(on_train_step_end=lambda run: profiler.step())])
profiler.analyse()
print(profiler.summary())
