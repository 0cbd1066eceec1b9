"""Networks that official MindSpore and this package both build: they use the public interface only."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops


class LeNet(nn.Cell):
    """LeNet-5."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.layers = nn.SequentialCell(
            nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)
        )  # fmt: skip

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.layers(self.flatten(x))


class Bottleneck(nn.Cell):
    """The block of ResNet-50."""

    def __init__(self, wide, narrow, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(wide, narrow, 1)
        self.norm1 = nn.BatchNorm2d(narrow)
        self.conv2 = nn.Conv2d(narrow, narrow, 3, stride, pad_mode="pad", padding=1)
        self.norm2 = nn.BatchNorm2d(narrow)
        self.conv3 = nn.Conv2d(narrow, out, 1)
        self.norm3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.changes = stride != 1 or wide != out
        if self.changes:
            self.down = nn.SequentialCell(nn.Conv2d(wide, out, 1, stride), nn.BatchNorm2d(out))

    def construct(self, x):
        kept = x
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        y = self.norm3(self.conv3(y))
        if self.changes:
            kept = self.down(x)
        return self.relu(y + kept)


class ResNet50(nn.Cell):
    """ResNet-50."""

    def __init__(self, classes=100):
        super().__init__()
        self.stem = nn.SequentialCell(
            nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(3, 2, pad_mode="same"),
        )  # fmt: skip
        blocks, wide = [], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            narrow = 64 << stage
            for place in range(count):
                blocks.append(Bottleneck(wide, narrow, 4 * narrow, 2 if stage and not place else 1))
                wide = 4 * narrow
        self.blocks = nn.SequentialCell(blocks)
        self.head = nn.Dense(wide, classes)

    def construct(self, x):
        return self.head(ops.mean(self.blocks(self.stem(x)), (2, 3)))


class Attention(nn.Cell):
    """Self-attention with a mask."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.out = nn.Dense(width, width)
        self.softmax = nn.Softmax(axis=-1)

    def split(self, x):
        return ops.transpose(x.reshape((x.shape[0], x.shape[1], self.heads, self.size)), (0, 2, 1, 3))

    def construct(self, x, mask):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / float(self.size) ** 0.5 + mask
        mixed = ops.transpose(ops.matmul(self.softmax(scores), value), (0, 2, 1, 3))
        return self.out(mixed.reshape(x.shape))


class Layer(nn.Cell):
    """One layer of the BERT encoder."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.norm1, self.norm2 = nn.LayerNorm((width,), epsilon=1e-12), nn.LayerNorm((width,), epsilon=1e-12)
        self.wide, self.narrow = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.gelu = nn.GELU(approximate=False)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.narrow(self.gelu(self.wide(x)))))


