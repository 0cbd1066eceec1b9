"""Compile time and call overhead, ours beside official MindSpore (if given), interleaved.

    python benchmarks/core/run.py [--rival PYTHON-WITH-OFFICIAL-MINDSPORE] [--rounds 3] [--backend xla]

Prints medians over the rounds. Machines are shared and noisy: read the ratios.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measure(python, arguments):
    env = dict(os.environ, GLOG_v="3", PYTHONWARNINGS="ignore")
    run = subprocess.run(
        [python, str(HERE / "worker.py"), *arguments], env=env, capture_output=True, text=True, check=False
    )
    for line in run.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    sys.exit(f"{python} failed:\n{run.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rival", help="interpreter with the official mindspore package")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backend", default="xla")
    options = parser.parse_args()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure(sys.executable, [options.backend]))
        if options.rival:
            theirs.append(measure(options.rival, []))
    print(f"{'':45s} {'ours':>10s} {'official':>10s} {'ratio':>8s}")
    for name in ours[0]:
        mine = statistics.median(r[name] for r in ours)
        row = f"{name:45s} {mine:10.3f}"
        if theirs and name in theirs[0]:
            other = statistics.median(r[name] for r in theirs)
            row += f" {other:10.3f} {mine / other:8.2f}"
        print(row)


if __name__ == "__main__":
    main()
