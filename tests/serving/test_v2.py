"""Protocol v2 with Triton's own clients, unchanged; metrics; the command."""

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import requests
import tritonclient.grpc
import tritonclient.http

from conftest import ADD, export
from mindspore_serving import cli
from mindspore_serving.client import Client
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host, Options


@pytest.fixture
def host(servables, free_port):
    directory = servables("add", ADD, {1: {"add.mindir": {}}})
    made = Host(Options(admin=True))
    made.deploy([Wanted(Deployment(Location(directory, "add", 1)), {0})])
    made.grpc, made.http = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    made.start_grpc(made.grpc, 4, None)
    made.start_http(made.http, 4, None)
    made.directory = directory
    yield made
    made.stop()


def inputs(library, rows):
    random = np.random.default_rng(rows)
    arrays = {name: random.random((rows, 2), np.float32) for name in ("x1", "x2")}
    made = []
    for name, array in arrays.items():
        made.append(library.InferInput(name, array.shape, "FP32"))
        made[-1].set_data_from_numpy(array)
    return made, arrays["x1"] + arrays["x2"]


def test_v2(host):
    for library, address in ((tritonclient.http, host.http), (tritonclient.grpc, host.grpc)):
        with library.InferenceServerClient(address) as client:
            assert client.is_server_live() and client.is_server_ready()
            assert client.is_model_ready("add") and client.is_model_ready("add.batched", "1") and not client.is_model_ready("none")
            for rows in (1, 2, 5):
                given, expected = inputs(library, rows)
                found = client.infer("add", given, request_id="7")
                np.testing.assert_array_equal(found.as_numpy("y"), expected)
            with pytest.raises(Exception, match="unknown model"):
                client.infer("none", given)
            with pytest.raises(Exception, match="the input 'x2' is missing"):
                client.infer("add", given[:1])
            wrong = library.InferInput("x1", [1, 3], "FP32")
            wrong.set_data_from_numpy(np.ones((1, 3), np.float32))
            with pytest.raises(Exception, match="not match the size 8 defined in model"):
                client.infer("add", [wrong, inputs(library, 1)[0][1]])
    with tritonclient.http.InferenceServerClient(host.http) as client:
        described = client.get_model_metadata("add")
        assert described["inputs"] == [{"name": name, "datatype": "FP32", "shape": [-1, 2]} for name in ("x1", "x2")]
        assert client.get_inference_statistics("add")["model_stats"][0]["inference_count"] >= 16
        assert {"name": "add", "version": "1", "state": "READY", "reason": ""} in client.get_model_repository_index()
        text = tritonclient.http.InferInput("text", [1], "BYTES")
        text.set_data_from_numpy(np.array([b"abc"], object))
        data = tritonclient.http.InferInput("data", [1], "BYTES")
        data.set_data_from_numpy(np.array([b"\xff\x00"], object), binary_data=True)
        found = client.infer("add.words", [text, data])
        assert found.as_numpy("text").tolist() == [b"abc!"] and found.as_numpy("data").tolist() == [b"\x00\xff"]
    plain(f"http://{host.http}")


def test_configuration(host):
    over_http = tritonclient.http.InferenceServerClient(host.http).get_model_config("add", "1")
    over_grpc = tritonclient.grpc.InferenceServerClient(host.grpc).get_model_config("add", as_json=True)["config"]
    row = {"data_type": "TYPE_FP32", "dims": [2]}
    assert over_http["input"] == [{"name": "x1", **row}, {"name": "x2", **row}] and over_http["output"] == [{"name": "y", **row}]
    assert over_http["max_batch_size"] == over_grpc["max_batch_size"] == 64 and over_grpc["name"] == "add"
    assert over_grpc["input"] == [{**given, "dims": ["2"]} for given in over_http["input"]] and over_grpc["backend"] == "mindspore"
    assert tritonclient.http.InferenceServerClient(host.http).get_model_config("add.words")["max_batch_size"] == 0
    with pytest.raises(Exception, match="unknown model"):
        tritonclient.grpc.InferenceServerClient(host.grpc).get_model_config("none")


