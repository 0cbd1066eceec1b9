"""Data parallel training on a batch of 8, whatever the number of processes; killed at a step, or run to its end at step 30."""

import os
import signal
import sys

import numpy as np

import mindspore as ms
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, ExactResume, Model, ReplicaCheck

init()
RANK, SIZE = get_rank(), get_group_size()
folder, until = sys.argv[1], int(sys.argv[2])


class Steps(Callback):
    count = 0

    def on_train_step_end(self, run_context):
        self.count += 1
        if run_context.original_args().cur_step_num == until < 30 and RANK == SIZE - 1:
            os.kill(os.getpid(), signal.SIGKILL)


ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(5)
ms.set_auto_parallel_context(parallel_mode="data_parallel" if SIZE > 1 else "stand_alone", gradients_mean=True)
net = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 2))
draw = np.random.default_rng(1)
rows = draw.normal(size=(80, 6)).astype("f"), draw.normal(size=(80, 2)).astype("f")
data = NumpySlicesDataset(rows, ["x", "y"], shuffle=False, num_shards=SIZE, shard_id=RANK).batch(8 // SIZE)
steps = Steps()
model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
model.train(3, data, [steps, ExactResume(folder, save_steps=4), ReplicaCheck(every=3)], dataset_sink_mode=False)
if RANK == 0:
    sums = [f"{float(p.asnumpy().astype('d').sum()):.9g}" for p in net.get_parameters()]
    print("steps and weights:", steps.count, *sums, flush=True)
