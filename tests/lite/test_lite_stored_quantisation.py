"""Models that come quantised compute in whole numbers, with the results that ONNX Runtime has."""

import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite.model_file import read
from mindspore_lite.tools import converter_lite

ort = pytest.importorskip("onnxruntime")
quantization = pytest.importorskip("onnxruntime.quantization")

RANDOM = np.random.default_rng(5)


def random(*shape, size=0.4):
    return (RANDOM.standard_normal(shape) * size).astype(np.float32)


def save(path, nodes, constants, inputs, outputs):
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(*row) for row in inputs], [helper.make_tensor_value_info(*row) for row in outputs],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def network(path):
    """Convolutions with a ReLU, a residual branch, SiLU, pools, a join and a product."""
    constants = {
        "w1": random(16, 3, 3, 3), "b1": random(16), "w2": random(16, 16, 3, 3, size=0.1), "w3": random(8, 16, 1, 1),
        "w4": random(16, 1, 3, 3), "w5": random(256 + 128, 10, size=0.1), "b5": random(10), "flat": np.int64([1, 384]),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "b"], ["d"]),
        helper.make_node("Sigmoid", ["d"], ["e"]),
        helper.make_node("Mul", ["d", "e"], ["f"]),
        helper.make_node("Conv", ["f", "w4"], ["g"], pads=[1, 1, 1, 1], group=16),
        helper.make_node("MaxPool", ["g"], ["h"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["h", "w3"], ["i"]),
        helper.make_node("Concat", ["h", "i"], ["j"], axis=1),
        helper.make_node("Reshape", ["j", "flat"], ["k"]),
        helper.make_node("Gemm", ["k", "w5", "b5"], ["y"]),
    ]
    save(path, nodes, constants, [("x", TensorProto.FLOAT, [1, 3, 8, 8])], [("y", TensorProto.FLOAT, [1, 10])])


def pictures(count):
    return [random(1, 3, 8, 8, size=1.0) for _ in range(count)]


class Samples(quantization.CalibrationDataReader):
    def __init__(self):
        self.left = iter([{"x": picture} for picture in pictures(32)])

    def get_next(self):
        return next(self.left, None)


def converted(path):
    """A function of one array, and the operations that run."""
    target = str(path).removesuffix(".onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(path), target)
    model = mslite.Model()
    model.build_from_file(f"{target}.ms", mslite.ModelType.MINDIR_LITE)
    kinds = [node.op.name for node in read(f"{target}.ms").program.graph.nodes()]
    return lambda x: model.predict([x])[0].get_data_to_numpy().copy(), kinds


def runtime(path):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    return lambda x: session.run(None, {given.name: x})[0]


@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_files_of_onnx_runtime_compute_in_whole_numbers(tmp_path, form, activations):
    network(tmp_path / "net.onnx")
    logging.disable(logging.WARNING)
    quantization.quantize_static(
        tmp_path / "net.onnx", tmp_path / "whole.onnx", Samples(), per_channel=True,
        quant_format=getattr(quantization.QuantFormat, form), activation_type=getattr(quantization.QuantType, activations),
    )  # fmt: skip
    logging.disable(logging.NOTSET)
    found, kinds = converted(tmp_path / "whole.onnx")
    whole, exact = runtime(tmp_path / "whole.onnx"), runtime(tmp_path / "net.onnx")
    assert kinds.count("QuantisedConv2D") == 4 and "QuantisedMatMul" in kinds and not {"Conv2D", "MatMul", "FakeQuantise"} & set(kinds)
    given = pictures(16)
    rows = [np.concatenate([run(x) for x in given]) for run in (found, whole, exact)]
    scale = np.linalg.norm(rows[2])
    lost = np.linalg.norm(rows[1] - rows[2]) / scale  # by ONNX Runtime
    assert np.linalg.norm(rows[0] - rows[2]) / scale < 1.5 * lost + 0.01
    assert np.mean(rows[0].argmax(1) == rows[1].argmax(1)) >= 0.9


def test_the_end_of_a_grid_does_a_relus_work(tmp_path):
    """ONNX Runtime leaves a ReLU out where unsigned numbers follow."""
    constants = {"w": random(4, 3, 1, 1), "s": np.float32(0.05), "z": np.uint8(0), "sx": np.float32(0.02), "zx": np.int8(0)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"]), helper.make_node("DequantizeLinear", ["xq", "sx", "zx"], ["xd"]),
        helper.make_node("Conv", ["xd", "w"], ["a"]),
        helper.make_node("QuantizeLinear", ["a", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]  # fmt: skip
    save(tmp_path / "net.onnx", nodes, constants, [("x", TensorProto.FLOAT, [1, 3, 5, 5])], [("y", TensorProto.FLOAT, [1, 4, 5, 5])])
    found, kinds = converted(tmp_path / "net.onnx")
    x = random(1, 3, 5, 5, size=1.0)
    wanted = runtime(tmp_path / "net.onnx")(x)
    assert "QuantisedConv2D" in kinds and wanted.min() == 0
    checked = [f"--modelFile={tmp_path / 'net.onnx'}", f"--outputFile={tmp_path / 'checked'}", "--check=true"]
    assert converter_lite.main(["--fmk=ONNX", *checked]) == 0
    assert found(x).min() == 0
    assert np.abs(found(x) - wanted).max() < 0.08


def test_a_model_of_whole_numbers_from_end_to_end(tmp_path):
    constants = {"w": RANDOM.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8), "sw": random(6, size=0.01).__abs__() + np.float32(0.002),
                 "zw": np.zeros(6, np.int8), "s": np.float32(0.1), "z": np.uint8(128), "sx": np.float32(0.02), "zx": np.uint8(0),
                 "b": RANDOM.integers(-500, 500, 6).astype(np.int32)}  # fmt: skip
    nodes = [helper.make_node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "s", "z", "b"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("MaxPool", ["a"], ["y"], kernel_shape=[2, 2], strides=[2, 2])]  # fmt: skip
    save(tmp_path / "net.onnx", nodes, constants, [("x", TensorProto.UINT8, [1, 4, 6, 6])], [("y", TensorProto.UINT8, [1, 6, 3, 3])])
    found, kinds = converted(tmp_path / "net.onnx")
    x = RANDOM.integers(0, 256, (1, 4, 6, 6)).astype(np.uint8)
    assert "QuantisedConv2D" in kinds and "Conv2D" not in kinds
    result = found(x)
    assert result.dtype == np.uint8
    assert np.abs(result.astype(int) - runtime(tmp_path / "net.onnx")(x)).max() <= 1


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_a_grid_without_a_layer_rounds_floats(tmp_path, kind):
    constants = {"s": np.float32(0.03), "z": kind(3)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("Transpose", ["q"], ["t"]),
             helper.make_node("DequantizeLinear", ["t", "s", "z"], ["y"])]  # fmt: skip
    save(tmp_path / "net.onnx", nodes, constants, [("x", TensorProto.FLOAT, [4, 30])], [("y", TensorProto.FLOAT, [30, 4])])
    model = onnx.load(tmp_path / "net.onnx")
    model.opset_import[0].version, model.ir_version = 21, 10  # 16 bits are new there
    onnx.save(model, tmp_path / "net.onnx")
    found, kinds = converted(tmp_path / "net.onnx")
    x = random(4, 30, size=4.0)
    np.testing.assert_allclose(found(x), runtime(tmp_path / "net.onnx")(x), atol=1e-6)
    assert "FakeQuantise" in kinds
