"""Operations of quantisation: those of training (Jacob et al. 2018; Jain et al. 2020) and those of integer inference.

Training rounds values to the grid of few-bit integers and passes them on as floats (`ops.FakeQuantise`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore._compat.checkparam.basic import check_value_type
from mindspore.common.tensor import Tensor
from mindspore.ops.composition import REQUIRED, Composition, composition

__all__ = [
    "AntiQuant", "BatchNormFold", "BatchNormFold2", "BatchNormFold2D", "BatchNormFoldD", "CorrectionMul", "Dequant",
    "DynamicQuantExt", "FakeLearnedScaleQuantPerChannel", "FakeLearnedScaleQuantPerLayer", "FakeQuantParam",
    "FakeQuantPerChannel", "FakeQuantPerLayer", "MinMaxUpdatePerChannel", "MinMaxUpdatePerLayer", "Quant",
    "QuantBatchMatmul", "WeightQuantBatchMatmul", "weight_quant_batch_matmul",
]  # fmt: skip


# -- ranges of values seen -------------------------------------------------------------------------------------------------
def _along(value: Any, ndim: int, axis: int | None) -> Any:
    """One number per channel, shaped to broadcast along `axis`; without an axis a scalar."""
    if axis is None:
        return value.reshape(())
    return value.reshape(tuple(-1 if d == axis % ndim else 1 for d in range(ndim)))


def _seen(p: Any, x: Any, low: Any, high: Any, axis: int | None) -> tuple[Any, Any]:
    axes = tuple(d for d in range(x.ndim) if axis is None or d != axis % x.ndim)
    least, most = ops.minimum(x.min(axes), 0.0).reshape(low.shape), ops.maximum(x.max(axes), 0.0).reshape(high.shape)
    if p.ema:
        least = p.ema_decay * low + (1 - p.ema_decay) * least
        most = p.ema_decay * high + (1 - p.ema_decay) * most
    return least, most


_WATCH = {"num_bits": 8, "ema": False, "ema_decay": 0.999, "symmetric": False, "narrow_range": False, "training": True}
MinMaxUpdatePerLayer = composition(
    "MinMaxUpdatePerLayer", lambda p, x, low, high: _seen(p, x, low, high, None), "The range of values seen.", **_WATCH
)
MinMaxUpdatePerChannel = composition(
    "MinMaxUpdatePerChannel",
    lambda p, x, low, high: _seen(p, x, low, high, p.channel_axis),
    "The range of values seen, per channel.",
    **_WATCH,
    channel_axis=1,
)


# -- rounding --------------------------------------------------------------------------------------------------------------
def _rounded(p: Any, x: Any, low: Any, high: Any, axis: int | None) -> Any:
    low, high = _along(low, x.ndim, axis), _along(high, x.ndim, axis)
    least = (-(2 ** (p.num_bits - 1)) if p.symmetric else 0) + int(p.narrow_range)
    most = 2 ** (p.num_bits - 1) - 1 if p.symmetric else 2**p.num_bits - 1
    if p.symmetric:
        high = ops.maximum(-low, high)
        low = -high
    scale = (high - low) / (most - least)
    zero = ops.clamp(ops.round(least - low / scale), least, most)
    return ops.FakeQuantise(least, most)(x, scale, zero)


_ROUND = {**_WATCH, "quant_delay": 0}
FakeQuantPerLayer = composition(
    "FakeQuantPerLayer", lambda p, x, low, high: _rounded(p, x, low, high, None), "Rounded to a grid.", **_ROUND
)
FakeQuantPerChannel = composition(
    "FakeQuantPerChannel",
    lambda p, x, low, high: _rounded(p, x, low, high, p.channel_axis),
    "Rounded to a grid per channel.",
    **_ROUND,
    channel_axis=1,
)
class FakeQuantParam(Composition):
    """x; the grid's numbers stand in the attributes."""

    attr_key_linear_quant_scale = "linear_quant_scale"
    attr_key_linear_quant_zero_point = "linear_quant_zero_point"
    attr_value_linear_quant_algo_name = "linear_quant_algo"

    def __init__(self, quant_dtype: Any, quant_algo_name: str, is_per_channel: bool, **numbers: Any):
        named = {"quant_algo_name": quant_algo_name, "is_per_channel": is_per_channel, "quant_dtype": quant_dtype.value()}
        super().__init__("FakeQuantParam", **named, **numbers)

    @classmethod
    def linear_quant_param(
        cls, quant_dtype: Any, scale: Any, zp: Any, is_per_channel: bool = False, **numbers: Any
    ) -> FakeQuantParam:
        """The operation of a linear grid: one scale and one zero point, or those of the channels."""
        check_value_type("scale", scale, (float, tuple, list), "FakeQuantParam")
        check_value_type("zero_point", zp, (int, tuple, list), "FakeQuantParam")
        check_value_type("is_per_channel", is_per_channel, (bool,), "FakeQuantParam")
        numbers[cls.attr_key_linear_quant_scale] = [scale] if isinstance(scale, float) else scale
        numbers[cls.attr_key_linear_quant_zero_point] = [zp] if isinstance(zp, int) else zp
        return cls(quant_dtype, cls.attr_value_linear_quant_algo_name, is_per_channel, **numbers)

    def compose(self, x: Any) -> Any:
        return x


