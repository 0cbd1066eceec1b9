"""What TensorBoard's writers keep besides numbers and images: shown as it is, or named with the reason why not."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("starlette")
pytest.importorskip("httpx")
pytest.importorskip("orjson")
pytest.importorskip("google_crc32c")
import event_writer as w
from sample_runs import WAV, media
from starlette.testclient import TestClient

from mindinsight.index.worker import catch_up
from mindinsight.server.app import create_app
from mindinsight.server.workspace import Settings


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    media(base)
    flat = w.board_tensor("flat", "pr_curves", [3], [1.0, 0.5, 0.0])
    w.write(base / "damaged" / "events.out.tfevents.1.host", w.event(1.7e9, 7, flat))
    app = create_app(Settings(base, tmp_path_factory.mktemp("work")), workers=False)
    catch_up(app.state.workspace.folder, False)
    return TestClient(app, base_url="http://127.0.0.1:8080")


def ask(client, path, status=200, **query):
    reply = client.get(f"/v1/mindinsight/board/{path}", params={"train_id": "./media", **query})
    assert reply.status_code == status, reply.text
    return reply


def tags(client, kind):
    return sorted(ask(client, "things", kind=kind).json()["tags"])


def test_each_value_is_of_the_kind_that_its_plugin_says(client):
    found = {kind: tags(client, kind) for kind in ("text", "audio", "curve", "tensor", "unshown")}
    assert found == {"text": ["words"], "audio": ["beep", "no sound", "old beep"], "curve": ["pr"], "tensor": ["points"],
                     "unshown": ["layout", "own"]}  # fmt: skip


def test_texts_are_given_as_they_were_written(client):
    assert ask(client, "text", tag="words", step=7).json() == {"texts": ["<b>first</b>", "ä"]}


@pytest.mark.parametrize("tag", ["beep", "old beep"])
def test_sound_is_given_as_it_was_encoded(client, tag):
    reply = ask(client, "audio", tag=tag, step=7)
    assert reply.content == WAV and reply.headers["content-type"] == "audio/wav"


def test_a_page_that_calls_itself_sound_is_not_served_as_a_page(client):
    assert ask(client, "audio", tag="no sound", step=7).headers["content-type"] == "application/octet-stream"


def test_curves_go_from_low_recall_to_high(client):
    assert ask(client, "curve", tag="pr", step=7).json() == {"recall": [0.0, 0.5, 1.0], "precision": [1.0, 0.75, 0.25]}


def test_a_curve_that_is_none_is_said_to_be_damaged(client):
    assert "no curve" in ask(client, "curve", 422, train_id="./damaged", tag="flat", step=7).json()["error_msg"]


def test_what_has_no_page_is_named_with_the_reason(client):
    rows = {row["tag"]: row for row in ask(client, "unshown").json()["unshown"]}
    assert {tag: row["plugin"] for tag, row in rows.items()} == {
        "layout": "custom_scalars", "own": "somebodys", "projector_config.pbtxt": "projector"}  # fmt: skip
    assert "'somebodys'" in rows["own"]["reason"]


@pytest.mark.parametrize("query", [{"tag": "none", "step": 7}, {"tag": "words", "step": 8}, {"tag": "words"}, {"step": 7}])
def test_what_is_not_there_is_said(client, query):
    assert ask(client, "text", 400, **query).json()["error_msg"]
