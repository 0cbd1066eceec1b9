"""Checks on a GPU: primitives, gradients, language features and models against the NumPy machine.

    PYTHONPATH=src python tests/gpu/run.py [--target GPU|CPU] [--only kernel]

Needs NumPy and JAX alone (no test runner). Ends with 'N passed, M failed' and a non-zero status if anything failed.
"""

import argparse
import sys
import traceback
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compiler"))

from language_cases import CASES, assert_same

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore.prims.packed_product import PackedProduct
from mindspore.runtime import devices

RNG = np.random.default_rng(0)


def f(*shape, low=-2.0, high=2.0):
    return Tensor(RNG.uniform(low, high, shape).astype(np.float32))


def i(*shape, high=5):
    return Tensor(RNG.integers(0, high, shape).astype(np.int32))


UNARY = [
    "abs",
    "exp",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "square",
    "neg",
    "floor",
    "erf",
    "gelu",
    "softplus",
    "silu",
]
POSITIVE = ["log", "sqrt", "rsqrt", "reciprocal", "log1p"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "floor_divide"]

#: name -> (function, arguments, differentiate?)
FUNCTIONS = {
    **{name: (getattr(ops, name), (f(3, 5),), name != "floor") for name in UNARY},
    **{name: (getattr(ops, name), (f(3, 5, low=0.5),), True) for name in POSITIVE},
    **{name: (getattr(ops, name), (f(3, 5, low=0.5), f(5, low=0.5)), name != "floor_divide") for name in BINARY},
    "matmul": (ops.matmul, (f(4, 6), f(6, 3)), True),
    "batch_matmul": (ops.matmul, (f(2, 4, 6), f(2, 6, 3)), True),
    "softmax": (lambda x: ops.softmax(x, axis=-1), (f(4, 7),), True),
    "log_softmax": (lambda x: ops.log_softmax(x, axis=-1), (f(4, 7),), True),
    "sum": (lambda x: x.sum(axis=1, keepdims=True), (f(3, 4, 5),), True),
    "mean": (lambda x: x.mean(axis=(0, 2)), (f(3, 4, 5),), True),
    "max": (lambda x: x.max(axis=1), (f(3, 4, 5),), True),
    "argmax": (lambda x: x.argmax(axis=1), (f(3, 4),), False),
    "transpose": (lambda x: x.transpose((2, 0, 1)), (f(3, 4, 5),), True),
    "concat": (lambda x, y: ops.cat((x, y), axis=1), (f(3, 2), f(3, 4)), True),
    "index": (lambda x: x[1:, ::2, None], (f(4, 6),), True),
    "gather": (lambda x, k: ops.gather(x, k, 0), (f(5, 3), i(4)), True),
    "where": (lambda x, y: ops.where(x > y, x, y * 2), (f(3, 4), f(3, 4)), True),
    "one_hot": (lambda k: ops.one_hot(k, 5), (i(6),), False),
    "cumsum": (lambda x: ops.cumsum(x, 1), (f(3, 4),), True),
    "conv2d": (lambda x, w: ops.conv2d(x, w, padding=1, pad_mode="pad"), (f(2, 3, 8, 8), f(4, 3, 3, 3)), True),
    "max_pool2d": (lambda x: ops.max_pool2d(x, 2, 2), (f(2, 3, 8, 8),), True),
    "avg_pool2d": (lambda x: ops.avg_pool2d(x, 2, 2), (f(2, 3, 8, 8),), True),
    "layer_norm": (lambda x, g, b: ops.layer_norm(x, (6,), g, b), (f(4, 6), f(6), f(6)), True),
    "layer_norm, many rows": (lambda x, g, b: ops.sin(ops.layer_norm(x, (129,), g, b)), (f(700, 129), f(129), f(129)), True),
    "layer_norm, long rows": (lambda x, g, b: ops.sin(ops.layer_norm(x, (8000,), g, b)), (f(16, 8000), f(8000), f(8000)), True),
    "layer_norm, longer than a kernel's": (lambda x, g, b: ops.sin(ops.layer_norm(x, (9000,), g, b)), (f(8, 9000), f(9000), f(9000)), True),
    "layer_norm, two axes": (lambda x, g, b: ops.sin(ops.layer_norm(x, (8, 40), g, b)), (f(300, 8, 40), f(8, 40), f(8, 40)), True),
    "layer_norm, a way round it": (
        lambda x, g, b: ops.tanh(x) + ops.sin(ops.layer_norm(x, (768,), g, b)), (f(100, 768), f(768), f(768)), True
    ),
    "rms_norm, many rows": (lambda x, g: ops.sin(ops.rms_norm(x, g)[0]), (f(700, 129), f(129)), True),
    "rms_norm, a way round it": (lambda x, g: ops.tanh(x) + ops.sin(ops.rms_norm(x, g)[0]), (f(100, 2048), f(2048)), True),
    "grouped heads, one query": (
        lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (f(2, 8, 1, 16), f(2, 2, 9, 16), f(2, 2, 9, 16)), True,
    ),
    "matrix and a row": (lambda x, w: ops.matmul(x, w), (f(1, 300), f(300, 500)), True),
    "cross_entropy": (lambda x, k: ops.cross_entropy(x, k), (f(6, 5), i(6)), True),
}

