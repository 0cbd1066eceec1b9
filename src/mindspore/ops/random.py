"""Random numbers. Every function takes its key from the default generator, or from the stream of its `seed`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    require_float,
    require_tensor,
    require_tensors,
    static_int,
    static_ints,
    to_float,
)
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims import random as rnd
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.gather_scatter import Gather
from mindspore.prims.reduction import ReduceAny
from mindspore.prims.requirements import Holds, demand, demand_at_least, demand_between
from mindspore.prims.scan import CumSum
from mindspore.prims.setting_types import setting_types
from mindspore.prims.sorting import SearchSorted, TopK
from mindspore.prims.structural import Identity
from mindspore.prims.values import TensorBase

__all__ = [
    "bernoulli", "cauchy", "choice_with_mask", "exponential", "gamma", "laplace", "log_normal",
    "log_uniform_candidate_sampler", "multinomial", "multinomial_with_replacement", "normal", "poisson", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "random_categorical", "random_gamma",
    "random_poisson", "randperm", "shuffle", "standard_laplace", "standard_normal", "truncated_normal", "uniform",
    "uniform_candidate_sampler",
]  # fmt: skip


def _given(seed: Any) -> Any:
    """A seed, of which 0 says that none is given."""
    return seed if isinstance(seed, TensorBase) else seed or None


def _key(seed: Any, generator: Any = None) -> Tensor:
    if isinstance(seed, TensorBase) and seed.size == 1:
        seed = static_int("random", "seed", seed)
    seed = values.static_number(seed)
    checks.require_known("random", "seed", seed)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        kind = ValueError if isinstance(seed, (int, np.integer)) else TypeError
        raise kind(f"A seed must be None or an int of at least 0, but got {seed!r}.")
    return next_key(None if seed is None else int(seed), generator)


def _sizes(size: tuple) -> tuple[int, ...]:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return static_ints("rand", "size", shape)


# -- uniform --------------------------------------------------------------------------------------------------------
def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Uniform numbers in [0, 1).

    Examples:
        >>> ops.rand(2, 3).shape
        (2, 3)
    """
    return rnd.RandomUniform()(_key(seed), _sizes(size), mstype.float32 if dtype is None else dtype)


def rand_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Uniform numbers in [0, 1) in the shape of the input.

    Examples:
        >>> ops.rand_like(ops.ones((2, 3))).shape
        (2, 3)
    """
    return rnd.RandomUniform()(_key(seed), input.shape, input.dtype if dtype is None else dtype)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = mstype.float32) -> Tensor:
    """Uniform numbers in [minval, maxval); integers when `dtype` is an integer type.

    Examples:
        >>> x = ops.uniform((2, 3), Tensor(-1.0), Tensor(1.0), seed=1)
        >>> bool((x.abs() <= 1).all())
        True
    """
    require_tensors("uniform", minval=minval, maxval=maxval)
    low, high = as_tensor(minval), as_tensor(maxval)
    dims = checks.broadcast("uniform", static_ints("uniform", "shape", shape), low.shape, high.shape)
    dtype = mstype.to_dtype(dtype)
    if dtype.kind in "ui":
        return rnd.RandomInteger()(_key(seed), dims, dtype, low, high)
    sample = rnd.RandomUniform()(_key(seed), dims, dtype)
    return sample * cast(high - low, dtype) + cast(low, dtype)


def _empty_range() -> ValueError:
    return ValueError("For 'randint', 'low' must be below 'high'.")


def randint(low: Any, high: Any, size: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Uniform integers in [low, high).

    Examples:
        >>> x = ops.randint(5, 8, (2, 3))
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    low, high = values.static_value(low), values.static_value(high)
    for name, value in (("low", low), ("high", high)):
        if not isinstance(value, values.TensorBase):
            checks.integer("randint", name, value)
    if isinstance(low, int) and isinstance(high, int):
        if low >= high:
            raise _empty_range()
    else:
        demand(ew.Less()(low, high), Holds(), lambda _: _empty_range())
    dims = static_ints("randint", "size", size)
    return rnd.RandomInteger()(
        _key(seed), dims, mstype.int64 if dtype is None else dtype, as_tensor(low), as_tensor(high)
    )


def randint_like(input: Tensor, low: Any, high: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Uniform integers in [low, high) in the shape of the input.

    Examples:
        >>> x = ops.randint_like(ops.ones((2, 3)), 5, 8)
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """
    return cast(randint(low, high, input.shape, seed), input.dtype if dtype is None else dtype)


