"""A checkpoint and its network, served by the command."""

import signal
import subprocess
import sys

import numpy as np
import pytest
import requests

import mindspore as ms
from mindspore import Tensor, nn
from mindspore_serving.server.checkpoints import to_model

NETWORK = """
from mindspore import nn

def small():
    return nn.SequentialCell(nn.Dense(4, 3), nn.ReLU())

def other():
    return nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 2))

def number():
    return 3
"""


@pytest.fixture
def saved(tmp_path):
    (tmp_path / "net.py").write_text(NETWORK)
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU())
    ms.save_checkpoint(net, str(tmp_path / "small.ckpt"))
    return net


def test_served(saved, tmp_path, free_port):
    http, grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "mindspore_serving.cli", "serve", str(tmp_path / "small.ckpt"), "--http", http, "--grpc", grpc]
    settings = ["--network", f"{tmp_path / 'net.py'}:small", "--input", "float32:-1,4"]
    process = subprocess.Popen([*command, *settings], stdout=subprocess.PIPE, text=True)
    try:
        assert "serving small" in process.stdout.readline()
        x = np.random.default_rng(0).normal(0, 1, (3, 4)).astype(np.float32)
        name = requests.get(f"http://{http}/v2/models/small", timeout=20).json()["inputs"][0]["name"]
        body = {"inputs": [{"name": name, "shape": [3, 4], "datatype": "FP32", "data": x.ravel().tolist()}]}
        answer = requests.post(f"http://{http}/v2/models/small/infer", json=body, timeout=20).json()
        np.testing.assert_allclose(answer["outputs"][0]["data"], saved(Tensor(x)).asnumpy().ravel(), rtol=1e-5)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("network", "shape", "words"),
    [
        ("net.py:none", "float32:1,4", "has no function or class 'none'"),
        ("none.py:small", "float32:1,4", "none.py, which is not there"),
        ("", "float32:1,4", "must be FILE.py:NAME"),
        ("net.py:number", "float32:1,4", "gives int, not a network"),
        ("net.py:other", "float32:1,4", "lacks weights of the network: 2.weight, 2.bias"),
        ("net.py:small", "float32", "--input must be"),
        ("net.py:small", "float33:1,4", "--input must be"),
    ],
)
def test_refusals(saved, network, shape, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        to_model(str(tmp_path / "small.ckpt"), network and str(tmp_path / network), [shape], str(tmp_path))
