"""ONNX operators on quantised numbers: a whole number q stands for (q − zero point) · scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.formats.onnx import types
from mindspore.formats.onnx.layers import convolution
from mindspore.formats.onnx.registry import P, as_tensor, operator, static, tensor
from mindspore.prims import products

_CAST = P.Cast()


def _spread(parameter: Any, x: Any, axis: int, block_size: int) -> Any:
    """A scale or zero point in a shape that broadcasts with `x`: one for all, per row of an axis, or per block."""
    shape = tuple(parameter.shape)
    if int(np.prod(shape)) == 1:
        return parameter.reshape((1,) * x.ndim)
    if block_size:
        axis = axis % x.ndim
        repeated = np.repeat(static(parameter, "a scale"), block_size, axis)
        return repeated[tuple(slice(0, d) for d in x.shape)]
    if len(shape) == 1:
        return parameter.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return parameter


def _real(value: Any) -> Any:
    """A value of any element type as float32."""
    if isinstance(value, np.ndarray):
        return tensor(value.astype(np.float32))
    return _CAST(value, mstype.float32)


def _finfo(dtype: Any) -> Any:
    return require("ml_dtypes", "onnx", "An ONNX model with small types").finfo(dtype)


def _stored(x: Any, target: np.dtype, whole: bool) -> Any:
    """Real numbers rounded and cut to what the target type can hold."""
    if not whole:
        limit = float(_finfo(target).max)
        x = P.Minimum()(P.Maximum()(x, -limit), limit)
    else:
        info = require("ml_dtypes", "onnx", "An ONNX model with small types").iinfo(target)
        x = P.Minimum()(P.Maximum()(x, float(info.min)), float(info.max))
    if types.fits_tensor(target):
        return _CAST(x, mstype.from_numpy(target))
    return static(x, "a value of a small type").astype(target)


@operator("QuantizeLinear", arrays=True)
def _quantize(
    x: Any, scale: Any, zero: Any = None, axis: int = 1, block_size: int = 0, output_dtype: int = 0, precision: int = 0,
    saturate: int = 1,
) -> Any:  # fmt: skip
    x, scale = as_tensor(x), as_tensor(scale)
    target = np.dtype(_numpy(zero)) if zero is not None else types.numpy_type(output_dtype or 2)
    quotient = _real(x) / _real(_spread(scale, x, axis, block_size))
    whole = "int" in target.name
    if whole:
        quotient = P.Rint()(quotient)
    if zero is not None:
        quotient = quotient + _real(_spread(zero, x, axis, block_size))
    return _stored(quotient, target, whole)


def _numpy(value: Any) -> Any:
    return value.dtype if isinstance(value, np.ndarray) else value.dtype.np


@operator("DequantizeLinear", arrays=True)
def _dequantize(x: Any, scale: Any, zero: Any = None, axis: int = 1, block_size: int = 0, output_dtype: int = 0) -> Any:
    scale = as_tensor(scale)
    value = _real(x)
    if zero is not None:
        value = value - _real(_spread(zero, x, axis, block_size))
    out = value * _real(_spread(scale, x, axis, block_size))
    return _CAST(out, types.TYPES[output_dtype] if output_dtype else scale.dtype)


@operator("mindspore.FakeQuantise")
def _fake_quantise(x: Any, step: Any, zero: Any, least: int = -128, most: int = 127) -> Any:
    """Our own: QuantizeLinear and DequantizeLinear at once (mindspore_lite/quantise/stored.py)."""
    return P.FakeQuantise(least, most)(x, step, zero)


def _centred(x: Any, zero: Any, axis: int) -> Any:
    return _real(x) if zero is None else _real(x) - _real(_spread(as_tensor(zero), x, axis, 0))


@operator("MatMulInteger")
def _matmul_integer(a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    exact = [_CAST(_centred(v, z, axis), mstype.float64) for v, z, axis in ((a, a_zero, -2), (b, b_zero, -1))]
    return _CAST(products.matmul(*exact), mstype.int32)


@operator("QLinearMatMul")
def _q_matmul(a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any, y_zero: Any) -> Any:
    product = _CAST(products.matmul(_centred(a, a_zero, -2), _centred(b, b_zero, -1)), mstype.float32)
    factor = _real(_spread(a_scale, a, -2, 0)) * _real(_spread(b_scale, b, -1, 0))
    return _quantize(product * factor.reshape(factor.shape[-product.ndim :]), _real(y_scale), y_zero)


@operator("ConvInteger")
def _conv_integer(x: Any, w: Any, x_zero: Any = None, w_zero: Any = None, **attributes: Any) -> Any:
    return _CAST(convolution(_centred(x, x_zero, 1), _centred(w, w_zero, 0), **attributes), mstype.int32)


@operator("QLinearConv")
def _q_conv(
    x: Any, x_scale: Any, x_zero: Any, w: Any, w_scale: Any, w_zero: Any, y_scale: Any, y_zero: Any, bias: Any = None,
    **attributes: Any,
) -> Any:  # fmt: skip
    out = convolution(_centred(x, x_zero, 1), _centred(w, w_zero, 0), None, **attributes)
    shape = (1, -1, *(1,) * (x.ndim - 2))
    if bias is not None:
        out = out + _real(bias).reshape(shape)
    return _quantize(out * (_real(x_scale) * _real(w_scale)).reshape(shape), y_scale, y_zero)
