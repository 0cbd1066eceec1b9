"""What a session leaves of a network: bounds and paddings go into the convolutions."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mindspore.backends import cpu
from mindspore.formats import onnx as onnx_format

rng = np.random.default_rng(2)


@pytest.fixture
def program(tmp_path):
    if not cpu.available():
        pytest.skip("the native backend is not installed")
    constants = {
        "w": rng.standard_normal((16, 1, 3, 3)).astype(np.float32), "b": rng.standard_normal(16).astype(np.float32),
        "low": np.float32(-0.5), "high": np.float32(0.75),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1], group=16),
        helper.make_node("Clip", ["a", "low", "high"], ["y"]),
    ]
    shape = [1, 16, 9, 9]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )  # fmt: skip
    path = str(tmp_path / "net.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return onnx_format.load(path), constants


def wanted(x, constants):
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = sum(
        wide[:, :, i : i + 9, j : j + 9] * constants["w"][:, 0, i, j, None, None] for i in range(3) for j in range(3)
    )
    return np.clip(y + constants["b"][:, None, None], -0.5, 0.75)


@pytest.mark.parametrize("finite", [False, True])
def test_a_bound_after_a_depthwise_convolution(program, finite):
    program, constants = program
    x = rng.standard_normal((1, 16, 9, 9)).astype(np.float32)
    backend = cpu.CpuBackend(finite=finite)
    np.testing.assert_allclose(program.compile(backend)(x)[0], wanted(x, constants), rtol=1e-5, atol=1e-5)
    steps = backend.compile(program.graph).steps()
    assert any("+clip" in name for name in steps)
    assert any("prove" in name for name in steps) != finite  # what nobody says is proven
    assert not any("Pad" in name or "copy" in name for name in steps), steps


def test_nan_survives_a_bound_unless_results_are_said_to_be_finite(program):
    x = np.zeros((1, 16, 9, 9), np.float32)
    x[0, 3, 4, 4] = np.nan
    (y,) = program[0].compile(cpu.CpuBackend())(x)
    assert np.isnan(y[0, 3, 4, 4]) and np.isnan(y).sum() == 9


def test_single_numbers_are_no_weights(program):
    assert set(program[0].weights) == {"w", "b"}
