"""THOR: natural gradients layer by layer, with curvature that is renewed now and then (Chen et al. 2021).

The gradient of the weight of a `DenseThor` or `Conv2dThor` is multiplied by the inverses of its two Fisher factors,
(G + √λ I)⁻¹ dW (A + √λ I)⁻¹ with the damping λ; that of the table of an `EmbeddingThor`, whose rows are inputs and whose A is
diagonal, from the other sides. The inverses are renewed every `frequency` steps; between, they are kept.
All other parameters follow their plain gradients. Momentum moves all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.parameter import ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.thor_layer import _Factored
from mindspore.nn.optim.momentum import Momentum

__all__ = ["Thor", "thor"]


class Thor(Momentum):
    """The optimizer that `thor` makes."""

    def __init__(
        self, net: Cell, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0,
        loss_scale: float = 1.0, batch_size: int = 32, use_nesterov: bool = False,
        decay_filter: Callable = lambda x: True, enable_clip_grad: bool = False, frequency: int = 100,
    ):  # fmt: skip
        parameters = list(net.trainable_params())
        super().__init__(parameters, learning_rate, momentum, weight_decay, loss_scale, use_nesterov)
        self.decay_flags = tuple(bool(decay_filter(p)) for p in parameters)
        self.damping = Tensor(np.atleast_1d(np.asarray(getattr(damping, "asnumpy", lambda: damping)(), np.float32)))
        self.frequency = checks.positive_int("thor", "frequency", frequency)
        self.enable_clip_grad = checks.boolean("thor", "enable_clip_grad", enable_clip_grad)
        #: gradients are of the mean loss times the loss scale; the Fisher factor is that of one example's loss
        self.gradient_scale = float(checks.positive_int("thor", "batch_size", batch_size)) ** 2 / loss_scale**2
        layers = {id(c.factored_weight): c for _, c in net.cells_and_names() if isinstance(c, _Factored)}
        self.layers = [layers.get(id(p)) for p in parameters]
        known = [cell for cell in self.layers if cell is not None]
        self.places = tuple(-1 if cell is None else known.index(cell) for cell in self.layers)
        self.factors_a = ParameterTuple([cell.matrix_a for cell in known])
        self.factors_g = ParameterTuple([cell.matrix_g for cell in known])
        self.inverses_a = self.factors_a.clone(prefix="thor_inverse_a", init="zeros")
        self.inverses_g = self.factors_g.clone(prefix="thor_inverse_g", init="zeros")

    def construct(self, gradients: Any = ()) -> Any:
        step = ops.reshape(self.global_step, ())
        if ops.equal(ops.floor_mod(step, self.frequency), 0):
            self.renew_inverses(step)
        gradients = self.scale_grad(gradients)
        gradients = tuple([self.natural(i, g) for i, g in enumerate(gradients)])
        if self.enable_clip_grad:
            gradients = ops.clip_by_global_norm(gradients, 1.0)
        gradients = self.decay_weight(gradients)
        lr = self.get_lr()
        for i, (parameter, gradient) in enumerate(zip(self.parameters, gradients)):
            self.update(i, parameter, gradient, lr)
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return (True,) * self.param_length

    def renew_inverses(self, step: Any) -> None:
        """Invert the damped factors of all layers."""
        last = self.damping.shape[0] - 1
        damping = ops.sqrt(ops.gather(self.damping, ops.minimum(step, last), 0))
        for factors, inverses, scale in (
            (self.factors_a, self.inverses_a, 1.0), (self.factors_g, self.inverses_g, self.gradient_scale),
        ):  # fmt: skip
            for factor, inverse in zip(factors, inverses):
                if factor.ndim == 1:
                    ops.assign(inverse, 1.0 / (factor * scale + damping))
                    continue
                eye = Tensor(np.eye(factor.shape[0]), mstype.float32)
                ops.assign(inverse, ops.inverse(factor * scale + damping * eye))

    def natural(self, index: int, gradient: Any) -> Any:
        """G⁻¹ gradient A⁻¹ of a weight that has factors."""
        place = self.places[index]
        if place < 0:
            return gradient
        if self.inverses_a[place].ndim == 1:
            return ops.matmul(ops.expand_dims(self.inverses_a[place], 1) * gradient, self.inverses_g[place])
        flat = ops.reshape(gradient, (gradient.shape[0], -1))
        turned = ops.matmul(ops.matmul(self.inverses_g[place], flat), self.inverses_a[place])
        return ops.reshape(turned, gradient.shape)


def thor(
    net: Cell, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0,
    batch_size: int = 32, use_nesterov: bool = False, decay_filter: Callable = lambda x: True,
    split_indices: Any = None, enable_clip_grad: bool = False, frequency: int = 100,
) -> Thor:  # fmt: skip
    """Natural gradients for the `DenseThor`, `Conv2dThor`, `EmbeddingThor` and `EmbeddingLookupThor` layers of a network.

    Args:
        learning_rate, damping: a number, or a Tensor with one value per step.
        batch_size: the number of examples the loss is a mean of.
        decay_filter: which parameters are decayed.
        frequency: how many steps the inverses of the curvature are kept.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import nn
        >>> optimizer = nn.thor(nn.DenseThor(2, 1), ms.Tensor([0.1]), ms.Tensor([0.03]), 0.9)
        >>> len(optimizer.parameters)
        2
    """
    return Thor(
        net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, use_nesterov, decay_filter,
        enable_clip_grad, frequency,
    )  # fmt: skip
