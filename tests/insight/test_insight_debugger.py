"""The offline debugger over dump folders, hand-made and of the framework's own."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import event_writer as w

pytest.importorskip("google_crc32c")
from mindinsight.debugger import (
    DumpAnalyzer,
    OperatorOverflowCondition,
    TensorAllZeroCondition,
    TensorChangeAboveThresholdCondition,
    TensorChangeBelowThresholdCondition,
    TensorOverflowCondition,
    TensorRangeCondition,
    TensorTooLargeCondition,
    TensorTooSmallCondition,
    TensorUnchangedCondition,
    Watchpoint,
    compare,
)

VALUES = {0: [1.0, 2.0, 3.0, 4.0], 1: [1.0, 2.0, 3.0, 4.0], 2: [0.0, 0.0, 0.0, 8.0], 5: [np.nan, np.inf, 0.0, 1.0]}


def make(folder, change=None):
    shape = w.message((1, 14), (2, w.message((1, 11), (2, w.message((1, w.message((1, 4))))))))
    nodes = [
        w.message((1, w.message((1, "w"))), (2, "1"), (3, "ReLU"), (4, "Default/net"), (6, shape), (8, "Default/net/ReLU-op1")),
        w.message((1, w.message((1, "1"))), (2, "2"), (3, "Add"), (4, "Default"), (6, shape), (8, "Default/Add-op2"),
                  (9, "In file /home/me/net.py(12)/        y = x + 1/\n")),
    ]  # fmt: skip
    graph = w.message(*((1, n) for n in nodes), (2, "kernel_graph_0"), (3, w.message((1, "w"), (2, shape))))
    for rank in (0, 1):
        place = folder / f"rank_{rank}"
        (place / "graphs").mkdir(parents=True)
        (place / "execution_order").mkdir()
        (place / "graphs" / "ms_output_trace_code_graph_0.pb").write_bytes(w.message((4, graph)))
        (place / "execution_order" / "ms_global_execution_order_graph_0.csv").write_text("0\n1\n2\n4\n5\n")
        for step, numbers in VALUES.items():
            step_folder = place / "Net" / "0" / str(step)
            step_folder.mkdir(parents=True)
            relu, add = np.array(numbers, np.float32), np.array(numbers, np.float32) + 1
            if change and (rank, step) == change:
                add[2] += 0.5
            np.save(step_folder / "ReLU.Default_net_ReLU-op1.0.0.100.output.0.DefaultFormat.npy", relu)
            np.save(step_folder / "Add.Default_Add-op2.0.0.200.output.0.DefaultFormat.npy", add)
            with open(step_folder / "statistic.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["Op Type", "Op Name", "IO", "Slot", "Max Value", "Min Value", "NaN Count", "Negative Inf Count",
                                 "Positive Inf Count"])  # fmt: skip
                writer.writerow(["Add", "Add-op2", "output", 0, 70000 if step == 2 else 5, 0, int(step == 5), 0, int(step == 5)])
    return folder


@pytest.fixture
def run(tmp_path):
    return DumpAnalyzer(str(make(tmp_path / "dump")))


def test_nodes_tensors_and_edges(run):
    assert run.get_ranks() == [0, 1] and run.get_iterations() == [0, 1, 2, 5]
    assert [node.name for node in run.select_nodes("op", ranks=0)] == ["Default/net/ReLU-op1", "Default/Add-op2"]
    assert len(run.select_nodes("RELU", case_sensitive=False)) == 2 and run.select_nodes("RELU") == []
    (node,) = run.select_nodes(r"op\d$", use_regex=True, ranks=[1])[1:]
    assert (node.rank, node.graph_name, node.root_graph_id) == (1, "kernel_graph_0", 0)
    (found,) = run.select_nodes("net.py:12", select_by="code_stack", ranks=0)
    assert found.name == "Default/Add-op2" and "y = x + 1" in found.stack[0]
    (tensor,) = run.select_tensors("Add", iterations=2, ranks=0)
    np.testing.assert_array_equal(tensor.value(), [1, 1, 1, 9])
    assert [t.iteration for t in found.get_input_tensors()] == [0, 1, 2, 5]
    np.testing.assert_array_equal(found.get_input_tensors([0])[0].value(), [1, 2, 3, 4])
    relu = run.get_input_nodes(found)[0]
    assert run.get_output_nodes(relu) == [found] and run.list_affected_nodes(relu.get_output_tensors()[0]) == [found]
    weight = run.select_tensors("w", ranks=0, iterations=0, use_regex=False)[0]
    assert weight.node.name == "w" and weight.value() is None and not weight.has_value()


@pytest.mark.parametrize(
    ("condition", "steps"),
    [
        (TensorTooLargeCondition(max_gt=5), [2, 5]),
        (TensorTooLargeCondition(abs_mean_gt=2.4), [0, 1, 5]),
        (TensorTooSmallCondition(mean_lt=2.2, min_lt=-5), [2, 5]),
        (TensorOverflowCondition(), [5]),
        (OperatorOverflowCondition(), [5]),
        (TensorAllZeroCondition(60), [2]),
        (TensorUnchangedCondition(), [1]),
        (TensorChangeBelowThresholdCondition(0.1), [1]),
        (TensorChangeAboveThresholdCondition(0.5), [2]),
        (TensorRangeCondition(range_start_inclusive=0, range_end_inclusive=0, range_percentage_gt=70), [2, 5]),
        (TensorRangeCondition(max_min_gt=7), [2, 5]),
    ],
)
def test_conditions(run, condition, steps):
    hits = run.check_watchpoints([Watchpoint(run.select_tensors("ReLU", ranks=0), condition)])
    assert [hit.tensor.iteration for hit in hits] == steps
    for hit in hits:
        spoilt = hit.tensor.iteration == 5 and condition.wants_finite
        assert hit.error_code == (3 if spoilt else 0) and (hit.get_hit_detail() is None) == spoilt
        assert "ReLU-op1" in str(hit) and hit.get_threshold() is condition


def test_what_cannot_be_checked_is_said_when_asked_for(run):
    tensors = run.select_tensors("w", ranks=0, iterations=[0]) + run.select_tensors("ReLU", ranks=0, iterations=[0, 5])
    condition = TensorUnchangedCondition()
    assert run.check_watchpoints([Watchpoint(tensors, condition)]) == []
    hits = run.check_watchpoints([Watchpoint(tensors, condition)], error_on_no_value=True)
    assert [hit.error_msg for hit in hits] == [["Tensor has no value."], *[["The previous step value cannot be found."]] * 2]


def test_a_parameter_has_the_value_that_its_reader_dumped(tmp_path):
    folder = make(tmp_path / "dump")
    np.save(folder / "rank_0" / "Net" / "0" / "1" / "ReLU.Default_net_ReLU-op1.0.0.90.input.0.DefaultFormat.npy", np.arange(4.0))
    (weight,) = DumpAnalyzer(str(folder)).select_tensors("w", ranks=0, iterations=1)
    np.testing.assert_array_equal(weight.value(), [0, 1, 2, 3])


def test_statistics(run, tmp_path):
    found = run.select_tensor_statistics(ranks=0, iterations=[2, 5])
    assert list(found) == [0] and list(found[0]) == [2, 5] and list(found[0][2]) == ["Add-op2:output:0"]
    run.summary_statistics(found, out_path=str(tmp_path / "out"))
    (row,) = csv.DictReader((tmp_path / "out" / "statistics_summary.csv").open())
    assert row["inf_number"] == row["nan_number"] == row["out_of_range_number"] == "1" and row["total_iterations"] == "2"
    lines = Path(run.export_graphs(str(tmp_path))).read_text()
    assert "Default/net/ReLU-op1" in lines and "net.py" in lines


def test_the_first_difference_of_two_runs(tmp_path):
    first, same, other = make(tmp_path / "a"), make(tmp_path / "b"), make(tmp_path / "c", change=(1, 2))
    assert compare(str(first), str(same)) is None
    found = compare(str(first), str(other))
    assert (found.rank, found.iteration, found.name, found.number, found.largest) == (1, 2, "Default_Add-op2", 1, 0.5)
    (add,) = (node for node in DumpAnalyzer(str(first)).select_nodes("Add-op2", ranks=1))
    assert list(found.stack) == add.stack and add.stack and "net.py" in str(found)
    assert compare(str(first), str(other), atol=1.0) is None


@pytest.mark.parametrize(
    "wrong",
    [lambda: TensorTooLargeCondition(), lambda: TensorRangeCondition(range_percentage_gt=1), lambda: TensorAllZeroCondition(101)],
)
def test_conditions_without_sense(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_folders_that_are_no_dumps(tmp_path):
    with pytest.raises(FileNotFoundError):
        DumpAnalyzer(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="no dump"):
        DumpAnalyzer(str(tmp_path))
    folder = make(tmp_path / "dump")
    (folder / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb").write_bytes(b"\x22\xff\xff")
    with pytest.raises(ValueError, match="no graph"):
        DumpAnalyzer(str(folder))


def test_tensors_that_would_run_code_are_refused(tmp_path):
    folder = make(tmp_path / "dump")
    path = folder / "rank_0" / "Net" / "0" / "0" / "ReLU.Default_net_ReLU-op1.0.0.100.output.0.DefaultFormat.npy"
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"Python objects|allow_pickle"):
        DumpAnalyzer(str(folder)).select_tensors("ReLU", ranks=0, iterations=0)[0].value()
