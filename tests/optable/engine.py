"""Runs rows of the table: eagerly in every element type, compiled on every backend, differentiated, mapped, empty."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from table import ROWS, TYPES, Fixed, Row, varied

import mindspore as ms
from gradcheck import as_list, check_gradients, weighted_sum
from mindspore import Tensor
from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.runtime import devices

EPSILON = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "complex64": 1e-6, "float64": 1e-13, "complex128": 1e-13}
CHUNK = 16  # rows that are compiled together


# -- inputs and comparison --------------------------------------------------------------------------------------------
def kind_of(row: Row) -> str:
    """The kind of the inputs that change their element type: "f", or "i" where no input is floating."""
    kinds = [np.asarray(x).dtype.kind for x in row.inputs if not isinstance(x, Fixed)]
    return "f" if "f" in kinds else (kinds or ["f"])[0]


def inputs(row: Row, code: str) -> list[np.ndarray]:
    return [varied(x, code, kind_of(row)) for x in row.inputs]


def main_code(row: Row) -> str:
    """The element type in which a row is compiled."""
    codes = row.dtypes.split()
    return next((c for c in ("f", "i", "l", "F", "?") if c in codes), codes[0])


def wide(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "biu":
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def expected_of(row: Row, arrays: list[np.ndarray]) -> list[Any]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_list(row.oracle(*(wide(a) for a in arrays)))


def flat(value: Any) -> list[Any]:
    """The arrays of a result, nested tuples flattened."""
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flat(v)]
    return [value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)]


def compare(row: Row, found: Any, expected: list[Any], first: np.ndarray | None) -> None:
    found, expected = flat(found), [np.asarray(e) for e in flat(expected)]
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    for f, e in zip(found, expected):
        assert f.shape == e.shape, f"shape {f.shape}, expected {e.shape}"
        if f.dtype.kind in "biu" or f.dtype.name not in EPSILON:
            np.testing.assert_array_equal(f, e.astype(f.dtype) if e.dtype.kind in "fc" else e)
            continue
        if row.keeps and first is not None and wide(first).dtype.kind == "f" and f.dtype.kind == "f":
            assert f.dtype == first.dtype, f"result of {f.dtype}, expected {first.dtype}"
        scale = max(1.0, float(np.abs(wide(e)[np.isfinite(e)]).max(initial=0.0))) if e.size else 1.0
        tolerance = 8 * row.tolerance * EPSILON[coarsest(f, first)]
        np.testing.assert_allclose(wide(f), wide(e), tolerance, tolerance * scale)


def coarsest(result: np.ndarray, first: np.ndarray | None) -> str:
    """The less exact of the types of the result and of the input it was computed from."""
    names = [a.dtype.name for a in (result, first) if a is not None and a.dtype.name in EPSILON]
    return max(names, key=lambda n: EPSILON[n])


# -- PyNative ---------------------------------------------------------------------------------------------------------
class CheckingDevice(devices.NumpyDevice):
    """Evaluates on NumPy and compares type and shape with what inference promised."""

    def evaluate(self, prim: Any, arrays: list) -> Any:
        out = super().evaluate(prim, arrays)
        promised = prim.infer(*(_abstract(a) for a in arrays))
        _compare_abstract(prim, out, promised)
        return out


def _abstract(value: Any) -> Any:
    return AbstractTensor(mstype.from_numpy(value.dtype), value.shape) if isinstance(value, np.ndarray) else value


def _compare_abstract(prim: Any, out: Any, promised: Any) -> None:
    if isinstance(promised, AbstractTuple):
        for o, p in zip(out, promised.elements):
            _compare_abstract(prim, o, p)
    elif isinstance(promised, AbstractTensor):
        found = (np.shape(out), np.asarray(out).dtype)
        assert found == (promised.shape, promised.dtype.np), f"{prim}: evaluated {found}, inferred {promised}"


@contextmanager
def checking() -> Iterator[None]:
    saved = devices.current()
    devices.use(CheckingDevice())
    try:
        yield
    finally:
        devices.use(saved)


def check_eager(row: Row) -> None:
    """Every spelling, every element type."""
    codes = row.dtypes.split()
    for spelling in row.spellings:
        function = row.function(spelling)
        for code in codes:
            arrays = inputs(row, code)
            with checking():
                try:
                    found = function(*map(Tensor, arrays))
                    compare(row, found, expected_of(row, arrays), arrays[0] if arrays else None)
                except Exception as error:
                    error.add_note(f"{spelling} in {TYPES[code]}")
                    raise
    if row.empty:
        check_empty(row)


def check_other_types(row: Row) -> None:
    """Element types that a row does not name: refused in words, or computed as inference promised."""
    for code in TYPES:
        if code in row.dtypes.split() or (kind_of(row) != "f" and code in ("e", "b", "f", "d", "F", "D")):
            continue
        try:
            with checking():
                row.function()(*map(Tensor, inputs(row, code)))
        except (TypeError, ValueError) as error:
            assert str(error).startswith("For '"), f"{row} in {TYPES[code]}: {error}"


def check_empty(row: Row) -> None:
    """Tensors without elements: the first axis of full rank has length 0."""
    arrays = inputs(row, main_code(row))
    rank = max(a.ndim for a in arrays)
    arrays = [a[:0] if a.ndim == rank and a.shape[0] != 1 else a for a in arrays]
    with checking():
        found = row.function()(*map(Tensor, arrays))
    compare(row, found, expected_of(row, arrays), arrays[0])


# -- gradients --------------------------------------------------------------------------------------------------------
def floating(row: Row, code: str) -> tuple[Callable, list[np.ndarray]]:
    """The operation as a function of its floating inputs alone, and those."""
    arrays = inputs(row, code)
    constants = [None if a.dtype.kind == "f" or a.dtype.name == "bfloat16" else Tensor(a) for a in arrays]
    function = row.function()

    def of_floats(*xs: Any) -> Any:
        supply = iter(xs)
        return function(*[next(supply) if c is None else c for c in constants])

    return of_floats, [a for a, c in zip(arrays, constants) if c is None]


def check_gradient(row: Row) -> None:
    """First and second order, eagerly in float64, against central differences."""
    function, arrays = floating(row, "d")
    if arrays:
        check_gradients(function, *arrays, order=row.grad)


def check_complex_gradient(row: Row) -> None:
    """d/dx + i d/dy of a weighted sum of real and imaginary parts, in complex128, against central differences."""
    arrays, function = inputs(row, "D"), row.function()
    places = [i for i, a in enumerate(arrays) if a.dtype.kind == "c"]
    weights = [_complex_weights(o.shape) for o in flat(function(*map(Tensor, arrays))) if o.dtype.kind in "fc"]
    if not weights:
        return

    def scalar(*zs: Any) -> Any:
        full = [Tensor(a) for a in arrays]
        for place, z in zip(places, zs):
            full[place] = z
        outs = [o for o in as_list(function(*full)) if o.dtype.kind in "fc"]
        parts = [
            (ms.ops.real(o) * Tensor(w.real) + ms.ops.imag(o) * Tensor(w.imag)).sum() for o, w in zip(outs, weights)
        ]
        return sum(parts[1:], parts[0])

    points = [arrays[i] for i in places]
    found = flat(ms.grad(scalar, tuple(range(len(points))))(*map(Tensor, points)))
    for i, point in enumerate(points):
        for place in np.ndindex(*point.shape):
            slopes = []
            for step in (1e-6, 1e-6j):
                moved = [[p + sign * step * (np.arange(p.size).reshape(p.shape) == np.ravel_multi_index(place, p.shape))
                          if k == i else p for k, p in enumerate(points)] for sign in (1, -1)]  # fmt: skip
                ahead, behind = (float(scalar(*map(Tensor, m)).asnumpy()) for m in moved)
                slopes.append((ahead - behind) / 2e-6)
            np.testing.assert_allclose(found[i][place], complex(*slopes), 1e-4, 1e-4)


def _complex_weights(shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(6)
    return rng.uniform(0.5, 1.5, shape) + 1j * rng.uniform(0.5, 1.5, shape)


# -- vmap -------------------------------------------------------------------------------------------------------------
def check_vmap(row: Row) -> None:
    """Mapped over a new first axis, against one call per element."""
    arrays = inputs(row, main_code(row))
    function = row.function()
    batches = [np.stack([a, _another(a)]) for a in arrays]
    with backend_set("interp"):
        found = flat(ms.vmap(function)(*map(Tensor, batches)))
    singles = [flat(function(*(Tensor(b[i]) for b in batches))) for i in range(2)]
    expected = [np.stack(pair) for pair in zip(*singles)]
    compare(row, found, expected, arrays[0])


def _another(x: np.ndarray) -> np.ndarray:
    """Something else that is as good an input: smaller numbers, or indices in another order."""
    if x.dtype.kind in "biu":
        return np.roll(x, 1, 0) if x.ndim else x
    return (x * 0.75).astype(x.dtype)


# -- compiled ---------------------------------------------------------------------------------------------------------
def differentiable(row: Row) -> bool:
    return row.grad > 0 and main_code(row) == "f" and kind_of(row) == "f"


def compiled_codes(row: Row) -> list[str]:
    """The element types in which a row is compiled: the main one, and half and double precision."""
    return [main_code(row), *(c for c in ("e", "d") if c in row.dtypes.split() and c != main_code(row))]


def compiled_function(row: Row, code: str) -> tuple[Callable, list[np.ndarray]]:
    """What is compiled of a row: the result and, in the main element type, the gradient of a weighted sum of it."""
    function, arrays = row.function(), inputs(row, code)
    if code != main_code(row) or not differentiable(row):
        return (lambda *xs: (function(*xs), ())), arrays
    of_floats, points = floating(row, "f")
    gradient = ms.grad(weighted_sum(of_floats, weights_of(row)), tuple(range(len(points))))
    places = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    return (lambda *xs: (function(*xs), gradient(*[xs[i] for i in places]))), arrays


@functools.cache
def weights_of(row: Row) -> list[np.ndarray]:
    outs = flat(row.function()(*map(Tensor, inputs(row, "f"))))
    rng = np.random.default_rng(5)
    return [rng.uniform(0.5, 1.5, o.shape) for o in outs if o.dtype.kind == "f"]


def chunk_of(row: Row, code: str) -> tuple[Row, ...]:
    """The rows of its family that `row` is compiled with."""
    main = code == main_code(row)
    family = [
        r
        for r in ROWS
        if r.family == row.family and r.graph and (main_code(r) == code) == main and code in compiled_codes(r)
    ]
    place = family.index(row) // CHUNK * CHUNK
    return tuple(family[place : place + CHUNK])


@functools.cache
def run_compiled(rows: tuple[Row, ...], code: str, backend: str) -> list[Any]:
    """The results of rows compiled into one graph; one by one if that fails, so that the culprit is known."""
    with backend_set(backend), warnings.catch_warnings():
        warnings.simplefilter("error")  # a function that runs as plain Python after all has not been compiled
        try:
            return _run_together([compiled_function(r, code) for r in rows])
        except Exception as error:
            if len(rows) == 1:
                return [error]
    return [run_compiled((r,), code, backend)[0] for r in rows]


def _run_together(pieces: list[tuple[Callable, list[np.ndarray]]]) -> list[Any]:
    counts = [len(arrays) for _, arrays in pieces]
    starts = [sum(counts[:i]) for i in range(len(counts))]
    functions = [f for f, _ in pieces]

    @ms.jit
    def together(*xs: Any) -> Any:
        return tuple([f(*xs[s : s + c]) for f, s, c in zip(functions, starts, counts)])

    return list(together(*[Tensor(a) for _, arrays in pieces for a in arrays]))


@contextmanager
def backend_set(name: str) -> Iterator[None]:
    before = ms.get_context("backend")
    ms.set_context(backend=name)
    try:
        yield
    finally:
        ms.set_context(backend=before)


def check_compiled(row: Row, backend: str) -> None:
    for code in compiled_codes(row):
        chunk = chunk_of(row, code)
        result = run_compiled(chunk, code, backend)[chunk.index(row)]
        if isinstance(result, Exception):
            raise result
        found, grads = result
        arrays = inputs(row, code)
        compare(row, found, expected_of(row, arrays), arrays[0] if arrays else None)
        eager = flat(row.function()(*map(Tensor, arrays)))
        assert [a.dtype for a in flat(found)] == [a.dtype for a in eager], "types differ from those in PyNative mode"
        if not (isinstance(grads, tuple) and not grads):
            _compare_gradients(row, grads)


def _compare_gradients(row: Row, grads: Any) -> None:
    """With those computed eagerly in float64, which `check_gradient` compares with central differences."""
    function, points = floating(row, "d")
    scalar = weighted_sum(function, weights_of(row))
    exact = ms.grad(scalar, tuple(range(len(points))))(*map(Tensor, points))
    for f, e in zip(flat(grads), flat(exact)):
        scale = max(1.0, float(np.abs(e[np.isfinite(e)]).max(initial=0.0)))
        np.testing.assert_allclose(wide(f), e, 1e-4 * row.tolerance, 1e-5 * scale * row.tolerance)


# -- mistakes ---------------------------------------------------------------------------------------------------------
def mistaken(arrays: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """The inputs with one of wrong rank, size or element type; some of these are no mistakes."""
    for i, a in enumerate(arrays[:2]):
        changed = [a[None], a.astype(np.complex64), a.astype(np.bool_)]
        changed += [a.reshape(-1)[0]] if a.size else []
        changed += [np.concatenate([a, a], -1)[..., : a.shape[-1] + 2]] if a.ndim else []
        for other in changed:
            yield [*arrays[:i], np.asarray(other), *arrays[i + 1 :]]


def check_mistakes(row: Row) -> None:
    """Whatever comes of them (a result, or an error with its words) is the same in both modes."""
    function = row.function()
    with backend_set("interp"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arrays in mistaken(inputs(row, main_code(row))):
            tensors = [Tensor(a) for a in arrays]
            eager, graph = (_outcome(f, tensors) for f in (function, ms.jit(lambda *xs: function(*xs))))
            assert eager == graph, f"shapes {[a.shape for a in arrays]}, types {[a.dtype.name for a in arrays]}"


def _outcome(function: Callable, tensors: list[Tensor]) -> Any:
    try:
        return [(a.dtype, a.shape) for a in flat(function(*tensors))]
    except (TypeError, ValueError, IndexError) as error:
        return type(error), str(error).split("\n")[0]
