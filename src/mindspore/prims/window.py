"""Sliding windows: the geometry that convolution, pooling and unfolding share.

A window of `kernel` elements, `dilation` apart, moves over each spatial dimension in steps of `stride`; `pads` elements
are added before and after. Everything here is about sizes and slices, never about data.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple


class Window(NamedTuple):
    """Explicit geometry over the spatial dimensions."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    def output(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The number of window positions in each dimension."""
        return tuple(
            (n + lo + hi - extent(k, d)) // s + 1
            for n, k, s, d, (lo, hi) in zip(sizes, self.kernel, self.stride, self.dilation, self.pads)
        )

    def offsets(self, positions: tuple[int, ...]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """For every element of the window: its index, and the slices of the padded input it visits."""
        for index in product(*map(range, self.kernel)):
            yield (
                index,
                tuple(
                    slice(i * d, i * d + (n - 1) * s + 1, s)
                    for i, d, s, n in zip(index, self.dilation, self.stride, positions)
                ),
            )


def extent(kernel: int, dilation: int) -> int:
    """How many elements a dilated window spans."""
    return (kernel - 1) * dilation + 1


def per_dimension(op: str, name: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """One int per spatial dimension, from an int or a tuple that may also name the batch and channel dimensions."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * rank
    if not isinstance(value, (tuple, list)) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise TypeError(f"For '{op}', '{name}' must be an int or a tuple of ints, but got {value!r}.")
    value = tuple(value)
    if len(value) == rank + 2:
        value = value[2:]
    elif len(value) == 1:
        value = value * rank
    if len(value) != rank:
        raise ValueError(f"For '{op}', '{name}' must be an int or a tuple of {rank} ints, but got {value}.")
    if any(v < least for v in value):
        raise ValueError(f"For '{op}', the elements of '{name}' must be {least} or more, but got {value}.")
    return value


def pad_pairs(op: str, value: Any, rank: int, name: str = "pad") -> tuple[tuple[int, int], ...]:
    """(before, after) per dimension, from an int, one int per dimension, or two per dimension."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * (2 * rank)
    if not isinstance(value, (tuple, list)) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise TypeError(f"For '{op}', '{name}' must be an int or a tuple of ints, but got {value!r}.")
    if len(value) == 1:
        value = tuple(value) * (2 * rank)
    elif len(value) == rank:
        value = tuple(v for v in value for _ in range(2))
    if len(value) != 2 * rank:
        raise ValueError(
            f"For '{op}', '{name}' must be an int or a tuple of {rank} or {2 * rank} ints, but got {value}."
        )
    if any(v < 0 for v in value):
        raise ValueError(f"For '{op}', the elements of '{name}' must be 0 or more, but got {tuple(value)}.")
    return tuple((value[2 * i], value[2 * i + 1]) for i in range(rank))


def pad_mode(op: str, value: Any, allowed: tuple[str, ...] = ("same", "valid", "pad")) -> str:
    """The name of a padding mode in lower case."""
    if not isinstance(value, str):
        raise TypeError(f"For '{op}', 'pad_mode' must be a string, but got {value!r}.")
    mode = value.lower()
    if mode not in allowed:
        raise ValueError(f"For '{op}', 'pad_mode' must be one of {allowed}, but got {value!r}.")
    return mode


def same_pads(sizes: tuple[int, ...], kernel: tuple, stride: tuple, dilation: tuple) -> tuple[tuple[int, int], ...]:
    """Padding that yields ceil(size / stride) positions; an odd element goes after."""
    pads = []
    for n, k, s, d in zip(sizes, kernel, stride, dilation):
        total = max((-(-n // s) - 1) * s + extent(k, d) - n, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def ceil_pads(sizes: tuple[int, ...], window: Window) -> Window:
    """Extend the padding after, so that a last partial window counts (`ceil_mode`); one that starts in it does not."""
    pads = []
    for n, k, s, d, (lo, hi) in zip(sizes, window.kernel, window.stride, window.dilation, window.pads):
        positions = -(-(n + lo + hi - extent(k, d)) // s) + 1
        if (positions - 1) * s >= n + lo:
            positions -= 1
        pads.append((lo, max(hi, (positions - 1) * s + extent(k, d) - n - lo)))
    return window._replace(pads=tuple(pads))


def resolve(mode: str, sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple, pads: tuple) -> Window:
    """The explicit window for an input of the given spatial sizes."""
    if mode == "same":
        pads = same_pads(sizes, kernel, stride, dilation)
    elif mode == "valid":
        pads = ((0, 0),) * len(sizes)
    return Window(kernel, stride, dilation, pads)
