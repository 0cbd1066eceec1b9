"""One function, every way of running it: PyNative mode, and graphs on each backend, must agree or refuse alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

import mindspore as ms
from mindspore._base.optional import available
from mindspore.prims.checks import UnfitError

BACKENDS = ("interp", "cpu", *(("xla",) if available("jax") else ()))
#: what a call may raise that does not fit; anything else is a fault of the library
REFUSALS = (
    TypeError, ValueError, RuntimeError, IndexError, ZeroDivisionError, OverflowError, NotImplementedError, AttributeError, MemoryError,
)  # fmt: skip
#: relative to the largest value of a result: rounding of sums in another order
_TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1}
#: absolute: of numbers so small that the type has no digits for them, some units in the last place
_LEAST = {"float16": 4 * 2.0**-24}
_XLA_SHARE = 0.25


class Difference(AssertionError):
    """Two ways of running one function do not agree."""


class Call(NamedTuple):
    """A function with a way to draw arguments for it: always of the same types and shapes."""

    what: str
    function: Callable[..., Any]
    draw: Callable[[np.random.Generator], Sequence[Any]]
    noise: float = 1e-6
    check: Callable[[Sequence[Any], Any], object] | None = None  #: of arguments and what PyNative mode makes of them


def some_backends(rng: np.random.Generator) -> Sequence[str]:
    """Those of a case: XLA's compiler takes most of the time, and has a share of the cases only."""
    return BACKENDS if rng.random() < _XLA_SHARE else [b for b in BACKENDS if b != "xla"]


def compare(
    what: str,
    function: Callable[..., Any],
    *draws: Iterable[Any],
    backends: Sequence[str] = BACKENDS,
    before: Callable[[], object] = lambda: None,
    noise: float | Sequence[float] = 1e-6,
) -> None:
    """Run `function` in PyNative mode and as a graph on `backends`, on each of `draws`; raise Difference where results differ.

    `before` puts state that a run changes back to what it was; values below `noise` (of all results, or of each) may be what rounding
    leaves of zero.
    """
    arguments = [tuple(draw) for draw in draws]
    expected = []
    for given in arguments:
        before()
        expected.append(_outcome(function, given, "pynative"))
    _graphs_agree(what, function, arguments, expected, backends, noise, before)


def _graphs_agree(
    what: str,
    function: Callable[..., Any],
    draws: Sequence[tuple[Any, ...]],
    expected: Sequence[Any],
    backends: Sequence[str],
    noise: float | Sequence[float],
    before: Callable[[], object] = lambda: None,
) -> None:
    for backend in backends:
        graph = ms.jit(function)
        for arguments, outcome in zip(draws, expected, strict=True):
            before()
            _agree(f"{what}\n  graph on {backend}", outcome, _outcome(graph, arguments, backend), noise)


def compare_together(
    calls: Sequence[Call], rng: np.random.Generator, draws: int, backends: Sequence[str] = BACKENDS
) -> int:
    """Compare all calls on `draws` sets of arguments, as the results of one graph, so that most time goes to calls and not to compilers.

    Gives how many calls were compared. Arguments that PyNative mode refuses share no graph with others: the first of a call are compared
    alone, and its turns take others. Where the graph of all differs, the call that differs alone, too, is named; if none does, the fault
    is in computing them together.
    """
    shared: list[_Accepted] = []
    count = 0
    for call in calls:
        sets = [tuple(call.draw(rng)) for _ in range(draws)]
        outcomes = [_outcome(call.function, arguments, "pynative") for arguments in sets]
        for arguments, outcome in zip(sets, outcomes) if call.check is not None else ():
            call.check(arguments, outcome)
        fitting = [i for i, outcome in enumerate(outcomes) if not isinstance(outcome, Exception)]
        count += len(fitting)
        if len(fitting) < draws:
            i = next(i for i, outcome in enumerate(outcomes) if isinstance(outcome, Exception))
            _graphs_agree(call.what, call.function, sets[i : i + 1], outcomes[i : i + 1], backends, call.noise)
            count += 1
        if fitting:
            turns = [fitting[turn % len(fitting)] for turn in range(draws)]
            shared.append(_Accepted(call, [sets[i] for i in turns], [outcomes[i] for i in turns]))
    if not shared:
        return count
    together = [tuple(x for one in shared for x in one.sets[turn]) for turn in range(draws)]
    expected = [[result for one in shared for result in one.outcomes[turn]] for turn in range(draws)]
    noises = [one.call.noise for one in shared for _ in one.outcomes[0]]
    try:
        _graphs_agree("together: " + "; ".join(one.call.what for one in shared), _together(shared), together, expected, backends, noises)
    except Difference:
        for call, sets, outcomes in shared:
            _graphs_agree(call.what, call.function, sets, outcomes, backends, call.noise)
        raise
    return count


