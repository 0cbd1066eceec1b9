"""Methods that draw random elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims.inplace import update


def _key(generator: Any) -> Tensor:
    return next_key(None, generator)


def _normal_(self: Tensor, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers.

    Examples:
        >>> bool(ops.zeros(100).normal_(5.0, 0.1).mean() > 4)
        True
    """
    sample = rnd.RandomNormal()(_key(generator), self.shape, mstype.float32) * std + mean
    return update(self, cast(sample, self.dtype))


def _uniform(self: Tensor, from_: Any = 0.0, to: Any = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [from_, to) in this tensor's shape and type.

    Examples:
        >>> x = ops.zeros(4).uniform(2.0, 3.0)
        >>> bool(((x >= 2) & (x < 3)).all())
        True
    """
    sample = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32) * (to - from_) + from_
    return cast(sample, self.dtype)


def _bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability each element gives, else 0.

    Examples:
        >>> print(Tensor([0.0, 1.0]).bernoulli())
        [0. 1.]
    """
    u = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32)
    return cast(ew.Less()(u, self), self.dtype)


def _bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 at probability p, else 0.

    Examples:
        >>> x = Tensor([5.0, 6.0])
        >>> print(x.bernoulli_(1.0))
        [1. 1.]
    """
    u = rnd.RandomUniform()(_key(generator), self.shape, mstype.float32)
    return update(self, cast(ew.Less()(u, p), self.dtype))


def _exponential_(self: Tensor, lambd: Any = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`.

    Examples:
        >>> bool((ops.zeros(4).exponential_() >= 0).all())
        True
    """
    return update(self, cast(F.exponential(self.shape, float(lambd), None, generator), self.dtype))


def _random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fill with uniform integers in [from_, to).

    Examples:
        >>> bool((ops.zeros(5).random_(2, 4) >= 2).all())
        True
    """
    limit = 2 ** min(self.dtype.bits - 1, 24 if self.dtype.kind == "f" else 62) if to is None else to
    sample = rnd.RandomInteger()(_key(generator), self.shape, mstype.int64, Tensor(from_), Tensor(limit))
    return update(self, cast(sample, self.dtype))


def _log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Log-normal numbers in this tensor's shape and type.

    Examples:
        >>> bool((ops.zeros(4).log_normal() > 0).all())
        True
    """
    return cast(F.log_normal(self.shape, mean, std), self.dtype)


def _cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Cauchy numbers in this tensor's shape and type.

    Examples:
        >>> ops.zeros((2, 3)).cauchy().shape
        (2, 3)
    """
    return cast(F.cauchy(self.shape, median, sigma), self.dtype)


METHODS: dict[str, Callable] = {
    "normal_": _normal_,
    "uniform": _uniform,
    "bernoulli": _bernoulli,
    "bernoulli_": _bernoulli_,
    "exponential_": _exponential_,
    "random_": _random_,
    "log_normal": _log_normal,
    "cauchy": _cauchy,
}
