"""A graph in memory: nodes and edges as arrays, neighbours in compressed rows.

The file has a row for every node ("attribute" n) and every directed edge (e): "first_id" is its number, "type" its
kind; for edges "second_id" and "third_id" are the nodes it leads from and to, and "weight" its weight. The features of
a row are the columns "node_feature_K" or "edge_feature_K" for the K of "node_feature_index" or "edge_feature_index".
"""

from __future__ import annotations

import numpy as np

from mindspore.dataset.sources.minddataset import MindRecordRows

_NEEDED = ("attribute", "first_id", "second_id", "third_id", "type")


class Elements:
    """All nodes, or all edges: numbers, kinds and features."""

    def __init__(self, rows: MindRecordRows, places: np.ndarray, ids: np.ndarray, kinds: np.ndarray, name: str):
        order = np.argsort(ids[places], kind="stable")
        self.name = name
        self.places = places[order]  # rows of the file
        self.ids = ids[self.places]
        self.kinds = kinds[self.places]
        self._in_file_order = np.argsort(order, kind="stable")
        self._rows = rows
        self._features: dict[int, np.ndarray] = {}
        if (self.ids[1:] == self.ids[:-1]).any():
            raise RuntimeError(f"Invalid data, two {name}s of the graph have the same first_id.")

    def of_kind(self, kind: int) -> np.ndarray:
        """The numbers of all elements of a kind, as they stand in the file."""
        found = self.ids[self._in_file_order][self.kinds[self._in_file_order] == kind]
        if not len(found):
            raise RuntimeError(f"Invalid {self.name} type: {kind}, the graph has {self.counts()}.")
        return found

    def counts(self) -> dict[int, int]:
        kinds, numbers = np.unique(self.kinds, return_counts=True)
        return {int(kind): int(number) for kind, number in zip(kinds, numbers)}

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Places of the elements with these numbers; RuntimeError for a number that is none."""
        found = np.minimum(np.searchsorted(self.ids, ids), max(len(self.ids) - 1, 0))
        wrong = self.ids[found] != ids if len(self.ids) else np.ones(ids.shape, bool)
        if wrong.any():
            raise RuntimeError(f"Invalid {self.name} id: {ids[wrong][0]}, the graph has no such {self.name}.")
        return found

    def feature_kinds(self) -> list[int]:
        column = f"{self.name}_feature_index"
        if column not in self._rows.columns:
            return []
        return sorted({int(k) for place in self.places for k in self._rows.row(int(place))[column].flat if k >= 0})

    def feature(self, kind: int) -> np.ndarray:
        """The feature of all elements, and at the end zeros for those that have none."""
        if kind not in self._features:
            self._features[kind] = self._read_feature(kind)
        return self._features[kind]

    def _read_feature(self, kind: int) -> np.ndarray:
        column, index = f"{self.name}_feature_{kind}", f"{self.name}_feature_index"
        if column not in self._rows.columns:
            raise RuntimeError(f"Invalid feature type: {kind}, no {self.name} of the graph has it.")
        result: np.ndarray | None = None
        for i, place in enumerate(self.places):
            row = self._rows.row(int(place))
            if kind not in row[index]:
                continue
            value = row[column].squeeze() if row[column].size == 1 else row[column]
            if result is None:
                result = np.zeros((len(self.places) + 1, *value.shape), value.dtype)
            if value.shape != result.shape[1:]:
                raise RuntimeError(
                    f"Invalid data, {self.name} {self.ids[i]} has a feature {kind} of shape {value.shape}, others of "
                    f"{result.shape[1:]}."
                )
            result[i] = value
        if result is None:
            raise RuntimeError(f"Invalid feature type: {kind}, no {self.name} of the graph has it.")
        return result


class GraphStore:
    def __init__(self, path: str):
        rows = self._rows = MindRecordRows(path)
        missing = [name for name in _NEEDED if name not in rows.columns]
        if missing:
            raise RuntimeError(f"Invalid file, {path} holds no graph: the column {missing[0]!r} is missing.")
        attribute = rows.class_column("attribute").astype(str)
        ids, kinds = rows.class_column("first_id").astype(np.int64), rows.class_column("type").astype(np.int32)
        self.nodes = Elements(rows, np.flatnonzero(attribute == "n"), ids, kinds, "node")
        self.edges = Elements(rows, np.flatnonzero(attribute == "e"), ids, kinds, "edge")
        places = self.edges.places
        self.sources = self.nodes.positions(rows.class_column("second_id").astype(np.int64)[places])
        self.targets = self.nodes.positions(rows.class_column("third_id").astype(np.int64)[places])
        weighted = "weight" in rows.columns
        weights = rows.class_column("weight").astype(np.float64)[places] if weighted else np.ones(len(places))
        order = np.argsort(self.sources, kind="stable")
        self._starts = np.searchsorted(self.sources[order], np.arange(len(self.nodes.ids) + 1))
        self._targets, self._weights = self.targets[order], weights[order]

    def neighbours(self, node: int, kind: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Places of the nodes that edges lead to from the node at a place, and the weights of those edges."""
        span = slice(self._starts[node], self._starts[node + 1])
        targets, weights = self._targets[span], self._weights[span]
        if kind is None:
            return targets, weights
        wanted = self.nodes.kinds[targets] == kind
        return targets[wanted], weights[wanted]

    def check_kind(self, kind: int) -> None:
        if not (self.nodes.kinds == kind).any():
            raise RuntimeError(f"Invalid node type: {kind}, the graph has {self.nodes.counts()}.")
