"""PyNative mode on native kernels: the same values and gradients as on NumPy, for every heavy operation."""

import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.backends import cpu
from mindspore.runtime import context, eager_kernels

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs oneDNN and LLVM")
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def pynative():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    context.current().forget_made()
    yield
    context.current().forget_made()
    ms.set_context(backend="")
    ms.set_context(mode=ms.GRAPH_MODE)


def normal(*shape):
    return Tensor(RNG.standard_normal(shape).astype(np.float32))


def arrays(result):
    return [t.asnumpy() for t in (result if isinstance(result, tuple) else (result,))]


def on_numpy(function):
    ms.set_context(backend="interp")
    try:
        return arrays(function())
    finally:
        ms.set_context(backend="")


def kernels():
    return [k for k in eager_kernels.kernels().by_key.values() if callable(k)]


def check(function, atol=2e-5):
    """Called until kernels exist, a function gives what it gives on NumPy."""
    expected = on_numpy(function)
    for _ in range(3):
        found = arrays(function())
    assert kernels(), "nothing was compiled"
    for e, f in zip(expected, found, strict=True):
        assert e.dtype == f.dtype and e.shape == f.shape
        np.testing.assert_allclose(f, e, rtol=2e-4, atol=atol)


OPERATIONS = {
    "conv": (lambda: ops.Conv2D(16, 3, pad_mode="same"), [(2, 3, 12, 12), (16, 3, 3, 3)]),
    "conv_groups": (lambda: ops.Conv2D(8, 3, pad_mode="pad", pad=1, stride=2, group=4), [(3, 8, 9, 9), (8, 2, 3, 3)]),
    "conv_transposed": (
        lambda: lambda y, w: ops.Conv2DTranspose(6, 3)(y, w, (2, 4, 8, 8)),
        [(2, 6, 6, 6), (6, 4, 3, 3)],
    ),
    "matmul": (lambda: ops.MatMul(transpose_b=True), [(70, 80), (90, 80)]),
    "batch_matmul": (lambda: ops.BatchMatMul(transpose_a=True), [(6, 50, 40), (6, 50, 60)]),
    "max_pool": (lambda: ops.MaxPool(3, 2, "same"), [(4, 8, 15, 15)]),
    "avg_pool": (lambda: ops.AvgPool(2, 2), [(4, 8, 16, 16)]),
    "layer_norm": (lambda: lambda *a: ops.LayerNorm(-1, -1)(*a)[0], [(4, 16, 128), (128,), (128,)]),
    "softmax": (lambda: lambda x: ops.softmax(x, -1), [(64, 100)]),
    "gelu": (lambda: ops.GeLU(), [(64, 600)]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_value_and_gradient(name):
    make, shapes = OPERATIONS[name]
    operation, inputs = make(), [normal(*s) for s in shapes]
    weight = normal(*operation(*inputs).shape)
    check(lambda: operation(*inputs))
    gradient = ms.grad(lambda *a: (operation(*a) * weight).sum(), tuple(range(len(inputs))))
    check(lambda: gradient(*inputs), atol=2e-4)


def test_only_wanted_gradients_are_computed():
    x, w = normal(2, 3, 12, 12), normal(16, 3, 3, 3)
    conv = ops.Conv2D(16, 3)
    check(lambda: ms.grad(lambda w: conv(x, w).sum())(w), atol=2e-3)
    made = [k for k in kernels() if type(k).__name__ == "_GradientKernel"]
    assert made and all(len(k.operation.results) == 1 for k in made)


def test_batch_norm_moves_its_statistics():
    x, weight = normal(8, 16, 10, 10), normal(8, 16, 10, 10)

    def run():
        net = nn.BatchNorm2d(16)
        net.set_train()
        grads = ms.value_and_grad(lambda a: (net(a) * weight).sum(), 0, net.trainable_params())(x)
        return grads[0], grads[1][0], *grads[1][1], net.moving_mean, net.moving_variance

    check(run, atol=5e-4)


def test_training_ends_where_it_does_on_numpy():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.head = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dense(8 * 36, 10)
            self.pool, self.flat = nn.MaxPool2d(2, 2), nn.Flatten()

        def construct(self, x):
            return self.head(self.flat(self.pool(ops.relu(self.norm(self.conv(x))))))

    x, labels = normal(16, 3, 12, 12), Tensor(RNG.integers(0, 10, 16).astype(np.int32))
    start = {p.name: RNG.standard_normal(p.shape).astype(np.float32) * 0.1 for p in Net().trainable_params()}

    def run():
        net = Net()
        for p in net.trainable_params():
            p.set_data(Tensor(start[p.name]))
        net.set_train()
        optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
        step = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)
        losses = []
        for _ in range(5):
            loss, grads = step(x, labels)
            optimizer(grads)
            losses.append(loss)
        return tuple(losses)

    check(run, atol=1e-3)


def test_second_derivatives():
    x, w = normal(2, 3, 8, 8), normal(4, 3, 3, 3)
    conv = ops.Conv2D(4, 3)
    inner = ms.grad(lambda a: (conv(a, w) ** 3).sum())
    check(lambda: ms.grad(lambda a: (inner(a) * a).sum())(x), atol=5e-2)


def test_strided_arguments():
    a, b = normal(90, 80), normal(100, 90)
    left, right = Tensor(a.asnumpy().T), Tensor(b.asnumpy().T)
    check(lambda: ops.matmul(left, right), atol=1e-4)


def test_other_attributes_are_another_kernel():
    x, w = normal(2, 4, 10, 10), normal(8, 4, 3, 3)
    valid, same = ops.Conv2D(8, 3), ops.Conv2D(8, 3, pad_mode="same")
    for _ in range(3):
        assert valid(x, w).shape == (2, 8, 8, 8)
        assert same(x, w).shape == (2, 8, 10, 10)


def test_bad_shapes_are_refused_as_before():
    w = normal(16, 3, 3, 3)
    conv = ops.Conv2D(16, 3)
    for _ in range(3):
        conv(normal(2, 3, 12, 12), w)
    for _ in range(3):
        with pytest.raises(ValueError, match="channels"):
            conv(normal(2, 4, 12, 12), w)
        with pytest.raises(ValueError, match="2 dimensions"):
            ops.MatMul()(normal(3, 100, 100), normal(100, 100))


def test_half_and_double_stay_on_numpy():
    for dtype in (np.float16, np.float64):
        a = Tensor(RNG.standard_normal((80, 80)).astype(dtype))
        for _ in range(3):
            out = ops.matmul(a, a)
        assert out.asnumpy().dtype == dtype
    assert not kernels()


def test_threads_at_once():
    x, w = normal(4, 8, 20, 20), Parameter(normal(16, 8, 3, 3))
    conv = ops.Conv2D(16, 3)
    expected = on_numpy(lambda: conv(x, w))[0]
    conv(x, w), conv(x, w)
    wrong = []

    def work():
        for _ in range(20):
            if not np.allclose(conv(x, w).asnumpy(), expected, atol=1e-4):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    assert not wrong


def test_the_first_call_gives_the_bits_of_all_later_ones():
    image, weight, rows = normal(8, 6, 14, 14), normal(8, 6, 5, 5), normal(64, 300)

    def step(image, rows):
        return ops.conv2d(image, weight).sum() + (ops.softmax(rows) * ops.gelu(rows)).sum()

    first, second = (ms.value_and_grad(step, (0, 1))(image, rows) for _ in range(2))
    np.testing.assert_array_equal(first[0].asnumpy(), second[0].asnumpy())
    for a, b in zip(first[1], second[1]):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
