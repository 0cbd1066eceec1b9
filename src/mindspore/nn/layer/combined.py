"""Convolution or dense layer, batch normalisation and activation in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import LeakyReLU, get_activation
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.layer.normalization import BatchNorm1d, BatchNorm2d

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["Conv2dBnAct", "DenseBnAct"]


def _activation(name: Any, alpha: float) -> Any:
    if isinstance(name, str) and name.lower() in ("leakyrelu", "leaky_relu"):
        return LeakyReLU(alpha)
    return get_activation(name) if isinstance(name, str) else name


class Conv2dBnAct(Cell):
    """A convolution, then (if `has_bn`) batch normalisation, then an activation.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Conv2dBnAct(2, 4, 3, has_bn=True, activation='relu')(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 4, 6, 6)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal",
        bias_init: Any = "zeros", has_bn: bool = False, momentum: float = 0.997, eps: float = 1e-5,
        activation: Any = None, alpha: float = 0.2, after_fake: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self.has_bn = checks.boolean("Conv2dBnAct", "has_bn", has_bn)
        self.has_act = activation is not None
        self.after_fake = checks.boolean("Conv2dBnAct", "after_fake", after_fake)
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x: Tensor) -> Any:
        x = self.conv(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x


class DenseBnAct(Cell):
    """A dense layer, then (if `has_bn`) batch normalisation, then an activation.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.DenseBnAct(2, 3)(Tensor([[1.0, 2.0]])).shape
        (1, 3)
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5, activation: Any = None,
        alpha: float = 0.2, after_fake: bool = True,
    ):  # fmt: skip
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn = checks.boolean("DenseBnAct", "has_bn", has_bn)
        self.has_act = activation is not None
        self.after_fake = checks.boolean("DenseBnAct", "after_fake", after_fake)
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.activation = _activation(activation, alpha)

    def construct(self, x: Tensor) -> Any:
        x = self.dense(x)
        if self.has_bn:
            x = self.batchnorm(x)
        if self.has_act:
            x = self.activation(x)
        return x
