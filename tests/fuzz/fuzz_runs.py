"""Damaged files below MindInsight's folder of runs: event files, lineages, explanations, profiles, studies. Every question of a page is
answered or refused, never by a fault of the server.

Half of the damage to event files is within records whose checksums are right: what a broken or hostile writer would write, not a bad disk.
"""

from __future__ import annotations

import functools
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_files import damaged
from starlette.testclient import TestClient

from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "insight"))
import event_writer
import sample_explanations
import sample_profiles
import sample_runs

API = "/v1/mindinsight/"
ANSWERS = (200, 400, 404, 410, 413, 422)
HEAD = 12  # bytes of a record before its data, 4 behind it


@functools.cache
def _files() -> dict[str, bytes]:
    """The files of runs with everything that pages show."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        sample_runs.build(base)
        sample_runs.add_extras(base)
        sample_explanations.build(base)
        sample_profiles.build(base / "trained")
        sample_profiles.build_pipeline(base / "pipe")
        return {str(path.relative_to(base)): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}


def _within_a_record(rng: np.random.Generator, data: bytes) -> bytes:
    """The file with one record whose data are damaged and whose checksums are right; short ones are damaged as often as long ones."""
    places, at = [], 0
    while at + HEAD < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        places.append((at, length))
        at += HEAD + length + 4
    kinds = sorted({length for _, length in places})
    wanted = kinds[int(rng.integers(len(kinds)))]
    at, length = next(place for place in places if place[1] == wanted)
    other = event_writer.record(damaged(rng, data[at + HEAD : at + HEAD + length])[: 1 << 16])
    return data[:at] + other + data[at + HEAD + length + 4 :]


def _ask(client: TestClient, method: str, path: str, query: dict[str, Any], body: Any = None) -> Any:
    reply = client.request(method, API + path, params=query, json=body)
    assert reply.status_code in ANSWERS, f"{method} {path} {query} {body}: {reply.status_code} {reply.text[:500]}"
    return reply.json() if reply.headers["content-type"] == "application/json" and reply.status_code == 200 else {}


def _ask_of(client: TestClient, run: str) -> None:
    """What the pages ask of a run."""
    named = {"train_id": run}
    plugins = _ask(client, "GET", "datavisual/plugins", named).get("plugins", {})
    for path in ("datavisual/scalar/metadata", "datavisual/image/metadata", "datavisual/histograms"):
        for tag in plugins.get(path.split("/")[1].rstrip("s"), [])[:4]:
            _ask(client, "GET", path, {**named, "tag": tag})
    for tag in plugins.get("tensor", [])[:4]:
        for detail in ("data", "stats", "histogram"):
            _ask(client, "GET", "datavisual/tensors", {**named, "tag": tag, "detail": detail, "step": 5, "dims": "[:, :]"})
    for tag in plugins.get("graph", [])[:2]:
        _ask(client, "GET", "datavisual/graphs/nodes", {**named, "tag": tag, "type": "name_scope", "name": ""})
        _ask(client, "GET", "datavisual/graphs/nodes/names", {**named, "tag": tag, "search": "a", "offset": 0, "limit": 9})
        _ask(client, "GET", "datavisual/graphs/nodes/all", {**named, "tag": tag})
        _ask(client, "GET", "board/graph", {**named, "tag": tag})
        for number in range(6):
            _ask(client, "GET", "board/graph/node", {**named, "tag": tag, "number": number})
    for kind in ("image", "histogram", "tensor", "graph", "landscape", "explain"):
        _ask(client, "GET", "board/things", {**named, "kind": kind})
    for path in ("datasets/dataset_graph", "datavisual/landscape/intervals", "datavisual/landscape/landscapes",
                 "explainer/explain-job", "explainer/evaluation", "board/files", "board/profiles", "board/cluster"):  # fmt: skip
        _ask(client, "GET", path, {**named, "type": "final"})
    for profile in _ask(client, "GET", "board/profiles", named).get("profiles", []):
        _ask(client, "GET", "board/profile", {**named, "profile": profile})
    for path in ("explainer/saliency", "explainer/hoc"):
        for sample in _ask(client, "POST", path, {}, named).get("samples", []):
            assert client.get(sample["image"]).status_code in ANSWERS
            shown = [one for i in sample["inferences"] for one in [*i["saliency_maps"], *i["hoc_layers"]]]
            addresses = [one.get("overlay") or one.get("outcome", "") for one in shown]
            assert all(client.get(address).status_code in ANSWERS for address in addresses if address.startswith(API))


def case(rng: np.random.Generator, scratch: str) -> None:
    files = _files()
    names = list(files)
    chosen = names[int(rng.integers(len(names)))]
    if rng.integers(2):  # event files are few among the tables of profiles
        events = [name for name in names if "summary" in name or "tfevents" in name]
        chosen = events[int(rng.integers(len(events)))]
    is_framed = "summary" in chosen or "tfevents" in chosen
    content = _within_a_record(rng, files[chosen]) if is_framed and rng.integers(2) else damaged(rng, files[chosen])
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        base = Path(folder, "runs")
        run = chosen.split("/")[0]
        for name, data in files.items():  # the run it belongs to
            if name.split("/")[0] == run:
                path = base / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if name == chosen else data)
        app = create_app(Settings(base, Path(folder, "work")), workers=False)
        catch_up(app.state.workspace.folder, backwards=False)
        client = TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
        try:
            for path in ("board/state", "board/runs", "datavisual/train-jobs", "explainer/explain-jobs", "board/studies", "board/dumps"):
                _ask(client, "GET", path, {})
            known = [found["id"] for found in _ask(client, "GET", "board/runs", {})["runs"]]
            for found in _ask(client, "GET", "board/tags", {})["tags"][:4]:
                _ask(client, "POST", "board/points", {}, {"tag": found["tag"], "runs": known})
                _ask(client, "GET", "board/csv", {"tag": found["tag"]})
            for body in ({}, {"sorted_name": "loss", "sorted_type": "descending"}):
                _ask(client, "POST", "lineagemgr/lineages", {}, body)
            _ask(client, "POST", "optimizer/targets/search", {}, {})
            _ask_of(client, f"./{run}")
            for method, path, query, body in sample_profiles.REQUESTS if "profiler" in chosen else ():
                _ask(client, method, path, query, body)
        finally:
            app.state.workspace.store.close()
