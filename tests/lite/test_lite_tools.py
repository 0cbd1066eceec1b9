"""Tools around models: layer by layer checks, and times of operators."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore.backends import cpu
from mindspore_lite.tools import benchmark, converter_lite

RANDOM = np.random.default_rng(0)


@pytest.fixture
def network(tmp_path):
    w = numpy_helper.from_array((RANDOM.standard_normal((4, 3, 3, 3)) * 0.2).astype(np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("GlobalAveragePool", ["b"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1])], [w],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    return tmp_path


def convert(folder, *more):
    return converter_lite.main(["--fmk=ONNX", f"--modelFile={folder / 'net.onnx'}", f"--outputFile={folder / 'net'}", *more])


def test_check_compares_every_layer(network, capsys):
    assert convert(network, "--check=true") == 0
    assert "CHECK: 4 values compared" in capsys.readouterr().out


def test_check_says_where_engines_part(network, capsys, monkeypatch):
    rule = _rule("Relu")
    monkeypatch.setitem(_rules(), "Relu", lambda *a, **k: rule(*a, **k) * 2)
    assert convert(network, "--check=true") == 1
    told = capsys.readouterr().err
    assert "they part at 'b' (Relu)" in told and not (network / "net.ms").exists()


def _rules():
    from mindspore.formats.onnx import registry

    return registry.OPERATORS


def _rule(name):
    return _rules()[name]


@pytest.mark.skipif(not cpu.available(), reason="needs the native backend")
def test_benchmark_shows_operators(network, capsys):
    assert convert(network) == 0
    assert benchmark.main([f"--modelFile={network / 'net.ms'}", "--timeProfiling=true", "--loopCount=2"]) == 0
    told = capsys.readouterr().out
    assert "opName" in told and "conv" in told and "opType" in told


def test_killed_while_it_converts_the_file_is_whole(network):
    script = textwrap.dedent(f"""
        import mindspore_lite as mslite
        while True:
            mslite.Converter().convert(mslite.FmkType.ONNX, {str(network / "net.onnx")!r}, {str(network / "net")!r})
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    for count, _ in enumerate(process.stdout):
        if count == 3:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    model = mslite.Model()
    model.build_from_file(str(network / "net.ms"), mslite.ModelType.MINDIR_LITE)
    found = model.predict([np.zeros((1, 3, 8, 8), np.float32)])[0].get_data_to_numpy()
    np.testing.assert_allclose(found, 0.25, rtol=1e-6)


@pytest.mark.skipif(not cpu.available(), reason="no native backend")
def test_the_viewer_writes_one_page_with_every_operator(network, capsys):
    import json

    from mindspore_lite.tools import model_viewer

    convert(network)
    page = network / "net.html"
    assert model_viewer.main([f"--modelFile={network / 'net.ms'}", f"--outputFile={page}", "--loopCount=1"]) == 0
    text = page.read_text()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded
    data = json.loads(text.split("const model = ")[1].split(";\n")[0].replace("<\\/", "</"))
    assert data["inputs"] == [["x", "Float32", [1, 3, 8, 8]]] and data["weights"] == 4 * 3 * 3 * 3 * 4
    rows = data["rows"]
    assert rows and all(row[3] >= 0 for row in rows)
    assert max(row[7] for row in rows) >= 4 * 8 * 8 * 4  # the convolution's result
    read = {number for row in rows for number in row[5]}
    assert -1 in read and max(read) < len(rows)  # the input is read, and operators read each other
    assert all(number < place for place, row in enumerate(rows) for number in row[5])
    capsys.readouterr()
    assert model_viewer.main([f"--modelFile={network / 'gone.ms'}", f"--outputFile={network / 'no.html'}"]) == 1
    assert "does not exist" in capsys.readouterr().err and not (network / "no.html").exists()


@pytest.mark.parametrize("way", ["NHWC in", "NHWC out", "both"])
def test_images_in_another_order_of_dimensions(tmp_path, way):
    constants = {"w": np.random.default_rng(2).standard_normal((5, 3, 3, 3)).astype(np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 6, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5, 6, 8])],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    common = ["--fmk=ONNX", f"--modelFile={tmp_path / 'net.onnx'}", "--inputShape=x:2,3,6,8"]  # sizes as the source has them
    assert converter_lite.main([*common, f"--outputFile={tmp_path / 'plain'}"]) == 0
    more = [f"--{part}DataFormat=NHWC" for part, asked in (("input", way != "NHWC out"), ("output", way != "NHWC in")) if asked]
    assert converter_lite.main([*common, f"--outputFile={tmp_path / 'turned'}", *more]) == 0
    x = np.random.default_rng(3).standard_normal((2, 3, 6, 8)).astype(np.float32)
    found = {}
    for name in ("plain", "turned"):
        model = mslite.Model()
        model.build_from_file(str(tmp_path / f"{name}.ms"), mslite.ModelType.MINDIR_LITE)
        turned = name == "turned" and way != "NHWC out"
        found[name] = model.predict([x.transpose(0, 2, 3, 1).copy() if turned else x])[0].get_data_to_numpy()
    wanted = found["plain"].transpose(0, 2, 3, 1) if way != "NHWC in" else found["plain"]
    np.testing.assert_allclose(found["turned"], wanted, rtol=1e-5, atol=1e-5)


def test_types_that_a_model_does_not_have_are_refused(network, tmp_path, capsys):
    common = ["--fmk=ONNX", f"--modelFile={network / 'net.onnx'}", f"--outputFile={tmp_path / 'net'}"]
    assert converter_lite.main([*common, "--inputDataType=INT8"]) == 1
    assert "models keep the types of their source" in capsys.readouterr().err
    assert not (tmp_path / "net.ms").exists()


def test_benchmark_takes_the_official_options(network, capsys):
    assert convert(network) == 0
    common = [f"--modelFile={network / 'net.ms'}", "--loopCount=2", "--warmUpLoopCount=1"]
    assert benchmark.main([*common, "--modelType=MindIR_Lite", "--cpuBindMode=0", "--interOpParallelNum=1", "--enableFp16=false"]) == 0
    assert benchmark.main([*common, "--enableParallelPredict=true", "--parallelNum=3", "--workersNum=2"]) == 0
    assert "Throughput" in capsys.readouterr().out
    assert benchmark.main([*common, "--perfProfiling=true"]) == 1
    assert "--timeProfiling=true shows operators" in capsys.readouterr().err
    assert benchmark.main([*common, "--inputShape=nobody:1,2"]) == 1
    assert "names 'nobody'" in capsys.readouterr().err
