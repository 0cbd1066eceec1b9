"""The online debugger: a training (played by hand, over gRPC) and a user (over HTTP) meet in the server."""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import event_writer as w

pytest.importorskip("grpc")
pytest.importorskip("google_crc32c")
pytest.importorskip("httpx")
import grpc
from starlette.testclient import TestClient

from mindinsight import __version__
from mindinsight.online.graphs import Graph, Graphs
from mindinsight.online.messages import message
from mindinsight.online.watching import recommended
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

BASE = "/v1/mindinsight/debugger/sessions/0/"
X, BEFORE = np.array([[1, -2, 0], [4, 5, np.inf]], np.float32), np.ones((2, 3), np.float32)


def graph(name="graph_0"):
    shape = w.message((1, 14), (2, w.message((1, 11), (2, w.message((1, w.message((1, 2))), (1, w.message((1, 3))))))))
    nodes = [
        w.message((1, w.message((1, "x"))), (2, "1"), (3, "ReLU"), (4, "Default/net"), (6, shape), (8, "Default/net/ReLU-op1"),
                  (9, "In file /home/me/net.py(12)/        y = relu(x)/\n")),
        w.message((1, w.message((1, "1"))), (2, "2"), (3, "MatMul"), (4, "Gradients/Default"), (6, shape),
                  (8, "Gradients/Default/MatMul-op2")),
    ]  # fmt: skip
    return w.message(*((1, n) for n in nodes), (2, name), (3, w.message((1, "x"), (2, shape))))


class Training:
    """Does what it is told, and notes it."""

    def __init__(self, port, graphs=("graph_0",), version=__version__, stops=()):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.graphs, self.version = graphs, version
        self.stops = list(stops)  # nodes at which it stops on its way to another one
        self.step, self.node, self.told = 1, "", []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def call(self, name, data):
        kind = self.channel.unary_unary if isinstance(data, bytes) else self.channel.stream_unary
        return kind(f"/debugger.EventListener/{name}")(data, wait_for_ready=True, timeout=60)

    def about(self):
        return message((1, "0"), (2, self.step), (3, "GPU"), (4, self.node), (7, self.version))

    def run(self):
        self.call("SendMetadata", self.about())
        self.call("SendMultiGraphs", iter([message((1, graph(name)), (2, True)) for name in self.graphs]))
        while True:
            command = parse(self.call("WaitCMD", self.about()))
            self.told.append(command)
            if 2 in command:
                return
            if 3 in command:
                run = parse(command[3][0])
                self.step += run.get(2, [0])[0]
                self.node = self.stops.pop(0) if self.stops else run.get(3, [b""])[0].decode()
            for asked in parse(command[5][0])[1] if 5 in command else ():
                about = parse(asked)
                value = BEFORE if about.get(7) == [b"prev"] else X
                first, rest = value.tobytes()[:8], value.tobytes()[8:]
                last = message((3, rest), (4, 2), (4, 3), (5, 11), (6, 1))
                self.call("SendTensors", iter([asked + message((3, first), (5, 11)), asked + last]))


def parse(data):
    from mindinsight.events.wire import BYTES, fields

    found = {}
    for one in fields(data):
        found.setdefault(one.number, []).append(data[one.begin : one.end] if one.kind == BYTES else one.value)
    return found


@pytest.fixture
def server(tmp_path):
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = Settings(tmp_path / "runs", tmp_path / "work", enable_debugger=True, debugger_port=port)
    settings.summary_base_dir.mkdir()
    settings.workspace.mkdir()
    with TestClient(create_app(settings, workers=False), base_url="http://127.0.0.1:8080") as client:
        client.debugger_port = port
        yield client


def ask(client, path, body=None, expected=200, **query):
    reply = client.post(BASE + path, json=body) if body is not None else client.get(BASE + path, params=query)
    assert reply.status_code == expected, reply.text
    return reply.json()


def wait_until(client, state, **more):
    for _ in range(600):
        about = ask(client, "retrieve", {"mode": "all"})["metadata"]
        if about["state"] == state and all(about[k] == v for k, v in more.items()):
            return about
        time.sleep(0.05)
    raise AssertionError(about)


