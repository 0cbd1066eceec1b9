"""Rotary positions (Su et al., RoFormer, 2021) and how they are stretched beyond the length that a model was trained on.

The halves of a head are the two coordinates of points, which turn by position times frequency. Longer texts are made to fit by lower
frequencies: all of them (linear), the lower ones (llama3), or the lower ones with sharper attention (YaRN, Peng et al., 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rotation:
    """The frequency of each point of a head; cosines and sines are multiplied by `sharpness`."""

    frequencies: tuple[float, ...]
    sharpness: float = 1.0

    @classmethod
    def of(cls, config: dict[str, Any], width: int, positions: int) -> Rotation:
        """What a model's configuration says for heads of this width."""
        rope = config.get("rope_parameters") or {}
        theta = float(config.get("rope_theta") or rope.get("rope_theta", 10000.0))
        exponents = np.arange(0, width, 2, dtype=np.float32) / np.float32(width)
        plain = (1.0 / (np.float32(theta) ** exponents)).astype(np.float32)
        scaling = config.get("rope_scaling") or rope
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        if kind == "default":
            return cls(_floats(plain))
        if kind == "linear":
            return cls(_floats(plain / np.float32(scaling["factor"])))
        if kind == "llama3":
            return cls(_floats(_llama3(plain, scaling)))
        if kind == "yarn":
            trained = scaling.get("original_max_position_embeddings") or positions
            return cls(_floats(_yarn(plain, scaling, theta, trained)), _sharpness(scaling))
        raise ValueError(f"rotary positions of the kind {kind!r} are not supported; they can be default, linear, llama3 or yarn")


def _floats(frequencies: Array) -> tuple[float, ...]:
    return tuple(float(f) for f in frequencies.astype(np.float32))


def _llama3(plain: Array, scaling: dict[str, Any]) -> Array:
    """Waves longer than the training's low-frequency part are slowed by `factor`, short ones stay, between them it goes over."""
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return np.asarray((1 - share) * plain / scaling["factor"] + share * plain)


def _yarn(plain: Array, scaling: dict[str, Any], theta: float, trained: int) -> Array:
    """Points that turn often within the trained length stay, those that turn less than once are slowed by `factor`."""
    width = 2 * len(plain)

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
