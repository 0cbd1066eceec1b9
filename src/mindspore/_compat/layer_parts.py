"""Attributes of layers that subclasses in packages read: the operations official layers are made of."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.prims import update as rules

dense_matmul = ops.MatMul(transpose_b=True)
dense_bias_add = ops.BiasAdd()
dense_reshape = ops.Reshape()
dense_shape_op = ops.Shape()
use_graceful_exit = False

_BIAS_ADDS = {name: ops.BiasAdd(data_format=name) for name in ("NCHW", "NHWC")}


@property
def conv_bias_add(self: Any) -> Any:
    """Adds the bias to the channels, wherever they stand."""
    return _BIAS_ADDS["NHWC" if self.data_format == "NHWC" else "NCHW"]


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
