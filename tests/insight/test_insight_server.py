"""The server: official routes and replies, what it refuses, what it survives."""

import os
import sqlite3
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import event_writer as w
from sample_runs import PNG, add_extras, build

pytest.importorskip("starlette")
pytest.importorskip("orjson")
pytest.importorskip("google_crc32c")
pytest.importorskip("httpx")
from starlette.testclient import TestClient

from mindinsight.index.folder import Folder
from mindinsight.index.store import IndexFault, Store
from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

API = "/v1/mindinsight/"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    build(base)
    return base


@pytest.fixture(scope="module")
def client(base, tmp_path_factory):
    settings = Settings(base, tmp_path_factory.mktemp("work"))
    app = create_app(settings, workers=False)
    catch_up(app.state.workspace.folder, backwards=False)
    return TestClient(app, base_url="http://127.0.0.1:8080")


def ask(client, path, **query):
    reply = client.get(API + path, params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()


# ---------------------------------------------------------------------------------------------------------------------
# Official replies


def test_runs_and_plugins(client):
    jobs = ask(client, "datavisual/train-jobs", offset=0, limit=10)
    assert (jobs["total"], jobs["load_status"]) == (3, "loaded")
    job = next(j for j in jobs["train_jobs"] if j["train_id"] == "./one")
    assert {"relative_path", "create_time", "update_time", "cache_status", "summary_files", "lineage_files", "plugins"} <= set(job)
    plugins = ask(client, "datavisual/plugins", train_id="./one")["plugins"]
    assert plugins == job["plugins"] and plugins["scalar"] == ["loss/scalar"] and plugins["image"] == ["pic/image"]
    assert plugins["loss_landscape"] == ["plane/loss_landscape"] and len(plugins["graph"]) == 1


def test_scalars_of_both_dialects(client):
    points = ask(client, "datavisual/scalar/metadata", train_id="./one", tag="loss")["metadatas"]
    assert [p["step"] for p in points] == list(range(1, 301)) and points[3] == {"wall_time": 1.7e9 + 4, "step": 4, "value": 0.25}
    both = ask(client, "datavisual/scalars", train_id=["./one", "./board", "./none"], tag="loss")["scalars"]
    assert [s["train_id"] for s in both] == ["./one", "./board"] and [p["value"] for p in both[1]["values"]] == [0, 1, 2, 3, 4]


def test_images_histograms_tensors(client):
    assert ask(client, "datavisual/image/metadata", train_id="./one", tag="pic")["metadatas"] == [
        {"wall_time": 1.7e9, "step": 5, "width": 1, "height": 1}
    ]
    image = client.get(API + "datavisual/image/single-image", params={"train_id": "./one", "tag": "pic", "step": 5})
    assert image.content == PNG and image.headers["content-type"] == "image/png"
    (histogram,) = ask(client, "datavisual/histograms", train_id="./one", tag="w")["histograms"]
    assert [b[2] for b in histogram["buckets"]] == [4, 6] or sum(b[2] for b in histogram["buckets"]) >= 10
    (tensor,) = ask(client, "datavisual/tensors", train_id="./one", tag="t", detail="data", step=5, dims="[:, 0:2]")["tensors"]
    value = tensor["values"][0]["value"]
    assert value["data"] == [[1.0, 2.0], ["NAN", 5.0]] and value["dims"] == [2, 3] and value["data_type"] == "DT_FLOAT32"
    assert value["statistics"]["nan_count"] == 1 and value["statistics"]["overall_max"] == 5.0


def test_landscape(client):
    (interval,) = ask(client, "datavisual/landscape/intervals", train_id="./one")["intervals"]
    assert interval["value"] == [1, 3]
    (found,) = ask(client, "datavisual/landscape/landscapes", train_id="./one", type="interval", interval_id=interval["id"])["landscapes"]
    assert found["points"]["z"] == [[1, 2], [3, 4]] and found["metadata"]["step_per_epoch"] == 7
    assert found["metadata"]["network"] == "LeNet" and found["path"]["intervals"] == [1, 3]


def test_graph(client):
    top = ask(client, "datavisual/graphs/nodes", train_id="./one")["nodes"]
    assert [n["name"] for n in top if n["type"] == "name_scope"] == ["Default"]
    inner = {n["name"]: n for n in ask(client, "datavisual/graphs/nodes", train_id="./one", name="Default")["nodes"]}
    add = inner["Default/Add-op2"]
    assert set(add["input"]) == {"Default/net/ReLU-op1", "Default/c1"} and add["stack_info"][0]["line_no"] == 12
    assert add["input"]["Default/net/ReLU-op1"]["shape"] == [[2, 3]]
    found = ask(client, "datavisual/graphs/nodes/names", train_id="./one", search="relu")["nodes"]
    assert found[0]["nodes"][0]["nodes"][0]["name"] == "Default/net/ReLU-op1"
    path = ask(client, "datavisual/graphs/single-node", train_id="./one", name="Default/net/ReLU-op1")
    assert path["children"]["scope_name"] == "Default" and path["children"]["children"]["scope_name"] == "Default/net"
    compact = ask(client, "board/graph", train_id="./one")
    assert compact["types"] == ["ReLU", "Add", "Parameter", "Const"] and compact["inputs"][:2] == [[2], [0, 3]]


def test_lineage(client):
    reply = client.post(API + "lineagemgr/lineages", json={"sorted_name": "metric/accuracy", "sorted_type": "descending"}).json()
    assert reply["count"] == 2 and [o["summary_dir"] for o in reply["object"]] == ["./one", "./two"]
    model = reply["object"][0]["model_lineage"]
    assert model["optimizer"] == "Adam" and model["metric"] == {"accuracy": 0.9} and model["user_defined"] == {"note": "first"}
    assert reply["customized"]["metric/accuracy"] == {"label": "metric/accuracy", "required": True, "type": "float"}
    assert client.post(API + "lineagemgr/lineages", json={"metric/accuracy": {"gt": 0.5}}).json()["count"] == 1
    assert client.post(API + "lineagemgr/lineages", json={"nonsense": {"gt": 0.5}}).status_code == 400
    targets = client.post(API + "optimizer/targets/search", json={}).json()["targets"]
    assert {t["name"] for t in targets} == {"[M]accuracy", "loss"} and targets[0]["hyper_parameters"][0]["reason_code"] == 2
    put = client.put(API + "lineagemgr/lineages", params={"train_id": "./one"}, json={"remark": "good", "tag": 2})
    assert put.json() == {"status": "success"}
    again = client.post(API + "lineagemgr/lineages", json={}).json()["object"]
    assert next(o for o in again if o["summary_dir"] == "./one")["added_info"] == {"remark": "good", "tag": 2}


WRONG_SEARCHES = [{"limit": "a"}, {"offset": True}, {"lineage_type": "dataset"}, [], {"tag": {"eq": 1}}, {"loss": {"lt": "a"}}]


@pytest.mark.parametrize("condition", WRONG_SEARCHES)
def test_searches_that_make_no_sense_have_the_official_number(client, condition):
    reply = client.post(API + "lineagemgr/lineages", json=condition)
    assert (reply.status_code, reply.json()["error_code"]) == (400, "50542218")


@pytest.mark.parametrize("note", [{"tag": 11}, {"tag": "a"}, {"remark": "x" * 129}, {"other": 1}])
def test_notes_that_are_none_have_the_official_number(client, note):
    reply = client.put(API + "lineagemgr/lineages", params={"train_id": "./one"}, json=note)
    assert (reply.status_code, reply.json()["error_code"]) == (400, "50542081")


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("datavisual/plugins", {}, "50540003"),
        ("datavisual/plugins", {"train_id": "./none"}, "50545005"),
        ("datavisual/plugins", {"train_id": "./one", "manual_update": "maybe"}, "50540002"),
        ("datavisual/plugins", {"train_id": "./a\0b"}, "50545011"),
        ("datavisual/train-jobs", {"limit": 1000}, "50540002"),
        ("datavisual/train-jobs", {"offset": "x"}, "50540001"),
        ("datavisual/image/single-image", {"train_id": "./one", "tag": "pic", "step": "x"}, "50540001"),
        ("datavisual/image/single-image", {"train_id": "./one", "tag": "pic", "step": 99}, "5054500D"),
        ("datavisual/scalar/metadata", {"train_id": "./one", "tag": "none"}, "5054500E"),
        ("datavisual/tensors", {"train_id": "./one", "tag": "t", "detail": "data", "step": 5, "dims": "[0, 0, 0]"}, "50540002"),
        ("datavisual/graphs/nodes", {"train_id": "./one", "name": "none"}, "50545009"),
        ("datavisual/graphs/nodes", {"train_id": "./board"}, "5054500C"),
        ("datavisual/single-job", {"train_id": "./one", "plugin_name": "none"}, "5054500B"),
    ],
)
def test_errors_have_official_numbers(client, path, query, code):
    reply = client.get(API + path, params=query)
    assert reply.status_code == 400 and reply.json()["error_code"] == code and reply.json()["error_msg"]


