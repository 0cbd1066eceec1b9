"""Generated C: the interface's functions on libraries made for this machine, and sources that any compiler builds."""

import ctypes
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
RANDOM = np.random.default_rng(0)


class Handles(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("items", ctypes.POINTER(ctypes.c_void_p))]


class ShapeInfo(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_size_t), ("shape", ctypes.c_int64 * 32)]


class Network:
    """An ONNX model made node by node."""

    def __init__(self, **inputs):
        self.nodes, self.constants, self.inputs = [], [], inputs

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def random(self, *shape):
        return self.constant((RANDOM.standard_normal(shape) * 0.3).astype(np.float32))

    def __call__(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def save(self, path, *outputs):
        made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs.items()]
        results = [helper.make_tensor_value_info(o, TensorProto.FLOAT, list(s)) for o, s in outputs]
        graph = helper.make_graph(self.nodes, "net", made, results, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return str(path)


def lenet():
    net = Network(x=[1, 1, 32, 32])
    a = net("Relu", net("Conv", "x", net.random(6, 1, 5, 5), net.random(6)))
    a = net("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    a = net("Relu", net("Conv", a, net.random(16, 6, 5, 5), net.random(16)))
    a = net("Flatten", net("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]))
    for inner, outer in ((400, 120), (120, 84)):
        a = net("Relu", net("Gemm", a, net.random(outer, inner), net.random(outer), transB=1))
    return net, net("Softmax", net("Gemm", a, net.random(10, 84), net.random(10), transB=1))


def convert(net, output, folder, **more):
    path = net.save(folder / "net.onnx", *output)
    converter = mslite.Converter()
    settings = {"enable_micro": "true", "project_name": "made", "save_path": str(folder), **more}
    converter.set_config_info("micro_param", settings)
    converter.convert(mslite.FmkType.ONNX, path, str(folder / "net"))
    return folder / "made"


class Library:
    """A generated library through its C interface."""

    def __init__(self, path, threads=1):
        self.c = ctypes.CDLL(str(path))
        for name in ("MSModelCreate", "MSContextCreate", "MSTensorGetMutableData", "MSTensorGetName", "MSModelGetInputByTensorName"):
            getattr(self.c, name).restype = ctypes.c_void_p
        self.c.MSTensorGetDataSize.restype = ctypes.c_size_t
        self.c.MSModelCalcWorkspaceSize.restype = ctypes.c_size_t
        for name in ("MSModelGetInputs", "MSModelGetOutputs", "MSModelGetWeights"):
            getattr(self.c, name).restype = Handles
        self.model = ctypes.c_void_p(self.c.MSModelCreate())
        context = ctypes.c_void_p(self.c.MSContextCreate())
        self.c.MSContextSetThreadNum(context, threads)
        assert self.c.MSModelBuild(self.model, None, ctypes.c_size_t(0), 0, context) == 0
        self.c.MSContextDestroy(ctypes.byref(context))
        self.inputs = self.c.MSModelGetInputs(self.model)

    def __call__(self, *arrays):
        for place, array in zip(range(self.inputs.count), arrays):
            tensor = ctypes.c_void_p(self.inputs.items[place])
            assert self.c.MSTensorGetDataSize(tensor) == array.nbytes
            ctypes.memmove(self.c.MSTensorGetMutableData(tensor), array.ctypes.data, array.nbytes)
        outputs = Handles()
        assert self.c.MSModelPredict(self.model, self.inputs, ctypes.byref(outputs), None, None) == 0
        found = []
        for place in range(outputs.count):
            tensor = ctypes.c_void_p(outputs.items[place])
            size = self.c.MSTensorGetDataSize(tensor)
            found.append(np.frombuffer(ctypes.string_at(self.c.MSTensorGetMutableData(tensor), size), np.float32))
        return found


def expected(folder, *arrays):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / "net.onnx"), providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays)})


@pytest.fixture(autouse=True)
def system_compiler(monkeypatch):
    monkeypatch.setenv("CC", "cc")


