"""What watchpoints and the replay ring cost: a training step with them beside the plain step.

    python benchmarks/insight/watch.py [--case resnet50 gpt] [--steps 10] [--target CPU|GPU]

Rounds of plain and watched steps alternate in one process; the best and the median of each are shown, and with --rivals the same
for PyTorch's `detect_anomaly` (CPU, where torch is installed) and JAX's `jax_debug_nans` on a network of the same products.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import debug

HERE = Path(__file__).resolve().parent


def seconds(step, steps):
    found = []
    for _ in range(steps):
        begin = time.perf_counter()
        np.asarray(step())
        found.append(time.perf_counter() - begin)
    return found


def pipelined(step, steps):
    """Seconds per step when the host does not wait in between, as in training."""
    begin = time.perf_counter()
    for _ in range(steps):
        last = step()
    np.asarray(last)
    return [(time.perf_counter() - begin) / steps]


def measure(name, make, steps, rounds, timing):
    step = make()
    plain, watched = [], []
    for _ in range(2):
        np.asarray(step())
    for _ in range(rounds):
        plain += timing(step, steps)
        with debug.watch(None, action="report") as watch:
            for _ in range(2):
                np.asarray(step())
            watched += timing(step, steps)
            hits = len(watch.hits)
        np.asarray(step())
    with tempfile.TemporaryDirectory() as folder, debug.record(folder, keep=5):
        np.asarray(step())
        recorded = timing(step, max(steps, 10))
    ring = f"   ring of 5: {1e3 * np.mean(recorded):8.2f} ms ({np.mean(recorded) / np.mean(plain) - 1:+.1%} of the mean)"
    best = min(watched) / min(plain) - 1
    middle = np.median(watched) / np.median(plain) - 1
    print(
        f"{name:12s} plain {1e3 * min(plain):8.2f} ms (median {1e3 * np.median(plain):8.2f})   watched {1e3 * min(watched):8.2f} ms "
        f"(median {1e3 * np.median(watched):8.2f})   {best:+.1%} (median {middle:+.1%}), {hits} hits{ring}",
        flush=True,
    )


def detect_anomaly(steps):
    import torch

    def network():
        layers = [torch.nn.Conv2d(3, 64, 3, padding=1)]
        for _ in range(8):
            layers += [torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3, padding=1)]
        return torch.nn.Sequential(*layers)

    net, x = network(), torch.randn(8, 3, 56, 56)

    def step():
        net.zero_grad()
        net(x).square().mean().backward()
        return 0.0

    step()
    plain = min(seconds(step, steps))
    with torch.autograd.detect_anomaly():
        step()
        anomaly = min(seconds(step, steps))
    print(f"torch detect_anomaly (9 convolutions): plain {1e3 * plain:.1f} ms, on {1e3 * anomaly:.1f} ms, {anomaly / plain - 1:+.1%}")


def debug_nans(steps):
    import jax

    def loss(weights, x):
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return (x * x).mean()

    x, weights = jax.numpy.ones((512, 1024)) * 0.01, [jax.numpy.eye(1024)] * 8
    times = []
    for on in (False, True):
        jax.config.update("jax_debug_nans", on)
        run = jax.jit(lambda w, x: jax.value_and_grad(loss)(w, x))
        jax.block_until_ready(run(weights, x))
        times.append(min(seconds(lambda run=run: jax.block_until_ready(run(weights, x))[0], steps)))
    jax.config.update("jax_debug_nans", False)
    print(f"jax_debug_nans (8 products): plain {1e3 * times[0]:.2f} ms, on {1e3 * times[1]:.2f} ms, {times[1] / times[0] - 1:+.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="+", default=["resnet50", "gpt"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", default="CPU", choices=["CPU", "GPU"])
    parser.add_argument("--rivals", action="store_true")
    options = parser.parse_args()
    os.environ["BENCH_TARGET"] = options.target
    sys.path.insert(0, str(HERE.parent / options.target.lower()))
    import mindspore_cases as cases

    ms.set_context(mode=ms.GRAPH_MODE, device_target=options.target)
    gpu = {} if options.target == "CPU" else {"resnet50": cases.resnet50(256), "gpt": cases.transformer(50304, 16, 1024, True)}
    for name in options.case:
        make = gpu[name] if options.target == "GPU" else getattr(cases, name)
        measure(name, make, options.steps, options.rounds, pipelined if options.target == "GPU" else seconds)
    if options.rivals:
        for rival in (detect_anomaly, debug_nans):
            try:
                rival(options.steps)
            except ImportError as error:
                print(f"{rival.__name__}: {error}")


if __name__ == "__main__":
    main()
