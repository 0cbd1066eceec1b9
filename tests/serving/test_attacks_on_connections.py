"""Clients that are slow, send what is no message, ask for what lies elsewhere, or leave; workers that die in the middle of a word."""

import concurrent.futures
import socket
import threading
import time

import grpc
import numpy as np
import pytest
import requests

from conftest import ADD
from mindspore_serving.client import Client
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location
from mindspore_serving.protocols import direct, http
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host, Options

X = {"shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
SUM = {"inputs": [{"name": "x1", **X}, {"name": "x2", **X}]}


@pytest.fixture
def host(servables, free_port):
    """A server of `add` whose clients may load and unload; `listen` opens it."""
    directory = servables("add", ADD, {1: {"add.mindir": {}}})
    made = Host(Options(admin=True))
    made.deploy([Wanted(Deployment(Location(directory, "add", 1)), {0})])
    made.grpc, made.place = f"127.0.0.1:{free_port()}", ("127.0.0.1", free_port())
    made.http = "http://{}:{}".format(*made.place)

    def listen():
        made.start_grpc(made.grpc, 4, None)
        made.start_http("{}:{}".format(*made.place), 4, None)

    made.listen = listen
    yield made
    made.stop()


def is_well(host):
    answer = requests.post(f"{host.http}/v2/models/add/infer", json=SUM, timeout=60)
    return answer.status_code == 200 and answer.json()["outputs"][0]["data"] == [2, 4]


HEAD = b"POST /v2/models/add/infer HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize("traced", (False, True))
@pytest.mark.parametrize(
    "begun", [b"", b"POST", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n"]
)
def test_a_request_that_never_arrives_ends_its_connection(begun, traced, host, monkeypatch):
    monkeypatch.setattr(direct, "_PATIENCE", 0.2)
    monkeypatch.setattr(http.Application, "traces", property(lambda self: traced))
    host.listen()
    with socket.create_connection(host.place, timeout=60) as connection:
        connection.sendall(begun)
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
    assert is_well(host)


def test_what_is_no_message_over_grpc(host):
    """Random bytes, and beginnings of a message, to every call."""
    host.listen()
    random = np.random.default_rng(0)
    calls = ["/inference.GRPCInferenceService/" + name for name in ("ModelInfer", "ModelConfig", "ServerReady", "None")]
    calls += ["/mindspore.serving.proto.MSService/Predict", "/", "/a/b/c"]
    good = b"\n\x03add*\x10\n\x02x1\x12\x04FP32\x1a\x02\x01\x02"
    with grpc.insecure_channel(host.grpc) as channel:
        for number in range(80):
            data = good[:number] if number < len(good) else random.bytes(int(random.integers(1, 200)))
            for name in calls:
                try:
                    channel.unary_unary(name)(data, timeout=60)
                except grpc.RpcError as error:
                    assert error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED
            streamed = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")(iter([data]), timeout=60)
            try:
                list(streamed)
            except grpc.RpcError as error:
                assert error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED
    assert is_well(host) and "y" in Client(host.grpc, "add", "add").infer({name: np.ones(2, np.float32) for name in ("x1", "x2")})[0]


def test_operators_cannot_be_led_elsewhere(host, tmp_path):
    """Names with paths in them load nothing."""
    host.listen()
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "servable_config.py").write_text(f"open({str(outside / 'run')!r}, 'w')\n" + ADD)
    there = outside.name
    for name in (f"../{there}", f"..%2F{there}", f"add/../../{there}", str(outside), f"%2e%2e/{there}", "..", ""):
        for action in ("load", "unload"):
            for path in (f"/v2/repository/models/{name}/{action}", f"/v2/repository/models/{name.replace('/', '%2F')}/{action}"):
                head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                with socket.create_connection(host.place, timeout=60) as connection:  # no library tidies the path up
                    connection.sendall(head.encode())
                    refused = connection.recv(4096).split()[1] in (b"400", b"404")
                    assert refused or action == "unload", path  # what is not there is unloaded already
    assert not (outside / "run").exists() and is_well(host)


def test_nothing_is_fetched_for_a_client(service):
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        url = f"http://127.0.0.1:{trap.getsockname()[1]}/"
        picture = [{"type": "image_url", "image_url": {"url": url}}]
        chats = [{"messages": [{"role": "user", "content": picture}]}]
        schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"$ref": url}}}
        chats.append({"messages": [{"role": "user", "content": "a"}], "response_format": schema})
        for body in chats:
            answer = requests.post(f"{service.address}/v1/chat/completions", json={"model": "tiny", **body}, timeout=60)
            assert answer.status_code == 400
        assert requests.post(f"{service.address}/v1/completions", json={"model": url, "prompt": "a"}, timeout=60).status_code == 404
        with pytest.raises(BlockingIOError):
            trap.accept()


