"""Dump folders under the debugger's routes: opened, stepped through, watched, looked into, closed."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("google_crc32c")
pytest.importorskip("httpx")
from starlette.testclient import TestClient
from test_insight_debugger import VALUES, make

from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

BASE = "/v1/mindinsight/debugger/sessions"
RELU, ADD = "Default/net/ReLU-op1", "Default/Add-op2"


@pytest.fixture
def client(tmp_path):
    settings = Settings(tmp_path / "runs", tmp_path / "work")
    settings.summary_base_dir.mkdir()
    make(settings.summary_base_dir / "dump")
    with TestClient(create_app(settings, workers=False), base_url="http://127.0.0.1:8080") as client:
        yield client


def ask(client, path, body=None, expected=200, **query):
    reply = client.post(BASE + path, json=body, params=query) if body is not None else client.get(BASE + path, params=query)
    assert reply.status_code == expected, reply.text
    return reply.json()


def opened(client, folder="dump"):
    return "/" + ask(client, "", {"session_type": "OFFLINE", "dump_dir": folder}) + "/"


def test_a_folder_is_opened_once_listed_and_closed(client):
    session = opened(client)
    assert opened(client) == session and ask(client, "") == {"train_jobs": {"dump": session.strip("/")}}
    about = ask(client, session + "retrieve", {"mode": "all"})
    assert about["metadata"]["state"] == "waiting" and about["metadata"]["step"] == 1 and about["metadata"]["total_step_num"] == 6
    assert [device["rank_id"] for device in about["devices"]] == [0, 1] and about["graph"]["graph_names"] == ["kernel_graph_0"]
    ask(client, session + "delete", {})
    assert ask(client, "") == {"train_jobs": {}}
    assert "not found" in ask(client, session + "retrieve", {"mode": "all"}, 400)["error_msg"]


def test_the_steps_that_were_dumped(client):
    session = opened(client)
    runs = ask(client, session + "ranks/1/graph-runs")["graph_runs"]
    assert [(run["count"], run["has_data"]) for run in runs] == [(1, True), (2, True), (3, True), (5, False), (6, True)]
    for expected in (2, 3, 6):
        assert ask(client, session + "control", {"mode": "continue", "level": "step", "steps": 1})["metadata"]["step"] == expected
    assert "last one" in ask(client, session + "control", {"mode": "continue", "steps": 1}, 400)["error_msg"]
    assert ask(client, session + "control", {"mode": "reset", "steps": 2})["metadata"]["step"] == 2
    assert "not dumped; those that were are 1, 2, 3, 6" in ask(client, session + "control", {"mode": "reset", "steps": 5}, 400)["error_msg"]
    assert "whole steps" in ask(client, session + "control", {"mode": "continue", "level": "node", "name": RELU}, 400)["error_msg"]


def test_tensors_beside_those_of_the_step_before(client):
    session = opened(client)
    ask(client, session + "control", {"mode": "reset", "steps": 3})
    found = ask(client, session + "tensors", name=f"{ADD}:0", shape="[:]", rank_id=1)
    assert found["tensor_value"]["value"] == [x + 1 for x in VALUES[0]]  # each rank is where it was told to be
    found = ask(client, session + "tensors", name=f"{ADD}:0", shape="[:]")["tensor_value"]
    assert found["value"] == [1.0, 1.0, 1.0, 9.0] and found["statistics"]["overall_max"] == 9
    compared = ask(client, session + "tensor-comparisons", name=f"{ADD}:0", shape="[:]", tolerance=0)["tensor_value"]
    assert compared["diff"] == [[1, 2, -1], [1, 3, -2], [1, 4, -3], [9, 5, 4]]
    reply = client.get(BASE + session + "tensor-files/download", params={"name": f"{ADD}:0", "prev": "true"})
    assert np.array_equal(np.load(io.BytesIO(reply.content), allow_pickle=False), np.array([2, 3, 4, 5], np.float32))
    rows = [ask(client, session + "tensor-history", {"name": ADD}) for _ in range(2)][1]["tensor_history"]
    assert [(row["name"], row["type"], row.get("shape")) for row in rows] == [(f"{ADD}:0", "output", [4]), (f"{RELU}:0", "input", [4])]


def test_going_on_stops_at_the_next_hit(client):
    session = opened(client)
    numbers = ask(client, session + "set-recommended-watch-points", {"requestBody": {"set_recommended": True}})["id"]
    names = [w["watch_condition"]["id"] for w in ask(client, session + "retrieve", {"mode": "watchpoint"})["watch_points"]]
    assert names == ["tensor_overflow", "activation_range"] and len(numbers) == 2
    ask(client, session + "set-recommended-watch-points", {"requestBody": {"set_recommended": True}}, 400)
    assert ask(client, session + "control", {"mode": "continue", "steps": -1})["metadata"]["step"] == 6
    hits = ask(client, session + "search-watchpoint-hits", {"group_condition": {}})["watch_point_hits"]
    assert {hit["node_name"] for hit in hits} == {RELU, ADD}
    ask(client, session + "control", {"mode": "reset", "steps": 1})
    condition = {"id": "tensor_too_large", "params": [{"name": "max_gt", "value": 4.5}]}
    made = ask(client, session + "create-watchpoint", {"condition": condition, "watch_nodes": ["Default"]})
    assert made["metadata"]["enable_recheck"] is True
    ask(client, session + "recheck", {})
    (hit,) = ask(client, session + "search-watchpoint-hits", {"group_condition": {}})["watch_point_hits"]
    (point,) = hit["tensors"][0]["watch_points"]
    assert hit["node_name"] == ADD and point["watch_condition"]["params"] == [{"name": "max_gt", "value": 4.5, "actual_value": 5.0}]


def test_the_one_not_used_for_longest_is_closed(client, tmp_path):
    for name in ("second", "third"):
        make(tmp_path / "runs" / name)
    first, second = opened(client), opened(client, "second")
    ask(client, first + "retrieve", {"mode": "all"})
    opened(client, "third")
    assert set(ask(client, "")["train_jobs"]) == {"dump", "third"}
    ask(client, second + "retrieve", {"mode": "all"}, 400)


@pytest.mark.parametrize("body", [
    {"session_type": "OFFLINE", "dump_dir": "../.."}, {"session_type": "OFFLINE", "dump_dir": "nothing"}, {"session_type": "OFFLINE"},
    {"session_type": "OFFLINE", "dump_dir": "/etc"}, {"session_type": "ONLINE"}, {"session_type": "OFFLINE", "dump_dir": "a\0b"}, {},
])  # fmt: skip
def test_what_is_no_dump_is_refused(client, body):
    assert "error_msg" in ask(client, "", body, 400)
    assert ask(client, "") == {"train_jobs": {}}


def test_damaged_files_are_said_to_be_damaged(client, tmp_path):
    graph = tmp_path / "runs" / "dump" / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb"
    whole, rng = graph.read_bytes(), np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(whole[: rng.integers(1, len(whole) + 1)] if rng.integers(2) else whole)
        for place in rng.integers(0, len(data), rng.integers(0, 4)):
            data[place] = rng.integers(0, 256)
        graph.write_bytes(data)
        reply = client.post(BASE, json={"session_type": "OFFLINE", "dump_dir": "dump"})
        assert reply.status_code in (200, 400), reply.text
        if reply.status_code == 200:
            ask(client, f"/{reply.json()}/retrieve", {"mode": "all"})
            ask(client, f"/{reply.json()}/delete", {})
    graph.write_bytes(whole)
    (file,) = (tmp_path / "runs" / "dump" / "rank_0" / "Net" / "0" / "0").glob("Add*.npy")
    session = opened(client)
    for damaged in (b"", b"\x93NUMPY", file.read_bytes()[:-3]):
        file.write_bytes(damaged)
        assert "cannot be read" in ask(client, session + "tensors", None, 400, name=f"{ADD}:0")["error_msg"]
