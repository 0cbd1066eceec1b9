"""Direct definitions of windowed and recurrent operations, by loops in float64: slow, and independent of the library."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """Padding that gives ceil(size / stride) outputs, the odd one behind."""
    total = max((math.ceil(size / stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def paddings(mode: str, sizes: Any, kernels: Any, strides: Any, dilations: Any, pad: Any = 0) -> list[tuple[int, int]]:
    """Padding before and behind every spatial axis."""
    if mode == "same":
        return [same_padding(*four) for four in zip(sizes, kernels, strides, dilations)]
    if mode == "valid":
        return [(0, 0)] * len(sizes)
    pad = [pad] * len(sizes) if isinstance(pad, int) else list(pad)
    if len(pad) == 2 * len(sizes):
        return list(zip(pad[::2], pad[1::2]))
    return [(p, p) for p in pad]


def conv(x: Any, w: Any, strides: Any, pads: Any, dilations: Any, groups: int = 1) -> np.ndarray:
    """Cross-correlation of x (N, C, spatial …) with w (O, C / groups, kernel …)."""
    rank = x.ndim - 2
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    kernels = w.shape[2:]
    sizes = [(x.shape[2 + i] - dilations[i] * (kernels[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    per_in, per_out = x.shape[1] // groups, w.shape[0] // groups
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    for place in itertools.product(*map(range, sizes)):
        window = x[
            (..., *(slice(p * s, p * s + d * (k - 1) + 1, d) for p, s, d, k in zip(place, strides, dilations, kernels)))
        ]
        for o in range(w.shape[0]):
            g = o // per_out
            out[(slice(None), o, *place)] = (
                (window[:, g * per_in : (g + 1) * per_in] * w[o]).reshape(x.shape[0], -1).sum(1)
            )
    return out


def conv_transpose(x: Any, w: Any, strides: Any, pads: Any, dilations: Any, extra: Any, groups: int = 1) -> np.ndarray:
    """The adjoint of `conv`: every element of x spreads w (C, O / groups, kernel …) over the result."""
    rank = x.ndim - 2
    kernels = w.shape[2:]
    full = [(x.shape[2 + i] - 1) * strides[i] + dilations[i] * (kernels[i] - 1) + 1 for i in range(rank)]
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    out = np.zeros((x.shape[0], per_out * groups, *(f + e for f, e in zip(full, extra))))
    for place in itertools.product(*map(range, x.shape[2:])):
        target = tuple(
            slice(p * s, p * s + d * (k - 1) + 1, d) for p, s, d, k in zip(place, strides, dilations, kernels)
        )
        for c in range(x.shape[1]):
            g = c // per_in
            out[(slice(None), slice(g * per_out, (g + 1) * per_out), *target)] += np.multiply.outer(
                x[(slice(None), c, *place)], w[c]
            )
    crop = tuple(slice(b, b + f - b - a + e) for (b, a), f, e in zip(pads, full, extra))
    return out[(slice(None), slice(None), *crop)]


def pool(
    x: Any,
    kernels: Any,
    strides: Any,
    pads: Any,
    mode: str,
    counted: bool = False,
    ceil: bool = False,
    divisor: int = 0,
) -> np.ndarray:
    """Maximum or mean of windows. `counted`: padding counts in the mean's divisor."""
    rank = x.ndim - 2
    sizes = []
    for i in range(rank):
        length = x.shape[2 + i] + sum(pads[i])
        steps = (length - kernels[i]) / strides[i]
        size = (math.ceil(steps) if ceil else math.floor(steps)) + 1
        if ceil and (size - 1) * strides[i] >= x.shape[2 + i] + pads[i][0]:
            size -= 1  # a window must begin inside the input or the padding before it
        sizes.append(size)
    out = np.zeros((*x.shape[:2], *sizes))
    for place in itertools.product(*map(range, sizes)):
        begins = [p * s - pads[i][0] for i, (p, s) in enumerate(zip(place, strides))]
        ends = [b + k for b, k in zip(begins, kernels)]
        inside = tuple(slice(max(b, 0), min(e, n)) for b, e, n in zip(begins, ends, x.shape[2:]))
        window = x[(slice(None), slice(None), *inside)].reshape(*x.shape[:2], -1)
        if mode == "max":
            out[(..., *place)] = window.max(-1)
        else:
            within = [min(e, n + pads[i][1]) - b for i, (b, e, n) in enumerate(zip(begins, ends, x.shape[2:]))]
            count = divisor or (math.prod(within) if counted else window.shape[-1])
            out[(..., *place)] = window.sum(-1) / count
    return out


def adaptive(x: Any, sizes: Any, mode: str) -> np.ndarray:
    """Pooling into a grid of fixed size: window i covers floor(i n / m) to ceil((i + 1) n / m)."""
    rank = len(sizes)
    out = np.zeros((*x.shape[:-rank], *sizes))
    for place in itertools.product(*map(range, sizes)):
        window = tuple(slice(p * n // m, -(-(p + 1) * n // m)) for p, n, m in zip(place, x.shape[-rank:], sizes))
        cells = x[(..., *window)].reshape(*x.shape[:-rank], -1)
        out[(..., *place)] = cells.max(-1) if mode == "max" else cells.mean(-1)
    return out


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm_step(x: Any, h: Any, c: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> tuple[Any, Any]:
    i, f, g, o = np.split(x @ wi.T + bi + h @ wh.T + bh, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x: Any, h: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> Any:
    ri, zi, ni = np.split(x @ wi.T + bi, 3, -1)
    rh, zh, nh = np.split(h @ wh.T + bh, 3, -1)
    r, z = sigmoid(ri + rh), sigmoid(zi + zh)
    return (1 - z) * np.tanh(ni + r * nh) + z * h


def rnn_step(x: Any, h: Any, wi: Any, wh: Any, bi: Any, bh: Any, nonlinearity: str = "tanh") -> Any:
    total = x @ wi.T + bi + h @ wh.T + bh
    return np.tanh(total) if nonlinearity == "tanh" else np.maximum(total, 0)
