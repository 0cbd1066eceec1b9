"""Classes of random operations. `seed` and `seed2` together name a stream; both 0 means the default generator."""

from __future__ import annotations

import math
from typing import Any

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, static_ints
from mindspore.ops.composition import REQUIRED, composition
from mindspore.prims import values


def _seed(self: Any) -> int | None:
    """One number for the pair of seeds; None for the default generator."""
    first, second = max(int(self.seed), 0), max(int(self.seed2), 0)
    return (first << 32) + second or None


def _seeded(name: str, function: Any, doc: str, **attributes: Any) -> Any:
    return composition(name, lambda self, *args: function(self, _seed(self), *args), doc, seed=0, seed2=0, **attributes)


StandardNormal = _seeded("StandardNormal", lambda self, seed, shape: F.standard_normal(shape, seed), "Normal numbers.")
StandardLaplace = _seeded("StandardLaplace", lambda self, s, shape: F.standard_laplace(shape, s), "Laplace numbers.")
UniformReal = _seeded("UniformReal", lambda self, seed, shape: F.rand(shape, seed=seed), "Uniform numbers in [0, 1).")
UniformInt = _seeded(
    "UniformInt", lambda self, seed, shape, low, high: F.randint(low, high, shape, seed, dtype=mstype.int32),
    "Uniform integers in [low, high).",
)  # fmt: skip
Gamma = _seeded("Gamma", lambda self, s, shape, alpha, beta: F.gamma(shape, alpha, beta, s), "Gamma numbers.")
RandomGamma = _seeded("RandomGamma", lambda self, s, shape, alpha: F.random_gamma(shape, alpha, s), "Gamma numbers.")
Poisson = _seeded("Poisson", lambda self, seed, shape, mean: F.poisson(shape, mean, seed), "Poisson numbers.")
RandomPoisson = _seeded(
    "RandomPoisson", lambda self, seed, shape, rate: F.random_poisson(shape, rate, seed, self.dtype), "Poisson numbers.",
    dtype=mstype.int64,
)  # fmt: skip
RandomShuffle = _seeded("RandomShuffle", lambda self, seed, x: F.shuffle(x, seed), "Slices in random order.")
Multinomial = _seeded(
    "Multinomial", lambda self, seed, x, n: cast(F.multinomial(x, n, True, seed), self.dtype), "Weighted choices.",
    dtype=mstype.int32,
)  # fmt: skip
TruncatedNormal = composition(
    "TruncatedNormal", lambda self, shape: F.truncated_normal(static_ints("TruncatedNormal", "shape", shape), _seed(self), self.dtype),
    "Normal numbers within two standard deviations.", dtype=mstype.float32, seed=0, seed2=0,
)  # fmt: skip


def _bounded_normal(self: Any, shape: Any, mean: Any, stdevs: Any, min: Any, max: Any) -> Any:
    """By the inverse of the cumulative distribution, between its values at the bounds; the parameters go with dimension 0."""
    sizes = static_ints("ParameterizedTruncatedNormal", "shape", shape)
    lead = lambda v: F.reshape(v, (-1,) + (1,) * (len(sizes) - 1)) if v.ndim else v
    centre, scale, low, high = (lead(v) for v in (mean, stdevs, min, max))
    share = lambda bound: F.erf((bound - centre) / (scale * math.sqrt(2)))
    u = cast(F.rand(sizes, seed=_seed(self)), mean.dtype)
    drawn = F.erfinv(share(low) + u * (share(high) - share(low)))
    return F.clamp(drawn * scale * math.sqrt(2) + centre, low, high)


