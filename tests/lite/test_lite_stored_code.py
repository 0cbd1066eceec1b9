"""Machine code in model files: used when this user made it, compiled anew otherwise."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mindspore.backends import cpu
from mindspore_lite import stored_code

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs the native backend")

SCRIPT = textwrap.dedent("""
    import sys
    import numpy as np
    from mindspore.backends.cpu import jit
    import mindspore_lite as mslite
    count, real = [0], jit._Parsed.object
    def counted(parsed):
        count[0] += 1
        return real(parsed)
    jit._Parsed.object = counted
    if sys.argv[1] == "convert":
        mslite.Converter().convert(mslite.FmkType.ONNX, "net.onnx", "net")
    else:
        model = mslite.Model()
        model.build_from_file("net.ms", mslite.ModelType.MINDIR_LITE)
        found = model.predict([np.full((2, 64), 0.5, np.float32)])[0].get_data_to_numpy()
        np.testing.assert_allclose(found, np.tanh(np.exp(0.5) * 0.5), rtol=1e-5)
    print("compiled", count[0])
""")


def run(folder, what, secret):
    without_cache = {k: v for k, v in os.environ.items() if not k.startswith("MS_COMPILER_CACHE")}
    environment = {**without_cache, "MS_LITE_CODE_SECRET": str(folder / secret)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, what], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split("compiled")[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("code")
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("Mul", ["a", "x"], ["b"]),
        helper.make_node("Tanh", ["b"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 64])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), place / "net.onnx")
    assert run(place, "convert", "mine") > 0
    return place


def test_loading_compiles_nothing(folder):
    assert run(folder, "load", "mine") == 0


def test_code_that_somebody_else_signed_is_not_run(folder):
    (folder / "other").write_bytes(b"x" * 32)
    (folder / "other").chmod(0o600)
    assert run(folder, "load", "other") > 0
    assert run(folder, "load", "nobody") > 0


def test_a_secret_that_others_can_read_is_none(folder):
    (folder / "shared").write_bytes((folder / "mine").read_bytes())
    (folder / "shared").chmod(0o644)
    assert run(folder, "load", "shared") > 0


def test_changed_code_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("MS_LITE_CODE_SECRET", str(tmp_path / "secret"))
    section = stored_code.pack({"a": b"one", "b": b"three"})
    assert stored_code.unpack(memoryview(section)) == {"a": b"one", "b": b"three"}
    for place in np.random.default_rng(0).integers(0, len(section), 40):
        damaged = bytearray(section)
        damaged[place] ^= 1
        assert stored_code.unpack(memoryview(damaged)) == {}
    assert stored_code.unpack(memoryview(section[:20])) == {}
    assert (tmp_path / "secret").stat().st_mode & 0o77 == 0
