"""Products with packed weights: few rows, and weights of 8 and 4 bits that stay so in memory."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite import loading, source
from mindspore_lite.container import Container
from mindspore_lite.quantise import packed

RANDOM = np.random.default_rng(0)


def save(path, rows=1, width=256):
    """A step of attention's keys (a join behind a product), and two dense layers."""
    constants = {
        "k": (RANDOM.standard_normal((width, width)) / 16).astype(np.float32), "kb": RANDOM.standard_normal(width).astype(np.float32),
        "w": (RANDOM.standard_normal((width, 3 * width)) / 16).astype(np.float32),
        "v": (RANDOM.standard_normal((3 * width, 40)) / 16).astype(np.float32),
        "shape": np.int64([1, rows, 4, width // 4]), "half": np.full(width, 0.5, np.float32),
    }  # fmt: skip
    nodes = [
        helper.make_node("Mul", ["x", "half"], ["h"]),
        helper.make_node("MatMul", ["h", "k"], ["a"]),
        helper.make_node("Add", ["a", "kb"], ["b"]),
        helper.make_node("Mul", ["b", "h"], ["b2"]),
        helper.make_node("Reshape", ["b2", "shape"], ["c"]),
        helper.make_node("Transpose", ["c"], ["d"], perm=[0, 2, 1, 3]),
        helper.make_node("Concat", ["past", "d"], ["keys"], axis=2),
        helper.make_node("MatMul", ["x", "w"], ["e"]),
        helper.make_node("Relu", ["e"], ["f"]),
        helper.make_node("MatMul", ["f", "v"], ["y"]),
    ]
    inputs = {"x": [1, rows, width], "past": [1, 4, 7, width // 4]}
    outputs = {"keys": [1, 4, 7 + rows, width // 4], "y": [1, rows, 40]}
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return {n: RANDOM.standard_normal(s).astype(np.float32) for n, s in inputs.items()}, constants


def expected(given, c):
    x, past = (given[n].astype(np.float64) for n in ("x", "past"))
    keys = ((x * 0.5) @ c["k"] + c["kb"]) * (x * 0.5)
    keys = keys.reshape(1, x.shape[1], 4, -1).transpose(0, 2, 1, 3)
    return np.concatenate([past, keys], axis=2), np.maximum(x @ c["w"], 0) @ c["v"]


def weight_bytes(path):
    return Container.open(str(path), None, "AES-GCM").size("data")


def run(path, given, **weight_quant):
    converter = mslite.Converter()
    if weight_quant:
        bits = weight_quant.pop("bits")
        converter.set_config_info("common_quant_param", {"quant_type": "WEIGHT_QUANT", "bit_num": bits})
        converter.set_config_info("weight_quant_param", weight_quant)
    converter.convert(mslite.FmkType.ONNX, str(path), str(path).removesuffix(".onnx"))
    model = mslite.Model()
    model.build_from_file(str(path).replace(".onnx", ".ms"), mslite.ModelType.MINDIR_LITE)
    return [t.get_data_to_numpy() for t in model.predict([given[t.name] for t in model.get_inputs()])]


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_few_rows_give_what_many_do(tmp_path, rows):
    given, constants = save(tmp_path / "net.onnx", rows)
    for found, wanted in zip(run(tmp_path / "net.onnx", given), expected(given, constants)):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_only_products_of_few_rows_are_packed(tmp_path):
    for rows, count in ((1, 2), (9, 0)):
        save(tmp_path / "net.onnx", rows)
        program = loading.prepare(source.from_onnx(str(tmp_path / "net.onnx"))).program
        names = [node.op.name for node in packed.for_few_rows(program).graph.nodes()]
        assert names.count("PackedProduct") == count  # the third has too few weights


@pytest.mark.parametrize(("bits", "error"), [("8", 0.02), ("4", 0.2)])
def test_weights_of_few_bits_stay_so(tmp_path, bits, error):
    given, constants = save(tmp_path / "net.onnx")
    run(tmp_path / "net.onnx", given)
    size = weight_bytes(tmp_path / "net.ms")
    for found, wanted in zip(run(tmp_path / "net.onnx", given, bits=bits, dequant_strategy="ON_THE_FLY"), expected(given, constants)):
        assert np.linalg.norm(found - wanted) <= error * np.linalg.norm(wanted)
    assert weight_bytes(tmp_path / "net.ms") < size * int(bits) / 32 * 1.6


def test_strategies_and_bits_are_checked(tmp_path):
    given, _ = save(tmp_path / "net.onnx")
    for settings, words in (
        ({"bits": "8", "dequant_strategy": "LATER"}, "dequant_strategy must be ON_THE_FLY"),
        ({"bits": "5", "dequant_strategy": "ON_THE_FLY"}, "bit_num must be 4 or 8"),
    ):
        with pytest.raises(RuntimeError, match=words):
            run(tmp_path / "net.onnx", given, **settings)
