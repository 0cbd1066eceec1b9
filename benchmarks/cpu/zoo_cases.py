"""Training steps of small networks of many kinds, to weigh the fusion of graph kernels."""

from __future__ import annotations

import itertools
import os

import mindspore_cases
import numpy as np
from mindspore_cases import LeNet, normal, training
from zoo_names import NETWORKS

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

RNG = np.random.default_rng(1)
__all__ = ["CASES", "prepare"]


def prepare(contender: str) -> None:
    """As the other cases, or in PyNative mode."""
    mindspore_cases.prepare(contender)
    if os.environ.get("BENCH_EAGER"):
        ms.set_context(mode=ms.PYNATIVE_MODE)


def labels(count, classes=10):
    return Tensor(RNG.integers(0, classes, count).astype(np.int32))


def tokens(*shape, words=1000):
    return Tensor(RNG.integers(0, words, shape).astype(np.int32))


def adam(net):
    return nn.Adam(net.trainable_params(), 1e-3)


def momentum(net):
    return nn.Momentum(net.trainable_params(), 0.01, 0.9)


def classify(net, x, optimizer=momentum, classes=10):
    return training(net, optimizer(net), x, labels(x.shape[0], classes))


def conv_bn(inputs, outputs, kernel=3, stride=1, group=1, activation=nn.ReLU):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, group=group)
    return [conv, nn.BatchNorm2d(outputs), *([activation()] if activation else [])]


class Pooled(nn.Cell):
    """A convolutional body, the mean over the image, and a classifier."""

    def __init__(self, layers, width, classes=10):
        super().__init__()
        self.body, self.head = nn.SequentialCell(layers), nn.Dense(width, classes)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


def mlp():
    widths = [256, 512, 512, 512]
    layers = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Dense(a, b), nn.BatchNorm1d(b), nn.GELU(), nn.Dropout(p=0.1)]
    return classify(nn.SequentialCell([*layers, nn.Dense(widths[-1], 10)]), normal(256, 256), adam)


def lenet():
    return classify(LeNet(), normal(32, 1, 32, 32))


def vgg():
    layers, inputs = [], 3
    for outputs in (32, 64, 128):
        layers += [*conv_bn(inputs, outputs), *conv_bn(outputs, outputs), nn.MaxPool2d(2, 2)]
        inputs = outputs
    return classify(Pooled(layers, 128), normal(16, 3, 32, 32))


class Residual(nn.Cell):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.SequentialCell(
            [*conv_bn(inputs, outputs, 3, stride), *conv_bn(outputs, outputs, activation=None)]
        )
        self.same = inputs == outputs and stride == 1
        self.skip = nn.SequentialCell(conv_bn(inputs, outputs, 1, stride, activation=None))
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.main(x) + (x if self.same else self.skip(x)))


def resnet():
    layers, inputs = conv_bn(3, 16), 16
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        layers += [Residual(inputs, outputs, stride), Residual(outputs, outputs, 1)]
        inputs = outputs
    return classify(Pooled(layers, 64), normal(32, 3, 32, 32))


class Inverted(nn.Cell):
    def __init__(self, width):
        super().__init__()
        wide = 4 * width
        self.body = nn.SequentialCell(
            [
                *conv_bn(width, wide, 1, activation=nn.HSwish),
                *conv_bn(wide, wide, 3, group=wide, activation=nn.HSwish),
                *conv_bn(wide, width, 1, activation=None),
            ]
        )

    def construct(self, x):
        return x + self.body(x)


def mobilenet():
    return classify(Pooled([*conv_bn(3, 32, 3, 2), *[Inverted(32) for _ in range(4)]], 32), normal(16, 3, 64, 64))


class Dense(nn.Cell):
    def __init__(self, inputs, growth):
        super().__init__()
        self.body = nn.SequentialCell(
            [nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, growth, 3, pad_mode="pad", padding=1)]
        )

    def construct(self, x):
        return ops.cat((x, self.body(x)), 1)


