"""The work, written against MindSpore's public API: run by this framework and by the official package alike."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

RNG = np.random.default_rng(0)


def normal(*shape):
    return Tensor(RNG.standard_normal(shape).astype(np.float32))


def initialise(net):
    """Weights drawn from one generator, so that both packages compute the same."""
    for p in net.get_parameters():
        if any(word in p.name for word in ("gamma", "variance")):
            value = np.ones(p.shape, np.float32)
        elif any(word in p.name for word in ("beta", "mean", "bias")):
            value = np.zeros(p.shape, np.float32)
        else:
            fan = int(np.prod(p.shape[1:])) if len(p.shape) > 1 else p.shape[0]
            value = (RNG.standard_normal(p.shape) * (2 / fan) ** 0.5).astype(np.float32)
        p.set_data(Tensor(value))
    return net


def training(net, optimizer, x, y, flat=False, compiled=True):
    """A training step, as one graph or eagerly."""
    initialise(net)

    def forward(images, labels):
        return ops.cross_entropy(net(images), labels.reshape(-1) if flat else labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, grads = gradient(images, labels)
        optimizer(grads)
        return loss

    step = ms.jit(step) if compiled and ms.get_context("mode") == ms.GRAPH_MODE else step
    net.set_train()
    return lambda: float(step(x, y).asnumpy())


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def lenet():
    net = LeNet()
    labels = Tensor(RNG.integers(0, 10, 32).astype(np.int32))
    return training(net, nn.Momentum(net.trainable_params(), 0.01, 0.9), normal(32, 1, 32, 32), labels)


def conv_bn(inputs, outputs, kernel, stride, relu=True):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, has_bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.SequentialCell(layers + ([nn.ReLU()] if relu else []))


class Bottleneck(nn.Cell):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs = 4 * middle
        self.main = nn.SequentialCell(
            [conv_bn(inputs, middle, 1, 1), conv_bn(middle, middle, 3, stride), conv_bn(middle, outputs, 1, 1, False)]
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.SequentialCell([]) if same else conv_bn(inputs, outputs, 1, stride, False)
        self.same = same
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.main(x) + (x if self.same else self.skip(x)))


class ResNet50(nn.Cell):
    def __init__(self):
        super().__init__()
        layers = [conv_bn(3, 64, 7, 2), nn.MaxPool2d(3, 2, pad_mode="same")]
        inputs = 64
        for middle, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                layers.append(Bottleneck(inputs, middle, stride if i == 0 else 1))
                inputs = 4 * middle
        self.body, self.head, self.mean = nn.SequentialCell(layers), nn.Dense(2048, 1000), ops.ReduceMean()

    def construct(self, x):
        return self.head(self.mean(self.body(x), (2, 3)))


def resnet50(compiled=True):
    net = ResNet50()
    labels = Tensor(RNG.integers(0, 1000, 8).astype(np.int32))
    optimizer = nn.Momentum(net.trainable_params(), 0.001, 0.9)
    return training(net, optimizer, normal(8, 3, 224, 224), labels, compiled=compiled)


def resnet50_inference():
    net = initialise(ResNet50())
    net.set_train(False)
    x = normal(1, 3, 224, 224)
    return lambda: net(x).asnumpy()


#: expansion, channels, blocks, stride of MobileNetV2's stages
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def conv_bn6(inputs, outputs, kernel, stride=1, group=1):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, group=group, has_bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return [*layers, nn.ReLU6()]


class Inverted(nn.Cell):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        layers = conv_bn6(inputs, hidden, 1) if expansion > 1 else []
        layers += [*conv_bn6(hidden, hidden, 3, stride, hidden), *conv_bn6(hidden, outputs, 1)[:-1]]
        self.layers, self.residual = nn.SequentialCell(layers), stride == 1 and inputs == outputs

    def construct(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNet(nn.Cell):
    def __init__(self):
        super().__init__()
        layers, inputs = conv_bn6(3, 32, 3, 2), 32
        for expansion, outputs, count, stride in STAGES:
            for i in range(count):
                layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, expansion))
                inputs = outputs
        self.body, self.head = nn.SequentialCell(layers + conv_bn6(320, 1280, 1)), nn.Dense(1280, 1000)
        self.mean = ops.ReduceMean()

    def construct(self, x):
        return self.head(self.mean(self.body(x), (2, 3)))


def mobilenet():
    net = MobileNet()
    labels = Tensor(RNG.integers(0, 1000, 16).astype(np.int32))
    return training(net, nn.Momentum(net.trainable_params(), 0.001, 0.9), normal(16, 3, 224, 224), labels)


def mobilenet_inference():
    net = initialise(MobileNet())
    net.set_train(False)
    x = normal(1, 3, 224, 224)
    return lambda: net(x).asnumpy()


LAYERS, WIDTH, HEADS, WORDS, BATCH, TOKENS = 4, 768, 12, 8192, 4, 128


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.qkv, self.out = nn.Dense(WIDTH, 3 * WIDTH), nn.Dense(WIDTH, WIDTH)
        self.up, self.down, self.gelu = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH), nn.GELU()
        self.mask = Tensor(np.triu(np.full((TOKENS, TOKENS), -1e9, np.float32), 1))
        self.scores, self.mix, self.softmax = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul(), nn.Softmax(-1)

    def construct(self, x):
        heads = self.qkv(self.norm1(x)).reshape(BATCH, TOKENS, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
        weights = self.softmax(self.scores(heads[0], heads[1]) * (WIDTH // HEADS) ** -0.5 + self.mask)
        mixed = self.mix(weights, heads[2]).transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, WIDTH)
        x = x + self.out(mixed)
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Gpt(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = Parameter(Tensor(np.zeros((TOKENS, WIDTH), np.float32)), name="places_mean")
        self.blocks = nn.SequentialCell([Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, WORDS, has_bias=False)

    def construct(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places))).reshape(BATCH * TOKENS, WORDS)


def gpt(compiled=True):
    net = Gpt()
    tokens, following = (Tensor(RNG.integers(0, WORDS, (BATCH, TOKENS)).astype(np.int32)) for _ in range(2))
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-3, weight_decay=0.01)
    return training(net, optimizer, tokens, following, flat=True, compiled=compiled)


class Encoder(nn.Cell):
    """A layer of BERT: attention and feed-forward, each followed by a normalisation."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.query, self.key, self.value = (nn.Dense(WIDTH, WIDTH) for _ in range(3))
        self.out, self.up, self.down = nn.Dense(WIDTH, WIDTH), nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.scores, self.mix, self.softmax = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul(), nn.Softmax(-1)
        self.gelu = nn.GELU()

    def heads(self, x):
        return x.reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    def construct(self, x):
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        weights = self.softmax(self.scores(query, key) * (WIDTH // HEADS) ** -0.5)
        mixed = self.mix(weights, value).transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, WIDTH)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class Bert(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers, self.head = nn.SequentialCell([Encoder() for _ in range(LAYERS)]), nn.Dense(WIDTH, 2)

    def construct(self, x):
        return self.head(self.layers(x)[:, 0])


def bert():
    net = Bert()
    labels = Tensor(RNG.integers(0, 2, BATCH).astype(np.int32))
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-4, weight_decay=0.01)
    return training(net, optimizer, normal(BATCH, TOKENS, WIDTH), labels)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(512, 512, num_layers=2), nn.Dense(512, 10)

    def construct(self, x):
        out, _ = self.lstm(x)
        return self.head(out[-1])


def lstm():
    net = Recurrent()
    labels = Tensor(RNG.integers(0, 10, 64).astype(np.int32))
    return training(net, nn.Momentum(net.trainable_params(), 0.01, 0.9), normal(100, 64, 512), labels)


def chain():
    x = normal(4096, 1024)

    @ms.jit
    def run(a):
        for _ in range(4):
            a = ops.exp(ops.sigmoid(ops.tanh(a)))
        return a

    return lambda: run(x).asnumpy()


def _with_gradient(function, *arrays):
    gradient = ms.value_and_grad(function, tuple(range(len(arrays))))
    run = ms.jit(gradient)

    def step():
        value, grads = run(*arrays)
        for g in grads if isinstance(grads, tuple) else (grads,):  # one position gives one tensor
            g.asnumpy()
        return value.asnumpy()

    return step


def softmax_cross_entropy():
    labels = Tensor(RNG.integers(0, 8192, 512).astype(np.int32))

    def loss(x):
        return ops.cross_entropy(x, labels)

    return _with_gradient(loss, normal(512, 8192))


def layer_norm():
    net = ops.LayerNorm(-1, -1)
    weight = normal(4, 128, 768)
    args = normal(4, 128, 768), Tensor(np.ones(768, np.float32)), Tensor(np.zeros(768, np.float32))

    def loss(x, g, b):
        return (net(x, g, b)[0] * weight).sum()

    return _with_gradient(loss, *args)


def batch_norm_relu():
    net = nn.BatchNorm2d(64)
    net.set_train()
    weight = normal(8, 64, 56, 56)

    def loss(x):
        return (ops.relu(net(x)) * weight).sum()

    return _with_gradient(loss, normal(8, 64, 56, 56))


def _eager(function, *arrays):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return lambda: [function(*arrays) for _ in range(200)]


def eager_add():
    return _eager(lambda a, b: a + b, normal(4), normal(4))


def eager_matmul():
    return _eager(ops.matmul, normal(64, 64), normal(64, 64))


def eager_conv():
    return _eager(ops.Conv2D(16, 3), normal(1, 3, 32, 32), normal(16, 3, 3, 3))


def eager_lenet():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = LeNet()
    labels = Tensor(RNG.integers(0, 10, 32).astype(np.int32))
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    return training(net, optimizer, normal(32, 1, 32, 32), labels, compiled=False)


def eager_resnet50():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return resnet50(compiled=False)


def eager_gpt():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return gpt(compiled=False)


CASES = {
    "lenet": lenet, "resnet50": resnet50, "resnet50_inference": resnet50_inference, "gpt": gpt, "bert": bert,
    "lstm": lstm, "chain": chain,
    "softmax_cross_entropy": softmax_cross_entropy, "layer_norm": layer_norm, "batch_norm_relu": batch_norm_relu,
    "eager_add": eager_add, "eager_matmul": eager_matmul, "eager_conv": eager_conv,
    "eager_lenet": eager_lenet, "eager_resnet50": eager_resnet50, "eager_gpt": eager_gpt,
    "mobilenet": mobilenet, "mobilenet_inference": mobilenet_inference,
}  # fmt: skip


def prepare(contender: str) -> None:
    """Graph mode on the CPU; our own package on the backend under test."""
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    if contender == "ours":

        ms.set_context(backend="cpu")
