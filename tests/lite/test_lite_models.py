"""Converted models against ONNX Runtime, closed forms and themselves in other forms."""

import contextlib
import os
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite import container, model_file

rng = np.random.default_rng(3)


def conv_net(path, size=16, batch=2):
    """conv + batch norm + relu6, depthwise conv, global pool, dense."""
    w1, w2, w3 = (rng.standard_normal(s).astype(np.float32) for s in ((8, 3, 3, 3), (8, 1, 3, 3), (8, 5)))
    norm = [np.abs(rng.standard_normal(8)).astype(np.float32) + 0.5 for _ in range(4)]
    constants = {"w1": w1, "w2": w2, "w3": w3, **{f"n{k}": v for k, v in enumerate(norm)}}
    constants.update(low=np.float32(0), high=np.float32(6), axes=np.array([2, 3], np.int64))
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["a", "n0", "n1", "n2", "n3"], ["b"]),
        helper.make_node("Clip", ["b", "low", "high"], ["c"]),
        helper.make_node("Conv", ["c", "w2"], ["d"], pads=[1, 1, 1, 1], group=8, strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Squeeze", ["e", "axes"], ["f"]),
        helper.make_node("MatMul", ["f", "w3"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 5])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def expected(path, x):
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def built(path, **options):
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, **options)
    return model


@pytest.fixture
def net(tmp_path):
    path = str(tmp_path / "net.onnx")
    conv_net(path)
    return path


@pytest.fixture
def image():
    return rng.standard_normal((2, 3, 16, 16)).astype(np.float32)


def test_results_are_those_of_onnx_runtime(net, image, tmp_path, capsys):
    mslite.Converter().convert(mslite.FmkType.ONNX, net, str(tmp_path / "net"))
    assert "CONVERT RESULT SUCCESS:0" in capsys.readouterr().out
    model = built(tmp_path / "net.ms")
    (y,) = model.predict([image])
    np.testing.assert_allclose(y.get_data_to_numpy(), expected(net, image), rtol=1e-4, atol=1e-4)
    assert (y.name, y.shape, y.dtype) == ("y", [2, 5], mslite.DataType.FLOAT32)
    (meta,) = model.get_outputs()
    assert (meta.name, meta.shape, meta.data_size) == ("y", [2, 5], 40)


def test_a_fixed_shape_can_be_resized(net, tmp_path):
    mslite.Converter().convert(mslite.FmkType.ONNX, net, str(tmp_path / "net"))
    model = built(tmp_path / "net.ms")
    inputs = model.get_inputs()
    model.resize(inputs, [[1, 3, 10, 12]])
    x = rng.standard_normal((1, 3, 10, 12)).astype(np.float32)
    inputs[0].set_data_from_numpy(x)
    found = model.predict(inputs)[0].get_data_to_numpy()
    onnx_model = onnx.load(net)
    for value, sizes in zip((onnx_model.graph.input[0], onnx_model.graph.output[0]), ((1, 3, 10, 12), (1, 5))):
        for dim, size in zip(value.type.tensor_type.shape.dim, sizes):
            dim.dim_value = size
    onnx.save(onnx_model, tmp_path / "small.onnx")
    np.testing.assert_allclose(found, expected(str(tmp_path / "small.onnx"), x), rtol=1e-4, atol=1e-4)


def test_open_sizes_are_given_by_the_data(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["y"], axis=-1)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    model = built(tmp_path / "g.ms")
    assert model.get_inputs()[0].shape == [-1, 4]
    for rows in (1, 5):
        x = rng.standard_normal((rows, 4)).astype(np.float32)
        powers = np.exp(x - x.max(-1, keepdims=True))
        np.testing.assert_allclose(
            model.predict([x])[0].get_data_to_numpy(), powers / powers.sum(-1, keepdims=True), rtol=1e-5
        )


def test_values_may_decide_shapes(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6]), helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    model = built(tmp_path / "g.ms")
    x = np.arange(6, dtype=np.float32)
    for shape in ((2, 3), (3, 2), (2, 3)):
        assert model.predict([x, np.array(shape)])[0].shape == list(shape)


def test_half_weights_and_encryption(net, image, tmp_path):
    plain, half = tmp_path / "plain.ms", tmp_path / "half.ms"
    mslite.Converter().convert(mslite.FmkType.ONNX, net, str(plain))
    converter = mslite.Converter()
    converter.weight_fp16 = True
    converter.enable_encryption = True
    converter.encrypt_key = "30313233343536373839414243444546"
    converter.convert(mslite.FmkType.ONNX, net, str(half))
    with pytest.raises(RuntimeError, match="encrypted; give its key"):
        built(half)
    with pytest.raises(RuntimeError, match="cannot be decrypted"):
        built(half, dec_key=b"0" * 16)
    (y,) = built(half, dec_key=b"0123456789ABCDEF").predict([image])
    np.testing.assert_allclose(y.get_data_to_numpy(), expected(net, image), rtol=0.05, atol=0.05)


