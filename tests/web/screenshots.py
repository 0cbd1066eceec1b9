"""Pictures of every page, for the documents.

    python examples/insight/demo.py --out runs --runs 6
    python tests/web/screenshots.py --runs runs --out docs/images/insight

The debugger's picture needs a training: the one of `test_web_debugger.py` is run, up to its first overflow.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "insight"))
import sample_runs
from test_web_debugger import SCRIPT, choose, make_dump, paused_at, press
from web_servers import free_port, serving

from conftest import CHROMIUM, FLAGS

#: file, page with its state, what must be there before the picture is taken; {rich}: the run that has everything
PAGES = [
    ("runs", "runs", "table.grid input"),
    ("scalars", "scalars?smooth=0.6&pin=valid%2Faccuracy", ".card canvas"),
    ("scalars_grouped_dark", "scalars?color=base_rate&smooth=0.6&theme=dark", ".card canvas"),
    ("distributions", "distributions?run={rich}", ".card canvas"),
    ("images", "images?run={rich}", ".picture img"),
    ("tensors", "tensors?run={rich}&as=heat", "canvas"),
    ("graph", "graph?run={rich}", ".graph canvas"),
    ("dataset", "dataset?run={rich}", ".page"),
    ("landscape", "landscape?run={rich}", "canvas"),
    ("landscape_surface", "landscape?run={rich}&as=surface", "canvas"),
    ("lineage", "lineage", "table.grid th"),
    ("tuner", "tuner", ".page h1"),
    ("profiler", "profiler?run={rich}", ".advice"),
    ("explainer", "explainer?run={rich}", "section.card img"),
]
SETTLED = 1500  # milliseconds for canvases to be drawn


def picture(browser, address, ready, path):
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(address)
    page.wait_for_selector(ready, timeout=60_000)
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=path)
    page.close()


def media(browser, out):
    with tempfile.TemporaryDirectory() as runs, tempfile.TemporaryDirectory() as work:
        sample_runs.media(Path(runs))
        with serving(Path(runs), Path(work)) as address:
            picture(browser, f"{address}/#/media", "pre.written", out / "media.png")


def debugger(browser, runs, out):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, serving(runs, Path(folder, "work"), "--enable-debugger", "True", "--debugger-port",
                                                          str(port)) as address:  # fmt: skip
        script = runs.parent / "train.py"
        script.write_text(SCRIPT)
        env = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": "127.0.0.1", "MS_DEBUGGER_PORT": str(port)}
        training = subprocess.Popen([sys.executable, str(script)], env=env)
        page = browser.new_page(viewport={"width": 1280, "height": 960})
        page.goto(f"{address}/#/debugger")
        paused_at(page, 0)
        page.get_by_role("button", name="Add the recommended ones").click()
        page.wait_for_function("() => document.querySelectorAll('ul.points li').length === 5")
        press(page, "Continue")
        paused_at(page, 8)
        choose(page, "Exp-op")
        page.get_by_role("button", name="Against the step before").click()
        page.wait_for_timeout(SETTLED)
        page.screenshot(path=out / "debugger.png")
        training.kill()
        training.wait()
        script.unlink()


def dumped(browser, runs, out):
    dumps = runs.parent / "dumps"
    make_dump(dumps / "dump")
    with tempfile.TemporaryDirectory() as work, serving(dumps, Path(work)) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 960})
        page.goto(f"{address}/#/debugger")
        page.get_by_role("button", name="dump", exact=True).click()
        page.wait_for_selector(".graph canvas")
        page.get_by_role("button", name="Add the recommended ones").click()
        page.wait_for_selector("ul.points:not(.hits) li")
        press(page, "To the next hit")
        page.locator("ul.hits li:has-text('ReLU') button").first.click()
        page.wait_for_timeout(SETTLED)
        page.screenshot(path=out / "debugger_dump.png")
        page.close()
    shutil.rmtree(dumps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    runs, rich = given.runs.resolve(), next(p.parent.name for p in given.runs.glob("*/profiler"))
    wanted = [page for page in PAGES if not given.only or page[0] in given.only]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as work:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with serving(runs, Path(work)) as address:
            for name, place, ready in wanted:
                picture(browser, f"{address}/#/{place.format(rich='./' + rich)}", ready, given.out / f"{name}.png")
        if not given.only or "media" in given.only:
            media(browser, given.out)
        if not given.only or "debugger" in given.only:
            debugger(browser, runs, given.out)
        if not given.only or "debugger_dump" in given.only:
            dumped(browser, runs, given.out)
        browser.close()


if __name__ == "__main__":
    main()
