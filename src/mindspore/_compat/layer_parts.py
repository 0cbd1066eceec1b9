"""Attributes of layers that subclasses in packages read: the operations official layers are made of."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.ops import operations as classes
from mindspore.prims import update as rules

P: Any = classes
dense_shape_op = P.Shape()
use_graceful_exit = False


def group_norm_output(self: Any, x: Any) -> Any:
    """The result of the layer: groups standardised, channels scaled and shifted."""
    return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


def deconv_output_length(
    is_valid: bool, is_same: bool, is_pad: bool, input_length: int, filter_size: int, stride_size: int, dilation_size: int,
    padding: int,
) -> int:  # fmt: skip
    """The length of an axis after a transposed convolution; `padding` is that of both ends."""
    beyond = (filter_size - 1) * dilation_size + 1 - stride_size
    more = max(beyond, 0) if is_valid else beyond - padding if is_pad and not is_same else 0
    return input_length * stride_size + more


def check_input_3d(input_shape: tuple, op_name: str) -> None:
    """Refuse other than three axes."""
    if len(input_shape) != 3:
        raise ValueError(f"For '{op_name}', the input must have 3 axes, but its shape is {tuple(input_shape)}.")


def check_label_dtype(labels_dtype: Any, cls_name: str) -> None:
    """Refuse labels that are not int32 or int64."""
    if labels_dtype not in (mstype.int32, mstype.int64):
        raise TypeError(f"For '{cls_name}', the type of 'labels' must be int32 or int64, but it is {labels_dtype}.")


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
