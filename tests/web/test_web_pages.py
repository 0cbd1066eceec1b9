"""The pages in a real browser: each loads, shows the right numbers, survives a reload, updates by itself, without errors.

Needs Chromium and Playwright; `make test-web` installs them.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "insight"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import event_writer as w
import sample_profiles
from sample_runs import add_extras, build, media
from web_servers import serving

pytestmark = pytest.mark.web
pytest.importorskip("playwright.sync_api")
PAGES = ["runs", "scalars", "distributions", "images", "tensors", "media", "graph", "dataset", "landscape", "lineage", "tuner", "profiler",
         "explainer", "debugger"]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    build(base)
    add_extras(base)
    media(base)
    sample_profiles.build_pipeline(base / "official")
    return base


@pytest.fixture(scope="module")
def site(base, tmp_path_factory):
    with serving(base, tmp_path_factory.mktemp("work")) as address:
        yield address


def settle(page):
    page.wait_for_selector(".page .bar h1")


@pytest.mark.parametrize("name", PAGES)
def test_every_page_loads_and_survives_a_reload(page, site, name):
    page.goto(f"{site}/#/{name}?run=./one")
    settle(page)
    title = page.inner_text(".page h1")
    assert "This cannot be shown" not in page.inner_text("main")
    page.reload()
    settle(page)
    assert page.inner_text(".page h1") == title


CARD = "[...document.querySelectorAll('.card')].find(card => card.dataset.tag === tag)"


def lines(page, tag):
    """Names, numbers of points and last values of a chart, as drawn."""
    page.wait_for_function(f"tag => {{ const card = {CARD}; return card && card.chart.lines.length > 0; }}", arg=tag)
    return page.evaluate(f"tag => {CARD}.chart.lines.map(line => [line.name, line.values.length, line.values.at(-1)])", tag)


def go(page, address, title):
    """Another page in the same tab."""
    page.goto(address)
    page.wait_for_function("title => (document.querySelector('.page h1') || {}).textContent === title", arg=title)


def test_another_page_is_asked_for_before_the_first_is_there(page, site):
    held = []
    page.route("**/pages/scalars.js", lambda route: held.append(route))
    page.goto(f"{site}/#/scalars", wait_until="commit")
    while not held:
        page.wait_for_timeout(20)
    go(page, f"{site}/#/runs", "Runs")
    held[0].continue_()
    page.wait_for_timeout(200)
    assert page.inner_text(".page h1") == "Runs"


def test_scalars_show_the_right_numbers(page, site):
    page.goto(f"{site}/#/scalars")
    found = {name: (count, last) for name, count, last in lines(page, "loss")}
    assert found["one"][0] == 300 and abs(found["one"][1] - 1 / 300) < 1e-6
    assert found["board"] == (5, 4)


def test_the_state_is_in_the_address(page, site):
    page.goto(f"{site}/#/scalars?runs=one&x=relative&smooth=0.3&logy=1&pin=loss")
    assert [name for name, *_ in lines(page, "loss")] == ["one"]
    assert page.input_value("#run-filter") == "one" and page.inner_text(".group h2").startswith("★")
    options = page.evaluate("document.querySelector('.card[data-tag=loss]').chart.options")
    assert (options["axis"], options["smooth"], options["logY"]) == ("relative", 0.3, True)
    page.fill("#tag-filter", "nothing$")
    page.wait_for_function("() => location.hash.includes('tag=nothing')")


def test_smoothing_and_zooming(page, site):
    page.goto(f"{site}/#/scalars?runs=one")
    lines(page, "loss")
    box = page.locator(".card[data-tag=loss] canvas").bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 220, box["y"] + 104)
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('.card[data-tag=loss]').chart.view !== null")
    page.locator(".card[data-tag=loss] canvas").focus()
    page.keyboard.press("0")
    page.wait_for_function("() => document.querySelector('.card[data-tag=loss]').chart.view === null")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".tip")
    assert "one" in page.inner_text(".tip")


def test_hiding_runs(page, site):
    page.goto(f"{site}/#/scalars?runs=one|two")
    assert len(lines(page, "loss")) == 2
    page.locator(".runs .run").first.click()
    page.wait_for_function("() => document.querySelector('.card[data-tag=loss]').chart.lines.length === 1")
    page.wait_for_function("() => location.hash.includes('off=')")
    page.reload()
    assert len(lines(page, "loss")) == 1


def test_a_run_that_is_written_appears_and_grows(page, site, base):
    page.goto(f"{site}/#/scalars?runs=fresh")
    settle(page)
    path = base / "fresh" / "events.out.tfevents.5.host"
    w.write(path, *(w.event(1.7e9 + i, i, w.board_scalar("loss", i)) for i in range(1, 11)))
    assert lines(page, "loss")[0][1] == 10
    with open(path, "ab") as file:
        file.write(b"".join(w.record(w.event(1.7e9 + i, i, w.board_scalar("loss", i))) for i in range(11, 16)))
    page.wait_for_function("() => document.querySelector('.card[data-tag=loss]').chart.lines.some(line => line.values.length === 15)")


def test_hostile_names_are_only_shown(page, site):
    page.goto(f"{site}/#/scalars?runs=hostile")
    page.wait_for_function("() => [...document.querySelectorAll('.card h3')].some(n => n.textContent.includes('<img'))")
    go(page, f"{site}/#/runs", "Runs")
    assert page.evaluate("window.pwned") is None and page.locator(".page img").count() == 0


def test_graph_unfolds_and_shows_the_source(page, site):
    page.goto(f"{site}/#/graph?run=./one")
    page.wait_for_function("() => document.querySelector('.graph') && document.querySelector('.graph').view.nodes.length >= 2")
    page.fill("#tag-filter", "Add")
    page.get_by_text("Default/Add-op2", exact=True).click()
    page.wait_for_selector("ol.stack")
    assert "/home/me/net.py:12" in page.inner_text("ol.stack")


def test_tensors_images_landscape_profile(page, site):
    page.goto(f"{site}/#/tensors?run=./one")
    page.wait_for_selector("table.cells td")
    assert page.locator("table.cells td").all_inner_texts() == ["1", "2", "3", "NaN", "5", "Infinity"]
    go(page, f"{site}/#/images?run=./one", "Images")
    page.wait_for_function("() => document.querySelector('.picture img') && document.querySelector('.picture img').naturalWidth === 1")
    go(page, f"{site}/#/landscape?run=./one", "Loss landscape")
    page.wait_for_selector(".graph canvas")
    assert "1 to 4" in page.inner_text(".page")
    go(page, f"{site}/#/profiler?run=./one", "Profiler")
    page.wait_for_selector(".advice")
    assert "60% computing, 30% waiting for data" in page.inner_text(".advice") and "conv" in page.inner_text("table.operators")
    assert page.locator("table.flops tbody tr").count() == 2 and "75.0 %" in page.inner_text("table.flops")


def test_texts_sound_and_curves(page, site):
    page.goto(f"{site}/#/media?run=./media")
    page.wait_for_selector("pre.written")
    assert page.locator("pre.written").all_inner_texts() == ["<b>first</b>", "ä"] and page.locator(".page b").count() == 0
    page.wait_for_function("() => [...document.querySelectorAll('audio')].length === 3")
    page.wait_for_selector(".card canvas")
    assert "layout (custom_scalars): a layout of charts" in page.inner_text(".note") and "projector" in page.inner_text(".note")


def test_long_names_keep_their_ends(page, site, base):
    for number in (1, 2):
        run = base / "long" / ("a_name_that_goes_on_and_on_" * 3 + f"seed{number}")
        w.write(run / "events.out.tfevents.1.host", w.event(1.7e9, 1, w.board_scalar("long/" * 20 + f"loss{number}", 1.0)))
    page.goto(f"{site}/#/scalars?runs=seed")
    page.wait_for_function("() => document.querySelectorAll('.runs .run').length === 2")
    for row, number in zip(page.locator(".runs .run").all(), (1, 2)):
        end, row = row.locator(".end").bounding_box(), row.bounding_box()
        assert end["x"] >= row["x"] and end["x"] + end["width"] <= row["x"] + row["width"]
        assert page.locator(".runs .end").all_inner_texts()[number - 1].endswith(f"seed{number}")


def test_what_cannot_be_loaded_says_why(browser, site):
    page = browser.new_page()
    page.route("**/board/points", lambda route: route.fulfill(status=503, json={"error_msg": "The index cannot be used now."}))
    page.goto(f"{site}/#/scalars")
    says = "() => (document.querySelector('.card') || {}).chart?.options.waiting"
    page.wait_for_function(f"() => ({says})() === 'not loaded: The index cannot be used now.'")
    page.close()


def test_ranks_are_compared(page, site):
    page.goto(f"{site}/#/profiler?run=./two")
    page.wait_for_selector(".ranks table.grid")
    assert "profiler/rank_2 computes longer than the others: 16.00 ms a step, the others 6.00 ms" in page.inner_text(".ranks .advice")
    assert page.locator(".ranks tbody tr").count() == 3


def test_profiles_of_official_mindspore(page, site):
    page.goto(f"{site}/#/profiler?run=./official")
    page.wait_for_selector("table.operators tbody tr")
    assert "56% forward and backward pass" in page.inner_text(".page > .advice")
    assert page.locator(".ranks tbody tr").count() == 4 and "profiler, device 3 " in page.inner_text(".ranks .advice")
    assert page.inner_text("table.operators tbody tr:first-child").split("\t")[:2] == ["Conv2D", "5"]
    assert page.locator("table.preparation tbody tr td:first-child").all_inner_texts() == ["GeneratorOp_2", "MapOp_1", "BatchOp_0"]


def test_lineage_explainer_tuner(page, site):
    page.goto(f"{site}/#/lineage")
    page.wait_for_selector("table.grid tbody tr")
    assert "0.9" in page.inner_text("table.grid")
    go(page, f"{site}/#/explainer?run=./one", "Explainer")
    page.wait_for_selector("section.card img")
    assert "GradCAM" in page.inner_text(".page") and "0.75" in page.inner_text(".page")
    go(page, f"{site}/#/tuner", "Tuner")
    page.wait_for_selector("table.grid")
    assert "★" in page.inner_text("table.grid") and "0.2" in page.inner_text(".stats")


def test_notes_are_kept(page, site):
    page.goto(f"{site}/#/runs")
    note = page.get_by_label("note of ./two")
    note.fill("remember this")
    note.press("Enter")
    note.blur()
    page.wait_for_timeout(300)
    page.reload()
    page.wait_for_selector("table.grid input")
    assert page.get_by_label("note of ./two").input_value() == "remember this"


@pytest.mark.parametrize("name", PAGES)
def test_narrow_screens(browser, site, name):
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.goto(f"{site}/#/{name}?run=./one")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 900
    page.close()


def test_keys(page, site):
    page.goto(f"{site}/#/scalars")
    lines(page, "loss")
    dark = page.evaluate("document.documentElement.classList.contains('dark')")
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.classList.contains('dark')") is not dark
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "tag-filter"
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_function("() => location.hash.startsWith('#/runs')")


def test_wrong_addresses_and_patterns_say_so(page, site):
    page.goto(f"{site}/#/scalars?tag=(((")
    settle(page)
    assert "is no regular expression" in page.locator("#tag-filter.wrong").get_attribute("title")
    page.locator("#tag-filter").fill("loss")
    page.wait_for_function("() => !document.querySelector('#tag-filter.wrong')")
    page.goto(f"{site}/#/nonsense")
    page.wait_for_function("() => document.querySelector('main').textContent.includes('There is no page')")


def test_a_run_with_nothing_to_show_names_one_that_has_something(page, site):
    page.goto(f"{site}/#/images?run=./board")
    page.locator(".none").get_by_role("button", name="one", exact=True).click()
    page.wait_for_selector(".picture img")
    page.wait_for_url(lambda address: "run=./one" in address.replace("%2F", "/"))  # it follows a moment later


def test_a_record_that_is_never_finished_is_not_waited_for(page, base, tmp_path):
    (tmp_path / "torn").mkdir()
    whole = w.record(w.event(1.7e9, 1, w.board_scalar("loss", 1.0)))
    (tmp_path / "torn" / "events.out.tfevents.1.host").write_bytes(whole + whole[:-5])
    with serving(tmp_path, tmp_path / "work") as address:
        page.goto(f"{address}/#/scalars")
        page.wait_for_function("() => document.querySelector('.live').title.includes('no whole records yet')")
        assert page.inner_text(".live") == "live"
        page.goto("about:blank")
