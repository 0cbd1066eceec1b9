"""Small networks that users cut over devices, each with its data and the strategies of some plans.

`network(plan)` takes the degrees of a plan: `dp` parts of the batch, `mp` parts of the model. Without one it is the network of one
device.
"""

from typing import NamedTuple

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Plan(NamedTuple):
    dp: int = 1
    mp: int = 1


def weight(shape, seed, name, scale=0.1):
    return Parameter(Tensor((np.random.default_rng(seed).standard_normal(shape) * scale).astype("f")), name=name)


def cut(op, plan, *strategy):
    return op if plan is None else op.shard(strategy)


class LeNet(nn.Cell):
    """Convolutions by batch and channels, dense layers by columns, then by rows."""

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.conv1 = cut(ops.Conv2D(8, 5), plan, (dp, 1, 1, 1), (mp, 1, 1, 1))
        self.conv2 = cut(ops.Conv2D(16, 5), plan, (dp, mp, 1, 1), (1, mp, 1, 1))
        self.pool = cut(ops.MaxPool(2, 2), plan, (dp, 1, 1, 1))
        self.up, self.down = cut(ops.MatMul(), plan, (dp, 1), (1, mp)), cut(ops.MatMul(), plan, (dp, mp), (mp, 1))
        self.w1, self.w2 = weight((8, 1, 5, 5), 1, "w1"), weight((16, 8, 5, 5), 2, "w2")
        self.w3, self.w4 = weight((256, 64), 3, "w3"), weight((64, 16), 4, "w4")
        self.loss = nn.CrossEntropyLoss()

    def construct(self, images, labels):
        x = self.pool(ops.relu(self.conv1(images, self.w1)))
        x = self.pool(ops.relu(self.conv2(x, self.w2))).reshape(images.shape[0], -1)
        return self.loss(self.down(ops.relu(self.up(x, self.w3)), self.w4), labels)

    @staticmethod
    def batch(draw):
        return draw.normal(size=(8, 1, 28, 28)).astype("f"), draw.integers(0, 10, 8).astype("i")


