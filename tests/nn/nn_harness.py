"""Helpers of the neural-network tests: the two array namespaces side by side, and both modes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mindspore as ms
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import values


def both_namespaces(prim: Any, *args: Any, atol: float = 1e-9) -> Any:
    """Evaluate a primitive with NumPy and with JAX (float64); both and `infer` must agree. Returns NumPy's result."""
    import jax
    import jax.experimental
    import jax.numpy as jnp

    found = prim.eval(np, *args)
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64  # before JAX 0.8
    with enable_x64(True):
        places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]

        def evaluate(*arrays: Any) -> Any:
            filled = dict(zip(places, arrays))
            return prim.eval(jnp, *(filled.get(i, a) for i, a in enumerate(args)))

        other = jax.jit(evaluate)(*(args[i] for i in places))
        other = tuple(map(np.asarray, other)) if isinstance(other, tuple) else np.asarray(other)
    abstract = prim.infer(*(values.abstract_of(ms.Tensor(a)) if isinstance(a, np.ndarray) else a for a in args))
    _compare(found, other, abstract, atol)
    return found


def _compare(found: Any, other: Any, abstract: Any, atol: float) -> None:
    if isinstance(found, tuple):
        assert isinstance(abstract, AbstractTuple)
        for f, o, a in zip(found, other, abstract.elements):
            _compare(f, o, a, atol)
        return
    assert isinstance(abstract, AbstractTensor)
    assert found.shape == abstract.shape == other.shape
    assert found.dtype == abstract.dtype.np == other.dtype
    np.testing.assert_allclose(found, other, atol=atol, rtol=atol)


@contextmanager
def mode(value: int) -> Iterator[None]:
    """Run in one mode, then go back."""
    before = ms.get_context("mode")
    ms.set_context(mode=value)
    try:
        yield
    finally:
        ms.set_context(mode=before)


def in_both_modes(run: Callable[[], Any]) -> Any:
    """Call `run` in PyNative and in graph mode; the results must agree. Returns the first."""
    with mode(ms.PYNATIVE_MODE):
        eager = _flat(run())
    with mode(ms.GRAPH_MODE):
        graph = _flat(run())
    assert len(eager) == len(graph)
    for e, g in zip(eager, graph):
        np.testing.assert_allclose(e, g, rtol=1e-4, atol=1e-5)
    return eager[0] if len(eager) == 1 else eager


def _flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in _flat(v)]
    return [] if value is None else [np.array(value.asnumpy())]
