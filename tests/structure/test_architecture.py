"""The architecture, enforced: imports go down the layers only, no import cycles, files of readable size."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

#: the layer of each part of `mindspore`; a module may import its own layer and those below
LAYERS = {
    "_base": 0, "version": 0,
    "ir": 1,
    "prims": 2,
    "compiler": 3,
    "backends": 4,
    "runtime": 5, "formats.events": 5, "log": 0,
    "formats": 6, "mint": 6, "mint.nn": 8, "mint.optim": 8,
    "common": 6, "context": 6, "ops": 6, "numpy": 6, "scipy": 6, "hal": 6, "device_context": 6,
    "communication": 6, "parallel": 6, "utils": 6, "multiprocessing": 6,
    "nn": 7,
    "parallel.nn": 8, "parallel.auto_parallel": 8, "parallel.distributed": 8, "parallel._cell_wrapper": 8,  # made of cells
    "parallel.checkpoint_transform": 8,
    "parallel._unified": 8,  # read and write checkpoints
    "_compat": 9,  # nothing knows of it but the front door
}  # fmt: skip
TOP = 8  # train, amp, profiler, experimental, rewrite, boost …
#: parts that stand beside the tower and yield NumPy
COLUMN = {"dataset", "mindrecord"}
MAX_LINES = 900


def modules():
    for path in sorted((SOURCE / "mindspore").rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), path


def imports(path, name, top_level_only=False):
    """Modules of this package that a file imports, with line numbers."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "mindspore":
                    yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            if base.partition(".")[0] != "mindspore":
                continue
            for alias in node.names:
                child = f"{base}.{alias.name}"
                yield (child if child in KNOWN else base), node.lineno


KNOWN = {name for name, _ in modules()}


def part(module):
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def layer(module):
    pieces = module.split(".")
    return LAYERS.get(".".join(pieces[1:3]), LAYERS.get(part(module), TOP))


def test_imports_go_down_the_layers():
    wrong = []
    for name, path in modules():
        if not part(name) or part(name) in COLUMN:
            continue
        for target, line in imports(path, name):
            if part(target) in COLUMN:
                allowed = layer(name) >= 7
            else:
                allowed = not part(target) or layer(target) <= layer(name)
            if not allowed:
                wrong.append(f"{path.relative_to(SOURCE)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_the_data_column_imports_only_the_base():
    wrong = []
    for name, path in modules():
        if part(name) in COLUMN:
            for target, line in imports(path, name):
                if part(target) not in {"_base", "version", *COLUMN}:
                    wrong.append(f"{path.relative_to(SOURCE)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_the_compiler_does_not_know_the_backends():
    for name, path in modules():
        if part(name) == "compiler":
            assert not [t for t, _ in imports(path, name) if part(t) == "backends"], name


def test_no_import_cycles():
    graph = {name: {t for t, _ in imports(path, name, top_level_only=True) if t != name} for name, path in modules()}
    graph.pop("mindspore", None)
    state = {}

    def visit(name, trail):
        if state.get(name) == "done" or name not in graph:
            return
        assert state.get(name) != "open", "import cycle: " + " -> ".join([*trail[trail.index(name) :], name])
        state[name] = "open"
        for target in sorted(graph[name]):
            visit(target, [*trail, name])
        state[name] = "done"

    for name in sorted(graph):
        visit(name, [])


@pytest.mark.parametrize("name_and_path", list(modules()), ids=lambda item: item[0])
def test_files_are_of_readable_size(name_and_path):
    _, path = name_and_path
    assert len(path.read_text().splitlines()) <= MAX_LINES


def test_names_of_test_files_are_unique():
    """The runner imports test files by their bare names."""
    names = [path.name for path in (SOURCE.parent / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
