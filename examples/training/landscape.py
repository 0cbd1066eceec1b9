"""The loss around the path that training took, as numbers; the dashboard draws them."""

from common import make_data, make_net

from mindspore import SummaryCollector, SummaryLandscape, nn
from mindspore.train import Loss, Model
from mindspore.train.summary.landscape import Surface

settings = {"collect_landscape": {"landscape_size": 8, "unit": "epoch", "num_samples": 64, "intervals": [[1, 2, 3, 4]]}}
net = make_net()
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.05))
model.train(4, make_data(), callbacks=[SummaryCollector("out/landscape", collect_specified_data=settings)])


def for_landscape():
    network, metrics = make_net(), {"Loss": Loss()}
    return Model(network, nn.MSELoss(), metrics=metrics), network, make_data(), metrics


SummaryLandscape("out/landscape").gen_landscapes_with_multi_process(for_landscape, device_ids=[0])
surface = Surface(for_landscape, 64)
weights = surface.flat([p.asnumpy() for p in net.trainable_params()])
print(f"loss of the trained weights {surface.loss(weights):.4f}, of half of them {surface.loss(weights / 2):.4f}")
print("landscapes are in out/landscape")
