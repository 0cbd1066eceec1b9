"""Initializers: how the first values of parameters are drawn.

`initializer(init, shape, dtype)` gives a filled Tensor; `init` is an Initializer, the name of one, a number, or a
Tensor. Random initializers take the seed of each array from NumPy's global generator and draw the numbers that official
MindSpore draws for it (initial_numbers.py), so `set_seed` and `numpy.random.seed` make them repeatable.
"""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common import initial_numbers
from mindspore.common.random import initial_source
from mindspore.common.tensor import Tensor
from mindspore.common.unfilled import Later, UnfilledTensor, postpone
from mindspore.prims import values
from mindspore.prims.valueless import Valueless
from mindspore.runtime import devices

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__ms_treatment__ = "refused"  # by the compiler: see compiler/parse/source.py

_INITIALIZER_ALIAS: dict[str, type[Initializer]] = {}
_LATER: ContextVar[bool] = ContextVar("later_initialisation", default=False)


class Initializer:
    """Base of initializers: subclass it and define `_initialize(arr)`, which fills a NumPy array in place.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import Initializer, initializer
        >>> class Seven(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[...] = 7
        >>> initializer(Seven(), (2,), ms.float32).asnumpy().tolist()
        [7.0, 7.0]
    """

    def __init__(self, **kwargs: Any):
        self._kwargs = kwargs
        self.shape: Any = None
        self.dtype: Any = None
        self._seed: int | None = None

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value

    def _initialize(self, arr: np.ndarray) -> None:
        raise TypeError(f"{type(self).__name__} must define _initialize(arr), which fills the array in place")

    def __call__(self, arr: np.ndarray) -> None:
        self._initialize(arr)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"
                          for name, value in self._kwargs.items())  # fmt: skip
        return f"{type(self).__name__}({shown})"

    def source(self) -> Any:
        """What draws numbers one by one: of this initializer's own seed if it was set, else what all share."""
        return np.random.RandomState(self._seed % (1 << 32)) if self._seed is not None else initial_source()

    def draw(self, numbers: Callable[..., np.ndarray], *args: Any) -> np.ndarray:
        """An array of random numbers, of this initializer's own seed if it was set, else of a new one."""
        return numbers(self._seed % (1 << 64) if self._seed is not None else new_seed(), *args)


def new_seed() -> int:
    """The seed of the next array."""
    return int(initial_source().randint(1, 1 << 63, dtype=np.int64))


def _register(*aliases: str) -> Callable[[type], type]:
    """Make an initializer class known under its name in lower case and under `aliases`."""

    def decorate(cls: type) -> type:
        for name in (cls.__name__.lower(), *(a.lower() for a in aliases)):
            _INITIALIZER_ALIAS[name] = cls
        return cls

    return decorate


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Fill an array with a number or with the elements of another array."""
    if arr.shape == ():
        return np.asarray(num, arr.dtype).reshape(())
    if isinstance(num, np.ndarray):
        num = num.reshape(arr.shape)
    arr[...] = num
    return arr


# -- fans -------------------------------------------------------------------------------------------------------------
def _calculate_fan_in_and_fan_out(shape: tuple[int, ...] | list[int]) -> tuple[int, int]:
    """How many inputs and outputs one unit of a weight (out, in, *kernel) connects."""
    if len(shape) < 2:
        raise ValueError(
            "'fan_in' and 'fan_out' can not be computed for tensor with fewer than 2 dimensions, "
            f"but got dimensions {len(shape)}."
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_calculate_in_and_out = _calculate_fan_in_and_fan_out


def _calculate_correct_fan(shape: tuple[int, ...], mode: str) -> int:
    mode = mode.lower() if isinstance(mode, str) else mode
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"'mode' must be 'fan_in' or 'fan_out', but got {mode!r}.")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(shape)
    return fan_in if mode == "fan_in" else fan_out


def _calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which an activation shrinks the deviation, to be undone by the initial weights."""
    fixed = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0)}
    linear = (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    )
    if nonlinearity in linear:
        return 1.0
    if nonlinearity in fixed:
        return fixed[nonlinearity]
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"'negative_slope' must be a number, but got {param!r}.")
        return math.sqrt(2.0 / (1 + slope * slope))
    raise ValueError(f"'nonlinearity' must be one of {(*linear, *fixed, 'leaky_relu')}, but got {nonlinearity!r}.")


