"""Two processes with one thread each: collectives and data parallel steps, beside PyTorch with gloo in turns.

    python benchmarks/parallel/run.py --torch ENVIRONMENT/bin/python

Without `--torch` this framework is timed alone. All processes of both frameworks are there at once and take turns, case by case;
shown are medians over the rounds. The communication that a step does not hide is what the step takes longer than the same step
without an exchange of gradients, in the same round.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from turns import Workers

HERE = Path(__file__).resolve().parent
OURS, RIVAL = "MindSpore, MPI", "PyTorch, gloo"
SUMS = ("all-reduce of 1 KiB", "all-reduce of 1 MiB", "all-reduce of 100 MiB")
#: what one step of both processes works through
STEPS = {"ResNet-50": (2 * 8, "images/s"), "GPT": (2 * 4 * 128, "tokens/s")}
ALONE = "{}, gradients not exchanged"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ours(address: str, folder: str) -> list[subprocess.Popen]:
    command = [
        sys.executable, "-m", "mindspore.parallel.cluster.run", "--worker_num=2", "--local_worker_num=2", "--join=True",
        f"--master_port={free_port()}", f"--log_dir={folder}", str(HERE / "mindspore_worker.py"), address, OURS,
    ]  # fmt: skip
    return [subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})]


def start_rival(python: str, address: str) -> list[subprocess.Popen]:
    base = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    command = [python, str(HERE / "torch_worker.py"), address, RIVAL]
    return [subprocess.Popen(command, env={**base, "RANK": str(rank)}) for rank in range(2)]


Times = dict[str, dict[str, list[tuple[float, float]]]]


def measure(workers: Workers, frameworks: list[str], rounds: int, minutes: float) -> Times:
    """framework -> case -> (wall, CPU) of each round."""
    cases = [*SUMS, *(name for step in STEPS for name in (step, ALONE.format(step)))]
    found: Times = {framework: {case: [] for case in cases} for framework in frameworks}
    deadline = time.monotonic() + minutes * 60
    for number in range(rounds + 1):  # the first builds
        if number > 3 and time.monotonic() > deadline:
            break
        for case in cases:
            for framework in frameworks if number % 2 else reversed(frameworks):
                taken = workers.time(framework, case)
                if number:
                    found[framework][case].append(taken)
    return found


def median(times: list[tuple[float, float]], which: int = 0) -> float:
    return statistics.median(t[which] for t in times)


def milliseconds(times: list[tuple[float, float]]) -> str:
    """By the clock, and of a process's CPU, which tells more on a busy machine (MPI polls while it waits)."""
    return f"{median(times) * 1e3:.0f} ({median(times, 1) * 1e3:.0f})"


def exposed(by_case: dict[str, list[tuple[float, float]]], step: str) -> float:
    """The share of a step that is communication in which nothing is computed."""
    pairs = zip(by_case[step], by_case[ALONE.format(step)])
    return statistics.median((full[0] - alone[0]) / full[0] for full, alone in pairs)


def ratio(found: Times, case: str) -> float:
    """How much longer the rival takes, round by round."""
    return statistics.median(b[0] / a[0] for a, b in zip(found[OURS][case], found[RIVAL][case]))


def table(found: Times) -> str:
    frameworks, both = list(found), RIVAL in found
    head = [*frameworks, *(["rival / ours"] if both else [])]
    lines = ["| | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]

    def row(name: str, cells: list[str], case: str = "") -> None:
        last = [f"{ratio(found, case):.2f}" if case else ""] if both else []
        lines.append("| " + " | ".join([name, *cells, *last]) + " |")

    for case in SUMS:
        row(f"{case}, ms", [f"{median(found[f][case]) * 1e3:.4g}" for f in frameworks], case)
    for step, (items, unit) in STEPS.items():
        row(f"{step}, {unit}", [f"{items / median(found[f][step]):.4g}" for f in frameworks], step)
        alone = ALONE.format(step)
        row(f"{step}, ms a step (CPU)", [milliseconds(found[f][step]) for f in frameworks], step)
        row(f"{step} without exchange, ms (CPU)", [milliseconds(found[f][alone]) for f in frameworks], alone)
        row(f"{step}, communication not hidden", [f"{exposed(found[f], step):.1%}" for f in frameworks])
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="", help="an interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--minutes", type=float, default=4, help="no round begins after that")
    options = parser.parse_args()
    workers = Workers()
    with tempfile.TemporaryDirectory() as folder:
        started = start_ours(workers.address, folder)
        if options.torch:
            started += start_rival(options.torch, workers.address)
        try:
            workers.wait_for(4 if options.torch else 2, patience=120)
            print(table(measure(workers, list(workers.lines), options.rounds, options.minutes)))
        finally:
            workers.hang_up()
            for process in started:
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.terminate()


if __name__ == "__main__":
    main()
