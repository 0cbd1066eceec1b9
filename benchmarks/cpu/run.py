"""Interleaved CPU benchmarks: ours against PyTorch, torch.compile, JAX and official MindSpore. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {"torch": ["torch==2.13.*"], "jax": ["jax"], "mindspore": ["mindspore==2.10.*", "numpy<2"]}
ENVIRONMENTS = {"torch": "torch", "torch_compile": "torch", "jax": "jax", "mindspore": "mindspore"}
CONTENDERS = ("ours", "torch", "torch_compile", "jax", "mindspore")
CASES = {
    "resnet50": "ResNet-50 train step, batch 8", "resnet50_inference": "ResNet-50 inference, batch 1",
    "gpt": "GPT 4x768, 4x128 tokens, AdamW step", "lenet": "LeNet train step, batch 32",
    "bert": "BERT-base 4 layers, 4x128 tokens, AdamW step", "lstm": "LSTM 2x512, 64x100, train step",
    "chain": "tanh/sigmoid/exp chain, 4 M elements", "softmax_cross_entropy": "softmax cross-entropy 512x8192, fwd+grad",
    "layer_norm": "LayerNorm 4x128x768, fwd+grad", "batch_norm_relu": "BatchNorm+ReLU 8x64x56x56, fwd+grad",
    "eager_add": "200 eager adds of 4 elements", "eager_matmul": "200 eager 64x64 products",
    "eager_conv": "200 eager convolutions 1x3x32x32",
}  # fmt: skip
FOREIGN_LIMIT = 0.08


def interpreter(contender: str, given: dict[str, str]) -> str | None:
    """The Python of a contender, making its virtual environment when first needed; None if that fails."""
    if contender == "ours":
        return sys.executable
    name = ENVIRONMENTS[contender]
    if contender in given or name in given:
        return given.get(contender, given.get(name))
    folder = ROOT / ".venv-bench" / name
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder} …", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode == 0
        install = [str(python), "-m", "pip", "install", "-q", *PACKAGES[name]]
        if not made or subprocess.run(install, check=False).returncode != 0:
            return None
    return str(python)


class Contender:
    """A worker process."""

    def __init__(self, name: str, python: str):
        self.name = name
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src") if name == "ours" else "", "GLOG_v": "3"}
        command = [python, str(HERE / "worker.py"), name]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, **request) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            return json.loads(line)
        except (OSError, ValueError):  # it ended, perhaps in the middle of an answer
            return {"error": f"the process ended with status {self.process.poll()}"}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(case: str, contenders: list[Contender], turns: int, seconds: float) -> dict[str, dict]:
    """Turns round robin; the median of medians per contender."""
    results: dict[str, dict] = {}
    taking_part = []
    for c in contenders:
        answer = c.ask(case=case)
        if "first" in answer:
            results[c.name] = {"first": answer["first"], "turns": [], "noisy": False}
            taking_part.append(c)
        else:
            results[c.name] = {"error": answer.get("error", "")}
    for _ in range(turns):
        for c in taking_part:
            for _attempt in range(3):
                answer = c.ask(seconds=seconds)
                if answer.get("foreign", 1) <= FOREIGN_LIMIT:
                    break
            if "median" in answer:
                results[c.name]["turns"].append(answer["median"])
                results[c.name]["noisy"] |= answer["foreign"] > FOREIGN_LIMIT
    for found in results.values():
        if found.get("turns"):
            found["ms"] = statistics.median(found["turns"])
    return results


def row(case: str, results: dict[str, dict], names: list[str]) -> str:
    cells = []
    for name in names:
        found = results.get(name, {})
        if "ms" in found:
            cells.append(f"{found['ms']:.2f}{'*' if found['noisy'] else ''} ({found['first']:.1f} s)")
        else:
            cells.append("failed" if found.get("error") else "–")
    others = [r["ms"] for n, r in results.items() if n != "ours" and "ms" in r]
    ours = results.get("ours", {}).get("ms")
    ratio = f"{min(others) / ours:.2f} x" if ours and others else "–"
    return f"| {CASES[case]} | " + " | ".join(cells) + f" | {ratio} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", "--only", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=CONTENDERS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--python", nargs="*", default=[], metavar="NAME=PATH", help="existing interpreters of rivals")
    options = parser.parse_args()
    given = dict(item.split("=", 1) for item in options.python)
    print("ms per step, median of turns (time to the first result); * = other processes were busy")
    print("| work | " + " | ".join(options.contenders) + " | best other / ours |")
    print("|---|" + "---|" * (len(options.contenders) + 1), flush=True)
    for case in options.cases:
        contenders = []
        for name in options.contenders:
            python = interpreter(name, given)
            if python is not None:
                contenders.append(Contender(name, python))
        try:
            results = measure(case, contenders, options.turns, options.seconds)
        finally:
            for c in contenders:
                c.close()
        print(row(case, results, options.contenders), flush=True)
        for name, found in results.items():
            if found.get("error"):
                print(f"  {name}: {found['error']}", file=sys.stderr)


if __name__ == "__main__":
    main()
