"""cropper and obfuscator."""

import shutil
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore_lite import model_file
from mindspore_lite.tools import cropper, obfuscator

RANDOM = np.random.default_rng(0)


def weight(name, *shape):
    return numpy_helper.from_array((RANDOM.standard_normal(shape) * 0.3).astype(np.float32), name)


@pytest.fixture
def folder(tmp_path):
    nodes = [
        helper.make_node("Conv", ["x", "secret.w0", "secret.b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "secret.w1"], ["c"]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("Conv", ["d", "secret.w2"], ["e"]),
        helper.make_node("GlobalAveragePool", ["e"], ["f"]),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("Gemm", ["g", "secret.w3", "secret.b3"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["i"]),
        helper.make_node("Gemm", ["i", "secret.w4"], ["y"]),
    ]
    constants = [
        weight("secret.w0", 40, 3, 3, 3), weight("secret.b0", 40), weight("secret.w1", 24, 40, 3, 3), weight("secret.w2", 20, 24, 1, 1),
        weight("secret.w3", 30, 20), weight("secret.b3", 30), weight("secret.w4", 30, 7),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "secret_net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 12, 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 7])], constants,
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "net"))
    return tmp_path


def result(path, x):
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return model.predict([x])[0].get_data_to_numpy()


@pytest.mark.parametrize("degree", [0, 0.5, 1])
def test_an_obfuscated_model_computes_the_same_and_tells_less(folder, capsys, degree):
    arguments = [f"--modelFile={folder / 'net.ms'}", f"--outputFile={folder / 'other'}", f"--obfDegree={degree}", "--seed=3"]
    assert obfuscator.main(arguments) == 0
    count = int(capsys.readouterr().out.split()[0])
    assert count == {0: 0, 0.5: 2, 1: 3}[degree]  # w0 and w1, w1 and w2, w3 and w4 can change together
    content = (folder / "other.ms").read_bytes()
    assert b"secret" not in content and b"net.onnx" not in content
    x = RANDOM.standard_normal((1, 3, 12, 12)).astype(np.float32)
    np.testing.assert_allclose(result(folder / "other.ms", x), result(folder / "net.ms", x), rtol=1e-4, atol=1e-5)
    before, after = (list(model_file.read(str(folder / f)).program.weights.values()) for f in ("net.ms", "other.ms"))
    moved = sum(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(before, after))
    assert (moved > 0) == (count > 0)


def test_wrong_degrees_are_refused(folder, capsys):
    assert obfuscator.main([f"--modelFile={folder / 'net.ms'}", f"--outputFile={folder / 'o'}", "--obfDegree=1.5"]) == 1
    assert "obfDegree must be from 0 to 1" in capsys.readouterr().err and not (folder / "o.ms").exists()


@pytest.fixture
def library(folder):
    """A static library of four objects, two of which share a long name's beginning, and its mapping."""
    for name in ("conv_kernels_of_the_model", "conv_kernels_of_nobody", "lstm", "common"):
        (folder / f"{name}.c").write_text(f"int {name}(void) {{ return {len(name)}; }}\n")
        subprocess.run(["cc", "-c", f"{name}.c"], cwd=folder, check=True)
    objects = [f"{name}.o" for name in ("conv_kernels_of_the_model", "conv_kernels_of_nobody", "lstm", "common")]
    subprocess.run(["ar", "rcs", "lib.a", *objects], cwd=folder, check=True)
    (folder / "map.cfg").write_text(
        "Conv2DFusion,kNumberTypeFloat32,conv_kernels_of_the_model.o\nConv2DFusion,kNumberTypeInt8,conv_kernels_of_nobody.o\n"
        "LSTM,kNumberTypeFloat32,lstm.o\nanything,common,common.o\n"
    )
    return folder


needs_compiler = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("ar")), reason="no C compiler")


@needs_compiler
def test_a_cropped_library_has_what_the_models_need_and_links(library, capsys):
    assert cropper.main([f"--packageFile={library / 'lib.a'}", f"--configFile={library / 'map.cfg'}",
                         f"--modelFolderPath={library}", f"--outputFile={library / 'small.a'}"]) == 0  # fmt: skip
    assert "CROPPER RESULT SUCCESS:0" in capsys.readouterr().out
    listed = subprocess.run(["ar", "t", "small.a"], cwd=library, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(listed) == ["common.o", "conv_kernels_of_the_model.o"]
    (library / "main.c").write_text(
        "int common(void), conv_kernels_of_the_model(void);\nint main(void) { return common() + conv_kernels_of_the_model() - 31; }\n"
    )
    subprocess.run(["cc", "main.c", "small.a", "-o", "main"], cwd=library, check=True)  # by the index: no ranlib
    assert subprocess.run([library / "main"]).returncode == 0


@needs_compiler
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: (f / "lib.a").write_bytes(b"no library"), "is no static library"),
        (lambda f: (f / "lib.a").write_bytes((f / "lib.a").read_bytes()[:-40]), "is no static library"),
        (lambda f: (f / "map.cfg").write_text("Conv2D,float,conv.o\n"), "line 1"),
        (lambda f: (f / "map.cfg").write_text("x,common,y.o\n"), "keeps none"),
        (lambda f: (f / "net.ms").write_bytes(b"nothing"), "begin"),
    ],
)
def test_wrong_files_are_told_and_nothing_is_written(library, capsys, change, words):
    change(library)
    arguments = [f"--packageFile={library / 'lib.a'}", f"--configFile={library / 'map.cfg'}", f"--modelFile={library / 'net.ms'}"]
    assert cropper.main([*arguments, f"--outputFile={library / 'small.a'}"]) == 1
    assert words in capsys.readouterr().err and not (library / "small.a").exists()
