"""`GraphData`: nodes, edges, neighbours, features, and random samples of them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset._check import check_file, check_num_parallel_workers, check_type, check_valid_str
from mindspore.dataset.graph.store import Elements, GraphStore
from mindspore.dataset.settings import DEFAULT_SEED, settings

NOBODY = -1  # stands where there is no node


class SamplingStrategy(IntEnum):
    """How neighbours are drawn: each as likely as the others, or by the weights of the edges."""

    RANDOM = 0
    EDGE_WEIGHT = 1


class OutputFormat(IntEnum):
    """How neighbours are given: rows filled up with -1, pairs, or compressed rows."""

    NORMAL = 0
    COO = 1
    CSR = 2


class GraphData:
    """A graph that a MindRecord file holds, read into memory. Edges are directed.

    graph = ds.GraphData("graph.mindrecord")
    nodes = graph.get_all_nodes(node_type=1)
    graph.get_sampled_neighbors(nodes[:8], neighbor_nums=[5, 2], neighbor_types=[2, 1])
    """

    def __init__(
        self,
        dataset_file: str,
        num_parallel_workers: int | None = None,
        working_mode: str = "local",
        hostname: str = "127.0.0.1",
        port: int = 50051,
        num_client: int = 1,
        auto_shutdown: bool = True,
    ):
        check_file(dataset_file)
        check_num_parallel_workers(num_parallel_workers)
        check_valid_str(working_mode, ["local", "client", "server"], "working_mode")
        if working_mode != "local":
            raise RuntimeError("GraphData reads graphs in this process only: use working_mode='local'.")
        self._graph = GraphStore(dataset_file)
        seed = settings().seed
        self._rng = np.random.default_rng(None if seed == DEFAULT_SEED else seed)

    # -- what there is
    def graph_info(self) -> dict[str, Any]:
        """Kinds of nodes and edges, how many there are of each, and which features they have."""
        nodes, edges = self._graph.nodes, self._graph.edges
        return {
            "node_type": list(nodes.counts()),
            "edge_type": list(edges.counts()),
            "node_num": nodes.counts(),
            "edge_num": edges.counts(),
            "node_feature_type": nodes.feature_kinds(),
            "edge_feature_type": edges.feature_kinds(),
        }

    def get_all_nodes(self, node_type: int) -> np.ndarray:
        """The numbers of all nodes of a kind."""
        return _numbers(self._graph.nodes.of_kind(_kind(node_type, "node_type")))

    def get_all_edges(self, edge_type: int) -> np.ndarray:
        """The numbers of all edges of a kind."""
        return _numbers(self._graph.edges.of_kind(_kind(edge_type, "edge_type")))

    def get_nodes_from_edges(self, edge_list: Any) -> np.ndarray:
        """The two nodes of each edge, (edges, 2)."""
        graph = self._graph
        edges = graph.edges.positions(_ids(edge_list, "edge_list", 1))
        return _numbers(graph.nodes.ids[np.stack([graph.sources[edges], graph.targets[edges]], axis=1)])

    def get_edges_from_nodes(self, node_list: Any) -> np.ndarray:
        """The edge from the first to the second node of each pair."""
        pairs = self._graph.nodes.positions(_ids(node_list, "node_list", 2))
        if pairs.shape[1:] != (2,):
            raise ValueError("Each item of 'node_list' must be a pair of nodes.")
        return _numbers(np.array([self._edge_between(source, target) for source, target in pairs], np.int64))

    def _edge_between(self, source: int, target: int) -> int:
        graph = self._graph
        found = np.flatnonzero((graph.sources == source) & (graph.targets == target))
        if not len(found):
            ids = graph.nodes.ids
            raise RuntimeError(f"Invalid pair of nodes, there is no edge from {ids[source]} to {ids[target]}.")
        return int(graph.edges.ids[found[0]])

    # -- neighbours
    def get_all_neighbors(
        self, node_list: Any, neighbor_type: int, output_format: OutputFormat = OutputFormat.NORMAL
    ) -> np.ndarray:
        """All neighbours of a kind: rows of a node and its neighbours; pairs of both; or, compressed, where the
        neighbours of each node begin, and then the neighbours of all."""
        check_type(output_format, OutputFormat, "output_format")
        nodes, found = self._neighbours(node_list, neighbor_type)
        if output_format is OutputFormat.COO:
            return _numbers(np.array([(node, other) for node, others in zip(nodes, found) for other in others]))
        if output_format is OutputFormat.CSR:
            begins = np.cumsum([0, *(len(others) for others in found[:-1])])
            return _numbers(np.concatenate([begins, *found]))
        rows = np.full((len(nodes), 1 + max(map(len, found))), NOBODY)
        for row, node, others in zip(rows, nodes, found):
            row[0] = node
            row[1 : 1 + len(others)] = others
        return _numbers(rows)

    def _neighbours(self, node_list: Any, kind: int) -> tuple[np.ndarray, list[np.ndarray]]:
        graph, nodes = self._graph, _ids(node_list, "node_list", 1)
        graph.check_kind(_kind(kind, "neighbor_type"))
        places = graph.nodes.positions(nodes)
        return nodes, [graph.nodes.ids[graph.neighbours(place, kind)[0]] for place in places]

    def get_sampled_neighbors(
        self,
        node_list: Any,
        neighbor_nums: list[int],
        neighbor_types: list[int],
        strategy: SamplingStrategy = SamplingStrategy.RANDOM,
    ) -> np.ndarray:
        """For each node a row of itself, some neighbours, some neighbours of each of those, and so on."""
        check_type(strategy, SamplingStrategy, "strategy")
        nodes = _ids(node_list, "node_list", 1)
        if len(neighbor_nums) != len(neighbor_types) or not neighbor_nums:
            raise ValueError("The sizes of 'neighbor_nums' and 'neighbor_types' are not equal, or both are empty.")
        self._graph.nodes.positions(nodes)
        hop, parts = nodes[:, None], [nodes[:, None]]
        for number, kind in zip(neighbor_nums, neighbor_types):
            self._graph.check_kind(_kind(kind, "neighbor_types"))
            drawn = [self._draw(node, _count(number, "neighbor_nums"), kind, strategy) for node in hop.flat]
            hop = np.array(drawn).reshape(len(nodes), -1)
            parts.append(hop)
        return _numbers(np.concatenate(parts, axis=1))

    def _draw(self, node: int, number: int, kind: int, strategy: SamplingStrategy) -> np.ndarray:
        """Neighbours of a node: without repetition while there are enough."""
        if node == NOBODY:
            return np.full(number, NOBODY)
        graph = self._graph
        others, weights = graph.neighbours(int(graph.nodes.positions(np.array([node]))[0]), kind)
        if not len(others):
            return np.full(number, NOBODY)
        if strategy is SamplingStrategy.EDGE_WEIGHT:
            drawn = self._rng.choice(others, number, p=weights / weights.sum())
        else:
            rounds = [self._rng.permutation(others) for _ in range(-(-number // len(others)))]
            drawn = np.concatenate(rounds)[:number]
        return graph.nodes.ids[drawn]

    def get_neg_sampled_neighbors(self, node_list: Any, neg_neighbor_num: int, neg_neighbor_type: int) -> np.ndarray:
        """For each node a row of itself and nodes of a kind that are not its neighbours."""
        number = _count(neg_neighbor_num, "neg_neighbor_num")
        candidates = self.get_all_nodes(neg_neighbor_type)
        rows = []
        for node, others in zip(*self._neighbours(node_list, neg_neighbor_type)):
            strangers = np.setdiff1d(candidates, [*others, node])
            drawn = np.full(number, NOBODY)
            if len(strangers):
                drawn = self._rng.choice(strangers, number, replace=len(strangers) < number)
            rows.append([node, *drawn])
        return _numbers(np.array(rows))

    def random_walk(
        self,
        target_nodes: Any,
        meta_path: list[int],
        step_home_param: float = 1.0,
        step_away_param: float = 1.0,
        default_node: int = NOBODY,
    ) -> np.ndarray:
        """Walks along nodes of the kinds of `meta_path`, one row for each start.

        A step back is `1 / step_home_param` as likely, a step further away `1 / step_away_param` (Grover and Leskovec,
        "node2vec", KDD 2016). Where there is no way on, the rest of the row is `default_node`.
        """
        nodes = _ids(target_nodes, "target_nodes", 1)
        for name, value in (("step_home_param", step_home_param), ("step_away_param", step_away_param)):
            if value <= 0:
                raise ValueError(f"Input {name} must be greater than 0, but got {value}.")
        for kind in meta_path:
            self._graph.check_kind(_kind(kind, "meta_path"))
        starts = self._graph.nodes.positions(nodes)
        walks = [self._walk(int(start), meta_path, step_home_param, step_away_param) for start in starts]
        ids = self._graph.nodes.ids
        filled = [[*ids[walk], *[default_node] * (1 + len(meta_path) - len(walk))] for walk in walks]
        return _numbers(np.array(filled))

    def _walk(self, start: int, meta_path: list[int], home: float, away: float) -> list[int]:
        graph, walk = self._graph, [start]
        for kind in meta_path:
            others, weights = graph.neighbours(walk[-1], kind)
            if not len(others):
                break
            if len(walk) > 1:
                near = np.isin(others, graph.neighbours(walk[-2])[0])
                bias = np.where(others == walk[-2], 1 / home, np.where(near, 1.0, 1 / away))
                weights = weights * bias
            walk.append(int(self._rng.choice(others, p=weights / weights.sum())))
        return walk

    # -- features
    def get_node_feature(self, node_list: Any, feature_types: list[int]) -> list[np.ndarray]:
        """Features of nodes: for each kind an array of the shape of `node_list` and of the feature."""
        return _features(self._graph.nodes, node_list, "node_list", feature_types)

    def get_edge_feature(self, edge_list: Any, feature_types: list[int]) -> list[np.ndarray]:
        """Features of edges: for each kind an array of the shape of `edge_list` and of the feature."""
        return _features(self._graph.edges, edge_list, "edge_list", feature_types)


def _features(elements: Elements, listed: Any, name: str, kinds: list[int]) -> list[np.ndarray]:
    if not isinstance(kinds, (list, tuple, np.ndarray)) or not len(kinds):
        raise TypeError(f"feature_types should be a list of integers that is not empty, but got {kinds!r}.")
    ids = _ids(listed, name)
    known = ids != NOBODY
    places = np.full(ids.shape, len(elements.ids))
    places[known] = elements.positions(ids[known])
    return [elements.feature(_kind(kind, "feature_types"))[places] for kind in kinds]


def _ids(listed: Any, name: str, rank: int | None = None) -> np.ndarray:
    if not isinstance(listed, (list, tuple, np.ndarray)):
        raise TypeError(f"Argument {name} with value {listed} is not of type [list, numpy.ndarray].")
    array = np.asarray(listed)
    if not array.size or array.dtype.kind not in "iu" or (rank is not None and array.ndim != rank):
        raise TypeError(f"{name} should hold integers in {rank or 'some'} dimensions and not be empty.")
    return array.astype(np.int64)


def _kind(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"Argument {name} with value {value} is not of type [<class 'int'>].")
    return int(value)


def _count(value: Any, name: str) -> int:
    if _kind(value, name) <= 0:
        raise ValueError(f"Input {name} is not within the required interval of [1, 2147483647], got {value}.")
    return int(value)


def _numbers(ids: np.ndarray) -> np.ndarray:
    """Numbers of nodes and edges as MindSpore gives them: int32 while they fit."""
    fits = not ids.size or (ids.min() >= -(2**31) and ids.max() < 2**31)
    return ids.astype(np.int32 if fits else np.int64)
