"""Training with dropout, shuffled data and batch statistics that goes on where it was interrupted; prints its weights at the end."""

from __future__ import annotations

import hashlib
import os
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, ExactResume, Model

EPOCHS, ROWS, BATCH = 6, 320, 8


class Pace(Callback):
    """Steps that take a while, so that a signal meets any of them; says when training begins."""

    def on_train_begin(self, run_context):
        print(f"process {get_rank()} {os.getpid()} attempt {os.environ.get('MS_RESTART_COUNT', '0')}", flush=True)

    def on_train_step_end(self, run_context):
        time.sleep(0.02)


def main() -> None:
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(5)
    ms.dataset.config.set_seed(5)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    net = nn.SequentialCell(nn.Dense(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(32, 2))
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(ROWS, 6)).astype("f"), draw.normal(size=(ROWS, 2)).astype("f")
    data = NumpySlicesDataset(rows, ["x", "y"], shuffle=True, num_shards=size, shard_id=rank).batch(BATCH)
    model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-2))
    resume = ExactResume(sys.argv[1], save_steps=3, async_save=sys.argv[2] == "background")
    model.train(EPOCHS, data, [resume, Pace()], dataset_sink_mode=False)
    weights = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
    print(f"weights {rank} {hashlib.sha256(weights).hexdigest()}", flush=True)


main()
