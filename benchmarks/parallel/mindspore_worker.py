"""One process of this framework: collectives as native steps, and data parallel training steps."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import init

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import mindspore_cases as cases
from turns import Case, serve


def all_reduce(elements: int, chain: int) -> Case:
    """Many sums in one graph, each of the one before, so that calling the graph does not count."""
    reduce = ops.AllReduce()

    def sums(x: Tensor) -> Tensor:
        for _ in range(chain):
            x = reduce(x)
        return x

    graph, x = ms.jit(sums), Tensor(np.zeros(elements, np.float32))
    return Case(lambda: graph(x), chain)


def training(exchanged, net, optimizer, x, y, flat=False, compiled=True):
    """The step of the benchmark of one process, with gradients averaged over processes."""
    cases.initialise(net)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)

    def forward(images, labels):
        return ops.cross_entropy(net(images), labels.reshape(-1) if flat else labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, grads = gradient(images, labels)
        optimizer(reducer(grads) if exchanged else grads)
        return loss

    step = ms.jit(step)
    net.set_train()
    return lambda: float(step(x, y).asnumpy())


def steps(case: str, exchanged: bool) -> Case:
    cases.training = functools.partial(training, exchanged)
    return Case(getattr(cases, case)())


def main() -> None:
    init()
    known = {
        "all-reduce of 1 KiB": lambda: all_reduce(256, 1000),
        "all-reduce of 1 MiB": lambda: all_reduce(256 << 10, 20),
        "all-reduce of 100 MiB": lambda: all_reduce(25 << 20, 2),
        "ResNet-50": lambda: steps("resnet50", True),
        "ResNet-50, gradients not exchanged": lambda: steps("resnet50", False),
        "GPT": lambda: steps("gpt", True),
        "GPT, gradients not exchanged": lambda: steps("gpt", False),
    }
    serve(sys.argv[1], sys.argv[2], known, ops.Barrier())


main()
