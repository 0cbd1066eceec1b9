"""Hybrid kernels in machine code: the same as running them as Python, gradients, indices outside, what cannot be compiled."""
# ruff: noqa: F821 - kernels know names of their own

import math
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.backends import cpu
from mindspore.compiler.hybrid.program import named
from mindspore.compiler.hybrid.reader import read
from mindspore.compiler.hybrid.reverse import gradient
from mindspore.ops._hybrid_names import INTRINSICS

pytestmark = pytest.mark.skipif(not cpu.available(), reason="the native backend is not installed")
SIZE = 3
RNG = np.random.default_rng(0)


@ops.kernel
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


@ops.kernel
def accumulated(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i, k, j in grid((a.shape[0], a.shape[1], b.shape[1])):
        c[i, j] += a[i, k] * b[k, j]
    return c


@ops.kernel
def softmax(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            y[i, j] = exp(x[i, j] - most)
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] / total
    return y


@ops.kernel
def layer_norm(x, gamma):
    y = output_tensor(x.shape, x.dtype)
    rows, columns = x.shape
    for i in range(rows):
        mean = 0.0
        for j in range(columns):
            mean += x[i, j]
        mean = mean / columns
        variance = 0.0
        for j in range(columns):
            variance += (x[i, j] - mean) ** 2
        scale = 1.0 / sqrt(variance / columns + 1e-5)
        for j in range(columns):
            y[i, j] = (x[i, j] - mean) * scale * gamma[j]
    return y


@ops.kernel
def stencil(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
    return y


@ops.kernel
def borders(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i > 0 and j < x.shape[1] - 1:
                y[i, j] = x[i - 1, j + 1] * SIZE
            elif i == 0:
                y[i, j] = -x[i, -1]
            else:
                y[i, j] = tanh(x[i, j])
    return y


@ops.kernel
def recurrence(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        state = 0.0
        for j in range(x.shape[1] - 1, -1, -1):
            state = 0.5 * state + x[i, j]
            y[i, j] = state if state > 0 else state * 0.1
    return y


@ops.kernel
def triangle(x):
    y = output_tensor((x.shape[0],), x.dtype)
    for i in range(x.shape[0]):
        for j in range(i % x.shape[1] + 1):
            y[i] += abs(x[i, j]) + math.sqrt(j)
    return y


@ops.kernel
def two_results(x):
    y = output_tensor(x.shape, x.dtype)
    z = allocate(x.shape, x.dtype)
    w = output_tensor((x.shape[1], x.shape[0]), "int32")
    for i, j in grid(x.shape):
        z[i, j] = x[i, j] + i // 2 - j % 3
        w[j, i] = int(z[i, j]) * 2
    for i, j in grid(x.shape):
        y[i, j] = min(z[i, j], 1.0)
    return y, w


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


CASES = [
    (matmul, normal(9, 21), normal(21, 37)), (accumulated, normal(5, 7), normal(7, 18)), (softmax, normal(7, 45)),
    (layer_norm, normal(6, 40), normal(40)), (stencil, normal(12, 50)), (borders, normal(5, 21)), (recurrence, normal(4, 33)),
    (triangle, normal(20, 9)), (two_results, normal(6, 19)),
]  # fmt: skip


def program_of(kernel, arrays):
    return read(kernel, [(a.shape, named(a.dtype)) for a in arrays], INTRINSICS)


@pytest.mark.parametrize("kernel, arrays", [(k, a) for k, *a in CASES], ids=[k.__name__ for k, *_ in CASES])
def test_all_schedules_give_what_python_gives(kernel, arrays):
    from mindspore.backends.cpu.hybrid import Kernel, Schedule, schedules

    wanted = kernel(*arrays)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    program = program_of(kernel, arrays)
    tried = schedules() if kernel is matmul else [schedules()[0], Schedule(), Schedule(ahead=True), Schedule(wide=False)]
    for schedule in tried:
        for threads in (1, 2, 3):
            for found, right in zip(Kernel(program, schedule)(arrays, threads), wanted, strict=True):
                assert found.dtype == right.dtype
                np.testing.assert_allclose(found, right, rtol=2e-5, atol=2e-5, err_msg=f"{schedule} {threads}")


@pytest.mark.parametrize("kernel, asked", [(softmax, {"x": 45, "y": 45}), (layer_norm, {"x": 40}), (stencil, {}), (matmul, {})])
def test_rows_that_are_read_again_ask_for_the_next_one(kernel, asked):
    from mindspore.backends.cpu.hybrid import Schedule, Writer

    writer = Writer(program_of(kernel, next(rest for k, *rest in CASES if k is kernel)), Schedule(ahead=True))
    text = writer.write("k")
    found = {array: distance for loop in writer.askers.values() for (array, _), distance in loop.items()}
    assert found == asked
    assert ("llvm.prefetch" in text) == bool(asked)


@ops.kernel
def two_columns(x):
    y = output_tensor((x.shape[0], 2), x.dtype)
    for i in range(x.shape[0]):
        y[i, 0] = x[i, 0] * x[i, 1]
        y[i, 1] = tanh(x[i, 1]) + y[i, 0] ** 2
    return y


@ops.kernel
def changed_twice(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, j]
    for i in range(x.shape[0]):
        y[i, 0] = y[i, 0] * y[i, 1]
    return y


@pytest.mark.parametrize("kernel", [matmul, softmax, layer_norm, stencil, borders, two_columns, changed_twice], ids=lambda k: k.__name__)
def test_gradients_are_differences(kernel):
    from mindspore.backends.cpu.hybrid import Kernel, Schedule

    given = next((rest for k, *rest in CASES if k is kernel), [normal(5, 4)])
    arrays = [(a[:6, :9] if a.ndim == 2 else a[:9]).astype(np.float64) for a in given]
    if kernel is matmul:
        arrays = [RNG.standard_normal((4, 5)), RNG.standard_normal((5, 19))]
    sensitivity = RNG.standard_normal(kernel(*arrays).shape)
    found = Kernel(gradient(program_of(kernel, arrays)), Schedule(4, 1))([*arrays, sensitivity], 2)
    for n, array in enumerate(arrays):
        assert found[n].shape == array.shape
        for _ in range(5):
            at = tuple(RNG.integers(0, s) for s in array.shape)
            both = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arrays]
                moved[n][at] += step
                both.append((kernel(*moved) * sensitivity).sum())
            assert found[n][at] == pytest.approx((both[0] - both[1]) / 2e-6, abs=1e-6)


def test_they_work_in_networks_in_both_modes():
    op, weight = ops.Custom(softmax), Tensor(normal(6, 9))
    x = Tensor(normal(6, 9))
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        with ms.context.local_context(mode=mode):
            np.testing.assert_allclose(op(x).asnumpy(), ops.softmax(x, -1).asnumpy(), atol=1e-6)
            found = ms.grad(lambda x: (op(x * 2) * weight).sum())(x)
            wanted = ms.grad(lambda x: (ops.softmax(x * 2, -1) * weight).sum())(x)
            np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), atol=1e-6)
    y, w = ms.jit(lambda x: ops.Custom(two_results, func_type="akg")(x))(x)
    for found, right in zip((y, w), two_results(x.asnumpy())):
        np.testing.assert_array_equal(found.asnumpy(), right)


@ops.kernel
def picked(x, index):
    y = output_tensor(index.shape, x.dtype)
    for i in range(index.shape[0]):
        y[i] = x[index[i]] / 2
    return y


@ops.kernel
def beyond(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i + 1]
    return y


@ops.kernel
def divided(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i] + 6 // (i - 2)
    return y


def test_indices_outside_are_caught_in_both_modes():
    x, good, bad = Tensor(normal(5)), Tensor([4, -5, 0], ms.int32), Tensor([0, 7, 1], ms.int32)
    op = ops.Custom(picked)
    np.testing.assert_array_equal(op(x, good).asnumpy(), x.asnumpy()[[4, -5, 0]] / 2)
    for wrap in (lambda f: f, ms.jit):
        with pytest.raises(IndexError, match=r"kernel 'picked', line \d+: index 7 is out of range for dimension 0 of 'x' with size 5"):
            wrap(lambda x, i: op(x, i))(x, bad).asnumpy()
    with pytest.raises(IndexError, match="index 5 is out of range for dimension 0 of 'x'"):
        ops.Custom(beyond)(x).asnumpy()
    with pytest.raises(ZeroDivisionError, match="kernel 'divided'"):
        ops.Custom(divided)(x).asnumpy()


@ops.kernel
def counting(x):
    y = output_tensor(x.shape, x.dtype)
    i = 0
    while i < x.shape[0]:
        y[i] = x[i] + 1
        i += 1
    return y


def test_what_is_not_of_the_language_runs_as_python():
    with pytest.warns(UserWarning, match=r"'counting' runs as Python.*line \d+: the statement 'while i < x.shape\[0\]:'"):
        assert ops.Custom(counting)(Tensor([1.0, 2.0])).tolist() == [2, 3]


def test_kernels_without_a_gradient_say_why():
    op = ops.Custom(recurrence)
    with pytest.raises(TypeError, match=r"'recurrence' has no gradient of its own: iterations over 'j' depend .* 'state'; give one"):
        ms.grad(lambda x: op(x).sum())(Tensor(normal(2, 3)))
    own = ops.Custom(recurrence, bprop=lambda x, out, dout: (dout * 3,))
    assert ms.grad(lambda x: own(x).sum())(Tensor(normal(2, 3))).tolist() == [[3, 3, 3], [3, 3, 3]]


@ops.kernel
def read_before_overwritten(x):
    y = output_tensor(x.shape, x.dtype)
    z = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = exp(x[i])
        z[i] = y[i] * y[i]
        if x[i] > 0:
            y[i] = x[i]
    return y, z


def test_values_that_are_lost_make_no_wrong_gradient():
    with pytest.raises(TypeError, match=r"has no gradient of its own: 'y' is read and then overwritten in one loop"):
        ms.grad(lambda x: ops.Custom(read_before_overwritten)(x)[1].sum())(Tensor(normal(3)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "uint8", "bool"])
def test_types_follow_numpy(dtype):
    @ops.kernel
    def mixed(x):
        y = output_tensor(x.shape, "float64")
        for i in range(x.shape[0]):
            if x[i] > 0:
                y[i] = (x[i] if i % 2 else 3) / 2 + i
            else:
                y[i] = 0.5
        return y

    x = np.array([0, 1, 2, 7, 100], dtype)
    np.testing.assert_array_equal(ops.Custom(mixed)(Tensor(x)).asnumpy(), mixed(x))


def test_kernels_by_themselves_say_what_to_do_with_tensors():
    assert ms.kernel is ops.kernel
    with pytest.raises(TypeError, match=r"takes NumPy's arrays.*ops.Custom\(kernel\)\(tensor\)"):
        softmax(Tensor(np.ones((2, 3), np.float32)))


@ops.kernel
def misspelt(x):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = expp(x[i])
    return y


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("kernel, arguments, error, text", [
    (matmul, [(2, 3)], TypeError, r"The kernel 'matmul' takes 2 arguments \(a, b\), but got 1"),
    (matmul, [(2, 3), 4], TypeError, r"The kernel 'matmul' takes tensors, but 'b' is 4"),
    (matmul, [(3,), (3,)], IndexError, r"In the kernel 'matmul', line \d+: tuple index out of range"),
    (misspelt, [(3,)], NameError, r"In the kernel 'misspelt', line \d+: name 'expp' is not defined"),
])  # fmt: skip
def test_mistakes_name_the_kernel_and_its_line(mode, kernel, arguments, error, text):
    given = [a if isinstance(a, int) else Tensor(np.ones(a, np.float32)) for a in arguments]
    with ms.context.local_context(mode=mode), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(error, match=text):
            ms.jit(lambda *x: ops.Custom(kernel)(*x))(*given) if mode == ms.GRAPH_MODE else ops.Custom(kernel)(*given)


@ops.kernel
def product_in_a_block(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    with block_realize(c):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] = c[i, j] + a[i, k] * b[k, j]
    return c


def test_blocks_that_belong_together():
    a, b = (np.random.default_rng(n).standard_normal(shape).astype(np.float32) for n, shape in ((0, (3, 4)), (1, (4, 2))))
    np.testing.assert_allclose(product_in_a_block(a, b), a @ b, rtol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is compiled
        np.testing.assert_allclose(ops.Custom(product_in_a_block)(Tensor(a), Tensor(b)).asnumpy(), a @ b, rtol=1e-5)
