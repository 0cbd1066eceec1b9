"""XLA through JAX's public API: accelerators, and the CPU where the native backend is missing."""

from mindspore.backends.xla.lowering import XlaBackend

__all__ = ["XlaBackend"]
