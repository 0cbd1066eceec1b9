"""Every operation of the table of operations, in every spelling and element type, on values like those of its row."""

from __future__ import annotations

from typing import Any

import numpy as np
from fuzz_calls import rows
from fuzz_compare import Call, compare_together, some_backends
from fuzz_values import weighed

import mindspore as ms
from mindspore import Tensor

CALLS, DRAWS = 8, 24
#: what these find in a sequence that is not sorted is not promised
_ORDERED = ("searchsorted", "LowerBound", "UpperBound", "bucketize")
#: one value that is not finite decides others in another way on every backend: transforms, zeros for padding, places in images
_FINITE = ("fft", "conv", "glimpse", "iou", "deformable", "grid", "roi", "affine", "crop", "dct")


def case(rng: np.random.Generator, scratch: str) -> int:
    """A few rows, which share a graph; how many calls."""
    backends = some_backends(rng)
    return compare_together([_some_call(rng) for _ in range(CALLS)], rng, DRAWS, backends)


def _some_call(rng: np.random.Generator) -> Call:
    row = rows()[int(rng.integers(len(rows())))]
    from engine import floating, inputs
    from table import TYPES

    spelling, code = str(rng.choice(row.spellings)), str(rng.choice(row.dtypes.split()))
    what = f"{spelling} of row {row} in {TYPES[code]}"
    noise = 1e-6 * row.tolerance
    if row.grad and code in "ebfd" and rng.random() < 0.4:
        function, samples = floating(row, code)
        if samples:
            gradient = ms.grad(lambda *xs: weighed(_floats(function(*xs))), tuple(range(len(samples))))
            return Call(f"grad of {what}", gradient, lambda rng: _like(row, samples, rng), noise=0.05 * row.tolerance)
    samples = inputs(row, code)
    return Call(what, row.function(spelling), lambda rng: _like(row, samples, rng), noise)


def _floats(out: Any) -> Any:
    if isinstance(out, (tuple, list)):
        return tuple(_floats(part) for part in out if not isinstance(part, Tensor) or part.dtype.is_floating() or part.is_complex())
    return out


def _like(row: Any, samples: list[np.ndarray], rng: np.random.Generator) -> list[Tensor]:
    """Tensors like the samples: others by a factor, in another order, with a value that is not finite, or as they are."""
    ways = 2 if any(word in str(row) for word in _ORDERED) else 6
    special = [0, -0.0] if any(word in str(row).lower() for word in _FINITE) else [np.nan, np.inf, -np.inf, 0, -0.0]
    return [_another(np.array(sample), int(rng.integers(ways)), special, rng) for sample in samples]


def _another(sample: np.ndarray, way: int, special: list[float], rng: np.random.Generator) -> Tensor:
    floating = sample.dtype.kind in "fc" or sample.dtype.name == "bfloat16"
    if way == 1 and floating:
        sample = (sample * rng.uniform(0.5, 1)).astype(sample.dtype)
    elif way == 2 and sample.ndim:
        sample = sample.take(rng.permutation(sample.shape[-1]), axis=-1)
    elif way == 3 and sample.ndim:
        sample = sample[rng.permutation(len(sample))]
    elif way == 4 and sample.size:
        sample.reshape(-1)[int(rng.integers(sample.size))] = rng.choice(special if floating else [0, 1])
    elif way == 5 and floating:
        sample = (sample + rng.uniform(0, 0.2, sample.shape)).astype(sample.dtype)
    return Tensor(np.ascontiguousarray(sample).reshape(sample.shape))
