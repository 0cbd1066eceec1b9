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


def test_a_rule_registered_for_a_primitive_is_its_gradient():
    from mindspore.ops._grad.grad_base import bprop_getters

    class Mine(ms.ops.PrimitiveWithInfer):
        """A user's primitive."""

    @bprop_getters.register(Mine)
    def rule(self):
        return lambda x, out, dout: (dout * 5,)

    assert Mine().bprop(1, 1, 2) == (10,)
    with pytest.raises(TypeError, match="'bprop'"):
        bprop_getters.register(ms.ops.ReLU)


def test_a_star_brings_generated_classes_of_which_each_can_be_made():
    brought: dict = {}
    for path in ("auto_generate.gen_ops_prim", "operations._grad_ops", "operations._inner_ops"):
        exec(f"from mindspore.ops.{path} import *", brought)
    for name in ("ACosGrad", "AddExt", "InplaceAddExt", "BroadcastToView", "Generator", "LayerNormGradGrad", "Unique2"):
        assert isinstance(brought[name]().set_device("CPU"), ms.ops.Primitive), name
    x = ms.Tensor([1.0, 2.0])
    assert brought["AddExt"]()(x, x, 2).tolist() == [3, 6]
    assert brought["BroadcastToView"]()(x, (2, 2)).shape == (2, 2)
    with pytest.raises(RuntimeError, match="use grad of the operation itself"):
        brought["LayerNormGradGrad"]()(x)
    for loop in (ms.ops.WhileLoop, ms.ops.ForiLoop, ms.ops.Scan):
        assert loop().set_device("CPU").name == loop.__name__


@pytest.mark.parametrize("own", [True, False])
def test_the_generator_primitive_keeps_a_seed_and_an_offset(own):
    from mindspore.ops.operations._inner_ops import Generator

    step, new, read, write, begin, seed_of = range(6)
    seed, offset = ms.Tensor(0), ms.Tensor(0)
    generator = Generator(seed, offset) if own else Generator()
    assert generator(begin, (seed, offset, ms.Tensor(42))) is None
    for expected in (0, 10):
        assert [t.item() for t in generator(step, (seed, offset, ms.Tensor(10)))[:2]] == [42, expected]
    assert (generator(seed_of, (seed, offset))[0].item(), offset.item()) == (42, 20)
    state = generator(read, (seed, offset))[2]
    assert state.tolist() == [42, *[0] * 7, 20, *[0] * 7]
    assert generator(new, (seed, offset))[0].item() == seed.item() and offset.item() == 0
    generator(write, (seed, offset, state))
    assert (seed.item(), offset.item()) == (42, 20)
    with pytest.raises(ValueError, match="with three inputs"):
        generator(step, (seed, offset))
    with pytest.raises(ValueError, match=r"\(16,\)"):
        generator(write, (seed, offset, ms.Tensor([1])))
    with pytest.raises(TypeError, match="'offset'"):
        Generator(seed, ms.Tensor([1.0]))
    with pytest.raises(TypeError, match="Parameter"):
        ms.jit(lambda n: generator(step, (seed, offset, n))[1])(ms.Tensor(1))


def test_a_part_of_a_tensor_is_replaced_in_a_copy():
    from mindspore.ops.composite.multitype_ops._compile_utils import _tensor_getitem, _tensor_setitem_origin

    x = ms.Tensor([1.0, 2.0, 3.0])
    assert _tensor_setitem_origin(x, slice(1, None), 5).tolist() == [1, 5, 5]
    assert (x.tolist(), _tensor_getitem(x, 2).item()) == ([1, 2, 3], 3)


def test_scaled_sums_of_gradients_are_taken_out_once():
    from mindspore.nn.wrap.loss_scale import grad_scale, shard_grad_scale

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for function, expected in ((grad_scale, [4, 8]), (shard_grad_scale, [1, 2])):
            summed = ms.Parameter(ms.Tensor([16.0, 32.0]), name="summed")
            step = ms.jit(lambda scale, grad: function(scale, grad, summed)) if mode == ms.GRAPH_MODE else None  # noqa: B023
            out = (step or (lambda scale, grad: function(scale, grad, summed)))(ms.Tensor(4.0), ms.Tensor([4.0, 8.0]))  # noqa: B023
            assert (out.tolist(), summed.tolist()) == (expected, [0, 0])
    ms.set_context(mode=ms.GRAPH_MODE)


def test_members_of_quantised_types_are_numbers_that_can_be_called():
    assert ms.QuantDtype.INT8.value() == ms.QuantDtype.INT8.value == 7 and ms.QuantDtype(7) is ms.QuantDtype.INT8
