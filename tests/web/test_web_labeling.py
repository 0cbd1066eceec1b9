"""The labelling page in a real browser: by keyboard alone, over a reload, with boxes drawn by the mouse."""

import numpy as np
import pytest

from mindspore import labeling, nn

pytestmark = pytest.mark.web
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, 60)
PICTURES = np.where(LABELS[:, None, None] == 0, np.tri(12), np.tri(12).T[:, ::-1]).astype(np.float32)
PICTURES = (PICTURES + RNG.random((60, 12, 12)) * 0.3).astype(np.float32)


@pytest.fixture
def page(browser):
    """Questions of these tests are evaluated in the page, which its own policy forbids: it is set aside for them."""
    page = browser.new_page(viewport={"width": 1000, "height": 700}, bypass_csp=True)
    page.set_default_timeout(30_000)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    page.close()
    assert not wrong


@pytest.fixture
def server():
    network = nn.SequentialCell(nn.Flatten(), nn.Dense(144, 16), nn.ReLU(), nn.Dense(16, 2))
    project = labeling.Project(PICTURES[:, None], ["left", "right"], labeling.Learner(network, batch=16))
    server = labeling.LabelServer(project, batch=5, steps=40).start()
    yield server
    server.stop()


def shown(page):
    page.wait_for_function("current && current.item !== null && !busy && !document.getElementById('picture').hidden")
    return page.evaluate("current.item")


def test_labels_by_keyboard(page, server):
    page.goto(server.url)
    asked = []
    for n in range(6):
        item = shown(page)
        asked.append(item)
        page.keyboard.press(str(LABELS[item] + 1))
        page.wait_for_function(f"current.item !== {item}")
        page.wait_for_function(f"document.getElementById('count').textContent.startsWith('{n + 1} of 60')")
    assert {i: server.project.store.get(i).value for i in asked} == {i: LABELS[i] for i in asked}
    page.keyboard.press("u")
    page.wait_for_function(f"current.item === {asked[-1]}")
    assert server.project.store.get(asked[-1]) is None
    page.keyboard.press(str(LABELS[asked[-1]] + 1))
    page.wait_for_function(f"current.item !== {asked[-1]}")
    page.keyboard.press("l")
    page.wait_for_function("document.getElementById('message').textContent.startsWith('learned')")
    page.wait_for_function("current.suggestion")
    item = shown(page)
    assert "?" in page.inner_text("#suggestion")
    page.reload()
    assert shown(page) == item
    page.wait_for_function("current.suggestion")
    page.keyboard.press("Enter")
    page.wait_for_function(f"current.item !== {item}")
    assert server.project.store.get(item).value == server.project.probabilities[item].argmax()


def test_boxes_are_drawn(page):
    photograph = (RNG.random((2, 40, 60, 3)) * 255).astype(np.uint8)
    project = labeling.Project(None, ["cat", "dog"], show=photograph, kind="boxes")
    server = labeling.LabelServer(project).start()
    try:
        page.goto(server.url)
        assert shown(page) == 0
        page.keyboard.press("2")
        frame = page.locator("#picture").bounding_box()
        size = page.evaluate("scale")
        page.mouse.move(frame["x"] + 10 * size, frame["y"] + 5 * size)
        page.mouse.down()
        page.mouse.move(frame["x"] + 30 * size, frame["y"] + 25 * size)
        page.mouse.up()
        page.keyboard.press("Enter")
        page.wait_for_function("current.item === 1")
        (box,) = project.store.get(0).value
        assert box[4] == 1
        np.testing.assert_allclose(box[:4], [10, 5, 20, 20], atol=1.0)
    finally:
        server.stop()


def test_text_that_looks_like_html_is_shown_as_text(page):
    project = labeling.Project(None, ["spam", "ham"], show=["<img src=x onerror=document.title='run'>"], kind="text")
    server = labeling.LabelServer(project).start()
    try:
        page.goto(server.url)
        page.wait_for_function("!document.getElementById('text').hidden")
        assert page.inner_text("#text").startswith("<img") and page.title() == "Labelling"
        page.keyboard.press("1")
        page.wait_for_function("!document.getElementById('empty').hidden")
    finally:
        server.stop()


def test_digits_are_labelled_by_their_own_keys(page):
    project = labeling.Project(PICTURES[:, None], [str(d) for d in range(10)])
    server = labeling.LabelServer(project).start()
    try:
        page.goto(server.url)
        item = shown(page)
        assert page.locator("#classes kbd").all_inner_texts() == [str(d) for d in range(10)]
        page.keyboard.press("5")
        page.wait_for_function(f"current.item !== {item}")
        assert project.classes[project.store.get(item).value] == "5"
    finally:
        server.stop()


def test_a_server_that_is_gone_is_told_and_comes_back(browser, tmp_path):
    texts = ["one", "two", "three"]
    first = labeling.LabelServer(labeling.Project(None, ["a", "b"], show=texts, kind="text", store=str(tmp_path / "labels.db"))).start()
    page = browser.new_page(bypass_csp=True)
    try:
        page.goto(first.url)
        page.wait_for_function("current && !busy && !document.getElementById('text').hidden")
        page.keyboard.press("1")
        page.wait_for_function("document.getElementById('count').textContent.startsWith('1 of 3')")
        port = first.port
        first.stop()
        first.project.store.close()
        page.keyboard.press("2")
        page.wait_for_function("document.getElementById('message').textContent.startsWith('The server does not answer')")
        again = labeling.Project(None, ["a", "b"], show=texts, kind="text", store=str(tmp_path / "labels.db"))
        assert len(again.store.labels()) == 1
        second = labeling.LabelServer(again, port).start()
        page.wait_for_function("!document.body.classList.contains('away')")
        page.keyboard.press("2")
        page.wait_for_function("document.getElementById('count').textContent.startsWith('2 of 3')")
        second.stop()
        assert sorted(label.value for label in again.store.labels()) == [0, 1]
    finally:
        page.close()


def test_a_button_with_the_focus_is_what_enter_means(page, server):
    page.goto(server.url)
    item = shown(page)
    page.locator("#classes button").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"current.item !== {item}")
    assert server.project.store.get(item).value == 1
