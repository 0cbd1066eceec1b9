"""Full and dynamic quantisation: the same answers as the float model, in whole numbers of 8 bits."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore._base import dtype as mstype
from mindspore.backends import cpu
from mindspore.backends.interp import InterpBackend
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore.prims.conv import Conv2D
from mindspore.prims.quantised import QuantisedConv2D, QuantisedMatMul, QuantiseLinear, TableLookup
from mindspore.prims.structural import MakeTuple
from mindspore_lite.container import Container

RANDOM = np.random.default_rng(0)
KINDS = {"u1": mstype.uint8, "i1": mstype.int8, "f4": mstype.float32}


def results(op, *arrays):
    """On NumPy and on the native backend."""
    graph = FuncGraph("one")
    nodes = tuple(graph.add_parameter(f"p{n}", AbstractTensor(KINDS[a.dtype.str[1:]], a.shape)) for n, a in enumerate(arrays))
    builder = Builder(graph)
    graph.output = builder.emit(MakeTuple(), (builder.emit(op, nodes),))
    backends = [InterpBackend(), *([cpu.CpuBackend()] if cpu.available() else [])]
    return [np.asarray(b.compile(graph)(*arrays)[0]) for b in backends]


def whole(low, high, shape, kind):
    return RANDOM.integers(low, high + 1, shape).astype(kind)


def scales(count):
    return (RANDOM.random(count) * 1e-3 + 1e-4).astype(np.float32), RANDOM.standard_normal(count).astype(np.float32)


@pytest.mark.parametrize("out", ["float32", "uint8", "int8"])
@pytest.mark.parametrize(("kind", "channels", "count", "group"), [("u1", 3, 20, 1), ("i1", 16, 16, 16), ("i1", 32, 8, 1)])
def test_convolutions_of_whole_numbers_agree_with_sums_in_float64(out, kind, channels, count, group):
    x = whole(0, 255, (2, channels, 9, 7), "u1") if kind == "u1" else whole(-128, 127, (2, channels, 9, 7), "i1")
    w = whole(-127, 127, (count, channels // group, 3, 3), "i1")
    scale, bias = scales(count)
    op = QuantisedConv2D(Conv2D(count, 3, pad_mode="pad", pad=1, stride=2, group=group), out, 0.25, -20.0, 20.0)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = np.zeros((2, count, 5, 4))
    for o in range(count):
        inputs = slice(o * channels // count, o * channels // count + 1) if group > 1 else slice(None)
        for i in range(3):
            for j in range(3):
                sums[:, o] += (padded[:, inputs, i : i + 9 : 2, j : j + 7 : 2] * w[o, :, i, j][:, None, None]).sum(axis=1)
    exact = np.clip(sums * scale[:, None, None] + bias[:, None, None], -20, 20)
    for found in results(op, x, w, scale, bias):
        assert found.dtype == np.dtype(out)
        if out == "float32":
            np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)
        else:
            low, high = (0, 255) if out == "uint8" else (-128, 127)
            assert np.abs(found - np.clip(np.rint(exact / 0.25), low, high)).max() <= 1


@pytest.mark.parametrize("kind", ["u1", "i1"])
@pytest.mark.parametrize("channels", [1, 4, 8, 16])
def test_filters_that_lie_in_the_wanted_order_already(kind, channels):
    """A signed source needs sums of the filters besides, which no order of their elements gives."""
    x, w = whole(0, 127, (1, channels, 2, 2), kind), whole(-127, 127, (32, channels, 1, 1), "i1")
    scale, bias = scales(32)
    exact = np.einsum("ncyx,oc->noyx", x.astype(np.float64), w[:, :, 0, 0].astype(np.float64))
    for found in results(QuantisedConv2D(Conv2D(32, 1)), x, w, scale, bias):
        np.testing.assert_allclose(found, exact * scale[:, None, None] + bias[:, None, None], rtol=1e-5, atol=1e-4)


def test_products_add_a_tensor_and_keep_within_bounds():
    x, w = whole(-128, 127, (3, 2, 40), "i1"), whole(-127, 127, (40, 24), "i1")
    scale, bias = scales(24)
    added = RANDOM.standard_normal((3, 2, 24)).astype(np.float32)
    exact = np.maximum((x.astype(np.float64) @ w.astype(np.float64)) * scale + bias + added, 0)
    for found in results(QuantisedMatMul("float32", low=0.0), x, w, scale, bias, added):
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)


def test_numbers_beyond_the_range_take_its_end():
    x = np.float32([-1e9, -3.5, -0.4, 0.5, 1.5, 300, 1e9])
    for found in results(QuantiseLinear("uint8"), x, np.float32(1).reshape(())):
        assert found.tolist() == [0, 0, 0, 0, 2, 255, 255]
    for found in results(QuantiseLinear("int8"), x, np.float32(1).reshape(())):
        assert found.tolist() == [-128, -4, 0, 0, 2, 127, 127]


@pytest.mark.parametrize("kind", ["u1", "i1"])
@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (3, 5, 7, 11)])
def test_bytes_choose_entries_of_a_table(kind, shape):
    table = whole(0, 255, (256,), "u1").view(kind)
    x = whole(0, 255, shape, "u1")
    for found in results(TableLookup(), x, table):
        np.testing.assert_array_equal(found, table[x])


def test_operands_are_checked():
    with pytest.raises(ValueError, match="must have the shape"):
        results(TableLookup(), whole(0, 1, (2,), "u1"), whole(0, 1, (8,), "u1"))
    with pytest.raises(ValueError, match="'out' must be"):
        QuantiseLinear("int4")
    with pytest.raises(TypeError, match="'w' must be of type Int8"):
        results(QuantisedMatMul(), whole(0, 1, (2, 3), "i1"), whole(0, 1, (3, 2), "u1"), *scales(2))


# -- whole networks -----------------------------------------------------------------------------------------------------
def digits(count):
    """Noisy pictures of ten patterns, and which they are."""
    patterns = np.random.default_rng(7).standard_normal((10, 1, 12, 12)) * 0.6
    labels = RANDOM.integers(0, 10, count)
    return (patterns[labels] + RANDOM.standard_normal((count, 1, 12, 12))).astype(np.float32), labels


def trained(path):
    """Random filters, a residual branch, and a classifier fitted by least squares; saved for single pictures."""
    w1 = (RANDOM.standard_normal((16, 1, 3, 3)) * 0.4).astype(np.float32)
    w2 = (RANDOM.standard_normal((16, 16, 3, 3)) * 0.1).astype(np.float32)
    gain, shift = RANDOM.random(16).astype(np.float32) + 0.5, RANDOM.standard_normal(16).astype(np.float32) * 0.1
    constants = {"w1": w1, "w2": w2, "gain": gain, "shift": shift, "mean": shift, "var": gain, "six": np.float32(6),
                 "zero": np.float32(0)}  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["a", "gain", "shift", "mean", "var"], ["b"]),
        helper.make_node("Clip", ["b", "zero", "six"], ["c"]),
        helper.make_node("Conv", ["c", "w2", "shift"], ["d"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["d", "c"], ["e"]),
        helper.make_node("Relu", ["e"], ["f"]),
        helper.make_node("AveragePool", ["f"], ["g"], kernel_shape=[3, 3], strides=[3, 3]),
        helper.make_node("Flatten", ["g"], ["h"]),
    ]
    save(path, nodes, constants, ("h", [1, 256]))
    features = model_of(path)
    x, labels = digits(800)
    rows = np.concatenate([features(x[n : n + 1]) for n in range(len(x))])
    solved = np.linalg.solve(rows.T @ rows + 10 * np.eye(256), rows.T @ (np.eye(10)[labels] - 0.1)).astype(np.float32)
    constants |= {"fc": solved, "offset": np.full(10, 0.1, np.float32)}
    nodes += [helper.make_node("Gemm", ["h", "fc", "offset"], ["y"])]
    save(path, nodes, constants, ("y", [1, 10]))


def save(path, nodes, constants, output):
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 12, 12])],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def model_of(path, **sections):
    """A function of pictures; `sections`: of the configuration."""
    converter, target = mslite.Converter(), str(path).replace(".onnx", "")
    for name, section in sections.items():
        converter.set_config_info(name, section)
    converter.convert(mslite.FmkType.ONNX, str(path), target)
    model = mslite.Model()
    model.build_from_file(f"{target}.ms", mslite.ModelType.MINDIR_LITE)
    (tensor,) = model.get_inputs()

    def run(x):
        tensor.set_data_from_numpy(x)
        return model.predict([tensor])[0].get_data_to_numpy().copy()

    run.model = model
    return run


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    folder = tmp_path_factory.mktemp("int8")
    trained(folder / "net.onnx")
    (folder / "data").mkdir()
    for number, picture in enumerate(digits(32)[0]):
        picture.tofile(folder / "data" / f"{number:03}.bin")
    return folder


def settings(folder, **full):
    return {
        "common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": "8"},
        "data_preprocess_param": {"calibrate_path": f"x:{folder / 'data'}", "calibrate_size": "32", "input_type": "BIN"},
        "full_quant_param": full,
    }


def weight_bytes(path):
    """Without the machine code, which is as large for small models."""
    return Container.open(str(path), None, "AES-GCM").size("data")


def accuracy(run, pictures, labels):
    return np.mean([run(x[None]).argmax() == label for x, label in zip(pictures, labels)])


@pytest.mark.parametrize("method", ["MAX_MIN", "KL", "REMOVAL_OUTLIER"])
def test_a_trained_network_loses_at_most_half_a_point(network, method):
    pictures, labels = digits(600)
    exact = accuracy(model_of(network / "net.onnx"), pictures, labels)
    size = weight_bytes(network / "net.ms")
    run = model_of(network / "net.onnx", **settings(network, activation_quant_method=method))
    assert exact > 0.9
    assert accuracy(run, pictures, labels) >= exact - 0.005
    assert weight_bytes(network / "net.ms") < 0.6 * size
    with pytest.raises(RuntimeError, match="fixed shapes"):
        run.model.resize(run.model.get_inputs(), [[2, 1, 12, 12]])


CURVES = {
    "silu": [("Sigmoid", ["d"], {}), ("Mul", ["d", "c0"], {})],
    "hswish": [("HardSwish", ["d"], {})],
    "gelu": [("Div", ["d", "root"], {}), ("Erf", ["c0"], {}), ("Add", ["c1", "one"], {}), ("Mul", ["d", "c2"], {}),
             ("Mul", ["c3", "half"], {})],
    "tanh": [("Tanh", ["d"], {})],
}  # fmt: skip


def curved(path, name, read_as_floats):
    """Two convolutions with a curve between them, which pooling reads, too, where it is asked for."""
    random = np.random.default_rng(3)
    constants = {
        "w1": random.standard_normal((8, 1, 3, 3)).astype(np.float32) / 2, "w2": random.standard_normal((4, 8, 1, 1)).astype(np.float32),
        "root": np.float32(np.sqrt(2)), "one": np.float32(1), "half": np.float32(0.5),
    }  # fmt: skip
    nodes = [helper.make_node("Conv", ["x", "w1"], ["d"], pads=[1, 1, 1, 1])]
    nodes += [helper.make_node(op, inputs, [f"c{n}"], **more) for n, (op, inputs, more) in enumerate(CURVES[name])]
    last = f"c{len(CURVES[name]) - 1}"
    nodes += [helper.make_node("Conv", [last, "w2"], ["e" if read_as_floats else "y"])]
    if read_as_floats:
        nodes += [helper.make_node("GlobalAveragePool", [last], ["p"]), helper.make_node("Conv", ["p", "w2"], ["q"])]
        nodes += [helper.make_node("Add", ["e", "q"], ["y"])]
    save(path, nodes, constants, ("y", [1, 4, 12, 12]))


@pytest.mark.parametrize("read_as_floats", [False, True])
@pytest.mark.parametrize("name", list(CURVES))
def test_curves_between_layers_are_tables(network, tmp_path, name, read_as_floats):
    curved(tmp_path / "net.onnx", name, read_as_floats)
    exact = model_of(tmp_path / "net.onnx")
    pictures, _ = digits(16)
    wanted = np.concatenate([exact(x[None]) for x in pictures])
    run = model_of(tmp_path / "net.onnx", **settings(network))
    found = np.concatenate([run(x[None]) for x in pictures])
    assert np.linalg.norm(found - wanted) < 0.04 * np.linalg.norm(wanted)
    kinds = [node.op.name for node in run.model._session.program().graph.nodes()]
    assert kinds.count("TableLookup") == 1 + read_as_floats and not {"Sigmoid", "Erf", "Tanh", "HSwish"} & set(kinds)


@pytest.mark.parametrize("method", ["MAX_MIN", "KL", "REMOVAL_OUTLIER"])
def test_few_large_numbers_that_matter_are_not_cut_off(tmp_path, method):
    """One picture in a hundred is bright, and its brightness is the answer."""
    weight = {"w": np.ones((1, 1, 1, 1), np.float32)}
    save(tmp_path / "net.onnx", [helper.make_node("Conv", ["x", "w"], ["y"])], weight, ("y", [1, 1, 12, 12]))
    (tmp_path / "data").mkdir()
    random = np.random.default_rng(4)
    pictures = random.exponential(0.05, (32, 1, 12, 12)).astype(np.float32)
    pictures[:, 0, 5, 5] = random.uniform(4, 8, 32)
    for number, picture in enumerate(pictures):
        picture.tofile(tmp_path / "data" / f"{number:03}.bin")
    run = model_of(tmp_path / "net.onnx", **settings(tmp_path, activation_quant_method=method))
    found = np.concatenate([run(picture[None]) for picture in pictures])
    assert np.abs(found - pictures).max() < 0.2


def test_bias_correction_brings_means_closer(network):
    pictures, _ = digits(64)
    exact = model_of(network / "net.onnx")
    wanted = np.concatenate([exact(x[None]) for x in pictures])
    errors = {}
    for correct in ("true", "false"):
        run = model_of(network / "net.onnx", **settings(network, bias_correction=correct, per_channel="false"))
        errors[correct] = np.abs((np.concatenate([run(x[None]) for x in pictures]) - wanted).mean(axis=0)).mean()
    assert errors["true"] < errors["false"]


def test_dynamic_quantisation_needs_no_data(network):
    pictures, labels = digits(200)
    exact = accuracy(model_of(network / "net.onnx"), pictures, labels)
    run = model_of(network / "net.onnx", common_quant_param={"quant_type": "DYNAMIC_QUANT", "bit_num": "8"})
    assert accuracy(run, pictures, labels) >= exact - 0.01
    assert not np.array_equal(run(pictures[:1]), model_of(network / "net.onnx")(pictures[:1]))


def test_the_report_names_each_layer_and_skipped_ones_stay_exact(network, tmp_path):
    given = settings(network)
    given["common_quant_param"] |= {"debug_info_save_path": str(tmp_path), "skip_quant_node": "w2, fc"}
    model_of(network / "net.onnx", **given)
    rows = json.loads((tmp_path / "quantisation.json").read_text())
    assert [row["layer"] for row in rows] == ["w1"]
    assert 0 < rows[0]["relative_error"] < 0.1 and rows[0]["type"] == "int8"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"common_quant_param": {"quant_type": "MAGIC"}}, "quant_type must be one of"),
        ({"common_quant_param": {"quant_type": "FULL_QUANT", "bit_num": "4"}}, "bit_num must be 8"),
        ({"full_quant_param": {"activation_quant_method": "GUESS"}}, "activation_quant_method must be one of"),
        ({"data_preprocess_param": {"calibrate_size": "1"}}, "calibrate_path must name a folder"),
    ],
)
def test_settings_of_quantisation_are_checked(network, changes, words):
    with pytest.raises(RuntimeError, match=words):
        model_of(network / "net.onnx", **(settings(network) | changes))


def test_samples_of_another_size_are_refused(network, tmp_path):
    np.zeros(7, np.float32).tofile(tmp_path / "a.bin")
    given = settings(network)
    given["data_preprocess_param"] |= {"calibrate_path": f"x:{tmp_path}", "calibrate_size": "1"}
    with pytest.raises(RuntimeError, match="must hold 144 numbers"):
        model_of(network / "net.onnx", **given)
    given["data_preprocess_param"]["calibrate_size"] = "5"
    with pytest.raises(RuntimeError, match="has 1 samples"):
        model_of(network / "net.onnx", **given)


def test_a_network_of_words_keeps_the_check_of_its_indices(tmp_path):
    """What checks tell is an output of the graph, too: calibration must not take it for a layer's values."""
    table, weight = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((50, 16), (16, 8)))
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "x"], ["rows"]), helper.make_node("MatMul", ["rows", "weight"], ["y"])], "words",
        [helper.make_tensor_value_info("x", TensorProto.INT64, [4])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
        [numpy_helper.from_array(v, k) for k, v in (("table", table), ("weight", weight))],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "words.onnx")
    (tmp_path / "data").mkdir()
    for number in range(8):
        RANDOM.integers(0, 50, 4).tofile(tmp_path / "data" / f"{number}.bin")
    run = model_of(tmp_path / "words.onnx", **{**settings(tmp_path), "data_preprocess_param": {
        "calibrate_path": f"x:{tmp_path / 'data'}", "calibrate_size": "8", "input_type": "BIN"}})  # fmt: skip
    words = np.array([3, 0, 49, 7])
    exact = table[words] @ weight
    assert np.abs(run(words) - exact).max() < 0.05 * np.abs(exact).max()
    with pytest.raises(RuntimeError, match="50"):
        run(np.array([3, 0, 50, 7]))
