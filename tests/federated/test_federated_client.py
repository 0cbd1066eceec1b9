"""The client library and its command, against a real server: plain, compressed, SignDS and noised uploads."""
import json
import os
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest
from federated_processes import Server, free_port, write_yaml

import mindspore
from mindspore import Tensor, nn
from mindspore_federated.client.client import FederatedClient, Plan
from mindspore_federated.client.connection import Connection, FederatedError
from mindspore_federated.client.lite_training import LiteTrainer
from mindspore_federated.client.policy import all_of, battery_above
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
    answers = iter([False, False, True])
    with Server(tmp_path, write_yaml(tmp_path / "job.yaml", fl_iteration_num=1)) as server:
        client = FederatedClient(Connection(server.address), "job", _towards_three, 1, policy=lambda: next(answers),
                                 policy_pause=0.01, wait=20)
        assert client.run(1) == 1 and next(answers, None) is None, "it was asked until it said yes"


def test_the_policy_of_batteries(tmp_path):
    def supply(name, **files):
        (tmp_path / name).mkdir(exist_ok=True)
        for file, text in files.items():
            (tmp_path / name / file).write_text(text + "\n")

    policy = battery_above(0.4, str(tmp_path))
    assert policy(), "no battery, no worry"
    supply("BAT0", type="Battery", capacity="39", status="Discharging")
    supply("AC", type="Mains", online="0")
    assert not policy() and not all_of(lambda: True, policy)()
    supply("BAT0", capacity="41")
    assert policy() and not all_of(policy, lambda: False)()
    supply("BAT0", capacity="10", status="Charging")
    assert policy()
    supply("BAT0", status="Not charging")
    supply("AC", online="1")
    assert policy()


@pytest.mark.parametrize("eps", [None, 200.0], ids=["plain", "laplace"])
def test_clusters_of_clients_are_evaluated(tmp_path, eps):
    noise = {"encrypt__privacy_eval_type": "LAPLACE", "encrypt__laplace_eval": {"laplace_eval_eps": eps}} if eps else {}
    settings = write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=4, fl_iteration_num=1,
                          unsupervised={"eval_type": "SILHOUETTE_SCORE", "cluster_client_num": 4}, **noise)
    shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]])
    with Server(tmp_path, settings) as server:
        clients = [FederatedClient(Connection(server.address), "job", _towards_three, 1, wait=30,
                                   memberships=lambda weights, mine=mine: mine) for mine in shares]
        threads = [threading.Thread(target=client.run, args=(1,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    line = json.loads((tmp_path / "metrics.json").read_text().splitlines()[0])
    apart = [np.linalg.norm(shares[:, None] - shares[None], axis=2)[one] for one in range(4)]
    exact = np.mean([1 - near / far for near, far in (      # Rousseeuw 1987, every cluster has two clients
        (apart[one][one ^ 1], apart[one][[2, 3] if one < 2 else [0, 1]].mean()) for one in range(4))])
    assert line["unsupervisedEval"] == pytest.approx(exact, abs=0.1 if eps else 1e-5)
    assert not eps or line["unsupervisedEval"] != pytest.approx(exact, abs=1e-5)


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


def test_a_server_in_safe_mode_is_left_for_the_next(tmp_path):
    """A server may stay in safe mode for ever; the others of its cluster go on."""
    asleep, settings = b"The cluster is in safemode.", write_yaml(tmp_path / "job.yaml", round__start_fl_job_threshold=9)
    with socket.create_server(("127.0.0.1", 0)) as listener, Server(tmp_path, settings) as server:
        def serve():
            while True:
                peer, _ = listener.accept()
                peer.recv(1 << 16)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(asleep), asleep))
                peer.close()

        threading.Thread(target=serve, daemon=True).start()
        addresses = [f"127.0.0.1:{listener.getsockname()[1]}", server.address]
        for name in "abcdef":                               # wherever it begins
            connection = Connection(addresses)
            assert connection.start_job("job", name, 1, wait=20)["iteration"] == 1
            connection.close()


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


X = np.array([[1, 0], [0, 1], [1, 1], [2, 1]], np.float32)
Y = X @ np.array([[2.0], [-1.0]], np.float32) + 0.5
_LINE_SERVER = """
import sys, numpy as np
from mindspore_federated import FLServerJob
FLServerJob(sys.argv[1], sys.argv[2], checkpoint_dir=sys.argv[3]).run(
    {sys.argv[4]: np.zeros((1, 2), np.float32), sys.argv[5]: np.zeros(1, np.float32)})
"""


def _line_as_ms(folder):
    """A line with its squared error, converted for training on a device."""
    onnx = pytest.importorskip("onnx")
    import mindspore_lite as mslite

    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [helper.make_node("Gemm", ["x", "weight", "bias"], ["line"], transB=1), helper.make_node("Sub", ["line", "y"], ["away"]),
             helper.make_node("Mul", ["away", "away"], ["square"]), helper.make_node("ReduceMean", ["square"], ["loss"], keepdims=0)]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(name, kind, [4, size]) for name, size in (("x", 2), ("y", 1))],
        [helper.make_tensor_value_info("loss", kind, []), helper.make_tensor_value_info("line", kind, [4, 1])],
        [onnx.numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in (("weight", (1, 2)), ("bias", (1,)))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    converter = mslite.Converter()
    converter.train_model = True
    converter.set_config_info("train_param", {"momentum": "0"})
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(folder / "net"))
    return str(folder / "net.ms")