LENGTHS = Tensor(np.arange(700)[None, None, None] < np.array([1, 77, 640])[:, None, None, None])

LABELS = Tensor(np.arange(40, dtype=np.int32) * 7)

#: name -> (function of bfloat16, arguments)
HALVES = {
    "attention, a length for each": (
        lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, LENGTHS), (f(3, 2, 1, 64), f(3, 2, 700, 64), f(3, 2, 700, 64)),
    ),
    "attention, one query for eight heads": (
        lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, LENGTHS, enable_gqa=True),
        (f(3, 8, 1, 128), f(3, 1, 700, 128), f(3, 1, 700, 128)),
    ),
    "attention, few queries": (ops.scaled_dot_product_attention, (f(2, 2, 5, 64), f(2, 2, 301, 64), f(2, 2, 301, 64))),
    "attention, odd length": (ops.scaled_dot_product_attention, tuple(f(2, 2, 33, 64) for _ in range(3))),
    "rms_norm": (lambda x, g: ops.rms_norm(x, g)[0], (f(300, 1000), f(1000))),
    "layer_norm": (lambda x, g: ops.layer_norm(x, (1000,), g, g), (f(300, 1000), f(1000))),
    "gelu": (ops.gelu, (f(300, 100),)),
    "gelu, tanh": (lambda x: ops.gelu(x, approximate="tanh"), (f(300, 100),)),
    "cross_entropy": (lambda x: ops.cross_entropy(x, LABELS), (f(40, 3000),)),
    "cross_entropy in float32": (lambda x: ops.cross_entropy(x.astype(ms.float32), LABELS), (f(40, 3000),)),
}  # fmt: skip


@ops.kernel
def row_softmax(x):
    y = output_tensor(x.shape, x.dtype)  # noqa: F821
    for i in range(x.shape[0]):
        most = x[i, 0]
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            y[i, j] = exp(x[i, j] - most)  # noqa: F821
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] / total
    return y


@ops.kernel
def product(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)  # noqa: F821
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


@ops.kernel
def neighbours(x):
    y = output_tensor(x.shape, x.dtype)  # noqa: F821
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i > 0 and j < x.shape[1] - 1:
                y[i, j] = x[i - 1, j + 1] + 0.5 * tanh(x[i, j])  # noqa: F821
            else:
                y[i, j] = -x[i, -1]
    return y


#: name -> (kernel, arguments, whether its gradient runs on the device, too)
KERNELS = {
    "rows": (row_softmax, (f(33, 700),), True),
    "a product": (product, (f(45, 70), f(70, 50)), False),
    "branches": (neighbours, (f(40, 90),), False),
}


def check_kernel(target, kernel, arguments, differentiate):
    """A hybrid kernel in a graph; it is a part of XLA's program, and its gradient is another one."""
    operation = ops.Custom(kernel)
    found = on(target, lambda *v: operation(*v), *arguments)
    np.testing.assert_allclose(found.asnumpy(), kernel(*(a.asnumpy() for a in arguments)), rtol=2e-4, atol=2e-4)
    places = tuple(range(len(arguments)))
    if differentiate:
        own = ms.grad(lambda *v: ops.sin(operation(*v)).sum(), places)
        plain = {row_softmax: lambda x: ops.softmax(x, axis=-1), product: ops.matmul}[kernel]
        check_close(on("interp", ms.grad(lambda *v: ops.sin(plain(*v)).sum(), places), *arguments), on(target, own, *arguments), 1e-3)
    made = [made for made in operation._call.for_device.__self__.on_device.values() if made is not None]
    assert len(made) == 1 + differentiate, "the kernel ran on the host"


def on(target, function, *arguments):
    """Run a compiled function on the NumPy machine or on the device."""
    if target == "interp":
        ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU", backend="interp")
    else:
        ms.set_context(mode=ms.GRAPH_MODE, backend="xla", device_target=target)
    return ms.jit(function)(*arguments)


