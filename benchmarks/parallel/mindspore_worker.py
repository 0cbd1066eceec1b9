"""One process of this framework: times collectives as native steps, and data parallel training steps."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import mindspore_cases as cases


def seconds(function, repeats):
    """Median and least time of a call; the processes begin together."""
    function()
    times = []
    for _ in range(repeats):
        ops.Barrier()()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return [float(np.median(times)), min(times)]


def all_reduce(elements, chain, repeats):
    """Of one sum: many in one graph, each of the one before, so that calling the graph does not count."""
    reduce = ops.AllReduce()

    def sums(x):
        for _ in range(chain):
            x = reduce(x)
        return x

    graph, x = ms.jit(sums), Tensor(np.zeros(elements, np.float32))
    return [t / chain for t in seconds(lambda: graph(x), repeats)]


def training(net, optimizer, x, y, flat=False, compiled=True):
    """The step of the benchmark of one process, with gradients averaged over processes."""
    cases.initialise(net)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)

    def forward(images, labels):
        return ops.cross_entropy(net(images), labels.reshape(-1) if flat else labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, grads = gradient(images, labels)
        optimizer(reducer(grads) if together else grads)
        return loss

    step = ms.jit(step)
    net.set_train()
    return lambda: float(step(x, y).asnumpy())


together = True


def main():
    global together
    init()
    results = {
        "all-reduce of 1 KiB": all_reduce(256, 100, 50),
        "all-reduce of 1 MiB": all_reduce(256 << 10, 4, 30),
        "all-reduce of 100 MiB": all_reduce(25 << 20, 1, 8),
    }
    cases.training = training
    for name in ("resnet50", "gpt"):
        for together in (True, False):
            results[name if together else f"{name}, gradients not exchanged"] = seconds(getattr(cases, name)(), 6)
    if get_rank() == 0:
        Path(sys.argv[1]).write_text(json.dumps(results))


main()
