"""A project from the first question to the files, in both modes; and its page over HTTP."""

import csv
import http.client
import io
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import labeling, nn

RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, 3, 240)
ITEMS = (np.eye(3)[LABELS] @ (RNG.standard_normal((3, 8)) * 3) + RNG.standard_normal((240, 8))).astype(np.float32)


@pytest.fixture(autouse=True)
def same_weights():
    """Networks begin alike, whatever ran before in this process."""
    ms.set_seed(0)


def network():
    return nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))


def project(**settings):
    return labeling.Project(ITEMS, ["red", "green", "blue"], labeling.Learner(network(), batch=32), kind="table", **settings)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_few_answers_teach_the_rest(mode):
    ms.set_context(mode=mode)
    work = project()
    for _ in range(2):
        for item in work.ask(6):
            work.answer(item, int(LABELS[item]))
        work.learn(80)
    assert len(work.known()[0]) == 12
    assert (work.probabilities.argmax(1) == LABELS).mean() > 0.95
    guess = work.suggest(100)
    assert guess.value == work.probabilities[100].argmax() and 0 < guess.confidence <= 1
    said = work.known()[0]
    sure = np.setdiff1d(np.flatnonzero(work.probabilities.max(1) >= 0.6), said)
    assert work.accept(0.6) == len(sure) > 10
    assert [label.item for label in work.store.labels("model")] == sure.tolist() and len(work.store.labels("human")) == 12


def test_mistakes_among_given_labels_are_found():
    planted = np.random.default_rng(4).choice(240, 8, replace=False)
    wrong = LABELS.copy()
    wrong[planted] = (wrong[planted] + 1) % 3
    found = project().mistakes(wrong, folds=2, steps=80)
    assert len(set(found.items[:12]) & set(planted)) >= 7


def test_training_again_starts_from_the_beginning():
    learner = labeling.Learner(network(), seed=5)
    before = [p.asnumpy().copy() for p in learner.network.trainable_params()]
    learner.fit(ITEMS, LABELS, steps=5)
    assert any((a != p.asnumpy()).any() for a, p in zip(before, learner.network.trainable_params()))
    learner.restart()
    assert all((a == p.asnumpy()).all() for a, p in zip(before, learner.network.trainable_params()))


def test_wrong_use_is_told():
    work = project()
    for call, error, words in (
        (lambda: work.answer(999, 0), IndexError, "240 items"),
        (lambda: work.answer(0, 3), ValueError, "red, green, blue"),
        (lambda: work.answer(0, "pink"), ValueError, "pink"),
        (lambda: work.answer(0, True), ValueError, "True"),
        (lambda: work.learn(), ValueError, "two classes"),
        (lambda: work.ask(1, "best"), ValueError, "one of"),
        (lambda: work.accept(), RuntimeError, "learn"),
        (lambda: labeling.Project(None, ["a"]), ValueError, "needs"),
        (lambda: labeling.Project(ITEMS, ["a", "a"]), ValueError, "different"),
        (lambda: labeling.Project(ITEMS, ["a"], show=["x"]), ValueError, "240 and 1"),
        (lambda: labeling.Project(ITEMS, ["a", "b"]).learn(), TypeError, "no network"),
        (lambda: labeling.Learner(network()).fit(ITEMS, LABELS + 1), ValueError, "3 classes"),
        (lambda: labeling.Learner(nn.ReLU()).predict(ITEMS), TypeError, "Dense"),
    ):
        with pytest.raises(error, match=words):
            call()
    assert len(work.store) == 0


def test_files_hold_what_was_said(tmp_path):
    work = project()
    for item in (5, 2, 9):
        work.answer(item, int(LABELS[item]))
    work.answer(4, None)  # cannot tell
    assert labeling.to_csv(work, tmp_path / "labels.csv") == 3
    rows = list(csv.DictReader(io.StringIO((tmp_path / "labels.csv").read_text())))
    assert [(int(r["item"]), r["label"]) for r in rows] == [(i, work.classes[LABELS[i]]) for i in (2, 5, 9)]
    path = str(tmp_path / "labels.mindrecord")
    assert labeling.to_mindrecord(work, path) == 3
    read = {int(r["item"]): r for r in ds.MindDataset(path).create_dict_iterator(output_numpy=True, num_epochs=1)}
    assert sorted(read) == [2, 5, 9]
    for item, row in read.items():
        assert int(row["label"]) == LABELS[item]
        np.testing.assert_array_equal(row["data"].reshape(-1), ITEMS[item])


