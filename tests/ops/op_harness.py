"""Runs one operation in every way it can run, and compares.

`check(fn, oracle, *arrays)` computes `fn` on tensors eagerly and compiled, and compares with `oracle` on the arrays. On
the way every primitive that runs is checked too: its inferred shape and type against the evaluated ones, and NumPy's
evaluation against jax.numpy's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor
from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.runtime import devices

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)


class CheckingDevice(devices.NumpyDevice):
    """Evaluates on NumPy, compares with inference and (once per kind of call) with jax.numpy."""

    seen: set = set()

    def evaluate(self, prim: Any, arrays: list) -> Any:
        arrays = [np.asarray(a) if hasattr(a, "__array__") else a for a in arrays]
        out = super().evaluate(prim, arrays)
        abstract = prim.infer(*(_abstract(a) for a in arrays))
        _compare_abstract(prim, out, abstract)
        call = repr((prim.key(), [_abstract(a) for a in arrays]))
        if call not in self.seen and not any(getattr(a, "dtype", None) == np.float64 for a in arrays):
            self.seen.add(call)
            rule = prim.eval_xla or prim.eval
            other = rule(jax.numpy, *(jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in arrays))
            _compare_arrays(prim, out, other)
        return out


def _abstract(value: Any) -> Any:
    return AbstractTensor(mstype.from_numpy(value.dtype), value.shape) if isinstance(value, np.ndarray) else value


def _compare_abstract(prim: Any, out: Any, abstract: Any) -> None:
    if isinstance(abstract, AbstractTuple):
        for o, a in zip(out, abstract.elements):
            _compare_abstract(prim, o, a)
    else:
        found = (np.shape(out), np.asarray(out).dtype)
        assert found == (abstract.shape, abstract.dtype.np), f"{prim}: evaluated {found}, inferred {abstract}"


def _compare_arrays(prim: Any, out: Any, other: Any) -> None:
    if isinstance(out, tuple):
        for o, x in zip(out, other):
            _compare_arrays(prim, o, x)
        return
    other = np.asarray(other)
    assert other.dtype == np.asarray(out).dtype, f"{prim}: {other.dtype} on jax.numpy"
    assert_close(other, out, 2e-5)


def assert_close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
    else:
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(found.astype(wide), expected.astype(wide), tolerance, tolerance)


@contextlib.contextmanager
def checking() -> Iterator[None]:
    saved = devices.current()
    devices.use(CheckingDevice())
    try:
        yield
    finally:
        devices.use(saved)


def check(
    fn: Callable,
    oracle: Any,
    *arrays: Any,
    grad: Any = 2,
    tolerance: float = 1e-5,
    jit: bool = True,
    dtypes: bool = True,
) -> None:
    """Forward eagerly (float32 and float64) and compiled, against `oracle`; then gradients of order `grad`."""
    floats = [np.float32, np.float64] if dtypes else [None]
    for dtype in floats:
        data = [a.astype(dtype) if dtype and a.dtype.kind == "f" else a for a in map(np.asarray, arrays)]
        expected = oracle(*data) if callable(oracle) else oracle
        with checking():
            _compare_outputs(fn(*map(Tensor, data)), expected, tolerance)
        if jit and dtype in (np.float32, None):
            _compare_outputs(ms.jit(fn)(*map(Tensor, data)), expected, tolerance)
    if grad:
        constants = [None if a.dtype.kind == "f" else Tensor(a) for a in map(np.asarray, arrays)]
        variables = [a for a in map(np.asarray, arrays) if a.dtype.kind == "f"]

        def of_floats(*xs: Any) -> Any:
            supply = iter(xs)
            return fn(*(next(supply) if c is None else c for c in constants))

        if variables:
            check_gradients(of_floats, *variables, order=grad)


def _compare_outputs(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(found, (tuple, list)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected):
            _compare_outputs(f, e, tolerance)
    else:
        assert_close(found.asnumpy(), expected, tolerance)
