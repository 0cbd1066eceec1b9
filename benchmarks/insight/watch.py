"""What watchpoints and the replay ring cost: a training step with them beside the plain step.

    python benchmarks/insight/watch.py [--case resnet50 gpt] [--steps 3] [--rounds 4] [--ring-steps 60]
        [--target CPU|GPU] [--torch PYTHON] [--tensorflow PYTHON] [--jax PYTHON]

Plain and watched steps take turns in one process, round after round; the medians are compared. A ring costs most where it copies
and writes all states, which is now and then: a stretch of recorded steps is compared with plain ones before and after it, by
the mean. Shown are seconds of the clock and of the processor: on a busy machine only the latter say something.
`--torch`, `--tensorflow` and `--jax` are interpreters that have these packages: the same for PyTorch's `detect_anomaly` and TensorFlow's
tfdbg on the same networks, and for JAX's `jax_debug_nans` on a chain of products (`rivals.py`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from turns import Turns, each, together

import mindspore as ms
from mindspore import debug

HERE = Path(__file__).resolve().parent
RING = 5


def measure(name, make, options, timing):
    step = make()

    def done():
        return np.asarray(step())

    turns = Turns(timing)
    for _ in range(2):
        done()
    hits = 0
    for _ in range(options.rounds):
        turns.take("plain", step, options.steps)
        with debug.watch(None, action="report") as watch:
            done()
            turns.take("watched", step, options.steps)
            hits += len(watch.hits)
        done()
    print(f"{name}: plain {turns.said('plain')}; watched {turns.said('watched', 'plain')}, {hits} hits", flush=True)
    turns.take("before", step, options.ring_steps // 4)
    with tempfile.TemporaryDirectory() as folder, debug.record(folder, keep=RING):
        done()
        turns.take("recorded", step, options.ring_steps)
    done()
    turns.take("before", step, options.ring_steps // 4)
    said = turns.said("recorded", "before", statistics.mean)
    print(f"{name}: ring of {RING}, mean of {options.ring_steps} steps {said}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="+", default=["resnet50", "gpt"])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--ring-steps", type=int, default=60)
    parser.add_argument("--target", default="CPU", choices=["CPU", "GPU"])
    parser.add_argument("--torch")
    parser.add_argument("--tensorflow")
    parser.add_argument("--jax")
    options = parser.parse_args()
    os.environ["BENCH_TARGET"] = options.target
    sys.path.insert(0, str(HERE.parent / options.target.lower()))
    import mindspore_cases as cases

    ms.set_context(mode=ms.GRAPH_MODE, device_target=options.target)
    gpu = {} if options.target == "CPU" else {"resnet50": cases.resnet50(256), "gpt": cases.transformer(50304, 16, 1024, True)}
    for name in options.case:
        make = gpu[name] if options.target == "GPU" else getattr(cases, name)
        measure(name, make, options, together if options.target == "GPU" else each)
        for kind, python in (("torch", options.torch), ("tensorflow", options.tensorflow)):
            if python:
                rival(python, kind, name, options)
    if options.jax:
        rival(options.jax, "jax", "products", options)


def rival(python, kind, case, options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, HERE / "rivals.py", kind, case, str(options.steps), str(options.rounds)], env=environment, check=False)


if __name__ == "__main__":
    main()