def densenet():
    layers = [*conv_bn(3, 32), *[Dense(32 + 16 * i, 16) for i in range(6)]]
    return classify(Pooled(layers, 128), normal(16, 3, 32, 32))


class SqueezeExcite(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.SequentialCell(conv_bn(width, width, activation=nn.SiLU))
        self.down, self.up = nn.Dense(width, width // 4), nn.Dense(width // 4, width)

    def construct(self, x):
        y = self.conv(x)
        scale = ops.sigmoid(self.up(ops.relu(self.down(y.mean((2, 3))))))
        return x + y * scale.reshape(scale.shape[0], -1, 1, 1)


def squeeze_excite():
    layers = [*conv_bn(3, 32, 3, 2), *[SqueezeExcite(32) for _ in range(4)]]
    return classify(Pooled(layers, 32), normal(16, 3, 64, 64))


class UNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.low = nn.SequentialCell(conv_bn(3, 16)), nn.SequentialCell(conv_bn(16, 32))
        self.pool, self.up = nn.MaxPool2d(2, 2), nn.Conv2dTranspose(32, 16, 2, 2)
        self.last, self.head = nn.SequentialCell(conv_bn(32, 16)), nn.Conv2d(16, 4, 1)

    def construct(self, x):
        a = self.first(x)
        b = self.up(self.low(self.pool(a)))
        return self.head(self.last(ops.cat((a, b), 1)))


def unet():
    target = Tensor(RNG.integers(0, 4, (4, 64, 64)).astype(np.int32))
    net = UNet()
    return training(net, momentum(net), normal(4, 3, 64, 64), target)


def _regression(net, x, optimizer=adam):
    """A step that minimises what the network itself returns."""
    chosen = optimizer(net)
    gradient = ms.value_and_grad(net, None, chosen.parameters)

    def step(a):
        loss, grads = gradient(a)
        chosen(grads)
        return loss

    net.set_train()
    run = ms.jit(step) if ms.get_context("mode") == ms.GRAPH_MODE else step
    return lambda: float(run(x).asnumpy())


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        layers, widths = [], (64, 64, 32, 16)
        for a, b in itertools.pairwise(widths):
            layers += [nn.Conv2dTranspose(a, b, 4, 2, pad_mode="same"), nn.BatchNorm2d(b), nn.ReLU()]
        self.start, self.body = nn.Dense(64, 64 * 16), nn.SequentialCell(layers)
        self.last = nn.Conv2d(16, 3, 3)
        self.judge = nn.SequentialCell([nn.Conv2d(3, 32, 4, 2), nn.LeakyReLU(0.2), nn.Conv2d(32, 32, 4, 2)])

    def construct(self, z):
        images = ops.tanh(self.last(self.body(self.start(z).reshape(-1, 64, 4, 4))))
        return ops.softplus(-self.judge(images).mean((1, 2, 3))).mean()


def dcgan():
    return _regression(Generator(), normal(16, 64))


class Vae(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up, self.mean, self.scale = nn.Dense(784, 512), nn.Dense(512, 32), nn.Dense(512, 32)
        self.down = nn.SequentialCell([nn.Dense(32, 512), nn.ReLU(), nn.Dense(512, 784)])
        self.noise = normal(128, 32)

    def construct(self, x):
        hidden = ops.relu(self.up(x))
        mean, log = self.mean(hidden), self.scale(hidden)
        logits = self.down(mean + ops.exp(0.5 * log) * self.noise)
        match = (ops.softplus(logits) - x * logits).sum(1).mean()
        return match - 0.5 * (1 + log - mean * mean - ops.exp(log)).sum(1).mean()


def vae():
    return _regression(Vae(), Tensor(RNG.random((128, 784), np.float32)))


class Attention(nn.Cell):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.width, self.heads, self.causal = width, heads, causal
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.scores, self.mix = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()

    def construct(self, x):
        batch, count, _ = x.shape
        parts = self.qkv(x).reshape(batch, count, 3, self.heads, -1).transpose(2, 0, 3, 1, 4)
        weights = self.scores(parts[0], parts[1]) * (self.width // self.heads) ** -0.5
        if self.causal:
            weights = weights + ops.triu(ops.full((count, count), -1e9, dtype=ms.float32), 1)
        mixed = self.mix(ops.softmax(weights, -1), parts[2])
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, count, self.width))


class RmsNorm(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.gain = Parameter(Tensor(np.ones(width, np.float32)), name="gamma")

    def construct(self, x):
        return x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + 1e-6) * self.gain


class Layer(nn.Cell):
    """A transformer layer; `kind`: "pre" and "post" say where the normalisation is, "gated" is Llama's."""

    def __init__(self, width, heads, kind, causal):
        super().__init__()
        norm = RmsNorm if kind == "gated" else lambda w: nn.LayerNorm((w,))
        self.norm1, self.norm2, self.kind = norm(width), norm(width), kind
        self.attention = Attention(width, heads, causal)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.gate = nn.Dense(width, 4 * width) if kind == "gated" else nn.Identity()
        self.drop = nn.Dropout(p=0.1)

    def feed(self, x):
        if self.kind == "gated":
            return self.down(ops.silu(self.gate(x)) * self.up(x))
        return self.down(ops.gelu(self.up(x)))

    def construct(self, x):
        if self.kind == "post":
            x = self.norm1(x + self.drop(self.attention(x)))
            return self.norm2(x + self.drop(self.feed(x)))
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.feed(self.norm2(x)))


class Words(nn.Cell):
    def __init__(self, kind, causal, outputs, width=128):
        super().__init__()
        self.words, self.causal = nn.Embedding(1000, width), causal
        self.layers = nn.SequentialCell([Layer(width, 4, kind, causal) for _ in range(2)])
        self.head = nn.Dense(width, outputs)

    def construct(self, x):
        y = self.layers(self.words(x))
        return self.head(y).reshape(-1, 1000) if self.causal else self.head(y[:, 0])


def _language(kind):
    net = Words(kind, True, 1000)
    return training(net, adam(net), tokens(8, 64), tokens(8, 64), flat=True)


def bert():
    net = Words("post", False, 10)
    return training(net, adam(net), tokens(8, 64), labels(8))


def gpt():
    return _language("pre")


def llama():
    return _language("gated")


class Vit(nn.Cell):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 128, 4, 4, pad_mode="valid")
        self.layers, self.head = nn.SequentialCell([Layer(128, 4, "pre", False) for _ in range(2)]), nn.Dense(128, 10)

    def construct(self, x):
        y = self.patches(x)
        return self.head(self.layers(y.reshape(y.shape[0], 128, -1).transpose(0, 2, 1)).mean(1))


def vit():
    return classify(Vit(), normal(8, 3, 32, 32), adam)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128), nn.Dense(128, 10)

    def construct(self, x):
        return self.head(self.lstm(x)[0][-1])


def lstm():
    net = Recurrent()
    return training(net, adam(net), normal(50, 32, 64), labels(32))


class DeepFm(nn.Cell):
    """Factorisation machine beside a deep network, on the same embeddings."""

    def __init__(self):
        super().__init__()
        self.wide, self.deep = nn.Embedding(1000, 1), nn.Embedding(1000, 16)
        self.net = nn.SequentialCell(
            [nn.Dense(20 * 16, 256), nn.ReLU(), nn.Dense(256, 128), nn.ReLU(), nn.Dense(128, 1)]
        )

    def construct(self, x):
        vectors = self.deep(x)
        total, squares = vectors.sum(1), (vectors * vectors).sum(1)
        crossed = 0.5 * (total * total - squares).sum(1)
        logits = self.wide(x).sum((1, 2)) + crossed + self.net(vectors.reshape(x.shape[0], -1))[:, 0]
        return ops.softplus(-logits).mean()


def deepfm():
    return _regression(DeepFm(), tokens(256, 20))


CASES = {name: globals()[name] for name in NETWORKS}
