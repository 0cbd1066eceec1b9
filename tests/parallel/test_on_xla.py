"""The graph of a device on eight virtual devices of XLA's, in a process of its own: their number is set before JAX starts."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jax")

PROGRAM = """
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
draw = np.random.default_rng(0).standard_normal


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = Parameter(Tensor(draw((16, 8)).astype(np.float32)), name="table")
        self.up = Parameter(Tensor(draw((8, 32)).astype(np.float32)), name="up")
        self.down = Parameter(Tensor(draw((32, 16)).astype(np.float32)), name="down")
        self.gather = ops.Gather().shard(((4, 1), (2, 1)))
        self.first = ops.MatMul().shard(((2, 1), (1, 4)))
        self.second = ops.MatMul().shard(((2, 4), (4, 1)))

    def construct(self, tokens, labels):
        x = self.gather(self.table, tokens, 0).mean(1)
        logits = self.second(ops.relu(self.first(x, self.up)), self.down)
        return ops.cross_entropy(logits, labels)


def losses():
    global draw
    draw = np.random.default_rng(0).standard_normal
    net = Net()
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.01))
    tokens = Tensor(np.random.default_rng(1).integers(0, 16, (8, 4)).astype(np.int32))
    labels = Tensor(np.random.default_rng(2).integers(0, 16, (8,)).astype(np.int32))
    return step, [float(step(tokens, labels)) for _ in range(5)]


_, alone = losses()
ms.set_auto_parallel_context(
    parallel_mode="semi_auto_parallel", device_num=8, full_batch=True, enable_parallel_optimizer=True,
    parallel_optimizer_config={"parallel_optimizer_threshold": 0},
)
step, together = losses()
np.testing.assert_allclose(together, alone, rtol=2e-5)
from mindspore.backends.xla import mesh_program
assert mesh_program.devices() == 8
assert step.parameter_layout_dict["table"][2] == [2, 8]
print("same on", mesh_program.devices())
"""


def test_eight_devices_of_xla_train_as_one():
    env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], env=env, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "same on 8" in done.stdout