def _learned(p: Any, x: Any, alpha: Any, quant_max: Any, axis: int | None) -> Any:
    alpha, levels = _along(alpha, x.ndim, axis), quant_max.reshape(())
    inside = ops.clamp(x / alpha, 0.0 if p.neg_trunc else -1.0, 1.0)
    return (inside + ops.stop_gradient(ops.round(inside * levels) / levels - inside)) * alpha


FakeLearnedScaleQuantPerLayer = composition(
    "FakeLearnedScaleQuantPerLayer",
    lambda p, x, alpha, quant_max: _learned(p, x, alpha, quant_max, None),
    "Rounded to a grid whose width is learnt.",
    quant_delay=0,
    neg_trunc=False,
    training=True,
)
FakeLearnedScaleQuantPerChannel = composition(
    "FakeLearnedScaleQuantPerChannel",
    lambda p, x, alpha, quant_max: _learned(p, x, alpha, quant_max, p.channel_axis),
    "Rounded to grids whose widths are learnt, one per channel.",
    quant_delay=0,
    neg_trunc=False,
    training=True,
    channel_axis=1,
)


# -- batch normalisation folded into the weights ---------------------------------------------------------------------------
def _fold(p: Any, x: Any, mean: Any, variance: Any, step: Any = None) -> tuple:
    """Mean and deviation of the batch and in the long run; the running statistics are updated while training."""
    running_std = ops.sqrt(variance + p.epsilon)
    if not p.is_training:
        return ops.zeros_like(mean), ops.ones_like(variance), mean, running_std
    axes = (0, *range(2, x.ndim))
    batch_mean = x.mean(axes)
    batch_var = ((x - batch_mean.reshape((1, -1, *[1] * (x.ndim - 2)))) ** 2).mean(axes)
    count = x.size // x.shape[1]
    ops.assign(mean, p.momentum * mean + (1 - p.momentum) * batch_mean)
    ops.assign(variance, p.momentum * variance + (1 - p.momentum) * batch_var * (count / max(count - 1, 1)))
    return batch_mean, ops.sqrt(batch_var + p.epsilon), mean.value(), ops.sqrt(variance + p.epsilon)


_FOLD: dict[str, Any] = {"momentum": 0.9, "epsilon": 1e-5, "is_training": True, "freeze_bn": 0}
BatchNormFold = composition("BatchNormFold", _fold, "Statistics for folding.", **_FOLD)
BatchNormFoldD = composition("BatchNormFoldD", _fold, "Statistics for folding.", **_FOLD)


def _unfold(
    p: Any, x: Any, beta: Any, gamma: Any, batch_std: Any, batch_mean: Any, running_std: Any, *rest: Any
) -> Any:
    """x · running_std / batch_std + beta - gamma · batch_mean / batch_std, per channel."""
    beta, gamma, batch_std, batch_mean, running_std = (
        _along(v, x.ndim, 1) for v in (beta, gamma, batch_std, batch_mean, running_std)
    )
    return x * running_std / batch_std + beta - gamma * batch_mean / batch_std


BatchNormFold2 = composition("BatchNormFold2", _unfold, "Undoes the correction of folded weights.", freeze_bn=0)
BatchNormFold2D = composition("BatchNormFold2D", _unfold, "Undoes the correction of folded weights.", freeze_bn=0)
CorrectionMul = composition(
    "CorrectionMul",
    lambda p, x, batch_std, running_std: x * _along(batch_std / running_std, x.ndim, p.channel_axis),
    "Weights for the batch's deviation instead of the running one.",
    channel_axis=0,
)


# -- integers --------------------------------------------------------------------------------------------------------------
def _quant(p: Any, x: Any) -> Any:
    """round(x · scale + offset) as int8; `sqrt_mode` scales twice."""
    scaled = x.astype(mstype.float32) * p.scale * (p.scale if p.sqrt_mode else 1.0) + p.offset
    rounding = {"Round": ops.round, "Floor": ops.floor, "Ceil": ops.ceil, "Trunc": ops.trunc}
    if p.round_mode not in rounding:
        raise ValueError(f"For 'Quant', 'round_mode' must be one of {sorted(rounding)}, but got {p.round_mode!r}.")
    return ops.clamp(rounding[p.round_mode](scaled), -128, 127).astype(mstype.int8)


Quant = composition(
    "Quant", _quant, "Floats as int8.", scale=REQUIRED, offset=REQUIRED, sqrt_mode=False, round_mode="Round",
    dtype=mstype.int8,
)  # fmt: skip


