"""Training with dropout and shuffled data that may be killed: prints the weights at the end."""

import hashlib
import os
import signal
import sys

import numpy as np

import mindspore as ms
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, ExactResume, Model

init()
RANK, SIZE = get_rank(), get_group_size()
folder, victim, moment = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
save_steps, last = (int(sys.argv[4]), True) if len(sys.argv) > 4 else (4, False)


class Killer(Callback):
    def on_train_step_end(self, run_context):
        first = os.environ.get("MS_RESTART_COUNT", "0") == "0"
        if first and victim == RANK and run_context.original_args().cur_step_num == moment:
            os.kill(os.getpid(), signal.SIGKILL)


ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(5)
ms.dataset.config.set_seed(5)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 2))
draw = np.random.default_rng(1)
rows = draw.normal(size=(96, 6)).astype("f"), draw.normal(size=(96, 2)).astype("f")
data = NumpySlicesDataset(rows, ["x", "y"], shuffle=True, num_shards=SIZE, shard_id=RANK).batch(4)
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-2))
model.train(3, data, [Killer(), ExactResume(folder, save_steps, last_checkpoint=last)], dataset_sink_mode=False)
weights = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
print(f"weights of rank {RANK}: {hashlib.sha256(weights).hexdigest()}", flush=True)
