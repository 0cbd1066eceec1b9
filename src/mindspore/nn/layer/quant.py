"""Layers for quantisation-aware training, as MindSpore 1.x had them (Jacob et al. 2018).

Values are rounded to the grid that few-bit integers would have, and pass on as floats, so that training sees what
rounding does (`ops.FakeQuantise`). `mindspore.compression.quant` puts these layers into a network; exported as MindIR, mindspore_lite's
converter makes whole numbers of them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.dtype import QuantDtype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.layer.normalization import BatchNorm2d

__all__ = [
    "ActQuant", "Conv2dBnFoldQuant", "Conv2dBnFoldQuantOneConv", "Conv2dBnWithoutFoldQuant", "Conv2dQuant", "DenseQuant",
    "FakeQuantWithMinMaxObserver", "MulQuant", "QuantConfig", "TensorAddQuant",
]  # fmt: skip


_INT8: Any = QuantDtype["INT8"]


def _bits(quant_dtype: Any) -> tuple[int, bool]:
    """The width, and whether the integers have a sign."""
    name = quant_dtype.name
    return int(name.removeprefix("U").removeprefix("INT")), not name.startswith("U")


class FakeQuantWithMinMaxObserver(Cell):
    """Watch the range of a tensor while training, and round its values to the grid that this range gives.

    Args:
        min_init, max_init: the range before anything was seen.
        ema: follow the range by a running mean with `ema_decay` instead of replacing it.
        per_channel: one range per channel along `channel_axis`, of which there are `num_channels`.
        symmetric: make the range symmetric around 0; `narrow_range` leaves out the lowest integer.
        quant_delay: so many training steps pass values on unrounded.
        neg_trunc: the range starts at 0.

    Examples:
        >>> import mindspore as ms
        >>> fake = ms.nn.FakeQuantWithMinMaxObserver(min_init=0, max_init=255, symmetric=False).set_train(False)
        >>> fake(ms.Tensor([0.4, 7.6, 300.0])).asnumpy().tolist()
        [0.0, 8.0, 255.0]
    """

    def __init__(
        self, min_init: Any = -6, max_init: Any = 6, ema: bool = False, ema_decay: float = 0.999,
        per_channel: bool = False, channel_axis: int = 1, num_channels: int = 1, quant_dtype: Any = _INT8,
        symmetric: bool = False, narrow_range: bool = False, quant_delay: int = 0, neg_trunc: bool = False,
        mode: str = "DEFAULT",
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.ema, self.ema_decay = ema, checks.fraction(owner, "ema_decay", ema_decay)
        self.per_channel, self.channel_axis, self.num_channels = per_channel, channel_axis, num_channels
        self.symmetric, self.narrow_range, self.neg_trunc = symmetric, narrow_range, neg_trunc
        self.quant_delay, self.quant_dtype, self.mode = quant_delay, quant_dtype, mode
        self.num_bits, self.signed = _bits(quant_dtype)
        self.quant_min = (-(2 ** (self.num_bits - 1)) if self.signed else 0) + int(narrow_range)
        self.quant_max = 2 ** (self.num_bits - 1) - 1 if self.signed else 2**self.num_bits - 1
        count = num_channels if per_channel else 1
        self.minq = Parameter(self._range("min_init", min_init, count), name="quant_min", requires_grad=False)
        self.maxq = Parameter(self._range("max_init", max_init, count), name="quant_max", requires_grad=False)
        if (self.maxq.asnumpy() <= self.minq.asnumpy()).any():
            raise ValueError(
                f"For '{owner}', 'max_init' must be greater than 'min_init', but got {max_init}, {min_init}."
            )
        self.steps = Parameter(Tensor(0, mstype.int32), name="steps", requires_grad=False) if quant_delay else None

    def _range(self, name: str, value: Any, count: int) -> Tensor:
        array = np.asarray(value, np.float32).reshape(-1)
        if array.size not in (1, count):
            raise ValueError(
                f"For '{type(self).__name__}', '{name}' must hold 1 or {count} numbers, but got {value!r}."
            )
        return Tensor(np.broadcast_to(array, (count,)).copy())

    def extend_repr(self) -> str:
        return (
            f"quant_dtype={self.quant_dtype.name}, symmetric={self.symmetric}, narrow_range={self.narrow_range}, "
            f"ema={self.ema}({self.ema_decay}), per_channel={self.per_channel}({self.channel_axis}, {self.num_channels})"
        )

    def construct(self, x: Tensor) -> Any:
        if self.training:
            self._observe(ops.stop_gradient(x))
        rounded = self._quantise(x)
        if self.training and self.steps is not None:
            before = self.steps < self.quant_delay
            ops.assign_add(self.steps, 1)
            return ops.select(ops.broadcast_to(before, x.shape), x, rounded)
        return rounded

    def _observe(self, x: Any) -> None:
        axes = tuple(a for a in range(x.ndim) if not self.per_channel or a != self.channel_axis % x.ndim)
        low = ops.reshape(ops.ReduceMin()(x, axes), (-1,))
        high = ops.reshape(ops.ReduceMax()(x, axes), (-1,))
        if self.ema:
            low = self.minq * self.ema_decay + low * (1 - self.ema_decay)
            high = self.maxq * self.ema_decay + high * (1 - self.ema_decay)
        ops.assign(self.minq, ops.minimum(low, 0.0) * (0.0 if self.neg_trunc else 1.0))
        ops.assign(self.maxq, ops.maximum(high, 1e-6))

    def _quantise(self, x: Any) -> Any:
        low, high = self.minq.value(), self.maxq.value()
        if self.symmetric:
            high = ops.maximum(ops.abs(low), ops.abs(high))
            low = -high
        step = (high - low) / float(self.quant_max - self.quant_min)
        zero = ops.clip_by_value(ops.round(self.quant_min - low / step), float(self.quant_min), float(self.quant_max))
        if self.per_channel:
            shape = tuple(self.num_channels if a == self.channel_axis % x.ndim else 1 for a in range(x.ndim))
            step, zero = ops.reshape(step, shape), ops.reshape(zero, shape)
        return ops.FakeQuantise(self.quant_min, self.quant_max)(x, step, zero)

    @classmethod
    def partial_init(cls, **settings: Any) -> _Observers:
        """Make observers with these settings, unless the maker says otherwise."""
        return _Observers(cls, **settings)


class _Observers(functools.partial):
    """Makes observers; `partial_init` adds settings."""

    def partial_init(self, **settings: Any) -> _Observers:
        return _Observers(self, **settings)


class QuantConfig(NamedTuple):
    """How to make the observers of weights and of activations.

    Examples:
        >>> config = nn.QuantConfig()
        >>> nn.DenseQuant(3, 4, quant_config=config)(ops.ones((2, 3))).shape
        (2, 4)
    """

    weight: Any = FakeQuantWithMinMaxObserver
    activation: Any = FakeQuantWithMinMaxObserver


quant_config_default = QuantConfig(weight=FakeQuantWithMinMaxObserver.partial_init(symmetric=True))


def _weight_observer(config: QuantConfig, quant_dtype: Any, channels: int) -> Any:
    return config.weight(
        min_init=-6, max_init=6, ema=False, channel_axis=0, num_channels=channels, quant_dtype=quant_dtype
    )  # fmt: skip


class ActQuant(Cell):
    """An activation whose result is rounded; with `fake_before` its input too.

    Examples:
        >>> relu = nn.ActQuant(nn.ReLU())
        >>> relu(Tensor([-1.0, 0.5])).shape
        (2,)
    """

    def __init__(
        self, activation: Any, ema: bool = False, ema_decay: float = 0.999, fake_before: bool = False,
        quant_config: QuantConfig = quant_config_default, quant_dtype: Any = _INT8,
    ):  # fmt: skip
        super().__init__()
        options = {"min_init": -6, "max_init": 6, "ema": ema, "ema_decay": ema_decay, "quant_dtype": quant_dtype}
        self.act = activation
        self.fake_before = fake_before
        self.fake_quant_act_before = quant_config.activation(**options) if fake_before else None
        self.fake_quant_act = quant_config.activation(**options)

    def construct(self, x: Tensor) -> Any:
        if self.fake_quant_act_before is not None:
            x = self.fake_quant_act_before(x)
        return self.fake_quant_act(self.act(x))

    def get_origin(self) -> Any:
        """The activation without rounding."""
        return self.act


class _QuantisedSum(Cell):
    """An operation of two tensors whose result is rounded."""

    operation: Any = None

    def __init__(
        self, ema_decay: float = 0.999, quant_config: QuantConfig = quant_config_default,
        quant_dtype: Any = _INT8,
    ):  # fmt: skip
        super().__init__()
        self.fake_quant_act = quant_config.activation(
            min_init=-6, max_init=6, ema=True, ema_decay=ema_decay, quant_dtype=quant_dtype
        )

    def construct(self, x1: Any, x2: Any) -> Any:
        return self.fake_quant_act(self.operation(x1, x2))


class TensorAddQuant(_QuantisedSum):
    """x1 + x2, rounded.

    Examples:
        >>> net = nn.TensorAddQuant()
        >>> net(ops.ones(2), ops.ones(2)).shape
        (2,)
    """

    operation = staticmethod(ops.add)


class MulQuant(_QuantisedSum):
    """x1 * x2, rounded.

    Examples:
        >>> net = nn.MulQuant()
        >>> net(ops.ones(2), ops.ones(2)).shape
        (2,)
    """

    operation = staticmethod(ops.mul)


class DenseQuant(Dense):
    """A dense layer with rounded weights.

    Examples:
        >>> net = nn.DenseQuant(3, 4)
        >>> net(ops.ones((2, 3))).shape
        (2, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, activation: Any = None, quant_config: QuantConfig = quant_config_default,
        quant_dtype: Any = _INT8,
    ):  # fmt: skip
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.act = get_activation(activation) if isinstance(activation, str) else activation
        self.fake_quant_weight = _weight_observer(quant_config, quant_dtype, out_channels)

    def construct(self, x: Tensor) -> Any:
        out = ops.dense(x, self.fake_quant_weight(self.weight), self.bias)
        return out if self.act is None else self.act(out)


