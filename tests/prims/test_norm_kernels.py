"""Layer and root mean square normalisation: gradients against finite differences, the GPU's kernels against the formulas."""

import numpy as np
import pytest

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Tensor, nn, ops
from mindspore.compiler.rewrite.absorb import absorb
from mindspore.prims.norm import LayerNorm, LayerNormBackward, RmsNorm, RmsNormBackward

RNG = np.random.default_rng(3)


def numbers(*shape, dtype=np.float64):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_second_derivatives_against_finite_differences(mode):
    """Through x, gamma, the statistics and the gradients that arrive by them."""
    ms.set_context(mode=mode)
    check_gradients(LayerNorm(2, 2, 1e-3), numbers(3, 2, 4), numbers(4), numbers(4))
    check_gradients(RmsNorm(1e-3), numbers(3, 2, 4), numbers(4))
    check_gradients(RmsNorm(1e-3), numbers(3, 2, 4), numbers(2, 4))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape, row", [((5, 7, 100), 1), ((300, 257), 1), ((2, 1030), 1), ((3, 4, 5, 6), 2)])
def test_kernel_of_the_gpu(shape, row, kind, residual):
    """Run by Pallas' interpreter: rows and columns that are no multiples of a tile, several turns."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)  # as the XLA backend does
    jnp = jax.numpy
    from mindspore.prims.pallas import norm as gpu_norm

    axes = tuple(range(len(shape) - row, len(shape)))
    x, dy, more = (jnp.asarray(numbers(*shape), kind) for _ in range(3))
    gamma = jnp.asarray(numbers(*shape[-row:]), "float32")
    wide, more = x.astype("float32"), [more] if residual else []
    mean, variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    by_stats = [jnp.asarray(numbers(*mean.shape), "float32") for _ in range(2)]
    args = (x, dy, gamma, mean, variance, *by_stats, *more)
    found = gpu_norm.layer_norm_backward(1e-5, *args, interpret=True)
    assert_like(found, LayerNormBackward(-row, 1e-5).eval(jnp, *args))
    args = (x, dy, gamma, 1 / jnp.sqrt((wide * wide).mean(axes, keepdims=True)), by_stats[0], *more)
    assert_like(gpu_norm.rms_norm_backward(*args, interpret=True), RmsNormBackward().eval(jnp, *args))


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape, row", [((5, 7, 100), 1), ((1, 4096), 1), ((3, 4, 5, 6), 2), ((2, 1030), 1)])
def test_forward_kernels_of_the_gpu(shape, row, kind):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    from mindspore.prims.pallas import norm as gpu_norm

    x = jnp.asarray(numbers(*shape) * 3 + 5, kind)
    gamma, beta = (jnp.asarray(numbers(*shape[-row:]), "float32") for _ in range(2))
    found = gpu_norm.layer_norm(1e-5, x, gamma, beta, interpret=True)
    assert_like(found, LayerNorm(-row, -row, 1e-5).eval(jnp, x, gamma, beta))
    assert_like(gpu_norm.rms_norm(1e-5, x, gamma, interpret=True), RmsNorm(1e-5).eval(jnp, x, gamma))


def assert_like(found, expected):
    assert len(found) == len(expected)
    for got, want in zip(found, expected):
        assert got.dtype == want.dtype and got.shape == want.shape
        tolerance = 2e-5 if got.dtype == "float32" else 2**-7
        np.testing.assert_allclose(
            np.asarray(got, np.float32), np.asarray(want, np.float32), rtol=tolerance, atol=tolerance
        )


class Block(nn.Cell):
    """A normalisation in float32 between casts, with a way round it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((16,))
        self.norm.gamma.set_data(Tensor(numbers(16, dtype=np.float32)))

    def construct(self, x):
        y = self.norm(x.astype(ms.float32)).astype(x.dtype)
        return ops.tanh(x + y)


@pytest.mark.parametrize("kind", [ms.bfloat16, ms.float16])
def test_casts_and_sums_are_taken_in_without_changing_a_bit(kind, monkeypatch):
    x = Tensor(numbers(6, 16, dtype=np.float32)).astype(kind)

    def run():
        net = Block()
        net.norm.gamma.set_data(Tensor(np.linspace(-1, 2, 16, dtype=np.float32)))
        step = ms.value_and_grad(lambda x: net(x).astype(ms.float32).sum(), 0, net.trainable_params())
        value, (dx, grads) = ms.jit(step)(x)
        return [t.astype(ms.float32).asnumpy() for t in (value, dx, *grads)]

    counts = []

    def counted(graph):
        replaced = absorb(graph)
        counts.append(len(replaced))
        return replaced

    monkeypatch.setattr("mindspore.compiler.rewrite.passes.absorb", counted)
    taken_in = run()
    assert max(counts) >= 3  # the cast after the normalisation, that of its gradient, and the sum
    monkeypatch.setattr("mindspore.compiler.rewrite.passes.absorb", lambda graph: {})
    for got, want in zip(taken_in, run()):
        np.testing.assert_array_equal(got, want)


def test_a_result_that_somebody_wants_wide_stays_wide():
    x = Tensor(numbers(4, 16, dtype=np.float32)).astype(ms.bfloat16)
    norm = nn.LayerNorm((16,))

    @ms.jit
    def both(x):
        wide = norm(x.astype(ms.float32))
        return wide, wide.astype(ms.bfloat16)

    wide, narrow = both(x)
    expected = norm(x.astype(ms.float32))
    np.testing.assert_allclose(wide.asnumpy(), expected.asnumpy(), rtol=1e-6, atol=1e-6)
    assert wide.dtype == ms.float32 and narrow.dtype == ms.bfloat16
    assert np.abs(wide.asnumpy() - narrow.astype(ms.float32).asnumpy()).max() > 0


@pytest.mark.parametrize("name", ["gelu", "silu", "mish", "elu", "selu", "softmax", "log_softmax"])
def test_gradients_of_half_types_are_rounded_once(name):
    """Within half a unit of the last place of the float32 gradient."""
    x = numbers(8, 33, dtype=np.float32)
    half, weight = Tensor(x).astype(ms.float16), Tensor(numbers(8, 33, dtype=np.float32)).astype(ms.float16)
    function = getattr(ops, name)

    def gradient(x, w):
        return ms.grad(lambda x: (function(x) * w).sum())(x).astype(ms.float32).asnumpy()

    exact = gradient(half.astype(ms.float32), weight.astype(ms.float32))
    if name in ("softmax", "log_softmax"):  # their rule uses the result, which is rounded itself
        np.testing.assert_allclose(gradient(half, weight), exact, rtol=4e-3, atol=3e-3)
    else:
        np.testing.assert_allclose(gradient(half, weight), exact, rtol=6e-4, atol=1e-6)
