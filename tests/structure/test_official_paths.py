"""The tables of official paths resolve completely, and the modules made from them behave as modules do."""

import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import mindspore as ms
from mindspore._compat.tables import HELD, SAME


@pytest.mark.parametrize("path", sorted(SAME))
def test_another_path_of_a_module_is_that_module(path):
    assert importlib.import_module(path) is importlib.import_module(SAME[path])


@pytest.mark.parametrize("path", sorted(HELD))
def test_a_held_path_has_all_its_names(path):
    module = importlib.import_module(path)
    for name, place in HELD[path].places.items():
        where, _, there = place.partition(":")
        source = importlib.import_module(where)
        assert getattr(module, name) is getattr(source, there or name, source), name
        assert name in dir(module)
    for source in HELD[path].search:
        importlib.import_module(source)
    assert not hasattr(module, "no_such_name_anywhere")


def test_no_path_stands_in_two_tables():
    assert not SAME.keys() & HELD.keys()


def test_no_file_hides_behind_another_path():
    source = Path(ms.__file__).parents[1]
    for path in SAME:
        folder = source / path.replace(".", "/")
        assert not folder.with_suffix(".py").exists() and not (folder / "__init__.py").exists(), path


def test_paths_are_attributes_of_their_parents_without_an_import():
    program = """
import mindspore as ms
from mindspore.ops import operations as P
assert P._inner_ops.Add is ms.ops.Add and P._grad_ops is not None
assert ms.ops.function.array_func.reshape is ms.ops.reshape
assert ms.ops.auto_generate.gen_ops_prim.Add is ms.ops.Add
assert ms.common.seed.set_seed is ms.set_seed
assert ms.nn.metrics.Accuracy is ms.train.Accuracy is ms.nn.Accuracy
assert ms.dataset.engine.datasets.MnistDataset is ms.dataset.MnistDataset
assert ms._c_expression.typing.Float
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_form_of_import():
    import mindspore.ops.function.math_func as direct
    from mindspore.ops.function import math_func
    from mindspore.ops.function.math_func import add

    assert direct is math_func is importlib.import_module("mindspore.ops.function.math_func")
    assert add is ms.ops.add
    names: dict = {}
    exec("from mindspore.common.seed import *", names)
    assert names["set_seed"] is ms.set_seed
    exec("from mindspore.ops.auto_generate import *", names)
    assert names["add"] is ms.ops.add
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from mindspore.ops.function.math_func import no_such_name", names)
    with pytest.raises(ModuleNotFoundError, match=r"mindspore\.ops\.no_such_module"):
        importlib.import_module("mindspore.ops.no_such_module")


def test_pickles_that_name_an_official_path_are_read():
    by_path = b"cmindspore.ops.function.math_func\nadd\n."
    assert pickle.loads(by_path) is ms.ops.add
    assert pickle.loads(pickle.dumps(ms.ops.add)) is ms.ops.add


def test_inspection():
    module = importlib.import_module("mindspore.ops.operations._inner_ops")
    assert inspect.ismodule(module) and "mindspore._compat.operators" in inspect.getdoc(module)
    assert module.__spec__.name == module.__name__ == "mindspore.ops.operations._inner_ops"
    assert "Add" in dir(module) and "Add" in module.__all__
    assert inspect.getsource(importlib.import_module("mindspore.common.api"))  # a file that was completed
    assert inspect.getmodule(ms.ops.add) is ms.ops and inspect.getmodule(ms.ops.concat) is not None


def test_official_modules_work_in_graphs():
    from mindspore.ops.operations import _inner_ops as inner

    x = ms.Tensor([1.0, -2.0])
    assert ms.jit(lambda x: ms.ops.function.nn_func.relu(inner.Neg()(x)))(x).tolist() == [0.0, 2.0]