def test_a_flood(host):
    """Five hundred requests at once: each is answered, or refused in the protocol's words."""
    host.dispatcher.max_enqueued = 50
    host.listen()
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        codes = list(pool.map(lambda _: requests.post(f"{host.http}/v2/models/add/infer", json=SUM, timeout=60).status_code, range(500)))
    assert set(codes) <= {200, 429} and codes.count(200) and is_well(host)


def test_streams_whose_clients_leave(service):
    """At every moment: before the first token, within, while others go on. Nothing stays behind."""
    engine = service.language_models.find("tiny").engine
    body = {"model": "tiny", "prompt": "Hello", "max_tokens": 100, "ignore_eos": True, "stream": True, "n": 3}
    place = service.address.removeprefix("http://").split(":")
    alone = requests.post(f"{service.address}/v1/completions", json={**body, "stream": False, "seed": 1, "n": 1}, timeout=60).json()

    def leave(after):
        data = requests.Request("POST", f"{service.address}/v1/completions", json=body).prepare().body
        with socket.create_connection((place[0], int(place[1])), timeout=60) as connection:
            head = f"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data)
            for _ in range(after):
                connection.recv(200)

    threads = [threading.Thread(target=leave, args=(after,)) for after in range(8)]
    for thread in threads:
        thread.start()
    again = requests.post(f"{service.address}/v1/completions", json={**body, "stream": False, "seed": 1, "n": 1}, timeout=60).json()
    for thread in threads:
        thread.join()
    assert again["choices"] == alone["choices"]
    end = time.monotonic() + 60
    while (engine.running or engine.waiting or engine.pages.used) and time.monotonic() < end:
        time.sleep(0.02)
    assert engine.running == engine.waiting == engine.pages.used == 0


def test_a_worker_that_dies_within_its_answer(start, tmp_path):
    """Half of an answer's frame is no answer: another worker gives it."""
    configuration = f"""
    import os, pathlib, socket, sys
    marks = pathlib.Path({str(tmp_path)!r})
    whole = socket.socket.sendall

    def cut(self, data):
        if b'"answers"' not in data or (marks / "second").exists():
            return whole(self, data)
        share = 0.02 if (marks / "first").exists() else 0.6
        (marks / ("second" if (marks / "first").exists() else "first")).touch()
        whole(self, data[: int(len(data) * share)])
        os._exit(9)

    if sys.argv[0].endswith("worker.py"):
        socket.socket.sendall = cut

    def double(x):
        return x * 2

    @register.register_method(output_names=["y"])
    def run(x):
        return register.add_stage(double, x, outputs_count=1)
    """
    (tmp_path / "second").touch()  # the first request is answered: a servable that has answered is started again
    address, _ = start("mortal", configuration)
    client = Client(address, "mortal", "run")
    assert client.infer({"x": np.ones(3)})[0]["y"].tolist() == [2, 2, 2]
    (tmp_path / "second").unlink()
    assert client.infer({"x": np.ones(100)})[0]["y"].tolist() == [2] * 100
    assert (tmp_path / "first").exists() and (tmp_path / "second").exists()