class _Accepted(NamedTuple):
    """A call with as many arguments as there are turns, and what PyNative mode makes of them."""

    call: Call
    sets: list[tuple[Any, ...]]
    outcomes: list[Any]


def _together(shared: Sequence[_Accepted]) -> Callable[..., Any]:
    """One function of the arguments of all calls, with all their results."""
    ends = np.cumsum([len(one.sets[0]) for one in shared]).tolist()
    parts = [(one.call.function, start, end) for one, start, end in zip(shared, [0, *ends], ends)]
    return lambda *xs: tuple(function(*xs[start:end]) for function, start, end in parts)


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


def _agree(what: str, expected: Any, found: Any, noise: float | Sequence[float]) -> None:
    refused = [isinstance(outcome, Exception) for outcome in (expected, found)]
    if all(refused):
        return
    on_xla = what.endswith("xla")
    if on_xla and (isinstance(expected, UnfitError) or (refused[0] and _unknown(found))):
        return  # XLA cannot refuse a matrix by its values
    if any(refused):
        raise Difference(f"{what}: PyNative mode gives {_shown(expected)}, the graph {_shown(found)}")
    if len(expected) != len(found):
        raise Difference(f"{what}: {len(expected)} results and {len(found)}")
    noises = [noise] * len(expected) if isinstance(noise, float) else noise
    for (name, wanted), (other, got), least in zip(expected, found, noises, strict=True):
        if name != other or wanted.shape != got.shape:
            raise Difference(f"{what}: {name}{list(wanted.shape)} and {other}{list(got.shape)}")
        if not _close(name, wanted, got, least) and not (on_xla and _not_finite(wanted) and _not_finite(got)):
            raise Difference(f"{what}: {name}{list(wanted.shape)} differ{_where(wanted, got)}\n{wanted!r:.400}\n{got!r:.400}")


def _where(wanted: np.ndarray, got: np.ndarray) -> str:
    """Where two arrays are furthest apart."""
    with np.errstate(all="ignore"):
        apart = np.where((wanted == got) | (np.isnan(wanted) & np.isnan(got)), 0, np.abs(np.subtract(wanted, got, dtype=complex)))
    place = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), apart.shape)
    return f", at {list(map(int, place))}: {wanted[place]} and {got[place]}"


def _unknown(found: Any) -> bool:
    """Whether no number of the results is finite: so XLA answers where a decomposition does not exist."""
    return not isinstance(found, Exception) and all(_not_finite(array) for _, array in found)


def _not_finite(array: np.ndarray) -> bool:
    return array.dtype.kind in "fc" and not np.isfinite(array).any()


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
    allowed = tolerance * (np.abs(wanted) + min(np.abs(wanted).max(), 1e30) + noise)
    return bool(np.all(np.abs(wanted - got) <= np.maximum(allowed, _LEAST.get(name, 0.0))))


def _at_the_border(name: str, wanted: np.ndarray, got: np.ndarray) -> bool:
    """Whether values that are infinite in one result alone are so by rounding: the other is next to the largest number."""
    largest = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4028e38}.get(name, 1.797e308)
    apart = np.isfinite(wanted) != np.isfinite(got)
    there = np.where(np.isfinite(wanted[apart]), wanted[apart], got[apart])
    return bool(np.all(np.abs(there) > 0.98 * largest)) and not np.isnan(wanted[apart] + got[apart]).any()


def _shown(outcome: Any) -> str:
    return f"{type(outcome).__name__}: {outcome!s:.200}" if isinstance(outcome, Exception) else f"{outcome!r:.200}"
