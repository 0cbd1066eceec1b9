"""What profiling at the default level costs: one training step with and without, in turns.

    python benchmarks/train/profiler.py [--rounds 40] [--steps 20]

Prints, per mode and backend, the median time of a step and the overhead (the median over rounds of the ratio of
neighbouring measurements, so that slow drifts of the machine cancel out).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

#: mode, backend, network
CASES = {
    "LeNet, graph, xla": (0, "xla", "lenet"), "LeNet, graph, cpu": (0, "cpu", "lenet"),
    "ResNet-18, graph, cpu": (0, "cpu", "resnet18"), "LeNet, pynative": (1, "", "lenet"),
}  # fmt: skip


def measure(mode: int, backend: str, network: str, rounds: int, steps: int) -> None:
    from steps import training_step

    import mindspore as ms
    from mindspore.profiler import profile

    ms.set_context(mode=mode)
    ms.set_context(backend=backend)
    run = training_step(network)

    def seconds(profiler: profile | None) -> float:
        begin = time.perf_counter()
        for _ in range(steps):
            run()
            if profiler is not None:
                profiler.step()
        return (time.perf_counter() - begin) / steps

    seconds(None)
    plain, profiled = [], []
    for _ in range(rounds):
        plain.append(seconds(None))
        profiler = profile()
        run()  # starting is paid once, not per step
        profiled.append(seconds(profiler))
        profiler.stop()
    overhead = statistics.median(b / a for a, b in zip(plain, profiled)) - 1
    print(f"{statistics.median(plain) * 1e3:.3f} ms a step, profiled {statistics.median(profiled) * 1e3:.3f} ms: "
          f"overhead {overhead:+.1%}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--case", choices=CASES)
    options = parser.parse_args()
    if options.case:
        slower = 4 if "ResNet" in options.case else 1
        measure(*CASES[options.case], max(options.rounds // slower, 1), max(options.steps // slower, 1))
        return
    for case in CASES:
        print(f"{case:22}", end=" ", flush=True)
        command = [sys.executable, __file__, "--case", case, "--rounds", str(options.rounds)]
        subprocess.run([*command, "--steps", str(options.steps)], check=False, env=dict(os.environ))


if __name__ == "__main__":
    main()
