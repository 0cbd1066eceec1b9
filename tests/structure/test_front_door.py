"""What importing the package and its parts loads, and that every way to a Tensor leads to the same one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mindspore

HEAVY = ("ops", "nn", "common", "train", "prims", "compiler", "backends", "runtime")


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded_by(statement: str) -> set[str]:
    """The parts of the package that a statement loads."""
    return set(run(f"{statement}\nimport sys\nprint(*(m.split('.')[1] for m in sys.modules if m.startswith('mindspore.')))").split())


@pytest.mark.parametrize("statement, allowed", [
    ("import mindspore", ()),
    ("import mindspore; mindspore.float32, mindspore.bool", ()),
    ("import mindspore._base.protobuf", ()),
    ("import mindspore.log", ()),
    ("import mindspore.dataset", ()),
    ("import mindspore.dataset.vision, mindspore.dataset.text, mindspore.dataset.audio", ()),
    ("import mindspore.mindrecord", ()),
    ("import mindspore.formats", ()),
    ("import mindspore.formats.checkpoint, mindspore.formats.safetensors, mindspore.formats.encryption", ()),
    ("import mindspore.formats.events.event_file, mindspore.formats.events.messages", ()),
    ("import mindspore.formats.mindir, mindspore.formats.onnx", ("prims", "compiler", "backends")),
    ("import mindspore.backends.interp", ("prims", "compiler", "backends")),
])  # fmt: skip
def test_an_import_loads_only_what_it_needs(statement, allowed):
    assert not loaded_by(statement) & (set(HEAVY) - set(allowed))


@pytest.mark.parametrize("way", [
    "from mindspore import Tensor",
    "from mindspore import *",
    "from mindspore.common import Tensor",
    "from mindspore.common.tensor import Tensor",
    "import mindspore.nn; from mindspore.common.tensor import Tensor",
    "import mindspore.ops; from mindspore import Tensor",
    "from mindspore.common.parameter import Tensor",
    "import mindspore.formats.mindir; from mindspore import Tensor",
])  # fmt: skip
def test_every_way_to_a_tensor_brings_its_operations(way):
    code = f"{way}\nt = Tensor([1.0, 2.0])\nprint((t + t).sum(), type(t).__module__, t[1:].abs())"
    assert run(code) == "6.0 mindspore.common.tensor [2.]"


def test_rows_are_tensors_though_nothing_was_loaded_for_them():
    code = (
        "import mindspore.dataset as ds\n"
        "(row,) = next(iter(ds.NumpySlicesDataset([3, 4], shuffle=False)))\n"
        "import mindspore\nprint(type(row) is mindspore.Tensor, row + 1)"
    )
    assert run(code) == "True 4"


def test_a_tensor_can_be_unpickled_first():
    import pickle

    data = pickle.dumps(mindspore.Tensor([1.0, 2.0]))
    assert run(f"import pickle\nprint(pickle.loads({data!r}).sum())") == "3.0"


def test_dumps_are_watched_from_the_import_on(tmp_path):
    settings = tmp_path / "dump.json"
    settings.write_text("{}")
    code = "import sys, mindspore\nprint('mindspore.runtime.dump.eager' in sys.modules)"
    assert run(code, MINDSPORE_DUMP_CONFIG=str(settings)) == "True"


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Tensr'"):
        _ = mindspore.Tensr


def test_every_name_of_the_front_door_is_found():
    for name in dir(mindspore):
        getattr(mindspore, name)
    assert set(mindspore.__all__) <= set(dir(mindspore))


@pytest.mark.parametrize("name, path", [("dtype", "common.dtype"), ("profiler", "profiler")])
def test_a_module_is_found_before_anything_imported_it(name, path):
    """`mindspore.profiler` also holds a module of its own name, which is not meant."""
    code = f"import importlib, mindspore; print(mindspore.{name} is importlib.import_module('mindspore.{path}'))"
    assert run(code).strip() == "True"


def test_type_checkers_see_the_core_as_it_is():
    """The names in the block for type checkers are those of the table, from the same modules."""
    tree = ast.parse(Path(mindspore.__file__).read_text())
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and getattr(n.test, "id", "") == "_TYPE_CHECKING")
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "mindspore"
        for alias in node.names
    }
    assert seen == mindspore._CORE


def test_graphs_are_built_before_there_is_a_tensor():
    code = """
import sys
import numpy as np
from mindspore.backends.interp import InterpBackend
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore._base import dtype
from mindspore.prims import values
builder = Builder(FuncGraph("by_hand"))
with builder.active():
    x = values.from_node(builder.graph.add_parameter("x", AbstractTensor(dtype.float32, (2, 3))))
    y = (x * 2 + np.ones(3, np.float32))[:, 1:].T
    builder.graph.output = builder.make_tuple([builder.node_of(y)])
(found,) = InterpBackend().compile(builder.graph)(np.arange(6, dtype=np.float32).reshape(2, 3))
print(found.tolist(), "mindspore.common" in sys.modules)
"""
    assert run(code) == "[[3.0, 9.0], [5.0, 11.0]] False"


def test_transforms_of_images_bring_the_images_of_pillow():
    """Packages use `PIL.Image` after `import PIL` alone, relying on official's imports."""
    pytest.importorskip("PIL")
    assert run("import mindspore.dataset.vision\nimport PIL\nprint(PIL.Image.__name__)") == "PIL.Image"


def test_a_local_context_may_come_before_everything_that_draws_numbers():
    code = "import mindspore as ms\nwith ms.context.local_context():\n    print(ms.nn.Dense(2, 3)(ms.ops.rand(1, 2)).shape)"
    assert run(code) == "(1, 3)"
