"""What other packages' guards against NaN cost: `python rivals.py torch|jax|tensorflow CASE STEPS ROUNDS`, called by `watch.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from turns import Turns

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cpu"))


def torch(case, steps, rounds):
    import torch
    import torch_cases

    torch_cases.prepare("torch")
    step = getattr(torch_cases, case)()
    turns = Turns()
    step()
    for _ in range(rounds):
        turns.take("plain", step, steps)
        with torch.autograd.detect_anomaly():
            turns.take("guarded", step, steps)
    print(f"{case}, PyTorch: plain {turns.said('plain')}; detect_anomaly {turns.said('guarded', 'plain')}", flush=True)


def jax(case, steps, rounds):
    import jax

    def loss(weights, x):
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return (x * x).mean()

    x, weights = jax.numpy.ones((512, 1024)) * 0.01, [jax.numpy.eye(1024)] * 8
    turns, ready = Turns(), {}
    for _ in range(rounds):
        for way, on in (("plain", False), ("guarded", True)):
            jax.config.update("jax_debug_nans", on)
            run = ready.setdefault(way, jax.jit(lambda w, x: jax.value_and_grad(loss)(w, x)))
            jax.block_until_ready(run(weights, x))
            turns.take(way, lambda run=run: jax.block_until_ready(run(weights, x)), steps)
    print(f"8 {case}, JAX: plain {turns.said('plain')}; jax_debug_nans {turns.said('guarded', 'plain')}", flush=True)


def tensorflow(case, steps, rounds):
    """tfdbg: every tensor's health is written to files. Instrumented functions cannot take turns with plain ones: those come first."""
    import tensorflow as tf
    import tensorflow_cases

    tf.config.threading.set_intra_op_parallelism_threads(2)
    turns = Turns()
    plain = getattr(tensorflow_cases, case)()
    plain()
    turns.take("plain", plain, steps * rounds)
    with tempfile.TemporaryDirectory() as folder:
        tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode="FULL_HEALTH", circular_buffer_size=1000)
        guarded = getattr(tensorflow_cases, case)()
        guarded()
        turns.take("guarded", guarded, steps * rounds)
        tf.debugging.experimental.disable_dump_debug_info()
    print(f"{case}, TensorFlow: plain {turns.said('plain')}; tfdbg {turns.said('guarded', 'plain')}", flush=True)


if __name__ == "__main__":
    {"torch": torch, "jax": jax, "tensorflow": tensorflow}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
