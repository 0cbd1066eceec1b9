"""The official client, gRPC messages and REST answers against a real server on loopback."""

import base64
import json
import os
import signal
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import requests
from test_distributed import children

from conftest import ADD
from mindspore_serving import server
from mindspore_serving.client import Client

VERSIONS = {1: {"add.mindir": {}}}


def vectors(count):
    random = np.random.default_rng(count)
    return [{"x1": random.random(2, np.float32), "x2": random.random(2, np.float32)} for _ in range(count)]


def test_client(start):
    address, http = start("add", ADD, VERSIONS)
    client = Client(address, "add", "add")
    for count in (1, 2, 3, 7):
        given = vectors(count)
        for instance, answer in zip(given, client.infer(given)):
            np.testing.assert_array_equal(answer["y"], instance["x1"] + instance["x2"])
    waiting = [client.infer_async(vectors(3)) for _ in range(20)]
    for answer in waiting:
        assert len(answer.result()) == 3
    stages(address)
    errors(address)
    rest(http)


def stages(address):
    x = np.array([1, 2])
    np.testing.assert_array_equal(Client(address, "add", "add_cast").infer({"x1": x, "x2": x})[0]["y"], [2, 4])
    np.testing.assert_array_equal(Client(address, "add", "called").infer(vectors(1))[0]["y"].shape, (2,))
    answers = Client(address, "add", "batched").infer([{"x1": i, "x2": 1.5} for i in range(5)])
    assert [float(answer["y"][0]) for answer in answers] == [1.5, 2.5, 3.5, 4.5, 5.5]
    (answer,) = Client(address, "add", "words").infer({"text": "grüße", "data": b"abc"})
    assert answer == {"text": "grüße!", "data": b"cba"}


def errors(address):
    given = vectors(3)
    given[1]["x1"] = -given[1]["x1"]
    first, second, third = Client(address, "add", "add_cast").infer(given)
    assert "y" in first and "y" in third and "Call Function 'add.fail_on_negative' Failed" in second["error"]
    x = np.ones(3, np.float32)
    size = Client(address, "add", "add").infer({"x1": x, "x2": x})
    assert "Given model input 0 size 12 not match the size 8 defined in model" in size["error"]
    x = np.ones(2, np.int32)
    assert "data type" in Client(address, "add", "add").infer({"x1": x, "x2": x})["error"]
    assert "Cannot find input x2 in instance input" in Client(address, "add", "add").infer({"x1": x})["error"]
    assert "servable is not available" in Client(address, "other", "add").infer({"x1": x})["error"]
    assert "servable is not available" in Client(address, "add", "add", 3).infer({"x1": x})["error"]
    assert "method is not available" in Client(address, "add", "other").infer({"x1": x})["error"]


def rest(http):
    def post(path, payload):
        return requests.post(http + path, json=payload, timeout=20).json()

    instance = {"x1": [1.0, 2.0], "x2": [3.0, 4.0]}
    assert post("/model/add:add", {"instances": [instance] * 3}) == {"instances": [{"y": [4.0, 6.0]}] * 3}
    assert post("/model/add/version/1:add", {"instances": instance}) == {"instances": [{"y": [4.0, 6.0]}]}
    packed = {"b64": base64.b64encode(np.array([1, 2], np.float32)).decode(), "type": "float32", "shape": [2]}
    assert post("/model/add:add", {"instances": [{"x1": packed, "x2": [1.5, 1.5]}]}) == {"instances": [{"y": [2.5, 3.5]}]}
    words = {"text": "a", "data": {"b64": base64.b64encode(b"xyz").decode()}}
    answer = post("/model/add:words", {"instances": [words]})["instances"][0]
    assert answer["text"] == "a!" and base64.b64decode(answer["data"]["b64"]) == b"zyx"
    for payload, text in REFUSED:
        assert text in post("/model/add:add", payload)["error_msg"], payload
    assert "version number range failed" in post("/model/add/version/-1:add", {"instances": instance})["error_msg"]
    assert "[service method] must contain" in post("/model/add", {"instances": instance})["error_msg"]
    assert "Illegal JSON format" in requests.post(http + "/model/add:add", data=b"{", timeout=20).json()["error_msg"]


