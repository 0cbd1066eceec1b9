"""Networks of graphs: each node hears from its neighbours.

Kipf & Welling 2017, "Semi-supervised classification with graph convolutional networks"; Veličković et al. 2018, "Graph attention
networks"; Hamilton et al. 2017, "Inductive representation learning on large graphs".
Graphs are (batch, nodes, nodes) matrices of 0 and 1, which suits a few thousand nodes.
"""

from __future__ import annotations

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model

TINY = {"nodes": 40, "features": 16, "num_classes": 4, "hidden": 16, "dropout": 0.0}


def graph_inputs(nodes: int, features: int) -> tuple[Takes, ...]:
    return Takes("features", (nodes, features)), Takes("edges", (nodes, nodes), below=2)


def with_self(edges: Tensor) -> Tensor:
    """Every node is its own neighbour."""
    return ops.maximum(edges.astype("float32"), ops.eye(edges.shape[-1]))


@model(
    "gcn",
    task="graphs",
    paper="Kipf & Welling 2017, Semi-supervised classification with graph convolutional networks",
    recipe=Recipe(epochs=200, batch=1, optimizer="adam", rate=0.01, weight_decay=5e-4, schedule="constant"),
    tiny=TINY,
)
class GCN(nn.Cell):
    """Two layers of D^-½ (A + I) D^-½ X W. (features, edges) → scores of each node's class."""

    def __init__(
        self, nodes: int = 2708, features: int = 1433, num_classes: int = 7, hidden: int = 16, dropout: float = 0.5
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, graph_inputs(nodes, features)
        self.first, self.second = nn.Dense(features, hidden), nn.Dense(hidden, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, features: Tensor, edges: Tensor) -> Tensor:
        linked = with_self(edges)
        scale = ops.rsqrt(ops.sum(linked, -1, keepdim=True))
        linked = linked * scale * scale.swapaxes(-1, -2)
        x = ops.relu(ops.matmul(linked, self.first(self.dropout(features))))
        return ops.matmul(linked, self.second(self.dropout(x)))


class GraphAttention(nn.Cell):
    """Neighbours are weighed by a score of both ends; the heads side by side, or their mean."""

    def __init__(self, inputs: int, outputs: int, heads: int, joined: bool, dropout: float):
        super().__init__()
        self.heads, self.joined = heads, joined
        self.project = nn.Dense(inputs, heads * outputs, has_bias=False)
        self.hears, self.heard = nn.Dense(outputs, 1, has_bias=False), nn.Dense(outputs, 1, has_bias=False)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x: Tensor, edges: Tensor) -> Tensor:
        batch, nodes, _ = x.shape
        h = self.project(self.dropout(x)).reshape(batch, nodes, self.heads, -1).swapaxes(1, 2)
        scores = ops.leaky_relu(self.hears(h) + self.heard(h).swapaxes(-1, -2), 0.2)
        scores = scores + (1 - with_self(edges).expand_dims(1)) * -1e9
        h = ops.matmul(self.dropout(ops.softmax(scores, -1)), h)
        return h.swapaxes(1, 2).reshape(batch, nodes, -1) if self.joined else ops.mean(h, 1)


@model(
    "gat",
    task="graphs",
    paper="Veličković et al. 2018, Graph attention networks",
    recipe=Recipe(epochs=200, batch=1, optimizer="adam", rate=0.005, weight_decay=5e-4, schedule="constant"),
    tiny={**TINY, "hidden": 8, "heads": 2},
)
class GAT(nn.Cell):
    """Two layers of attention. (features, edges) → scores of each node's class."""

    def __init__(
        self, nodes: int = 2708, features: int = 1433, num_classes: int = 7, hidden: int = 8, heads: int = 8, dropout: float = 0.6
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, graph_inputs(nodes, features)
        self.first = GraphAttention(features, hidden, heads, True, dropout)
        self.second = GraphAttention(heads * hidden, num_classes, 1, False, dropout)

    def construct(self, features: Tensor, edges: Tensor) -> Tensor:
        return self.second(ops.elu(self.first(features, edges)), edges)


class Neighbourhood(nn.Cell):
    """Each node's own features beside the mean of its neighbours', of which training draws `sampled` at random."""

    def __init__(self, inputs: int, outputs: int, sampled: int):
        super().__init__()
        self.sampled = sampled
        self.own, self.others = nn.Dense(inputs, outputs), nn.Dense(inputs, outputs, has_bias=False)

    def construct(self, x: Tensor, edges: Tensor) -> Tensor:
        linked = edges.astype("float32")
        if self.training and self.sampled < linked.shape[-1]:
            drawn = linked * (ops.rand(*linked.shape) + 1e-3)
            linked = linked * (drawn >= ops.topk(drawn, self.sampled, -1)[0][..., -1:]).astype("float32")
        linked = linked / ops.maximum(ops.sum(linked, -1, keepdim=True), 1.0)
        return self.own(x) + self.others(ops.matmul(linked, x))


@model(
    "graphsage",
    task="graphs",
    paper="Hamilton et al. 2017, Inductive representation learning on large graphs",
    recipe=Recipe(epochs=200, batch=1, optimizer="adam", rate=0.01, weight_decay=5e-4, schedule="constant"),
    tiny=TINY,
)
class GraphSAGE(nn.Cell):
    """Two layers over sampled neighbours, with results of length 1. (features, edges) → scores of each node's class."""

    def __init__(
        self, nodes: int = 2708, features: int = 1433, num_classes: int = 7, hidden: int = 128, sampled: int = 10, dropout: float = 0.5
    ):
        super().__init__()
        self.num_classes, self.takes = num_classes, graph_inputs(nodes, features)
        self.first, self.second = Neighbourhood(features, hidden, sampled), Neighbourhood(hidden, num_classes, sampled)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, features: Tensor, edges: Tensor) -> Tensor:
        x = ops.relu(self.first(self.dropout(features), edges))
        x = x * ops.rsqrt(ops.sum(ops.square(x), -1, keepdim=True) + 1e-6)
        return self.second(self.dropout(x), edges)
