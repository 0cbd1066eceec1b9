"""Pages of the reference as HTML: an index, a page per namespace by subject, and a page per name."""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Iterable
from typing import Any

from reference import errors
from reference.names import Entry, Page, split_sections

STYLE = """
:root { --ink: #1f2328; --soft: #59636e; --line: #d8dee4; --paper: #fff; --shade: #f6f8fa; --link: #0b61a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --paper: #0d1117; --shade: #161b22; --link: #6cb6ff; }
}
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
header { border-bottom: 1px solid var(--line); background: var(--shade); padding: .6rem 1.2rem; display: flex; gap: 1rem;
  align-items: center; flex-wrap: wrap; }
header input { flex: 1; max-width: 26rem; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--paper); color: var(--ink); font: inherit; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
pre, code { font: .9em/1.5 ui-monospace, monospace; background: var(--shade); border-radius: 6px; }
code { padding: .1em .3em; } pre { padding: .7rem 1rem; overflow-x: auto; } pre code { padding: 0; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } .soft { color: var(--soft); } .out { color: var(--soft); }
#found { position: absolute; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; z-index: 1;
  max-height: 70vh; overflow-y: auto; box-shadow: 0 4px 16px #0003; } #found:empty { display: none; }
#found a { display: block; padding: .25rem .8rem; } #found a:focus, #found a:hover { background: var(--shade); }
"""

SCRIPT = """
const box = document.getElementById("search"), found = document.getElementById("found");
const root = document.body.dataset.root;
function rank(name, wanted) {
  const last = name.split(".").pop();
  return last === wanted ? 0 : last.startsWith(wanted) ? 1 : last.includes(wanted) ? 2 : name.includes(wanted) ? 3 : 9;
}
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  const hits = wanted ? NAMES.map(([name, page]) => [rank(name.toLowerCase(), wanted), name, page]) : [];
  found.replaceChildren(...hits.filter(h => h[0] < 9).sort((a, b) => a[0] - b[0] || a[1].length - b[1].length)
    .slice(0, 30).map(([, name, page]) => Object.assign(document.createElement("a"), {href: root + page, textContent: name})));
});
box.addEventListener("keydown", e => { if (e.key === "Enter" && found.firstChild) location = found.firstChild.href; });
"""


