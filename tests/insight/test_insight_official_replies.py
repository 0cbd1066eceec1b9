"""Replies equal those that official MindInsight 2.3.1 gave for the same files (`official_replies.json`, recorded)."""

import io
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

import sample_explanations
import sample_profiles
from sample_runs import build
from starlette.testclient import TestClient

from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

RECORDED = json.loads((Path(__file__).parent / "official_replies.json").read_text())
#: of profiles and explanations, recorded by `record_official.py`
PROFILES = json.loads((Path(__file__).parent / "official_profile_replies.json").read_text())
EXPLANATIONS = json.loads((Path(__file__).parent / "official_explainer_replies.json").read_text())
#: what is ours to choose (ids are opaque), what official summaries do not carry, and what the recording cut short
OURS = {"stack_info", "id", "wall_time", "mi", "create_time", "update_time"}


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
    sample_profiles.build_pipeline(base / "pipe")
    app = create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False)
    catch_up(app.state.workspace.folder, backwards=False)
    return TestClient(app, base_url="http://127.0.0.1:8080")


@pytest.mark.parametrize("entry", PROFILES, ids=lambda e: f"{name(e)} {json.dumps(e['body'] or '')}")
def test_reply_on_a_profile(profiled, entry):
    address = "/v1/mindinsight/" + entry["path"]
    if entry["method"] == "GET":
        reply = profiled.get(address, params=entry["query"])
    else:
        reply = profiled.post(address, params=entry["query"], json=entry["body"])
    check(reply, entry)


def check(reply, entry):
    mine = reply.json() if reply.status_code == 200 else {"status": reply.status_code, **reply.json()}
    if "error_code" in entry["reply"]:
        assert (mine.get("error_code"), mine["status"]) == (entry["reply"]["error_code"], entry["reply"]["status"])
        assert mine["error_msg"].split(" ")[0] == entry["reply"]["error_msg"].split(" ")[0]  # the details are in our words
    else:
        assert differences(*(_in_order(one) if entry["path"].endswith("msprof_timeline") else one for one in (mine, entry["reply"]))) == []


def _in_order(events):
    """Events of official timelines come in any order."""
    return sorted(events, key=lambda event: json.dumps(event, sort_keys=True))


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    base = tmp_path_factory.mktemp("explained")
    sample_explanations.build(base)
    app = create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False)
    catch_up(app.state.workspace.folder, backwards=False)
    return TestClient(app, base_url="http://127.0.0.1:8080")


@pytest.mark.parametrize("entry", EXPLANATIONS, ids=lambda e: f"{name(e)} {json.dumps(e['body'] or '')}")
def test_reply_on_explanations(explained, entry):
    address = "/v1/mindinsight/" + entry["path"]
    if entry["method"] == "POST":
        check(explained.post(address, json=entry["body"]), entry)
    elif entry["method"] == "GET":
        check(explained.get(address, params=entry["query"]), entry)
    else:
        image = pytest.importorskip("PIL.Image").open(io.BytesIO(explained.get(address, params=entry["query"]).content))
        assert {"mode": image.mode, "size": list(image.size), "pixels": list(image.tobytes())} == entry["reply"]


def test_runs_with_explanations(explained):
    found = explained.get("/v1/mindinsight/explainer/explain-jobs").json()
    kinds = {job["train_id"]: (job["saliency_map"], job["hierarchical_occlusion"]) for job in found["explain_jobs"]}
    assert found["total"] == 2 and kinds == {"./explained": (True, False), "./uncertain": (True, True)}


@pytest.mark.parametrize("wrong", ["1_cat_9.jpg", "9_cat_0.jpg", "1_none_0.jpg", "cat.png", "1_cat_-1.jpg", "../1_cat_0.jpg"])
def test_what_occlusion_leaves_is_asked_for_by_sample_class_and_layer(explained, wrong):
    query = {"train_id": "./explained", "path": wrong, "type": "outcome"}
    assert explained.get("/v1/mindinsight/explainer/image", params=query).status_code == 400


DAMAGED = [b"", b"{", b"[]", b"{}", b"null", b"3", b'{"0": 1}', b"a,b\n1\n", b"\xff\xfe", b'[{"name": 3, "ts": "x", "dur": null}]']


@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_files_of_profiles_are_said_to_be(tmp_path, content):
    sample_profiles.build(tmp_path / "trained")
    sample_profiles.build_pipeline(tmp_path / "pipe")
    for file in tmp_path.rglob("*"):
        if file.is_file() and not file.name.startswith("profiler_info_0"):
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


