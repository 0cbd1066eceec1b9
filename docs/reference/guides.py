"""The pages written by hand (Markdown) as HTML beside the reference: tutorial, guides, concepts, and the READMEs of the parts."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reference.frame import Frame, Section, anchored, code, esc, printed

DOCS = Path(__file__).resolve().parents[1]
PARTS = ("mindinsight", "mindspore_lite", "mindspore_serving", "mindspore_federated")
#: the front page: (title, pages); a page's title is its first heading
SHELVES = (
    ("Learn", ("quick_start.md", "tutorial/README.md", "from_pytorch.md", "model_zoo.md", "labeling.md")),
    (
        "Use",
        ("running.md", "files.md", "debugging.md", "performance.md", "tuning.md", "parallel.md", "launching.md", "kernels.md",
         "torch_api_map.md"),
    ),
    ("Around it", tuple(f"../src/{part}/README.md" for part in PARTS)),
    ("Understand", ("architecture.md", "federated_security.md", "fuzzing.md")),
)  # fmt: skip


@dataclass(frozen=True)
class Guide:
    source: Path

    @property
    def place(self) -> str:
        """Where its page is, from the root of the site."""
        if DOCS not in self.source.parents:
            return f"parts/{self.source.parent.name}.html"
        path = self.source.relative_to(DOCS).with_suffix(".html")
        return path.with_name("index.html").as_posix() if path.stem == "README" else path.as_posix()

    @property
    def title(self) -> str:
        return self.source.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")

    def words(self) -> str:
        """The page itself."""
        markdown = MarkdownIt("commonmark").enable("table")
        markdown.add_render_rule("fence", _fence)
        body = markdown.render(self.source.read_text(encoding="utf-8"))
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return re.sub(r'(href|src)="([^"#:]+\.(?:md|png|svg))(#[^"]*)?"', self._link, body)

    def page(self, frame: Frame) -> str:
        return frame.document(self.title, self.place, [self.words(), self._neighbours()])

    def _neighbours(self) -> str:
        """Links to the lessons before and after."""
        found = lessons()
        if self not in found:
            return ""
        number = found.index(self)
        near = ((number - 1, "Before"), (number + 1, "Next"))
        links = [
            f'<a href="{Path(found[n].place).name}"><small>{word}</small>{esc(found[n].title)}</a>'
            for n, word in near
            if 0 <= n < len(found)
        ]
        return f'<div class="steps">{"".join(links)}</div>'

    def _link(self, match: re.Match) -> str:
        """A link to another page or a picture; one out of the site (to a README of the sources) shows its path."""
        target = (self.source.parent / match[2]).resolve()
        here = Path(self.place).parent
        if DOCS / "images" in target.parents:
            return f'{match[1]}="{os.path.relpath(target.relative_to(DOCS), here)}"'
        if Guide(target) not in guides():
            return f'title="{esc(os.path.relpath(target, DOCS.parent))}"'
        return f'{match[1]}="{os.path.relpath(Guide(target).place, here)}{match[3] or ""}"'


def _fence(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    """A block after ```; a block of text right after one of code is what that prints."""
    block = tokens[index]
    after_code = index > 0 and tokens[index - 1].type == "fence" and tokens[index - 1].info in ("python", "py")
    return printed(block.content) if block.info == "text" and after_code else code(block.content, block.info)


def guides() -> list[Guide]:
    """All pages, those of the reference's own folder left out."""
    own = [path for path in sorted(DOCS.rglob("*.md")) if "reference" not in path.parts and "_build" not in path.parts]
    parts = [DOCS / page for _, pages in SHELVES for page in pages if page.startswith("../")]
    return [Guide(path.resolve()) for path in own + parts]


def lessons() -> list[Guide]:
    return [Guide(path) for path in sorted((DOCS / "tutorial").glob("[0-9]*.md"))]


def sections() -> list[Section]:
    """The list on the left: the shelves, with the lessons after the first."""
    shelves = [Section(title, tuple((g.title, g.place) for g in shelved(pages))) for title, pages in SHELVES]
    return [shelves[0], Section("Lessons", tuple((g.title, g.place) for g in lessons())), *shelves[1:]]


def shelved(pages: Sequence[str]) -> list[Guide]:
    return [Guide((DOCS / page).resolve()) for page in pages]


def index() -> list[tuple[str, str, str]]:
    """What the search finds of the pages: (title, place, what it is)."""
    found = []
    for guide in guides():
        found.append((guide.title, guide.place, "page"))
        for anchor, heading in anchored(guide.words())[1]:
            found.append((re.sub(r"<[^>]*>", "", heading), f"{guide.place}#{anchor}", guide.title))
    return found


def example() -> str:
    """The first block of Python of the README, for the front page."""
    found = re.search(r"^```python\n(.*?)^```$", (DOCS.parent / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert found, "the README has an example"
    return code(found[1])


def write(folder: Path, frame: Frame) -> None:
    """Write every page and the pictures."""
    for guide in guides():
        (folder / guide.place).parent.mkdir(parents=True, exist_ok=True)
        (folder / guide.place).write_text(guide.page(frame), encoding="utf-8")
    shutil.copytree(DOCS / "images", folder / "images", dirs_exist_ok=True)
