"""The native CPU backend: LLVM-generated fused kernels and oneDNN primitives, one call per graph.

`available()` says whether this machine can use it; where it cannot, the runtime takes another backend.
"""

from mindspore.backends.cpu import rnn as _rnn  # noqa: F401  these three register their operations
from mindspore.backends.cpu import scans as _scans  # noqa: F401
from mindspore.backends.cpu import sorting as _sorting  # noqa: F401
from mindspore.backends.cpu.backend import CpuBackend, available

__all__ = ["CpuBackend", "available"]
