"""How much privacy many noisy rounds cost: the privacy loss distribution of the subsampled Gaussian mechanism.

A round adds Gaussian noise of `noise_multiplier` times the clipping norm to the sum of a Poisson sample of the clients. With
and without one client the outcome x is distributed as  P = (1-q) N(0, s^2) + q N(1, s^2)  and  Q = N(0, s^2). The privacy
loss log P(x)/Q(x) under P is put on a grid, the losses of rounds add up, so their distribution is a power in the
frequency domain (Koskela et al., "Computing Tight Differential Privacy Guarantees Using FFT", AISTATS 2020). Between two
points of the grid the mass is split so that both its P-mass and its Q-mass are kept ("connect the dots", Doroshenko et al.,
PoPETs 2022): the cost is never below the true one, and the error is of second order in the step. Whoever is removed or
added: the larger of both costs counts.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, erfc, exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
_STEP = 1e-4                     # of the grid of losses, where the composed losses fit into _MOST_POINTS of it
_MOST_POINTS = 1 << 21
_TAIL = 1e-15                    # mass of a composition that may fall outside the grid; it counts as lost privacy
_TAIL_SIGMAS = 9.0
_ORDERS = np.array([0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256])
_erfc = np.frompyfunc(erfc, 1, 1)


@dataclass(frozen=True)
class Rounds:
    """Rounds of one kind: noise as a multiple of the clipping norm, share of the clients in a round, number of rounds."""
    noise_multiplier: float
    sampling_rate: float = 1.0
    count: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.sampling_rate <= 1 or self.count < 0:
            raise ValueError("sampling_rate should be in (0, 1] and the number of rounds at least 0, but got "
                             f"{self.sampling_rate} and {self.count}")


def gaussian_epsilon(noise_multiplier: float, sampling_rate: float, rounds: int, delta: float) -> float:
    """eps at `delta` after `rounds` rounds, each with a Poisson sample of the clients and noise of
    `noise_multiplier` times the clipping norm."""
    return epsilon([Rounds(noise_multiplier, sampling_rate, rounds)], delta)


def epsilon(history: Iterable[Rounds], delta: float) -> float:
    """eps at `delta` after rounds of several kinds."""
    if not 0 < delta < 1:
        raise ValueError(f"delta should be in (0, 1), but got {delta}")
    kinds = [kind for kind in history if kind.count]
    if any(kind.noise_multiplier <= 0 for kind in kinds):
        return inf
    if not kinds:
        return 0.0
    return max(_epsilon(kinds, delta, removed) for removed in (True, False))


@dataclass(frozen=True)
class _Losses:
    """A distribution of losses: `mass[i]` at `(first + i) * step`, and what counts as infinite loss."""
    first: int
    step: float
    mass: Doubles
    infinite: float


def _epsilon(kinds: list[Rounds], delta: float, removed: bool) -> float:
    step = _STEP
    while True:
        parts = [(_one_round(kind, step, removed), kind.count) for kind in kinds]
        low, high = _window(parts)
        points = (high - low) / step
        if points <= _MOST_POINTS or step > 1:
            break
        step *= ceil(points / _MOST_POINTS)
    return _at_delta(_composed(parts, low, high), delta)


def _normal(x: Doubles) -> Doubles:
    """P(N(0, 1) <= x)."""
    below: Doubles = 0.5 * np.asarray(_erfc(-x / sqrt(2)), np.float64)
    return below


def _between(edges: Doubles) -> Doubles:
    """The mass of N(0, 1) between neighbouring edges, exact in both tails."""
    lower, upper = _normal(edges), _normal(-edges)
    mass: Doubles = np.where(edges[:-1] < 0, np.diff(lower), -np.diff(upper))
    return mass


def _one_round(kind: Rounds, step: float, removed: bool) -> _Losses:
    """The losses of one round. `removed`: the loss log P/Q under P, else log Q/P under Q."""
    noise, rate = kind.noise_multiplier, kind.sampling_rate
    reach = _TAIL_SIGMAS * noise

    def loss(x: float) -> float:
        exponent = (2 * x - 1) / (2 * noise * noise)
        value = exponent + log(rate + (1 - rate) * exp(-exponent)) if exponent > 0 else log(1 - rate + rate * exp(exponent))
        return value if removed else -value

    ends = sorted((loss(-reach), loss(1 + reach)))
    first, last = int(np.floor(ends[0] / step)), int(np.ceil(ends[1] / step))
    grid: Doubles = np.arange(first, last + 1, dtype=np.float64) * np.float64(step)
    edges = _outcomes(grid, noise, rate, removed)
    plain = _between(edges / noise)
    mixed = (1 - rate) * plain + rate * _between((edges - 1) / noise)
    above, below = (mixed, plain) if removed else (plain[::-1], mixed[::-1])
    mass = np.zeros(len(grid))
    there = np.exp(-grid)
    left = np.clip((below - above * there[1:]) / (there[:-1] - there[1:]), 0, above)
    mass[:-1] += left
    mass[1:] += above - left
    mass[0] += max(0.0, _outside(edges, noise, rate, removed, low=True))
    return _Losses(first, step, mass, max(0.0, _outside(edges, noise, rate, removed, low=False)))


def _outcomes(grid: Doubles, noise: float, rate: float, removed: bool) -> Doubles:
    """The outcomes x, rising, whose losses are those of the grid; -inf where no outcome has so small a ratio."""
    ratio = np.expm1(grid if removed else -grid[::-1]) / rate + 1            # exp((2x - 1) / 2s^2)
    with np.errstate(divide="ignore", invalid="ignore"):
        edges: Doubles = np.where(ratio > 0, noise * noise * np.log(np.maximum(ratio, 1e-300)) + 0.5, -np.inf)
    return edges


def _outside(edges: Doubles, noise: float, rate: float, removed: bool, *, low: bool) -> float:
    """The mass beyond the smallest (`low`) or largest loss of the grid."""
    left = low == removed                                   # without the client large outcomes have small losses
    at = edges[:1] if left else -edges[-1:]
    shift = -1.0 if left else 1.0
    plain, other = float(_normal(at / noise)[0]), float(_normal((at + shift) / noise)[0])
    return (1 - rate) * plain + rate * other if removed else plain


def _window(parts: list[tuple[_Losses, int]]) -> tuple[float, float]:
    """Where the composed losses lie, but for a mass of _TAIL on each side, by Chernoff's bound."""
    bounds = []
    for sign in (1.0, -1.0):
        best = sum(count * float(np.max(sign * _values(losses))) for losses, count in parts)
        for order in _ORDERS:
            total = sum(count * _log_moment(losses, sign * order) for losses, count in parts)
            best = min(best, (total - log(_TAIL)) / order)
        bounds.append(sign * best)
    return bounds[1], bounds[0]