def test_mixed_bits_follow_from_the_error(tmp_path):
    easy = np.where(rng.standard_normal((64, 32)) > 0, 1, -1).astype(np.float32)  # two values: two bits are exact
    hard = rng.standard_normal((32, 32)).astype(np.float32) ** 5
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "easy"], ["a"]), helper.make_node("MatMul", ["a", "hard"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 32])],
        [numpy_helper.from_array(easy, "easy"), numpy_helper.from_array(hard, "hard")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    found = {}
    for scale in ("0.1", "0.001"):
        converter = mslite.Converter()
        converter.set_config_info("common_quant_param", {"quant_type": "WEIGHT_QUANT", "bit_num": "0"})
        converter.set_config_info("mixed_bit_weight_quant_param", {"init_scale": scale})
        converter.convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
        rows = [r for r in container.Container.open(str(tmp_path / "g.ms")).json("arrays") if "stored" in r]
        found[scale] = {tuple(r["shape"]): r["stored"]["bits"] for r in rows}
        weights = model_file.read(str(tmp_path / "g.ms")).program.weights.values()
        for exact, rounded in zip((easy, hard), sorted(weights, key=lambda w: -w.size)):
            assert np.linalg.norm(exact - rounded) <= float(scale) * np.linalg.norm(exact) * 1.001
    assert found["0.1"][64, 32] == found["0.001"][64, 32] == 2
    assert 2 < found["0.1"][32, 32] < found["0.001"][32, 32]
    converter.set_config_info("mixed_bit_weight_quant_param", {"init_scale": "2"})
    with pytest.raises(RuntimeError, match="init_scale must be"):
        converter.convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))