# -- constants --------------------------------------------------------------------------------------------------------
@_register("zeros")
class Zero(Initializer):
    """Zeros.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import Zero, initializer
        >>> initializer(Zero(), (2,), ms.float32).asnumpy().tolist()
        [0.0, 0.0]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        arr.fill(0)


@_register("ones")
class One(Initializer):
    """Ones.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import One, initializer
        >>> initializer(One(), (2,), ms.float32).asnumpy().tolist()
        [1.0, 1.0]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        arr.fill(1)


class Constant(Initializer):
    """One number, or an array of the parameter's shape.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import Constant, initializer
        >>> initializer(Constant(3), (2,), ms.float32).asnumpy().tolist()
        [3.0, 3.0]
    """

    def __init__(self, value: Any):
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.value


@_register()
class Identity(Initializer):
    """Ones on the main diagonal of a matrix, zeros elsewhere.

    Examples:
        >>> print(ms.common.initializer.initializer(ms.common.initializer.Identity(), (2, 2)))
        [[1. 0.]
         [0. 1.]]
    """

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"For 'Identity' initializer, the parameter must have 2 dimensions, but got {arr.ndim}.")
        arr[...] = np.eye(*arr.shape)


@_register()
class Dirac(Initializer):
    """Convolution filters that pass as many channels through unchanged as they can.

    Examples:
        >>> kernel = ms.common.initializer.initializer(ms.common.initializer.Dirac(), (2, 2, 1))
        >>> kernel.asnumpy().tolist()
        [[[1.0], [0.0]], [[0.0], [1.0]]]
    """

    def __init__(self, groups: int = 1):
        super().__init__(groups=groups)
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
            raise ValueError(f"For 'Dirac' initializer, 'groups' must be a positive int, but got {groups!r}.")
        self.groups = groups

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"For 'Dirac' initializer, the parameter must have 3 to 5 dimensions, but got {arr.ndim}.")
        if arr.shape[0] % self.groups:
            raise ValueError(
                f"For 'Dirac' initializer, {arr.shape[0]} filters do not divide into {self.groups} groups."
            )
        arr.fill(0)
        per_group = arr.shape[0] // self.groups
        centre = tuple(s // 2 for s in arr.shape[2:])
        for group in range(self.groups):
            for channel in range(min(per_group, arr.shape[1])):
                arr[(group * per_group + channel, channel, *centre)] = 1


# -- random -----------------------------------------------------------------------------------------------------------
@_register()
class Normal(Initializer):
    """A normal distribution.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import Normal, initializer
        >>> initializer(Normal(0.02), (2, 3), ms.float32).shape
        (2, 3)
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0):
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.draw(initial_numbers.normal, self.mean, self.sigma, arr.shape)


@_register()
class Uniform(Initializer):
    """A uniform distribution over [-scale, scale).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import Uniform, initializer
        >>> initializer(Uniform(0.1), (2, 3), ms.float32).shape
        (2, 3)
    """

    def __init__(self, scale: float = 0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.draw(initial_numbers.uniform, -self.scale, self.scale, arr.shape)


@_register()
class TruncatedNormal(Initializer):
    """A normal distribution cut off at the values `a` and `b`.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import TruncatedNormal, initializer
        >>> initializer(TruncatedNormal(0.02), (2, 3), ms.float32).shape
        (2, 3)
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0):
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.draw(initial_numbers.truncated, self.mean, self.sigma, self.a, self.b, arr.shape)


