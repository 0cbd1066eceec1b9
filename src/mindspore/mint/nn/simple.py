"""Layers without parameters: each applies one function with fixed settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import nn
from mindspore.mint.nn import functional as mf
from mindspore.ops import functional as F

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.nn.cell import Cell


class _Pointwise(nn.Cell):
    """A layer that is one function of its input; subclasses name it in `apply`."""

    def __init__(self, **settings: Any):
        super().__init__()
        self.settings = tuple(settings.items())
        for name, value in settings.items():
            setattr(self, name, value)

    def apply_function(self, input: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define apply_function")

    def construct(self, input: Tensor) -> Any:
        return self.apply_function(input)

    def extend_repr(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.settings)


def _layer(name: str, function: Callable, doc: str, **defaults: Any) -> Any:
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

    def apply_function(self: Cell, input: Tensor) -> Any:
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


def _without_inplace(function: Callable) -> Any:
    """`inplace` is only a hint about memory here: results never overwrite what others still hold."""

    def apply(input: Any, inplace: bool = False, **settings: Any) -> Any:
        return function(input, **settings)

    return apply


ReLU = _layer("ReLU", _without_inplace(mf.relu), """max(x, 0).

    Examples:
        >>> print(mint.nn.ReLU()(Tensor([-1.0, 2.0])))
        [0. 2.]
    """, inplace=False)
ReLU6 = _layer("ReLU6", _without_inplace(mf.relu6), """min(max(x, 0), 6).

    Examples:
        >>> print(mint.nn.ReLU6()(Tensor([-1.0, 3.0, 8.0])))
        [0. 3. 6.]
    """, inplace=False)
SiLU = _layer("SiLU", _without_inplace(mf.silu), """x sigmoid(x).

    Examples:
        >>> print(mint.nn.SiLU()(Tensor([-1.0, 2.0])))
        [-0.2689414  1.761594 ]
    """, inplace=False)
ELU = _layer("ELU", _without_inplace(mf.elu), """x where positive, else alpha (exp(x) - 1).

    Examples:
        >>> print(mint.nn.ELU()(Tensor([-1.0, 2.0])))
        [-0.63212055  2.        ]
    """, alpha=1.0, inplace=False)
GELU = _layer("GELU", mf.gelu, """x times the normal distribution function at x.

    Examples:
        >>> print(mint.nn.GELU()(Tensor([-1.0, 0.0, 2.0])))
        [-0.15865526  0.          1.9544997 ]
    """, approximate="none")
SELU = _layer("SELU", mf.selu, """The self-normalising exponential unit (Klambauer et al. 2017).

    Examples:
        >>> print(mint.nn.SELU()(Tensor([-1.0, 2.0])))
        [-1.1113307  2.101402 ]
    """)
Mish = _layer("Mish", mf.mish, """x tanh(softplus(x)).

    Examples:
        >>> print(mint.nn.Mish()(Tensor([-1.0, 0.0, 2.0])))
        [-0.30340147  0.          1.9439589 ]
    """)
Tanh = _layer("Tanh", mf.tanh, """The hyperbolic tangent.

    Examples:
        >>> print(mint.nn.Tanh()(Tensor([0.0, 1.0])))
        [0.        0.7615942]
    """)
Sigmoid = _layer("Sigmoid", mf.sigmoid, """1 / (1 + exp(-x)).

    Examples:
        >>> print(mint.nn.Sigmoid()(Tensor([0.0, 2.0])))
        [0.5      0.880797]
    """)
LogSigmoid = _layer("LogSigmoid", mf.logsigmoid, """log(sigmoid(x)), without overflow.

    Examples:
        >>> print(mint.nn.LogSigmoid()(Tensor([0.0, 3.0])))
        [-0.6931472  -0.04858735]
    """)
Softmax = _layer("Softmax", mf.softmax, """Exponentials that add up to 1 along `dim`.

    Examples:
        >>> print(mint.nn.Softmax(dim=0)(Tensor([0.0, 0.0])))
        [0.5 0.5]
    """, dim=None)
LogSoftmax = _layer("LogSoftmax", mf.log_softmax, """The logarithm of softmax along `dim`.

    Examples:
        >>> print(mint.nn.LogSoftmax(dim=0)(Tensor([0.0, 0.0])))
        [-0.6931472 -0.6931472]
    """, dim=None)
GLU = _layer("GLU", mf.glu, """The first half of a dimension times the sigmoid of the second.

    Examples:
        >>> print(mint.nn.GLU()(Tensor([4.0, 6.0, 0.0, 0.0])))
        [2. 3.]
    """, dim=-1)
Hardswish = _layer("Hardswish", mf.hardswish, """x relu6(x + 3) / 6.

    Examples:
        >>> print(mint.nn.Hardswish()(Tensor([0.0, 1.0, 5.0])))
        [0.        0.6666667 5.       ]
    """)
Hardsigmoid = _layer("Hardsigmoid", mf.hardsigmoid, """relu6(x + 3) / 6.

    Examples:
        >>> print(mint.nn.Hardsigmoid()(Tensor([-4.0, 0.0, 1.5])))
        [0.   0.5  0.75]
    """)
Hardshrink = _layer("Hardshrink", mf.hardshrink, """x where |x| exceeds `lambd`, else 0.

    Examples:
        >>> print(mint.nn.Hardshrink()(Tensor([-0.4, 0.2, 3.0])))
        [0. 0. 3.]
    """, lambd=0.5)
Softshrink = _layer("Softshrink", mf.softshrink, """x moved towards 0 by lambd.

    Examples:
        >>> print(mint.nn.Softshrink()(Tensor([-2.0, 0.3, 1.0])))
        [-1.5  0.   0.5]
    """, lambd=0.5)
Hardtanh = _layer(
    "Hardtanh", _without_inplace(mf.hardtanh), """x kept within [min_val, max_val].

    Examples:
        >>> print(mint.nn.Hardtanh()(Tensor([-3.0, 0.3, 3.0])))
        [-1.   0.3  1. ]
    """, min_val=-1.0, max_val=1.0, inplace=False,
)  # fmt: skip
Threshold = _layer(
    "Threshold", _without_inplace(mf.threshold), """x where it exceeds the threshold, else a value.

    Examples:
        >>> print(mint.nn.Threshold(1.0, -1.0)(Tensor([0.1, 5.0])))
        [-1.  5.]
    """, threshold=_NEEDED, value=_NEEDED,
    inplace=False,
)  # fmt: skip
Softplus = _layer("Softplus", mf.softplus,
    """log(1 + exp(beta x)) / beta; x itself where beta x exceeds the threshold.

    Examples:
        >>> print(mint.nn.Softplus()(Tensor([0.0, 30.0])))
        [ 0.6931472 30.       ]
    """, beta=1, threshold=20)
LeakyReLU = _layer("LeakyReLU", mf.leaky_relu, """x where positive, else negative_slope x.

    Examples:
        >>> print(mint.nn.LeakyReLU(0.1)(Tensor([-5.0, 2.0])))
        [-0.5  2. ]
    """, negative_slope=0.01)

Flatten = _layer("Flatten", mf.flatten, """Merge the dimensions from `start_dim` to `end_dim`.

    Examples:
        >>> mint.nn.Flatten()(mint.ones((2, 3, 4))).shape
        (2, 12)
    """, start_dim=1, end_dim=-1)
PixelShuffle = _layer("PixelShuffle", mf.pixel_shuffle,
    """(N, C r², H, W) to (N, C, H r, W r): channels become pixels.

    Examples:
        >>> mint.nn.PixelShuffle(2)(mint.ones((1, 8, 3, 3))).shape
        (1, 2, 6, 6)
    """, upscale_factor=_NEEDED)
Unfold = _layer(
    "Unfold", mf.unfold, """The windows of (N, C, H, W) as columns.

    Examples:
        >>> mint.nn.Unfold(2)(mint.ones((1, 1, 3, 3))).shape
        (1, 4, 4)
    """, kernel_size=_NEEDED, dilation=1, padding=0, stride=1
)
Fold = _layer(
    "Fold", mf.fold, """Columns of windows added up into images.

    Examples:
        >>> columns = mint.nn.Unfold(2)(mint.ones((1, 1, 3, 3)))
        >>> mint.nn.Fold((3, 3), 2)(columns).flatten(0).tolist()
        [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
    """, output_size=_NEEDED, kernel_size=_NEEDED, dilation=1,
    padding=0, stride=1,
)  # fmt: skip
Upsample = _layer(
    "Upsample", mf.interpolate,
    """Resize (N, C, *) to a size or by a factor: 'nearest', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.

    Examples:
        >>> mint.nn.Upsample(scale_factor=2, mode="nearest")(mint.ones((1, 1, 2, 3))).shape
        (1, 1, 4, 6)
    """, size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None,
)  # fmt: skip
UpsamplingNearest2d = _layer(
    "UpsamplingNearest2d", lambda x, size, scale_factor: mf.interpolate(x, size, scale_factor, "nearest"),
    """Resize images by repeating pixels.

    Examples:
        >>> mint.nn.UpsamplingNearest2d((1, 4))(Tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0]]]]
    """, size=None, scale_factor=None,
)  # fmt: skip
UpsamplingBilinear2d = _layer(
    "UpsamplingBilinear2d", lambda x, size, scale_factor: mf.interpolate(x, size, scale_factor, "bilinear", True),
    """Resize images by interpolation between pixels.

    Examples:
        >>> mint.nn.UpsamplingBilinear2d((1, 3))(Tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]
    """, size=None, scale_factor=None,
)  # fmt: skip

AdaptiveAvgPool1d = _layer("AdaptiveAvgPool1d", mf.adaptive_avg_pool1d,
    """Means over windows that give (N, C, L) a wanted length.

    Examples:
        >>> print(mint.nn.AdaptiveAvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
        [[[2. 6.]]]
    """, output_size=_NEEDED)
AdaptiveAvgPool2d = _layer("AdaptiveAvgPool2d", mf.adaptive_avg_pool2d,
    """Means over windows that give (N, C, H, W) a wanted size.

    Examples:
        >>> mint.nn.AdaptiveAvgPool2d((2, 3))(mint.ones((1, 4, 8, 9))).shape
        (1, 4, 2, 3)
    """, output_size=_NEEDED)
AdaptiveAvgPool3d = _layer("AdaptiveAvgPool3d", mf.adaptive_avg_pool3d,
    """Means over windows that give (N, C, D, H, W) a wanted size.

    Examples:
        >>> mint.nn.AdaptiveAvgPool3d(2)(mint.ones((1, 4, 8, 8, 8))).shape
        (1, 4, 2, 2, 2)
    """, output_size=_NEEDED)
AdaptiveMaxPool1d = _layer(
    "AdaptiveMaxPool1d", mf.adaptive_max_pool1d, """Maxima over windows that give (N, C, L) a wanted length.

    Examples:
        >>> print(mint.nn.AdaptiveMaxPool1d(2)(Tensor([[[4.0, 1.0, 2.0, 9.0]]])))
        [[[4. 9.]]]
    """, output_size=_NEEDED, return_indices=False,
)  # fmt: skip
AdaptiveMaxPool2d = _layer(
    "AdaptiveMaxPool2d", mf.adaptive_max_pool2d, """Maxima over windows that give (N, C, H, W) a wanted size.

    Examples:
        >>> mint.nn.AdaptiveMaxPool2d((2, 3))(mint.ones((1, 4, 8, 9))).shape
        (1, 4, 2, 3)
    """, output_size=_NEEDED, return_indices=False,
)  # fmt: skip
AvgPool1d = _layer(
    "AvgPool1d", mf.avg_pool1d,
    """The mean of each window of (N, C, L); the stride is the window's size unless given.

    Examples:
        >>> print(mint.nn.AvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0, 7.0]]])))
        [[[2. 6.]]]
    """, kernel_size=_NEEDED, stride=None, padding=0, ceil_mode=False,
    count_include_pad=True,
)  # fmt: skip
_AVERAGE = {
    "kernel_size": _NEEDED, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True,
    "divisor_override": None,
}  # fmt: skip
AvgPool2d = _layer("AvgPool2d", mf.avg_pool2d,
    """The mean of each window of (N, C, H, W); the stride is the window's size unless given.

    Examples:
        >>> print(mint.nn.AvgPool2d(2)(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]])))
        [[[[4.]]]]
    """, **_AVERAGE)
AvgPool3d = _layer("AvgPool3d", mf.avg_pool3d,
    """The mean of each window of (N, C, D, H, W); the stride is the window's size unless given.

    Examples:
        >>> print(mint.nn.AvgPool3d(2)(mint.ones((1, 1, 2, 2, 2))).item())
        1.0
    """, **_AVERAGE)
MaxPool2d = _layer(
    "MaxPool2d", mf.max_pool2d, """The maximum of each window of (N, C, H, W), perhaps with its place.

    Examples:
        >>> print(mint.nn.MaxPool2d(2)(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]])))
        [[[[7.]]]]
    """, kernel_size=_NEEDED, stride=None, padding=0, dilation=1,
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


def _pad_layer(name: str, rank: int, mode: str, valued: bool = False, *, doc: str) -> Any:
    """A padding layer: `padding` is one number for all sides, or (left, right, top, …)."""

    def apply(input: Tensor, padding: Any, value: Any = None) -> Any:
        amounts = (padding,) * (2 * rank) if isinstance(padding, int) else tuple(padding)
        return F.pad(input, amounts, mode, value)

    extra = {"value": _NEEDED} if valued else {}
    return _layer(name, apply, doc, padding=_NEEDED, **extra)


ConstantPad1d = _pad_layer("ConstantPad1d", 1, "constant", True, doc="""Surround the last dimension with a value.

    Examples:
        >>> print(mint.nn.ConstantPad1d((1, 2), 9.0)(Tensor([[1.0, 2.0]])))
        [[9. 1. 2. 9. 9.]]
    """)
ConstantPad2d = _pad_layer("ConstantPad2d", 2, "constant", True, doc="""Surround the last two dimensions with a value.

    Examples:
        >>> print(mint.nn.ConstantPad2d((1, 0, 0, 1), 9.0)(Tensor([[[1.0, 2.0]]])))
        [[[9. 1. 2.]
          [9. 9. 9.]]]
    """)
ConstantPad3d = _pad_layer("ConstantPad3d", 3, "constant", True, doc="""Surround the last three dimensions with a value.

    Examples:
        >>> mint.nn.ConstantPad3d(1, 9.0)(mint.ones((1, 2, 2, 2))).shape
        (1, 4, 4, 4)
    """)
ZeroPad1d = _pad_layer("ZeroPad1d", 1, "constant", doc="""Surround the last dimension with zeros.

    Examples:
        >>> print(mint.nn.ZeroPad1d((1, 2))(Tensor([[1.0, 2.0]])))
        [[0. 1. 2. 0. 0.]]
    """)
ZeroPad2d = _pad_layer("ZeroPad2d", 2, "constant", doc="""Surround the last two dimensions with zeros.

    Examples:
        >>> mint.nn.ZeroPad2d(1)(mint.ones((1, 2, 2))).shape
        (1, 4, 4)
    """)
ZeroPad3d = _pad_layer("ZeroPad3d", 3, "constant", doc="""Surround the last three dimensions with zeros.

    Examples:
        >>> mint.nn.ZeroPad3d(1)(mint.ones((1, 2, 2, 2))).shape
        (1, 4, 4, 4)
    """)
ReflectionPad1d = _pad_layer("ReflectionPad1d", 1, "reflect",
    doc="""Continue the last dimension by its mirror image, without the border element.

    Examples:
        >>> print(mint.nn.ReflectionPad1d(2)(Tensor([[1.0, 2.0, 3.0]])))
        [[3. 2. 1. 2. 3. 2. 1.]]
    """)
ReflectionPad2d = _pad_layer("ReflectionPad2d", 2, "reflect",
    doc="""Continue the last two dimensions by their mirror image, without the border elements.

    Examples:
        >>> mint.nn.ReflectionPad2d(1)(mint.ones((1, 3, 3))).shape
        (1, 5, 5)
    """)
ReflectionPad3d = _pad_layer("ReflectionPad3d", 3, "reflect",
    doc="""Continue the last three dimensions by their mirror image, without the border elements.

    Examples:
        >>> mint.nn.ReflectionPad3d(1)(mint.ones((1, 3, 3, 3))).shape
        (1, 5, 5, 5)
    """)
ReplicationPad1d = _pad_layer("ReplicationPad1d", 1, "replicate",
    doc="""Continue the last dimension by its border elements.

    Examples:
        >>> print(mint.nn.ReplicationPad1d(2)(Tensor([[1.0, 2.0, 3.0]])))
        [[1. 1. 1. 2. 3. 3. 3.]]
    """)
ReplicationPad2d = _pad_layer("ReplicationPad2d", 2, "replicate",
    doc="""Continue the last two dimensions by their border elements.

    Examples:
        >>> mint.nn.ReplicationPad2d(1)(mint.ones((1, 3, 3))).shape
        (1, 5, 5)
    """)
ReplicationPad3d = _pad_layer("ReplicationPad3d", 3, "replicate",
    doc="""Continue the last three dimensions by their border elements.

    Examples:
        >>> mint.nn.ReplicationPad3d(1)(mint.ones((1, 3, 3, 3))).shape
        (1, 5, 5, 5)
    """)


class Identity(nn.Cell):
    """The input itself; all arguments are ignored.

    Examples:
        >>> print(mint.nn.Identity()(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def construct(self, input: Tensor) -> Any:
        return input


def _reduction(owner: str, value: Any) -> str:
    if value not in ("none", "mean", "sum", "batchmean"):
        raise ValueError(f"For 'mint.nn.{owner}', 'reduction' must be 'none', 'mean' or 'sum', but got {value!r}.")
    return value


def _loss(name: str, function: Callable, doc: str, **defaults: Any) -> Any:
    """A loss class: `function(input, target, **arguments)`."""
    names = tuple(defaults)

    class Loss(nn.Cell):
        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__()
            self.settings = {**defaults, **dict(zip(names, args)), **kwargs}
            if kwargs.keys() - set(names) or len(args) > len(names):
                raise TypeError(f"For 'mint.nn.{name}', the arguments are {names}, but got {args} and {kwargs}.")
            _reduction(name, self.settings["reduction"])

        def construct(self, input: Tensor, target: Tensor) -> Any:
            return function(input, target, **self.settings)

    Loss.__init__.__signature__ = _signature(defaults)  # type: ignore[attr-defined]
    Loss.__name__ = Loss.__qualname__ = name
    Loss.__doc__, Loss.__module__ = doc, __name__
    return Loss


CrossEntropyLoss = _loss(
    "CrossEntropyLoss", mf.cross_entropy,
    """The cross entropy of logits with classes, or with probabilities of classes.

    Examples:
        >>> print(mint.nn.CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1])))
        0.6931472
    """, weight=None,
    ignore_index=-100, reduction="mean", label_smoothing=0.0,
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", mf.binary_cross_entropy_with_logits,
    """Binary cross entropy of logits; `pos_weight` scales the positive term.

    Examples:
        >>> print(mint.nn.BCEWithLogitsLoss(reduction="none")(Tensor([0.0, 3.0]), Tensor([1.0, 0.0])))
        [0.6931472 3.0485873]
    """, weight=None,
    reduction="mean", pos_weight=None,
)  # fmt: skip
BCELoss = _loss("BCELoss", mf.binary_cross_entropy, """-(y log p + (1 - y) log(1 - p)) of probabilities.

    Examples:
        >>> print(mint.nn.BCELoss()(Tensor([0.9, 0.2]), Tensor([1.0, 0.0])))
        0.16425204
    """, weight=None, reduction="mean")
MSELoss = _loss("MSELoss", mf.mse_loss, """Squared differences of input and target.

    Examples:
        >>> print(mint.nn.MSELoss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
        2.5
    """, reduction="mean")
L1Loss = _loss("L1Loss", mf.l1_loss, """Absolute differences of input and target.

    Examples:
        >>> print(mint.nn.L1Loss()(Tensor([1.0, 4.0]), Tensor([2.0, 2.0])))
        1.5
    """, reduction="mean")
SmoothL1Loss = _loss("SmoothL1Loss", mf.smooth_l1_loss,
    """0.5 d² / beta where the difference d is below beta, else |d| - 0.5 beta.

    Examples:
        >>> print(mint.nn.SmoothL1Loss(reduction="none")(Tensor([1.5, 5.0]), Tensor([1.0, 1.0])))
        [0.125 3.5  ]
    """, reduction="mean", beta=1.0)
NLLLoss = _loss(
    "NLLLoss", mf.nll_loss, """Minus the log-probability of the target class.

    Examples:
        >>> print(mint.nn.NLLLoss()(Tensor([[-0.5, -1.0], [-2.0, -0.1]]), Tensor([0, 1])))
        0.3
    """, weight=None, ignore_index=-100, reduction="mean",
)  # fmt: skip
KLDivLoss = _loss("KLDivLoss", mf.kl_div, """target (log target - input), where the input holds log-probabilities.

    Examples:
        >>> print(mint.nn.KLDivLoss(reduction="sum")(Tensor([-0.6931472, -0.6931472]), Tensor([1.0, 0.0])))
        0.6931472
    """, reduction="mean", log_target=False)
SoftMarginLoss = _loss("SoftMarginLoss", mf.soft_margin_loss,
    """log(1 + exp(-target input)) for targets of 1 and -1.

    Examples:
        >>> print(mint.nn.SoftMarginLoss(reduction="none")(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])))
        [0.6931472 2.126928 ]
    """, reduction="mean")


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
