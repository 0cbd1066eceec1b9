"""Compiled graphs in model files: nothing is compiled at load, results are the same bits, and only what fits is used."""

import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mindspore_lite as mslite
from mindspore.backends import cpu
from mindspore.backends.cpu import image
from mindspore_lite import container, model_file

pytestmark = pytest.mark.skipif(not (cpu.available() and image.supported()), reason="needs the native backend on x86-64 Linux")
RANDOM = np.random.default_rng(0)


def weight(name, *shape):
    return numpy_helper.from_array((RANDOM.standard_normal(shape) * 0.2).astype(np.float32), name)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Convolutions (one of them by Winograd), a product of few rows whose panels are padded, an embedding, and a fused kernel."""
    folder = tmp_path_factory.mktemp("plans")
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Clip", ["a", "low", "high"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["c"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Flatten", ["e"], ["f"]),
        helper.make_node("MatMul", ["f", "w2"], ["g"]),
        helper.make_node("Gather", ["table", "i"], ["h"]),
        helper.make_node("Add", ["g", "h"], ["y"]),
    ]
    constants = [
        weight("w0", 64, 3, 3, 3), weight("b0", 64), weight("w1", 64, 64, 3, 3), weight("w2", 64, 1100), weight("table", 9, 1100),
        numpy_helper.from_array(np.float32(0), "low"), numpy_helper.from_array(np.float32(6), "high"),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32]), helper.make_tensor_value_info("i", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1100])], constants,
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(folder / "net"))
    return folder / "net.ms"


def model(path, threads):
    context = mslite.Context()
    context.cpu.thread_num = threads
    made = mslite.Model()
    made.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, context)
    return made


def inputs():
    return [RANDOM.standard_normal((1, 3, 32, 32)).astype(np.float32), np.array([4], np.int64)]


def test_a_plan_gives_the_bits_that_compiling_gives(path):
    given = inputs()
    read = model_file.read(str(path))
    assert read.compiled(1) is not None
    planned = model(path, 1)
    assert planned._session._made and all(made.program is None for made in planned._session._made.values())
    (mine,) = planned.predict(given)
    again = planned.predict(given)[0].get_data_to_numpy()
    planned.update_weights([[]])  # compiled anew, with the same weights
    assert all(made.program is not None for made in planned._session._made.values()) or not planned._session._made
    (theirs,) = planned.predict(given)
    np.testing.assert_array_equal(mine.get_data_to_numpy(), theirs.get_data_to_numpy())
    np.testing.assert_array_equal(again, theirs.get_data_to_numpy())


def test_the_file_is_hardly_larger_and_weights_are_what_they_were(path):
    source = onnx.load(str(path.with_suffix(".onnx")))
    assert path.stat().st_size < 1.15 * path.with_suffix(".onnx").stat().st_size + 20000
    found = model_file.read(str(path)).program.weights
    for tensor in source.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.size > 1000:
            assert any(w.shape == array.shape and (w == array).all() for w in found.values()), tensor.name


def test_other_shapes_and_weights_are_compiled(path):
    made = model(path, 1)
    x, index = inputs()
    (one,) = made.predict([x, index])
    made.resize(made.get_inputs(), [[2, 3, 32, 32], [1]])
    (two,) = made.predict([np.concatenate([x, x]), index])
    np.testing.assert_allclose(two.get_data_to_numpy()[1], one.get_data_to_numpy()[0], rtol=1e-4, atol=1e-5)


SCRIPT = textwrap.dedent("""
    import sys
    import numpy as np
    import mindspore_lite as mslite
    context = mslite.Context()
    context.cpu.thread_num = 1
    model = mslite.Model()
    model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
    model.predict([np.zeros((1, 3, 32, 32), np.float32), np.zeros(1, np.int64)])
    print(sorted(m for m in sys.modules if m.startswith(("llvmlite", "onnx", "google", "mindspore.compiler.", "mindspore.prims"))))
""")


def test_nothing_that_compiles_is_loaded(path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, timeout=120, check=True)
    assert set(eval(done.stdout)) <= {"mindspore.compiler.memory", "mindspore.compiler.memory.plan"}


def changed(path, target, name, change):
    """The file with another section and right checksums."""
    whole = container.Container.open(str(path))
    sections = {n: bytes(whole.section(n)) for n in whole._entries}
    sections[name] = change(sections[name])
    container.save(str(target), sections)
    return target


def test_a_plan_that_was_not_signed_for_this_model_is_not_used(path, tmp_path):
    flipped = changed(path, tmp_path / "a.ms", "plans", lambda body: body[:60] + bytes([body[60] ^ 1]) + body[61:])
    assert model_file.read(str(flipped)).compiled(1) is None
    renamed = changed(path, tmp_path / "b.ms", "meta", lambda body: body.replace(b'"NCHW"', b'"NHWC"'))
    assert model_file.read(str(renamed)).compiled(1) is None
    given = inputs()
    np.testing.assert_array_equal(*(model(p, 1).predict(given)[0].get_data_to_numpy() for p in (path, flipped)))


def test_indices_of_another_file_never_reach_compiled_code(path, tmp_path):
    """A constant index is as trusted as the code that reads with it."""
    graph = helper.make_graph(
        [helper.make_node("Gather", ["x", "at"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [512, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [300, 4])],
        [numpy_helper.from_array(np.arange(300, dtype=np.int64), "at")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "g.onnx")
    mslite.Converter().convert(mslite.FmkType.ONNX, str(tmp_path / "g.onnx"), str(tmp_path / "g"))
    last, far = (n.to_bytes(8, "little") for n in (299, 1 << 40))
    wrong = changed(tmp_path / "g.ms", tmp_path / "h.ms", "data", lambda body: body.replace(last, far))
    assert wrong.read_bytes() != (tmp_path / "g.ms").read_bytes()
    assert model_file.read(str(tmp_path / "g.ms")).compiled(1) is not None
    assert model_file.read(str(wrong)).compiled(1) is None


def test_threads_call_one_plan_at_once(path):
    import threading

    runner = mslite.ModelParallelRunner()
    context = mslite.Context()
    context.cpu.thread_num = 1
    context.parallel.workers_num = 4
    runner.build_from_file(str(path), context)
    given = [[RANDOM.standard_normal((1, 3, 32, 32)).astype(np.float32), np.array([n % 9], np.int64)] for n in range(8)]
    wanted = [model(path, 1).predict(g)[0].get_data_to_numpy().copy() for g in given]
    wrong = []

    def work(n):
        for _ in range(3):
            inputs = runner.get_inputs()
            for tensor, array in zip(inputs, given[n % 8]):
                tensor.set_data_from_numpy(array)
            found = runner.predict(inputs)[0].get_data_to_numpy()
            if not np.array_equal(found, wanted[n % 8]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
