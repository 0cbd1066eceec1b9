"""A training of ours under the online debugger: the framework's end, the service and the REST routes together."""

import os
import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("grpc")
pytest.importorskip("google_crc32c")
pytest.importorskip("httpx")
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

BASE = "/v1/mindinsight/debugger/sessions/0/"
SCRIPT = """
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return ops.relu(self.fc(x)).sum()

ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
for number in range(4):
    print(step(Tensor(np.full((1, 3), number + 1.0, np.float32))), flush=True)
"""


@pytest.fixture
def server(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = Settings(tmp_path / "runs", tmp_path / "work", enable_debugger=True, debugger_port=port)
    settings.summary_base_dir.mkdir()
    settings.workspace.mkdir()
    with TestClient(create_app(settings, workers=False), base_url="http://127.0.0.1:8080") as client:
        client.port = port
        yield client


@pytest.fixture(params=["GRAPH_MODE", "PYNATIVE_MODE"])
def training(request, server, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("GRAPH_MODE", request.param))
    env = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": "127.0.0.1", "MS_DEBUGGER_PORT": str(server.port)}
    process = subprocess.Popen([sys.executable, str(script)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    process.script = script
    yield process
    process.kill()
    process.wait()


def ask(client, path, body=None, **query):
    reply = client.post(BASE + path, json=body) if body is not None else client.get(BASE + path, params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()


def wait_until(client, state, **more):
    for _ in range(1200):
        about = ask(client, "retrieve", {"mode": "all"})["metadata"]
        if about["state"] == state and all(about[k] == v for k, v in more.items()):
            return about
        time.sleep(0.05)
    raise AssertionError(about)


def value(client, name):
    ask(client, "tensors", name=name)
    ask(client, "poll-data", pos=0)
    return ask(client, "tensors", name=name)["tensor_value"]


def test_steps_nodes_tensors_hits_and_lines(server, training):
    assert wait_until(server, "waiting")["step"] == 0
    line = 1 + SCRIPT.splitlines().index("        return ops.relu(self.fc(x)).sum()")
    found = ask(server, "search", stack_pattern=f"{training.script}:{line}")["nodes"]
    assert found and "relu" in str(found).lower()
    ask(server, "control", {"mode": "continue", "steps": 1})
    wait_until(server, "waiting", step=1)
    leaves = ask(server, "search", name="ReLU")["nodes"]
    name = str(leaves)
    relu = name[name.index("Default/network-Net/ReLU-op") :].split("'")[0]
    assert value(server, f"{relu}:0")["value"] == [[3.0, 3.0]]  # one row of ones, filters of ones
    ask(server, "control", {"mode": "continue", "level": "node", "name": relu})
    wait_until(server, "waiting", node_name=relu, step=1)
    assert value(server, f"{relu}:0")["value"] == [[2.5, 2.5]]  # 3 * (2 * 0.5) with filters of 0.5, and a bias of -0.5
    condition = {"id": "tensor_too_small", "params": [{"name": "max_lt", "value": 100.0}]}
    ask(server, "create-watchpoint", {"condition": condition, "watch_nodes": [relu]})
    ask(server, "control", {"mode": "continue", "steps": -1})
    wait_until(server, "waiting", step=2)  # stopped by the hit
    (hit,) = ask(server, "search-watchpoint-hits", {})["watch_point_hits"]
    assert hit["node_name"] == relu
    ask(server, "control", {"mode": "terminate"})
    output, _ = training.communicate(timeout=60)
    assert "ended by the debugger" in output


def test_a_debugger_that_is_not_there_is_said_to_be(tmp_path):
    script = tmp_path / "train.py"
    impatient = "import mindspore as ms\nfrom mindspore.runtime.online import client\nclient._PATIENCE = 1"
    script.write_text(SCRIPT.replace("import mindspore as ms", impatient))
    env = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": "127.0.0.1", "MS_DEBUGGER_PORT": "1"}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode and "The debugger at 127.0.0.1:1 does not answer" in done.stderr
