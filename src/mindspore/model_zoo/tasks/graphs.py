"""Classes of nodes of a graph of which few are known: an .npz file with `features`, `edges`, `labels` and `known`."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore import ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.tasks.task import SYNTHETIC, Task, existing
from mindspore.nn.cell import Cell

UNKNOWN = -1


class NodeLoss(Cell):
    """Cross entropy of the nodes whose class is known."""

    def __init__(self, net: Cell):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, features: Tensor, edges: Tensor, labels: Tensor) -> Tensor:
        scores = self.net(features, edges)
        return ops.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1), ignore_index=UNKNOWN)


class Graphs(Task):
    """Training sees the labels of known nodes, testing those of the others, on the same graph."""

    name = "graphs"
    wanted = "an .npz file with features (nodes, features), edges (nodes, nodes), labels (nodes) and known (nodes, 0 or 1)"
    figure = "accuracy"

    def training_network(self, net: Cell, recipe: Recipe) -> Cell:
        return NodeLoss(net)

    def data(self, place: str, net: Cell, batch: int, training: bool, limit: int = 0) -> Any:
        nodes, features = net.takes[0].shape
        if place == SYNTHETIC:
            x, edges, labels, known = communities(nodes, features, net.num_classes)
        else:
            x, edges, labels, known = _read(self.file(place), ("features", "edges", "labels", "known"))
        if x.shape != (nodes, features) or edges.shape != (nodes, nodes) or labels.shape != (nodes,):
            raise ValueError(f"The network takes {nodes} nodes with {features} features, but the data has {x.shape}.")
        if labels.max() >= net.num_classes:
            raise ValueError(f"The data has the class {labels.max()}, but the network has {net.num_classes} classes.")
        shown = np.where(known.astype(bool) == training, labels, UNKNOWN).astype(np.int32)
        copies = max(1, (limit if training else 1) or batch)
        columns = tuple(np.repeat(c[None], copies, 0) for c in (x.astype(np.float32), edges.astype(np.int32), shown))
        return ds.NumpySlicesDataset(columns, ["features", "edges", "labels"], shuffle=False).batch(batch)

    def evaluate(self, net: Cell, data: Any) -> float:
        net.set_train(False)
        features, edges, labels = next(data.create_tuple_iterator(num_epochs=1))
        found, wanted = net(features, edges).asnumpy().argmax(-1), labels.asnumpy()
        return float((found == wanted)[wanted != UNKNOWN].mean())

    def predict(self, net: Cell, file: str) -> str:
        """The class of each node."""
        features, edges = _read(existing(file), ("features", "edges"))
        wanted = tuple(takes.shape for takes in net.takes)
        if (features.shape, edges.shape) != wanted:
            raise ValueError(f"The network takes features and edges of {wanted}, but '{file}' has {(features.shape, edges.shape)}.")
        net.set_train(False)
        found = net(Tensor(features[None].astype(np.float32)), Tensor(edges[None].astype(np.int32))).asnumpy()[0].argmax(-1)
        return "\n".join(f"node {n}: class {c}" for n, c in enumerate(found))


def _read(file: Path, names: tuple[str, ...]) -> tuple[np.ndarray, ...]:
    """Arrays of an .npz file."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            missing = set(names) - set(stored.files)
            if not missing:
                return tuple(stored[name] for name in names)
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise ValueError(f"'{file}' is no .npz file that can be read.") from None
    raise ValueError(f"'{file}' lacks {sorted(missing)}; wanted is {Graphs.wanted}.")


def communities(nodes: int, features: int, classes: int) -> tuple[np.ndarray, ...]:
    """Nodes of a class are linked often, others seldom, and each node's own features say little; a quarter is known."""
    rng = np.random.default_rng(0)
    labels = np.arange(nodes) % classes
    same = labels[:, None] == labels[None, :]
    edges = np.triu(rng.random((nodes, nodes)) < np.where(same, 0.5, 0.03), 1)
    x = rng.standard_normal((nodes, features))
    x[np.arange(nodes), labels % features] += 1.0
    return x, edges | edges.T, labels, np.arange(nodes) // classes % 4 == 0