@pytest.mark.parametrize("bits", [4, 7, 8])
def test_quantised_weights_err_by_half_a_step(bits, tmp_path):
    w = rng.standard_normal((64, 32)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 32])], [numpy_helper.from_array(w, "w")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    converter = mslite.Converter()
    converter.set_config_info("common_quant_param", {"quant_type": "WEIGHT_QUANT", "bit_num": str(bits)})
    converter.set_config_info("weight_quant_param", {"bias_correction": "false"})
    converter.convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    found = built(tmp_path / "g.ms").predict([np.eye(64, dtype=np.float32)])[0].get_data_to_numpy()
    step = np.abs(w).max(0) / (2 ** (bits - 1) - 1)
    assert (np.abs(found - w) <= step * 0.501).all()
    assert np.abs(found - w).max() > 0
    assert (tmp_path / "g.ms").stat().st_size < w.nbytes * bits / 32 + 5000  # with machine code


def test_new_weights(net, image, tmp_path):
    mslite.Converter().convert(mslite.FmkType.ONNX, net, str(tmp_path / "net"))
    model = built(tmp_path / "net.ms")
    before = model.predict([image])[0].get_data_to_numpy().copy()
    weight = mslite.Tensor(np.zeros((8, 5), np.float32))
    weight.name = "w3"
    model.update_weights([[weight]])
    after = model.predict([image])[0].get_data_to_numpy()
    assert np.abs(before).max() > 0 and np.abs(after).max() == 0
    weight.name = "w9"
    with pytest.raises(RuntimeError, match="no weight 'w9'"):
        model.update_weights([[weight]])


def test_many_threads_on_one_runner(net, tmp_path):
    mslite.Converter().convert(mslite.FmkType.ONNX, net, str(tmp_path / "net"))
    context = mslite.Context()
    context.parallel.workers_num = 3
    runner = mslite.ModelParallelRunner()
    runner.build_from_file(str(tmp_path / "net.ms"), context)
    images = [rng.standard_normal((2, 3, 16, 16)).astype(np.float32) for _ in range(24)]
    found = [None] * len(images)

    def work(place):
        inputs = runner.get_inputs()
        inputs[0].set_data_from_numpy(images[place])
        found[place] = runner.predict(inputs)[0].get_data_to_numpy()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for image, result in zip(images, found):
        np.testing.assert_allclose(result, expected(net, image), rtol=1e-4, atol=1e-4)


def test_an_index_out_of_range_is_an_error(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Gather", ["x", "i"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]), helper.make_tensor_value_info("i", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    model = built(tmp_path / "g.ms")
    x = np.arange(3, dtype=np.float32)
    assert model.predict([x, np.array([2])])[0].get_data_to_numpy().tolist() == [2.0]
    with pytest.raises(RuntimeError, match="predict failed"):
        model.predict([x, np.array([7])])


def test_unsupported_operations_are_named_and_nothing_is_written(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Warp", ["x"], ["a"], name="first", domain="com.example"), helper.make_node("Relu", ["a"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "g.onnx")
    with pytest.raises(RuntimeError, match=r"com\.example\.Warp \(at first\)"):
        mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    assert not (tmp_path / "g.ms").exists()


def test_the_framework_network_gives_the_same(tmp_path):
    ms = pytest.importorskip("mindspore")
    net = ms.nn.SequentialCell(
        ms.nn.Conv2d(3, 4, 3, has_bias=True), ms.nn.ReLU(), ms.nn.Flatten(), ms.nn.Dense(4 * 64, 5)
    )
    x = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    wanted = net(ms.Tensor(x)).asnumpy()
    ms.export(net, ms.Tensor(x), file_name=str(tmp_path / "net"), file_format="MINDIR")
    mslite.Converter().convert(mslite.FmkType.MINDIR, str(tmp_path / "net.mindir"), str(tmp_path / "net"))
    np.testing.assert_allclose(
        built(tmp_path / "net.ms").predict([x])[0].get_data_to_numpy(), wanted, rtol=1e-4, atol=1e-5
    )
    infer = mslite.LiteInfer(net, ms.Tensor(x))
    inputs = infer.get_inputs()
    inputs[0].set_data_from_numpy(x)
    np.testing.assert_allclose(infer.predict(inputs)[0].get_data_to_numpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [3, 4, 21, 65536])
def test_sums_over_any_number_of_channels(tmp_path, size):
    """A window may be much wider than the channels there are; graphs do not grow with it."""
    graph = helper.make_graph(
        [helper.make_node("LRN", ["x"], ["y"], size=size, alpha=0.5)], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 12, 3, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 12, 3, 2])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "net"))
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "net.ms"), mslite.ModelType.MINDIR_LITE)
    x = np.random.default_rng(1).standard_normal((2, 12, 3, 2)).astype(np.float32)
    below, above = (size - 1) // 2, size // 2
    sums = np.stack([np.square(x[:, max(c - below, 0) : c + above + 1]).sum(1) for c in range(12)], axis=1)
    np.testing.assert_allclose(model.predict([x])[0].get_data_to_numpy(), x / (1 + 0.5 / size * sums) ** 0.75, rtol=1e-5)


def affinities():
    """The cores of every thread of this process."""
    found = {}
    for number in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):
            found[int(number)] = os.sched_getaffinity(int(number))
    return found


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one core, or none to choose")
def test_threads_are_bound_to_cores_and_callers_get_theirs_back(tmp_path):
    conv_net(tmp_path / "net.onnx", size=64, batch=8)
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "net"))
    first, second, *_ = sorted(os.sched_getaffinity(0))
    context = mslite.Context()
    context.cpu.thread_num, context.cpu.thread_affinity_core_list = 2, [second, first]
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "net.ms"), mslite.ModelType.MINDIR_LITE, context)
    x = rng.standard_normal((8, 3, 64, 64)).astype(np.float32)
    found = {}

    def run():  # a thread of its own has a team of its own
        before, others = os.sched_getaffinity(0), set(affinities())
        found["y"] = model.predict([x])[0].get_data_to_numpy().copy()
        found["new"] = [cores for number, cores in affinities().items() if number not in others]
        found["own"] = before == os.sched_getaffinity(0)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found["own"] and {first} in found["new"]
    free = mslite.Model()
    free.build_from_file(str(tmp_path / "net.ms"), mslite.ModelType.MINDIR_LITE)
    np.testing.assert_allclose(found["y"], free.predict([x])[0].get_data_to_numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no call for it")
@pytest.mark.parametrize(
    ("name", "value", "words"), [("thread_affinity_core_list", [9999], "names core 9999"), ("thread_affinity_mode", 7, "must be 0")]
)
def test_cores_that_are_not_there_are_refused(tmp_path, name, value, words):
    conv_net(tmp_path / "net.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "net"))
    context = mslite.Context()
    setattr(context.cpu, name, value)
    with pytest.raises((ValueError, RuntimeError), match=words):
        mslite.Model().build_from_file(str(tmp_path / "net.ms"), mslite.ModelType.MINDIR_LITE, context)
