"""Hybrid kernels beside our own operations, and beside running as Python.

    python benchmarks/kernels/run.py

Both do one call by turns; the figures are the least CPU-bound of many (`time.perf_counter`, the minimum of each). "of ours" is our own
operation's time by the kernel's, so 1.00 is as fast; "of Python" is how many times faster than the interpreted kernel, which is timed on
few rows and scaled by the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops

TURNS = 15


@ops.kernel
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)  # noqa: F821
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


@ops.kernel
def softmax(x):
    y = output_tensor(x.shape, x.dtype)  # noqa: F821
    for i in range(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            y[i, j] = exp(x[i, j] - most)  # noqa: F821
            total += y[i, j]
        scale = 1.0 / total
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] * scale
    return y


@ops.kernel
def layer_norm(x, gamma, beta):
    y = output_tensor(x.shape, x.dtype)  # noqa: F821
    for i in range(x.shape[0]):
        mean = 0.0
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean = mean / x.shape[1]
        variance = 0.0
        for j in range(x.shape[1]):
            variance += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1.0 / sqrt(variance / x.shape[1] + 1e-5)  # noqa: F821
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale * gamma[j] + beta[j]
    return y


@ops.kernel
def stencil(x):
    y = output_tensor((x.shape[0] - 2, x.shape[1] - 2), x.dtype)  # noqa: F821
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 2):
            y[i, j] = 0.25 * (x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2])
    return y


def own_stencil(x: Tensor) -> Tensor:
    return 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def least(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The quickest call of each, by turns."""
    found = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(TURNS):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            found[name] = min(found[name], time.perf_counter() - begun)
    return found


def main() -> None:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    cases = [
        ("matmul 512", matmul, ops.matmul, (normal(512, 512), normal(512, 512)), (4, 4)),
        ("softmax 4096 x 1024", softmax, lambda x: ops.softmax(x, -1), (normal(4096, 1024),), (4,)),
        ("layer norm 4096 x 1024", layer_norm, lambda x, g, b: ops.layer_norm(x, (1024,), g, b, 1e-5),
         (normal(4096, 1024), normal(1024), normal(1024)), (4,)),
        ("stencil 2048 x 2048", stencil, own_stencil, (normal(2048, 2048),), (6,)),
    ]  # fmt: skip
    print(f"{'kernel':24} {'kernel ms':>10} {'ours ms':>10} {'of ours':>8} {'of Python':>10}")
    for name, kernel, own, arrays, few in cases:
        compare(name, kernel, own, arrays, few)


def compare(name: str, kernel: Any, own: Callable[..., Tensor], arrays: Any, few: tuple[int, ...]) -> None:
    """Print a row. `few`: rows, and columns of a product, on which the kernel runs as Python."""
    operation = ops.Custom(kernel)
    compiled, ours, inputs = ms.jit(lambda *given: operation(*given)), ms.jit(own), [Tensor(a) for a in arrays]
    np.testing.assert_allclose(compiled(*inputs).asnumpy(), ours(*inputs).asnumpy(), rtol=1e-3, atol=1e-3)
    found = least({"kernel": lambda: compiled(*inputs).asnumpy(), "ours": lambda: ours(*inputs).asnumpy()})
    shown = [arrays[0][: few[0]], *(a[:, : few[1]] if len(few) > 1 else a for a in arrays[1:])]
    begun = time.perf_counter()
    done = kernel(*shown).size
    python = (time.perf_counter() - begun) * compiled(*inputs).size / done
    times = f"{1e3 * found['kernel']:10.2f} {1e3 * found['ours']:10.2f}"
    print(f"{name:24} {times} {found['ours'] / found['kernel']:8.2f} {python / found['kernel']:10.0f}", flush=True)


if __name__ == "__main__":
    main()