class Conv2dQuant(Conv2d):
    """A 2-d convolution with rounded weights.

    Examples:
        >>> net = nn.Conv2dQuant(1, 2, kernel_size=3)
        >>> net(ops.ones((1, 1, 4, 4))).shape
        (1, 2, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal",
        bias_init: Any = "zeros", quant_config: QuantConfig = quant_config_default, quant_dtype: Any = _INT8,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self.fake_quant_weight = _weight_observer(quant_config, quant_dtype, out_channels)

    def construct(self, x: Tensor) -> Any:
        out = self.conv2d(x, self.fake_quant_weight(self.weight))
        return out + ops.reshape(self.bias, (1, -1, 1, 1)) if self.has_bias else out


class Conv2dBnWithoutFoldQuant(Cell):
    """A convolution with rounded weights, and batch normalisation behind it.

    Examples:
        >>> net = nn.Conv2dBnWithoutFoldQuant(1, 2, kernel_size=3)
        >>> net(ops.ones((1, 1, 4, 4))).shape
        (1, 2, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, eps: float = 1e-5,
        momentum: float = 0.997, weight_init: Any = "normal", bias_init: Any = "zeros",
        quant_config: QuantConfig = quant_config_default, quant_dtype: Any = _INT8,
    ):  # fmt: skip
        super().__init__()
        self.conv = Conv2dQuant(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, quant_config, quant_dtype,
        )  # fmt: skip
        self.batchnorm = BatchNorm2d(out_channels, eps=eps, momentum=momentum)

    def construct(self, x: Tensor) -> Any:
        return self.batchnorm(self.conv(x))