def test_a_training_is_stepped_watched_and_ended(server):
    assert ask(server, "retrieve", {"mode": "all"})["metadata"]["state"] == "pending"
    training = Training(server.debugger_port)
    assert wait_until(server, "waiting")["step"] == 1
    everything = ask(server, "retrieve", {"mode": "all"})
    assert [n["name"] for n in everything["graph"]["nodes"]] == ["Default", "Gradients"]
    condition = {"id": "tensor_too_large", "params": [{"name": "max_gt", "value": 2.0}]}
    made = ask(server, "create-watchpoint", {"condition": condition, "watch_nodes": ["Default"]})
    assert made["id"] == 1 and made["metadata"]["enable_recheck"] is False
    assert ask(server, "control", {"mode": "continue", "steps": 2})["metadata"]["state"] == "sending"
    wait_until(server, "waiting", step=3)
    set_command = next(c for c in training.told if 4 in c)
    watched = [parse(node)[1][0] for node in parse(set_command[4][0])[1]]
    assert b"Default/net/ReLU-op1" in watched and b"Gradients/Default/MatMul-op2" not in watched
    ask(server, "control", {"mode": "continue", "level": "node", "name": "Default/net/ReLU-op1"})
    assert wait_until(server, "waiting", node_name="Default/net/ReLU-op1")["step"] == 3
    ask(server, "update-watchpoint", {"watch_point_id": 1, "watch_nodes": ["Gradients"], "mode": 1})
    assert ask(server, "recheck", {})["metadata"]["enable_recheck"] is False
    wait_until(server, "waiting")
    ask(server, "recheck", {}, expected=400)
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)
    assert not training.thread.is_alive() and wait_until(server, "pending")


def test_vanishing_gradients_are_looked_for_where_the_backward_pass_ends():
    shape = w.message((1, 14), (2, w.message((1, 11), (2, w.message((1, w.message((1, 2))))))))

    def node(number, kind, scope, *inputs):
        given = ((1, w.message((1, name))) for name in inputs)
        return w.message(*given, (2, str(number)), (3, kind), (4, scope), (6, shape), (8, f"{scope}/{kind}-op{number}"))

    nodes = [node(1, "ReLU", "Default/net", "x"), node(2, "ZerosLike", "Gradients/Default/net", "1"),
             node(3, "Select", "Gradients/Default/net", "2", "1"), node(4, "Momentum", "Default/optimizer", "x", "3")]  # fmt: skip
    data = w.message(*((1, n) for n in nodes), (2, "g"), (3, w.message((1, "x"), (2, shape))))
    found = {watch.condition: watch for watch in recommended(Graphs([Graph.of(data)]), "CPU", 0)}
    assert found["gradient_vanishing"].nodes == {("g", "Gradients/Default/net/Select-op3")}
    assert ("g", "Gradients/Default/net/ZerosLike-op2") in found["tensor_overflow"].nodes


def test_a_training_that_stops_on_its_way_to_a_node_is_sent_on(server):
    training = Training(server.debugger_port, stops=["Default/net/ReLU-op1"])
    wait_until(server, "waiting")
    ask(server, "control", {"mode": "continue", "level": "node", "name": "Gradients/Default/MatMul-op2"})
    assert wait_until(server, "waiting", node_name="Gradients/Default/MatMul-op2")
    assert sum(3 in command for command in training.told) == 2
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)


