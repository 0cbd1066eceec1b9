"""Bijectors: invertible differentiable maps, with the logarithms of their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.prims import checks
from mindspore.prims.values import TensorBase

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]


class Bijector(Cell):
    """An invertible map. Subclasses define `_forward`, `_inverse`, `_forward_log_jacobian`, `_inverse_log_jacobian`.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> class Double(msb.Bijector):
        ...     def _forward(self, x):
        ...         return 2 * x
        >>> print(Double(name="Double", dtype=ms.float32).forward(Tensor([3.0])))
        [6.]
    """

    def __init__(
        self, is_constant_jacobian: bool = False, is_injective: bool = True, name: str | None = None, dtype: Any = None,
        param: dict | None = None,
    ):  # fmt: skip
        super().__init__()
        if not isinstance(name, (str, type(None))):
            raise TypeError(f"The name of a bijector must be a string, but got {name!r}.")
        for label, value in (("is_constant_jacobian", is_constant_jacobian), ("is_injective", is_injective)):
            if not isinstance(value, bool):
                raise TypeError(f"'{label}' of a bijector must be a bool, but got {value!r}.")
        self.is_constant_jacobian, self.is_injective = is_constant_jacobian, is_injective
        self.name, self.dtype = name or type(self).__name__, dtype
        self.parameters = {k: v for k, v in (param or {}).items() if k not in ("self", "__class__")}
        self.parameter_names: tuple[str, ...] = ()
        self.default_parameters: tuple = ()
        self.common_dtype: mstype.DType | None = None

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape of the parameters in `param["param_dict"]` together; None if there are none, or one is not given."""
        given = self.parameters.get("param_dict")
        if given is None or any(value is None for value in given.values()):
            return None
        return checks.broadcast(self.name, *(np.shape(value) for value in given.values()))

    @property
    def is_scalar_batch(self) -> bool:
        """Whether the parameters in `param["param_dict"]` are plain numbers."""
        given = self.parameters.get("param_dict")
        return given is not None and all(isinstance(value, (int, float, type(None))) for value in given.values())

    # -- what subclasses call -------------------------------------------------------------------------------------
    def _add_parameter(self, value: Any, name: str) -> Any:
        """Note a parameter and give it as a tensor. All have the bijector's type, or one float type if it has none."""
        if value is None or isinstance(value, bool):
            raise TypeError(f"For '{self.name}', '{name}' must be a number or a Tensor, but got {value!r}.")
        tensor = value if isinstance(value, TensorBase) else Tensor(value)
        expected = self.dtype or self.common_dtype
        if tensor.dtype.kind != "f" or expected not in (None, tensor.dtype):
            raise TypeError(f"For '{self.name}', '{name}' must have type {expected or 'float'}, but got {tensor.dtype}.")
        self.common_dtype = tensor.dtype
        self.parameter_names = (*self.parameter_names, name)
        self.default_parameters = (*self.default_parameters, tensor)
        return tensor

    def _check_value_dtype(self, value: Any) -> Any:
        """A value, which must have the bijector's type, or any float type if it has none."""
        self._checked(value)
        if value.dtype.kind != "f" or self.dtype not in (None, value.dtype):
            raise TypeError(f"For '{self.name}', 'value' must have type {self.dtype or 'float'}, but got {value.dtype}.")
        return value

    def _check_value(self, value: Any, name: str) -> Any:
        """A value, which must be a tensor."""
        return self._checked(value, name)

    def as_parameter(self, label: str, value: Any) -> Any:
        """A number, array or list of numbers, or tensor as a tensor."""
        if isinstance(value, TensorBase):
            return value
        try:
            numbers = np.asarray(value)
        except ValueError:  # lists of different lengths
            numbers = np.asarray(None)
        if numbers.dtype.kind not in "iuf":
            raise TypeError(f"For '{self.name}', '{label}' must be a number, a list of numbers, an array or a Tensor, but got {value!r}.")
        return Tensor(numbers.astype(np.float32))

    def cast_param_by_value(self, value: Any, para: Any) -> Any:
        """A parameter in the type of a value."""
        return ops.cast(para, value.dtype)

    def _checked(self, value: object, name: str = "value") -> Any:
        if not isinstance(value, TensorBase):
            raise TypeError(f"For '{self.name}', '{name}' must be a Tensor, but got {type(value).__name__}.")
        return value

    def forward(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """y = f(x)."""
        return self._forward(self._checked(value), *args, **kwargs)

    def inverse(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """x with f(x) = y."""
        return self._inverse(self._checked(value), *args, **kwargs)

    def forward_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """log |f'(x)|."""
        return self._forward_log_jacobian(self._checked(value), *args, **kwargs)

    def inverse_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """log |(f⁻¹)'(y)|."""
        return self._inverse_log_jacobian(self._checked(value), *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A distribution gives its transformed distribution; otherwise a method is called by its name."""
        from mindspore.nn.probability.distribution import Distribution, TransformedDistribution

        if len(args) == 1 and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method by its name, so that a bijector can be used as a layer."""
        return getattr(self, name)(*args, **kwargs)


class PowerTransform(Bijector):
    """(1 + power x)^(1 / power); exp(x) for power 0.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> bijector = msb.PowerTransform(power=0.5)
        >>> print(bijector.forward(Tensor([0.0, 1.0])))
        [1.   2.25]
    """

    def __init__(self, power: float = 0.0, name: str = "PowerTransform"):
        super().__init__(name=name, param=dict(locals()))
        if isinstance(power, (int, float)) and power < 0:
            raise ValueError(f"For 'PowerTransform', 'power' must not be negative, but got {power}.")
        self._power = self.as_parameter("power", power)
        self.is_exp = isinstance(power, (int, float)) and power == 0

    power = property(lambda self: self._power)

    def _forward(self, x: Any) -> Any:
        return ops.exp(x) if self.is_exp else ops.exp(ops.log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        return ops.log(y) if self.is_exp else ops.expm1(ops.log(y) * self.power) / self.power

    def _forward_log_jacobian(self, x: Any) -> Any:
        return x if self.is_exp else (1.0 / self.power - 1.0) * ops.log1p(x * self.power)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -ops.log(y) if self.is_exp else (self.power - 1.0) * ops.log(y)


class Exp(PowerTransform):
    """exp(x).

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> bijector = msb.Exp()
        >>> print(bijector.forward(Tensor([0.0, 1.0])))
        [1.       2.718282]
    """

    def __init__(self, name: str = "Exp"):
        super().__init__(0.0, name)


class ScalarAffine(Bijector):
    """scale x + shift.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> bijector = msb.ScalarAffine(2.0, 1.0)
        >>> print(bijector.forward(Tensor([0.0, 1.0])))
        [1. 3.]
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine"):
        super().__init__(is_constant_jacobian=True, name=name, param=dict(locals()))
        self._scale, self._shift = self.as_parameter("scale", scale), self.as_parameter("shift", shift)

    scale = property(lambda self: self._scale)
    shift = property(lambda self: self._shift)

    def _forward(self, x: Any) -> Any:
        return self.scale * x + self.shift

    def _inverse(self, y: Any) -> Any:
        return (y - self.shift) / self.scale

    def _forward_log_jacobian(self, x: Any) -> Any:
        return ops.log(ops.abs(self.scale))

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -ops.log(ops.abs(self.scale))


class Softplus(Bijector):
    """log(1 + exp(sharpness x)) / sharpness.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> bijector = msb.Softplus()
        >>> print(bijector.forward(Tensor([0.0, 1.0])))
        [0.6931472 1.3132617]
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus"):
        super().__init__(name=name, param=dict(locals()))
        self._sharpness = self.as_parameter("sharpness", sharpness)

    sharpness = property(lambda self: self._sharpness)

    def _forward(self, x: Any) -> Any:
        return ops.Softplus()(x * self.sharpness) / self.sharpness

    def _inverse(self, y: Any) -> Any:
        scaled = y * self.sharpness
        return (scaled + ops.log(-ops.expm1(-scaled))) / self.sharpness

    def _forward_log_jacobian(self, x: Any) -> Any:
        return -ops.Softplus()(-x * self.sharpness)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -ops.log(-ops.expm1(-y * self.sharpness))


class GumbelCDF(Bijector):
    """exp(-exp(-(x - loc) / scale)).

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> bijector = msb.GumbelCDF(0.0, 1.0)
        >>> print(bijector.forward(Tensor([0.0, 1.0])))
        [0.36787942 0.69220066]
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF"):
        super().__init__(name=name, param=dict(locals()))
        self._loc, self._scale = self.as_parameter("loc", loc), self.as_parameter("scale", scale)
        if (self._scale.asnumpy() <= 0).any():
            raise ValueError("For 'GumbelCDF', 'scale' must be greater than zero.")

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _forward(self, x: Any) -> Any:
        return ops.exp(-ops.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - ops.exp(-z) - ops.log(self.scale)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return ops.log(self.scale / (-y * ops.log(y)))


class Invert(Bijector):
    """Another bijector, backwards.

    Examples:
        >>> import mindspore.nn.probability.bijector as msb
        >>> log = msb.Invert(msb.Exp())
        >>> print(log.forward(Tensor([1.0])))
        [0.]
    """

    def __init__(self, bijector: Any, name: str = ""):
        if not isinstance(bijector, Bijector):
            raise TypeError(f"For 'Invert', 'bijector' must be a Bijector, but got {type(bijector).__name__}.")
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name or f"Invert{bijector.name}")
        self._bijector = bijector

    bijector = property(lambda self: self._bijector)

    def forward(self, x: Any) -> Any:
        return self.bijector.inverse(x)

    def inverse(self, y: Any) -> Any:
        return self.bijector.forward(y)

    def forward_log_jacobian(self, x: Any) -> Any:
        return self.bijector.inverse_log_jacobian(x)

    def inverse_log_jacobian(self, y: Any) -> Any:
        return self.bijector.forward_log_jacobian(y)
