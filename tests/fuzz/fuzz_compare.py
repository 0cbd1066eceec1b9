"""One function, every way of running it: PyNative mode, and graphs on each backend, must agree or refuse alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore._base.optional import available

BACKENDS = ("interp", "cpu", *(("xla",) if available("jax") else ()))
#: what a call may raise that does not fit; anything else is a fault of the library
REFUSALS = (
    TypeError, ValueError, RuntimeError, IndexError, ZeroDivisionError, OverflowError, NotImplementedError, AttributeError, MemoryError,
)  # fmt: skip
#: relative to the largest value of a result: rounding of sums in another order
_TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1}


class Difference(AssertionError):
    """Two ways of running one function do not agree."""


def compare(
    what: str,
    function: Callable[..., Any],
    arguments: Iterable[Any],
    before: Callable[[], object] = lambda: None,
    noise: float = 1e-6,
) -> None:
    """Run `function` in PyNative mode and as a graph on all backends; raise Difference where results differ.

    `before` puts state that a run changes back to what it was; values below `noise` may be what rounding leaves of zero.
    """
    arguments = tuple(arguments)
    before()
    expected = _outcome(function, arguments, "pynative")
    for backend in BACKENDS:
        before()
        found = _outcome(ms.jit(function), arguments, backend)
        _agree(f"{what}\n  graph on {backend}", expected, found, noise)


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...], way: str) -> Any:
    """Results as a list of arrays, or the refusal."""
    settings = {"mode": ms.PYNATIVE_MODE} if way == "pynative" else {"mode": ms.GRAPH_MODE, "backend": way}
    with ms.context.local_context(**settings):
        try:
            given = [a.copy() if isinstance(a, ms.Tensor) else a for a in arguments]  # some operations write to them
            return [_array(leaf) for leaf in _leaves(function(*given))]
        except REFUSALS as refusal:
            return refusal


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, (ms.COOTensor, ms.RowTensor)):
        yield from (value.indices, value.values)
    elif isinstance(value, ms.CSRTensor):
        yield from (value.indptr, value.indices, value.values)
    else:
        yield value


def _array(leaf: Any) -> tuple[str, np.ndarray]:
    array = leaf.asnumpy() if isinstance(leaf, ms.Tensor) else np.asarray(leaf)
    name = array.dtype.name
    return name, array.astype(np.float64) if name in ("float16", "bfloat16") else array


def _agree(what: str, expected: Any, found: Any, noise: float) -> None:
    refused = [isinstance(outcome, Exception) for outcome in (expected, found)]
    if all(refused) or (refused[0] and "xla" in what and _unknown(found)):
        return
    if any(refused):
        raise Difference(f"{what}: PyNative mode gives {_shown(expected)}, the graph {_shown(found)}")
    if len(expected) != len(found):
        raise Difference(f"{what}: {len(expected)} results and {len(found)}")
    for (name, wanted), (other, got) in zip(expected, found):
        if name != other or wanted.shape != got.shape:
            raise Difference(f"{what}: {name}{list(wanted.shape)} and {other}{list(got.shape)}")
        if not _close(name, wanted, got, noise):
            raise Difference(f"{what}: {name}{list(wanted.shape)} differ\n{wanted!r:.400}\n{got!r:.400}")


def _unknown(found: Any) -> bool:
    """Whether all results are NaN: so XLA answers where a decomposition does not exist."""
    return all(array.dtype.kind in "fc" and np.isnan(array).all() for _, array in found)


def _close(name: str, wanted: np.ndarray, got: np.ndarray, noise: float) -> bool:
    if wanted.dtype.kind not in "fc":
        return bool(np.array_equal(wanted, got))
    finite = np.isfinite(wanted)
    if not np.array_equal(finite, np.isfinite(got)):
        return _at_the_border(name, wanted, got)
    if wanted.dtype.kind == "f" and not np.array_equal(wanted[~finite], got[~finite], equal_nan=True):
        return False
    wanted, got = wanted[finite], got[finite]
    if not wanted.size:
        return True
    tolerance = _TOLERANCE.get(name, 2e-4)
    return bool(np.all(np.abs(wanted - got) <= tolerance * (np.abs(wanted) + min(np.abs(wanted).max(), 1e30) + noise)))


def _at_the_border(name: str, wanted: np.ndarray, got: np.ndarray) -> bool:
    """Whether values that are infinite in one result alone are so by rounding: the other is next to the largest number."""
    largest = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4028e38}.get(name, 1.797e308)
    apart = np.isfinite(wanted) != np.isfinite(got)
    there = np.where(np.isfinite(wanted[apart]), wanted[apart], got[apart])
    return bool(np.all(np.abs(there) > 0.98 * largest)) and not np.isnan(wanted[apart] + got[apart]).any()


def _shown(outcome: Any) -> str:
    return f"{type(outcome).__name__}: {outcome!s:.200}" if isinstance(outcome, Exception) else f"{outcome!r:.200}"
