"""Networks that guess what a user will click: sums of simple and deep models over features of categories.

Cheng et al. 2016, "Wide & deep learning for recommender systems"; Guo et al. 2017, "DeepFM: A factorization-machine based neural network
for CTR prediction"; He et al. 2017, "Neural collaborative filtering"; Naumov et al. 2019, "Deep learning recommendation model for
personalization and recommendation systems".
"""

from __future__ import annotations

import itertools

from mindspore import nn, ops
from mindspore.common.initializer import Normal
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import sequence
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model

RECIPE = Recipe(epochs=15, batch=1024, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="constant")


def perceptron(widths: list[int], dropout: float) -> nn.SequentialCell:
    """Dense layers with ReLU and dropout."""
    layers: list[nn.Cell] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Dense(inputs, outputs), nn.ReLU(), nn.Dropout(p=dropout)]
    return sequence(layers)


def table(rows: int, width: int) -> nn.Embedding:
    return nn.Embedding(rows, width, embedding_table=Normal(0.05))


@model(
    "wide_deep",
    task="clicks",
    paper="Cheng et al. 2016, Wide & deep learning for recommender systems",
    recipe=RECIPE,
    tiny={"vocabulary": 80, "fields": 4, "width": 8, "hidden": (32, 16), "dropout": 0.0},
)
class WideDeep(nn.Cell):
    """(batch, fields) of category numbers → score of a click: a linear model beside a perceptron over embeddings."""

    def __init__(
        self, vocabulary: int = 200000, fields: int = 39, width: int = 80, hidden: tuple[int, ...] = (1024, 512, 256, 128),
        dropout: float = 0.2,
    ):  # fmt: skip
        super().__init__()
        self.vocabulary, self.takes = vocabulary, (Takes("features", (fields,), vocabulary),)
        self.wide, self.table = table(vocabulary, 1), table(vocabulary, width)
        self.deep = perceptron([fields * width, *hidden], dropout)
        self.output = nn.Dense(hidden[-1], 1)

    def construct(self, features: Tensor) -> Tensor:
        deep = self.output(self.deep(self.table(features).reshape(features.shape[0], -1)))
        return deep[:, 0] + ops.sum(self.wide(features), (1, 2))


@model(
    "deepfm",
    task="clicks",
    paper="Guo et al. 2017, DeepFM: A factorization-machine based neural network for CTR prediction",
    recipe=RECIPE,
    tiny={"vocabulary": 80, "fields": 4, "width": 8, "hidden": (32, 16), "dropout": 0.0},
)
class DeepFM(nn.Cell):
    """Also adds the products of all pairs of embeddings: half of (square of the sum − sum of the squares)."""

    def __init__(
        self, vocabulary: int = 200000, fields: int = 39, width: int = 10, hidden: tuple[int, ...] = (400, 400, 400), dropout: float = 0.5
    ):
        super().__init__()
        self.vocabulary, self.takes = vocabulary, (Takes("features", (fields,), vocabulary),)
        self.first, self.table = table(vocabulary, 1), table(vocabulary, width)
        self.deep = perceptron([fields * width, *hidden], dropout)
        self.output = nn.Dense(hidden[-1], 1)

    def construct(self, features: Tensor) -> Tensor:
        vectors = self.table(features)
        pairs = 0.5 * ops.sum(ops.square(ops.sum(vectors, 1)) - ops.sum(ops.square(vectors), 1), 1)
        deep = self.output(self.deep(vectors.reshape(features.shape[0], -1)))
        return deep[:, 0] + pairs + ops.sum(self.first(features), (1, 2))


@model(
    "ncf",
    task="clicks",
    paper="He et al. 2017, Neural collaborative filtering",
    recipe=RECIPE,
    tiny={"vocabulary": 80, "width": 8, "hidden": (32, 16)},
)
class NeuMF(nn.Cell):
    """(user, item) → score: a product of embeddings beside a perceptron over other ones."""

    def __init__(
        self, vocabulary: int = 140000, width: int = 64, hidden: tuple[int, ...] = (256, 128, 64), dropout: float = 0.0
    ):
        super().__init__()
        self.vocabulary, self.takes = vocabulary, (Takes("features", (2,), vocabulary),)
        self.factors, self.table = table(vocabulary, width), table(vocabulary, hidden[0] // 2)
        self.deep = perceptron([hidden[0] // 2 * 2, *hidden], dropout)
        self.output = nn.Dense(width + hidden[-1], 1)

    def construct(self, features: Tensor) -> Tensor:
        factors = self.factors(features)
        deep = self.deep(self.table(features).reshape(features.shape[0], -1))
        return self.output(ops.cat((factors[:, 0] * factors[:, 1], deep), 1))[:, 0]


@model(
    "dlrm",
    task="clicks",
    paper="Naumov et al. 2019, Deep learning recommendation model for personalization and recommendation systems",
    recipe=Recipe(epochs=1, batch=2048, rate=0.1, momentum=0.0, weight_decay=0.0, schedule="constant"),
    tiny={"vocabulary": 80, "fields": 4, "numbers": 3, "width": 8, "bottom": (16,), "top": (32, 16)},
)
class DLRM(nn.Cell):
    """(categories, numbers) → score: products of all pairs of the categories' vectors and of the numbers' one."""

    def __init__(
        self, vocabulary: int = 200000, fields: int = 26, numbers: int = 13, width: int = 128, bottom: tuple[int, ...] = (512, 256),
        top: tuple[int, ...] = (1024, 1024, 512, 256),
    ):  # fmt: skip
        super().__init__()
        self.vocabulary, self.numbers = vocabulary, numbers
        self.takes = (Takes("features", (fields,), vocabulary), Takes("numbers", (numbers,)))
        self.table = table(vocabulary, width)
        self.bottom = perceptron([numbers, *bottom, width], 0.0)
        vectors = fields + 1
        self.pairs = tuple(i * vectors + j for i in range(vectors) for j in range(i))
        self.top = perceptron([width + len(self.pairs), *top], 0.0)
        self.output = nn.Dense(top[-1], 1)

    def construct(self, features: Tensor, numbers: Tensor) -> Tensor:
        dense = self.bottom(numbers)
        vectors = ops.cat((dense.expand_dims(1), self.table(features)), 1)
        products = ops.matmul(vectors, vectors.swapaxes(1, 2)).reshape(dense.shape[0], -1)
        return self.output(self.top(ops.cat((dense, products[:, self.pairs]), 1)))[:, 0]