def _dequant(p: Any, x: Any, scale: Any) -> Any:
    scale = scale.astype(mstype.float32)
    out = x.astype(mstype.float32) * scale * (scale if p.sqrt_mode else 1.0)
    return (ops.relu(out) if p.relu_flag else out).astype(p.dtype)


Dequant = composition(
    "Dequant", _dequant, "Integers as floats.", sqrt_mode=False, relu_flag=False, dtype=mstype.float16
)


def _anti_quant(p: Any, x: Any, scale: Any, offset: Any) -> Any:
    for name, value in (("x", x), ("scale", scale), ("offset", offset)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"For 'AntiQuant', '{name}' must be a Tensor. But got input argument of type {type(value).__name__}."
            )
    out = (x.astype(mstype.float32) + offset.astype(mstype.float32)) * scale.astype(mstype.float32)
    return (out * scale if p.sqrt_mode else out).astype(p.dtype)


AntiQuant = composition(
    "AntiQuant", _anti_quant, "int8 as floats: (x + offset) * scale.", sqrt_mode=False, dtype=mstype.float16
)


def _dynamic_quant(p: Any, x: Any, smooth_scales: Any = None) -> tuple[Any, Any]:
    """int8 rows and their scales: the largest magnitude of each row becomes 127."""
    x = x.astype(mstype.float32) * (1.0 if smooth_scales is None else smooth_scales)
    scale = ops.abs(x).max(-1, keepdims=True) / 127.0
    return ops.round(x / ops.maximum(scale, float(np.finfo(np.float32).tiny))).astype(mstype.int8), scale.squeeze(-1)


DynamicQuantExt = composition("DynamicQuantExt", _dynamic_quant, "Rows as int8, and their scales.")


def _product(p: Any, x1: Any, x2: Any) -> Any:
    """The product of two tensors, each transposed or not."""
    turned = [x.swapaxes(-1, -2) if t else x for x, t in ((x1, p.transpose_x1), (x2, p.transpose_x2))]
    return ops.matmul(*(x.astype(mstype.float32) for x in turned))


def _quant_matmul(p: Any, x1: Any, x2: Any, scale: Any, offset: Any = None, bias: Any = None, *rest: Any) -> Any:
    pertoken = rest[0] if rest else None
    out = _product(p, x1, x2)
    out = out if bias is None or bias.dtype.kind == "f" else out + bias
    out = out * scale.astype(mstype.float32)
    out = out if pertoken is None else out * pertoken.reshape((-1, 1))
    out = out if offset is None else out + offset
    out = out + bias if bias is not None and bias.dtype.kind == "f" else out
    if p.dtype == mstype.int8:
        out = ops.clamp(ops.round(out), -128, 127)
    return out.astype(p.dtype)


QuantBatchMatmul = composition(
    "QuantBatchMatmul", _quant_matmul, "The product of int8 tensors, scaled.", transpose_x1=False, transpose_x2=False,
    dtype=mstype.float16,
)  # fmt: skip


def weight_quant_batch_matmul(
    x: Any, weight: Any, antiquant_scale: Any, antiquant_offset: Any = None, quant_scale: Any = None,
    quant_offset: Any = None, bias: Any = None, transpose_x: bool = False, transpose_weight: bool = False,
    antiquant_group_size: int = 0,
) -> Any:  # fmt: skip
    """x @ ((weight + offset) · scale) + bias, with weights kept as integers; with `quant_scale` the result is int8."""
    w = weight.astype(mstype.float32)
    w = w.swapaxes(-1, -2) if transpose_weight else w

    def spread(given: Any) -> Any:
        """A row for each group of rows of the weight, repeated for each of its rows."""
        given = given.swapaxes(-1, -2) if transpose_weight and given.ndim > 1 else given
        rows = given.shape[-2] if given.ndim > 1 else 1
        return given if rows in (1, w.shape[-2]) else ops.repeat_interleave(given, w.shape[-2] // rows, given.ndim - 2)

    w = w if antiquant_offset is None else w + spread(antiquant_offset)
    out = ops.matmul((x.swapaxes(-1, -2) if transpose_x else x).astype(mstype.float32), w * spread(antiquant_scale))
    out = out if bias is None else out + bias
    if quant_scale is None:
        return out.astype(x.dtype)
    out = out * quant_scale.astype(mstype.float32)
    out = out if quant_offset is None else out + quant_offset
    return ops.clamp(ops.round(out), -128, 127).astype(mstype.int8)


def _weight_quant(p: Any, *args: Any) -> Any:
    turned: dict[str, Any] = {"transpose_x": p.transpose_x, "transpose_weight": p.transpose_weight}
    turned["antiquant_group_size"] = p.antiquant_group_size
    return weight_quant_batch_matmul(*args, **turned)


WeightQuantBatchMatmul = composition(
    "WeightQuantBatchMatmul", _weight_quant, "The product with weights kept as integers.", transpose_x=False,
    transpose_weight=False, antiquant_group_size=0,
)  # fmt: skip