def randperm(n: int | Tensor, seed: Any = 0, offset: int = 0, dtype: Any = mstype.int64) -> Tensor:
    """A random order of 0 … n - 1.

    Examples:
        >>> print(ops.sort(ops.randperm(4).astype(ms.float32))[0])
        [0. 1. 2. 3.]
    """
    count = static_int("randperm", "n", n, 0)
    return rnd.RandomPermutation()(_key(_given(seed)), count, mstype.to_dtype(dtype))


def shuffle(x: Tensor, seed: Any = None) -> Tensor:
    """The slices along the first dimension in random order.

    Examples:
        >>> print(ops.sort(ops.shuffle(Tensor([1.0, 2.0, 3.0]), seed=1))[0])
        [1. 2. 3.]
    """
    if require_tensor("shuffle", "x", x).ndim == 0:
        return Identity()(x)
    order = rnd.RandomPermutation()(_key(seed), x.shape[0], mstype.int64)
    return Gather()(x, order, 0)


# -- normal and relatives -------------------------------------------------------------------------------------------
def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Standard normal numbers.

    Examples:
        >>> from mindspore import ops
        >>> ops.randn(2, 3).shape
        (2, 3)
    """
    return rnd.RandomNormal()(_key(seed), _sizes(size), mstype.float32 if dtype is None else dtype)


def randn_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Standard normal numbers in the shape of the input, of float32 where no type is named.

    Examples:
        >>> ops.randn_like(ops.ones((2, 3))).shape
        (2, 3)
    """
    return rnd.RandomNormal()(_key(seed), input.shape, mstype.float32 if dtype is None else dtype)


def standard_normal(shape: Any, seed: Any = None) -> Tensor:
    """Standard normal numbers.

    Examples:
        >>> from mindspore import ops
        >>> ops.standard_normal((2, 3)).shape
        (2, 3)
    """
    return rnd.RandomNormal()(_key(seed), shape, mstype.float32)


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Tensor:
    """Normal numbers with the given mean and standard deviation, which may be tensors.

    Examples:
        >>> from mindspore import ops
        >>> ops.normal((2, 3), 0.0, 1.0).shape
        (2, 3)
    """
    centre, spread = to_float(as_tensor(mean)), to_float(as_tensor(stddev))
    dims = checks.broadcast("normal", static_ints("normal", "shape", shape), centre.shape, spread.shape)
    sample = rnd.RandomNormal()(_key(seed), dims, mstype.float32)
    return sample * spread + centre


def log_normal(shape: Any, mean: float = 1.0, std: float = 2.0, seed: Any = None) -> Tensor:
    """exp of normal numbers.

    Examples:
        >>> bool((ops.log_normal((2, 3), seed=1) > 0).all())
        True
    """
    return ew.Exp()(normal(shape, mean, std, seed))


def truncated_normal(shape: Any, seed: Any = None, dtype: Any = mstype.float32) -> Tensor:
    """Standard normal numbers conditioned on lying in [-2, 2].

    Examples:
        >>> bool((ops.truncated_normal((100,), seed=1).abs() <= 2).all())
        True
    """
    edge = math.erf(2 / math.sqrt(2))
    u = rnd.RandomUniform()(_key(seed), shape, dtype) * (2 * edge) - edge
    return ew.Erfinv()(u) * math.sqrt(2)


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: Any = None) -> Tensor:
    """Laplace numbers with the given mean and scale.

    Examples:
        >>> ops.laplace((2, 3), Tensor(1.0), Tensor(0.5), seed=1).shape
        (2, 3)
    """
    require_tensors("laplace", mean=mean, lambda_param=lambda_param)
    centre, scale = to_float(as_tensor(mean)), to_float(as_tensor(lambda_param))
    dims = checks.broadcast("laplace", static_ints("laplace", "shape", shape), centre.shape, scale.shape)
    return standard_laplace(dims, seed) * scale + centre


