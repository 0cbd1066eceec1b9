"""The reference backend: a NumPy virtual machine. Complete, simple, and the oracle for the others."""

from mindspore.backends.interp.machine import InterpBackend

__all__ = ["InterpBackend"]