def test_a_training_that_was_resumed_replaces_what_it_did_again(tmp_path):
    base = tmp_path / "runs"
    for file, steps in ((1, range(1, 11)), (2, range(6, 13))):
        lines = [w.event(1.7e9, s, w.board_scalar("t", 100 * file + s), w.image("p", PNG)) for s in steps]
        w.write(base / "a" / f"events.out.tfevents.{file}.h", *lines)
    one = folder(base, tmp_path / "index.db")
    catch_up(one, False)
    run = one.store.runs()[0].id
    ((_, points),) = one.store.points("t", [run])
    assert points.values.tolist() == [101, 102, 103, 104, 105, 206, 207, 208, 209, 210, 211, 212]
    assert [thing.step for thing in one.store.things(run, 1, "p")] == list(range(1, 13))


# ---------------------------------------------------------------------------------------------------------------------
# The pages' own routes


def test_points_are_thinned_but_keep_their_extremes(client, base):
    values = np.sin(np.arange(20_000) / 50)
    values[7777] = 99.0
    path = base / "long" / "events.out.tfevents.2.host"
    w_lines = [w.event(1.7e9 + i, i, w.board_scalar("wave", v)) for i, v in enumerate(values[:3000])]
    w_lines[1500] = w.event(1.7e9 + 1500, 1500, w.board_scalar("wave", 99.0))
    w.write(path, *w_lines)
    run = ask(client, "datavisual/plugins", train_id="./long")["plugins"]
    assert run["scalar"] == ["wave/scalar"]
    number = next(r["id"] for r in ask(client, "board/runs")["runs"] if r["name"] == "./long")
    data = client.post(API + "board/points", json={"tag": "wave", "runs": [number], "most": 200}).content
    length = struct.unpack_from("<I", data)[0]
    count = int(data[4 : 4 + length].decode().split("[[")[1].split(",")[1])
    steps = np.frombuffer(data, "<f8", count, 4 + length)
    shown = np.frombuffer(data, "<f4", count, 4 + length + 12 * count)
    assert count <= 200 and shown.max() == 99.0 and steps[0] == 0 and steps[-1] == 2999
    text = client.get(API + "board/csv", params={"tag": "wave", "runs": str(number)}).text.splitlines()
    assert len(text) == 3001 and text[1501].startswith("./long,wave,1500,") and text[1501].endswith(",99")


