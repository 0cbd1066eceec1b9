"""Train with evaluation after every epoch, a loss print, checkpoints and early stopping."""

from common import make_data, make_net

from mindspore import nn
from mindspore.train import CheckpointConfig, EarlyStopping, History, LossMonitor, Model, ModelCheckpoint

net = make_net()
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), metrics={"mse"})
history = History()
checkpoints = ModelCheckpoint("regression", "out/checkpoints", CheckpointConfig(save_checkpoint_steps=40))
stop = EarlyStopping(monitor="eval_loss", patience=3, min_delta=1e-4)
model.fit(40, make_data(), make_data(), callbacks=[LossMonitor(40), history, checkpoints, stop])
print(f"{len(history.epoch['epoch'])} epochs, last error {history.history['mse'][-1]:.6f}")
print("saved:", checkpoints.latest_ckpt_file_name)