def _line_as_mindir(folder):
    network = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    mindspore.export(network, Tensor(np.zeros((4, 2), np.float32)), file_name=str(folder / "net"), file_format="MINDIR")
    return str(folder / "net.mindir")


def test_the_small_runtime_trains_as_the_framework(tmp_path):
    start = {"weight": np.array([0.5, -0.25], np.float32), "bias": np.array([0.125], np.float32)}
    plan = Plan(1, 7, 4, 0.05)                              # whole batches: the order of the samples does not matter
    lite, loss = LiteTrainer(_line_as_ms(tmp_path), X, Y)(start, plan)
    network = nn.Dense(2, 1)
    full, expected = NetworkTrainer(nn.WithLossCell(network, nn.MSELoss()), X, Y)(start, plan)
    assert loss == pytest.approx(expected, rel=1e-4)
    for name, value in full.items():
        np.testing.assert_allclose(np.ravel(lite[name]), np.ravel(value), rtol=1e-4)
    with pytest.raises(ValueError, match="none of the global weights"):
        LiteTrainer(str(tmp_path / "net.ms"), X, Y)({"other": start["bias"]}, plan)


@pytest.mark.parametrize("kind", ["mindir", "ms"])
def test_the_command_trains_a_file(tmp_path, kind):
    model = _line_as_mindir(tmp_path) if kind == "mindir" else _line_as_ms(tmp_path)
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    address = f"127.0.0.1:{free_port()}"
    settings = write_yaml(tmp_path / "job.yaml", fl_iteration_num=1,
                          client={"client_epoch_num": 300, "client_batch_size": 4, "client_learning_rate": 0.2})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    server = subprocess.Popen([sys.executable, "-c", _LINE_SERVER, settings, address, str(tmp_path / "ckpt"), "weight", "bias"],
                              env=environment)
    try:
        command = [sys.executable, "-m", "mindspore_federated.client", "--server", address, "--fl-name", "job", "--model", model,
                   "--loss", "MSELoss", "--data", str(tmp_path / "data.npz"), "--rounds", "1", "--wait", "60"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == "updates taken: 1", done.stdout + done.stderr
        weights = Connection(address).get_model("job", 1, wait=20)
        np.testing.assert_allclose(weights["weight"], [2, -1], atol=0.02)
        np.testing.assert_allclose(weights["bias"], [0.5], atol=0.02)
    finally:
        server.terminate()
        server.wait(30)
    wrong = subprocess.run([*command[:-4], "--data", str(tmp_path / "none.npz")], env=environment, capture_output=True, text=True,
                           timeout=120)
    assert wrong.returncode == 1 and "none.npz" in wrong.stdout


@pytest.mark.parametrize("exported", [False, True], ids=["network", "mindir"])
def test_a_network_is_trained_by_the_plan(tmp_path, exported):
    network = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    if exported:
        network = nn.GraphCell(mindspore.load(_line_as_mindir(tmp_path)))
    trainer = NetworkTrainer(nn.WithLossCell(network, nn.MSELoss()), X, Y, seed=0)
    names = {item.name: item for item in network.trainable_params()}
    start = {name: np.zeros(item.size, np.float32) for name, item in names.items()}
    weights, loss = trainer(start, Plan(1, 400, 4, 0.2))
    assert loss < 1e-4 and not any(value.any() for value in start.values())
    flat = {value.size: np.ravel(value) for value in weights.values()}
    np.testing.assert_allclose(flat[2], [2, -1], atol=0.02)
    np.testing.assert_allclose(flat[1], [0.5], atol=0.02)
    with pytest.raises(ValueError, match="the global model has no weight"):
        trainer({}, Plan(1, 1, 4, 0.2))
