"""Fuzzing: random calls, programs, networks and damaged files, from a seed.

    python tests/fuzz/run.py                                     a few minutes (`make fuzz`)
    python tests/fuzz/run.py --seconds 36000 --seed 20300101     a night
    python tests/fuzz/run.py --kind operators --seed 7 --from 1234 --count 1      one case again

Cases are numbered: a seed, a kind and a number always give the same case. They run in processes of their own, in batches, so that a
crash, a hang or a leak of memory is a finding with a number like any other. The result is the number of findings, 0 if there are none.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

BATCH = {
    "operators": 200, "programs": 10, "networks": 10, "files": 5000, "calls": 100, "models": 100, "runs": 30, "table": 50, "indexing": 30,
}  # fmt: skip
KINDS = tuple(BATCH)
CASE_SECONDS = 60  # of processor time; waiting is given ten times as much, so that a busy machine is no finding
#: a damaged header asks for a gigabyte of pixels, and OpenCV clears them: most of the time would go there
IMAGES = {"OPENCV_IO_MAX_IMAGE_PIXELS": str(1 << 22), "OPENCV_LOG_LEVEL": "OFF"}
MEMORY = 12 << 30  # of address space: a file of a kilobyte must not ask for more


def work(kind: str, seed: int, first: int, count: int, seconds: float) -> None:
    """Run cases in this process; a line per finding, and one with the number before each case."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module = importlib.import_module(f"fuzz_{kind}")
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(first, first + count):
            if time.monotonic() > until:
                break
            print(json.dumps({"case": number}), flush=True)
            _limit(CASE_SECONDS)
            try:
                calls = module.case(np.random.default_rng([seed, KINDS.index(kind), number]), scratch)
                print(json.dumps({"calls": calls or 1}), flush=True)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                if not isinstance(error, AssertionError):
                    text += "\n" + "".join(traceback.format_exc().splitlines(keepends=True)[-8:])
                print(json.dumps({"finding": text[:3000], "number": number}), flush=True)
            _limit(0)
    print(json.dumps({"done": True}), flush=True)


def _limit(seconds: int) -> None:
    """End the process after so much processor time, or ten times that of waiting; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)


class Ran(NamedTuple):
    """What a process has done: cases begun, calls compared in them, and (number, what was found) of those that failed."""

    cases: int
    calls: int
    findings: list[tuple[int, str]]


def batch(kind: str, seed: int, first: int, count: int, seconds: float) -> Ran:
    """Run cases in a process of their own."""
    here = os.path.abspath(__file__)
    command = [sys.executable, here, "--work", kind, str(seed), str(first), str(count), str(seconds)]
    limit = {"timeout": seconds + 20 * CASE_SECONDS}
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "GLOG_v": "3", **IMAGES}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **limit)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    cases = [line["case"] for line in lines if "case" in line]
    findings = [(line["number"], line["finding"]) for line in lines if "finding" in line]
    if not any("done" in line for line in lines):
        reason = (
            "it took too long" if done.returncode in (-signal.SIGALRM, -signal.SIGPROF) else f"the process ended with {done.returncode}"
        )
        findings.append((cases[-1] if cases else first, f"{reason}\n{done.stderr[-1500:]}"))
    return Ran(len(cases), sum(line.get("calls", 0) for line in lines), findings)


def campaign(
    kinds: list[str], seed: int, first: int, count: int | None, seconds: float
) -> Iterator[tuple[str, Ran]]:
    """Batches of each kind in turn, until the time or the numbers are used up."""
    until = time.monotonic() + seconds
    position = dict.fromkeys(kinds, first)
    while kinds and time.monotonic() < until:
        for kind in list(kinds):
            size = BATCH[kind] if count is None else min(BATCH[kind], first + count - position[kind])
            left = until - time.monotonic()
            if size <= 0 or left <= 0:
                kinds.remove(kind)
                continue
            ran = batch(kind, seed, position[kind], size, left)
            crashed = [number for number, text in ran.findings if text.startswith(("the process", "it took"))]
            position[kind] = max(crashed) + 1 if crashed else position[kind] + size
            yield kind, ran


def _summary(cases: Counter[str], calls: Counter[str], found: int) -> str:
    kinds = ", ".join(f"{kind} {ran} ({calls[kind]:,} calls)" if calls[kind] > ran else f"{kind} {ran}" for kind, ran in cases.items())
    return f"{kinds} cases; {found} findings"


def main() -> int:
    if sys.argv[1:2] == ["--work"]:
        kind, seed, first, count, seconds = sys.argv[2:7]
        work(kind, int(seed), int(first), int(count), float(seconds))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS, help="all kinds, unless told")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each kind; as many as time allows, unless told")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--progress", action="store_true", help="say after each process how far it is")
    options = parser.parse_args()
    cases, calls, found = Counter[str](), Counter[str](), 0
    for kind, ran in campaign(options.kind or list(KINDS), options.seed, options.first, options.count, options.seconds):
        cases[kind] += ran.cases
        calls[kind] += ran.calls
        found += len(ran.findings)
        for number, text in ran.findings:
            print(f"--- {kind} {number} (seed {options.seed})\n{text}\n", flush=True)
        if options.progress:
            print(_summary(cases, calls, found), flush=True)
    print(_summary(cases, calls, found))
    return min(found, 100)


if __name__ == "__main__":
    sys.exit(main())
