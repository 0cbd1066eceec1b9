"""A sample of ONNX's own node tests through Converter and Model: the expected result, or a refusal that says why."""

import warnings

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import mindspore_lite as mslite

STRIDE = 37
#: random by nature
RANDOM = ("bernoulli",)
SKIP = ("training_dropout", "random")


def sample():
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in load_model_tests(kind="node") if case.model is not None]
    return [case for case in cases[::STRIDE] if not any(word in case.name for word in SKIP)]


def _array(value):
    """Tests on small types hold messages."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _flat(values):
    """Sequences come out as their tensors."""
    return [leaf for value in values for leaf in (value if isinstance(value, list) else [value])]


def run(case, folder):
    path = str(folder / "net.onnx")
    onnx.save(case.model, path)
    mslite.Converter().convert(mslite.FmkType.ONNX, path, str(folder / "net"))
    model = mslite.Model()
    model.build_from_file(str(folder / "net.ms"), mslite.ModelType.MINDIR_LITE)
    for inputs, outputs in case.data_sets:
        inputs, outputs = ([_array(x) for x in _flat(arrays)] for arrays in (inputs, outputs))
        found = model.predict([mslite.Tensor(x) for x in inputs])
        assert len(found) == len(outputs)
        for tensor, wanted in zip(found, outputs):
            if any(word in case.name for word in RANDOM):  # other numbers, of the right kind
                assert tensor.get_data_to_numpy().dtype == wanted.dtype and set(np.unique(tensor.get_data_to_numpy())) <= {0, 1}
                continue
            assert tensor.shape == list(np.shape(wanted))
            np.testing.assert_allclose(tensor.get_data_to_numpy(), wanted, rtol=case.rtol, atol=max(case.atol, 1e-6))


def test_node_tests_pass_or_are_refused(tmp_path):
    passed, refused = 0, []
    for case in sample():
        try:
            run(case, tmp_path)
            passed += 1
        except RuntimeError as error:
            refused.append((case.name, str(error)))
        except TypeError as error:  # of mslite.Tensor: element types that it does not have
            assert "Unsupported numpy dtype" in str(error), case.name
            refused.append((case.name, str(error)))
    assert passed >= 0.8 * (passed + len(refused)), refused


def test_sequences_come_out_as_their_tensors(tmp_path):
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("SplitToSequence", ["x"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])],
        [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "g.ms"), mslite.ModelType.MINDIR_LITE)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = model.predict([mslite.Tensor(x)])
    assert [t.name for t in found] == ["y_0", "y_1", "y_2"]
    assert [t.get_data_to_numpy().tolist() for t in found] == [[row] for row in x.tolist()]


def test_sequences_do_not_go_in(tmp_path):
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)], "g",
        [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    with pytest.raises(RuntimeError, match="'s' is a sequence; models take tensors"):
        mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))


@pytest.mark.parametrize(("number", "name"), [(16, "bfloat16"), (17, "float8_e4m3fn"), (19, "float8_e5m2")])
def test_small_floats_go_in_and_come_out(tmp_path, number, name):
    from onnx import TensorProto, helper

    kind = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["wide", "wide"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["y"], to=number),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", number, [4])], [helper.make_tensor_value_info("y", number, [4])]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "g.ms"), mslite.ModelType.MINDIR_LITE)
    x = mslite.Tensor(np.array([1, -2, 0.5, 3], np.float32).astype(kind))
    assert x.dtype.name == name.upper() and x.data_size == 4 * kind.itemsize
    (found,) = model.predict([x])
    assert found.get_data_to_numpy().dtype == kind
    assert found.get_data_to_numpy().astype(np.float32).tolist() == [2, -4, 1, 6]
