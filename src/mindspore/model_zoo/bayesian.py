"""A network whose weights are distributions (Blundell et al. 2015, "Weight uncertainty in neural networks").

Training draws weights anew at every step; the loss is minus the evidence lower bound. Without training the means serve; `spread` draws
several networks, and tells by their disagreement where the network does not know.
"""

from __future__ import annotations

import math

from mindspore import nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.blocks import images
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import model


class BayesianDense(nn.Cell):
    """Weights N(mean, log(1 + exp(rho))²), with N(0, prior²) before any data was seen."""

    def __init__(self, inputs: int, outputs: int, prior: float):
        super().__init__()
        self.prior = prior
        self.mean = Parameter(initializer(Normal(1 / math.sqrt(inputs)), (inputs, outputs)), name="mean")
        self.rho = Parameter(initializer("ones", (inputs, outputs)) * -5.0, name="rho")
        self.bias = Parameter(initializer("zeros", (outputs,)), name="bias")

    def construct(self, x: Tensor, drawn: bool) -> Tensor:
        mean = self.mean
        weight = mean + ops.softplus(self.rho) * ops.randn_like(mean, dtype=mean.dtype) if drawn else mean
        return ops.matmul(x, weight) + self.bias

    def divergence(self) -> Tensor:
        """How far, in nats, the weights are from their prior (in closed form, for both are normal)."""
        deviation = ops.softplus(self.rho)
        squares = (ops.square(deviation) + ops.square(self.mean)) / self.prior**2
        return ops.sum(0.5 * (squares - 1) - ops.log(deviation / self.prior))


@model(
    "bayesian_mlp",
    task="images",
    paper="Blundell et al. 2015, Weight uncertainty in neural networks",
    recipe=Recipe(epochs=100, batch=128, optimizer="adam", rate=1e-3, weight_decay=0.0, schedule="cosine"),
    tiny={"image_size": 14, "hidden": 64, "rows": 6000},
)
class BayesianNetwork(nn.Cell):
    """Two hidden layers. `rows` is the number of rows of the data, among which the divergence is shared out."""

    def __init__(
        self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28, hidden: int = 1200, prior: float = 0.1, rows: int = 60000
    ):
        super().__init__()
        self.num_classes, self.takes, self.rows = num_classes, images(in_channels, image_size), rows
        self.first = BayesianDense(in_channels * image_size**2, hidden, prior)
        self.second, self.third = BayesianDense(hidden, hidden, prior), BayesianDense(hidden, num_classes, prior)

    def construct(self, x: Tensor) -> Tensor:
        return self.scores(x, self.training)

    def scores(self, x: Tensor, drawn: bool) -> Tensor:
        x = ops.relu(self.first(x.reshape(x.shape[0], -1), drawn))
        return self.third(ops.relu(self.second(x, drawn)), drawn)

    def penalty(self) -> Tensor:
        return (self.first.divergence() + self.second.divergence() + self.third.divergence()) / self.rows

    def spread(self, x: Tensor, count: int = 16) -> tuple[Tensor, Tensor]:
        """The mean of the shares of classes of `count` drawn networks, and their mutual information in nats: 0 where all agree."""
        shares = ops.stack([ops.softmax(self.scores(x, True), -1) for _ in range(count)])
        mean = ops.mean(shares, 0)
        each = -ops.sum(shares * ops.log(shares + 1e-12), -1)
        return mean, -ops.sum(mean * ops.log(mean + 1e-12), -1) - ops.mean(each, 0)
