"""A dry run of one rank: its graph, memory and collectives, without the other processes."""

import os
import subprocess
import sys

PROGRAM = """
import mindspore as ms
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=True, pipeline_stages=2)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(16, 64), nn.Dense(64, 16)
        self.first.matmul.shard(((1, 1), (4, 1)))
        self.first.pipeline_stage, self.second.pipeline_stage = 0, 1

    def construct(self, x):
        return self.second(ops.relu(self.first(x))).sum()


net = Net()
step = nn.TrainOneStepCell(nn.PipelineCell(net, 2), nn.SGD(net.trainable_params(), 0.1))
step(ops.ones((8, 16)))
print("rank", get_rank(), "of", get_group_size(), "is done")
"""

SETTINGS_FIRST = """
import mindspore as ms
from mindspore import nn, ops
from mindspore.communication import init

ms.set_context(mode=ms.GRAPH_MODE)
sizes = ms.jit(lambda x: ops.AllGather()(x))
ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=True)
print("alone", sizes(ops.ones(2)).shape)
init()
net = nn.Dense(16, 64)
net.matmul.shard(((1, 1), (8, 1)))
net(ops.ones((8, 16)))
print("together", sizes(ops.ones(2)).shape, net.parameter_layout_dict["weight"][2])
"""


def test_settings_hold_for_the_run_that_is_joined_after_them():
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MS_", "RANK"))}
    env = {**kept, "MS_SIMULATION_LEVEL": "1", "RANK_SIZE": "8", "RANK_ID": "5", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", SETTINGS_FIRST], env=env, timeout=250, capture_output=True, text=True)
    assert "alone (2,)" in done.stdout and "together (16,) [8, 16]" in done.stdout, done.stdout + done.stderr


def test_msrun_goes_through_a_program_for_one_rank_of_eight(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MS_", "RANK"))}
    command = [
        sys.executable, "-m", "mindspore.parallel.cluster.run", "--worker_num=8", "--local_worker_num=8", "--sim_level=1",
        "--sim_rank_id=5", "--join=True", f"--log_dir={tmp_path}", str(script),
    ]  # fmt: skip
    subprocess.run(command, env={**kept, "OMP_NUM_THREADS": "1"}, timeout=250, check=True)
    text = (tmp_path / "worker_5.log").read_text()
    assert "Dry run of rank 5 of 8" in text and "stage 1 of 2" in text and "peak memory" in text
    assert "rank 5 of 8 is done" in text
