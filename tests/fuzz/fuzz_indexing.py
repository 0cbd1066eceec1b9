"""Reading and writing `x[…]` with random keys, in all modes and against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from fuzz_compare import Call, compare_together, some_backends

import mindspore as ms
from mindspore import Tensor

CALLS, DRAWS = 4, 24
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


class _Key:
    """`x[…]`, with those items `at_run_time` as arguments: index tensors that only the running graph knows."""

    def __init__(self, rng: np.random.Generator):
        self.shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 0] if rng.random() < 0.1 else [1, 2, 3, 5, 9], int(rng.integers(1, 5))))
        self.kind = _pick(rng, list(KINDS))
        self.items = _key(rng, self.shape)
        chosen = [isinstance(item, np.ndarray) and item.dtype.kind == "i" and rng.random() < 0.5 for item in self.items]
        self.at_run_time = [place for place, is_chosen in enumerate(chosen) if is_chosen]
        as_list = [isinstance(item, np.ndarray) and item.ndim == 1 and rng.random() < 0.15 for item in self.items]
        given = [item.tolist() if listed else item for item, listed in zip(self.items, as_list)]
        self.known = [Tensor(item) if isinstance(item, np.ndarray) else item for item in given]
        self.what = f"{self.kind}{list(self.shape)}[{self.of_numpy()!r}], of the items {self.at_run_time} known when it runs"

    def of_numpy(self, at: Sequence[Tensor] = ()) -> Any:
        return _joined(self.items, self.at_run_time, [index.asnumpy() for index in at])

    def __call__(self, at: Sequence[Tensor]) -> Any:
        return _joined(self.known, self.at_run_time, at)

    def draw(self, rng: np.random.Generator, same_places: bool = False) -> list[Tensor]:
        """An array, and the items that are arguments: the key's own, or their elements in another order."""
        places = [self.items[place] for place in self.at_run_time]
        drawn = places if same_places else [rng.permutation(item.reshape(-1)).reshape(item.shape) for item in places]
        return [Tensor(self.array(rng)), *map(Tensor, drawn)]

    def array(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.standard_normal(self.shape) * 5).astype(self.kind)


def _joined(items: Sequence[Any], places: Sequence[int], at: Sequence[Any]) -> Any:
    parts = list(items)
    for place, index in zip(places, at):
        parts[place] = index
    return parts[0] if len(parts) == 1 else tuple(parts)


def case(rng: np.random.Generator, scratch: str) -> int:
    """A few keys: what they read, the array after it is written to, with a number, a row and a whole part, and gradients."""
    calls = [call for _ in range(CALLS) for call in _calls(rng, _Key(rng))]
    return compare_together(calls, rng, DRAWS, some_backends(rng))


def _calls(rng: np.random.Generator, key: _Key) -> Iterator[Call]:
    def read(x: np.ndarray, at: Sequence[Tensor]) -> np.ndarray:
        return np.array(x[key.of_numpy(at)])

    yield Call(key.what, lambda x, *at: x[key(at)], key.draw, check=_like_numpy(key.what, read))
    try:
        part = read(key.array(rng), ())
    except IndexError:
        return
    value = _pick(rng, [3, np.full(part.shape[-1:], 2, key.kind), np.arange(part.size).reshape(part.shape).astype(key.kind)])
    if isinstance(value, int) or not _repeats(key.of_numpy(), key.shape):  # else it is not promised which value stays
        yield _store(key, value)
    if key.kind.startswith("float"):
        yield _gradient(key, Tensor(np.asarray(rng.standard_normal(part.shape)).astype(key.kind)))


def _store(key: _Key, value: Any) -> Call:
    new = value if isinstance(value, int) else Tensor(value)

    def store(x: Tensor, *at: Tensor) -> Tensor:
        y = x.copy()
        y[key(at)] = new
        return y

    def written(x: np.ndarray, at: Sequence[Tensor]) -> np.ndarray:
        y = x.copy()
        y[key.of_numpy(at)] = value
        return y

    what = f"{key.what} = {value!r}"
    return Call(what, store, lambda rng: key.draw(rng, same_places=not isinstance(value, int)), check=_like_numpy(what, written))


def _gradient(key: _Key, weights: Tensor) -> Call:
    def slope(x: np.ndarray, at: Sequence[Tensor]) -> np.ndarray:
        found = np.zeros_like(x)
        np.add.at(found, key.of_numpy(at), weights.asnumpy())
        return found

    what = f"gradient of {key.what}"
    return Call(what, ms.grad(lambda x, *at: (x[key(at)] * weights).sum()), key.draw, check=_like_numpy(what, slope))


def _repeats(key: Any, shape: tuple[int, ...]) -> bool:
    """Whether a place is named twice."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[key]
    return len(np.unique(places)) < np.size(places)


def _like_numpy(what: str, rule: Callable[[np.ndarray, Sequence[Tensor]], np.ndarray]) -> Callable[[Sequence[Any], Any], None]:
    """A check of PyNative mode's results: NumPy's own, or refused as there."""

    def check(arguments: Sequence[Tensor], outcome: Any) -> None:
        x, *at = arguments
        try:
            wanted = rule(x.asnumpy(), at)
        except IndexError:
            assert isinstance(outcome, (IndexError, ValueError, TypeError)), f"{what}: NumPy refuses, here it is {outcome!r:.200}"
            return
        assert not isinstance(outcome, Exception), f"{what}: refused by {type(outcome).__name__}: {outcome!s:.300}"
        ((name, found),) = outcome
        forms = [f"{name}{found.shape}", f"{wanted.dtype}{wanted.shape}"]
        assert forms[0] == forms[1], f"{what}: {forms[0]}, not {forms[1]}"
        tolerance = 0.01 if name == "float16" else 1e-5
        assert np.allclose(found, wanted, tolerance, tolerance), f"{what}\n{wanted!r:.300}\n{found!r:.300}"

    return check
