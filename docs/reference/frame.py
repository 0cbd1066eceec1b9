"""What every page has around its words: the head with the search, all pages on the left, the page's own headings on the right."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

WEB = Path(__file__).parent / "web"
#: names of languages after ``` on the pages, and what they are called by the highlighter
LANGUAGES = {"python": "python", "py": "python", "sh": "bash", "bash": "bash", "session": "pycon", "json": "json", "c": "c"}
_HEADING = re.compile(r"<h([23])(?: id=\"([^\"]*)\")?>(.*?)</h\1>", re.S)


def esc(text: Any) -> str:
    return html.escape(str(text), quote=False)


def code(text: str, language: str = "python", kind: str = "code") -> str:
    """A block of code in colours; of a language that is not known, as it is."""
    known = LANGUAGES.get(language)
    inside = highlight(text, get_lexer_by_name(known), HtmlFormatter(nowrap=True)).rstrip("\n") if known else esc(text.rstrip("\n"))
    return f'<div class="{kind}"><pre><code>{inside}</code></pre></div>'


def printed(text: str) -> str:
    """What a block of code prints."""
    return f'<pre class="out"><code>{esc(text.rstrip())}</code></pre>'


def slug(heading: str) -> str:
    """The anchor of a heading, as readers of Markdown make it."""
    words = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


@dataclass(frozen=True)
class Section:
    """Pages that stand together in the list on the left: titles, and places from the root of the site."""

    title: str
    links: tuple[tuple[str, str], ...]


class Frame:
    def __init__(self, sections: Iterable[Section]):
        self.sections = tuple(sections)

    def document(self, title: str, place: str, body: Iterable[str]) -> str:
        """The page at a place; its second and third headings get anchors."""
        root = "../" * place.count("/")
        words, headings = anchored("\n".join(body))
        full = title if title.startswith("MindSpore") else f"{title} · MindSpore"
        return "\n".join([
            "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">', f"<title>{esc(full)}</title>",
            '<link rel="icon" href="data:,">', f'<link rel="stylesheet" href="{root}style.css">', f'<script src="{root}site.js"></script>',
            "</head>", f'<body data-root="{root}">', '<a class="jump" href="#words">To the words</a>', _head(root), '<div class="columns">',
            self._pages(root, place), _words(words, headings), "</div>", "</body>", "</html>", "",
        ])  # fmt: skip

    def _pages(self, root: str, place: str) -> str:
        """All pages. The section of this one is open; a page of the reference marks its namespace."""
        own = {place, f"{place.rpartition('/')[0]}/index.html"}
        lines = ['<nav class="pages" aria-label="Pages">']
        for section in self.sections:
            current = place if any(where == place for _, where in section.links) else next((w for _, w in section.links if w in own), "")
            opened = " open" if current or (place == "index.html" and section is not self.sections[-1]) else ""
            lines.append(f"<details{opened}><summary>{esc(section.title)}</summary><ul>")
            for title, where in section.links:
                mark = ' aria-current="page"' if where == current else ""
                lines.append(f'<li><a href="{root}{where}"{mark}>{esc(title).replace(".", ".<wbr>")}</a></li>')
            lines.append("</ul></details>")
        return "\n".join([*lines, "</nav>"])


def anchored(body: str) -> tuple[str, list[tuple[str, str]]]:
    """The page with anchors at its headings; (anchor, heading) of the second ones."""
    seen: dict[str, int] = {}
    headings = []

    def mark(match: re.Match) -> str:
        level, anchor, words = match[1], match[2] or slug(match[3]), match[3]
        count = seen[anchor] = seen.get(anchor, 0) + 1
        anchor += f"-{count - 1}" if count > 1 else ""
        if level == "2":
            headings.append((anchor, words))
        return f'<h{level} id="{anchor}">{words}<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>'

    return _HEADING.sub(mark, body), headings


def _head(root: str) -> str:
    areas = (("Learn", "tutorial/index.html"), ("Coming from PyTorch", "from_pytorch.html"), ("Reference", "index.html#reference"))
    return "\n".join([
        "<header>", '<button id="menu" type="button" aria-label="Pages">☰</button>',
        f'<a class="home" href="{root}index.html">MindSpore</a>',
        *(f'<a class="areas" href="{root}{where}">{title}</a>' for title, where in areas),
        '<div class="find"><input id="search" type="search" placeholder="Search names and pages  ( / )" aria-label="Search" '
        'autocomplete="off"><div id="found"></div></div>',
        '<button id="theme" type="button" aria-label="Light or dark" title="Light or dark">◐</button>', "</header>",
    ])  # fmt: skip


def _words(words: str, headings: list[tuple[str, str]]) -> str:
    """The page itself, and beside it a list of its headings where it has several."""
    if len(headings) < 2:
        return f'<main id="words" class="alone">\n{words}\n</main>'
    links = [f'<li><a href="#{anchor}">{heading}</a></li>' for anchor, heading in headings]
    here = f'<nav class="here" aria-label="On this page"><p>On this page</p><ul>{"".join(links)}</ul></nav>'
    return f'<main id="words">\n{words}\n</main>\n{here}'
