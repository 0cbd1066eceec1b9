"""A physics-informed network: its loss is the equation (Raissi et al. 2019, "Physics-informed neural networks").

The equation is the heat equation u_t = a u_xx on 0 ≤ x, t ≤ 1 with u = sin(πx) at t = 0 and u = 0 at the ends, whose answer
is e^(−aπ²t) sin(πx).
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from mindspore import nn, ops
from mindspore.common.tensor import Tensor
from mindspore.model_zoo.recipe import Recipe
from mindspore.model_zoo.registry import Takes, model


def solution(points: np.ndarray, diffusivity: float) -> np.ndarray:
    """The exact answer at rows (x, t)."""
    x, t = points[:, 0], points[:, 1]
    return np.exp(-diffusivity * math.pi**2 * t) * np.sin(math.pi * x)


@model(
    "pinn_heat",
    task="physics",
    paper="Raissi et al. 2019, Physics-informed neural networks",
    recipe=Recipe(epochs=200, batch=256, optimizer="adam", rate=3e-3, weight_decay=0.0),
    tiny={"width": 16, "depth": 2},
)
class HeatNetwork(nn.Cell):
    """Rows (x, t) → u. Derivatives in x and t travel through the layers with the values, so one pass gives u_t and u_xx."""

    def __init__(self, width: int = 32, depth: int = 4, diffusivity: float = 0.1):
        super().__init__()
        self.takes, self.diffusivity = (Takes("points", (2,)),), diffusivity
        widths = [2] + [width] * depth
        self.layers = nn.CellList([nn.Dense(a, b, weight_init="xavier_uniform") for a, b in itertools.pairwise(widths)])
        self.last = nn.Dense(width, 1)

    def construct(self, points: Tensor) -> Tensor:
        for layer in self.layers:
            points = ops.tanh(layer(points))
        return self.last(points)[:, 0]

    def derivatives(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """(u_t, u_xx): for y = tanh(z), y' = (1 − y²) z' and y'' = (1 − y²) z'' − 2 y y' z'."""
        one, zero = ops.ones_like(points[:, :1]), ops.zeros_like(points[:, :1])
        y, x1, t1 = points, ops.cat((one, zero), 1), ops.cat((zero, one), 1)
        x2 = ops.zeros_like(points)
        for layer in self.layers:
            y = ops.tanh(layer(y))
            slope = 1 - ops.square(y)
            z1 = ops.matmul(x1, layer.weight.T)
            x2 = slope * ops.matmul(x2, layer.weight.T) - 2 * y * slope * ops.square(z1)
            x1, t1 = slope * z1, slope * ops.matmul(t1, layer.weight.T)
        return ops.matmul(t1, self.last.weight.T)[:, 0], ops.matmul(x2, self.last.weight.T)[:, 0]

    def loss(self, points: Tensor) -> Tensor:
        """The equation within, the first values, the ends."""
        x, t = points[:, :1], points[:, 1:]
        u_t, u_xx = self.derivatives(points)
        equation = ops.mean(ops.square(u_t - self.diffusivity * u_xx))
        zero = ops.zeros_like(t)
        first = ops.mean(ops.square(self(ops.cat((x, zero), 1)) - ops.sin(math.pi * x[:, 0])))
        ends = ops.mean(ops.square(self(ops.cat((zero, t), 1))) + ops.square(self(ops.cat((zero + 1, t), 1))))
        return equation + first + ends
