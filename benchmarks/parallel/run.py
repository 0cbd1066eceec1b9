"""Two processes with one thread each: collectives and data parallel steps, beside PyTorch with gloo in the same run.

    python benchmarks/parallel/run.py --torch ENVIRONMENT/bin/python

Without `--torch` this framework is timed alone. Rounds alternate, and the best median of each is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ours(result: Path, folder: str) -> None:
    command = [
        sys.executable, "-m", "mindspore.parallel.cluster.run", "--worker_num=2", "--local_worker_num=2", "--bind_core=True",
        f"--master_port={free_port()}", "--join=True", f"--log_dir={folder}", str(HERE / "mindspore_worker.py"), str(result),
    ]  # fmt: skip
    subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)


def rival(python: str, result: Path) -> None:
    base = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    command = [python, str(HERE / "torch_worker.py"), str(result)]
    workers = [subprocess.Popen(command, env={**base, "RANK": str(rank)}) for rank in range(2)]
    if sum(abs(worker.wait()) for worker in workers):
        raise SystemExit("PyTorch failed")


def table(found: dict[str, list[dict]]) -> str:
    lines = ["| ms | " + " | ".join(found) + " |", "|---|" + "---|" * len(found)]
    for case in next(iter(found.values()))[0]:
        cells = []
        for rounds in found.values():
            best = min(rounds, key=lambda r: r[case][0])[case]
            cells.append(f"{best[0] * 1e3:.4g} (min {best[1] * 1e3:.4g})")
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default="", help="an interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    found: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        for _ in range(options.rounds):
            ours(result, folder)
            found.setdefault("MindSpore, MPI", []).append(json.loads(result.read_text()))
            if options.torch:
                rival(options.torch, result)
                found.setdefault("PyTorch, gloo", []).append(json.loads(result.read_text()))
    print(table(found))


if __name__ == "__main__":
    main()
