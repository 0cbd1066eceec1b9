"""Activation layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import activation as F
from mindspore.ops.dropouts import rrelu
from mindspore.prims import activation as _act
from mindspore.prims import elementwise as _ew
from mindspore.prims.setting_types import setting_types

__all__ = [
    "CELU", "ELU", "FastGelu", "GELU", "GLU", "HShrink", "HSigmoid", "HSwish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "LogSoftmaxExt", "Mish", "PReLU", "PReLUExt", "RReLU", "ReLU", "ReLU6", "SeLU", "SiLU", "Sigmoid",
    "SoftShrink", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softsign", "Tanh", "Tanhshrink", "Threshold",
    "get_activation",
]  # fmt: skip


class _Primitive(Cell):
    """A layer that is one primitive, which it also holds under a name of its own, for strategies: `nn.ReLU().relu.shard(…)`."""

    def __init__(self, prim: Any, attribute: str):
        super().__init__()
        self.activation = prim
        setattr(self, attribute, prim)

    def construct(self, x: Tensor) -> Any:
        return self.activation(x)


class _OfInput(_Primitive):
    def construct(self, input: Tensor) -> Any:
        return self.activation(input)


class _OfInputX(_Primitive):
    def construct(self, input_x: Tensor) -> Any:
        return self.activation(input_x)


def _layer(name: str, make: Any, doc: str, given: float, result: float, base: type = _Primitive) -> Any:
    """A layer class without arguments around a primitive class; `given` and `result` are its example, and `base` says what
    its tensor is called."""

    def init(self: Any) -> None:
        _Primitive.__init__(self, make(), {"FastGelu": "fast_gelu"}.get(name, name.lower()))

    example = (
        f">>> from mindspore import Tensor, nn\n        >>> nn.{name}()(Tensor([{given}])).tolist()\n        [{result}]"
    )
    text = f"{doc}\n\n    Examples:\n        {example}\n    "
    return type(name, (base,), {"__init__": init, "__doc__": text, "__module__": __name__})


ReLU = _layer("ReLU", _ew.ReLU, "max(x, 0).", -1.0, 0.0, _OfInput)
ReLU6 = _layer("ReLU6", _act.ReLU6, "min(max(x, 0), 6).", 9.0, 6.0)
SeLU = _layer("SeLU", _act.SeLU, "The self-normalising exponential linear unit.", 0.0, 0.0, _OfInputX)
SiLU = _layer("SiLU", _act.SiLU, "x * sigmoid(x).", 0.0, 0.0)
Sigmoid = _layer("Sigmoid", _ew.Sigmoid, "1 / (1 + exp(-x)).", 0.0, 0.5)
Tanh = _layer("Tanh", _ew.Tanh, "The hyperbolic tangent.", 0.0, 0.0)
Mish = _layer("Mish", _act.Mish, "x * tanh(softplus(x)).", 0.0, 0.0, _OfInputX)
FastGelu = _layer("FastGelu", _act.FastGeLU, "x * sigmoid(1.702 x).", 0.0, 0.0)
HSwish = _layer("HSwish", _act.HSwish, "x * relu6(x + 3) / 6.", 3.0, 3.0, _OfInput)
HSigmoid = _layer("HSigmoid", _act.HSigmoid, "relu6(x + 3) / 6.", 3.0, 1.0, _OfInput)
LogSigmoid = _layer("LogSigmoid", _act.LogSigmoid, "log(sigmoid(x)).", -100.0, -100.0, _OfInputX)
Softsign = _layer("Softsign", _act.Softsign, "x / (1 + |x|).", 1.0, 0.5)


class GELU(Cell):
    """x times the normal distribution function of x: by tanh if `approximate` (the default), else exact.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.GELU()(Tensor([0.0, 10.0])).tolist()
        [0.0, 10.0]
    """

    def __init__(self, approximate: Any = True):
        super().__init__()
        if approximate not in (True, False, "tanh", "none"):
            raise TypeError(f"For 'GELU', 'approximate' must be a bool, but got {approximate!r}.")
        self.approximate = approximate
        self.gelu = _act.GeLU() if approximate in (True, "tanh") else _act.GeLUErf()

    def construct(self, x: Any) -> Any:
        return self.gelu(x)


class LeakyReLU(Cell):
    """x where positive, else alpha * x.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.LeakyReLU(0.5)(Tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, alpha: float = 0.2):
        super().__init__()
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
            raise TypeError(f"For 'LeakyReLU', 'alpha' must be a number, but got {alpha!r}.")
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return F.leaky_relu(x, self.alpha)


