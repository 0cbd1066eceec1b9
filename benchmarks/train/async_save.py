"""How long `save_checkpoint(…, async_save=True)` holds a training step up, beside a plain copy of the same data.

    python benchmarks/train/async_save.py [--mib 512] [--rounds 5]

Prints the medians of: a copy of all parameters in memory, the call with `async_save`, and the whole write.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np

import mindspore as ms
from mindspore import Parameter, nn
from mindspore.train._checkpoint.save import wait_async_saves

PART_MIB = 16


def network(mib: int) -> nn.Cell:
    """A Cell with so many MiB of parameters."""
    net = nn.Cell()
    for i in range(max(mib // PART_MIB, 1)):
        values = np.full((PART_MIB, 1 << 18), i, np.float32)
        net.insert_param_to_cell(f"part{i}", Parameter(ms.Tensor(values), name=f"part{i}"))
    return net


def seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    net = network(options.mib)
    arrays = [p.asnumpy() for p in net.get_parameters()]
    copies, calls, writes = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.ckpt")
        for _ in range(options.rounds):
            copies.append(seconds(lambda: [a.copy() for a in arrays]))
            begin = time.perf_counter()
            calls.append(seconds(lambda: ms.save_checkpoint(net, path, async_save=True)))
            wait_async_saves()
            writes.append(time.perf_counter() - begin)
    copy, call, write = (statistics.median(times) * 1e3 for times in (copies, calls, writes))
    print(f"{options.mib} MiB: copy {copy:.0f} ms, async_save {call:.0f} ms ({call / copy:.2f} copies), "
          f"written after {write:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
