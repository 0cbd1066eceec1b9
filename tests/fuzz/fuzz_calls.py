"""Wrong calls: a call of the table of operations with one argument replaced. All modes must refuse it, or give one result.

What the table calls an operation with is recorded; then an argument gets another type, shape, value, or is left out.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import Any

import numpy as np
from fuzz_compare import compare, some_backends

import mindspore as ms
from mindspore import Tensor

_TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "optable")
_SCALARS: tuple[Any, ...] = (
    -1, 0, 1, 2, 3, -3, 7, 100, 2**31, 2**40, -(2**63), 0.5, -2.5, float("nan"), float("inf"), True, False, None, "sum", "no such mode",
    (), (0,), (1, 1), (-1, 2), (0, 0, 5), [1, 2], (1.5, 2), (2**40, 2),
)  # fmt: skip
_KINDS = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "bool", "complex64")
#: what draws, measures time or reads the machine has no one result
_RANDOM = (
    "rand", "dropout", "normal", "bernoulli", "multinomial", "uniform", "gamma", "poisson", "shuffle", "perm", "laplace", "choice", "rrelu",
)  # fmt: skip


class _Place(int):
    """Stands for an input tensor in a recorded call."""


@functools.cache
def rows() -> list[Any]:
    """Rows of the table that give one result for one input, the same in all modes."""
    sys.path[:0] = [path for path in (_TABLE, os.path.dirname(_TABLE)) if path not in sys.path]
    from rows import ROWS

    return [row for row in ROWS if row.graph and not any(word in str(row).lower() for word in _RANDOM)]


def case(rng: np.random.Generator, scratch: str) -> None:
    """One call with one mistake; it may turn out to be right."""
    row = rows()[int(rng.integers(len(rows())))]
    from engine import inputs, main_code
    from table import resolve

    spelling = str(rng.choice(row.spellings))
    target = resolve(spelling)
    tensors = [ms.Tensor.from_numpy(np.array(a)) if a.dtype.name != "bfloat16" else Tensor(a) for a in inputs(row, main_code(row))]
    args, kwargs = _recorded(row, target, tensors)
    what = _mistake(rng, tensors, args, kwargs)
    settings = {key: value for key, value in kwargs.items() if not isinstance(value, _Place)}
    named = {key: value for key, value in kwargs.items() if isinstance(value, _Place)}

    def call(*xs: Any) -> Any:
        return target(*[_filled(a, xs) for a in args], **settings, **{key: xs[place] for key, place in named.items()})

    kept = [(value, value.asnumpy().copy()) for value in (*args, *kwargs.values()) if isinstance(value, ms.Parameter)]
    shown = ", ".join(f"{x.dtype}{list(x.shape)}" for x in tensors)
    compare(
        f"{spelling} on {shown} called with {args} {kwargs}; {what}",
        call,
        tensors,
        backends=some_backends(rng),
        before=lambda: [value.set_data(Tensor(array)) for value, array in kept],
    )


def _filled(value: Any, xs: tuple) -> Any:
    if isinstance(value, _Place):
        return xs[value]
    if isinstance(value, (tuple, list)) and any(isinstance(v, _Place) for v in value):
        return type(value)([_filled(v, xs) for v in value])
    return value


def _recorded(row: Any, target: Any, tensors: list[Tensor]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of the row's call, with places for its tensors."""
    found: list[tuple[list[Any], dict[str, Any]]] = []
    places = {id(tensor): _Place(i) for i, tensor in enumerate(tensors)}

    def placed(value: Any) -> Any:
        if isinstance(value, (tuple, list)) and any(id(v) in places for v in value):
            return type(value)([placed(v) for v in value])
        return places.get(id(value), value)

    def spy(*args: Any, **kwargs: Any) -> Any:
        found.append(([placed(a) for a in args], {key: placed(value) for key, value in kwargs.items()}))
        return target(*args, **kwargs)

    for name in ("__name__", "attrs", "name"):
        if hasattr(target, name):
            setattr(spy, name, getattr(target, name))
    if row.call is None:
        return [places[id(t)] for t in tensors], {}
    with contextlib.suppress(TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        row.call(spy, *tensors)  # the spy is not the operation: what was called before is enough
    return found[0] if found else ([places[id(t)] for t in tensors], {})


def _mistake(rng: np.random.Generator, tensors: list[Tensor], args: list[Any], kwargs: dict[str, Any]) -> str:
    """Replace one argument, in place; what was done."""
    choice = rng.random()
    given: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
    settings = [key for key, a in given if not isinstance(a, _Place)]
    if settings and choice < 0.45:
        key = settings[int(rng.integers(len(settings)))]
        value = _SCALARS[int(rng.integers(len(_SCALARS)))]
        (kwargs if isinstance(key, str) else args)[key] = value
        return f"argument {key} is {value!r}"
    if choice < 0.5 and args:
        return f"left out {args.pop()!r}"
    if choice < 0.55:
        args.append(_SCALARS[int(rng.integers(len(_SCALARS)))])
        return "one argument more"
    if choice < 0.6 and args:
        place = int(rng.integers(len(args)))
        args[place] = _SCALARS[int(rng.integers(len(_SCALARS)))]
        return f"argument {place} is {args[place]!r}"
    if not tensors:
        return "nothing changed"
    place = int(rng.integers(len(tensors)))
    tensors[place] = _another(rng, tensors[place])
    return f"tensor {place} changed"


def _another(rng: np.random.Generator, tensor: Tensor) -> Tensor:
    """The tensor in another type or shape, or with values that are not to be expected."""
    array = tensor.asnumpy()
    way = int(rng.integers(6))
    if way == 0 or array.size == 0:
        return tensor.astype(getattr(ms, "bool_" if (kind := str(rng.choice(_KINDS))) == "bool" else kind))
    if way == 1:
        return Tensor(array[None])
    if way == 2 and array.ndim:
        return Tensor(np.ascontiguousarray(array.take(0, axis=int(rng.integers(array.ndim)))))
    if way == 3 and array.ndim:
        axis = int(rng.integers(array.ndim))
        return Tensor(np.ascontiguousarray(np.delete(array, slice(0, int(rng.integers(1, array.shape[axis] + 1))), axis)))
    if way == 4:
        return Tensor(np.zeros_like(array))
    wild = [-1, 0, 99, 2**31 - 1] if array.dtype.kind in "iu" else [np.nan, np.inf, -np.inf, 1e38, -1.0]
    array = np.array(array)
    if array.dtype.kind in "iufc":
        with np.errstate(all="ignore"):
            array.reshape(-1)[int(rng.integers(array.size))] = np.asarray(wild[int(rng.integers(len(wild)))]).astype(array.dtype)
    return Tensor(array)
