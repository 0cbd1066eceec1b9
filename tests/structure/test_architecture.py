"""The architecture, enforced: every module has a layer, imports go down the layers only, and there are no cycles."""

import functools

import pytest
from imports import MODULES, PACKAGES, SOURCE, imports

#: the layers of `mindspore`, from the bottom up; a module belongs to the longest name that fits
TOWER = [
    ("_base", "version", "log"),
    ("ir",),
    ("prims",),
    ("compiler",),
    ("backends",),
    ("formats",),
    ("runtime",),
    ("common", "context", "ops", "mint", "numpy", "scipy", "hal", "device_context", "communication", "multiprocessing",
     "utils", "mint.nn.functional"),
    ("nn", "mint.nn"),
    ("train", "amp", "onnx", "profiler", "experimental", "rewrite", "boost", "tools", "run_check", "mint.optim",
     "parallel", "debug", "labeling", "explainer", "compression"),
    ("model_zoo",),
    ("_compat",),
]  # fmt: skip
LAYERS = {part: layer for layer, parts in enumerate(TOWER) for part in parts}
#: columns beside the tower, over `_base` alone; they yield NumPy, and Cells may use them
COLUMNS = {"dataset", "mindrecord"}
COLUMN_USERS = LAYERS["nn"]
#: what the packages around the framework may import of it; None: whatever is public
PACKAGES_ABOVE = {
    "mindinsight": ({"mindspore"}, LAYERS["_base"], {"formats"}),
    "mindspore_lite": ({"mindspore"}, LAYERS["backends"], {"formats"}),
    "mindspore_serving": ({"mindspore", "mindspore_lite"}, None, set()),
    "mindspore_federated": ({"mindspore", "mindspore_lite"}, None, set()),
    "mindspore_xai": ({"mindspore"}, None, set()),
}
#: modules of one layer that need each other: the second import waits for a call. To be shortened, not to be lengthened.
MUTUAL = {
    ("mindspore.common.parameter", "mindspore.common.initializer"),
    ("mindspore.compiler.autodiff.reverse", "mindspore.compiler.autodiff.control_rules"),  # bodies contain control flow
    ("mindspore.dataset.runtime.build", "mindspore.dataset.runtime.pipeline"),  # flat maps and joins run pipelines
    ("mindspore.nn.probability.bijector.bijector", "mindspore.nn.probability.distribution"),
    ("mindspore.rewrite.api.node", "mindspore.rewrite.api.symbol_tree"),
}


def part(module):
    """The module's name below its package."""
    return module.partition(".")[2]


@functools.cache
def layer(module):
    name = part(module)
    while name and name not in LAYERS:
        name = name.rpartition(".")[0]
    return LAYERS.get(name)


def column(module):
    return part(module).partition(".")[0] in COLUMNS


def is_front_door(module):
    return module in PACKAGES


def where(name, found):
    return f"{MODULES[name].relative_to(SOURCE)}:{found.line} imports {found.target}"


def test_every_module_has_a_layer():
    unknown = [m for m in MODULES if m.startswith("mindspore.") and layer(m) is None and not column(m)]
    assert not unknown, "state in TOWER where these belong: " + ", ".join(unknown)
    assert set(PACKAGES) <= {"mindspore", *PACKAGES_ABOVE}


def test_imports_go_down_the_layers():
    wrong = []
    for name in MODULES:
        if not name.startswith("mindspore.") or column(name):
            continue
        for found in imports(name):
            if is_front_door(found.target):
                continue
            needed = COLUMN_USERS if column(found.target) else layer(found.target)
            if needed is None or needed > layer(name):
                wrong.append(where(name, found))
    assert not wrong, "\n".join(wrong)


def test_columns_stand_on_the_base_alone():
    wrong = []
    for name in MODULES:
        if name.startswith("mindspore.") and column(name):
            for found in imports(name):
                if not column(found.target) and not is_front_door(found.target) and layer(found.target) != 0:
                    wrong.append(where(name, found))
    assert not wrong, "\n".join(wrong)


def test_the_framework_does_not_know_the_packages_around_it():
    wrong = [
        where(name, found)
        for name in MODULES
        if name.partition(".")[0] == "mindspore"
        for found in imports(name)
        if found.target.partition(".")[0] != "mindspore"
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", [p for p in PACKAGES if p != "mindspore"])
def test_packages_import_what_they_may(package):
    allowed, highest, besides = PACKAGES_ABOVE[package]
    wrong = []
    for name in MODULES:
        if name.partition(".")[0] != package:
            continue
        for found in imports(name):
            root, below = found.target.partition(".")[0], part(found.target)
            if root == package:
                continue
            if highest is None:  # public names: no part of the path is private
                fits = root in allowed and not any(piece.startswith("_") for piece in below.split("."))
            else:
                fits = (root in allowed and below.partition(".")[0] in besides) or (
                    root in allowed and bool(below) and not column(found.target) and layer(found.target) <= highest
                )
            if not fits:
                wrong.append(where(name, found))
    assert not wrong, "\n".join(wrong)


def cycle_in(graph):
    """A path of modules that leads back to its beginning, or None."""
    done, trail = set(), []

    def visit(name):
        if name in done:
            return None
        if name in trail:
            return [*trail[trail.index(name) :], name]
        trail.append(name)
        for target in sorted(graph.get(name, ())):
            found = visit(target)
            if found:
                return found
        done.add(trail.pop())
        return None

    return next(filter(None, map(visit, sorted(graph))), None)


@functools.cache
def dependencies():
    """(module -> modules imported with it, [(module, module imported later)])."""
    at_once, later = {}, []
    for name in MODULES:
        if is_front_door(name):
            continue
        for found in imports(name):
            if found.target == name or is_front_door(found.target):
                continue
            if found.deferred:
                later.append((name, found))
            else:
                at_once.setdefault(name, set()).add(found.target)
    return at_once, later


def test_no_import_cycles():
    found = cycle_in(dependencies()[0])
    assert not found, "import cycle: " + " -> ".join(found)


def test_no_cycles_hidden_in_functions_and_strings():
    """A deferred import that would close a cycle is on the list of modules that need each other."""
    at_once, later = dependencies()

    @functools.cache
    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += at_once.get(name, ())
        return seen

    hidden = [
        (name, found)
        for name, found in later
        if name in reached(found.target) and not found.target.startswith(f"{name}.") and not name.startswith(f"{found.target}.")
    ]
    wrong = [where(name, found) for name, found in hidden if (name, found.target) not in MUTUAL]
    assert not wrong, "\n".join(wrong)
    gone = MUTUAL - {(name, found.target) for name, found in hidden}
    assert not gone, f"no longer needed in MUTUAL: {sorted(gone)}"


def test_names_of_test_files_are_unique():
    """The runner imports test files by their bare names."""
    names = [path.name for path in (SOURCE.parent / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
