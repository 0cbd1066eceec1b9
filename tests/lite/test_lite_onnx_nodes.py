"""A sample of ONNX's own node tests through Converter and Model: the expected result, or a refusal that says why."""

import warnings

import numpy as np
import onnx
import pytest

import mindspore_lite as mslite

STRIDE = 37
#: random by nature
SKIP = ("bernoulli", "training_dropout", "random")


def sample():
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in load_model_tests(kind="node") if case.model is not None]
    return [case for case in cases[::STRIDE] if not any(word in case.name for word in SKIP)]


def run(case, folder):
    path = str(folder / "net.onnx")
    onnx.save(case.model, path)
    mslite.Converter().convert(mslite.FmkType.ONNX, path, str(folder / "net"))
    model = mslite.Model()
    model.build_from_file(str(folder / "net.ms"), mslite.ModelType.MINDIR_LITE)
    for inputs, outputs in case.data_sets:
        found = model.predict([mslite.Tensor(np.asarray(x)) for x in inputs])
        assert len(found) == len(outputs)
        for tensor, wanted in zip(found, outputs):
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


def test_sequences_are_refused(tmp_path):
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("SplitToSequence", ["x"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])],
        [helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    with pytest.raises(RuntimeError, match="'y' is a sequence; models take and give tensors"):
        mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