def test_the_page_shows_official_profiles(profiled):
    """The board's routes: of a run that has nothing but a profile, in numbers of its files."""
    runs = profiled.get("/v1/mindinsight/datavisual/train-jobs").json()["train_jobs"]
    assert {run["train_id"]: (run["profiler_dir"], run["profiler_type"], run["summary_files"]) for run in runs} == {
        "./pipe": ("profiler", "ascend", 0), "./trained": ("profiler", "ascend", 0)}  # fmt: skip
    names = profiled.get("/v1/mindinsight/board/profiles", params={"train_id": "./pipe"}).json()["profiles"]
    assert names == [f"profiler, device {n}" for n in range(4)]
    shown = profiled.get("/v1/mindinsight/board/profile", params={"train_id": "./pipe", "profile": names[1]}).json()
    assert [step["total_ms"] for step in shown["steps"]] == [9.0, 9.0] and shown["mean"]["data_wait_ms"] == 2.5
    assert shown["sentence"] == "A step takes 9.00 ms: 56% forward and backward pass, 28% between steps, 22% update of the weights."
    device = [row for row in shown["operators"] if row["kind"] == "device"]
    assert [(row["name"], row["count"], row["total_us"]) for row in device] == [("Conv2D", 5, 12.5), ("Cast", 2, 3.125)]
    assert "The longest type of operators is Conv2D: 80%" in shown["advice"][-1]
    assert [part["part"] for part in shown["preparation"]["official"]] == ["BatchOp_0", "MapOp_1", "GeneratorOp_2"]
    assert shown["flops_per_second"] == 10e9 and sum(row["flops"] for row in shown["flops"]) == 2e6
    ranks = profiled.get("/v1/mindinsight/board/cluster", params={"train_id": "./pipe"}).json()["ranks"]
    assert [rank["mean"]["data_wait_ms"] for rank in ranks] == [2.0, 2.5, 3.0, 3.5]
    trace = profiled.get("/v1/mindinsight/board/trace", params={"train_id": "./pipe", "profile": names[0]}).json()
    assert len(trace) == 9
    other = profiled.get("/v1/mindinsight/board/profile", params={"train_id": "./trained", "profile": "profiler, device 1"}).json()
    assert [(row[0], row[2] / 2**30) for row in other["memory"]] == [(0, 0.5), (1, 0.75), (2, 1.5)]
    for wrong in ("profiler, device 9", "../trained/profiler, device 0", "profiler, device ../0"):
        assert profiled.get("/v1/mindinsight/board/profile", params={"train_id": "./pipe", "profile": wrong}).status_code == 400


def test_the_page_shows_what_newer_mindspore_exports(tmp_path):
    folder = tmp_path / "runs" / "one" / "host_1_20250101_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    head = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"
    (folder / "step_trace_time.csv").write_text(f"{head}\n" + "".join(f"{n},6000,1000,500,1500,3000,0,0,10\n" for n in (7, 8, 9)))
    kinds = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    rows = "0,MatMul,AI_CORE,4,900.5,200,225.125,300,75\n0,Add,AI_VECTOR_CORE,2,300,100,150,200,25\n"
    (folder / "op_statistic.csv").write_text(f"{kinds}\n{rows}")
    memory = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"
    (folder / "memory_record.csv").write_text(f"{memory}\nMindSpore,1000.5,64,128,64,,NPU:0\nMindSpore,2000.5,96,128,96,,NPU:0\n")
    app = create_app(Settings(tmp_path / "runs", tmp_path / "work"), workers=False)
    catch_up(app.state.workspace.folder, backwards=False)
    client = TestClient(app, base_url="http://127.0.0.1:8080")
    query = {"train_id": "./one"}
    assert client.get("/v1/mindinsight/board/profiles", params=query).json()["profiles"] == ["host_1_20250101_ascend_ms"]
    shown = client.get("/v1/mindinsight/board/profile", params=query).json()
    assert shown["sentence"] == "A step takes 10.00 ms: 60% computing, 30% nothing on the device, 10% communication that nothing covers."
    assert [step["step"] for step in shown["steps"]] == [7, 8, 9] and shown["peak"] == 96 << 20
    assert [(row["name"], row["count"], row["total_us"]) for row in shown["operators"]] == [("MatMul", 4, 900.5), ("Add", 2, 300.0)]
    (rank,) = client.get("/v1/mindinsight/board/cluster", params=query).json()["ranks"]
    assert rank["mean"]["data_wait_ms"] == 3.0
    (folder / "op_statistic.csv").write_text("OP Type,Count\nMatMul,x\n")
    assert client.get("/v1/mindinsight/board/profile", params=query).status_code == 400
