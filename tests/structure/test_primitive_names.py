"""What is known of a primitive stands in its class: no other file knows primitives by their names.

A string that is the name of a primitive is a place where such knowledge hides: a table of thresholds, a test of `op.name`.
Where a name is the subject (files of other formats, public lists of names), the file is listed below with the reason.
"""

import ast

import pytest
from imports import MODULES, SOURCE, _docstrings
from test_operations import is_complete, subclasses

import mindspore.ops  # noqa: F401 - with it all primitives
from mindspore.prims.primitive import Primitive

#: parts of the source whose business names are
ABOUT_NAMES = {
    "mindspore/formats": "names in files of MindIR and ONNX, and their operations' counterparts",
    "mindspore/_compat": "official names",
    "mindspore/ops/operations": "`__all__`, and classes made of others",
    "mindspore/compiler/rewrite": "patterns are written in the words of the printed graph",
    "mindspore/compiler/fuse/rules.py": "expansions of functions that loops do not have",
    "mindspore/dataset": "operations on images and text with names of their own",
    "mindspore/mindrecord": "the same",
    "mindspore/nn": "layers and optimizers that are called as the primitive is",
    "mindspore/mint": "the same",
    "mindspore/experimental": "the same",
    "mindspore/rewrite": "names of Python's operators",
    "mindspore/train/amp.py": "official lists of compositions",
    "mindspore/utils/runtime_execution_order_check.py": "names in files of official MindSpore",
    "mindspore/runtime/transports": "names of what was being done, for errors",
    "mindspore/backends/cpu/points.py": "kinds of updates",
    "mindspore/common/dtype.py": "names of element types",
    "mindspore/prims/argument_names.py": "names that official signatures give to arguments",
    "mindspore_lite": "names in files of other formats",
    "mindinsight": "names in files of graphs",
}


@pytest.fixture(scope="module")
def names():
    return {c.__name__ for c in subclasses(Primitive) if c.__module__.startswith("mindspore.prims.") and is_complete(c)}


def said_of_itself(tree):
    """Strings within a primitive's own definition: a class, or a call that makes one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (n for n in ast.walk(node) if isinstance(n, ast.Constant))
        elif isinstance(node, ast.Call) and node.args and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node.args[0]


def exported(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield from ast.walk(node.value)


def test_no_file_knows_primitives_by_name(names):
    wrong = []
    for path in MODULES.values():
        where = path.relative_to(SOURCE).as_posix()
        if any(where.startswith(part) for part in ABOUT_NAMES):
            continue
        tree = ast.parse(path.read_text())
        fine = {id(n) for n in (*_docstrings(tree), *exported(tree))}
        if where.startswith("mindspore/prims/"):
            fine |= {id(n) for n in said_of_itself(tree)}
        wrong += [
            f"{where}:{n.lineno} {n.value!r}"
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value in names and id(n) not in fine
        ]
    assert not wrong, "knowledge of a primitive belongs to its class:\n" + "\n".join(wrong)
