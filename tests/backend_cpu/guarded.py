"""A program: runs graphs on arrays that lie against memory which must not be touched. A wrong access ends the process.

`python -m tests.backend_cpu.guarded end|start`: whether the forbidden page follows the arrays or precedes them.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
from ml_dtypes import bfloat16
from tests.backend_cpu.helpers import assert_same, build

import mindspore as ms
from mindspore.backends.cpu import CpuBackend, executable
from mindspore.backends.interp import InterpBackend
from mindspore.prims import activation, arrays, conv, gather_scatter, linalg, pooling, scan, sorting, special_functions
from mindspore.prims import elementwise as ew
from mindspore.prims.broadcasting import ReduceSum
from mindspore.prims.reduction import ReduceMax

PAGE = mmap.PAGESIZE
KEPT: list[Any] = []


def forbidden_beside(shape: tuple[int, ...], dtype: Any, side: str) -> np.ndarray:
    """An array that ends (or starts) exactly where an inaccessible page begins (or ends)."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    pages = max(1, -(-nbytes // PAGE))
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for page in (0, pages + 1):
        if protect(ctypes.c_void_p(base + page * PAGE), ctypes.c_size_t(PAGE), 0):
            raise OSError("memory cannot be protected here")
    KEPT.append(memory)
    offset = PAGE if side == "start" else (pages + 1) * PAGE - nbytes
    return np.frombuffer(memory, dtype, int(np.prod(shape)), offset).reshape(shape)


def main(side: str) -> None:
    executable.ResultArrays.take = lambda self: forbidden_beside(self.shape, self.dtype, side)  # type: ignore[method-assign]
    rng = np.random.default_rng(0)
    set_row, add_row = (arrays.SetItem((arrays.TENSOR_INDEX,), add) for add in (False, True))

    def run(function: Any, *given: np.ndarray, compare: bool = True) -> None:
        beside = []
        for array in given:
            copy = forbidden_beside(array.shape, array.dtype, side)
            copy[...] = array
            beside.append(copy)
        graph = build(function, *given)
        got = CpuBackend().compile(graph)(*beside)
        for g, w in zip(got, InterpBackend().compile(graph)(*given) if compare else ()):
            assert_same(g, np.asarray(w), 2e-2 if w.dtype.itemsize == 2 else 1e-4)

    def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
        return np.asarray(rng.standard_normal(shape)).astype(dtype)

    for n in (1, 3, 8, 15, 17, 31, 33, 65, 130, 1023, 5000):
        for dtype in (np.float32, np.float64, np.float16, np.int8):
            run(lambda a: (a * 2 + 1, ew.Abs()(a)), (normal(n) * 9).astype(dtype))
        run(lambda a: (ew.Exp()(a), ReduceSum()(a, ()), ReduceMax()(a, ())), normal(n))
        run(lambda a: (activation.Softmax(-1)(a), activation.Softmax(0)(a), ReduceSum()(a, 0)), normal(3, n))
        run(lambda a: (arrays.Transpose()(a, (1, 0)) + 1, a[:, ::-1] * 2, a[1:, 1:] + 1), normal(3, n + 1))
        run(lambda a, b: linalg.MatMul()(a, b), normal(n, 5), normal(5, 3))
        run(lambda a, b: linalg.MatMul()(a, b), normal(n, 5, dtype=np.float64), normal(5, 3, dtype=np.float64))
        run(
            lambda a, b: linalg.MatMul(True)(a, b),
            (normal(5, 9) * 9).astype(np.int32),
            (normal(5, n) * 9).astype(np.int32),
        )
        for dtype in (np.float32, np.float64, np.int8):
            run(
                lambda a: (*sorting.Sort(-1)(a), *sorting.TopK()(a, 1), *scan.Cummax(-1)(a)),
                (normal(2, n) * 9).astype(dtype),
            )
            run(
                lambda a: (*sorting.Sort(0)(a), scan.CumSum()(a, 0), *scan.Cummin(0)(a)),
                (normal(n, 3) * 9).astype(dtype),
            )
        run(lambda a, b: sorting.SearchSorted()(a, b), np.sort(normal(n)), normal(n + 2))
        run(lambda a: (ew.Erfinv()(a), special_functions.Digamma()(a), special_functions.Lgamma()(a)), normal(n) / 9)
    for n in range(1, 34):  # every tail of every narrow type, written beside a reduction by columns
        for wide in (np.float32, np.float64):
            x = np.abs(np.round(normal(5, n, dtype=wide) * 9))
            for narrow in (ms.float16, ms.bfloat16, ms.int8, ms.uint8, ms.int16, ms.uint16, ms.bool_):
                run(lambda a: (ew.Cast()(a * 2, narrow), ReduceSum()(a * 2, 0)), x)  # noqa: B023 (called here)
        for dtype in (np.float16, bfloat16):
            run(lambda a: (ew.Tanh()(a), ReduceSum()(ew.Tanh()(a), 0)), normal(5, n).astype(dtype))
    wild = np.array([0, 6, -7, 10**6, -(10**6), 2**31 - 1, -(2**31)], np.int32)
    run(lambda t, i: gather_scatter.Gather()(t, i, 0) * 2, normal(7, 5), wild, compare=False)
    run(lambda t, i: gather_scatter.Gather()(t, i, 1) * 2, normal(5, 7), wild.astype(np.int64) * 2**30, compare=False)
    wild = wild.astype(np.int64)
    run(lambda t, u, i: set_row(t, u, i), normal(7, 5), normal(7, 5), wild, compare=False)
    run(lambda t, u, i: add_row(t, u, i), normal(7, 5, dtype=np.float16), normal(dtype=np.float16), wild, compare=False)
    for channels in (1, 6, 16, 17):
        x, w = normal(2, channels, 9, 11), normal(6, channels, 3, 3)
        run(lambda a, b: pooling.MaxPool(2, 2)(ew.ReLU()(conv.Conv2D(6, 3)(a, b))), x, w)
    print("untouched")


if __name__ == "__main__":
    main(sys.argv[1])
