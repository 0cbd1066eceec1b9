"""Classes of random operations. `seed` and `seed2` together name a stream; both 0 means the default generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, static_ints
from mindspore.ops.composition import REQUIRED, Typed, composition


def _seed(self: Any) -> int | None:
    """One number for the pair of seeds; None for the default generator."""
    first, second = max(int(self.seed), 0), max(int(self.seed2), 0)
    return (first << 32) + second or None


def _seeded(name: str, function: Callable, doc: str, **attributes: Any) -> Any:
    seeds = {"seed": Typed(int, 0), "seed2": Typed(int, 0)}
    return composition(name, lambda self, *args: function(self, _seed(self), *args), doc, **seeds, **attributes)


StandardNormal = _seeded("StandardNormal", lambda self, seed, shape: F.standard_normal(shape, seed),
    """Normal numbers.

    Examples:
        >>> ops.StandardNormal(seed=1)((2, 3)).shape
        (2, 3)
    """)
StandardLaplace = _seeded("StandardLaplace", lambda self, s, shape: F.standard_laplace(shape, s),
    """Laplace numbers.

    Examples:
        >>> ops.StandardLaplace(seed=1)((2, 3)).shape
        (2, 3)
    """)
UniformReal = _seeded("UniformReal", lambda self, seed, shape: F.rand(shape, seed=seed),
    """Uniform numbers in [0, 1).

    Examples:
        >>> ops.UniformReal()((2, 3)).shape
        (2, 3)
    """)
UniformInt = _seeded(
    "UniformInt", lambda self, seed, shape, low, high: F.randint(low, high, shape, seed, dtype=mstype.int32),
    """Uniform integers in [low, high).

    Examples:
        >>> x = ops.UniformInt(seed=1)((4,), Tensor(5, ms.int32), Tensor(8, ms.int32))
        >>> bool(((x >= 5) & (x < 8)).all())
        True
    """,
)  # fmt: skip
Gamma = _seeded("Gamma", lambda self, s, shape, alpha, beta: F.gamma(shape, alpha, beta, s), """Gamma numbers.

    Examples:
        >>> ops.Gamma(seed=1)((3, 1), Tensor([1.0, 2.0]), Tensor([1.0])).shape
        (3, 2)
    """)
RandomGamma = _seeded("RandomGamma", lambda self, s, shape, alpha: F.random_gamma(shape, alpha, s),
    """Gamma numbers.

    Examples:
        >>> ops.RandomGamma(seed=1)(Tensor([3], ms.int32), Tensor([1.0, 2.0])).shape
        (3, 2)
    """)
Poisson = _seeded("Poisson", lambda self, seed, shape, mean: F.poisson(shape, mean, seed), """Poisson numbers.

    Examples:
        >>> ops.Poisson(seed=1)((3,), Tensor([1.0])).shape
        (3,)
    """)
RandomPoisson = _seeded(
    "RandomPoisson", lambda self, seed, shape, rate: F.random_poisson(shape, rate, seed, self.dtype),
    """Poisson numbers.

    Examples:
        >>> ops.RandomPoisson(seed=1)(Tensor([3], ms.int32), Tensor([1.0, 2.0])).shape
        (3, 2)
    """,
    dtype=mstype.int64,
)  # fmt: skip
RandomShuffle = _seeded("RandomShuffle", lambda self, seed, x: F.shuffle(x, seed), """Slices in random order.

    Examples:
        >>> print(ops.sort(ops.RandomShuffle(seed=1)(Tensor([1.0, 2.0, 3.0])))[0])
        [1. 2. 3.]
    """)
Multinomial = _seeded(
    "Multinomial", lambda self, seed, x, n: cast(F.multinomial(x, n, True, seed), self.dtype), """Weighted choices.

    Examples:
        >>> print(ops.Multinomial(seed=1)(Tensor([0.0, 1.0, 0.0]), 3))
        [1 1 1]
    """,
    dtype=mstype.int32,
)  # fmt: skip
TruncatedNormal = composition(
    "TruncatedNormal", lambda self, shape: F.truncated_normal(static_ints("TruncatedNormal", "shape", shape), _seed(self), self.dtype),
    """Normal numbers within two standard deviations.

    Examples:
        >>> bool((ops.TruncatedNormal(seed=1)((100,)).abs() <= 2).all())
        True
    """, dtype=mstype.float32, seed=0, seed2=0,
)  # fmt: skip


def _bounded_normal(self: Any, shape: Any, mean: Tensor, stdevs: Any, min: Any, max: Any) -> Any:
    """By the inverse of the cumulative distribution, between its values at the bounds; the parameters go with dimension 0."""
    sizes = static_ints("ParameterizedTruncatedNormal", "shape", shape)
    lead = lambda v: F.reshape(v, (-1,) + (1,) * (len(sizes) - 1)) if v.ndim else v
    centre, scale, low, high = (lead(v) for v in (mean, stdevs, min, max))
    share = lambda bound: F.erf((bound - centre) / (scale * math.sqrt(2)))
    u = cast(F.rand(sizes, seed=_seed(self)), mean.dtype)
    drawn = F.erfinv(share(low) + u * (share(high) - share(low)))
    return F.clamp(drawn * scale * math.sqrt(2) + centre, low, high)


ParameterizedTruncatedNormal = composition(
    "ParameterizedTruncatedNormal", _bounded_normal, """Normal numbers between bounds.

    Examples:
        >>> shape, mean, deviation = Tensor([4], ms.int32), Tensor([0.0]), Tensor([1.0])
        >>> x = ops.ParameterizedTruncatedNormal(seed=1)(shape, mean, deviation, Tensor([-1.0]), Tensor([1.0]))
        >>> bool((x.abs() <= 1).all())
        True
    """, seed=0, seed2=0,
)  # fmt: skip
MultinomialWithReplacement = composition(
    "MultinomialWithReplacement",
    lambda self, x, seed, offset: F.multinomial_with_replacement(x, seed, offset, self.numsamples, self.replacement),
    """`numsamples` indices drawn with probabilities proportional to each row.

    Examples:
        >>> print(ops.MultinomialWithReplacement(3, True)(Tensor([[0.0, 1.0, 0.0]]), 2, 5))
        [[1 1 1]]
    """,
    numsamples=REQUIRED, replacement=Typed(bool, False),
)  # fmt: skip
RandomCategorical = composition(
    "RandomCategorical",
    lambda self, logits, n, seed: F.random_categorical(logits, n, seed, self.dtype),
    """`num_sample` indices per row drawn with probabilities softmax(logits).

    Examples:
        >>> print(ops.RandomCategorical()(Tensor([[0.0, 100.0]]), 3, 1))
        [[1 1 1]]
    """,
    dtype=mstype.int64,
)  # fmt: skip
RandomChoiceWithMask = composition(
    "RandomChoiceWithMask", lambda self, x: _choice(self, x), """Coordinates drawn from the places that hold.

    Examples:
        >>> places, valid = ops.RandomChoiceWithMask(count=2)(Tensor([[True, False]]))
        >>> valid.tolist()
        [True, False]
    """,
    count=256, seed=0, seed2=0,
)  # fmt: skip


RandomChoiceWithMask.cuts = ".."
def _choice(self: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    index, valid = F.choice_with_mask(x, self.count, _seed(self))
    return cast(index, mstype.int32), valid


def _count(n: Any) -> int:
    """A number, or the only element of a tensor."""
    return F.static_int(n if not isinstance(n, Tensor) or n.ndim == 0 else n[0])


def _randperm(self: Tensor, n: Any) -> Tensor:
    """A random order of 0 … n - 1, padded to `max_length`."""
    count = _count(n)
    order = F.randperm(count, dtype=self.dtype)
    return order if count >= self.max_length else F.pad(order, (0, self.max_length - count), value=self.pad)


Randperm = composition("Randperm", _randperm, """A random order.

    Examples:
        >>> print(ops.sort(ops.Randperm(max_length=4)(Tensor([4], ms.int32)).astype(ms.float32))[0])
        [0. 1. 2. 3.]
    """, max_length=1, pad=-1, dtype=mstype.int32)
RandpermV2 = composition(
    "RandpermV2", lambda self, n: F.randperm(_count(n), max(self.seed, 0), dtype=self.dtype),
    """A random order of 0 … n - 1.

    Examples:
        >>> print(ops.sort(ops.RandpermV2(seed=1)(Tensor([4])).astype(ms.float32))[0])
        [0. 1. 2. 3.]
    """, seed=0, offset=0,
    dtype=mstype.int64,
)  # fmt: skip
Bernoulli = composition(
    "Bernoulli", lambda self, x, p: F.bernoulli(x, p, self.seed if self.seed > 0 else None),
    """1 with probability p, else 0, in the shape of the first argument.

    Examples:
        >>> print(ops.Bernoulli()(ops.ones(3), Tensor(1.0)))
        [1. 1. 1.]
    """, seed=-1, offset=0,
)  # fmt: skip
Cauchy = composition(
    "Cauchy", lambda self: F.cauchy(self.size, self.median, self.sigma),
    """Cauchy numbers around `median` with scale `sigma`.

    Examples:
        >>> ops.Cauchy([2, 3], median=1.0, sigma=0.5)().shape
        (2, 3)
    """, size=REQUIRED, median=0.0, sigma=1.0,
)  # fmt: skip
LogNormalReverse = composition(
    "LogNormalReverse", lambda self, x: cast(F.log_normal(x.shape, self.mean, self.std), x.dtype),
    """Log-normal numbers in the shape of the input.

    Examples:
        >>> bool((ops.LogNormalReverse(mean=1.0, std=0.5)(ops.zeros(4)) > 0).all())
        True
    """, mean=1.0, std=2.0,
)  # fmt: skip
NonDeterministicInts = composition(
    "NonDeterministicInts", lambda self, shape: F.randint(-(2**31), 2**31 - 1, shape, dtype=self.dtype),
    """Random integers over the whole range of the type.

    Examples:
        >>> ops.NonDeterministicInts(dtype=ms.int32)(Tensor([2, 3], ms.int32)).shape
        (2, 3)
    """,
    dtype=mstype.int64,
)  # fmt: skip
UniformCandidateSampler = composition(
    "UniformCandidateSampler",
    lambda self, true: F.uniform_candidate_sampler(
        true, self.num_true, self.num_sampled, self.unique, self.range_max, self.seed, self.remove_accidental_hits
    ), """Classes drawn uniformly, with expected counts of true and sampled classes.

    Examples:
        >>> drawn, expected_true, expected = ops.UniformCandidateSampler(1, 3, False, 5)(Tensor([[1], [3]]))
        >>> drawn.shape
        (3,)
    """,
    num_true=REQUIRED, num_sampled=REQUIRED, unique=REQUIRED, range_max=REQUIRED, seed=Typed(int, 0),
    remove_accidental_hits=Typed(bool, False),
)  # fmt: skip
LogUniformCandidateSampler = composition(
    "LogUniformCandidateSampler",
    lambda self, true: F.log_uniform_candidate_sampler(
        true, self.num_true, self.num_sampled, self.unique, self.range_max, self.seed
    ), """Classes of a log-uniform (Zipf) distribution, with expected counts of true and drawn ones.

    Examples:
        >>> drawn, expected_true, expected = ops.LogUniformCandidateSampler(2, 3, True, 9)(Tensor([[1, 7], [0, 4]]))
        >>> drawn.shape, expected_true.shape
        ((3,), (2, 2))
    """,
    num_true=1, num_sampled=5, unique=True, range_max=5, seed=Typed(int, 0),
)  # fmt: skip

__all__ = [
    "Bernoulli", "Cauchy", "Gamma", "LogNormalReverse", "LogUniformCandidateSampler", "Multinomial",
    "MultinomialWithReplacement", "NonDeterministicInts", "ParameterizedTruncatedNormal", "Poisson",
    "RandomCategorical", "RandomChoiceWithMask",
    "RandomGamma", "RandomPoisson", "RandomShuffle", "Randperm", "RandpermV2", "StandardLaplace", "StandardNormal",
    "TruncatedNormal", "UniformCandidateSampler", "UniformInt", "UniformReal",
]  # fmt: skip
