"""Random processes of four are killed or stopped while they train: noticed when, and does the end have the same bits?

    python benchmarks/parallel/kills.py --kills 100

A run of 60 steps stores its state every three steps and is started again by msrun whenever it fails. As soon as all processes train,
one of them gets SIGKILL or SIGSTOP at a random moment. Runs follow one another until there were as many signals as wanted; each
must end with the weights of a run that nobody disturbed, and leave no process behind.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from run import free_port

HERE = Path(__file__).resolve().parent
PROCESSES = 4
#: what is said first when a process is missed
NOTICED = ("was lost", "no sign of life", "has waited", "was ended by signal", "starting all processes again")


class Run:
    """One msrun, whose lines are read as they come."""

    def __init__(self, folder: Path, how: str, silence: int):
        command = [
            sys.executable, "-m", "mindspore.parallel.cluster.run", f"--worker_num={PROCESSES}", f"--local_worker_num={PROCESSES}",
            "--join=True", f"--master_port={free_port()}", f"--log_dir={folder / 'logs'}", "--max_restarts=1000",
            str(HERE / "kill_worker.py"), str(folder / "state"), how,
        ]  # fmt: skip
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "MS_NODE_TIMEOUT": str(silence)}
        self.process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: queue.Queue[tuple[float, str]] = queue.Queue()
        self.text: list[str] = []
        self.pids: set[int] = set()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))
        self.lines.put((time.monotonic(), ""))

    def until(self, *words: str, patience: float = 300.0) -> tuple[float, str]:
        """The first line that has one of the words, and when it came; the end of the run is an empty line."""
        deadline = time.monotonic() + patience
        while True:
            moment, line = self.lines.get(timeout=max(deadline - time.monotonic(), 0.01))
            self.text.append(line)
            found = re.match(r"process (\d+) (\d+)", line)
            if found:
                self.pids.add(int(found[2]))
            if not line or any(word in line for word in words):
                return moment, line

    def all_train(self) -> dict[int, int] | None:
        """The process of each rank once all of them train; None when the run is over."""
        running: dict[int, int] = {}
        while len(running) < PROCESSES:
            _, line = self.until("process ", "starting all processes again")
            if not line:
                return None
            found = re.match(r"process (\d+) (\d+)", line)
            running = {**running, int(found[1]): int(found[2])} if found else {}
        return running

    def weights(self) -> set[str]:
        return set(re.findall(r"weights \d (\w+)", "".join(self.text)))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def disturbed(run: Run, draw: random.Random, left: int) -> list[tuple[str, float]]:
    """Send signals until the run ends; for each that was noticed its name and the seconds until then."""
    found: list[tuple[str, float]] = []
    while len(found) < left:
        running = run.all_train()
        if running is None:
            return found
        time.sleep(draw.uniform(0, 1.5))
        number = draw.choice([signal.SIGKILL, signal.SIGSTOP])
        sent = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            os.kill(running[draw.randrange(PROCESSES)], number)
        moment, line = run.until(*NOTICED, patience=60)
        if not line:
            return found  # it had ended before
        found.append((number.name, moment - sent))
        if "starting" not in line:
            run.until("starting all processes again", patience=60)
    while run.until()[1]:
        pass
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--silence", type=int, default=3, help="seconds after which a process that gives no sign of life is given up")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    noticed: list[tuple[str, float]] = []
    exact = runs = 0
    with tempfile.TemporaryDirectory() as name:
        reference = Run(Path(name) / "reference", "background", 300)
        while reference.until()[1]:
            pass
        expected = reference.weights()
        assert expected, "".join(reference.text)
        while len(noticed) < options.kills:
            run = Run(Path(name) / str(runs), draw.choice(["background", "at once"]), options.silence)
            noticed += disturbed(run, draw, options.kills - len(noticed))
            same = run.process.wait() == 0 and run.weights() == expected
            left = [pid for pid in run.pids if is_alive(pid)]
            runs, exact = runs + 1, exact + (same and not left)
            if not same or left:
                print(f"run {runs}: status {run.process.returncode}, processes left {left}\n" + "".join(run.text[-40:]))
            print(f"{len(noticed)} signals, {exact} of {runs} runs exact", file=sys.stderr, flush=True)
    print("| signal | times | noticed after, s: median | longest |\n|---|---|---|---|")
    for kind in ("SIGKILL", "SIGSTOP"):
        seconds = [s for k, s in noticed if k == kind]
        if seconds:
            print(f"| {kind} | {len(seconds)} | {statistics.median(seconds):.2f} | {max(seconds):.2f} |")
    print(f"\n{exact} of {runs} runs ended with the bits of the undisturbed one and left no process behind.")
    sys.exit(exact != runs)


if __name__ == "__main__":
    main()