def standard_laplace(shape: Any, seed: Any = None) -> Tensor:
    """Laplace numbers with mean 0 and scale 1.

    Examples:
        >>> ops.standard_laplace((2, 3), seed=1).shape
        (2, 3)
    """
    u = rnd.RandomUniform()(_key(seed), shape, mstype.float32) - 0.5
    return -ew.Sign()(u) * ew.Log1p()(ew.Maximum()(ew.Abs()(u) * -2.0, -0.99999994))


def cauchy(size: Any, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Cauchy numbers.

    Examples:
        >>> ms.set_seed(0)
        >>> ops.cauchy((2, 3), median=1.0, sigma=0.5).shape
        (2, 3)
    """
    u = rnd.RandomUniform()(_key(None), static_ints("cauchy", "size", size), mstype.float32)
    return ew.Tan()((u - 0.5) * math.pi) * sigma + median


def exponential(shape: Any, lambd: Any = 1.0, seed: Any = None, generator: Any = None) -> Tensor:
    """Exponential numbers with the given rate.

    Examples:
        >>> ops.exponential((2, 3), lambd=0.5, seed=1).shape
        (2, 3)
    """
    u = rnd.RandomUniform()(_key(seed, generator), shape, mstype.float32)
    return -ew.Log1p()(-u) / lambd


def gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Tensor:
    """Gamma numbers with shape parameter alpha and rate beta; `shape` and the shapes of both broadcast.

    Examples:
        >>> ops.gamma((3, 1, 2), Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0]), seed=1).shape
        (3, 2, 2)
    """
    a, b = to_float(as_tensor(alpha)), to_float(as_tensor(beta))
    dims = checks.broadcast("gamma", static_ints("gamma", "shape", shape), checks.broadcast("gamma", a.shape, b.shape))
    return rnd.RandomGammaSample()(_key(seed), dims, a.dtype, a) / b


def random_gamma(shape: Any, alpha: Tensor, seed: Any = None) -> Tensor:
    """Gamma numbers with rate 1; the result's shape is `shape` + alpha.shape.

    Examples:
        >>> ops.random_gamma(Tensor([3]), Tensor([1.0, 2.0]), seed=1).shape
        (3, 2)
    """
    require_float("random_gamma", "alpha", alpha)
    return rnd.RandomGammaSample()(_key(seed), static_ints("random_gamma", "shape", shape) + alpha.shape, alpha.dtype, alpha)


def poisson(shape: Any, mean: Any, seed: Any = None) -> Tensor:
    """Poisson numbers (int32) with the given means, which broadcast with `shape`.

    Examples:
        >>> ops.poisson((2, 3), Tensor(4.0), seed=1).shape
        (2, 3)
    """
    rate = to_float(as_tensor(mean))
    dims = checks.broadcast("poisson", static_ints("poisson", "shape", shape), rate.shape)
    return rnd.RandomPoissonSample()(_key(seed), dims, mstype.int32, rate)


def _require_shape(op: str, shape: Any) -> None:
    """Sizes in a tensor of int32 or int64 of one dimension."""
    if require_tensor(op, "shape", shape).dtype not in (mstype.int32, mstype.int64):
        raise TypeError(f"For '{op}', 'shape' must be of type int32 or int64, but got {shape.dtype}.")
    if shape.ndim != 1:
        raise ValueError(f"For '{op}', 'shape' must have one dimension, but its shape is {shape.shape}.")


def random_poisson(shape: Any, rate: Any, seed: Any = None, dtype: Any = mstype.float32) -> Tensor:
    """Poisson numbers; the result's shape is `shape` + rate.shape.

    Examples:
        >>> ops.random_poisson(Tensor([3]), Tensor([1.0, 2.0]), seed=1).shape
        (3, 2)
    """
    _require_shape("random_poisson", shape)
    rate = (
        rate
        if values.is_number(rate) and not isinstance(rate, bool)
        else require_tensor("random_poisson", "rate", rate)
    )
    rate = as_tensor(rate)
    if rate.dtype.kind not in "if":
        raise TypeError(f"For 'random_poisson', 'rate' must be of an int or float type, but got {rate.dtype}.")
    rate = to_float(rate)
    dims = static_ints("random_poisson", "shape", shape) + rate.shape
    return rnd.RandomPoissonSample()(_key(seed), dims, mstype.to_dtype(dtype), rate)


# -- choices --------------------------------------------------------------------------------------------------------
def bernoulli(input: Tensor, p: Any = 0.5, seed: Any = None) -> Tensor:
    """1 with probability p, else 0, in the shape and type of the input.

    Examples:
        >>> print(ops.bernoulli(ops.ones(3), p=1.0))
        [1. 1. 1.]
    """
    require_tensor("bernoulli", "input", input)
    if values.is_number(p) and not 0 <= p <= 1:
        raise ValueError(f"For 'bernoulli', 'p' must be in [0, 1], but got {p}.")
    if isinstance(p, Tensor):
        demand_between("bernoulli", "p", p, 0, 1)
    u = rnd.RandomUniform()(_key(None if seed == -1 else seed), input.shape, mstype.float32)
    return cast(ew.Less()(u, p), input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: Any = None) -> Tensor:
    """Indices drawn with probabilities proportional to each row of the input.

    Examples:
        >>> print(ops.multinomial(Tensor([0.0, 1.0, 0.0]), 3))
        [1 1 1]
    """
    return cast(choices(input, num_samples, replacement, _key(seed)), mstype.int32)


def choices(input: Tensor, num_samples: int, replacement: bool, key: Tensor) -> Tensor:
    """`multinomial` with a key of its own."""
    weights = to_float(require_tensor("multinomial", "input", input))
    count = checks.integer("multinomial", "num_samples", values.static_number(num_samples), 1)
    if weights.ndim not in (1, 2):
        raise ValueError(f"For 'multinomial', 'input' must be 1-D or 2-D, but its shape is {input.shape}.")
    demand_at_least("multinomial", "input", weights, 0)
    if not replacement:
        if count > weights.shape[-1]:
            raise ValueError(
                f"For 'multinomial' without replacement, at most {weights.shape[-1]} samples can be drawn, but got {count}."
            )
        return _without_replacement(weights, count, key)
    total = CumSum()(cast(weights, mstype.float32), -1)
    u = rnd.RandomUniform()(key, (*weights.shape[:-1], count), mstype.float32) * total[..., -1:]
    found = SearchSorted(mstype.int32, True)(total, u)
    return ew.Minimum()(found, weights.shape[-1] - 1)


def _without_replacement(weights: Tensor, count: int, key: Tensor) -> Tensor:
    """The largest of weight ** (1 / u)-like keys (Efraimidis and Spirakis, 2006), in log form: log w + Gumbel noise."""
    u = 1 - rnd.RandomUniform()(key, weights.shape, mstype.float32)
    exponential_noise = -ew.Log()(ew.Maximum()(u, 1e-38))
    noisy = ew.Log()(weights) - ew.Log()(ew.Maximum()(exponential_noise, 1e-38))
    return TopK()(noisy, count)[1]


@setting_types(replacement=bool)
def multinomial_with_replacement(
    x: Tensor, seed: Any, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Indices drawn with probabilities proportional to each row.

    Examples:
        >>> print(ops.multinomial_with_replacement(Tensor([[0.0, 1.0, 0.0]]), 2, 5, 3, True))
        [[1 1 1]]
    """
    return cast(multinomial(x, numsamples, replacement, _given(seed)), mstype.int64)