class Site:
    """All entries, and where each has its page."""

    def __init__(self, pages: dict[str, tuple[Page, list[Entry]]]):
        self.pages = pages
        self.places: dict[str, str] = {}
        self.by_last_word: dict[str, list[Entry]] = {}
        for page, entries in pages.values():
            for entry in entries:
                for name in (entry.name, *entry.aliases):
                    self.places.setdefault(f"{page.path}.{name}", place(entry))
                    self.by_last_word.setdefault(name.lower(), []).append(entry)

    def search_script(self) -> str:
        names = sorted((name.removeprefix("mindspore."), where) for name, where in self.places.items())
        return f"const NAMES = {json.dumps(names, separators=(',', ':'))};\n{SCRIPT}"

    def index(self, shelves: Iterable[str] = ()) -> str:
        """The front page: the guides' lists, then the namespaces."""
        rows = [
            f'<tr><td><a href="{page.name}/index.html">{esc(page.title)}</a></td><td>{esc(page.about)}</td>'
            f'<td class="soft">{len(entries)}</td></tr>'
            for page, entries in self.pages.values()
        ]
        body = [
            "<h1>MindSpore, rebuilt in Python</h1>",
            "<p>A framework for deep learning with two modes of one meaning: eager while you write, compiled to native code when you "
            "run. Around it: data pipelines, a model zoo, a dashboard, a server, a runtime for small devices, federated learning.</p>",
            *shelves,
            '<h2 id="reference">API reference</h2>',
            "<p>Every public name, with its arguments and an example that is run as a test.</p>",
            "<p>An argument of a wrong type raises a TypeError; a value or shape that cannot be, a ValueError. The message names "
            "the operation, the argument, what was given and what is allowed.</p>",
        ]
        body += [table(("namespace", "what it holds", "names"), rows)]
        return document("MindSpore, rebuilt in Python", "", body)

    def namespace(self, page: Page, entries: list[Entry]) -> str:
        subjects = by_subject(entries)
        body = [f"<h1>{esc(page.path)}</h1>", f"<p>{esc(page.about)} {len(entries)} names.</p>"]
        for subject in sorted(subjects, key=lambda s: (-len(subjects[s]), s)):
            body.append(f"<h2>{inline(subject)}</h2>")
            rows = [
                f'<tr><td><a href="../{place(e)}"><code>{esc(e.name)}</code></a></td><td>{inline(e.summary)}</td></tr>'
                for e in subjects[subject]
            ]
            body.append(table(("name", ""), rows))
        return document(page.path, "../", body)

    def entry(self, entry: Entry) -> str:
        page = entry.page
        kind = "class " if isinstance(entry.target, type) else "property " if isinstance(entry.target, property) else ""
        body = [
            f'<p class="soft"><a href="../index.html">Reference</a> › <a href="index.html">{esc(page.title)}</a></p>',
            f"<h1>{esc(entry.full_name)}</h1>",
            f"<pre><code>{kind}{esc(entry.short_name)}{esc(wrapped(entry.signature))}</code></pre>",
        ]
        if entry.call:
            body.append(f"<p>Its objects are called with <code>{esc(entry.call)}</code>.</p>")
        if entry.aliases:
            body.append("<p>Also called " + ", ".join(f"<code>{esc(a)}</code>" for a in entry.aliases) + ".</p>")
        body += self.words(entry)
        body += self.arguments(entry)
        body += self.sections(entry)
        body += self.errors(entry)
        if entry.example:
            body += ["<h2>Example</h2>", highlighted(entry.example)]
        if isinstance(entry.target, type):
            body += members(entry.target)
        body += self.relatives(entry)
        return document(entry.full_name, "../", body)

    def words(self, entry: Entry) -> Iterable[str]:
        text = "\n".join(entry.sections[""]).strip()
        return [self.block(part, entry) for part in re.split(r"\n\s*\n", text) if part.strip()]

    def block(self, part: str, entry: Entry) -> str:
        if all(line.startswith("    ") for line in part.splitlines()):
            return f"<pre><code>{esc(inspect.cleandoc(part))}</code></pre>"
        items = re.split(r"(?m)^[-*] ", part)
        if len(items) > 1 and not items[0].strip():
            return "<ul>" + "".join(f"<li>{self.linked(i, entry)}</li>" for i in items[1:]) + "</ul>"
        return f"<p>{self.linked(part, entry)}</p>"

    def arguments(self, entry: Entry) -> list[str]:
        if not entry.parameters:
            return []
        rows = [
            f"<tr><td><code>{esc(a.name)}</code></td><td>{esc(a.type)}</td>"
            f"<td>{f'<code>{esc(a.default)}</code>' if a.default else '<span class=soft>needed</span>'}</td>"
            f"<td>{self.linked(a.meaning[:1].upper() + a.meaning[1:], entry)}</td></tr>"
            for a in entry.parameters
        ]
        return ["<h2>Arguments</h2>", table(("name", "type", "default", ""), rows)]

    def sections(self, entry: Entry) -> list[str]:
        body = []
        for title, items in entry.sections.items():
            if title and title != "Args" and items:
                body += [f"<h2>{title}</h2>", "<ul>", *(f"<li>{self.linked(i, entry)}</li>" for i in items), "</ul>"]
        return body

    def errors(self, entry: Entry) -> list[str]:
        if "Raises" in entry.sections:
            return []
        items = [f"<li>{esc(error)}: {self.linked(when, entry)}</li>" for error, when in errors.raised(entry.function)]
        return ["<h2>Errors</h2>", "<ul>", *items, "</ul>"] if items else []

    def relatives(self, entry: Entry) -> list[str]:
        """The same operation under other namespaces."""
        seen = {id(entry): entry}
        for name in (entry.name, entry.name.replace("_", ""), entry.name.rstrip("_")):
            for other in self.by_last_word.get(name.lower(), []):
                seen.setdefault(id(other), other)
        links = [f'<a href="../{place(e)}">{esc(e.short_name)}</a>' for e in list(seen.values())[1:]]
        return ["<h2>See also</h2>", f"<p>{' · '.join(links)}</p>"] if links else []

    def linked(self, text: str, entry: Entry) -> str:
        """Words with `code`; a name of the reference becomes a link to its page."""

        def link(match: re.Match) -> str:
            name = match.group(1).split("(")[0].removeprefix("ms.").removeprefix("mindspore.")
            for full in (f"mindspore.{name}", f"{entry.page.path}.{name}"):
                where = self.places.get(full)
                if where and where != place(entry):
                    return f'<a href="../{where}"><code>{match.group(1)}</code></a>'
            return f"<code>{match.group(1)}</code>"

        return re.sub(r"``?([^`]+)``?", link, esc(" ".join(text.split())))


