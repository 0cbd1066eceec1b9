"""Runs under any `mindspore` package: compile times and call overhead as one JSON line on standard output."""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "models"))

import mindspore as ms
from mindspore import Tensor, nn, ops


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def first_step(net, shape, classes):
    """Seconds from the first call of a training step to its result: tracing, gradients, optimisation, code."""
    net.set_train()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    x = Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    y = Tensor((np.arange(shape[0]) % classes).astype(np.int32))
    begun = time.perf_counter()
    step(x, y).asnumpy()
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    step(x, y).asnumpy()
    return first - (time.perf_counter() - begun)


def microseconds(run, count=2000):
    run()
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - begun) / count * 1e6)
    return sorted(times)[2]


def main():
    ms.set_context(mode=ms.GRAPH_MODE)
    if len(sys.argv) > 1:
        ms.set_context(backend=sys.argv[1])
    from resnet import resnet50

    a = Tensor(np.ones(4, np.float32))
    compiled = ms.jit(lambda x, y: x + y) if len(sys.argv) > 1 else ms.jit(ops.add)
    compiled(a, a)  # loads the backend's libraries, so that compile times do not contain that
    result = {"LeNet train step, compile (s)": first_step(LeNet(), (32, 1, 32, 32), 10)}
    result["compiled call of x + y (us)"] = microseconds(lambda: compiled(a, a))
    entries = compiled.entries() if hasattr(compiled, "entries") else []
    if entries:
        executable, array = entries[0].executable, a._data
        result["of which the backend's own call (us)"] = microseconds(lambda: executable(array, array))
    result["ResNet-50 train step, compile (s)"] = first_step(resnet50(10), (2, 3, 64, 64), 10)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    result["eager x + y (us)"] = microseconds(lambda: a + a)
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()
