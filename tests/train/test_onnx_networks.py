"""Whole networks as ONNX: valid, equal in ONNX Runtime, and equal (and trainable) when read back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.train.serialization import load_onnx

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
import exchange
import networks

LEFT_OUT = ("resnet50", "bert", "bert_free_batch", "counter", "train_momentum", "train_adam")
NETWORKS = [n for n in networks.CASES if n not in LEFT_OUT]  # single layers too
FUNCTIONS = (
    "erfc", "trunc", "selu", "fmod", "atan2", "hypot", "xlogy", "sort", "scalars_int", "tril", "triu", "gather_nd",
    "scatter_nd", "tensor_scatter_update", "index_tensors", "index_tensor_apart", "index_mixed", "assign_slice",
    "assign_tensor", "softplus", "logsigmoid", "cross_entropy", "pad", "max_pool", "avg_pool", "interpolate_linear",
)  # fmt: skip


def outputs_of(path: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What ONNX Runtime computes, after the checks of the `onnx` package."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: a for i, a in zip(session.get_inputs(), inputs)})


def check(found, expected):
    assert len(found) == len(expected)
    for value, other in zip(found, expected):
        assert value.dtype == other.dtype
        np.testing.assert_allclose(value, other, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("name", [*NETWORKS, *(f"op_{f}" for f in FUNCTIONS)])
def test_both_ways(tmp_path, name):
    make, inputs, shapes = exchange.models()[name]
    net = make()
    net.set_train(False)
    tensors = [Tensor(i) for i in inputs]
    examples = tensors if shapes is None else [Tensor(shape=list(s), dtype=t.dtype) for s, t in zip(shapes, tensors)]
    path = str(tmp_path / "net.onnx")
    ms.export(net, *examples, file_name=path, file_format="ONNX")
    expected = exchange.flat(net(*tensors))
    check(outputs_of(path, inputs), expected)
    check(exchange.flat(load_onnx(path)(*tensors)), expected)


def test_networks_that_change_themselves_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match="changes its parameters"):
        ms.export(networks.Counter(), Tensor(np.ones(3, np.float32)), file_name=str(tmp_path / "a"), file_format="ONNX")


@pytest.mark.parametrize("name", ["control", "lstm", "yolo"])
def test_graph_mode(tmp_path, name):
    make, inputs, _ = networks.CASES[name]
    net, tensors = make(), [Tensor(i) for i in inputs]
    net.set_train(False)
    path = str(tmp_path / "net.onnx")
    ms.export(net, *tensors, file_name=path, file_format="ONNX")
    expected = exchange.flat(net(*tensors))
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        check(exchange.flat(load_onnx(path)(*tensors)), expected)
    finally:
        ms.set_context(mode=before)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("name", ["lstm", "gru", "transformer", "misc"])
def test_networks_written_by_pytorch(name, mode):
    folder = Path(__file__).parents[1] / "data" / "torch"
    stored = np.load(folder / f"{name}.npz")
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        found = exchange.flat(load_onnx(str(folder / f"{name}.onnx"))(Tensor(stored["in0"])))
    finally:
        ms.set_context(mode=before)
    check(found, [stored[key] for key in stored.files if key.startswith("out")])


def test_a_read_network_learns(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.random((32, 1, 8, 8)).astype(np.float32), rng.integers(0, 3, 32).astype(np.int32)
    net = nn.SequentialCell([nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(64, 3)])
    ms.export(net, Tensor(x), file_name=str(tmp_path / "net"), file_format="ONNX")
    loaded = load_onnx(str(tmp_path / "net.onnx"))
    optimizer = nn.Adam(loaded.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda a, b: ops.cross_entropy(loaded(a), b), None, optimizer.parameters)
    losses = []
    for _ in range(20):
        loss, gradients = step(Tensor(x), Tensor(y))
        optimizer(gradients)
        losses.append(float(loss))
    assert losses[-1] < 0.9 * losses[0]


def test_weights_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("mindspore.formats.onnx.export.LARGE", 1000)
    net, x = nn.SequentialCell([nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 2)]), np.ones((1, 64), np.float32)
    path = str(tmp_path / "net.onnx")
    ms.export(net, Tensor(x), file_name=path, file_format="ONNX")
    assert (tmp_path / "net.onnx.data").stat().st_size >= 64 * 32 * 4 > (tmp_path / "net.onnx").stat().st_size
    expected = exchange.flat(net(Tensor(x)))
    check(outputs_of(path, [x]), expected)
    check(exchange.flat(load_onnx(path)(Tensor(x))), expected)


class TwoInputs(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 2)

    def construct(self, a, b):
        return self.layer(a) + b, a * 2


def test_names_and_free_axes(tmp_path):
    net, path = TwoInputs(), str(tmp_path / "net.onnx")
    a, b = np.ones((2, 3), np.float32), np.ones((2, 2), np.float32)
    ms.onnx.export(
        net, Tensor(a), Tensor(b), file_name=path, input_names=["left", "right"], output_names=["sum", "twice"],
        dynamic_axes={"left": {0: "rows"}, "right": {0: "rows"}, "sum": {0: "rows"}}, keep_initializers_as_inputs=True,
    )  # fmt: skip
    graph = onnx.load(path).graph
    assert [i.name for i in graph.input][:2] == ["left", "right"] and [o.name for o in graph.output] == ["sum", "twice"]
    assert {i.name for i in graph.input} >= {"layer.weight", "layer.bias"}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"
    wide = [np.ones((5, 3), np.float32), np.ones((5, 2), np.float32)]
    check(outputs_of(path, wide), exchange.flat(net(*(Tensor(w) for w in wide))))
    with pytest.raises(ValueError, match="2 different names"):
        ms.onnx.export(net, Tensor(a), Tensor(b), file_name=path, input_names=["one"])