class ELU(Cell):
    """x where positive, else alpha * (exp(x) - 1).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.ELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0):
        super().__init__()
        self.alpha = alpha
        self.elu = _act.Elu(alpha)

    def construct(self, x: Any) -> Any:
        return self.elu(x)


class CELU(Cell):
    """x where positive, else alpha * (exp(x / alpha) - 1).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.CELU()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0):
        super().__init__()
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
            raise TypeError(f"For 'CELU', 'alpha' must be a number, but got {alpha!r}.")
        if alpha == 0:
            raise ValueError("For 'CELU', 'alpha' must not be 0.")
        self.celu = _act.CeLU(float(alpha))

    def construct(self, x: Tensor) -> Any:
        return self.celu(x)


class HShrink(Cell):
    """x where |x| > lambd, else 0.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.HShrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 2.0]
    """

    @setting_types(lambd=bool | int | float)
    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.hshrink = _act.HShrink(lambd)

    def construct(self, input: Tensor) -> Any:
        return self.hshrink(input)


class SoftShrink(Cell):
    """x moved towards 0 by lambd.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.SoftShrink()(Tensor([0.25, 2.0])).tolist()
        [0.0, 1.5]
    """

    @setting_types(lambd=bool | int | float)
    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.softshrink = _act.SoftShrink(lambd)

    def construct(self, input: Tensor) -> Any:
        return self.softshrink(input)


class Tanhshrink(Cell):
    """x - tanh(x).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Tanhshrink()(Tensor([0.0])).tolist()
        [0.0]
    """

    def construct(self, x: Tensor) -> Any:
        return F.tanhshrink(x)


class Hardtanh(Cell):
    """x cut to [min_val, max_val].

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Hardtanh()(Tensor([-2.0, 0.5, 2.0])).tolist()
        [-1.0, 0.5, 1.0]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0):
        super().__init__()
        self.min_val, self.max_val = min_val, max_val
        if min_val >= max_val:
            raise ValueError(f"For 'Hardtanh', min_val must be smaller than max_val, but got {min_val} and {max_val}.")

    def construct(self, x: Tensor) -> Any:
        return F.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """x where it exceeds `threshold`, else `value`.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Threshold(1.0, 9.0)(Tensor([0.5, 2.0])).tolist()
        [9.0, 2.0]
    """

    def __init__(self, threshold: float, value: float):
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Tensor) -> Any:
        return F.threshold(input_x, self.threshold, self.value)


class Softplus(Cell):
    """log(1 + exp(beta x)) / beta.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Softplus()(Tensor([100.0])).tolist()
        [100.0]
    """

    def __init__(self, beta: float = 1, threshold: float = 20):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def construct(self, x: Tensor) -> Any:
        return F.softplus(x, self.beta, self.threshold)


class PReLU(Cell):
    """x where positive, else x times learnt weights: one, or one per channel.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.PReLU(w=0.5)(Tensor([[-2.0, 2.0]])).tolist()
        [[-1.0, 2.0]]
    """

    def __init__(self, channel: int = 1, w: Any = 0.25):
        super().__init__()
        if isinstance(channel, bool) or not isinstance(channel, int) or channel < 1:
            raise ValueError(f"For 'PReLU', 'channel' must be a positive int, but got {channel!r}.")
        if isinstance(w, (int, float)) and not isinstance(w, bool):
            value = Tensor(np.full((channel,), w, np.float32))
        elif isinstance(w, list):
            value = Tensor(np.array(w, np.float32))
        elif isinstance(w, Tensor):
            value = w
        else:
            raise TypeError(
                f"For 'PReLU', 'w' must be a float, a list of floats or a Tensor, but got {type(w).__name__}."
            )
        if value.shape != (channel,):
            raise ValueError(f"For 'PReLU', 'w' must have the shape ({channel},), but got {value.shape}.")
        self.w = Parameter(value, name="a")
        self.prelu = _act.PReLU()

    def construct(self, x: Tensor) -> Any:
        return self.prelu(x, self.w)


class PReLUExt(Cell):
    """x where positive, else x times `num_parameters` learnt weights.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.PReLUExt()(Tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(initializer(init, (num_parameters,), dtype or mstype.float32), name="weight")
        self.prelu = _act.PReLU()

    def construct(self, input: Tensor) -> Any:
        return self.prelu(input, self.weight)


class RReLU(Cell):
    """x where positive, else x times a random slope in [lower, upper) in training, their mean otherwise.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.RReLU()(Tensor([-1.0, 2.0])).shape
        (2,)
    """

    @setting_types(upper=int | float)
    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3):
        super().__init__()
        if lower > upper:
            raise ValueError(f"For 'RReLU', 'lower' must not exceed 'upper', but got {lower} and {upper}.")
        self.lower, self.upper = lower, upper

    def construct(self, x: Any) -> Any:
        return rrelu(x, self.lower, self.upper)