def random_categorical(logits: Tensor, num_sample: int, seed: Any = 0, dtype: Any = mstype.int64) -> Tensor:
    """Indices drawn with probabilities softmax(logits), `num_sample` per row.

    Examples:
        >>> print(ops.random_categorical(Tensor([[0.0, 100.0]]), 3, seed=1))
        [[1 1 1]]
    """
    if require_tensor("random_categorical", "logits", logits).ndim != 2:
        raise ValueError(f"For 'random_categorical', 'logits' must be 2-D, but its shape is {logits.shape}.")
    from mindspore.ops.reduction import amax

    weights = ew.Exp()(to_float(logits) - amax(logits, -1, True))
    return cast(multinomial(weights, num_sample, True, _given(seed)), dtype)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: Any = None) -> tuple[Tensor, Tensor]:
    """`count` coordinates drawn from the places where a bool tensor holds, and which of them are real.

    If fewer places hold, the rest of the rows are padding, marked False in the second result.

    Examples:
        >>> where, real = ops.choice_with_mask(Tensor([[True, False], [False, False]]), count=2)
        >>> print(where[0], real)
        [0 0] [ True False]
    """
    require_tensor("choice_with_mask", "input_x", input_x)
    flat = Reshape()(input_x, (-1,))
    n = flat.shape[0]
    u = rnd.RandomUniform()(_key(seed), (n,), mstype.float32) + 1.0
    score = ew.Select()(flat, u, ew.zeros_like(u))
    drawn, index = TopK()(score, min(count, n))
    if count > n:
        from mindspore.prims.arrays import Pad

        drawn, index = Pad(((0, count - n),))(drawn), Pad(((0, count - n),))(index)
    valid = ew.Greater()(drawn, 0.5)
    index = ew.Select()(valid, index, 0)
    return _unravel(index, input_x.shape), valid


