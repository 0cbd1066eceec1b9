"""Generated kernels called directly: strides, reductions, threads, and memory beyond the ends."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

from mindspore.backends.cpu import kernels
from mindspore.backends.cpu.codegen.spec import Axis, Buffer, Instr, Kernel, simplify

F = "float32"


def reduction(shape: tuple[int, ...], reduced: set[int], kind: str = "sum") -> Kernel:
    """y = reduce(x * x), and x - y stored in full."""
    full = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    kept = [d for i, d in enumerate(shape) if i not in reduced]
    steps, step = {}, 1
    for i in reversed(range(len(shape))):
        if i not in reduced:
            steps[i] = step
            step *= shape[i]
    row = tuple(steps.get(i, 0) for i in range(len(shape)))
    del kept
    code = (
        Instr("load", F, (), 0), Instr("mul", F, (0, 0)), Instr("reduce", F, (1,), kind), Instr("sub", F, (0, 2)),
    )  # fmt: skip
    axes = tuple(Axis(d, i in reduced) for i, d in enumerate(shape))
    return Kernel(axes, (Buffer(F, full), Buffer(F, row), Buffer(F, full)), code, ((1, 2), (2, 3)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([1, 2, 3, 5, 16, 17, 40, 129]), min_size=1, max_size=4), st.data())
def test_reductions_over_any_axes(dims, data):
    shape = tuple(dims)
    if np.prod(shape) > 200_000:
        shape = shape[:2]
    reduced = set(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    threads = data.draw(st.integers(1, 3))
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    squares = (x.astype(np.float64) ** 2).sum(tuple(reduced), keepdims=True) if reduced else x.astype(np.float64) ** 2
    y = np.empty(tuple(d for i, d in enumerate(shape) if i not in reduced), np.float32)
    z = np.empty(shape, np.float32)
    kernels.call(reduction(shape, reduced), [x, y, z], threads)
    np.testing.assert_allclose(y, squares.reshape(y.shape), rtol=1e-5)
    np.testing.assert_allclose(z, x - squares, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 100, 100_003])
def test_sum_of_everything_is_deterministic(n, threads):
    x = np.random.default_rng(1).standard_normal(n).astype(np.float32)
    kernel = Kernel(
        (Axis(n, True),),
        (Buffer(F, (1,)), Buffer(F, (0,))),
        (Instr("load", F, (), 0), Instr("reduce", F, (0,), "sum")),
        ((1, 1),),
    )
    results = set()
    for _ in range(3):
        out = np.empty((), np.float32)
        kernels.call(kernel, [x, out], threads)
        results.add(out.tobytes())
    assert len(results) == 1
    np.testing.assert_allclose(
        np.frombuffer(results.pop(), np.float32)[0], x.astype(np.float64).sum(), rtol=1e-4, atol=1e-3
    )


def test_long_sums_stay_accurate():
    x = np.random.default_rng(0).random(3_000_000).astype(np.float32)
    out = np.empty((), np.float32)
    code = (Instr("load", F, (), 0), Instr("reduce", F, (0,), "sum"))
    kernels.call(Kernel((Axis(x.size, True),), (Buffer(F, (1,)), Buffer(F, (0,))), code, ((1, 1),)), [x, out], 1)
    assert abs(float(out) / x.astype(np.float64).sum() - 1) < 2e-7


def guarded(nbytes: int) -> tuple[int, list]:
    """Memory whose last byte is followed by a page that must not be touched."""
    page = mmap.PAGESIZE
    pages = -(-nbytes // page)
    area = mmap.mmap(-1, (pages + 1) * page)
    base = ctypes.addressof((ctypes.c_char * 1).from_buffer(area))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(base + pages * page, page, 0) == 0
    return base + pages * page - nbytes, [area, protect, base + pages * page, page]


def release(keep: list) -> None:
    area, protect, address, page = keep
    protect(address, page, 3)
    del area


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "float64"])
@pytest.mark.parametrize("n", [1, 7, 16, 31, 100])
def test_nothing_is_touched_beyond_the_end(n, dtype):
    """A read or write past a buffer would end the process."""
    size = np.dtype(dtype).itemsize
    source, keep_source = guarded(n * size)
    target, keep_target = guarded(n * size)
    kernel = Kernel(
        (Axis(n),),
        (Buffer(dtype, (1,)), Buffer(dtype, (1,))),
        (Instr("load", dtype, (), 0), Instr("add", dtype, (0, 0))),
        ((1, 1),),
    )
    compiled, extent = kernels.compile(kernel)
    block = compiled.block(1, extent, 0, [source, target])
    ctypes.memset(source, 0, n * size)
    assert kernels.jit.callable_at(compiled.address)(ctypes.addressof(block)) == 0
    assert ctypes.string_at(target, n * size) == bytes(n * size)
    release(keep_source)
    release(keep_target)


def test_gather_positions_outside_stay_inside():
    """Out-of-range positions are moved to the border: no read outside the table."""
    table = np.arange(5, dtype=np.float32)
    index = np.array([0, 4, -1, 5, 1000, -1000], np.int64)
    out = np.empty(6, np.float32)
    code = (Instr("load", "int64", (), 1), Instr("load_at", F, (0,), (0, ((1, 5),))))
    kernel = Kernel((Axis(6),), (Buffer(F, (0,)), Buffer("int64", (1,)), Buffer(F, (1,))), code, ((2, 1),))
    kernels.call(kernel, [table, index, out])
    np.testing.assert_array_equal(out, [0, 4, 4, 4, 4, 0])


def test_axes_are_merged():
    full = (12, 4, 1)
    kernel = Kernel(
        (Axis(2), Axis(3), Axis(4)), (Buffer(F, full), Buffer(F, full)), (Instr("load", F, (), 0),), ((1, 0),)
    )
    assert [a.extent for a in simplify(kernel).axes] == [24]
    assert simplify(kernel).dynamic


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "shape,reduced", [((3, 20_011), {1}), ((20_011, 5), {0}), ((7, 2, 50, 61), {0, 2, 3}), ((1, 90, 99, 16), {1, 2})]
)
def test_several_passes_over_few_tiles(shape, reduced, threads):
    """All threads work on each tile; what the passes need of each other goes through memory and barriers."""
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    squares = (x.astype(np.float64) ** 2).sum(tuple(reduced), keepdims=True)
    results = set()
    for _ in range(3):
        y = np.empty(tuple(d for i, d in enumerate(shape) if i not in reduced), np.float32)
        z = np.full(shape, np.nan, np.float32)
        kernels.call(reduction(shape, reduced), [x, y, z], threads)
        results.add((y.tobytes(), z.tobytes()))
    assert len(results) == 1
    np.testing.assert_allclose(y, squares.reshape(y.shape), rtol=1e-5)
    np.testing.assert_allclose(z, x - squares, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_kept_exponentials_of_few_long_rows(threads):
    """Softmax: the exponentials of the second pass are kept for the third, in memory that threads share."""
    shape = (3, 9_001)
    axes = (Axis(shape[0]), Axis(shape[1], True))
    code = (
        Instr("load", F, (), 0), Instr("reduce", F, (0,), "max"), Instr("sub", F, (0, 1)), Instr("exp", F, (2,)),
        Instr("reduce", F, (3,), "sum"), Instr("div", F, (3, 4)),
    )  # fmt: skip
    kernel = Kernel(axes, (Buffer(F, (shape[1], 1)), Buffer(F, (shape[1], 1))), code, ((1, 5),))
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    y = np.full(shape, np.nan, np.float32)
    kernels.call(kernel, [x, y], threads)
    powers = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-5)
