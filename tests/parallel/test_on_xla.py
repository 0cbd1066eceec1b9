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


RANDOM = """
import numpy as np
from rehearse import outputs_of_one, outputs_on_xla, traced_graph
from test_random_graphs import SIZE, random_cuts, random_function
from mindspore import Tensor, ops
from mindspore.compiler.shard.plan import Options, make_plan

for seed, devices in ((0, 2), (3, 6), (5, 8), (7, 4), (11, 8)):
    draw = np.random.default_rng(seed).standard_normal
    inputs = [Tensor(draw((SIZE, SIZE))) for _ in range(3)]
    graph, arrays = traced_graph(ops.grad(random_function(seed), (0, 1, 2)), *inputs)
    plan = make_plan(graph, Options(devices), random_cuts(seed, devices)(graph))
    for one, many in zip(outputs_of_one(graph, arrays), outputs_on_xla(plan, arrays), strict=True):
        np.testing.assert_allclose(many, one, rtol=1e-8, atol=1e-9)
print("same on 8")
"""


UNEVEN = """
import numpy as np
import mindspore as ms
from networks import Odd, Plan, Ring, adam, losses

ms.set_context(backend="xla")
for network in (Odd, Ring):
    alone, _ = losses(network, adam)
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", device_num=8, full_batch=True, enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )
    together, step = losses(network, adam, plan=Plan(2, 4))
    ms.reset_auto_parallel_context()
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    if network is Odd:
        assert step.parameter_layout_dict["table"][2] == [5, 12]
print("same on 8")
"""


@pytest.mark.parametrize("program", [PROGRAM, RANDOM, UNEVEN], ids=["training", "random graphs", "uneven sizes and a ring"])
def test_eight_devices_of_xla_are_one(program):
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.join(here, "processes"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=env, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "same on 8" in done.stdout
