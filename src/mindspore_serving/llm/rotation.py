"""Rotary positions (Su et al., RoFormer, 2021) and how they are stretched beyond the length that a model was trained on.

The halves of a head are the two coordinates of points, which turn by position times frequency. Longer texts are made to fit by lower
frequencies: all of them (linear), the lower ones (llama3), the lower ones with sharper attention (YaRN, Peng et al., 2023), or each by a
factor of its own (LongRoPE, Ding et al., 2024). Where a model turns a part of each head only (`partial_rotary_factor`), the other numbers
become points that do not turn: `order` puts the two coordinates of every point into the two halves.

LongRoPE has other factors for texts beyond the trained length, and a text that grows over it would change its beginning: such models are
used up to that length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rotation:
    """The frequency of each point of a head that turns; cosines and sines are multiplied by `sharpness`. `still`: points that do not
    turn; `positions`: the longest text, if it is shorter than the configuration says."""

    frequencies: tuple[float, ...]
    sharpness: float = 1.0
    still: int = 0
    positions: int = 0

    def tables(self, places: Array) -> tuple[Array, Array]:
        """For each place the cosines (places, 1, 1, half a head) and the sines with the signs of both halves (places, 1, 2, half)."""
        sharpness = np.float32(self.sharpness)
        angles = places[:, None].astype(np.float32) * np.array(self.frequencies, np.float32)
        cosines = np.pad(np.cos(angles) * sharpness, ((0, 0), (0, self.still)), constant_values=1)[:, None, None]
        sines = np.pad(np.sin(angles) * sharpness, ((0, 0), (0, self.still)))[:, None, None]
        return cosines, np.concatenate([-sines, sines], 2)

    def order(self, width: int) -> Array | None:
        """Where the numbers of a head lie in a model's files; None: as they are here."""
        if not self.still:
            return None
        turned, places = 2 * len(self.frequencies), np.arange(width)
        first, second = np.split(places[:turned], 2), np.split(places[turned:], 2)
        return np.concatenate([first[0], second[0], first[1], second[1]])

    @classmethod
    def of(cls, config: dict[str, Any], width: int, positions: int) -> Rotation:
        """What a model's configuration says for heads of this width."""
        rope = config.get("rope_parameters") or {}
        theta = float(config.get("rope_theta") or rope.get("rope_theta", 10000.0))
        share = config.get("partial_rotary_factor") or rope.get("partial_rotary_factor", 1.0)
        turned = int(width * share)
        if not 0 < turned <= width or turned % 2:
            raise ValueError(f"a share of {share!r} of heads of {width} numbers cannot be rotated")
        exponents = np.arange(0, turned, 2, dtype=np.float32) / np.float32(turned)
        plain = (1.0 / (np.float32(theta) ** exponents)).astype(np.float32)
        scaling = config.get("rope_scaling") or rope
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        trained = scaling.get("original_max_position_embeddings") or config.get("original_max_position_embeddings") or positions
        still = (width - turned) // 2
        if kind == "default":
            return cls(_floats(plain), still=still)
        if kind == "linear":
            return cls(_floats(plain / np.float32(scaling["factor"])), still=still)
        if kind == "llama3":
            return cls(_floats(_llama3(plain, scaling)), still=still)
        if kind == "yarn":
            return cls(_floats(_yarn(plain, scaling, theta, trained)), _sharpness(scaling), still)
        if kind == "longrope":
            sharpness = _longer(scaling, scaling.get("factor") or positions / trained, trained)
            return cls(_floats(plain / _factors(scaling["short_factor"], plain)), sharpness, still, trained)
        if kind == "factors":  # of GGUF files
            return cls(_floats(plain / _factors(scaling["factors"], plain)), still=still)
        raise ValueError(f"rotary positions of the kind {kind!r} are not supported; they can be default, linear, llama3, yarn or longrope")


def _floats(frequencies: Array) -> tuple[float, ...]:
    return tuple(float(f) for f in frequencies.astype(np.float32))


def _factors(given: Any, plain: Array) -> Array:
    found = np.asarray(given, np.float32)
    if found.shape != plain.shape or not (found > 0).all():
        raise ValueError(f"rotary positions need {len(plain)} factors above 0")
    return found


def _longer(scaling: dict[str, Any], factor: float, trained: int) -> float:
    """How much sharper attention is for texts that may be longer by a factor."""
    given = scaling.get("attention_factor")
    if given is not None:
        return float(given)
    return math.sqrt(1 + math.log(factor) / math.log(trained)) if factor > 1 else 1.0


def _llama3(plain: Array, scaling: dict[str, Any]) -> Array:
    """Waves longer than the training's low-frequency part are slowed by `factor`, short ones stay, between them it goes over."""
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return np.asarray((1 - share) * plain / scaling["factor"] + share * plain)


def _yarn(plain: Array, scaling: dict[str, Any], theta: float, trained: int) -> Array:
    """Points that turn often within the trained length stay, those that turn less than once are slowed by `factor`."""
    width = 2 * len(plain)  # of what turns

    def point(turns: float) -> float:
        """The point that turns so often within the trained length."""
        return width * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(theta))

    first, last = point(scaling.get("beta_fast") or 32), point(scaling.get("beta_slow") or 1)
    if scaling.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, width - 1)
    slowed = np.clip((np.arange(len(plain), dtype=np.float32) - first) / max(last - first, 0.001), 0.0, 1.0)
    return np.asarray(plain / scaling["factor"] * slowed + plain * (1 - slowed))


def _sharpness(scaling: dict[str, Any]) -> float:
    given = scaling.get("attention_factor")
    if given is not None:
        return float(given)
    factor = scaling["factor"]

    def of(scale: float) -> float:
        return 0.1 * scale * math.log(factor) + 1.0 if factor > 1 else 1.0

    first, second = scaling.get("mscale"), scaling.get("mscale_all_dim")
    return of(first) / of(second) if first and second else of(1.0)


__all__ = ["Rotation"]
