"""Simulated steps against closed forms, and the trace that Perfetto shows."""

import itertools
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.compiler import driver
from mindspore.compiler.parse.entry import trace
from mindspore.compiler.shard.partition import partition, specialised
from mindspore.compiler.shard.plan import Options
from mindspore.compiler.shard.search import find_plan
from mindspore.compiler.shard.simulate import COMPUTE, FAR, simulate
from mindspore.runtime import choose_backend


@pytest.fixture(autouse=True)
def graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.reset_auto_parallel_context()
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Layers(nn.Cell):
    """Equal layers, the same number in each stage."""

    def __init__(self, stages, width, layers=8):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(width, width, has_bias=False) for _ in range(layers)])
        for i, layer in enumerate(self.layers):
            layer.pipeline_stage = i * stages // layers

    def construct(self, x):
        for layer in self.layers:
            x = ops.relu(layer(x))
        return x.sum()


def report(devices, stages=1, micros=1, batch=64, width=256, **settings):
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", device_num=devices, pipeline_stages=stages, full_batch=True, **settings
    )
    net = Layers(stages, width)
    step = nn.TrainOneStepCell(nn.PipelineCell(net, micros) if micros > 1 else net, nn.SGD(net.trainable_params(), 0.1))
    step.compile(ops.zeros((batch, width)))
    return step.explain_parallel()


@pytest.mark.parametrize("micros", [4, 16])
def test_the_bubble_of_a_pipeline(micros):
    stages = 4
    found = report(4, stages, micros, batch=64 * micros).simulate()
    work = [found.busy(stage) for stage in range(stages)]
    assert max(work) < 1.25 * min(work)
    expected = (micros + stages - 1) / micros * max(work)
    assert expected * 0.85 < found.seconds < expected * 1.35  # messages, and layers that are not quite equal


def test_one_forward_one_backward_needs_less_memory_than_gpipe():
    first = report(4, 4, 16, batch=4096).simulate()
    second = report(4, 4, 16, batch=4096, pipeline_config={"pipeline_scheduler": "gpipe"}).simulate()
    assert first.peak_bytes[3] < 0.5 * second.peak_bytes[3]
    assert first.seconds == pytest.approx(second.seconds, rel=0.25)


def test_gradients_travel_while_the_backward_pass_computes():
    found = report(64, batch=64 * 1024, width=1024).simulate()
    assert found.busy(0, FAR) > 0
    assert 0 < found.waiting < found.busy(0, FAR)
    assert found.seconds < found.busy(0, COMPUTE) + found.busy(0, FAR)


def test_thousands_of_devices(tmp_path):
    for devices in (8, 512, 4096):
        timeline = report(devices, batch=8 * devices).simulate()
        assert timeline.seconds > 0 and len(timeline.peak_bytes) == 1
    timeline.save(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(e["ph"] == "M" and "devices 0 to 4095" in str(e) for e in events)
    spans = [e for e in events if e["ph"] == "X"]
    assert len(spans) == len(timeline.tasks) and all(e["dur"] >= 0 for e in spans)
    for track in {e["tid"] for e in spans}:  # one thing at a time
        own = sorted((e["ts"], e["dur"]) for e in spans if e["tid"] == track)
        assert all(a + d <= b + 1e-6 for (a, d), (b, _) in itertools.pairwise(own))


def test_peak_memory_of_a_chain():
    """Forward only: at most two products and a result are alive, beside the weights and the data."""

    class Chain(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = [Parameter(Tensor(np.ones((64, 64), np.float32)), name=f"w{i}") for i in range(4)]

        def construct(self, x):
            for w in self.w:
                x = ops.matmul(x, w)
            return x.sum()

    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=2, full_batch=True)
    net = Chain()
    net.compile(ops.ones((128, 64)))
    (peak,) = net.explain_parallel().simulate().peak_bytes
    given, part = 4 * 64 * 64 * 4 + 128 * 64 * 4, 128 * 64 * 4 // 2
    assert given + part <= peak <= given + 3 * part


def test_new_weights_take_the_place_of_the_old():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=2, full_batch=True)
    net = nn.Dense(256, 256, has_bias=False)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step.compile(ops.ones((2, 256)), ops.ones((2, 256)))
    (peak,) = step.explain_parallel().simulate().peak_bytes
    weight = 256 * 256 * 4
    assert 2 * weight < peak < 3.5 * weight  # with its state, and its gradient or a part of that


def test_sums_of_a_few_numbers_are_not_replaced_by_gathered_activations():
    """The gradients of a batch normalisation's weights are sums over samples that are cut."""
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=8, full_batch=True)
    net = nn.SequentialCell(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    step.compile(ops.zeros((8, 3, 8, 8)), ops.zeros((8, 8, 8, 8)))
    tasks = step.explain_parallel().simulate().tasks
    activation = 8 * 8 * 8 * 8 * 4
    assert max(task.sent for task in tasks) < activation / 4


@pytest.mark.parametrize("optimizer_parallel", [False, True])
def test_predicted_memory_is_what_the_native_planner_needs(optimizer_parallel):
    """Beside the memory plan that the CPU backend makes for the graph of a device."""
    net = nn.SequentialCell(*(layer for _ in range(3) for layer in (nn.Dense(128, 128), nn.ReLU())))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    traced = trace(step, (ops.ones((512, 128)), ops.ones((512, 128))), {}, checked=False).graph
    plan = find_plan(traced, Options(4, dataset="full_batch", optimizer_parallel=optimizer_parallel, optimizer_threshold=0))
    graph = driver.optimise(specialised(partition(plan), 0))
    native = choose_backend.native_backend()
    if native is None:
        pytest.skip("the native CPU backend is not available or not asked for")
    needed = sum(p.abstract.nbytes for p in graph.parameters) + native.compile(graph, frozenset()).memory_report()["peak_bytes"]
    assert simulate(plan).peak_bytes[0] == pytest.approx(needed, rel=0.15)