def eagerly(target, function, *arguments):
    """Run in PyNative mode, one primitive at a time, on the device."""
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="", device_target=target)
    return function(*arguments)


def check_close(a, b, tolerance=2e-4):
    for x, y in zip(a if isinstance(a, (tuple, list)) else [a], b if isinstance(b, (tuple, list)) else [b]):
        np.testing.assert_allclose(x.asnumpy(), y.asnumpy(), rtol=tolerance, atol=tolerance)


def check_function(target, function, arguments, differentiate):
    check_close(on("interp", function, *arguments), on(target, function, *arguments))
    check_close(on("interp", function, *arguments), eagerly(target, function, *arguments))
    if not differentiate:
        return
    places = tuple(k for k, a in enumerate(arguments) if a.dtype == ms.float32)
    gradient = lambda *args: ms.grad(lambda *v: function(*v).sum(), places)(*args)
    check_close(on("interp", gradient, *arguments), on(target, gradient, *arguments), 1e-3)
    check_close(on("interp", gradient, *arguments), eagerly(target, gradient, *arguments), 1e-3)
    second = lambda *args: ms.grad(lambda *v: sum((g * g).sum() for g in gradient(*v)), places)(*args)
    check_close(on("interp", second, *arguments), on(target, second, *arguments), 2e-3)


def check_halves(target, function, arguments):
    """Results and gradients in bfloat16 beside those in float32."""
    wide = [a.astype(ms.bfloat16).astype(ms.float32) for a in arguments]

    def weighted(*v):
        out = function(*v).astype(ms.float32)
        return (out * Tensor(np.cos(np.arange(out.size, dtype=np.float32)).reshape(out.shape))).sum()

    gradient = lambda *args: ms.grad(weighted, tuple(range(len(args))))(*args)
    for run in (function, gradient):
        found = on(target, run, *[a.astype(ms.bfloat16) for a in wide])
        expected = on("interp", run, *wide)
        for x, y in zip(*(r if isinstance(r, (tuple, list)) else [r] for r in (found, expected))):
            x, y = x.astype(ms.float32).asnumpy(), y.asnumpy()
            error = np.linalg.norm(x - y) / np.linalg.norm(y)
            assert error <= 2e-2, f"{error:.3f} of the result's size"


def check_float8(target):
    """A layer whose products are rounded to 8 bits, in bfloat16, beside the same rounding in float32; and that it is rounded."""
    x, w = f(64, 256).astype(ms.bfloat16).astype(ms.float32), f(128, 256).astype(ms.bfloat16).astype(ms.float32)

    def make(rounded):
        layer = nn.Dense(256, 128, weight_init=w, has_bias=False)
        return amp.float8_products(layer) if rounded else layer

    results = {}
    for name, rounded, where, dtype in (
        ("exact", False, "interp", ms.float32), ("wide", True, "interp", ms.float32), ("half", True, target, ms.bfloat16),
    ):  # fmt: skip
        layer = make(rounded)
        out = lambda v, layer=layer, dtype=dtype: layer(v.astype(dtype)).astype(ms.float32)
        gradient = lambda v, out=out: ms.grad(lambda u: ops.sin(out(u)).sum())(v)
        results[name] = [on(where, run, x).asnumpy() for run in (out, gradient)]
    distance = lambda a, b: [float(np.linalg.norm(p - q) / np.linalg.norm(q)) for p, q in zip(results[a], results[b])]
    assert max(distance("half", "wide")[:1]) < 1e-2, distance("half", "wide")
    assert 1e-2 < distance("half", "exact")[0] < 1e-1, distance("half", "exact")
    assert np.isfinite(results["half"][1]).all()


def check_rows_alone(target):
    """The bits of a product's row do not depend on how many rows there are."""
    x, weight = f(300, 512), f(640, 512).astype(ms.bfloat16)
    product = PackedProduct(640, "bfloat16")
    found = [on(target, lambda v: product(v, weight, None, None, None), x[:rows]).asnumpy() for rows in (1, 16, 17, 64, 300)]
    for other in found[1:]:
        np.testing.assert_array_equal(other[:1], found[0])
    coarse, wide = (a.astype(ms.bfloat16).astype(ms.float32).asnumpy() for a in (x, weight))
    np.testing.assert_allclose(found[-1], coarse @ wide.T, rtol=1e-3, atol=1e-3)


