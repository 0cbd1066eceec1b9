"""Building graphs by hand and comparing the native backend with the reference machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import Tensor  # noqa: F401 (values.from_node makes tensors, and this tells it what they are)
from mindspore._base import dtype as mstype
from mindspore.backends.cpu import CpuBackend
from mindspore.backends.interp import InterpBackend
from mindspore.compiler.builder import Builder
from mindspore.ir import AbstractTensor, FuncGraph
from mindspore.prims import values

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 3e-5, "float64": 1e-12}


def build(function: Any, *arrays: np.ndarray) -> FuncGraph:
    """The graph of a function of tensors."""
    builder = Builder(FuncGraph("test"))
    parameters = [
        builder.graph.add_parameter(f"x{i}", AbstractTensor(mstype.from_numpy(a.dtype), a.shape))
        for i, a in enumerate(arrays)
    ]
    with builder.active():
        out = function(*(values.from_node(p) for p in parameters))
        out = out if isinstance(out, tuple) else (out,)
        builder.graph.output = builder.make_tuple([builder.node_of(o) for o in out])
    return builder.graph


def assert_same(got: np.ndarray, want: np.ndarray, tolerance: float | None = None) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    tolerance = tolerance or TOLERANCE[want.dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance)


def check(function: Any, *arrays: np.ndarray, tolerance: float | None = None, flags: str = "") -> Any:
    """Compile and run twice; compare with the reference machine; return the executable."""
    graph = build(function, *arrays)
    copies = [a.copy() for a in arrays]
    want = InterpBackend().compile(graph)(*arrays)
    executable = CpuBackend(flags).compile(graph)
    for _ in range(2):
        got = executable(*arrays)
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert_same(g, np.asarray(w), tolerance)
    for array, copy in zip(arrays, copies):
        np.testing.assert_array_equal(array, copy)  # inputs are left alone
    return executable
