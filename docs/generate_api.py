"""Writes the API reference: one Markdown page per namespace, from the docstrings.

    python docs/generate_api.py [folder]

The pages go to docs/api unless a folder is given. Names that share one object (aliases) are described once.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: page, module or class it describes, title
PAGES = [
    ("mindspore", "mindspore", "Top level"),
    ("tensor", "mindspore.Tensor", "Tensor: methods and properties"),
    ("cell", "mindspore.nn.Cell", "nn.Cell: methods and properties"),
    ("nn", "mindspore.nn", "nn: layers, losses, optimizers"),
    ("ops", "mindspore.ops", "ops: functions"),
    ("primitives", "mindspore.ops", "ops: primitive classes"),
    ("mint", "mindspore.mint", "mint"),
    ("mint_nn", "mindspore.mint.nn", "mint.nn"),
    ("mint_functional", "mindspore.mint.nn.functional", "mint.nn.functional"),
    ("mint_linalg", "mindspore.mint.linalg", "mint.linalg"),
    ("mint_optim", "mindspore.mint.optim", "mint.optim"),
    ("numpy", "mindspore.numpy", "numpy"),
    ("scipy_linalg", "mindspore.scipy.linalg", "scipy.linalg"),
    ("initializer", "mindspore.common.initializer", "common.initializer"),
    ("train", "mindspore.train", "train: Model, callbacks, metrics"),
    ("amp", "mindspore.amp", "amp: mixed precision"),
    ("distribution", "mindspore.nn.probability.distribution", "nn.probability.distribution"),
    ("dataset", "mindspore.dataset", "dataset"),
    ("transforms", "mindspore.dataset.transforms", "dataset.transforms"),
    ("vision", "mindspore.dataset.vision", "dataset.vision"),
    ("text", "mindspore.dataset.text", "dataset.text"),
    ("audio", "mindspore.dataset.audio", "dataset.audio"),
    ("mindrecord", "mindspore.mindrecord", "mindrecord"),
]


@dataclass
class Entry:
    """A public name with what its docstring says."""

    name: str
    target: Any
    aliases: list[str]
    is_method: bool = False

    @property
    def text(self) -> str:
        target = self.target.fget if isinstance(self.target, property) else self.target
        return inspect.getdoc(target) or ""

    @property
    def signature(self) -> str:
        if isinstance(self.target, property) or not callable(self.target):
            return ""
        try:
            signature = inspect.signature(self.target)
        except (TypeError, ValueError):
            return "(…)"
        if self.is_method:  # called on an object, which is its first argument
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        given = str(signature)
        given = re.sub(r": '([^']+)'", r": \1", given.split(" -> ")[0])  # annotations are text here
        given = re.sub(r": Any\b", "", re.sub(r" at 0x[0-9a-f]+", "", given))
        given = re.sub(r"([(,] ?)(\w+) = ", r"\1\2=", given)
        return given.replace("(self, ", "(").replace("(self)", "()")


def resolve(path: str) -> Any:
    """A module, or an attribute of one."""
    try:
        return importlib.import_module(path)
    except ImportError:
        owner, _, name = path.rpartition(".")
        return getattr(resolve(owner), name)


def entries(path: str, page: str) -> list[Entry]:
    """The public names of a page, without those of other libraries."""
    owner = resolve(path)
    found: dict[int, Entry] = {}
    for name in sorted(public_names(owner), key=str.lower):
        target = inspect.getattr_static(owner, name) if isinstance(owner, type) else getattr(owner, name, None)
        target = target.__func__ if isinstance(target, (staticmethod, classmethod)) else target
        if inspect.ismodule(target) or not _ours(target) or not _belongs(target, page):
            continue
        if id(target) in found and callable(target):
            found[id(target)].aliases.append(name)
        else:
            bound = isinstance(owner, type) and inspect.isfunction(inspect.getattr_static(owner, name))
            found[id(target)] = Entry(name, target, [], bound)
    return list(found.values())


def public_names(owner: Any) -> list[str]:
    listed = getattr(owner, "__all__", None) if inspect.ismodule(owner) else None
    return [n for n in (listed or dir(owner)) if not n.startswith("_")]


def _ours(target: Any) -> bool:
    if isinstance(target, property):
        return True
    module = getattr(target, "__module__", None) or getattr(type(target), "__module__", "")
    return callable(target) and str(module).startswith("mindspore")


def _belongs(target: Any, page: str) -> bool:
    """`ops` has two pages: functions, and classes."""
    if page not in ("ops", "primitives"):
        return True
    return isinstance(target, type) == (page == "primitives")


def render(entry: Entry, prefix: str) -> Iterator[str]:
    yield f"### {prefix}.{entry.name}\n"
    if entry.signature:
        yield f"```python\n{entry.name}{entry.signature}\n```\n"
    if entry.aliases:
        yield "Also called " + ", ".join(f"`{a}`" for a in entry.aliases) + ".\n"
    words, _, example = entry.text.partition("Examples:")
    if words.strip():
        yield _listed(words.strip()) + "\n"
    if example.strip():
        yield f"```python\n{textwrap.dedent(example).strip()}\n```\n"


def _listed(words: str) -> str:
    """The text with sections such as "Args:" as lists."""
    out, inside = [], False
    for line in words.splitlines():
        if re.fullmatch(r"(Args|Inputs|Outputs|Returns|Raises|Attributes|Supported names):", line):
            inside = True
            out += [f"**{line[:-1]}**", ""]
        elif inside and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(": ")
            out.append(f"- `{name}`: {rest}" if colon else f"- {line.strip()}")
        elif inside and line.startswith("     "):
            out[-1] += " " + line.strip()
        else:
            inside = inside and not line
            out.append(line)
    return "\n".join(out)


def write_page(folder: Path, page: str, path: str, title: str) -> int:
    described = entries(path, page)
    prefix = path.removeprefix("mindspore.")
    lines = [f"# {title}\n", f"`{path}`: {len(described)} names. [Index](index.md)\n"]
    lines.append(" · ".join(f"[{e.name}](#{_anchor(prefix, e.name)})" for e in described) + "\n")
    for entry in described:
        lines.extend(render(entry, prefix))
    (folder / f"{page}.md").write_text("\n".join(lines), encoding="utf-8")
    return len(described)


def _anchor(prefix: str, name: str) -> str:
    return f"{prefix}.{name}".lower().replace(".", "")


def generate(folder: Path) -> dict[str, int]:
    """Write every page and the index; the number of names on each page."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {page: write_page(folder, page, path, title) for page, path, title in PAGES}
    rows = [f"| [{title}]({page}.md) | `{path}` | {counts[page]} |" for page, path, title in PAGES]
    head = [
        "# API reference\n",
        "Generated from the docstrings by `make docs`.\n",
        "| page | names from | names |",
        "|---|---|---|",
    ]
    (folder / "index.md").write_text("\n".join([*head, *rows, ""]), encoding="utf-8")
    return counts


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "api"
    totals = generate(target)
    print(f"{sum(totals.values())} names on {len(totals)} pages in {target}")
