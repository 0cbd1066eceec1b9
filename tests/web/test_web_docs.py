"""The site of `make docs` in a real browser: search by keyboard, light and dark, narrow windows, copying code."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.web
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, str(ROOT / "docs" / "generate_api.py"), str(folder)], check=True, capture_output=True, timeout=300)
    return folder


def shade(page):
    """How light the page's ground is, 0 to 255."""
    return int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0]"))


def test_search_by_keyboard(page, site):
    page.goto((site / "tutorial" / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("conv2d")
    page.wait_for_selector("#found a")
    assert "nn.Conv2d" in page.locator("#found a").first.inner_text()
    page.keyboard.press("ArrowDown")
    second = page.locator("#found a").nth(1).get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url("**" + second.removeprefix(".."))
    assert page.locator("nav.pages details[open] [aria-current]").count() == 1
    page.fill("#search", "network cutting")
    page.wait_for_selector("#found a")
    page.keyboard.press("Escape")
    assert not page.locator("#found a").count()
    page.fill("#search", "no such thing at all")
    page.wait_for_selector("#found p")


def test_the_theme_stays(page, site):
    page.emulate_media(color_scheme="light")
    page.goto((site / "quick_start.html").as_uri())
    assert shade(page) > 200
    page.click("#theme")
    assert shade(page) < 60
    page.goto((site / "ops" / "conv2d.html").as_uri())
    assert shade(page) < 60


def test_narrow_windows_have_a_menu_and_nothing_sticks_out(page, site):
    page.set_viewport_size({"width": 420, "height": 800})
    for place in ("index.html", "tutorial/03_gradients.html", "ops/conv2d.html", "torch_api_map.html"):
        page.goto((site / place).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 420, place
        assert not page.locator("nav.pages").is_visible()
    page.click("#menu")
    assert page.locator("nav.pages").is_visible()


def test_code_is_copied_without_prompts(page, site):
    page.add_init_script("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    page.goto((site / "ops" / "lerp.html").as_uri())
    page.locator(".code", has_text=">>>").hover()
    page.locator(".code button").click()
    page.wait_for_function("window.copied")
    copied = page.evaluate("window.copied")
    assert "ops.lerp(" in copied
    assert ">>>" not in copied and "12.5]" not in copied.splitlines()[-1]
