"""Damaged folders: whatever happens to the files of a run, every route answers, with what is left or with an error in words."""

import json
import random
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("starlette")
pytest.importorskip("httpx")
pytest.importorskip("orjson")
pytest.importorskip("google_crc32c")
import sample_explanations
import sample_profiles
from sample_runs import add_extras, build, media
from starlette.testclient import TestClient

from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app, reply
from mindinsight.server.calls import API, routes
from mindinsight.server.workspace import Settings, Workspace

_TAGS = ("loss", "pic", "w", "t", "plane", "words", "beep", "pr")
_ROUNDS = 5


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with runs of every kind."""
    base = tmp_path_factory.mktemp("runs")
    build(base)
    add_extras(base)
    media(base)
    sample_profiles.build(base / "trained")
    sample_profiles.build_pipeline(base / "pipe")
    sample_explanations.build(base)
    return base


def harm(content: bytearray, chance: random.Random) -> None:
    """Flip, cut, repeat or put in some bytes."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(max(1, len(content)))
        kind = chance.choice(("flip", "flip", "cut", "insert", "repeat", "digit"))
        if kind == "flip" and content:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == "cut":
            del content[at : at + chance.choice((1, 9, 1000))]
        elif kind == "insert":
            content[at:at] = chance.choice((b"\0", b"-", b"nan", b"9" * 40, b'"', b"[[", b"\xff\xfe", b",,,\n", b"null"))
        elif kind == "repeat":
            content[at:at] = content[at : at + 30]
        else:
            content[at : at + 3] = b"-1e"


def requests(run: str):
    """One request of every route, on a run, and those that the samples ask."""
    shared = {"train_id": run, "profile": "profiler", "dir": "./profiler", "device_id": "0", "device_type": "ascend", "type": "0"}
    for method, path, _ in routes():
        if method == "PUT" or path.startswith(("/debugger", "/board/note")) or "{" in path:
            continue
        for tag in _TAGS if "tag" in path or path.startswith(("/datavisual", "/board")) else ("loss",):
            query = {**shared, "tag": tag, "step": "5", "kind": "tensor", "plugin_name": "scalar", "detail": "data", "name": "Default"}
            yield method, path, query, {"train_id": run, "tag": tag, "runs": [1, 2, 3]}
    for method, path, query, body in (*sample_profiles.REQUESTS, *sample_explanations.REQUESTS):
        yield method.replace("IMAGE", "GET"), "/" + path, query, body


def test_integers_of_any_length_are_answered():
    answer = reply({"a": [10**40, -(10**400), 5, True], 2**70: {"b": (2**63 - 1, 2**64)}})
    assert json.loads(answer.body) == {"a": [1e40, None, 5, True], str(2.0**70): {"b": [2**63 - 1, 2.0**64]}}


@pytest.mark.parametrize("seed", range(_ROUNDS))
def test_every_route_answers_over_damaged_files(sound, tmp_path, seed):
    chance, base = random.Random(seed), tmp_path / "runs"
    shutil.copytree(sound, base)
    files = sorted(path for path in base.rglob("*") if path.is_file())
    for path in chance.sample(files, len(files) // 2):
        content = bytearray(path.read_bytes())
        harm(content, chance)
        path.write_bytes(content)
    app = create_app(Settings(base, tmp_path / "work"), workers=False)
    catch_up(app.state.workspace.folder, False)
    client = TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
    run = chance.choice([one.name for one in app.state.workspace.store.runs()])
    wrong = []
    for method, path, query, body in requests(run):
        reply = client.request(method, API + path, params=query, json=body if method == "POST" else None)
        if reply.status_code >= 500:
            wrong.append((method, path, query, body, reply.text[:200]))
        elif reply.status_code >= 400:
            assert reply.json()["error_msg"], path
    assert not wrong, wrong[:3]


def test_a_full_disk_under_the_index_is_told(tmp_path, monkeypatch):
    build(tmp_path / "runs")
    workspace = Workspace(Settings(tmp_path / "runs", tmp_path / "work"))
    workspace.folder.compare()
    assert workspace.trouble() == ""
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=1000))
    assert "disk of the index is full" in workspace.trouble() and str(tmp_path / "work") in workspace.trouble()
    catch_up(workspace.folder, backwards=False)
    assert workspace.trouble() == ""  # there is nothing more to read
