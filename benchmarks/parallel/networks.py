"""Ten small networks trained on eight imagined devices and on one: how far the losses of 20 steps are apart.

    python benchmarks/parallel/networks.py

No network knows of parallelism: each plan is one line of settings. Devices are rehearsed in one process.
"""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops

DRAW = np.random.default_rng(0)
PLANS = {
    "data": {"parallel_mode": "semi_auto_parallel"},
    "optimizer": {"parallel_mode": "semi_auto_parallel", "enable_parallel_optimizer": True,
                  "parallel_optimizer_config": {"parallel_optimizer_threshold": 0}},
    "searched": {"parallel_mode": "auto_parallel"},
}  # fmt: skip


def normal(*shape):
    return Tensor(DRAW.standard_normal(shape).astype("f"))


def integers(top, *shape):
    return Tensor(DRAW.integers(0, top, shape).astype("i"))


class Residual(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3), nn.Conv2d(width, width, 3)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def construct(self, x):
        return ops.relu(x + self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x))))))


class Attention(nn.Cell):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)

    def construct(self, x):
        b, t, w = x.shape
        q, k, v = (p.reshape(b, t, self.heads, -1).swapaxes(1, 2) for p in ops.split(self.qkv(self.norm1(x)), w, -1))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / float(np.sqrt(w // self.heads))
        if self.causal:
            scores = scores + Tensor(np.triu(np.full((t, t), -1e4, "f"), 1))
        x = x + self.out(ops.matmul(ops.softmax(scores, -1), v).swapaxes(1, 2).reshape(b, t, w))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Experts(nn.Cell):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Dense(width, experts)
        self.w1 = ms.Parameter(normal(experts, width, 2 * width) * 0.1, name="w1")
        self.w2 = ms.Parameter(normal(experts, 2 * width, width) * 0.1, name="w2")
        self.count = experts

    def construct(self, x):
        chosen, places = ops.top_k(ops.softmax(self.gate(x), -1), 2)
        kept = (ops.one_hot(places, self.count, Tensor(1.0), Tensor(0.0)) * chosen.expand_dims(-1)).sum(1)
        spread = kept.transpose(1, 0).expand_dims(-1) * x.expand_dims(0)
        return ops.matmul(ops.relu(ops.matmul(spread, self.w1)), self.w2).sum(0)


class Tokens(nn.Cell):
    """An embedding, layers over a sequence, and what is made of them."""

    def __init__(self, layers, classes, vocabulary=32, width=16, pooled=False):
        super().__init__()
        self.table, self.layers, self.pooled = nn.Embedding(vocabulary, width), nn.SequentialCell(layers), pooled
        self.head = nn.Dense(width, classes)

    def construct(self, x):
        x = self.layers(self.table(x))
        return self.head(x.mean(1) if self.pooled else x.reshape(-1, x.shape[-1]))


class Clicks(nn.Cell):
    """DeepFM: factorisation machine and dense layers over one table."""

    def __init__(self, rows=64, fields=6, width=8):
        super().__init__()
        self.table, self.first = nn.Embedding(rows, width), nn.Embedding(rows, 1)
        self.deep = nn.SequentialCell(nn.Dense(fields * width, 32), nn.ReLU(), nn.Dense(32, 1))

    def construct(self, ids):
        vectors = self.table(ids)
        squares = ops.square(vectors.sum(1)) - ops.square(vectors).sum(1)
        return self.first(ids).sum(1) + 0.5 * squares.sum(1, keepdims=True) + self.deep(vectors.reshape(ids.shape[0], -1))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Dense(16, 4)

    def construct(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def networks():
    """Name -> (network, loss, batch)."""
    image, cross = nn.SequentialCell, nn.CrossEntropyLoss
    return {
        "LeNet": (image(nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5, pad_mode="valid"),
                        nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(256, 84), nn.ReLU(), nn.Dense(84, 10)),
                  cross(), (normal(8, 1, 28, 28), integers(10, 8))),
        "ResNet": (image(nn.Conv2d(3, 8, 3), Residual(8), Residual(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(8, 4)),
                   cross(), (normal(8, 3, 8, 8), integers(4, 8))),
        "BERT": (Tokens([Attention(16, 4, False), Attention(16, 4, False)], 4, pooled=True), cross(),
                 (integers(32, 8, 12), integers(4, 8))),
        "GPT": (Tokens([Attention(16, 4, True), Attention(16, 4, True)], 32), cross(), (integers(32, 8, 12), integers(32, 96))),
        "MoE": (image(nn.Dense(16, 16), Experts(16, 4)), nn.MSELoss(), (normal(16, 16), normal(16, 16))),
        "DeepFM": (Clicks(), nn.BCEWithLogitsLoss(), (integers(64, 16, 6), Tensor(DRAW.integers(0, 2, (16, 1)).astype("f")))),
        "Autoencoder": (image(nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.Conv2dTranspose(4, 1, 3, 2)), nn.MSELoss(),
                        (normal(8, 1, 8, 8), normal(8, 1, 8, 8))),
        "MLP": (image(nn.Dense(16, 64), nn.Tanh(), nn.Dense(64, 8)), nn.MSELoss(), (normal(16, 16), normal(16, 8))),
        "LSTM": (Recurrent(), cross(), (normal(8, 5, 8), integers(4, 8))),
        "ViT": (image(nn.Conv2d(3, 16, 4, 4, pad_mode="valid"), nn.Flatten(2), Patches(), Attention(16, 2, False), Pool(), nn.Dense(16, 4)),
                cross(), (normal(8, 3, 16, 16), integers(4, 8))),
    }  # fmt: skip


class Patches(nn.Cell):
    def construct(self, x):
        return x.swapaxes(1, 2)


class Pool(nn.Cell):
    def construct(self, x):
        return x.mean(1)


def losses(name, settings):
    global DRAW
    DRAW = np.random.default_rng(1)
    ms.set_seed(1)
    np.random.seed(1)
    net, loss, batch = networks()[name]
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    if settings:
        ms.set_auto_parallel_context(device_num=8, full_batch=True, **settings)
    try:
        return np.array([float(step(*batch)) for _ in range(20)])
    finally:
        ms.reset_auto_parallel_context()


def main():
    ms.set_context(mode=ms.GRAPH_MODE)
    print("| network | " + " | ".join(PLANS) + " |\n|---|" + "---|" * len(PLANS))
    for name in networks():
        alone = losses(name, None)
        apart = [abs(losses(name, plan) / alone - 1).max() for plan in PLANS.values()]
        print(f"| {name} | " + " | ".join(f"{a:.1e}" for a in apart) + " |", flush=True)


if __name__ == "__main__":
    main()
