"""Train in float16 with a dynamic loss scale, by Model and by hand."""

from common import make_data, make_net

import mindspore as ms
from mindspore import amp, nn
from mindspore.train import Model

net = make_net()
manager = amp.DynamicLossScaleManager(init_loss_scale=2**10, scale_window=50)
model = Model(
    net,
    nn.MSELoss(),
    nn.Adam(net.trainable_params(), 0.01),
    metrics={"mse"},
    amp_level="O2",
    loss_scale_manager=manager,
)
model.train(20, make_data())
print("Model, O2:", model.eval(make_data()), "scale", manager.get_loss_scale())

net = amp.auto_mixed_precision(make_net(), "O2")
optimizer, loss_fn = nn.Adam(net.trainable_params(), 0.01), nn.MSELoss()
scaler = amp.DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=50)
gradient = ms.value_and_grad(lambda x, y: scaler.scale(loss_fn(net(x), y)), None, optimizer.parameters)
for _ in range(20):
    for x, y in make_data().create_tuple_iterator():
        loss, grads = gradient(x, y)
        loss, grads = scaler.unscale(loss), scaler.unscale(grads)
        finite = amp.all_finite(grads)
        if finite:
            optimizer(grads)
        scaler.adjust(finite)
print("by hand, O2:", float(loss.asnumpy()))