def test_boxes_go_to_coco(tmp_path):
    pictures = np.zeros((3, 20, 30), np.uint8)
    guess = labeling.Suggestion([[1.0, 2.0, 3.0, 4.0, 1]], 0.5)
    work = labeling.Project(None, ["cat", "dog"], show=pictures, kind="boxes", suggest=lambda item: guess)
    work.answer(1, [(1, 2, 3, 4, "dog"), [0, 0, 5, 5, 0]])
    work.answer(2, [])
    assert work.suggest(0).value == guess.value
    assert labeling.to_coco(work, tmp_path / "boxes.json") == 2
    read = json.loads((tmp_path / "boxes.json").read_text())
    assert [(a["image_id"], a["category_id"], a["bbox"]) for a in read["annotations"]] == [(1, 2, [1, 2, 3, 4]), (1, 1, [0, 0, 5, 5])]
    assert [(i["id"], i["height"], i["width"]) for i in read["images"]] == [(1, 20, 30), (2, 20, 30)]
    for bad in ([(1, 2, 3)], [(0, 0, -1, 1, 0)], [(0, 0, 1, float("nan"), 0)], [(0, 0, 1, 1, "cow")]):
        with pytest.raises(ValueError, match=r"box|classes"):
            work.answer(0, bad)


@pytest.fixture
def page():
    server = labeling.LabelServer(project(), steps=30).start()
    yield server
    server.stop()


def ask(server, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    content = body if body is None or isinstance(body, bytes) else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, content, headers)
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, json.loads(data) if reply.getheader("Content-Type") == "application/json" else data


def test_the_page_asks_and_writes_answers_down(page):
    assert ask(page, "/")[1].startswith(b"<!doctype html>")
    first = ask(page, "/api/next")[1]["item"]
    status, state = ask(page, "/api/answer", {"item": first, "value": 2})
    assert status == 200 and state["labelled"] == 1 and state["counts"] == [0, 0, 1]
    second = ask(page, "/api/next")[1]["item"]
    assert second != first and page.project.store.get(first).value == 2
    assert ask(page, "/api/undo", {})[1] == {"item": first}
    assert ask(page, "/api/next")[1]["item"] == first
    for item in (0, 1, 2, 3, 4, 5):
        ask(page, "/api/answer", {"item": item, "value": int(LABELS[item])})
    assert ask(page, "/api/learn", {})[0] == 200
    page._training.join()
    assert ask(page, "/api/state")[1]["message"].startswith("learned")
    assert ask(page, "/api/next")[1]["suggestion"]["value"] in (0, 1, 2)


def test_the_page_is_for_this_machines_browser_alone(page):
    assert ask(page, "/api/state", Host="evil.example")[0] == 403
    assert ask(page, "/api/answer", {"item": 0, "value": 1}, Origin="http://evil.example")[0] == 403
    assert ask(page, "/api/answer", {"item": 0, "value": 1}, Origin=f"http://127.0.0.1:{page.port}")[0] == 200
    assert ask(page, "/../store.py")[0] == 404 and ask(page, "/item/999.png")[0] == 404
    for body in (b"{", b"[]", b"[" * 100000, {"item": "0"}, {"item": 0, "value": 9}, {"item": -1, "value": 0}):
        assert ask(page, "/api/answer", body)[0] == 400
    assert ask(page, "/api/answer", b"{}", **{"Content-Length": str(1 << 40)})[0] == 413
    assert [label.item for label in page.project.store.labels()] == [0]


def test_the_example_learns_from_answers(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples" / "labeling" / "label_mnist.py"
    work = runpy.run_path(str(example))["digits"](60, tmp_path / "digits.db")
    for item in work.ask(12):
        work.answer(item, item % 10)
    work.learn(3)
    assert work.probabilities.shape == (60, 10) and work.show[0].shape == (28, 28)