class Conv2dBnFoldQuant(Cell):
    """A convolution with batch normalisation folded into the weights before they are rounded.

    In training the batch's own statistics normalise (the convolution runs once more to find them); otherwise, and once
    `freeze_bn` steps have passed, the running ones.

    Examples:
        >>> net = nn.Conv2dBnFoldQuant(1, 2, kernel_size=3)
        >>> net(ops.ones((1, 1, 4, 4))).shape
        (1, 2, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, eps: float = 1e-5, momentum: float = 0.997,
        has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros", beta_init: Any = "zeros",
        gamma_init: Any = "ones", mean_init: Any = "zeros", var_init: Any = "ones", fake: bool = True,
        quant_config: QuantConfig = quant_config_default, quant_dtype: Any = _INT8, freeze_bn: int = 100000,
    ):  # fmt: skip
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self.batchnorm = BatchNorm2d(
            out_channels, eps, momentum, gamma_init=gamma_init, beta_init=beta_init, moving_mean_init=mean_init,
            moving_var_init=var_init,
        )  # fmt: skip
        self.eps, self.momentum, self.fake, self.freeze_bn = eps, momentum, fake, freeze_bn
        self.fake_quant_weight = _weight_observer(quant_config, quant_dtype, out_channels)
        self.step = Parameter(Tensor(0, mstype.int32), name="step", requires_grad=False)

    def construct(self, x: Tensor) -> Any:
        norm = self.batchnorm
        mean, variance = norm.moving_mean.value(), norm.moving_variance.value()
        if self.training:
            mean, variance = self._statistics(self.conv(x), mean, variance)
        factor = norm.gamma / ops.sqrt(variance + self.eps)
        weight = self.conv.weight * ops.reshape(factor, (-1, 1, 1, 1))
        if self.fake:
            weight = self.fake_quant_weight(weight)
        shift = norm.beta - mean * factor
        if self.conv.has_bias:
            shift = shift + self.conv.bias * factor
        return self.conv.conv2d(x, weight) + ops.reshape(shift, (1, -1, 1, 1))

    def _statistics(self, out: Any, old_mean: Any, old_variance: Any) -> Any:
        """The batch's mean and variance, which the running ones follow, until they are frozen."""
        mean = ops.ReduceMean()(out, (0, 2, 3))
        centred = out - ops.reshape(mean, (1, -1, 1, 1))
        variance = ops.ReduceMean()(ops.square(centred), (0, 2, 3))
        live = self.step < self.freeze_bn
        keep = ops.select(live, Tensor(self.momentum, mstype.float32), Tensor(1.0, mstype.float32))
        ops.assign(self.batchnorm.moving_mean, keep * old_mean + (1 - keep) * ops.stop_gradient(mean))
        ops.assign(self.batchnorm.moving_variance, keep * old_variance + (1 - keep) * ops.stop_gradient(variance))
        ops.assign_add(self.step, 1)
        chosen = ops.broadcast_to(live, mean.shape)
        return ops.select(chosen, mean, old_mean), ops.select(chosen, variance, old_variance)


class Conv2dBnFoldQuantOneConv(Conv2dBnFoldQuant):
    """As Conv2dBnFoldQuant.

    Examples:
        >>> net = nn.Conv2dBnFoldQuantOneConv(1, 2, kernel_size=3)
        >>> net(ops.ones((1, 1, 4, 4))).shape
        (1, 2, 4, 4)
    """
