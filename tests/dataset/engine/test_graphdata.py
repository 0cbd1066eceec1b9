"""Graphs of MindRecord files: a small one, with everything known, written here."""

import itertools

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

# users 1 … 4 (kind 1), things 11 … 13 (kind 2); user 4 has no edge
EDGES = {100: (1, 11), 101: (1, 12), 102: (2, 12), 103: (3, 13), 104: (11, 1), 105: (12, 2), 106: (13, 3), 107: (12, 1)}
WEIGHTS = {101: 3.0}
USERS, THINGS = [1, 2, 3, 4], [11, 12, 13]


@pytest.fixture
def graph(tmp_path):
    name = str(tmp_path / "graph")
    writer = FileWriter(name, 1)
    scalar = {field: {"type": "int64"} for field in ("first_id", "second_id", "third_id")}
    vectors = {"node_feature_index": "int32", "edge_feature_index": "int32", "node_feature_1": "float32",
               "node_feature_2": "int32", "edge_feature_1": "float32"}  # fmt: skip
    schema = {"attribute": {"type": "string"}, "type": {"type": "int32"}, "weight": {"type": "float32"}, **scalar}
    schema |= {field: {"type": kind, "shape": [-1]} for field, kind in vectors.items()}
    writer.add_schema(schema, "graph")
    writer.add_index(["attribute", "first_id", "second_id", "third_id", "type", "weight"])

    def row(attribute, number, kind, source=0, target=0, weight=1.0, **features):
        zero = {field: np.zeros(1, kind) for field, kind in vectors.items() if "index" not in field}
        none = {"node_feature_index": np.array([-1], np.int32), "edge_feature_index": np.array([-1], np.int32)}
        return {"attribute": attribute, "first_id": number, "type": kind, "second_id": source, "third_id": target,
                "weight": weight, **zero, **none, **features}  # fmt: skip

    rows = [
        row("n", n, 1, node_feature_1=np.float32([n, n / 2]), node_feature_index=np.array([1], np.int32)) for n in USERS
    ]
    rows += [
        row("n", n, 2, node_feature_2=np.array([n * 10], np.int32), node_feature_index=np.array([2], np.int32))
        for n in THINGS
    ]
    rows += [
        row("e", e, 0, a, b, WEIGHTS.get(e, 1.0), edge_feature_1=np.float32([e]), edge_feature_index=np.int32([1]))
        for e, (a, b) in EDGES.items()
    ]
    writer.write_raw_data(rows)
    writer.commit()
    return ds.GraphData(name)


def test_what_there_is(graph):
    assert graph.graph_info() == {
        "node_type": [1, 2], "edge_type": [0], "node_num": {1: 4, 2: 3}, "edge_num": {0: 8},
        "node_feature_type": [1, 2], "edge_feature_type": [1],
    }  # fmt: skip
    assert graph.get_all_nodes(1).tolist() == USERS
    assert graph.get_all_edges(0).tolist() == list(EDGES)
    assert graph.get_nodes_from_edges([103, 100]).tolist() == [[3, 13], [1, 11]]
    assert graph.get_edges_from_nodes([(3, 13), (12, 1)]).tolist() == [103, 107]


def test_all_neighbours_in_three_forms(graph):
    assert graph.get_all_neighbors([1, 2, 4], 2).tolist() == [[1, 11, 12], [2, 12, -1], [4, -1, -1]]
    assert graph.get_all_neighbors([1, 2, 4], 2, ds.OutputFormat.COO).tolist() == [[1, 11], [1, 12], [2, 12]]
    assert graph.get_all_neighbors([1, 2, 4], 2, ds.OutputFormat.CSR).tolist() == [0, 2, 3, 11, 12, 12]


def test_sampled_neighbours_are_neighbours(graph):
    rows = graph.get_sampled_neighbors([1, 2, 4], [2, 3], [2, 1])
    assert rows.shape == (3, 1 + 2 + 6)
    assert rows[2].tolist() == [4] + [-1] * 8
    assert sorted(rows[0, 1:3]) == [11, 12]  # two of two: no repetition
    for row in rows[:2]:
        for i, thing in enumerate(row[1:3]):
            assert all((thing, user) in EDGES.values() for user in row[3 + 3 * i : 6 + 3 * i])


def test_weights_draw_more_often(graph):
    drawn = graph.get_sampled_neighbors([1], [4000], [2], ds.SamplingStrategy.EDGE_WEIGHT)[0, 1:]
    assert 0.7 < (drawn == 12).mean() < 0.8


def test_strangers_are_not_neighbours(graph):
    rows = graph.get_neg_sampled_neighbors([1, 2, 4], 2, 2)
    assert set(rows[0, 1:]) == {13}
    assert set(rows[1, 1:]) == {11, 13}
    assert set(rows[2, 1:]) <= set(THINGS)


def test_walks_follow_edges_and_kinds(graph):
    walks = graph.random_walk([1, 2, 3, 4], [2, 1, 2, 1], default_node=-7)
    assert walks.shape == (4, 5)
    assert walks[2].tolist() == [3, 13, 3, 13, 3]
    assert walks[3].tolist() == [4, -7, -7, -7, -7]
    assert all((a, b) in EDGES.values() for walk in walks[:3] for a, b in itertools.pairwise(walk))
    home = graph.random_walk([2] * 300, [2, 1], step_home_param=1e-6)
    assert (home[:, 2] == 2).mean() > 0.99
    away = graph.random_walk([2] * 300, [2, 1], step_home_param=1e6, step_away_param=1e-6)
    assert (away[:, 2] == 1).mean() > 0.99


def test_features(graph):
    first, second = graph.get_node_feature([[1, -1], [11, 4]], [1, 2])
    np.testing.assert_array_equal(first, np.float32([[[1, 0.5], [0, 0]], [[0, 0], [4, 2]]]))
    assert second.tolist() == [[0, 0], [110, 0]]
    assert graph.get_edge_feature([105, 100], [1])[0].tolist() == [105.0, 100.0]


def test_seeded_samples_repeat(graph, tmp_path):
    before = ds.config.get_seed()
    ds.config.set_seed(11)
    try:
        walks = [ds.GraphData(str(tmp_path / "graph")).random_walk([1] * 20, [2, 1, 2]).tolist() for _ in range(2)]
    finally:
        ds.config.set_seed(before)
    assert walks[0] == walks[1]


def test_wrong_questions(graph, tmp_path):
    with pytest.raises(RuntimeError, match="Invalid node type: 9"):
        graph.get_all_nodes(9)
    with pytest.raises(RuntimeError, match="Invalid node id: 77"):
        graph.get_all_neighbors([77], 1)
    with pytest.raises(RuntimeError, match="no edge from 1 to 13"):
        graph.get_edges_from_nodes([(1, 13)])
    with pytest.raises(RuntimeError, match="Invalid feature type: 5"):
        graph.get_node_feature([1], [5])
    with pytest.raises(TypeError, match="node_list"):
        graph.get_all_neighbors("1", 1)
    with pytest.raises(ValueError, match="neighbor_nums"):
        graph.get_sampled_neighbors([1], [2], [1, 2])
    with pytest.raises(RuntimeError, match="working_mode='local'"):
        ds.GraphData(str(tmp_path / "graph"), working_mode="server")
