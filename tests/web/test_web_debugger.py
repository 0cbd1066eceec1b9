"""The debugger's page with a training of ours under it: paused, stepped, watched, looked into, ended, all in the browser."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "insight"))
from test_insight_debugger import make as make_dump
from web_servers import free_port, serving

pytestmark = pytest.mark.web
pytest.importorskip("playwright.sync_api")
pytest.importorskip("grpc")
SCRIPT = """\
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4, weight_init="ones", bias_init="zeros")
        self.second = nn.Dense(4, 2, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        hidden = ops.relu(self.first(x))
        y = self.second(hidden)
        return ops.exp(y).sum()


ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.0))
for number in range(40):
    step(Tensor(np.full((1, 3), 1.0 + number, np.float32)))
"""
LINE = 1 + SCRIPT.splitlines().index("        hidden = ops.relu(self.first(x))")


@pytest.fixture
def site(tmp_path):
    port = free_port()
    (tmp_path / "runs").mkdir()
    with serving(tmp_path / "runs", tmp_path / "work", "--enable-debugger", "True", "--debugger-port", str(port)) as address:
        yield address, port


@pytest.fixture
def training(site, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": "127.0.0.1", "MS_DEBUGGER_PORT": str(site[1]),
           "PYTHONPATH": os.pathsep.join(sys.path)}  # fmt: skip
    process = subprocess.Popen([sys.executable, str(script)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    process.kill()
    process.wait()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def paused_at(page, step):
    page.wait_for_function(
        "step => document.querySelector('.bar .step')?.textContent === `step ${step}` && document.querySelector('[data-state=waiting]')",
        arg=step)  # fmt: skip


def choose(page, text):
    """Choose a node by a part of its name."""
    page.evaluate("""text => { const { view } = document.querySelector('.page').session;
        view.reveal(view.holder[view.graph.names.findIndex(name => name.includes(text))]); }""", text)  # fmt: skip


def cells(page, expected):
    page.wait_for_function("expected => [...document.querySelectorAll('table.cells td')].map(c => c.textContent).join() === expected",
                           arg=expected)  # fmt: skip


def test_a_training_in_the_browser(site, training, page):
    page.goto(f"{site[0]}/#/debugger")
    paused_at(page, 0)
    press(page, "Step")
    paused_at(page, 1)
    choose(page, "ReLU-op")
    cells(page, "3,3,3,3")  # x is 1, the filters are ones
    assert page.locator(".statistics tbody td").all_inner_texts()[1:4] == ["3", "3", "3"]

    # graph to code: the line of the chosen node is marked; code to graph: its nodes are
    assert page.locator("ol.lines li.on code").first.inner_text() == "hidden = ops.relu(self.first(x))"
    page.get_by_text("y = self.second(hidden)").click()
    marked = page.evaluate("[...document.querySelector('.page').session.view.marked].map(scope => scope.path)")
    assert marked and all("second" in path for path in marked if "Net/" in path and "ReLU" not in path)

    # to a line, to a node, to the next one
    page.get_by_role("button", name=f"Run to line {LINE}", exact=True).click()
    page.wait_for_function("() => document.querySelector('.page').session.metadata.node_name.includes('first')")
    choose(page, "ReLU-op")
    page.wait_for_selector("button:has-text('Run to node'):not([disabled])")
    press(page, "Run to node")
    page.wait_for_function("() => document.querySelector('.page').session.metadata.node_name.includes('ReLU')")
    cells(page, "6,6,6,6")  # x is 2 in the second step
    before = page.evaluate("document.querySelector('.page').session.metadata.node_name")
    press(page, "Next node")
    page.wait_for_function("before => { const { metadata } = document.querySelector('.page').session; "
                           "return metadata.state === 'waiting' && metadata.node_name !== before; }", arg=before)  # fmt: skip
    press(page, "Step")
    paused_at(page, 2)

    # this step beside the one before
    page.get_by_role("button", name="Against the step before").click()
    cells(page, "3,3,3,3")
    assert page.locator("table.cells td").first.get_attribute("title") == "6 now, 3 before"
    page.get_by_role("button", name="Heat map").click()
    page.wait_for_selector(".tensors .plot canvas")
    page.get_by_role("button", name="Table").click()

    # a watchpoint on the chosen node; recheck finds what is there already; the rest runs to the next hit
    page.get_by_label("Condition").select_option("tensor_too_large")
    page.get_by_label("max_gt").fill("5")
    press(page, "Watch")
    page.wait_for_selector("ul.points li")
    page.wait_for_selector("button:has-text('Recheck'):not([disabled])")
    press(page, "Recheck")
    page.wait_for_selector("ul.hits li")
    assert "ReLU" in page.inner_text("ul.hits") and "is 6" in page.inner_text("ul.hits")
    page.get_by_role("button", name="Delete watchpoint 1").click()
    page.wait_for_function("() => !document.querySelector('ul.points')")
    page.evaluate("document.querySelector('.page').session.view.choose(null)")
    page.get_by_role("button", name="Add the recommended ones").click()
    page.wait_for_function("() => document.querySelectorAll('ul.points:not(.hits) li').length === 4")
    press(page, "Continue")
    page.wait_for_selector("ul.hits li:has-text('overflow')")  # exp(12 x) leaves float32 where x is 8
    paused_at(page, 8)
    page.locator("ul.hits li:has-text('Exp') button").first.click()
    cells(page, "Infinity,Infinity")
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{os.environ['SCREENSHOTS']}/debugger.png")

    page.reload()
    paused_at(page, 8)
    page.wait_for_selector("ul.hits li")
    page.once("dialog", lambda dialog: dialog.accept())
    press(page, "End training")
    page.get_by_text("No training is connected").wait_for()
    output, _ = training.communicate(timeout=60)
    assert "ended by the debugger" in output


def test_keys_and_a_narrow_screen(browser, site, training):
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.set_default_timeout(30_000)
    page.goto(f"{site[0]}/#/debugger")
    paused_at(page, 0)
    page.keyboard.press("s")
    paused_at(page, 1)
    page.keyboard.press("n")
    page.wait_for_function("() => document.querySelector('.page').session.metadata.node_name")
    page.keyboard.press("c")  # nothing is watched: to the end
    page.get_by_text("No training is connected").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 900
    page.close()


def test_a_dump_in_the_browser(tmp_path, page):
    make_dump(tmp_path / "runs" / "dump")
    with serving(tmp_path / "runs", tmp_path / "work") as address:
        page.goto(f"{address}/#/debugger")
        page.get_by_role("button", name="dump", exact=True).click()
        page.wait_for_selector(".graph canvas")
        page.get_by_role("button", name="Add the recommended ones").click()
        page.wait_for_selector("ul.points:not(.hits) li")
        press(page, "To the next hit")
        page.wait_for_selector("ul.hits li:has-text('overflow')")
        assert page.get_by_label("Step", exact=True).input_value() == "6"
        page.locator("ul.hits li:has-text('ReLU') button").first.click()
        cells(page, "NaN,Infinity,0,1")
        page.get_by_label("Step", exact=True).select_option("2")
        cells(page, "1,2,3,4")
        page.get_by_label("Rank").select_option("1")
        page.wait_for_function("() => document.querySelector('select[aria-label=Rank]')?.value === '1'")
        page.wait_for_function("() => location.hash.includes('rank=1')")
        page.reload()
        page.wait_for_selector(".graph canvas")
        page.wait_for_selector("select[aria-label=Rank]")
        assert page.get_by_label("Rank").input_value() == "1"
        press(page, "Close")
        page.wait_for_selector("button.link")
        page.goto("about:blank")  # before the server ends
