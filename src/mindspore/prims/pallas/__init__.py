"""Kernels for GPUs, written in Pallas, that `eval_xla` rules call where XLA's own fusions read memory more often.

Every kernel has a rule beside it, `eval`, that says the same with array operations; tests compare the two, on any machine
through Pallas' interpreter.
"""

from __future__ import annotations

from mindspore._base.optional import require


def on_cuda() -> bool:
    """Whether what is being compiled by XLA is for a CUDA device."""
    jax = require("jax", "xla", "kernels of a GPU")
    device = jax.config.jax_default_device or jax.devices()[0]
    return getattr(device, "platform", device) in ("gpu", "cuda")
