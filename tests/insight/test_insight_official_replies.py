"""Replies equal those that official MindInsight 2.3.1 gave for the same files (`official_replies.json`, recorded)."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("starlette")
pytest.importorskip("orjson")
pytest.importorskip("google_crc32c")
pytest.importorskip("httpx")
import shutil

import sample_profiles
from sample_runs import build
from starlette.testclient import TestClient

from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

RECORDED = json.loads((Path(__file__).parent / "official_replies.json").read_text())
#: of profiles, recorded by `record_official_profiles.py`
PROFILES = json.loads((Path(__file__).parent / "official_profile_replies.json").read_text())
#: what is ours to choose (ids are opaque), what official summaries do not carry, and what the recording cut short
OURS = {"stack_info", "id", "wall_time", "mi"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    build(base)
    shutil.rmtree(base / "board")
    app = create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False)
    catch_up(app.state.workspace.folder, backwards=False)
    return TestClient(app, base_url="http://127.0.0.1:8080")


def differences(mine, theirs, path=""):
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if mine.keys() ^ theirs.keys():
            return [f"{path}: {sorted(mine.keys() ^ theirs.keys())}"]
        return [d for key in mine if key not in OURS for d in differences(mine[key], theirs[key], f"{path}/{key}")]
    if isinstance(mine, list) and isinstance(theirs, list):
        cut = path.endswith(("/values", "/metadatas")) and len(theirs) == 3
        if len(mine) != len(theirs) and not (cut and len(mine) > 3):
            return [f"{path}: {len(mine)} items, official {len(theirs)}"]
        return [d for i, (a, b) in enumerate(zip(mine, theirs)) for d in differences(a, b, f"{path}[{i}]")]
    numbers = isinstance(mine, (int, float)) and isinstance(theirs, (int, float)) and not isinstance(mine, bool)
    same = math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=1e-9) if numbers else mine == theirs
    return [] if same else [f"{path}: {mine!r}, official {theirs!r}"]


def name(entry):
    return f"{entry['path']} {json.dumps(entry.get('query') or entry.get('body') or '')}"


@pytest.mark.parametrize("entry", [e for e in RECORDED if e["method"] != "KEYS"], ids=name)
def test_reply(client, entry):
    address = "/v1/mindinsight/" + entry["path"]
    reply = client.get(address, params=entry["query"]) if entry["method"] == "GET" else client.post(address, json=entry["body"])
    mine = reply.json() if reply.status_code == 200 else {"status": reply.status_code, **reply.json()}
    assert differences(mine, entry["reply"]) == []


def test_the_list_of_runs(client):
    (recorded,) = (e["reply"] for e in RECORDED if e["method"] == "KEYS")
    mine = client.get("/v1/mindinsight/datavisual/train-jobs", params={"offset": 0, "limit": 10}).json()
    job = next(j for j in mine["train_jobs"] if j["train_id"] == "./one")
    assert sorted(mine) == recorded["top"] and sorted(job) == recorded["job"] and mine["load_status"] == recorded["load_status"]
    assert {key: job[key] for key in recorded["values"]} == recorded["values"]


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    base = tmp_path_factory.mktemp("profiled")
    sample_profiles.build(base / "trained")
    return TestClient(create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False), base_url="http://127.0.0.1:8080")


@pytest.mark.parametrize("entry", PROFILES, ids=lambda e: f"{name(e)} {json.dumps(e['body'] or '')}")
def test_reply_on_a_profile(profiled, entry):
    address = "/v1/mindinsight/" + entry["path"]
    if entry["method"] == "GET":
        reply = profiled.get(address, params=entry["query"])
    else:
        reply = profiled.post(address, params=entry["query"], json=entry["body"])
    mine = reply.json() if reply.status_code == 200 else {"status": reply.status_code, **reply.json()}
    assert differences(mine, entry["reply"]) == []


DAMAGED = [b"", b"{", b"[]", b"{}", b"null", b"3", b'{"0": 1}', b"a,b\n1\n", b"\xff\xfe", b'[{"name": 3, "ts": "x", "dur": null}]']


@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_files_of_profiles_are_said_to_be(tmp_path, content):
    sample_profiles.build(tmp_path / "trained")
    for file in (tmp_path / "trained" / "profiler").iterdir():
        if not file.name.startswith("profiler_info_0"):
            file.write_bytes(content)
    client = TestClient(create_app(Settings(tmp_path, tmp_path / "work"), workers=False), base_url="http://127.0.0.1:8080")
    for method, path, query, body in sample_profiles.REQUESTS:
        reply = client.request(method, "/v1/mindinsight/" + path, params=query, json=body if method == "POST" else None)
        assert reply.status_code in (200, 400), (path, reply.text)


def test_a_device_is_a_number_and_no_path(profiled):
    for wanted in ("../../secret", "0/../1", "-1", "x"):
        query = {**sample_profiles.DIR, "device_id": wanted}
        assert profiled.get("/v1/mindinsight/profile/memory-summary", params=query).status_code == 400
    timeline = profiled.get("/v1/mindinsight/profile/marey-graph/timeline", params={**sample_profiles.ASCEND, "device_list": "../0"})
    assert timeline.json()["maps"] == {}