@_register("xavier_normal")
class XavierNormal(Initializer):
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot & Bengio 2010).

    Examples:
        >>> w = ms.common.initializer.initializer(ms.common.initializer.XavierNormal(), (100, 100))
        >>> bool(abs(w.std() - 0.1) < 0.01)
        True
    """

    def __init__(self, gain: float = 1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        sigma = self.gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        arr[...] = self.draw(initial_numbers.normal, 0, sigma, arr.shape)


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """Uniform within gain * sqrt(6 / (fan_in + fan_out)) of 0 (Glorot & Bengio 2010).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import XavierUniform, initializer
        >>> initializer(XavierUniform(), (2, 3), ms.float32).shape
        (2, 3)
    """

    def __init__(self, gain: float = 1):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        bound = self.gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(arr.shape)))
        arr[...] = self.draw(initial_numbers.uniform, -bound, bound, arr.shape)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"):
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _sigma(self, shape: tuple[int, ...]) -> float:
        gain = _calculate_gain(self.nonlinearity, self.negative_slope)
        return gain / math.sqrt(_calculate_correct_fan(shape, self.mode))


@_register("he_normal")
class HeNormal(_He):
    """Normal with deviation gain / sqrt(fan) (He et al. 2015).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import HeNormal, initializer
        >>> initializer(HeNormal(), (2, 3), ms.float32).shape
        (2, 3)
    """

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.draw(initial_numbers.normal, 0, self._sigma(arr.shape), arr.shape)


@_register("he_uniform")
class HeUniform(_He):
    """Uniform within gain * sqrt(3 / fan) of 0 (He et al. 2015).

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import HeUniform, initializer
        >>> initializer(HeUniform(), (2, 3), ms.float32).shape
        (2, 3)
    """

    def _initialize(self, arr: np.ndarray) -> None:
        bound = math.sqrt(3.0) * self._sigma(arr.shape)
        arr[...] = self.draw(initial_numbers.uniform, -bound, bound, arr.shape)


@_register()
class VarianceScaling(Initializer):
    """A variance of scale / fan under a chosen fan and distribution.

    Examples:
        >>> w = ms.common.initializer.initializer(ms.common.initializer.VarianceScaling(scale=2.0), (3, 4))
        >>> w.shape
        (3, 4)
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal"):
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise ValueError(f"For 'VarianceScaling', 'scale' must be greater than 0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"For 'VarianceScaling', 'mode' must be fan_in, fan_out or fan_avg, but got {mode!r}.")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "For 'VarianceScaling', 'distribution' must be uniform, truncated_normal or untruncated_normal, "
                f"but got {distribution!r}."
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _initialize(self, arr: np.ndarray) -> None:
        fan_in, fan_out = _calculate_fan_in_and_fan_out(arr.shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            bound = math.sqrt(3.0 * variance)
            arr[...] = self.draw(initial_numbers.uniform, -bound, bound, arr.shape)
        elif self.distribution == "untruncated_normal":
            arr[...] = self.draw(initial_numbers.normal, 0, math.sqrt(variance), arr.shape)
        else:
            sigma = math.sqrt(variance) / 0.87962566103423978  # the deviation of a standard normal distribution cut at ±2
            arr[...] = self.draw(initial_numbers.truncated, 0, sigma, -2 * sigma, 2 * sigma, arr.shape)


@_register()
class Orthogonal(Initializer):
    """A (semi-)orthogonal matrix times `gain`; trailing dimensions are flattened (Saxe et al. 2014).

    Examples:
        >>> q = ms.common.initializer.initializer(ms.common.initializer.Orthogonal(), (2, 2))
        >>> print((q @ q.T).abs().round(decimals=3))
        [[1. 0.]
         [0. 1.]]
    """

    def __init__(self, gain: float = 1.0):
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"For 'Orthogonal', the parameter must have 2 dimensions or more, but got {arr.ndim}.")
        rows, cols = arr.shape[0], math.prod(arr.shape[1:])
        sample = self.draw(initial_numbers.normal, 0, 1, (rows, cols))
        q, r = np.linalg.qr(sample if rows >= cols else sample.T)
        q = q * np.where(np.diag(r) < 0, -1.0, 1.0)  # makes the distribution uniform over orthogonal matrices
        arr[...] = (self.gain * (q if rows >= cols else q.T)).reshape(arr.shape)


@_register()
class Sparse(Initializer):
    """A matrix of which a fraction `sparsity` of each column is zero and the rest normal (Martens 2010).

    Examples:
        >>> w = ms.common.initializer.initializer(ms.common.initializer.Sparse(sparsity=0.5), (4, 2))
        >>> print((w == 0).sum(0))
        [2 2]
    """

    def __init__(self, sparsity: float, sigma: float = 0.01):
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"For 'Sparse' initializer, the parameter must have 2 dimensions, but got {arr.ndim}.")
        data = self.draw(initial_numbers.normal, 0, self.sigma, arr.shape)
        zeros = math.ceil(self.sparsity * arr.shape[0])
        for column in range(arr.shape[1]):
            data[self.source().permutation(arr.shape[0])[:zeros], column] = 0
        arr[...] = data


