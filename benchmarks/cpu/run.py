"""Interleaved CPU benchmarks: ours against PyTorch, torch.compile, JAX, official MindSpore and inference engines.

See README.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {
    "torch": ["torch==2.13.*"], "jax": ["jax"], "mindspore": ["mindspore==2.10.*", "numpy<2"],
    "onnxruntime": ["onnxruntime"], "openvino": ["openvino"],
}  # fmt: skip
ENVIRONMENTS = {"torch_compile": "torch", "mindspore_as_is": "mindspore"}
ENGINES = ("onnxruntime", "openvino")
CONTENDERS = ("ours", "torch", "torch_compile", "jax", "mindspore")
#: contenders run on request: official MindSpore as it comes; ours with operations of PyNative mode run many at a time
VARIANTS = ("mindspore_as_is", "ours_deferred")
#: what makes a rival fastest here. Official MindSpore's oneDNN takes reference kernels on CPUs with AVX-512.
SETTINGS = {"mindspore": {"DNNL_MAX_CPU_ISA": "AVX2"}, "ours_deferred": {"MS_DEV_PYNATIVE_DEFERRED": "1"}}
#: ways to run a network that the row `fusion` compares: a kernel for every part of a primitive, as NumPy has; PyNative mode; a
#: kernel for every primitive; fused
FUSION = {
    "kernel per part": {"MS_DEV_GRAPH_KERNEL_FLAGS": "--opt_level=0 --composite_op_limit_size=1"},
    "PyNative": {"BENCH_EAGER": "1"},
    "kernel per primitive": {"MS_DEV_GRAPH_KERNEL_FLAGS": "--opt_level=0"},
    "fused": {"MS_DEV_GRAPH_KERNEL_FLAGS": "--opt_level=3"},
}
STEPS = {
    "resnet50": "ResNet-50 train step, batch 8", "resnet50_inference": "ResNet-50 inference, batch 1",
    "gpt": "GPT 4x768, 4x128 tokens, AdamW step", "bert": "BERT-base 4 layers, 4x128 tokens, AdamW step",
    "lenet": "LeNet train step, batch 32", "lstm": "LSTM 2x512, 64x100, train step",
    "chain": "tanh/sigmoid/exp chain, 4 M elements", "softmax_cross_entropy": "softmax cross-entropy 512x8192, fwd+grad",
    "layer_norm": "LayerNorm 4x128x768, fwd+grad", "batch_norm_relu": "BatchNorm+ReLU 8x64x56x56, fwd+grad",
    "mobilenet": "MobileNetV2 train step, batch 16", "mobilenet_inference": "MobileNetV2 inference, batch 1",
    "eager_add": "200 eager adds of 4 elements", "eager_matmul": "200 eager 64x64 products",
    "eager_conv": "200 eager convolutions 1x3x32x32", "eager_lenet": "LeNet train step, batch 32, eager",
    "eager_resnet50": "ResNet-50 train step, batch 8, eager", "eager_gpt": "GPT train step, eager",
}  # fmt: skip
#: rows that report the time to the first result of another row's work, in seconds
COMPILING = {"resnet50_compile": "resnet50", "gpt_compile": "gpt"}
#: rows that report the time from the start of a new process to the first result, with what earlier ones left in the compile cache
WARM = {"resnet50_warm": "resnet50", "gpt_warm": "gpt"}
CASES = [*STEPS, *COMPILING, *WARM, "fusion"]
FOREIGN_LIMIT = 0.08
#: a contender whose best step is so many times faster than its median is shown with both
UNEVEN = 2.0
PATIENCE = 150.0  # seconds after which an answer is no longer waited for


def interpreter(contender: str, given: dict[str, str], cache: Path) -> str | None:
    """The Python of a contender, making its virtual environment when first needed; None if that fails."""
    if contender.startswith("ours"):
        return sys.executable
    name = ENVIRONMENTS.get(contender, contender)
    if contender in given or name in given:
        return given.get(contender, given.get(name))
    folder = cache / name
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        print(f"making {folder} …", file=sys.stderr, flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode == 0
        install = [str(python), "-m", "pip", "install", "-q", *PACKAGES[name]]
        if not made or subprocess.run(install, check=False).returncode != 0:
            return None
        ready.touch()
    return str(python)


class Contender:
    """A worker process."""

    def __init__(self, name: str, python: str, environment: dict[str, str] | None = None):
        self.name = name
        path = str(ROOT / "src") if name.startswith("ours") else ""
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), name.split(":")[0]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "GLOG_v": "3", **SETTINGS.get(name, {}), **(environment or {})},
        )

    def ask(self, **request) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                self.close()
                return {"error": f"no answer within {PATIENCE:.0f} s"}
            return json.loads(self.process.stdout.readline())
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
            results[c.name] = {"first": answer["first"], "turns": [], "best": math.inf, "noisy": False}
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
                results[c.name]["best"] = min(results[c.name]["best"], answer["min"])
                results[c.name]["noisy"] |= answer["foreign"] > FOREIGN_LIMIT
    for found in results.values():
        if found.get("turns"):
            found["ms"] = statistics.median(found["turns"])
    return results


class Table:
    """Runs rows and prints them."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.given = dict(item.split("=", 1) for item in options.python)

    def contenders(self, names: list[str], environment: dict[str, str] | None = None) -> list[Contender]:
        found = []
        for name in names:
            python = interpreter(name, self.given, Path(self.options.cache))
            if python is not None:
                found.append(Contender(name, python, environment))
        return found

    def run(self, case: str, names: list[str], environment: dict[str, str] | None = None, turns: int = 0) -> dict:
        contenders = self.contenders(names, environment)
        try:
            results = measure(case, contenders, turns, self.options.seconds)
        finally:
            for c in contenders:
                c.close()
        for name, found in results.items():
            if found.get("error"):
                print(f"  {name}: {found['error']}", file=sys.stderr)
        return results

    def step_row(self, case: str) -> str:
        names = self.options.contenders
        if not case.endswith("_inference") or not self.options.engines:
            return self.row(STEPS[case], self.run(case, names, turns=self.options.turns))
        with tempfile.TemporaryDirectory() as folder:
            model = str(Path(folder) / "network.onnx")
            command = [sys.executable, str(HERE / "export_onnx.py"), case, model]
            subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
            results = self.run(case, [*names, *ENGINES], {"BENCH_ONNX": model}, self.options.turns)
        beside = [f"{n} {results[n]['ms']:.1f} ms" for n in ENGINES if "ms" in results.get(n, {})]
        label = STEPS[case] + (f" (beside: {', '.join(beside)})" if beside else "")
        return self.row(label, {n: r for n, r in results.items() if n not in ENGINES})

    def compile_row(self, case: str) -> str:
        names = [n for n in self.options.contenders if n != "torch"]
        results = self.run(COMPILING[case], names)
        for found in results.values():
            if "first" in found:
                found["ms"] = found["first"] * 1e3
        return self.row(f"time to the first result: {STEPS[COMPILING[case]]}", results)

    def warm_row(self, case: str) -> str:
        """Ours alone: nothing of the sort is kept by the others."""
        label, seconds = f"from start to first result, warm cache: {STEPS[WARM[case]]}", []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(1 + self.options.turns):
                begin = time.perf_counter()
                worker = Contender("ours", sys.executable, {"MS_COMPILER_CACHE_PATH": folder})
                answer = worker.ask(case=WARM[case])
                seconds.append(time.perf_counter() - begin)
                worker.close()
                if "first" not in answer:
                    return f"| {label} | {answer.get('error', 'failed')} |"
        return f"| {label} | {statistics.median(seconds[1:]):.2f} s (cold {seconds[0]:.2f} s) |"

    def row(self, label: str, results: dict[str, dict]) -> str:
        cells = []
        for name in self.options.contenders:
            found = results.get(name, {})
            if "ms" in found:
                best = f", best {found['best']:.2f}" if found.get("best", math.inf) < found["ms"] / UNEVEN else ""
                cells.append(f"{found['ms']:.2f}{'*' if found.get('noisy') else ''}{best} ({found['first']:.1f} s)")
            else:
                cells.append("failed" if found.get("error") else "–")
        others = [r["ms"] for n, r in results.items() if not n.startswith("ours") and "ms" in r]
        ours = min((r["ms"] for n, r in results.items() if n.startswith("ours") and "ms" in r), default=None)
        ratio = f"{min(others) / ours:.2f} x" if ours and others else "–"
        return f"| {label} | " + " | ".join(cells) + f" | {ratio} |"

    def fusion(self) -> None:
        """Training steps of small networks without and with fusion of graph kernels, and the mean gains."""
        from zoo_names import NETWORKS

        print("\n| network, ms | " + " | ".join(FUSION) + " |" + "\n|---|" + "---|" * len(FUSION), flush=True)
        gains: dict[str, list[float]] = {name: [] for name in FUSION}
        for network in self.options.networks or NETWORKS:
            ways = [Contender(f"ours_zoo:{name}", sys.executable, settings) for name, settings in FUSION.items()]
            try:
                results = measure(network, ways, self.options.turns, self.options.seconds)
            finally:
                for c in ways:
                    c.close()
            found = {name: results[c.name].get("ms") for name, c in zip(FUSION, ways)}
            fused, cells = found["fused"], []
            for name, ms in found.items():
                if ms and fused:
                    gains[name].append(ms / fused)
                cells.append(f"{ms:.2f} ({ms / fused:.2f} x)" if ms and fused else "failed")
            print(f"| {network} | " + " | ".join(cells) + " |", flush=True)
        means = [f"{math.exp(sum(map(math.log, g)) / len(g)):.2f} x" if g else "–" for g in gains.values()]
        print("| geometric mean | " + " | ".join(means) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", "--cases", dest="cases", nargs="+", default=CASES, choices=CASES, metavar="ROW")
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=[*CONTENDERS, *VARIANTS, *ENGINES])
    parser.add_argument("--no-engines", dest="engines", action="store_false", help="leave inference engines out")
    parser.add_argument("--networks", nargs="+", default=[], help="of the row 'fusion'")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--python", nargs="*", default=[], metavar="NAME=PATH", help="existing interpreters of rivals")
    parser.add_argument(
        "--cache", default=str(ROOT / ".venv-bench"), help="where rivals' environments are made and kept"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    table = Table(options)
    if options.cases != ["fusion"]:
        print("ms per step, median of turns (time to the first result); * = other processes were busy")
        print("| work | " + " | ".join(options.contenders) + " | best other / ours |")
        print("|---|" + "---|" * (len(options.contenders) + 1), flush=True)
    for case in options.cases:
        if case == "fusion":
            table.fusion()
        elif case in WARM:
            print(table.warm_row(case), flush=True)
        else:
            print(table.compile_row(case) if case in COMPILING else table.step_row(case), flush=True)


if __name__ == "__main__":
    main()
