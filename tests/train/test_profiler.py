"""Profiler: what it records, the files it writes, schedules, ranges."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.profiler import DynamicProfilerMonitor, Profiler, mstx, profile, schedule, tensorboard_trace_handler
from mindspore.profiler.profiler import analyse
from mindspore.profiler.recorder import Span
from mindspore.profiler.report import _covered, steps
from mindspore.train import LambdaCallback, Model


def work():
    return ops.exp(Tensor(np.ones((4, 4), np.float32)))


def test_operators_graphs_and_files(tmp_path):
    profiler = Profiler(output_path=str(tmp_path), record_shapes=True)
    for _ in range(3):
        work()
        profiler.step()
    compiled = ms.jit(lambda x: x * 2 + 1)
    compiled(Tensor([1.0]))
    profiler.add_metadata("who", "test")
    profiler.analyse()
    folder = tmp_path / "PROFILER_OUTPUT"
    trace = json.loads((folder / "trace_view.json").read_text())
    names = [e["name"] for e in trace["traceEvents"] if e["ph"] == "X"]
    assert names.count("Exp") == 3 and trace["otherData"] == {"who": "test"}
    exp = next(e for e in trace["traceEvents"] if e["name"] == "Exp")
    assert exp["args"]["shapes"] == ["Float32[4, 4]"] and exp["dur"] > 0
    assert any(e.get("cat") == "graph" for e in trace["traceEvents"])
    with open(folder / "op_statistic.csv") as stream:
        rows = {r["name"]: r for r in csv.DictReader(stream)}
    assert rows["Exp"]["count"] == "3"
    with open(folder / "step_trace_time.csv") as stream:
        assert len(list(csv.DictReader(stream))) >= 3
    assert "Exp" in (folder / "summary.txt").read_text()
    assert json.loads(profiler.op_analyse("Exp"))["Exp"]["count"] == 3


def test_the_operators_of_python_are_recorded(tmp_path):
    profiler = Profiler(output_path=str(tmp_path))
    x = Tensor([1.0, 2.0])
    assert np.array_equal((x + x) * 2.0, [4.0, 8.0])
    profiler.analyse()
    assert {"Add", "Mul"} <= set(json.loads(profiler.op_analyse(["Add", "Mul"])))


def test_the_data_pipeline_is_timed(tmp_path):
    def rows():
        for number in range(12):
            yield np.full(3, number, np.float32)

    data = ds.GeneratorDataset(rows, ["x"], shuffle=False).map(lambda x: x + 1, ["x"]).batch(4)
    list(data.create_tuple_iterator(num_epochs=1))  # ends, while one without a number would go on reading ahead
    profiler = Profiler(output_path=str(tmp_path))
    assert len(list(data.create_tuple_iterator(num_epochs=1))) == 3
    profiler.analyse()
    list(data.create_tuple_iterator())  # after the profile: nobody measures
    tables = {}
    for name in ("dataset", "data_queue"):
        with open(tmp_path / "PROFILER_OUTPUT" / f"{name}.csv") as stream:
            tables[name] = list(csv.DictReader(stream))
    source, *others = tables["dataset"]
    assert source["step"].startswith("source: ") and source["rows"] == "12"
    assert any("lambda" in row["step"] and row["tasks"] == "3" and row["rows"] == "12" for row in others)
    assert all(float(row["total_us"]) > 0 for row in tables["dataset"]) and len(tables["data_queue"]) >= 3
    trace = json.loads((tmp_path / "PROFILER_OUTPUT" / "trace_view.json").read_text())["traceEvents"]
    assert {e["args"]["rows"] for e in trace if e.get("cat") == "pipeline"} >= {4}


def test_nothing_is_recorded_outside():
    with profile() as prof:
        work()
    work()
    assert sum(s.name == "Exp" for s in prof.spans) == 1
    with profile(), pytest.raises(RuntimeError):
        profile()
    work()


def test_schedule_decides_which_steps():
    saved = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    with profile(schedule=plan, on_trace_ready=lambda p: saved.append([s.name for s in p.spans])) as prof:
        for _ in range(8):
            work()
            prof.step()
    assert len(saved) == 1 and saved[0].count("Exp") == 2
    assert [n for n in saved[0] if n.startswith("step")] == ["step 2", "step 3"]
    with pytest.raises(ValueError):
        plan(-1)
    assert schedule(wait=-1, active=0).to_dict() == {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0}


def test_ranges_and_data_wait(tmp_path):
    x = np.random.default_rng(0).random((8, 3)).astype(np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": x[:, :1]}).batch(4)
    net = nn.Dense(3, 1)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    assert mstx.range_start("nobody listens") == 0
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path))) as prof:
        number = mstx.range_start("training")
        model.train(1, data, callbacks=LambdaCallback(on_train_step_end=lambda c: prof.step()))
        mstx.range_end(number)
        mstx.mark("done")
    trace = json.loads((tmp_path / "PROFILER_OUTPUT" / "trace_view.json").read_text())
    assert {"data", "operator", "user", "step"} <= {e.get("cat") for e in trace["traceEvents"]}


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_kernels_of_compiled_graphs(tmp_path, backend):
    saved = ms.get_context("backend")
    ms.set_context(backend=backend)
    try:
        net = nn.Dense(64, 32)
        compiled = ms.jit(lambda x: ops.softmax(net(x)))
        x = Tensor(np.ones((16, 64), np.float32))
        compiled(x).asnumpy()  # XLA may still be at it otherwise
        with profile(profile_memory=True) as prof:
            for _ in range(3):
                compiled(x).asnumpy()
                prof.step()
    finally:
        ms.set_context(backend=saved)
    kernels = [s for s in prof.spans if s.kind == "kernel"]
    products = [s for s in kernels if "matmul" in s.name.lower()]
    assert len(products) == 3 and all(s.end > s.start for s in products)
    graphs = [s for s in prof.spans if s.kind == "graph"]
    first, last = min(s.start for s in graphs), max(s.end for s in prof.spans if s.kind == "step")
    assert all(first <= s.start and s.end <= last + 5_000_000 for s in kernels)  # on the recorder's clock
    assert len(prof.samples) == 4 and all(sample["host"] > 0 for _, sample in prof.samples)
    prof.write(str(tmp_path))
    with open(tmp_path / "PROFILER_OUTPUT" / "kernel_details.csv") as stream:
        assert len(list(csv.DictReader(stream))) == len(kernels)
    assert "kernels" in prof.summary() and "computing" in prof.summary()
    compiled(x)  # nothing is left behind
    assert len([s for s in prof.spans if s.kind == "kernel"]) == len(kernels)


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_graphs_that_keep_weights_in_their_own_layout(backend):
    saved = ms.get_context("backend")
    ms.set_context(backend=backend)
    try:
        net = nn.Conv2d(32, 64, 3)
        net.set_train(False)
        compiled = ms.jit(net.construct)
        x = Tensor(np.ones((2, 32, 16, 16), np.float32))
        expected = compiled(x).asnumpy()
        with profile() as prof:
            np.testing.assert_allclose(compiled(x).asnumpy(), expected, rtol=1e-5)
            prof.step()
    finally:
        ms.set_context(backend=saved)
    assert [s for s in prof.spans if s.kind == "kernel"]


def test_a_step_that_fails_is_reported_by_the_graph_not_the_clock():
    with profile() as prof:
        fails = ms.jit(lambda x: ops.reshape(x, (7,)))
        with pytest.raises(ValueError):
            fails(Tensor([1.0]))
    assert prof.summary()


def test_times_of_steps_add_up():
    spans = [
        Span("step 0", "step", 0, 100, 1),
        Span("a", "operator", 10, 40, 1),
        Span("b", "operator", 20, 30, 1),
        Span("next batch", "data", 50, 70, 1),
    ]
    (row,) = steps(spans)
    assert row["compute_ms"] == 30e-6 and row["data_wait_ms"] == 20e-6 and row["other_ms"] == pytest.approx(50e-6)
    assert _covered(spans[1:]) == 50


def test_bad_arguments():
    with pytest.raises(TypeError):
        profile(schedule=1)
    with pytest.raises(TypeError):
        Profiler(output_path=1)
    with pytest.raises(ValueError):
        Profiler.offline_analyse("/nowhere/at/all")


def test_own_loops_can_be_watched_by_a_file(tmp_path):
    (tmp_path / "profiler_config.json").write_text(json.dumps({"start_step": 2, "stop_step": 3}))
    monitor = DynamicProfilerMonitor(str(tmp_path), str(tmp_path / "out"))
    for _ in range(5):
        work()
        monitor.step()
    [folder] = (tmp_path / "out").iterdir()
    with open(folder / "PROFILER_OUTPUT" / "op_statistic.csv") as stream:
        assert {r["name"]: r["count"] for r in csv.DictReader(stream)}["Exp"] == "2"
    analyse(str(folder))
    with pytest.raises(ValueError, match="no folder"):
        analyse(str(tmp_path / "missing"))
