"""Writes the site: the guides from their Markdown, the API reference from the docstrings.

    python docs/generate_api.py [folder]

The pages go to docs/_build/html unless a folder is given: a front page, the tutorial and guides, and for the reference a page
per namespace by subject and a page per name.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from reference import guides
from reference.frame import WEB
from reference.html import Site, place
from reference.names import PAGES, entries


def generate(folder: Path) -> dict[str, int]:
    """Write every page; the number of names in each namespace."""
    site = Site({page.name: (page, entries(page)) for page in PAGES}, guides.sections())
    folder.mkdir(parents=True, exist_ok=True)
    for asset in WEB.iterdir():
        shutil.copy(asset, folder)
    for name, text in (("index.js", site.index_script(guides.index())), ("index.html", site.front(guides.example()))):
        (folder / name).write_text(text, encoding="utf-8")
    for page, found in site.pages.values():
        (folder / page.name).mkdir(exist_ok=True)
        (folder / page.name / "index.html").write_text(site.namespace(page, found), encoding="utf-8")
        for entry in found:
            (folder / place(entry)).write_text(site.entry(entry), encoding="utf-8")
    guides.write(folder, site.frame)
    return {name: len(found) for name, (_, found) in site.pages.items()}


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "_build" / "html"
    totals = generate(target)
    print(f"{sum(totals.values())} names of {len(totals)} namespaces: {target}/index.html")
