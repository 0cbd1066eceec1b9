"""Tensors that a training has sent: of the step at hand and, where asked for, of the one before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindinsight.server import errors

#: elements that one reply holds at most
MOST_SHOWN = 100_000
_HEADER, _PER_DIMENSION = 96, 16  # of an array in memory, which official replies count with its bytes
_PLACE = re.compile(r"\s*(-?\d+)?\s*(:)?\s*(-?\d+)?\s*")


@dataclass
class Shelf:
    """The tensors of a training, by full name and slot."""

    step: int = 0
    now: dict[str, NDArray[Any]] = field(default_factory=dict)
    before: dict[str, NDArray[Any]] = field(default_factory=dict)
    viewed: set[str] = field(default_factory=set)  #: whose values somebody has asked for
    halfway: bool = False  #: the training stands at a node, within the step after `step`

    def move_to(self, step: int) -> None:
        """What is there belongs to earlier steps when another one has been made."""
        if step != self.step:
            if not self.halfway:
                self.before = self.now if step == self.step + 1 else {}
            self.step, self.now, self.viewed, self.halfway = step, {}, set(), False

    def forget(self) -> None:
        """The training moves within the step that follows: what is there becomes that of the step before."""
        if not self.halfway:
            self.before = self.now
        self.now, self.viewed, self.halfway = {}, set(), True

    def put(self, name: str, iteration: str, value: NDArray[Any]) -> None:
        """Keep a tensor."""
        (self.before if iteration == "prev" else self.now)[name] = value


def size_in_memory(value: NDArray[Any]) -> int:
    return _HEADER + _PER_DIMENSION * value.ndim + value.nbytes


def statistics(value: NDArray[Any]) -> dict[str, Any]:
    """What a page shows of a tensor's numbers."""
    wide = np.asarray(value, np.float64).reshape(-1)
    finite = wide[np.isfinite(wide)]
    counts = {"zero": (wide == 0).sum(), "neg_zero": (finite < 0).sum(), "pos_zero": (finite > 0).sum()}  # official names
    return {
        "overall_max": float(finite.max()) if finite.size else None,
        "overall_min": float(finite.min()) if finite.size else None,
        "overall_avg": float(finite.mean()) if finite.size else None,
        "overall_count": int(wide.size),
        "overall_nan_count": int(np.isnan(wide).sum()),
        "overall_neg_inf_count": int(np.isneginf(wide).sum()),
        "overall_pos_inf_count": int(np.isposinf(wide).sum()),
        **{f"overall_{name}_count": float(count) for name, count in counts.items()},
    }


def cut(value: NDArray[Any], shape: str | None) -> NDArray[Any]:
    """The part of a tensor that "[0, 1:3, :]" names: at most two dimensions are shown as a table."""
    if not shape:
        return value
    inner = shape.strip().removeprefix("[").removesuffix("]")
    index: list[Any] = []
    for part in inner.split(",") if inner.strip() else []:
        found = _PLACE.fullmatch(part)
        if found is None or not part.strip():
            raise errors.wrong_value(f"'shape' should be like [0, 1:3, :], not {shape}.")
        first, colon, last = found.groups()
        index.append(slice(int(first) if first else None, int(last) if last else None) if colon else int(first))
    try:
        part_of = np.asarray(value[tuple(index)])
    except IndexError:
        raise errors.wrong_value(f"'shape' {shape} is outside of the tensor of shape {list(value.shape)}.") from None
    if part_of.size > MOST_SHOWN:
        raise errors.wrong_value(f"{part_of.size:,} elements are more than the {MOST_SHOWN:,} that are shown at once.")
    return part_of


def listed(value: NDArray[Any]) -> Any:
    """Numbers for JSON; what is not finite becomes a word."""
    if value.ndim:
        return [listed(one) for one in value]
    number = value.item()
    if isinstance(number, float) and not np.isfinite(number):
        return "NaN" if np.isnan(number) else "INF" if number > 0 else "-INF"
    return number


def differences(now: NDArray[Any], before: NDArray[Any], shape: str | None, tolerance: float) -> Any:
    """[now, before, difference] of each element; differences within `tolerance` percent of the larger number count as none."""
    new, old = cut(now, shape), cut(before, shape)
    gap = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    largest = np.maximum(np.abs(np.asarray(new, np.float64)), np.abs(np.asarray(old, np.float64)))
    with np.errstate(invalid="ignore"):
        gap = np.where(np.abs(gap) <= tolerance / 100 * largest, 0.0, gap)
    return listed(np.stack([np.asarray(new, np.float64), np.asarray(old, np.float64), gap], -1))
