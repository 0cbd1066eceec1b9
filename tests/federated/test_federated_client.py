"""The client library and its command, against a real server: plain, compressed, SignDS and noised uploads."""
import os
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest
from federated_processes import Server, write_yaml

import mindspore
from mindspore import Tensor, nn
from mindspore_federated.client.client import FederatedClient, Plan
from mindspore_federated.client.connection import Connection, FederatedError
from mindspore_federated.client.training import NetworkTrainer


def _towards_three(weights, plan):
    assert plan.batch_size == 32 and plan.epochs == 25
    return {name: value + 0.5 * (3 - value) for name, value in weights.items()}, 1.5


@pytest.mark.parametrize("changes, tolerance", [
    ({}, 1e-6), ({"compression__upload_compress_type": "DIFF_SPARSE_QUANT", "compression__upload_sparse_rate": 1.0}, 0.05),
    ({"compression__download_compress_type": "QUANT"}, 0.05),
    ({"encrypt__encrypt_train_type": "DP_ENCRYPT", "encrypt__dp_encrypt": {
        "dp_eps": 1e8, "dp_delta": 0.01, "dp_norm_clip": 10.0}}, 0.01)], ids=["plain", "sparse", "quant", "dp"])
def test_uploads_of_each_kind_arrive(tmp_path, changes, tolerance):
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=2, **changes)
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        client = FederatedClient(connection, "job", _towards_three, 10, wait=20)
        assert client.run() == 2, "the client stops when the job is finished"
        np.testing.assert_allclose(connection.get_model("job", 2)["bias"], [2.5, 2.5], atol=tolerance)


def test_signds_moves_the_model_by_signs(tmp_path):
    def train(weights, plan):
        change = np.array([5, 5, 5, -5, -5, -5], np.float32)
        return {name: value + change if name == "conv" else value for name, value in weights.items()}, 0.0

    settings = write_yaml(tmp_path / "job.yaml", encrypt__encrypt_train_type="SIGNDS", encrypt__signds={
        "sign_k": 0.25, "sign_eps": 100.0, "sign_thr_ratio": 0.6, "sign_global_lr": 0.5, "sign_dim_out": 1})
    with Server(tmp_path, settings) as server:
        connection = Connection(server.address)
        assert FederatedClient(connection, "job", train, 10, wait=20).run(1) == 1
        moved = connection.get_model("job", 1)["conv"] - np.arange(6)
        (place,) = np.flatnonzero(moved)
        assert moved[place] == (0.5 if place < 3 else -0.5), "one coordinate, in the direction of its change"


def test_a_policy_keeps_the_client_out(tmp_path):
    assert FederatedClient(Connection("127.0.0.1:1"), "job", _towards_three, 1, policy=lambda: False).run() == 0


@pytest.mark.parametrize("answer, words", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "IncompleteRead"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xff\xff\xff", "cannot be read"), (b"", "cannot be reached")])
def test_answers_that_are_cut_or_damaged(answer, words):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            peer, _ = listener.accept()
            peer.recv(1 << 16)
            peer.sendall(answer)
            peer.close()

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(FederatedError, match=words):
            Connection(f"127.0.0.1:{listener.getsockname()[1]}").start_job("job", "a", 1)


def test_the_command(tmp_path):
    (tmp_path / "mine.py").write_text("def train(weights, plan):\n    return {name: value * 0 for name, value in "
                                      "weights.items()}, 0.0\n")
    settings = write_yaml(tmp_path / "job.yaml")
    path = os.pathsep.join([str(tmp_path), *map(os.path.abspath, sys.path)])
    with Server(tmp_path, settings) as server:
        done = subprocess.run([sys.executable, "-m", "mindspore_federated.client", "--server", server.address,
                               "--fl-name", "job", "--train", "mine:train", "--data-size", "5", "--rounds", "1"],
                              env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == "updates taken: 1", done.stderr
        np.testing.assert_array_equal(Connection(server.address).get_model("job", 1)["conv"], 0)


@pytest.mark.parametrize("exported", [False, True], ids=["network", "mindir"])
def test_a_network_is_trained_by_the_plan(tmp_path, exported):
    network = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    if exported:
        mindspore.export(network, Tensor(np.zeros((4, 2), np.float32)), file_name=str(tmp_path / "net"), file_format="MINDIR")
        network = nn.GraphCell(mindspore.load(str(tmp_path / "net.mindir")))
    x = np.array([[1, 0], [0, 1], [1, 1], [2, 1]], np.float32)
    y = x @ np.array([[2.0], [-1.0]], np.float32) + 0.5
    trainer = NetworkTrainer(nn.WithLossCell(network, nn.MSELoss()), x, y, seed=0)
    names = {item.name: item for item in network.trainable_params()}
    start = {name: np.zeros(item.size, np.float32) for name, item in names.items()}
    weights, loss = trainer(start, Plan(1, 400, 4, 0.2))
    assert loss < 1e-4 and not any(value.any() for value in start.values())
    flat = {value.size: np.ravel(value) for value in weights.values()}
    np.testing.assert_allclose(flat[2], [2, -1], atol=0.02)
    np.testing.assert_allclose(flat[1], [0.5], atol=0.02)
    with pytest.raises(ValueError, match="the global model has no weight"):
        trainer({}, Plan(1, 1, 4, 0.2))
