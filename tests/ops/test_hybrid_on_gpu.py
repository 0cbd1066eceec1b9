"""Hybrid kernels as Pallas' kernels: run by its interpreter, lowered to Triton, and chosen where XLA compiles for a GPU."""
# ruff: noqa: F821 - kernels know names of their own

import numpy as np
import pytest
from test_hybrid_kernels import CASES, beyond, borders, divided, normal, picked, program_of, softmax, two_results

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.compiler.hybrid.reverse import gradient

jax = pytest.importorskip("jax")
from mindspore.backends.xla import hybrid  # noqa: E402

KERNELS = pytest.mark.parametrize("kernel, arrays", [(k, a) for k, *a in CASES], ids=[k.__name__ for k, *_ in CASES])


@pytest.fixture(autouse=True, scope="module")
def wide_types():
    jax.config.update("jax_enable_x64", True)  # as the XLA backend does


def as_tuple(found):
    return found if isinstance(found, tuple) else (found,)


@KERNELS
def test_the_interpreter_finds_what_python_finds(kernel, arrays):
    """With tiles that leave remainders, and with rows of many lanes."""
    program = program_of(kernel, arrays)
    assert hybrid.suits(program)
    for schedule in (hybrid.Schedule(2, 8, 4), hybrid.Schedule(inside=1024)):
        found = jax.jit(hybrid.compiled(program, schedule, interpret=True))(*arrays)
        for got, right in zip(found, as_tuple(kernel(*arrays)), strict=True):
            assert got.dtype == right.dtype
            np.testing.assert_allclose(np.asarray(got), right, rtol=2e-5, atol=2e-5, err_msg=str(schedule))


@KERNELS
def test_kernels_are_lowered_to_triton(kernel, arrays):
    allowed = [jax.export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")]
    program = program_of(kernel, arrays)
    for schedule in hybrid.schedules(program)[:2]:
        call = jax.jit(hybrid.compiled(program, schedule))
        shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
        text = jax.export.export(call, platforms=["cuda"], disabled_checks=allowed)(*shapes).mlir_module()
        assert "triton" in text


@pytest.mark.parametrize("kernel, arrays", [(k, a) for k, *a in CASES if k in (softmax, borders, two_results)])
def test_gradients_run_there_too(kernel, arrays):
    given = [a.astype(np.float64) for a in arrays] + [normal(*r.shape).astype(r.dtype) for r in as_tuple(kernel(*arrays))]
    program = gradient(program_of(kernel, given[: len(arrays)]))
    found = jax.jit(hybrid.compiled(program, hybrid.Schedule(2, 4, 8), interpret=True))(*given)
    for n, array in enumerate(given[: len(arrays)]):
        at = tuple(s // 2 for s in array.shape)
        both = []
        for step in (1e-6, -1e-6):
            moved = [a.copy() for a in given]
            moved[n][at] += step
            out = as_tuple(kernel(*moved[: len(arrays)]))
            both.append(sum((o * s).sum() for o, s in zip(out, given[len(arrays) :]) if o.dtype.kind == "f"))
        assert float(found[n][at]) == pytest.approx((both[0] - both[1]) / 2e-6, abs=1e-6)


@ops.kernel
def variables_between_loops(x):
    y = output_tensor(x.shape, x.dtype)
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    for i in range(x.shape[0]):
        y[i] = x[i] / total
    most = y[0]
    for i in range(x.shape[0]):
        most = max(most, y[i])
    y[0] = most
    return y


@ops.kernel
def divisions(x):
    y = output_tensor((6, x.shape[0]), x.dtype)
    for i in range(x.shape[0]):
        y[0, i] = x[i] // 3
        y[1, i] = x[i] % 3
        y[2, i] = x[i] // -3
        y[3, i] = x[i] % -3
        y[4, i] = i // 4 * 1000000000 // 7
        y[5, i] = x[-i]
    return y


@ops.kernel
def truth(x):
    y = output_tensor(x.shape, "bool")
    for i in range(x.shape[0]):
        if x[i] and i % 3 != 1:
            y[i] = not x[-1] or i > 5
    return y


@pytest.mark.parametrize("kernel, array", [
    (variables_between_loops, normal(30)), (divisions, normal(20) * 5), (divisions, np.arange(-10, 10)),
    (truth, np.arange(20) % 2 == 0),
])  # fmt: skip
def test_scalars_divisions_and_truth_values(kernel, array):
    program = program_of(kernel, [array])
    for schedule in (hybrid.Schedule(1, 8, 8), hybrid.Schedule()):
        (found,) = jax.jit(hybrid.compiled(program, schedule, interpret=True))(array)
        right = kernel(array)
        assert found.dtype == right.dtype
        np.testing.assert_allclose(np.asarray(found), right, rtol=1e-6)


def test_what_must_be_checked_stays_on_the_host():
    x = normal(5)
    for kernel, *arrays in ((picked, x, np.zeros(3, np.int32)), (beyond, x), (divided, x)):
        assert not hybrid.suits(program_of(kernel, arrays))


@ops.kernel
def running_sum(x):
    y = output_tensor(x.shape, x.dtype)
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        y[i] = total
    return y


def test_what_one_block_would_do_alone_stays_on_the_host():
    assert hybrid.suits(program_of(running_sum, [normal(100)]))
    assert not hybrid.suits(program_of(running_sum, [normal(100_000)]))


def test_graphs_for_a_gpu_contain_the_kernels(monkeypatch):
    """As on a GPU, but that Pallas' interpreter is measured, and with two schedules alone."""
    made = []

    def interpreted(program, schedule, real=hybrid.compiled):
        made.append((program.name, schedule))
        return real(program, schedule, interpret=True)

    monkeypatch.setattr("mindspore.ops.custom.on_cuda", lambda: True)
    monkeypatch.setattr(hybrid, "compiled", interpreted)
    monkeypatch.setattr(hybrid, "schedules", lambda program: [hybrid.Schedule(inside=16), hybrid.Schedule(inside=8)])
    op, x, weight = ops.Custom(softmax), Tensor(normal(6, 9)), Tensor(normal(6, 9))
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend="xla"):
        np.testing.assert_allclose(ms.jit(op)(x).asnumpy(), ops.softmax(x, -1).asnumpy(), atol=1e-6)
        found = ms.jit(ms.grad(lambda x: (op(x * 2) * weight).sum()))(x)
        wanted = ms.jit(ms.grad(lambda x: (ops.softmax(x * 2, -1) * weight).sum()))(x)
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), atol=1e-6)
        with pytest.raises(RuntimeError, match="index 7 is out of range"):
            ms.jit(ops.Custom(picked))(Tensor(normal(5)), Tensor([0, 7, 1], ms.int32)).asnumpy()
    assert [name for name, _ in made] == ["softmax"] * 3 + ["gradient of softmax"] * 3  # tried, tried, kept
