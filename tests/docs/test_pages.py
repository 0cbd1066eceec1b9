"""Every block of Python on the pages runs, in the order of its page, and prints what the page says it prints.

A block starts with ```python. Lines of a ```text block right after it are what it prints. Blocks that start other processes
or need other machines are written as ```py: shown, not run.
"""

import ast
import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest

import mindspore as ms
import mindspore.dataset as ds

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(p for top in ("docs", "src", "tests", "examples") for p in (ROOT / top).rglob("*.md"))]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)


def blocks(page):
    """(line, code, expected output or None) of each block that is run."""
    text = page.read_text()
    found = []
    for match in BLOCK.finditer(text):
        kind, body = match.groups()
        if kind == "python":
            found.append([text.count("\n", 0, match.start()) + 2, body, None, match.end()])
        elif found and not text[found[-1][3] : match.start()].strip():
            found[-1][2] = body
    return [tuple(block[:3]) for block in found]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path / "cache"))
    (tmp_path / "mnist").symlink_to(ROOT / "examples" / "data" / "mnist")
    names = {"__name__": "page"}
    for line, code, expected in blocks(page):
        written = io.StringIO()
        program = compile("\n" * (line - 1) + code, str(page), "exec")  # errors name the page's own lines
        with contextlib.redirect_stdout(written):
            exec(program, names)
        if expected is not None:
            assert written.getvalue().rstrip() == expected.rstrip(), f"{page.name}:{line}"


SHOWN = [
    pytest.param(body, id=f"{page.name}:{page.read_text().count(chr(10), 0, page.read_text().index(body))}")
    for page in PAGES
    for body in re.findall(r"^```py\n(.*?)^```$", page.read_text(), re.M | re.S)
]


@pytest.mark.parametrize("code", SHOWN)
def test_blocks_that_are_only_shown_name_what_there_is(code):
    """They need other processes or PyTorch; what they import and take from this framework's modules exists all the same."""
    tree = ast.parse(code.replace("…", "..."))
    known = {"ms": ms, "nn": ms.nn, "ops": ms.ops, "mint": ms.mint, "debug": importlib.import_module("mindspore.debug")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mind"):
            module = importlib.import_module(node.module)
            known.update({a.asname or a.name: getattr(module, a.name) for a in node.names})
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            foreign = {a.asname or a.name for a in node.names if not a.name.startswith("mind")}
            known = {name: value for name, value in known.items() if name not in foreign}
    for node in ast.walk(tree):
        path = re.fullmatch(r"(\w+)((?:\.\w+)+)", ast.unparse(node)) if isinstance(node, ast.Attribute) else None
        if path and path[1] in known:
            value = known[path[1]]
            for name in path[2][1:].split("."):
                value = getattr(value, name)  # AttributeError: the page names something that is not there


@pytest.fixture(autouse=True)
def settings_as_before():
    """Pages change settings, as their readers do."""
    data = ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size()
    with ms.context.local_context():
        yield
    ds.config.set_num_parallel_workers(data[0])
    ds.config.set_prefetch_size(data[1])


def test_every_page_is_on_a_shelf_of_the_front_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from reference import guides

    shown = {page for _, pages in guides.SHELVES for page in pages if not page.startswith("../")}
    assert shown == {p.name for p in (ROOT / "docs").glob("*.md")} | {"tutorial/README.md"}


def test_links_between_pages_lead_somewhere():
    wrong = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{page.relative_to(ROOT)} -> {target}")
    assert not wrong, "\n".join(wrong)


def test_the_map_from_pytorch_is_what_there_is(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import generate_torch_map as made

    assert made.TARGET.read_text() == made.page(), "run python docs/generate_torch_map.py"
    table = [name for names in made.rows().values() for name in names.values()]
    assert len(table) > 400
    for name in table:
        made.resolve(name)