def test_classification(host):
    for library, address in ((tritonclient.http, host.http), (tritonclient.grpc, host.grpc)):
        client = library.InferenceServerClient(address)
        given, sums = inputs(library, 3)
        found = client.infer("add", given, outputs=[library.InferRequestedOutput("y", class_count=1)]).as_numpy("y")
        assert found.tolist() == [[f"{row.max():f}:{row.argmax()}".encode()] for row in sums]
        both = client.infer("add", given, outputs=[library.InferRequestedOutput("y", class_count=9)]).as_numpy("y")
        assert both.shape == (3, 2) and (both[:, 0] == found[:, 0]).all()
    x = {"shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
    for count in (-1, "1", 1.5, True):
        body = {"inputs": [{"name": "x1", **x}, {"name": "x2", **x}], "outputs": [{"name": "y", "parameters": {"classification": count}}]}
        assert requests.post(f"http://{host.http}/v2/models/add/infer", json=body, timeout=20).status_code == 400


def test_streams(host):
    """Answers in the order of the requests; an error is the answer to its request alone."""
    found = queue.Queue()
    with tritonclient.grpc.InferenceServerClient(host.grpc) as client:
        client.start_stream(lambda result, error: found.put((result, error)))
        sums = []
        for number in range(100):
            given, expected = inputs(tritonclient.grpc, number % 5 + 1)
            client.async_stream_infer("none" if number == 7 else "add", given, request_id=str(number))
            sums.append(expected)
        for number, expected in enumerate(sums):
            result, error = found.get(timeout=60)
            if number == 7:
                assert "unknown model" in str(error)
                continue
            assert error is None and result.get_response().id == str(number)
            np.testing.assert_array_equal(result.as_numpy("y"), expected)
        client.stop_stream()
        client.start_stream(lambda result, error: found.put((result, error)))
        client.async_stream_infer("add", inputs(tritonclient.grpc, 1)[0])
        client.stop_stream(cancel_requests=True)
        assert client.infer("add", inputs(tritonclient.grpc, 1)[0]).as_numpy("y").shape == (1, 2)


def plain(http):
    x = {"shape": [1, 2], "datatype": "FP32", "data": [[1.5, 2.0]]}
    request = {"inputs": [{"name": "x1", **x}, {"name": "x2", **x}]}
    answer = requests.post(f"{http}/v2/models/add/infer", json=request, timeout=20).json()
    assert answer["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [3.0, 4.0]}]
    for change in (
        {"shape": [2, 2]},
        {"datatype": "FP33"},
        {"data": ["a", "b"]},
        {"shape": [-1, 2]},
        {"data": [[1], [2, 3]]},
        {"shape": 3},
    ):
        refused = requests.post(
            f"{http}/v2/models/add/infer", json={"inputs": [{"name": "x1", **x, **change}, request["inputs"][1]]}, timeout=20
        )
        assert refused.status_code == 400 and "x1" in refused.json()["error"], change
    for body in (b"", b"{", b"[]", b'{"inputs": 1}', b'{"inputs": [1]}', b"[" * 100_000, b"x" * (5 << 20)):
        assert requests.post(f"{http}/v2/models/add/infer", data=body, timeout=20).status_code == 400
    assert requests.get(f"{http}/v2/other", timeout=20).status_code == 404
    metrics = requests.get(f"{http}/metrics", timeout=20).text
    assert 'ms_serving_requests_total{servable="add",version="1",method="add"}' in metrics
    assert {row["name"] for row in requests.get(f"{http}/status", timeout=20).json()["servables"]} == {"add"}


def test_versions_are_swapped_without_a_failed_request(host):
    folder = os.path.join(host.directory, "add")
    x = np.ones(2, np.float32)
    wrong, stop = [], threading.Event()

    def load():
        client = Client(host.grpc, "add", "add")
        while not stop.is_set():
            answer = client.infer([{"x1": x, "x2": x}] * 3)
            if not isinstance(answer, list) or any(item.get("y", [0])[0] not in (2, 4, 6) for item in answer):
                wrong.append(answer)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    with tritonclient.http.InferenceServerClient(host.http, network_timeout=60) as client:
        for version in (2, 3):
            os.mkdir(os.path.join(folder, str(version)))
            export(os.path.join(folder, str(version), "add.mindir"), scale=float(version))
            client.load_model("add")
            assert client.get_model_metadata("add")["versions"] == [str(version)]
            for pid in host.dispatcher.pools[0].pids:
                os.kill(pid, signal.SIGKILL)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    np.testing.assert_array_equal(Client(host.grpc, "add", "add").infer({"x1": x, "x2": x})[0]["y"], [6, 6])
    shutil.rmtree(folder)


def test_command(tmp_path, free_port):
    export(tmp_path / "net.mindir")
    (tmp_path / "keys").write_text("secret\n")
    http, grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "mindspore_serving.cli", "serve", str(tmp_path / "net.mindir"), "--http", http, "--grpc", grpc]
    process = subprocess.Popen([*command, "--key-file", str(tmp_path / "keys")], stdout=subprocess.PIPE, text=True)
    try:
        assert f"serving net at http://{http}" in process.stdout.readline()
        x = {"shape": [2, 2], "datatype": "FP32", "data": [1.0, 2.0, 3.0, 4.0]}
        names = requests.get(f"http://{http}/v2/models/net", headers={"Authorization": "Bearer secret"}, timeout=20).json()[
            "inputs"
        ]
        request = {"inputs": [{"name": given["name"], **x} for given in names]}
        assert requests.post(f"http://{http}/v2/models/net/infer", json=request, timeout=20).status_code == 401
        assert requests.get(f"http://{http}/v2/health/live", timeout=20).status_code == 200
        answer = requests.post(
            f"http://{http}/v2/models/net/infer", json=request, headers={"Authorization": "Bearer secret"}, timeout=20
        )
        assert answer.json()["outputs"][0]["data"] == [2.0, 4.0, 6.0, 8.0]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    failed = subprocess.run([*command[:-5], str(tmp_path / "none")], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "there is no file or folder" in failed.stderr


def test_what_cannot_be_served(tmp_path):
    (tmp_path / "model").mkdir()
    for name in ("model/a.safetensors", "a.gguf", "notes.txt"):
        (tmp_path / name).write_text("")
    for path, words in (("none", "no file or folder"), ("model", "no tokenizer.json"), ("a.gguf", "by its folder"),
                        ("notes.txt", "is no .mindir or .onnx file")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            cli.locations(str(tmp_path / path))