REFUSED = [
    ({}, "key 'instances' expects to exist once, but actually 0 times"),
    ({"instances": []}, "instances value is array type, but no value"),
    ({"instances": [1]}, "instances no key mode is not supported"),
    ({"instances": [{"x1": [], "x2": 1}]}, "json array, shape is empty"),
    ({"instances": [{"x1": [1, 2.0], "x2": 1}]}, "json array, elements type is not equal"),
    ({"instances": [{"x1": [[1], [1, 2]], "x2": 1}]}, "invalid json array: json size is 2, the dim 1 expected to be 1"),
    ({"instances": [{"x1": [[1], 2], "x2": 1}]}, "invalid json array: json type is not array"),
    ({"instances": [{"x1": [1, None], "x2": 1}]}, "json array, data should be number, bool, string or bytes"),
    ({"instances": [{"x1": None, "x2": 1}]}, "json value is null, it is not supported"),
    ({"instances": [{"x1": {"b64": "!"}, "x2": 1}]}, "is illegal b64 encode string"),
    ({"instances": [{"x1": {"b64": "", "type": "int3"}, "x2": 1}]}, "specified type:'int3' is illegal"),
    ({"instances": [{"x1": {"b64": "", "type": "int32", "shape": [-1]}, "x2": 1}]}, "array value should be unsigned integer"),
    ({"instances": [{"x1": {"b64": "", "type": "int32", "shape": [2**40, 2**40]}, "x2": 1}]}, "invalid shape value"),
    ({"instances": [{"x1": 2**40, "x2": 1}]}, "out of the range of int32"),
    ({"instances": [{"x1": [1e300, 0.0], "x2": 1}]}, "out of the range of float32"),
]


def test_versions_encryption_and_large_values(start, tmp_path):
    """Version 0 is the newest; arrays above the limit of the socket travel in shared memory; keys open models."""
    key = b"0123456789abcdef"
    width = 300_000
    configuration = (
        ADD
        + """
    def double(x):
        return x * 2

    @register.register_method(output_names=["y"])
    def doubled(x):
        return register.add_stage(double, x, outputs_count=1)
    """
    )
    versions = {1: {"add.mindir": {"key": key}}, 2: {"add.mindir": {"key": key, "scale": 3.0}}}
    address, _ = start("add", configuration, versions, dec_key=key)
    (given,) = vectors(1)
    answer = Client(address, "add", "add").infer(given)[0]["y"]
    np.testing.assert_allclose(answer, 3 * (given["x1"] + given["x2"]))
    x = np.arange(width, dtype=np.float64)
    for _ in range(3):
        np.testing.assert_array_equal(Client(address, "add", "doubled", 2).infer({"x": x})[0]["y"], 2 * x)
    server.stop()
    with pytest.raises(RuntimeError, match="Load model failed"):
        server.start_servables(server.ServableStartConfig(str(tmp_path), "add", dec_key=b"x" * 16))


def pids():
    from mindspore_serving.server.starting import _Process

    return [pid for pool in _Process.host.dispatcher.pools for pid in pool.pids]


def test_a_killed_worker_is_replaced_and_no_request_fails(start):
    address, _ = start("add", ADD, VERSIONS, num_parallel_workers=2)
    client = Client(address, "add", "add_cast")
    given = vectors(4)
    assert "error" not in client.infer(given)
    before = pids()
    waiting = []
    for round_ in range(30):
        waiting.append(client.infer_async(given))
        if round_ == 10:
            for pid in before:
                os.kill(pid, signal.SIGKILL)
    for answer in waiting:
        for instance, found in zip(given, answer.result()):
            np.testing.assert_array_equal(found["y"], instance["x1"] + instance["x2"])
    assert set(pids()).isdisjoint(before)


def test_a_request_that_kills_workers_takes_no_other_with_it(start):
    configuration = """
    import os, signal

    def mortal(x):
        if x == 13:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(mortal, x, outputs_count=1)
    """
    address, _ = start("mortal", configuration)
    client = Client(address, "mortal", "run")
    assert client.infer({"x": 1})[0]["y"] == [1]
    waiting = [(number, client.infer_async({"x": number})) for number in (1, 2, 13, 4, 5)]
    for number, answer in waiting:
        if number == 13:
            assert "the worker process died repeatedly on this request" in answer.result()["error"]
        else:
            assert answer.result()[0]["y"] == [number]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_server_ends_with_its_workers(start, number):
    """A worker that leaves in good order, or dies before it ever answered, is not replaced."""
    address, _ = start("add", ADD, VERSIONS)
    for pid in pids():
        os.kill(pid, number)
    client = Client(address, "add", "add")
    end = time.monotonic() + 30
    while "unavailable" not in str(answer := client.infer(vectors(1))) and time.monotonic() < end:
        time.sleep(0.1)
    assert "Grpc Error, (14, 'unavailable')" in answer["error"]
    server.stop()
    server.start_grpc_server(address)  # a new client finds a new server at once
    assert "servable is not available" in Client(address, "add", "add").infer(vectors(1))["error"]


