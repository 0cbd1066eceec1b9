"""Reading and writing `x[…]` with random keys, in all modes and against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from fuzz_compare import compare

import mindspore as ms
from mindspore import Tensor

KINDS = ("float32", "float64", "int32", "uint8", "bool", "float16")


def _key(rng: np.random.Generator, shape: tuple[int, ...]) -> list[Any]:
    """Items for some of the axes, in NumPy's words; now and then one that does not fit."""
    key: list[Any] = []
    axis, common = 0, tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3))))
    while axis < len(shape) and rng.random() < 0.8:
        size, way = shape[axis], int(rng.integers(9))
        axis += 1
        if way == 0:
            key.append(int(rng.integers(-size - (rng.random() < 0.05), size + (rng.random() < 0.05))) if size else slice(None))
        elif way in (1, 2, 3):
            ends = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)]
            key.append(slice(*ends, _pick(rng, [None, 1, 2, 3, -1, -2] if rng.random() < 0.3 else [None, 1, 2, 3])))
        elif way == 4:
            key.append(rng.integers(-size, size, common) if size else slice(None))
        elif way == 5:
            key.append([int(v) for v in rng.integers(-size, size, 3)] if size and not common else slice(None))
        elif way == 6 and axis < len(shape) and rng.random() < 0.5:
            key.append(rng.random(shape[axis - 1 : axis + 1]) < 0.5)
            axis += 1
        elif way == 6:
            key.append(rng.random(size) < 0.5)
        elif way == 7:
            key.append(None)
            axis -= 1
        elif Ellipsis not in [k for k in key if not isinstance(k, (np.ndarray, list))]:
            key.append(Ellipsis)
            axis = max(axis, len(shape) - int(rng.integers(0, len(shape) - axis + 2)))
    return key


def _pick(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def case(rng: np.random.Generator, scratch: str) -> int:
    """One key: what it reads, and the array after it is written to, with a number, a row and a whole part."""
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 0] if rng.random() < 0.1 else [1, 2, 3, 5, 9], int(rng.integers(1, 5))))
    kind = _pick(rng, list(KINDS))
    x = (rng.standard_normal(shape) * 5).astype(kind)
    items = _key(rng, shape)
    given = [item.tolist() if isinstance(item, np.ndarray) and item.ndim == 1 and rng.random() < 0.15 else item for item in items]
    at_run_time = [i for i, item in enumerate(given) if isinstance(item, np.ndarray) and item.dtype.kind == "i" and rng.random() < 0.5]
    indices = [Tensor(given[i]) for i in at_run_time]
    known = [Tensor(item) if isinstance(item, np.ndarray) else item for item in given]

    def key(at: Sequence[Tensor]) -> Any:
        parts = list(known)
        for place, index in zip(at_run_time, at):
            parts[place] = index
        return parts[0] if len(parts) == 1 else tuple(parts)

    numpy_key = items[0] if len(items) == 1 else tuple(items)
    what = f"{kind}{list(shape)}[{numpy_key!r}], of the items {at_run_time} known when it runs"
    try:
        part = np.array(x[numpy_key])
    except IndexError:
        part = None
    _check(what, lambda x, *at: x[key(at)], (Tensor(x), *indices), part)
    if part is None:
        return 1
    value = _pick(rng, [3, np.full(part.shape[-1:], 2, x.dtype), np.arange(part.size).reshape(part.shape).astype(kind)])
    if not isinstance(value, int) and _repeats(numpy_key, shape):
        return 1  # which of several values for one place stays is not promised
    written = x.copy()
    written[numpy_key] = value
    new = value if isinstance(value, int) else Tensor(value)

    def store(x: Tensor, *at: Tensor) -> Tensor:
        y = x.copy()
        y[key(at)] = new
        return y

    _check(f"{what} = {value!r}", store, (Tensor(x), *indices), written)
    if not kind.startswith("float"):
        return 2
    weights = Tensor(rng.standard_normal(part.shape).astype(kind))
    slope = np.zeros(shape, kind)
    np.add.at(slope, numpy_key, weights.asnumpy())
    _check(f"gradient of {what}", ms.grad(lambda x, *at: (x[key(at)] * weights).sum()), (Tensor(x), *indices), slope)
    return 3


def _repeats(key: Any, shape: tuple[int, ...]) -> bool:
    """Whether a place is named twice."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[key]
    return len(np.unique(places)) < np.size(places)


def _check(what: str, function: Any, arguments: tuple[Tensor, ...], wanted: np.ndarray | None) -> None:
    try:
        found = function(*arguments).asnumpy()
    except (IndexError, ValueError, TypeError) as refusal:
        assert wanted is None, f"{what}: refused by {type(refusal).__name__}: {refusal!s:.300}"
    else:
        assert wanted is not None, f"{what}: NumPy refuses, here it is {found!r:.200}"
        forms = [f"{array.dtype}{array.shape}" for array in (found, wanted)]
        assert forms[0] == forms[1], f"{what}: {forms[0]}, not {forms[1]}"
        tolerance = 0.01 if found.dtype == np.float16 else 1e-5
        assert np.allclose(found, wanted, tolerance, tolerance), f"{what}\n{wanted!r:.300}\n{found!r:.300}"
    compare(what, function, arguments)
