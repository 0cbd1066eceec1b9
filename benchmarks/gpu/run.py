"""Training steps on one GPU, bf16: ours beside hand-written JAX, PyTorch and PyTorch at its best, in turns.

    PYTHONPATH=src python benchmarks/gpu/run.py [--cases …] [--contenders …] [--turns 5]

`torch_best` is torch.compile in its default mode with the whole step (forward, backward, fused optimizer) replayed as one
CUDA graph; eager rows have no JAX column. Every contender is a process of its own; those whose package is missing are left
out. Prints milliseconds per step (medians of the turns), the time to the first step, and how many times faster ours is
than the best of the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = {"ours": "mindspore", "jax": "jax", "torch": "torch", "torch_best": "torch"}
CASES = {
    "resnet50_32": "ResNet-50 train, batch 32", "resnet50_256": "ResNet-50 train, batch 256",
    "gpt2": "GPT-2 124M train, 16x1024 tokens", "bert": "BERT-base train, 32x512 tokens",
    "vit": "ViT-B/16 train, batch 128 (197 tokens)", "llama": "LLaMA 1.26B train, 8x2048 tokens, AdamW",
    "llama_float8": "the same, products of the layers in fp8",
    "lenet": "LeNet train, batch 32, f32",
    "decode_1": "decode a token, 8B parameters, batch 1", "decode_64": "decode a token, 8B parameters, batch 64",
    "lenet_eager": "LeNet, eager (PyNative)", "resnet50_32_eager": "ResNet-50, batch 32, eager (PyNative)",
}  # fmt: skip


class Contender:
    """A worker process."""

    def __init__(self, name: str):
        self.name = name
        # Several processes share the GPU: none may take all its memory at the start.
        environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def ask(self, **request) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            return {"error": f"the process ended with status {self.process.poll()}"}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(case: str, names: list[str], turns: int, seconds: float) -> dict[str, dict]:
    results: dict[str, dict] = {}
    workers = [Contender(name) for name in names]
    taking_part = []
    for worker in workers:
        results[worker.name] = worker.ask(case=case)
        if "first" in results[worker.name]:
            results[worker.name]["turns"] = []
            taking_part.append(worker)
    for _ in range(turns):
        for worker in taking_part:
            answer = worker.ask(seconds=seconds)
            if "ms" in answer:
                results[worker.name]["turns"].append(answer["ms"])
            else:
                results[worker.name]["error"] = answer["error"]
    for worker in workers:
        worker.close()
    return results


def row(case: str, results: dict[str, dict], names: list[str]) -> str:
    cells, times = [], {}
    for name in names:
        found = results[name]
        if found.get("turns"):
            times[name] = statistics.median(found["turns"])
            cells.append(f"{times[name]:.2f} ({found['first']:.0f} s)")
        else:
            cells.append("failed")
            print(f"{name}, {case}: {found.get('error')}", file=sys.stderr)
    others = [t for n, t in times.items() if n != "ours"]
    ratio = f"{min(others) / times['ours']:.2f} x" if "ours" in times and others else "–"
    return f"| {CASES[case]} | " + " | ".join(cells) + f" | {ratio} |"


def main() -> None:
    installed = [n for n, package in PACKAGES.items() if importlib.util.find_spec(package)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--contenders", nargs="+", default=installed, choices=list(PACKAGES))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args()
    print("| work | " + " | ".join(given.contenders) + " | best other / ours |")
    print("|---|" + "---|" * (len(given.contenders) + 1), flush=True)
    for case in given.cases:
        results = measure(case, given.contenders, given.turns, given.seconds)
        print(row(case, results, given.contenders), flush=True)


if __name__ == "__main__":
    main()