def check_eager_memory(target):
    """Eager steps whose new weights take the memory of the old ones, beside the host's."""

    def losses(where):
        ms.set_seed(4)
        ms.set_context(mode=ms.PYNATIVE_MODE, backend="", device_target=where)
        net = nn.SequentialCell([nn.Dense(12, 12, weight_init=f(12, 12) * 0.2) for _ in range(6)])
        optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
        gradient = ms.value_and_grad(lambda a: (net(a) ** 2).mean(), None, optimizer.parameters)

        def step():
            loss, grads = gradient(x)
            optimizer(grads)
            return loss

        return [float(step()) for _ in range(8)]

    x, start = f(7, 12), RNG.bit_generator.state
    expected = losses("CPU")
    RNG.bit_generator.state = start
    np.testing.assert_allclose(losses(target), expected, rtol=1e-3)
    assert target == "CPU" or max(len(plan.replaced) for plan in devices.current().engine._plans.values()) >= 36


class Residual(nn.Cell):
    """A small residual network: convolution, batch normalisation, pooling, dense."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, pad_mode="same", weight_init="normal")
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, pad_mode="same", weight_init="normal")
        self.bn2 = nn.BatchNorm2d(8)
        self.dense = nn.Dense(8, 5, weight_init="normal")

    def construct(self, x):
        x = ops.relu(self.bn1(self.conv1(x)))
        x = ops.relu(self.bn2(self.conv2(x)) + x)
        return self.dense(x.mean(axis=(2, 3)))


class Attention(nn.Cell):
    """One transformer block."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Dense(width, 3 * width, weight_init="normal")
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down = nn.Dense(width, 32, weight_init="normal"), nn.Dense(32, width, weight_init="normal")

    def construct(self, x):
        batch, length, _ = x.shape
        q, k, v = ops.split(self.qkv(self.norm1(x)), self.width, axis=2)
        shape = (batch, length, self.heads, self.width // self.heads)
        q, k, v = (t.reshape(shape).transpose((0, 2, 1, 3)) for t in (q, k, v))
        weights = ops.softmax(ops.matmul(q, k.transpose((0, 1, 3, 2))) / 2.8, axis=-1)
        x = x + ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape(x.shape)
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


def train_losses(target, make, x, loss):
    """Five steps of gradient descent; returns the losses."""
    ms.set_seed(3)
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", backend="")
    net = make()
    net.set_train()
    weights = net.trainable_params()
    value_and_grad = ms.value_and_grad(lambda x: loss(net(x)), None, weights)

    def step(x):
        value, grads = value_and_grad(x)
        for weight, grad in zip(weights, grads):
            ops.assign(weight, weight - 0.1 * grad)
        return value

    if target == "interp":
        ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU", backend="interp")
    else:
        ms.set_context(mode=ms.GRAPH_MODE, backend="xla", device_target=target)
    compiled = ms.jit(step)
    return [float(compiled(x).asnumpy()) for _ in range(5)]


MODELS = {
    "residual network": (Residual, f(4, 3, 8, 8), lambda y: (y * y).mean() + y.mean()),
    "transformer block": (Attention, f(2, 6, 16), lambda y: (y * y).mean()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="GPU")
    parser.add_argument("--only", default="", help="checks whose names contain this")
    given = parser.parse_args()
    target = given.target
    checks = [(f"ops.{name}", lambda c=c: check_function(target, *c)) for name, c in FUNCTIONS.items()]
    if target == "GPU":
        checks += [(f"kernel of {name}", lambda c=c: check_kernel(target, *c)) for name, c in KERNELS.items()]
    checks += [(f"bfloat16 {name}", lambda c=c: check_halves(target, *c)) for name, c in HALVES.items()]
    for name, fn, arguments in CASES:
        checks.append(
            (f"language {name}", lambda fn=fn, a=arguments: assert_same(on(target, fn, *a), on("interp", fn, *a)))
        )
    for name, (make, x, loss) in MODELS.items():
        checks.append(
            (
                f"model {name}",
                lambda m=make, x=x, s=loss: np.testing.assert_allclose(
                    train_losses(target, m, x, s), train_losses("interp", m, x, s), rtol=5e-3
                ),
            )
        )
    checks += [
        ("products of 8-bit floats", lambda: check_float8(target)),
        ("eager steps in the same memory", lambda: check_eager_memory(target)),
    ]
    if target == "GPU":
        checks.append(("rows of products alone", lambda: check_rows_alone(target)))
    passed, failed = 0, 0
    for name, check in checks:
        if given.only not in name:
            continue
        try:
            check()
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc(limit=-3)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main()))
