"""Layers without parameters: each applies one function with fixed settings."""

from __future__ import annotations

import inspect
from typing import Any

from mindspore import nn
from mindspore.mint.nn import functional as mf
from mindspore.ops import functional as F


class _Pointwise(nn.Cell):
    """A layer that is one function of its input; subclasses name it in `apply`."""

    def __init__(self, **settings: Any):
        super().__init__()
        self.settings = tuple(settings.items())
        for name, value in settings.items():
            setattr(self, name, value)

    def apply_function(self, input: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define apply_function")

    def construct(self, input: Any) -> Any:
        return self.apply_function(input)

    def extend_repr(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.settings)


def _layer(name: str, function: Any, doc: str, **defaults: Any) -> Any:
    """A layer class: constructor arguments `defaults`, and `function(input, **arguments)` as its body."""
    names = tuple(defaults)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(names) or kwargs.keys() - set(names):
            raise TypeError(f"For 'mint.nn.{name}', the arguments are {names}, but got {args} and {kwargs}.")
        settings = {**defaults, **dict(zip(names, args)), **kwargs}
        missing = [k for k, v in settings.items() if v is _NEEDED]
        if missing:
            raise TypeError(f"For 'mint.nn.{name}', '{missing[0]}' is needed.")
        _Pointwise.__init__(self, **settings)

    def apply_function(self: Any, input: Any) -> Any:
        return function(input, **dict(self.settings))

    init.__signature__ = _signature(defaults)  # type: ignore[attr-defined]
    members = {"__init__": init, "apply_function": apply_function, "__doc__": doc, "__module__": __name__}
    return type(name, (_Pointwise,), members)


_NEEDED = object()


def _signature(defaults: dict[str, Any]) -> inspect.Signature:
    """What a constructor with these arguments shows to readers and tools."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter("self", kind)]
    for name, value in defaults.items():
        arguments.append(inspect.Parameter(name, kind, default=inspect.Parameter.empty if value is _NEEDED else value))
    return inspect.Signature(arguments)


def _without_inplace(function: Any) -> Any:
    """`inplace` is only a hint about memory here: results never overwrite what others still hold."""

    def apply(input: Any, inplace: bool = False, **settings: Any) -> Any:
        return function(input, **settings)

    return apply


ReLU = _layer("ReLU", _without_inplace(mf.relu), "max(x, 0).", inplace=False)
ReLU6 = _layer("ReLU6", _without_inplace(mf.relu6), "min(max(x, 0), 6).", inplace=False)
SiLU = _layer("SiLU", _without_inplace(mf.silu), "x sigmoid(x).", inplace=False)
ELU = _layer("ELU", _without_inplace(mf.elu), "x, or alpha (exp(x) - 1) below 0.", alpha=1.0, inplace=False)
GELU = _layer("GELU", mf.gelu, "The Gaussian error linear unit.", approximate="none")
SELU = _layer("SELU", mf.selu, "The self-normalising exponential unit.")
Mish = _layer("Mish", mf.mish, "x tanh(softplus(x)).")
Tanh = _layer("Tanh", mf.tanh, "The hyperbolic tangent.")
Sigmoid = _layer("Sigmoid", mf.sigmoid, "1 / (1 + exp(-x)).")
LogSigmoid = _layer("LogSigmoid", mf.logsigmoid, "log(sigmoid(x)).")
Softmax = _layer("Softmax", mf.softmax, "Exponentials that add up to 1.", dim=None)
LogSoftmax = _layer("LogSoftmax", mf.log_softmax, "The logarithm of softmax.", dim=None)
GLU = _layer("GLU", mf.glu, "One half times the sigmoid of the other.", dim=-1)
Hardswish = _layer("Hardswish", mf.hardswish, "x relu6(x + 3) / 6.")
Hardsigmoid = _layer("Hardsigmoid", mf.hardsigmoid, "relu6(x + 3) / 6.")
Hardshrink = _layer("Hardshrink", mf.hardshrink, "x, or 0 within [-lambd, lambd].", lambd=0.5)
Softshrink = _layer("Softshrink", mf.softshrink, "x moved towards 0 by lambd.", lambd=0.5)
Hardtanh = _layer(
    "Hardtanh", _without_inplace(mf.hardtanh), "x kept within bounds.", min_val=-1.0, max_val=1.0, inplace=False,
)  # fmt: skip
Threshold = _layer(
    "Threshold", _without_inplace(mf.threshold), "x above a threshold, else a value.", threshold=_NEEDED, value=_NEEDED,
    inplace=False,
)  # fmt: skip
Softplus = _layer("Softplus", mf.softplus, "log(1 + exp(beta x)) / beta.", beta=1, threshold=20)
LeakyReLU = _layer("LeakyReLU", mf.leaky_relu, "x, or a fraction of it below 0.", negative_slope=0.01)

Flatten = _layer("Flatten", mf.flatten, "Merge dimensions.", start_dim=1, end_dim=-1)
PixelShuffle = _layer("PixelShuffle", mf.pixel_shuffle, "Channels into space.", upscale_factor=_NEEDED)
Unfold = _layer(
    "Unfold", mf.unfold, "Sliding windows as columns.", kernel_size=_NEEDED, dilation=1, padding=0, stride=1
)
Fold = _layer(
    "Fold", mf.fold, "Columns back to overlapping windows.", output_size=_NEEDED, kernel_size=_NEEDED, dilation=1,
    padding=0, stride=1,
)  # fmt: skip
Upsample = _layer(
    "Upsample", mf.interpolate, "Resize.", size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None,
)  # fmt: skip
UpsamplingNearest2d = _layer(
    "UpsamplingNearest2d", lambda x, size, scale_factor: mf.interpolate(x, size, scale_factor, "nearest"),
    "Resize by repeating.", size=None, scale_factor=None,
)  # fmt: skip
UpsamplingBilinear2d = _layer(
    "UpsamplingBilinear2d", lambda x, size, scale_factor: mf.interpolate(x, size, scale_factor, "bilinear", True),
    "Resize by interpolation.", size=None, scale_factor=None,
)  # fmt: skip

AdaptiveAvgPool1d = _layer("AdaptiveAvgPool1d", mf.adaptive_avg_pool1d, "Means to a size.", output_size=_NEEDED)
AdaptiveAvgPool2d = _layer("AdaptiveAvgPool2d", mf.adaptive_avg_pool2d, "Means to a size.", output_size=_NEEDED)
AdaptiveAvgPool3d = _layer("AdaptiveAvgPool3d", mf.adaptive_avg_pool3d, "Means to a size.", output_size=_NEEDED)
AdaptiveMaxPool1d = _layer(
    "AdaptiveMaxPool1d", mf.adaptive_max_pool1d, "Maxima to a size.", output_size=_NEEDED, return_indices=False,
)  # fmt: skip
AdaptiveMaxPool2d = _layer(
    "AdaptiveMaxPool2d", mf.adaptive_max_pool2d, "Maxima to a size.", output_size=_NEEDED, return_indices=False,
)  # fmt: skip
AvgPool1d = _layer(
    "AvgPool1d", mf.avg_pool1d, "Means of windows.", kernel_size=_NEEDED, stride=None, padding=0, ceil_mode=False,
    count_include_pad=True,
)  # fmt: skip
_AVERAGE = {
    "kernel_size": _NEEDED, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True,
    "divisor_override": None,
}  # fmt: skip
AvgPool2d = _layer("AvgPool2d", mf.avg_pool2d, "Means of windows.", **_AVERAGE)
AvgPool3d = _layer("AvgPool3d", mf.avg_pool3d, "Means of windows.", **_AVERAGE)
MaxPool2d = _layer(
    "MaxPool2d", mf.max_pool2d, "Maxima of windows.", kernel_size=_NEEDED, stride=None, padding=0, dilation=1,
    return_indices=False, ceil_mode=False,
)  # fmt: skip


class MaxUnpool2d(nn.Cell):
    """Put maxima back to the places they came from; zeros elsewhere.

    Examples:
        >>> print(mint.nn.MaxUnpool2d(2)(Tensor([[[[5.0]]]]), Tensor([[[[3]]]])))
        [[[[0. 0.]
           [0. 5.]]]]
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return mf.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


def _pad_layer(name: str, rank: int, mode: str, valued: bool = False) -> Any:
    """A padding layer: `padding` is one number for all sides, or (left, right, top, …)."""

    def apply(input: Any, padding: Any, value: Any = None) -> Any:
        amounts = (padding,) * (2 * rank) if isinstance(padding, int) else tuple(padding)
        return F.pad(input, amounts, mode, value)

    extra = {"value": _NEEDED} if valued else {}
    return _layer(name, apply, f"Surround the last {rank} dimension(s).", padding=_NEEDED, **extra)


ConstantPad1d = _pad_layer("ConstantPad1d", 1, "constant", True)
ConstantPad2d = _pad_layer("ConstantPad2d", 2, "constant", True)
ConstantPad3d = _pad_layer("ConstantPad3d", 3, "constant", True)
ZeroPad1d = _pad_layer("ZeroPad1d", 1, "constant")
ZeroPad2d = _pad_layer("ZeroPad2d", 2, "constant")
ZeroPad3d = _pad_layer("ZeroPad3d", 3, "constant")
ReflectionPad1d = _pad_layer("ReflectionPad1d", 1, "reflect")
ReflectionPad2d = _pad_layer("ReflectionPad2d", 2, "reflect")
ReflectionPad3d = _pad_layer("ReflectionPad3d", 3, "reflect")
ReplicationPad1d = _pad_layer("ReplicationPad1d", 1, "replicate")
ReplicationPad2d = _pad_layer("ReplicationPad2d", 2, "replicate")
ReplicationPad3d = _pad_layer("ReplicationPad3d", 3, "replicate")


class Identity(nn.Cell):
    """The input itself; all arguments are ignored.

    Examples:
        >>> print(mint.nn.Identity()(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def construct(self, input: Any) -> Any:
        return input


def _reduction(owner: str, value: Any) -> str:
    if value not in ("none", "mean", "sum", "batchmean"):
        raise ValueError(f"For 'mint.nn.{owner}', 'reduction' must be 'none', 'mean' or 'sum', but got {value!r}.")
    return value


def _loss(name: str, function: Any, doc: str, **defaults: Any) -> Any:
    """A loss class: `function(input, target, **arguments)`."""
    names = tuple(defaults)

    class Loss(nn.Cell):
        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__()
            self.settings = {**defaults, **dict(zip(names, args)), **kwargs}
            if kwargs.keys() - set(names) or len(args) > len(names):
                raise TypeError(f"For 'mint.nn.{name}', the arguments are {names}, but got {args} and {kwargs}.")
            _reduction(name, self.settings["reduction"])

        def construct(self, input: Any, target: Any) -> Any:
            return function(input, target, **self.settings)

    Loss.__init__.__signature__ = _signature(defaults)  # type: ignore[attr-defined]
    Loss.__name__ = Loss.__qualname__ = name
    Loss.__doc__, Loss.__module__ = doc, __name__
    return Loss


CrossEntropyLoss = _loss(
    "CrossEntropyLoss", mf.cross_entropy, "Cross entropy of logits with classes or probabilities.", weight=None,
    ignore_index=-100, reduction="mean", label_smoothing=0.0,
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", mf.binary_cross_entropy_with_logits, "Binary cross entropy of logits.", weight=None,
    reduction="mean", pos_weight=None,
)  # fmt: skip
BCELoss = _loss("BCELoss", mf.binary_cross_entropy, "Binary cross entropy.", weight=None, reduction="mean")
MSELoss = _loss("MSELoss", mf.mse_loss, "Squared differences.", reduction="mean")
L1Loss = _loss("L1Loss", mf.l1_loss, "Absolute differences.", reduction="mean")
SmoothL1Loss = _loss("SmoothL1Loss", mf.smooth_l1_loss, "Huber-like differences.", reduction="mean", beta=1.0)
NLLLoss = _loss(
    "NLLLoss", mf.nll_loss, "Negative log likelihood.", weight=None, ignore_index=-100, reduction="mean",
)  # fmt: skip
KLDivLoss = _loss("KLDivLoss", mf.kl_div, "Kullback-Leibler divergence.", reduction="mean", log_target=False)
SoftMarginLoss = _loss("SoftMarginLoss", mf.soft_margin_loss, "log(1 + exp(-y x)).", reduction="mean")


class CosineEmbeddingLoss(nn.Cell):
    """By the cosine of two vectors.

    Examples:
        >>> from mindspore import Tensor, mint
        >>> loss = mint.nn.CosineEmbeddingLoss()
        >>> loss(Tensor([[1.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([1])).item()
        1.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean"):
        super().__init__()
        self.margin, self.reduction = margin, _reduction("CosineEmbeddingLoss", reduction)

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        return mf.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


__all__ = [name for name in globals() if name[0].isupper() and name != "Any"]