class Softmax(Cell):
    """exp(x) / sum(exp(x)) along an axis.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Softmax()(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, axis: Any = -1):
        super().__init__()
        self.softmax = _act.Softmax(axis)

    def construct(self, input: Tensor) -> Any:
        return self.softmax(input)


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.Softmax2d()(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 2, 6, 6)
    """

    def __init__(self) -> None:
        super().__init__()
        self.softmax = _act.Softmax(-3)

    def construct(self, x: Tensor) -> Any:
        if x.ndim not in (3, 4):
            raise ValueError(f"For 'Softmax2d', x must have 3 or 4 dimensions, but got {x.ndim}.")
        return self.softmax(x)


class Softmin(Cell):
    """softmax(-x) along an axis.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.Softmin()(Tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, axis: Any = -1):
        super().__init__()
        self.softmax = _act.Softmax(axis)

    def construct(self, x: Tensor) -> Any:
        return self.softmax(-x)


class LogSoftmax(Cell):
    """log(softmax(x)) along an axis.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.LogSoftmax()(Tensor([[3.0, 3.0]])).shape
        (1, 2)
    """

    def __init__(self, axis: int = -1):
        super().__init__()
        self.log_softmax = _act.LogSoftmax(axis)

    def construct(self, x: Tensor) -> Any:
        return self.log_softmax(x)


class LogSoftmaxExt(Cell):
    """log(softmax(x)) along a dimension: by default 0 for 0, 1 or 3 dimensions, else 1.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.LogSoftmaxExt(-1)(Tensor([[0.0, 0.0]])).shape
        (1, 2)
    """

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Any:
        dim = self.dim
        if dim is None:
            dim = 0 if x.ndim in (0, 1, 3) else 1
        return F.log_softmax(x, dim)


class GLU(Cell):
    """The first half of the input times the sigmoid of the second half.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> nn.GLU()(Tensor([2.0, 0.0])).tolist()
        [1.0]
    """

    def __init__(self, axis: int = -1):
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Any:
        return F.glu(x, self.axis)


_activation: dict[str, Any] = {
    "softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax,
    "logsoftmaxExt": LogSoftmaxExt, "relu": ReLU, "relu6": ReLU6, "rrelu": RReLU, "silu": SiLU, "tanh": Tanh,
    "tanhshrink": Tanhshrink, "hardtanh": Hardtanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU,
    "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU, "preluExt": PReLUExt, "leakyrelu": LeakyReLU,
    "hswish": HSwish, "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink,
    "threshold": Threshold, "mish": Mish, "celu": CELU, "glu": GLU, "selu": SeLU, "leaky_relu": LeakyReLU,
    "swish": SiLU,
}  # fmt: skip


def get_activation(name: Any, prim_name: str | None = None) -> Any:
    """A new activation layer by name; None for None.

    Examples:
        >>> from mindspore import nn
        >>> nn.get_activation("relu")
        ReLU()
    """
    if not name:
        return None
    if name not in _activation:
        prefix = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{prefix} 'name' must be in {list(_activation)}, but got {name!r}.")
    return _activation[name]()