def by_subject(entries: list[Entry]) -> dict[str, list[Entry]]:
    """Entries by what their module is about; those of small modules by what its package is about."""
    subjects: dict[str, list[Entry]] = {}
    for entry in entries:
        alone = sum(e.module is entry.module for e in entries) < 3
        subjects.setdefault(entry.wider_subject if alone else entry.subject, []).append(entry)
    return subjects


def place(entry: Entry) -> str:
    name = "index_" if entry.name == "index" else entry.name  # index.html is the namespace's
    return f"{entry.page.name}/{name}.html"


def esc(text: Any) -> str:
    return html.escape(str(text), quote=False)


def inline(text: str) -> str:
    return re.sub(r"``?([^`]+)``?", r"<code>\1</code>", esc(text))


def table(heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f"<th>{h}</th>" for h in heads)
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def wrapped(signature: str, width: int = 96) -> str:
    """A long signature with one argument a line."""
    if len(signature) <= width:
        return signature
    inside, _, result = signature[1:].rpartition(")")
    parts = re.split(r", (?![^\[(]*[\])])", inside)
    return "(\n    " + ",\n    ".join(parts) + ",\n)" + result


def highlighted(example: str) -> str:
    """An example whose results are paler than what is typed."""
    lines = [
        esc(line) if line.startswith((">>>", "...")) else f'<span class="out">{esc(line)}</span>'
        for line in example.splitlines()
    ]
    return f"<pre><code>{chr(10).join(lines)}</code></pre>"


def members(target: type) -> list[str]:
    """Methods and properties that a class itself has words for."""
    rows = []
    for name, member in sorted(vars(target).items()):
        function = getattr(member, "__func__", getattr(member, "fget", member))
        text = getattr(function, "__doc__", "") if inspect.isroutine(function) else ""
        if name.startswith("_") or not text:
            continue
        text = inspect.cleandoc(text)
        first = "\n".join(split_sections(text.partition("Examples:")[0])[""]).split("\n\n")[0]
        try:
            signature = re.sub(r"'", "", str(inspect.signature(function)).partition(" -> ")[0])
        except (TypeError, ValueError):
            signature = "(…)"
        signature = re.sub(r"^\((self|cls)(, )?", "(", re.sub(r": Any\b", "", signature))
        shown = f"{name}" if isinstance(member, property) else f"{name}{signature}"
        rows.append(f"<tr><td><code>{esc(shown)}</code></td><td>{inline(' '.join(first.split()))}</td></tr>")
    return ["<h2>Methods</h2>", table(("name", ""), rows)] if rows else []


def document(title: str, root: str, body: Iterable[str]) -> str:
    return "\n".join([
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">', f"<title>{esc(title)}</title>",
        f'<link rel="stylesheet" href="{root}style.css">', "</head>", f'<body data-root="{root}">',
        f'<header><a href="{root}index.html"><b>MindSpore</b></a>',
        '<div><input id="search" type="search" placeholder="Search names" autocomplete="off"><div id="found"></div></div>',
        "</header>", "<main>", *body, "</main>", f'<script src="{root}search.js"></script>', "</body>", "</html>", "",
    ])  # fmt: skip
