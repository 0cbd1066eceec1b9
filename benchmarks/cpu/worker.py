"""One contender in one process: prepares a case on request and times turns of it. Speaks JSON lines."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

MODULES = {
    "ours": "mindspore_cases", "mindspore": "mindspore_cases", "torch": "torch_cases", "torch_compile": "torch_cases",
    "jax": "jax_cases", "mindspore_as_is": "mindspore_cases", "onnxruntime": "onnx_cases",
    "openvino": "onnx_cases", "ours_deferred": "mindspore_cases", "ours_zoo": "zoo_cases",
}  # fmt: skip


def busy_elsewhere() -> tuple[float, float]:
    """(CPU seconds used by the whole machine, by this process)."""
    with open("/proc/stat") as file:
        fields = [int(v) for v in file.readline().split()[1:]]
    used = sum(fields) - fields[3] - fields[4]
    return used / os.sysconf("SC_CLK_TCK"), time.process_time()


def turn(step, seconds: float) -> dict:
    """Run for about `seconds`; the median, the minimum, and the share of the CPU that others used."""
    all_before, own_before = busy_elsewhere()
    start = time.perf_counter()
    times = []
    while time.perf_counter() - start < seconds or len(times) < 3:
        t = time.perf_counter()
        step()
        times.append(time.perf_counter() - t)
    wall = time.perf_counter() - start
    all_after, own_after = busy_elsewhere()
    foreign = max(0.0, (all_after - all_before) - (own_after - own_before)) / (wall * (os.cpu_count() or 1))
    times.sort()
    return {"median": times[len(times) // 2] * 1e3, "min": times[0] * 1e3, "foreign": foreign}


def main() -> None:
    contender = sys.argv[1]
    module = importlib.import_module(MODULES[contender])
    module.prepare(contender)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not mix with answers
    step = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "case" in request:
                step = None
                if request["case"] not in module.CASES:
                    answer = {"missing": True}
                else:
                    start = time.perf_counter()
                    step = module.CASES[request["case"]]()
                    step()
                    answer = {"first": time.perf_counter() - start}
                    step()
            else:
                answer = turn(step, request["seconds"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
