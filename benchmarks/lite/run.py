"""Eight networks on mindspore_lite and its rivals, each in a process of its own, run in turns.

    python benchmarks/lite/run.py [network …] [--threads 1] [--runs 40] [--int8] [--rivals PYTHON] [--setup]

Weights are random and the graphs made here (`networks.py`), so this is about speed. Told of every engine: median and 99th percentile of
wall and CPU time, the time to load the model and run it once (from nothing, conversion and import excluded), the memory that loading and
running add to the process at most, the model's size on disk, and how far its results are from the first rival's. `--setup` makes an
environment with the rivals (`.venv-lite-rivals`); engines that are missing, or refuse a model, are named.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import engines
import networks
import numpy as np

_HERE = Path(__file__).resolve().parent
_RIVALS = _HERE.parent.parent / ".venv-lite-rivals"
_PACKAGES = ("numpy", "onnx", "onnxruntime", "openvino", "nncf", "MNN", "ncnn", "pnnx")


def set_up() -> None:
    venv.create(_RIVALS, with_pip=True, clear=True)
    for package in _PACKAGES:  # one at a time: a rival without a wheel here does not keep the others away
        subprocess.run([_RIVALS / "bin" / "pip", "install", "--quiet", package])


class Contender:
    """An engine's process."""

    def __init__(self, engine: str, python: str, path: str, given: Any):
        command = [python, str(_HERE / "engines.py"), engine, path, str(given.threads), str(int(given.int8))]
        environment = {**os.environ, "OMP_NUM_THREADS": str(given.threads), "GLOG_minloglevel": "3"}
        self.engine = engine
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        self.about = self._answer()
        self.times: list[tuple[float, float]] = []
        self.peak = 0

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        return {"refused": "its process ended"}

    def turn(self) -> None:
        """A run, and one before it that does not count: the others had the caches. They are asleep meanwhile, because threads of
        theirs that still wait for work, busily, would take the cores of those that have some."""
        self.process.send_signal(signal.SIGCONT)
        self._run()
        self.times.append(self._run())
        self.process.send_signal(signal.SIGSTOP)

    def _run(self) -> tuple[float, float]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = self._answer()
        self.peak = found["peak"]
        return tuple(found["took"])

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=list(networks.NETWORKS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--engines", default=",".join(engines.ENGINES))
    parser.add_argument("--rivals", default=str(_RIVALS / "bin" / "python"))
    parser.add_argument("--setup", action="store_true")
    given = parser.parse_args()
    if given.setup:
        set_up()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.networks:
            path = os.path.join(folder, f"{name}.onnx")
            networks.NETWORKS[name](path)
            compare(name, path, given)
            for file in os.listdir(folder):  # some networks are large
                if os.path.isfile(os.path.join(folder, file)):
                    os.unlink(os.path.join(folder, file))


def compare(name: str, path: str, given: Any) -> None:
    rivals = given.rivals if os.path.exists(given.rivals) else sys.executable
    found = [Contender(e, sys.executable if e == "lite" else rivals, path, given) for e in given.engines.split(",")]
    for contender in found:
        if "refused" in contender.about:
            print(f"{name:16}{'int8' if given.int8 else 'f32':5}{contender.engine:12} {contender.about['refused']}", flush=True)
    there = [contender for contender in found if "refused" not in contender.about]
    for contender in there:
        contender.process.send_signal(signal.SIGSTOP)
    for _ in range(given.runs):  # in turns, so that a busy moment hits all of them
        for contender in there:
            contender.turn()
    wanted = next((c for c in there if c.engine != "lite"), None)
    for contender in there:
        print(_row(name, contender, wanted, path, given), flush=True)
        contender.end()


def _row(name: str, contender: Contender, wanted: Contender | None, path: str, given: Any) -> str:
    wall, cpu = (sorted(t[n] * 1e3 for t in contender.times[2:] or contender.times) for n in (0, 1))
    last = [times[min(len(times) - 1, int(0.99 * len(times)))] for times in (wall, cpu)]
    apart = float("nan")
    if wanted is not None:
        mine, theirs = (np.load(f"{path}.{c.engine}.npy").ravel() for c in (contender, wanted))
        apart = float(np.linalg.norm(mine - theirs) / max(np.linalg.norm(theirs), 1e-30)) if mine.size == theirs.size else apart
    load, first = contender.about["load"], contender.about["first"]
    sizes = contender.peak / 2**20, contender.about["size"] / 2**20
    return (
        f"{name:16}{'int8' if given.int8 else 'f32':5}{contender.engine:12} wall {statistics.median(wall):8.2f} (p99 {last[0]:8.2f})  "
        f"cpu {statistics.median(cpu):8.2f} (p99 {last[1]:8.2f}) ms  load {load[1] * 1e3:6.0f}  load + first run {first[1] * 1e3:6.0f} "
        f"cpu-ms ({first[0] * 1e3:6.0f} wall)  peak {sizes[0]:6.0f} MB  file {sizes[1]:6.1f} MB  apart {apart:.1e}"
    )


if __name__ == "__main__":
    main()