# -- the entry point --------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def later_initialisation() -> Iterator[None]:
    """Draw the values of new parameters when they are first used: a checkpoint may give them others before."""
    token = _LATER.set(True)
    try:
        yield
    finally:
        _LATER.reset(token)


def _drawn_later(init: Initializer, shape: tuple[int, ...], dtype: DType) -> Tensor:
    seed = new_seed()
    tensor = UnfilledTensor.__new__(UnfilledTensor)
    postpone(tensor, Later(init, seed, shape, dtype))
    return tensor


def initializer(init: Any, shape: Any = None, dtype: Any = mstype.float32) -> Tensor:
    """A Tensor with initial values.

    Args:
        init: an Initializer, the name of one ('normal', 'xavier_uniform', 'zeros' …), a number, or a Tensor.
        shape: an int or a sequence of positive ints.
        dtype: the element type.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.common.initializer import initializer
        >>> initializer("ones", [2, 3], ms.float32).asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    if not isinstance(init, (Tensor, numbers.Number, str, Initializer)):
        raise TypeError(
            "For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', "
            "'string' or 'initializer', "
            f"but got {type(init)}."
        )
    dtype = mstype.to_dtype(dtype)
    if isinstance(init, Tensor):
        return _check_tensor(init, shape, dtype)
    dims = _check_shape(shape)
    if isinstance(init, str):
        found = _INITIALIZER_ALIAS.get(init.lower())
        if found is None:
            raise ValueError(
                f"For 'initializer', the class corresponding to '{init}' was not found; "
                f"known names are {sorted(_INITIALIZER_ALIAS)}."
            )
        init = found()
    elif isinstance(init, numbers.Number):
        init = Constant(init)
    if devices.is_meta():
        return values.from_array(Valueless(dims, dtype.np))
    array = np.zeros(dims, dtype.np)
    if type(init) is not Zero:  # memory of new zeros comes into being where it is first touched
        if _LATER.get():
            return _drawn_later(init, dims, dtype)
        init(array)
    return Tensor.from_numpy(array)


def _check_shape(shape: object) -> tuple[int, ...]:
    if isinstance(shape, numbers.Integral):
        shape = (int(shape),)
    if not isinstance(shape, (list, tuple)):
        raise ValueError(f"For 'initializer', 'shape' must be an int or a sequence of ints, but got {shape!r}.")
    for value in shape:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
            raise ValueError(
                "For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive integer, "
                f"but got {tuple(shape)}"
            )
    return tuple(int(v) for v in shape)


def _check_tensor(init: Tensor, shape: Any, dtype: DType) -> Tensor:
    if shape is not None and tuple(init.shape) != _check_shape(shape):
        raise ValueError(
            "For 'initializer', the shape of the 'init' argument should be same as the argument 'shape', "
            f"but got the 'init' shape {list(init.shape)} and the 'shape' {shape}."
        )
    return init


__all__ = [
    "Constant", "Dirac", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal", "Sparse",
    "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal", "XavierUniform", "Zero", "initializer",
]  # fmt: skip
