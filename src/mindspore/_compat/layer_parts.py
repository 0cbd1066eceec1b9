"""Attributes of layers that subclasses in packages read: the operations official layers are made of."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.ops import operations as classes
from mindspore.prims import update as rules

P: Any = classes
dense_shape_op = P.Shape()
use_graceful_exit = False


def group_norm_output(self: Any, x: Any) -> Any:
    """The result of the layer: groups standardised, channels scaled and shifted."""
    return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


_ADAM = {nesterov: rules.Adam(False, nesterov) for nesterov in (False, True)}


def apply_adam(
    self: Any, params: Any, beta1_power: Any, beta2_power: Any, moment1: Any, moment2: Any, lr: Any, gradients: Any
) -> tuple:
    """One step for each parameter."""
    rates = lr if isinstance(lr, (tuple, list)) else (lr,) * len(params)
    powers = beta1_power.reshape(()), beta2_power.reshape(())
    rule = _ADAM[self.use_nesterov]
    for p, m, v, rate, g in zip(params, moment1, moment2, rates, gradients):
        rule(p, m, v, *powers, rate, self.beta1, self.beta2, self.eps, g)
    return tuple(True for _ in params)


def update_local_parameters_name(self: Any, prefix: str = "", recurse: bool = True) -> None:
    """Name every parameter after its place, with `prefix` in front."""
    self.update_parameters_name(prefix, recurse)
