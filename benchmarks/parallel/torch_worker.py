"""One process of PyTorch: gloo, DistributedDataParallel."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import torch_cases as cases
from turns import Case, serve


def all_reduce(elements: int, chain: int) -> Case:
    x = torch.zeros(elements)

    def run() -> None:
        for _ in range(chain):
            dist.all_reduce(x)

    return Case(run, chain)


def training(exchanged, net, optimizer, x, y):
    """As in the benchmark of one process, the network wrapped."""
    wrapped = DistributedDataParallel(net, gradient_as_bucket_view=True) if exchanged else net

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(wrapped(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def steps(case: str, exchanged: bool) -> Case:
    cases.training = functools.partial(training, exchanged)
    return Case(getattr(cases, case)())


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    known = {
        "all-reduce of 1 KiB": lambda: all_reduce(256, 100),
        "all-reduce of 1 MiB": lambda: all_reduce(256 << 10, 20),
        "all-reduce of 100 MiB": lambda: all_reduce(25 << 20, 2),
        "ResNet-50": lambda: steps("resnet50", True),
        "ResNet-50, gradients not exchanged": lambda: steps("resnet50", False),
        "GPT": lambda: steps("gpt", True),
        "GPT, gradients not exchanged": lambda: steps("gpt", False),
    }
    serve(sys.argv[1], sys.argv[2], known, dist.barrier)
    dist.destroy_process_group()


main()
