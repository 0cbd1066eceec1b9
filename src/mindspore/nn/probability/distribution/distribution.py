"""Distribution: the interface shared by all distributions.

A subclass names its parameters and states formulas over them: `_log_prob(value, *params)`, `_cdf`, `_mean`, `_sd`,
`_mode`, `_entropy`, `_kl(*params_b, *params_a)` and `_sample(shape, *params)`. Parameters given to a method replace those
given to the constructor, for that call. All other quantities follow from these.

A subclass may also note its parameters one by one (`self._add_parameter(value, name)`). Then its formulas ask for them by
`_check_param_type`, its `_sample` gets the shape as the caller gave it, and `_kl_loss` and `_cross_entropy` take all arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.prims import checks
from mindspore.prims.requirements import Holds, demand
from mindspore.prims.values import TensorBase

__all__ = ["Distribution"]


class Distribution(Cell):
    """A probability distribution.

    Args:
        seed: the stream of random numbers that samples come from (0 or None: the global one).
        dtype: the type of samples (and of parameters, for continuous distributions).
        name: shown in messages.
        param: the constructor's arguments.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> class Always(msd.Distribution):
        ...     def __init__(self):
        ...         super().__init__(seed=0, dtype=ms.float32, name="Always")
        ...
        ...     def _mean(self):
        ...         return 1.0
        >>> Always().mean()
        1.0
    """

    #: the names of the parameters, in the order of the constructor's arguments
    parameter_names: tuple[str, ...] = ()
    #: samples are integers; parameters are float32
    discrete = False

    def __init__(self, seed: Any, dtype: Any, name: str, param: dict | None = None):
        super().__init__()
        if not isinstance(name, str):
            raise TypeError(f"For '{type(self).__name__}', 'name' must be a string, but got {name!r}.")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise TypeError(f"For '{name}', 'seed' must be an int, but got {seed!r}.")
        if seed is not None and seed < 0:
            raise ValueError(f"For '{name}', 'seed' must not be negative, but got {seed}.")
        self.seed = seed or 0
        self.dtype = mstype.to_dtype(dtype)
        kinds = "uif" if self.discrete else "f"
        if self.dtype.kind not in kinds:
            raise TypeError(
                f"For '{name}', 'dtype' must be {'an int or float' if self.discrete else 'a float'} "
                f"type, but got {dtype}."
            )
        self.name = name
        self.parameters = {k: v for k, v in (param or {}).items() if k not in ("self", "__class__")}
        self.parameter_type = mstype.float32 if self.discrete else self.dtype
        self.default_parameters: tuple = ()
        self._defaults: tuple = ()

    def set_defaults(self, *values: Any) -> None:
        """Keep the constructor's parameters as tensors; all must be given or none."""
        given = tuple(None if v is None else self._as_tensor(n, v) for n, v in zip(self.parameter_names, values))
        object.__setattr__(self, "_defaults", given)
        self.default_parameters = given
        known = [v.shape for v in given if v is not None]
        self.batch_shape = checks.broadcast(self.name, *known) if known else None
        self.broadcast_shape = self.batch_shape
        self.is_scalar_batch = self.batch_shape == ()

    def _as_tensor(self, name: str, value: Any) -> Any:
        if isinstance(value, TensorBase):
            return value
        if isinstance(value, (str, bool)) or (not isinstance(value, (int, float, list, tuple, np.ndarray, np.number))):
            raise TypeError(f"For '{self.name}', '{name}' must be a number, a list or a Tensor, but got {value!r}.")
        return Tensor(value, self.parameter_type)

    def check_positive(self, words: str, value: Any) -> None:
        """Parameters must be greater than zero."""
        if value is not None:
            demand(ops.greater(value, 0), Holds(), lambda _: ValueError(f"{words} must be greater than zero."))

    def check_probability(self, value: Any) -> None:
        """Probabilities must lie strictly between 0 and 1."""
        if value is not None:
            demand(ops.greater(value, 0), Holds(), lambda _: ValueError("Probabilities must be greater than zero"))
            demand(ops.less(value, 1), Holds(), lambda _: ValueError("Probabilities must be less than one"))

    # -- what subclasses call -------------------------------------------------------------------------------------
    def _add_parameter(self, value: Any, name: str) -> Any:
        """Note a parameter, which may be given later (None), and give it as a tensor."""
        self.parameter_names = (*self.parameter_names, name)
        self.set_defaults(*self._defaults, value)
        return self._defaults[-1]

    def _reset_parameters(self) -> None:
        """Forget the parameters, so that a subclass notes its own."""
        self.parameter_names = self._defaults = self.default_parameters = ()

    def _check_param_type(self, *args: Any) -> Any:
        """The parameters of a call in one shape and the distribution's type; a single one by itself."""
        params = [ops.cast(value, self.parameter_type) for value in self.resolve(args, {})]
        shape = checks.broadcast(self.name, *(p.shape for p in params))
        return params[0] if len(params) == 1 else tuple(ops.broadcast_to(p, shape) for p in params)

    def _check_value(self, value: Any, name: str) -> Any:
        """A value, which must be a tensor."""
        if not isinstance(value, TensorBase):
            raise TypeError(f"For '{self.name}', '{name}' must be a Tensor, but got {type(value).__name__}.")
        return value

    # -- arguments of a call --------------------------------------------------------------------------------------
    def resolve(self, args: tuple, kwargs: dict) -> tuple:
        """The parameters of this call: those given, else the constructor's. A class without names takes what it gets."""
        if not self.parameter_names:
            return (*args, *kwargs.values())
        given = dict(zip(self.parameter_names, args))
        given.update(kwargs)
        unknown = set(kwargs) - set(self.parameter_names)
        if unknown or len(args) > len(self.parameter_names):
            raise TypeError(f"'{self.name}' has the parameters {self.parameter_names}, but got {args} and {kwargs}.")
        out = []
        for i, name in enumerate(self.parameter_names):
            value = given.get(name)
            if value is None:
                value = self._default(i)
            if value is None:
                raise TypeError(
                    f"the type {name} must be subclass of Tensor. It can not be None since it is not specified during "
                    "initialization."
                )
            out.append(self._as_tensor(name, value))
        return tuple(out)

    def value_of(self, value: Any) -> Any:
        """A value as a float tensor."""
        self._check_value(value, "value")
        return ops.cast(value, self.parameter_type if self.discrete else self.dtype)

    def _formula(self, name: str) -> Any:
        found = getattr(self, name, None)
        if found is None:
            raise NotImplementedError(
                f"{name.strip('_')} of the {type(self).__name__} distribution has no closed form."
            )
        return found

    # -- quantities -----------------------------------------------------------------------------------------------
    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the density (or probability) at a value."""
        if not hasattr(self, "_log_prob") and hasattr(self, "_prob"):
            return ops.log(self._prob(value, *self.resolve(args, kwargs)))
        return self._formula("_log_prob")(self.value_of(value), *self.resolve(args, kwargs))

    def prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The density (or probability) at a value."""
        if hasattr(self, "_prob"):
            return self._prob(value, *self.resolve(args, kwargs))
        return ops.exp(self.log_prob(value, *args, **kwargs))

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of a result of at most the value."""
        return self._formula("_cdf")(self.value_of(value), *self.resolve(args, kwargs))

    def log_cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the cdf."""
        return ops.log(self.cdf(value, *args, **kwargs))

    def survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of a result greater than the value."""
        return 1.0 - self.cdf(value, *args, **kwargs)

    def log_survival(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the survival function."""
        return ops.log(self.survival_function(value, *args, **kwargs))

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """The expectation."""
        return self._formula("_mean")(*self.resolve(args, kwargs))

    def mode(self, *args: Any, **kwargs: Any) -> Any:
        """The most probable value."""
        return self._formula("_mode")(*self.resolve(args, kwargs))

    def sd(self, *args: Any, **kwargs: Any) -> Any:
        """The standard deviation."""
        if not hasattr(self, "_sd") and hasattr(self, "_var"):
            return ops.sqrt(self._var(*self.resolve(args, kwargs)))
        return self._formula("_sd")(*self.resolve(args, kwargs))

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """The variance."""
        if hasattr(self, "_var"):
            return self._var(*self.resolve(args, kwargs))
        return ops.square(self.sd(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """The expected negative log-density."""
        return self._formula("_entropy")(*self.resolve(args, kwargs))

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """The Kullback-Leibler divergence from this distribution to another of the same kind.

        The other's parameters come first, then (optionally) this one's.
        """
        if hasattr(self, "_kl_loss"):
            return self._kl_loss(dist, *args, **kwargs)
        formula, count = self._formula("_kl"), len(self.parameter_names)
        if not isinstance(dist, str):
            raise TypeError(f"For '{self.name}', 'dist' must be a string, but got {type(dist).__name__}.")
        if dist != self.get_dist_type():
            raise ValueError(f"Expected dist input is {self.get_dist_type()}, but got {dist}.")
        other = dict(zip(self.parameter_names, args[:count]))
        own = list(args[count:])
        for key, value in kwargs.items():
            if key.endswith("_b"):
                other[key[:-2]] = value
        mine = {k: kwargs[k + "_a"] for k in self.parameter_names if k + "_a" in kwargs} | {
            k: kwargs[k] for k in self.parameter_names if k in kwargs
        }
        missing = [n for n in self.parameter_names if n not in other]
        if missing:
            raise ValueError(f"For '{self.name}', kl_loss needs the other distribution's {missing}.")
        b = tuple(self._as_tensor(n, other[n]) for n in self.parameter_names)
        return formula(*b, *self.resolve(tuple(own), mine))

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """The entropy of this distribution plus its divergence to another."""
        if hasattr(self, "_cross_entropy"):
            return self._cross_entropy(dist, *args, **kwargs)
        count = len(self.parameter_names)
        return self.entropy(*args[count:]) + self.kl_loss(dist, *args, **kwargs)

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Any:
        """Random values: `shape` followed by the shape of the parameters (those a subclass notes itself, it adds itself)."""
        draw = self._formula("_sample")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        params = self.resolve(args, kwargs)
        batch = checks.broadcast(self.name, *(p.shape for p in params)) if type(self).parameter_names else ()
        out = draw((*shape, *batch), *params)
        return ops.cast(ops.stop_gradient(out), self.dtype) if self.discrete else out

    def uniform(self, shape: tuple[int, ...]) -> Any:
        """Numbers in (0, 1)."""
        draw = ops.RandomUniform()(next_key(self.seed), shape, mstype.float32)
        return ops.cast(ops.maximum(draw, float(np.finfo(np.float32).tiny)), self.parameter_type)

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Standard normal numbers."""
        return ops.cast(ops.RandomNormal()(next_key(self.seed), shape, mstype.float32), self.parameter_type)

    # -- descriptions -----------------------------------------------------------------------------------------------
    def get_dist_type(self) -> str:
        """The kind of distribution."""
        return type(self).__name__

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple:
        """The parameters, those given replacing the constructor's; None for those known to neither."""
        given = dict(zip(self.parameter_names, args), **kwargs)
        if not self.parameter_names or len(given) < len(args) + len(kwargs) or set(given) - set(self.parameter_names):
            return self.resolve(args, kwargs)  # which says what is wrong
        known = {name: given.get(name, self._default(i)) for i, name in enumerate(self.parameter_names)}
        return tuple(None if value is None else self._as_tensor(name, value) for name, value in known.items())

    def _default(self, index: int) -> Any:
        """A parameter of the constructor, if it was given."""
        return self._defaults[index] if index < len(self._defaults) else None

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method by its name, so that a distribution can be used as a layer."""
        return getattr(self, name)(*args, **kwargs)

    def extend_repr(self) -> str:
        if not self._defaults or any(v is None for v in self._defaults):
            return f"batch_shape = {self.batch_shape}" if self.batch_shape else ""
        return ", ".join(f"{n} = {v}" for n, v in zip(self.parameter_names, self._defaults))


def parameter(index: int) -> property:
    """A property that gives one of the constructor's parameters."""
    return property(lambda self: self._defaults[index])