def test_notes(client):
    assert client.post(API + "board/note", json={"run": "./two", "note": "<b>x</b>", "labels": "a"}).status_code == 200
    assert next(r for r in ask(client, "board/runs")["runs"] if r["name"] == "./two")["note"] == "<b>x</b>"


# ---------------------------------------------------------------------------------------------------------------------
# Who may ask


def test_hosts_that_are_not_ours_are_refused(client):
    assert client.get(API + "board/state", headers={"Host": "evil.example:8080"}).status_code == 403
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert client.get(API + "board/state", headers={"Host": "localhost:9"}).status_code == 200


def test_other_sites_may_not_change_anything(client):
    body = {"run": "./one", "note": "x", "labels": ""}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert client.post(API + "board/note", json=body, headers=headers).status_code == 403
    assert client.post(API + "board/note", json=body, headers={"Origin": "http://127.0.0.1:8080"}).status_code == 200


def test_a_token_is_wanted_elsewhere(base, tmp_path):
    app = create_app(Settings(base, tmp_path, host="0.0.0.0", token="secret"), workers=False)
    guarded = TestClient(app, base_url="http://machine:8080")
    assert guarded.get(API + "board/state").status_code == 401
    assert guarded.get(API + "board/state", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get(API + "board/state", headers={"Authorization": "Bearer secret"}).status_code == 200
    assert guarded.get("/?token=secret").status_code == 200
    assert guarded.get(API + "board/state").status_code == 200  # the cookie


@pytest.mark.parametrize("name", ["../", "./../..", "./one/../../x", "/etc", "./one/../../../etc/passwd", "~"])
def test_paths_stay_inside(client, name):
    for path in ("datavisual/plugins", "board/profiles", "explainer/explain-job", "board/files"):
        assert client.get(API + path, params={"train_id": name}).status_code == 400
    for path in ("../../../../etc/passwd", "/etc/passwd", "%2e%2e/one"):
        reply = client.get(API + "explainer/image", params={"train_id": "./one", "path": path, "type": "original"})
        assert reply.status_code == 400 and b"root" not in reply.content
    assert client.get("/static/..%2f..%2f__init__.py").status_code == 404


def test_pages_run_no_foreign_script(client):
    reply = client.get("/")
    assert "script-src 'self'" in reply.headers["content-security-policy"] and reply.headers["x-content-type-options"] == "nosniff"
    assert client.get("/static/js/app.js").status_code == 200
    assert client.post(API + "board/points", content=b"x" * (5 << 20)).status_code == 413
    assert client.get(API + "nothing").json()["error_code"] == "50545001"
    assert client.delete(API + "board/runs").json()["error_code"] == "50545002"


def test_hostile_tags_are_only_text(base, client):
    tags = ["<script>alert(1)</script>", "../../etc/passwd", "a\0b", "=1+1", "\u202egnp", "x" * 5000, "'; DROP TABLE run; --"]
    w.write(base / "hostile" / "events.out.tfevents.3.host", *(w.event(1.7e9, i, w.board_scalar(tag, i)) for i, tag in enumerate(tags)))
    found = ask(client, "datavisual/plugins", train_id="./hostile")["plugins"]["scalar"]
    assert len(found) == len(tags)
    for tag in found:
        assert ask(client, "datavisual/scalar/metadata", train_id="./hostile", tag=tag)["metadatas"]
    assert "'=1+1" in client.get(API + "board/csv", params={"tag": "=1+1"}).text


def test_an_image_that_is_a_page_is_not_served_as_one(base, client):
    page = b"<html><script>alert(1)</script>"
    w.write(base / "page" / "events.out.tfevents.4.host", w.event(1.7e9, 1, w.image("p", page)))
    reply = client.get(API + "datavisual/image/single-image", params={"train_id": "./page", "tag": "p", "step": 1})
    assert reply.headers["content-type"] == "application/octet-stream"


# ---------------------------------------------------------------------------------------------------------------------
# The index


def folder(base, path):
    return Folder(base, Store(path))


def counts(store):
    return {(s.run, s.tag): s.points for s in store.series()}


def test_growing_shrinking_and_vanishing_files(tmp_path):
    base, path = tmp_path / "runs", tmp_path / "runs" / "a" / "events.out.tfevents.1.h"
    lines = [w.event(1.7e9 + i, i, w.board_scalar("t", i)) for i in range(1, 51)]
    w.write(path, *lines[:20])
    one = folder(base, tmp_path / "index.db")
    catch_up(one, False)
    assert list(counts(one.store).values()) == [20]
    with open(path, "ab") as file:  # cut in the middle of a record
        more = b"".join(w.record(line) for line in lines[20:40])
        file.write(more[:-7])
    catch_up(one, False)
    assert list(counts(one.store).values()) == [39]
    with open(path, "ab") as file:
        file.write(more[-7:])
    catch_up(one, False)
    (points,) = (c for _, c in one.store.points("t", [one.store.runs()[0].id]))
    assert points.steps.tolist() == list(range(1, 41)) and points.values.tolist() == list(range(1, 41))
    w.write(path, *lines[:5])  # written anew, shorter
    catch_up(one, False)
    assert list(counts(one.store).values()) == [5]
    path.unlink()
    catch_up(one, False)
    assert counts(one.store) == {} and one.store.runs() == []


def test_damage_is_shown(tmp_path, client, base):
    data = b"".join(w.record(w.event(1.7e9, i, w.board_scalar("t", i))) for i in range(1, 30))
    (base / "broken").mkdir()
    (base / "broken" / "events.out.tfevents.1.h").write_bytes(data[:200] + b"\xff" + data[201:])
    ask(client, "datavisual/plugins", train_id="./broken")
    shown = next(r for r in ask(client, "board/runs")["runs"] if r["name"] == "./broken")
    assert "1 damaged record passed over" in shown["damage"]


def test_two_readers_store_each_point_once(tmp_path):
    base = tmp_path / "runs"
    for run in range(12):
        w.write(base / f"r{run}" / "events.out.tfevents.1.h", *(w.event(1.7e9 + i, i, w.board_scalar("t", i)) for i in range(1, 40)))
    first, second = folder(base, tmp_path / "index.db"), folder(base, tmp_path / "index.db")
    wanted = first.compare()
    stale = [(first.store.file(*key), key) for key in wanted]
    second.index(wanted)
    assert all(file.position == 0 for file, _ in stale)
    first.store.extend([])
    work = []
    for file, (run, name) in stale:  # what the first has read meanwhile comes too late
        handle = os.open(first.path(run, name), os.O_RDONLY)
        first._read(handle, file, work)
        os.close(handle)
    first.store.extend(work)
    assert set(counts(first.store).values()) == {39} and len(counts(first.store)) == 12


def test_killed_while_indexing_nothing_is_lost_or_doubled(tmp_path):
    base, index = tmp_path / "runs", tmp_path / "index.db"
    for run in range(60):
        w.write(base / f"r{run}" / "events.out.tfevents.1.h", *(w.event(1.7e9 + i, i, w.board_scalar("t", i)) for i in range(1, 60)))
    command = [sys.executable, "-m", "mindinsight.index.worker", str(base), str(index), "second", "0"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for wait in (0.25, 0.35, 0.45):
        process = subprocess.Popen(command, env=environment)
        time.sleep(wait)
        process.kill()
        process.wait()
    one = folder(base, index)
    catch_up(one, False)
    assert len(counts(one.store)) == 60 and set(counts(one.store).values()) == {59}


def test_a_full_disk_is_said_and_survived(tmp_path):
    base = tmp_path / "runs"
    w.write(base / "a" / "events.out.tfevents.1.h", *(w.event(1.7e9 + i, i, w.board_scalar("t", i)) for i in range(1, 400)))
    one = folder(base, tmp_path / "index.db")
    pages = one.store._connection.execute("PRAGMA page_count").fetchone()[0]
    one.store._connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        catch_up(one, False)
    one.store._connection.execute("PRAGMA max_page_count=1000000")
    catch_up(one, False)
    assert set(counts(one.store).values()) == {399}


def test_a_damaged_index_says_what_to_do(tmp_path):
    path = tmp_path / "index.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(IndexFault, match="delete it"):
        Store(path)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """A server whose runs have profiles."""
    base = tmp_path_factory.mktemp("profiled")
    build(base)
    add_extras(base)
    app = create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False)
    with TestClient(app, base_url="http://127.0.0.1:8080") as client:
        yield client


def test_ranks_and_operations_of_profiles(profiled):
    def ask(path, run, body=None):
        address = f"/v1/mindinsight/{path}?train_id={run}"
        reply = profiled.get(address) if body is None else profiled.post(address, json=body)
        assert reply.status_code == 200, reply.text
        return reply.json()

    (words,) = ask("board/cluster", "./two")["advice"]
    assert "rank_2 computes longer" in words and ask("profile/summary/cluster-propose", "./two")["cluster"] == [words]
    assert [row["step_trace_info"][1] for row in ask("profile/cluster-step-trace-summary", "./two", {})["info"]] == [6, 6, 16]
    assert [rank["rank_id"] for rank in ask("profile/cluster-peak-memory", "./two")] == [0, 1, 2]
    steps = ask("profile/marey-graph/overview-time", "./two")["device2"]
    assert steps[-1]["step_num"] == "-" and steps[0]["fp_and_bp"] == 1600000 and steps[1]["start_point"] == steps[0]["end_point"]
    assert ask("board/cluster", "./one")["advice"] == []
    assert ask("profile/flops-summary", "./one")["FLOPs"] == 80 and ask("profile/flops-summary", "./one")["FLOPS"] == 400
    links = {(link["source"], link["target"]): link["value"] for link in ask("profile/flops-scope", "./one")["links"]}
    assert links == {("step", "step/conv"): 0.003, ("step", "step/fc"): 0.001}
    found = ask("board/profile", "./one")["preparation"]
    assert [row["task_us"] for row in found["parts"]] == [100, 10000] and found["queue"] == [[1, 0], [2, 3]]
    assert "Training waits for data: the slowest part of the data pipeline, Decode" in found["advice"][0]
    assert "every 10.00 ms; nothing was ready in 50% of the requests" in found["advice"][0]


def test_steps_and_data_of_profiles_by_official_routes(profiled):
    def ask(path, expected=200, **query):
        address, query = f"/v1/mindinsight/profile/{path}", {"dir": "./one/profiler"} | query
        reply = profiled.post(address, params=query, json={}) if path.endswith("op-queue") else profiled.get(address, params=query)
        assert reply.status_code == expected, reply.text
        return reply.json()

    found = ask("training-trace/graph", type=0)
    assert found["training_trace_graph"][1] == [{"name": "iteration_interval", "start": 0, "duration": 3},
                                                {"name": "fp_and_bp", "start": 3, "duration": 6},
                                                {"name": "tail", "start": 9, "duration": 1}]  # fmt: skip
    assert found["summary"]["fp_and_bp_percent"] == "60.00%" and found["summary"]["total_steps"] == 20
    assert ask("training-trace/target-time-info", type="tail")["info"] == {"tail": [1] * 20}
    assert ask("timeline-summary")["op_exe_times"] == 40
    assert ask("queue_info", type="get_next") == {"size": 2, "info": {"queue": [0, 3]}, "summary": {"queue_summary": {"empty_queue": 1}}}
    assert ask("minddata_op", type="get_next")["summary"] == {"time_summary": {"avg_cost": "3.0"}}
    assert ask("process_summary")["get_next_queue_info"] == {"summary": {"empty_batch_count": 1, "total_batch": 2}}
    assert [row[:2] for row in ask("minddata-pipeline/op-queue")["object"]] == [[0, "Decode"], [1, "source: Images"]]
    assert ask("minddata-pipeline/queue", op_id=1)["parent_op"] == {"op_id": 0, "op_type": "Decode", "num_workers": 2}
    for path, query in [("training-trace/graph", {"type": 21}), ("training-trace/target-time-info", {"type": "x"}),
                        ("timeline-summary", {"dir": "../.."}), ("minddata-pipeline/queue", {"op_id": 7})]:  # fmt: skip
        ask(path, 400, **query)


def test_boxes_that_are_enough_for_a_class(profiled):
    ask = lambda body: profiled.post("/v1/mindinsight/explainer/hoc", json={"train_id": "./one", **body})
    catch_up(profiled.app.state.workspace.folder, False)
    (sample,) = ask({}).json()["samples"]
    (inference,) = sample["inferences"]
    (layer,) = inference["hoc_layers"]
    assert inference["label"] == "cat" and (layer["confidence"], layer["boxes"]) == (0.5, [[1, 2, 30, 40]])
    assert ask({"labels": ["dog"]}).json()["count"] == 0
    assert ask({"drop_empty": "yes"}).status_code == 400
