"""Watchpoints: in both modes and on every backend they find the same tensor, line, value and step, against NumPy."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, debug, nn, ops

HERE = Path(__file__)
WAYS = [(ms.GRAPH_MODE, "interp"), (ms.GRAPH_MODE, "cpu"), (ms.GRAPH_MODE, "xla"), (ms.PYNATIVE_MODE, "")]


@pytest.fixture(params=WAYS, ids=lambda way: f"{'graph' if way[0] == ms.GRAPH_MODE else 'eager'}-{way[1]}")
def way(request):
    ms.set_context(mode=request.param[0], backend=request.param[1])
    yield request.param
    debug.unwatch()


def line_of(text):
    """Where a piece of text first stands in this file."""
    lines = HERE.read_text().splitlines()
    return f"{HERE}:{1 + next(i for i, line in enumerate(lines) if text in line)}"


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(3, 4, weight_init="ones", bias_init="zeros")
        self.outer = nn.Dense(4, 1, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        hidden = ops.relu(self.inner(x))
        hidden = ops.log(hidden)  # the bad line
        return self.outer(hidden).sum()


class RootNet(Net):
    def construct(self, x):
        hidden = ops.relu(self.inner(x))
        hidden = ops.sqrt(hidden)  # finite forward, infinite backward
        return self.outer(hidden).sum()


GOOD, BAD = np.ones((2, 3), np.float32), np.array([[1, 1, 1], [-1, -1, -1]], np.float32)


def trainer(net, rate=0.1):
    return nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), rate, 0.9))


def test_the_first_bad_number_is_found_with_its_line_and_inputs(way):
    net = Net()
    step = trainer(net)
    with debug.watch(net) as watch:
        step(Tensor(GOOD))
        assert watch.hits == []
        before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
        with pytest.raises(debug.WatchpointError) as caught:
            step(Tensor(BAD))
    hit = caught.value.hits[0]
    assert (hit.watchpoint.rule, hit.tensor.kind, hit.step, hit.rank) == ("tensor_overflow", "tensor", 1, 0)
    assert "Log" in hit.tensor.name and not hit.tensor.backward
    assert hit.line == line_of("# the bad line") and "ops.log(hidden)" in str(hit)
    assert hit.values == {"overflow": 4.0} and "4 of 8 elements are NaN or infinite" in str(hit)
    (given,) = hit.inputs.values()
    assert given.shape == (2, 4) and (given[0] > 0).all() and (given[1] == 0).all()
    for p in net.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name])


def test_a_gradient_that_overflows_names_the_forward_line(way):
    net = RootNet()
    step = trainer(net)
    with debug.watch(net), pytest.raises(debug.WatchpointError) as caught:
        step(Tensor(BAD))
    hit = caught.value.hits[0]
    assert hit.tensor.backward and hit.line == line_of("# finite forward, infinite backward")
    assert "backward pass" in str(hit)


class Scaled(nn.Cell):
    def __init__(self, value):
        super().__init__()
        self.w = ms.Parameter(Tensor(np.asarray(value, np.float32)), name="w")

    def construct(self, x):
        return (ops.tanh(x) * self.w).sum()


X = np.array([-2.0, 0.0, 0.5, 3.0], np.float32)
MULTIPLIED = np.tanh(X) * 2
CASES = [
    (("tensor_too_large", "^Default.*Scaled/Mul", {"max_gt": 1.9}), {"max_gt": MULTIPLIED.max()}),
    (("tensor_too_large", "^Default.*Scaled/Mul", {"abs_mean_gt": 1.0, "mean_gt": 5}), {"abs_mean_gt": np.abs(MULTIPLIED).mean()}),
    (("tensor_too_large", "^Default.*Scaled/Mul", {"min_gt": -3}), {"min_gt": MULTIPLIED.min()}),
    (("tensor_too_large", "^Default.*Scaled/Mul", {"max_gt": 2}), {}),
    (("tensor_too_small", "^Default.*Scaled/Mul", {"mean_lt": 0.5, "max_lt": 1}), {"mean_lt": MULTIPLIED.mean()}),
    (("tensor_all_zero", "^Default.*Scaled/Mul", {"zero_percentage_ge": 25}), {"zero_percentage_ge": 25.0}),
    (("tensor_all_zero", "^Default.*Scaled/Mul", {}), {}),
    (("tensor_range", "^Default.*Scaled/Mul", {"range_start_inclusive": 0, "range_end_inclusive": 1, "range_percentage_lt": 60}),
     {"range_percentage_lt": 50.0}),
    (("tensor_range", "^Default.*Scaled/Mul", {"max_min_gt": 1}), {"max_min_gt": np.ptp(MULTIPLIED)}),
    (("activation_range", "", {"range_start_inclusive": -1, "range_end_inclusive": 0, "range_percentage_gt": 40}),
     {"range_percentage_gt": 50.0}),
    (("gradient_too_large", "", {"max_gt": 0.9}), {"max_gt": np.tanh(X).max()}),
    (("gradient_vanishing", "", {"abs_mean_lt": 1.0}), {"abs_mean_lt": np.abs(np.tanh(X)).mean()}),
    (("gradient_vanishing", "", {}), {}),
    (("weight_change_too_large", "^w$", {"abs_mean_update_ratio_gt": 0.01}),
     {"abs_mean_update_ratio_gt": np.abs(0.1 * np.tanh(X)).mean() / 2}),
    (("weight_change_too_small", "^w$", {"abs_mean_update_ratio_lt": 0.01}), {}),
    (("weight_not_changed", "^w$", {}), {}),
    (("weight_not_changed", "^w$", {"rtol": 1.0}), {"unchanged": 1.0}),
    (("weight_too_large", "^w$", {"min_gt": 1.5}), {"min_gt": (2 - 0.1 * np.tanh(X)).min()}),
    (("weight_initialization", "^w$", {"max_gt": 1.0}), {"max_gt": 2.1}),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "expected"), CASES, ids=lambda case: case[0] if isinstance(case, tuple) else "")
def test_every_rule_measures_what_it_says(way, asked, expected):
    rule, names, parameters = asked
    net = Scaled(np.full(4, 2.0))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    found = []
    with debug.watch(net, [debug.Watchpoint(rule, names, action=found.append, **parameters)]):
        step(Tensor(X))
    values = [hit.values for hit in found]
    if expected:
        if rule == "weight_initialization":
            expected = {"max_gt": (2 - 0.1 * np.tanh(X)).max()}
        assert len(values) == 1 and values[0].keys() == expected.keys()
        np.testing.assert_allclose(list(values[0].values()), list(expected.values()), rtol=1e-5)
        assert found[0].thresholds.keys() <= parameters.keys() | {"abs_mean_lt"}
    else:
        assert values == []


def test_initial_weights_are_looked_at_once(way):
    net = Scaled(np.zeros(4))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.0))
    found = []
    with debug.watch(net, [debug.Watchpoint("weight_initialization", action=found.append)]):
        step(Tensor(X))
        step(Tensor(X))
    assert [(h.tensor.name, h.step) for h in found] == [("w", 0)]


def test_states_of_optimizers_are_watched(way):
    net = Scaled(np.ones(4))
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    found = []
    point = debug.Watchpoint("tensor_too_large", "moments", kind="state", max_gt=0.5, action=found.append)
    with debug.watch(net, [point]):
        step(Tensor(X))
    np.testing.assert_allclose([h.values["max_gt"] for h in found], [np.tanh(3.0)], rtol=1e-6)


def test_a_line_can_be_watched(way):
    found = []
    place = line_of("# the bad line")
    points = [
        debug.Watchpoint("tensor_too_small", lines=f"{Path(place.rpartition(':')[0]).name}:{place.rpartition(':')[2]}",
                         max_lt=1e9, action=found.append),
        debug.Watchpoint("tensor_too_small", lines="elsewhere.py", max_lt=1e9, action=found.append),
    ]  # fmt: skip
    net = Net()
    with debug.watch(net, points):
        net(Tensor(GOOD))
    assert found and all("Log" in h.tensor.name for h in found)


def test_bad_data_is_named_as_such(way):
    net = Net()
    with debug.watch(net, action="report"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        net(Tensor(np.full((2, 3), np.nan, np.float32)))
    first = next(str(w.message) for w in said if "overflow" in str(w.message))
    assert "6 NaN or infinite" in first or "6 of 6" in first


def test_actions_report_and_function_let_training_go_on(way):
    net, seen = Net(), []
    step = trainer(net, 0.0)
    with debug.watch(net, [debug.Watchpoint("tensor_overflow", action=seen.append)]):
        step(Tensor(BAD))
        step(Tensor(BAD))
    assert {h.step for h in seen} == {0, 1} and seen[0].inputs


def test_other_networks_are_not_watched():
    ms.set_context(mode=ms.GRAPH_MODE)
    one, other = Net(), Net()
    with debug.watch(one) as watch:
        other(Tensor(BAD))
        with pytest.raises(debug.WatchpointError):
            one(Tensor(BAD))
    assert watch.hits and {h.step for h in watch.hits} == {0}


def test_a_step_is_dumped_for_the_offline_debugger(tmp_path):
    pytest.importorskip("google_crc32c")
    from mindinsight.debugger import DumpAnalyzer

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    step = trainer(net, 0.0)
    told = pytest.warns(UserWarning, match="(?s)tensor_overflow: .*step 1 .*The step's tensors are in ")
    with debug.watch(net, [debug.Watchpoint("tensor_overflow")], action="dump", path=str(tmp_path)) as watch, told:
        step(Tensor(GOOD))
        step(Tensor(BAD))
    assert str(tmp_path) in watch.hits[0].folder
    run = DumpAnalyzer(str(tmp_path))
    assert run.get_iterations() == [1]
    (log,) = [t for t in run.select_tensors("Log-op0", iterations=1) if "Gradients" not in t.node.name][:1]
    assert np.isneginf(log.value()).sum() == 4


def test_sunk_training_is_watched_step_by_step():
    ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
    net = Net()
    rows = [GOOD, GOOD, GOOD, BAD]
    data = ms.dataset.NumpySlicesDataset(rows, shuffle=False)
    model = ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.0))
    with debug.watch(net, [debug.Watchpoint("tensor_overflow", "Log")], action="report") as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.train(1, data, dataset_sink_mode=True, sink_size=4)
    assert {h.step for h in watch.hits} == {3}


def test_nothing_is_left_when_a_watch_has_ended():
    from mindspore.prims import primitive

    before = primitive._Dispatch.call
    net = Net()
    with debug.watch(net):
        assert primitive._Dispatch.call is not before
    assert primitive._Dispatch.call is before
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        assert np.isneginf(net(Tensor(BAD)).asnumpy())


def test_who_looks_at_operations_may_end_in_any_order():
    from mindspore.profiler.recorder import Recorder

    recorder = Recorder()
    with debug.watch(Net()):
        recorder.start()
    assert np.array_equal(ops.exp(Tensor([0.0])), [1.0])
    with debug.watch(Net()) as watch, pytest.raises(debug.WatchpointError):
        recorder.stop()
        ops.log(Tensor([0.0]))
    assert [span.name for span in recorder.spans] == ["Exp"] and len(watch.hits) == 1
    assert np.isneginf(ops.log(Tensor([0.0])).asnumpy())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("no_rule", {}), "'rule' must be one of weight_initialization"),
        (("tensor_overflow", {"max_gt": 1}), "the parameters allowed are: none; but got max_gt"),
        (("tensor_too_large", {}), "give at least one of abs_mean_gt"),
        (("tensor_range", {"range_percentage_gt": 3}), "needs both 'range_start_inclusive'"),
        (("tensor_all_zero", {"zero_percentage_ge": "all"}), "must be a number, but got 'all'"),
        (("tensor_overflow", {"names": "("}), "must be a regular expression"),
        (("tensor_overflow", {"kind": "banana"}), "'kind' must be one of weight"),
        (("tensor_overflow", {"action": "explode"}), "must be one of stop, report, dump"),
    ],
)
def test_wrong_watchpoints_are_refused(arguments, text):
    with pytest.raises((ValueError, TypeError), match=text.replace("(", r"\(")):
        debug.Watchpoint(arguments[0], **arguments[1])


def test_wrong_arguments_of_watch_are_refused():
    with pytest.raises(TypeError, match="'net' must be a Cell or None, but got int"):
        debug.watch(3)
    with pytest.raises(TypeError, match="'points' must be Watchpoints"):
        debug.watch(None, ["tensor_overflow"])


SCRIPT = """
import numpy as np, mindspore as ms
from mindspore import Tensor, ops
ms.set_context(mode=ms.{mode})
f = ms.jit(lambda x: ops.log(x)) if "{mode}" == "GRAPH_MODE" else ops.log
print(f(Tensor(np.array([1.0, 0.0], np.float32))))
"""


@pytest.mark.parametrize("mode", ["GRAPH_MODE", "PYNATIVE_MODE"])
@pytest.mark.parametrize(
    ("variable", "fails"), [("recommended", True), ("tensor_too_large:max_gt=5", False), ("tensor_overflow@Log", True)]
)
def test_a_script_is_watched_by_the_environment_alone(mode, variable, fails, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(mode=mode))
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, "MS_WATCH": variable}, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode != 0) is fails
    assert not fails or "WatchpointError" in done.stderr
    assert not fails or f"{script}:{5 if mode == 'GRAPH_MODE' else 6}" in done.stderr


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_tensors_that_are_counted_together_are_told_apart(backend):
    """Many small tensors of one shape share a reduction; a hit still names the one that is bad."""
    ms.set_context(mode=ms.GRAPH_MODE, backend=backend)

    class Many(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor(np.ones(3, np.float32)), name="w")

        def construct(self, x):
            parts = [ops.exp(x * (k + 1)) * self.w for k in range(8)]  # only large multiples overflow
            return sum(ops.sigmoid(p).sum() for p in parts)

    with debug.watch(None, [debug.Watchpoint("tensor_overflow")], action="report") as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Many()(Tensor(np.array([0.0, 1.0, 20.0], np.float32)))
    bad = [h.tensor.name for h in watch.hits if "Exp" in h.tensor.name]
    assert len(bad) == sum(20 * (k + 1) > np.log(np.finfo(np.float32).max) for k in range(8))
    assert watch.hits[0].tensor.name == bad[0] and watch.hits[0].values == {"overflow": 1.0}
