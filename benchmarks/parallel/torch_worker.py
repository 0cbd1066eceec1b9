"""One process of PyTorch: gloo, DistributedDataParallel."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import torch_cases as cases


def seconds(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        dist.barrier()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    times.sort()
    return [times[len(times) // 2], times[0]]


def all_reduce(elements, chain, repeats):
    x = torch.zeros(elements)

    def run():
        for _ in range(chain):
            dist.all_reduce(x)

    return [t / chain for t in seconds(run, repeats)]


def training(net, optimizer, x, y):
    """As in the benchmark of one process, the network wrapped."""
    wrapped = DistributedDataParallel(net) if together else net

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(wrapped(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


together = True


def main():
    global together
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    results = {
        "all-reduce of 1 KiB": all_reduce(256, 100, 20),
        "all-reduce of 1 MiB": all_reduce(256 << 10, 4, 30),
        "all-reduce of 100 MiB": all_reduce(25 << 20, 1, 8),
    }
    cases.training = training
    for name in ("resnet50", "gpt"):
        for together in (True, False):
            results[name if together else f"{name}, gradients not exchanged"] = seconds(getattr(cases, name)(), 6)
    if dist.get_rank() == 0:
        Path(sys.argv[1]).write_text(json.dumps(results))
    dist.destroy_process_group()


main()
