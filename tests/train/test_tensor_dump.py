"""Dumps: official names and places, choice of iterations and nodes, statistics, on every backend and in both modes."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.formats.events.graph_messages import ModelMessage
from mindspore.runtime.dump import eager

X = np.array([[1.0, -2.0, 3.0]], np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), bias_init="ones")
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.fc(x)) * 2


@pytest.fixture(autouse=True)
def as_before():
    mode, backend = ms.get_context("mode"), ms.get_context("backend")
    yield
    ms.set_context(mode=mode)
    ms.set_context(backend=backend)
    eager.unwatch()


@pytest.fixture
def dump(tmp_path, monkeypatch):
    """Ask for a dump; returns the folder of its rank."""

    def ask(e2e=None, **changed):
        common = {
            "op_debug_mode": 0, "dump_mode": 0, "path": str(tmp_path / "out"), "net_name": "Net", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
        }  # fmt: skip
        common |= changed
        file = tmp_path / f"dump{len(list(tmp_path.iterdir()))}.json"
        settings = {"common_dump_settings": {k: v for k, v in common.items() if v is not None}}
        file.write_text(json.dumps(settings | {"e2e_dump_settings": e2e or {"enable": True}}))
        monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(file))
        eager.watch()
        return tmp_path / "out" / "rank_0"

    return ask


def tensors(folder):
    """{(name, side, slot): array} of the files in a folder."""
    found = {}
    for path in sorted(folder.glob("*.npy")):
        kind, name, task, stream, stamp, side, slot, layout, dtype, _ = path.name.split(".")
        assert (task, stream, layout) == ("0", "0", "DefaultFormat") and stamp.isdigit()
        array = np.load(path)
        assert dtype.lower() == array.dtype.name and (kind == "Parameter" or kind in name)
        found[name, side, int(slot)] = array
    return found


def rows(folder):
    with open(folder / "statistic.csv") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_graph_mode_on_every_backend(dump, backend):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_context(backend=backend)
    root = dump(iteration="0|2")
    net = Net()
    results = [net(Tensor(X + i)).asnumpy() for i in range(4)]
    assert sorted(p.name for p in (root / "Net" / "0").iterdir()) == ["0", "2", "constants"]
    for i in (0, 2):
        found = tensors(root / "Net" / "0" / str(i))
        weight = found["fc_weight", "output", 0]
        np.testing.assert_array_equal(found["Default_fc-Dense_MatMul-op0", "input", 0], X + i)
        product = found["Default_fc-Dense_MatMul-op0", "output", 0]
        np.testing.assert_allclose(product, (X + i) @ weight.T, rtol=1e-6)
        np.testing.assert_array_equal(found["Default_Mul-op0", "output", 0], results[i])
    for i, result in enumerate(results):  # dumped or not, the results are the same
        np.testing.assert_allclose(result, np.maximum((X + i) @ weight.T + 1, 0) * 2, rtol=1e-6)
    order = (root / "execution_order" / "ms_execution_order_graph_0.csv").read_text().splitlines()
    assert order[0] == "NodeExecutionOrder-FullNameWithScope" and "Default/relu-ReLU/ReLU-op0" in order
    assert (root / "execution_order" / "ms_global_execution_order_graph_0.csv").read_text() == "0\n2\n"
    assert "MatMul" in (root / "graphs" / "ms_output_trace_code_graph_0.ir").read_text()
    assert json.loads((root / ".dump_metadata" / "config.json").read_text())["device_target"] == "CPU"


def test_constants_and_the_graph(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    root = dump()
    Net()(Tensor(X))
    (constant,) = tensors(root / "Net" / "0" / "constants").values()
    assert constant == 2
    graph = ModelMessage.decode((root / "graphs" / "ms_output_trace_code_graph_0.pb").read_bytes()).graph
    names = {node.full_name for node in graph.node}
    assert {"Default/fc-Dense/MatMul-op0", "Default/relu-ReLU/ReLU-op0"} <= names
    assert {"fc.weight", "fc.bias"} <= {p.name for p in graph.parameters}


def test_parameters_have_the_value_at_the_end(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.125, 0.9))
    root = dump()
    for i in (0, 1):
        step(Tensor(X), Tensor(np.zeros((1, 2), np.float32)))
        found = tensors(root / "Net" / "0" / str(i))
        for parameter in step.get_parameters():
            stored = found[parameter.name.replace(".", "_"), "output", 0]
            np.testing.assert_array_equal(stored, parameter.asnumpy())
        assert found["global_step", "output", 0] == i + 1
        gradient = "Gradients_Default_network-WithLossCell__backbone-Net_fc-Dense_Grad_MatMul_MatMul-op0"
        assert (gradient, "output", 0) in found


def test_a_training_step_in_both_modes(dump):
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        root = dump(iteration="1", net_name=f"mode{mode}")
        net = Net()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.125))
        step(Tensor(X), Tensor(np.zeros((1, 2), np.float32)))
        before = net.fc.bias.asnumpy().copy()
        step(Tensor(X), Tensor(np.zeros((1, 2), np.float32)))
        found = tensors(root / f"mode{mode}" / "0" / "1")
        name = "Default_network-WithLossCell__backbone-Net_fc-Dense_MatMul-op0"
        np.testing.assert_array_equal(found[name, "input", 0], X)
        updates = [k for k in found if k[0].startswith("Default_optimizer-SGD_SGD") and k[1] == "input" and k[2] == 0]
        assert len(updates) == 2 and any(np.array_equal(found[k], before) for k in updates)
        assert any(k[0].startswith("Gradients_Default") for k in found)


def test_nodes_inside_loops_and_branches(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    root = dump(dump_mode=1, kernels=["Tanh"])

    @ms.jit
    def f(x, n):
        while n > 0:
            x = ops.tanh(x)
            n = n - 1
        return x

    out = f(Tensor(X), Tensor(3))
    paths = sorted((root / "Net" / "0" / "0").glob("Tanh.*.output.0.*"), key=lambda p: p.name.split(".")[4])
    assert len(paths) == 3
    np.testing.assert_array_equal(np.load(paths[-1]), out.asnumpy())


def test_choice_of_nodes_and_sides(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    wanted = {
        ("relu",): {"Default_relu-ReLU_ReLU-op0"},
        ("Default/fc-Dense/MatMul-op0",): {"Default_fc-Dense_MatMul-op0"},
        (r"name-regex(Default/fc-.+/.*Add-op\d)",): {"Default_fc-Dense_Add-op0"},
        ("matmul", "Default/Mul-op0"): {"Default_fc-Dense_MatMul-op0", "Default_Mul-op0"},
    }
    for number, (kernels, names) in enumerate(wanted.items()):
        root = dump(dump_mode=1, kernels=list(kernels), input_output=2, net_name=f"net{number}")
        Net()(Tensor(X))
        found = tensors(root / f"net{number}" / "0" / "0")
        assert {k[0] for k in found} == names and {k[1] for k in found} == {"output"}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_set_dump(dump, mode):
    ms.set_context(mode=mode)
    root = dump(dump_mode=2, net_name=f"mode{mode}")
    net = Net()
    ms.set_dump(net.relu)
    assert net.relu.get_flags()["dump"] is True
    net(Tensor(X))
    assert {k[0] for k in tensors(root / f"mode{mode}" / "0" / "0")} == {"Default_relu-ReLU_ReLU-op0"}
    with pytest.raises(ValueError, match="Cell or Primitive"):
        ms.set_dump(1)
    assert ms.set_dump(op := ops.Add()) is None and op.attrs["dump"] == "true"


def test_statistics(dump):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    every = ["max", "min", "avg", "count", "negative zero count", "positive zero count", "nan count",
             "negative inf count", "positive inf count", "zero count", "md5", "l2norm"]  # fmt: skip
    root = dump(saved_data="statistic", statistic_category=every)
    x = np.array([0.0, -1.0, 3.0, np.inf], np.float16)

    class Abs(nn.Cell):
        def construct(self, x):
            return ops.abs(x)

    Abs()(Tensor(x))
    folder = root / "Net" / "0" / "0"
    assert [p.name for p in folder.iterdir()] == ["statistic.csv"]
    given, result = rows(folder)
    assert (given["Op Type"], given["IO"], given["Data Size"], given["Data Type"], given["Shape"]) == (
        "Abs", "input", "8", "float16", "(4)",
    )  # fmt: skip
    assert (given["Max Value"], given["Min Value"], given["Avg Value"]) == ("inf", "-1", "inf")
    counts = [given[n] for n in ("Count", "Negative Zero Count", "Positive Zero Count", "NaN Count", "Zero Count")]
    assert counts == ["4", "1", "2", "0", "1"] and given["Positive Inf Count"] == "1"
    assert given["MD5"] == hashlib.md5(x.tobytes()).hexdigest()
    assert result["IO"] == "output" and result["Min Value"] == "0"


def test_full_sampled_and_empty(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    root = dump({"enable": True, "sample_mode": 1, "sample_num": 2}, saved_data="full")
    double = ms.jit(lambda x: x + x)
    double(Tensor(np.arange(10, dtype=np.float32)))
    folder = root / "Net" / "0" / "0"
    assert tensors(folder)["Default_Add-op0", "output", 0].tolist() == [0, 2, 16, 18]
    assert any(r["Max Value"] == "18" for r in rows(folder))
    double(Tensor(np.zeros((0,), np.float32)))
    assert {r["Max Value"] for r in rows(root / "Net" / "1" / "1")} == {"null"}


def test_overflow_and_exception_dumps(dump):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    root = dump(op_debug_mode=3, net_name="overflow")

    class F(nn.Cell):
        def construct(self, x):
            return ops.exp(ops.exp(x) * 50) + 1

    F()(Tensor(np.array([1.0], np.float32)))
    assert {k[0] for k in tensors(root / "overflow" / "0" / "0")} == {"Default_Exp-op1", "Default_Add-op0"}
    root = dump(op_debug_mode=4, net_name="failed")

    class G(nn.Cell):
        def construct(self, x):
            return ops.reshape(ops.exp(x), (7,))

    with pytest.raises(ValueError):
        G()(Tensor(np.array([1.0], np.float32)))
    assert {k[0] for k in tensors(root / "failed" / "0" / "0")} == {"Default_Reshape-op0"}


def test_bfloat16_and_long_names(dump):
    ms.set_context(mode=ms.GRAPH_MODE)
    root = dump()
    deep = Net()
    for _ in range(30):
        outer = nn.Cell()
        outer.inner_cell = deep
        outer.construct = lambda x, inner=deep: inner(x)
        deep = outer
    ms.jit(lambda x: deep(x))(Tensor(X))
    folder = root / "Net" / "0" / "0"
    mapped = dict(line.split(",") for line in (folder / "mapping.csv").read_text().splitlines())
    assert mapped and all((folder / short).exists() and len(name) > 255 for short, name in mapped.items())
    ms.jit(lambda x: x + 1)(Tensor(X, ms.bfloat16))
    [path] = (root / "Net" / "1" / "1").glob("Add.*output*")
    assert ".BFloat16." in path.name and np.load(path).tolist() == [[2.0, -1.0, 4.0]]


WRONG = {
    "dump_mode": 3, "op_debug_mode": 9, "path": "relative", "net_name": "a/b", "iteration": "x", "saved_data": "all",
    "input_output": 5, "kernels": "Add", "support_device": None, "statistic_category": ["median"],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings(dump, name):
    ms.set_context(mode=ms.GRAPH_MODE)
    dump(**{name: WRONG[name]})
    with pytest.raises(RuntimeError, match=f"MINDSPORE_DUMP_CONFIG: .*{name}"):
        ms.jit(lambda x: x + 1)(Tensor(X))


def test_files_that_are_not_there_or_no_json(monkeypatch, tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for path in (tmp_path / "missing.json", broken):
        monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(path))
        with pytest.raises(RuntimeError, match="MINDSPORE_DUMP_CONFIG"):
            ms.jit(lambda x: x * 3)(Tensor(X))


def test_nothing_is_watched_when_off():
    code = """
import sys, mindspore as ms
ms.jit(lambda x: x + 1)(ms.Tensor([1.0]))
print([m for m in sys.modules if "runtime.dump" in m])
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr
