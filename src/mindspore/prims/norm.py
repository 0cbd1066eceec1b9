"""Normalisation: batch, layer, root-mean-square, and plain standardisation over any axes.

All of them subtract a mean and divide by a deviation taken over some axes. The gradient of that (`_standardized_grad`)
is, per normalised group, a linear function of the incoming gradient and of the centred input; it also accounts for
gradients that arrive through the statistics themselves, which is what makes second derivatives exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.batching import shift, with_attributes
from mindspore.prims.broadcasting import ReduceSum, Reshape, reduced_shape
from mindspore.prims.elementwise import Rsqrt
from mindspore.prims.elementwise import as_type as _as
from mindspore.prims.elementwise import in_float32 as _wide
from mindspore.prims.factors import DONE, WHOLE, Factors, numbered
from mindspore.prims.pallas import norm as gpu_norm
from mindspore.prims.pallas import on_cuda
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import ROWS, Batched, Primitive
from mindspore.prims.reduction import ReduceMean
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def stat_dtype(dtype: mstype.DType) -> mstype.DType:
    """The type statistics are kept in: float32 for narrower floats."""
    return mstype.float32 if dtype.kind == "f" and dtype.itemsize < 4 else dtype


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    n = 1
    for a in axes:
        n *= shape[a]
    return n


def _statistics(xp: Namespace, x: Array, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Mean and (biased) variance, with the reduced axes kept."""
    mean = xp.mean(x, axis=axes, keepdims=True)
    centred = x - mean
    return mean, xp.mean(centred * centred, axis=axes, keepdims=True)


def _one_pass_statistics(xp: Namespace, x: Array, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The same in one reading of the data, which is what they cost on an accelerator.

    The first two moments are taken about an element of each group. The variance is their difference, and as the element
    lies among the data, no more cancels than a few bits (Chan, Golub & LeVeque 1983).
    """
    middle = tuple(slice(n // 2, n // 2 + 1) if a in axes else slice(None) for a, n in enumerate(x.shape))
    moved = x - x[middle]
    first, second = (xp.mean(m, axis=axes, keepdims=True) for m in (moved, moved * moved))
    return first + x[middle], xp.maximum(second - first * first, 0)


def _cheapest_statistics(xp: Namespace, x: Array, axes: tuple[int, ...]) -> tuple[Any, Any]:
    one_pass = hasattr(x, "aval") and x.size  # an array of JAX's
    return _one_pass_statistics(xp, x, axes) if one_pass else _statistics(xp, x, axes)


def _standardized_grad(
    x: TensorBase,
    mean: TensorBase,
    var: TensorBase,
    g: TensorBase,
    axes: tuple,
    eps: float,
    dmean: TensorBase,
    dvar: TensorBase,
) -> Any:
    """Gradient by x of (x - mean) / sqrt(var + eps), given `g`, and of the statistics, given `dmean` and `dvar`.

    `mean` and `var` have the reduced axes kept. All in at least float32.
    """
    n = _count(x.shape, axes)
    inverse = Rsqrt()(var + eps)
    centred = x - mean
    slope = dvar * (2.0 / n) - inverse * inverse * inverse * ReduceMean(True)(g * centred, axes)
    offset = dmean * (1.0 / n) - inverse * ReduceMean(True)(g, axes)
    return g * inverse + centred * slope + offset


class Standardize(Primitive):
    """`Standardize(axes, epsilon)(x)`: (x - mean) / sqrt(variance + epsilon) over `axes`, the mean and the variance.

    Examples:
        >>> out, mean, variance = ops.Standardize((1,))(Tensor([[1.0, 3.0]]))
        >>> print(out.round(decimals=3), mean)
        [[-1.  1.]] [[2.]]
    """

    native_from = ROWS

    def __init__(self, axes: tuple[int, ...], epsilon: float = 1e-5):
        super().__init__(axes=tuple(axes), epsilon=float(epsilon))

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "f")
        stat = AbstractTensor(stat_dtype(x.dtype), reduced_shape(x.shape, self.axes, True))
        return AbstractTuple((x, stat, stat))

    def factors(self, x: AbstractTensor) -> Factors:
        names = tuple(WHOLE if d in self.axes else n for d, n in enumerate(numbered(x.ndim)))
        return Factors((names,), (names,) * 3)

    def eval(self, xp: Namespace, x: Array) -> Any:
        wide = widen(x)
        mean, var = _statistics(xp, wide, self.axes)
        return narrow((wide - mean) / xp.sqrt(var + self.epsilon), x), mean, var

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        grad = _standardized_grad(_wide(x), out[1], out[2], _wide(dout[0]), self.axes, self.epsilon, dout[1], dout[2])
        return (_as(grad, x.dtype),)

    def vmap(self, size: int, x: Batched) -> Any:
        return with_attributes(self, axes=tuple(shift(a, x[0].ndim - 1) for a in self.axes))(x[0])


class LayerNorm(Primitive):
    """Standardise over the axes from `begin_norm_axis` on, then scale by gamma and shift by beta.

    Examples:
        >>> out, mean, variance = ops.LayerNorm()(Tensor([[1.0, 3.0]]), ops.ones(2), ops.zeros(2))
        >>> print(out.round(decimals=3), mean)
        [[-1.  1.]] [[2.]]
    """

    native_from = ROWS
    spreads = True
    absorbs_casts = (0,)

    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-7):
        for name, value in (("begin_norm_axis", begin_norm_axis), ("begin_params_axis", begin_params_axis)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"For 'LayerNorm', '{name}' must be an int, but got {value!r}.")
        super().__init__(begin_norm_axis=begin_norm_axis, begin_params_axis=begin_params_axis, epsilon=float(epsilon))

    def axes(self, ndim: int) -> tuple[int, ...]:
        return tuple(range(checks.axis(self.name, self.begin_norm_axis, ndim, "begin_norm_axis"), ndim))

    def infer(self, x: AbstractTensor, gamma: AbstractTensor, beta: AbstractTensor) -> Any:
        checks.tensor(self.name, "input_x", x)
        checks.dtype_in(self.name, "input_x", x.dtype, "f")
        start = checks.axis(self.name, self.begin_params_axis, x.ndim, "begin_params_axis")
        for name, value in (("gamma", gamma), ("beta", beta)):
            checks.tensor(self.name, name, value)
            if value.shape != x.shape[start:]:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have the shape {x.shape[start:]} of the normalised dimensions, "
                    f"but got {value.shape}."
                )
        stat = AbstractTensor(stat_dtype(x.dtype), reduced_shape(x.shape, self.axes(x.ndim), True))
        return AbstractTuple((x, stat, stat))

    def factors(self, x: AbstractTensor, gamma: AbstractTensor, beta: Any) -> Factors:
        names = tuple(WHOLE if d in self.axes(x.ndim) else n for d, n in enumerate(numbered(x.ndim)))
        own = names[x.ndim - gamma.ndim :]
        return Factors((names, own, own), (names,) * 3)

    def eval(self, xp: Namespace, x: Array, gamma: Array, beta: Array) -> Any:
        wide = widen(x)
        mean, var = _cheapest_statistics(xp, wide, self.axes(x.ndim))
        out = (wide - mean) / xp.sqrt(var + self.epsilon) * widen(gamma) + widen(beta)
        return narrow(out, x), mean, var

    def eval_xla(self, jnp: Any, x: Any, gamma: Any, beta: Any) -> Any:
        if not (gamma.shape == beta.shape and gpu_norm.fits(x, gamma, self.axes(x.ndim), gpu_norm.FEWEST_FORWARD) and on_cuda()):
            return self.eval(jnp, x, gamma, beta)
        return gpu_norm.layer_norm(self.epsilon, x, gamma, beta)

    def bprop(self, x: TensorBase, gamma: TensorBase, beta: TensorBase, out: Any, dout: Any) -> tuple:
        backward = LayerNormBackward(self.begin_norm_axis, self.epsilon)
        dx, dgamma, dbeta = backward(x, dout[0], gamma, out[1], out[2], dout[1], dout[2])
        return dx, _as(dgamma, gamma.dtype), _as(dbeta, beta.dtype)

    def vmap(self, size: int, x: Batched, gamma: Batched, beta: Batched) -> Any:
        if gamma[1] or beta[1] or not x[1]:
            return None
        later = lambda axis: axis + 1 if axis >= 0 else axis
        moved = with_attributes(
            self, begin_norm_axis=later(self.begin_norm_axis), begin_params_axis=later(self.begin_params_axis)
        )
        return moved(x[0], gamma[0], beta[0])


class LayerNormBackward(Primitive):
    """The gradients of `LayerNorm` by x, gamma and beta; the last two in float32 or better.

    One primitive, since all three come out of one reading of the data: on a GPU it is one kernel. With n numbers in a group,
    c = x - mean, r = 1 / sqrt(variance + epsilon) and g = dy gamma:

        dx = g r + c s + o,  s = 2/n dvariance - r³ mean(g c),  o = dmean/n - r mean(g)
        dgamma = Σ dy c r,   dbeta = Σ dy

    `residual`, if given, is added to dx: what arrives around the normalisation.

    Examples:
        >>> x, dy, row = Tensor([[1.0, 3.0]]), Tensor([[1.0, 0.0]]), Tensor([[0.0]])
        >>> backward = ops.LayerNormBackward()
        >>> dx, dgamma, dbeta = backward(x, dy, ops.ones(2), Tensor([[2.0]]), Tensor([[1.0]]), row, row)
        >>> print(dgamma.round(decimals=3), dbeta)
        [-1.  0.] [1. 0.]
    """

    native_from = ROWS
    spreads = (0, 1, 2)
    absorbs_casts = (1, 0)
    absorbs_sum = 7

    def __init__(self, begin_norm_axis: int = 1, epsilon: float = 1e-7):
        super().__init__(begin_norm_axis=begin_norm_axis, epsilon=float(epsilon))

    def axes(self, ndim: int) -> tuple[int, ...]:
        return tuple(range(checks.axis(self.name, self.begin_norm_axis, ndim, "begin_norm_axis"), ndim))

    def infer(
        self, x: Any, dy: Any, gamma: Any, mean: Any, variance: Any, dmean: Any, dvariance: Any, residual: Any = None
    ) -> Any:
        by_weight = AbstractTensor(stat_dtype(x.dtype), gamma.shape)
        return AbstractTuple((x, by_weight, by_weight))

    def factors(
        self, x: Any, dy: Any, gamma: Any, mean: Any, variance: Any, dmean: Any, dvariance: Any, residual: Any = None
    ) -> Factors:
        names = tuple(WHOLE if d in self.axes(x.ndim) else n for d, n in enumerate(numbered(x.ndim)))
        own = names[x.ndim - gamma.ndim :]
        lead = {n: DONE for n in names[: x.ndim - gamma.ndim] if n != WHOLE}
        more = () if residual is None else (names,)
        return Factors((names, names, own, names, names, names, names, *more), (names, own, own), lead).filling(0)

    def on_device(self, device: Any, x: Any, dy: Any, gamma: Any, *rest: Any) -> Any:
        dx, dgamma, dbeta = device.plain(self, x, dy, gamma, *rest)
        cut = tuple(n for n in device.factors.inputs[0][: x.ndim - gamma.ndim] if n != WHOLE)
        return dx, device.all_reduce("sum", dgamma, *cut), device.all_reduce("sum", dbeta, *cut)

    def eval(
        self, xp: Namespace, x: Array, dy: Any, gamma: Any, mean: Any, variance: Any, dmean: Any, dvariance: Any,
        residual: Any = None,
    ) -> Any:  # fmt: skip
        axes, lead = self.axes(x.ndim), tuple(range(x.ndim - gamma.ndim))
        n = _count(x.shape, axes)
        wide, given = widen(x), widen(dy)
        g, centred, inverse = given * widen(gamma), wide - mean, 1 / xp.sqrt(variance + self.epsilon)
        slope = dvariance * (2.0 / n) - inverse * inverse * inverse * xp.mean(g * centred, axis=axes, keepdims=True)
        offset = dmean * (1.0 / n) - inverse * xp.mean(g, axis=axes, keepdims=True)
        dx = narrow(g * inverse + centred * slope + offset, x)
        by_gamma = given * centred * inverse
        by_weight = (xp.sum(by_gamma, axis=lead), xp.sum(given, axis=lead)) if lead else (by_gamma, given)
        return dx if residual is None else dx + residual, *by_weight

    def eval_xla(self, jnp: Any, x: Any, dy: Any, gamma: Any, *rest: Any) -> Any:
        axes = self.axes(x.ndim)
        if not (gpu_norm.fits(x, gamma, axes) and on_cuda()):
            return self.eval(jnp, x, dy, gamma, *rest)
        return gpu_norm.layer_norm_backward(self.epsilon, x, dy, gamma, *rest)

    def bprop(self, *args: Any) -> tuple:
        """Second derivatives, by reverse mode over the formulas above."""
        x, dy, gamma, mean, variance, _, dvariance, *residual = args[:-2]
        a, by_dgamma, by_dbeta = (_wide(d) for d in args[-1])
        axes, lead = self.axes(x.ndim), tuple(range(x.ndim - gamma.ndim))
        n = _count(x.shape, axes)
        row = lambda value: ReduceSum(True)(value, axes)
        c, w, wide_gamma = _wide(x) - mean, _wide(dy), _wide(gamma)
        g, r = w * wide_gamma, Rsqrt()(variance + self.epsilon)
        cube = r * r * r
        moment, total = row(g * c) * (1.0 / n), row(g) * (1.0 / n)
        slope = dvariance * (2.0 / n) - cube * moment
        along, alone = row(a * c), row(a)
        by_g = a * r - c * (cube * along * (1.0 / n)) - r * alone * (1.0 / n)
        by_c = a * slope - g * (cube * along * (1.0 / n)) + by_dgamma * w * r
        by_r = row(a * g) - r * r * moment * along * 3.0 - total * alone + row(by_dgamma * w * c)
        by_dy = by_g * wide_gamma + by_dgamma * c * r + by_dbeta
        grads = (
            _as(by_c, x.dtype), _as(by_dy, dy.dtype), _as(_sum(w * by_g, lead), gamma.dtype), -row(by_c),
            by_r * cube * -0.5, alone * (1.0 / n), along * (2.0 / n),
        )  # fmt: skip
        return (*grads, args[-1][0]) if residual else grads

    def vmap(self, size: int, *args: Any) -> Any:
        """A group of gradients for each example: the sums over the data leave out the batch axis."""
        (x, varies), (dy, also), (gamma, many), *rest = args
        if many or not varies or not also or not all(flag for _, flag in rest):
            return None
        moved = LayerNormBackward(self.begin_norm_axis + (self.begin_norm_axis >= 0), self.epsilon)
        apart = tuple(range(1, x.ndim - gamma.ndim))
        mean, variance = rest[0][0], rest[1][0]
        wide = _wide(dy)
        dx = moved(x, dy, gamma, *(value for value, _ in rest))[0]
        dgamma = wide * (_wide(x) - mean) * Rsqrt()(variance + self.epsilon)
        return dx, _sum(dgamma, apart), _sum(wide, apart)


def _sum(x: TensorBase, axes: tuple[int, ...]) -> Any:
    return ReduceSum()(x, axes) if axes else x


class RmsNorm(Primitive):
    """x * r * gamma with r = 1 / sqrt(mean(x²) + epsilon) over the last dimensions, and r (Zhang & Sennrich 2019).

    Examples:
        >>> out, rstd = ops.RmsNorm()(Tensor([[3.0, 4.0]]), ops.ones(2))
        >>> print(out.round(decimals=4))
        [[0.8485 1.1314]]
    """

    native_from = ROWS

    def __init__(self, epsilon: float = 1e-6):
        super().__init__(epsilon=float(epsilon))

    @staticmethod
    def axes(x: Any, gamma: Any) -> tuple[int, ...]:
        return tuple(range(len(x.shape) - len(gamma.shape), len(x.shape)))

    def infer(self, x: AbstractTensor, gamma: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.tensor(self.name, "gamma", gamma)
        checks.dtype_in(self.name, "x", x.dtype, "f")
        if gamma.ndim == 0 or gamma.shape != x.shape[x.ndim - gamma.ndim :]:
            raise ValueError(
                f"For '{self.name}', 'gamma' must have the shape of the last dimensions of 'x', but got {gamma.shape} "
                f"and {x.shape}."
            )
        return AbstractTuple(
            (x, AbstractTensor(stat_dtype(x.dtype), reduced_shape(x.shape, self.axes(x, gamma), True)))
        )

    def factors(self, x: AbstractTensor, gamma: AbstractTensor) -> Factors:
        names = tuple(WHOLE if d in self.axes(x, gamma) else n for d, n in enumerate(numbered(x.ndim)))
        return Factors((names, names[x.ndim - gamma.ndim :]), (names,) * 2)

    def eval(self, xp: Namespace, x: Array, gamma: Array) -> Any:
        wide = widen(x)
        inverse = 1 / xp.sqrt(xp.mean(wide * wide, axis=self.axes(x, gamma), keepdims=True) + self.epsilon)
        return narrow(wide * inverse * widen(gamma), x), inverse

    def eval_xla(self, jnp: Any, x: Any, gamma: Any) -> Any:
        if not (gpu_norm.fits(x, gamma, self.axes(x, gamma), gpu_norm.FEWEST_FORWARD) and on_cuda()):
            return self.eval(jnp, x, gamma)
        return gpu_norm.rms_norm(self.epsilon, x, gamma)

    def bprop(self, x: TensorBase, gamma: TensorBase, out: Any, dout: Any) -> tuple:
        dx, dgamma = RmsNormBackward()(x, dout[0], gamma, out[1], dout[1])
        return dx, _as(dgamma, gamma.dtype)

    def vmap(self, size: int, x: Batched, gamma: Batched) -> Any:
        return None if gamma[1] or not x[1] else self(x[0], gamma[0])


class RmsNormBackward(Primitive):
    """The gradients of `RmsNorm` by x and gamma; the latter in float32 or better.

    One primitive, since both come out of one reading of the data: on a GPU it is one kernel. With n numbers in a group, r the inverse root
    and g = dy gamma:

        dx = g r - x r³ (mean(g x) + dr/n),   dgamma = Σ dy x r

    `residual`, if given, is added to dx: what arrives around the normalisation.

    Examples:
        >>> x, dy = Tensor([[3.0, 4.0]]), Tensor([[1.0, 0.0]])
        >>> dx, dgamma = ops.RmsNormBackward()(x, dy, ops.ones(2), Tensor([[0.25]]), Tensor([[0.0]]))
        >>> print(dx, dgamma)
        [[ 0.1796875 -0.09375  ]] [0.75 0.  ]
    """

    native_from = ROWS
    absorbs_sum = 5

    def __init__(self) -> None:
        super().__init__()

    def infer(self, x: Any, dy: Any, gamma: Any, inverse: Any, dinverse: Any, residual: Any = None) -> Any:
        return AbstractTuple((x, AbstractTensor(stat_dtype(x.dtype), gamma.shape)))

    def factors(self, x: Any, dy: Any, gamma: Any, inverse: Any, dinverse: Any, residual: Any = None) -> Factors:
        lead = x.ndim - gamma.ndim
        names = tuple(WHOLE if d >= lead else n for d, n in enumerate(numbered(x.ndim)))
        more = () if residual is None else (names,)
        done = dict.fromkeys(names[:lead], DONE)
        return Factors((names, names, names[lead:], names, names, *more), (names, names[lead:]), done).filling(0)

    def on_device(self, device: Any, x: Any, dy: Any, gamma: Any, *rest: Any) -> Any:
        dx, dgamma = device.plain(self, x, dy, gamma, *rest)
        return dx, device.all_reduce("sum", dgamma, *device.factors.inputs[0][: x.ndim - gamma.ndim])

    def eval(
        self, xp: Namespace, x: Array, dy: Any, gamma: Any, inverse: Any, dinverse: Any, residual: Any = None
    ) -> Any:
        axes, lead = RmsNorm.axes(x, gamma), tuple(range(x.ndim - gamma.ndim))
        wide, given = widen(x), widen(dy)
        g = given * widen(gamma)
        pull = xp.mean(g * wide, axis=axes, keepdims=True) + dinverse * (1.0 / _count(x.shape, axes))
        dx = narrow(g * inverse - wide * (inverse * inverse * inverse) * pull, x)
        by_gamma = given * wide * inverse
        return dx if residual is None else dx + residual, xp.sum(by_gamma, axis=lead) if lead else by_gamma

    def eval_xla(self, jnp: Any, x: Any, dy: Any, gamma: Any, *rest: Any) -> Any:
        if not (gpu_norm.fits(x, gamma, RmsNorm.axes(x, gamma)) and on_cuda()):
            return self.eval(jnp, x, dy, gamma, *rest)
        return gpu_norm.rms_norm_backward(x, dy, gamma, *rest)

    def bprop(self, *args: Any) -> tuple:
        """Second derivatives, by reverse mode over the formulas above."""
        x, dy, gamma, r, dr, *residual = args[:-2]
        a, by_dgamma = (_wide(d) for d in args[-1])
        axes, lead = RmsNorm.axes(x, gamma), tuple(range(x.ndim - gamma.ndim))
        part = 1.0 / _count(x.shape, axes)
        row = lambda value: ReduceSum(True)(value, axes)
        wide, w, wide_gamma, cube = _wide(x), _wide(dy), _wide(gamma), r * r * r
        g = w * wide_gamma
        pull, along = (row(g * wide) + dr) * part, row(a * wide)
        by_g = a * r - wide * (cube * along * part)
        by_x = by_dgamma * w * r - a * (cube * pull) - g * (cube * along * part)
        by_r = row(a * g) - r * r * pull * along * 3.0 + row(by_dgamma * w * wide)
        by_dy = by_g * wide_gamma + by_dgamma * wide * r
        grads = (_as(by_x, x.dtype), _as(by_dy, dy.dtype), _as(_sum(w * by_g, lead), gamma.dtype), by_r, -along * cube * part)
        return (*grads, args[-1][0]) if residual else grads

    def vmap(self, size: int, *args: Any) -> Any:
        """A gradient for each example: the sum over the data leaves out the batch axis."""
        (x, varies), (dy, also), (gamma, many), *rest = args
        if many or not varies or not also or not all(flag for _, flag in rest):
            return None
        dx = self(x, dy, gamma, *(value for value, _ in rest))[0]
        return dx, _sum(_wide(dy) * _wide(x) * rest[0][0], tuple(range(1, x.ndim - gamma.ndim)))


class BatchNorm(Primitive):
    """Batch normalisation (Ioffe & Szegedy 2015).

    Training: normalise with the batch's statistics, and move the `mean` and `variance` Parameters a step of `momentum`
    towards them (the variance unbiased). Inference: normalise with `mean` and `variance`.
    Results: the output, the new mean and variance, and the mean and (biased) variance used.

    Examples:
        >>> x = Tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> one, zero = ops.ones(2), ops.zeros(2)
        >>> out = ops.BatchNorm(is_training=False)(x, one, zero, zero, one)[0]
        >>> print(out.round(decimals=3))
        [[ 1. 10.]
         [ 3. 30.]]
    """

    native_from = ROWS
    spreads = True

    @setting_types(epsilon=float, momentum=float)
    def __init__(
        self, is_training: bool = False, epsilon: float = 1e-5, momentum: float = 0.1, data_format: str = "NCHW"
    ):
        if not isinstance(is_training, bool):
            raise TypeError(f"For 'BatchNorm', 'is_training' must be a bool, but got {is_training!r}.")
        if not 0 < epsilon <= 1:
            raise ValueError(f"For 'BatchNorm', 'epsilon' must be in range (0, 1], but got {epsilon}.")
        if not 0 <= momentum <= 1:
            raise ValueError(f"For 'BatchNorm', 'momentum' must be in range [0, 1], but got {momentum}.")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"For 'BatchNorm', 'data_format' must be 'NCHW' or 'NHWC', but got {data_format!r}.")
        super().__init__(
            is_training=is_training, epsilon=float(epsilon), momentum=float(momentum), data_format=data_format
        )
        if is_training:
            self.writes = ((3, 1), (4, 2))  # type: ignore[misc]

    # -- geometry -------------------------------------------------------------------------------------------------
    def _axis(self, ndim: int) -> int:
        return ndim - 1 if self.data_format == "NHWC" else 1

    def _axes(self, ndim: int) -> tuple[int, ...]:
        return tuple(a for a in range(ndim) if a != self._axis(ndim))

    def _row(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape in which a per-channel vector broadcasts."""
        return reduced_shape(shape, self._axes(len(shape)), True)

    def infer(
        self,
        x: AbstractTensor,
        scale: AbstractTensor,
        bias: AbstractTensor,
        mean: AbstractTensor,
        variance: AbstractTensor,
    ) -> Any:
        checks.tensor(self.name, "input_x", x)
        checks.dtype_in(self.name, "input_x", x.dtype, "f")
        if x.ndim < 2:
            raise ValueError(
                f"For '{self.name}', 'input_x' must have 2 dimensions or more, but its shape is {x.shape}."
            )
        channels = x.shape[self._axis(x.ndim)]
        for name, value in (("scale", scale), ("bias", bias), ("mean", mean), ("variance", variance)):
            checks.tensor(self.name, name, value)
            if value.shape != (channels,):
                raise ValueError(
                    f"For '{self.name}', '{name}' must have the shape ({channels},), one element for each channel of an input "
                    f"of shape {x.shape}, but got {value.shape}."
                )
        if self.is_training and _count(x.shape, self._axes(x.ndim)) == 0:
            raise ValueError(
                f"For '{self.name}', an input of the shape {x.shape} has no values to take means of, which would leave NaN in the moving "
                "ones. Leave out empty batches when training."
            )
        stat = AbstractTensor(stat_dtype(x.dtype), (channels,))
        return AbstractTuple((x, mean, variance, stat, stat))

    def factors(self, x: AbstractTensor, scale: Any, bias: Any, mean: Any, variance: Any) -> Factors:
        names = numbered(x.ndim)
        own = (names[self._axis(x.ndim)],)
        reductions = {names[a]: DONE for a in self._axes(x.ndim)}
        return Factors((names, own, own, own, own), (names, own, own, own, own), reductions).filling(0)

    def on_device(self, device: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        """The statistics are those of the whole batch, whatever parts of it the devices hold."""
        axes, row = self._axes(x.ndim), self._row(x.shape)
        cut = tuple(device.factors.inputs[0][a] for a in axes)
        if not self.is_training or device.parts(*cut) == 1:
            return device.plain(self, x, scale, bias, mean, variance)
        wide, n = _wide(x), device.size(*cut)
        used = device.all_reduce("sum", ReduceSum()(wide, axes) * (1 / n), *cut)
        centred = wide - Reshape()(used, row)
        for label in cut:
            centred = device.masked(centred, 0, label, 0)
        spread = device.all_reduce("sum", ReduceSum()(centred * centred, axes) * (1 / n), *cut)
        step = self.momentum
        new_mean = _as(_wide(mean) * (1 - step) + used * step, mean.dtype)
        new_variance = _as(_wide(variance) * (1 - step) + spread * (step * n / max(n - 1, 1)), variance.dtype)
        factor = _wide(scale) * Rsqrt()(spread + self.epsilon)
        out = centred * Reshape()(factor, row) + Reshape()(_wide(bias), row)
        return _as(out, x.dtype), new_mean, new_variance, used, spread

    def eval(self, xp: Namespace, x: Array, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        wide, axes, row = widen(x), self._axes(x.ndim), self._row(x.shape)
        if self.is_training:
            used_mean, used_var = (xp.reshape(s, (-1,)) for s in _cheapest_statistics(xp, wide, axes))
            n = _count(x.shape, axes)
            mean = narrow(widen(mean) * (1 - self.momentum) + used_mean * self.momentum, mean)
            unbiased = used_var * (n / max(n - 1, 1))
            variance = narrow(widen(variance) * (1 - self.momentum) + unbiased * self.momentum, variance)
        else:
            used_mean, used_var = mean.astype(wide.dtype), variance.astype(wide.dtype)
        factor = widen(scale) / xp.sqrt(used_var + self.epsilon)
        shift = widen(bias) - used_mean * factor
        out = wide * xp.reshape(factor, row) + xp.reshape(shift, row)
        return narrow(out, x), mean, variance, used_mean, used_var

    def bprop(
        self,
        x: TensorBase,
        scale: TensorBase,
        bias: TensorBase,
        mean: TensorBase,
        variance: TensorBase,
        out: Any,
        dout: Any,
    ) -> tuple:
        """The two sums over the data, of g and of g (x - mean), give the gradients of bias and scale and enter that of x."""
        axes, row = self._axes(x.ndim), self._row(x.shape)
        wide, g = _wide(x), _wide(dout[0])
        used_mean, used_var = out[3], out[4]
        centred = wide - Reshape()(used_mean, row)
        inverse = Rsqrt()(used_var + self.epsilon)
        moment, dbias = ReduceSum()(g * centred, axes), ReduceSum()(g, axes)
        dscale, factor = moment * inverse, _wide(scale) * inverse
        if self.is_training:
            n, step = _count(x.shape, axes), self.momentum
            dmean = dout[3] + _as(dout[1], used_mean.dtype) * step
            dvar = dout[4] + _as(dout[2], used_mean.dtype) * (step * n / max(n - 1, 1))
            slope = (dvar * 2.0 - factor * inverse * inverse * moment) * (1.0 / n)
            offset = (dmean - factor * dbias) * (1.0 / n)
            rows = [Reshape()(v, row) for v in (factor, slope, offset)]
            dx = g * rows[0] + centred * rows[1] + rows[2]
            moving = dout[1] * (1 - step), dout[2] * (1 - step)
        else:
            dx = g * Reshape()(factor, row)
            moving = dout[1] + dout[3] - dbias * factor, dout[2] + dout[4] - dscale * factor * inverse * 0.5
        grads = (dx, x), (dscale, scale), (dbias, bias), (moving[0], mean), (moving[1], variance)
        return tuple(_as(grad, like.dtype) for grad, like in grads)


class LRN(Primitive):
    """Local response normalisation across channels of (N, C, H, W) (Krizhevsky et al. 2012).

    Examples:
        >>> ops.LRN(depth_radius=1)(ops.ones((1, 3, 2, 2))).shape
        (1, 3, 2, 2)
    """

    @setting_types(depth_radius=int, bias=float, alpha=float, beta=float)
    def __init__(
        self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ):  # fmt: skip
        if norm_region != "ACROSS_CHANNELS":
            raise ValueError(f"For 'LRN', 'norm_region' must be 'ACROSS_CHANNELS', but got {norm_region!r}.")
        super().__init__(depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, norm_region=norm_region)

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "f")
        if x.ndim != 4:
            raise ValueError(f"For '{self.name}', 'x' must have 4 dimensions, but its shape is {x.shape}.")
        return x

    def _band(self, channels: int) -> np.ndarray:
        """1 where two channels are within the radius of each other."""
        at = np.arange(channels)
        return (np.abs(at[:, None] - at[None, :]) <= self.depth_radius).astype(np.float32)

    def eval(self, xp: Namespace, x: Array) -> Any:
        wide = widen(x)
        band = xp.asarray(self._band(x.shape[1]), wide.dtype)
        energy = xp.einsum("cd,ndhw->nchw", band, wide * wide)
        return narrow(wide / (self.bias + self.alpha * energy) ** self.beta, x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        from mindspore.prims.elementwise import Pow
        from mindspore.prims.linalg import BatchMatMul
        from mindspore.prims.values import from_array

        wide, g = _wide(x), _wide(dout)
        flat = (x.shape[0], x.shape[1], x.shape[2] * x.shape[3])
        band = _as(from_array(self._band(x.shape[1])), wide.dtype)

        def spread(value: TensorBase) -> Any:
            return Reshape()(BatchMatMul()(band, Reshape()(value, flat)), x.shape)

        base = spread(wide * wide) * self.alpha + self.bias
        inner = spread(g * wide * Pow()(base, -self.beta - 1.0))
        return (_as(g * Pow()(base, -self.beta) - wide * inner * (2 * self.alpha * self.beta), x.dtype),)