def test_lenet_is_small_allocates_nothing_and_agrees(tmp_path):
    net, y = lenet()
    made = convert(net, [(y, (1, 10))], tmp_path, library="native")
    path = made / "libmade-native.so"
    assert path.stat().st_size <= 307200
    needed = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    undefined = [line.split()[-1].split("@")[0] for line in needed.splitlines() if " U " in line]
    assert not {"malloc", "calloc", "realloc", "free"} & set(undefined)
    library = Library(path)
    for _ in range(2):
        x = RANDOM.standard_normal((1, 1, 32, 32)).astype(np.float32)
        np.testing.assert_allclose(library(x)[0], expected(tmp_path, x)[0].ravel(), rtol=1e-4, atol=1e-6)


def test_threads_share_the_work_and_change_no_bit(tmp_path):
    net = Network(x=[2, 16, 40, 40])
    a = net("Relu", net("Conv", "x", net.random(32, 16, 3, 3), net.random(32), pads=[1, 1, 1, 1]))
    a = net("Sigmoid", net("Conv", a, net.random(32, 1, 3, 3), group=32, pads=[1, 1, 1, 1]))
    y = net("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    made = convert(net, [(y, (2, 32, 20, 20))], tmp_path, library="native", support_parallel="true")
    assert "OpenMP" in (made / "CMakeLists.txt").read_text()
    x = RANDOM.standard_normal((2, 16, 40, 40)).astype(np.float32)
    alone = Library(made / "libmade-native.so")
    wanted = alone(x)[0]
    alone.c.MSModelDestroy(ctypes.byref(alone.model))
    found = Library(made / "libmade-native.so", threads=3)(x)[0]
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(found, expected(tmp_path, x)[0].ravel(), rtol=1e-4, atol=1e-5)


def test_layers_of_all_kinds_agree_with_onnx_runtime(tmp_path):
    net = Network(x=[2, 8, 13, 11], q=[2, 3, 5, 7])
    a = net("Conv", "x", net.random(8, 1, 3, 3), net.random(8), group=8, pads=[1, 1, 1, 1], strides=[2, 2])
    a = net("Clip", a, net.constant(np.float32(0)), net.constant(np.float32(6)))
    b = net("Conv", a, net.random(24, 4, 3, 3), group=2, pads=[2, 1, 0, 1], dilations=[1, 2])
    scale, shift, mean = net.random(24), net.random(24), net.random(24)
    b = net("BatchNormalization", b, scale, shift, mean, net.constant(np.full(24, 0.5, np.float32)))
    c = net("Add", net("Conv", b, net.random(24, 24, 1, 1)), b)
    d = net("ConvTranspose", net("Relu", c), net.random(24, 5, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    e = net("AveragePool", d, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    f = net("Concat", e, net("MaxPool", e, kernel_shape=[1, 1]), axis=1)
    g = net("Sigmoid", net("Resize", f, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest"))
    h = net("ReduceMean", g, axes=[2, 3], keepdims=0)
    attention = net("MatMul", "q", net("Transpose", "q", perm=[0, 1, 3, 2]))
    i = net("MatMul", net("Softmax", attention), "q")
    j = net("LayerNormalization", i, net.random(7), net.random(7))
    made = convert(net, [(h, (2, 10)), (j, (2, 3, 5, 7))], tmp_path, library="native")
    library = Library(made / "libmade-native.so")
    given = [RANDOM.standard_normal(s).astype(np.float32) for s in ((2, 8, 13, 11), (2, 3, 5, 7))]
    for mine, theirs in zip(library(*given), expected(tmp_path, *given)):
        np.testing.assert_allclose(mine, theirs.ravel(), rtol=1e-3, atol=1e-5)


def test_the_interface_refuses_what_it_cannot_do(tmp_path):
    net = Network(x=[2, 3])
    y = net("Relu", "x")
    made = convert(net, [(y, (2, 3))], tmp_path, library="native")
    library = Library(made / "libmade-native.so")
    c, model = library.c, library.model
    assert c.MSModelCreate() is None  # one model per library unless MS_MAX_MODELS says otherwise
    other = ShapeInfo(2, (ctypes.c_int64 * 32)(4, 3))
    same = ShapeInfo(2, (ctypes.c_int64 * 32)(2, 3))
    assert c.MSModelResize(model, library.inputs, ctypes.byref(other), ctypes.c_size_t(1)) != 0
    assert c.MSModelResize(model, library.inputs, ctypes.byref(same), ctypes.c_size_t(1)) == 0
    assert c.MSModelSetTrainMode(model, True) != 0
    assert c.MSModelPredict(None, library.inputs, ctypes.byref(Handles()), None, None) != 0
    none = Handles(0, None)
    assert c.MSModelPredict(model, none, ctypes.byref(Handles()), None, None) != 0
    assert c.MSModelGetInputByTensorName(model, b"x") and not c.MSModelGetInputByTensorName(model, b"nobody")


def test_sources_build_with_any_compiler_and_run_without_python(tmp_path):
    net, y = lenet()
    made = convert(net, [(y, (1, 10))], tmp_path)
    assert (made / "CMakeLists.txt").exists() and (made / "include" / "c_api" / "model_c.h").exists()
    sources = [str(made / "src" / n) for n in ("net.c", "mindspore_c.c", "weights.c")]
    program = tmp_path / "benchmark"
    include = [f"-I{made / 'include'}", f"-I{made / 'src'}"]
    subprocess.run(["cc", "-O1", *include, *sources, str(made / "benchmark/benchmark.c"), "-lm", "-o", program], check=True)
    x = RANDOM.standard_normal((1, 1, 32, 32)).astype(np.float32)
    x.tofile(tmp_path / "x.bin")
    subprocess.run([program, "2", tmp_path / "y.bin", tmp_path / "x.bin"], check=True, stdout=subprocess.DEVNULL)
    found = np.fromfile(tmp_path / "y.bin", np.float32)
    np.testing.assert_allclose(found, expected(tmp_path, x)[0].ravel(), rtol=1e-4, atol=1e-6)
    x[:, :, 1:].tofile(tmp_path / "short.bin")
    assert subprocess.run([program, "1", tmp_path / "z.bin", tmp_path / "short.bin"], capture_output=True).returncode == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="needs qemu-user")
def test_cross_compiled_for_aarch64(tmp_path):
    pytest.importorskip("ziglang")
    net, y = lenet()
    made = convert(net, [(y, (1, 10))], tmp_path, library="aarch64")
    assert (made / "libmade-aarch64.so").read_bytes()[18] == 0xB7  # the machine of an ELF file
    sources = [str(made / "src" / n) for n in ("net.c", "mindspore_c.c", "weights.c")]
    program, command = tmp_path / "benchmark", [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-static"]
    include = [f"-I{made / 'include'}", f"-I{made / 'src'}", str(made / "benchmark/benchmark.c")]
    subprocess.run([*command, "-O2", *include, *sources, "-o", program], check=True)
    x = RANDOM.standard_normal((1, 1, 32, 32)).astype(np.float32)
    x.tofile(tmp_path / "x.bin")
    subprocess.run(["qemu-aarch64", program, "1", tmp_path / "y.bin", tmp_path / "x.bin"], check=True)
    found = np.fromfile(tmp_path / "y.bin", np.float32)
    np.testing.assert_allclose(found, expected(tmp_path, x)[0].ravel(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": "toaster"}, "target must be one of"),
        ({"library": "z80"}, "library must name targets"),
        ({"speed": "high"}, "has no setting 'speed'"),
        ({"support_parallel": "maybe"}, "support_parallel must be true or false"),
        ({"support_parallel": "true", "target": "Cortex-M"}, "support_parallel: a Cortex-M runs one thread"),
    ],
)
def test_settings_are_checked(tmp_path, settings, words):
    net = Network(x=[2, 3])
    y = net("Relu", "x")
    with pytest.raises(RuntimeError, match=words):
        convert(net, [(y, (2, 3))], tmp_path, **settings)
    assert not (tmp_path / "made").exists() and not (tmp_path / "net.ms").exists()


def test_operations_without_a_form_are_named_and_nothing_is_written(tmp_path):
    net = Network(x=[4, 4])
    y = net("Det", "x")
    with pytest.raises(RuntimeError, match="no form for"):
        convert(net, [(y, ())], tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["net.onnx"]


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
def test_webassembly_runs_in_node(tmp_path):
    pytest.importorskip("ziglang")
    net, y = lenet()
    made = convert(net, [(y, (1, 10))], tmp_path, library="wasm32")
    (module,) = made.glob("*.wasm")
    x = RANDOM.standard_normal((1, 1, 32, 32)).astype(np.float32)
    x.tofile(tmp_path / "in.bin")
    script = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "lite", "web", "model.mjs")
    command = ["node", script, str(module), str(tmp_path / "in.bin"), str(tmp_path / "out.bin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = np.fromfile(tmp_path / "out.bin", np.float32)
    np.testing.assert_allclose(found, expected(tmp_path, x)[0].ravel(), rtol=1e-4, atol=1e-6)


EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "lite")


def built_lenet(tmp_path, **settings):
    """The sources of a LeNet, a picture in a file, and its scores."""
    net, y = lenet()
    made = convert(net, [(y, (1, 10))], tmp_path, **settings)
    x = RANDOM.standard_normal((1, 1, 32, 32)).astype(np.float32)
    x.tofile(tmp_path / "x.bin")
    return made, [str(made / "src" / n) for n in ("net.c", "mindspore_c.c", "weights.c")], expected(tmp_path, x)[0].ravel()


def shell(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")), reason="needs Arm's compiler and QEMU")
def test_cortex_m_sources_run_on_the_board(tmp_path):
    made, _, wanted = built_lenet(tmp_path, target="Cortex-M")
    told = shell([made / "board" / "build.sh"], env={k: v for k, v in os.environ.items() if k != "CC"})
    assert "mps2-an386" in told
    arguments = f"enable=on,target=native,arg=benchmark,arg=1,arg={tmp_path / 'y.bin'},arg={tmp_path / 'x.bin'}"
    shell(["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-kernel", made / "benchmark.elf", "-semihosting-config", arguments])
    np.testing.assert_allclose(np.fromfile(tmp_path / "y.bin", np.float32), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_the_c_plus_plus_example_runs(tmp_path):
    made, sources, wanted = built_lenet(tmp_path)
    include = [f"-I{made / 'include'}", f"-I{made / 'src'}"]
    shell(["cc", "-O1", "-c", *include, *sources], cwd=tmp_path)
    objects = [tmp_path / f"{n}.o" for n in ("net", "mindspore_c", "weights")]
    shell(["g++", "-Wall", "-Werror", *include, os.path.join(EXAMPLES, "cpp", "classify.cpp"), *objects, "-o", tmp_path / "classify"])
    first, *scores = shell([tmp_path / "classify", tmp_path / "x.bin"]).splitlines()
    assert first == f"class {wanted.argmax()}"
    np.testing.assert_allclose([float(s) for s in scores], wanted, rtol=1e-4, atol=1e-6)
    (tmp_path / "short.bin").write_bytes(b"1234")
    assert "takes 1024 numbers" in subprocess.run([tmp_path / "classify", tmp_path / "short.bin"], capture_output=True, text=True).stderr


@pytest.mark.skipif(not (shutil.which("javac") and shutil.which("java")), reason="no JDK")
def test_the_java_example_runs(tmp_path):
    made, sources, wanted = built_lenet(tmp_path)
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac"))))
    if not os.path.exists(f"{home}/include/jni.h"):
        pytest.skip("a JDK without jni.h")
    include = [f"-I{made / 'include'}", f"-I{made / 'src'}", f"-I{home}/include", f"-I{home}/include/linux"]
    source = os.path.join(EXAMPLES, "java", "model_jni.c")
    shell(["cc", "-O1", "-shared", "-fPIC", *include, source, *sources, "-lm", "-o", tmp_path / "libmodel.so"])
    shell(["javac", "-d", tmp_path, os.path.join(EXAMPLES, "java", "Model.java")])
    scores = shell(["java", "-cp", tmp_path, f"-Djava.library.path={tmp_path}", "Model", tmp_path / "x.bin"]).split()
    np.testing.assert_allclose([float(s) for s in scores], wanted, rtol=1e-4, atol=1e-6)
