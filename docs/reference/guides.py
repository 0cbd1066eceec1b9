"""The pages written by hand (Markdown) as HTML beside the reference: tutorial, guides, concepts."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from reference.html import document, esc

DOCS = Path(__file__).resolve().parents[1]
#: the front page: (title, pages); a page's title is its first heading
SHELVES = (
    ("Learn", ("quick_start.md", "tutorial/README.md", "from_pytorch.md", "model_zoo.md", "labeling.md")),
    (
        "Use",
        ("running.md", "files.md", "debugging.md", "performance.md", "tuning.md", "parallel.md", "launching.md", "kernels.md",
         "torch_api_map.md"),
    ),
    ("Understand", ("architecture.md", "federated_security.md", "fuzzing.md")),
)


@dataclass(frozen=True)
class Guide:
    source: Path

    @property
    def place(self) -> str:
        """Where its page is, from the root of the site."""
        path = self.source.relative_to(DOCS).with_suffix(".html")
        return path.with_name("index.html").as_posix() if path.stem == "README" else path.as_posix()

    @property
    def title(self) -> str:
        return self.source.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")

    def page(self) -> str:
        root = "../" * self.place.count("/")
        body = MarkdownIt("commonmark").enable("table").render(self.source.read_text(encoding="utf-8"))
        return document(self.title, root, [re.sub(r'href="([^"#:]+\.md)(#[^"]*)?"', self._link, body), self._neighbours()])

    def _neighbours(self) -> str:
        """Links to the lessons before and after, in a folder of numbered pages."""
        lessons = sorted(self.source.parent.glob("[0-9]*.md"))
        if self.source not in lessons:
            return ""
        number = lessons.index(self.source)
        near = [Guide(lessons[n]) for n in (number - 1, number + 1) if 0 <= n < len(lessons)]
        links = [f'<a href="{Path(g.place).name}">{esc(g.title)}</a>' for g in near]
        return f"<p><a href=\"index.html\">All lessons</a> · {' · '.join(links)}</p>"

    def _link(self, match: re.Match) -> str:
        """Links between pages; one out of the site (to a README of the sources) shows its path."""
        target = (self.source.parent / match.group(1)).resolve()
        if DOCS not in target.parents or not target.exists():
            return f'title="{esc(os.path.relpath(target, DOCS.parent))}"'
        here = Path(self.place).parent
        return f'href="{os.path.relpath(Guide(target).place, here)}{match.group(2) or ""}"'


def guides() -> list[Guide]:
    """All pages, those of the reference's own folder left out."""
    return [Guide(path) for path in sorted(DOCS.rglob("*.md")) if "reference" not in path.parts and "_build" not in path.parts]


def shelves() -> list[str]:
    """The front page's lists."""
    body = []
    for title, pages in SHELVES:
        found = [Guide(DOCS / page) for page in pages]
        body += [f"<h2>{title}</h2>", "<ul>", *(f'<li><a href="{g.place}">{esc(g.title)}</a></li>' for g in found), "</ul>"]
    return body


def write(folder: Path) -> int:
    """Write every page and the pictures; how many pages."""
    for guide in guides():
        (folder / guide.place).parent.mkdir(parents=True, exist_ok=True)
        (folder / guide.place).write_text(guide.page(), encoding="utf-8")
    shutil.copytree(DOCS / "images", folder / "images", dirs_exist_ok=True)
    return len(guides())