def workers():
    """Processes of workers, also of those that load."""
    return [pid for pid in children(os.getpid()) if b"mindspore_serving.engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_signal_while_servables_load(servables):
    """Neither the start nor its worker processes go on."""
    directory = servables("slow", "import time\ntime.sleep(300)\n")

    def stop():
        while not (found := workers()):
            time.sleep(0.01)
        loading.extend(found)
        os.kill(os.getpid(), signal.SIGTERM)

    loading = []
    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(RuntimeError, match="the server was stopped"):
        server.start_servables(server.ServableStartConfig(directory, "slow"))
    stopping.join()
    assert loading and not workers()


def test_workers_without_a_place_for_their_logs(servables, tmp_path):
    """The start fails, and says why: it seemed to succeed, and no request was answered."""
    directory = servables("add", ADD, VERSIONS)
    (tmp_path / "serving_logs").write_text("not a folder")
    with pytest.raises(RuntimeError, match=r"Fail to start workers: .*serving_logs"):
        server.start_servables(server.ServableStartConfig(directory, "add"))


def test_unix_socket(servables, tmp_path, monkeypatch):
    """The folder of the socket is made; paths are relative to where the server runs."""
    directory = servables("add", ADD, VERSIONS)
    monkeypatch.chdir(tmp_path)
    server.start_servables(server.ServableStartConfig(directory, "add"))
    server.start_grpc_server("unix:sockets/serving")
    given = vectors(2)
    assert [list(answer) for answer in Client("unix:sockets/serving", "add", "add").infer(given)] == [["y"], ["y"]]


def test_full_queue(start):
    configuration = """
    import time

    def slow(x):
        time.sleep(0.5)
        return x

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(slow, x, outputs_count=1)
    """
    address, http = start("slow", configuration)
    server.master.context.set_max_enqueued_requests(1)
    try:
        client = Client(address, "slow", "run")
        answers = [waiting.result() for waiting in [client.infer_async({"x": 1}) for _ in range(3)]]
        refused = [answer for answer in answers if "error" in answer]
        assert len(refused) == 2 and all("enqueued requests count exceeds the limit 1" in answer["error"] for answer in refused)
        occupied = client.infer_async({"x": 1})
        time.sleep(0.1)
        answer = requests.post(http + "/model/slow:run", json={"instances": [{"x": 1}]}, timeout=20)
        assert answer.status_code == 429 and answer.headers["Retry-After"] == "1"
        assert occupied.result()[0]["y"] == [1]
    finally:
        server.master.context.set_max_enqueued_requests(10000)


def test_workers_share_a_request_and_log_to_files(start, tmp_path, monkeypatch):
    monkeypatch.setenv("GLOG_v", "1")  # of the workers
    grpc, _ = start("add", ADD, {1: {"add.mindir": {}}}, device_ids=3, num_parallel_workers=2)
    x = np.arange(40, dtype=np.float32).reshape(20, 2)
    answers = Client(grpc, "add", "batched").infer([{"x1": row, "x2": row} for row in x])
    np.testing.assert_array_equal([answer["y"] for answer in answers], 2 * x)
    for worker in ("device3", "extra0"):
        text = (tmp_path / "serving_logs" / f"log_add_{worker}_version1.log").read_text()
        assert "WorkerRequestHandle Time Cost" in text


def test_a_worker_that_is_killed_before_it_is_ready_is_started_again(servables, tmp_path):
    configuration = f"""
    import os, signal, sys

    if sys.argv[0].endswith("worker.py"):
        with open({str(tmp_path / "starts")!r}, "a") as file:
            file.write(".")
        if os.path.getsize(file.name) < int(open({str(tmp_path / "deaths")!r}).read()) + 1:
            os.kill(os.getpid(), signal.SIGKILL)

    def same(x):
        return x

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(same, x, outputs_count=1)
    """
    directory = servables("mortal", configuration)
    (tmp_path / "deaths").write_text("2")
    server.start_servables(server.ServableStartConfig(directory, "mortal"))
    assert (tmp_path / "starts").read_text() == "..." and len(pids()) == 1
    server.stop()
    (tmp_path / "starts").unlink()
    (tmp_path / "deaths").write_text("100")
    with pytest.raises(RuntimeError, match="death of one worker"):  # it does not try for ever
        server.start_servables(server.ServableStartConfig(directory, "mortal"))
    assert (tmp_path / "starts").read_text() == "..."


def test_what_nobody_waits_for_is_not_computed(start, tmp_path):
    """Clients that leave, over every protocol: their requests never get to the worker."""
    configuration = f"""
    import time

    def slow(x):
        with open({str(tmp_path / "computed")!r}, "a") as file:
            file.write(f"{{x.item()}} ")
        time.sleep(1.5)
        return x

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(slow, x, outputs_count=1)
    """
    address, http = start("slow", configuration)
    host, port = http.removeprefix("http://").split(":")

    def leave(path, body):
        data = json.dumps(body).encode()
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data)
            time.sleep(0.2)

    client = Client(address, "slow", "run")
    occupied = client.infer_async({"x": 1})
    time.sleep(0.3)  # the worker has it
    leave("/model/slow:run", {"instances": [{"x": 2}]})
    leave("/v2/models/slow/infer", {"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [3]}]})
    left = client.stub.Predict.future(client._request([{"x": 4}]))
    time.sleep(0.2)
    left.cancel()
    assert occupied.result()[0]["y"] == [1]
    assert client.infer({"x": 5})[0]["y"] == [5]
    assert (tmp_path / "computed").read_text().split() == ["1", "5"]
