"""`runtime_execution_order_check`: what it says about orders of communication that processes have written."""

import itertools
import random

import pytest

from mindspore import log
from mindspore.utils import comm_exec_order_check
from mindspore.utils import runtime_execution_order_check as check
from mindspore.utils.runtime_execution_order_check import (
    ExecuteOrder,
    RankFolderParser,
    detect_cycle_in_graph,
    modify_execute_orders,
)

HEADER = ",".join(RankFolderParser.REQUIRED_COLUMNS)


@pytest.fixture
def said(monkeypatch):
    lines = []
    for level in ("error", "warning"):
        monkeypatch.setattr(log, level, lambda text, *args, level=level: lines.append(f"{level}: {text % args}"))
    return lines


def written(folder, orders):
    """A run: for each process lines of (group, members, primitive, source, destination)."""
    for rank, lines in orders.items():
        place = folder / f"rank_{rank}" / "execute_order"
        place.mkdir(parents=True)
        rows = [f"{i},{g},{m},{p},{s},{d},,[4],f32,[4],f32,16,16" for i, (g, m, p, s, d) in enumerate(lines)]
        (place / "comm_execute_order.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return str(folder)


SUM = ("world", "0 1", "AllReduce", "", "")
SEND, RECEIVE = ("pair", "0 1", "Send", "", "1"), ("pair", "0 1", "Receive", "0", "")


def test_a_run_whose_orders_fit(tmp_path, said):
    check(written(tmp_path, {0: [SUM, SEND, SUM], 1: [SUM, RECEIVE, SUM]}))
    assert said == ["warning: Cycle Check success. There is no cycle in the graph."]


def test_opposite_orders_are_a_circle(tmp_path, said):
    check(written(tmp_path, {0: [SUM, SEND], 1: [RECEIVE, SUM]}))
    assert len(said) == 1
    assert "0 AllReduce_world_(0,1)_1th -> Send_Receive_pair_(0)->(1)_[4]_1th" in said[0]
    assert "1 Send_Receive_pair_(0)->(1)_[4]_1th -> AllReduce_world_(0,1)_1th" in said[0]


def test_what_a_member_does_not_run(tmp_path, said):
    check(written(tmp_path, {0: [SUM, SUM], 1: [SUM]}))
    assert "error: Process 1 does not run AllReduce_world_(0,1)_2th, for which others wait." in said


def test_a_process_without_a_file(tmp_path, said):
    folder = written(tmp_path, {0: [SUM]})
    check(folder)
    assert any(line.startswith("error: Process 1 takes part in") for line in said)
    said.clear()
    check([f"{folder}/rank_0"], all_rank=False)
    assert not [line for line in said if line.startswith("error")]


def test_damaged_files_are_named(tmp_path, said):
    folder = written(tmp_path, {0: [SUM], 1: [SUM], 2: [SUM]})
    (tmp_path / "rank_1/execute_order/comm_execute_order.csv").write_text("index,group\n1,A\n")
    (tmp_path / "rank_2/execute_order/comm_execute_order.csv").write_bytes(b"\xff\xfe")
    assert list(RankFolderParser(folder).parse()) == ["0"]
    assert ["rank_1" in said[0], "rank_2" in said[1]] == [True, True]


def test_folders_are_checked(tmp_path):
    folder = written(tmp_path / "run", {0: [SUM]})
    (tmp_path / "empty").mkdir()
    for given, words in [
        ("run", "absolute"), (f"{folder}/no", "does not exist"), (str(tmp_path / "empty"), "No rank_x folders"),
        ([folder, f"{folder}/rank_0"], "Duplicate rank folder"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            RankFolderParser(given)


def test_names_of_communications():
    line = ExecuteOrder("0", "g", "0 1", "Broadcast", root_rank="1")
    assert modify_execute_orders({"0": [line, line], "1": None}) == {
        "0": ["Broadcast_g_commRank:(0,1)_rootRank:(1)_1th", "Broadcast_g_commRank:(0,1)_rootRank:(1)_2th"], "1": []
    }  # fmt: skip


def test_circles_are_found_where_there_are_any():
    """Against the definition: orders fit together if some order of all names has each process's list in it."""
    rng = random.Random(7)
    for _ in range(200):
        lists = {str(r): rng.sample("abcde", rng.randint(0, 4)) for r in range(rng.randint(1, 3))}
        fits = any(
            all(sorted(names, key=whole.index) == names for names in lists.values())
            for whole in itertools.permutations("abcde")
        )
        circle, steps = detect_cycle_in_graph(lists)
        assert (circle is None) is fits
        if circle is not None:
            assert circle[0] == circle[-1] and len(steps) == len(circle) - 1
            for (a, b), step in zip(itertools.pairwise(circle), steps):
                names = lists[step.split()[0]]
                assert step.split(maxsplit=1)[1] == f"{a} -> {b}" and names.index(b) == names.index(a) + 1


def test_parts_of_a_program_begin_and_end(said):
    for wrong, error in ((1, TypeError), ("stop", ValueError)):
        with pytest.raises(error):
            comm_exec_order_check(wrong)
    comm_exec_order_check("end")
    comm_exec_order_check("start")
    comm_exec_order_check("start")
    comm_exec_order_check("end")
    assert said == [
        "error: The 'end' action cannot be called before the 'start' action.",
        "error: The 'start' action cannot be called twice.",
    ]
    check([])
    assert "is needed" in said[-1]