class Gpt(nn.Cell):
    """A block of a language model as Megatron cuts it: heads and hidden units, the vocabulary of table and loss."""

    WIDTH, HEADS, LENGTH, VOCABULARY = 16, 4, 12, 32

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        width, vocabulary = self.WIDTH, self.VOCABULARY
        self.gather = cut(ops.Gather(), plan, (mp, 1), (dp, 1))
        self.project = [cut(ops.MatMul(), plan, (dp, 1), (1, mp)) for _ in range(3)]
        self.scores = cut(ops.BatchMatMul(transpose_b=True), plan, (dp, mp, 1, 1), (dp, mp, 1, 1))
        self.mix = cut(ops.BatchMatMul(), plan, (dp, mp, 1, 1), (dp, mp, 1, 1))
        self.softmax = cut(ops.Softmax(), plan, (dp, mp, 1, 1))
        self.merge = cut(ops.MatMul(), plan, (dp, mp), (mp, 1))
        self.up, self.down = cut(ops.MatMul(), plan, (dp, 1), (1, mp)), cut(ops.MatMul(), plan, (dp, mp), (mp, 1))
        self.head = cut(ops.MatMul(transpose_b=True), plan, (dp, 1), (mp, 1))
        self.norms = nn.CellList([nn.LayerNorm((width,)) for _ in range(3)])
        self.table = weight((vocabulary, width), 1, "table", 0.3)
        self.wq, self.wk, self.wv = (weight((width, width), 2 + i, f"w{c}") for i, c in enumerate("qkv"))
        self.wo, self.w1 = weight((width, width), 5, "wo"), weight((width, 4 * width), 6, "w1")
        self.w2 = weight((4 * width, width), 7, "w2")
        self.mask = Tensor(np.triu(np.full((self.LENGTH, self.LENGTH), -1e4, "f"), 1))

    def heads(self, x, op, w):
        return op(x, w).reshape(-1, self.LENGTH, self.HEADS, self.WIDTH // self.HEADS).swapaxes(1, 2)

    def construct(self, tokens, labels):
        x = self.gather(self.table, tokens, 0).reshape(-1, self.WIDTH)
        y = self.norms[0](x)
        q, k, v = (self.heads(y, op, w) for op, w in zip(self.project, (self.wq, self.wk, self.wv)))
        mixed = self.mix(self.softmax(self.scores(q, k) / 2.0 + self.mask), v)
        x = x + self.merge(mixed.swapaxes(1, 2).reshape(-1, self.WIDTH), self.wo)
        x = x + self.down(ops.gelu(self.up(self.norms[1](x), self.w1)), self.w2)
        return ops.cross_entropy(self.head(self.norms[2](x), self.table), labels.reshape(-1))

    @classmethod
    def batch(cls, draw):
        tokens = draw.integers(0, cls.VOCABULARY, (8, cls.LENGTH + 1)).astype("i")
        return tokens[:, :-1].copy(), tokens[:, 1:].copy()


class Experts(nn.Cell):
    """A mixture of experts: tokens are weighed over all experts, which lie on different devices."""

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.gate = cut(ops.MatMul(), plan, (dp, 1), (1, 1))
        self.up = cut(ops.BatchMatMul(), plan, (mp, dp, 1), (mp, 1, 1))
        self.down = cut(ops.BatchMatMul(), plan, (mp, dp, 1), (mp, 1, 1))
        self.wg, self.w1, self.w2 = weight((16, 4), 1, "wg"), weight((4, 16, 32), 2, "w1"), weight((4, 32, 16), 3, "w2")

    def construct(self, x, y):
        shares = ops.softmax(self.gate(x, self.wg), -1)
        chosen, places = ops.top_k(shares, 2)
        kept = ops.one_hot(places, 4, Tensor(1.0), Tensor(0.0)) * chosen.expand_dims(-1)
        spread = kept.sum(1).transpose(1, 0).expand_dims(-1) * x.expand_dims(0)
        out = self.down(ops.relu(self.up(spread, self.w1)), self.w2).sum(0)
        return ops.mse_loss(out, y)

    @staticmethod
    def batch(draw):
        return draw.normal(size=(16, 16)).astype("f"), draw.normal(size=(16, 16)).astype("f")


class DeepFm(nn.Cell):
    """A recommender: tables cut by rows, factorisation machine and dense layers by batch."""

    FIELDS, ROWS, WIDTH = 6, 64, 8

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.linear = cut(ops.Gather(), plan, (mp, 1), (dp, 1))
        self.gather = cut(ops.Gather(), plan, (mp, 1), (dp, 1))
        self.hidden = cut(ops.MatMul(), plan, (dp, 1), (1, mp))
        self.out = cut(ops.MatMul(), plan, (dp, mp), (mp, 1))
        self.first, self.second = weight((self.ROWS, 1), 1, "first"), weight((self.ROWS, self.WIDTH), 2, "second")
        self.w1, self.w2 = weight((self.FIELDS * self.WIDTH, 32), 3, "w1"), weight((32, 1), 4, "w2")
        self.loss = nn.BCEWithLogitsLoss()

    def construct(self, ids, clicks):
        vectors = self.gather(self.second, ids, 0)
        squares = ops.square(vectors.sum(1)) - ops.square(vectors).sum(1)
        deep = self.out(ops.relu(self.hidden(vectors.reshape(ids.shape[0], -1), self.w1)), self.w2)
        return self.loss(self.linear(self.first, ids, 0).sum(1) + 0.5 * squares.sum(1, keepdims=True) + deep, clicks)

    @classmethod
    def batch(cls, draw):
        return draw.integers(0, cls.ROWS, (16, cls.FIELDS)).astype("i"), draw.integers(0, 2, (16, 1)).astype("f")


class Recurrence(nn.Cell):
    """A loop whose state is a part of the batch, with a product cut over units."""

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.step = cut(ops.MatMul(), plan, (dp, mp), (mp, 1))
        self.out = cut(ops.MatMul(), plan, (dp, 1), (1, mp))
        self.w1, self.w2 = weight((16, 16), 1, "w1", 0.3), weight((16, 8), 2, "w2")

    def construct(self, x, y):
        h, i = ops.zeros_like(x), ops.zeros((), ms.int32)
        while i < 3 + (x.sum() > 0).int():
            h = ops.tanh(self.step(h + x, self.w1))
            i = i + 1
        return ops.mse_loss(self.out(h, self.w2), y)

    @staticmethod
    def batch(draw):
        return draw.normal(size=(16, 16)).astype("f"), draw.normal(size=(16, 8)).astype("f")


class Branches(Recurrence):
    """A branch that the data decides, with products and sums over devices on both sides."""

    def construct(self, x, y):
        h = x
        if y.sum() > 0:
            h = ops.tanh(self.step(h - h.mean(0), self.w1))
        else:
            h = h * ops.softmax(h, 0)
        return ops.mse_loss(self.out(h, self.w2), y)


class Odd(nn.Cell):
    """Batches of 11 and a vocabulary of 37 words, in parts that are filled up."""

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.gather = cut(ops.Gather(), plan, (mp, 1), (dp, 1)).add_prim_attr("uneven", True)
        self.head = cut(ops.MatMul(transpose_b=True), plan, (dp, 1), (mp, 1)).add_prim_attr("uneven", True)
        self.table, self.w = weight((37, 12), 1, "table", 0.3), weight((12, 12), 2, "w")

    def construct(self, tokens, labels):
        x = self.gather(self.table, tokens, 0).mean(1)
        return ops.cross_entropy(self.head(x + ops.tanh(ops.matmul(x, self.w)), self.table), labels)

    @staticmethod
    def batch(draw):
        return draw.integers(0, 37, (11, 4)).astype("i"), draw.integers(0, 37, 11).astype("i")


class Ring(nn.Cell):
    """Attention over a sequence that is cut, keys and values travelling from process to process."""

    def __init__(self, plan=None):
        super().__init__()
        dp, mp = plan or (1, 1)
        self.attention = cut(ops.Attention(0.5, True), plan, *((dp, 1, mp, 1),) * 3)
        self.project = cut(ops.MatMul(), plan, (dp * mp, 1), (1, 1))
        self.w1, self.w2 = weight((8, 24), 1, "w1", 0.5), weight((8, 8), 2, "w2", 0.5)

    def construct(self, x, y):
        q, k, v = ops.split(self.project(x.reshape(-1, 8), self.w1).reshape(4, 16, 24), 8, 2)
        heads = [t.reshape(4, 16, 2, 4).swapaxes(1, 2) for t in (q, k, v)]
        out = self.attention(*heads, None).swapaxes(1, 2).reshape(4, 16, 8)
        return ops.mse_loss(ops.matmul(out, self.w2), y)

    @staticmethod
    def batch(draw):
        return draw.normal(size=(4, 16, 8)).astype("f"), draw.normal(size=(4, 16, 8)).astype("f")


NETWORKS = {"lenet": LeNet, "gpt": Gpt, "experts": Experts, "deepfm": DeepFm, "recurrence": Recurrence, "branches": Branches}


def momentum(parameters):
    return nn.Momentum(parameters, 0.05, 0.9)


def adam(parameters):
    return nn.AdamWeightDecay(parameters, 1e-3, weight_decay=0.01)


def losses(network, optimizer=momentum, steps=20, **named):
    """The losses of some steps of training, and the step itself."""
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(3)
    net = network(**named)
    step = nn.TrainOneStepCell(net, optimizer(net.trainable_params())).set_train()
    draw = np.random.default_rng(0)
    found = [float(step(*map(Tensor, network.batch(draw)))) for _ in range(steps)]
    return np.array(found), step