ParameterizedTruncatedNormal = composition(
    "ParameterizedTruncatedNormal", _bounded_normal, "Normal numbers between bounds.", seed=0, seed2=0,
)  # fmt: skip
MultinomialWithReplacement = composition(
    "MultinomialWithReplacement",
    lambda self, x, seed, offset: F.multinomial(x, self.numsamples, self.replacement, values.static_value(seed) or None),
    numsamples=REQUIRED, replacement=False,
)  # fmt: skip
RandomCategorical = composition(
    "RandomCategorical",
    lambda self, logits, n, seed: F.random_categorical(logits, n, values.static_value(seed), self.dtype),
    dtype=mstype.int64,
)  # fmt: skip
RandomChoiceWithMask = composition(
    "RandomChoiceWithMask", lambda self, x: _choice(self, x), "Coordinates drawn from the places that hold.",
    count=256, seed=0, seed2=0,
)  # fmt: skip


def _choice(self: Any, x: Any) -> tuple[Tensor, Tensor]:
    index, valid = F.choice_with_mask(x, self.count, _seed(self))
    return cast(index, mstype.int32), valid


def _count(n: Any) -> int:
    """A number, or the only element of a tensor."""
    return F.static_int(n if not isinstance(n, Tensor) or n.ndim == 0 else n[0])


def _randperm(self: Any, n: Any) -> Tensor:
    """A random order of 0 … n - 1, padded to `max_length`."""
    count = _count(n)
    order = F.randperm(count, dtype=self.dtype)
    return order if count >= self.max_length else F.pad(order, (0, self.max_length - count), value=self.pad)


Randperm = composition("Randperm", _randperm, "A random order.", max_length=1, pad=-1, dtype=mstype.int32)
RandpermV2 = composition(
    "RandpermV2", lambda self, n: F.randperm(_count(n), max(self.seed, 0), dtype=self.dtype), seed=0, offset=0,
    dtype=mstype.int64,
)  # fmt: skip
Bernoulli = composition(
    "Bernoulli", lambda self, x, p: F.bernoulli(x, p, self.seed if self.seed > 0 else None), seed=-1, offset=0,
)  # fmt: skip
Cauchy = composition(
    "Cauchy", lambda self: F.cauchy(self.size, self.median, self.sigma), size=REQUIRED, median=0.0, sigma=1.0,
)  # fmt: skip
LogNormalReverse = composition(
    "LogNormalReverse", lambda self, x: cast(F.log_normal(x.shape, self.mean, self.std), x.dtype), mean=1.0, std=2.0,
)  # fmt: skip
NonDeterministicInts = composition(
    "NonDeterministicInts", lambda self, shape: F.randint(-(2**31), 2**31 - 1, shape, dtype=self.dtype),
    dtype=mstype.int64,
)  # fmt: skip
UniformCandidateSampler = composition(
    "UniformCandidateSampler",
    lambda self, true: F.uniform_candidate_sampler(
        true, self.num_true, self.num_sampled, self.unique, self.range_max, self.seed, self.remove_accidental_hits
    ),
    num_true=REQUIRED, num_sampled=REQUIRED, unique=REQUIRED, range_max=REQUIRED, seed=0, remove_accidental_hits=False,
)  # fmt: skip
LogUniformCandidateSampler = composition(
    "LogUniformCandidateSampler",
    lambda self, true: F.log_uniform_candidate_sampler(
        true, self.num_true, self.num_sampled, self.unique, self.range_max, self.seed
    ),
    num_true=1, num_sampled=5, unique=True, range_max=5, seed=0,
)  # fmt: skip

__all__ = [
    "Bernoulli", "Cauchy", "Gamma", "LogNormalReverse", "LogUniformCandidateSampler", "Multinomial",
    "MultinomialWithReplacement", "NonDeterministicInts", "ParameterizedTruncatedNormal", "Poisson",
    "RandomCategorical", "RandomChoiceWithMask",
    "RandomGamma", "RandomPoisson", "RandomShuffle", "Randperm", "RandpermV2", "StandardLaplace", "StandardNormal",
    "TruncatedNormal", "UniformCandidateSampler", "UniformInt", "UniformReal",
]  # fmt: skip