def test_tensors_are_fetched_cut_and_compared(server):
    training = Training(server.debugger_port)
    wait_until(server, "waiting")
    history = ask(server, "tensor-history", {"name": "Default/net/ReLU-op1"})["tensor_history"]
    assert [h["type"] for h in history] == ["output", "input"] and "shape" not in history[0]
    assert ask(server, "poll-data", pos=0)["receive_tensor"]["node_name"] == "Default/net/ReLU-op1"
    history = ask(server, "tensor-history", {"name": "Default/net/ReLU-op1"})["tensor_history"]
    assert history[0]["shape"] == [2, 3] and history[0]["value"] == "click to view"
    name = "Default/net/ReLU-op1:0"
    value = ask(server, "tensors", name=name, shape="[1, 1:3]")["tensor_value"]
    assert value["value"] == [5.0, "INF"] and value["statistics"]["overall_pos_inf_count"] == 1
    assert (value["statistics"]["overall_max"], value["statistics"]["overall_min"]) == (5.0, -2.0)
    ask(server, "tensor-comparisons", name=name, shape="[0]", tolerance=0)
    ask(server, "poll-data", pos=0)
    compared = ask(server, "tensor-comparisons", name=name, shape="[0]", tolerance=0)["tensor_value"]
    assert compared["diff"] == [[1.0, 1.0, 0.0], [-2.0, 1.0, -3.0], [0.0, 1.0, -1.0]]
    graph_reply = ask(server, "tensor-graphs", tensor_name=name)["graph"]["nodes"]
    assert [n["name"] for n in graph_reply] == ["Default/net/x", "Gradients/Default/MatMul-op2", "Default/net/ReLU-op1"]
    for wrong in ({"name": name, "shape": "[7]"}, {"name": name, "shape": "[a]"}, {"name": "Default/net/ReLU-op1:5"}, {"name": "x"}):
        ask(server, "tensors", expected=400, **wrong)
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)


def test_nodes_and_lines_find_each_other(server):
    training = Training(server.debugger_port, ("graph_0", "graph_1"))
    wait_until(server, "waiting")
    names = [n["name"] for n in ask(server, "retrieve", {"mode": "all"})["graph"]["nodes"]]
    assert names == ["graph_0", "graph_1"]
    (file,) = ask(server, "stacks", key_word="net.py:12")["stacks"]
    assert file["file_path"] == "/home/me/net.py" and file["items"][0]["nodes"] == ["Default/net/ReLU-op1"] * 2
    assert ask(server, "search", stack_pattern="net.py:12", graph_name="graph_1")["nodes"][0]["name"] == "Default"
    assert ask(server, "search", stack_pattern="net.py:13")["nodes"] == []
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)


def test_requests_that_make_no_sense_are_refused(server):
    ask(server, "control", {"mode": "continue"}, expected=400)
    ask(server, "retrieve", {"mode": "nothing"}, expected=400)
    training = Training(server.debugger_port)
    wait_until(server, "waiting")
    for path, body in [
        ("control", {"mode": "continue", "steps": 0}),
        ("control", {"mode": "continue", "level": "node", "name": "no node"}),
        ("control", {"mode": "pause"}),
        ("create-watchpoint", {"condition": {"id": "no_condition"}, "watch_nodes": []}),
        ("create-watchpoint", {"condition": {"id": "tensor_too_large", "params": []}, "watch_nodes": ["Default"]}),
        ("create-watchpoint", {"condition": {"id": "tensor_overflow", "params": []}, "watch_nodes": ["nowhere"]}),
        ("update-watchpoint", {"watch_point_id": 9, "watch_nodes": [], "mode": 1}),
        ("delete-watchpoint", {"watch_point_id": 9}),
    ]:
        assert "error_msg" in ask(server, path, body, expected=400)
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)


def test_an_old_version_and_broken_messages_are_told_apart(server):
    training = Training(server.debugger_port, version="1.0.0")
    wait_until(server, "mismatch")
    with pytest.raises(grpc.RpcError) as caught:
        training.call("SendMetadata", b"\x0f\xff")
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    ask(server, "control", {"mode": "terminate"})
    training.thread.join(30)


def test_without_the_switch_the_debugger_says_so(tmp_path):
    settings = Settings(tmp_path, tmp_path / "work")
    settings.workspace.mkdir()
    with TestClient(create_app(settings, workers=False), base_url="http://127.0.0.1:8080") as client:
        assert "--enable-debugger" in ask(client, "retrieve", {"mode": "all"}, expected=400)["error_msg"]
