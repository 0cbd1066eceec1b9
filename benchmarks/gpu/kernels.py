"""Where a step goes on the GPU: its kernels by time, of ours or a rival.

    PYTHONPATH=src python benchmarks/gpu/kernels.py gpt2 [--contender jax] [--steps 5] [--rows 30]

Runs a case of run.py under JAX's profiler and adds up the device's events. The busy time is that of the kernels; what a step takes beyond
it is waiting for the host.
"""

from __future__ import annotations

import argparse
import collections
import glob
import gzip
import importlib
import json
import re
import tempfile
import time

from worker import MODULES


def device_events(folder: str) -> list[dict]:
    """Complete events on the streams of the device."""
    (path,) = glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True)
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    named = [e for e in events if e.get("name") in ("process_name", "thread_name")]
    devices = {e["pid"] for e in named if e["name"] == "process_name" and "/device:GPU" in e["args"]["name"]}
    streams = {
        (e["pid"], e["tid"]) for e in named
        if e["name"] == "thread_name" and e["pid"] in devices and e["args"]["name"].startswith("Stream")
    }  # fmt: skip
    return [e for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) in streams]


def kind(name: str) -> str:
    """Kernels that differ in a number alone are of one kind."""
    return re.sub(r"\d+", "#", name) if re.match(r"(loop_|input_|wrapped_|triton_|fusion|[a-z_]*fusion)", name) else name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("--contender", default="ours", choices=["ours", "jax"])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--each", action="store_true", help="every kernel by its own name")
    given = parser.parse_args()

    import jax

    module = importlib.import_module(MODULES[given.contender])
    module.prepare(given.contender)
    start = time.perf_counter()
    step = module.CASES[given.case]()
    float(step())
    print(f"{given.case}: first step after {time.perf_counter() - start:.1f} s")
    for count in (3, 30):
        start = time.perf_counter()
        for _ in range(count):
            loss = step()
        loss = float(loss)
        print(f"{count} steps: {(time.perf_counter() - start) / count * 1e3:.2f} ms each, loss {loss:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(given.steps):
                loss = step()
            float(loss)
        events = device_events(folder)
    times: dict[str, float] = collections.defaultdict(float)
    counts: dict[str, int] = collections.defaultdict(int)
    for event in events:
        name = event["name"] if given.each else kind(event["name"])
        times[name] += event["dur"] / given.steps
        counts[name] += 1
    print(f"busy {sum(times.values()) / 1e3:.2f} ms a step, {len(events) / given.steps:.0f} kernels")
    for name in sorted(times, key=lambda n: -times[n])[: given.rows]:
        print(f"{times[name]:9.0f} µs {counts[name] / given.steps:6.1f} x  {name[:110]}")


if __name__ == "__main__":
    main()
