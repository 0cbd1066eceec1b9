"""Pages of the reference as HTML: the front page, a page per namespace by subject, and a page per name."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable

from reference import errors
from reference.frame import Frame, Section, code, esc
from reference.names import Entry, Page, split_sections


class Site:
    """All entries, and where each has its page."""

    def __init__(self, pages: dict[str, tuple[Page, list[Entry]]], guides: Iterable[Section]):
        self.pages = pages
        self.shelves = tuple(guides)
        namespaces = Section("Reference", tuple((page.title, f"{page.name}/index.html") for page, _ in pages.values()))
        self.frame = Frame([*self.shelves, namespaces])
        self.places: dict[str, str] = {}
        self.by_last_word: dict[str, list[Entry]] = {}
        for page, entries in pages.values():
            for entry in entries:
                for name in (entry.name, *entry.aliases):
                    self.places.setdefault(f"{page.path}.{name}", place(entry))
                    self.by_last_word.setdefault(name.lower(), []).append(entry)

    def index_script(self, guides: Iterable[tuple[str, str, str]]) -> str:
        """What the search looks through: (title, place, what it is)."""
        names = sorted((name.removeprefix("mindspore."), where, "") for name, where in self.places.items())
        return f"window.INDEX = {json.dumps([*names, *guides], separators=(',', ':'))};\n"

    def front(self, example: str) -> str:
        """The front page: ways in, an example, the guides' lists, then the namespaces."""
        rows = [
            f'<tr><td><a href="{page.name}/index.html">{esc(page.title)}</a></td><td>{esc(page.about)}</td>'
            f'<td class="soft">{len(entries)}</td></tr>'
            for page, entries in self.pages.values()
        ]
        body = [
            "<h1>MindSpore, rebuilt in Python</h1>",
            "<p>A framework for deep learning with two modes of one meaning: eager while you write, compiled to native code when you "
            "run. Around it: data pipelines, a model zoo, a dashboard, a server, a runtime for small devices, federated learning.</p>",
            _cards(),
            example,
        ]
        for shelf in self.shelves:
            links = "".join(f'<li><a href="{where}">{esc(title)}</a></li>' for title, where in shelf.links)
            body.append(f"<h2>{esc(shelf.title)}</h2><ul>{links}</ul>")
        body += [
            '<h2 id="reference">API reference</h2>',
            "<p>Every public name, with its arguments and an example that is run as a test.</p>",
            "<p>An argument of a wrong type raises a TypeError; a value or shape that cannot be, a ValueError. The message names "
            "the operation, the argument, what was given and what is allowed.</p>",
            table(("namespace", "what it holds", "names"), rows),
        ]
        return self.frame.document("MindSpore, rebuilt in Python", "index.html", body)

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
        return self.frame.document(page.path, f"{page.name}/index.html", body)

    def entry(self, entry: Entry) -> str:
        page = entry.page
        kind = "class " if isinstance(entry.target, type) else "property " if isinstance(entry.target, property) else ""
        body = [
            f'<p class="soft"><a href="../index.html">Reference</a> › <a href="index.html">{esc(page.title)}</a></p>',
            f"<h1>{esc(entry.full_name)}</h1>",
            code(f"{kind}{entry.short_name}{wrapped(entry.signature)}", kind="signature"),
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
            body += ["<h2>Example</h2>", code(entry.example, "session")]
        if isinstance(entry.target, type):
            body += members(entry.target)
        body += self.relatives(entry)
        return self.frame.document(entry.full_name, place(entry), body)

    def words(self, entry: Entry) -> Iterable[str]:
        text = "\n".join(entry.sections[""]).strip()
        return [self.block(part, entry) for part in re.split(r"\n\s*\n", text) if part.strip()]

    def block(self, part: str, entry: Entry) -> str:
        if all(line.startswith("    ") for line in part.splitlines()):
            return code(inspect.cleandoc(part), "")
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


def _cards() -> str:
    """The ways in."""
    ways = (
        ("quick_start.html", "Quick start", "Five minutes, from nothing to a picture that a network painted."),
        ("tutorial/index.html", "Tutorial", "Twelve short lessons, from a tensor to a model that is served."),
        ("from_pytorch.html", "Coming from PyTorch", "The same code side by side, and a map of all names."),
        ("model_zoo.html", "Model zoo", "Common networks with their papers, ready to train."),
    )
    cards = [f'<li><a href="{where}"><b>{title}</b>{words}</a></li>' for where, title, words in ways]
    return f'<ul class="cards">{"".join(cards)}</ul>'
