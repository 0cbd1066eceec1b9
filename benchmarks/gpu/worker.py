"""One contender in one process: prepares a case on request and times turns of it. Speaks JSON lines."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

MODULES = {"ours": "mindspore_cases", "jax": "jax_cases", "torch": "torch_cases", "torch_best": "torch_cases"}


def turn(step, seconds: float) -> dict:
    """Milliseconds per step over about `seconds`: steps are queued, and waited for once at the end."""
    float(step())
    start = time.perf_counter()
    float(step())
    count = max(2, round(seconds / (time.perf_counter() - start)))
    start = time.perf_counter()
    for _ in range(count):
        loss = step()
    value = float(loss)
    return {"ms": (time.perf_counter() - start) / count * 1e3, "loss": value}


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
                start = time.perf_counter()
                step = module.CASES[request["case"]]()
                first = float(step())
                answer = {"first": time.perf_counter() - start, "loss": first}
            else:
                answer = turn(step, request["seconds"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:600]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
