"""How many scalars per second SummaryRecord writes.

    python benchmarks/train/summary.py [--steps 2000] [--scalars 100]

Each step notes the scalars with `add_value` and writes them with `record`; the time until `close` has brought the file
to the disk counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np

import mindspore as ms


def scalars_per_second(steps: int, scalars: int) -> float:
    tags = [f"layer{i}/value" for i in range(scalars)]
    values = [ms.Tensor(np.float32(i)) for i in range(scalars)]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        with ms.SummaryRecord(folder) as record:
            for step in range(steps):
                for tag, value in zip(tags, values):
                    record.add_value("scalar", tag, value)
                record.record(step)
        return steps * scalars / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--scalars", type=int, default=100)
    options = parser.parse_args()
    rates = [scalars_per_second(options.steps, options.scalars) for _ in range(3)]
    print(f"{max(rates):,.0f} scalars per second ({options.scalars} per step)")


if __name__ == "__main__":
    main()