def _unravel(index: Any, shape: tuple[int, ...]) -> Tensor:
    """Flat positions as coordinates in a new last dimension."""
    from mindspore.prims.arrays import Stack

    parts = []
    for n in reversed(shape):
        parts.append(ew.FloorMod()(index, n))
        index = ew.FloorDiv()(index, n)
    return Stack(-1)(list(reversed(parts)))


@setting_types(seed=int)
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: Any = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn from a log-uniform (Zipf) distribution, with expected counts of true and sampled classes.

    Examples:
        >>> drawn, expected_true, expected = ops.log_uniform_candidate_sampler(Tensor([[1], [3]]), 1, 3, True, 5)
        >>> drawn.shape, expected_true.shape
        ((3,), (2, 1))
    """

    _check_candidates("log_uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max)

    def chance(classes: Any) -> Any:
        return ew.Log()((classes + 2) / (classes + 1)) / math.log(range_max + 1)

    return _candidates(true_classes, num_sampled, unique, range_max, seed, chance)


def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Classes drawn uniformly, with expected counts of true and sampled classes.

    Examples:
        >>> drawn, expected_true, expected = ops.uniform_candidate_sampler(Tensor([[1], [3]]), 1, 3, False, 5)
        >>> drawn.shape
        (3,)
    """
    _check_candidates("uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max)
    return _candidates(
        true_classes, num_sampled, unique, range_max, seed, lambda classes: ew.ones_like(classes) / range_max,
        checks.boolean("uniform_candidate_sampler", "remove_accidental_hits", remove_accidental_hits),
    )  # fmt: skip


def _check_candidates(op: str, true: Any, num_true: int, count: int, unique: bool, range_max: int) -> None:
    for name, number in (("num_true", num_true), ("num_sampled", count), ("range_max", range_max)):
        checks.integer(op, name, number, 1)
    checks.boolean(op, "unique", unique)
    if require_tensor(op, "true_classes", true).dtype not in (mstype.int32, mstype.int64):
        raise TypeError(f"For '{op}', 'true_classes' must be of type int32 or int64, but got {true.dtype}.")
    if true.ndim != 2 or true.shape[1] != num_true:
        raise ValueError(f"For '{op}', 'true_classes' must have the shape (N, {num_true}), but has {true.shape}.")


def _candidates(
    true: Tensor, count: int, unique: bool, range_max: int, seed: Any, chance: Callable[[Any], Any],
    without_true: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw `count` classes below `range_max`; `chance` is the probability of a class in one draw, of any class number.
    `without_true` leaves the true classes out."""
    if unique and count > range_max:
        raise ValueError(f"at most {range_max} different classes can be sampled, but 'num_sampled' is {count}.")
    weights = chance(Tensor(np.arange(range_max, dtype=np.float32)))
    if without_true:
        hit = ew.Equal()(Tensor(np.arange(range_max)), Reshape()(cast(true, mstype.int64), (-1, 1)))
        weights = ew.Select()(ReduceAny()(hit, 0), ew.zeros_like(weights), weights)
    sampled = cast(multinomial(weights, count, not unique, _given(seed)), mstype.int64)

    def expected(classes: Any) -> Any:
        probability = chance(cast(classes, mstype.float32))
        return -ew.Expm1()(ew.Log1p()(-probability) * float(count)) if unique else probability * float(count)

    return cast(sampled, true.dtype), expected(true), expected(sampled)
