"""Models of a group hold equal weights once."""

import gc
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore.backends import cpu

SIZE = 1024
NBYTES = SIZE * SIZE * 4


@pytest.fixture
def path(tmp_path):
    w = numpy_helper.from_array(np.random.default_rng(0).standard_normal((SIZE, SIZE)).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, SIZE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, SIZE])], [w],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    return str(tmp_path / "g.ms")


def build(path, model, threads=3):
    """Memory that building takes, in bytes. There is no plan in the file for three threads: the model is compiled now."""
    gc.collect()
    context = mslite.Context()
    context.cpu.thread_num = threads
    before = tracemalloc.get_traced_memory()[0]
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE, context)
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_weights_are_held_once(path):
    mslite_models = [mslite.Model() for _ in range(4)]
    group = mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT)
    group.add_model(mslite_models[2:])
    tracemalloc.start()
    try:
        build(path, mslite.Model())  # imports and tables
        alone = [build(path, model) for model in mslite_models[:2]]
        first, second = (build(path, model) for model in mslite_models[2:])
    finally:
        tracemalloc.stop()
    assert alone[1] - second > 0.9 * NBYTES and first - second > 0.9 * NBYTES
    x = np.random.default_rng(1).standard_normal((64, SIZE)).astype(np.float32)
    found = [model.predict([x])[0].get_data_to_numpy() for model in mslite_models]
    assert all((y == found[0]).all() for y in found)


@pytest.mark.skipif(not cpu.available(), reason="needs the native backend")
def test_weights_stay_in_the_file_if_it_has_a_plan(path):
    models = [mslite.Model() for _ in range(2)]
    mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT).add_model(models)
    tracemalloc.start()
    try:
        build(path, mslite.Model(), 1)
        assert all(build(path, model, 1) < 0.1 * NBYTES for model in models)
    finally:
        tracemalloc.stop()


def test_other_weights_stay_apart(path):
    models = [mslite.Model() for _ in range(2)]
    mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT).add_model(models)
    for model in models:
        model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    x = np.ones((64, SIZE), np.float32)
    before = models[1].predict([x])[0].get_data_to_numpy().copy()
    changed = mslite.Tensor(np.zeros((SIZE, SIZE), np.float32))
    changed.name = "w"
    models[0].update_weights([[changed]])
    assert not models[0].predict([x])[0].get_data_to_numpy().any()
    assert (models[1].predict([x])[0].get_data_to_numpy() == before).all()


def test_models_are_added_before_they_are_built(path):
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    with pytest.raises(RuntimeError, match="before they are built"):
        mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT).add_model([model])