class Bert(nn.Cell):
    """The BERT encoder with its pooled output."""

    def __init__(self, words=1000, width=128, heads=4, layers=3, longest=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(longest, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm((width,), epsilon=1e-12)
        self.layers = nn.CellList([Layer(width, heads) for _ in range(layers)])
        self.pooler = nn.Dense(width, width, activation="tanh")

    def construct(self, ids, kinds, mask):
        places = ops.arange(ids.shape[1])
        x = self.norm(self.words(ids) + self.places(places) + self.kinds(kinds))
        hidden = (1.0 - mask.astype(ms.float32).expand_dims(1).expand_dims(1)) * -10000.0
        for layer in self.layers:
            x = layer(x, hidden)
        return x, self.pooler(x[:, 0])


class Control(nn.Cell):
    """A branch, a loop and a loop with a branch inside, all on run-time values."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="w")

    def construct(self, x, n):
        if x.sum() > 0:
            y = x * self.w
        else:
            y = x - self.w
        i = Tensor(0, ms.int32)
        while i < n:
            if i > 1:
                y = y + 1.0
            else:
                y = y * 2.0
            i = i + 1
        return y, y.sum()


class Loops(nn.Cell):
    """A loop in a loop, and one that is left early."""

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        y = x
        while i < n:
            j = Tensor(0, ms.int32)
            while j < i:
                y = y + x
                j = j + 1
            i = i + 1
        k = Tensor(0, ms.int32)
        while k < n:
            if y.sum() > 20:
                break
            y = y * 1.5
            k = k + 1
        return y, k


class Branches(nn.Cell):
    """Many branches one after the other: they must meet again, or graphs double with each."""

    def construct(self, x):
        y = x
        for level in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0):
            if y.sum() > level:
                y = y - 0.25
            else:
                y = y * 1.5
        return y


class Early(nn.Cell):
    """Results from inside branches, and a branch in a branch."""

    def construct(self, x):
        if x.sum() > 10:
            return x * 2
        if x.max() > 0:
            if x.min() < 0:
                return ops.abs(x)
            return x - 1
        return -x


class Recurrent(nn.Cell):
    """An LSTM written with a loop over time."""

    def __init__(self, width=6):
        super().__init__()
        self.gates = nn.Dense(4 + width, 4 * width)
        self.width = width

    def construct(self, x):
        h = ops.zeros((x.shape[0], self.width), ms.float32)
        c = h
        for t in range(x.shape[1]):
            i, f, g, o = ops.split(self.gates(ops.concat((x[:, t], h), 1)), self.width, 1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
        return h


class Indexing(nn.Cell):
    """Slices, index tensors and assignment to parts."""

    def construct(self, x, rows, columns):
        y = x.copy()
        y[1:, 0] = 5.0
        return x[rows], x[rows, columns], x[:, 1:3], x[::-1, -1], x[None, :, rows], y


class Shapes(nn.Cell):
    """Reductions, types and several results."""

    def construct(self, x):
        values, places = ops.topk(x, 2)
        wide = ops.broadcast_to(x.mean(-1, keep_dims=True), x.shape)
        return (
            values, places.astype(ms.int32), ops.cumsum(x, 1), ops.where(x > 0.5, x, wide), x.argmax(1),
            ops.stack((x, wide), 1).astype(ms.float16), ops.clamp(x, 0.2, 0.8), ops.one_hot(places, 8),
        )  # fmt: skip


class Layers(nn.Cell):
    """Activations, normalisation, transposed convolution, pooling and upsampling."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, pad_mode="same", group=2, has_bias=True)
        self.up = nn.Conv2dTranspose(8, 4, 2, 2)
        self.norm = nn.GroupNorm(2, 8)
        self.average = nn.AvgPool2d(2, 2)
        self.acts = nn.CellList([nn.SiLU(), nn.LeakyReLU(0.1), nn.HSwish(), nn.Mish(), nn.ELU(), nn.GELU()])

    def construct(self, x):
        y = self.norm(self.conv(x))
        for act in self.acts:
            y = act(y)
        y = self.up(self.average(y))
        y = ops.concat((y, x), 1)
        return ops.interpolate(y, scale_factor=2.0, mode="nearest", recompute_scale_factor=True), ops.flatten(y)


def training(optimizer):
    """A step of training; its result is the loss."""
    net = LeNet()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    return nn.TrainOneStepCell(loss, optimizer(net.trainable_params()))


def momentum_step():
    return training(lambda parameters: nn.Momentum(parameters, 0.1, 0.9))


def adam_step():
    return training(lambda parameters: nn.Adam(parameters, 0.01))


class MintShapes(nn.Cell):
    """Windows, paddings and sizes of `mint`."""

    def construct(self, x, w):
        functional = mint.nn.functional
        return (
            functional.adaptive_avg_pool2d(x, 2), functional.avg_pool2d(x, 2, 2, 1), functional.conv2d(x, w, None, 2, 1),
            functional.max_pool2d(x, 2), functional.pad(x, (1, 2), "constant", 3.0),
            functional.pad(x, (1, 1, 1, 1), "reflect"), functional.pad(x, (1, 1, 1, 1), "replicate"),
            functional.interpolate(x, scale_factor=(2.0, 2.0), mode="nearest"),
            functional.interpolate(x, size=(4, 4), mode="bilinear", align_corners=True),
        )  # fmt: skip


class MintMaths(nn.Cell):
    """Arithmetic, reductions and losses of `mint`."""

    def construct(self, x, y):
        functional = mint.nn.functional
        return (
            mint.fmod(x, y), mint.fmod(x, 2.0), mint.remainder(x, y), mint.remainder(x, 2.0), mint.logaddexp(x, y),
            mint.logsumexp(x, 1), mint.div(x, y, rounding_mode="floor"), mint.div(x, y, rounding_mode="trunc"),
            mint.xlogy(y, 2.0), mint.repeat_interleave(x, 2, 1), mint.tile(x, (2, 1)), mint.norm(x, 2.0, 1),
            functional.mse_loss(x, y), functional.l1_loss(x, y, "sum"), functional.selu(x), mint.clamp(x, -0.5, 0.5),
            mint.flatten(x), mint.var(x, 1), mint.std(x, 1), mint.argmax(x, 1), mint.max(x, 1), mint.full_like(x, 3.0),
            mint.where(x > 0, x, y), mint.cumsum(x, 1), mint.narrow(x, 1, 1, 2), mint.split(x, 2, 1),
            mint.chunk(x, 2, 1), mint.unsqueeze(x, 0), functional.layer_norm(x, (4,)), functional.gelu(x),
            functional.silu(x), functional.log_softmax(x, 1), functional.softplus(x), functional.kl_div(x, y, "sum"),
            mint.lerp(x, y, 0.3), mint.addmm(x, x, mint.matmul(x.T, y)),
        )  # fmt: skip


class Counter(nn.Cell):
    """A network that changes its own parameter."""

    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(np.zeros(3, np.float32)), name="count", requires_grad=False)

    def construct(self, x):
        ops.assign_add(self.count, x)
        return self.count * 2.0


class Lstm(nn.Cell):
    """Two LSTM layers in both directions."""

    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(4, 6, num_layers=2, batch_first=True, bidirectional=True)

    def construct(self, x, h, c):
        return self.net(x, (h, c))


class Gru(nn.Cell):
    """A GRU layer."""

    def __init__(self):
        super().__init__()
        self.net = nn.GRU(4, 6, batch_first=True)

    def construct(self, x, h):
        return self.net(x, h)


class Encoder(nn.Cell):
    """The library's own transformer layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def construct(self, x):
        return self.layer(x)


class Mobile(nn.Cell):
    """Depthwise convolutions, hard activations and a squeeze."""

    def __init__(self):
        super().__init__()
        self.depth = nn.Conv2d(8, 8, 3, group=8, pad_mode="pad", padding=1)
        self.point = nn.Conv2d(8, 16, 1)
        self.norm = nn.BatchNorm2d(16)
        self.squeeze = nn.AdaptiveAvgPool2d(1)
        self.gate = nn.Conv2d(16, 16, 1, has_bias=True)
        self.act, self.hard, self.cap = nn.HSwish(), nn.HSigmoid(), nn.ReLU6()

    def construct(self, x):
        y = self.act(self.norm(self.point(self.cap(self.depth(x)))))
        return y * self.hard(self.gate(self.squeeze(y)))


class Yolo(nn.Cell):
    """A head in the manner of YOLO: upsampling, joining, decoding of boxes."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(8, 16, 3, 2, pad_mode="pad", padding=1)
        self.head = nn.Conv2d(24, 21, 1, has_bias=True)
        self.act = nn.SiLU()

    def construct(self, x):
        y = self.act(self.down(x))
        y = ops.interpolate(y, size=(8, 8), mode="nearest")
        y = self.head(ops.concat((y, x), 1)).reshape((x.shape[0], 3, 7, 8, 8)).transpose((0, 1, 3, 4, 2))
        columns, rows = ops.meshgrid(ops.arange(8), ops.arange(8))
        grid = ops.stack((columns, rows), -1).astype(ms.float32)
        boxes = ops.sigmoid(y[..., :2]) + grid
        return boxes, ops.exp(y[..., 2:4]), ops.sigmoid(y[..., 4:])


def _random(shape, seed=0):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def _whole(high, shape, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)


#: name → network, example inputs, and the shapes to export with where sizes are free (None)
CASES = {
    "lenet": (LeNet, [_random((2, 1, 32, 32))], None),
    "lenet_free_batch": (LeNet, [_random((3, 1, 32, 32))], [(None, 1, 32, 32)]),
    "resnet50": (ResNet50, [_random((1, 3, 64, 64))], None),
    "bert": (Bert, [_whole(1000, (2, 16)), _whole(2, (2, 16)), np.ones((2, 16), np.int32)], None),
    "bert_free_batch": (Bert, [_whole(1000, (3, 16)), _whole(2, (3, 16)), np.ones((3, 16), np.int32)], [(None, 16)] * 3),
    "bert_tiny_free": (lambda: Bert(20, 8, 2, 1, 8), [_whole(20, (3, 5)), _whole(2, (3, 5)), np.ones((3, 5), np.int32)], [(None, 5)] * 3),
    "control": (Control, [np.ones(2, np.float32), np.array(4, np.int32)], None),
    "loops": (Loops, [np.ones(2, np.float32), np.array(4, np.int32)], None),
    "branches": (Branches, [np.array([0.5, 2.0], np.float32)], None),
    "early": (Early, [np.array([-1.0, 2.0], np.float32)], None),
    "recurrent": (Recurrent, [_random((2, 5, 4))], None),
    "indexing": (Indexing, [_random((4, 5)), np.array([0, 2], np.int32), np.array([1, 3], np.int32)], None),
    "shapes": (Shapes, [_random((3, 8))], None),
    "layers": (Layers, [_random((2, 4, 8, 8))], None),
    "train_momentum": (momentum_step, [_random((4, 1, 32, 32)), _whole(10, (4,))], None),
    "train_adam": (adam_step, [_random((4, 1, 32, 32)), _whole(10, (4,))], None),
    "lstm": (Lstm, [_random((2, 5, 4)), _random((4, 2, 6)), _random((4, 2, 6))], None),
    "gru": (Gru, [_random((2, 5, 4)), _random((1, 2, 6))], None),
    "encoder": (Encoder, [_random((2, 5, 16))], None),
    "mobile": (Mobile, [_random((2, 8, 8, 8))], None),
    "yolo": (Yolo, [_random((2, 8, 8, 8))], None),
    "counter": (Counter, [np.ones(3, np.float32)], None),
}  # fmt: skip
#: single layers
LAYERS = {
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, has_bias=True), (2, 4, 8)),
    "conv3d": (lambda: nn.Conv3d(2, 3, 3, pad_mode="pad", padding=1), (1, 2, 5, 5, 5)),
    "conv1d_transpose": (lambda: nn.Conv1dTranspose(4, 6, 3, 2), (2, 4, 8)),
    "conv2d_transpose_pad": (lambda: nn.Conv2dTranspose(4, 6, 3, 2, pad_mode="pad", padding=1), (2, 4, 8, 8)),
    "batch_norm_1d": (lambda: nn.BatchNorm1d(4), (3, 4)),
    "batch_norm_3d": (lambda: nn.BatchNorm3d(2), (1, 2, 4, 4, 4)),
    "group_norm": (lambda: nn.GroupNorm(2, 4), (2, 4, 6, 6)),
    "layer_norm": (lambda: nn.LayerNorm((6, 6), 2, 2), (2, 4, 6, 6)),
    "prelu": (lambda: nn.PReLU(4), (2, 4, 6, 6)),
    "log_softmax": (nn.LogSoftmax, (3, 4)),
    "pad": (lambda: nn.Pad(((0, 0), (0, 0), (1, 1), (2, 2))), (2, 4, 6, 6)),
    "zero_pad": (lambda: nn.ZeroPad2d((1, 2, 3, 0)), (2, 4, 6, 6)),
    "constant_pad": (lambda: nn.ConstantPad2d((1, 1, 1, 1), 0.5), (2, 4, 6, 6)),
    "reflection_pad": (lambda: nn.ReflectionPad2d((1, 1, 1, 1)), (2, 4, 6, 6)),
    "max_pool_1d": (lambda: nn.MaxPool1d(2, 2), (2, 4, 8)),
    "avg_pool_1d": (lambda: nn.AvgPool1d(2, 2), (2, 4, 8)),
    "max_pool_3d": (lambda: nn.MaxPool3d(2, 2), (1, 2, 4, 4, 4)),
    "avg_pool_3d": (lambda: nn.AvgPool3d(2, 2), (1, 2, 4, 4, 4)),
    "max_pool_padded": (lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), (2, 4, 8, 8)),
    "avg_pool_padded": (lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1), (2, 4, 8, 8)),
    "adaptive_max": (lambda: nn.AdaptiveMaxPool2d(2), (2, 4, 8, 8)),
    "adaptive_1d": (lambda: nn.AdaptiveAvgPool1d(2), (2, 4, 8)),
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), (2, 4, 8, 8)),
    "upsample": (lambda: nn.Upsample(scale_factor=2.0, mode="nearest", recompute_scale_factor=True), (2, 4, 8, 8)),
    "glu": (nn.GLU, (3, 4)),
    "fast_gelu": (nn.FastGelu, (3, 4)),
    "softsign": (nn.Softsign, (3, 4)),
    "hard_tanh": (nn.Hardtanh, (3, 4)),
    "celu": (nn.CELU, (3, 4)),
    "relu6": (nn.ReLU6, (3, 4)),
    "rnn": (lambda: nn.RNN(4, 6), (5, 2, 4)),
    "bidense": (lambda: nn.SequentialCell(nn.Dense(4, 8, activation="relu"), nn.Dense(8, 2)), (3, 4)),
    "unflatten": (lambda: nn.Unflatten(1, (2, 2)), (3, 4)),
    "embedding": (lambda: nn.Embedding(10, 4), None),
}
CASES.update({
    f"layer_{name}": (make, [_whole(10, (2, 3)) if shape is None else _random(shape) * 2 - 1], None)
    for name, (make, shape) in LAYERS.items()
})  # fmt: skip

#: those that official MindSpore writes but cannot run on a CPU
WRITE_ONLY = {
    "mint_shapes": (MintShapes, [_random((2, 3, 6, 6)), _random((4, 3, 3, 3))]),
    "mint_maths": (MintMaths, [_random((3, 4)) * 4 - 2, _random((3, 4), 1) + 0.5]),
}