def _values(losses: _Losses) -> Doubles:
    values: Doubles = (losses.first + np.arange(len(losses.mass), dtype=np.float64)) * np.float64(losses.step)
    return values


def _log_moment(losses: _Losses, order: float) -> float:
    """log E exp(order * loss)."""
    there = losses.mass > 0
    exponents = order * _values(losses)[there] + np.log(losses.mass[there])
    largest = float(exponents.max())
    return largest + log(float(np.exp(exponents - largest).sum()))


def _composed(parts: list[tuple[_Losses, int]], low: float, high: float) -> _Losses:
    """The losses of all rounds together, on a grid from `low` to `high`; what wraps round is below the tail."""
    step = parts[0][0].step
    first = int(np.floor(low / step))
    size = int(np.ceil(high / step)) - first + 1
    size = 1 << max(1, (max(size, *(len(losses.mass) for losses, _ in parts)) - 1).bit_length())
    product: NDArray[np.complex128] = np.ones(size // 2 + 1, np.complex128)
    start, finite = 0, 1.0
    for losses, count in parts:
        padded = np.zeros(size)
        padded[:len(losses.mass)] = losses.mass
        product *= np.fft.rfft(padded) ** count
        start += count * losses.first
        finite *= (1 - losses.infinite) ** count
    mass = np.roll(np.maximum(np.fft.irfft(product, size), 0.0), start - first)
    return _Losses(first, step, mass, min(1.0, 1 - finite + 2 * _TAIL))


def _at_delta(losses: _Losses, delta: float) -> float:
    """The smallest eps at which the mass of larger losses, times what they exceed it by, is at most delta."""
    if losses.infinite > delta:
        return inf
    values, mass = _values(losses)[::-1], losses.mass[::-1]                  # the largest first
    above = np.cumsum(mass) + losses.infinite
    weighted = np.cumsum(mass * np.exp(-np.maximum(values, -700)))
    at_value = above - np.exp(np.minimum(values, 700)) * weighted            # delta at eps = values[i]
    index = int(np.argmax(at_value > delta)) if bool((at_value > delta).any()) else len(values)
    if index == 0:
        return max(0.0, float(values[0]))
    known = index - 1                                       # all losses up to here exceed eps
    if above[known] <= delta or weighted[known] <= 0:
        return max(0.0, float(values[min(index, len(values) - 1)]))
    return max(0.0, log((above[known] - delta) / weighted[known]))
