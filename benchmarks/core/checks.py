"""What the checks of values cost: the share of a step's time that the native backend spends on them.

    python benchmarks/core/checks.py [--rounds 300]

A step that trains an embedding and a classifier (tokens and labels are checked), the same with long sequences and with a small
batch, and a network of gathers along an axis, whose indices take twice the room of their data: the worst case. Every kernel is
timed by the processor's counter, and the best of all rounds counts: whole steps differ more by where their arrays happen to lie
than by the checks. `MS_DEV_UNCHECKED=1` compiles without them.
"""

import argparse

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.backends.cpu import runner

RNG = np.random.default_rng(0)


class Classifier(nn.Cell):
    def __init__(self, vocabulary, width, classes):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.hidden = nn.Dense(width, width, activation="relu")
        self.out = nn.Dense(width, classes)

    def construct(self, tokens):
        return self.out(self.hidden(self.table(tokens).mean(1)))


def training(batch, length, vocabulary=5000, width=64, classes=100):
    def make():
        net = Classifier(vocabulary, width, classes)
        loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
        step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
        tokens = Tensor(RNG.integers(0, vocabulary, (batch, length)), ms.int32)
        return step, (tokens, Tensor(RNG.integers(0, classes, (batch,)), ms.int32))

    return make


def gathers(rows, columns, depth=4):
    def chain(x, *indices):
        for index in indices:
            x = ops.tanh(ops.gather_elements(x, 1, index))
        return x

    def make():
        x = Tensor(RNG.normal(size=(rows, columns)).astype(np.float32))
        return ms.jit(chain), (x, *(Tensor(RNG.integers(0, columns, (rows, columns))) for _ in range(depth)))

    return make


CASES = {
    "train, 32 x 16 tokens": training(32, 16),
    "train, 128 x 128 tokens": training(128, 128),
    "train, 2 x 4 tokens, table of 50": training(2, 4, 50, 8, 5),
    "4 gathers of 256 x 256": gathers(256, 256),
}


def kernel_times(step, args, rounds):
    """(name, best time in ticks) of every kernel of the graph compiled last."""
    step(*args)
    entry = (getattr(step, "entries", None) or step._compiled.entries)()[-1]
    (instance, *_) = entry.executable._free
    names = [s.name for s in instance.blueprint.steps]
    best = np.full(instance.count, np.iinfo(np.int64).max)
    for _ in range(rounds):
        stamps = np.zeros(instance.count + 1, np.int64)
        runner.timed()(instance.table_address, instance.count, stamps.ctypes.data)
        best = np.minimum(best, np.diff(stamps))
    return list(zip(names, best[instance.count - len(names) :]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE, backend="cpu")
    print(f"{'':34s} {'kernels':>12s} {'checks':>10s}  share")
    for name, make in CASES.items():
        times = kernel_times(*make(), options.rounds)
        total = sum(t for _, t in times)
        checks = sum(t for n, t in times if "Violation" in n or "Note" in n or n == "stop")
        print(f"{name:34s} {total:12d} {checks:10d} {checks / total:6.2%}")


if __name__ == "__main__":
    main()
